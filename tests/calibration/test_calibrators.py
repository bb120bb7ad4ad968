"""One score becomes a probability: every calibrator against its naive twin and its equations."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit, logit, logsumexp, softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from calibration_cases import NAMES, class_scores, sample, seeds
from costboost.calibration import (
    CALIBRATORS,
    Beta,
    BiasCorrected,
    ClassBiases,
    Isotonic,
    Sigmoid,
    SigmoidBrier,
    Temperature,
)
from costboost.calibration.calibrators import row_counts
from costboost.costs import Costs
from naive import calibration as naive


def blank(name, margins=False):
    kind = CALIBRATORS[name]
    return kind(margins=margins) if kind in (Beta, Temperature) else kind()


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


def least_on_a_grid(z, t, w, slopes):
    """The least error of sigmoids on a dense grid of slopes and places, then by simplex."""
    places = np.concatenate([np.linspace(-6, 6, 301), z, [-1e3, -100, -20, 20, 100, 1e3]])

    def error(at):
        if slopes.min() > 0 > at[0]:
            return np.inf  # the slopes asked for rise, all of them
        return w @ (expit(at[0] * z - at[1]) - t) ** 2

    found = []
    for a in slopes:
        errors = (expit(a * (z - places[:, None])) - t) ** 2 @ w
        found.append((errors.min(), (a, a * places[np.argmin(errors)])))
    found.sort()
    ends = [minimize(error, at, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-13})
            for _, at in found[:8]]  # fmt: skip
    return min(found[0][0], *(end.fun for end in ends))


@pytest.mark.parametrize("seed", range(40))
def test_brier_is_the_least_error_of_all_sigmoids(seed):
    """Few rows leave several local minima: from Platt's start one ended 20 % above the least."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 20))
    s = rng.normal(size=n).round(int(rng.choice([0, 1, 8]))) * 10.0 ** rng.integers(-3, 4)
    y = rng.permutation(np.arange(n) % 3 == 0).astype(int)
    w = rng.integers(1, 6, n).astype(float) if seed % 2 else np.ones(n)
    t, z = naive.platt_targets(y, w), (s - s.mean()) / s.std()
    steep = np.logspace(-2, 3.5, 60)
    fitted = SigmoidBrier().fit(s, y, w)
    ours = w @ (fitted.predict(s) - t) ** 2
    assert ours <= least_on_a_grid(z, t, w, np.append(-steep, steep)) * (1 + 1e-8)
    held = SigmoidBrier().fit(s, y, w, rising=True)
    constant = w @ (np.average(t, weights=w) - t) ** 2
    least = min(least_on_a_grid(z, t, w, steep), constant)
    assert held.A <= 0
    assert w @ (held.predict(s) - t) ** 2 <= least * (1 + 1e-8)
    rows = np.repeat(np.arange(n), w.astype(int))
    copied = SigmoidBrier().fit(s[rows], y[rows])
    np.testing.assert_allclose(copied.predict(s), fitted.predict(s), rtol=1e-6, atol=1e-6)


def test_brier_satisfies_its_score_equations():
    s, y, w = sample(5)
    p = SigmoidBrier().fit(s, y, w).predict(s)
    slope = w * (p - naive.platt_targets(y, w)) * p * (1 - p)
    assert abs(slope.sum()) < 1e-6
    assert abs(slope @ s) < 1e-6


@pytest.mark.parametrize("name", ["sigmoid", "sigmoid-brier"])
def test_a_map_that_must_not_fall_is_constant_where_scores_mislead(name):
    s, y, w = sample(7)
    held = blank(name).fit(-s, y, w, rising=True)
    assert blank(name).fit(-s, y, w).A > 0
    assert held.A == 0
    assert_allclose(held.predict(s), np.average(naive.platt_targets(y, w), weights=w), rtol=1e-12)
    assert blank(name).fit(s, y, w, rising=True) == blank(name).fit(s, y, w)


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


UNITS = [1 / 40, 1e-6, 1e-300]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", NAMES)
def test_weights_below_one_have_no_unit(name, unit):
    s, y, w = sample(4, 40)
    s, w = expit(s), w / 3
    even = blank(name).fit(s, y, np.full(40, unit)).predict(s)
    assert_allclose(even, blank(name).fit(s, y).predict(s), rtol=1e-9)
    fitted = blank(name).fit(s, y, w).predict(s)
    assert_allclose(blank(name).fit(s, y, w * unit).predict(s), fitted, rtol=1e-9)


@pytest.mark.parametrize("unit", UNITS)
def test_weights_below_one_have_no_unit_for_more_classes(unit):
    s, y = class_scores(40)
    fitted = ClassBiases(margins=True).fit(s, y)
    small = ClassBiases(margins=True).fit(s, y, np.full(40, unit))
    assert_allclose([small.beta, *small.biases], [fitted.beta, *fitted.biases], rtol=1e-9)


@settings(deadline=None)
@given(seed=seeds, top=st.sampled_from([1e-6, 0.1, 1.0, 1.5, 3.0, 1e6]))
def test_row_counts_against_naive(seed, top):
    w = top * np.random.default_rng(seed).uniform(0.01, 1, 30)
    assert_allclose(row_counts(w), naive.row_counts(w), rtol=1e-12)
    assert row_counts(w).sum() >= w.sum() * (1 - 1e-12)


@pytest.mark.parametrize("w", [np.ones(5), np.array([1.0, 2, 3]), np.full(4, 1e6), [1e300, 1e-300]])
def test_weights_of_one_and_more_are_the_counts_themselves(w):
    np.testing.assert_array_equal(row_counts(np.asarray(w)), w)


def test_small_weights_shrink_by_effective_rows():
    s, y, w = sample(6)
    w = (w + 1) / 1000  # which sum to less than 1: Kish's number of rows is about 160
    fitted = Sigmoid().fit(s, y, w)
    assert_allclose([fitted.A, fitted.B], naive.platt(s, y, w), atol=1e-5)
    n = (w.sum() ** 2 / (w @ w)) / w.sum()
    shifted, expected = (BiasCorrected(margins=True).fit(s, y, v).bias for v in (w, n * w))
    assert shifted == pytest.approx(expected, rel=1e-9)


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
def test_probabilities_may_leave_their_interval_by_rounding(name):
    fitted = blank(name).fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
    np.testing.assert_array_equal(fitted.predict([-1e-6, 1 + 1e-6]), fitted.predict([0.0, 1.0]))
    for beyond in (-1.1e-6, 1 + 1.1e-6):
        with pytest.raises(ValueError, match="must lie in"):
            fitted.predict([0.5, beyond])


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
