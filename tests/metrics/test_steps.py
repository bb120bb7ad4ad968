"""Sums above and below every threshold, and areas."""

import numpy as np
import pytest

from costboost.metrics import curve_area
from costboost.metrics._curves import above, below, error_steps, group_by_score, need_both_classes


def test_curve_area_refuses_what_is_no_curve():
    with pytest.raises(ValueError, match="ascending"):
        curve_area([1, 0], [0, 0])
    with pytest.raises(ValueError, match="equal lengths"):
        curve_area([0, 1], [0])


@pytest.fixture
def scored():
    rng = np.random.default_rng(0)
    score = np.round(rng.normal(size=30), 1)
    return rng.integers(0, 2, 30).astype(bool), score, rng.choice([0.5, 1.0, 3.0], 30)


def test_sums_above_and_below_are_those_of_every_threshold_tried(scored):
    positive, score, weight = scored
    at, group = group_by_score(score)
    np.testing.assert_array_equal(at, sorted(set(score.tolist())))
    np.testing.assert_array_equal(at[group], score)
    for t, over, under in zip(
        [-np.inf, *at], above(weight, group, len(at)), below(weight, group, len(at)), strict=True
    ):
        assert over == pytest.approx(weight[score > t].sum(), abs=1e-12)
        assert under == pytest.approx(weight[score <= t].sum())
    steps = error_steps(positive, score, weight)
    for t, fp, fn in zip([-np.inf, *at], steps.false_positive, steps.false_negative, strict=True):
        assert fp == pytest.approx(weight[~positive & (score > t)].sum(), abs=1e-12)
        assert fn == pytest.approx(weight[positive & (score <= t)].sum())


def test_rates_end_at_0_and_1_exactly_whatever_the_weights():
    rng = np.random.default_rng(1)
    weight = rng.uniform(size=1000) * 10.0 ** rng.integers(-8, 8, 1000)
    steps = error_steps(rng.integers(0, 2, 1000) == 1, rng.normal(size=1000), weight)
    fpr = steps.false_positive / steps.negatives
    fnr = steps.false_negative / steps.positives
    assert (fpr[0], fpr[-1], fnr[0], fnr[-1]) == (1, 0, 0, 1)
    assert (np.diff(fpr) <= 0).all()
    assert (np.diff(fnr) >= 0).all()


def test_one_score_for_all_rows_makes_two_pieces():
    steps = error_steps(np.array([True, False, False]), np.full(3, 0.5), np.ones(3))
    assert [a.tolist() for a in steps[:3]] == [[0.5], [2, 0], [0, 1]]


@pytest.mark.parametrize(("label", "which"), [(False, "positive"), (True, "negative")])
def test_rates_of_a_class_without_rows_are_refused(label, which):
    steps = error_steps(np.array([label]), np.zeros(1), np.ones(1))
    with pytest.raises(ValueError, match=f"there are no {which} rows"):
        need_both_classes(steps)


def test_areas_by_hand():
    assert curve_area([0, 1, 3], [2, 4, 0]) == 3 + 4
    assert curve_area([0, 1, 1, 2], [1, 1, 5, 5]) == 6  # a jump has no width
    assert curve_area([2], [7]) == curve_area([], []) == 0
    assert curve_area([0, 1], [1.5e308, 1.5e308]) == 1.5e308  # the sum of both ends overflows
