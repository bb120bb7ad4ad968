"""What decisions did cost, against the naive twins and by hand."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import fbeta_score

from costboost.costs import Costs
from costboost.metrics import (
    cost_confusion_matrix,
    cost_lines,
    f_measure,
    mean_cost,
    mean_regret,
    normalized_cost,
    savings_score,
    total_cost,
)
from metric_rows import CLOSE, QUICK, priced_rows, rows
from naive import metrics as naive


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
