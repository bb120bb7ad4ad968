"""What whoever signs for a model is asked: what it promises, what parity costs, what changes.

Three parts of the page, each where `make_report` was given what it needs. They are computed from
all rows that it was given, at the opening prices, and stay as they are when a price moves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from costboost.costs import Costs, as_costs
from costboost.decisions import Parity, ParityFrontier, parity_frontier
from costboost.decisions.parity import FEW_ROWS, group_labels
from costboost.guarantee import CostBound, cost_bound, rounded_up
from costboost.metrics import DecisionSwap, Exchange, compare_decisions
from costboost.report.explained import row_html
from costboost.report.rows import PageRows
from costboost.report.subject import Subject, read_column
from costboost.report.words import Words, esc
from costboost.text import count, fixed, listed, money, percent

__all__ = ["Questions", "questions_data", "questions_html", "questions_links", "read_questions"]

_CONFIDENCES = (0.9, 0.95, 0.99)  # beside the one that was asked for
_RATES = {"rate": "shares", "missed": "missed shares", "blocked": "blocked shares"}


class Swap(NamedTuple):
    """Who is decided differently than by something else."""

    name: str
    found: DecisionSwap
    by_group: dict[str, list[Exchange]]


@dataclass(frozen=True)
class Questions:
    """The answers; empty where they were not asked for.

    Attributes
    ----------
    bounds : tuple of CostBound
        The one that was asked for first.
    parity : Parity or None
    frontier : ParityFrontier or None
    at : int
        The point of the frontier that the page opens with.
    swaps : tuple of Swap
    """

    bounds: tuple[CostBound, ...] = ()
    parity: Parity | None = None
    frontier: ParityFrontier | None = None
    at: int = 0
    swaps: tuple[Swap, ...] = ()

    @property
    def rows_shown(self) -> set[int]:
        """The numbers of the rows that are shown with all their values."""
        return {i for swap in self.swaps for i in swap.found.largest.tolist()}


def read_questions(
    model: Any,
    X: Any,
    subject: Subject,
    *,
    promise: float | None,
    cap: float | None,
    parity: Parity | None,
    swap: Mapping[str, Any] | None,
    n_largest: int,
) -> Questions:
    """Compute the answers that were asked for; model and X are those that the user gave."""
    rows = subject.rows
    if cap is not None and promise is None:
        raise ValueError("cap= is the most that a row can cost, for promise=: give that, too.")
    for name, given in (("promise", promise), ("parity", parity)):
        if given is not None and rows.weight is not None:
            raise ValueError(f"{name}= is about rows that count alike: leave sample_weight out.")
    found = None if parity is None else _frontier(rows, parity, X)
    return Questions(
        bounds=() if promise is None else _bounds(rows, promise, cap),
        parity=parity,
        frontier=found,
        at=0 if found is None or parity is None else _opening(found, parity),
        swaps=tuple(
            _swap(model, X, subject.rows, name, other, n_largest)
            for name, other in _named(swap).items()
        ),
    )


def _bounds(rows: PageRows, promise: float, cap: float | None) -> tuple[CostBound, ...]:
    others = [one for one in _CONFIDENCES if one != promise]
    return tuple(
        cost_bound(rows.labels, rows.decide(), costs=rows.bound, confidence=one, cap=cap)
        for one in (promise, *others)
    )


def _frontier(rows: PageRows, parity: Parity, X: Any) -> ParityFrontier:
    if not isinstance(parity, Parity):
        raise ValueError(
            f"parity={parity!r}: give costboost.decisions.Parity, such as Parity('region', "
            "of='blocked')."
        )
    if rows.decided is not None or rows.added is not None:
        raise ValueError(
            "parity= changes decisions by expected costs alone, but those of this model contain "
            "the costs that it was trained on, or prices of its own: leave parity out, or report "
            "a model that decides by costs."
        )
    return parity_frontier(
        rows.bound.expected(rows.proba),
        None,
        replace(parity, groups=group_labels(parity.groups, X)),
        within=[parity.within],
        actions=rows.actions,
        cheapest=rows.decide_codes(),
        proba=rows.proba,
        classes=rows.classes,
        positive=rows.bound.positive,
    )


def _opening(found: ParityFrontier, parity: Parity) -> int:
    """Return the widest point that keeps the difference that was asked for."""
    kept = np.flatnonzero(found.within <= parity.within + 1e-12)
    return int(kept[0]) if len(kept) else len(found.within) - 1


def _named(swap: Mapping[str, Any] | None) -> Mapping[str, Any]:
    named = isinstance(swap, Mapping) and not set(swap) & {"fp", "fn", "tp", "tn"}
    if swap is not None and (not named or not swap):
        raise ValueError(
            "swap= has what to compare with by name, such as {'last year': old_model}: models, "
            f"decisions, columns of decisions or Costs. Given was {swap!r}."
        )
    return swap or {}


def _swap(model: Any, X: Any, rows: PageRows, name: str, other: Any, n_largest: int) -> Swap:
    """Compare the decisions of this model with those of another, of a policy or a price list."""
    new: Any = model if rows.decided is None and rows.added is None else rows.decide()
    old, by = other, None
    if isinstance(other, Costs | Mapping):
        if rows.decided is not None:
            raise ValueError(
                f"swap={name!r} holds prices, which change no decision of a model that contains "
                "the costs that it was trained on: give decisions, or a model."
            )
        old, by = model, as_costs(other, rows.classes, len(rows), X)
    elif not hasattr(other, "predict"):
        old = read_column(X, other, f"swap={name!r}")
    compare = partial(
        compare_decisions, old, new, X, rows.labels, costs=rows.bound, old_costs=by,
        sample_weight=rows.weight,
    )  # fmt: skip
    found = compare(n_largest=n_largest)
    by_group = {}
    for column, (labels, codes) in rows.groups.items():
        lines = compare(groups=codes, n_largest=0).by_group
        by_group[column] = [line._replace(group=labels[line.group]) for line in lines]
    return Swap(name, found, by_group)


# ---- HTML, and what the script of the page draws


def questions_links(made: Questions) -> str:
    """Return links to the parts that are there."""
    parts = (
        ("promise", "Promise", made.bounds),
        ("parity", "Equal treatment", made.frontier),
        ("swap", "Who changes", made.swaps),
    )
    return "".join(f'<a href="#{key}-section">{text}</a>\n' for key, text, part in parts if part)


def questions_html(made: Questions, subject: Subject, words: Words) -> str:
    """Return the parts that were asked for."""
    parts = []
    if made.bounds:
        parts.append(_section("promise", "What can be promised", _promise(made.bounds, words)))
    if made.frontier is not None and made.parity is not None:
        inside = _parity(made.parity, made.frontier, made.at, words)
        parts.append(_section("parity", "What equal treatment costs", inside))
    if made.swaps:
        inside = "".join(_swapped(j, one, subject, words) for j, one in enumerate(made.swaps))
        parts.append(_section("swap", "Who is decided differently", inside))
    return "\n".join(parts)


def _section(key: str, title: str, inside: str) -> str:
    return (
        f'<section id="{key}-section" aria-labelledby="{key}-title">'
        f'<h2 id="{key}-title">{title}</h2>{inside}</section>'
    )


def _scrolling(label: str, inside: str, key: str = "") -> str:
    named = f' id="{key}"' if key else ""
    return (
        f'<div class="scroll" role="region" aria-label="{esc(label)}" tabindex="0">'
        f'<table class="figures"{named}>{inside}</table></div>'
    )


def _promise(bounds: tuple[CostBound, ...], words: Words) -> str:
    asked = bounds[0]
    lead = (
        f"{asked.sentence(words.currency)} On the {count(asked.n_rows, 'row')} of this report it "
        f"was {words.cash(asked.mean)}. The bound holds for every number of rows, and whatever the "
        "probabilities are worth, at the prices that the page opened with; a row can cost "
        f"{words.cash(asked.low)} to {words.cash(asked.high)}."
    )
    lines = [
        [percent(one.confidence), money(rounded_up(one.upper), words.currency)]
        for one in sorted(bounds, key=lambda one: one.confidence)
    ]
    table = _table(["Confidence", "The average bill is at most"], lines)
    breaks = (
        "It is about rows drawn as these were, which neither the model nor its threshold nor its "
        "prices were chosen on. Drift breaks it; so does a group of rows that is picked "
        "afterwards, and rows that know of each other, such as several of one customer."
    )
    return (
        f'<p class="lead">{esc(lead)}</p>{_scrolling("Promise", table)}'
        f'<p class="muted lead">{esc(breaks)}</p>'
    )


def _parity(parity: Parity, found: ParityFrontier, at: int, words: Words) -> str:
    ends = found.within[0]
    rate = _RATES[parity.of]
    if ends <= 0:
        return f'<p class="lead">The {rate} of all groups are the same already.</p>'
    more = float(found.cost[-1] - found.cost[0])
    expected = (
        "" if parity.of == "rate" else " Rates are those that are expected by the probabilities."
    )
    lead = (
        f"At the opening prices the cheapest decisions have {rate} that lie "
        f"{_points(ends)} apart. No difference at all is expected to cost "
        f"{words.cash(more)} more. The page measures; it does not say which difference is right."
        f"{expected} Bills are expected ones, too, and one row of each group may be split."
    )
    few = [str(g) for g, n in zip(found.groups.tolist(), found.sizes, strict=True) if n < FEW_ROWS]
    says = f" Fewer than {FEW_ROWS} rows, whose rates say little: {listed(few)}." if few else ""
    return (
        f'<p class="lead">{esc(lead + says)}</p>'
        '<figure><div id="parity-chart" class="chart"></div></figure>'
        '<p id="parity-choice" hidden><label for="parity-at">Permitted difference</label> '
        f'<span class="pair"><input type="range" id="parity-at" min="0" '
        f'max="{len(found.within) - 1}" step="1" value="{at}">'
        '<output id="parity-says" for="parity-at"></output></span></p>'
        + _scrolling("By group", _by_group(found, at, words), "parity-table")
    )


def _by_group(found: ParityFrontier, at: int, words: Words) -> str:
    """Return the table of groups at one point; the script of the page does the same."""
    head = ("Group", "Rows", "Rate as it is", "Rate then", "Expected bill as it is", "Pays more")
    lines = [
        [
            str(group),
            fixed(int(found.sizes[g])),
            percent(found.rates[0, g]),
            percent(found.rates[at, g]),
            words.cash(found.group_costs[0, g]),
            words.cash(found.group_costs[at, g] - found.group_costs[0, g]),
        ]
        for g, group in enumerate(found.groups.tolist())
    ]
    everybody = fixed(int(found.sizes.sum()))
    more = words.cash(found.cost[at] - found.cost[0])
    lines.append(["All rows", everybody, "", "", words.cash(found.cost[0]), more])
    says = f"At most {_points(found.within[at])} apart"
    return f"<caption>{says}</caption>{_table(head, lines, has_sum=True)}"


def _points(share: float) -> str:
    text = f"{100 * share:.2f}".rstrip("0").rstrip(".")
    return f"{text} point" + "s" * (text != "1")


def _table(head: Sequence[str], lines: Sequence[Sequence[str]], has_sum: bool = False) -> str:
    """Return the inside of a table whose lines have their names in front, perhaps with a sum."""
    top = "".join(f'<th scope="col">{esc(name)}</th>' for name in head)
    body = []
    for j, (name, *cells) in enumerate(lines):
        own = ' class="own"' if has_sum and j == len(lines) - 1 else ""
        inside = "".join(f"<td>{esc(cell)}</td>" for cell in cells)
        body.append(f'<tr{own}><th scope="row">{esc(name)}</th>{inside}</tr>')
    return f"<thead><tr>{top}</tr></thead><tbody>{''.join(body)}</tbody>"


def _swapped(j: int, one: Swap, subject: Subject, words: Words) -> str:
    names = _names(subject.rows, words)
    total, found = one.found.total, one.found
    share = percent(total.n_rows / total.n_of)
    lead = f"{fixed(total.n_rows)} of {count(total.n_of, 'row')} ({share}) are decided differently"
    lead += f" than by \u201c{one.name}\u201d"
    if total.n_rows:
        did = total.realised
        assert did is not None  # labels are known
        verb = "saved" if did.total >= 0 else "cost"
        lead += f". Deciding them so {verb} {words.cash(abs(did.total))}"
        ends = (did.low, did.high) if did.total >= 0 else (-did.high, -did.low)
        lead += f" (95 % interval {words.cash(ends[0])} to {words.cash(ends[1])})"
    made = f'<h3>Against {esc(one.name)}</h3><p class="lead">{esc(lead + ".")}</p>'
    if not total.n_rows:
        return made
    head = ["Exchange", "Rows", "Expected to save", "Did save", "95 % interval"]
    lines = [
        [f"{names[line.old]} to {names[line.new]}", *_amounts(line, words)]
        for line in found.exchanges
    ]
    lines.append(["All", *_amounts(total, words)])
    made += f'<figure><div id="swap-chart-{j}" class="chart"></div></figure>'
    made += _scrolling("Exchanges", _table(head, lines, has_sum=True))
    for column, groups in one.by_group.items():
        few = [line.group for line in groups if line.n_of < FEW_ROWS]
        by = [
            [line.group, f"{fixed(line.n_rows)} of {fixed(line.n_of)}", *_amounts(line, words)[1:]]
            for line in groups
        ]
        table = _table([column, "Rows", *head[2:]], by)
        made += f"<h3>By {esc(column)}</h3>{_scrolling(f'Exchanges by {column}', table)}"
        if few:
            short = f"Fewer than {FEW_ROWS} rows, so intervals may be too short: {listed(few)}."
            made += f'<p class="muted small">{esc(short)}</p>'
    return made + _largest(one, subject, words)


def _names(rows: PageRows, words: Words) -> dict[Any, str]:
    return dict(zip(rows.actions.tolist(), words.actions, strict=True))


def _amounts(line: Exchange, words: Words) -> list[str]:
    expected = "" if line.expected is None else words.cash(line.expected.total)
    assert line.realised is not None
    return [
        fixed(line.n_rows),
        expected,
        words.cash(line.realised.total),
        words.span(line.realised),
    ]


def _largest(one: Swap, subject: Subject, words: Words) -> str:
    """Return the rows with the largest differences; "" where rows may not leave the table."""
    found, names, parts = one.found, _names(subject.rows, words), []
    verb = "saved" if found.expected is None else "expected to save"
    by = found.realised if found.expected is None else found.expected
    for j, i in enumerate(found.largest.tolist()):
        assert by is not None
        inside = (
            str(found.explanations[j]._repr_html_())
            if found.explanations
            else row_html(subject.model, subject.X, subject.rows, i, words)
        )
        old, new = esc(names[found.old[i]]), esc(names[found.new[i]])
        truth = esc(words.classes[int(subject.rows.truth[i])])
        parts.append(
            f'<details class="row"><summary>Row {i}: from <b>{old}</b> to <b>{new}</b>, was '
            f"<b>{truth}</b>; {verb} {esc(words.cash(by[i]))}</summary>"
            f'<div class="scroll" role="region" aria-label="Row {i}" tabindex="0">{inside}</div>'
            "</details>"
        )
    return f"<h3>The largest differences</h3>{''.join(parts)}" if parts else ""


def questions_data(made: Questions, subject: Subject, words: Words) -> dict[str, Any]:
    """Return what the script of the page draws: the frontier, and a bar for each exchange."""
    names, frontier = _names(subject.rows, words), made.frontier
    swaps = []
    for one in made.swaps:
        bars = []
        for line in one.found.exchanges:
            assert line.realised is not None
            total, low, high = line.realised
            text = f"{names[line.old]} to {names[line.new]}"
            bars.append({"name": text, "value": total, "low": low, "high": high})
        swaps.append(bars)
    if frontier is None:
        return {"frontier": None, "swaps": swaps}
    return {
        "frontier": {
            "at": made.at,
            "within": frontier.within.tolist(),
            "cost": frontier.cost.tolist(),
            "groups": [str(group) for group in frontier.groups.tolist()],
            "sizes": frontier.sizes.tolist(),
            "costs": frontier.group_costs.tolist(),
            "rates": frontier.rates.tolist(),
        },
        "swaps": swaps,
    }
