"""Numbers and names as the page writes them; `charts.js` has the same functions."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from html import escape
from typing import Any

from costboost.explain.text import plain as label

__all__ = ["esc", "label", "money", "number", "percent"]


def esc(value: Any) -> str:
    """Return text that is safe between tags and inside quoted attributes."""
    return escape(str(value), quote=True)


def number(value: float, digits: int = 0) -> str:
    """Return an English number with this many decimals, halves away from zero.

    From 1e21 on it is written with a power of ten, as JavaScript does.

    Examples
    --------
    >>> number(1234.5), number(0.125, 2), number(-0.001, 2)
    ('1,235', '0.13', '0.00')
    """
    if abs(value) >= 1e21:
        return repr(float(value))
    step = Decimal(1).scaleb(-digits)
    rounded = Decimal(value).quantize(step, rounding=ROUND_HALF_UP)
    return f"{rounded if rounded else abs(rounded):,}"


def money(value: float, currency: str) -> str:
    """Return an amount to the cent, with the user's sign of currency.

    Examples
    --------
    >>> money(1234.5, "EUR"), money(-3, "$"), money(0.1, "")
    ('EUR 1,234.50', '-$3.00', '0.10')
    """
    digits = number(abs(value), 2)
    sign = "-" if value < 0 and digits.strip("0.,") else ""
    return f"{sign}{currency}{' ' if currency[-1:].isalpha() else ''}{digits}"


def percent(share: float) -> str:
    """Return a share in percent, with one decimal where it is below 10.

    Examples
    --------
    >>> percent(0.4321), percent(0.0123), percent(-0.5)
    ('43%', '1.2%', '-50%')
    """
    if share != share or share in (float("inf"), float("-inf")):
        return "-"
    return number(100 * share, 1 if abs(share) < 0.0995 else 0) + "%"
