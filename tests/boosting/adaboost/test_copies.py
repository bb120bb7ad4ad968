"""A row of weight k is k rows, also where exact ties decide: small tables of few values.

One round: after it weights are products of exponentials, and ties hold up to rounding only.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from costboost import CostBoostClassifier, Costs
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
@pytest.mark.parametrize("options", KINDS, ids=lambda kind: "-".join(map(str, kind.values())))
def test_a_row_of_weight_k_is_k_rows(options, k):
    for X, y, heavy in tables(200):
        one, other = weighted_and_copied(X, y, np.where(heavy, k, 1), **options)
        assert one.n_iter_ == other.n_iter_
        assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-13)


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
