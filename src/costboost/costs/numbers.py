"""`NumberCosts`: what it costs when a number is answered too low, or too high.

A ``NumberCosts`` is immutable. Its prices are cells as those of `Costs` are (numbers, one per row,
columns, functions, expressions), read, bound to tables and cut by the same functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost.costs import binding, pricing, reading, text
from costboost.costs.costs import Costs
from costboost.costs.number_pricing import (
    NumberDistribution,
    Prices,
    Step,
    cheapest,
    expected,
    paid,
)
from costboost.costs.state import Cell, State, TablePrice, check_rows, packed, same_cell, unpacked
from costboost.costs.uncertain import Uncertain
from costboost.inputs.arrays import read_numbers, read_weights
from costboost.typing import Floats

__all__ = ["NumberCosts", "as_number_costs"]

_PLAIN = ("under", "over", "fixed", "under_squared", "over_squared")
_STEPS = ("under_steps", "over_steps")
_PLACES = 1001  # at most, among which a constant is chosen where there are steps
_SHARE = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*%\s*")


class Beyond(NamedTuple):
    """Where a step begins: a distance, or a share of the size of the true number."""

    side: str
    distance: float
    relative: bool

    def __str__(self) -> str:
        return repr(f"{100 * self.distance:g}%") if self.relative else f"{self.distance:g}"


class NumberCosts:
    """What it costs to answer too low or too high a number: per unit, constant or one per row.

    The number may be an order, a promise, a staffing level. ``under`` is paid per unit that the
    answer lies below the truth (a sale that is lost), ``over`` per unit above it (waste). Costs per
    row are cut by row like an array, as `Costs` are; those by column are read from the table
    wherever it is given.

    Parameters
    ----------
    under, over : float, array-like of shape (n_samples,), str or callable, default=0
        Price per unit too little, and per unit too much: a number, one per row, the name of a
        column, a function of the table or an `expression`; see `Costs`.
    fixed : float, array-like, str or callable, default=0
        What a row costs whatever is answered. It moves no answer, and stands in every bill.
    under_squared, over_squared : float, array-like, str or callable, default=0
        Price per squared unit.
    under_steps, over_steps : dict of price by distance, default=None
        What is paid as a whole where the answer is farther off than the distance: a number of
        units, or text such as ``"10%"``, a share of the size of the true number. Several steps add
        up.

    Examples
    --------
    A loaf that is missing costs its margin, one that is left over what it took to bake it:

    >>> from costboost import NumberCosts
    >>> bread = NumberCosts(under=[1.5, 2.0], over=0.5)
    >>> bread
    NumberCosts(under=<2 values from 1.5 to 2>, over=0.5)
    >>> bread.of_numbers([100, 80], [90, 84]).tolist()
    [15.0, 2.0]
    >>> bread.ratios().tolist()  # the quantiles to order
    [0.75, 0.8]

    By column, with a contract's penalty beyond ten percent:

    >>> power = NumberCosts(under="spot", over=20, over_steps={"10%": 500})
    >>> print(power.describe())
    a unit too little costs its spot
    a unit too much costs 20
    more than 10% too much costs 500 on top
    """

    __slots__ = ("_beyond", "_state")

    _state: State
    _beyond: tuple[Beyond, ...]

    def __init__(
        self,
        under: Any = 0,
        over: Any = 0,
        *,
        fixed: Any = 0,
        under_squared: Any = 0,
        over_squared: Any = 0,
        under_steps: Any = None,
        over_steps: Any = None,
    ) -> None:
        given = dict(zip(_PLAIN, (under, over, fixed, under_squared, over_squared), strict=True))
        steps = [
            *_read_steps("under", under_steps),
            *_read_steps("over", over_steps),
        ]
        given |= {f"{at.side}_steps[{at}]": price for at, price in steps}
        for name, price in given.items():
            if isinstance(price, Uncertain):
                raise ValueError(
                    f"{name} is uncertain, which prices of numbers cannot be: give its mean, or "
                    "compare answers under several NumberCosts."
                )
            if price is None:
                raise ValueError(f"{name} is None: give a price, 0 where it is free.")
        cells, index = reading.read_cells(given, benefits=False)
        self._state = State("numbers", cells, None, None, index=index)
        self._beyond = tuple(at for at, _ in steps)
        self._refuse_free()

    def _refuse_free(self) -> None:
        """Raise where no answer costs more than another."""
        moving = self._state.cells[:2] + self._state.cells[3:]
        if not any(isinstance(c.value, TablePrice) or c.value.any() for c in moving):
            raise ValueError(
                "Every number costs the same, so there is nothing to minimise: give under, over, "
                "their squared prices or steps, one of which must differ from 0."
            )

    @classmethod
    def _of(cls, state: State, beyond: tuple[Beyond, ...]) -> Self:
        costs = object.__new__(cls)
        costs._state, costs._beyond = state, beyond
        return costs

    def _with(self, state: State) -> Self:
        return self if state is self._state else self._of(state, self._beyond)

    @classmethod
    def concat(cls, parts: Sequence[Self]) -> Self:
        """Concatenate the rows of several costs; constants that are all equal stay constant.

        Examples
        --------
        >>> NumberCosts.concat([NumberCosts([1, 2], 1), NumberCosts([3], 1)])
        NumberCosts(under=<3 values from 1 to 3>, over=1)
        """
        if len({part._beyond for part in parts}) > 1:
            raise ValueError("Only costs with the same steps can follow each other.")
        state = pricing.concat([part._state for part in parts])
        return cls._of(state, parts[0]._beyond)

    # Attributes

    @property
    def n_rows(self) -> int | None:
        """Number of rows that have their own prices; None for constants."""
        return self._state.n_rows

    @property
    def needs_table(self) -> bool:
        """Whether prices are still to be read from a table; see `bind_table`."""
        return bool(self._state.sources)

    @property
    def per_row(self) -> bool:
        """Whether rows have prices of their own, at hand or in a column of their table."""
        return self.n_rows is not None or self.needs_table

    @property
    def is_constant(self) -> bool:
        """Whether all rows share the same prices."""
        return not self.per_row

    @property
    def is_linear(self) -> bool:
        """Whether there are prices per unit only (and fixed ones): no squares, no steps."""
        return not any(
            isinstance(c.value, TablePrice) or c.value.any() for c in self._state.cells[3:]
        )

    @property
    def column_names(self) -> list[str]:
        """Names of the columns that are still to be read; functions do not say theirs."""
        return binding.named_columns(self._state)

    @property
    def index(self) -> Any:
        """The pandas index of the rows, if the prices came with one; else None."""
        return self._state.index

    @property
    def shape(self) -> tuple[int, int]:
        """Rows (1 for constants) and prices."""
        return self._state.length, len(self._state.cells)

    @property
    def under(self) -> Any:
        """The price per unit too little: a float, an array (n_samples,), or what is read."""
        return _shown(self._state.cells[0])

    @property
    def over(self) -> Any:
        """The price per unit too much: a float, an array (n_samples,), or what is read."""
        return _shown(self._state.cells[1])

    # An array of rows

    def __len__(self) -> int:
        return self._state.length

    def __iter__(self) -> Iterator[Self]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Self:
        """Select rows, as `Costs` do; constants and unread columns come back unchanged."""
        if self._state.n_rows is None:
            return self
        return self._with(pricing.cut(self._state, pricing.positions(self._state, index)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NumberCosts):
            return NotImplemented
        one, two = self._state, other._state
        alike = self._beyond == other._beyond and one.n_rows == two.n_rows
        return alike and all(same_cell(a, b) for a, b in zip(one.cells, two.cells, strict=True))

    def __hash__(self) -> int:
        return hash((pricing.hash_of(self._state), self._beyond))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        steps = tuple(tuple(at) for at in self._beyond)
        return {"cells": packed(self._state)["cells"], "index": self.index, "steps": steps}

    def __setstate__(self, state: dict[str, Any]) -> None:
        whole = {"form": "numbers", "n_classes": None, "n_actions": None}
        self._state = unpacked({**whole, "cells": state["cells"], "index": state["index"]})
        steps = state["steps"]
        self._beyond = tuple(Beyond(str(s), float(d), bool(share)) for s, d, share in steps)

    def __mul__(self, factor: Any) -> Self:
        if not pricing.is_number(factor):
            return NotImplemented
        return self._with(pricing.scaled(self._state, factor))

    __rmul__ = __mul__

    # Shown

    def _named(self) -> list[tuple[str, Beyond | None, Cell]]:
        """Return the prices that are not 0: their names, where steps begin, and their cells."""
        names = [(name, None) for name in _PLAIN] + [(f"{b.side}_steps", b) for b in self._beyond]
        return [
            (name, at, cell)
            for (name, at), cell in zip(names, self._state.cells, strict=True)
            if isinstance(cell.value, TablePrice) or cell.value.any()
        ]

    def __repr__(self) -> str:
        parts: dict[str, str] = {}
        for name, at, cell in self._named():
            if at is None:
                parts[name] = text.as_number(cell)
            else:
                parts[name] = f"{parts.get(name, '')}, {at}: {text.as_number(cell)}"
        shown = (f"{n}={{{p[2:]}}}" if n in _STEPS else f"{n}={p}" for n, p in parts.items())
        return f"NumberCosts({', '.join(shown)})"

    def describe(self) -> str:
        """Return the costs in words: one line for every price that is not zero."""
        words = {
            "under": "a unit too little costs",
            "over": "a unit too much costs",
            "fixed": "each row costs, whatever is answered,",
            "under_squared": "a squared unit too little costs",
            "over_squared": "a squared unit too much costs",
        }
        lines = []
        for name, at, cell in self._named():
            price = text.price(cell)
            if at is None:
                lines.append(f"{words[name]} {price}")
            else:
                side = "little" if at.side == "under" else "much"
                far = str(at).strip("'") if at.relative else f"{at} units"
                lines.append(f"more than {far} too {side} costs {price} on top")
        return "\n".join(lines)

    # Tables

    def bind_table(self, X: Any) -> Self:
        """Read the columns that the costs name from a table: return ordinary costs per row.

        Parameters
        ----------
        X : DataFrame (pandas, polars, pyarrow) or array of shape (n_samples, n_features)

        Examples
        --------
        >>> import pandas as pd
        >>> NumberCosts(under="margin", over=1).bind_table(pd.DataFrame({"margin": [2, 3]}))
        NumberCosts(under=<2 values from 2 to 3>, over=1)
        """
        if self._state.is_constant:
            return self
        return self._with(binding.bind_table(self._state, X))

    def check_rows(self, n_samples: int, whose: str) -> None:
        """Raise unless there are prices for so many rows, or for any number."""
        check_rows(self._state, n_samples, whose)

    def mean(self, sample_weight: ArrayLike | None = None) -> Self:
        """Return constant costs: the weighted mean of each price over the rows."""
        if self.is_constant:
            return self
        weights = read_weights(sample_weight, len(self))
        share = weights / weights.sum()
        means = (np.asarray(np.sum(share * c)) if c.ndim else c for c in self._state.columns)
        return self._with(self._state.with_columns(means)._replace(index=None))

    # Prices and answers

    def prices(self, n_samples: int) -> Prices:
        """Return the prices of so many rows."""
        self.check_rows(n_samples, "there are")
        under, over, fixed, under_squared, over_squared, *others = self._state.columns
        steps = tuple(
            Step(at.side, at.distance, at.relative, price)
            for at, price in zip(self._beyond, others, strict=True)
        )
        return Prices(under, over, fixed, under_squared, over_squared, steps)

    def training_prices(self, n_samples: int | None) -> Floats:
        """Return what a loss is made of: prices over and under, per unit and squared, (n, 4).

        Constants give one row where `n_samples` is None, and all prices of rows where it is not.
        Raises where there are steps: they have no slope to train by.
        """
        if self._beyond:
            raise ValueError(
                f"{self!r} has steps, which have no slope that trees could be trained by. Train on "
                "prices per unit or squared unit, or use MinimumCostRegressor, whose decisions "
                "take any prices."
            )
        if n_samples is None and self.per_row:
            return np.zeros((0, 4))
        prices = self.prices(1 if n_samples is None else n_samples)
        columns = (prices.over, prices.under, prices.over_squared, prices.under_squared)
        shape = (1 if n_samples is None else n_samples,)
        return np.stack([np.broadcast_to(part, shape) for part in columns], axis=1)

    def ratios(self) -> Floats:
        """Return under / (under + over), the level of the quantile that costs least, (n,) or ().

        Only for prices per unit; a row where both are 0 has 1/2.
        """
        if not self.is_linear:
            raise ValueError(
                "Only prices per unit have one ratio; with squared prices or steps ask a model "
                "for its cheapest number."
            )
        under, over = self._state.columns[:2]
        both = np.asarray(under + over)
        return np.asarray(np.divide(under, both, out=np.full(both.shape, 0.5), where=both > 0.0))

    def of_numbers(self, y: ArrayLike, numbers: ArrayLike) -> Floats:
        """Return what each answer costs, given the true number, (n_samples,).

        Parameters
        ----------
        y, numbers : array-like of shape (n_samples,)
            True numbers, and answers; one answer for all may be a single number.
        """
        target = read_numbers(y, "y", negative=True)
        if target.ndim != 1:
            raise ValueError(f"y has shape {target.shape}; it must be one number per row.")
        answers = read_answers(numbers, len(target))
        found = paid(self.prices(len(target)), target, answers)
        if not np.isfinite(found).all():
            row = int(np.argmin(np.isfinite(found)))
            raise ValueError(
                f"row {row}: an error of {answers[row] - target[row]:g} costs more than a float "
                "can hold; use larger units."
            )
        return found

    def total(
        self, y: ArrayLike, numbers: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the total cost of the answers, the weighted sum of `of_numbers`.

        Examples
        --------
        >>> NumberCosts(under=3, over=1).total([10, 10], [8, 11])
        7.0
        """
        found = self.of_numbers(y, numbers)
        return float(np.sum(read_weights(sample_weight, found.size) * found))

    def expected(
        self, spread: NumberDistribution, location: Floats, scale: Floats, numbers: Floats
    ) -> Floats:
        """Return what answers are expected to cost where y = location + scale Z, (n_samples,)."""
        return expected(self.prices(len(location)), spread, location, scale, numbers)

    def cheapest(self, spread: NumberDistribution, location: Floats, scale: Floats) -> Floats:
        """Return the answers of least expected cost where y = location + scale Z, (n_samples,)."""
        return cheapest(self.prices(len(location)), spread, location, scale)

    def cheapest_constant(
        self, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> tuple[float, float]:
        """Return the one number that is cheapest to answer for every row, and its total cost.

        With steps it is the cheapest of up to 1,001 numbers at which a row begins to cost more.

        Examples
        --------
        >>> NumberCosts(under=3, over=1).cheapest_constant([1, 2, 3, 4, 5])
        (4.0, 9.0)
        """
        target = read_numbers(y, "y", negative=True)
        weights = read_weights(sample_weight, len(target))
        prices = self.prices(len(target))
        best = _cheapest_constant(prices, target, weights)
        return best, self.total(target, best, weights)


def _shown(cell: Cell) -> Any:
    value = cell.value
    if isinstance(value, TablePrice):
        return value.read if not value.steps else value
    return value if value.ndim else float(value)


def read_answers(numbers: ArrayLike, n_samples: int) -> Floats:
    """Read one answer per row, or one for all, (n_samples,)."""
    found = read_numbers(numbers, "numbers", negative=True)
    if found.shape not in ((), (n_samples,)):
        raise ValueError(
            f"numbers has shape {found.shape}; give one for each of the {n_samples} rows, or a "
            "single one for all."
        )
    return np.broadcast_to(found, (n_samples,))


def _read_steps(side: str, given: Any) -> list[tuple[Beyond, Any]]:
    """Read a dict of prices by distance."""
    if given is None:
        return []
    name = f"{side}_steps"
    if not isinstance(given, Mapping):
        raise ValueError(
            f"{name} must be a dict of prices by distance, such as {{'10%': 50, 200: 5}}, but "
            f"{given!r} was given."
        )
    steps = []
    for distance, price in given.items():
        if isinstance(distance, str):
            share = _SHARE.fullmatch(distance)
            if share is None:
                raise ValueError(
                    f"{name} begins at {distance!r}: give a number of units, or a share of the "
                    "true number as text, such as '10%'."
                )
            at = Beyond(side, float(share[1]) / 100.0, True)
            if at.distance >= 1.0:
                raise ValueError(
                    f"{name} begins at {distance!r}: a share must be below 100%, where no answer "
                    "above 0 is too low by so much; give a number of units instead."
                )
        else:
            units = read_numbers(distance, f"a distance of {name}")
            if units.ndim:
                raise ValueError(f"{name} has a distance of shape {units.shape}; give one number.")
            at = Beyond(side, float(units), False)
        steps.append((at, price))
    steps.sort(key=lambda step: (step[0].relative, step[0].distance))
    places = [at for at, _ in steps]
    if len(set(places)) < len(places):
        raise ValueError(f"{name} has two prices at the same distance: add them up.")
    return steps


def _cheapest_constant(prices: Prices, target: Floats, weights: Floats) -> float:
    """Return the best constant: exact without steps, else the best of many places."""
    order = np.argsort(target, kind="stable")
    target, weights = target[order], weights[order]
    prices = prices.apply(lambda price: np.broadcast_to(price, order.shape)[order])
    if prices.steps:
        alive = target[weights > 0.0]
        places = np.unique(np.concatenate([alive, *(s.answers(alive) for s in prices.steps)]))
        few = np.unique(np.linspace(0, len(places) - 1, _PLACES).round().astype(int))
        costs = [float(np.sum(weights * paid(prices, target, a))) for a in places[few]]
        return float(places[few][int(np.argmin(costs))])
    if not prices.squares:  # the first row from which on the slope is not negative
        slope = np.cumsum(weights * (prices.under + prices.over)) - np.sum(weights * prices.under)
        return float(target[min(int(np.searchsorted(slope, 0.0)), len(target) - 1)])
    low, high = float(target[0]), float(target[-1])
    for _ in range(100):  # the cost is convex: halve where its slope changes its sign
        middle = 0.5 * low + 0.5 * high
        error = middle - target
        linear = np.where(error > 0.0, prices.over, -prices.under)
        square = 2.0 * error * np.where(error > 0.0, prices.over_squared, prices.under_squared)
        falls = float(np.sum(weights * (linear + square))) < 0.0
        low, high = (middle, high) if falls else (low, middle)
    return 0.5 * low + 0.5 * high


def as_number_costs(value: Any) -> NumberCosts:
    """Turn every accepted form of prices of numbers into `NumberCosts`.

    Parameters
    ----------
    value : NumberCosts or dict
        A dict holds the arguments of `NumberCosts`, such as ``{"under": 3, "over": 1}``.

    Examples
    --------
    >>> as_number_costs({"under": 3, "over": 1})
    NumberCosts(under=3, over=1)
    """
    if isinstance(value, NumberCosts):
        return value
    if isinstance(value, Costs):
        raise ValueError(
            f"{value!r} are prices of classes; a regression takes NumberCosts(under=, over=), "
            "prices per unit too little and too much."
        )
    known = (*_PLAIN, *_STEPS)
    if isinstance(value, Mapping):
        unknown = [key for key in value if key not in known]
        if unknown:
            raise ValueError(
                f"costs has the unknown key {unknown[0]!r}; a dict of prices of numbers may have "
                f"{', '.join(map(repr, known))}."
            )
        return NumberCosts(**value)
    raise ValueError(
        "costs must be NumberCosts(under=, over=) or a dict such as {'under': 3, 'over': 1}, but "
        f"{value!r} was given."
    )
