"""Held-out rows that users give: one set, or several by name."""

import numpy as np
import pandas as pd
import pytest

from costboost import CostBoostClassifier, Costs
from costboost.fitting.held_out import read_eval_set

X = pd.DataFrame({"a": np.arange(12.0), "amount": np.arange(1.0, 13.0)})
Y = np.arange(12) % 2


@pytest.fixture(scope="module")
def model():
    return CostBoostClassifier("adaboost", 1).fit(X, Y)


def test_nothing_is_nothing_and_one_set_has_a_name(model):
    assert read_eval_set(model, None, per_row=False) is None
    (part,) = read_eval_set(model, (X, Y), per_row=False)
    assert part.name == "eval_set"
    assert (part.costs, part.weights) == (None, None)
    np.testing.assert_array_equal(part.y, Y)


def test_several_sets_keep_their_names_order_and_parts(model):
    weights = np.arange(5)
    sets = {"late": (X[:5], Y[:5], Costs(fp=1, fn=2), weights), 7: [X[5:], Y[5:]]}
    late, seven = read_eval_set(model, sets, per_row=False)
    assert (late.name, seven.name) == ("late", "7")
    assert late.weights.dtype == np.float64
    np.testing.assert_array_equal(late.weights, weights)
    assert (len(late.y), len(seven.y)) == (5, 7)


def test_prices_by_column_are_read_from_the_set_s_own_table(model):
    (part,) = read_eval_set(model, (X[6:], Y[6:], {"fp": 1, "fn": "amount"}), per_row=True)
    assert part.costs.n_rows == 6
    np.testing.assert_array_equal(part.costs.fn, X["amount"][6:])


def test_prices_by_column_in_training_are_those_of_the_set_too():
    fitted = CostBoostClassifier("adac2", 3, n_iter_no_change=2)
    fitted.fit(X, Y, costs=Costs(fp=1, fn="amount"), eval_set=(X[::-1], Y[::-1]))
    given = CostBoostClassifier("adac2", 3, n_iter_no_change=2)
    own = Costs(fp=1, fn=X["amount"].to_numpy())
    given.fit(X, Y, costs=own, eval_set=(X[::-1], Y[::-1], own[np.arange(12)[::-1]]))
    np.testing.assert_array_equal(fitted.validation_cost_, given.validation_cost_)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({}, "eval_set is an empty dict: name at least one set"),
        ((X,), r"eval_set must be \(X, y\) or .*, got 1 parts"),
        ((X, Y, None, None, None), "got 5 parts"),
        (7, "got 7"),
        ({"late": (X,)}, r"late must be \(X, y\)"),
        ((X, Y[:5]), "inconsistent numbers of samples"),
        ((X[["a"]], Y), "feature names"),
        ((X, Y, None, [-1.0] * 12), "negative|sample_weight"),
        ((X, Y, None, [1.0] * 5), "sample_weight|samples"),
    ],
)
def test_what_is_no_set_of_rows_is_refused(model, given, match):
    with pytest.raises(ValueError, match=match):
        read_eval_set(model, given, per_row=False)


def test_prices_per_row_need_prices_of_the_held_out_rows(model):
    with pytest.raises(ValueError, match=r"need their own: give late=\(X, y, costs\)"):
        read_eval_set(model, {"late": (X, Y)}, per_row=True)
