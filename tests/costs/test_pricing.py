"""Costs: the arithmetic against loops, ties, extreme prices, and what is decided."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from costboost.costs import Costs
from costboost.costs.pricing import read_proba
from costs_cases import SQUARE
from naive import costs as naive

# Random prices may well look turned round.
pytestmark = pytest.mark.filterwarnings("ignore:In these costs")


@st.composite
def problems(draw, square=False, binary=False, exponent=0):
    """A dense C, the Costs of it, probabilities, true codes and weights."""
    K = 2 if binary else draw(st.integers(2, 4))
    A = K if square or binary else draw(st.integers(2, 4))
    n = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    per_row = draw(st.booleans())
    # Small integers make ties and rows whose right answer is the dearer common.
    C = rng.integers(0, 5, size=(n if per_row else 1, K, A)).astype(float)
    C[0, 0, 1] += 1
    C = C * 10.0**exponent
    actions = None if A == K else [f"act{a}" for a in range(A)]
    names = {"classes": list("abcd")[:K], "actions": actions}
    names["positive"] = "b" if K == A == 2 else None
    costs = Costs.from_matrix(C if per_row else C[0], **names)
    dense = np.broadcast_to(C, (n, K, A))
    proba = rng.dirichlet(np.ones(K), size=n)
    return dense, costs, proba, rng.integers(K, size=n), rng.integers(1, 4, size=n) / 2


@given(problems())
@settings(max_examples=80, deadline=None)
def test_expected_total_and_constant_agree_with_loops(problem):
    C, costs, proba, codes, weights = problem
    y = costs.classes[codes]
    assert_allclose(costs.expected(proba), naive.expected(C, proba), rtol=1e-13)
    assert_array_equal(costs.of_labels(y), naive.of_labels(C, codes))
    assert_array_equal(costs.of_labels(codes, encoded=True), naive.of_labels(C, codes))
    taken = costs.decide(proba, encoded=True)
    assert_array_equal(costs.decide(proba), costs.actions[taken])
    paid = naive.total(C, codes, taken, weights)
    assert costs.total(y, costs.actions[taken], weights) == pytest.approx(paid, rel=1e-13)
    assert costs.total(codes, taken, weights, encoded=True) == pytest.approx(paid, rel=1e-13)
    best, cost = naive.cheapest_constant(C, codes, weights)
    assert costs.cheapest_constant(y, weights) == (costs.actions[best], pytest.approx(cost))
    assert costs.cheapest_constant(codes, weights, encoded=True)[0] == best


@given(problems())
@settings(max_examples=80, deadline=None)
def test_decisions_are_the_cheapest(problem):
    C, costs, proba, _, _ = problem
    prices = naive.expected(C, proba)
    taken = costs.decide(proba, encoded=True)
    best = prices.min(axis=1)
    assert_allclose(prices[np.arange(len(taken)), taken], best, rtol=1e-12, atol=1e-14)


@given(problems(square=True), st.sampled_from(["mean", "max"]))
@settings(max_examples=80, deadline=None)
def test_errors_and_cheapest_labels_agree_with_loops(problem, how):
    C, costs, _, codes, _ = problem
    y = costs.classes[codes]
    assert_allclose(costs.of_errors(y, how=how), naive.of_errors(C, codes, how), rtol=1e-14)
    cheapest = naive.cheapest_labels(C, codes)
    assert_array_equal(costs.cheapest_labels(y), costs.classes[cheapest])
    aimed = costs.of_errors(y, target=costs.classes[cheapest])
    prices = naive.of_labels(C, codes)
    extra = prices - prices.min(axis=1, keepdims=True)
    assert_allclose(aimed, extra.sum(axis=1) / (C.shape[1] - 1), rtol=1e-14)


@given(
    st.lists(st.integers(-3, 3), min_size=4, max_size=4).filter(any),
    st.integers(0, 8),
    st.sampled_from(["no", "yes"]),
)
@settings(max_examples=300, deadline=None)
def test_thresholds_and_binary_decisions(prices, eighths, positive):
    # Integers over eighths are exact in floating point, so ties are ties.
    fp, fn, tp, tn = (float(price) for price in prices)
    costs = Costs(fp, fn, tp, tn, positive=positive, benefits=True).bind(["no", "yes"])
    threshold = naive.threshold(fp, fn, tp, tn)
    assert_array_equal(costs.thresholds(), threshold)
    p = eighths / 8
    proba = [[p, 1 - p]] if positive == "no" else [[1 - p, p]]
    decided = costs.decide(proba)[0] == costs.positive
    if threshold == -np.inf:  # documented: never dearer, ties included
        assert decided
    else:
        assert decided == naive.is_positive(fp, fn, tp, tn, p)
    if not np.isnan(threshold):
        assert decided == (p > threshold)


@given(problems(square=True), st.integers(-900, 900))
@settings(max_examples=60, deadline=None)
def test_decisions_do_not_depend_on_the_unit_of_cost(problem, exponent):
    C, costs, proba, codes, _ = problem
    other = Costs.from_matrix(np.ldexp(C, exponent), classes=costs.classes)
    assert_array_equal(other.decide(proba), costs.decide(proba))
    assert_array_equal(
        other.cheapest_labels(costs.classes[codes]), costs.cheapest_labels(costs.classes[codes])
    )


@given(problems(exponent=299), problems(exponent=-300))
@settings(max_examples=40, deadline=None)
def test_extreme_costs_neither_overflow_nor_vanish(large, small):
    for C, costs, proba, codes, _ in (large, small):
        scale = np.abs(C).max()
        assert_allclose(costs.expected(proba) / scale, naive.expected(C / scale, proba), rtol=1e-9)
        assert np.isfinite(costs.of_labels(codes, encoded=True)).all()
        if costs.is_square and C.shape[1] == 2:
            assert not np.isinf(np.nan_to_num(costs.thresholds(), posinf=0, neginf=0)).any()


def test_rows_of_very_different_scale_are_decided_each_on_its_own():
    C = np.array([SQUARE, SQUARE]) * np.array([1e299, 1e-300])[:, None, None]
    proba = np.array([[1 - 2e-9, 1e-9, 1e-9]] * 2)
    costs = Costs.from_matrix(C).bind([0, 1, 2])
    assert_array_equal(costs.decide(proba), [0, 0])
    tight = np.array([[0.6, 0.4 - 1e-12, 1e-12]] * 2)
    plain = Costs.from_matrix(SQUARE).bind([0, 1, 2]).decide(tight)
    assert_array_equal(costs.decide(tight), plain)
    assert_allclose(Costs([1e300, 1e-300], [1e300, 1e-300]).thresholds(), 0.5)
    assert_allclose(Costs([1e300, 1e-300], [1e-300, 1e300]).thresholds(), [1, 0])


def test_small_costs_times_small_probabilities_are_not_lost():
    C = np.array([[1.0, 0.0, 0.0], [0.0, 3.0, 1.0], [0.0, 1.0, 1.0]])
    proba = [[1.0, 1e-25, 1e-25]]  # expected: 1, 4e-25 and 2e-25
    for unit in (1.0, 1e-300):
        assert Costs.from_matrix(C * unit).bind([0, 1, 2]).decide(proba).tolist() == [2]
    mixed = Costs.from_matrix(C * np.array([1e299, 1e-300])[:, None, None]).bind([0, 1, 2])
    assert mixed.decide(proba * 2).tolist() == [2, 2]


def test_a_probability_equal_to_the_threshold_is_not_positive():
    rng = np.random.default_rng(0)
    costs = Costs(rng.random(500), rng.random(500)).bind([0, 1])
    t = costs.thresholds()
    at = costs.decide(np.column_stack([1 - t, t]))
    above = np.nextafter(t, 2)
    assert not at.any()
    assert costs.decide(np.column_stack([1 - above, above])).all()


SIZES = st.one_of(st.just(0.0), st.floats(-300, 299.9).map(lambda e: 10.0**e))
SIGNED = st.tuples(SIZES, st.sampled_from([1, 1, 1, -1])).map(lambda pair: pair[0] * pair[1])
SMALL = st.one_of(st.floats(0, 1), st.floats(-320, 0).map(lambda e: 10.0**e))
CHANCES = st.one_of(st.sampled_from([0.0, 1.0]), SMALL, SMALL.map(lambda p: 1.0 - p))


@given(SIGNED, SIGNED, CHANCES, st.booleans())
@settings(max_examples=2000, deadline=None)
def test_decisions_of_two_classes_are_those_of_exact_arithmetic(fp, fn, p, nearby):
    if not (fp or fn):
        return
    costs = Costs(fp, fn, benefits=True).bind([0, 1])
    a, b = Fraction(fp), Fraction(fn)
    at = a / (a + b) if a + b else Fraction(2)
    if nearby and 0 < at < 1:
        p = min(float(at * (1 + Fraction(1, 2**48))), 1.0)
    decided = bool(costs.decide([[1 - p, p]])[0])
    if a < 0 == b:
        assert decided  # documented: never dearer, ties included
    elif p in (0.0, 1.0) or abs(p - at) > abs(at) / 2**51 + Fraction(5e-324):
        assert decided == (Fraction(p) * (a + b) > a)
    else:  # closer than numbers tell
        assert decided == (p < fp / (fp + fn) if fp < 0 else p > costs.thresholds())


@pytest.mark.parametrize("ratio", [1e15, 1e16, 1e17, 1e300])
@pytest.mark.parametrize("positive", [0, 1])
def test_what_is_certain_is_answered_at_any_ratio(ratio, positive):
    for fp, fn in ((ratio, 1), (1, ratio), (ratio, 1 / ratio), (1 / ratio, ratio)):
        costs = Costs(fp, fn, positive=positive).bind([0, 1])
        proba = np.array([[0.0, 1.0], [1.0, 0.0]])
        assert costs.decide(proba).tolist() == costs.expected(proba).argmin(axis=1).tolist()
        assert costs.decide(proba).tolist() == [1, 0]
        assert (proba[:, 1] > costs.second_thresholds()).tolist() == [True, False]
        assert costs.with_positive(positive).thresholds() < 1


@pytest.mark.parametrize("positive", [0, 1])
def test_wrong_answers_that_are_hardly_cheaper_than_right_ones(positive):
    proba = np.array([[0.0, 1.0], [1.0, 0.0]])
    for fp, fn in ((-1e-300, 1e300), (-1, 1e17), (1e300, -1e-300), (1e17, -1)):
        costs = Costs(fp, fn, positive=positive, benefits=True).bind([0, 1])
        answer = positive if fp < 0 else 1 - positive  # the cheaper one whatever is true
        assert costs.decide(proba).tolist() == [answer, answer]
        assert (proba[:, 1] > costs.second_thresholds()).tolist() == [bool(answer)] * 2
    both = Costs(-1e-300, -1e300, positive=positive, benefits=True).bind([0, 1])
    assert both.decide(proba).tolist() == [0, 1]


@pytest.mark.parametrize("small", [1e-20, 1e-250, 3e-300])
def test_small_costs_beside_large_ones_keep_their_digits(small):
    costs = Costs(1e300, small).bind([0, 1])
    assert costs.expected([[0.0, 1.0], [1.0, 0.0]]).tolist() == [[small, 0.0], [0.0, 1e300]]
    assert costs.expected([[0.25, 0.75]]).tolist() == [[0.75 * small, 0.25 * 1e300]]


def test_a_rows_decision_does_not_depend_on_the_rows_around_it():
    rng = np.random.default_rng(1)
    proba = rng.dirichlet(np.ones(5), size=200)
    costs = Costs.from_matrix(rng.random((200, 5, 5))).bind(range(5))
    whole = costs.expected(proba)
    alone = np.vstack([costs[i].expected(proba[i : i + 1]) for i in range(200)])
    assert_array_equal(whole, alone)


def test_ties_go_to_the_lowest_index_and_of_two_classes_to_the_negative():
    even = Costs.from_matrix(1 - np.eye(3)).bind(list("abc"))
    assert even.decide([[1 / 3] * 3, [0.2, 0.4, 0.4]]).tolist() == ["a", "b"]
    for positive, negative in (("a", "b"), ("b", "a")):
        costs = Costs(1, 1, positive=positive).bind(["a", "b"])
        assert costs.decide([[0.5, 0.5]])[0] == negative
        assert costs.cheapest_constant(["a", "b"]) == (negative, 1.0)


def test_mean_of_each_cell():
    assert Costs(5, [10, 40]).mean([2, 1]) == Costs(5, 20)
    C = np.random.default_rng(0).random((7, 3, 2))
    mean = Costs.from_matrix(C, classes=list("abc"), actions=["x", "y"]).mean()
    assert_allclose(np.asarray(mean)[0], C.mean(axis=0))
    assert mean.actions.tolist() == ["x", "y"]
    constant = Costs(1, 2)
    assert constant.mean() is constant
    assert Costs(1, 1e300 * np.ones(4)).mean([1e6] * 4) == Costs(1, 1e300)


def test_mean_of_rows_within_each_class():
    y = ["a", "b", "a", "b"]
    rows = Costs.of_rows([1, 10, 3, 30]).bind(["a", "b"])
    assert rows.mean() == Costs.from_matrix([[0, 11], [11, 0]], classes=["a", "b"])
    assert rows.mean(y=y) == Costs.from_matrix([[0, 2], [20, 0]], classes=["a", "b"])
    weighted = Costs.from_matrix([[0, 1.5], [20, 0]], classes=["a", "b"])
    assert rows.mean([3, 1, 1, 1], y=y) == weighted
    assert Costs.of_rows([1, 10, 3, 30]).mean(y=y) == rows.mean(y=y)
    answers = Costs.of_rows([[0, 1], [10, 0], [2, 3], [30, 4]], classes=["a", "b"])
    assert_array_equal(np.asarray(answers.mean(y=y))[0], [[1, 2], [20, 2]])


def test_rows_given_alone_are_symmetric_at_prediction():
    costs = Costs.of_rows([1, 100]).bind([0, 1])
    assert_allclose(costs.expected([[0.75, 0.25]] * 2), [[0.25, 0.75], [25, 75]])
    assert_allclose(costs.thresholds(), 0.5)
    assert costs.decide([[0.75, 0.25]] * 2).tolist() == [0, 0]


def test_columns_of_a_labelled_table_are_read_by_their_labels():
    C = [[0, 1, 6], [30, 2, 0]]
    loan = Costs.from_matrix(C, classes=["good", "bad"], actions=["yes", "look", "no"])
    frame = pd.DataFrame({"bad": [0.1, 0.9], "good": [0.9, 0.1]})
    by_hand = frame[["good", "bad"]].to_numpy() @ np.array(C)
    for table in (frame, pl.from_pandas(frame)):
        assert_allclose(loan.expected(table), by_hand)
        assert loan.decide(table).tolist() == ["look", "no"]
    two = Costs(fp=1, fn=4, positive="bad")
    assert two.bind(["bad", "good"]).decide(frame).tolist() == ["good", "bad"]
    assert two.bind(["good", "bad"]).decide(frame).tolist() == ["good", "bad"]
    with pytest.raises(ValueError, match="columns of proba are labelled"):
        loan.expected(frame.rename(columns={"bad": "evil"}))


def test_probabilities_may_be_rounded_but_are_no_scores():
    half = np.array([[0.1, 0.9], [1 / 3, 2 / 3]], dtype=np.float16)
    assert_array_equal(read_proba(half, 2), half.astype(float))
    assert read_proba(np.empty((0, 3)), 3).shape == (0, 3)
    for wrong, message in (
        ([[0.5, 0.498]], "row 0: proba is"),
        ([[1.0, 0.0], [1.5, -0.5]], "row 1: proba is"),
        ([[np.nan, 1.0]], "row 0: proba is"),
        ([0.5, 0.5], "give np.column_stack"),
        ([[0.5, 0.5, 0.0]], r"proba has shape \(1, 3\); these costs need \(n_samples, 2\)"),
    ):
        with pytest.raises(ValueError, match=message):
            read_proba(wrong, 2)
