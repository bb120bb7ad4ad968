"""Prices that are read when a model decides: which columns, of which kind, and how they are priced.

    Costs(fp=8, fn="0.75 * amount")  ->  columns {"amount": "number"}
                                         cells (0.0, 8.0, Formula(0.75 * amount), 0.0)

An expression computes in Python with whatever its table holds; in another language a column must
have a type before anything is compiled. That follows from its use: what is multiplied is a number,
what is compared with a string is text, what is a condition is true or false. `c_prices` and
`onnx_prices` write the trees down; functions in Python have none, and where there is one the costs
themselves, ``C[true, action]``, are the input.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from math import nan
from typing import Any, Literal, NoReturn, TypeAlias

from costboost.binning.binner import Binner
from costboost.costs import Costs, Expression, ExpressionError
from costboost.costs.binding import compute
from costboost.costs.expressions import digits_of
from costboost.costs.grammar import (
    Call,
    Name,
    Node,
    Number,
    Operation,
    Span,
    Text,
    columns_of,
    parse,
)
from costboost.costs.state import TablePrice
from costboost.inputs.arrays import read_numbers

__all__ = ["Formula", "Kind", "PriceFormulas", "kind_of", "read_prices"]

Kind: TypeAlias = Literal["number", "text", "truth"]
_ORDER = ("<", "<=", ">", ">=")


@dataclass(frozen=True)
class Formula:
    """A price to compute: a tree, then arithmetic with numbers, ("*", 1.2), ("+", 3.0).

    The tree is None where a function in Python gives the price.
    """

    what: str
    text: str
    tree: Node | None
    steps: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        return " ".join([self.what, *(f"{sign} {number:g}" for sign, number in self.steps)])


@dataclass(frozen=True)
class PriceFormulas:
    """The prices of ``fit``, ``C[true, action]``.

    Attributes
    ----------
    cells : tuple of float or Formula
        K * A, in the order of the classes and actions, row after row.
    columns : dict
        The columns that are read, and the kind of each; none where a function is read.
    benefits : bool
        Whether prices may be negative.
    """

    cells: tuple[float | Formula, ...]
    columns: dict[str, Kind]
    benefits: bool

    @property
    def formulas(self) -> list[Formula]:
        """What is computed, each once."""
        return list(dict.fromkeys(cell for cell in self.cells if isinstance(cell, Formula)))

    @property
    def constants(self) -> list[float]:
        """The cells, NaN where they are computed."""
        return [nan if isinstance(cell, Formula) else cell for cell in self.cells]


def read_prices(costs: Costs, binner: Binner) -> PriceFormulas:
    """Return the prices by which a model decides, in the order of its classes and actions."""
    state = costs._state
    places = product(range(state.k), range(state.a))
    prices = PriceFormulas(
        tuple(_cell(state.cell_at(*at).value, state.benefits) for at in places), {}, state.benefits
    )
    if any(formula.tree is None for formula in prices.formulas):
        return prices
    return replace(prices, columns=_columns(prices.formulas, binner))


def _cell(value: Any, benefits: bool) -> float | Formula:
    if not isinstance(value, TablePrice):
        return float(value)
    read, steps = value.read, value.steps
    if isinstance(read, str):
        return Formula(value.what, read, Name(Span(0, len(read)), read), steps)
    if not isinstance(read, Expression):
        return Formula(value.what, "", None, steps)
    if read.columns:
        return Formula(value.what, read.text, parse(read.text), steps)
    number = read({"any": [0.0]})  # it reads nothing, so one row of any table says it
    for sign, by in steps:
        number = compute(number, sign, by)
    return float(read_numbers(number, value.what, negative=benefits)[0])


# --- kinds


def kind_of(node: Node, columns: dict[str, Kind]) -> Kind | None:
    """Return what a node is; None for a column, or a choice of columns, that is not known yet."""
    if isinstance(node, Number):
        return "number"
    if isinstance(node, Text):
        return "text"
    if isinstance(node, Name):
        return columns.get(node.name)
    if isinstance(node, Operation):
        return "number" if node.sign in ("+", "-", "*", "/") else "truth"
    if node.function == "if":
        return kind_of(node.parts[1], columns) or kind_of(node.parts[2], columns)
    return "truth" if node.function == "missing" else "number"


def _columns(formulas: list[Formula], binner: Binner) -> dict[str, Kind]:
    """Return the kind of every column that is read; refuse one that would have to be of two."""
    trees = [(formula, formula.tree) for formula in formulas if formula.tree is not None]
    names = list(dict.fromkeys(name for _, tree in trees for name in columns_of(tree)))
    known: dict[str, Kind] = {}
    while True:
        before = len(known)
        for formula, tree in trees:
            _Kinds(formula.text, known).demand(tree, "number")
        if len(known) > before:
            continue
        unknown = [name for name in names if name not in known]
        if not unknown:
            return {name: known[name] for name in names}
        # Two columns compared with each other, or only asked whether they are missing.
        known[unknown[0]] = _kind_in_table(unknown[0], binner)


def _kind_in_table(name: str, binner: Binner) -> Kind:
    """Return the kind of a column among those that the model was trained on: text or a number."""
    names = binner.feature_names or ()
    kept: Any = binner.categories[names.index(name)] if name in names else None
    return "text" if any(isinstance(key, str) for key in kept or ()) else "number"


class _Kinds:
    """Walks through an expression and notes what its columns must be."""

    def __init__(self, text: str, known: dict[str, Kind]) -> None:
        self.text, self.known = text, known

    def _refuse(self, node: Node, problem: str) -> NoReturn:
        raise ExpressionError(self.text, node.span, problem)

    def demand(self, node: Node, kind: Kind) -> None:
        """Note that a node must be of a kind."""
        if isinstance(node, Name):
            held = self.known.setdefault(node.name, kind)
            if held != kind:
                self._refuse(node, f"{node.name!r} is a {held} elsewhere, and here a {kind}")
        elif kind_of(node, self.known) not in (None, kind):
            self._refuse(node, f"this is a {kind_of(node, self.known)} where a {kind} is expected")
        elif isinstance(node, Operation):
            self._operation(node)
        elif isinstance(node, Call):
            self._call(node, kind)

    def _operation(self, node: Operation) -> None:
        if node.sign in ("==", "!="):
            kinds = [kind_of(part, self.known) for part in node.parts]
            found = kinds[0] or kinds[1]
            if found == "truth":
                self._refuse(node, "true and false are not compared: use and, or, not")
            for part in node.parts if found else ():
                assert found is not None
                self.demand(part, found)
            return
        numbers = node.sign in ("+", "-", "*", "/", *_ORDER)
        for part in node.parts:
            self.demand(part, "number" if numbers else "truth")

    def _call(self, node: Call, kind: Kind) -> None:
        if node.function == "missing":
            if not isinstance(node.parts[0], Name):
                self._refuse(node.parts[0], "missing asks about a column")
        elif node.function == "if":
            self.demand(node.parts[0], "truth")
            self.demand(node.parts[1], kind)
            self.demand(node.parts[2], kind)
        else:
            if node.function == "round":
                digits_of(self.text, node)
            for part in node.parts:
                self.demand(part, "number")
