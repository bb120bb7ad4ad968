"""Money saved against the share of rows acted on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost.costs import Costs
from costboost.metrics import savings_curve, total_cost
from costboost.metrics.prices import check_scores, check_weights
from costboost.plots._base import BinaryDisplay, both_columns, bound_costs, mark_own, own_decisions
from costboost.plots.style import (
    CURVE,
    axes_for,
    curve_style,
    dress,
    entry,
    need_matplotlib,
    once,
    plain_ticks,
    point,
    show_legend,
    tagged,
    unit,
)
from costboost.text import money, percent
from costboost.typing import Floats


def expected_saving(costs: Costs, proba: ArrayLike) -> Floats:
    """Return the expected saving of acting on each row over not acting, shape (n,)."""
    assert costs.classes is not None  # bound
    p = check_scores(proba, len(np.asarray(proba)), probability=True)
    act = costs.classes.tolist().index(costs.positive)
    prices = costs.expected(both_columns(costs, p))
    return np.asarray(prices[:, 1 - act] - prices[:, act])


def _own_saving(
    costs: Costs,
    y_true: ArrayLike,
    y_score: ArrayLike,
    normalize: bool,
    sample_weight: ArrayLike | None,
) -> tuple[float, float] | None:
    """Return the share of rows that own decisions act on, and what that saves."""
    decided = own_decisions(costs, y_score)
    if decided is None:
        return None
    weight = check_weights(sample_weight, len(decided))
    acted = decided == costs.positive
    assert costs.classes is not None  # bound
    idle_answer = next(label for label in costs.classes.tolist() if label != costs.positive)
    idle = np.full(len(decided), idle_answer, dtype=decided.dtype)
    given: dict[str, Any] = {"costs": costs, "sample_weight": sample_weight}
    before = total_cost(y_true, idle, **given)
    saved = before - total_cost(y_true, decided, **given)
    if normalize:
        saved = saved / before if before else 0.0
    return float(weight[acted].sum() / weight.sum()), saved


@dataclass(eq=False, repr=False, kw_only=True)
class SavingsCurveDisplay(BinaryDisplay):
    """Money saved, against not acting at all, when the top share of the rows is acted on.

    To act is to decide for the positive class: to investigate, to decline, to call. The curve
    starts at nothing done and ends at everything done, so that both constant decisions can be read
    from it; where acting on all saves, the legend says how much. Its peak, marked by a disc, is how
    far down the list it would have paid to go, in hindsight. A diamond marks what the model's own
    decisions at these costs save. The dashed line is acting on rows at random. Where only few rows
    are worth acting on, the axis ends soon after them.

    It is recommended to use `from_estimator` or `from_predictions`.

    Parameters
    ----------
    share : ndarray of shape (n_points,)
        Share of rows acted on, from 0 to 1; see :func:`costboost.metrics.savings_curve`.
    saved : ndarray of shape (n_points,)
        Cost saved there.
    own : tuple of two floats, default=None
        Share of rows that the model's own decisions act on, and what that saves.
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
        The mark at its peak, known in hindsight.
    own_ : Line2D or None
        The mark of the model's own decisions.
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
    own: tuple[float, float] | None = None
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
        """The largest saving; never below 0, which doing nothing saves."""
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
        display : SavingsCurveDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_predictions")
        if rank_by not in ("score", "saving"):
            raise ValueError(f"rank_by={rank_by!r}: use 'score' or 'saving'")
        bound = bound_costs(costs, y_true, pos_label, labels)
        own = _own_saving(bound, y_true, y_score, normalize, sample_weight)
        if rank_by == "saving":
            y_score = expected_saving(bound, y_score)
        x, saved = savings_curve(
            y_true, y_score, costs=bound, normalize=normalize, sample_weight=sample_weight
        )
        made = cls(
            share=x,
            saved=saved,
            own=own,
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
        self.own_ = None
        if self.own is not None:
            self.own_ = mark_own(self.ax_, *self.own, self.line_.get_color())
        what = "Share of the cost saved" if self.normalize else "Saved"
        currency = None if self.normalize else self.currency
        first = "highest scores" if self.rank_by == "score" else "largest expected savings"
        dress(self.ax_, f"Share of rows acted on, {first} first", unit(what, currency))
        self._tick()
        self._limit()
        self.legend_ = show_legend(self.ax_)
        return self

    def _facts(self) -> str:
        best = "nothing"
        if self.best_saved > 0:
            best = f"{self._money(self.best_saved)} acting on {percent(self.best_share)}"
        if self.own is None:
            return f"saves at best {best}"
        at, saved = self.own
        if saved == 0 and self.best_saved <= 0:
            return "saves nothing"
        everything = float(self.saved[-1])  # where it saves, it is the cheaper constant answer
        on_all = f", on all {self._money(everything)}" if everything > 0 else ""
        return f"saves {self._money(saved)} acting on {percent(at)}{on_all}, at best {best}"

    def _money(self, saved: float) -> str:
        return percent(saved) if self.normalize else money(saved, self.currency)

    def _end(self) -> float:
        """Return how far the axis goes: to the end, or some way past the few rows worth acting on.

        Rows that are acted on in vain would take all the room otherwise.
        """
        marked = max(self.best_share, 0.0 if self.own is None else self.own[0])
        return 1.0 if marked > 0.1 or self.saved[-1] > 0.5 * self.best_saved else 5 * marked

    def _limit(self) -> None:
        ends = [self._end()] if self._end() > 0 else [1.0]
        ends += [line._costboost_end for line in tagged(self.ax_, CURVE) if line is not self.line_]
        self.line_._costboost_end = ends[0]
        end = max(ends)
        self.ax_.set_xlim(0, end)
        if end < 1:
            low, high = 0.0, 0.0
            for line in tagged(self.ax_, CURVE):
                x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
                seen = np.append(y[x <= end], np.interp(end, x, y))
                low, high = min(low, float(seen.min())), max(high, float(seen.max()))
            margin = 0.06 * (high - low)
            self.ax_.set_ylim(low - margin, high + margin)

    def _draw_peak(self) -> Any:
        at = self.best_share, self.best_saved
        return point(self.ax_, *at, self.line_.get_color(), "o")

    def _tick(self) -> None:
        from matplotlib.ticker import PercentFormatter

        self.ax_.xaxis.set_major_formatter(PercentFormatter(1.0))
        if self.normalize:
            self.ax_.yaxis.set_major_formatter(PercentFormatter(1.0))
        else:
            plain_ticks(self.ax_.yaxis)
