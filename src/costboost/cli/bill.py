"""The bill of a model on rows whose truth is known: policies, findings, warnings, as printed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import rankdata

from costboost.cli.columns import Choice, Kind, shown
from costboost.cli.output import Screen
from costboost.cli.recipe import TableRows
from costboost.inputs.arrays import encode
from costboost.metrics.policies import (
    EVERYTHING,
    FEW_ROWS,
    NOTHING,
    constant_names,
    price_policies,
    price_spread,
)
from costboost.metrics.prices import power_of_two
from costboost.text import count, listed, money, percent, span
from costboost.typing import Floats

__all__ = [
    "Answers",
    "Bill",
    "Line",
    "answer",
    "make_bill",
    "classes_text",
    "column_facts",
    "findings",
    "show_bill",
    "show_findings",
    "note_warnings",
    "leaking_columns",
]

TODAY, MODEL = "today's decisions", "the model"


class Answers(NamedTuple):
    """Decisions of a model about some rows, and what they rest on.

    Attributes
    ----------
    decided : ndarray of shape (n,)
    proba : ndarray of shape (n, K)
        What the decisions rest on.
    expected : ndarray of shape (n, A) or None
        Expected cost of each action; None where the method decides without prices.
    """

    decided: NDArray[Any]
    proba: Floats
    expected: Floats | None


def answer(model: Any, rows: TableRows) -> Answers:
    """Return a model's decisions, by the prices of the rows if it can; trees are walked once."""
    if not model._decides_by_costs():
        proba = np.asarray(model.predict_proba(rows.X))
        return Answers(np.asarray(model.predict(rows.X)), proba, None)
    proba = model._decision_proba(rows.X, rows.costs)
    return Answers(rows.costs.decide(proba), proba, rows.costs.expected(proba))


@dataclass(frozen=True)
class Line:
    """One policy on the bill: what it costs and saves, each with a 95 % interval.

    The ends named after prices are those of the interval that comes from uncertain prices, on these
    very rows; None where all prices are certain.

    `saved` is against the cheapest constant policy, `share` the share of its cost that is, and
    `saved_today` against today's decisions where those are known; `acted` counts the rows that were
    decided positive, where there is such a thing.
    """

    policy: str
    cost: float
    low: float
    high: float
    saved: float
    saved_low: float
    saved_high: float
    share: float
    acted: int | None
    saved_today: float | None = None
    saved_today_low: float | None = None
    saved_today_high: float | None = None
    price_low: float | None = None
    price_high: float | None = None
    saved_price_low: float | None = None
    saved_price_high: float | None = None


@dataclass(frozen=True)
class Bill:
    """The bill of several policies.

    Attributes
    ----------
    lines : tuple of Line
        The constant policies, today's, the models', and knowing the truth.
    n_rows : float
        How many rows it is of; with weights, for how many those stand.
    against : str
        The policy that savings are counted from: the cheapest constant one.
    constant : tuple of str
        The policies that take one action on all rows.
    """

    lines: tuple[Line, ...]
    n_rows: float
    against: str
    constant: tuple[str, ...]

    def __getitem__(self, policy: str) -> Line:
        return next(line for line in self.lines if line.policy == policy)

    def to_list(self) -> list[dict[str, Any]]:
        """Return the lines as plain values; those of prices only where some are uncertain."""
        lines = [asdict(line) for line in self.lines]
        return lines if self.by_prices else [_without_prices(line) for line in lines]

    @property
    def by_prices(self) -> bool:
        """Whether bills have an interval that comes from prices."""
        return any(line.price_low is not None for line in self.lines)


def _without_prices(line: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in line.items() if "price_" not in name}


def make_bill(rows: TableRows, decided: dict[str, NDArray[Any]]) -> Bill:
    """Bill policies, those that need no model among them.

    Parameters
    ----------
    rows : TableRows
        With their truth.
    decided : dict of str -> ndarray of shape (n,)
        What models decided.
    """
    today = {} if rows.current is None else {TODAY: rows.current}
    labels = np.asarray(rows.costs.actions)
    taken = {name: encode(labels, d, name) for name, d in {**today, **decided}.items()}
    binary = rows.positive in rows.actions and len(rows.actions) == 2
    positive = rows.actions.index(rows.positive) if binary else None
    constant = constant_names([shown(action) for action in rows.actions], positive)
    prices = rows.costs.of_labels(rows.truth)
    spread = price_spread(rows.costs, encode(np.asarray(rows.costs.classes), rows.truth, "y"))
    found = price_policies(
        prices, taken, constant, weight=rows.weight, groups=rows.groups, spread=spread
    )
    taken |= {name: np.full(len(rows), a) for a, name in enumerate(constant)}
    lines = []
    for name in found.paid:
        acted = None
        if positive is not None and name in taken:
            acted = int(np.count_nonzero(taken[name] == positive))
        saved, share = found.saved(name), found.share(name)
        by_today = found.saved(name, TODAY) if today else (None, None, None)
        by_prices: tuple[float, ...] = ()
        if spread is not None:
            by_prices = (*found.cost_by_prices(name)[1:], *found.saved_by_prices(name)[1:])
        lines.append(Line(name, *found.cost(name), *saved, share, acted, *by_today, *by_prices))
    n_rows = len(rows) if rows.weight is None else float(rows.weight.sum())
    return Bill(tuple(lines), n_rows, found.cheapest, found.constant)


# ---- Bills and findings as they are printed.

NUMBERS: tuple[Kind, ...] = ("number", "duration", "clock", "date")
_SHOWN = 8


def classes_text(y: Any) -> str:
    """Return how often each class occurs."""
    labels, counts = np.unique(y, return_counts=True)
    order = np.argsort(counts, kind="stable")
    parts = [f"{shown(labels[i])}: {counts[i]:,} ({percent(counts[i] / len(y))})" for i in order]
    return listed(parts, 6)


def column_facts(choice: Choice, frame: Any) -> list[tuple[str, str]]:
    """Return pairs of heading and text: features by kind, and columns left out, with reasons."""
    facts = []
    numbers = [name for kind in NUMBERS for name in choice.names(kind)]
    if numbers:
        facts.append(("numbers", listed(numbers)))
    categories = [
        f"{name} ({frame[name].drop_nulls().n_unique():,})" for name in choice.names("category")
    ]
    if categories:
        facts.append(("categories", listed(categories)))
    for i, (name, why) in enumerate(choice.left_out.items()):
        facts.append(("left out" if not i else "", f"{name or '(no name)'}: {why}"))
    return facts


def show_bill(screen: Screen, bill: Bill, currency: str) -> None:
    """Print the bill as a table, and the verdict as a sentence."""
    counted = any(line.acted is not None for line in bill.lines)
    unit = f"cost, {currency}" if currency else "cost"
    head = ["", unit, "95 % interval", "saved", *(["acted on"] if counted else [])]
    if bill.by_prices:
        head[2:3] = ["from rows, 95 %", "from prices, 95 %"]
    rows = []
    for line in bill.lines:
        exact = line.low == line.high
        saved = "" if line.policy in bill.constant else percent(line.share)
        cells = [line.policy, money(line.cost), "exact" if exact else "", saved]
        cells[2] = cells[2] or span(line.low, line.high)
        if bill.by_prices:
            cells.insert(3, _from_prices(line))
        rows.append([*cells, *(["" if line.acted is None else f"{line.acted:,}"] * counted)])
    strong = next((i for i, line in enumerate(bill.lines) if line.policy == MODEL), -1)
    screen.table(head, rows, strong)
    screen.say()
    for line in bill.lines:
        if line.policy == MODEL:
            screen.say(verdict(bill, currency))
            if bill.by_prices:
                screen.say(larger_interval(line))


def _from_prices(line: Line) -> str:
    assert line.price_low is not None
    assert line.price_high is not None
    certain = line.price_low == line.price_high
    return "certain" if certain else span(line.price_low, line.price_high)


def larger_interval(line: Line) -> str:
    """Return a sentence: whether rows or prices leave the savings of a policy less certain."""
    assert line.saved_price_low is not None
    assert line.saved_price_high is not None
    by_rows = line.saved_high - line.saved_low
    by_prices = line.saved_price_high - line.saved_price_low
    interval = f"95 % interval {span(line.saved_price_low, line.saved_price_high)}"
    if by_prices > by_rows:
        why = "so knowing the prices better would help more than more rows"
    else:
        why = "less than from the rows, so more rows would help more than better prices"
    return f"From uncertain prices alone, what it saves is within the {interval}: {why}."


_DOING = {
    NOTHING: "doing nothing",
    EVERYTHING: "acting on everything",
    TODAY: "today's decisions",
}


def verdict(bill: Bill, currency: str) -> str:
    """Return a sentence: what the model saves, and whether that is significant."""
    line = bill[MODEL]
    if line.saved_today is None or line.saved_today_low is None or line.saved_today_high is None:
        return _against_constant(line, bill, currency)
    interval = f"95 % interval {span(line.saved_today_low, line.saved_today_high)}"
    saved = money(line.saved_today, currency)
    if line.saved_today_high < 0:
        also = (
            f"it costs {money(-line.saved_today, currency)} more (saved: {interval}). "
            "Do not use it as it is."
        )
    elif line.saved_today_low > 0:
        also = f"it saves {saved} ({interval})."
    else:
        also = f"there is no significant difference: {saved}, {interval}."
    return f"{_against_constant(line, bill, currency)} Against today's decisions {also}"


def _against_constant(line: Line, bill: Bill, currency: str) -> str:
    other = _DOING.get(bill.against, bill.against.replace("always", "always deciding"))
    interval = f"95 % interval {span(line.saved_low, line.saved_high)}"
    saved = money(line.saved, currency)
    per_row = f"{money(abs(line.saved) / bill.n_rows, currency)} a row"
    if line.saved_low > 0:
        return (
            f"The model saves {saved} ({interval}), {per_row}, against {other}, the cheapest "
            "constant policy."
        )
    if line.saved_high < 0:
        return (
            f"The model costs {money(-line.saved, currency)} more than {other}, the cheapest "
            f"constant policy (saved: {interval}). Do not use it as it is."
        )
    return (
        f"The model does not save significantly against {other}, the cheapest constant policy: "
        f"{saved}, {interval}."
    )


def findings(model: Any, rows: TableRows, answers: Answers, bill: Bill) -> dict[str, Any]:
    """Return facts beside the bill: rounds, calibration, columns' importances and costs."""
    found: dict[str, Any] = {"rounds": getattr(model, "n_iter_", None)}
    if rows.positive is not None and len(model.classes_) == 2:
        p = answers.proba[:, model.classes_.tolist().index(rows.positive)]
        happened, w = rows.truth == rows.positive, np.ones(len(rows))
        came: float = int(happened.sum())
        if rows.weight is not None:
            w, came = rows.weight, round(float(np.sum(rows.weight * happened)), 1)
        deviation = float(np.sqrt(np.sum(w**2 * p * (1 - p)))) or 1.0
        found["positives"] = {
            "expected": float(np.sum(w * p)),
            "happened": came,
            "z": float((came - np.sum(w * p)) / deviation),
        }
        found["brier"] = float(np.average((p - happened) ** 2, weights=w))
    if answers.expected is not None:
        found["cost"] = _cost_check(rows, answers, bill[MODEL].cost)
    if hasattr(model, "feature_importances_"):
        ranked = sorted(
            zip(rows.X.columns, model.feature_importances_.tolist(), strict=True),
            key=lambda pair: -pair[1],
        )
        found["importances"] = dict(ranked)
    if getattr(model, "feature_costs_", None) is not None:
        spent = model.test_cost(rows.X)
        tests = float(spent.sum() if rows.weight is None else spent @ rows.weight)
        found["column_costs"] = {"tests": tests, "with_mistakes": tests + bill[MODEL].cost}
    return found


def _cost_check(rows: TableRows, answers: Answers, paid: float) -> dict[str, float]:
    """Return the expected cost of the decisions, its standard deviation, and the cost paid."""
    classes = np.asarray(rows.costs.classes)
    n = len(rows)
    by_class = np.column_stack(
        [rows.costs.of_decisions(np.full(n, label), answers.decided) for label in classes]
    )
    expected = np.sum(answers.proba * by_class, axis=1)
    # From the first class on, so that a price that is the same for all of them varies by nothing.
    off = by_class - by_class[:, :1]
    scale = power_of_two(off)  # squares stay in range
    mean = np.sum(answers.proba * off, axis=1, keepdims=True)
    w = np.ones(n) if rows.weight is None else rows.weight
    variance = np.sum(w[:, None] ** 2 * answers.proba * ((off - mean) / scale) ** 2)
    deviation = float(scale * np.sqrt(variance))
    return {"expected": float(np.sum(w * expected)), "deviation": deviation, "paid": paid}


def show_findings(screen: Screen, found: dict[str, Any], currency: str, positive: Any) -> None:
    """Print the facts that `findings` returns."""
    facts = [("rounds", f"{found['rounds']:,}")] if found.get("rounds") is not None else []
    seen, cost = found.get("positives"), found.get("cost")
    checks = []
    if seen:
        text = f"{shown(positive)}: {seen['expected']:,.1f} expected, {seen['happened']:,} came"
        checks.append(text)
    if cost:
        about = f"{money(cost['expected'], currency)} +- {money(cost['deviation'])}"
        checks.append(f"cost: {about} expected, {money(cost['paid'], currency)} paid")
    if checks:
        facts.append(("calibration", "; ".join(checks)))
    importances = [(name, part) for name, part in found.get("importances", {}).items() if part > 0]
    if importances:
        parts = [f"{name} {percent(part)}" for name, part in importances[:_SHOWN]]
        rest = len(importances) - _SHOWN
        text = ", ".join(parts) + (f", {count(rest, 'other')}" if rest > 0 else "")
        facts.append(("what matters", text))
    if "column_costs" in found:
        spent = {name: money(cost, currency) for name, cost in found["column_costs"].items()}
        text = f"{spent['tests']} for columns, {spent['with_mistakes']} with mistakes"
        facts.append(("columns cost", text))
    screen.facts(facts)


# ---- Warnings: few rows, rows unlike those of the training, columns that give the label away.

_BEYOND_CHANCE = 3  # standard errors beyond which chance is no explanation
_LEAKS = 0.99  # area under the curve of a column on its own, as if it knew the answer
_MOST_ROWS = 20_000  # rows to look at


def note_weights(screen: Screen, rows: TableRows) -> None:
    """Say for how many rows those with a label stand, and as how many they count."""
    if rows.weight is None:
        return
    effective = float(rows.weight.sum()) ** 2 / float(np.sum(rows.weight**2))
    screen.note(
        f"{count(len(rows), 'row')} with a label stand for {rows.weight.sum():,.0f}, and count as "
        f"{effective:,.0f} of equal weight; nothing is said of rows that never had a chance of one."
    )


def note_warnings(screen: Screen, rows: TableRows, found: dict[str, Any], where: str) -> None:
    """Print a note for every reason not to rely on a bill."""
    for name in leaking_columns(rows):
        screen.note(
            f"{name} alone separates nearly every {shown(rows.positive)} from the others: is it "
            "known when decisions are made? If not, leave it out with --drop."
        )
    _note_few(screen, rows, where)
    cost = found.get("cost")
    if cost and abs(cost["paid"] - cost["expected"]) > _BEYOND_CHANCE * cost["deviation"] > 0:
        screen.note(
            "expected and paid cost differ by more than chance allows: these rows are not like "
            "those that the model was trained on."
        )
    z = found.get("positives", {}).get("z", 0.0)
    if abs(z) > _BEYOND_CHANCE:
        more = "more" if z > 0 else "fewer"
        screen.note(
            f"{more} rows are positive than the probabilities say ({abs(z):.0f} standard errors): "
            "they do not fit these rows, and decisions by them cost more than they need to."
        )


def _note_few(screen: Screen, rows: TableRows, where: str) -> None:
    labels, counts = np.unique(rows.truth, return_counts=True)
    rare = int(np.argmin(counts))
    if counts[rare] < FEW_ROWS:
        screen.note(
            f"only {count(int(counts[rare]), 'row')} {where} "
            f"{'is' if counts[rare] == 1 else 'are'} {shown(labels[rare])}: intervals are rough."
        )


def leaking_columns(rows: TableRows) -> list[str]:
    """Return numeric columns that alone separate the positive class."""
    if rows.positive is None or rows.y is None:
        return []
    positive = rows.truth[:_MOST_ROWS] == rows.positive
    if not 0 < positive.sum() < len(positive):
        return []
    numbers = [name for name in rows.X.columns if rows.X[name].dtype != pl.String]
    return [name for name in numbers if _area(rows.X[name][:_MOST_ROWS], positive) > _LEAKS]


def _area(column: pl.Series, positive: NDArray[np.bool_]) -> float:
    """Return the area under the curve of a column, whichever way round; missing is below all."""
    values = column.cast(pl.Float64).fill_null(float("-inf")).fill_nan(float("-inf"))
    ranks = rankdata(values.to_numpy())
    n = int(positive.sum())
    area = (ranks[positive].sum() - n * (n + 1) / 2) / (n * (len(positive) - n))
    return float(max(area, 1 - area))
