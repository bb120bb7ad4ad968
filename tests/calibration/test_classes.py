"""Scores of K classes become probabilities."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from calibration_cases import NAMES, class_scores, sample
from costboost.calibration import (
    ClassBiases,
    ClassCalibration,
    Sigmoid,
)


def three_classes(seed, n=300):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, 3))
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    y = np.array([rng.choice(3, p=row) for row in p])
    sharp = np.exp(3 * logits) / np.exp(3 * logits).sum(axis=1, keepdims=True)
    return sharp, y, p


@pytest.mark.parametrize("method", [None, *NAMES])
def test_three_classes(method):
    scores, y, truth = three_classes(0, 2000)
    p = ClassCalibration(method, 3).fit(scores, y).predict(scores)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    if method is None:
        np.testing.assert_allclose(p, scores)
    else:
        assert np.mean((p - truth) ** 2) < 0.2 * np.mean((scores - truth) ** 2)


def test_one_versus_rest_by_hand():
    scores, y, _ = three_classes(1)
    columns = [Sigmoid().fit(scores[:, k], y == k).predict(scores[:, k]) for k in range(3)]
    expected = np.column_stack(columns)
    expected = expected / expected.sum(axis=1, keepdims=True)
    got = ClassCalibration("sigmoid", 3).fit(scores, y).predict(scores)
    np.testing.assert_allclose(got, expected)


@pytest.mark.parametrize("method", NAMES)
def test_a_class_without_rows(method):
    scores, y, _ = three_classes(2)
    keep = y != 1
    p = ClassCalibration(method, 3).fit(scores[keep], y[keep]).predict(scores)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    if method != "temperature":  # which cannot move a class against another
        assert p[:, 1].max() < 0.02


@pytest.mark.parametrize("method", [None, *NAMES])
@pytest.mark.parametrize("margins", [False, True])
def test_one_column_or_two_for_two_classes(method, margins):
    if method is None and margins:
        return
    s, y, w = sample(4)
    two = np.column_stack([-s / 2, s / 2])
    if not margins:
        s = expit(s)
        two = np.column_stack([1 - s, s])
    one = ClassCalibration(method, 2, margins=margins).fit(s, y, w).predict(s)
    both = ClassCalibration(method, 2, margins=margins).fit(two, y, w).predict(two)
    assert one.shape == (len(s), 2)
    np.testing.assert_allclose(one, both, atol=1e-9)


def test_rows_that_no_class_claims_are_uniform():
    scores = np.array([[0.9, 0.1, 0.1], [0.1, 0.9, 0.1], [0.1, 0.1, 0.9]])
    fitted = ClassCalibration("isotonic", 3).fit(scores, [0, 1, 2])
    np.testing.assert_allclose(fitted.predict([[0.0, 0.0, 0.0]]), 1 / 3)


def test_a_single_class_is_certain():
    fitted = ClassCalibration("sigmoid", 1).fit([0.3, 0.4], [0, 0])
    np.testing.assert_array_equal(fitted.predict([0.1]), [[1.0]])


def test_class_calibration_refuses():
    with pytest.raises(ValueError, match=r"'platt' is unknown.*'sigmoid'"):
        ClassCalibration("platt", 2)
    with pytest.raises(ValueError, match="not probabilities"):
        ClassCalibration(None, 2, margins=True)
    with pytest.raises(ValueError, match="one column per class"):
        ClassCalibration("sigmoid", 3).fit(np.zeros((4, 2)), [0, 1, 2, 0])
    with pytest.raises(ValueError, match="one column per class"):
        ClassCalibration("sigmoid", 3).fit(np.zeros(4), [0, 1, 2, 0])


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
def test_class_calibration_agrees_with_scikit_learn(method):
    if method == "temperature" and not _scikit_learn_has_temperature():
        pytest.skip("scikit-learn has temperature scaling from 1.8 on")
    scores, y, _ = three_classes(3)
    X = np.log(scores)
    inner = LogisticRegression().fit(X, y)
    theirs = CalibratedClassifierCV(FrozenEstimator(inner), method=method).fit(X, y)
    ours = ClassCalibration(method, 3, margins=True).fit(inner.decision_function(X), y)
    got = ours.predict(inner.decision_function(X))
    np.testing.assert_allclose(got, theirs.predict_proba(X), atol=1e-4)


def _scikit_learn_has_temperature():
    return any(
        "temperature" in getattr(rule, "options", ())
        for rule in CalibratedClassifierCV._parameter_constraints["method"]
    )


def test_many_classes_are_bias_corrected_at_once():
    s, y = class_scores()
    fitted = ClassCalibration("bias-corrected", 3, margins=True).fit(s, y)
    assert fitted.joint
    assert type(fitted.calibrators[0]) is ClassBiases
    assert_allclose(fitted.predict(s), fitted.calibrators[0].predict(s), rtol=1e-14)
    # The score equations: what is said too much of a class is what holds its bias back.
    excess = fitted.predict(s).sum(axis=0) - np.bincount(y)
    assert_allclose(excess, -5.0 * np.array(fitted.calibrators[0].biases), rtol=1e-6)
    far = ClassCalibration("bias-corrected", 3, margins=True).fit(1e200 * s, y)
    assert_allclose(far.predict(1e200 * s), fitted.predict(s), atol=1e-9)
    assert not ClassCalibration("bias-corrected", 2, margins=True).joint


@pytest.mark.parametrize("method", NAMES)
def test_classes_in_another_order_have_the_same_probabilities(method):
    scores, y, _ = three_classes(5)
    order = np.array([2, 0, 1])
    place = np.argsort(order)
    p = ClassCalibration(method, 3).fit(scores, y).predict(scores)
    turned = ClassCalibration(method, 3).fit(scores[:, order], place[y]).predict(scores[:, order])
    assert_allclose(turned, p[:, order], atol=1e-7)


@pytest.mark.parametrize("method", NAMES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_of_weight_0_are_as_good_as_absent(method, n_classes):
    scores, y, _ = three_classes(6)
    scores, y = scores[:, :n_classes], np.minimum(y, n_classes - 1)
    w = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    noise = np.where(w > 0, y, n_classes - 1 - y)
    blank = ClassCalibration(method, n_classes)
    alive = blank.fit(scores[w > 0], y[w > 0]).predict(scores)
    assert_allclose(blank.fit(scores, noise, w).predict(scores), alive, atol=1e-7)


def test_margins_of_two_classes_are_their_difference():
    s, y, w = sample(7)
    blank = ClassCalibration("sigmoid", 2, margins=True)
    p = blank.fit(s, y, w).predict(s)
    columns = np.column_stack([3.0 - s / 4, 3.0 + 3 * s / 4])
    assert_allclose(blank.fit(columns, y, w).predict(columns), p, atol=1e-9)
    assert_allclose(blank.fit(s[:, None], y, w).predict(s[:, None]), p)


def test_scores_that_are_probabilities_are_left_alone_or_refused():
    shares = np.array([[0.2, 0.3, 0.5], [0.0, 0.0, 0.0], [0.1, 0.1, 0.0]])
    kept = ClassCalibration(None, 3).fit(shares, [0, 1, 2])
    assert_allclose(kept.predict(shares), [shares[0], [1 / 3] * 3, [0.5, 0.5, 0.0]])
    assert_allclose(ClassCalibration(None, 2).predict([0.25]), [[0.75, 0.25]])
    with pytest.raises(ValueError, match="finite"):
        kept.predict([[np.nan, 0.5, 0.5]])


@pytest.mark.parametrize("method", NAMES)
def test_maps_that_must_not_fall_do_not(method):
    s, y, w = sample(3)
    s = expit(-s)  # worse than chance
    p = ClassCalibration(method, 2).fit(s, y, w, rising=True).predict(s)[:, 1]
    assert np.diff(p[np.argsort(s)]).min() >= 0


@pytest.mark.parametrize("unit", [0.1, 1.0, 7.0])
def test_a_constant_score_of_a_class_says_nothing_whatever_it_is(unit):
    rng = np.random.default_rng(3)
    s = unit * rng.normal(size=(300, 3))
    y = np.where(rng.random(300) < 0.2, 2, (s[:, 1] + unit * rng.normal(size=300) > s[:, 0]))
    found = []
    for constant in (0.0, 5.0, -40.0):
        s[:, 2] = constant
        found.append(ClassBiases(margins=True).fit(s, y).predict(s))
    np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=1e-6)
