"""Exported graphs agree in onnxruntime: probabilities to 1e-6, decisions but for ties."""

import json

import numpy as np
import pandas as pd
import pytest

import costboost as cb
from costboost.deploy import to_onnx
from deploy_cases import NAMES, Steep, fit_registered, odd_rows, refused
from zoo import fitted, frame, quiet_fit, table

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def session(model, **options):
    return onnxruntime.InferenceSession(to_onnx(model, **options).SerializeToString())


def float32(X):
    """Return the table as float32 wherever it holds numbers."""
    if not isinstance(X, pd.DataFrame):
        return np.asarray(X, dtype=np.float32)
    return X.assign(**{name: X[name].astype(np.float32) for name in X.select_dtypes("number")})


def feed(X, dtype=np.float32):
    if not isinstance(X, pd.DataFrame):
        return {"X": np.asarray(X, dtype=dtype)}
    fed = {}
    for name in X:
        if X[name].map(lambda cell: isinstance(cell, str)).any():
            missing = "\1 missing" if (X[name] == "").any() else ""
            texts = [cell if isinstance(cell, str) else missing for cell in X[name]]
            fed[name] = np.array(texts, dtype=object)[:, None]
        else:
            fed[name] = X[name].astype(float).to_numpy(dtype=dtype)[:, None]
    return fed


def run(graph, fed, costs=None):
    """Return the outputs by name; prices go where they are wanted."""
    inputs = {part.name for part in graph.get_inputs()}
    if "costs" in inputs:
        fed = {**fed, "costs": costs}
    names = [part.name for part in graph.get_outputs()]
    return dict(zip(names, graph.run(None, fed), strict=True))


def ties(model, X, expected):
    """Return where two decisions are as good as each other, but for rounding."""
    if expected is None:
        values = np.atleast_2d(model.decision_function(X))
        values = values.T if values.shape[0] == 1 else values
        if values.shape[1] == 1:
            return np.abs(values[:, 0]) < 1e-9
        expected = -values
    ordered = np.sort(expected, axis=1)
    return ordered[:, 1] - ordered[:, 0] <= 1e-9 * np.abs(ordered).max(axis=1)


@pytest.mark.parametrize("name", NAMES)
def test_graphs_agree_on_float32_tables(name):
    model, X = fitted(name)
    X = float32(X)
    costs = np.asarray(model.costs_) if hasattr(model, "costs_") else None
    doc = run(session(model), feed(X), costs)
    if not hasattr(model, "classes_"):
        assert np.abs(doc["prediction"] - model.predict(X)).max() < 1e-6
        return
    assert doc["probabilities"].dtype == np.float64
    assert np.abs(doc["probabilities"] - model.predict_proba(X)).max() < 1e-6
    tie = ties(model, X, doc.get("expected_cost"))
    assert (~tie).sum() > 0 or name == "nothing learnt"
    assert np.array_equal(doc["decision"][~tie], model.predict(X)[~tie])


@pytest.mark.parametrize("name", ["auto", "csada", "stumps", "gradient log of 3"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_graphs_agree_on_edges_and_on_numbers_nobody_has_seen(name, dtype):
    """Float32 values on both sides of every threshold, as near to it as float32 can be."""
    model, X = fitted(name)
    if isinstance(X, pd.DataFrame):
        X = X.select_dtypes("number")
        model = quiet_fit(cb.CostBoostClassifier("adaboost", 6, max_depth=1), X, frame()[1])
        X = X.to_numpy()
    forest = model._model.members[0].forest
    rows = odd_rows(np.tile(X, (5, 1)), np.random.default_rng(5))
    for j, edges in enumerate(forest.binner.edges):
        near = edges.astype(np.float32)
        both = [
            near,
            np.nextafter(near, np.float32(np.inf)),
            np.nextafter(near, np.float32(-np.inf)),
        ]
        listed = np.concatenate([edges, *both])[: len(rows)]
        rows[: len(listed), j] = listed
    with np.errstate(over="ignore"):
        rows = rows.astype(dtype)
    costs = np.asarray(model.costs_)
    graph = session(model, dtype=dtype)
    doc = run(graph, {"X": rows}, costs)["probabilities"]
    assert np.abs(doc - model.predict_proba(rows)).max() < 1e-9


def test_prices_are_inputs():
    model, X = fitted("auto")
    X, rng = float32(X), np.random.default_rng(0)
    graph = session(model)
    for C in (rng.lognormal(size=(1, 2, 2)), rng.lognormal(0, 3, size=(len(X), 2, 2))):
        doc = run(graph, feed(X), C)
        costs = cb.Costs.from_matrix(C if len(C) > 1 else C[0], classes=model.classes_)
        expected = model.expected_cost(X, costs=costs)
        assert np.allclose(doc["expected_cost"], expected, rtol=1e-12)
        tie = ties(model, X, expected)
        assert np.array_equal(doc["decision"][~tie], model.predict(X, costs=costs)[~tie])


def test_prices_of_fit_are_told_by_the_graph():
    X, y = table()
    model = quiet_fit(cb.CostBoostClassifier("adamec", 5), X, y, costs={"fp": 2, "fn": 7})
    props = {prop.key: prop.value for prop in to_onnx(model).metadata_props}
    assert json.loads(props["costs"]) == [[0, 2], [7, 0]]


def test_actions_that_are_not_classes():
    X, y = table()
    C, actions = [[0, 1, 6], [30, 2, 0]], ["send home", "look again", "operate"]
    triage = cb.Costs.from_matrix(C, classes=[0, 1], actions=actions)
    model = quiet_fit(cb.CostBoostClassifier(n_estimators=10, random_state=0), X, y, costs=triage)
    X = float32(X)
    doc = run(session(model), feed(X), np.asarray(triage))
    assert doc["expected_cost"].shape == (len(X), 3)
    assert np.array_equal(doc["decision"], model.predict(X))


def test_categories_that_nobody_has_seen_go_where_missing_values_go():
    model, X = fitted("auto of a frame")
    strange = X.assign(town=["Rome", "", None, "Ulm"] * 40, shop=pd.Categorical([99, 1, 2, 3] * 40))
    strange = float32(strange)
    doc = run(session(model), feed(strange), np.asarray(model.costs_))
    assert np.abs(doc["probabilities"] - model.predict_proba(strange)).max() < 1e-9


def test_many_categories_in_one_column():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 300, size=(3000, 1)) - 20.0
    y = (rng.permutation(300)[(X[:, 0] + 20).astype(int)] % 2 == 0).astype(int)
    model = cb.CostBoostClassifier("adaboost", 5, categorical_features=[0], random_state=0)
    model = quiet_fit(model, X, y)
    rows = np.append(np.arange(-40.0, 400.0, 0.5), [np.nan, np.inf, -np.inf])[:, None]
    doc = run(session(model), {"X": rows.astype(np.float32)})
    assert np.abs(doc["probabilities"] - model.predict_proba(rows)).max() < 1e-9


def test_one_row_and_graphs_without_decisions():
    model, X = fitted("auto")
    graph = session(model, decisions=False)
    assert [part.name for part in graph.get_inputs()] == ["X"]
    assert [part.name for part in graph.get_outputs()] == ["probabilities"]
    row = float32(X[:1])
    doc = graph.run(None, {"X": row})[0]
    assert np.abs(doc - model.predict_proba(row)).max() < 1e-9


def test_a_registered_loss_is_exported_with_its_own_scale():
    X, y = table()
    X = float32(X)
    model = fit_registered(Steep, X, y)
    doc = run(session(model), feed(X), np.ones((1, 2, 2)))["probabilities"]
    assert np.abs(doc - model.predict_proba(X)).max() < 1e-6


@pytest.mark.parametrize("n", range(6))
def test_what_cannot_be_exported_is_refused_by_name(n):
    name, model = list(refused())[n]
    with pytest.raises(ValueError, match=name):
        to_onnx(model)
