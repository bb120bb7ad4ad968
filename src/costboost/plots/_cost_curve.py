"""Curves of cost: of a ranking, for all costs at once; of numbers, answered higher or lower."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost.costs import as_number_costs
from costboost.inputs.checks import check_number
from costboost.metrics import cost_curve, cost_lines, curve_area, normalized_cost
from costboost.metrics.prices import check_weights, read_target, weighted_mean
from costboost.plots._base import (
    BinaryDisplay,
    limit_loss,
    mark,
    mark_own,
    model_name,
    own_decisions,
    positive_of,
    probability_cost,
)
from costboost.plots.style import (
    CURVE,
    axes_for,
    curve_style,
    dress,
    entry,
    highest,
    need_matplotlib,
    once,
    plain_ticks,
    point,
    show_legend,
    tagged,
    unit,
)
from costboost.text import money, number
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


@dataclass(eq=False, repr=False, kw_only=True)
class NumberCostDisplay:
    """What predicted numbers cost, were all of them higher or lower by the same share.

    Two parts add up to the cost: what rows pay that are answered too low, which falls as answers
    rise, and what rows pay that are answered too high. Numbers that were decided by their prices
    lie near the bottom of the sum.

    It is recommended to use `from_estimator` or `from_predictions`.

    Parameters
    ----------
    factor : ndarray of shape (n_points,)
        By what the numbers are multiplied.
    under, over : ndarray of shape (n_points,)
        Mean cost per row of answers too low, and too high.
    own : float
        Mean cost of the numbers as they are.
    name : str, default=None
        What the legend calls the model.
    currency : str, default=None
        Of the axis.

    Attributes
    ----------
    line_ : Line2D
        The cost.
    under_, over_ : Line2D
        Its two parts.
    own_ : Line2D
        The mark of the numbers as they are.
    ax_, figure_, legend_
        Where it was drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from costboost.plots import NumberCostDisplay
    >>> display = NumberCostDisplay.from_predictions(
    ...     [100, 120, 90], [110, 115, 100], costs={"under": 3, "over": 1}
    ... )
    >>> display.own
    11.666666666666666
    >>> plt.close(display.figure_)
    """

    factor: Floats
    under: Floats
    over: Floats
    own: float
    name: str | None = None
    currency: str | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, costs: Any = None, **kwargs: Any
    ) -> Self:
        """Draw a regressor's predictions.

        Parameters
        ----------
        estimator : regressor
            Fitted. One that takes `costs` in ``predict`` decides by them.
        X, y : table and array-like of shape (n_samples,)
            Rows that the model was not trained on.
        costs : NumberCosts or dict, default=None
            None: those that the model was fitted with.
        **kwargs : dict
            Passed to `from_predictions`.

        Returns
        -------
        display : NumberCostDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_estimator")
        held = getattr(estimator, "costs_", getattr(estimator, "training_costs_", None))
        if costs is None and held is None:
            raise ValueError(
                f"{type(estimator).__name__} was fitted without prices: give costs=NumberCosts("
                "under=, over=)."
            )
        bound = as_number_costs(held if costs is None else costs).bind_table(X)
        given = {"costs": bound} if hasattr(estimator, "predict_quantile") else {}
        kwargs = {"name": model_name(estimator), **kwargs}
        return cls.from_predictions(y, estimator.predict(X, **given), costs=bound, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        costs: Any,
        sample_weight: ArrayLike | None = None,
        span: float = 0.5,
        name: str | None = None,
        currency: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw predicted numbers.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            True and predicted numbers.
        costs : NumberCosts or dict
            Prices, constant or per row.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.
        span : float, default=0.5
            The share by which numbers are raised and lowered at most.
        name : str, default=None
            What the legend calls the model.
        currency : str, default=None
            Of the axis.
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : NumberCostDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_predictions")
        check_number("span", span, low=0.0, high=1.0, open_low=True)
        target, answer = read_target(y_true), read_target(y_pred, "y_pred")
        prices, weight = as_number_costs(costs), check_weights(sample_weight, len(target))
        factor = 1.0 + span * np.linspace(-1.0, 1.0, 101)
        parts = np.empty((2, len(factor)))
        for i, by in enumerate(factor):
            numbers = answer * by
            paid, low = prices.of_numbers(target, numbers), numbers < target
            parts[:, i] = [weighted_mean(np.where(s, paid, 0.0), weight) for s in (low, ~low)]
        own = weighted_mean(prices.of_numbers(target, answer), weight)
        made = cls(
            factor=factor, under=parts[0], over=parts[1], own=own, name=name, currency=currency
        )
        return made.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the cost and its two parts.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        name : str, default=None
            What the legend calls the model; by default the name it has.
        **kwargs : dict
            Passed to matplotlib's `plot` for the curve of the cost.

        Returns
        -------
        self
        """
        self.ax_ = axes_for(ax, "NumberCostDisplay.plot")
        self.figure_ = self.ax_.figure
        change, total = 100.0 * (self.factor - 1.0), self.under + self.over
        best = int(np.argmin(total))
        facts = (
            f"{money(self.own)} as they are, {money(float(total[best]))} at {change[best]:+.0f} %"
        )
        style = curve_style(self.ax_, kwargs)
        label = entry(self.ax_, self.name if name is None else name, facts)
        self.line_ = self.ax_.plot(change, total, **{"label": label, **style})[0]
        color = self.line_.get_color()
        thin = {"color": color, "linewidth": 1.2, "zorder": 2}
        parts = ((self.under, ":", "of answers too low"), (self.over, "-.", "of answers too high"))
        first = len(tagged(self.ax_, CURVE)) == 1  # of several models, whose parts look alike
        self.under_, self.over_ = (
            self.ax_.plot(change, part, linestyle=line, label=text if first else None, **thin)[0]
            for part, line, text in parts
        )
        self.own_ = point(self.ax_, 0.0, self.own, color, "o")
        dress(self.ax_, "All numbers higher by (%)", unit("Mean cost of a row", self.currency))
        self.ax_.set_ylim(0.0, 1.05 * highest(self.ax_) or 1.0)
        plain_ticks(self.ax_.yaxis)
        self.legend_ = show_legend(self.ax_)
        return self
