"""Prices that may be others: those that are uncertain, and scenarios with a name.

The sliders ask "what if the price were this?", one price at a time. For uncertain prices this part
says how wide the bill is over all that they may be, and how many decisions would turn. A scenario
is a set of slider positions, chosen from a menu, and a line of a table.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from costboost.costs import Costs
from costboost.metrics import PriceSensitivity, price_sensitivity, scenario_costs
from costboost.report.rows import PageRows
from costboost.report.words import Words, esc, rows_html
from costboost.text import percent
from costboost.typing import Floats

__all__ = ["OPENING", "ranges_html", "scenario_values", "scenarios_html"]

OPENING = "Opening prices"

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


def scenario_values(rows: PageRows, scenarios: Mapping[str, Costs]) -> dict[str, Floats]:
    """Return the positions of the sliders, shape (K, A), in each scenario.

    Raises where a price is not the page's price times a number: a slider cannot reach it.
    """
    if scenarios and rows.decided is not None:
        raise ValueError(
            "scenarios change decisions, but those of this model are fixed by the costs that it "
            "was trained on: leave scenarios out, or report a model that decides by costs."
        )
    found = {}
    for name, costs in scenarios.items():
        if np.asarray(costs.actions).tolist() != rows.actions.tolist():
            raise ValueError(
                f"The scenario {name!r} has the actions {np.asarray(costs.actions).tolist()}, and "
                f"the page {rows.actions.tolist()}: give it prices of these."
            )
        values = np.zeros(rows.prices.values.shape)
        for k, a in np.ndindex(values.shape):
            values[k, a] = _position(rows, costs, k, a, name)
        found[name] = values
    return found


def _position(rows: PageRows, costs: Costs, k: int, a: int, name: str) -> float:
    """Return what the slider of one cell shows at the price of a scenario."""
    price = np.asarray(costs._state.cell(k, a), dtype=np.float64)
    j = int(rows.prices.column_of[k, a])
    if j < 0:
        if price.ndim and np.ptp(price) > 0:
            raise ValueError(_beyond(rows, k, a, name, "one number for all rows"))
        return float(price.flat[0])
    column = rows.prices.columns[j]
    at = int(np.argmax(np.abs(column)))
    ratio = float(np.broadcast_to(price, column.shape)[at] / column[at])
    if not np.allclose(price, ratio * column, rtol=1e-9, atol=0.0):
        raise ValueError(_beyond(rows, k, a, name, "a column, which it must multiply"))
    return ratio


def _beyond(rows: PageRows, k: int, a: int, name: str, what: str) -> str:
    truth, action = rows.classes.tolist()[k], rows.actions.tolist()[a]
    return (
        f"In the scenario {name!r} deciding {action!r} where {truth!r} is true has prices that no "
        f"slider reaches: the page opens with {what}. Give the page costs=, and each scenario, "
        "prices that differ by a factor."
    )


def scenarios_html(rows: PageRows, words: Words, scenarios: Mapping[str, Floats]) -> str:
    """Return a table of the scenarios side by side; "" where there are none."""
    if not scenarios:
        return ""
    if rows.added is not None:  # decisions are not by these prices alone
        return ""
    costs = {OPENING: rows.costs(), **{name: rows.costs(v) for name, v in scenarios.items()}}
    billed = scenario_costs(
        rows.labels, rows.proba, scenarios=costs, labels=rows.classes, sample_weight=rows.weight
    )
    head = ["Scenario", "Bill", "95 % interval", "Decided as at the opening", "Decided differently"]
    lines = [
        [
            one.name,
            words.cash(one.cost.total),
            words.span(one.cost),
            words.cash(one.unchanged.total),
            percent(one.differ),
        ]
        for one in billed
    ]
    return (
        '<h3>Scenarios</h3><div class="scroll" role="region" aria-label="Scenarios" tabindex="0">'
        f"{rows_html(head, lines)}</div>"
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
