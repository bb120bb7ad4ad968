"""A fitted model as an ONNX graph: trees, maps and the decision, prices being an input.

Trees are one `TreeEnsemble` (ai.onnx.ml 5) for each forest, in double precision: a float32 table is
converted once, so thresholds are the very edges of the binner and every value falls on its side.
Columns of categories become the numbers of their categories before the trees, and a category that
was not seen goes where missing values go.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost._version import __version__
from costboost.deploy.c_trees import columns_of_text
from costboost.deploy.lowering import Lowered, lower
from costboost.deploy.onnx_graph import Graph
from costboost.deploy.onnx_maps import write_map
from costboost.deploy.onnx_trees import write_forest

__all__ = ["to_onnx"]


def to_onnx(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    decisions: bool = True,
    dtype: Any = np.float32,
) -> Any:
    """Write a fitted model as an ONNX graph; new prices need no new graph.

    Parameters
    ----------
    model : CostBoostClassifier, GradientBoostClassifier, GradientBoostRegressor or \
            PNormBoostClassifier
        Fitted, with built-in trees; others are refused by name.
    path : path-like, default=None
        Where to write it, too.
    decisions : bool, default=True
        Whether the graph decides. Methods that decide by prices then have the input ``costs``,
        float64 of shape (n or 1, K, A): ``C[true, action]`` in the order of ``classes_``. The
        prices of ``fit`` are kept in the graph's metadata, under ``costs``, as JSON.
    dtype : numpy.float32 or numpy.float64, default=numpy.float32
        Of the numbers that go in.

    Returns
    -------
    onnx.ModelProto
        Inputs: ``X``, of shape (n, n_features), NaN where missing; or, if columns hold text, one
        input of shape (n, 1) for each column, numbers or strings, by its name. Outputs:
        ``probabilities`` (n, K), ``decision`` (n,), the label of a class or action, and
        ``expected_cost`` (n, A); of a regressor ``prediction`` (n,). All numbers are float64.

    Notes
    -----
    Needs the extra ``costboost[onnx]``. Where two actions cost the same, the graph takes the
    first of them.

    Examples
    --------
    >>> import costboost
    >>> from costboost.deploy import to_onnx
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = costboost.GradientBoostClassifier(n_estimators=5).fit(X, y)
    >>> graph = to_onnx(model).graph  # doctest: +SKIP
    >>> [part.name for part in graph.input]  # doctest: +SKIP
    ['X', 'costs']
    """
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype={dtype!r} must be numpy.float32 or numpy.float64.")
    lowered = lower(model)
    graph = Graph()
    table = _write_inputs(graph, lowered, dtype)
    margins = [write_forest(graph, part.forest, table) for part in lowered.parts]
    if lowered.classes is None:
        graph.output(
            "prediction", graph.add("Reshape", margins[0], graph.ints([-1])), np.float64, 1
        )
    else:
        _write_answers(graph, lowered, margins, decisions)
    made = graph.model(f"costboost {__version__}", lowered.name)
    if path is not None:
        Path(path).write_bytes(made.SerializeToString())
    return made


# --- the table


def _write_inputs(graph: Graph, model: Lowered, dtype: Any) -> str:
    """Return the table as doubles, categories replaced by their numbers."""
    binner = model.binner
    text = columns_of_text(binner, list(range(binner.n_features)))
    if text:
        names = binner.feature_names or tuple(f"column_{j}" for j in range(binner.n_features))
        columns = [
            graph.input(name, "text" if j in text else dtype, 1) for j, name in enumerate(names)
        ]
    else:
        whole = graph.add("Cast", graph.input("X", dtype, binner.n_features), to=np.float64)
        if not binner.is_categorical.any():
            return whole
        columns = [graph.columns(whole, j) for j in range(binner.n_features)]
    parts = []
    for j, column in enumerate(columns):
        kept: Any = binner.categories[j]
        if j in text:
            parts.append(_places_of_text(graph, column, kept))
        else:
            number = graph.add("Cast", column, to=np.float64)
            parts.append(number if kept is None else _places_of_numbers(graph, number, kept))
    return graph.add("Concat", *parts, axis=1)


def _places_of_text(graph: Graph, column: str, kept: tuple[str, ...]) -> str:
    """Return the place of each text among the categories, -1 for others."""
    places = graph.add(
        "LabelEncoder",
        column,
        domain="ai.onnx.ml",
        keys_strings=list(kept),
        values_int64s=list(range(len(kept))),
        default_int64=-1,
    )
    return graph.add("Cast", places, to=np.float64)


def _places_of_numbers(graph: Graph, column: str, kept: tuple[float, ...]) -> str:
    """Return the place of each number among the categories, -1 for others."""
    if not kept:
        return graph.add("Mul", column, graph.doubles(0.0))
    same = graph.add("Equal", column, graph.doubles([list(kept)]))
    ones = graph.add("Cast", same, to=np.float64)
    places = graph.doubles(np.arange(1.0, len(kept) + 1.0)[:, None])
    return graph.add("Sub", graph.add("MatMul", ones, places), graph.doubles(1.0))


# --- probabilities and decisions


def _write_answers(graph: Graph, model: Lowered, margins: list[str], decisions: bool) -> None:
    shares = []
    for part, margin in zip(model.parts, margins, strict=True):
        shares.append(write_map(graph, part.maps, margin, part.forest.n_outputs))
    proba = shares[0]
    if len(shares) > 1:
        total = graph.add("Sum", *shares)
        proba = graph.add("Div", total, graph.doubles(float(len(shares))))
    graph.output("probabilities", proba, np.float64, 2, model.n_classes)
    if not decisions:
        return
    if model.decision == "largest":
        _write_labels(graph, model.classes, _largest(graph, margins[0], model))
        return
    if model.priced is not None:
        n_outputs = model.parts[0].forest.n_outputs
        proba = write_map(graph, model.priced, margins[0], n_outputs)
    _write_prices(graph, model, proba)


def _largest(graph: Graph, margins: str, model: Lowered) -> str:
    """Return the sign of a single margin, or the place of the largest of several."""
    if model.parts[0].forest.n_outputs == 1:
        above = graph.add("Greater", margins, graph.doubles(0.0))
        return graph.add("Reshape", graph.add("Cast", above, to=np.int64), graph.ints([-1]))
    return graph.add("ArgMax", margins, axis=1, keepdims=0)


def _write_prices(graph: Graph, model: Lowered, proba: str) -> None:
    """Decide by the least sum_k p(k) C[k, a]."""
    assert model.costs is not None
    held = np.asarray(model.costs, dtype=np.float64)
    costs = graph.input("costs", np.float64, *held.shape[1:], rows="n_or_1")
    graph.notes["costs"] = json.dumps(held[0].tolist())
    products = graph.add("Mul", graph.add("Unsqueeze", proba, graph.ints([2])), costs)
    expected = graph.add("ReduceSum", products, graph.ints([1]), keepdims=0)
    graph.output("expected_cost", expected, np.float64, 2, held.shape[2])
    best = graph.add("ArgMin", expected, axis=1, keepdims=0)
    _write_labels(graph, model.costs.actions if not model.costs.is_square else model.classes, best)


def _write_labels(graph: Graph, labels: NDArray[Any] | None, places: str) -> None:
    assert labels is not None
    kind = labels.dtype.kind
    if kind not in "biufUO":
        raise ValueError(
            f"Labels of type {labels.dtype} have no form in ONNX: use text or numbers."
        )
    wide: Any = {"b": np.bool_, "i": np.int64, "u": np.int64, "f": np.float64}.get(kind, "text")
    listed = graph.constant(labels.astype(str) if wide == "text" else labels.astype(wide))
    graph.output("decision", graph.add("Gather", listed, places), wide, 1)
