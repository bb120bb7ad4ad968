"""Cost against threshold: the price of a threshold, and of being off the best one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost.costs import Costs
from costboost.metrics import cheapest_threshold, cost_by_threshold, mean_cost, total_cost
from costboost.plots._base import BinaryDisplay, both_columns, bound_costs
from costboost.plots.style import (
    CURVE,
    axes_for,
    curve_style,
    dress,
    entry,
    explain,
    need_matplotlib,
    once,
    plain_ticks,
    show_legend,
    tagged,
    unit,
)
from costboost.text import money, number
from costboost.typing import Floats

_MARK = "costboost-mark"
_AT_END = 1e-12  # such a probability is 0 on any axis, and one minus it is 1
Scale = Literal["auto", "linear", "log", "logit"]


def _elkan(costs: Costs, probability: bool) -> float | None:
    """Return the threshold that constant costs call for, if there is one within [0, 1]."""
    if not probability or costs.per_row:
        return None
    at = float(costs.thresholds())
    return at if 0 <= at <= 1 else None


def _chosen_by(costs: Costs, probability: bool) -> float | None:
    """Return the threshold by which constant costs decide; infinite where one answer is for all."""
    if not probability or costs.per_row:
        return None
    at = float(costs.thresholds())
    if np.isnan(at):
        return None
    return at if 0 <= at <= 1 else float(np.copysign(np.inf, at))


def _cost_by_row(
    y: ArrayLike, p: Floats, costs: Costs, normalize: bool, sample_weight: ArrayLike | None
) -> float | None:
    """Return the cost of deciding each row by its own costs; None if those contain the truth."""
    if costs.is_constant or len(costs.shape) == 2:
        return None
    decided = costs.decide(both_columns(costs, p))
    measure = mean_cost if normalize else total_cost
    return measure(y, decided, costs=costs, sample_weight=sample_weight)


def _threshold_text(threshold: float) -> str:
    if np.isinf(threshold):
        return "all rows positive" if threshold < 0 else "no row positive"
    return number(threshold, 3)


@dataclass(eq=False, repr=False, kw_only=True)
class ThresholdCostDisplay(BinaryDisplay):
    """Cost against threshold, with the chosen threshold and the price of being off the cheapest.

    A row is called positive when its score is above the threshold. A filled mark shows the chosen
    threshold, if there is one, a hollow one that which would have been cheapest on these rows, and
    the stroke between them what the choice costs. Constant costs and probabilities have the
    threshold `fp / (fp + fn)` (Elkan 2001), drawn as a dotted line. Costs per row call for a
    threshold per row; what that costs is a horizontal line, which one threshold for all often
    cannot reach.

    It is recommended to use `from_estimator` or `from_predictions`.

    Parameters
    ----------
    thresholds : ndarray of shape (n_thresholds,)
        Minus infinity, then the distinct scores; see :func:`costboost.metrics.cost_by_threshold`.
    cost : ndarray of shape (n_thresholds,)
        The cost from each threshold up to the next.
    cheapest : float
        The cheapest threshold on these rows; infinite when one answer for all rows is.
    chosen : float or None
        The chosen threshold; None where nothing was chosen, neither by the user nor by the costs.
    elkan : float, default=None
        The threshold that constant costs call for.
    cost_by_row : float, default=None
        What deciding each row by its own costs costs.
    probability : bool, default=True
        Whether the scores are probabilities; the axis then runs from 0 to 1.
    normalize : bool, default=True
        Whether costs are means per row rather than totals.
    currency : str, default=None
        What costs are counted in, such as "EUR".
    name : str, default=None
        What the legend calls the model.

    Attributes
    ----------
    line_ : Line2D
        The curve.
    chosen_, cheapest_ : Line2D or None
        The marks of the chosen and of the cheapest threshold; of two at the same cost the first.
    price_ : Line2D or None
        The stroke between their costs.
    elkan_ : Line2D or None
        The dotted line at Elkan's threshold.
    by_row_ : Line2D or None
        The horizontal line of decisions row by row.
    ax_, figure_, legend_
        Where it was drawn.

    References
    ----------
    Elkan 2001, "The foundations of cost-sensitive learning".

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from costboost.plots import ThresholdCostDisplay
    >>> display = ThresholdCostDisplay.from_predictions(
    ...     [0, 0, 1], [0.1, 0.6, 0.4], costs={"fp": 1, "fn": 9}, threshold=0.5, normalize=False
    ... )
    >>> display.elkan, display.cheapest
    (0.1, 0.25)
    >>> float(display.cost_at(0.5)), float(display.price_of(0.5))
    (10.0, 9.0)
    >>> plt.close(display.figure_)
    """

    thresholds: Floats
    cost: Floats
    cheapest: float
    chosen: float | None = None
    elkan: float | None = None
    cost_by_row: float | None = None
    probability: bool = True
    normalize: bool = True
    currency: str | None = None
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        costs: Any = None,
        sample_weight: ArrayLike | None = None,
        threshold: float | None = None,
        probability: bool | None = None,
        normalize: bool = True,
        currency: str | None = None,
        pos_label: Any = None,
        labels: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Binary labels.
        y_score : array-like of shape (n_samples,)
            Probabilities or scores of the positive class.
        costs : Costs, dict, array-like of shape (2, 2) or None, default=None
            What each decision costs, constant or per row; None: every mistake costs 1.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.
        threshold : float, default=None
            The chosen threshold. None: Elkan's, if there is one; else there is none to mark but
            the cheapest, which is known in hindsight only.
        probability : bool, default=None
            Whether the scores are probabilities; None: if all lie within [0, 1].
        normalize : bool, default=True
            Whether to draw the mean cost per row rather than the total.
        currency : str, default=None
            What costs are counted in, such as "EUR".
        pos_label : label, default=None
            The positive class; by default that of the costs, else of 0/1, -1/+1, booleans.
        labels : array-like of shape (2,), default=None
            Both classes, where the costs do not name them and one does not occur.
        name : str, default=None
            What the legend calls the model.
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : ThresholdCostDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_predictions")
        bound = bound_costs(costs, y_true, pos_label, labels)
        given: dict[str, Any] = {"costs": bound, "sample_weight": sample_weight}
        thresholds, cost = cost_by_threshold(y_true, y_score, normalize=normalize, **given)
        cheapest, _ = cheapest_threshold(y_true, y_score, **given)
        score = np.asarray(y_score, dtype=np.float64)
        if probability is None:
            probability = bool((score >= 0).all() and (score <= 1).all())
        elkan = _elkan(bound, probability)
        by_row = (
            _cost_by_row(y_true, score, bound, normalize, sample_weight) if probability else None
        )
        made = cls(
            thresholds=thresholds,
            cost=cost,
            cheapest=cheapest,
            chosen=_chosen_by(bound, probability) if threshold is None else float(threshold),
            elkan=elkan,
            cost_by_row=by_row,
            probability=probability,
            normalize=normalize,
            currency=currency,
            name=name,
        )
        return made.plot(ax=ax, **kwargs)

    @classmethod
    def _known_of(cls, estimator: Any, probability: bool, kwargs: dict[str, Any]) -> dict[str, Any]:
        # scikit-learn's TunedThresholdClassifierCV has chosen already.
        return {
            "probability": probability,
            "threshold": getattr(estimator, "best_threshold_", None),
            **kwargs,
        }

    def cost_at(self, threshold: ArrayLike) -> Floats:
        """Return the cost at any thresholds.

        Parameters
        ----------
        threshold : array-like
            Thresholds; a row is positive when its score is above.

        Returns
        -------
        cost : ndarray of the same shape
        """
        at = np.asarray(threshold, dtype=np.float64)
        if np.isnan(at).any():
            raise ValueError("threshold holds nan: give numbers")
        return np.asarray(self.cost[np.searchsorted(self.thresholds, at, side="right") - 1])

    def price_of(self, threshold: ArrayLike) -> Floats:
        """Return how much more than the cheapest threshold others cost.

        Parameters
        ----------
        threshold : array-like
            Thresholds.

        Returns
        -------
        price : ndarray of the same shape
            At least 0.
        """
        return np.asarray(self.cost_at(threshold) - self.cost.min())

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        xscale: Scale = "auto",
        yscale: Scale = "auto",
        **kwargs: Any,
    ) -> Self:
        """Draw the curve and its marks.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        name : str, default=None
            What the legend calls the model; by default the name it has.
        xscale : {"auto", "linear", "log", "logit"}, default="auto"
            Scale of the thresholds; "auto" is "logit" when a mark lies so close to probability 0
            or 1 that it would not differ from it.
        yscale : {"auto", "linear", "log"}, default="auto"
            Scale of the costs; "auto" is "log" when the dearest threshold costs more than a
            hundred times the cheapest.
        **kwargs : dict
            Passed to matplotlib's `plot` for the curve.

        Returns
        -------
        self
        """
        self.ax_ = axes_for(ax, "ThresholdCostDisplay.plot")
        self.figure_ = self.ax_.figure
        name = self.name if name is None else name
        chosen = "D" if self.chosen is not None else None
        style = {"drawstyle": "steps-post", **curve_style(self.ax_, kwargs, mark=chosen)}
        label = {"label": entry(self.ax_, name, self._facts())}
        self.line_ = self.ax_.plot(*self._steps(), **{**label, **style})[0]
        self._draw_references(name, style["linestyle"])
        self._draw_marks()
        what = "Mean cost per row" if self.normalize else "Total cost"
        kind = "probability" if self.probability else "score"
        dress(self.ax_, f"Threshold on the {kind}", unit(what, self.currency))
        self._scale(xscale, yscale)
        self.legend_ = show_legend(self.ax_)
        return self

    def _ends(self) -> tuple[float, float]:
        """Return the range of thresholds to draw."""
        if self.probability:
            return 0.0, 1.0
        low, high = float(self.thresholds[1]), float(self.thresholds[-1])
        margin = 0.05 * (high - low) or 0.5 * max(abs(low), 1.0)
        chosen = low if self.chosen is None else self.chosen
        marks = [t for t in (chosen, low - margin, high + margin) if np.isfinite(t)]
        return min(marks), max(marks)

    def _steps(self) -> tuple[Floats, Floats]:
        low, high = self._ends()
        x = np.concatenate([[low], self.thresholds[1:], [high]])
        return x, np.append(self.cost, self.cost[-1])

    def _facts(self) -> str:
        cheapest = float(self.cost.min())
        if self.chosen is None:
            where = _threshold_text(self.cheapest)
            return f"in hindsight {money(cheapest, self.currency)} at {where}"
        at = float(self.cost_at(self.chosen))
        facts = f"{money(at, self.currency)} at {_threshold_text(self.chosen)}"
        if at <= cheapest:
            return f"{facts}, the cheapest"
        return f"{facts}, {money(at - cheapest, self.currency)} above the cheapest"

    def _draw_references(self, name: str | None, linestyle: Any) -> None:
        self.elkan_ = self.by_row_ = None
        if self.elkan is not None:
            tag = f"costboost-elkan-{self.elkan:.12g}"
            self.elkan_ = once(
                self.ax_,
                tag,
                [self.elkan, self.elkan],
                [0, 1],
                transform=self.ax_.get_xaxis_transform(),
                linestyle=":",
                label=f"Elkan's threshold, {number(self.elkan, 3)}",
            )
        if self.cost_by_row is not None:
            paid = money(self.cost_by_row, self.currency)
            facts = f"own decisions, row by row, {paid}"
            self.by_row_ = self.ax_.axhline(
                self.cost_by_row,
                color=self.line_.get_color(),
                linestyle=linestyle,
                linewidth=0.9,
                label=entry(self.ax_, name, facts),
            )

    def _draw_marks(self) -> None:
        self.price_ = self.chosen_ = self.cheapest_ = None
        style = {
            "linestyle": "none",
            "color": self.line_.get_color(),
            "markersize": 7,
            "clip_on": False,
            "gid": _MARK,
        }
        least = float(self.cost.min())
        if self.chosen is not None:
            self._draw_chosen(self.chosen, least, style)
        if self.chosen is None or float(self.cost_at(self.chosen)) > least:
            self._draw_cheapest(least, style)

    def _draw_chosen(self, chosen: float, least: float, style: dict[str, Any]) -> None:
        at, (x, where) = float(self.cost_at(chosen)), self._place(chosen)
        stroke = {"color": style["color"], "linewidth": 1.0}
        self.price_ = self.ax_.plot([x, x], [least, at], **stroke, **where)[0]
        self.chosen_ = self.ax_.plot(
            [x], [at], marker="D", markeredgecolor="white", zorder=5, **style, **where
        )[0]

    def _draw_cheapest(self, least: float, style: dict[str, Any]) -> None:
        hollow = {"marker": "o", "markerfacecolor": "white"}
        explain(self.ax_, "costboost-cheapest", "cheapest on these rows, in hindsight", **hollow)
        x, where = self._place(self.cheapest)
        self.cheapest_ = self.ax_.plot([x], [least], zorder=4, **hollow, **style, **where)[0]

    def _place(self, threshold: float) -> tuple[float, dict[str, Any]]:
        """Return where a threshold is marked: at an end of the axis if it lies there or beyond."""
        low, high = self._ends()
        if low + _AT_END < threshold < high - _AT_END:
            return threshold, {}
        end = 0.0 if threshold <= (low + high) / 2 else 1.0
        return end, {"transform": self.ax_.get_yaxis_transform()}

    def _scale(self, xscale: Scale, yscale: Scale) -> None:
        if xscale == "auto":
            xscale = "logit" if self.probability and min(self._edges()) < 0.01 else "linear"
        if xscale != "linear":
            self.ax_.set_autoscalex_on(False)  # the limits follow; margins around 0 would overflow
            self.ax_.set_xscale(xscale, nonpositive="clip")
        if yscale == "auto":
            least, most = float(self.cost.min()), float(self.cost.max())
            yscale = "log" if 0 < 100 * least < most else "linear"
        if yscale != "linear":
            self.ax_.set_yscale(yscale)
        plain_ticks(self.ax_.xaxis)
        plain_ticks(self.ax_.yaxis)
        self._limit()

    def _edges(self) -> tuple[float, float]:
        """Return how close to 0 and to 1 the marks of all models on these axes come."""
        at = np.array([mark.get_xdata()[0] for mark in tagged(self.ax_, _MARK)])
        at = at[(at > 0) & (at < 1)]
        return float(at.min(initial=1.0)), float((1 - at).min(initial=1.0))

    def _limit(self) -> None:
        lines = tagged(self.ax_, CURVE)
        x = np.concatenate([line.get_xdata() for line in lines])
        cost = np.concatenate([line.get_ydata() for line in lines])
        scale = self.ax_.get_xscale()
        if scale == "logit" or (scale == "log" and self.probability):
            # As far out as the marks need and no further: what lies beyond only takes their room,
            # and 0 is infinitely far out.
            low, high = self._edges()
            ends = min(low / 5, 0.01), 1 - min(high / 5, 0.01) if scale == "logit" else 1.0
            seen = (x >= ends[0]) & (x <= ends[1])
            cost = cost[seen] if seen.any() else cost
            self.ax_.set_xlim(*ends)
        elif scale == "linear":
            self.ax_.set_xlim(x.min(), x.max())
        if self.ax_.get_yscale() == "linear" and cost.min() >= 0:
            marks = [mark.get_ydata()[0] for mark in tagged(self.ax_, _MARK)]
            top = max(*marks, float(cost.max()), self.cost_by_row or 0.0)
            # Calling (nearly) every row positive may cost many times the costs of interest.
            idle = max(*marks, float(lines[-1].get_ydata()[-1]), self.cost_by_row or 0.0)
            top = 2 * idle if 0 < 3 * idle < top else top
            self.ax_.set_ylim(0, 1.05 * top or 1.0)
