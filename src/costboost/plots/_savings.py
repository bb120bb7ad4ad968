"""Money saved against the share of rows acted on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost.costs import Costs
from costboost.metrics import savings_curve
from costboost.metrics._checks import check_scores
from costboost.plots._base import BinaryDisplay
from costboost.plots._responses import bound_costs
from costboost.plots._style import (
    Floats,
    amount,
    axes_for,
    curve_style,
    dress,
    entry,
    need_matplotlib,
    once,
    plain_ticks,
    share,
    show_legend,
    unit,
)


def expected_saving(costs: Costs, proba: ArrayLike) -> Floats:
    """Return what acting on each row is expected to save over not acting, shape (n,)."""
    assert costs.classes is not None  # bound
    p = check_scores(proba, len(np.asarray(proba)), probability=True)
    act = costs.classes.tolist().index(costs.positive)
    columns = [1 - p, p] if act == 1 else [p, 1 - p]
    prices = costs.expected(np.stack(columns, axis=1))
    return np.asarray(prices[:, 1 - act] - prices[:, act])


@dataclass(eq=False, repr=False, kw_only=True)
class SavingsCurveDisplay(BinaryDisplay):
    """Money saved, against not acting at all, when the top share of the rows is acted on.

    To act is to decide for the positive class: to investigate, to decline, to call. The curve
    starts at nothing done and ends at everything done; its peak, which is marked, is how far down
    the list it pays to go. The dashed line is acting on rows at random.

    It is recommended to use `from_estimator` or `from_predictions`.

    Parameters
    ----------
    share : ndarray of shape (n_points,)
        Share of rows acted on, from 0 to 1; see :func:`costboost.metrics.savings_curve`.
    saved : ndarray of shape (n_points,)
        Cost saved there.
    normalize : bool, default=False
        Whether savings are shares of the cost of not acting at all.
    rank_by : {"score", "saving"}, default="score"
        What rows were ranked by, as the axis says.
    currency : str, default=None
        What costs are counted in, such as "EUR".
    name : str, default=None
        What the legend calls the model.

    Attributes
    ----------
    line_ : Line2D
        The curve.
    peak_ : Line2D
        The mark at its peak.
    random_ : Line2D
        Acting at random.
    ax_, figure_, legend_
        Where it was drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from costboost import Costs
    >>> from costboost.plots import SavingsCurveDisplay
    >>> costs = Costs(fp=5, fn=[30, 10, 10, 10], tp=5)
    >>> display = SavingsCurveDisplay.from_predictions(
    ...     [1, 0, 1, 0], [0.9, 0.7, 0.2, 0.1], costs=costs, currency="EUR"
    ... )
    >>> display.best_share, display.best_saved
    (0.25, 25.0)
    >>> plt.close(display.figure_)
    """

    share: Floats
    saved: Floats
    normalize: bool = False
    rank_by: Literal["score", "saving"] = "score"
    currency: str | None = None
    name: str | None = None

    @property
    def best_share(self) -> float:
        """Share of rows to act on that saves most; the smallest of several."""
        return float(self.share[int(np.argmax(self.saved))])

    @property
    def best_saved(self) -> float:
        """What is saved there; never below 0, which doing nothing saves."""
        return float(np.max(self.saved))

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        costs: Any = None,
        sample_weight: ArrayLike | None = None,
        rank_by: Literal["score", "saving"] = "score",
        normalize: bool = False,
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
            What rows are ranked by: a probability, or an expected saving.
        costs : Costs, dict, array-like of shape (2, 2) or None, default=None
            What each decision costs, constant or per row; None: every mistake costs 1.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.
        rank_by : {"score", "saving"}, default="score"
            Rank rows by the score as it is, or by the saving that probabilities and costs lead to
            expect, which puts large amounts first when costs are per row.
        normalize : bool, default=False
            Whether to draw savings as shares of the cost of not acting at all.
        currency : str, default=None
            What costs are counted in, such as "EUR".
        pos_label : label, default=None
            The positive class; by default that of the costs, else the last in sorted order.
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
        display : SavingsCurveDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_predictions")
        if rank_by not in ("score", "saving"):
            raise ValueError(f"rank_by={rank_by!r}: use 'score' or 'saving'")
        bound = bound_costs(costs, y_true, pos_label, labels)
        if rank_by == "saving":
            y_score = expected_saving(bound, y_score)
        x, saved = savings_curve(
            y_true, y_score, costs=bound, normalize=normalize, sample_weight=sample_weight
        )
        made = cls(
            share=x,
            saved=saved,
            normalize=normalize,
            rank_by=rank_by,
            currency=currency,
            name=name,
        )
        return made.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curve and its peak.

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
        self.ax_ = axes_for(ax, "SavingsCurveDisplay.plot")
        self.figure_ = self.ax_.figure
        label = {"label": entry(self.ax_, self.name if name is None else name, self._facts())}
        style = {**label, **curve_style(self.ax_, kwargs, mark="o")}
        once(self.ax_, "costboost-zero", [0, 1], [0, 0], linestyle="-", linewidth=0.8)
        end = float(self.saved[-1])
        tag = f"costboost-random-{end:.12g}"
        self.random_ = once(self.ax_, tag, [0, 1], [0, end], label="acting at random")
        self.line_ = self.ax_.plot(self.share, self.saved, **style)[0]
        self.peak_ = self._draw_peak()
        what = "Share of the cost saved" if self.normalize else "Saved"
        currency = None if self.normalize else self.currency
        first = "highest scores" if self.rank_by == "score" else "largest expected savings"
        dress(self.ax_, f"Share of rows acted on, {first} first", unit(what, currency))
        self._tick()
        self.ax_.set_xlim(0, 1)
        self.legend_ = show_legend(self.ax_)
        return self

    def _facts(self) -> str:
        if self.best_saved <= 0:
            return "saves nothing"
        saved = share(self.best_saved) if self.normalize else amount(self.best_saved, self.currency)
        return f"saves {saved} acting on {share(self.best_share)}"

    def _draw_peak(self) -> Any:
        style = {"color": self.line_.get_color(), "markeredgecolor": "white", "markersize": 9}
        at = [self.best_share], [self.best_saved]
        return self.ax_.plot(*at, marker="o", linestyle="none", zorder=5, clip_on=False, **style)[0]

    def _tick(self) -> None:
        from matplotlib.ticker import PercentFormatter

        self.ax_.xaxis.set_major_formatter(PercentFormatter(1.0))
        if self.normalize:
            self.ax_.yaxis.set_major_formatter(PercentFormatter(1.0))
        else:
            plain_ticks(self.ax_.yaxis)
