"""The positive class is known, said or asked for; never guessed from the alphabet."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from costboost import CostBoostClassifier, Costs
from costboost.inputs.checks import usual_positive
from costboost.metrics import brier_score, cheapest_threshold, f_measure, total_cost


@pytest.mark.parametrize(
    ("labels", "positive"),
    [([0, 1], 1), ([-1, 1], 1), ([False, True], True), ([0.0, 1.0], 1.0), ([1, 0], 1)],
)
def test_usual_labels_tell(labels, positive):
    costs = Costs(fp=1, fn=10).bind(labels)
    assert costs.positive == positive
    assert usual_positive(np.array(labels)) == positive
    other = next(label for label in labels if label != positive)
    assert_array_equal(costs.of_decisions([other, positive], [positive, other]), [1, 10])


@pytest.mark.parametrize("labels", [["fraud", "legit"], [1, 2], [0, 2], ["0", "1"], [0.5, 1.5]])
def test_other_labels_ask_and_show_both_readings(labels):
    one, other = labels
    with pytest.raises(ValueError, match="which of them is positive") as error:
        Costs(fp=1, fn="amount").bind(labels)
    for yes, no in ((one, other), (other, one)):
        assert f"positive={yes!r}: calling a {no!r} row {yes!r} costs 1 (fp)" in str(error.value)
        assert f"calling a {yes!r} row {no!r} costs its amount (fn)" in str(error.value)


@given(
    st.permutations(["fraud", "legit"]),
    st.sampled_from(["fraud", "legit"]),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=30, deadline=None)
def test_the_order_of_the_labels_does_not_matter(labels, positive, seed):
    rng = np.random.default_rng(seed)
    p = rng.random(20)
    costs = Costs(*rng.integers(1, 9, size=(2, 20)), positive=positive)
    at = labels.index(positive)
    proba = np.empty((20, 2))
    proba[:, at], proba[:, 1 - at] = p, 1 - p
    decided = costs.bind(labels).decide(proba) == positive
    twin = Costs(costs.fp, costs.fn).bind([0, 1]).decide(np.column_stack([1 - p, p])) == 1
    assert_array_equal(decided, twin)


@given(
    st.lists(st.integers(0, 4), min_size=4, max_size=4).filter(any),
    st.sampled_from(["a", "b"]),
    st.integers(0, 8),
)
@settings(max_examples=100, deadline=None)
@pytest.mark.filterwarnings("ignore:In these costs")
def test_the_threshold_of_the_second_class_decides_as_decide_does(prices, positive, eighths):
    costs = Costs(*map(float, prices), positive=positive).bind(["a", "b"])
    threshold = costs.second_thresholds()
    p = eighths / 8
    if not np.isnan(threshold):
        assert (costs.decide([[1 - p, p]])[0] == "b") == (p > threshold)


@pytest.mark.parametrize("positive", ["fraud", "legit"])
@pytest.mark.parametrize("per_row", [False, True])
def test_what_training_decisions_cost_does_not_depend_on_the_alphabet(positive, per_row):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    is_positive = X[:, 0] + rng.normal(size=60) > 0.5
    negative = "legit" if positive == "fraud" else "fraud"
    fn = rng.integers(1, 30, size=60) if per_row else 9
    words = np.where(is_positive, positive, negative)
    model = CostBoostClassifier("adamec", n_estimators=5, calibration=None, random_state=0)
    numbers = model.fit(X, is_positive.astype(int), costs=Costs(fp=2, fn=fn)).train_cost_
    named = model.fit(X, words, costs=Costs(fp=2, fn=fn, positive=positive)).train_cost_
    assert_array_equal(named, numbers)


def test_models_ask_too():
    X = np.arange(20.0)[:, None]
    y = np.where(X[:, 0] > 9, "paid", "default")
    model = CostBoostClassifier("adamec", n_estimators=2)
    with pytest.raises(ValueError, match="which of them is positive"):
        model.fit(X, y, costs={"fp": 1, "fn": 5})
    model.fit(X, y, costs={"fp": 1, "fn": 5, "positive": "default"})
    assert model.costs_.positive == "default"
    with pytest.raises(ValueError, match="which of them is positive"):
        model.predict(X, costs=Costs(fp=1, fn=2))


def test_a_matrix_needs_no_positive_class_but_thresholds_do():
    costs = Costs.from_matrix([[0, 10], [1, 0]], classes=["fraud", "legit"])
    assert costs.positive is None
    assert costs.total(["fraud"], ["legit"]) == 10
    assert repr(costs).startswith("Costs.from_matrix")
    with pytest.raises(ValueError, match="positive="):
        costs.thresholds()
    with pytest.raises(AttributeError, match="positive="):
        _ = costs.fp
    named = costs.with_positive("fraud")
    assert (named.fp, named.fn) == (1, 10)
    assert_array_equal(np.asarray(named), np.asarray(costs))
    given = Costs.from_matrix([[0, 10], [1, 0]], classes=["fraud", "legit"], positive="fraud")
    assert given == named
    with pytest.raises(ValueError, match="one of two classes"):
        costs.with_positive("other")


def test_with_positive_settles_unbound_costs():
    costs = Costs(fp=1, fn=10).with_positive("a").bind(["a", "b"])
    assert costs == Costs(fp=1, fn=10, positive="a").bind(["a", "b"])


def test_measures_ask_for_pos_label():
    y = ["fraud", "legit", "legit"]
    with pytest.raises(ValueError, match="pos_label="):
        brier_score(y, [0.9, 0.1, 0.2])
    with pytest.raises(ValueError, match="pos_label="):
        f_measure(y, y)
    assert f_measure(y, y, pos_label="fraud") == 100.0
    with pytest.raises(ValueError, match=r"Costs\(\.\.\., positive=\)"):
        cheapest_threshold(y, [0.9, 0.1, 0.2], costs=None)
    with pytest.raises(ValueError, match="which of them is positive"):
        total_cost(y, y, costs={"fp": 1, "fn": 2})
