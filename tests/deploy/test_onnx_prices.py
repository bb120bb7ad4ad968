"""Prices by column in a graph: one input for each column, and the decisions of Python."""

import json

import numpy as np
import pandas as pd
import pytest

import costboost as cb
from costboost.costs import ExpressionError, expression
from costboost.datasets import make_card_fraud
from costboost.deploy import to_onnx
from costboost.deploy.exported import export
from deploy_prices import (
    drawn_prices,
    in_python,
    odd_prices,
    plain_prices,
    trained,
    with_prices,
)

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def columns(X, kinds):
    """Return the columns of a table as a graph takes them: numbers, and text where missing."""
    fed = {}
    for name, kind in kinds.items():
        if kind == "text":
            given = [cell if isinstance(cell, str) else "" for cell in X[name]]
            fed[name] = np.array(given, dtype=object)[:, None]
        else:
            numbers = [np.nan if pd.isna(v) else isinstance(v, str) or v for v in X[name]]
            fed[name] = np.array(numbers, dtype=float)[:, None]
    return fed


class Session:
    """A graph that reads prices, and a table as it takes it."""

    def __init__(self, model, **options):
        self.graph = to_onnx(model, dtype=np.float64, **options)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # what fails is raised, too
        made = self.graph.SerializeToString()
        self.session = onnxruntime.InferenceSession(made, options)
        self.prices = export(model).prices.columns
        binner = export(model).binner
        kept = zip(binner.feature_names, binner.categories, strict=True)
        self.kinds = {
            name: "text" if any(isinstance(key, str) for key in keys or ()) else "number"
            for name, keys in kept
        }

    def __call__(self, X, **more):
        fed = columns(X, self.kinds)
        if "text" not in self.kinds.values():
            fed = {"X": np.hstack(list(fed.values()))}
        read = columns(X, self.prices)
        fed |= {f"price_{name}": part for name, part in read.items()} | more
        names = [part.name for part in self.session.get_outputs()]
        return dict(zip(names, self.session.run(None, fed), strict=True))


def agree(model, X, doc):
    expected = np.asarray(model.expected_cost(X))
    np.testing.assert_allclose(doc["expected_cost"], expected, rtol=1e-9, atol=1e-12)
    ordered = np.sort(expected, axis=1)
    clear = ordered[:, 1] - ordered[:, 0] > 1e-9 * np.abs(ordered).max(axis=1)
    assert clear.mean() > 0.5
    assert np.array_equal(doc["decision"][clear], model.predict(X)[clear])


def test_random_expressions_fail_and_agree_where_python_does():
    model, rng, priced, refused = trained(), np.random.default_rng(0), 0, 0
    for _ in range(12):
        with_prices(model, drawn_prices(rng))
        session, table = Session(model), odd_prices(40, rng)
        known = np.isfinite(in_python(model.costs_, table)[:, 0, 0])
        for i in np.flatnonzero(~known)[:5]:
            with pytest.raises(Exception, match="a price is missing, negative"):
                session(table[i : i + 1])
            refused += 1
        if known.any():
            X = table[known]
            proba = model.predict_proba(X.drop(columns=["flag"]))
            doc = session(X)["expected_cost"]
            expected = np.einsum("nk,nka->na", proba, in_python(model.costs_, X))
            np.testing.assert_allclose(doc, expected, rtol=1e-9, atol=1e-300)
            priced += len(X)
    assert priced > 40
    assert refused > 20


def test_the_model_of_the_readme():
    payments = make_card_fraud(6000)
    X, y, X_new = payments.X[:3000], payments.y[:3000], payments.X[3000:].copy()
    texts = {name: X[name].astype(str) for name in ("merchant", "channel")}
    X = X.assign(**texts)
    X_new = X_new.assign(**{name: X_new[name].astype(str) for name in texts})
    model = cb.CostBoostClassifier(
        "adamec", 20, costs=cb.Costs(fp=8, tp=8, fn="amount"), random_state=0
    ).fit(X, y)
    X_new["amount"] *= 10.0 ** np.random.default_rng(0).uniform(-8, 8, len(X_new))
    session = Session(model)
    agree(model, X_new, session(X_new))
    assert len(np.unique(model.predict(X_new))) == 2
    X_new.loc[X_new.index[5], "amount"] = np.nan
    with pytest.raises(Exception, match="a price is missing"):
        session(X_new)


@pytest.mark.parametrize("positive", ["bad", "good"])
def test_the_positive_class_may_be_either(positive):
    costs = cb.Costs(fp=expression("abs(a) + 1"), fn=7, tp=0.5, positive=positive) * 1.1 + 0.3
    model, X = with_prices(trained(), costs), plain_prices(300, 1)
    agree(model, X, Session(model)(X))


def test_three_classes_more_actions_and_rows_priced_alike():
    rng = np.random.default_rng(0)
    X = plain_prices(400, 0)[["a", "t"]]
    y = np.digitize(X["a"] + rng.normal(size=400), [-1, 1])
    X["a"] = np.abs(X["a"])
    model = cb.CostBoostClassifier("adamec", 3, cv=2, random_state=0).fit(X, y)
    matrix = cb.Costs.from_matrix([[0, 1, 2], [3, 0, 4], [5, 6, 0]], classes=[0, 1, 2])
    for costs in (matrix.with_defer(expression("min(a, 1)")), cb.Costs.of_rows("a")):
        with_prices(model, costs)
        agree(model, X, Session(model)(X))


def test_costs_may_be_the_input_all_the_same():
    model, X = with_prices(trained(), {"fp": 8, "fn": "a", "positive": "bad"}), plain_prices(50, 0)
    X["a"] = np.abs(X["a"])
    session = Session(model, read_prices=False)
    session.prices = {}
    doc = session(X, costs=np.asarray(model.costs_.bind_table(X)))
    agree(model, X, doc)
    by_function = cb.Costs(fp=8, fn=lambda X: X["a"], positive="bad")
    graph = to_onnx(with_prices(model, by_function)).graph
    assert [part.name for part in graph.input][-1] == "costs"
    assert "the function <lambda>" in graph.input[-1].doc_string


def test_the_graph_says_what_it_expects():
    model = with_prices(trained(), {"fp": 8, "fn": "a", "positive": "bad"})
    made = to_onnx(model)
    doc = {part.name: part.doc_string for part in made.graph.input}
    assert "'a'" in doc["price_a"]
    assert "NaN where it is missing" in doc["price_a"]
    assert "Classes, in order: ['bad', 'good']" in made.graph.doc_string
    notes = {part.key: part.value for part in made.metadata_props}
    assert json.loads(notes["costs"]) == [[0, "the column 'a'"], [8, 0]]


def test_names_of_inputs_are_never_taken_twice():
    X = plain_prices(200, 0)
    X = X.rename(columns={"NULL": "price_a"})
    y = np.where(X["a"] > 0, "bad", "good")
    model = cb.CostBoostClassifier("adamec", 2, cv=2).fit(X, y)
    names = [
        part.name
        for part in to_onnx(with_prices(model, {"fp": 8, "fn": "a", "positive": "bad"})).graph.input
    ]
    assert names[-1] == "price_a_2"
    assert len(set(names)) == len(names)


def test_an_empty_string_is_missing_text():
    model = with_prices(
        trained(), {"fp": 8, "fn": expression("if(t == '', 1, 2)"), "positive": "bad"}
    )
    with pytest.raises(ExpressionError, match="an empty string is missing text"):
        to_onnx(model)
