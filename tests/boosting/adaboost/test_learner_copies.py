"""A row of weight k is k rows, also where ties decide: small tables of few values.

In the first round ties are exact. Later weights are products of exponentials: sums that are equal
in theory, such as the two halves that AdaBoost makes, differ in their last bits, and only because
such bits decide nothing do both models grow the same trees.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from costboost import CostBoostClassifier, Costs, GradientBoostClassifier
from costboost.boosting.adaboost.learner import leaf_votes

pytestmark = pytest.mark.filterwarnings("ignore:method=.*could not take a single step")


def tables(n_tables):
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(6, 14))
        y = rng.integers(0, 2, n)
        y[:2] = 0, 1
        yield rng.integers(0, 3, (n, 3)).astype(float), y, rng.uniform(size=n) < 0.4


def weighted_and_copied(X, y, weight, **options):
    options = {
        "method": "adaboost",
        "n_estimators": 1,
        "max_depth": 2,
        "calibration": None,
        "random_state": 0,
        **options,
    }
    copies = np.repeat(np.arange(len(y)), weight)
    costs = Costs(fp=1, fn=2)
    return (
        CostBoostClassifier(**options).fit(X, y, weight, costs),
        CostBoostClassifier(**options).fit(X[copies], y[copies], costs=costs),
    )


def named(kind):
    return "-".join(map(str, kind.values()))


KINDS = [
    {"method": "adaboost"},
    {"method": "cgada"},
    {"method": "csada"},
    {"method": "csada", "max_depth": 1},
    {"method": "adac2"},
    {"method": "adaboost", "votes": "confidence"},
    {"method": "adaboost", "votes": "confidence", "laplace": True},
    {"method": "adamec", "votes": "gentle", "laplace": True},
    {"method": "adamec", "votes": "real", "laplace": True},
]


@pytest.mark.parametrize("k", [2, 3, 5, 7])
@pytest.mark.parametrize("options", KINDS, ids=named)
def test_a_row_of_weight_k_is_k_rows(options, k):
    for X, y, heavy in tables(100):
        one, other = weighted_and_copied(X, y, np.where(heavy, k, 1), **options)
        assert one.n_iter_ == other.n_iter_
        assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-13)


LATER = [
    {"method": "adaboost", "max_depth": 1},
    {"method": "adaboost", "max_depth": 3},
    {"method": "adaboost", "max_depth": None, "max_leaf_nodes": 4},
    {"method": "adaboost", "criterion": "entropy"},
    {"method": "adaboost", "criterion": "error"},
    {"method": "cgada"},
    {"method": "csada", "max_depth": 1},
    {"method": "csada"},
    {"method": "adac2"},
    {"method": "adacost"},
    {"method": "adaboost", "votes": "confidence"},
    {"method": "adamec", "votes": "gentle"},
    {"method": "adamec", "votes": "real", "laplace": True},
]


@pytest.mark.parametrize("k", [3, 5, 7])
@pytest.mark.parametrize("options", LATER, ids=named)
@pytest.mark.filterwarnings("ignore:method=.*(after|round):UserWarning")
def test_a_row_of_weight_k_is_k_rows_in_later_rounds_too(options, k):
    for number, (X, y, heavy) in enumerate(tables(30)):
        weight = np.where(heavy | (number % 2 == 0), k, 1)
        one, other = weighted_and_copied(X, y, weight, **options, n_estimators=5)
        assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("k", [3, 5, 7])
@pytest.mark.parametrize("loss", ["exponential", "log"])
def test_gradient_boosting_takes_weights_as_copies_too(loss, k):
    options = {"loss": loss, "n_estimators": 5, "max_depth": 2, "min_samples_leaf": 1}
    for number, (X, y, heavy) in enumerate(tables(30)):
        weight = np.where(heavy | (number % 2 == 0), k, 1)
        rows = np.repeat(np.arange(len(y)), weight)
        one = GradientBoostClassifier(**options).fit(X, y, weight)
        other = GradientBoostClassifier(**options).fit(X[rows], y[rows])
        assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-7, atol=1e-9)


def test_a_leaf_that_is_half_and_half_but_for_rounding_votes_for_the_first_class():
    nearly = np.nextafter(0.5, 1.0)
    votes = leaf_votes(np.array([[0.5, nearly], [0.5, 0.5], [0.5, 0.5 + 1e-9]]), "discrete").votes
    assert votes.tolist() == [0, 0, 1]


@pytest.mark.parametrize("k", [2, 3, 5, 7])
def test_weights_that_are_all_k_are_k_copies_of_the_table(k):
    for X, y, _ in tables(50):
        for options in ({}, {"votes": "confidence", "laplace": True}):
            one, other = weighted_and_copied(X, y, np.full(len(y), k), **options)
            assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-13)


def test_laplace_adds_one_row_of_each_class():
    sums = np.array([[3.0, 1.0], [0.0, 2.0]])
    sizes = leaf_votes(sums, "confidence", laplace=1.0).sizes
    assert_allclose(sizes, [(4 - 2) / 6, (3 - 1) / 4])


@pytest.mark.parametrize("unit", [1e-300, 7.3, 1e10])
def test_the_unit_of_weights_changes_no_bit(unit):
    for X, y, heavy in tables(20):
        options = {"n_estimators": 4, "max_depth": 2, "calibration": None, "random_state": 0}
        models = [
            CostBoostClassifier("adaboost", **options).fit(X, y, weights)
            for weights in (np.where(heavy, 3.0, 1.0), unit * np.where(heavy, 3.0, 1.0))
        ]
        assert_array_equal(*[model.decision_function(X) for model in models])
