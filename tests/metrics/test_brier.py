"""Brier scores and curves, against the naive twins, scikit-learn and each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss

from costboost.metrics import brier_curve, brier_score, brier_score_by_class, curve_area
from metric_rows import CLOSE, QUICK, rows
from naive import metrics as naive


@QUICK
@given(rows())
def test_brier_scores_equal_the_naive_twin(case):
    y, p, _, w = case
    options = {"pos_label": 1, "sample_weight": w}
    score = brier_score(y, p, **options)
    np.testing.assert_allclose(score, naive.brier_score(y, p, w), **CLOSE)
    np.testing.assert_allclose(score, brier_score_loss(y, p, sample_weight=w, pos_label=1), **CLOSE)
    parts = brier_score_by_class(y, p, **options)
    np.testing.assert_allclose(parts, naive.brier_score_by_class(y, p, w), **CLOSE)
    wide = np.stack([1 - p, p], axis=1)
    np.testing.assert_allclose(brier_score(y, wide, labels=[0, 1], sample_weight=w), score, **CLOSE)


def test_brier_score_of_many_classes():
    y, proba = ["a", "b", "c"], np.array([[1, 0, 0], [0, 0.5, 0.5], [1, 0, 0]])
    assert brier_score(y, proba) == pytest.approx((0 + 0.25 + 1) / 3)
    assert brier_score_by_class(y, proba).tolist() == [0, 0.25, 1]
    parts = brier_score_by_class(y[:2], proba[:2], labels=["a", "b", "c"])
    np.testing.assert_array_equal(parts, [0, 0.25, np.nan])


@QUICK
@given(rows())
def test_invariant_43_the_area_of_the_brier_curve_is_the_brier_score(case):
    y, p, _, w = case
    c, loss = brier_curve(y, p, pos_label=1, sample_weight=w)
    assert c[0] == 0
    assert c[-1] == 1
    assert (np.diff(c) >= 0).all()
    assert abs(curve_area(c, loss) - brier_score(y, p, pos_label=1, sample_weight=w)) <= 1e-14


@QUICK
@given(rows(both=True))
def test_invariant_43_the_area_of_the_skew_form_is_the_mean_of_the_parts(case):
    y, p, _, w = case
    z, loss = brier_curve(y, p, skew=True, sample_weight=w)
    parts = brier_score_by_class(y, p, sample_weight=w)
    assert abs(curve_area(z, loss) - parts.sum() / 2) <= 1e-14


@QUICK
@given(rows(both=True), st.floats(0, 1))
def test_brier_curve_equals_the_naive_loss_between_and_at_its_jumps(case, c0):
    y, p, _, w = case
    for skew, loss_at in ((False, naive.brier_loss), (True, naive.skew_loss)):
        c, loss = brier_curve(y, p, skew=skew, sample_weight=w)
        # At a jump the value is that of its right side, the last one given.
        for at in [c0, *np.unique(c)]:
            right = np.searchsorted(c, at, side="right") - 1
            if c[right] == at:
                value = loss[right]
            else:
                value = np.interp(at, c[right : right + 2], loss[right : right + 2])
            np.testing.assert_allclose(value, loss_at(y, p, w, at), atol=1e-12)


def test_brier_curve_by_hand_has_both_sides_of_every_jump():
    c, loss = brier_curve([0, 1, 1, 0], [0.0, 0.5, 1.0, 0.5])
    assert c.tolist() == [0, 0.5, 0.5, 1, 1, 1]
    assert loss.tolist() == [0, 0.25, 0.25, 0, 0, 0]


def test_brier_curve_with_one_class_or_constant_scores():
    c, loss = brier_curve([0, 0], [0.5, 0.5])
    assert curve_area(c, loss) == 0.25
    assert c.tolist() == [0, 0.5, 0.5, 1]
    with pytest.raises(ValueError, match="both classes"):
        brier_curve([0, 0], [0.5, 0.5], skew=True)
    with pytest.raises(ValueError, match="pos_label"):
        brier_curve(["a", "a"], [0.5, 0.5])


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([0.5, 1.5], "within"),
        ([0.5, np.nan], "finite"),
        ([[0.5, 0.5], [0.5, 0.5]], "one per row"),
        ([0.5], "inconsistent"),
    ],
)
def test_bad_probabilities_are_refused(p, message):
    with pytest.raises(ValueError, match=message):
        brier_curve([0, 1], p)
    with pytest.raises(ValueError, match=r"within|finite|need|inconsistent|one per row"):
        brier_score([0, 1], [[0.2, 0.2, 0.6]] * 2 if np.ndim(p) == 2 else p)
