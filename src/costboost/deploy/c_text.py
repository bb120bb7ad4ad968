"""C as text: literals that mean exactly what Python means, and arrays of them."""

from __future__ import annotations

import math
from collections.abc import Iterable

__all__ = ["array", "number", "string"]

_WIDTH = 100


def number(value: float) -> str:
    """Return a double as C99 writes it exactly, in hexadecimal.

    Examples
    --------
    >>> number(0.1), number(float("-inf")), number(3.0)
    ('0x1.999999999999ap-4', '-INFINITY', '0x1.8p+1')
    """
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    digits, exponent = float(value).hex().split("p")
    return f"{digits.rstrip('0').rstrip('.') if '.' in digits else digits}p{exponent}"


def string(text: str) -> str:
    r"""Return a text as a C string of UTF-8, everything unusual in octal.

    Examples
    --------
    >>> print(string('a "b" ??'))
    "a \042b\042 \077\077"
    """
    if "\0" in text:
        raise ValueError(f"{text!r} holds a zero character, where a string of C would end.")
    plain = set(range(32, 127)) - set(b'"\\?')  # ?? would begin a trigraph
    data = text.encode("utf-8", "surrogatepass")
    return '"' + "".join(chr(c) if c in plain else f"\\{c:03o}" for c in data) + '"'


def array(kind: str, name: str, items: Iterable[str]) -> str:
    """Return the definition of a constant array, its lines not too long.

    Examples
    --------
    >>> print(array("int", "sizes", ["1", "2"]))
    static const int sizes[2] = {
        1, 2
    };
    """
    listed = list(items)
    lines, line = [], "   "
    for item in listed:
        if len(line) + len(item) + 2 > _WIDTH and line.strip():
            lines.append(line)
            line = "   "
        line += f" {item},"
    lines.append(line.rstrip(","))
    return f"static const {kind} {name}[{len(listed)}] = {{\n" + "\n".join(lines) + "\n};"
