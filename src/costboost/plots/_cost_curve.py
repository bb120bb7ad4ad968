"""The cost curve: the lowest cost that a ranking allows, for all costs at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost.metrics import cost_curve, cost_lines, curve_area, normalized_cost
from costboost.plots._base import (
    BinaryDisplay,
    limit_loss,
    mark,
    mark_own,
    own_decisions,
    positive_of,
    probability_cost,
)
from costboost.plots.style import (
    axes_for,
    curve_style,
    dress,
    entry,
    need_matplotlib,
    once,
    show_legend,
)
from costboost.text import number
from costboost.typing import Floats


@dataclass(eq=False, repr=False, kw_only=True)
class CostCurveDisplay(BinaryDisplay):
    """Cost curve (Drummond and Holte 2006): the lowest cost that a ranking allows, for all costs.

    Horizontally the probability cost `PC(+) = pi_pos fn / (pi_pos fn + pi_neg fp)`, from "only
    false positives matter" to "only false negatives matter"; vertically the normalised expected
    cost of the best threshold. Below the dashed roof, the model is better than deciding without
    looking.

    It is recommended to use `from_estimator` or `from_predictions`.

    Parameters
    ----------
    pc : ndarray of shape (n_points,)
        `PC(+)` at the corners of the curve; see :func:`costboost.metrics.cost_curve`.
    loss : ndarray of shape (n_points,)
        Normalised expected cost there.
    area : float
        Area under the curve: the mean cost when every `PC(+)` is equally likely.
    fpr, fnr : ndarray of shape (n_lines,), default=None
        Ends of the line of every threshold; see :func:`costboost.metrics.cost_lines`.
    operating_pc : float, default=None
        Where given costs lie on the axis.
    own_loss : float, default=None
        What the model's own decisions at these costs come to, beside the best threshold that the
        curve knows in hindsight. With costs per row each row is decided, and paid, by its own.
    name : str, default=None
        What the legend calls the model.

    Attributes
    ----------
    line_ : Line2D
        The curve.
    lines_ : LineCollection or None
        The lines of all thresholds, if drawn.
    trivial_ : Line2D
        The cheaper of always answering negative and always positive.
    operating_ : Line2D or None
        The mark at `operating_pc`: the best threshold in hindsight.
    own_ : Line2D or None
        The mark of the model's own decisions.
    ax_, figure_, legend_
        Where it was drawn.

    References
    ----------
    Drummond and Holte 2006, "Cost curves: an improved method for visualizing classifier
    performance".

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from costboost.plots import CostCurveDisplay
    >>> display = CostCurveDisplay.from_predictions(
    ...     [0, 0, 1], [0.2, 0.6, 0.4], costs={"fp": 1, "fn": 4}
    ... )
    >>> round(display.operating_pc, 3), round(display.area, 3)
    (0.667, 0.167)
    >>> plt.close(display.figure_)
    """

    pc: Floats
    loss: Floats
    area: float
    fpr: Floats | None = None
    fnr: Floats | None = None
    operating_pc: float | None = None
    own_loss: float | None = None
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        costs: Any = None,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Binary labels, with rows of both classes.
        y_score : array-like of shape (n_samples,)
            Scores or probabilities of the positive class; only their order matters.
        costs : Costs, dict, array-like of shape (2, 2) or None, default=None
            If given, where they lie is marked; the curve itself needs none. Costs per row lie where
            their sums over the rows of each class do.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.
        pos_label : label, default=None
            The positive class; by default that of the costs, else of 0/1, -1/+1, booleans.
        name : str, default=None
            What the legend calls the model.
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : CostCurveDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_predictions")
        bound, positive = positive_of(costs, y_true, pos_label)
        given: dict[str, Any] = {"pos_label": positive, "sample_weight": sample_weight}
        pc, loss = cost_curve(y_true, y_score, **given)
        fpr, fnr, _ = cost_lines(y_true, y_score, **given)
        decided = own_decisions(bound, y_score)
        own = None
        if decided is not None:
            own = normalized_cost(y_true, decided, costs=bound, sample_weight=sample_weight)
        made = cls(
            pc=pc,
            loss=loss,
            area=curve_area(pc, loss),
            fpr=fpr,
            fnr=fnr,
            operating_pc=None if bound is None else probability_cost(bound, y_true, sample_weight),
            own_loss=own,
            name=name,
        )
        return made.plot(ax=ax, **kwargs)

    def plot(
        self, ax: Any = None, *, name: str | None = None, lines: bool = False, **kwargs: Any
    ) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        name : str, default=None
            What the legend calls the model; by default the name it has.
        lines : bool, default=False
            Whether to draw the line of every threshold too, of which the curve is the lower edge.
        **kwargs : dict
            Passed to matplotlib's `plot` for the curve.

        Returns
        -------
        self
        """
        self.ax_ = axes_for(ax, "CostCurveDisplay.plot")
        self.figure_ = self.ax_.figure
        label = entry(self.ax_, self.name if name is None else name, self._facts())
        style = curve_style(self.ax_, kwargs, markers=True)
        self.trivial_ = self._draw_trivial()
        self.line_ = self.ax_.plot(self.pc, self.loss, **{"label": label, **style})[0]
        self.lines_ = self._draw_lines() if lines else None
        self.operating_ = self.own_ = None
        if self.operating_pc is not None:
            at, color = self._least_loss(self.operating_pc), self.line_.get_color()
            self.operating_ = mark(self.ax_, self.operating_pc, at, color)
            if self.own_loss is not None:
                self.own_ = mark_own(self.ax_, self.operating_pc, self.own_loss, color)
        dress(
            self.ax_,
            "PC(+): weight of false negatives",
            "Normalised expected cost",
        )
        limit_loss(self.ax_, 0.5)
        self.legend_ = show_legend(self.ax_)
        return self

    def _facts(self) -> str:
        facts = f"area {number(self.area, 3)}"
        if self.operating_pc is None:
            return facts
        least = number(self._least_loss(self.operating_pc), 3)
        if self.own_loss is None:
            return f"{least} at these costs, {facts}"
        own = number(self.own_loss, 3)
        return f"{own} at these costs, {least} by the best threshold in hindsight, {facts}"

    def _least_loss(self, pc: float) -> float:
        """Return the loss of the best threshold in hindsight."""
        return float(np.interp(pc, self.pc, self.loss))

    def _draw_trivial(self) -> Any:
        pc = self.operating_pc
        facts = "" if pc is None else f", {number(min(pc, 1 - pc), 3)} at these costs"
        tag = f"costboost-trivial-{pc}"
        return once(self.ax_, tag, [0, 0.5, 1], [0, 0.5, 0], label=f"without a model{facts}")

    def _draw_lines(self) -> Any:
        from matplotlib.collections import LineCollection

        if self.fpr is None or self.fnr is None:
            raise ValueError("lines=True needs fpr and fnr: make this with from_predictions")
        ends = [[(0.0, a), (1.0, b)] for a, b in zip(self.fpr, self.fnr, strict=True)]
        alpha = float(np.clip(5 / len(ends), 0.03, 0.5))
        drawn = LineCollection(ends, colors=[self.line_.get_color()], linewidths=0.6, alpha=alpha)
        return self.ax_.add_collection(drawn, autolim=False)
