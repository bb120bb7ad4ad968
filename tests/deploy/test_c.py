"""Exported C compiles without a warning and agrees bit for bit: numbers, decisions, prices."""

import ctypes

import numpy as np
import pandas as pd
import pytest

import costboost as cb
from compiled_c import COMPILER, Compiled
from costboost.deploy import to_c
from deploy_cases import NAMES, Steep, fit_registered, odd_rows, refused
from zoo import fitted, frame, quiet_fit, table

pytestmark = [
    pytest.mark.skipif(COMPILER is None, reason="there is no C compiler"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


@pytest.mark.parametrize("name", NAMES)
def test_c_agrees_bit_for_bit(name, tmp_path):
    model, X = fitted(name)
    scorer = Compiled(model, tmp_path)
    rows = scorer.rows(X)
    if not hasattr(model, "classes_"):
        doc = np.array([scorer("prediction", row) for row in rows])
        assert doc.tobytes() == model.predict(X).tobytes()
        return
    assert scorer.probabilities(rows).tobytes() == model.predict_proba(X).tobytes()
    assert np.array_equal(model.classes_[scorer.decisions(rows)], model.predict(X))


@pytest.mark.parametrize("name", ["auto", "csada", "gradient log of 3", "regressor huber"])
def test_c_agrees_on_edges_and_on_numbers_nobody_has_seen(name, tmp_path):
    model, X = fitted(name)
    scorer, rng = Compiled(model, tmp_path), np.random.default_rng(5)
    forest = model._model.members[0].forest
    rows = odd_rows(np.tile(X, (5, 1)), rng)
    for j, edges in enumerate(forest.binner.edges):  # exactly on an edge
        rows[: len(edges), j] = edges[: len(rows)]
    if hasattr(model, "classes_"):
        assert scorer.probabilities(rows).tobytes() == model.predict_proba(rows).tobytes()
    else:
        doc = np.array([scorer("prediction", row) for row in rows])
        assert doc.tobytes() == model.predict(rows).tobytes()


def test_trees_of_more_nodes_than_a_byte_can_number(tmp_path):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(6000, 3)), rng.integers(0, 60, 6000)])
    y = (np.sin(9 * X[:, 0]) + X[:, 3] % 7 / 7 + rng.normal(size=6000) > 0.5).astype(int)
    for i, categories in enumerate((None, [3])):
        model = cb.GradientBoostClassifier(
            n_estimators=3,
            max_leaf_nodes=400,
            min_samples_leaf=1,
            categorical_features=categories,
        ).fit(X, y)
        forest = model._model.members[0].forest
        assert np.diff(forest.roots).max() > 256
        scorer = Compiled(model, tmp_path, f"large_{i}")
        assert scorer.probabilities(X[:500]).tobytes() == model.predict_proba(X[:500]).tobytes()


def test_categories_that_nobody_has_seen_go_where_missing_values_go(tmp_path):
    model, X = fitted("auto of a frame")
    scorer = Compiled(model, tmp_path)
    strange = X.assign(town=["Rome", "", None, "Ulm"] * 40, shop=pd.Categorical([99, 1, 2, 3] * 40))
    doc = scorer.probabilities(scorer.rows(strange))
    assert doc.tobytes() == model.predict_proba(strange).tobytes()
    assert np.isnan(scorer("code", 1, b"Rome"))
    assert np.isnan(scorer("code", 0, b"Ulm"))  # no column of text


@pytest.mark.parametrize("scale", [1e-290, 1e-6, 1.0, 1e6, 1e290])
def test_decisions_follow_the_prices_of_every_row(scale, tmp_path):
    model, X = fitted("auto")
    scorer, rng = Compiled(model, tmp_path), np.random.default_rng(0)
    C = scale * rng.lognormal(0, 2, size=(len(X), 2, 2))
    C[::3, 0, 0] = C[::3, 1, 1] = 0.0
    C[1::7] = C[1::7, ::-1]
    decided = model.predict(X, costs=cb.Costs.from_matrix(C, classes=[0, 1]))
    assert np.array_equal(scorer.decisions(X, C.reshape(len(X), -1)), decided)
    expected = model.expected_cost(X, costs=cb.Costs.from_matrix(C, classes=[0, 1]))
    doc = np.empty_like(expected)
    for row, prices, part in zip(X, C, doc, strict=True):
        scorer("expected_costs", row, np.ascontiguousarray(prices), part)
    assert doc.tobytes() == expected.tobytes()


@pytest.mark.parametrize("first", [0, 1])
def test_what_is_certain_is_answered_at_any_ratio_of_prices(first, tmp_path):
    """Isotonic maps say 0 and 1; thresholds beyond 1e16 would round to these."""
    X = np.repeat([[0.0], [1.0]], 40, axis=0)
    model = cb.CostBoostClassifier("adaboost", 2, calibration="isotonic", random_state=0)
    model.fit(X, X[:, 0].astype(int), costs={"fp": 1, "fn": 1})
    ends = np.array([[0.0], [1.0]])
    assert model.predict_proba(ends).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    scorer = Compiled(model, tmp_path)
    signs = np.array([[0, 1, 1, 0], [0, -1, 1, 0], [0, 1, -1, 0], [0, -1, -1, 0]])
    for cells in signs:
        for size in 10.0 ** np.arange(-300, 301, 20):
            C = np.array(cells * (1.0, 1.0, size, 1.0) if first else cells * (1.0, size, 1.0, 1.0))
            doc = scorer.decisions(ends, np.tile(C, (2, 1)))
            costs = cb.Costs.from_matrix(C.reshape(2, 2), classes=[0, 1], benefits=True)
            assert doc.tolist() == model.predict(ends, costs=costs).tolist()
            expected = np.empty((2, 2))
            for row, part in zip(ends, expected, strict=True):
                scorer("expected_costs", row, C, part)
            assert expected.tobytes() == model.expected_cost(ends, costs=costs).tobytes()
            assert np.array_equal(doc, expected.argmin(axis=1))


def test_decisions_of_three_classes_and_of_other_actions(tmp_path):
    X, y = table(3)
    model = quiet_fit(cb.CostBoostClassifier(n_estimators=10, random_state=0), X, y)
    scorer, rng = Compiled(model, tmp_path), np.random.default_rng(1)
    C = rng.lognormal(0, 1, size=(len(X), 3, 3))
    decided = model.predict(X, costs=cb.Costs.from_matrix(C))
    assert np.array_equal(scorer.decisions(X, C.reshape(len(X), -1)), decided)
    X, y = table()
    triage = cb.Costs.from_matrix([[0, 1, 6], [30, 2, 0]], classes=[0, 1], actions=["a", "b", "c"])
    model = quiet_fit(cb.CostBoostClassifier(n_estimators=10, random_state=0), X, y, costs=triage)
    scorer = Compiled(model, tmp_path, "triage")
    assert np.array_equal(np.array(["a", "b", "c"])[scorer.decisions(X)], model.predict(X))


@pytest.mark.parametrize(
    ("n_classes", "kinds"), [(9, ("temperature", "sigmoid", None)), (140, (None,))]
)
def test_sums_of_many_classes_run_in_the_order_of_numpy(n_classes, kinds, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6 * n_classes, 3))
    y = np.repeat(np.arange(n_classes), 6)
    for i, kind in enumerate(kinds):
        model = cb.CostBoostClassifier("adaboost", 3, calibration=kind, cv=0.5, random_state=0)
        scorer = Compiled(quiet_fit(model, X, y), tmp_path, f"many_{i}")
        assert scorer.probabilities(X).tobytes() == model.predict_proba(X).tobytes()
    model = cb.PNormBoostClassifier(n_estimators=3, max_leaf_nodes=8, random_state=0)
    scorer = Compiled(quiet_fit(model, X, y), tmp_path, "mixed")
    assert scorer.probabilities(X).tobytes() == model.predict_proba(X).tobytes()


def test_names_of_every_kind_compile(tmp_path):
    X, y = frame()
    odd = ['"quoted" \\', "*/ ??/ %d", "\N{SNOWMAN}\n\t", "x" * 300]
    model = quiet_fit(cb.CostBoostClassifier("adamec", 3), X.set_axis(odd, axis=1), y)
    scorer = Compiled(model, tmp_path)
    names = (ctypes.c_char_p * 4).in_dll(scorer.library, "model_columns")
    assert [name.decode() for name in names] == odd
    labels = (ctypes.c_char_p * 2).in_dll(scorer.library, "model_classes")
    assert list(labels) == [b"fine", b"fraud"]


def test_a_registered_loss_is_exported_with_its_own_scale(tmp_path):
    X, y = table()
    model = fit_registered(Steep, X, y)
    compiled = Compiled(model, tmp_path)
    np.testing.assert_array_equal(compiled.probabilities(compiled.rows(X)), model.predict_proba(X))
    assert model.predict_proba(X)[0, 1] == pytest.approx(
        1 / (1 + np.exp(-3 * model.decision_function(X)[0]))
    )


@pytest.mark.parametrize("n", range(6))
def test_what_cannot_be_exported_is_refused_by_name(n):
    name, model = list(refused())[n]
    with pytest.raises(ValueError, match=name):
        to_c(model)


def test_names_that_are_none_in_c_are_refused():
    model, _ = fitted("auto")
    for name in ("", "1st", "a-b", "a b", "a" * 50):
        with pytest.raises(ValueError, match="is no name in C"):
            to_c(model, name=name)
