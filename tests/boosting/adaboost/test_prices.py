"""Costs as training sees them: aims, prices of rows and answers, and scales."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from costboost import Costs
from costboost.boosting.adaboost.rows import aimed_labels, row_prices
from costboost.boosting.adaboost.rules import RULES, class_prices
from costboost.boosting.adaboost.weights import WIDEST, price_scale

C = np.array([[1.0, 4.0, 7.0], [2.0, 0.0, 6.0], [5.0, 3.0, 2.0]])
DEAR = np.array([[3.0, 1.0, 7.0], [2.0, 0.0, 6.0], [5.0, 3.0, 2.0]])  # class 0 is better called 1


def matrix(C):
    return Costs.from_matrix(C, classes=np.arange(C.shape[-1])).bind(np.arange(C.shape[-1]))


def test_prices_of_classes_are_what_mistakes_cost_more():
    found = class_prices(matrix(C), 3)
    assert found.constant
    assert found.row_price.tolist() == [4.5, 4.0, 2.0]
    assert found.answer_price.tolist() == [[4.5, 3.0, 6.0], [2.0, 4.0, 6.0], [3.0, 1.0, 2.0]]
    assert (found.largest, found.smallest) == (6.0, 1.0)
    rows = found.by_row(np.array([2, 0]))
    assert rows.row_price.tolist() == [2.0, 4.5]
    assert rows.by_row(np.array([0, 0])) is rows  # they are by row already
    assert found.scaled(0.5).answer_price.tolist() == (0.5 * found.answer_price).tolist()


def test_rows_of_a_class_that_is_better_called_otherwise_have_prices_of_their_own():
    assert class_prices(matrix(DEAR), 3) is None
    blunt = class_prices(matrix(DEAR), 3, aim=False)
    assert blunt.answer_price[0].tolist() == [2.0, 0.0, 4.0]  # cheaper ones cost nothing more
    y = np.array([0, 1, 2, 0])
    assert aimed_labels(matrix(DEAR), y, 3).tolist() == [1, 1, 2, 1]
    assert aimed_labels(matrix(DEAR), y, 3, aim=False) is y
    assert aimed_labels(matrix(C), y, 3) is y
    found = row_prices(matrix(DEAR), y, np.array([1, 1, 2, 1]))
    assert found.answer_price[0].tolist() == [2.0, 4.0, 6.0]
    assert found.row_price.tolist() == [4.0, 4.0, 2.0, 4.0]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_prices_of_rows_against_a_loop(n_classes, monkeypatch):
    monkeypatch.setattr("costboost.shards.layout._BLOCK", 7)
    rng = np.random.default_rng(0)
    cells = 10.0 ** rng.uniform(-300, 300, (40, n_classes, n_classes))
    cells[rng.uniform(size=cells.shape) < 0.3] = 0.0
    costs = Costs.from_matrix(cells, classes=np.arange(n_classes)).bind(np.arange(n_classes), 40)
    y = rng.integers(0, n_classes, 40)
    labels = aimed_labels(costs, y, n_classes)
    assert class_prices(costs, n_classes) is None
    found = row_prices(costs, y, labels)
    for i in range(40):
        paid = cells[i, y[i]]
        least = y[i] if paid[y[i]] == paid.min() else np.argmin(paid)
        assert labels[i] == least
        others = [paid[k] - paid[least] for k in range(n_classes) if k != least]
        assert_allclose(found.row_price[i], sum(other / len(others) for other in others))
        wrong = np.insert(others, least, found.row_price[i])
        assert_array_equal(found.answer_price[i], wrong)
    assert np.isfinite(found.row_price).all()


def test_actions_that_are_no_classes_have_no_prices():
    actions = ["no", "ask", "yes"]
    costs = Costs.from_matrix([[0, 1, 3], [9, 2, 0]], classes=[0, 1], actions=actions).bind([0, 1])
    found = class_prices(costs, 2)
    assert found.row_price.tolist() == [1.0, 1.0]
    assert found.answer_price.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_without_any_price_there_is_no_smallest():
    free = class_prices(matrix(np.array([[1.0, 1.0], [3.0, 3.0]])), 2)
    assert (free.largest, free.smallest) == (0.0, np.inf)


@pytest.mark.parametrize(
    ("method", "largest", "smallest", "wanted", "scale"),
    [
        ("adac2", 50.0, 2.0, "auto", 1.0),  # as they are
        ("adac2", 2.0**900, 1.0, "auto", 2.0**-901),  # but in range
        ("csb2", 50.0, 2.0, "auto", 0.5),  # the smallest is 1
        ("csb2", 1e300, 1e-300, "auto", WIDEST / 1e300),
        ("csada", 50.0, 2.0, "auto", 0.02),  # the largest is 1
        ("csada", 50.0, 2.0, 0.5, 0.01),  # or what was asked for
        ("adacost", 50.0, 2.0, 0.25, 0.005),
        ("csb2", 0.0, np.inf, "auto", 1.0),
        ("csada", 0.0, np.inf, 0.5, 1.0),
    ],
)
def test_rules_scale_prices_in_their_own_way(method, largest, smallest, wanted, scale):
    assert price_scale(largest, smallest, RULES[method], wanted) == pytest.approx(scale, rel=1e-15)
