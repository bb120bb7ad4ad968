"""Decision curves: the net benefit of treating by a model, for all thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost.metrics import net_benefit
from costboost.plots._base import BinaryDisplay, mark, positive_of, share_of_positives
from costboost.plots.style import (
    CURVE,
    axes_for,
    curve_style,
    dress,
    entry,
    need_matplotlib,
    once,
    show_legend,
    tagged,
)
from costboost.text import number
from costboost.typing import Floats


@dataclass(eq=False, repr=False, kw_only=True)
class NetBenefitDisplay(BinaryDisplay):
    """Decision curve: net benefit of treating rows above a threshold, for all thresholds.

    A threshold stands for a ratio of prices, ``fp / (fp + fn)``: how many are treated in vain, at
    most, for one who needs it. A model is of use where its curve is above both treating all
    and treating nobody (Vickers and Elkin 2006).

    It is recommended to use `from_estimator` or `from_predictions`.

    Parameters
    ----------
    thresholds : ndarray of shape (n_thresholds,)
        See :func:`costboost.metrics.net_benefit`.
    benefit : ndarray of shape (n_thresholds,)
        Net benefit there.
    share : float
        Share of the positive class, which treating all depends on.
    standardized : bool, default=False
        Whether benefits were divided by it.
    at : float, default=None
        The threshold of given constant costs.
    name : str, default=None
        What the legend calls the model.

    Attributes
    ----------
    line_ : Line2D
        The curve.
    all_ : Line2D
        Treating all rows.
    mark_ : Line2D or None
        The curve at the given costs.
    ax_, figure_, legend_
        Where it was drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from costboost.plots import NetBenefitDisplay
    >>> display = NetBenefitDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9])
    >>> display.useful
    (0.1, 0.89)
    >>> plt.close(display.figure_)
    """

    _probabilities_only: ClassVar[bool] = True

    thresholds: Floats
    benefit: Floats
    share: float
    standardized: bool = False
    at: float | None = None
    name: str | None = None

    @property
    def of_all(self) -> Floats:
        """Net benefit of treating all rows, at each threshold."""
        total = self.share if self.standardized else 1.0
        odds = self.thresholds / (1 - self.thresholds)
        return np.asarray((self.share - (1 - self.share) * odds) / total)

    @property
    def useful(self) -> tuple[float, float] | None:
        """First and last threshold at which the model is better than treating all, or nobody."""
        better = self.benefit > np.maximum(self.of_all, 0.0) + 1e-12
        if not better.any():
            return None
        found = self.thresholds[better]
        return float(found[0]), float(found[-1])

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        costs: Any = None,
        sample_weight: ArrayLike | None = None,
        thresholds: ArrayLike | None = None,
        standardized: bool = False,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Binary labels.
        y_proba : array-like of shape (n_samples,)
            Probability of the positive class.
        costs : Costs, dict, array-like of shape (2, 2) or None, default=None
            If given and constant, their threshold is marked.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.
        thresholds : array-like of shape (n_thresholds,), default=None
            In ascending order, at least 0 and below 1; None: 0, 0.01, ..., 0.99.
        standardized : bool, default=False
            Whether to draw shares of the largest possible benefit.
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
        display : NetBenefitDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_predictions")
        bound, positive = positive_of(costs, y_true, pos_label)
        given: dict[str, Any] = {"pos_label": positive, "sample_weight": sample_weight}
        points, benefit = net_benefit(
            y_true, y_proba, thresholds=thresholds, standardized=standardized, **given
        )
        at = None
        if bound is not None and bound.is_constant:
            at = float(np.ravel(bound.thresholds())[0])
        made = cls(
            thresholds=points,
            benefit=benefit,
            share=share_of_positives(y_true, positive, sample_weight),
            standardized=standardized,
            at=at if at is not None and points[0] <= at <= points[-1] else None,
            name=name,
        )
        return made.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curve, and treating all and nobody.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        name : str, default=None
            What the legend calls the model; by default the name it has.
        **kwargs : dict
            Passed to matplotlib's `plot` for the curve.

        Returns
        -------
        self
        """
        self.ax_ = axes_for(ax, "NetBenefitDisplay.plot")
        self.figure_ = self.ax_.figure
        useful = self.useful
        facts = "never better than treating all, or nobody"
        if useful is not None:
            facts = f"of use from {number(useful[0], 2)} to {number(useful[1], 2)}"
        label = entry(self.ax_, self.name if name is None else name, facts)
        style = {"label": label, **curve_style(self.ax_, kwargs)}
        once(self.ax_, "costboost-nobody", [0, 1], [0, 0], linestyle="-", linewidth=0.8)
        tag = f"costboost-all-{self.share:.12g}"
        self.all_ = once(self.ax_, tag, self.thresholds, self.of_all, label="treating all")
        self.line_ = self.ax_.plot(self.thresholds, self.benefit, **style)[0]
        self.mark_ = None
        if self.at is not None:
            height = float(np.interp(self.at, self.thresholds, self.benefit))
            self.mark_ = mark(self.ax_, self.at, height, self.line_.get_color())
        unit = "Share of the largest net benefit" if self.standardized else "Net benefit (a row)"
        dress(self.ax_, "Threshold: fp / (fp + fn)", unit)
        best = max(float(np.max(line.get_ydata())) for line in tagged(self.ax_, CURVE))
        top = max(best, 1.0 if self.standardized else self.share) or 1.0
        # Treating all falls without end: what lies far below zero is of no interest.
        self.ax_.set(xlim=(0, 1), ylim=(-0.3 * top, 1.05 * top))
        self.legend_ = show_legend(self.ax_)
        return self
