"""What costs price, in words and as a table.

Such as "calling a fraud legit costs its amount, 0.71 to 1,797 (mean 131)".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from costboost.costs.doubts import dearer_when_right
from costboost.costs.expressions import Expression
from costboost.costs.state import Cell, Source, State, dense
from costboost.costs.text import signs

__all__ = ["in_words", "price", "to_frame"]

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
        f"note: for {label!r} the right answer is dearer than any wrong one"
        for label in dearer_when_right(state)
    ]
    return "\n".join(lines)


def _sentence(what: str, cell: Cell) -> str:
    """Say what a decision costs."""
    return f"{what} costs {price(cell)}"


def price(cell: Cell) -> str:
    """Return a number, or the name of a column with the range of its values."""
    if isinstance(cell.value, Source):
        return _source(cell.value)
    if not cell.value.ndim:
        return _money(float(cell.value))
    own = _own(cell.name)
    if not cell.value.size:
        return f"{own} (no rows)"
    low, high, mean = (float(f(cell.value)) for f in (np.min, np.max, np.mean))
    return f"{own}, {_money(low)} to {_money(high)} (mean {_money(mean)})"


def _own(name: str | None) -> str:
    """Return a column as its row's own, and an expression as it is."""
    if name is None:
        return "a price of its own"
    return name if any(sign in name for sign in "+-*/(") else f"its {name}"


def _source(source: Source) -> str:
    if isinstance(source.read, Expression):
        return source.read.text + _steps(source)
    if not isinstance(source.read, str):
        return f"what {source.what} says of its row" + _steps(source)
    return f"its {source.read}{_steps(source)}"


def _steps(source: Source) -> str:
    words = {"*": "times", "+": "plus"}
    return "".join(f" {words[sign]} {_money(number)}" for sign, number in source.steps)


def _money(number: float) -> str:
    """Write a number as on a bill: 1,797 and 131 and 0.71, and 1e+12 as it is."""
    size = abs(number)
    if size and not 1e-3 <= size < 1e9:
        return f"{number:.3g}"
    if number == int(number) or size >= 100:
        return f"{number:,.0f}"
    return f"{number:,.2f}" if size >= 0.1 else f"{number:.3g}"


def _is_free(cell: Cell) -> bool:
    value = cell.value
    return not isinstance(value, Source) and value.size > 0 and not value.any()


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
        return f"recognising a {true}" if words else f"answering {taken!r} where it is true"
    return f"calling a {true} {taken}" if words else f"answering {taken!r} where {true!r} is true"


def _label(labels: Any, at: int) -> Any:
    return f"class {at}" if labels is None else labels.tolist()[at]


def to_frame(state: State) -> Any:
    """Return costs as a pandas DataFrame; see `costboost.costs.Costs.to_frame`."""
    import pandas as pd  # costs themselves need none

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
