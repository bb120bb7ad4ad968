"""Prices of columns: one canonical form, read and validated in one place."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costboost import FeatureCosts
from costboost.costs import as_feature_costs

NAMES = ["age", "tsh", "t3", "mri"]


@pytest.mark.parametrize(
    ("given_prices", "error", "words"),
    [
        ({"pulse": 3}, ValueError, "feature_costs names column 'pulse', which X does not have"),
        ({"mri": -1}, ValueError, "price of column 'mri' is -1.0; prices are at least 0"),
        ({"mri": np.nan}, ValueError, "price of column 'mri' is nan"),
        ({"mri": "300"}, ValueError, "must be a number of at least 0"),
        ({"mri": True}, ValueError, "must be a number of at least 0"),
        ({"mri": None}, ValueError, "must be a number of at least 0"),
        ({"blood": {"columns": ["tsh"]}}, ValueError, 'needs "columns" and "cost"'),
        ({"blood": {"columns": [], "cost": 1}}, ValueError, "'blood' has no columns"),
        ({"blood": {"columns": "tsh", "cost": 1}}, ValueError, "give a list of them"),
        ({"blood": {"columns": 3, "cost": 1}}, ValueError, "give a list of them"),
        ({"blood": {"columns": ["tsh"], "cost": -1}}, ValueError, "price of group 'blood' is -1"),
        ({"tsh": 1, "b": {"columns": ["tsh"], "cost": 1}}, ValueError, "'tsh' twice, in 'tsh' and"),
        ({"mri": 1, 3: 2}, ValueError, "prices column 'mri' twice"),
        ({"b": {"columns": ["tsh", "tsh"], "cost": 1}}, ValueError, "'tsh' twice"),
        ({"b": {"columns": {"tsh": -2}, "cost": 1}}, ValueError, "price of column 'tsh' is -2"),
        ({4: 1}, ValueError, "names column 4, which X does not have"),
        ([1, 2, 3], ValueError, "has 3 prices, X has 4 columns"),
        ([[1, 2, 3, 4]], ValueError, r"got shape \(1, 4\)"),
        ("mri=3", TypeError, "must be a dict of prices by column"),
        (300, TypeError, "must be a dict of prices by column"),
    ],
)
def test_what_is_wrong_is_said(given_prices, error, words):
    with pytest.raises(error, match=words):
        as_feature_costs(given_prices).bind(NAMES)


def test_who_pays_is_the_row_or_the_model():
    with pytest.raises(ValueError, match=r"pay='patient'.*allowed: 'row'.*'model'"):
        FeatureCosts({}, pay="patient")


def test_names_positions_and_arrays_are_one_form():
    forms = [{"t3": 2, "mri": 5}, {2: 2, 3: 5}, [0, 0, 2, 5], np.array([0.0, 0, 2, 5])]
    for form in forms:
        tests = FeatureCosts(form).bind(NAMES)
        assert tests.columns == ((2,), (3,))
        assert tests.prices.tolist() == [2, 5]
        assert tests.test_of.tolist() == [-1, -1, 0, 1]
    assert FeatureCosts([0, 0, 2, 5]).bind(NAMES).names == ("t3", "mri")
    assert FeatureCosts({2: 2}).bind(range(4)).names == ("2",)


def test_what_costs_nothing_is_no_test_and_what_costs_infinity_not_for_sale():
    tests = FeatureCosts({"age": 0, "mri": np.inf, "b": {"columns": ["tsh"], "cost": 0}})
    bound = tests.bind(NAMES)
    assert len(bound) == 0
    assert bound.never == (3,)
    assert bound.usable() == (0, 1, 2)
    assert not bound.is_free
    assert FeatureCosts([0, 0, 0, 0]).bind(NAMES).is_free
    unsold = {"b": {"columns": {"tsh": 1, "t3": 2}, "cost": np.inf}}
    assert FeatureCosts(unsold).bind(NAMES).never == (1, 2)


def test_usable_columns_are_free_or_bought():
    tests = FeatureCosts({"mri": 3, "b": {"columns": ["tsh", "t3"], "cost": 2}}).bind(NAMES)
    assert tests.names == ("mri", "b")
    assert tests.usable([]) == (0,)
    assert tests.usable([1]) == (0, 1, 2)


@given(
    prices=st.lists(st.floats(0.5, 9), min_size=4, max_size=4),
    fee=st.floats(0.5, 9),
    order=st.permutations(range(4)),
)
def test_fees_are_paid_once_in_whatever_order_tests_are_bought(prices, fee, order):
    shared = {"columns": {0: prices[0], 2: prices[2]}, "cost": fee}
    tests = FeatureCosts({1: prices[1], "g": shared, 3: prices[3]}).bind(range(4))
    bought, paid = np.zeros(4, dtype=bool), 0.0
    for test in order:
        paid += tests.price_of(test, bought)
        bought[test] = True
        assert tests.cost(bought) == pytest.approx(paid)
        assert tests.price_of(test, bought) == 0.0
    assert paid == pytest.approx(sum(prices) + fee)


def test_every_set_costs_its_prices_and_fees():
    prices = {"x": {"columns": {"tsh": 1, "t3": 2}, "cost": 10}, "mri": 5}
    tests = FeatureCosts(prices).bind(NAMES)
    asked = np.array(list(itertools.product([False, True], repeat=3)))
    expected = [a + 2 * b + 10 * (a or b) + 5 * c for a, b, c in asked.tolist()]
    assert tests.cost(asked).tolist() == expected
