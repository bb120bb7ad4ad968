"""Costs as users hold them: what they say of themselves, and misuse that is told."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from costboost import CostBoostClassifier
from costboost.costs import Costs, as_costs
from costboost.inputs.arrays import check_encoded
from costs_cases import LOAN, SQUARE


def test_scalars_make_one_matrix_with_true_classes_as_rows():
    costs = Costs(fp=1, fn=10, tp=3, tn=2)
    assert costs.shape == (1, 2, 2)
    assert len(costs) == 1
    assert costs.is_constant
    assert not costs.per_row
    assert costs.n_rows is None
    assert costs.classes is None
    assert costs.actions is None
    assert costs.positive is None
    assert_array_equal(np.asarray(costs), [[[2, 1], [10, 3]]])


def test_inputs_are_copied_and_stored_read_only():
    fn = np.array([1.0, 2.0])
    labels = np.array(["a", "b"])
    costs = Costs(fp=1, fn=fn, positive="b").bind(labels)
    fn[0] = 99
    labels[0] = "z"
    assert costs == Costs(fp=1, fn=[1.0, 2.0], positive="b").bind(["a", "b"])
    for part in (costs, costs[[0]], costs[:1], pickle.loads(pickle.dumps(costs))):
        assert not part.classes.flags.writeable
        assert not any(column.flags.writeable for column in part._state.columns)
    with pytest.raises(AttributeError):
        costs.classes = ["x"]
    with pytest.raises(AttributeError):
        costs.other = 1


def test_results_may_be_written_to():
    y = [0, 1]
    for costs in (Costs(1, 2), Costs(1, [2, 3]), Costs.of_rows([1, 2]), Costs.of_rows(np.eye(2))):
        bound = costs.bind([0, 1])
        before = bound.of_labels(y)
        bound.of_labels(y)[:] = -1
        bound.of_errors(y)[:] = -1
        assert_array_equal(bound.of_labels(y), before)


def test_as_costs_forms():
    assert as_costs({"fp": 1, "fn": 10}) == Costs(1, 10)
    assert as_costs({"fp": 1, "fn": 10, "tp": 2, "tn": 3, "positive": "a"}) == Costs(
        1, 10, 2, 3, positive="a"
    )
    assert as_costs({"fp": -1, "fn": 10, "benefits": True}) == Costs(-1, 10, benefits=True)
    costs = Costs(1, 10)
    assert as_costs(costs) is costs
    assert as_costs(None, [0, 1]) == Costs(1, 1).bind([0, 1])
    assert as_costs(None, ["a", "b", "c"]).total(["a", "b"], ["a", "c"]) == 1.0
    assert Costs.check(None, [1, 2, 3]).shape == (1, 3, 3)
    assert as_costs(None).shape == (1,)
    with pytest.raises(ValueError, match="5 rows, but the data have 4"):
        as_costs(Costs(1, np.ones(5)), [0, 1], 4)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Costs(1, 2).bind([0, 1, 2]), "for 2 classes, but the labels have 3"),
        (lambda: Costs(1, 2).bind([0]), "for 2 classes, but the labels have 1"),
        (lambda: Costs(1, 2, positive="x").bind(["a", "b"]), "positive='x' is not among"),
        (lambda: Costs(1, [2, 3]).bind([0, 1], 5), "have 2 rows, but the data have 5"),
        (lambda: Costs.from_matrix(SQUARE).bind([0, 1]), "for 3 classes.*classes="),
        (lambda: Costs.from_matrix(SQUARE, classes=[0, 1, 2]).bind([0, 7]), "the class 7"),
        (lambda: Costs(1, 2).bind([0, 0]), "names 0 twice"),
        (lambda: Costs(1, 2).bind([0, 1]).of_labels([0, 5]), "row 1: y has the label 5"),
        (lambda: Costs(1, 2).bind([0, 1]).of_labels(["0", 1]), "row 0: y has the label '0'"),
        (lambda: Costs.of_rows([2]).bind(["a", "b"]).of_labels([1]), "row 0: y has the label 1"),
        (lambda: Costs(1, 2).bind([0, 1]).of_labels([[0]]), "y has shape"),
        (lambda: Costs(1, [2, 3]).bind([0, 1]).of_labels([0]), "2 rows, but y has 1"),
        (lambda: Costs(1, 2).of_labels([0, 1, 2]), "for 2 classes, but the labels have 3"),
        (lambda: Costs(1, 2).total([0, 0], [0, 0]), "for 2 classes, but the labels have 1"),
        (lambda: Costs(1, 2).decide([[0.5, 0.5]]), r"bind\(classes\) these costs first"),
        (lambda: as_costs(None).expected([[0.5, 0.5]]), r"bind\(classes\)"),
        (lambda: Costs(1, 2).bind([0, 1]).total([0], [0, 1]), "predicted has 2 rows, but y has 1"),
        (lambda: Costs(1, 2).bind([0, 1]).total([0], [3]), "row 0: predicted has the label 3"),
        (lambda: Costs(1, 2).bind([0, 1]).of_errors([0], how="sum"), "how must be"),
        (lambda: Costs(1, 2).bind([0, 1]).of_errors([0], target=[0, 1]), "target has 2 rows"),
        (lambda: Costs(1, 2).expected([0.5, 0.5]), r"proba has shape \(2,\).*column_stack"),
        (lambda: Costs(1, 2).expected([[0.2, 0.3, 0.5]]), r"need \(n_samples, 2\)"),
        (lambda: Costs(1, 2).expected([[0.5, 0.5], [2.0, -1.0]]), "row 1: proba is"),
        (lambda: Costs(1, 2).expected([[np.nan, 0.5]]), "row 0: proba is"),
        (lambda: Costs(1, 2).expected([[0.5, 0.6]]), "must sum to 1"),
        (lambda: Costs(1, [2, 3]).expected([[0.5, 0.5]]), "2 rows, but proba has 1"),
        (lambda: Costs(1, [2, 3]).bind([0, 1]).decide([[0.5, 0.5]]), "2 rows, but proba has 1"),
        (lambda: Costs.from_matrix(SQUARE).thresholds(), "thresholds need two classes"),
        (lambda: Costs.from_matrix(LOAN, classes=[0, 1]).thresholds(), "thresholds need two"),
        (lambda: Costs.from_matrix(LOAN, classes=[0, 1]).of_errors([0]), "of_errors compares"),
        (lambda: Costs.from_matrix(LOAN, classes=[0, 1]).cheapest_labels([0]), "compares right"),
        (lambda: Costs.of_rows(np.eye(2)).expected([[0.5, 0.5]] * 2), "given the truth"),
        (lambda: Costs.of_rows(np.eye(2)).thresholds(), "given the truth"),
        (lambda: Costs.of_rows(np.eye(2)).bind([0, 1]).decide([[1, 0]] * 2), "given the truth"),
        (lambda: Costs.of_rows(np.eye(2)).bind([0, 1]).mean(), r"give mean\(y=\)"),
        (lambda: Costs.of_rows([1, 2]).bind([0, 1]).mean(y=[0, 0]), "Class 1 has no row"),
        (lambda: Costs(1, [2, 3]).mean([1]), "one weight for each of the 2 rows"),
        (lambda: Costs(1, [2, 3]).mean([1, -1]), "row 1: sample_weight is -1"),
        (lambda: Costs(1, [2, 3]).mean([0, 0]), "zero for every row"),
        (lambda: Costs(1, 2).of_labels([0, 2], encoded=True), "row 1: y has number 2"),
        (lambda: Costs(1, 2).of_labels([0.0], encoded=True), "whole numbers"),
        (lambda: check_encoded([[1]], 2, "y"), "whole numbers"),
    ],
)
def test_misuse_says_what_to_do(build, message):
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize("name", ["y", "predicted"])
@pytest.mark.parametrize("labels", [[0, 1, 0, None], [0, 1, 0, np.nan], ["a", "b", "a", None]])
def test_missing_labels_are_refused_as_fit_refuses_them(labels, name):
    given = {"y": labels[:1] * 4, "predicted": labels[:1] * 4, name: labels}
    told = rf"^Input {name} contains NaN or None: row 3 has the label {labels[3]}\. Drop such rows"
    with pytest.raises(ValueError, match=told):
        Costs(1, 2).total(**given)
    with pytest.raises(ValueError, match=told):
        Costs.from_matrix(SQUARE).of_decisions(**given)
    if name == "y":
        with pytest.raises(ValueError, match=told):
            CostBoostClassifier().fit(np.zeros((4, 1)), np.array(labels, dtype=object))
