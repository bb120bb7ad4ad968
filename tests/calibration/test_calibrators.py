import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit, logit, logsumexp, softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold

from costboost.calibration import (
    CALIBRATORS,
    Beta,
    CalibratedScores,
    ClassBiases,
    ClassCalibration,
    Isotonic,
    Sigmoid,
    SigmoidBrier,
    Temperature,
    calibrate_fitted,
    calibrate_folds,
    calibration_folds,
    calibration_splits,
)
from costboost.costs import Costs
from naive import calibration as naive

NAMES = [name for name in CALIBRATORS if name is not None]


def sample(seed, n=200, scale=1.0):
    """Margins whose log-odds are 1.5 times too large, labels and integer weights."""
    rng = np.random.default_rng(seed)
    margin = rng.normal(size=n)
    y = (rng.random(n) < expit(margin)).astype(int)
    return 1.5 * scale * margin, y, rng.integers(0, 4, n).astype(float)


def blank(name, margins=False):
    kind = CALIBRATORS[name]
    return kind(margins=margins) if kind in (Beta, Temperature) else kind()


seeds = st.integers(0, 10_000)


# -- one score ----------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(
    seed=seeds,
    n=st.integers(2, 50),
    scale=st.sampled_from([1e-9, 1e-3, 1.0, 50.0, 1e9]),
    shift=st.sampled_from([0.0, 3.0, -1e3]),
)
def test_sigmoid_satisfies_the_score_equations(seed, n, scale, shift):  # invariant 45
    s, y, w = sample(seed, n)
    w = w + 0.5
    s = (s + shift) * scale
    fitted = Sigmoid().fit(s, y, w)
    targets = naive.platt_targets(y, w)
    error = w / w.sum() * (fitted.predict(s) - targets)
    assert np.all((targets > 0) & (targets < 1))
    assert abs(error.sum()) < 1e-9
    assert abs(error @ (s - s.mean())) < 1e-8 * scale


@pytest.mark.parametrize("seed", range(4))
def test_sigmoid_against_naive(seed):
    s, y, w = sample(seed)
    fitted = Sigmoid().fit(s, y, w)
    np.testing.assert_allclose([fitted.A, fitted.B], naive.platt(s, y, w), atol=1e-5)


def test_sigmoid_by_hand():
    # N+ = 3, N- = 1: targets 4/5 and 1/3; two distinct scores are fitted exactly.
    fitted = Sigmoid().fit([0, 1, 1, 1], [0, 1, 1, 1])
    np.testing.assert_allclose(fitted.predict([0, 1]), [1 / 3, 4 / 5])
    assert pytest.approx(np.log(2)) == fitted.B
    assert pytest.approx(-np.log(8)) == fitted.A


@pytest.mark.parametrize("scale", [1.0, 1e4])
@pytest.mark.parametrize("weighted", [False, True])
def test_sigmoid_agrees_with_scikit_learn(scale, weighted):
    s, y, w = sample(3, 400)
    X = (scale * s)[:, None]
    inner = LogisticRegression().fit(X, y)
    weight = w if weighted else None
    theirs = CalibratedClassifierCV(FrozenEstimator(inner), method="sigmoid")
    with warnings.catch_warnings():  # that a frozen estimator does not train on weights
        warnings.simplefilter("ignore", UserWarning)
        theirs.fit(X, y, sample_weight=weight)
    ours = Sigmoid().fit(inner.decision_function(X), y, weight)
    np.testing.assert_allclose(
        ours.predict(inner.decision_function(X)), theirs.predict_proba(X)[:, 1], atol=1e-4
    )


@pytest.mark.parametrize("seed", range(4))
def test_brier_never_ends_above_its_start_or_the_authors_start(seed):
    s, y, w = sample(seed)
    s = expit(s)
    targets = naive.platt_targets(y, w)

    def error(p):
        return np.sum(w * (p - targets) ** 2)

    ours = error(SigmoidBrier().fit(s, y, w).predict(s))
    assert ours <= error(Sigmoid().fit(s, y, w).predict(s))
    rows = np.repeat(np.arange(len(s)), w.astype(int))
    A, B = naive.least_squares_sigmoid(s[rows], targets[rows])
    assert ours == pytest.approx(error(naive.sigmoid(s, A, B)), rel=1e-9)


def test_brier_satisfies_its_score_equations():
    s, y, w = sample(5)
    p = SigmoidBrier().fit(s, y, w).predict(s)
    slope = w * (p - naive.platt_targets(y, w)) * p * (1 - p)
    assert abs(slope.sum()) < 1e-6
    assert abs(slope @ s) < 1e-6


def test_beta_is_the_identity_at_one_one_zero():  # invariant 47
    p = np.linspace(0.001, 0.999, 101)
    np.testing.assert_allclose(Beta(1, 1, 0).predict(p), p, rtol=1e-12)
    assert np.all(np.isfinite(Beta().predict([0.0, 1.0])))


def test_beta_leaves_calibrated_probabilities_alone():
    rng = np.random.default_rng(0)
    p = rng.random(100_000)
    fitted = Beta().fit(p, rng.random(100_000) < p)
    np.testing.assert_allclose([fitted.a, fitted.b, fitted.c], [1, 1, 0], atol=0.05)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("sign", [1, -1])
def test_beta_against_naive(seed, sign):
    s, y, w = sample(seed, 60)
    s = expit(sign * s)
    fitted = Beta().fit(s, y, w)
    assert fitted.a >= 0
    assert fitted.b >= 0
    a, b, c = naive.beta(s, y, w)
    expected = expit(a * np.log(s) - b * np.log1p(-s) + c)
    np.testing.assert_allclose(fitted.predict(s), expected, atol=2e-4)


def test_beta_drops_both_columns_of_a_misleading_score():
    s = np.array([0.1, 0.2, 0.3, 0.7, 0.8, 0.9])
    fitted = Beta().fit(s, [1, 1, 0, 1, 0, 0])
    assert (fitted.a, fitted.b) == (0, 0)
    np.testing.assert_allclose(fitted.predict(s), 0.5)


@settings(deadline=None, max_examples=60)
@given(seed=seeds, n=st.integers(1, 40))
def test_isotonic_against_naive(seed, n):  # invariant 46
    s, y, w = sample(seed, n)
    s, w = s.round(1), w + 1
    p = Isotonic().fit(s, y, w).predict(s)
    np.testing.assert_allclose(p, naive.pav(s, y, w), atol=1e-12)
    assert np.all(np.diff(p[np.argsort(s)]) >= -1e-12)
    assert w @ p == pytest.approx(w @ y)
    again = IsotonicRegression().fit(s, p, w).predict(s)
    np.testing.assert_allclose(again, p, atol=1e-12)


def test_isotonic_predicts_as_scikit_learn_does():
    s, y, w = sample(1)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(s, y, w)
    grid = np.linspace(-9, 9, 500)
    np.testing.assert_allclose(Isotonic().fit(s, y, w).predict(grid), theirs.predict(grid))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_temperature_against_naive(n_classes):
    rng = np.random.default_rng(n_classes)
    logits = rng.normal(size=(300, n_classes))
    p = np.exp(2 * logits)
    y = np.array([rng.choice(n_classes, p=row / row.sum()) for row in p])
    w = rng.integers(0, 4, 300).astype(float)
    fitted = Temperature(margins=True).fit(logits, y, w)
    assert fitted.beta == pytest.approx(naive.temperature(logits, y, w), rel=1e-5)
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert Temperature().fit(proba, y, w).beta == pytest.approx(fitted.beta, rel=1e-6)


def test_temperature_of_one_score_is_that_of_two():
    s, y, _ = sample(2)
    p = expit(s)
    one, two = Temperature().fit(p, y), Temperature().fit(np.column_stack([1 - p, p]), y)
    margin = Temperature(margins=True).fit(s, y)
    assert one.beta == pytest.approx(two.beta)
    assert one.beta == pytest.approx(margin.beta)
    np.testing.assert_allclose(one.predict(p), two.predict(np.column_stack([1 - p, p]))[:, 1])
    np.testing.assert_allclose(one.predict(p), margin.predict(s), rtol=1e-9)


def test_temperature_of_misleading_scores_is_infinite():
    fitted = Temperature().fit([0.1, 0.2, 0.8, 0.9], [1, 1, 0, 0])
    assert fitted.beta == 0
    np.testing.assert_allclose(fitted.predict([0.1, 0.9]), 0.5)


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=15)
@given(seed=seeds)
def test_weights_are_copies_and_zero_is_absence(name, seed):
    s, y, w = sample(seed, 40)
    if not w.any():
        return
    s = expit(s)
    rows = np.repeat(np.arange(len(s)), w.astype(int))
    by_weight = blank(name).fit(s, y, w).predict(s)
    by_copies = blank(name).fit(s[rows], y[rows]).predict(s)
    np.testing.assert_allclose(by_weight, by_copies, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_order_of_rows_does_not_matter(name):
    s, y, w = sample(0)
    s = expit(s)
    p = blank(name).fit(s, y, w).predict(s)
    back = blank(name).fit(s[::-1], y[::-1], w[::-1]).predict(s)
    np.testing.assert_allclose(p, back, atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_separable_scores(name):  # invariant 45
    s = np.r_[np.linspace(0.1, 0.4, 20), np.linspace(0.6, 0.9, 20)]
    y = np.repeat([0, 1], 20)
    fitted = blank(name).fit(s, y)
    p = fitted.predict(s)
    assert np.all(p[:20] < 0.25)
    assert np.all(p[20:] > 0.75)
    numbers = [v for v in vars(fitted).values() if isinstance(v, float)]
    assert np.all(np.isfinite(numbers))
    if name.startswith("sigmoid"):
        assert np.all((p > 1e-5) & (p < 1 - 1e-5))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_constant_scores_give_the_prior(name, value):
    y = np.array([1] * 30 + [0] * 70)
    p = blank(name).fit(np.full(100, value), y).predict([0.0, value, 1.0])
    smoothed = (30 * 31 / 32 + 70 / 72) / 100  # Platt's targets draw the prior inwards
    prior = smoothed if name.startswith("sigmoid") else 0.3
    np.testing.assert_allclose(p, prior, rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("label", [0, 1])
def test_one_class_only(name, label):
    p = blank(name).fit([0.2, 0.5, 0.9], [label] * 3).predict([0.2, 0.9])
    assert np.all(np.isfinite(p))
    if name != "temperature":  # which keeps the order of the classes
        assert np.all((p > 0.5) == (label == 1))
    if name.startswith("sigmoid"):
        np.testing.assert_allclose(p, 4 / 5 if label else 1 / 5)


@pytest.mark.parametrize("name", NAMES)
def test_one_and_two_rows(name):
    assert np.isfinite(blank(name).fit([0.4], [1]).predict([0.4]))
    low, high = blank(name).fit([0.4, 0.6], [0, 1]).predict([0.4, 0.6])
    assert low < high


@pytest.mark.parametrize("name", NAMES)
def test_weights_of_one_class_that_outgrow_every_number(name):
    s, y = [0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1]
    p = blank(name).fit(s, y, [1e300, 1, 1e300, 1]).predict(s)
    assert np.all(np.isfinite(p))
    if name != "temperature":  # which keeps the order of the classes
        assert np.all(p[:3] < 1e-6)
    with pytest.raises(ValueError, match="finite"):
        blank(name).fit(s, y, [np.inf, 1, 1, 1])


@pytest.mark.parametrize("name", NAMES)
def test_refused_input(name):
    with pytest.raises(ValueError, match="zero for every row"):
        blank(name).fit([0.1, 0.9], [0, 1], [0, 0])
    with pytest.raises(ValueError, match="not negative"):
        blank(name).fit([0.1, 0.9], [0, 1], [-1, 1])
    with pytest.raises(ValueError, match="do not belong together"):
        blank(name).fit([0.1, 0.9], [0, 1, 1])
    with pytest.raises(ValueError, match="finite"):
        blank(name).fit([0.1, np.nan], [0, 1])


@pytest.mark.parametrize("name", ["beta", "temperature"])
def test_margins_are_refused_where_probabilities_are_expected(name):
    with pytest.raises(ValueError, match="margins=True"):
        blank(name).fit([-3.0, 3.0], [0, 1])
    p = blank(name, margins=True).fit([-3.0, 3.0, 0.1], [0, 1, 1]).predict([-3.0, 3.0])
    assert p[0] < p[1]


def test_labels_may_be_minus_one_and_one():
    s, y, w = sample(0)
    for name in ["sigmoid", "sigmoid-brier", "beta", "isotonic", "bias-corrected"]:
        ours = blank(name).fit(expit(s), 2 * y - 1, w).predict(expit(s))
        np.testing.assert_array_equal(ours, blank(name).fit(expit(s), y, w).predict(expit(s)))


# -- K classes ----------------------------------------------------------------------------------


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


# -- which rows ---------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(
    counts=st.lists(st.integers(2, 12), min_size=1, max_size=4),
    cv=st.integers(2, 7),
    seed=seeds,
)
def test_folds_partition_the_rows_and_always_train_on_every_class(counts, cv, seed):
    codes = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    splits = calibration_splits(codes, cv, random_state=seed)
    assert len(splits) == min(cv, *counts)
    tested = np.sort(np.concatenate([test for _, test in splits]))
    np.testing.assert_array_equal(tested, np.arange(len(codes)))
    for train, test in splits:
        assert not np.intersect1d(train, test).size
        assert len(train) + len(test) == len(codes)
        assert set(codes[train]) == set(codes[test]) == set(codes)


def test_folds_follow_the_seed():
    codes = np.tile([0, 1], 50)
    one, same, other = (calibration_splits(codes, 5, random_state=k) for k in (0, 0, 1))
    np.testing.assert_array_equal(one[0][1], same[0][1])
    assert not np.array_equal(one[0][1], other[0][1])


def test_a_class_of_one_row_is_on_both_sides():
    codes = np.array([0] * 6 + [1] * 6 + [2])
    with pytest.warns(UserWarning, match="single row"):
        splits = calibration_splits(codes, 3, random_state=0)
    assert len(splits) == 3
    assert all(12 in train and 12 in test for train, test in splits)
    with pytest.warns(UserWarning, match="single row"):
        ((train, test),) = calibration_splits([0, 1], 5)
    assert train.tolist() == test.tolist() == [0, 1]
    with pytest.warns(UserWarning, match="single row"):
        ((train, test),) = calibration_splits([0, 0, 1], 0.5, random_state=0)
    assert 2 in train
    assert 2 in test


@pytest.mark.parametrize(("share", "expected"), [(0.5, [10, 2]), (0.01, [1, 1]), (0.99, [19, 3])])
def test_a_share_is_held_out_of_every_class(share, expected):
    codes = np.repeat([0, 1], [20, 4])
    ((train, test),) = calibration_splits(codes, share, random_state=0)
    assert np.bincount(codes[test]).tolist() == expected
    assert not np.intersect1d(train, test).size
    assert len(train) + len(test) == 24


@pytest.mark.parametrize("cv", [3, 0.4, GroupKFold(3)])
def test_groups_stay_together(cv):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.array(list("abcdefghijkl")), 10)
    codes = rng.integers(0, 2, 120)
    splits = calibration_splits(codes, cv, groups=groups, random_state=0)
    assert len(splits) == (1 if cv == 0.4 else 3)
    for train, test in splits:
        assert not set(groups[train]) & set(groups[test])


def test_groups_that_cannot_be_cut():
    codes, groups = [0, 0, 1, 1], [0, 0, 1, 1]
    with pytest.raises(ValueError, match="within one group"):
        calibration_splits(codes, 2, groups=groups)


def test_a_class_within_one_group_skips_the_folds_that_do_not_train_on_it():
    codes = np.array([0, 0, 0, 0, 0, 0, 1, 1])
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    with pytest.warns(UserWarning, match="one class only"):
        splits = calibration_splits(codes, 2, groups=groups, random_state=0)
    assert all(set(codes[train]) == {0, 1} for train, _ in splits)


@pytest.mark.parametrize("cv", [4, 0.5, KFold(4), None])
def test_rows_of_weight_zero_are_absent(cv):
    codes = np.tile([0, 1], 30)
    w = np.where(np.arange(60) % 5 == 0, 0.0, 1.0)
    for train, test in calibration_splits(codes, cv, sample_weight=w, random_state=0):
        assert w[train].all()
        assert w[test].all()


def test_a_class_of_weight_zero_is_still_trained_on():
    codes = np.tile([0, 1], 10)
    splits = calibration_splits(codes, 2, sample_weight=1.0 * (codes == 0), random_state=0)
    assert all(set(codes[train]) == {0, 1} for train, _ in splits)


def test_own_splits():
    codes = np.tile([0, 1], 10)
    pairs = [(np.arange(10), np.arange(10, 20)), (np.arange(20) > 5, np.arange(20) <= 5)]
    splits = calibration_splits(codes, iter(pairs))
    assert splits[0][1].tolist() == list(range(10, 20))
    assert splits[1][1].tolist() == list(range(6))
    with pytest.warns(UserWarning, match="one class only"):
        calibration_splits(codes, [pairs[0], (np.arange(0, 10, 2), np.arange(1, 4, 2))])


@pytest.mark.parametrize("cv", [1, True, 0, -3, 1.0, 0.0, 1.5, "five", object()])
def test_refused_folds(cv):
    with pytest.raises(ValueError, match="cv="):
        calibration_splits([0, 1, 0, 1], cv)


def test_no_usable_fold():
    with pytest.raises(ValueError, match="No fold"):
        calibration_splits([0, 0, 1, 1], [([0, 1], [2, 3])])


# -- the loop -----------------------------------------------------------------------------------


class Table:
    """A table, and the mean difference classifier on it."""

    def __init__(self, seed=0, n=120):
        rng = np.random.default_rng(seed)
        self.y = np.where(rng.random(n) < 0.4, "yes", "no")
        self.x = rng.normal(size=(n, 3)) + (self.y == "yes")[:, None]
        self.w = rng.integers(0, 3, n).astype(float)
        self.trained = []

    def fit(self, rows):
        self.trained.append(rows)
        mine, y = self.x[rows], self.y[rows]
        return mine[y == "yes"].mean(axis=0) - mine[y == "no"].mean(axis=0)

    def score(self, model, rows):
        return self.x[rows] @ model


OPTIONS = {"classes": ["no", "yes"], "margins": True, "random_state": 0}


@pytest.mark.parametrize("method", NAMES)
def test_ensemble_is_the_mean_of_calibrated_folds(method):
    t = Table()
    fitted = calibrate_folds(t.fit, t.score, t.y, 4, method=method, sample_weight=t.w, **OPTIONS)
    codes = (t.y == "yes").astype(int)
    splits = calibration_splits(codes, 4, sample_weight=t.w, random_state=0)
    expected = np.zeros((len(t.y), 2))
    for train, test in splits:
        model = t.fit(train)
        kind = ClassCalibration(method, 2, margins=True)
        kind = kind.fit(t.score(model, test), codes[test], t.w[test])
        expected += kind.predict(t.x @ model) / 4
    assert fitted.n_folds == 4
    np.testing.assert_allclose(
        fitted.predict_proba(t.x @ model for model in fitted.models), expected
    )


@pytest.mark.parametrize("method", NAMES)
def test_one_model_with_pooled_scores(method):
    t = Table()
    fitted = calibrate_folds(
        t.fit, t.score, t.y, 4, method=method, ensemble=False, sample_weight=t.w, **OPTIONS
    )
    codes = (t.y == "yes").astype(int)
    pooled = np.full(len(t.y), np.nan)
    for train, test in calibration_splits(codes, 4, sample_weight=t.w, random_state=0):
        pooled[test] = t.score(t.fit(train), test)
    alive = t.w > 0
    kind = ClassCalibration(method, 2, margins=True).fit(pooled[alive], codes[alive], t.w[alive])
    model = t.fit(np.flatnonzero(alive))
    assert len(fitted.models) == 1
    assert fitted.n_folds == 4
    got = fitted.predict_proba(t.x @ model for model in fitted.models)
    np.testing.assert_allclose(got, kind.predict(t.x @ model))


def test_a_share_trains_on_the_rest_only():
    t = Table()
    fitted = calibrate_folds(t.fit, t.score, t.y, 0.5, ensemble=False, **OPTIONS)
    assert len(t.trained) == 1
    assert len(t.trained[0]) == pytest.approx(60, abs=1)
    assert fitted.n_folds == 1


def test_rows_scored_by_several_folds_count_once():
    t = Table()
    cv = ShuffleSplit(6, test_size=0.5, random_state=0)
    fitted = calibrate_folds(t.fit, t.score, t.y, cv, ensemble=False, **OPTIONS)
    assert fitted.n_folds == 6
    assert np.all(np.isfinite(fitted.predict_proba(t.x @ model for model in fitted.models)))


def test_folds_in_parallel_are_the_same_folds():
    t = Table()
    one = calibrate_folds(t.fit, t.score, t.y, 3, **OPTIONS)
    two = calibrate_folds(t.fit, t.score, t.y, 3, n_jobs=2, **OPTIONS)
    assert one.maps == two.maps


def test_two_rows():
    t = Table()
    t.x, t.y = np.array([[0.0], [1.0]]), np.array(["no", "yes"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        fitted = calibrate_folds(t.fit, t.score, t.y, 5, **OPTIONS)
    p = fitted.predict_proba(t.x @ model for model in fitted.models)
    np.testing.assert_allclose(p, [[2 / 3, 1 / 3], [1 / 3, 2 / 3]])


def test_strange_labels_are_refused():
    t = Table()
    t.y[0] = "x"
    with pytest.raises(ValueError, match="none of the classes"):
        calibrate_folds(t.fit, t.score, t.y, 3, **OPTIONS)


def test_fitted_model():
    s, y, w = sample(0)
    fitted = calibrate_fitted("model", s, y, classes=[0, 1], margins=True, sample_weight=w)
    assert isinstance(fitted, CalibratedScores)
    p = fitted.predict_proba([s])
    np.testing.assert_array_equal(p[:, 1], Sigmoid().fit(s, y, w).predict(s))


# -- the poster ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("c_fp", "c_fn"), [(1, 1), (1, 5), (10, 1)])
def test_calibrated_adamec_follows_the_poster_line_by_line(c_fp, c_fn):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(160, 2)).round(1)
    y = np.where(X.sum(axis=1) + 1.2 * rng.normal(size=160) > 0.8, 1, -1)
    X_new = rng.normal(size=(50, 2))

    # 1. Split: half of each class calibrates.
    ((train, calibrate),) = calibration_splits((y + 1) // 2, 0.5, random_state=1)
    poster = naive.calibrated_adamec(X, y, c_fp, c_fn, 15, train, calibrate, X_new)
    assert np.all((poster["s"] >= 0) & (poster["s"] <= 1))

    # 2. to 3.3.
    fitted = calibrate_folds(
        lambda rows: naive.adaboost(X[rows], y[rows], 15),
        lambda ensemble, rows: naive.vote_fraction(ensemble, X[rows]),
        y,
        0.5,
        classes=[-1, 1],
        method="sigmoid-brier",
        random_state=1,
    )
    (model,), (calibration,) = fitted.models, fitted.maps
    np.testing.assert_allclose(naive.vote_fraction(model, X[calibrate]), poster["s"])
    (sigmoid,) = calibration.calibrators
    assert pytest.approx(poster["A"], abs=1e-5) == sigmoid.A
    assert pytest.approx(poster["B"], abs=1e-5) == sigmoid.B
    assert sigmoid.A < 0

    # 4.1 to 4.3.
    proba = fitted.predict_proba(naive.vote_fraction(part, X_new) for part in fitted.models)
    np.testing.assert_allclose(proba[:, 1], poster["p"], atol=1e-6)
    decided = Costs(fp=c_fp, fn=c_fn).bind([-1, 1]).decide(proba)
    np.testing.assert_array_equal(decided, poster["H"])


def test_calibrated_scores_are_monotone_and_swap_with_the_classes():  # invariant 30
    s, y, w = sample(11)
    s = expit(s)
    for method in ("sigmoid", "sigmoid-brier", "beta", "temperature", "bias-corrected"):
        p = blank(method).fit(s, y, w).predict(s)
        assert np.all(np.diff(p[np.argsort(s)]) >= 0)
        swapped = blank(method).fit(1 - s, 1 - y, w).predict(1 - s)
        np.testing.assert_allclose(swapped, 1 - p, atol=1e-6)
        there = Costs(fp=1, fn=5).bind([0, 1]).decide(np.column_stack([1 - p, p]))
        back = Costs(fp=5, fn=1).bind([0, 1]).decide(np.column_stack([1 - swapped, swapped]))
        np.testing.assert_array_equal(there, 1 - back)


def test_sigmoid_of_logit_recovers_the_distortion():
    rng = np.random.default_rng(0)
    p = rng.random(50_000)
    fitted = Sigmoid().fit(3 * logit(p) + 1, rng.random(50_000) < p)
    assert pytest.approx(-1 / 3, abs=0.01) == fitted.A
    assert pytest.approx(1 / 3, abs=0.05) == fitted.B


# ---------------------------------------------------------------- one bias per class


def class_scores(n=400, seed=0, shift=(0.0, 1.0, -2.0)):
    """Return logits of three classes that lean to some of them, and the classes."""
    rng = np.random.default_rng(seed)
    logits = 2.0 * rng.standard_normal((n, 3))
    p = softmax(0.5 * logits + np.array(shift), axis=1)
    y = (rng.uniform(size=(n, 1)) > np.cumsum(p, axis=1)).sum(axis=1).clip(max=2)
    return logits, y


@pytest.mark.parametrize("weighted", [False, True])
def test_class_biases_are_the_penalised_optimum(weighted):
    s, y = class_scores()
    w = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else np.ones(len(y))

    def loss(at):
        f = at[0] * (s - s.mean(axis=1, keepdims=True)) + at[1:]
        return w @ (logsumexp(f, axis=1) - f[np.arange(len(y)), y]) + 2.5 * np.sum(at[1:] ** 2)

    fitted = ClassBiases(margins=True).fit(s, y, w if weighted else None)
    naive = minimize(loss, [1.0, 0.0, 0.0, 0.0], tol=1e-12).x
    assert_allclose([fitted.beta, *fitted.biases], naive, rtol=1e-4, atol=1e-4)
    assert loss(np.array([fitted.beta, *fitted.biases])) <= loss(naive) + 1e-8
    # Shares, whose logarithms are logits up to a constant of each row, are calibrated alike.
    shares = ClassBiases().fit(softmax(s, axis=1), y, w)
    assert_allclose(shares.predict(softmax(s, axis=1)), fitted.predict(s), atol=1e-6)


def test_biases_of_useless_scores_are_the_prior():
    y = np.array([0, 0, 1, 2, 2, 2])
    s = -np.eye(3)[y]  # the truth is what they deny
    for scores in (np.zeros((6, 3)), s):
        fitted = ClassBiases(margins=True).fit(scores, y)
        assert fitted.beta == 0
        assert_allclose(fitted.predict(scores), np.tile([1 / 3, 1 / 6, 1 / 2], (6, 1)))


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


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("lone", [False, True])
@pytest.mark.parametrize("cv", [2, 5, 0.3, StratifiedKFold(3)])
def test_folds_of_which_little_is_kept_are_the_same(weighted, lone, cv):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 90).astype(np.uint8)
    if lone:
        labels[17] = 3
    asked = {"random_state": 3}
    if weighted:
        asked["sample_weight"] = rng.integers(0, 3, 90)
        asked["sample_weight"][17] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class of a single row
        splits = calibration_splits(labels, cv, **asked)
        folds = calibration_folds(labels, cv, **asked)
    assert len(folds) == len(splits)
    for found, expected in zip(folds, splits, strict=True):
        assert_array_equal(found[0], expected[0])
        assert_array_equal(found[1], expected[1])
    used = np.unique(np.concatenate([np.concatenate(split) for split in splits]))
    assert_array_equal(folds.used(90), used)
