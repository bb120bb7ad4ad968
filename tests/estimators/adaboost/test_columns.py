"""Which tests the recipe buys: against all sets, priced one by one."""

import itertools

import numpy as np
import pytest

from costboost import FeatureCosts
from costboost.estimators.adaboost.columns import MOST, choose_tests, price_of_set


def every_set(n):
    return [frozenset(c) for k in range(n + 1) for c in itertools.combinations(range(n), k)]


@pytest.mark.parametrize("seed", range(20))
def test_additive_savings_are_searched_to_the_best_set(seed):
    rng = np.random.default_rng(seed)
    shared = {"columns": {0: rng.random(), 1: rng.random(), 2: rng.random()}, "cost": 0.5}
    tests = FeatureCosts({"g": shared, 3: rng.random(), 4: rng.random()}).bind(range(6))
    saves = 1.4 * rng.random(5)
    mistakes = lambda bought: 5.0 - sum(saves[t] for t in bought)  # noqa: E731
    total = lambda bought: mistakes(bought) + price_of_set(tests, bought)  # noqa: E731
    chosen = choose_tests(tests, mistakes)
    assert total(chosen) == pytest.approx(min(map(total, every_set(5))))


def test_tests_that_only_help_together_are_found_from_everything():
    tests = FeatureCosts([1.0, 1.0, 1.0]).bind(range(3))
    asked = []

    def mistakes(bought):
        asked.append(bought)
        return 1.0 if bought >= {0, 2} else 5.0

    assert choose_tests(tests, mistakes) == {0, 2}
    assert len(asked) == len(set(asked))  # no set is trained twice


def test_what_saves_nothing_is_not_bought():
    tests = FeatureCosts([1e-6, 1e-6]).bind(range(2))
    assert choose_tests(tests, lambda bought: 3.0) == frozenset()


def test_the_search_ends():
    tests = FeatureCosts([1.0] * 60).bind(range(60))
    asked = set()

    def mistakes(bought):
        asked.add(bought)
        return 100.0 - 2.0 * len(bought)

    choose_tests(tests, mistakes)
    assert len(asked) < MOST + 2 * 60


def test_a_model_that_pays_shares_the_price():
    tests = FeatureCosts([6.0, 3.0], pay="model").bind(range(2)).for_rows(3.0)
    assert price_of_set(tests, frozenset({0, 1})) == 3.0
