"""The bill at the ends of each uncertain price: the widest bar on top, as a tornado is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost.metrics import PriceSensitivity, price_sensitivity
from costboost.plots.style import (
    COLORS,
    axes_for,
    few_ticks,
    need_matplotlib,
    plain,
    plain_ticks,
    show_legend,
    unit,
)
from costboost.text import percent

_LOW, _HIGH = COLORS[0], COLORS[1]


@dataclass(eq=False, repr=False, kw_only=True)
class PriceSensitivityDisplay:
    """The bill at the low and at the high end of each uncertain price, others at their means.

    Below the prices stand the intervals of the whole bill, that of all prices together and that of
    the rows, so that it is seen which is wider. Beside each bar is written how many of the
    decisions would turn within the range.

    It is recommended to use `from_estimator` or `from_predictions`.

    Parameters
    ----------
    sensitivity : PriceSensitivity
        What is drawn; see `costboost.metrics.price_sensitivity`.
    currency : str, default=None
        What costs are counted in, such as "EUR".

    Attributes
    ----------
    bars_ : list of BarContainer
        At the low ends, and at the high ends.
    errors_ : ErrorbarContainer
        The intervals from all prices and from rows.
    line_ : Line2D
        The bill at the means.
    ax_, figure_, legend_
        Where it was drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from costboost.costs import Costs, uncertain
    >>> from costboost.plots import PriceSensitivityDisplay
    >>> costs = Costs(fp=2, fn=uncertain(10, low=0.5, high=2))
    >>> display = PriceSensitivityDisplay.from_predictions(
    ...     [0, 1], [[0.75, 0.25], [0.9, 0.1]], costs=costs
    ... )
    >>> [bar[0].get_width() for bar in display.bars_]  # from the bill of 14.5
    [-7.5, 7.5]
    >>> plt.close(display.figure_)
    """

    sensitivity: PriceSensitivity
    currency: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        costs: Any = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence: float = 0.95,
        currency: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the bill of a fitted model.

        Parameters
        ----------
        estimator : fitted classifier of this library
        X : table of shape (n_samples, n_features)
            Rows that the model was not trained on.
        y : array-like of shape (n_samples,)
            True labels.
        costs : Costs, default=None
            With uncertain prices; None: those of ``fit``.
        sample_weight, groups : array-like of shape (n_samples,), default=None
            Row weights; groups of rows that are not independent.
        confidence : float, default=0.95
            Coverage of the intervals.
        currency : str, default=None
            What costs are counted in, such as "EUR".
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : PriceSensitivityDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_estimator")
        return cls.from_predictions(
            y,
            estimator._decision_proba(X, costs),
            costs=estimator._decision_costs(costs, X),
            sample_weight=sample_weight,
            groups=groups,
            confidence=confidence,
            currency=currency,
            ax=ax,
            **kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        costs: Any,
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence: float = 0.95,
        currency: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the bill of decisions by probabilities.

        Parameters
        ----------
        y_true, y_proba, costs, labels, sample_weight, groups, confidence
            As for `costboost.metrics.price_sensitivity`.
        currency : str, default=None
            What costs are counted in, such as "EUR".
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : PriceSensitivityDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_predictions")
        found = price_sensitivity(
            y_true,
            y_proba,
            costs=costs,
            labels=labels,
            sample_weight=sample_weight,
            groups=groups,
            confidence=confidence,
        )
        return cls(sensitivity=found, currency=currency).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        **kwargs : dict
            Passed to matplotlib's `barh`.

        Returns
        -------
        self
        """
        found = self.sensitivity
        n = len(found.effects)
        self.ax_ = axes_for(ax, "PriceSensitivityDisplay.plot", figsize=(8.0, 2.1 + 0.55 * n))
        self.figure_ = self.ax_.figure
        rows, bill = np.arange(n), found.rows.total
        style = {"left": bill, "height": 0.62, "edgecolor": "white", "linewidth": 0.5, **kwargs}
        self.bars_ = []
        for label, color, costs in (
            ("at the low end of the price", _LOW, [one.cost_low for one in found.effects]),
            ("at the high end", _HIGH, [one.cost_high for one in found.effects]),
        ):
            width = np.array(costs) - bill
            self.bars_.append(self.ax_.barh(rows, width, color=color, label=label, **style))
        self.line_ = self.ax_.axvline(bill, color="#333333", linewidth=1.0)
        both = (found.prices, found.rows)
        reach = np.array([[bill - one.low for one in both], [one.high - bill for one in both]])
        self.errors_ = self.ax_.errorbar(
            [bill, bill],
            [n, n + 1],
            xerr=np.maximum(reach, 0.0),
            fmt="o",
            markersize=4,
            color="#333333",
            capsize=4,
            label=f"{percent(found.confidence)} interval",
        )
        self._dress()
        self.legend_ = show_legend(self.ax_)
        return self

    def _dress(self) -> None:
        ax, found = self.ax_, self.sensitivity
        names = [f"{one.name}: {one.low:.3g} to {one.high:.3g}" for one in found.effects]
        names += ["all prices together", "the rows"]
        ax.set_yticks(np.arange(len(names)), [plain(name) for name in names])
        ax.set_ylim(len(names) - 0.4, -0.6)
        ends = [found.rows.low, found.rows.high, found.prices.low, found.prices.high]
        ends += [end for one in found.effects for end in (one.cost_low, one.cost_high)]
        low, high = min(ends), max(ends)
        room = high - low or 1.0
        for j, one in enumerate(found.effects):
            self._note(j, max(one.cost_low, one.cost_high, found.rows.total), one.turned)
        self._note(len(found.effects), found.prices.high, found.turned)
        ax.set_xlim(low - 0.06 * room, high + 0.42 * room)
        ax.set_xlabel(plain(unit(f"Cost on {found.n_rows:,} rows", self.currency)))
        plain_ticks(ax.xaxis)
        few_ticks(ax)
        ax.tick_params(axis="y", length=0)
        ax.spines[["top", "right", "left"]].set_visible(False)

    def _note(self, row: int, at: float, turned: float) -> None:
        """Write to the right of a bar which share of the decisions would turn."""
        text = f"{percent(turned)} of decisions turn"
        style = {"textcoords": "offset points", "va": "center", "fontsize": "small"}
        self.ax_.annotate(plain(text), (at, row), xytext=(6, 0), **style)
