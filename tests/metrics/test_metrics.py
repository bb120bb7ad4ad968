"""What holds for all measures: units, weights, rows without weight, degenerate rows."""

import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costboost import metrics
from costboost.costs import Costs
from costboost.metrics import (
    brier_curve,
    brier_score,
    brier_score_by_class,
    cost_by_threshold,
    f_measure,
    mean_cost,
    normalized_cost,
    paired_cost_test,
    savings_curve,
    savings_score,
)
from metric_rows import CLOSE, QUICK, priced_rows, rows


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


# What measures return; their examples are those of the measures.
RESULTS = (
    "Result",
    "Difference",
    "Interval",
    "Test",
    "CapacityCurve",
    "CoverageCurve",
    "Profit",
    "Swap",
    "Exchange",
)


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
