"""Cost against how often an action can be taken, and against the share of rows decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost.costs import Costs, as_costs
from costboost.decisions.responses import all_classes, probabilities
from costboost.decisions.responses import innermost as innermost_with_table
from costboost.metrics import capacity_curve, coverage_curve
from costboost.metrics.prices import bind_costs, check_labels
from costboost.plots._base import innermost, model_name
from costboost.plots.style import (
    axes_for,
    curve_style,
    dress,
    entry,
    explain,
    need_matplotlib,
    once,
    plain_ticks,
    point,
    show_legend,
    unit,
)
from costboost.text import money, percent
from costboost.typing import Floats, Int64


def expected_costs(estimator: Any, X: Any, y: ArrayLike, costs: Any) -> tuple[Floats, Costs]:
    """Return expected costs of each action by a fitted model, (n, A), and the bound costs."""
    labels = check_labels(y, "y")
    if costs is None:
        costs = getattr(innermost(estimator), "costs_", None)
    given = as_costs(costs).bind_table(X)
    classes = all_classes(estimator, labels)  # sorted, as the columns of what models answer
    bound = bind_costs(given, labels, classes=classes)
    model, table = innermost_with_table(estimator, X)
    if hasattr(model, "expected_cost"):
        return model.expected_cost(table, costs=bound), bound
    return bound.expected(probabilities(estimator, X, classes)), bound


@dataclass(eq=False, repr=False, kw_only=True)
class CapacityDisplay:
    """Total cost against the number of rows that can take an action, such as a review.

    The rows that are expected to gain most take it first. The solid line is what was paid, the
    thin one what the model expected; its slope is the shadow price, what one more place would
    save. The mark is where the model itself would stop if nothing were limited.

    It is recommended to use `from_estimator` or `from_predictions`.

    Parameters
    ----------
    capacity : ndarray of shape (n_points,)
        Number of places; see :func:`costboost.metrics.capacity_curve`.
    expected, realised : ndarray of shape (n_points,)
        What all rows together are expected to cost, and did cost.
    action : label
        The limited action.
    n_rows : int
        How many rows there are.
    currency : str, default=None
        What costs are counted in, such as "EUR".
    name : str, default=None
        What the legend calls the model.

    Attributes
    ----------
    line_, expected_ : Line2D
        The cost paid, and expected.
    own_ : Line2D
        The mark at what the model would use.
    ax_, figure_, legend_
        Where it was drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from costboost.plots import CapacityDisplay
    >>> display = CapacityDisplay.from_predictions(
    ...     [1, 1, 0], [[8, 2], [5, 2], [1, 2]], action=1, costs={"fp": 2, "fn": 9, "tp": 2}
    ... )
    >>> display.realised.tolist(), display.shadow_price(1)
    ([18.0, 11.0, 4.0], 3.0)
    >>> plt.close(display.figure_)
    """

    capacity: Int64
    expected: Floats
    realised: Floats
    action: Any
    n_rows: int
    currency: str | None = None
    name: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        action: Any,
        costs: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a fitted model on some rows.

        Parameters
        ----------
        estimator : classifier
            Fitted; also a pipeline or a search around one.
        X : array-like of shape (n_samples, n_features)
            Rows that the model was not trained on.
        y : array-like of shape (n_samples,)
            Their true labels.
        action : label
            The limited action, or class.
        costs : Costs, dict, array-like of shape (K, K) or None, default=None
            What each decision costs, constant or per row. None: the costs that the model decides
            by, if it has any (``costs_``).
        name : str, default=None
            What the legend calls the model; by default its class.
        **kwargs : dict
            Passed to `from_predictions`.

        Returns
        -------
        display : CapacityDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_estimator")
        expected, bound = expected_costs(estimator, X, y, costs)
        name = model_name(estimator) if name is None else name
        return cls.from_predictions(y, expected, action=action, costs=bound, name=name, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        expected: ArrayLike,
        *,
        action: Any,
        costs: Any = None,
        currency: str | None = None,
        labels: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw expected costs.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        expected : array-like of shape (n_samples, n_actions)
            Expected cost of each action, ``model.expected_cost(X, costs=)``; its columns are those
            of :func:`costboost.metrics.capacity_curve`.
        action : label
            The limited action, or class.
        costs : Costs, dict, array-like of shape (K, K) or None, default=None
            What each decision costs, constant or per row; None: every mistake costs 1.
        currency : str, default=None
            What costs are counted in, such as "EUR".
        labels : array-like of shape (n_classes,), default=None
            The classes, where the costs do not name them and some do not occur.
        name : str, default=None
            What the legend calls the model.
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : CapacityDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_predictions")
        curve = capacity_curve(y_true, expected, action=action, costs=costs, labels=labels)
        made = cls(
            capacity=curve.capacity,
            expected=curve.expected,
            realised=curve.realised,
            action=action,
            n_rows=len(check_labels(y_true)),
            currency=currency,
            name=name,
        )
        return made.plot(ax=ax, **kwargs)

    def shadow_price(self, capacity: int) -> float:
        """Return the expected saving of one more place."""
        if not capacity >= 0:
            raise ValueError(f"capacity={capacity}: it must not be negative")
        if capacity + 1 >= len(self.expected):
            return 0.0
        return float(self.expected[capacity] - self.expected[capacity + 1])

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw both curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        name : str, default=None
            What the legend calls the model; by default the name it has.
        **kwargs : dict
            Passed to matplotlib's `plot` for the curve of what was paid.

        Returns
        -------
        self
        """
        self.ax_ = axes_for(ax, "CapacityDisplay.plot")
        self.figure_ = self.ax_.figure
        label = entry(self.ax_, self.name if name is None else name, self._facts())
        style = curve_style(self.ax_, kwargs, mark="D")
        self.line_ = self.ax_.plot(self.capacity, self.realised, **{"label": label, **style})[0]
        color = self.line_.get_color()
        thin = {"color": color, "linewidth": 0.9, "linestyle": style["linestyle"], "alpha": 0.7}
        text = entry(self.ax_, None, "as the model expected")
        self.expected_ = self.ax_.plot(self.capacity, self.expected, label=text, **thin)[0]
        self.own_ = point(self.ax_, self.capacity[-1], self.realised[-1], color, "D")
        dress(self.ax_, f"Rows that can take {self.action}", unit("Total cost", self.currency))
        plain_ticks(self.ax_.xaxis)
        plain_ticks(self.ax_.yaxis)
        self.legend_ = show_legend(self.ax_)
        return self

    def _facts(self) -> str:
        ends = money(float(self.realised[0]), self.currency), int(self.capacity[-1])
        last = money(float(self.realised[-1]), self.currency)
        return f"{ends[0]} with none, {last} with the {ends[1]:,} it would take"


@dataclass(eq=False, repr=False, kw_only=True)
class CoverageDisplay:
    """Mean cost against coverage, when the rows that a model is least sure of are deferred.

    Horizontally the share of rows that the model decides, the surest first. The solid line is the
    mean cost of these; with a price of deferring, the dashed one is the mean cost of all rows, and
    the mark is the share at which the model itself defers.

    It is recommended to use `from_estimator` or `from_predictions`.

    Parameters
    ----------
    coverage, decided, total : ndarray of shape (n_points,)
        See :func:`costboost.metrics.coverage_curve`.
    own : float
        The coverage that the model itself chooses; nan without a price.
    currency : str, default=None
        What costs are counted in, such as "EUR".
    name : str, default=None
        What the legend calls the model.

    Attributes
    ----------
    line_ : Line2D
        The mean cost of the rows decided.
    total_, own_ : Line2D or None
        The mean cost of all rows, and the mark on it.
    ax_, figure_, legend_
        Where it was drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from costboost.plots import CoverageDisplay
    >>> display = CoverageDisplay.from_predictions(
    ...     [0, 1, 1], [[1, 9], [4, 6], [8, 2]], costs={"fp": 10, "fn": 10}, price=3
    ... )
    >>> display.total.round(2).tolist()
    [3.0, 2.0, 1.0, 3.33]
    >>> plt.close(display.figure_)
    """

    coverage: Floats
    decided: Floats
    total: Floats
    own: float = np.nan
    currency: str | None = None
    name: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        costs: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a fitted model on some rows; parameters are those of `CapacityDisplay`."""
        need_matplotlib(f"{cls.__name__}.from_estimator")
        expected, bound = expected_costs(estimator, X, y, costs)
        name = model_name(estimator) if name is None else name
        return cls.from_predictions(y, expected, costs=bound, name=name, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        expected: ArrayLike,
        *,
        costs: Any = None,
        price: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        currency: str | None = None,
        labels: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw expected costs.

        Parameters
        ----------
        y_true, expected, costs, price, labels, sample_weight
            As for :func:`costboost.metrics.coverage_curve`.
        currency : str, default=None
            What costs are counted in, such as "EUR".
        name : str, default=None
            What the legend calls the model.
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : CoverageDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_predictions")
        curve = coverage_curve(
            y_true, expected, costs=costs, price=price, labels=labels, sample_weight=sample_weight
        )
        made = cls(
            coverage=curve.coverage,
            decided=curve.decided,
            total=curve.total,
            own=curve.own,
            currency=currency,
            name=name,
        )
        return made.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        name : str, default=None
            What the legend calls the model; by default the name it has.
        **kwargs : dict
            Passed to matplotlib's `plot` for the curve of the rows decided.

        Returns
        -------
        self
        """
        from matplotlib.ticker import PercentFormatter

        self.ax_ = axes_for(ax, "CoverageDisplay.plot")
        self.figure_ = self.ax_.figure
        facts = f"rows decided, {money(float(self.decided[-1]), self.currency)} if all are"
        label = entry(self.ax_, self.name if name is None else name, facts)
        style = curve_style(self.ax_, kwargs)
        seen = slice(1, None)  # no row decided has no mean
        self.line_ = self.ax_.plot(
            self.coverage[seen], self.decided[seen], **{"label": label, **style}
        )[0]
        self.total_ = self.own_ = None
        if not np.isnan(self.own):
            self._draw_total()
        dress(self.ax_, "Share of rows decided, surest first", unit("Mean cost", self.currency))
        self.ax_.xaxis.set_major_formatter(PercentFormatter(1.0))
        plain_ticks(self.ax_.yaxis)
        self.ax_.set_xlim(0, 1)
        self.legend_ = show_legend(self.ax_)
        return self

    def _draw_total(self) -> None:
        at = float(np.interp(self.own, self.coverage, self.total))
        color = self.line_.get_color()
        facts = f"all rows, {money(at, self.currency)} at its own {percent(self.own)}"
        style = {"color": color, "linewidth": 1.4, "linestyle": (0, (5, 1.5))}
        self.total_ = self.ax_.plot(
            self.coverage, self.total, label=entry(self.ax_, self.name, facts), **style
        )[0]
        self.own_ = point(self.ax_, self.own, at, color, "D")
        explain(self.ax_, "costboost-own-coverage", "where the model itself defers", marker="D")
        price = float(self.total[0])
        once(self.ax_, f"costboost-defer-{price:.12g}", [0, 1], [price, price],
             label=f"deferring all, {money(price, self.currency)}")  # fmt: skip
