"""An explanation as HTML: a table of facts and a waterfall, with nothing but inline SVG.

Names and values come from the user's table: every one of them is escaped.
"""

from __future__ import annotations

from html import escape
from typing import Any

from costboost.explain.text import SHOWN, change_sentences, number, plain, turning_sentences

UP, DOWN = "#D55E00", "#0072B2"  # Okabe and Ito's, as in the plots
_WIDTH, _ROW, _LABEL, _END = 640, 22, 230, 70


def decision_html(seen: Any) -> str:
    """Return an `Explanation` as a fragment of HTML."""
    head = "predicts" if seen.decision is None else "decides:"
    answer = number(seen.total) if seen.decision is None else plain(seen.decision)
    facts = [
        ("Probability", _pairs(seen.probabilities)),
        ("Expected cost", _pairs(seen.expected_cost)),
        ("Would turn", [escape(line) for line in turning_sentences(seen)]),
        ("One change", [escape(line) for line in change_sentences(seen)]),
    ]
    rows = "".join(
        f'<tr><th style="text-align:left;vertical-align:top;padding-right:1em">{title}</th>'
        f'<td style="text-align:left">{"<br>".join(lines)}</td></tr>'
        for title, lines in facts
        if lines
    )
    return (
        '<div class="costboost-explanation" style="font-family:sans-serif">'
        f"<p><b>{escape(seen.model)}</b> {head} "
        f"<b>{escape(answer)}</b></p><table>{rows}</table>{_waterfall(seen)}</div>"
    )


def _pairs(values: dict[Any, float]) -> list[str]:
    text = " &nbsp; ".join(f"{escape(plain(k))}: {number(v)}" for k, v in values.items())
    return [text] if values else []


def waterfall_steps(seen: Any, shown: int = SHOWN) -> list[tuple[str, float, float]]:
    """Return the steps from base to total: (label, from, to), the largest last.

    Columns beyond the largest ones are one step, at the bottom.
    """
    moving = [part for part in seen.parts if part.added != 0.0]
    first, rest = moving[:shown], moving[shown:]
    at, steps = seen.base, []
    if rest:
        to = at + sum(part.added for part in rest)
        steps.append((f"{len(rest)} other columns", at, to))
        at = to
    for part in reversed(first):
        steps.append((f"{part.column} = {plain(part.value)}", at, at + part.added))
        at += part.added
    return steps


def _waterfall(seen: Any) -> str:
    steps = waterfall_steps(seen)
    if not steps:
        return ""
    ends = [x for _, start, stop in steps for x in (start, stop)]
    low, span = min(ends), (max(ends) - min(ends)) or 1.0

    def at(x: float) -> float:
        return _LABEL + (x - low) / span * (_WIDTH - _LABEL - _END)

    bars = "".join(_bar(i, *step, at) for i, step in enumerate(reversed(steps)))
    height = _ROW * len(steps) + 34
    unit = escape(seen.unit) + ("" if seen.output is None else f" of {escape(plain(seen.output))}")
    foot = f"{unit}: {number(seen.base)} before anything is known, {number(seen.total)} here"
    return (
        f'<svg width="{_WIDTH}" height="{height}" role="img" font-family="sans-serif" '
        f'font-size="12"><title>{foot}</title>{bars}'
        f'<text x="{_LABEL}" y="{height - 8}" fill="currentColor">{foot}</text></svg>'
    )


def _bar(i: int, label: str, start: float, stop: float, at: Any) -> str:
    y, left, right = i * _ROW + 3, min(at(start), at(stop)), max(at(start), at(stop))
    label = label if len(label) <= 34 else label[:31] + "..."
    return (
        f'<text x="{_LABEL - 8}" y="{y + 13}" text-anchor="end" fill="currentColor">'
        f"{escape(label)}</text>"
        f'<rect x="{left:.1f}" y="{y}" width="{max(right - left, 1):.1f}" height="{_ROW - 6}" '
        f'fill="{UP if stop >= start else DOWN}"/>'
        f'<text x="{right + 5:.1f}" y="{y + 13}" fill="currentColor">{stop - start:+.3f}</text>'
    )
