"""Prices as nodes of ONNX: one input for each column that is read -> costs, (n, K, A).

A graph computes everything for every row: beside its value each part of an expression has the rows
on which it cannot be computed, for a missing value or a divisor of zero where it is asked for.
Their costs are NaN, and `onnx` makes the run fail.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from costboost.costs.expressions import digits_of
from costboost.costs.grammar import Call, ExpressionError, Name, Node, Number, Operation, Text
from costboost.deploy.onnx_nodes import Graph
from costboost.deploy.prices import Formula, PriceFormulas, kind_of
from costboost.inputs.arrays import LARGEST_COST, SMALLEST_COST

__all__ = ["PriceInput", "write_prices"]

_OPERATORS = {
    "+": "Add",
    "-": "Sub",
    "*": "Mul",
    "/": "Div",
    "==": "Equal",
    "<": "Less",
    "<=": "LessOrEqual",
    ">": "Greater",
    ">=": "GreaterOrEqual",
}
_MEANT = {
    "number": "a number, NaN where it is missing",
    "text": "text, empty where it is missing",
    "truth": "1 true, 0 false, NaN where it is missing",
}


class PriceInput(NamedTuple):
    """A value of each row, (n, 1) or (1, 1), and where there is none; None: it is always there."""

    value: str
    gone: str | None = None


def write_prices(graph: Graph, prices: PriceFormulas, n_classes: int) -> PriceInput:
    """Return the costs, (n, K, A), and the rows without, (n, 1), whose costs are NaN."""
    columns = {}
    for name, kind in prices.columns.items():
        dtype = "text" if kind == "text" else np.float64
        doc = f"The column {name!r} that prices are read from: {_MEANT[kind]}."
        columns[name] = graph.input(graph.free(f"price_{name}"), dtype, 1, doc=doc)
    writer = _PriceNodes(graph, prices, columns)
    computed = {formula: writer.price(formula) for formula in prices.formulas}
    gone = writer.any(*(part.gone for part in computed.values()))
    assert gone is not None
    shape = graph.add("Shape", gone)
    cells = []
    for cell in prices.cells:
        value = computed[cell].value if isinstance(cell, Formula) else graph.doubles([[cell]])
        filled = graph.add("Where", gone, graph.doubles([[np.nan]]), value)
        cells.append(graph.add("Expand", filled, shape))
    whole = graph.add("Concat", *cells, axis=1)
    n_actions = len(prices.cells) // n_classes
    return PriceInput(graph.add("Reshape", whole, graph.ints([-1, n_classes, n_actions])), gone)


class _PriceNodes:
    """Writes formulas; a column is read once."""

    def __init__(self, graph: Graph, prices: PriceFormulas, columns: dict[str, str]) -> None:
        self.graph, self.kinds, self.benefits = graph, prices.columns, prices.benefits
        self.columns = {
            name: PriceInput(value, self._missing(value, prices.columns[name]))
            for name, value in columns.items()
        }
        self.text = ""

    def price(self, formula: Formula) -> PriceInput:
        """Return the price of each row, and where Python would refuse it."""
        assert formula.tree is not None
        self.text = formula.text
        value, gone = self._part(formula.tree)
        gone = self.any(gone, self._no_price(value))
        for sign, by in formula.steps:
            value = self.graph.add(_OPERATORS[sign], value, self.graph.doubles([[by]]))
        if formula.steps:
            gone = self.any(gone, self._no_price(value))
        return PriceInput(value, gone)

    def any(self, *wheres: str | None) -> str | None:
        """Return where any of several conditions holds."""
        known = list(dict.fromkeys(where for where in wheres if where is not None))
        joined = known[0] if known else None
        for where in known[1:]:
            joined = self.graph.add("Or", str(joined), where)
        return joined

    def _no_price(self, value: str) -> str:
        """Return where a number is beyond what prices can be; NaN is, too."""
        size = self.graph.add("Abs", value)
        held = self.graph.add("LessOrEqual", size, self.graph.doubles([[LARGEST_COST]]))
        zero = self.graph.add("Equal", size, self.graph.doubles([[0.0]]))
        some = self.graph.add("GreaterOrEqual", size, self.graph.doubles([[SMALLEST_COST]]))
        good = self.graph.add("And", held, self.graph.add("Or", zero, some))
        if not self.benefits:
            positive = self.graph.add("GreaterOrEqual", value, self.graph.doubles([[0.0]]))
            good = self.graph.add("And", good, positive)
        return self.graph.add("Not", good)

    def _missing(self, value: str, kind: str) -> str:
        if kind == "text":
            return self.graph.add("Equal", value, self.graph.constant(np.array([[""]])))
        return self.graph.add("Not", self.graph.add("Equal", value, value))

    # --- nodes

    def _part(self, node: Node) -> PriceInput:
        if isinstance(node, Number):
            return PriceInput(self.graph.doubles([[node.value]]))
        if isinstance(node, Text):
            if not node.value:
                problem = "an empty string is missing text in ONNX: ask missing(column)"
                raise ExpressionError(self.text, node.span, problem)
            return PriceInput(self.graph.constant(np.array([[node.value]])))
        if isinstance(node, Name):
            value, gone = self.columns[node.name]
            if self.kinds[node.name] == "truth":
                value = self.graph.add("Cast", value, to=np.bool_)
            return PriceInput(value, gone)
        return self._operation(node) if isinstance(node, Operation) else self._call(node)

    def _operation(self, node: Operation) -> PriceInput:
        parts = [self._part(part) for part in node.parts]
        values, gone = [part.value for part in parts], self.any(*(part.gone for part in parts))
        if node.sign in ("and", "or"):
            return self._joined(node.sign, *parts)
        if len(parts) == 1:
            return PriceInput(self.graph.add("Not" if node.sign == "not" else "Neg", *values), gone)
        if node.sign == "!=":
            return PriceInput(self.graph.add("Not", self.graph.add("Equal", *values)), gone)
        if node.sign == "/":
            zero = self.graph.add("Equal", values[1], self.graph.doubles([[0.0]]))
            gone = self.any(gone, zero)
        return PriceInput(self.graph.add(_OPERATORS[node.sign], *values), gone)

    def _joined(self, sign: str, first: PriceInput, second: PriceInput) -> PriceInput:
        """Join two conditions: the second is asked for only where the first does not settle it."""
        value = self.graph.add("And" if sign == "and" else "Or", first.value, second.value)
        if second.gone is None:
            return PriceInput(value, first.gone)
        open_ = first.value if sign == "and" else self.graph.add("Not", first.value)
        return PriceInput(value, self.any(first.gone, self.graph.add("And", open_, second.gone)))

    def _call(self, node: Call) -> PriceInput:
        if node.function == "missing":
            assert isinstance(node.parts[0], Name)
            gone = self.columns[node.parts[0].name].gone
            assert gone is not None
            return PriceInput(gone)
        if node.function == "if":
            truth = kind_of(node, self.kinds) == "truth"
            return self._choice(*(self._part(part) for part in node.parts), truth=truth)
        if node.function == "round":
            value, gone = self._part(node.parts[0])
            return PriceInput(self._rounded(value, digits_of(self.text, node)), gone)
        parts = [self._part(part) for part in node.parts]
        gone = self.any(*(part.gone for part in parts))
        if node.function == "abs":
            return PriceInput(self.graph.add("Abs", parts[0].value), gone)
        value = parts[0].value
        for part in parts[1:]:
            value = self._extreme(node.function, value, part.value)
        return PriceInput(value, gone)

    def _choice(
        self, condition: PriceInput, yes: PriceInput, no: PriceInput, *, truth: bool
    ) -> PriceInput:
        gone = condition.gone
        if yes.gone is not None:
            gone = self.any(gone, self.graph.add("And", condition.value, yes.gone))
        if no.gone is not None:
            other = self.graph.add("Not", condition.value)
            gone = self.any(gone, self.graph.add("And", other, no.gone))
        if not truth:
            return PriceInput(self.graph.add("Where", condition.value, yes.value, no.value), gone)
        # Runtimes choose between numbers and between texts, not between truths.
        first = self.graph.add("And", condition.value, yes.value)
        second = self.graph.add("And", self.graph.add("Not", condition.value), no.value)
        return PriceInput(self.graph.add("Or", first, second), gone)

    def _extreme(self, function: str, one: str, other: str) -> str:
        """Return the smaller or larger of two; what is no number wins, as in numpy."""
        kept = self.graph.add("Less" if function == "min" else "Greater", one, other)
        odd = self.graph.add("Not", self.graph.add("Equal", one, one))
        return self.graph.add("Where", self.graph.add("Or", kept, odd), one, other)

    def _rounded(self, value: str, digits: int) -> str:
        """Return a number rounded as numpy rounds: a product or quotient, its nearest, and back."""
        if digits == 0:
            return self.graph.add("Round", value)
        there, back = ("Mul", "Div") if digits > 0 else ("Div", "Mul")
        power = self.graph.doubles([[10.0 ** abs(digits)]])
        nearest = self.graph.add("Round", self.graph.add(there, value, power))
        return self.graph.add(back, nearest, power)
