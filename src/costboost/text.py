"""Numbers and names as people read them: on the command line, on pages, in pictures and messages.

Commas separate thousands, a blank precedes the percent sign. `charts.js` writes amounts and shares
on a page by the same rules.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

__all__ = ["count", "fixed", "listed", "money", "percent", "number", "span", "tick_texts"]


def fixed(value: float, decimals: int = 0) -> str:
    """Return a number with this many decimals, halves away from zero.

    From 1e21 on it is written with a power of ten, as JavaScript does.

    Examples
    --------
    >>> fixed(1234.5), fixed(0.125, 2), fixed(-0.001, 2)
    ('1,235', '0.13', '0.00')
    """
    if not math.isfinite(value) or abs(value) >= 1e21:
        return repr(float(value))
    step = Decimal(1).scaleb(-decimals)
    rounded = Decimal(value).quantize(step, rounding=ROUND_HALF_UP)
    return f"{rounded if rounded else abs(rounded):,f}"


def number(value: float, digits: int = 4) -> str:
    """Return a number with about this many significant digits, but all of those before the point.

    Examples
    --------
    >>> [number(x) for x in (0.04712, 12.3456, 1234.5, 2000000.0)]
    ['0.04712', '12.35', '1,234', '2,000,000']
    """
    value += 0.0  # -0.0 becomes 0.0
    size = abs(value)
    if size < 1 or size >= 1e15 or not math.isfinite(value):
        return f"{value:.{digits}g}"
    return _short(f"{value:,.{max(0, digits - len(str(int(size))))}f}")


def money(amount: float, currency: str | None = "", *, cents: bool = False) -> str:
    """Return an amount of money: cents below 100 where there are any, or always.

    A blank follows a code such as EUR, but not a sign such as $.

    Examples
    --------
    >>> money(1234.56, "EUR"), money(12.345, "EUR"), money(-3, "$"), money(0.004)
    ('EUR 1,235', 'EUR 12.35', '-$3', '0.004')
    >>> money(1234.5, "EUR", cents=True), money(-3, "$", cents=True)
    ('EUR 1,234.50', '-$3.00')
    """
    size = abs(amount)
    if cents:
        text = fixed(size, 2)
    elif size >= 1e15 or 0 < size < 0.1:
        text = f"{size:.4g}" if size >= 1e15 else f"{size:.3g}"
    else:
        text = fixed(size) if size >= 100 else fixed(size, 2).removesuffix(".00")
    sign = "-" if amount < 0 and text.strip("0.,") else ""
    currency = currency or ""
    return f"{sign}{currency}{' ' if currency[-1:].isalpha() else ''}{text}"


def span(low: float, high: float) -> str:
    """Return an interval of amounts.

    Examples
    --------
    >>> span(12.5, 3400.2)
    '12.50 to 3,400'
    """
    return f"{money(low)} to {money(high)}"


def percent(share: float) -> str:
    """Return a share in percent: two digits, or all before the point; "-" where it is infinite.

    Examples
    --------
    >>> [percent(x) for x in (0.4567, 0.0123, -0.5, 0.00012, 0.9954, 0.9999, 1.0)]
    ['46 %', '1.2 %', '-50 %', '0.012 %', '99.5 %', '99.9 %', '100 %']
    """
    if not math.isfinite(share):
        return "-"
    value = 100 * share
    size = abs(value)
    if 99 <= value < 100:  # nearly all is not all
        return f"{_short(fixed(min(value, 99.9), 1))} %"
    decimals = 0 if size >= 10 or not size else min(20, 1 - math.floor(math.log10(size)))
    return f"{_short(fixed(value, decimals))} %"


def count(n: int, one: str, many: str | None = None) -> str:
    """Return how many there are of something.

    Examples
    --------
    >>> count(1, "row"), count(12345, "row"), count(2, "category", "categories")
    ('1 row', '12,345 rows', '2 categories')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def listed(names: Sequence[str], at_most: int = 12, last: str = ", ") -> str:
    """Return names, not too many; `last` stands before the last one.

    Examples
    --------
    >>> listed(["a", "b", "c"], last=" and "), listed(["a", "b", "c", "d"], 2)
    ('a, b and c', 'a, b and 2 others')
    """
    shown, more = list(names[:at_most]), len(names) - at_most
    if more > 0:
        return f"{', '.join(shown)} and {count(more, 'other')}"
    return ", ".join(shown[:-1]) + (last if shown[1:] else "") + "".join(shown[-1:])


def tick_texts(values: Sequence[float]) -> list[str]:
    """Return ticks with the same, smallest number of decimals that distinguishes them.

    Examples
    --------
    >>> tick_texts([0, 2500, 5000]), tick_texts([0.0, 0.25, 0.5])
    (['0', '2,500', '5,000'], ['0.00', '0.25', '0.50'])
    """
    sizes = [abs(v) for v in values if v]
    if sizes and (max(sizes) >= 1e12 or max(sizes) < 1e-4):
        return [f"{v:g}" for v in values]
    for decimals in range(9):
        if all(abs(round(v, decimals) - v) <= 1e-9 * max(sizes, default=1.0) for v in values):
            break
    texts = [f"{v:,.{decimals}f}" for v in values]
    return [t[1:] if t.startswith("-") and not t.strip("-0.,") else t for t in texts]


def _short(text: str) -> str:
    """Return a number without zeros at the end of its decimals."""
    return text.rstrip("0").rstrip(".") if "." in text else text
