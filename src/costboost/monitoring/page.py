"""The page of a monitor: its periods, alarms and columns, of the same kind as the report."""

from __future__ import annotations

import math
from functools import cache
from importlib.resources import files
from typing import Any

from costboost._version import __version__
from costboost.monitoring.periods import Period
from costboost.monitoring.watching import Monitor
from costboost.report.page import fill_page, to_json
from costboost.report.words import esc
from costboost.text import count, listed, money, number, percent

__all__ = ["watch_page"]

_SHOWN = 30  # periods in tables; the pictures show all
_LATEST = 7  # periods over which columns are added up
_COLUMNS = 12


@cache
def _file(name: str) -> str:
    return (files("costboost.monitoring") / name).read_text(encoding="utf-8")


def watch_page(monitor: Monitor, *, title: str | None = None, currency: str = "") -> str:
    """Return a page of all that was watched: one file of HTML that needs no network.

    Parameters
    ----------
    monitor : Monitor
    title : str, default=None
    currency : str, default=""
        Its sign, such as "EUR" or "$".

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If no period was watched.

    Examples
    --------
    >>> from costboost import CostBoostClassifier
    >>> from costboost.datasets import make_card_fraud
    >>> from costboost.monitoring import Monitor, watch_page
    >>> data = make_card_fraud(3000)
    >>> model = CostBoostClassifier(n_estimators=10, random_state=0, costs=data.costs.mean())
    >>> monitor = Monitor(model.fit(data.X[:2000], data.y[:2000]))
    >>> period = monitor.update(data.X[2000:], period=1, costs=data.costs[2000:])
    >>> watch_page(monitor).startswith("<!doctype html>")
    True
    """
    if not monitor.periods:
        raise ValueError("no period was watched: call update with the rows of one first.")
    periods = monitor.periods
    shown = periods[-_SHOWN:][::-1]
    made = {
        "title": esc(title or "The bill, watched"),
        "subtitle": esc(_subtitle(monitor)),
        "alarms": _alarms_box(monitor),
        **_bill(periods, shown, currency),
        **_signals(monitor),
        **_classes(periods),
        **_columns(periods, currency),
        **_decisions(monitor, shown),
        "footer": esc(f"Made with costboost {__version__}."),
        "page": to_json(_data(monitor, currency)),
    }
    return fill_page(made, _file("watch.html"), _file("watch.js"))


def _subtitle(monitor: Monitor) -> str:
    periods = monitor.periods
    n_billed = sum(p.billed is not None for p in periods)
    rows = sum(p.rows for p in periods)
    return (
        f"{count(len(periods), 'period')}, {periods[0].name} to {periods[-1].name}, "
        f"{count(rows, 'row')}; labels are known of {n_billed:,}. The first "
        f"{monitor.reference:,} with labels are the reference."
    )


def _alarms_box(monitor: Monitor) -> str:
    if not monitor.alarms:
        return ""
    heading = count(len(monitor.alarms), "alarm")
    items = "".join(f"<li>{esc(a.period)}: {esc(a.text)}.</li>" for a in monitor.alarms)
    return (
        '<aside class="warnings" aria-labelledby="warnings-title">'
        f'<h2 id="warnings-title">{heading}</h2><ul>{items}</ul></aside>'
    )


# ---- The bill


def _bill(periods: list[Period], shown: list[Period], currency: str) -> dict[str, str]:
    billed = [p.billed for p in periods if p.billed is not None]
    policies = list(periods[-1].constant)
    head = "".join(f'<th scope="col">{esc(_capital(name))}</th>' for name in policies)
    return {
        "paid": esc(money(sum(b["paid"] for b in billed), currency) if billed else "Not known yet"),
        "headline": esc(_headline(periods, billed, currency)),
        "shown": esc(count(len(shown), "period")),
        "constants_head": head,
        "periods": "".join(_period_row(p, policies, currency) for p in shown),
    }


def _headline(periods: list[Period], billed: list[dict[str, Any]], currency: str) -> str:
    waiting = [p for p in periods if p.billed is None]
    parts = []
    if billed:
        expected = sum(b["expected"] for b in billed)
        constant = {k: sum(b["constant"][k] for b in billed) for k in billed[0]["constant"]}
        paid = sum(b["paid"] for b in billed)
        least = min(constant, key=lambda name: constant[name])
        parts.append(
            f"was paid in {count(len(billed), 'period')}, where {money(expected, currency)} was "
            f"expected. The cheapest constant decision ({least}) would have cost "
            f"{money(constant[least], currency)}: the model saved "
            f"{money(constant[least] - paid, currency)}."
        )
    if waiting:
        total = money(sum(p.expected for p in waiting), currency)
        parts.append(
            f"{count(len(waiting), 'period')} without labels so far: {total} is expected there."
        )
    return " ".join(parts)


def _period_row(p: Period, policies: list[str], currency: str) -> str:
    found = p.billed
    cells = [f"{p.rows:,}", money(p.expected, currency)]
    if found is None:
        cells += ["", "", ""]
    else:
        interval = f"{money(found['low'])} to {money(found['high'])}"
        cells += [money(found["paid"], currency), money(found["difference"], currency), interval]
    costs = p.constant if found is None else found["constant"]
    cells += [money(costs[name], currency) for name in policies]
    kind = ""
    if found is not None and p.beyond_chance:
        kind = "loss" if found["difference"] > 0 else "gain"
    marked = "".join(
        f'<td class="{kind}">{esc(c)}</td>' if kind and j == 3 else f"<td>{esc(c)}</td>"
        for j, c in enumerate(cells)
    )
    return f"<tr>{_name_cell(p)}{marked}</tr>"


def _name_cell(p: Period) -> str:
    return f'<th scope="row" class="span"><span>{esc(p.name)}</span></th>'


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# ---- Alarms


def _signals(monitor: Monitor) -> dict[str, str]:
    now: dict[str, float] = {}
    for p in monitor.periods:
        now |= p.wealth
    rang = {alarm.signal: alarm.period for alarm in monitor.alarms}
    rows = "".join(
        f'<tr><th scope="row">{esc(signal)}</th><td>{esc(_power(now.get(signal, math.inf)))}</td>'
        f"<td>{esc(_power(monitor.limit))}</td><td>{esc(rang.get(signal, ''))}</td></tr>"
        for signal in {**now, **rang}
    )
    words = (
        f"While paid and expected differ by no more than in the reference and "
        f"{percent(monitor.tolerance)} beyond it, any alarm ever rings with a probability of "
        f"{percent(monitor.alpha)} at most, however long this is watched."
    )
    return {"alarm_words": esc(words), "signals": rows}


def _power(log: float) -> str:
    if math.isinf(log):
        return "certain"
    return number(math.exp(log), 3) if log < 14 else f"1e{log / math.log(10):.0f}"


# ---- Probabilities, columns, decisions


def _watched_class(periods: list[Period]) -> str:
    """Return the class of which rows are counted: the rarest of those expected."""
    classes = periods[-1].classes
    return min(classes, key=lambda name: sum(p.classes[name] for p in periods))


def _classes(periods: list[Period]) -> dict[str, str]:
    billed = [p.billed for p in periods if p.billed is not None]
    parts = []
    for name in periods[-1].classes if billed else ():
        seen = sum(b["seen"][name] for b in billed)
        expected = sum(b["classes"][name] for b in billed)
        parts.append(f"{seen:,} rows of {name} ({number(expected, 4)} expected)")
    words = f"There were {listed(parts, 8)}." if parts else "No labels are known so far."
    return {"class_words": esc(words), "class_name": esc(_watched_class(periods))}


def _columns(periods: list[Period], currency: str) -> dict[str, str]:
    late = [p for p in periods if p.columns][-_LATEST:]
    words = (
        "What the decisions are expected to cost, less what they would cost if the column were "
        "distributed as in the reference periods: each value is replaced by that of the same rank "
        "then, and decided again. By the model's own probabilities; columns ring no alarm."
    )
    if not late:
        none = '<tr><th scope="row">No period after the reference so far</th></tr>'
        return {"column_words": esc(words), "column_caption": "", "columns": none}
    sums: dict[str, dict[str, Any]] = {}
    for p in late:
        for c in p.columns:
            old = sums.setdefault(c["name"], {"worth": 0.0, "error": 0.0, "changed": 0.0})
            old["worth"] += c["worth"]
            old["error"] += ((c["high"] - c["low"]) / 2) ** 2
            old["changed"] += c["changed"] * p.rows
            old["last"] = c
    rows = sum(p.rows for p in late)
    most = sorted(sums, key=lambda name: -abs(sums[name]["worth"]))[:_COLUMNS]
    return {
        "column_words": esc(words),
        "column_caption": esc(f"The latest {count(len(late), 'period')} together"),
        "columns": "".join(_column_row(name, sums[name], rows, currency) for name in most),
    }


def _column_row(name: str, found: dict[str, Any], rows: int, currency: str) -> str:
    half = math.sqrt(found["error"])
    was, now = _moved(found["last"])
    cells = [
        money(found["worth"], currency),
        f"{money(found['worth'] - half)} to {money(found['worth'] + half)}",
        percent(found["changed"] / rows),
        was,
        now,
    ]
    inner = "".join(f"<td>{esc(cell)}</td>" for cell in cells)
    return f'<tr><th scope="row">{esc(name)}</th>{inner}</tr>'


def _moved(c: dict[str, Any]) -> tuple[str, str]:
    """Return how a column was and is."""
    if "mean" in c:
        was, now = f"mean {number(c['mean_before'])}", f"mean {number(c['mean'])}"
    elif "moved" in c:
        was, now = "", f"{percent(c['moved'])} in other categories"
    else:
        was, now = "", ""
    if max(c["missing"], c["missing_before"]) > 0:
        was += f" {percent(c['missing_before'])} missing"
        now += f" {percent(c['missing'])} missing"
    return was.strip(), now.strip()


def _decisions(monitor: Monitor, shown: list[Period]) -> dict[str, str]:
    actions = list(shown[0].decisions)
    head = "".join(f'<th scope="col">{esc(action)}</th>' for action in actions)
    rows = []
    for p in shown:
        cells = []
        for action in actions:
            text = percent(p.decisions[action] / p.rows)
            if action in p.used:
                text += f" ({percent(p.used[action])})"
            cells.append(f"<td>{esc(text)}</td>")
        rows.append(f"<tr>{_name_cell(p)}{''.join(cells)}</tr>")
    words = "; in brackets, of the capacity" if any(p.used for p in shown) else ""
    return {"decisions_head": head, "decisions": "".join(rows), "capacity_words": words}


def _data(monitor: Monitor, currency: str) -> dict[str, Any]:
    """Return what the script of the page draws."""
    periods = monitor.periods
    places = {p.name: i for i, p in enumerate(periods)}
    counted = _watched_class(periods)
    wealth: list[float | None] = []
    top = 3 * monitor.limit  # beyond is beyond
    for p in periods:
        all_of = [min(w, top) for w in p.wealth.values()]
        wealth.append(max(0.0, *all_of) / math.log(10) if all_of else None)
    return {
        "names": [p.name for p in periods],
        "money": f"Cost{currency and ', ' + currency}",
        "expected": [p.expected for p in periods],
        "paid": [None if p.billed is None else p.billed["paid"] for p in periods],
        "classExpected": [p.classes[counted] for p in periods],
        "classSeen": [None if p.billed is None else p.billed["seen"][counted] for p in periods],
        "wealth": wealth,
        "limit": [monitor.limit / math.log(10)] * len(periods),
        "walls": [[places[a.period], a.signal] for a in monitor.alarms if a.period in places],
    }
