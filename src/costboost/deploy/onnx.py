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
from costboost.binning.binner import Binner
from costboost.deploy.c_trees import columns_of_text
from costboost.deploy.exported import Exported, export
from costboost.deploy.onnx_nodes import Graph, write_forest, write_map
from costboost.deploy.onnx_prices import PriceInput as PricePart
from costboost.deploy.onnx_prices import write_prices
from costboost.deploy.prices import Formula

__all__ = ["to_onnx"]

# What a runtime names when it fails at a row without costs.
_NO_PRICE = "decide; out of bounds: a price is missing, negative, too large or divided by 0"


def to_onnx(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    decisions: bool = True,
    read_prices: bool = True,
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
        float64 of shape (n or 1, K, A): ``C[true, action]`` in the order of ``classes_``, as
        ``np.asarray(costs.bind_table(X).bind(model.classes_))`` has it. The prices of ``fit`` are
        kept in the graph's metadata, under ``costs``, as JSON.
    read_prices : bool, default=True
        Whether a graph computes prices that are read from columns, by name or by expression: it
        then has one input for each column that they read, ``price_amount``, of shape (n, 1), in
        place of ``costs``. Prices that a function in Python gives are ``costs`` in any case.
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
    first of them. Prices by column are float64, or strings, an empty one being missing. Where
    Python raises (a value is missing, a divisor 0, a price negative or too large), a run of the
    graph fails, and the runtime names the node that says why.

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
    exported = export(model)
    graph = Graph()
    table = _write_inputs(graph, exported, dtype)
    margins = [write_forest(graph, forest, table) for forest in exported.forests]
    if exported.classes is None:
        graph.output(
            "prediction", graph.add("Reshape", margins[0], graph.ints([-1])), np.float64, 1
        )
    else:
        _write_answers(graph, exported, margins, decisions, read_prices)
    made = graph.model(f"costboost {__version__}", exported.name, _graph_doc(exported))
    if path is not None:
        Path(path).write_bytes(made.SerializeToString())
    return made


def _graph_doc(model: Exported) -> str:
    """Return the description of the graph: the order of classes and actions."""
    if model.classes is None or model.actions is None:
        return f"A {model.name}."
    classes, actions = (list(map(str, labels)) for labels in (model.classes, model.actions))
    return f"A {model.name}. Classes, in order: {classes}. Actions, in order: {actions}."


# --- the table


def _write_inputs(graph: Graph, model: Exported, dtype: Any) -> str:
    """Return the table as doubles, categories replaced by their numbers."""
    binner = model.binner
    text = columns_of_text(binner, list(range(binner.n_features)))
    if text:
        names = binner.feature_names or tuple(f"column_{j}" for j in range(binner.n_features))
        columns = [
            graph.input(name, "text" if j in text else dtype, 1) for j, name in enumerate(names)
        ]
    else:
        doc = f"Columns, in order: {list(binner.feature_names)}." if binner.feature_names else ""
        given = graph.input("X", dtype, binner.n_features, doc=doc)
        whole = graph.add("Cast", given, to=np.float64)
        if all(kept is None for kept in binner.categories):
            return whole
        columns = [graph.columns(whole, j) for j in range(binner.n_features)]
    parts = []
    for j, column in enumerate(columns):
        kept: Any = binner.categories[j]
        if binner.codes_of_levels(j) is not None:
            parts.append(_values_of_levels(graph, binner, j, column, text=j in text))
        elif j in text:
            parts.append(_places_of_text(graph, column, kept))
        else:
            number = graph.add("Cast", column, to=np.float64)
            parts.append(number if kept is None else _places_of_numbers(graph, number, kept))
    return graph.add("Concat", *parts, axis=1)


def _values_of_levels(graph: Graph, binner: Binner, j: int, column: str, *, text: bool) -> str:
    """Return numbers that stand for the codes of levels; an empty text is missing."""
    kept: Any = binner.categories[j]
    codes, cuts = binner.codes_of_levels(j), binner.edges[j]
    assert codes is not None
    # A number in the bin of the code where trees cut by order, the code itself in sets; at last
    # what is missing.
    values = np.append(np.append(cuts, np.inf), np.nan)
    if binner.is_categorical[j]:
        values = np.append(np.arange(binner.n_bins[j], dtype=np.float64), -1.0)
    missing, unseen = len(values) - 1, int(codes[-1])
    at = codes[:-1].astype(np.int64)
    if text and "" not in kept:
        kept, at = (*kept, ""), np.append(at, missing)
    keys = np.array(kept, dtype=object if text else np.float64)
    given = column if text else graph.add("Cast", column, to=np.float64)
    places = graph.add(
        "LabelEncoder",
        given,
        domain="ai.onnx.ml",
        keys_tensor=graph.tensor(keys),
        values_tensor=graph.tensor(at),
        default_tensor=graph.tensor(np.array([unseen])),
    )
    if not text:
        places = graph.add("Where", graph.add("IsNaN", given), graph.ints([missing]), places)
    return graph.add("Gather", graph.doubles(values), places, axis=0)


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


def _write_answers(
    graph: Graph, model: Exported, margins: list[str], decisions: bool, read: bool
) -> None:
    shares = []
    n_outputs, fitted = model.forests[0].n_outputs, model.model
    for member, margin in zip(fitted.members, margins, strict=True):
        shares.append(write_map(graph, member.maps, margin, n_outputs))
    proba = shares[0]
    if len(shares) > 1:
        total = graph.add("Sum", *shares)
        proba = graph.add("Div", total, graph.doubles(float(len(shares))))
    graph.output("probabilities", proba, np.float64, 2, model.n_classes)
    if not decisions:
        return
    if fitted.decision == "largest":
        _write_labels(graph, model.classes, _largest(graph, margins[0], model))
        return
    if fitted.priced is not None:
        proba = write_map(graph, fitted.priced, margins[0], n_outputs)
    _write_decisions(graph, model, proba, read)


def _largest(graph: Graph, margins: str, model: Exported) -> str:
    """Return the sign of a single margin, or the place of the largest of several."""
    if model.forests[0].n_outputs == 1:
        above = graph.add("Greater", margins, graph.doubles(0.0))
        return graph.add("Reshape", graph.add("Cast", above, to=np.int64), graph.ints([-1]))
    return graph.add("ArgMax", margins, axis=1, keepdims=0)


def _write_decisions(graph: Graph, model: Exported, proba: str, read: bool) -> None:
    """Decide by the least sum_k p(k) C[k, a]."""
    assert model.actions is not None
    costs = _write_costs(graph, model, read)
    products = graph.add("Mul", graph.add("Unsqueeze", proba, graph.ints([2])), costs.value)
    expected = graph.add("ReduceSum", products, graph.ints([1]), keepdims=0)
    graph.output("expected_cost", expected, np.float64, 2, len(model.actions))
    best = graph.add("ArgMin", expected, axis=1, keepdims=0)
    if costs.gone is None:
        _write_labels(graph, model.actions, best)
        return
    # The place behind the last label exists nowhere: the runtime refuses to gather it.
    gone = graph.add("Reshape", costs.gone, graph.ints([-1]))
    best = graph.add("Where", gone, graph.ints([len(model.actions)]), best)
    _write_labels(graph, model.actions, best, name=_NO_PRICE)


def _write_costs(graph: Graph, model: Exported, read: bool) -> PricePart:
    """Return the costs: computed from columns, or an input."""
    prices, n = model.prices, model.n_classes
    assert prices is not None
    assert model.actions is not None
    said = [str(cell) if isinstance(cell, Formula) else cell for cell in prices.cells]
    n_actions = len(model.actions)
    rows = [said[k * n_actions : (k + 1) * n_actions] for k in range(n)]
    graph.notes["costs"] = json.dumps(rows)
    if read and prices.columns:
        return write_prices(graph, prices, n)
    doc = "C[true, action], classes and actions in the order that the graph tells."
    if prices.formulas:
        doc += f" Those of fit, row after row: {said}."
    return PricePart(graph.input("costs", np.float64, n, n_actions, rows="n_or_1", doc=doc))


def _write_labels(graph: Graph, labels: NDArray[Any] | None, places: str, **named: str) -> None:
    assert labels is not None
    kind = labels.dtype.kind
    if kind not in "biufUO":
        raise ValueError(
            f"Labels of type {labels.dtype} have no form in ONNX: use text or numbers."
        )
    wide: Any = {"b": np.bool_, "i": np.int64, "u": np.int64, "f": np.float64}.get(kind, "text")
    listed = graph.constant(labels.astype(str) if wide == "text" else labels.astype(wide))
    graph.output("decision", graph.add("Gather", listed, places, **named), wide, 1)
