"""Measures of cost against naive twins, hand-computed values, and scikit-learn's own plumbing."""

import pickle
import warnings
from itertools import product
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from joblib import parallel_config
from scipy import stats
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, fbeta_score
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from costboost import metrics
from costboost.costs import Costs
from costboost.metrics import (
    average_ranks,
    bootstrap_interval,
    brier_curve,
    brier_score,
    brier_score_by_class,
    cheapest_threshold,
    cost_by_threshold,
    cost_confusion_matrix,
    cost_curve,
    cost_lines,
    critical_difference,
    cross_validate_cost,
    curve_area,
    f_measure,
    friedman_test,
    gain_curve,
    holm_correction,
    lift_curve,
    make_cost_scorer,
    mean_cost,
    mean_regret,
    normalized_cost,
    paired_cost_test,
    savings_curve,
    savings_score,
    total_cost,
    wilcoxon_holm,
)
from naive import metrics as naive

CLOSE = {"rtol": 1e-10, "atol": 1e-12}
QUICK = settings(max_examples=60, deadline=None)


@st.composite
def rows(draw, both=False, weights=True):
    """Labels, probabilities (with ties and the ends 0 and 1), decisions and weights."""
    n = draw(st.integers(2 if both else 1, 12))
    y = draw(hnp.arrays(int, n, elements=st.integers(0, 1)))
    p = draw(
        hnp.arrays(
            float,
            n,
            elements=st.one_of(
                st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0, 1, allow_subnormal=False)
            ),
        )
    )
    decided = draw(hnp.arrays(int, n, elements=st.integers(0, 1)))
    w = np.ones(n)
    if weights:
        w = draw(hnp.arrays(float, n, elements=st.sampled_from([0.0, 0.5, 1.0, 3.0])))
        assume(w.any())
    if both:
        assume(w[y == 0].any() and w[y == 1].any())
    return y, p, decided, w


prices = st.floats(0, 100).map(lambda v: round(v, 3))


@st.composite
def priced_rows(draw):
    """The same with four prices, each constant or per row."""
    y, p, decided, w = draw(rows())
    per_row = hnp.arrays(float, len(y), elements=prices)
    given_costs = {name: draw(st.one_of(prices, per_row)) for name in ("fp", "fn", "tp", "tn")}
    assume(any(np.any(v) for v in given_costs.values()))
    return y, p, decided, w, given_costs


# -- what decisions cost --------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:In these costs")  # random prices may look turned round
@QUICK
@given(priced_rows())
def test_realised_costs_equal_the_naive_twin(case):
    y, _, decided, w, given_costs = case
    costs, table = Costs(**given_costs), naive.table(y, **given_costs)
    options = {"costs": costs, "sample_weight": w}
    total = naive.total_cost(table, decided, w)
    np.testing.assert_allclose(total_cost(y, decided, **options), total, **CLOSE)
    np.testing.assert_allclose(mean_cost(y, decided, **options), total / w.sum(), **CLOSE)
    np.testing.assert_allclose(
        mean_regret(y, decided, **options), naive.regret(table, decided, w), **CLOSE
    )
    matrix = cost_confusion_matrix(y, decided, labels=[0, 1], **options)
    np.testing.assert_allclose(
        matrix, naive.cost_confusion_matrix(table, y, decided, w, 2), **CLOSE
    )
    best = naive.cheapest_constant_cost(table, w)
    if best > 0:
        np.testing.assert_allclose(savings_score(y, decided, **options), 1 - total / best, **CLOSE)
    ends = [[min(row) for row in table], [max(row) for row in table]]
    if any(w * (np.array(ends[1]) - ends[0]) > 0):
        wanted = naive.normalized_cost(table, decided, w)
        np.testing.assert_allclose(normalized_cost(y, decided, **options), wanted, atol=1e-9)


@QUICK
@given(rows(both=True), st.floats(0.01, 100), st.floats(0.01, 100))
def test_invariant_44_normalized_cost_is_q_and_drummond_holte(case, fp, fn):
    y, _, decided, w = case
    found = normalized_cost(y, decided, costs={"fp": fp, "fn": fn}, sample_weight=w)
    cost = total_cost(y, decided, costs={"fp": fp, "fn": fn}, sample_weight=w)
    negatives, positives = w[y == 0].sum(), w[y == 1].sum()
    np.testing.assert_allclose(found, cost / (fp * negatives + fn * positives), **CLOSE)
    z = fp * negatives / (fp * negatives + fn * positives)
    fpr, fnr = naive.error_rates(y, decided, w, 0.5)
    np.testing.assert_allclose(found, z * fpr + (1 - z) * fnr, **CLOSE)
    # Drummond and Holte: the classifier's line, read at PC(+) = 1 - z.
    lines = cost_lines(y, decided, sample_weight=w)
    at = np.flatnonzero(lines[2] == 0) if (lines[2] == 0).any() else [0]
    np.testing.assert_allclose(found, lines[1][at[0]] * (1 - z) + lines[0][at[0]] * z, **CLOSE)


@QUICK
@given(priced_rows(), st.sampled_from([1e-290, 1e-100, 1.0, 1e100, 1e290]))
@pytest.mark.filterwarnings("ignore:In these costs")  # random prices may look turned round
def test_measures_do_not_depend_on_the_unit_of_cost(case, unit):
    y, p, decided, w, given_costs = case
    # Prices far apart would underflow against each other whatever the unit: keep them apart.
    scaled = {k: np.asarray(v) * unit for k, v in given_costs.items()}
    plain, big = Costs(**given_costs), Costs(**scaled)
    for measure in (normalized_cost, savings_score):
        a = measure(y, decided, costs=plain, sample_weight=w)
        b = measure(y, decided, costs=big, sample_weight=w)
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9)
    a = mean_cost(y, decided, costs=plain, sample_weight=w)
    b = mean_cost(y, decided, costs=big, sample_weight=w)
    np.testing.assert_allclose(b / unit, a, rtol=1e-10)
    _, a = cost_by_threshold(y, p, costs=plain, sample_weight=w)
    _, b = cost_by_threshold(y, p, costs=big, sample_weight=w)
    np.testing.assert_allclose(b / unit, a, rtol=1e-9, atol=1e-9)


@QUICK
@given(rows(), st.sampled_from([1e-300, 1e-5, 1e299]))
def test_ratios_do_not_depend_on_the_unit_of_weight(case, unit):
    y, p, decided, w = case
    for measure, given_second in ((mean_cost, decided), (brier_score, p), (f_measure, decided)):
        options = {"costs": {"fp": 1, "fn": 7}} if measure is mean_cost else {"pos_label": 1}
        np.testing.assert_allclose(
            measure(y, given_second, sample_weight=w * unit, **options),
            measure(y, given_second, sample_weight=w, **options),
            rtol=1e-12,
        )


@QUICK
@given(rows())
def test_a_weight_is_a_number_of_copies_and_zero_is_absence(case):
    y, p, decided, w = case
    copies = np.repeat(np.arange(len(y)), (2 * w).astype(int))
    for measure, second in ((mean_cost, decided), (normalized_cost, decided), (brier_score, p)):
        options = {} if measure is brier_score else {"costs": {"fp": 2, "fn": 3}}
        np.testing.assert_allclose(
            measure(y, second, sample_weight=w, **options),
            measure(y[copies], second[copies], **options),
            **CLOSE,
        )
    weighted = brier_curve(y, p, sample_weight=w, pos_label=1)
    copied = brier_curve(y[copies], p[copies], pos_label=1)
    np.testing.assert_allclose(weighted, copied, **CLOSE)


def test_a_row_without_weight_does_not_influence_even_the_scale():
    costs = Costs(fp=1, fn=[1e-300, 1e300])
    assert mean_cost([1, 1], [0, 0], costs=costs, sample_weight=[1, 0]) == 1e-300
    options = {"costs": costs, "sample_weight": [1, 0]}
    assert normalized_cost([1, 1], [0, 0], **options) == 1
    assert savings_score([1, 1], [1, 0], baseline=0, **options) == 1
    assert paired_cost_test([1, 1], [0, 0], [1, 1], random_state=0, **options).difference == 1e-300


def test_mean_of_huge_costs_does_not_overflow():
    n = 1000
    assert mean_cost([1] * n, [0] * n, costs={"fp": 1, "fn": 1e300}) == pytest.approx(1e300)
    assert savings_score([1] * n + [0], [1] * n + [1], costs={"fp": 1e-300, "fn": 1e300}) == 0.0


def test_savings_against_policies():
    y, decided, costs = [0, 0, 0, 1], [0, 0, 1, 1], {"fp": 1, "fn": 10}
    assert savings_score(y, decided, costs=costs) == pytest.approx(1 - 1 / 3)
    assert savings_score(y, decided, costs=costs, baseline=0) == pytest.approx(0.9)
    assert savings_score(y, decided, costs=costs, baseline=[1, 0, 1, 1]) == pytest.approx(0.5)


def test_savings_when_the_baseline_costs_nothing_or_earns():
    assert savings_score([0, 0], [0, 0], costs={"fp": 1, "fn": 1}) == 0.0
    assert savings_score([0, 0], [0, 1], costs={"fp": 1, "fn": 1}) == -np.inf
    earns = Costs(fp=1, fn=0, tp=-10, benefits=True)
    # Contacting all earns 9; contacting only the buyer earns 10: one ninth more.
    assert savings_score([0, 1], [0, 1], costs=earns) == pytest.approx(1 / 9)


def test_actions_that_are_not_classes():
    loan = Costs.from_matrix(
        [[0, 1, 6], [30, 2, 0]], classes=["good", "bad"], actions=["approve", "review", "no"]
    )
    y, decided = ["good", "good", "bad", "bad"], ["approve", "no", "approve", "review"]
    assert total_cost(y, decided, costs=loan) == 38
    assert cost_confusion_matrix(y, decided, costs=loan).tolist() == [[0, 0, 6], [30, 2, 0]]
    assert normalized_cost(y, decided, costs=loan) == pytest.approx(38 / 72)
    assert savings_score(y, decided, costs=loan, baseline="review") == pytest.approx(1 - 38 / 6)


def test_three_classes_and_prices_per_answer():
    C = np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0]])
    y, decided = [0, 1, 2, 2], [2, 1, 0, 2]
    assert total_cost(y, decided, costs=C) == 7
    assert normalized_cost(y, decided, costs=C) == pytest.approx(7 / (2 + 4 + 6 + 6))
    assert mean_cost(y, decided) == 0.5
    answers = Costs.of_rows(C[y])
    assert total_cost(y, decided, costs=answers) == 7


def test_one_class_needs_a_name_only_if_it_has_no_natural_pair():
    assert total_cost([0, 0], [0, 0], costs={"fp": 1, "fn": 2}) == 0
    assert total_cost([-1, -1], [-1, -1], costs={"fp": 1, "fn": 2, "positive": 1}) == 0
    assert total_cost([False], [False], costs={"fp": 1, "fn": 2}) == 0
    assert total_cost(["no"], ["no"], costs={"fp": 1, "fn": 2, "positive": "yes"}) == 0
    with pytest.raises(ValueError, match="labels="):
        total_cost(["no"], ["no"], costs={"fp": 1, "fn": 2})
    with pytest.raises(ValueError, match="which of them is positive"):
        total_cost(["no"], ["no"], costs={"fp": 1, "fn": 2}, labels=["no", "yes"])


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([], []), {}, "empty"),
        (([0, 1], [0]), {}, "rows"),
        (([0, 1], [0, 1]), {"sample_weight": [1, -1]}, "weight"),
        (([0, 1], [0, 1]), {"sample_weight": [0, 0]}, "weight"),
        (([0, 1], [0, 1]), {"sample_weight": [1]}, "weight"),
        (([0.0, np.nan], [0, 1]), {}, "missing"),
        (([0, 1], [0, None]), {}, "missing"),
        ((pd.Series([0, pd.NA]), [0, 1]), {}, "missing"),
        (([0, 1], [0, 2]), {"costs": {"fp": 1, "fn": 1}}, "classes"),
        (([0, 1], [0, 1]), {"costs": Costs(fp=1, fn=[1, 2, 3])}, "3 rows"),
    ],
)
def test_bad_input_is_refused(arguments, options, message):
    for measure in (total_cost, mean_cost, normalized_cost, savings_score, mean_regret):
        with pytest.raises(ValueError, match=message):
            measure(*arguments, **options)


def test_frames_and_series_are_arrays():
    y, decided = [0, 1, 1], [1, 0, 1]
    costs = Costs(fp=5, fn=pd.Series([80.0, 100.0, 20.0], index=[7, 8, 9]))
    for kind in (np.array, pd.Series, pl.Series, list):
        assert total_cost(kind(y), kind(decided), costs=costs) == 105


@QUICK
@given(rows(), st.sampled_from([0.5, 1.0, 2.0]))
def test_f_measure_equals_the_naive_twin_and_scikit_learn(case, beta):
    y, _, decided, w = case
    found = f_measure(y, decided, beta=beta, pos_label=1, sample_weight=w)
    np.testing.assert_allclose(found, naive.f_measure(y, decided, w, beta), **CLOSE)
    reference = fbeta_score(y, decided, beta=beta, sample_weight=w, zero_division=0)
    np.testing.assert_allclose(found, 100 * reference, **CLOSE)


def test_f_measure_options():
    assert f_measure(["a", "b"], ["a", "b"], pos_label="a", percent=False) == 1.0
    assert f_measure([0, 0], [0, 0]) == 0.0
    with pytest.raises(ValueError, match="3 classes"):
        f_measure([0, 1, 2], [0, 1, 2])
    with pytest.raises(ValueError, match="pos_label"):
        f_measure([0, 1], [0, 1], pos_label=5)
    with pytest.raises(ValueError, match="beta"):
        f_measure([0, 1], [0, 1], beta=-1)


# -- probabilities --------------------------------------------------------------------------------


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


# -- cost curves ----------------------------------------------------------------------------------


@QUICK
@given(rows(both=True), st.floats(0, 1))
def test_cost_curve_is_the_lowest_line_everywhere(case, pc0):
    y, p, _, w = case
    pc, loss = cost_curve(y, p, sample_weight=w)
    assert pc[0] == 0
    assert pc[-1] == 1
    assert (np.diff(pc) > 0).all()
    for at in [pc0, *pc]:
        value = np.interp(at, pc, loss)
        np.testing.assert_allclose(value, naive.cost_curve_at(y, p, w, at), atol=1e-12)
        assert value <= min(at, 1 - at) + 1e-12
    fpr, fnr, thresholds = cost_lines(y, p, sample_weight=w)
    for one in zip(fpr, fnr, thresholds, strict=True):
        np.testing.assert_allclose(one[:2], naive.error_rates(y, p, w, one[2]), atol=1e-12)


def test_cost_curve_of_perfect_useless_and_reversed_scores():
    assert [a.tolist() for a in cost_curve([0, 1], [0.1, 0.9])] == [[0, 1], [0, 0]]
    trivial = [[0, 0.5, 1], [0, 0.5, 0]]
    assert [a.tolist() for a in cost_curve([0, 1], [0.5, 0.5])] == trivial
    assert [a.tolist() for a in cost_curve([0, 1], [0.9, 0.1])] == trivial
    with pytest.raises(ValueError, match="no positive rows"):
        cost_curve([0, 0], [0.1, 0.2])
    # Only the order of the scores matters.
    assert cost_curve([0, 1, 0], [-5, 3, 7])[1].tolist() == (
        cost_curve([0, 1, 0], [0.1, 0.2, 0.3])[1].tolist()
    )


def test_curve_area_refuses_what_is_no_curve():
    with pytest.raises(ValueError, match="ascending"):
        curve_area([1, 0], [0, 0])
    with pytest.raises(ValueError, match="equal lengths"):
        curve_area([0, 1], [0])


# -- thresholds and rankings ----------------------------------------------------------------------


@QUICK
@pytest.mark.filterwarnings("ignore:In these costs the right answer")
@given(priced_rows())
def test_cost_by_threshold_equals_the_naive_twin(case):
    y, p, _, w, given_costs = case
    costs, table = Costs(**given_costs), naive.table(y, **given_costs)
    thresholds, cost = cost_by_threshold(y, p, costs=costs, sample_weight=w)
    for t, value in zip(thresholds, cost, strict=True):
        wanted = naive.cost_at_threshold(table, p, w, t)
        np.testing.assert_allclose(value, wanted, rtol=1e-10, atol=1e-10)
    _, total = cost_by_threshold(y, p, costs=costs, sample_weight=w, normalize=False)
    np.testing.assert_allclose(total, cost * w.sum(), **CLOSE)
    t, best = cheapest_threshold(y, p, costs=costs, sample_weight=w)
    assert best == cost.min()
    np.testing.assert_allclose(naive.cost_at_threshold(table, p, w, t), best, atol=1e-10)


def test_cheapest_threshold_between_neighbouring_floats_and_at_the_ends():
    low = 0.5
    high = np.nextafter(low, 1)
    assert cheapest_threshold([0, 1], [low, high]) == (low, 0.0)
    assert cheapest_threshold([0, 0], [0.2, 0.8]) == (np.inf, 0.0)
    assert cheapest_threshold([1, 1], [0.2, 0.8]) == (-np.inf, 0.0)


@QUICK
@given(priced_rows())
@pytest.mark.filterwarnings("ignore:In these costs")
def test_gain_lift_and_savings_curves_equal_the_naive_twin(case):
    y, p, _, w, given_costs = case
    costs, table = Costs(**given_costs), naive.table(y, **given_costs)
    options = {"costs": costs, "sample_weight": w}
    share, saved = savings_curve(y, p, **options)
    groups = sorted(set(p[w > 0]), reverse=True)
    wanted = [(0.0, 0.0, 0.0)] + [naive.captured(table, p, w, t) for t in groups]
    np.testing.assert_allclose(share, [v[0] for v in wanted], **CLOSE)
    np.testing.assert_allclose(saved, [v[2] for v in wanted], rtol=1e-9, atol=1e-9)
    at_stake = wanted[-1][1]
    if at_stake == 0:
        with pytest.raises(ValueError, match="nothing"):
            gain_curve(y, p, **options)
        return
    _, gain = gain_curve(y, p, **options)
    np.testing.assert_allclose(gain, [v[1] / at_stake for v in wanted], **CLOSE)
    share, lift = lift_curve(y, p, **options)
    np.testing.assert_allclose(lift, gain[1:] / share, **CLOSE)
    _, relative = savings_curve(y, p, normalize=True, **options)
    np.testing.assert_allclose(relative, saved / at_stake, rtol=1e-9, atol=1e-9)


def test_rankings_refuse_other_than_two_classes():
    with pytest.raises(ValueError, match="two classes"):
        cost_by_threshold([0, 1, 2], [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match="earn"):
        gain_curve([0, 1], [0.1, 0.2], costs=Costs(fp=1, fn=1, tn=-1, benefits=True))
    with pytest.raises(ValueError, match="normalize"):
        savings_curve([0, 0], [0.1, 0.2], normalize=True)


def test_the_positive_class_is_that_of_the_costs():
    y, p_bad = ["bad", "good", "bad"], [0.9, 0.2, 0.4]
    costs = Costs(fp=1, fn=10, positive="bad")
    assert cheapest_threshold(y, p_bad, costs=costs) == (pytest.approx(0.3), 0.0)


# -- how sure -------------------------------------------------------------------------------------


def test_bootstrap_cuts_costs_weights_and_arrays_with_the_rows():
    n = 40
    ids = np.arange(n)
    seen = []

    def spy(y, decided, *, costs, sample_weight, tag):
        assert tag == "kept"
        prices = costs.bind([0, 1]).of_labels(np.ones(len(y), int))[:, 0]
        np.testing.assert_array_equal(prices, np.asarray(y) + 1)
        np.testing.assert_array_equal(np.asarray(decided), np.asarray(y))
        np.testing.assert_array_equal(np.asarray(sample_weight), np.asarray(y) + 0.5)
        seen.append(np.asarray(y))
        return np.mean(y)

    result = bootstrap_interval(
        spy,
        ids,
        pd.Series(ids),
        costs={"fp": 1, "fn": ids + 1},
        sample_weight=pl.Series(ids + 0.5),
        tag="kept",
        n_resamples=30,
        random_state=0,
    )
    assert len(seen) == 31
    assert any(len(set(drawn)) < n for drawn in seen)
    assert result.samples.shape == (30,)
    assert result.low <= np.median(result.samples) <= result.high


def test_bootstrap_is_reproducible_and_its_quantiles_are_those_of_the_samples():
    rng = np.random.RandomState(3)
    y, decided = rng.randint(2, size=60), rng.randint(2, size=60)
    options = {"costs": {"fp": 1, "fn": 4}, "random_state": 5, "n_resamples": 200}
    a = bootstrap_interval(mean_cost, y, decided, confidence=0.8, **options)
    b = bootstrap_interval(mean_cost, y, decided, confidence=0.8, **options)
    np.testing.assert_array_equal(a.samples, b.samples)
    np.testing.assert_allclose([a.low, a.high], np.quantile(a.samples, [0.1, 0.9]))
    np.testing.assert_allclose(a.standard_error, a.samples.std(ddof=1))
    basic = bootstrap_interval(mean_cost, y, decided, confidence=0.8, method="basic", **options)
    np.testing.assert_allclose(
        [basic.low, basic.high], [2 * a.estimate - a.high, 2 * a.estimate - a.low]
    )


def test_bootstrap_of_the_mean_has_its_known_standard_error():
    y = np.arange(200) % 2
    result = bootstrap_interval(
        mean_cost, y, np.zeros(200, int), costs={"fp": 1, "fn": 2}, random_state=0
    )
    np.testing.assert_allclose(result.standard_error, 1 / np.sqrt(200), rtol=0.1)


def test_bootstrap_within_strata_and_by_groups():
    y = np.array([0] * 18 + [1] * 2)
    p = np.linspace(0, 1, 20)
    with pytest.raises(ValueError, match="stratify"):
        bootstrap_interval(_envelope_area, y, p, random_state=0, n_resamples=300)
    result = bootstrap_interval(_envelope_area, y, p, stratify=y, random_state=0, n_resamples=50)
    assert result.high <= 0.25
    kept = bootstrap_interval(lambda y: np.sum(y), y, stratify=y, n_resamples=20, random_state=0)
    assert set(kept.samples) == {2.0}
    groups = np.repeat(np.arange(5), 4)
    whole = bootstrap_interval(
        lambda g: np.unique(g, return_counts=True)[1].min(), groups, groups=groups, n_resamples=20
    )
    assert (whole.samples % 4 == 0).all()


def _envelope_area(y, p):
    return curve_area(*cost_curve(y, p))


def test_bootstrap_of_several_values_and_of_string_labels():
    y = np.array(["no"] * 9 + ["yes"])
    result = bootstrap_interval(
        mean_cost, y, y, costs=Costs(1, 2, positive="yes"), n_resamples=200, random_state=0
    )
    assert (result.low, result.high) == (0, 0)
    y01, p = np.arange(30) % 2, np.linspace(0, 1, 30)
    parts = bootstrap_interval(brier_score_by_class, y01, p, n_resamples=50, random_state=0)
    assert parts.low.shape == parts.estimate.shape == (2,)


@pytest.mark.parametrize(
    "options",
    [
        {"n_resamples": 0},
        {"confidence": 1.0},
        {"method": "t"},
        {"stratify": [0, 1], "groups": [0, 1]},
        {"stratify": [0]},
    ],
)
def test_bootstrap_refuses_bad_options(options):
    with pytest.raises(ValueError, match=r"n_resamples|confidence|method|stratify"):
        bootstrap_interval(mean_cost, [0, 1], [0, 1], **options)


def test_bootstrap_refuses_values_that_are_not_finite():
    with pytest.raises(ValueError, match="not finite"):
        bootstrap_interval(savings_score, [0, 0, 1], [1, 0, 0], n_resamples=50, random_state=0)
    with pytest.raises(ValueError, match="no arrays"):
        bootstrap_interval(mean_cost)


@QUICK
@given(
    hnp.arrays(int, st.integers(1, 7), elements=st.integers(0, 1)),
    st.data(),
    st.sampled_from(["two-sided", "less", "greater"]),
)
def test_paired_test_counts_all_sign_patterns(y, data, alternative):
    n = len(y)
    first, second = (data.draw(hnp.arrays(int, n, elements=st.integers(0, 1))) for _ in range(2))
    amount = data.draw(hnp.arrays(float, n, elements=st.sampled_from([1.0, 2.0, 5.0])))
    w = data.draw(hnp.arrays(float, n, elements=st.sampled_from([0.0, 1.0, 2.0])))
    assume(w.any())
    result = paired_cost_test(
        y,
        first,
        second,
        costs=Costs(fp=3, fn=amount),
        sample_weight=w,
        alternative=alternative,
        n_resamples=200,
        random_state=0,
    )
    table = naive.table(y, 3, amount)
    terms = [wi * (row[a] - row[b]) for wi, row, a, b in zip(w, table, first, second, strict=True)]
    np.testing.assert_allclose(result.difference, sum(terms) / w.sum(), **CLOSE)
    nonzero = [t for t in terms if t]
    assert result.n_different == len(nonzero)
    assert result.p_value == pytest.approx(naive.flip_p_value(nonzero, alternative))


def test_paired_test_on_many_rows_agrees_with_the_normal_limit():
    rng = np.random.RandomState(0)
    n = 2000
    y = rng.randint(2, size=n)
    first = np.where(rng.rand(n) < 0.80, y, 1 - y)
    second = np.where(rng.rand(n) < 0.78, y, 1 - y)
    result = paired_cost_test(y, first, second, n_resamples=2000, random_state=1)
    d = (first != y).astype(float) - (second != y)
    z = d.sum() / np.sqrt((d**2).sum())
    assert result.p_value == pytest.approx(2 * stats.norm.sf(abs(z)), abs=0.04)
    half_width = 1.96 * d.std() / np.sqrt(n)
    np.testing.assert_allclose(
        [result.low, result.high], [d.mean() - half_width, d.mean() + half_width], atol=0.004
    )


def test_paired_test_by_groups_and_of_equal_models():
    y = np.ones(8, int)
    assert paired_cost_test(y, y, y).p_value == 1
    grouped = paired_cost_test(y, y, 1 - y, groups=np.repeat([0, 1], 4), random_state=0)
    assert grouped.p_value == 0.5  # two groups: four patterns, two as extreme
    assert grouped.difference == -1
    assert paired_cost_test(y, y, 1 - y, random_state=0).p_value == 2 / 2**8
    with pytest.raises(ValueError, match="alternative"):
        paired_cost_test(y, y, y, alternative="more")
    with pytest.raises(ValueError, match="groups"):
        paired_cost_test(y, y, y, groups=[1])


# -- with scikit-learn ----------------------------------------------------------------------------


class Recorder(ClassifierMixin, BaseEstimator):
    """Knows that row i has the feature i, and remembers which costs it was fitted with."""

    __metadata_request__fit: ClassVar = {"costs": True}

    def __init__(self, power=1.0):
        self.power = power

    def fit(self, X, y, sample_weight=None, costs=None):
        X = np.asarray(X)
        self.classes_ = np.unique(y)
        self.rows_ = X[:, 0].copy()
        self.weights_ = sample_weight
        self.costs_ = costs
        return self

    def predict_proba(self, X):
        p = (np.asarray(X)[:, 1] ** self.power).clip(0, 1)
        return np.stack([1 - p, p], axis=1)

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)]


class Asked(Recorder):
    """A model whose predict takes costs."""

    def predict(self, X, costs=None):
        self.asked_ = costs
        return costs.bind(self.classes_).decide(self.predict_proba(X))


@pytest.fixture
def case():
    rng = np.random.RandomState(0)
    n = 60
    p = rng.rand(n)
    y = (rng.rand(n) < p).astype(int)
    amount = rng.exponential(20, n) + 1
    return np.stack([np.arange(n), p], axis=1), y, Costs(fp=5, fn=amount), amount


@pytest.fixture(params=[False, True], ids=["routing-off", "routing-on"])
def routing(request):
    with sklearn.config_context(enable_metadata_routing=request.param):
        yield request.param


def _by_hand(X, y, amount, folds):
    """Mean cost of each fold when every row is decided by its own price."""
    means = []
    for _, test in folds:
        decided = X[test, 1] > 5 / (5 + amount[test])
        paid = np.where(
            decided, np.where(y[test] == 1, 0, 5), np.where(y[test] == 1, amount[test], 0)
        )
        means.append(paid.mean())
    return means


@pytest.mark.parametrize("model", [Recorder(), Asked()], ids=["proba", "asked"])
def test_cross_validate_cost_gives_each_fold_its_own_costs(case, routing, model):
    X, y, costs, amount = case
    cv = KFold(4, shuffle=True, random_state=0)
    result = cross_validate_cost(
        model,
        X,
        y,
        costs=costs,
        cv=cv,
        return_estimator=True,
        return_predictions=True,
        return_indices=True,
        return_train_score=True,
    )
    folds = list(cv.split(X))
    np.testing.assert_allclose(result["test_cost"], _by_hand(X, y, amount, folds))
    np.testing.assert_allclose(
        result["train_cost"], _by_hand(X, y, amount, [(b, a) for a, b in folds])
    )
    for model, (train, test), got in zip(
        result["estimator"], folds, result["indices"]["test"], strict=True
    ):
        np.testing.assert_array_equal(got, test)
        np.testing.assert_array_equal(model.rows_, train)
        bound = model.costs_.bind([0, 1])
        np.testing.assert_array_equal(
            bound.of_labels(np.ones(len(train), int))[:, 0], amount[train]
        )
    np.testing.assert_array_equal(result["decisions"], X[:, 1] > 5 / (5 + amount))
    np.testing.assert_allclose(result["probabilities"][:, 1], X[:, 1])
    total = total_cost(y, result["decisions"], costs=costs)
    np.testing.assert_allclose(result["test_total_cost"].sum(), total)
    for k, (_, test) in enumerate(folds):
        args = (y[test], result["decisions"][test])
        assert result["test_savings"][k] == pytest.approx(savings_score(*args, costs=costs[test]))
        assert result["test_normalized_cost"][k] == pytest.approx(
            normalized_cost(*args, costs=costs[test])
        )


@pytest.mark.parametrize("kind", ["pandas", "polars", "list"])
def test_cross_validate_cost_takes_any_table(case, kind):
    X, y, costs, amount = case
    table = {
        "pandas": pd.DataFrame(X, columns=["id", "p"], index=np.arange(len(y))[::-1]),
        "polars": pl.DataFrame({"id": X[:, 0], "p": X[:, 1]}),
        "list": X.tolist(),
    }[kind]
    labels = {"pandas": pd.Series(y), "polars": pl.Series(y), "list": y.tolist()}[kind]
    result = cross_validate_cost(Recorder(), table, labels, costs=costs, cv=KFold(3))
    np.testing.assert_allclose(result["test_cost"], _by_hand(X, y, amount, KFold(3).split(X)))


def test_cross_validate_cost_in_pipelines_and_searches(case, routing):
    X, y, costs, amount = case
    pipe = make_pipeline(PassThrough(), Recorder())
    search = GridSearchCV(
        pipe, {"recorder__power": [1.0]}, cv=2, scoring=make_cost_scorer({"fp": 5, "fn": 20})
    )
    for model in (pipe, search):
        result = cross_validate_cost(model, X, y, costs=costs, cv=KFold(3), return_estimator=True)
        np.testing.assert_allclose(result["test_cost"], _by_hand(X, y, amount, KFold(3).split(X)))
        fitted = result["estimator"][0]
        last = getattr(fitted, "best_estimator_", fitted)[-1]
        assert len(last.costs_) == 40


class PassThrough(BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X

    def __sklearn_is_fitted__(self):
        return True


def test_cross_validate_cost_asks_a_model_inside_a_pipeline(case):
    X, y, costs, _ = case
    pipe = make_pipeline(PassThrough(), Asked())
    result = cross_validate_cost(pipe, X, y, costs=costs, cv=KFold(3), return_estimator=True)
    assert len(result["estimator"][0][-1].asked_) == 20


def test_cross_validate_cost_with_groups_weights_and_parameters(case, routing):
    X, y, costs, _ = case
    groups, weight = np.arange(60) // 6, np.arange(60) + 1.0
    result = cross_validate_cost(
        Recorder(),
        X,
        y,
        costs=costs,
        cv=GroupKFold(3),
        groups=groups,
        sample_weight=weight,
        return_estimator=True,
        return_indices=True,
        return_predictions=True,
    )
    for k, (train, test) in enumerate(zip(*result["indices"].values(), strict=True)):
        assert not set(groups[train]) & set(groups[test])
        np.testing.assert_array_equal(result["estimator"][k].weights_, weight[train])
        assert result["test_cost"][k] == pytest.approx(
            mean_cost(
                y[test],
                result["decisions"][test],
                costs=costs[test],
                sample_weight=weight[test],
            )
        )
    again = cross_validate_cost(
        Recorder(),
        X,
        y,
        costs=costs,
        cv=GroupKFold(3),
        groups=groups,
        params={"sample_weight": weight},
    )
    assert again["test_cost"].shape == (3,)


def test_cross_validate_cost_of_a_classifier_that_knows_no_costs(case, routing):
    X, y, costs, _ = case
    result = cross_validate_cost(
        make_pipeline(StandardScaler(), LogisticRegression()), X, y, costs=costs
    )
    assert (result["test_savings"] <= 1).all()
    assert len(result["test_cost"]) == 5


def test_cross_validate_cost_in_parallel_and_on_sparse_rows(case):
    X, y, costs, _ = case
    one = cross_validate_cost(LogisticRegression(), X, y, costs=costs, cv=3)
    with parallel_config(backend="threading"):
        two = cross_validate_cost(LogisticRegression(), X, y, costs=costs, cv=3, n_jobs=2)
    thin = cross_validate_cost(LogisticRegression(), csr_array(X), y, costs=costs, cv=3)
    np.testing.assert_array_equal(one["test_cost"], two["test_cost"])
    np.testing.assert_allclose(one["test_cost"], thin["test_cost"])


def test_cross_validate_cost_of_own_decisions(case):
    X, y, costs, _ = case
    result = cross_validate_cost(
        Asked.__base__(), X, y, costs=costs, decide="predict", return_predictions=True, cv=3
    )
    np.testing.assert_array_equal(result["decisions"], X[:, 1] > 0.5)
    svm = cross_validate_cost(LinearSVC(), X, y, costs=costs, decide="predict", cv=3)
    assert svm["test_cost"].shape == (3,)
    with pytest.raises(ValueError, match="MinimumCostClassifier"):
        cross_validate_cost(LinearSVC(), X, y, costs=costs, cv=3)
    with pytest.raises(ValueError, match="decide"):
        cross_validate_cost(LinearSVC(), X, y, costs=costs, decide="guess")


def test_cross_validate_cost_survives_folds_that_lack_a_class():
    X, y = make_classification(90, n_informative=4, n_classes=3, random_state=0)
    y = np.array(["a", "b", "c"])[y]
    order = np.argsort(y)
    C = np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0]])
    result = cross_validate_cost(
        GaussianNB(), X[order], y[order], costs=C, cv=KFold(3), return_predictions=True
    )
    assert result["probabilities"].shape == (90, 3)
    assert (result["test_cost"] >= 0.9).all()  # the true class was never seen


def test_cross_validate_cost_with_actions_and_classes_in_another_order(case):
    X, y, _, _ = case
    labels = np.array(["good", "bad"])[y]
    loan = Costs.from_matrix(
        [[0, 1, 6], [30, 2, 0]], classes=["good", "bad"], actions=["approve", "review", "no"]
    )
    result = cross_validate_cost(
        GaussianNB(), X[:, 1:], labels, costs=loan, cv=3, return_predictions=True
    )
    assert set(result["decisions"]) <= {"approve", "review", "no"}
    expected = result["probabilities"] @ np.array([[0, 1, 6], [30, 2, 0]])
    np.testing.assert_array_equal(
        result["decisions"], np.array(["approve", "review", "no"])[expected.argmin(axis=1)]
    )


def test_cross_validate_cost_refuses_what_it_cannot_do(case):
    X, y, costs, _ = case
    with pytest.raises(ValueError, match="exactly once"):
        cross_validate_cost(
            Recorder(), X, y, costs=costs, cv=ShuffleSplit(3), return_predictions=True
        )
    with pytest.raises(ValueError, match="60"):
        cross_validate_cost(Recorder(), X, y, costs=costs[:10])
    with pytest.raises(ValueError, match="sample_weight"):
        cross_validate_cost(NoWeights(), X, y, costs=costs, sample_weight=np.ones(60))


class NoWeights(Recorder):
    def fit(self, X, y):
        return super().fit(X, y)


@pytest.mark.parametrize("kind", ["mean", "total", "normalized", "regret", "savings"])
def test_scorers_decide_with_costs_and_measure_them(case, kind):
    X, y, costs, amount = case
    model = Recorder().fit(X, y)
    decided = (X[:, 1] > 5 / (5 + amount)).astype(int)
    measure = {
        "mean": mean_cost,
        "total": total_cost,
        "normalized": normalized_cost,
        "regret": mean_regret,
        "savings": savings_score,
    }[kind]
    sign = 1 if kind == "savings" else -1
    w = np.arange(60.0)
    for scorer, options in (
        (make_cost_scorer(kind=kind), {"costs": costs}),
        (make_cost_scorer(costs, kind=kind), {}),
    ):
        found = scorer(model, X, y, sample_weight=w, **options)
        assert found == pytest.approx(sign * measure(y, decided, costs=costs, sample_weight=w))


def test_scorers_keep_costs_in_cross_validate_with_routing(case):
    X, y, costs, amount = case
    with sklearn.config_context(enable_metadata_routing=True):
        result = cross_validate(
            Recorder(),
            X,
            y,
            cv=KFold(3),
            params={"costs": costs},
            scoring={"cost": make_cost_scorer(), "savings": make_cost_scorer(kind="savings")},
            return_estimator=True,
            error_score="raise",
        )
        np.testing.assert_allclose(-result["test_cost"], _by_hand(X, y, amount, KFold(3).split(X)))
        assert len(result["estimator"][0].costs_) == 40
        single = cross_validate(
            Recorder(), X, y, cv=KFold(3), params={"costs": costs}, scoring=make_cost_scorer()
        )
        np.testing.assert_allclose(single["test_score"], result["test_cost"])


def test_scorers_keep_costs_in_a_search_with_routing(case):
    X, y, costs, amount = case
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            Recorder(), {"power": [1.0, 5.0]}, cv=KFold(3), scoring=make_cost_scorer()
        )
        search = clone(search).fit(X, y, costs=costs)
        means = -search.cv_results_["mean_test_score"]
        np.testing.assert_allclose(means[0], np.mean(_by_hand(X, y, amount, KFold(3).split(X))))
        scorer = make_cost_scorer().set_score_request(costs="prices", sample_weight=True)
        result = cross_validate(
            GaussianNB().set_fit_request(sample_weight=True),
            X,
            y,
            params={"prices": costs, "sample_weight": np.ones(60)},
            scoring=scorer,
            error_score="raise",
        )
        assert (result["test_score"] <= 0).all()


def test_scorers_refuse_to_score_without_costs(case):
    X, y, costs, _ = case
    scorer = make_cost_scorer()
    with pytest.raises(ValueError, match="cross_validate_cost"):
        scorer(Recorder().fit(X, y), X, y)
    # Routing off: scikit-learn gives costs to fit alone.
    with pytest.raises(ValueError, match="no costs reached"):
        cross_validate(
            Recorder(), X, y, params={"costs": costs}, scoring=scorer, error_score="raise"
        )
    with pytest.raises(ValueError, match="costs for 60 rows"):
        cross_validate(Recorder(), X, y, scoring=make_cost_scorer(costs), error_score="raise")
    with pytest.raises(ValueError, match="kind"):
        make_cost_scorer(kind="median")
    with pytest.raises(ValueError, match="decide"):
        make_cost_scorer(decide="guess")


def test_scorers_with_constant_costs_work_everywhere(case, routing):
    X, y, _, _ = case
    scorer = make_cost_scorer({"fp": 1, "fn": 4})
    # params={}: scikit-learn 1.6.0 with routing on fails without.
    result = cross_validate(
        Recorder(), X, y, cv=KFold(3), scoring=scorer, params={}, error_score="raise"
    )
    folds = KFold(3).split(X)
    wanted = [-mean_cost(y[t], (X[t, 1] > 0.2) * 1, costs={"fp": 1, "fn": 4}) for _, t in folds]
    np.testing.assert_allclose(result["test_score"], wanted)
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, scoring=scorer)
    assert search.fit(X, y).best_score_ <= 0


def test_scorers_of_searches_with_weights_and_several_metrics(case):
    X, y, _, _ = case
    scoring = {"cost": make_cost_scorer({"fp": 1, "fn": 4}), "accuracy": "accuracy"}
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}, scoring=scoring, refit="cost")
    assert search.fit(X, y, sample_weight=np.ones(60)).best_score_ <= 0


def test_scorers_pickle_clone_and_print():
    scorer = make_cost_scorer({"fp": 1, "fn": 4}, kind="savings")
    assert pickle.loads(pickle.dumps(scorer)).kind == "savings"
    assert clone(scorer).costs == {"fp": 1, "fn": 4}
    assert "savings" in repr(scorer)


def test_scorer_sees_classes_that_the_model_or_the_rows_lack():
    X = np.stack([np.arange(6), np.linspace(0.1, 0.9, 6)], axis=1)
    model = Recorder().fit(X, ["a", "b"] * 3)
    C = Costs.from_matrix([[0, 1, 2], [3, 0, 4], [5, 6, 0]], classes=["a", "b", "c"])
    score = make_cost_scorer(C)(model, X, ["c"] * 6)
    assert -6 <= score <= -5
    assert make_cost_scorer({"fp": 1, "fn": 1, "positive": "a"})(model, X, ["a"] * 6) <= 0


# -- many methods on many data sets ---------------------------------------------------------------

tables = hnp.arrays(
    float,
    st.tuples(st.integers(1, 7), st.integers(2, 5)),
    elements=st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 0.9]),
)


@QUICK
@given(tables)
def test_ranks_and_pairwise_tests_equal_the_naive_twin(scores):
    np.testing.assert_allclose(average_ranks(scores), naive.average_ranks(scores))
    np.testing.assert_allclose(
        average_ranks(scores, lower_is_better=False), naive.average_ranks(-scores)
    )
    k = scores.shape[1]
    pairs = [(i, j) for i, j in product(range(k), repeat=2) if i < j]
    raw = [naive.signed_rank_p((scores[:, i] - scores[:, j]).tolist()) for i, j in pairs]
    for correct, wanted in ((False, raw), (True, naive.holm(raw))):
        found = wilcoxon_holm(scores, correct=correct)
        np.testing.assert_allclose([found[i, j] for i, j in pairs], wanted, atol=1e-12)
        np.testing.assert_array_equal(found, found.T)
        assert (np.diag(found) == 1).all()
    result = critical_difference(scores, alpha=0.4)
    apart = (result.p_values <= 0.4).tolist()
    assert list(result.groups) == naive.groups(result.order, apart)
    assert (np.diff(result.average_ranks[list(result.order)]) >= 0).all()


@QUICK
@given(hnp.arrays(int, st.tuples(st.integers(2, 8), st.integers(3, 5)), elements=st.integers(0, 9)))
def test_friedman_equals_scipy(scores):
    found = friedman_test(scores)
    if (scores == scores[:, :1]).all():
        assert found == (0.0, 1.0, 0.0, 1.0)
        return
    wanted = stats.friedmanchisquare(*scores.T)
    np.testing.assert_allclose(found.statistic, wanted.statistic, atol=1e-9)
    np.testing.assert_allclose(found.p_value, wanted.pvalue, atol=1e-9)
    n, k = scores.shape
    if found.statistic < n * (k - 1) - 1e-9:
        f = (n - 1) * found.statistic / (n * (k - 1) - found.statistic)
        np.testing.assert_allclose(found.f_statistic, f, rtol=1e-6)


def test_friedman_of_perfect_agreement_and_of_one_data_set():
    assert friedman_test([[1, 2, 3]] * 4)[2:] == (np.inf, 0.0)
    assert friedman_test([[1, 2, 3]]).f_p_value == 1.0


@pytest.mark.parametrize("n", [12, 60, 199, 400])
def test_signed_ranks_agree_with_scipy(n):
    rng = np.random.RandomState(n)
    scores = rng.rand(n, 2)
    scores[:, 0] += 0.05
    found = wilcoxon_holm(scores)[0, 1]
    exact = stats.wilcoxon(scores[:, 0], scores[:, 1], method="exact").pvalue
    np.testing.assert_allclose(found, exact, rtol=1e-8 if n <= 200 else 0.02)


def test_holm_correction_equals_the_naive_twin():
    p = [0.01, 0.04, 0.03, 0.005, 0.9]
    np.testing.assert_allclose(holm_correction(p), naive.holm(p))
    np.testing.assert_allclose(holm_correction([]), [])


def test_critical_difference_of_demsar():
    # Demsar 2006, table 6: q = 2.569 for four methods; 14 data sets give CD = 1.25.
    rng = np.random.RandomState(0)
    scores = rng.rand(14, 4) + np.array([0, 0, 0, 3])
    result = critical_difference(scores, test="nemenyi")
    assert result.difference == pytest.approx(1.25, abs=0.005)
    assert result.order[-1] == 3
    gaps = np.abs(result.average_ranks[:, None] - result.average_ranks)
    far = gaps > result.difference
    np.testing.assert_array_equal(far, result.p_values < 0.05)
    assert list(result.groups) == naive.groups(result.order, far.tolist())


def test_overlapping_groups():
    order, apart = (2, 0, 1, 3), np.zeros((4, 4), bool)
    apart[2, 1] = apart[1, 2] = apart[2, 3] = apart[3, 2] = apart[0, 3] = apart[3, 0] = True
    assert metrics._ranks._runs(order, apart) == ((2, 0), (0, 1), (1, 3))


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([1, 2], {}, "shape"),
        ([[1], [2]], {}, "two methods"),
        ([[1, np.nan]], {}, "missing"),
        ([[1, np.inf]], {}, "infinite"),
        ([[1, 2]], {"alpha": 0}, "alpha"),
        ([[1, 2]], {"test": "t"}, "nemenyi"),
    ],
)
def test_bad_tables_are_refused(scores, options, message):
    with pytest.raises(ValueError, match=message):
        critical_difference(scores, **options)


# What measures return; their examples are those of the measures.
RESULTS = ("Result", "Difference", "Interval", "Test", "CapacityCurve", "CoverageCurve", "Profit")


def test_every_public_name_is_there_and_documented():
    for name in metrics.__all__:
        item = getattr(metrics, name)
        assert item.__doc__
        assert name.endswith(RESULTS) or (">>>" in item.__doc__), name


def test_no_measure_warns_on_degenerate_rows():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for y, p in product(([0, 0], [1, 1], [0, 1]), ([0.0, 0.0], [1.0, 1.0], [0.0, 1.0])):
            brier_score_by_class(y, p)
            brier_curve(y, p)
            cost_by_threshold(y, p)
            savings_curve(y, p)
            normalized_cost(y, [0, 1])
            savings_score(y, [0, 1])
