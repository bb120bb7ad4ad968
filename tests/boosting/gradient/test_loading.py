"""Loaders of gradient boosting: rows made here, or elsewhere from what was said of them there."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from costboost import Costs
from costboost.boosting.gradient.rows import GradientLoader
from costboost.shards.layout import RowData

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 12)
WEIGHTS = RNG.uniform(0.5, 2, 12)
CHOSEN = np.array([3, 0, 7])
FN = RNG.uniform(1, 9, 12)
CONSTANT = Costs(fp=1.0, fn=5.0).bind([0, 1])
BY_ROW = Costs(fp=1.0, fn=FN).bind([0, 1], 12)


def test_prices_are_those_of_classes_or_of_rows():
    table = GradientLoader(RowData(Y, None, CONSTANT), uses_costs=True).load(CHOSEN).data
    assert_array_equal(table.table, [[0.0, 1.0], [5.0, 0.0]])
    assert table.prices is table.costs is None
    rows = GradientLoader(RowData(Y, None, BY_ROW), uses_costs=True).load(CHOSEN).data
    expected = np.where(Y == 1, FN, 0.0), np.where(Y == 1, 0.0, 1.0)
    assert_array_equal(rows.paid, np.stack(expected, axis=1)[CHOSEN])
    assert rows.prices is rows.table is None  # made of costs when they are asked for
    assert_array_equal(rows.priced().prices, rows.paid)


def test_losses_without_prices_hold_none_but_decisions_are_paid():
    state = GradientLoader(RowData(Y, WEIGHTS, BY_ROW)).load(CHOSEN)
    assert state.data.prices is state.data.table is None
    assert_array_equal(state.data.y, Y[CHOSEN])
    assert_array_equal(state.data.weights, WEIGHTS[CHOSEN])
    assert_array_equal(state.pricing.paid(slice(None))[:, 0], np.where(Y == 1, FN, 0.0)[CHOSEN])
    assert GradientLoader(RowData(FN)).load(CHOSEN).pricing is None


@pytest.mark.parametrize("shift", [-1000, 0, 3])
def test_weights_are_multiplied_by_a_power_of_two(shift):
    loader = GradientLoader(RowData(Y, WEIGHTS, CONSTANT), shift=shift)
    assert_array_equal(loader.load(slice(None)).data.weights, np.ldexp(WEIGHTS, shift))
    alike = GradientLoader(RowData(Y, WEIGHTS, CONSTANT), weighted=False, shift=shift)
    assert alike.load(slice(None)).data.weights is None


def test_numbers_of_a_users_objective_go_with_their_rows():
    objective = tuple(np.arange(36.0).reshape(3, 12))
    given = {"uses_costs": True, "objective": objective}
    rows = GradientLoader(RowData(Y, None, CONSTANT), **given).load(CHOSEN).data
    for own, whole in zip(rows.objective, objective, strict=True):
        assert_array_equal(own, whole[CHOSEN])
    assert rows.prices is rows.table is None


def test_prices_of_errors_go_with_their_rows():
    prices = np.arange(24.0).reshape(12, 2)
    rows = GradientLoader(RowData(FN), prices=prices).load(CHOSEN).data
    assert_array_equal(rows.prices, prices[CHOSEN])


@pytest.mark.parametrize("costs", [CONSTANT, BY_ROW])
@pytest.mark.parametrize("uses_costs", [False, True])
def test_rows_made_elsewhere_are_those_made_here(costs, uses_costs):
    whole = RowData(Y, WEIGHTS, costs)
    here = GradientLoader(whole, shift=2, uses_costs=uses_costs)
    blank = here.blank()
    assert len(blank.data.y) == 0
    # Elsewhere class numbers are bytes, and constant prices are not said again.
    own = RowData(Y.astype(np.uint8), WEIGHTS, None if costs is CONSTANT else costs)
    assert blank.on(own).data.y is own.y  # bytes, and the very same
    there = blank.on(own).load(CHOSEN)
    expected = here.load(CHOSEN)
    for name in ("y", "weights", *(["paid"] if uses_costs else [])):
        assert_array_equal(getattr(expected.data, name), getattr(there.data, name))
    for name in ("prices", "table", "costs"):
        assert (getattr(expected.data, name) is None) == (getattr(there.data, name) is None)
    assert_array_equal(expected.pricing.paid(slice(None)), there.pricing.paid(slice(None)))
