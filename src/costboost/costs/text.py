"""Costs as text: the call that makes them, long arrays by their size and range."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.costs.expressions import Expression
from costboost.costs.state import Cell, State, TablePrice, dense
from costboost.runtime.machine import need
from costboost.text import money
from costboost.typing import Floats

__all__ = [
    "as_call",
    "as_number",
    "short",
    "signs",
    "costly_right_answers",
    "reversed_warning",
    "looks_reversed",
    "in_words",
    "price",
    "price_of",
    "to_frame",
]


def as_call(state: State) -> str:
    """Return the ``repr`` of costs."""
    if state.form == "matrix" and state.is_binary and _has_sign(state):
        return f"Costs({_binary(state)})"
    if state.form == "matrix":
        return f"Costs.from_matrix({_matrix(state)}{_names(state)})"
    if state.n_rows is None and not state.sources:
        return f"Costs(every mistake costs {as_number(state.cells[0])})"
    return f"Costs.of_rows({_values(state.shape, state.cells)}{_names(state)})"


def _has_sign(state: State) -> bool:
    return state.classes is None or state.positive_label is not None


def short(labels: NDArray[Any] | None) -> str:
    """Return at most five labels as a list."""
    names = [] if labels is None else labels.tolist()
    shown = [repr(label) for label in names[:5]] + ["..."] * (len(names) > 5)
    return f"[{', '.join(shown)}]"


def as_number(cell: Cell) -> str:
    """Return one cell: its number, the range of its values, or where they come from."""
    if cell.factor is not None:
        return _uncertain(cell)
    value = cell.value
    if isinstance(value, TablePrice):
        return _source(value)
    return _values(value.shape, (cell,)) if value.ndim else _number(value)


def _uncertain(cell: Cell) -> str:
    """Return the call that makes an uncertain price; what it was multiplied by follows."""
    assert cell.factor is not None
    value, law = cell.value, cell.factor.law
    if isinstance(value, TablePrice):
        text, later = _source(value._replace(steps=())), value.steps[1:]
    else:
        text, later = as_number(Cell(value / law.mean)), ()
    steps = "".join(f" {sign} {number:g}" for sign, number in later)
    return f"uncertain({text}, {law}){steps}"


def signs(state: State) -> dict[str, tuple[int, int]]:
    """Return where the four prices of two classes stand in the matrix."""
    pos = state.positive_code
    neg = 1 - pos
    return {"fp": (neg, pos), "fn": (pos, neg), "tp": (pos, pos), "tn": (neg, neg)}


def price_of(state: State, name: str) -> Any:
    """Return the price called fp, fn, tp or tn: a float, an array of rows, or what is read."""
    known = state.signed or state.positive_label is not None
    if state.form != "matrix" or not state.is_binary or not known:
        raise AttributeError(
            f"{name} is a price of two classes of which one is positive; {as_call(state)} does "
            "not say so. Name it with positive=, or use np.asarray(costs) or to_frame()."
        )
    k, a = signs(state)[name]
    value = state.cells[2 * k + a].value
    if isinstance(value, TablePrice):
        return value.read if not value.steps else value
    return value if value.ndim else float(value)


def _source(source: TablePrice) -> str:
    name = getattr(source.read, "__name__", type(source.read).__name__)
    is_named = isinstance(source.read, str | Expression)
    text = repr(source.read) if is_named else f"<{name} of the table>"
    for sign, number in source.steps:
        text = f"{text} {sign} {number:g}"
    return text


def _binary(state: State) -> str:
    cells = {name: state.cells[2 * k + a] for name, (k, a) in signs(state).items()}
    parts = [
        f"{name}={as_number(cell)}"
        for name, cell in cells.items()
        if name in ("fp", "fn") or isinstance(cell.value, TablePrice) or cell.value.any()
    ]
    if state.positive_label is not None:
        parts.append(f"positive={state.positive_label!r}")
    return ", ".join(parts)


def _matrix(state: State) -> str:
    if state.k * state.a > 16 or (state.n_rows is not None and not _mixed(state)):
        return _values(state.shape[state.n_rows is None :], state.cells)
    cells = np.array([as_number(c) for c in state.cells]).reshape(state.k, state.a)
    return "[" + ", ".join(f"[{', '.join(row)}]" for row in cells) + "]"


def _mixed(state: State) -> bool:
    """Return whether some cells are read from a table or shared by all rows, and others are not."""
    return any(cell.n_rows is None for cell in state.cells)


def _names(state: State) -> str:
    classes = "" if state.classes is None else f", classes={short(state.classes)}"
    return classes + ("" if state.actions is None else f", actions={short(state.actions)}")


def _values(shape: tuple[int, ...], cells: Iterable[Cell]) -> str:
    size = " x ".join(map(str, shape))
    columns = [cell.value for cell in cells]
    if any(isinstance(column, TablePrice) for column in columns):
        return ", ".join(_source(c) for c in columns if isinstance(c, TablePrice))
    numbers = [column for column in columns if not isinstance(column, TablePrice)]
    if not all(c.size for c in numbers):
        return f"<{size} values of no rows>"
    low, high = min(c.min() for c in numbers), max(c.max() for c in numbers)
    return f"<{size} values from {low:g} to {high:g}>"


def _number(value: Floats) -> str:
    return f"{float(value):g}"


# Costs whose right answers cost more than wrong ones: benefits given as costs, or swapped prices


def costly_right_answers(state: State) -> list[Any]:
    """Return the classes whose right answer costs more than all others, in all rows."""
    if state.form != "matrix" or not state.is_square or state.sources or state.n_rows == 0:
        return []
    labels = range(state.k) if state.classes is None else state.classes.tolist()
    return [label for k, label in enumerate(labels) if _reversed(state, k)]


def _reversed(state: State, k: int) -> bool:
    right = state.cell(k, k)
    wrong = (state.cell(k, a) for a in range(state.a) if a != k)
    return all(bool(np.all(right > price)) for price in wrong)


def looks_reversed(state: State) -> bool:
    """Return whether in every class the right answer costs more than any other (constant costs).

    With two classes no threshold exists then: what was given are benefits, not costs.
    """
    return state.n_rows is None and len(costly_right_answers(state)) == state.n_classes


def reversed_warning(labels: list[Any]) -> str:
    """Return the warning that the right answer costs most for these classes, with the remedy."""
    shown = ", ".join(repr(label) for label in labels[:5])
    return (
        f"In these costs the right answer for the class {shown} costs more than any wrong one, so "
        "it will never be given. Costs are C[true, predicted], what each decision costs: if "
        "benefits were meant, change their sign and pass benefits=True; if two prices were "
        "swapped, costs.describe() shows which."
    )


# In words, and as a data frame

_SIGNS = {
    "fp": "a false positive",
    "fn": "a false negative",
    "tp": "a true positive",
    "tn": "a true negative",
}


def in_words(state: State) -> str:
    """Return one line for every price that is not zero; see `costboost.costs.Costs.describe`."""
    lines = [_sentence(name, cell) for name, cell in _named(state) if not _is_free(cell)]
    if state.form == "rows":
        lines.append("right answers are free")
    elif len(lines) < len(state.cells):
        lines.append("everything else is free")
    lines += [
        f"note: for {label!r} the right answer costs more than any wrong one"
        for label in costly_right_answers(state)
    ]
    return "\n".join(lines)


def _sentence(what: str, cell: Cell) -> str:
    """Return a sentence on the price of a decision."""
    return f"{what} costs {price(cell)}"


def price(cell: Cell) -> str:
    """Return a number, or the name of a column with the range of its values."""
    if cell.factor is not None:
        law = cell.factor.law
        ends = f"{money(law.low / law.mean)} to {money(law.high / law.mean)} times that"
        return f"{price(cell._replace(factor=None))}, uncertain: {ends}"
    if isinstance(cell.value, TablePrice):
        return _source_words(cell.value)
    if not cell.value.ndim:
        return money(float(cell.value))
    own = _own(cell.name)
    if not cell.value.size:
        return f"{own} (no rows)"
    low, high, mean = (float(f(cell.value)) for f in (np.min, np.max, np.mean))
    return f"{own}, {money(low)} to {money(high)} (mean {money(mean)})"


def _own(name: str | None) -> str:
    """Return a column as its row's own, and an expression as it is."""
    if name is None:
        return "a price of its own"
    return name if any(sign in name for sign in "+-*/(") else f"its {name}"


def _source_words(source: TablePrice) -> str:
    if isinstance(source.read, Expression):
        return source.read.text + _steps(source)
    if not isinstance(source.read, str):
        return f"what {source.what} says of its row" + _steps(source)
    return f"its {source.read}{_steps(source)}"


def _steps(source: TablePrice) -> str:
    words = {"*": "times", "+": "plus"}
    return "".join(f" {words[sign]} {money(number)}" for sign, number in source.steps)


def _is_free(cell: Cell) -> bool:
    value = cell.value
    return not isinstance(value, TablePrice) and value.size > 0 and not value.any()


def _named(state: State) -> list[tuple[str, Cell]]:
    """Return every price with the decision that it is for."""
    if state.form == "rows":
        return [("getting a row wrong", state.cells[0])]
    if state.form == "answers":
        labels = range(len(state.cells)) if state.classes is None else state.classes.tolist()
        names = [f"answering {label}" for label in labels]
        return list(zip(names, state.cells, strict=True))
    if state.classes is None and state.signed:
        at = signs(state)
        return [(_SIGNS[name], state.cells[2 * k + a]) for name, (k, a) in at.items()]
    names = [_decision_name(state, k, a) for k in range(state.k) for a in range(state.a)]
    return list(zip(names, state.cells, strict=True))


def _decision_name(state: State, k: int, a: int) -> str:
    """Name the decision a where k is true."""
    true = _label(state.classes, k)
    taken = _label(state.action_labels, a)
    if not state.is_square:
        return f"{taken!r} where {true!r} is true"
    words = isinstance(true, str) and state.classes is not None
    if k == a:
        return f"recognising {_one(true)}" if words else f"answering {taken!r} where it is true"
    return (
        f"calling {_one(true)} {taken}" if words else f"answering {taken!r} where {true!r} is true"
    )


def _one(name: str) -> str:
    """Return a name with its article, "a" or "an"."""
    vowel = re.match(r"(?i)(?!uni|us[aeiu]|eu|one\b)[aeiou]|hon(?:est|ou?r)|hour|heir", name)
    return f"{'an' if vowel else 'a'} {name}"


def _label(labels: Any, at: int) -> Any:
    return f"class {at}" if labels is None else labels.tolist()[at]


def to_frame(state: State) -> Any:
    """Return costs as a pandas DataFrame; see `costboost.costs.Costs.to_frame`."""
    pd = need("pandas", "Costs.to_frame()")
    numbers = dense(state)
    if state.form == "rows":
        return pd.DataFrame({"cost": numbers}, index=state.index)
    if state.form == "answers":
        return pd.DataFrame(numbers, columns=_list(state.classes), index=state.index)
    if state.n_rows is None:
        return pd.DataFrame(numbers[0], _list(state.classes), _list(state.action_labels))
    if state.is_binary and (state.signed or state.positive_label is not None):
        at = signs(state)
        named = {name: numbers[:, k, a] for name, (k, a) in at.items()}
        return pd.DataFrame(named, index=state.index)
    levels = [_list(state.classes, state.k), _list(state.action_labels, state.a)]
    columns = pd.MultiIndex.from_product(levels, names=["true", "action"])
    return pd.DataFrame(numbers.reshape(len(numbers), -1), columns=columns, index=state.index)


def _list(labels: Any, n: int | None = None) -> Any:
    if labels is None:
        return None if n is None else list(range(n))
    return labels.tolist()
