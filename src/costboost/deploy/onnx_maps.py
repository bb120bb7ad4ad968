"""Maps as nodes of ONNX: margins (n, J) -> probabilities (n, K), in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from costboost import calibration as maps
from costboost.calibration.calibrators import EPSILON
from costboost.deploy.lowering import Calibrate, Logistic, Map, Normalise, Second, VoteShares
from costboost.deploy.onnx_graph import Graph

__all__ = ["write_map"]


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
