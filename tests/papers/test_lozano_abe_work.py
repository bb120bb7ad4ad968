"""One draw of Lozano and Abe's experiments: its rows, its costs, and what each method pays."""

from dataclasses import replace

import numpy as np
import pytest

from costboost.papers import lozano_abe_work as work

pytestmark = pytest.mark.usefixtures("iris")


def test_draws_keep_every_class_and_price_by_frequency():
    drawn = work.cut("iris", 0, None)
    assert len(drawn.y) + len(drawn.y_test) == 125
    assert len(drawn.y_test) == 41
    assert set(drawn.y) == {"a", "b", "c"}
    again, other = work.cut("iris", 0, None), work.cut("iris", 1, None)
    prices = [np.asarray(d.costs.of_labels(["a", "b", "c"])) for d in (drawn, again, other)]
    assert np.array_equal(prices[0], prices[1])
    assert not np.array_equal(prices[0], prices[2])
    assert np.array_equal(drawn.X, again.X)


def test_c45_stands_beside_small_tables_only(monkeypatch):
    monkeypatch.setattr(work, "MAX_PAIRS", 251)  # 84 rows of three classes
    assert work.lozano_abe_cell("iris", 0, "C4.5", None) == []


def test_the_objective_stays_below_its_bound_and_falls():
    path = work.bound_path("iris", None)
    objective = np.array([row["objective"] for row in path])
    bound = np.array([row["bound"] for row in path])
    assert np.all(objective <= bound)
    assert np.all(np.diff(objective) <= 1e-9)


def test_every_method_pays_for_the_rows_that_were_left_out():
    drawn = work.cut("iris", 2, None)
    C = np.asarray(drawn.costs.of_labels(["a", "b", "c"]))
    assert np.all(np.diag(C) == 0)
    dearest = C[np.searchsorted(["a", "b", "c"], drawn.y_test)].max(axis=1).mean()
    rows = work.lozano_abe_cell("iris", 2, "trees", None)
    assert [row["method"] for row in rows][:3] == ["adaboost", "adacost", "csb2"]
    assert {row["draw"] for row in rows} == {2}
    for row in rows:
        assert 0 <= row["cost"] <= dearest
        assert 1 <= row["rounds"] <= work.ROUNDS


def test_a_class_of_one_row_is_trained_on_in_every_draw(monkeypatch):
    data = work.load_set("iris", None)
    y = data.y.astype(object)
    y[7] = "rare"
    changed = replace(data, y=y.astype(str))
    monkeypatch.setattr(work, "load_set", lambda name, folder: changed)
    for draw in range(5):
        drawn = work.cut("iris", draw, None)
        assert "rare" in drawn.y
        assert "rare" not in drawn.y_test
