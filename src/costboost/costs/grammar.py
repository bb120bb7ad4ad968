"""Prices written as expressions over columns: their text becomes a tree of nodes.

    0.75 * amount + 20              Operation("+", (Operation("*", (Number, Name)), Number))
    max(amount - `own share`, 0)    Call("max", (Operation("-", ...), Number))
    if(segment == 'vip', 3, 1)      Call("if", (Operation("==", (Name, Text)), Number, Number))

From the loosest to the tightest: or, and, not, comparison (one at a time), + and -, * and /, the
sign. Every node knows which characters it was made of, so that an error, here or on a
table, can point at them. Nothing is ever passed to Python's own parser.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, NoReturn

__all__ = [
    "Call",
    "ExpressionError",
    "FUNCTIONS",
    "Name",
    "Node",
    "Number",
    "Operation",
    "Span",
    "Text",
    "columns_of",
    "parse",
]

MAX_LENGTH = 2000
# Bounds on brackets and on the tree, and so on every walk through it: the rest belongs in a column.
MAX_DEPTH = 60
MAX_TOKENS = 250


class Span(NamedTuple):
    """A range of characters of the text: from `start` to before `stop`."""

    start: int
    stop: int


class ExpressionError(ValueError):
    """A price that cannot be read or computed; its message shows the text and points into it.

    Examples
    --------
    >>> print(ExpressionError("0.75 * amuont", Span(7, 13), "there is no column 'amuont'"))
    there is no column 'amuont'
      0.75 * amuont
             ^^^^^^
    """

    def __init__(self, text: str, span: Span, problem: str) -> None:
        self.text, self.span, self.problem = text, span, problem
        shown = text.replace("\n", " ").replace("\t", " ")
        carets = " " * span.start + "^" * max(span.stop - span.start, 1)
        super().__init__(f"{problem}\n  {shown}\n  {carets}")

    def __reduce__(self) -> tuple[type[ExpressionError], tuple[str, Span, str]]:
        return type(self), (self.text, self.span, self.problem)


@dataclass(frozen=True)
class Number:
    """A number, as written."""

    span: Span
    value: float


@dataclass(frozen=True)
class Text:
    """A string, to compare a column with."""

    span: Span
    value: str


@dataclass(frozen=True)
class Name:
    """A column."""

    span: Span
    name: str


@dataclass(frozen=True)
class Operation:
    """An operator or function applied to one or two parts."""

    span: Span
    sign: str
    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Call:
    """A function of its parts."""

    span: Span
    function: str
    parts: tuple[Node, ...]


Node = Number | Text | Name | Operation | Call

#: What may be called, with how many parts: at least, at most (None: any number).
FUNCTIONS: dict[str, tuple[int, int | None]] = {
    "if": (3, 3),
    "min": (2, None),
    "max": (2, None),
    "abs": (1, 1),
    "round": (1, 2),
    "missing": (1, 1),
}
COMPARISONS = ("==", "!=", "<=", ">=", "<", ">")
WORDS = ("and", "or", "not")

Kind = Literal["number", "text", "name", "quoted", "sign", "end"]


class Token(NamedTuple):
    """A piece of the text."""

    kind: Kind
    value: str
    span: Span


_PIECES = re.compile(
    r"""(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
      | (?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
      | (?P<quoted>`(?:[^`]|``)+`|\[[^\]]+\])
      | (?P<name>[^\W\d]\w*)
      | (?P<sign>==|!=|<=|>=|[-+*/()<>,])""",
    re.VERBOSE,
)
_HINTS = {
    "=": "compare with ==",
    "!": "write != for different, or not",
    "&": "write and",
    "|": "write or",
    "%": "write a share as a number, 0.75 for 75 %",
    "^": "there are no powers: multiply",
    "'": "the string has no end: close it with '",
    '"': 'the string has no end: close it with "',
    "`": "the name has no end: close it with `",
    "[": "the name has no end: close it with ]",
    ";": "separate parts with a comma",
}


def _tokens(text: str) -> Iterator[Token]:
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        found = _PIECES.match(text, at)
        if found is None:
            hint = _HINTS.get(text[at], "it has no meaning here")
            raise ExpressionError(text, Span(at, at + 1), f"{text[at]!r}: {hint}")
        kind: Kind = found.lastgroup  # type: ignore[assignment]
        yield Token(kind, _value(kind, found.group()), Span(at, found.end()))
        at = found.end()
    yield Token("end", "", Span(len(text), len(text)))


def _value(kind: str, piece: str) -> str:
    """Return the text between quotes; a doubled quote is one."""
    if kind == "text" or piece.startswith("`"):
        return piece[1:-1].replace(2 * piece[0], piece[0])
    return piece[1:-1] if kind == "quoted" else piece


def parse(text: str) -> Node:
    """Return the tree of an expression.

    Examples
    --------
    >>> columns_of(parse("if(segment == 'vip', 3, 1) * `net margin`"))
    ('segment', 'net margin')
    """
    if not isinstance(text, str) or not text.strip():
        raise ExpressionError(str(text), Span(0, 1), "a price is empty: give a number or a column")
    if len(text) > MAX_LENGTH:
        problem = f"a price has {len(text):,} characters, more than {MAX_LENGTH:,}: make a column"
        raise ExpressionError(text[:60], Span(0, 1), problem)
    return _Parser(text).parse()


def columns_of(node: Node) -> tuple[str, ...]:
    """Return the names of the columns that an expression reads, each once, as they come."""
    if isinstance(node, Name):
        return (node.name,)
    parts = node.parts if isinstance(node, Operation | Call) else ()
    return tuple(dict.fromkeys(name for part in parts for name in columns_of(part)))


class _Parser:
    """Descends from the loosest operator to the tightest."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(_tokens(text))
        self.at = min(MAX_TOKENS, len(self.tokens) - 1)
        if len(self.tokens) > MAX_TOKENS:
            self._refuse(f"more than {MAX_TOKENS} pieces: make a column of a part of it")
        self.at = 0

    @property
    def here(self) -> Token:
        return self.tokens[self.at]

    def parse(self) -> Node:
        node = self._either(0)
        if self.here.kind != "end":
            self._refuse_rest()
        return node

    # --- operators, the loosest first

    def _either(self, depth: int) -> Node:
        return self._chain(("or",), self._both, depth)

    def _both(self, depth: int) -> Node:
        return self._chain(("and",), self._negated, depth)

    def _negated(self, depth: int) -> Node:
        if not self._is("not"):
            return self._compared(depth)
        start = self._take().span.start
        part = self._negated(self._deeper(depth))
        return Operation(Span(start, part.span.stop), "not", (part,))

    def _compared(self, depth: int) -> Node:
        left = self._sum(depth)
        if not self._is(*COMPARISONS):
            return left
        sign = self._take().value
        right = self._sum(self._deeper(depth))
        if self._is(*COMPARISONS):
            self._refuse("compare two things at a time: 0 < x and x < 5")
        return _operation(sign, left, right)

    def _sum(self, depth: int) -> Node:
        return self._chain(("+", "-"), self._product, depth)

    def _product(self, depth: int) -> Node:
        return self._chain(("*", "/"), self._signed, depth)

    def _chain(self, signs: tuple[str, ...], tighter: Callable[[int], Node], depth: int) -> Node:
        left = tighter(depth)
        while self._is(*signs):
            sign = self._take().value
            depth = self._deeper(depth)  # the chain leans to the left: each link is one deeper
            left = _operation(sign, left, tighter(depth))
        return left

    def _signed(self, depth: int) -> Node:
        if not self._is("-", "+"):
            return self._single(depth)
        sign = self._take()
        part = self._signed(self._deeper(depth))
        if sign.value == "+":
            return part
        return Operation(Span(sign.span.start, part.span.stop), "-", (part,))

    # --- what stands on its own

    def _single(self, depth: int) -> Node:
        token = self.here
        if token.kind == "sign" and token.value == "(":
            self._take()
            node = self._either(self._deeper(depth))
            self._close(token)
            return node
        if token.kind in ("sign", "end") or (token.kind == "name" and token.value in WORDS):
            self._refuse("a number, a column or a bracket is missing here")
        self._take()
        if token.kind == "number":
            return Number(token.span, self._number(token))
        if token.kind == "text":
            return Text(token.span, token.value)
        if token.kind == "name" and self._is("("):
            return self._call(token, depth)
        if token.kind == "name" and token.value == "if":
            self._refuse("write if(condition, price, other price)")
        return Name(token.span, token.value)

    def _number(self, token: Token) -> float:
        value = float(token.value)
        if value > 1e300:
            raise ExpressionError(self.text, token.span, "a number is beyond 1e300")
        return value

    def _call(self, name: Token, depth: int) -> Node:
        if name.value not in FUNCTIONS:
            known = ", ".join(FUNCTIONS)
            problem = f"there is no function {name.value!r}: use {known}"
            raise ExpressionError(self.text, name.span, problem)
        opening = self._take()
        parts = []
        while not self._is(")"):
            parts.append(self._either(self._deeper(depth)))
            if not self._is(","):
                break
            self._take()
        stop = self._close(opening)
        self._check_count(name, len(parts), stop)
        return Call(Span(name.span.start, stop), name.value, tuple(parts))

    def _check_count(self, name: Token, given: int, stop: int) -> None:
        low, high = FUNCTIONS[name.value]
        if low <= given <= (given if high is None else high):
            return
        wanted = f"{low}" if low == high else f"at least {low}" if high is None else f"{low} or 2"
        problem = f"{name.value} takes {wanted} part{'s' * (wanted != '1')}, not {given}"
        raise ExpressionError(self.text, Span(name.span.start, stop), problem)

    # --- tokens

    def _is(self, *values: str) -> bool:
        token = self.here
        return token.kind in ("sign", "name") and token.value in values

    def _take(self) -> Token:
        token = self.here
        self.at += 1
        return token

    def _close(self, opening: Token) -> int:
        if not self._is(")"):
            if self.here.kind == "end":
                raise ExpressionError(self.text, opening.span, "this bracket is never closed")
            self._refuse_rest()
        return self._take().span.stop

    def _deeper(self, depth: int) -> int:
        if depth >= MAX_DEPTH:
            self._refuse(f"more than {MAX_DEPTH} steps: make a column of a part of it")
        return depth + 1

    def _refuse(self, problem: str) -> NoReturn:
        raise ExpressionError(self.text, self.here.span, problem)

    def _refuse_rest(self) -> NoReturn:
        token = self.here
        if token.value == "," and token.kind == "sign":
            self._refuse("a comma separates the parts of a function: write 1000, not 1,000")
        if token.value == ")" and token.kind == "sign":
            self._refuse("this bracket was never opened")
        self._refuse(
            "an operator is missing before this; a name with blanks or signs in it stands in "
            "`backticks` or [brackets]"
        )


def _operation(sign: str, left: Node, right: Node) -> Operation:
    return Operation(Span(left.span.start, right.span.stop), sign, (left, right))
