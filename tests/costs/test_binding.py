"""Costs meet the labels of a data set."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from costboost.costs import Costs, as_costs, binding
from costboost.costs.reading import read_actions, read_binary, read_matrix, read_rows
from costs_cases import LOAN, SQUARE


def test_actions_in_another_order_are_sorted_into_the_classes():
    swapped = Costs.from_matrix([[1, 0], [0, 10]], classes=["a", "b"], actions=["b", "a"])
    assert swapped.is_square
    assert swapped == Costs.from_matrix([[0, 1], [10, 0]], classes=["a", "b"])
    late = Costs.from_matrix([[1, 0], [0, 10]], actions=[1, 0]).bind([0, 1])
    assert late == Costs.from_matrix([[0, 1], [10, 0]], classes=[0, 1])


@pytest.mark.parametrize("positive", ["b", "a"])
def test_positive_names_what_a_positive_decision_means(positive):
    costs = Costs(fp=1, fn=10, tp=2, tn=3, positive=positive).bind(["a", "b"])
    y, answer = (["a", "b"], "a") if positive == "a" else (["b", "a"], "b")
    assert costs.positive == answer
    assert_array_equal(costs.of_decisions(y, [answer] * 2), [2, 1])
    assert_array_equal(costs.of_decisions(y, [y[1]] * 2), [10, 3])
    assert costs.bind(["a", "b"]) is costs


def test_named_classes_survive_a_fold_that_lacks_one():
    costs = Costs.from_matrix(SQUARE, classes=["c", "a", "b"])
    assert_array_equal(np.asarray(costs.bind(["a", "c"]))[0], [[0, 4], [1, 0]])
    loan = Costs.from_matrix(LOAN, classes=["good", "bad"], actions=["yes", "ask", "no"])
    assert_array_equal(np.asarray(loan.bind(["good"]))[0], [LOAN[0]])
    assert_array_equal(np.asarray(loan.bind(["bad", "good"]))[0], LOAN[::-1])
    answers = Costs.of_rows(SQUARE, classes=["c", "a", "b"]).bind(["a", "b"])
    assert_array_equal(np.asarray(answers), np.array(SQUARE)[:, 1:])
    rows = Costs.of_rows([1, 2], classes=["a", "b", "c"]).bind(["a", "c"])
    assert_array_equal(rows.of_labels(["a", "c"]), [[0, 1], [2, 0]])


def test_one_class_with_unit_costs_is_trivial():
    costs = as_costs(None, ["only"])
    assert costs.decide([[1.0], [1.0]]).tolist() == ["only", "only"]
    assert_array_equal(costs.of_errors(["only"]), [0])


@pytest.mark.parametrize(
    "labels", [["n", "y"], [False, True], [-1, 1], [0.5, 1.5], ["x", "y"]], ids=str
)
def test_labels_of_every_kind(labels):
    costs = Costs(1, 10, positive=labels[1]).bind(labels)
    y = np.array(labels)[[0, 1, 1]]
    for given_y in (y, y.tolist(), pd.Series(y, index=[5, 6, 7]), pl.Series(y.tolist())):
        assert_array_equal(costs.of_errors(given_y), [1, 10, 10])
    categories = pd.Series(y).astype("category")
    assert_array_equal(costs.of_errors(categories), [1, 10, 10])
    decided = costs.decide([[0.95, 0.05], [0.5, 0.5]])
    assert decided.dtype == np.array(labels).dtype
    assert decided.tolist() == labels


def test_binding_permutes_both_sides_of_a_square_and_one_of_others():
    prices = np.arange(1.0, 10.0).reshape(3, 3)
    state = read_matrix(prices, classes=["a", "b", "c"])
    bound = binding.bind(state, ["c", "a", "b"], None)
    assert_array_equal(np.reshape(bound.columns, (3, 3)), prices[[2, 0, 1]][:, [2, 0, 1]])
    wide = read_matrix(prices, classes=["a", "b", "c"], actions=["x", "y", "z"])
    bound = binding.bind(wide, ["c", "a"], None)
    assert_array_equal(np.reshape(bound.columns, (2, 3)), prices[[2, 0]])
    assert binding.bind(bound, ["c", "a"], None) is bound


def test_the_positive_class_is_forgotten_with_the_other_one():
    state = read_matrix(SQUARE, classes=["a", "b", "c"])
    two = binding.with_positive(binding.bind(state, ["a", "b"], None), "b")
    assert binding.bind(two, ["b", "a"], None).positive == "b"
    assert binding.bind(two, ["b"], None).positive is None
    with pytest.raises(ValueError, match="positive='b' must be one of two classes"):
        binding.with_positive(state, "b")
    with pytest.raises(ValueError, match=r"positive must be one label, but \['a'\] was given"):
        binding.with_positive(read_binary(1, 2), ["a"])


def test_labels_and_codes_are_checked_by_row():
    state = binding.bind(read_binary(1, [2, 3], positive="b"), ["b", "a"], 2)
    assert binding.numbers_of_labels(state, ["a", "b"], encoded=False).tolist() == [1, 0]
    assert binding.numbers_of_actions(state, [1, 0], encoded=True).tolist() == [1, 0]
    assert binding.labels_of_actions(state, np.array([1, 1, 0]), False).tolist() == ["a", "a", "b"]
    with pytest.raises(ValueError, match="These costs have 2 rows, but y has 1"):
        binding.numbers_of_labels(state, ["a"], encoded=False)
    with pytest.raises(ValueError, match="row 1: predicted has the label 'c'"):
        binding.numbers_of_actions(state, ["a", "c"], encoded=False)
    with pytest.raises(ValueError, match="row 0: predicted has number -1"):
        binding.numbers_of_actions(state, [-1, 0], encoded=True)
    with pytest.raises(ValueError, match=r"bind\(classes\) these costs first"):
        binding.numbers_of_labels(read_rows([1.0]), ["a"], encoded=False)


def test_what_has_other_decisions_is_named_when_refused():
    state = read_actions({f"act {i}": {"x": i, "y": 1} for i in range(7)})
    with pytest.raises(ValueError, match=r"of_errors compares.*\['act 0', .* 'act 4', \.\.\.\]"):
        binding.refuse_unless_square(state, "of_errors")
    binding.refuse_unless_signed(state)  # no two classes decided between: nothing to sign
    unsigned = read_matrix([[0, 1], [2, 0]], ["x", "y"])
    with pytest.raises(ValueError, match="A threshold is for the positive class"):
        binding.refuse_unless_signed(unsigned)
    binding.refuse_unless_signed(binding.with_positive(unsigned, "x"))
