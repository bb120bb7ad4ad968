"""The rows that a report keeps, and the figures that follow from them at any prices.

    proba     (n, K)   probabilities, rounded only if the page would be too large (`rounding`)
    truth     (n,)     number of the true class
    columns   (n,) ..  prices of single rows: every cell of the matrix is a number, or a multiple
                       of one of these columns
    weight, current, decided, period   (n,) or None
    groups    {name: (labels, numbers)}  categories, of the columns that the user named

Rows stand in an order of their own (by probability, truth and price), not in that of the table.
Python states its figures from these rows and the page works on the same ones, so both can agree to
the cent at any price: nothing is rounded on the way from one to the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.costs import Costs
from costboost.costs.state import Cell
from costboost.decisions import allocate
from costboost.inputs.arrays import freeze
from costboost.metrics import cost_confusion_matrix
from costboost.metrics.policies import SumInterval, price_policies
from costboost.typing import Floats, Int64

__all__ = ["Figures", "PagePrices", "PageRows", "Policy", "compute_figures", "read_prices"]


@dataclass(frozen=True, eq=False)
class PagePrices:
    """The cost matrix as sliders move it.

    Attributes
    ----------
    values : float64 array of shape (K, A)
        The price of a cell, or, where the cell is a column, what the column is multiplied by.
    column_of : int64 array of shape (K, A)
        The number of the cell's column; -1 where one number holds for all rows.
    columns : tuple of float64 arrays of shape (n,)
    names : tuple of str
        What the columns are called; "" where they have no name.
    """

    values: Floats
    column_of: Int64
    columns: tuple[Floats, ...]
    names: tuple[str, ...]

    def cell(self, k: int, a: int, values: Floats) -> Floats:
        """Return ``C[k, a]`` at other values: a number, or one for each row."""
        j = int(self.column_of[k, a])
        return np.asarray(values[k, a] if j < 0 else values[k, a] * self.columns[j])


def read_prices(costs: Costs) -> PagePrices:
    """Split bound costs into numbers and columns; cells of the same prices share a column."""
    state = costs._state
    shape = (state.k, state.a)
    values, column_of = np.zeros(shape), np.full(shape, -1)
    columns: list[Floats] = []
    names: list[str] = []
    for k, a in np.ndindex(shape):
        cell = np.asarray(state.cell(k, a), dtype=np.float64)
        if not cell.ndim or (cell == cell[0]).all():
            values[k, a] = float(cell.flat[0])
            continue
        same = [j for j, known in enumerate(columns) if np.array_equal(known, cell)]
        if not same:
            columns.append(cell)
            names.append((state.cells[k * state.a + a if state.form == "matrix" else 0]).name or "")
            same = [len(columns) - 1]
        values[k, a], column_of[k, a] = 1.0, same[0]
    return PagePrices(values, column_of, tuple(columns), tuple(names))


@dataclass(frozen=True, eq=False)
class PageRows:
    """The rows of a report; see the module. `Report.page_rows` is one.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import CostBoostClassifier
    >>> from costboost.metrics import total_cost
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CostBoostClassifier(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    >>> rows = model.report(X[1::2], y[1::2], costs={"fp": 1, "fn": 5}).page_rows
    >>> higher = [[0, 2], [5, 0]]
    >>> paid = total_cost(rows.labels, rows.decide(higher), costs=rows.costs(higher))
    """

    bound: Costs
    prices: PagePrices
    proba: Floats
    truth: Int64
    weight: Floats | None = None
    current: Int64 | None = None
    decided: Int64 | None = None
    period: Int64 | None = None
    period_names: tuple[str, ...] = ()
    groups: dict[str, tuple[list[str], Int64]] = field(default_factory=dict)
    added: Floats | None = None
    rounding: str = "exact"

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def classes(self) -> NDArray[Any]:
        """Labels of the true classes, (K,)."""
        assert self.bound.classes is not None
        return self.bound.classes

    @property
    def actions(self) -> NDArray[Any]:
        """Labels of the decisions, (A,)."""
        assert self.bound.actions is not None
        return self.bound.actions

    @property
    def order(self) -> tuple[list[int], list[int]]:
        """Numbers of the classes, and of the actions, in the order in which the costs name them."""
        classes, named = self.classes.tolist(), self.bound._state.order
        order = list(range(len(classes)))
        if named is not None:
            order = [classes.index(label) for label in named.tolist()]
        return order, order if self.bound.is_square else list(range(len(self.actions)))

    @property
    def labels(self) -> NDArray[Any]:
        """True labels, (n,)."""
        return np.asarray(self.classes[self.truth])

    @property
    def positive(self) -> int | None:
        """The number of the positive class, where decisions are two classes; else None."""
        state = self.bound._state
        return state.positive_code if state.is_binary else None

    def costs(self, values: ArrayLike | None = None) -> Costs:
        """Return the costs of these rows at other values of the cells, shape (K, A).

        A value is a price, or, where prices are per row, what they are multiplied by.
        """
        given = self._values(values)
        cells = tuple(
            Cell(freeze(self.prices.cell(k, a, given))) for k, a in np.ndindex(given.shape)
        )
        state = self.bound._state._replace(form="matrix", cells=cells, index=None)
        return Costs._of(state._replace(n_actions=given.shape[1]))

    def _values(self, values: ArrayLike | None) -> Floats:
        given = self.prices.values if values is None else np.asarray(values, dtype=np.float64)
        if given.shape != self.prices.values.shape:
            raise ValueError(
                f"values have shape {given.shape}; give one for each cell of the matrix, "
                f"{self.prices.values.shape}: true classes down, decisions across."
            )
        return given

    def decide(
        self, values: ArrayLike | None = None, limit: int | None = None, action: int | None = None
    ) -> NDArray[Any]:
        """Return the decisions at other values, at most `limit` of them (per period) for `action`.

        Parameters
        ----------
        values : array-like of shape (K, A), default=None
            As in `costs`.
        limit : int, default=None
        action : int, default=None
            The number of the limited action; None is the positive class, or the last action.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        return np.asarray(self.actions[self.decide_codes(values, limit, action)])

    def decide_codes(
        self, values: ArrayLike | None = None, limit: int | None = None, action: int | None = None
    ) -> Int64:
        """Return numbers of actions, as `decide` does labels."""
        if self.decided is not None:
            return self.decided
        costs = self.costs(values)
        free = costs.decide(self.proba, encoded=True)
        if self.added is not None:
            free = np.argmin(costs.expected(self.proba) + self.added, axis=1)
        if limit is None:
            return np.asarray(free, dtype=np.int64)
        limited = self.limited if action is None else action
        plan = allocate(
            costs.expected(self.proba), {limited: int(limit)}, groups=self.period, cheapest=free
        )
        return plan.codes

    @property
    def limited(self) -> int:
        """The number of the action that capacities are about unless another is chosen."""
        return len(self.actions) - 1 if self.positive is None else self.positive

    def take(self, order: Sequence[int] | NDArray[Any]) -> PageRows:
        """Return some of the rows, in the order given."""

        def cut(part: Any) -> Any:
            return None if part is None else part[order]

        prices = replace(self.prices, columns=tuple(c[order] for c in self.prices.columns))
        groups = {name: (labels, codes[order]) for name, (labels, codes) in self.groups.items()}
        parts = {name: cut(getattr(self, name)) for name in _BY_ROW}
        return replace(self, prices=prices, groups=groups, **parts)

    def sorted(self) -> PageRows:
        """Return the rows in an order of their own, which packs well and discloses nothing."""
        last = -1 if self.positive is None else self.positive
        keys = [*self.prices.columns[::-1], self.truth, self.proba[:, last]]
        return self.take(np.lexsort(keys))


_BY_ROW = ("proba", "truth", "weight", "current", "decided", "period")


# ---- Figures at given prices, from `costboost.metrics`. `page.js` computes the same ones again
# when a price moves; `tests/report` compares the two.

_TODAY, _MODEL = "Today's decisions", "This model"


class Policy(NamedTuple):
    """The cost of other decisions, and the savings of the model against them."""

    name: str
    bill: SumInterval
    saved: SumInterval
    share: float


@dataclass(frozen=True)
class Figures:
    """Everything that moves with the prices.

    Attributes
    ----------
    bill : SumInterval
        Of the model's decisions.
    policies : tuple of Policy
        Doing nothing, everything, today's decisions; or one action for all.
    counts, money : float64 arrays of shape (K, A)
        The confusion matrix, in rows (or their weights) and in money.
    """

    bill: SumInterval
    policies: tuple[Policy, ...]
    counts: Floats
    money: Floats


def compute_figures(
    rows: PageRows,
    values: ArrayLike | None = None,
    *,
    limit: int | None = None,
    action: int | None = None,
    names: dict[Any, str] | None = None,
) -> Figures:
    """Return the figures of the rows at some values of the cells; see `PageRows.decide`."""
    costs = rows.costs(values)
    taken = rows.decide_codes(values, limit, action)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    prices = costs.of_labels(rows.truth, encoded=True)
    # Two actions may be called alike on the page, so policies go by number here.
    constant = [str(a) for a in range(len(rows.actions))]
    today = {} if rows.current is None else {_TODAY: rows.current}
    found = price_policies(prices, {**today, _MODEL: taken}, constant, weight=weight)
    shown = policy_names(rows, names or dict(enumerate(map(str, rows.actions.tolist()))))
    policies = tuple(
        Policy(text, found.cost(name), found.saved(_MODEL, name), found.share(_MODEL, name))
        for text, name in zip(shown, (*constant, *today), strict=True)
    )
    counts = np.zeros(rows.prices.values.shape)
    np.add.at(counts, (rows.truth, taken), weight)
    decided = rows.actions[taken]
    return Figures(
        bill=found.cost(_MODEL),
        policies=policies,
        counts=counts,
        money=cost_confusion_matrix(rows.labels, decided, costs=costs, sample_weight=rows.weight),
    )


def policy_names(rows: PageRows, names: dict[Any, str]) -> list[str]:
    """Return the names of the policies to compare with: one for each action, and today's."""
    shown = [names[a] for a in range(len(rows.actions))]
    if rows.positive is None:
        labels = [f"Always {name}" for name in shown]
    else:
        labels = ["", ""]
        labels[1 - rows.positive] = f"Doing nothing: always {shown[1 - rows.positive]}"
        labels[rows.positive] = f"Everything: always {shown[rows.positive]}"
    return labels + ([_TODAY] if rows.current is not None else [])
