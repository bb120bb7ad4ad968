"""Numbers as on a bill."""

from __future__ import annotations

__all__ = ["Money", "count", "share"]


class Money:
    """Writes amounts in a currency.

    Examples
    --------
    >>> money = Money("EUR")
    >>> money(1234.56), money(12.345), money(-3), money(0.004)
    ('EUR 1,235', 'EUR 12.35', 'EUR -3.00', 'EUR 0.004')
    >>> Money("").span(1200, 3400.2)
    '1,200 to 3,400'
    """

    def __init__(self, currency: str) -> None:
        self.currency = currency

    def __call__(self, amount: float) -> str:
        """Return an amount with its currency."""
        return f"{self.currency} {self.bare(amount)}".strip()

    @staticmethod
    def bare(amount: float) -> str:
        """Return an amount alone: cents where they can be seen."""
        size = abs(amount)
        if size >= 1e15:
            return f"{amount:.4g}"
        if size >= 100:
            return f"{amount:,.0f}"
        return f"{amount:.2f}" if size >= 0.1 or not size else f"{amount:.3g}"

    def span(self, low: float, high: float) -> str:
        """Return an interval."""
        return f"{self.bare(low)} to {self.bare(high)}"


def count(n: int, one: str, many: str | None = None) -> str:
    """Return how many there are of something.

    Examples
    --------
    >>> count(1, "row"), count(12345, "row"), count(2, "category", "categories")
    ('1 row', '12,345 rows', '2 categories')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def share(part: float) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> share(0.4567), share(0.0123), share(-0.5), share(0.00012), share(0.9954), share(1.0)
    ('46 %', '1.2 %', '-50 %', '0.012 %', '99.5 %', '100 %')
    """
    percent = 100 * part
    if 99 <= percent < 100:  # nearly all is not all
        return f"{min(percent, 99.9):.1f} %"
    return f"{percent:.0f} %" if abs(percent) >= 10 or not percent else f"{percent:.2g} %"
