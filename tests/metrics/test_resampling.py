"""Bootstrap intervals and the paired test, against known limits, scipy and all patterns counted."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from costboost.costs import Costs
from costboost.metrics import (
    bootstrap_interval,
    brier_score_by_class,
    cost_curve,
    curve_area,
    mean_cost,
    paired_cost_test,
    savings_score,
    total_cost,
)
from metric_rows import CLOSE, QUICK
from naive import metrics as naive


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


def test_intervals_print_in_one_line():
    y, decided = [0, 1, 1, 0] * 20, [0, 1, 0, 0] * 20
    found = bootstrap_interval(total_cost, y, decided, costs={"fp": 1, "fn": 5}, random_state=0)
    assert repr(found).startswith("BootstrapInterval(estimate=100, low=")
    assert repr(found).endswith(", 1000 resamples)")
    assert "\n" not in repr(found)
    assert len(repr(found)) < 100
    several = bootstrap_interval(np.mean, np.ones((9, 2)), axis=0, random_state=0)
    assert "estimate=<array of shape (2,)>" in repr(several)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_bca_agrees_with_scipy(confidence):
    amounts = np.random.default_rng(0).lognormal(3, 1.5, 60)
    ours = bootstrap_interval(
        np.mean, amounts, method="bca", confidence=confidence, n_resamples=20_000, random_state=0
    )
    theirs = stats.bootstrap(
        (amounts,), np.mean, method="BCa", confidence_level=confidence, n_resamples=20_000,
        rng=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    width = theirs.high - theirs.low
    assert abs(ours.low - theirs.low) < 0.02 * width
    assert abs(ours.high - theirs.high) < 0.04 * width
    plain = bootstrap_interval(
        np.mean, amounts, confidence=confidence, n_resamples=20_000, random_state=0
    )
    assert ours.low > plain.low  # sums of skewed costs: the interval moves up
    assert ours.high > plain.high


def test_bca_of_several_measures_groups_and_strata():
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.lognormal(1, 1, 700), -rng.lognormal(1, 1, 700)])
    both = bootstrap_interval(np.mean, table, axis=0, method="bca", random_state=0)
    for j in range(2):
        alone = bootstrap_interval(np.mean, table[:, j], method="bca", random_state=0)
        assert both.low[j] == pytest.approx(alone.low)
        assert both.high[j] == pytest.approx(alone.high)
    assert both.low[0] == pytest.approx(-both.high[1], rel=0.2)
    for option in ("groups", "stratify"):
        found = bootstrap_interval(
            np.mean, table[:, 0], method="bca", **{option: np.arange(700) % 7}, random_state=0
        )
        assert found.low < found.estimate < found.high
    constant = bootstrap_interval(np.mean, np.ones(10), method="bca", random_state=0)
    assert constant.low == constant.high == 1.0
    with pytest.raises(ValueError, match="use 'percentile', 'basic' or 'bca'"):
        bootstrap_interval(np.mean, np.ones(4), method="t")


@pytest.mark.parametrize("unit", [2.0**-900, 2.0**-560, 2.0**300, 2.0**900])
def test_bca_does_not_depend_on_the_unit_of_cost(unit):
    y, decided = np.arange(40) % 2, np.arange(40) // 2 % 2
    options = {"method": "bca", "n_resamples": 100, "random_state": 0}
    plain = bootstrap_interval(mean_cost, y, decided, costs={"fp": 1, "fn": 7}, **options)
    other = bootstrap_interval(mean_cost, y, decided, costs={"fp": unit, "fn": 7 * unit}, **options)
    assert (other.low / unit, other.high / unit) == (plain.low, plain.high)
