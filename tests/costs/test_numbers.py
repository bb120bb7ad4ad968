"""`NumberCosts`: reading, binding, cutting, showing, and what answers cost."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.utils import _safe_indexing

from costboost.costs import Costs, NumberCosts, as_number_costs, expression, uncertain
from tests.naive import numbers as naive

TABLE = pd.DataFrame({"margin": [2.0, 3.0, 4.0], "waste": [1.0, 0.5, 0.25]}, index=[7, 8, 9])


@pytest.mark.parametrize("frame", [TABLE, pl.from_pandas(TABLE)])
def test_columns_expressions_and_functions_are_read_from_the_table(frame):
    costs = NumberCosts(
        under="margin", over=expression("2 * waste"), over_steps={"10%": lambda X: X["waste"]}
    )
    assert costs.needs_table
    assert costs.column_names == ["margin", "waste"]
    bound = costs.bind_table(frame)
    assert not bound.needs_table
    assert bound.under.tolist() == [2.0, 3.0, 4.0]
    assert bound.of_numbers([10, 10, 10], [9, 10.5, 12]).tolist() == [2.0, 0.5, 0.5 * 2 + 0.25]


def test_every_answer_is_priced_as_the_naive_twin_does():
    rng = np.random.default_rng(0)
    prices = {
        "under": 2.0, "over": 1.5, "fixed": 0.25, "under_squared": 0.5, "over_squared": 0.125,
        "under_steps": {"10%": 5.0}, "over_steps": {1.0: 3.0, "50%": 7.0},
    }  # fmt: skip
    y, a = rng.integers(-6, 7, size=(2, 400)).astype(float)
    found = NumberCosts(**prices).of_numbers(y, a)
    assert found.tolist() == pytest.approx(
        [naive.paid(prices, *pair) for pair in zip(y, a, strict=True)]
    )


def test_rows_are_cut_as_an_array_is():
    costs = NumberCosts(under=[1, 2, 3, 4], over=1)
    assert (len(costs), costs.shape) == (4, (4, 5))
    for index in ([3, 1], np.array([False, True, False, True]), slice(1, 3), (np.array([0]), ...)):
        rows = index[0] if isinstance(index, tuple) else index
        assert costs[index].under.tolist() == np.array([1.0, 2, 3, 4])[rows].tolist()
    assert _safe_indexing(costs, np.array([2])).under.tolist() == [3.0]
    constant = NumberCosts(under=1, over=1)
    assert constant[[0, 1]] is constant
    assert [part.under.tolist() for part in costs] == [[1.0], [2.0], [3.0], [4.0]]
    assert NumberCosts.concat([costs[:2], costs[2:]]) == costs


def test_the_index_of_a_series_is_remembered():
    costs = NumberCosts(under=TABLE["margin"], over=1)
    assert costs[TABLE.index[::-1]].under.tolist() == [4.0, 3.0, 2.0]
    with pytest.raises(ValueError, match="another order"):
        costs.bind_table(TABLE[::-1])


def test_equal_costs_are_equal_and_survive_copies():
    costs = NumberCosts(under="margin", over=[1, 2], over_steps={"10%": 5})
    for again in (pickle.loads(pickle.dumps(costs)), copy.deepcopy(costs)):
        assert again == costs
        assert hash(again) == hash(costs)
    assert costs != NumberCosts(under="margin", over=[1, 2], over_steps={"11%": 5})
    assert costs != NumberCosts(under="margin", over=[1, 3], over_steps={"10%": 5})
    assert costs != "costs"
    assert (2 * NumberCosts(1, 2)).over == 4.0


def test_costs_are_shown_by_the_call_that_makes_them():
    costs = NumberCosts("margin", 2, fixed=1, under_steps={"5%": 1}, over_steps={3: "z", "10%": 5})
    assert repr(costs) == (
        "NumberCosts(under='margin', over=2, fixed=1, under_steps={'5%': 1}, "
        "over_steps={3: 'z', '10%': 5})"
    )
    assert eval(repr(costs), {"NumberCosts": NumberCosts}) == costs
    assert costs.describe().splitlines()[-1] == "more than 10% too much costs 5 on top"


@pytest.mark.parametrize("seed", range(8))
def test_the_cheapest_constant_beats_every_other(seed):
    rng = np.random.default_rng(seed)
    y, weights = rng.normal(size=50).round(1), rng.integers(0, 3, size=50).astype(float)
    under = rng.uniform(0.1, 5, size=50)
    costs = [
        NumberCosts(under, 1),
        NumberCosts(0, 1),
        NumberCosts(under, 1, over_squared=2),
        NumberCosts(2, 1, over_steps={0.5: 3}),
    ][seed % 4]
    best, total = costs.cheapest_constant(y, weights)
    assert total == pytest.approx(costs.total(y, np.full(50, best), weights))
    others = np.concatenate([y, y + 0.5, np.linspace(y.min(), y.max(), 300)])
    assert total <= min(costs.total(y, a, weights) for a in others) + 1e-9


def test_the_mean_over_rows_is_constant():
    costs = NumberCosts(under=[1, 3], over=2, over_steps={"10%": [0, 8]})
    assert costs.mean() == NumberCosts(2, 2, over_steps={"10%": 4})
    assert costs.mean([3, 1]).under == 1.5
    assert NumberCosts(under=[1, 0], over=[3, 0]).ratios().tolist() == [0.25, 0.5]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NumberCosts(), "Every cost is zero"),
        (lambda: NumberCosts(0, 0, fixed=3), "Every number costs the same"),
        (lambda: NumberCosts(-1, 2), "under is -1, which is negative"),
        (lambda: NumberCosts(1, float("nan")), "over is nan; every value must be finite"),
        (lambda: NumberCosts(1, [1, float("inf")]), "row 1: over is inf"),
        (lambda: NumberCosts([1, 2], [1, 2, 3]), "under has 2 rows, but over has 3"),
        (lambda: NumberCosts([[1, 2]], 1), r"under has shape \(1, 2\)"),
        (lambda: NumberCosts(True, 1), "under must be numbers, but they are booleans"),
        (lambda: NumberCosts(1, None), "over is None"),
        (lambda: NumberCosts(uncertain(3, low=1, high=2), 1), "under is uncertain"),
        (lambda: NumberCosts(1, 1, over_steps=5), "over_steps must be a dict"),
        (lambda: NumberCosts(1, 1, over_steps={"ten": 5}), "over_steps begins at 'ten'"),
        (lambda: NumberCosts(1, 1, under_steps={"100%": 5}), "must be below 100%"),
        (lambda: NumberCosts(1, 1, over_steps={"10%": 5, "10.0%": 2}), "same distance"),
        (lambda: NumberCosts(1, 1, over_steps={-2: 5}), "a distance of over_steps is -2"),
        (lambda: as_number_costs(Costs(1, 10)), "are prices of classes"),
        (lambda: as_number_costs({"fp": 1, "fn": 2}), "unknown key 'fp'"),
        (lambda: as_number_costs(None), "costs must be NumberCosts"),
        (lambda: NumberCosts("margin", 1).bind_table(np.ones((2, 2))), "no names"),
        (lambda: NumberCosts("price", 1).bind_table(TABLE), "column 'price', which X does not"),
        (lambda: NumberCosts("margin", 1).of_numbers([1], [2]), "which is not at hand here"),
        (lambda: NumberCosts([1, 2], 1).of_numbers([1, 2, 3], 2), "have 2 rows, but there are 3"),
        (lambda: NumberCosts(1, 1).of_numbers([1, 2], [1, 2, 3]), r"numbers has shape \(3,\)"),
        (lambda: NumberCosts(1e300, 1).of_numbers([1e150], [0]), "more than a float can hold"),
        (lambda: NumberCosts(1, 1, over_squared=1).ratios(), "Only prices per unit"),
        (lambda: 0 * NumberCosts(1, 1), "multiplied by positive numbers"),
    ],
)
def test_wrong_input_is_refused_with_what_to_do(make, message):
    with pytest.raises(ValueError, match=message), np.errstate(over="ignore"):
        make()
