"""Curves over all ratios of prices: the Brier curve, and decision curves (net benefit)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost.costs import Costs
from costboost.metrics import brier_curve, curve_area, net_benefit
from costboost.metrics.prices import check_weights
from costboost.plots._base import (
    BinaryDisplay,
    limit_loss,
    mark,
    positive_of,
    probability_cost,
    share_of_positives,
)
from costboost.plots.reliability import weighted_quantiles
from costboost.plots.style import (
    CURVE,
    GREY,
    axes_for,
    curve_style,
    dress,
    entry,
    need_matplotlib,
    once,
    plain,
    show_legend,
    tagged,
)
from costboost.text import number
from costboost.typing import Floats


@dataclass(eq=False, repr=False, kw_only=True)
class BrierCurveDisplay(BinaryDisplay):
    """Brier curve: what the probabilities cost when they are believed, for all cost ratios.

    At the cost proportion `c = fp / (fp + fn)` rows with `p > c` are called positive
    (Hernandez-Orallo, Flach and Ferri 2011). The area under the curve is the Brier score, shown in
    the legend. Where the curve rises above the dashed line, the probabilities do harm: ignoring
    them would be cheaper.

    It is recommended to use `from_estimator` or `from_predictions`.

    Parameters
    ----------
    c : ndarray of shape (n_points,)
        Cost proportions, both sides of every jump; see :func:`costboost.metrics.brier_curve`.
    loss : ndarray of shape (n_points,)
        The loss there.
    area : float
        The Brier score; in the skew form half the sum of its class-wise parts.
    share : float
        Share of the positive class, which the trivial losses depend on.
    skew : bool, default=False
        Whether the axis is the skew `z` rather than the cost proportion.
    operating : tuple of two floats, default=None
        Where given costs lie on the axis: twice the same for constant costs; for costs per row
        the range of the middle half of the rows.
    name : str, default=None
        What the legend calls the model.

    Attributes
    ----------
    line_ : Line2D
        The curve.
    trivial_ : Line2D
        The cheaper of always answering negative and always positive.
    operating_ : Line2D, Patch or None
        The mark at the given costs, or the band of costs per row.
    ax_, figure_, legend_
        Where it was drawn.

    References
    ----------
    Hernandez-Orallo, Flach and Ferri 2011, "Brier curves: a new cost-based visualisation of
    classifier performance".

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from costboost.plots import BrierCurveDisplay
    >>> display = BrierCurveDisplay.from_predictions([0, 1], [0.25, 0.5])
    >>> display.area
    0.15625
    >>> plt.close(display.figure_)
    """

    _probabilities_only: ClassVar[bool] = True

    c: Floats
    loss: Floats
    area: float
    share: float
    skew: bool = False
    operating: tuple[float, float] | None = None
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        costs: Any = None,
        sample_weight: ArrayLike | None = None,
        skew: bool = False,
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
            If given, where they lie is marked: constant costs as a point, costs per row as the band
            of the middle half of their thresholds (not in the skew form, which has one for all).
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.
        skew : bool, default=False
            Whether to draw against the skew `z = pi_neg fp / (pi_neg fp + pi_pos fn)`.
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
        display : BrierCurveDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_predictions")
        bound, positive = positive_of(costs, y_true, pos_label)
        given: dict[str, Any] = {"pos_label": positive, "sample_weight": sample_weight}
        c, loss = brier_curve(y_true, y_proba, skew=skew, **given)
        made = cls(
            c=c,
            loss=loss,
            area=curve_area(c, loss),
            share=share_of_positives(y_true, positive, sample_weight),
            skew=skew,
            operating=None if bound is None else cls._place(bound, y_true, sample_weight, skew),
            name=name,
        )
        return made.plot(ax=ax, **kwargs)

    @staticmethod
    def _place(
        costs: Costs, y: ArrayLike, sample_weight: ArrayLike | None, skew: bool
    ) -> tuple[float, float] | None:
        if skew:
            pc = probability_cost(costs, y, sample_weight)
            return None if pc is None else (1 - pc, 1 - pc)
        if len(costs.shape) == 2:
            return None  # the price of each answer: no cost proportion belongs to it
        at = np.atleast_1d(costs.thresholds())
        if costs.is_constant:
            return (float(at[0]), float(at[0])) if 0 <= at[0] <= 1 else None
        # Infinite where one answer is always the cheaper: an end of the axis.
        weight = check_weights(sample_weight, len(at)) * ~np.isnan(at)
        if not weight.any():
            return None
        low, high = weighted_quantiles(np.clip(at, 0.0, 1.0), weight, [0.25, 0.75])
        return float(low), float(high)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curve.

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
        self.ax_ = axes_for(ax, "BrierCurveDisplay.plot")
        self.figure_ = self.ax_.figure
        measure = "skew Brier area" if self.skew else "Brier score"
        facts = f"{measure} {number(self.area, 3)}"
        label = entry(self.ax_, self.name if name is None else name, facts)
        style = {"linewidth": 1.4, **curve_style(self.ax_, kwargs, markers=True)}
        self.trivial_ = self._draw_trivial()
        self.line_ = self.ax_.plot(self.c, self.loss, **{"label": label, **style})[0]
        self.operating_ = self._draw_operating()
        axis = "Skew z" if self.skew else "Cost proportion c"
        dress(self.ax_, f"{axis}: weight of false positives", "Loss with this threshold")
        limit_loss(self.ax_, float(np.max(self.trivial_.get_ydata())))
        self.legend_ = show_legend(self.ax_)
        return self

    def _draw_trivial(self) -> Any:
        # 2 c pi_neg (all positive) and 2 (1 - c) pi_pos (all negative) meet at c = pi_pos.
        at = 0.5 if self.skew else self.share
        peak = 0.5 if self.skew else 2 * self.share * (1 - self.share)
        tag = f"costboost-trivial-{at:.12g}"
        return once(self.ax_, tag, [0, at, 1], [0, peak, 0], label="without a model")

    def _draw_operating(self) -> Any:
        if self.operating is None:
            return None
        low, high = self.operating
        if high - low < 0.005:  # too narrow to be seen
            low = (low + high) / 2
            return mark(self.ax_, low, self._loss_at(low), self.line_.get_color())
        tag = f"costboost-band-{low:.12g}-{high:.12g}"
        there = [p for p in self.ax_.patches if p.get_gid() == tag]
        if there:
            return there[0]
        label = "thresholds of the middle half of the rows"
        style = {"color": GREY, "alpha": 0.15, "linewidth": 0, "zorder": 1, "label": plain(label)}
        return self.ax_.axvspan(low, high, gid=tag, **style)

    def _loss_at(self, c: float) -> float:
        """Return the loss at a cost proportion: of the two at a jump, that on its right."""
        right = int(np.searchsorted(self.c, c, side="right"))
        if right == len(self.c):
            return float(self.loss[-1])
        left = right - 1
        part = (c - self.c[left]) / (self.c[right] - self.c[left])
        return float(self.loss[left] + part * (self.loss[right] - self.loss[left]))


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
