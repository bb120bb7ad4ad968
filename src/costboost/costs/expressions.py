"""`expression`: a price computed from columns, ``Costs(fp=8, fn=expression("0.75 * amount"))``.

The text is parsed by `grammar`; here its tree meets a table. Values are held per row, in one of
three kinds that never mix: numbers (float64, NaN where missing), texts (objects, None where
missing) and truths (booleans). What is computed is only what is needed: the parts of an `if` are
computed on the rows that take them, so a price may be missing, or a divisor zero, where it is not
asked for. A missing value anywhere else is an error that names its column and row.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from costboost.costs.grammar import (
    Call,
    ExpressionError,
    Name,
    Node,
    Number,
    Operation,
    Text,
    columns_of,
    parse,
)
from costboost.inputs.arrays import is_missing
from costboost.typing import Floats, Indices, Mask

__all__ = ["Expression", "ExpressionError", "digits_of", "expression"]


def expression(text: str) -> Expression:
    """Read a price that is computed from columns of the table.

    Parameters
    ----------
    text : str
        Numbers, columns by name (in backticks or square brackets where the name has blanks or
        signs in it), strings in quotes, ``+ - * /``, comparison, ``and or not``, and the functions
        ``if(condition, price, other)``, ``min``, ``max``, ``abs``, ``round(x)`` or
        ``round(x, digits)`` (halves to even, as Python does) and ``missing(column)``.

    Returns
    -------
    Expression
        A function of the table: for any price of `Costs`.

    Examples
    --------
    >>> import pandas as pd
    >>> from costboost import Costs
    >>> from costboost.costs import expression
    >>> X = pd.DataFrame({"amount": [100.0, 40.0], "segment": ["vip", "other"]})
    >>> costs = Costs(fp=expression("if(segment == 'vip', 3, 1) * 8"), fn=expression("amount - 20"))
    >>> costs
    Costs(fp=expression("if(segment == 'vip', 3, 1) * 8"), fn=expression('amount - 20'))
    >>> costs.bind_table(X).fp.tolist()
    [24.0, 8.0]
    >>> expression("amount +")
    Traceback (most recent call last):
        ...
    costboost.costs.grammar.ExpressionError: a number, a column or a bracket is missing here
      amount +
              ^
    """
    return Expression(text)


class Expression:
    """A price computed from columns; made by `expression`. Equal where the text is.

    Attributes
    ----------
    text : str
    columns : tuple of str
        The columns that are read, each once.

    Examples
    --------
    >>> from costboost.costs import expression
    >>> price = expression("0.75 * amount + 20 * (country == 'US')")
    >>> price.columns
    ('amount', 'country')
    >>> price == expression(price.text)
    True
    """

    text: str
    columns: tuple[str, ...]
    _tree: Node

    def __init__(self, text: str) -> None:
        self.__setstate__({"text": text})

    def __getstate__(self) -> dict[str, Any]:
        return {"text": self.text}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Whoever restores an expression, its text is parsed again: nothing else is believed.
        given = state["text"]
        self.text = given.strip() if isinstance(given, str) else given
        self._tree = parse(self.text)
        self.columns = columns_of(self._tree)

    @property
    def constant(self) -> float | None:
        """The number, where the expression is one: ``-3``, ``2.50``."""
        node, sign = self._tree, 1.0
        while isinstance(node, Operation) and node.sign == "-" and len(node.parts) == 1:
            node, sign = node.parts[0], -sign
        return sign * node.value if isinstance(node, Number) else None

    @property
    def leading(self) -> tuple[float, Expression] | None:
        """The number that a product begins with, and what it multiplies: ``0.75 * amount``."""
        node = self._tree
        while isinstance(node, Operation) and node.sign in "*/" and len(node.parts) == 2:
            first = node.parts[0]
            if isinstance(first, Number) and node.sign == "*" and first.span[0] == 0:
                after = self.text[first.span[1] :]  # from the sign on
                return first.value, Expression(after[after.index("*") + 1 :])
            node = first
        return None

    @property
    def column(self) -> str | None:
        """The name, where the expression is one column and nothing else."""
        return self._tree.name if isinstance(self._tree, Name) else None

    def __call__(self, X: Any) -> Floats:
        """Return the price of each row of a table: a frame, or a mapping of columns."""
        table = _Table(X, self.text)
        prices = _Evaluation(self.text, table).numbers(self._tree, np.arange(table.n_rows))
        beyond = np.flatnonzero(~np.isfinite(prices))
        if beyond.size:
            problem = f"row {beyond[0]}: the price is beyond 1e308"
            raise ExpressionError(self.text, self._tree.span, problem)
        return prices

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"expression({self.text!r})"


class _ColumnValues(NamedTuple):
    """A column: its values by kind, and where they are missing."""

    kind: str
    values: NDArray[Any]
    missing: Mask


class _Table:
    """The columns of a table of any library, read when they are asked for, and once."""

    def __init__(self, X: Any, text: str) -> None:
        self.text = text
        frame: Any = nw.from_native(X, pass_through=True) if hasattr(X, "columns") else X
        self._read: dict[str, _ColumnValues] = {}
        self.frame = frame if isinstance(frame, nw.DataFrame) else None
        self.mapping = X if isinstance(X, Mapping) else None
        if self.frame is None and self.mapping is None:
            raise ValueError(
                f"The expression {text!r} reads columns by name, but X is a {type(X).__name__}, "
                "whose columns have none: give a DataFrame, or a dict of columns."
            )
        self.names = list(X) if self.frame is None else list(self.frame.columns)
        self.n_rows = self._count()

    def _count(self) -> int:
        if self.frame is not None:
            return int(self.frame.shape[0])
        assert self.mapping is not None
        sizes = {len(_listed(column)) for column in self.mapping.values()}
        if len(sizes) > 1:
            raise ValueError(f"The columns have different lengths: {sorted(sizes)}.")
        return sizes.pop() if sizes else 0

    def column(self, node: Name) -> _ColumnValues:
        if node.name not in self._read:
            if node.name not in self.names:
                raise ExpressionError(self.text, node.span, _unknown(node.name, self.names))
            self._read[node.name] = self._convert(node)
        return self._read[node.name]

    def _convert(self, node: Name) -> _ColumnValues:
        if self.frame is not None:
            series = self.frame[node.name]
            dtype = series.dtype
            if dtype.is_numeric() and dtype not in (nw.Object, nw.Unknown):
                values = np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
                return _ColumnValues("number", values, np.isnan(values))
            if dtype.is_temporal():
                problem = f"{node.name!r} holds dates: make a number of them first"
                raise ExpressionError(self.text, node.span, problem)
            listed = series.to_list()
        else:
            assert self.mapping is not None
            listed = _listed(self.mapping[node.name])
        return self._of_objects(listed, node)

    def _of_objects(self, listed: list[Any], node: Name) -> _ColumnValues:
        missing = np.array([is_missing(value) for value in listed], dtype=np.bool_)
        values = np.empty(len(listed), dtype=object)
        values[:] = listed
        known = values[~missing].tolist()
        kinds = set(map(type, known))
        if not kinds:
            return _ColumnValues("missing", values, missing)
        if all(issubclass(kind, bool | np.bool_) for kind in kinds):
            return _ColumnValues("truth", values, missing)
        if all(issubclass(kind, str) for kind in kinds):
            return _ColumnValues("text", values, missing)
        numbers = np.full(len(listed), np.nan)
        try:
            if any(issubclass(kind, bool | np.bool_ | str | bytes) for kind in kinds):
                raise TypeError
            numbers[~missing] = [float(value) for value in known]
        except (TypeError, ValueError):
            names = ", ".join(sorted(kind.__name__ for kind in kinds))
            problem = f"{node.name!r} holds {names}: numbers, strings or booleans can be read"
            raise ExpressionError(self.text, node.span, problem) from None
        return _ColumnValues("number", numbers, missing)


def _listed(column: Any) -> list[Any]:
    return column.tolist() if hasattr(column, "tolist") else list(column)


def _unknown(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, [str(n) for n in names], n=1)
    if near:
        return f"there is no column {name!r}; did you mean {near[0]!r}?"
    shown = ", ".join(map(repr, names[:8])) + (f" and {len(names) - 8} others" * (len(names) > 8))
    return f"there is no column {name!r}; the columns are {shown}"


def digits_of(text: str, node: Call) -> int:
    """Return how many digits a `round` leaves: a number that is written there."""
    if len(node.parts) == 1:
        return 0
    digits = Expression(text[slice(*node.parts[1].span)]).constant
    if digits is None or digits != int(digits) or abs(digits) > 15:
        problem = "digits are a whole number from -15 to 15"
        raise ExpressionError(text, node.parts[1].span, problem)
    return int(digits)


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
}
_ORDER: dict[str, Callable[..., Any]] = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


class _Evaluation:
    """Computes the nodes of one expression on some rows of one table."""

    def __init__(self, text: str, table: _Table) -> None:
        self.text = text
        self.table = table

    def _refuse(self, node: Node, problem: str) -> NoReturn:
        raise ExpressionError(self.text, node.span, problem)

    # --- the three kinds

    def kind(self, node: Node) -> str:
        """Return the kind of a node: number, text or truth.

        It is "missing" where nothing is known in the whole column, as in a table of one row: that
        may stand for any of the three, in parts that no row asks for.
        """
        if isinstance(node, Text):
            return "text"
        if isinstance(node, Name):
            return self.table.column(node).kind
        if isinstance(node, Operation):
            return "number" if node.sign in "+-*/" else "truth"
        if isinstance(node, Call) and node.function == "if":
            yes = self.kind(node.parts[1])
            return self.kind(node.parts[2]) if yes == "missing" else yes
        return "truth" if isinstance(node, Call) and node.function == "missing" else "number"

    def numbers(self, node: Node, rows: Indices) -> Floats:
        """Return the numbers of a node on these rows."""
        kind = self.kind(node)
        if kind == "text":
            self._refuse(node, "this is text where a number is expected")
        if kind == "truth":
            self._refuse(node, "this is true or false where a number is expected: if(..., 1, 0)")
        if isinstance(node, Number):
            return np.full(len(rows), node.value)
        if isinstance(node, Name):
            return self._known(node, rows)
        assert isinstance(node, Operation | Call)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused below
            return self._call(node, rows) if isinstance(node, Call) else self._compute(node, rows)

    def texts(self, node: Node, rows: Indices) -> NDArray[Any]:
        """Return the strings of a node on these rows."""
        if isinstance(node, Text):
            return np.full(len(rows), node.value, dtype=object)
        if isinstance(node, Call):
            return self._branches(node, rows, self.texts, np.empty(len(rows), dtype=object))
        assert isinstance(node, Name)
        return self._known(node, rows)

    def truths(self, node: Node, rows: Indices) -> Mask:
        """Return where a condition holds."""
        if self.kind(node) not in ("truth", "missing"):
            self._refuse(node, "a condition is expected, such as amount > 100")
        if isinstance(node, Name):
            return self._known(node, rows).astype(np.bool_)
        if isinstance(node, Call):
            return self._condition(node, rows)
        assert isinstance(node, Operation)
        if node.sign == "not":
            return ~self.truths(node.parts[0], rows)
        if node.sign in ("and", "or"):
            return self._joined(node, rows)
        return self._compare(node, rows)

    def _known(self, node: Name, rows: Indices) -> NDArray[Any]:
        column = self.table.column(node)
        gone = np.flatnonzero(column.missing[rows])
        if gone.size:
            self._refuse(
                node,
                f"row {rows[gone[0]]}: {node.name!r} is missing, in {gone.size:,} of "
                f"{len(rows):,} rows; say what holds then, such as "
                f"if(missing({_quoted(node.name)}), 0, {_quoted(node.name)})",
            )
        return column.values[rows]

    # --- numbers

    def _compute(self, node: Operation, rows: Indices) -> Floats:
        parts = [self.numbers(part, rows) for part in node.parts]
        if len(parts) == 1:
            return np.negative(parts[0])
        if node.sign != "/":
            return np.asarray(_ARITHMETIC[node.sign](*parts))
        zero = np.flatnonzero(parts[1] == 0.0)
        if zero.size:
            self._refuse(node.parts[1], f"row {rows[zero[0]]}: division by zero")
        return np.divide(*parts)

    def _call(self, node: Call, rows: Indices) -> Floats:
        if node.function == "if":
            return self._branches(node, rows, self.numbers, np.empty(len(rows)))
        parts = [self.numbers(part, rows) for part in node.parts]
        if node.function in ("min", "max"):
            extreme = np.minimum if node.function == "min" else np.maximum
            return np.asarray(extreme.reduce(parts))
        if node.function == "abs":
            return np.abs(parts[0])
        return np.round(parts[0], digits_of(self.text, node))

    def _branches(
        self, node: Call, rows: Indices, of: Callable[[Node, Indices], Any], out: NDArray[Any]
    ) -> NDArray[Any]:
        """Compute both parts of an `if`, each on the rows that take it."""
        condition, yes, no = node.parts
        kinds = self.kind(yes), self.kind(no)
        if kinds[0] != kinds[1] and "missing" not in kinds:
            self._refuse(no, f"this is a {kinds[1]}, the part before it a {kinds[0]}")
        holds = self.truths(condition, rows)
        out[holds] = of(yes, rows[holds])
        out[~holds] = of(no, rows[~holds])
        return out

    # --- conditions

    def _condition(self, node: Call, rows: Indices) -> Mask:
        if node.function == "if":
            return self._branches(node, rows, self.truths, np.empty(len(rows), dtype=np.bool_))
        part = node.parts[0]
        if not isinstance(part, Name):
            self._refuse(part, "missing asks about a column")
        return self.table.column(part).missing[rows]

    def _joined(self, node: Operation, rows: Indices) -> Mask:
        """Compute the second part only where the first does not settle it."""
        holds = self.truths(node.parts[0], rows)
        open_ = holds if node.sign == "and" else ~holds
        holds[open_] = self.truths(node.parts[1], rows[open_])
        return holds

    def _compare(self, node: Operation, rows: Indices) -> Mask:
        kinds = [self.kind(part) for part in node.parts]
        if "missing" in kinds:
            known = [kind for kind in kinds if kind != "missing"] or ["number"]
            kinds = [known[0], known[0]]
        if kinds == ["text", "text"] and node.sign in ("==", "!="):
            left, right = (self.texts(part, rows) for part in node.parts)
            return np.asarray(_ORDER[node.sign](left, right), dtype=np.bool_)
        if kinds != ["number", "number"]:
            self._refuse(
                node,
                f"a {kinds[0]} is compared with a {kinds[1]}: numbers compare with numbers, "
                "strings with strings, and those by == and != only",
            )
        left, right = (self.numbers(part, rows) for part in node.parts)
        return np.asarray(_ORDER[node.sign](left, right), dtype=np.bool_)


def _quoted(name: str) -> str:
    return name if name.isidentifier() else f"`{name.replace('`', '``')}`"
