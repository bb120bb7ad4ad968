"""A graph in the making: inputs, constants and nodes with names, and nothing of trees.

Wraps `onnx.helper`, which is imported when a graph is begun: the library works without it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost import calibration as maps
from costboost.binning.codes import MISSING
from costboost.calibration.calibrators import EPSILON
from costboost.model import Calibrate, Logistic, Map, Normalise, Second, VoteShares
from costboost.runtime.machine import need
from costboost.trees.forest import Forest, NodeTable, unpack_subset

__all__ = ["Graph", "write_forest", "write_map"]

OPSET = 19  # which compares text
ML_OPSET = 5  # TreeEnsemble
IR_VERSION = 9


def _import() -> Any:
    for module in ("helper", "numpy_helper"):
        need(f"onnx.{module}", "to_onnx")
    return need("onnx", "to_onnx")


class Graph:
    """Collects the parts of an ONNX graph; values are known by their names."""

    def __init__(self) -> None:
        self.onnx = _import()
        self._nodes: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._held: list[Any] = []
        self._taken = 0
        self.notes: dict[str, str] = {}

    def _new(self, kind: str) -> str:
        self._taken += 1
        return f"{kind.lower()}_{self._taken}"

    def _kind(self, dtype: Any) -> int:
        if isinstance(dtype, str):
            return int(self.onnx.TensorProto.STRING)
        return int(self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def input(self, name: str, dtype: Any, *shape: int, rows: str = "n", doc: str = "") -> str:
        """Declare an input; `rows` names its first dimension, `doc` describes it."""
        info = self.onnx.helper.make_tensor_value_info(
            name, self._kind(dtype), [rows, *shape], doc_string=doc
        )
        self._inputs.append(info)
        return name

    def free(self, name: str) -> str:
        """Return a name that no input has yet: this one, or it and a number."""
        taken = {part.name for part in self._inputs}
        tried, n = name, 1
        while tried in taken:
            n += 1
            tried = f"{name}_{n}"
        return tried

    def output(self, name: str, value: str, dtype: Any, n_dimensions: int, *shape: int) -> None:
        """Make a value an output."""
        self._nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))
        sizes: list[Any] = ["n", *shape] if n_dimensions == 1 + len(shape) else ["n"]
        info = self.onnx.helper.make_tensor_value_info(name, self._kind(dtype), sizes)
        self._outputs.append(info)

    def constant(self, values: NDArray[Any]) -> str:
        """Return the name of a constant array."""
        name = self._new("constant")
        given = values.astype(object) if values.dtype.kind == "U" else values
        self._held.append(self.onnx.numpy_helper.from_array(given, name))
        return name

    def doubles(self, values: ArrayLike) -> str:
        """Return the name of a constant of doubles."""
        return self.constant(np.array(values, dtype=np.float64))

    def ints(self, values: list[int]) -> str:
        """Return the name of a constant of integers: axes and shapes."""
        return self.constant(np.array(values, dtype=np.int64))

    def tensor(self, values: NDArray[Any]) -> Any:
        """Return an array as the attribute of a node."""
        return self.onnx.numpy_helper.from_array(values, self._new("tensor"))

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node; return the name of its one output. ``name=`` is what errors call the node."""
        if "to" in attributes:
            attributes["to"] = self._kind(attributes["to"])
        name = self._new(operator)
        node = self.onnx.helper.make_node(
            operator, list(inputs), [name], domain=domain, **attributes
        )
        self._nodes.append(node)
        return name

    def columns(self, table: str, j: int) -> str:
        """Return column j of a table, (n, 1)."""
        return self.add("Gather", table, self.ints([j]), axis=1)

    def model(self, producer: str, name: str, doc: str = "") -> Any:
        """Return the whole graph, checked; `doc` describes it."""
        helper = self.onnx.helper
        parts = (self._nodes, name, self._inputs, self._outputs, self._held)
        graph = helper.make_graph(*parts, doc_string=doc)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        made = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name=producer
        )
        helper.set_model_props(made, self.notes)
        self.onnx.checker.check_model(made)
        return made


# Forests as `TreeEnsemble` nodes of ONNX: a table of doubles -> margins, (n, n_outputs)

_AT_MOST, _MEMBER, _SUM = 0, 6, 1  # modes of nodes, and how trees are put together


class _Nodes:
    """The lists that a TreeEnsemble is made of; a leaf has one entry for each of its outputs."""

    def __init__(self) -> None:
        self.roots: list[int] = []
        self.columns: list[int] = []
        self.modes: list[int] = []
        self.cuts: list[float] = []
        self.yes: list[int] = []
        self.no: list[int] = []
        self.yes_ends: list[int] = []
        self.no_ends: list[int] = []
        self.missing: list[int] = []
        self.members: list[float] = []
        self.targets: list[int] = []
        self.weights: list[float] = []

    def add_tree(self, tree: NodeTable, sets: list[NDArray[np.bool_]], output: int) -> None:
        """Add what a tree says of one output."""
        self.roots.append(len(self.columns))
        splits = np.flatnonzero(tree.left >= 0).tolist()
        if not splits:  # a lone leaf: a question whose answers are alike
            self._add(0, _AT_MOST, 0.0, True)
            self._answer(self._leaf(tree, 0, output), self._leaf(tree, 0, output), True, True)
            return
        place = {at: len(self.columns) + i for i, at in enumerate(splits)}
        for at in splits:
            left, right = int(tree.left[at]), int(tree.right[at])
            if tree.subset[at] is None:
                cut, missing = float(tree.threshold[at]), bool(tree.missing_left[at])
                self._add(int(tree.feature[at]), _AT_MOST, cut, missing)
            elif self._add_set(int(tree.feature[at]), sets[at]):
                left, right = right, left
            ends = [child not in place for child in (left, right)]
            where = [
                self._leaf(tree, child, output) if end else place[child]
                for child, end in zip((left, right), ends, strict=True)
            ]
            self._answer(where[0], where[1], ends[0], ends[1])

    def _add(self, column: int, mode: int, cut: float, missing: bool) -> None:
        self.columns.append(column)
        self.modes.append(mode)
        self.cuts.append(min(cut, np.finfo(np.float64).max) if np.isfinite(cut) else cut)
        self.missing.append(int(missing))

    def _add_set(self, column: int, goes_left: NDArray[np.bool_]) -> bool:
        """Add a question about categories; return whether it is asked the other way round.

        What is not listed answers no, and so do missing values, the number -1: if they go left,
        the question is for the categories that go right.
        """
        turned = bool(goes_left[MISSING])
        listed = np.flatnonzero(goes_left[:MISSING] != turned)
        self._add(column, _MEMBER, 0.0, False)
        self.members += [*(listed.tolist() or [MISSING]), np.nan]
        return turned

    def _answer(self, yes: int, no: int, yes_ends: bool, no_ends: bool) -> None:
        self.yes.append(yes)
        self.no.append(no)
        self.yes_ends.append(int(yes_ends))
        self.no_ends.append(int(no_ends))

    def _leaf(self, tree: NodeTable, at: int, output: int) -> int:
        self.targets.append(output)
        self.weights.append(float(tree.value[at, output]))
        return len(self.targets) - 1


def write_forest(graph: Graph, forest: Forest, table: str) -> str:
    """Return the margins of the rows of a table."""
    base = graph.doubles(forest.base[None, :])
    if not len(forest):
        rows = graph.add("Gather", graph.add("Shape", table), graph.ints([0]), axis=0)
        shape = graph.add("Concat", rows, graph.ints([forest.n_outputs]), axis=0)
        return graph.add("Expand", base, shape)
    nodes = _Nodes()
    for t, root in enumerate(forest.roots.tolist()):
        tree = forest.tree(t)
        here = forest.subsets[root : root + len(tree.left)]
        sets = [unpack_subset(bits) for bits in here]
        for k in range(forest.n_outputs):
            if tree.value[:, k].any():
                nodes.add_tree(tree, sets, k)
    if not nodes.roots:
        nodes.add_tree(forest.tree(0), [], 0)
    more = {"membership_values": graph.tensor(np.array(nodes.members))} if nodes.members else {}
    sums = graph.add(
        "TreeEnsemble",
        table,
        domain="ai.onnx.ml",
        n_targets=forest.n_outputs,
        aggregate_function=_SUM,
        post_transform=0,
        tree_roots=nodes.roots,
        nodes_featureids=nodes.columns,
        nodes_modes=graph.tensor(np.array(nodes.modes, dtype=np.uint8)),
        nodes_splits=graph.tensor(np.array(nodes.cuts)),
        nodes_truenodeids=nodes.yes,
        nodes_trueleafs=nodes.yes_ends,
        nodes_falsenodeids=nodes.no,
        nodes_falseleafs=nodes.no_ends,
        nodes_missing_value_tracks_true=nodes.missing,
        leaf_targetids=nodes.targets,
        leaf_weights=graph.tensor(np.array(nodes.weights)),
        **more,
    )
    return graph.add("Add", sums, base)


# Maps as nodes of ONNX: margins (n, J) -> probabilities (n, K), in double precision


def write_map(graph: Graph, steps: tuple[Map, ...], values: str, n_values: int) -> str:
    """Return what the maps make of values, one after the other."""
    for step in steps:
        if isinstance(step, Second):
            values, n_values = graph.columns(values, 1), 1
        elif isinstance(step, Normalise) or (isinstance(step, VoteShares) and n_values > 1):
            values = _normalised(graph, values, n_values)
        elif isinstance(step, VoteShares):
            share = graph.add("Mul", values, graph.doubles(0.5 / step.total))
            share = graph.add("Add", share, graph.doubles(0.5))
            values, n_values = _two(graph, _clip(graph, share, 0.0, 1.0)), 2
        elif isinstance(step, Logistic):
            scaled = graph.add("Mul", values, graph.doubles(step.scale))
            values = _softmax(graph, scaled) if n_values > 1 else _logistic(graph, scaled)
            n_values = max(2, n_values)
        else:
            assert isinstance(step, Calibrate)
            values, n_values = _calibrated(graph, step, values, n_values)
    return values


def _two(graph: Graph, second: str) -> str:
    first = graph.add("Sub", graph.doubles(1.0), second)
    return graph.add("Concat", first, second, axis=1)


def _logistic(graph: Graph, odds: str) -> str:
    sides = (graph.add("Neg", odds), odds)
    return graph.add("Concat", *(_expit(graph, side) for side in sides), axis=1)


def _expit(graph: Graph, values: str) -> str:
    """1 / (1 + exp(-x)), as Python computes it."""
    power = graph.add("Exp", graph.add("Neg", values))
    return graph.add("Reciprocal", graph.add("Add", power, graph.doubles(1.0)))


def _softmax(graph: Graph, logits: str) -> str:
    top = graph.add("ReduceMax", logits, graph.ints([1]), keepdims=1)
    powers = graph.add("Exp", graph.add("Sub", logits, top))
    return graph.add("Div", powers, graph.add("ReduceSum", powers, graph.ints([1]), keepdims=1))


def _normalised(graph: Graph, values: str, n_values: int) -> str:
    total = graph.add("ReduceSum", values, graph.ints([1]), keepdims=1)
    shares = graph.add("Div", values, total)
    filled = graph.add("Greater", total, graph.doubles(0.0))
    return graph.add("Where", filled, shares, graph.doubles(1.0 / n_values))


def _clip(graph: Graph, values: str, low: float, high: float) -> str:
    return graph.add("Clip", values, graph.doubles(low), graph.doubles(high))


def _inside(graph: Graph, shares: str) -> str:
    return _clip(graph, shares, EPSILON, 1 - EPSILON)


def _calibrated(graph: Graph, step: Calibrate, values: str, n_values: int) -> tuple[str, int]:
    fitted = step.calibration
    if fitted.method == "temperature":
        return _tempered(graph, fitted, values, n_values), fitted.n_classes
    if fitted.joint:
        return _leaning(graph, fitted.calibrators[0], values), fitted.n_classes
    if fitted.n_classes == 2:
        score = values
        if n_values == 2:
            score = graph.columns(values, 1)
            if fitted.margins:
                score = graph.add("Sub", score, graph.columns(values, 0))
        return _two(graph, _one_score(graph, fitted.calibrators[0], score)), 2
    columns = [graph.columns(values, k) for k in range(fitted.n_classes)]
    pairs = zip(fitted.calibrators, columns, strict=True)
    shares = [_one_score(graph, calibrator, column) for calibrator, column in pairs]
    joined = graph.add("Concat", *shares, axis=1)
    return _normalised(graph, joined, fitted.n_classes), fitted.n_classes


def _tempered(graph: Graph, fitted: Any, values: str, n_values: int) -> str:
    calibrator = fitted.calibrators[0]
    if n_values == 1:
        half = graph.add("Mul", values, graph.doubles(0.5))
        pair = graph.add("Concat", graph.add("Neg", half), half, axis=1)
        values = pair if fitted.margins else _two(graph, values)
    if calibrator.prior is not None:
        nothing = graph.add("Mul", values, graph.doubles(0.0))
        return graph.add("Add", nothing, graph.doubles([list(calibrator.prior)]))
    if not calibrator.margins:
        values = graph.add("Log", _inside(graph, values))
    return _softmax(graph, graph.add("Mul", values, graph.doubles(calibrator.beta)))


def _leaning(graph: Graph, calibrator: Any, values: str) -> str:
    if not calibrator.margins:
        values = graph.add("Log", _inside(graph, values))
    # Logits about their mean or not: the biases are added to either, and softmax sees differences.
    scaled = graph.add("Mul", values, graph.doubles(calibrator.beta))
    return _softmax(graph, graph.add("Add", scaled, graph.doubles([list(calibrator.biases)])))


def _line(graph: Graph, values: str, slope: float, intercept: float) -> str:
    return graph.add(
        "Add", graph.add("Mul", values, graph.doubles(slope)), graph.doubles(intercept)
    )


def _one_score(graph: Graph, calibrator: Any, score: str) -> str:
    """Return the probability of one score, (n, 1)."""
    if isinstance(calibrator, maps.Sigmoid):
        return _expit(graph, _line(graph, score, -calibrator.A, -calibrator.B))
    if isinstance(calibrator, maps.Beta):
        share = _inside(graph, _expit(graph, score) if calibrator.margins else score)
        left = graph.add("Log", share)
        right = graph.add("Log", graph.add("Sub", graph.doubles(1.0), share))
        right = _line(graph, right, -calibrator.b, calibrator.c)
        return _expit(graph, graph.add("Add", _line(graph, left, calibrator.a, 0.0), right))
    if isinstance(calibrator, maps.BiasCorrected):
        return _expit(
            graph, _line(graph, _odds(graph, calibrator, score), calibrator.beta, calibrator.bias)
        )
    return _between(graph, score, calibrator.knots, calibrator.values)


def _odds(graph: Graph, calibrator: Any, score: str) -> str:
    if calibrator.margins:
        return score
    share = _inside(graph, score)
    return graph.add("Log", graph.add("Div", share, graph.add("Sub", graph.doubles(1.0), share)))


def _between(graph: Graph, score: str, knots: Any, levels: Any) -> str:
    """Linear between the knots: level + slope * (score - knot) of the knot below it."""
    if len(knots) == 1:
        return _line(graph, score, 0.0, float(levels[0]))
    score = _clip(graph, score, float(knots[0]), float(knots[-1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.where(np.diff(knots) > 0, np.diff(levels) / np.diff(knots), 0.0)
    below = graph.add("GreaterOrEqual", score, graph.doubles(knots[None, 1:-1]))
    count = graph.add("Cast", below, to=np.int64)
    place = graph.add("ReduceSum", count, graph.ints([1]), keepdims=1)
    start, level, slope = (
        graph.add("Gather", graph.doubles(part), place)
        for part in (knots[:-1], levels[:-1], slopes)
    )
    return graph.add("Add", level, graph.add("Mul", slope, graph.add("Sub", score, start)))
