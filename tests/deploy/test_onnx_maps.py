"""Maps as nodes of ONNX agree with Python."""

import numpy as np
import pytest

from costboost.deploy.onnx_nodes import Graph, write_map
from costboost.model import Logistic, Normalise, Second, VoteShares
from deploy_maps import CASES, MARGINS

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def mapped(steps, scores, n_values):
    graph = Graph()
    n = scores.shape[1]
    values = write_map(graph, steps, graph.input("v", np.float64, n), n)
    graph.output("out", values, np.float64, 2, n_values)
    made = graph.model("tests", "maps").SerializeToString()
    return onnxruntime.InferenceSession(made).run(None, {"v": scores})[0]


@pytest.mark.parametrize("name", CASES)
def test_every_map_is_what_python_computes(name):
    step, scores, expected = CASES[name]
    found = mapped((step,), scores, expected.shape[1])
    assert found.dtype == np.float64
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_maps_follow_each_other():
    found = mapped((VoteShares(50.0), Second()), MARGINS[:, None], 1)
    np.testing.assert_allclose(found[:, 0], 0.5 * (1 + MARGINS / 50.0), atol=1e-15)
    pair = mapped((Logistic(1.0), Normalise()), MARGINS[:, None], 2)
    np.testing.assert_allclose(pair.sum(axis=1), 1.0)
    np.testing.assert_array_equal(mapped((), MARGINS[:, None], 1)[:, 0], MARGINS)
