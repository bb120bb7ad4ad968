"""The bill while prices move: at the ends of uncertain ones, as a tornado, and by scenario."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost.costs import as_costs
from costboost.metrics import PriceSensitivity, ScenarioCost, price_sensitivity, scenario_costs
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
from costboost.text import money, percent

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
    >>> [float(bar[0].get_width()) for bar in display.bars_]  # from the bill of 14.5
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


@dataclass(eq=False, repr=False, kw_only=True)
class ScenarioDisplay:
    """The bills of the same rows under several price lists, two bars each.

    One bar is that of decisions by the scenario's own prices, the other that of the decisions made
    for the first scenario, if these prices come about instead. The whiskers are intervals from
    rows.

    It is recommended to use `from_estimator` or `from_predictions`.

    Parameters
    ----------
    scenarios : list of ScenarioCost
        What is drawn; see `costboost.metrics.scenario_costs`.
    n_rows : int
    confidence : float, default=0.95
        Coverage of the intervals.
    currency : str, default=None
        What costs are counted in, such as "EUR".

    Attributes
    ----------
    bars_ : list of BarContainer
        Of the decisions as they are, and of those made anew.
    ax_, figure_, legend_
        Where it was drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from costboost.plots import ScenarioDisplay
    >>> prices = {"today": {"fp": 1, "fn": 2}, "recession": {"fp": 1, "fn": 9}}
    >>> display = ScenarioDisplay.from_predictions(
    ...     [0, 1], [[0.9, 0.1], [0.8, 0.2]], scenarios=prices
    ... )
    >>> [[float(bar.get_width()) for bar in bars] for bars in display.bars_]
    [[2.0, 9.0], [2.0, 0.0]]
    >>> plt.close(display.figure_)
    """

    scenarios: list[ScenarioCost]
    n_rows: int
    confidence: float = 0.95
    currency: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        scenarios: Mapping[str, Any],
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence: float = 0.95,
        currency: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the bills of a fitted model.

        Parameters
        ----------
        estimator : fitted classifier of this library
            One that decides by costs.
        X : table of shape (n_samples, n_features)
            Rows that the model was not trained on; columns of prices are read from it.
        y : array-like of shape (n_samples,)
            True labels.
        scenarios, sample_weight, groups, confidence
            As for `costboost.metrics.scenario_costs`.
        currency : str, default=None
            What costs are counted in, such as "EUR".
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : ScenarioDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_estimator")
        classes, n_rows = estimator.classes_, len(np.asarray(y))
        bound = {name: as_costs(costs, classes, n_rows, X) for name, costs in scenarios.items()}
        return cls.from_predictions(
            y,
            estimator._decision_proba(X, next(iter(bound.values()), None)),
            scenarios=bound,
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
        scenarios: Mapping[str, Any],
        labels: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence: float = 0.95,
        currency: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the bills of decisions by probabilities.

        Parameters
        ----------
        y_true, y_proba, scenarios, labels, sample_weight, groups, confidence
            As for `costboost.metrics.scenario_costs`.
        currency : str, default=None
            What costs are counted in, such as "EUR".
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : ScenarioDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_predictions")
        found = scenario_costs(
            y_true,
            y_proba,
            scenarios=scenarios,
            labels=labels,
            sample_weight=sample_weight,
            groups=groups,
            confidence=confidence,
        )
        n_rows = len(np.asarray(y_true))
        made = cls(scenarios=found, n_rows=n_rows, confidence=confidence, currency=currency)
        return made.plot(ax=ax, **kwargs)

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
        n = len(self.scenarios)
        self.ax_ = axes_for(ax, "ScenarioDisplay.plot", figsize=(8.0, 1.2 + 0.85 * n))
        self.figure_ = self.ax_.figure
        first, rows = self.scenarios[0].name, np.arange(n)
        both = (
            (
                f"decided by the prices of {first}",
                _LOW,
                -0.19,
                [s.unchanged for s in self.scenarios],
            ),
            ("decided by its own prices", _HIGH, 0.19, [s.cost for s in self.scenarios]),
        )
        style = {"height": 0.36, "edgecolor": "white", "linewidth": 0.5, **kwargs}
        self.bars_, ends = [], [0.0]
        for label, color, off, bills in both:
            totals = np.array([bill.total for bill in bills])
            made = self.ax_.barh(rows + off, totals, color=color, label=plain(label), **style)
            self.bars_.append(made)
            reach = [[b.total - b.low for b in bills], [b.high - b.total for b in bills]]
            whiskers = {"fmt": "none", "ecolor": "#333333", "capsize": 3, "elinewidth": 1.0}
            self.ax_.errorbar(totals, rows + off, xerr=np.maximum(reach, 0.0), **whiskers)
            ends += [end for bill in bills for end in (bill.low, bill.high)]
            for row, bill in enumerate(bills):
                at = max(bill.high, 0.0), row + off
                text = {"textcoords": "offset points", "va": "center", "fontsize": "small"}
                cash = plain(money(bill.total, self.currency))
                self.ax_.annotate(cash, at, xytext=(6, 0), **text)
        names = [
            f"{one.name}\n({percent(one.differ)} decided differently)" if one.differ else one.name
            for one in self.scenarios
        ]
        self.ax_.set_yticks(rows, [plain(name) for name in names])
        self.ax_.set_ylim(n - 0.5, -0.5)
        room = (max(ends) - min(ends)) or 1.0
        self.ax_.set_xlim(min(ends) - 0.02 * room * (min(ends) < 0), max(ends) + 0.2 * room)
        self.ax_.set_xlabel(plain(unit(f"Cost on {self.n_rows:,} rows", self.currency)))
        plain_ticks(self.ax_.xaxis)
        few_ticks(self.ax_)
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.spines[["top", "right", "left"]].set_visible(False)
        self.legend_ = show_legend(self.ax_)
        return self
