"""Plans of the L_p family: what is settled, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from costboost import Costs
from costboost.costs import as_costs
from costboost.estimators.pnorm import PNormBoostClassifier
from costboost.estimators.pnorm.family import leaf_rows, settle
from pnorm_problems import matrix, problem
from quick_pnorm import quick


@pytest.mark.parametrize(
    ("n", "rarest", "least"),
    [(60, 2, 6), (400, 10, 40), (1500, 20, 80), (1500, 300, 15), (400, 110, 11)],
)
def test_leaves_hold_three_of_the_rarest_class_a_tenth_of_the_rows_or_eighty(n, rarest, least):
    X, _ = problem(39, n=n, levels=1000)
    y = np.repeat([2, 1, 0], [rarest, (n - rarest) // 2, n - rarest - (n - rarest) // 2])
    noisy = X[:, 0] / X[:, 0].std() + np.random.default_rng(39).normal(size=n)
    y = y[np.argsort(np.argsort(noisy))]
    costs = matrix(39, 3)
    params = {"n_estimators": 3, "random_state": 0}
    auto = PNormBoostClassifier(**params).fit(X, y, costs=costs)
    given = PNormBoostClassifier(min_samples_leaf=least, **params).fit(X, y, costs=costs)
    other = PNormBoostClassifier(min_samples_leaf=least // 2, **params).fit(X, y, costs=costs)
    assert_array_equal(auto.decision_function(X), given.decision_function(X))
    assert np.any(auto.decision_function(X) != other.decision_function(X))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"method": "lp"}, "method='lp' is not known"),
        ({"step": "1/t"}, "step='1/t' is not known"),
        ({"p": 0.5}, "p=0.5 must be"),
        ({"p": 1.5, "step": "bound"}, "p >= 2"),
        ({"p": 1, "step": "search"}, "p > 1"),
        ({"method": "gbse", "step": "search"}, "does not"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes=1"),
        ({"min_samples_leaf": "many"}, "min_samples_leaf='many'"),
        ({"min_samples_leaf": 0}, "min_samples_leaf=0"),
        ({"warm_start": True, "calibration": "sigmoid"}, "warm_start"),
        ({"calibration": "auto"}, "calibration='auto'"),
    ],
)
def test_bad_parameters_are_named(params, message):
    X, y = problem(0)
    with pytest.raises(ValueError, match=message):
        quick(**params).fit(X, y)


def test_actions_that_are_not_classes_are_refused_in_training():
    X, y = problem(0)
    costs = Costs.from_matrix([[0, 1], [1, 0], [2, 2]], classes=[0, 1, 2], actions=["a", "b"])
    with pytest.raises(ValueError, match="decisions must be the"):
        quick().fit(X, y, costs=costs)


@pytest.mark.parametrize(
    ("counts", "least"),
    [
        ([5], 1),  # a tenth of the rows, rounded down, and never none
        ([50, 50], 6),  # three of a class that is half of the rows
        ([990, 10], 80),
        ([0, 300, 0, 300], 6),  # classes without rows are no class
        ([100_000, 1], 80),
    ],
)
def test_the_least_leaf_by_hand(counts, least):
    assert leaf_rows("auto", counts) == least
    assert leaf_rows(7, counts) == 7


def test_what_is_settled_is_what_was_asked():
    X, y = problem(0)
    bound = as_costs(matrix(0, 3), np.arange(3)).bind(np.arange(3), len(y))
    asked = quick(p=3, step="search", method="lp-csb-a", subsample=0.5, n_iter_no_change=2)
    settled = settle(asked, X, y, None, bound, 3)
    assert (settled.setting.p, settled.setting.step, settled.setting.n_rounds) == (3.0, "search", 8)
    assert (settled.method.name, settled.subsample, settled.patience) == ("lp-csb-a", 0.5, 2)
    assert settled.metric == "cost"


def test_costs_are_part_of_the_training_so_a_temperature_is_refused():
    X, y = problem(0)
    with pytest.raises(ValueError, match="calibration='temperature' cannot undo the costs"):
        quick(calibration="temperature").fit(X, y)
