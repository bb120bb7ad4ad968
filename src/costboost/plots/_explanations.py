"""Explanations drawn: one decision as a waterfall, the contributions to many rows as points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from costboost.explain.contributions import Contributions
from costboost.explain.decision import Explanation, waterfall_steps
from costboost.explain.decision import plain as as_text
from costboost.inputs.checks import is_frame
from costboost.plots.style import COLORS, GREY, axes_for, dress, head, need_matplotlib, plain
from costboost.text import number
from costboost.typing import Floats

RISES, FALLS = COLORS[1], COLORS[0]
_STEP_HEIGHT, _COLUMN_HEIGHT = 0.32, 0.36  # inches


@dataclass
class DecisionDisplay:
    """Contributions of the columns to one decision, as bars from the base to the row's value.

    Parameters
    ----------
    explanation : Explanation
        What ``model.explain(x)`` returned.
    n_columns : int
        Columns with a bar of their own, those that moved most; the others share one.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    bars_ : matplotlib BarContainer

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import CostBoostClassifier
    >>> from costboost.plots import DecisionDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = CostBoostClassifier("adamec", n_estimators=10, random_state=0).fit(X, y)
    >>> display = DecisionDisplay.from_estimator(model, X.iloc[[0]], costs={"fp": 10, "fn": 1})
    >>> len(display.bars_) <= 9
    True
    >>> plt.close(display.figure_)
    """

    explanation: Explanation
    n_columns: int = 8

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        x: Any,
        *,
        costs: Any = None,
        background: Any = None,
        n_columns: int = 8,
        ax: Any = None,
    ) -> Self:
        """Explain one row and draw it.

        Parameters
        ----------
        estimator : fitted estimator with built-in trees
        x : one row
        costs : None, dict, array-like or Costs, default=None
            Prices to decide by; a regressor takes none.
        background : table, default=None
            As in ``contributions``.
        n_columns : int, default=8
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.

        Returns
        -------
        display : DecisionDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_estimator")
        given = {} if costs is None else {"costs": costs}
        return cls(estimator.explain(x, background=background, **given), n_columns).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the waterfall.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.

        Returns
        -------
        self
        """
        seen = self.explanation
        steps = waterfall_steps(seen, self.n_columns)
        size = (7.6, 1.7 + _STEP_HEIGHT * max(len(steps), 1))
        self.ax_ = axes_for(ax, "DecisionDisplay.plot", size)
        self.figure_ = self.ax_.figure
        moves = [stop - start for _, start, stop in steps]
        self.bars_ = self.ax_.barh(
            range(len(steps)),
            moves,
            left=[start for _, start, _ in steps],
            color=[RISES if move >= 0 else FALLS for move in moves],
            hatch=["//" if move >= 0 else "" for move in moves],
            edgecolor="white",
            height=0.7,
            zorder=3,
        )
        self.ax_.bar_label(self.bars_, [f"{move:+.3f}" for move in moves], padding=3, fontsize=8)
        self.ax_.set_yticks(range(len(steps)), [plain(_short(name)) for name, _, _ in steps])
        self._mark_ends(len(steps))
        unit = seen.unit + ("" if seen.output is None else f" of {as_text(seen.output)}")
        dress(self.ax_, unit[:1].upper() + unit[1:], "")
        self.ax_.use_sticky_edges = False
        self.ax_.margins(x=0.14)
        head(self.ax_, self._title(), fontsize=10)
        return self

    def _mark_ends(self, n_steps: int) -> None:
        seen = self.explanation
        top = max(n_steps, 1) - 0.4
        for x, style in ((seen.base, (0, (2, 2))), (seen.total, "-")):
            self.ax_.plot([x, x], [-0.6, top], color=GREY, linestyle=style, linewidth=1, zorder=2)
        self.ax_.set_ylim(-0.6, top)

    def _title(self) -> list[str]:
        seen = self.explanation
        ends = f"baseline {number(seen.base)} (dotted), {number(seen.total)} here"
        if seen.decision is None:
            return [f"{seen.model} predicts {number(seen.total)}", ends]
        costs = ", ".join(f"{as_text(a)}: {number(c)}" for a, c in seen.expected_cost.items())
        chances = ", ".join(f"P({as_text(k)}) = {number(p)}" for k, p in seen.probabilities.items())
        priced = [f"expected cost: {costs}"] if costs else []
        return [f"{seen.model} decides: {as_text(seen.decision)}", chances, *priced, ends]


def _short(name: str) -> str:
    return name if len(name) <= 40 else name[:37] + "..."


_BINS = 60  # within which points are stacked beside each other


@dataclass
class ContributionsDisplay:
    """Contributions over rows, the columns that move most on top.

    Every point is a row; how far right it lies is what the column added there, its shade the
    row's value of the column (light: low, dark: high, among these rows; grey: missing, or a
    category).

    Parameters
    ----------
    contributions : Contributions
        To one number: for more than two classes choose one by ``of_output``.
    ranks : float64 array of shape (n_samples, n_features)
        Where each value stands among those of its column, 0 to 1; NaN for none.
    n_columns : int
        How many columns to draw.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    points_ : list of matplotlib PathCollection
        One for each column drawn, from the top.
    order_ : ndarray
        The columns drawn, from the top.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import GradientBoostClassifier
    >>> from costboost.plots import ContributionsDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = GradientBoostClassifier(n_estimators=10).fit(X, y)
    >>> display = ContributionsDisplay.from_estimator(model, X, n_columns=5)
    >>> len(display.points_)
    5
    >>> plt.close(display.figure_)
    """

    contributions: Contributions
    ranks: Floats
    n_columns: int = 12

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        background: Any = None,
        output: Any = None,
        n_columns: int = 12,
        ax: Any = None,
    ) -> Self:
        """Compute the contributions of some rows and draw them.

        Parameters
        ----------
        estimator : fitted estimator with built-in trees
        X : table
            Some hundred rows make a good picture.
        background : table, default=None
            As in ``contributions``.
        output : label, default=None
            The class to draw, as in ``contributions``; there must be one of more than two.
        n_columns : int, default=12
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.

        Returns
        -------
        display : ContributionsDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_estimator")
        added = estimator.contributions(X, background=background, output=output)
        if added.outputs is not None and output is None:
            raise ValueError(
                f"There is a picture for every one of the classes {list(added.outputs)}: choose "
                "one by output=."
            )
        return cls(added, rank_values(X), n_columns).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the points.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.

        Returns
        -------
        self
        """
        sizes = np.abs(self.contributions.values).mean(axis=0)
        used = int(np.count_nonzero(sizes))
        shown = max(1, min(self.n_columns, used))
        self.order_ = np.argsort(-sizes, kind="stable")[:shown]
        self.ax_ = axes_for(ax, "ContributionsDisplay.plot", (7.6, 1.3 + _COLUMN_HEIGHT * shown))
        self.figure_ = self.ax_.figure
        self.ax_.axvline(0.0, color="#767676", linewidth=0.8, zorder=1)
        self.points_ = [self._draw(i, int(j), shown) for i, j in enumerate(self.order_)]
        names = [self.contributions.columns[j] for j in self.order_]
        means = [
            f"{name}  ({number(s, 3)})" for name, s in zip(names, sizes[self.order_], strict=True)
        ]
        self.ax_.set_yticks(range(shown - 1, -1, -1), [plain(text) for text in means])
        self.ax_.set_ylim(-0.6, shown - 0.4)
        dress(self.ax_, f"Added to the {self.contributions.about}", "")
        subtitle = (
            "By the mean size of what they add; dark: high values, grey: missing or categories"
        )
        head(self.ax_, [subtitle], fontsize=9)
        return self

    def _draw(self, i: int, j: int, shown: int) -> Any:
        added, ranks = self.contributions.values[:, j], self.ranks[:, j]
        height = shown - 1 - i + spread_points(added)
        known = ~np.isnan(ranks)
        self.ax_.scatter(
            added[~known], height[~known], s=9, color="#b0b0b0", linewidths=0, zorder=3
        )
        return self.ax_.scatter(
            added[known],
            height[known],
            c=ranks[known],
            cmap="viridis_r",
            vmin=0.0,
            vmax=1.0,
            s=9,
            linewidths=0,
            zorder=3,
        )


def rank_values(X: Any) -> Floats:
    """Return where each number stands among those of its column, 0 to 1; NaN for the others."""
    columns = [X[name] for name in X.columns] if is_frame(X) else np.asarray(X).T
    return np.column_stack([_rank(np.asarray(column)) for column in columns])


def _rank(column: NDArray[Any]) -> Floats:
    ranks = np.full(len(column), np.nan)
    try:
        values = column.astype(np.float64)
    except (TypeError, ValueError):
        return ranks
    known = ~np.isnan(values)
    levels, place = np.unique(values[known], return_inverse=True)
    ranks[known] = place / max(len(levels) - 1, 1)
    return ranks


def spread_points(x: Floats) -> Floats:
    """Return how far above or below its line each point is drawn, so that equal ones part.

    Examples
    --------
    >>> spread_points(np.array([1.0, 1.0, 1.0, 9.0])).tolist()
    [0.0, 0.4, -0.4, 0.0]
    """
    width = float(np.ptp(x)) or 1.0
    places = ((x - x.min()) / width * (_BINS - 1)).astype(np.int64)
    order = np.argsort(places, kind="stable")
    starts = np.searchsorted(places[order], places[order])
    within = np.empty(len(x))
    within[order] = np.arange(len(x)) - starts
    away = np.ceil(within / 2)
    side = np.where(within % 2 == 1, 1.0, -1.0)
    return np.asarray(0.4 * side * away / max(float(away.max(initial=0.0)), 1.0) + 0.0)
