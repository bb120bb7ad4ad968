"""What columns cost: `FeatureCosts`, bound to a table as `ColumnTests`, its canonical form.

A *test* is what can be bought in one purchase: a column, or several that come together. It has a
price of its own; tests of one group share a fee on top, paid with the first of them. A column
without a price is free. Here is the only place that reads and validates prices of columns.

    {"mri": 300, "blood": {"columns": ["tsh", "t3"], "cost": 22}}     two tests
    {"blood": {"columns": {"tsh": 20.68, "t3": 9.31}, "cost": 2.1}}   two tests, a fee of 2.10 once
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.inputs.arrays import find_column
from costboost.typing import Floats, Int64

Bools = NDArray[np.bool_]
PAYS = ("row", "model")
_KEYS = {"columns", "cost"}


class _Test(NamedTuple):
    """A test as it is read: column keys, its own price, and the number of its group or -1."""

    name: str
    keys: tuple[Any, ...]
    price: float
    group: int


def _read_price(price: Any, what: str) -> float:
    if isinstance(price, bool | np.bool_) or not isinstance(price, Real):
        raise ValueError(
            f"feature_costs: the price of {what} is {price!r}; it must be a number of at least 0 "
            "(inf: never used), in the currency of the costs."
        )
    value = float(price)
    if not value >= 0.0:
        raise ValueError(
            f"feature_costs: the price of {what} is {value!r}; prices are at least 0. A column "
            "that nobody may use has the price inf, a free one 0."
        )
    return value


def _read_group(name: Any, group: Mapping[Any, Any], number: int) -> tuple[list[_Test], float]:
    """Return the tests of a group and the fee that they share, 0 if they are bought as one."""
    if set(group) != _KEYS:
        raise ValueError(
            f"feature_costs: group {name!r} has the keys {sorted(map(str, group))}; it needs "
            '"columns" and "cost", such as {"columns": ["tsh", "t3"], "cost": 22}.'
        )
    columns, fee = group["columns"], _read_price(group["cost"], f"group {name!r}")
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise ValueError(
            f"feature_costs: the columns of group {name!r} are {columns!r}; give a list of them, "
            "or a dict of them and their own prices beside the fee of the group."
        )
    keys = tuple(columns)
    if not keys:
        raise ValueError(f"feature_costs: group {name!r} has no columns; name them.")
    if not isinstance(columns, Mapping):
        return [_Test(str(name), keys, fee, -1)], 0.0
    prices = [_read_price(columns[key], f"column {key!r}") for key in keys]
    pairs = zip(keys, prices, strict=True)
    return [_Test(str(key), (key,), price, number) for key, price in pairs], fee


@dataclass(frozen=True)
class FeatureCosts:
    """What columns of a table cost, in the currency of `Costs`.

    Parameters
    ----------
    prices : dict or array-like of shape (n_features,)
        By name or position of a column its price; or by any name a group: ``{"columns": [...],
        "cost": price}`` are columns bought together for one price, ``{"columns": {name: price,
        ...}, "cost": fee}`` columns with prices of their own and a fee paid with the first of
        them. Columns without a price are free, those of price inf are never used.
    pay : {"row", "model"}, default="row"
        Who pays. "row": each row on whose path a tree asks for the column, once, whatever the
        number of trees. "model": the model, once, and no matter for how many rows (a data
        subscription): the price is for as many rows as the model is trained on.

    Examples
    --------
    >>> costs = FeatureCosts({"mri": 300, "blood": {"columns": ["tsh", "t3"], "cost": 22}})
    >>> tests = costs.bind(["age", "tsh", "t3", "mri"])
    >>> tests.names, tests.prices.tolist()
    (('mri', 'blood'), [300.0, 22.0])
    >>> tests.cost([[True, True], [False, True]]).tolist()
    [322.0, 22.0]
    """

    prices: Any
    pay: str = "row"

    def __post_init__(self) -> None:
        if self.pay not in PAYS:
            raise ValueError(
                f"FeatureCosts(pay={self.pay!r}) is not known; allowed: 'row' (rows that ask for "
                "a column pay) and 'model' (the model pays once)."
            )
        if isinstance(self.prices, str | Real) or not isinstance(self.prices, Iterable):
            raise TypeError(
                f"feature_costs must be a dict of prices by column, an array of one price for each "
                f"column, or FeatureCosts; got {type(self.prices).__name__}."
            )
        self._read()

    def _read(self) -> tuple[list[_Test], list[float]]:
        """Return the tests and the fees of groups, checked as far as it goes without a table."""
        if not isinstance(self.prices, Mapping):
            prices = np.asarray(self.prices, dtype=object)
            if prices.ndim != 1:
                raise ValueError(
                    "feature_costs as an array has one price for each column, shape (n_features,); "
                    f"got shape {prices.shape}."
                )
            listed = [_read_price(price, f"column {j}") for j, price in enumerate(prices.tolist())]
            return [_Test(str(j), (j,), price, -1) for j, price in enumerate(listed)], []
        tests, fees = list[_Test](), list[float]()
        for name, price in self.prices.items():
            if isinstance(price, Mapping):
                found, fee = _read_group(name, price, len(fees))
                tests += found
                fees += [fee] if found[0].group >= 0 else []
            else:
                tests.append(_Test(str(name), (name,), _read_price(price, f"column {name!r}"), -1))
        return tests, fees

    def bind(self, names: Iterable[Any]) -> ColumnTests:
        """Return the canonical form for a table with columns of these names, in their order.

        Columns without names go by their positions.
        """
        columns, (tests, fees) = list(names), self._read()
        if not isinstance(self.prices, Mapping) and len(tests) != len(columns):
            raise ValueError(
                f"feature_costs has {len(tests)} prices, X has {len(columns)} columns; give one "
                "for each, or a dict by column."
            )
        owner, places = dict[int, str](), list[tuple[int, ...]]()
        for number, test in enumerate(tests):
            places.append(tuple(find_column(key, columns, "feature_costs") for key in test.keys))
            for column in places[number]:
                if column in owner:
                    raise ValueError(
                        f"feature_costs prices column {columns[column]!r} twice, in "
                        f"{owner[column]!r} and {test.name!r}; a column is bought in one way."
                    )
                owner[column] = test.name
        if not isinstance(self.prices, Mapping):
            tests = [t._replace(name=str(name)) for t, name in zip(tests, columns, strict=True)]
        return _canonical(tests, places, fees, self.pay, len(columns))


def _canonical(
    tests: list[_Test], places: list[tuple[int, ...]], fees: list[float], pay: str, n: int
) -> ColumnTests:
    """Return the tests that cost something; those of an infinite price are not for sale."""
    whole = [test.price + (fees[test.group] if test.group >= 0 else 0.0) for test in tests]
    never = sorted(c for p, price in zip(places, whole, strict=True) if np.isinf(price) for c in p)
    kept = [i for i, price in enumerate(whole) if 0.0 < price < np.inf]
    groups = sorted({tests[i].group for i in kept} - {-1})
    return ColumnTests(
        names=tuple(tests[i].name for i in kept),
        columns=tuple(places[i] for i in kept),
        prices=np.array([tests[i].price for i in kept]),
        groups=np.array(
            [groups.index(tests[i].group) if tests[i].group >= 0 else -1 for i in kept],
            dtype=np.int64,
        ),
        fees=np.array([fees[group] for group in groups]),
        never=tuple(never),
        pay=pay,
        n_features=n,
    )


@dataclass(frozen=True, eq=False)
class ColumnTests:
    """Prices of the columns of one table, by test.

    Attributes
    ----------
    names : tuple of T str
    columns : tuple of T tuples of column numbers
    prices : float64 array of shape (T,)
        Finite; of each test without the fee of its group.
    groups : int64 array of shape (T,)
        The group that a test shares a fee with; -1 none.
    fees : float64 array of shape (G,)
    never : tuple of column numbers
        Those that are not for sale.
    pay : "row" or "model"
    n_features : int
    rows : float
        As many rows, by weight, does a price that the model pays cover.

    Examples
    --------
    >>> blood = {"columns": {"tsh": 20.0, "t3": 9.0}, "cost": 2.0}
    >>> tests = FeatureCosts({"blood": blood}).bind(["age", "tsh", "t3"])
    >>> tests.test_of.tolist(), tests.usable([0])
    ([-1, 0, 1], (0, 1))
    >>> tests.price_of(0, np.array([False, False])), tests.price_of(1, np.array([True, False]))
    (22.0, 9.0)
    """

    names: tuple[str, ...]
    columns: tuple[tuple[int, ...], ...]
    prices: Floats
    groups: Int64
    fees: Floats
    never: tuple[int, ...]
    pay: str
    n_features: int
    rows: float = 1.0

    def __post_init__(self) -> None:
        # Also of what comes from a file: columns and groups are places in arrays.
        n, n_groups = len(self.names), len(self.fees)
        places = [c for columns in (*self.columns, self.never) for c in columns]
        prices = np.concatenate([self.prices, self.fees])
        if not (
            len(self.columns) == len(self.prices) == len(self.groups) == n
            and self.prices.ndim == self.groups.ndim == self.fees.ndim == 1
            and len(set(places)) == len(places)
            and all(0 <= place < self.n_features for place in places)
            and np.all((self.groups >= -1) & (self.groups < n_groups))
            and np.all(np.isfinite(prices) & (prices >= 0.0))
            and self.pay in PAYS
            and self.rows > 0.0
        ):
            raise ValueError("The tests, columns, groups and prices do not fit each other.")

    def __len__(self) -> int:
        return len(self.names)

    @property
    def is_free(self) -> bool:
        """Whether nothing has a price, so that there is nothing to do differently."""
        return not self.names and not self.never

    @cached_property
    def test_of(self) -> Int64:
        """The test that brings each column, (n_features,); -1 of free columns and unsold ones."""
        found = np.full(self.n_features, -1, dtype=np.int64)
        for test, columns in enumerate(self.columns):
            found[list(columns)] = test
        return found

    def usable(self, bought: Iterable[int] | None = None) -> tuple[int, ...]:
        """Return the columns that are free or come with some tests (default: all), ascending."""
        allowed = set(range(len(self))) if bought is None else set(bought)
        never = set(self.never)
        return tuple(
            column
            for column, test in enumerate(self.test_of.tolist())
            if column not in never and (test < 0 or test in allowed)
        )

    def group_asked(self, asked: Any) -> Bools:
        """Return which groups' fees fall due, (..., G), for tests (..., T) that are asked for."""
        asked = np.asarray(asked, dtype=bool)
        due = np.zeros((*asked.shape[:-1], len(self.fees)), dtype=bool)
        for group in range(len(self.fees)):
            due[..., group] = asked[..., self.groups == group].any(axis=-1)
        return due

    def cost(self, asked: Any) -> Floats:
        """Return what tests (..., T) cost together, every fee once, (...)."""
        asked = np.asarray(asked, dtype=bool)
        return np.asarray(asked @ self.prices + self.group_asked(asked) @ self.fees)

    def price_of(self, test: int, bought: Bools) -> float:
        """Return what one more test costs after some others, (T,)."""
        group = int(self.groups[test])
        fee = 0.0 if group < 0 or bought[self.groups == group].any() else float(self.fees[group])
        return 0.0 if bought[test] else float(self.prices[test]) + fee

    def for_rows(self, rows: float) -> ColumnTests:
        """Return the same prices, for a model of so many rows."""
        return replace(self, rows=rows)


def as_feature_costs(given: Any) -> FeatureCosts | None:
    """Return prices of columns, whatever form they are given in; None where there are none.

    Examples
    --------
    >>> as_feature_costs({"mri": 300})
    FeatureCosts(prices={'mri': 300}, pay='row')
    """
    if given is None or isinstance(given, FeatureCosts):
        return given
    return FeatureCosts(given)
