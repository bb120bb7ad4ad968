"""What uncertain prices leave open at the opening prices: two intervals, and a tornado.

The sliders ask "what if the price were this?", one price at a time; this part says how wide the
bill is over all that the prices may be, and how many decisions would turn.
"""

from __future__ import annotations

from costboost.costs import Costs
from costboost.metrics import PriceSensitivity, price_sensitivity
from costboost.report.rows import PageRows
from costboost.report.words import Words, esc, rows_html
from costboost.text import percent

__all__ = ["ranges_html"]

_NAMES, _PLOT, _ROOM, _LINE = 150, 400, 90, 34  # widths and height of the drawing


def ranges_html(rows: PageRows, words: Words) -> str:
    """Return the section on uncertain prices; "" where all are certain, or decisions are fixed."""
    state = rows.bound._state
    fixed = rows.decided is not None or rows.added is not None
    if fixed or not state.factors:
        return ""
    # The prices that the page keeps, to the last digit, with the factors of those that were given.
    kept = rows.costs()._state
    cells = [
        cell._replace(factor=state.cell_at(*divmod(i, state.a)).factor)
        for i, cell in enumerate(kept.cells)
    ]
    costs = Costs._of(kept._replace(cells=tuple(cells)))
    found = price_sensitivity(
        rows.labels, rows.proba, costs=costs, labels=rows.classes, sample_weight=rows.weight
    )
    return (
        '<section id="ranges-section" aria-labelledby="ranges-title">'
        '<h2 id="ranges-title">If the prices are others</h2>'
        f'<p class="lead">{esc(_lead(found, words))}</p>'
        f'<figure><div class="chart">{_tornado(found, words)}</div></figure>'
        f'<div class="scroll" role="region" aria-label="Uncertain prices" tabindex="0">'
        f"{_table(found, words)}</div></section>"
    )


def _lead(found: PriceSensitivity, words: Words) -> str:
    sure = percent(found.confidence)
    wider = "prices leave" if found.larger == "prices" else "rows leave"
    return (
        "Some prices are not known exactly. Decisions are those at their means, and so is the "
        f"opening bill of {words.cash(found.rows.total)}. Other rows of the same kind might have "
        f"made it {words.span(found.rows)}, other prices {words.span(found.prices)} ({sure} "
        f"intervals): the {wider} more open. Within the ranges {percent(found.turned)} of the "
        f"decisions would turn, with {percent(found.turned_money)} of the expected bill; at the "
        "least favourable prices the best decisions would be expected to cost "
        f"{words.cash(found.largest_regret)} less than these."
    )


def _tornado(found: PriceSensitivity, words: Words) -> str:
    """Draw the bill between the ends of each price, the widest on top."""
    bill = found.rows.total
    ends = [end for one in found.effects for end in (one.cost_low, one.cost_high)]
    low, high = min([bill, *ends]), max([bill, *ends])
    unit = _PLOT / ((high - low) or 1.0)
    height = _LINE * len(found.effects) + 10
    middle = _NAMES + (bill - low) * unit
    parts = []
    for j, one in enumerate(found.effects):
        top = 6 + _LINE * j
        for end, kind in ((one.cost_low, "bar"), (one.cost_high, "bar own")):
            at = _NAMES + (end - low) * unit
            left, width = min(at, middle), abs(at - middle)
            parts.append(
                f'<rect class="{kind}" x="{left:.1f}" y="{top}" width="{width:.1f}" height="22"/>'
            )
        parts.append(
            f'<text class="name" x="{_NAMES - 8}" y="{top + 16}" text-anchor="end">'
            f"{esc(one.name[:22])}</text>"
        )
    parts.append(f'<line class="axis" x1="{middle:.1f}" x2="{middle:.1f}" y1="0" y2="{height}"/>')
    label = f"The bill, {words.cash(bill)}, at the low and the high end of each uncertain price"
    return (
        f'<svg viewBox="0 0 {_NAMES + _PLOT + _ROOM} {height}" role="img" '
        f'aria-label="{esc(label)}">{"".join(parts)}</svg>'
    )


def _table(found: PriceSensitivity, words: Words) -> str:
    head = ["Price", "Low", "High", "Bill at low", "Bill at high", "Decisions that turn"]
    lines = [
        [
            one.name,
            f"{one.low:.3g}",
            f"{one.high:.3g}",
            words.cash(one.cost_low),
            words.cash(one.cost_high),
            percent(one.turned),
        ]
        for one in found.effects
    ]
    return rows_html(head, lines)
