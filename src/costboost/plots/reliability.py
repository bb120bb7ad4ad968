"""Observed frequencies against predicted probabilities, of classes and of quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from costboost.metrics import brier_score, crps, quantile_frequencies
from costboost.metrics.prices import check_binary, check_labels, check_weights, positive_label
from costboost.plots._base import BinaryDisplay, bound_costs, model_name
from costboost.plots.style import (
    CURVE,
    axes_for,
    curve_style,
    dress,
    entry,
    need_matplotlib,
    once,
    plain_ticks,
    show_legend,
    tagged,
)
from costboost.text import number
from costboost.typing import Floats

_RARE = 0.05  # the share of positives below which axes are logarithmic
_GAP = 0.15  # between the diagram and the histogram, in inches
_BENEATH = "costboost-beneath"


@dataclass(eq=False, repr=False, kw_only=True)
class ReliabilityDisplay(BinaryDisplay):
    """Reliability diagram with a histogram of the probabilities beneath.

    On the diagonal, of the rows that were given probability p a share p is positive. Decisions by
    expected cost are only as good as that holds near the threshold. Bars are intervals of what
    happened (Wilson); a bin off the diagonal whose bar reaches it may be chance.

    It is recommended to use `from_estimator` or `from_predictions`.

    Parameters
    ----------
    predicted : ndarray of shape (n_full_bins,)
        Mean probability in each bin that holds rows.
    observed : ndarray of shape (n_full_bins,)
        Share of positives there.
    lower, upper : ndarray of shape (n_full_bins,), default=None
        Interval of that share.
    edges : ndarray of shape (n_bins + 1,)
        Edges of the histogram, whose bins always have equal width (on their scale).
    weight : ndarray of shape (n_bins,)
        Rows in each bar of the histogram, or their weight.
    brier : float
        The Brier score.
    scale : {"linear", "log"}, default="linear"
        Of both axes: where positives are rare, a linear one shows nothing of them.
    name : str, default=None
        What the legend calls the model.

    Attributes
    ----------
    line_ : Line2D
        Observed against predicted.
    bars_ : LineCollection or None
        The intervals.
    diagonal_ : Line2D
        Perfect reliability.
    histogram_ : StepPatch
        The histogram.
    histogram_ax_ : Axes
        The axes beneath, shared by all models on `ax_`.
    ax_, figure_, legend_
        Where it was drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from costboost.plots import ReliabilityDisplay
    >>> display = ReliabilityDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.1, 0.1, 0.9], n_bins=2)
    >>> display.observed.round(3).tolist(), display.weight.tolist()
    ([0.333, 1.0], [3.0, 1.0])
    >>> plt.close(display.figure_)
    """

    _probabilities_only: ClassVar[bool] = True
    _priced: ClassVar[bool] = False

    predicted: Floats
    observed: Floats
    edges: Floats
    weight: Floats
    brier: float
    lower: Floats | None = None
    upper: Floats | None = None
    scale: Literal["linear", "log"] = "linear"
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        costs: Any = None,
        sample_weight: ArrayLike | None = None,
        n_bins: int = 10,
        strategy: Literal["auto", "uniform", "quantile", "positives"] = "auto",
        confidence: float | None = 0.95,
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
            Only their positive class plays a part.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.
        n_bins : int, default=10
            Number of bins.
        strategy : {"auto", "uniform", "quantile", "positives"}, default="auto"
            Bins of equal width, of about equal weight, or of about equally many positives to be
            expected; "auto" is the last where less than a twentieth is expected to be positive,
            else the first.
        confidence : float or None, default=0.95
            Of the intervals; None: no intervals.
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
        display : ReliabilityDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_predictions")
        if costs is not None:
            pos_label = bound_costs(costs, y_true, pos_label).positive
        pos_label = positive_label(check_labels(y_true), pos_label)
        positive, p, weight = check_binary(
            y_true, y_proba, sample_weight, pos_label, probability=True
        )
        rare = float(np.average(p, weights=weight)) < _RARE
        if strategy == "auto":
            strategy = "positives" if rare else "uniform"
        bins = fill_bins(positive, p, weight, bin_edges(p, weight, n_bins, strategy))
        lower, upper = (
            (None, None)
            if confidence is None
            else wilson_interval(bins.observed, bins.effective, confidence)
        )
        edges = bin_edges(p, weight, n_bins, "uniform")
        if rare:
            low = float(np.clip(p.min(), 1e-6, _RARE))
            edges = np.concatenate([[0.0], np.geomspace(low, 1.0, 2 * n_bins)])
        # Weights were scaled to be summed; the histogram shows them as given.
        given = len(p) if sample_weight is None else float(np.sum(np.asarray(sample_weight)))
        made = cls(
            predicted=bins.predicted,
            observed=bins.observed,
            edges=edges,
            weight=sum_bins(weight, p, edges) / weight.sum() * given,
            scale="log" if rare else "linear",
            brier=brier_score(y_true, y_proba, pos_label=pos_label, sample_weight=sample_weight),
            lower=lower,
            upper=upper,
            name=name,
        )
        return made.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the diagram and the histogram.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; the histogram hangs beneath. None: on a new figure.
        name : str, default=None
            What the legend calls the model; by default the name it has.
        **kwargs : dict
            Passed to matplotlib's `plot` for the curve.

        Returns
        -------
        self
        """
        self.ax_ = axes_for(ax, "ReliabilityDisplay.plot", figsize=(6.0, 5.8))
        self.figure_ = self.ax_.figure
        facts = f"Brier score {number(self.brier, 3)}"
        label = entry(self.ax_, self.name if name is None else name, facts)
        style = {**curve_style(self.ax_, kwargs, markers=True), "markevery": 1}
        diagonal = [0, 1] if self.scale == "linear" else [1e-9, 1]
        self.diagonal_ = once(
            self.ax_, "costboost-diagonal", diagonal, diagonal, label="perfectly reliable"
        )
        self.line_ = self.ax_.plot(self.predicted, self.observed, **{"label": label, **style})[0]
        self.bars_ = self._draw_bars()
        dress(self.ax_, "", "Share of positives")
        self._limit()
        self._draw_histogram(style["linestyle"])
        self.legend_ = show_legend(self.ax_, beneath=-self.histogram_ax_._costboost_bottom)
        return self

    def _limit(self) -> None:
        """Fit the axes: to 0 .. 1, or on a logarithmic scale to what was predicted and seen."""
        if self.scale == "linear":
            self.ax_.set(xlim=(0, 1), ylim=(-0.02, 1.02))
            return
        lines = tagged(self.ax_, CURVE)
        seen = np.concatenate([np.asarray(line.get_xdata(), dtype=float) for line in lines])
        happened = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in lines])
        for axis, values in (("x", seen), ("y", np.append(happened, seen))):
            least = float(values[values > 0].min(initial=0.5))
            self.ax_.set(**{f"{axis}scale": "log", f"{axis}lim": (0.5 * least, 1.15)})
        plain_ticks(self.ax_.yaxis)

    def _draw_bars(self) -> Any:
        if self.lower is None or self.upper is None:
            return None
        style = {"color": self.line_.get_color(), "linewidth": 1.0, "alpha": 0.7, "zorder": 2}
        return self.ax_.vlines(self.predicted, self.lower, self.upper, **style)

    def _draw_histogram(self, linestyle: Any) -> None:
        self.histogram_ax_ = beneath = _axes_beneath(self.ax_)
        style: dict[str, Any] = {
            "color": self.line_.get_color(),
            "linestyle": linestyle,
            "linewidth": 1.4,
        }
        self.histogram_ = beneath.stairs(self.weight, self.edges, **style)
        dress(beneath, "Predicted probability", "Rows")
        highest = max(float(np.max(patch.get_data().values)) for patch in beneath.patches)
        if self.scale == "log":
            beneath.set_xscale("log")
            plain_ticks(beneath.xaxis)
        beneath.set(xlim=self.ax_.get_xlim(), ylim=(0, 1.08 * highest))
        plain_ticks(beneath.yaxis)


@dataclass(eq=False, repr=False, kw_only=True)
class QuantileCalibrationDisplay:
    """How many numbers lie up to the quantiles that were predicted for them.

    On the diagonal, a share p of the numbers lies up to the quantile of level p. Orders by a
    critical fractile are only as good as that holds near it. Bars are intervals of what happened
    (Wilson).

    It is recommended to use `from_estimator` or `from_predictions`.

    Parameters
    ----------
    levels : ndarray of shape (n_levels,)
    observed : ndarray of shape (n_levels,)
        Share of numbers up to each quantile.
    crps : float
        The continuous ranked probability score, by these levels.
    lower, upper : ndarray of shape (n_levels,), default=None
        Interval of the share.
    name : str, default=None
        What the legend calls the model.

    Attributes
    ----------
    line_ : Line2D
        Observed shares against levels.
    bars_ : LineCollection or None
        The intervals.
    diagonal_ : Line2D
        Perfect calibration.
    ax_, figure_, legend_
        Where it was drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from costboost.plots import QuantileCalibrationDisplay
    >>> display = QuantileCalibrationDisplay.from_predictions(
    ...     [1, 2, 3, 4], [[1, 3]] * 4, levels=[0.25, 0.75]
    ... )
    >>> display.observed.tolist()
    [0.25, 0.75]
    >>> plt.close(display.figure_)
    """

    levels: Floats
    observed: Floats
    crps: float
    lower: Floats | None = None
    upper: Floats | None = None
    name: str | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, levels: ArrayLike | None = None, **kwargs: Any
    ) -> Self:
        """Draw the quantiles of a model with ``predict_quantile``.

        Parameters
        ----------
        estimator : MinimumCostRegressor
            Fitted.
        X, y : table and array-like of shape (n_samples,)
            Rows that the model was not trained on.
        levels : array-like of shape (n_levels,), default=None
            Rising, strictly between 0 and 1; None: 0.05 to 0.95.
        **kwargs : dict
            Passed to `from_predictions`.

        Returns
        -------
        display : QuantileCalibrationDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_estimator")
        at = np.arange(1, 20) / 20 if levels is None else np.asarray(levels, dtype=float)
        kwargs = {"name": model_name(estimator), **kwargs}
        return cls.from_predictions(y, estimator.predict_quantile(X, at), levels=at, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        quantiles: ArrayLike,
        *,
        levels: ArrayLike,
        sample_weight: ArrayLike | None = None,
        confidence: float | None = 0.95,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw predicted quantiles.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True numbers.
        quantiles : array-like of shape (n_samples, n_levels)
            As ``predict_quantile`` returns them.
        levels : array-like of shape (n_levels,)
            Rising, strictly between 0 and 1.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.
        confidence : float or None, default=0.95
            Of the intervals; None: no intervals.
        name : str, default=None
            What the legend calls the model.
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : QuantileCalibrationDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_predictions")
        how: dict[str, Any] = {"levels": levels, "sample_weight": sample_weight}
        observed = quantile_frequencies(y_true, quantiles, **how)
        weight = check_weights(sample_weight, len(np.asarray(y_true)))
        rows = np.full(len(observed), np.sum(weight) ** 2 / np.sum(weight**2))  # Kish
        lower, upper = (
            (None, None) if confidence is None else wilson_interval(observed, rows, confidence)
        )
        made = cls(
            levels=np.asarray(levels, dtype=float),
            observed=observed,
            crps=crps(y_true, quantiles, **how),
            lower=lower,
            upper=upper,
            name=name,
        )
        return made.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw observed shares against levels.

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
        self.ax_ = axes_for(ax, "QuantileCalibrationDisplay.plot", figsize=(5.6, 5.0))
        self.figure_ = self.ax_.figure
        label = entry(self.ax_, self.name if name is None else name, f"CRPS {number(self.crps, 4)}")
        style = {**curve_style(self.ax_, kwargs, markers=True), "markevery": 1}
        self.diagonal_ = once(
            self.ax_, "costboost-diagonal", [0, 1], [0, 1], label="perfectly calibrated"
        )
        self.line_ = self.ax_.plot(self.levels, self.observed, **{"label": label, **style})[0]
        self.bars_ = None
        if self.lower is not None and self.upper is not None:
            bars = {"color": self.line_.get_color(), "linewidth": 1.0, "alpha": 0.7, "zorder": 2}
            self.bars_ = self.ax_.vlines(self.levels, self.lower, self.upper, **bars)
        dress(self.ax_, "Level of the quantile", "Share of numbers up to it")
        self.ax_.set(xlim=(0, 1), ylim=(-0.02, 1.02))
        self.legend_ = show_legend(self.ax_)
        return self


def _axes_beneath(ax: Any) -> Any:
    """Return the axes for histograms beneath these, made at the first call.

    Their height is fixed in inches, so that a layout engine knows how much room they need.
    """
    from matplotlib.transforms import ScaledTranslation, blended_transform_factory

    for other in ax.child_axes:
        if other.get_gid() == _BENEATH:
            return other
    height = 0.22 * ax.get_window_extent().height / ax.figure.dpi
    inches = ax.figure.dpi_scale_trans + ScaledTranslation(0, 0, ax.transAxes)
    across = blended_transform_factory(ax.transAxes, inches)
    bottom = -(_GAP + height)
    beneath = ax.inset_axes([0.0, bottom, 1.0, height], transform=across)
    beneath.set_gid(_BENEATH)
    beneath._costboost_bottom = bottom
    ax.tick_params(labelbottom=False)
    return beneath


class ReliabilityBins(NamedTuple):
    """The m bins that hold rows.

    `predicted` and `observed` are weighted means of the probability and of being positive, `weight`
    the weight of the rows, `effective` how many rows of equal weight would say as much.
    """

    predicted: Floats
    observed: Floats
    weight: Floats
    effective: Floats


def weighted_quantiles(values: Floats, weight: Floats, q: ArrayLike) -> Floats:
    """Return the smallest values below or at which at least a share q of the weight lies.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.plots.reliability import weighted_quantiles
    >>> values, weight = np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0])
    >>> weighted_quantiles(values, weight, [0.25, 0.5]).tolist()
    [1.0, 2.0]
    """
    kept = weight > 0
    order = np.argsort(values[kept], kind="stable")
    ranked, cumulated = values[kept][order], np.cumsum(weight[kept][order])
    at = np.searchsorted(cumulated, np.asarray(q) * cumulated[-1], side="left")
    return np.asarray(ranked[np.minimum(at, len(ranked) - 1)])


def bin_edges(proba: Floats, weight: Floats, n_bins: int, strategy: str) -> Floats:
    """Return the edges of bins of equal width, weight, or number of positives to be expected."""
    if not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise ValueError(f"n_bins={n_bins!r}: it must be a whole number of at least 1")
    grid = np.linspace(0.0, 1.0, n_bins + 1)
    if strategy == "uniform":
        return grid
    if strategy == "quantile":
        inner = weighted_quantiles(proba, weight, grid[1:-1])
        return np.unique(np.concatenate([[0.0], inner, [1.0]]))
    if strategy == "positives":
        inner = weighted_quantiles(proba, weight * np.maximum(proba, 1e-12), grid[1:-1])
        return np.unique(np.concatenate([[0.0], inner, [1.0]]))
    raise ValueError(f"strategy={strategy!r}: use 'auto', 'uniform', 'quantile' or 'positives'")


def sum_bins(values: Floats, proba: Floats, edges: Floats) -> Floats:
    """Return the sum of values in every bin."""
    of = _bin_of(proba, edges)
    return np.asarray(np.bincount(of, weights=values, minlength=len(edges) - 1))


def _bin_of(proba: Floats, edges: Floats) -> NDArray[np.intp]:
    return np.searchsorted(edges[1:-1], proba, side="left")


def fill_bins(
    positive: NDArray[Any], proba: Floats, weight: Floats, edges: Floats
) -> ReliabilityBins:
    """Return the bins; a probability on an edge belongs to the bin on its left, as in scikit-learn.

    Empty bins are left out.
    """

    def sums(values: Floats) -> Floats:
        return sum_bins(values, proba, edges)

    total = sums(weight)
    full = total > 0
    size = total[full]
    # Every bin in a unit of its own, a power of two: squares stay in range, and nothing is rounded.
    unit = np.frexp(total)[1]
    part = np.ldexp(weight, -unit[_bin_of(proba, edges)])
    return ReliabilityBins(
        sums(weight * proba)[full] / size,
        sums(weight * positive)[full] / size,
        size,
        np.ldexp(size, -unit[full]) ** 2 / sums(part**2)[full],  # Kish
    )


def wilson_interval(share: Floats, n: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return the interval of a share observed in n rows (Wilson 1927)."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence}: it must lie between 0 and 1")
    z2 = float(stats.norm.ppf(0.5 + confidence / 2)) ** 2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    return np.clip(middle - half, 0.0, share), np.clip(middle + half, share, 1.0)
