"""The critical-difference diagram: which of many methods differ significantly on many data sets."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost.metrics import CriticalDifference, critical_difference
from costboost.plots.style import COLORS, axes_for, need_matplotlib, plain
from costboost.text import number

_ROW = 0.25  # height of a row of text, in inches
_WRAP = 36  # letters in a line of a name
# Depths below the scale of ranks, in rows of text.
_FIRST_BAR = 0.55
_BAR_STEP = 0.38
_LABEL_GAP = 0.9


def _names_of(scores: Any, names: Sequence[str] | None) -> Sequence[str] | None:
    """Return the names given, else the columns of a data frame."""
    return names if names is not None else getattr(scores, "columns", None)


@dataclass(eq=False, repr=False, kw_only=True)
class CriticalDifferenceDisplay:
    """Critical-difference diagram (Demsar 2006): average ranks, and which differ significantly.

    Methods hang from a scale of average ranks, the best on the left. A thick bar joins methods
    among which no two differ significantly.

    Parameters
    ----------
    result : CriticalDifference
        Of :func:`costboost.metrics.critical_difference`.
    names : sequence of str, default=None
        One per method, in the order of the columns; by default "method 1" and so on.
    alpha : float, default=None
        Level of the test, named in the title.

    Attributes
    ----------
    marks_ : Line2D
        The average ranks on the scale, best first.
    bars_ : list of Line2D
        One per group that cannot be separated.
    texts_ : list of Text
        The names, best first.
    difference_ : Line2D or None
        Nemenyi's critical difference, drawn to scale where it is not longer than that.
    ax_, figure_
        Where it was drawn.

    References
    ----------
    Demsar 2006, "Statistical comparisons of classifiers over multiple data sets".

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from costboost.plots import CriticalDifferenceDisplay
    >>> scores = [[i, i + 0.1 * (-1) ** i, i + 5] for i in range(12)]
    >>> display = CriticalDifferenceDisplay.from_scores(scores, names=["boost", "forest", "guess"])
    >>> len(display.bars_), display.texts_[-1].get_text()
    (1, 'guess  3.00')
    >>> plt.close(display.figure_)
    """

    result: CriticalDifference
    names: Sequence[str] | None = None
    alpha: float | None = None

    def __post_init__(self) -> None:
        k = len(self.result.order)
        given = [f"method {i + 1}" for i in range(k)] if self.names is None else self.names
        self.names = [str(name) for name in given]
        if len(self.names) != k:
            raise ValueError(f"there are {len(self.names)} names for {k} methods: give one each")

    @classmethod
    def from_scores(
        cls,
        scores: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        alpha: float = 0.05,
        test: Literal["wilcoxon-holm", "nemenyi"] = "wilcoxon-holm",
        lower_is_better: bool = True,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Test and draw a table of scores.

        Parameters
        ----------
        scores : array-like of shape (n_datasets, n_methods)
            One measure of each method on each data set.
        names : sequence of str, default=None
            One per method; by default the columns of a data frame.
        alpha, test, lower_is_better
            As for :func:`costboost.metrics.critical_difference`.
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : CriticalDifferenceDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_scores")
        result = critical_difference(
            scores, alpha=alpha, test=test, lower_is_better=lower_is_better
        )
        return cls(result=result, names=_names_of(scores, names), alpha=alpha).plot(ax, **kwargs)

    @classmethod
    def from_result(
        cls,
        result: CriticalDifference,
        *,
        names: Sequence[str] | None = None,
        alpha: float | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw what was tested already.

        Parameters
        ----------
        result : CriticalDifference
            Of :func:`costboost.metrics.critical_difference`.
        names : sequence of str, default=None
            One per method.
        alpha : float, default=None
            Level of the test, named in the title.
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : CriticalDifferenceDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_result")
        return cls(result=result, names=names, alpha=alpha).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure, as high as the methods need.
        **kwargs : dict
            Passed to matplotlib's `plot` for the bars.

        Returns
        -------
        self
        """
        self.ax_ = self._axes(ax)
        self.figure_ = self.ax_.figure
        self.texts_ = [self._draw_method(position) for position in range(len(self.result.order))]
        ranks = self.result.average_ranks[list(self.result.order)]
        style = {"color": "black", "linestyle": "none", "markersize": 5, "clip_on": False}
        self.marks_ = self.ax_.plot(ranks, np.zeros(len(ranks)), marker="o", **style)[0]
        self.bars_ = [
            self._draw_bar(i, group, kwargs) for i, group in enumerate(self.result.groups)
        ]
        self.difference_ = self._draw_difference()
        self._dress()
        self._fit()
        return self

    def _axes(self, ax: Any) -> Any:
        """Return the axes given, or those of a figure as large as the methods and names need."""
        letters = [min(len(self._label(m)), _WRAP + 6) for m in self.result.order]
        half = (len(letters) + 1) // 2
        sides = 0.08 * (max(letters[:half]) + max(letters[half:]))
        size = max(6.8, 4.6 + sides), 0.75 + _ROW * self._depth()
        new = axes_for(ax, "CriticalDifferenceDisplay.plot", size)
        if ax is None:  # everything lies within the axes, under the title of the scale
            new.figure.set_layout_engine("none")
            new.set_position([0.02, 0.02, 0.96, 0.98 - 0.6 / size[1]])
        return new

    def _label(self, method: int) -> str:
        assert self.names is not None  # settled at the start
        name = "\n".join(textwrap.wrap(self.names[method], _WRAP))
        return f"{plain(name)}  {self.result.average_ranks[method]:.2f}"

    def _lines(self) -> int:
        return max(1 + self._label(m).count("\n") for m in self.result.order)

    def _top_label(self) -> float:
        above = 0.9 if self.result.difference is not None else 0.0
        return above + _FIRST_BAR + _BAR_STEP * max(0, len(self.result.groups) - 1) + _LABEL_GAP

    def _depth(self) -> float:
        """Return the height of the diagram in rows of text."""
        return self._top_label() + (len(self.result.order) + 1) // 2 * self._lines()

    def _draw_method(self, position: int) -> Any:
        """Draw the elbow from a rank down to its name: the better half left, the others right."""
        k = len(self.result.order)
        method = self.result.order[position]
        rank = float(self.result.average_ranks[method])
        left = position < (k + 1) // 2
        # The best and the worst hang highest, so that no two elbows cross.
        y = self._top_label() + (position if left else k - 1 - position) * self._lines()
        edge = 1 - 0.03 * (k - 1) if left else k + 0.03 * (k - 1)
        self.ax_.plot([rank, rank, edge], [0, y, y], color="black", linewidth=0.9)
        side = {"ha": "right" if left else "left", "va": "center", "fontsize": "medium"}
        gap = -0.01 * (k - 1) if left else 0.01 * (k - 1)
        return self.ax_.text(edge + gap, y, self._label(method), **side)

    def _draw_bar(self, i: int, group: tuple[int, ...], kwargs: dict[str, Any]) -> Any:
        ranks = self.result.average_ranks[list(group)]
        reach = 0.008 * (len(self.result.order) - 1)  # past the elbows, so that ends are seen
        y = self._top_label() - _LABEL_GAP - _BAR_STEP * (len(self.result.groups) - 1 - i)
        style = {"color": COLORS[0], "linewidth": 4.5, "solid_capstyle": "butt", **kwargs}
        return self.ax_.plot([ranks.min() - reach, ranks.max() + reach], [y, y], **style)[0]

    def _draw_difference(self) -> Any:
        """Draw the difference to scale, right under the scale."""
        if self.result.difference is None:
            return None
        k, y, difference = len(self.result.order), 0.75, self.result.difference
        fits = difference <= k - 1
        text = f"critical difference {number(difference, 3)}" + (
            "" if fits else ", more than the scale"
        )
        style: dict[str, Any] = {"va": "center", "fontsize": "small", "backgroundcolor": "white"}
        self.ax_.text(1.02 + difference if fits else 1.0, y, text, **style)
        if not fits:
            return None
        style = {"color": "black", "linewidth": 1.2, "marker": "|"}
        return self.ax_.plot([1.0, 1.0 + difference], [y, y], **style)[0]

    def _dress(self) -> None:
        from matplotlib.ticker import FixedLocator, MaxNLocator

        k = len(self.result.order)
        ticks = MaxNLocator(12, integer=True).tick_values(1, k)
        room = 0.5 * (ticks[1] - ticks[0])  # numbers that stand closer run into each other
        between = [t for t in ticks if 1 + room <= t <= k - room]
        self.ax_.xaxis.set_major_locator(FixedLocator([1, *between, k]))
        self.ax_.xaxis.set_ticks_position("top")
        self.ax_.xaxis.set_label_position("top")
        self.ax_.yaxis.set_visible(False)
        self.ax_.spines[["left", "right", "bottom"]].set_visible(False)
        self.ax_.spines["top"].set_bounds(1, k)
        p = self.result.friedman.p_value
        chance = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
        level = "" if self.alpha is None else f"; bars: no difference at {self.alpha:g}"
        self.ax_.set_xlabel(f"Average rank, 1 is best (Friedman {chance}{level})")
        self.ax_.set_ylim(self._depth() - 0.4, 0)

    def _fit(self) -> None:
        """Give the names the room that they need, left and right of the scale."""
        k = len(self.result.order)
        widths = [text.get_window_extent().width for text in self.texts_]
        half = (k + 1) // 2
        left, right = 1.03 * max(widths[:half]) + 2, 1.03 * max(widths[half:]) + 2
        scale = max(self.ax_.get_window_extent().width - left - right, 60.0)
        per_rank = scale / (1.08 * (k - 1))  # elbows end 4% beyond the scale
        beyond = 0.04 * (k - 1)
        self.ax_.set_xlim(1 - beyond - left / per_rank, k + beyond + right / per_rank)
