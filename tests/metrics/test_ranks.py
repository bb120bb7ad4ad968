"""Ranks and tests over data sets, against the naive twins, scipy and published values."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from costboost import metrics
from costboost.metrics import (
    average_ranks,
    critical_difference,
    friedman_test,
    holm_correction,
    wilcoxon_holm,
)
from metric_rows import QUICK
from naive import metrics as naive

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
