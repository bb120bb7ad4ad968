"""Cai, Song and Zhang's loss: its objectives, prices and first constants."""

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone

from costboost import Costs, GradientBoostClassifier
from costboost.boosting.gradient.losses import CostExponentialLoss
from costboost.boosting.gradient.losses.cost_exponential import NAMED
from costboost.boosting.gradient.rows import LossRows
from costboost.shards import layout
from gradient_shards import best_constant


def test_a_class_that_costs_nothing_has_a_finite_start():
    y = np.array([0, 1, 1])
    table = np.array([[0.0, 0.0], [1.0, 0.0]])
    found = best_constant(CostExponentialLoss("cgada"), LossRows(y, table=table))
    assert 15 < found[0] < 20


PRICES = np.array([[0.0, 0.5], [1.0, 0.0], [4.0, 3.0]])  # the third is cheaper to get wrong
LABELS = np.array([0, 1, 0])
PARAMS = SimpleNamespace


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        ("asymboost", lambda c, m: np.exp(-c * m)),
        ("adac1", lambda c, m: np.exp(-c * m)),
        ("adacost", lambda c, m: c * np.exp(-(m / 2 - c / 2 * 0.7))),
        ("cgada", lambda c, m: c * np.exp(-m)),
        ("adaboost", lambda c, m: np.exp(-m)),
    ],
)
def test_objectives_by_hand(objective, expected):
    raw = np.array([0.3, -0.4, 0.9])
    loss = CostExponentialLoss(objective, total=0.7)
    costs = np.array([0.5, 1.0, 1.0])
    margins = np.array([-0.3, -0.4, 0.9])  # each aims at its cheapest answer
    found = loss.value(LABELS, raw, PRICES)
    np.testing.assert_allclose(found, expected(costs, margins), rtol=1e-14)


def test_the_largest_cost_of_a_mistake_is_scaled_to_1():
    loss = CostExponentialLoss()
    rows = LossRows(LABELS, prices=1e-300 * PRICES)
    largest = loss.largest_cost(rows)
    assert largest == 1e-300
    scaled = loss.scaled(largest)
    raw = np.array([0.3, -0.4, 0.9])
    expected = loss.value(LABELS, raw, PRICES)
    np.testing.assert_allclose(scaled.value(LABELS, raw, 1e-300 * PRICES), expected, rtol=1e-12)
    table = np.array([[1.0, 3.0], [9.0, 2.0]])
    assert loss.largest_cost(LossRows(LABELS, table=table)) == 7.0
    own = LossRows(LABELS, prices=PRICES, objective=(np.ones(3),) * 3)
    assert loss.largest_cost(own) == 0.0


def test_rows_weigh_1_where_nothing_costs_anything():
    for objective in ("cgada", "adacost"):
        loss, given = CostExponentialLoss(objective), (LABELS, np.zeros(3), np.zeros((3, 2)))
        assert loss.scaled(0.0).value(*given).tolist() == [1.0, 1.0, 1.0]
        assert loss.scaled(2.0).value(*given).tolist() == [0.0, 0.0, 0.0]  # others cost something


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("objective", ["cgada", "adacost"])
def test_the_model_does_not_depend_on_which_rows_are_seen_together(
    objective, n_classes, monkeypatch
):
    """Many a block, and a shard, has rows that all cost nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 3))
    y = (X[:, 0] + rng.normal(size=160) > 0).astype(int) + (n_classes == 3) * (X[:, 1] > 1)
    prices = rng.uniform(1.0, 3.0, (160, n_classes))
    prices[np.arange(160), y] = 0.0
    prices[:120] = 0.0
    model = GradientBoostClassifier("cost-exponential", 4, objective=objective, random_state=0)
    whole = clone(model).fit(X, y, costs=Costs.of_rows(prices))
    monkeypatch.setattr("costboost.shards.layout._BLOCK", 16)
    monkeypatch.setattr("costboost.shards.layout._DEAL", 7)
    for n_shards in (1, 2, 7):
        monkeypatch.setattr("costboost.fitting.tables.sensible_shards", lambda *_, n=n_shards: n)
        found = clone(model).fit(X, y, costs=Costs.of_rows(prices))
        np.testing.assert_array_equal(found.start_, whole.start_)
        np.testing.assert_array_equal(found.decision_function(X), whole.decision_function(X))


def test_rows_of_a_class_are_taken_as_one_unless_they_aim_elsewhere():
    loss, y = CostExponentialLoss("cgada"), np.array([0, 1, 1])
    terms = loss.bind(LossRows(y, table=np.array([[0.0, 0.5], [1.0, 0.0]])))
    assert terms.by_class
    assert (terms.a.tolist(), terms.w0.tolist()) == ([-1.0, 1.0], [0.5, 1.0])
    rows = LossRows(y, table=np.array([[0.0, 0.5], [1.0, 3.0]]))  # class 1 is cheaper to answer 0
    terms = loss.bind(rows)
    assert loss.of_classes(rows) is None
    assert not terms.by_class
    assert (terms.a.tolist(), terms.labels.tolist()) == ([-1.0] * 3, [0, 0, 0])
    own = (np.array([1.0, -2.0, 0.5]), np.zeros(3), np.ones(3))
    terms = loss.bind(LossRows(y, objective=own))
    assert not terms.by_class
    assert terms.labels.tolist() == [1, 0, 1]


@pytest.mark.parametrize("by_row", [False, True])
def test_the_sum_of_steps_counts_for_the_mean(by_row):
    y, raw, w = np.array([0, 1, 1]), np.array([[0.2], [0.1], [-0.5]]), np.array([1.0, 2.0, 0.5])
    table = np.array([[0.0, 0.5], [1.0, 0.0]])
    given = {"prices": table[y]} if by_row else {"table": table}
    loss, rows = CostExponentialLoss("adacost"), LossRows(y, weights=w, **given)
    costs = np.array([0.5, 1.0, 1.0])
    margins = np.where(y == 1, raw[:, 0], -raw[:, 0])
    for total in (0.0, 1.3):
        values = costs * np.exp(-(margins - costs * total) / 2)
        expected = np.average(values, weights=w)
        assert loss.mean_value(rows, raw, total) == pytest.approx(expected, rel=1e-14)


def test_the_parameter_objective_is_read():
    def own(at):
        return at.sign, 0 * at.cost, at.cost + 1

    read = CostExponentialLoss.from_params
    assert read(PARAMS(objective="cgada"), LABELS, None).objective == "cgada"
    assert read(PARAMS(objective=own), LABELS, None).objective is own
    with pytest.raises(ValueError, match="objective"):
        read(PARAMS(objective="best"), LABELS, None)
    found = CostExponentialLoss(own).value(LABELS, np.zeros(3), PRICES)
    assert found.tolist() == [1.5, 2.0, 2.0]


def test_numbers_of_every_row_are_read_for_two_classes():
    loss, given = CostExponentialLoss(), ([1.0, -1.0, 2.0], [0.0] * 3, [1.0] * 3)
    a, _, w0 = loss.read_row_terms(PARAMS(objective=given), 3, 2)
    assert (a.tolist(), w0.tolist()) == ([1.0, -1.0, 2.0], [1.0] * 3)
    assert loss.read_row_terms(PARAMS(objective="cgada"), 3, 2) is None
    with pytest.raises(ValueError, match="two classes; give a function"):
        loss.read_row_terms(PARAMS(objective=given), 3, 3)
    with pytest.raises(ValueError, match="objective"):
        loss.read_row_terms(PARAMS(objective=given), 4, 2)


def test_an_objective_of_a_file_has_a_known_name():
    CostExponentialLoss("adac1").check_restored()
    for odd in ("best", None, np.mean):
        with pytest.raises(ValueError, match="no objective that is known"):
            CostExponentialLoss(odd).check_restored()


@pytest.mark.parametrize("alike", [0, 5, 12, 40])  # the first prices that are all 1
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("objective", list(NAMED))
def test_blocks_of_rows_have_the_numbers_of_all_rows(objective, n_classes, alike, monkeypatch):
    rng = np.random.default_rng(0)
    prices = rng.uniform(0, 1, (40, n_classes))
    prices[:alike] = 1.0
    y = rng.integers(0, n_classes, 40)
    prices[np.arange(40), y] = 0.0
    n_outputs = 1 if n_classes == 2 else n_classes
    rows = LossRows(y.astype(np.uint8), n_outputs, prices=prices)
    seen = []

    def at_once(at):
        seen.append(at.cost.shape)
        return NAMED[objective](at)

    monkeypatch.setattr(layout, "_BLOCK", 6)
    expected = CostExponentialLoss(at_once).bind(rows)
    assert seen == [(40,) if n_outputs == 1 else (40, n_classes)]
    found = CostExponentialLoss(objective).bind(rows)
    for name in ("labels", "a", "b", "w0"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    margins = rng.normal(size=(40, n_outputs))
    pairs = (CostExponentialLoss(who).derivatives(rows, margins) for who in (objective, at_once))
    np.testing.assert_array_equal(*pairs)
    none = CostExponentialLoss(objective).bind(rows.take(slice(0)))
    assert none.a.shape == none.b.shape == none.w0.shape


def test_named_objectives_make_little_beside_their_numbers():
    n = 400_000
    costs = Costs(fp=1, fn=np.random.default_rng(0).uniform(1, 9, n)).bind([0, 1])
    rows = LossRows((np.arange(n) % 2).astype(np.uint8), costs=costs)
    tracemalloc.start()
    try:
        bound = CostExponentialLoss("asymboost").bind(rows)
        peak = tracemalloc.get_traced_memory()[1] / n
    finally:
        tracemalloc.stop()
    assert bound.b.shape == bound.w0.shape == (1,)
    assert peak < 16  # bytes a row, of which a and the labels are 9
