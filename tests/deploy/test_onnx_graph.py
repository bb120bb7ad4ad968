"""A graph in the making: names, types and shapes, and what is missing."""

import sys

import numpy as np
import pytest

from costboost.deploy import to_onnx
from costboost.deploy.onnx_nodes import Graph
from zoo import fitted

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def run(graph, **fed):
    made = graph.model("tests", "graph").SerializeToString()
    session = onnxruntime.InferenceSession(made)
    names = [part.name for part in session.get_outputs()]
    return dict(zip(names, session.run(None, fed), strict=True))


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"costboost\[onnx\]"):
        to_onnx(fitted("auto")[0])


def test_a_graph_computes_what_was_added():
    graph = Graph()
    table = graph.input("X", np.float32, 3)
    doubles = graph.add("Cast", table, to=np.float64)
    second = graph.columns(doubles, 1)
    graph.output("scaled", graph.add("Mul", second, graph.doubles([0.1])), np.float64, 2, 1)
    words = graph.add("Gather", graph.constant(np.array(["no", "yes"])), graph.ints([1]), axis=0)
    graph.output("word", words, "text", 1)
    X = np.arange(6, dtype=np.float32).reshape(2, 3)
    found = run(graph, X=X)
    assert found["scaled"].dtype == np.float64
    assert found["scaled"].tolist() == [[0.1], [0.4]]
    assert found["word"].tolist() == ["yes"]
    assert run(graph, X=X[:1])["scaled"].shape == (1, 1)  # any number of rows


def test_values_never_share_a_name():
    graph = Graph()
    table = graph.input("X", np.float64, 2)
    names = [graph.doubles(1.0), graph.doubles(1.0), graph.ints([1])]
    names += [graph.add("Neg", table), graph.add("Neg", table), graph.columns(table, 0)]
    assert len({table, *names}) == 7


def test_notes_go_with_the_graph():
    graph = Graph()
    graph.notes["costs"] = "[[0, 1], [2, 0]]"
    graph.output("same", graph.input("X", np.float64, 1), np.float64, 2, 1)
    made = graph.model("tests", "graph")
    assert {prop.key: prop.value for prop in made.metadata_props} == graph.notes
    assert made.producer_name == "tests"


def test_a_graph_that_does_not_hold_together_is_refused():
    graph = Graph()
    graph.output("y", graph.add("Neg", "nowhere"), np.float64, 1)
    with pytest.raises(graph.onnx.checker.ValidationError, match="nowhere"):
        graph.model("tests", "graph")
