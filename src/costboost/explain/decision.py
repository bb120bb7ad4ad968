"""One decision explained: in words, numbers and, as HTML, a picture."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from costboost.explain.changes import Change
from costboost.explain.turning import Interval, TurningPrice
from costboost.inputs.arrays import is_missing
from costboost.text import number

# An explanation as text, for a terminal

SHOWN = 8  # columns, and prices and changes by half
_BAR = 20  # letters of the longest bar


def plain(value: Any) -> str:
    """Return a value of a table, or a label, as text."""
    if is_missing(value):
        return "missing"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def decision_text(seen: Any) -> str:
    """Return an `Explanation` as text."""
    lines = [_headline(seen)]
    for title, block in (
        ("probability", _probabilities(seen)),
        ("expected cost", _costs(seen)),
        ("would turn", turning_sentences(seen)),
        (f"{seen.unit}", _parts(seen)),
        ("one change", change_sentences(seen)),
    ):
        lines += [f"  {title if not i else '':<17}{line}" for i, line in enumerate(block)]
    return "\n".join(lines)


def _headline(seen: Any) -> str:
    if seen.decision is None:
        return f"{seen.model} predicts {number(seen.total)}"
    return f"{seen.model} decides: {plain(seen.decision)}"


def _probabilities(seen: Any) -> list[str]:
    if not seen.probabilities:
        return []
    return ["   ".join(f"{plain(k)}: {number(p)}" for k, p in seen.probabilities.items())]


def _costs(seen: Any) -> list[str]:
    if not seen.expected_cost:
        return []
    return ["   ".join(f"{plain(a)}: {number(c)}" for a, c in seen.expected_cost.items())]


def turning_sentences(seen: Any) -> list[str]:
    """Say at which probability and prices the decision would turn."""
    lines = []
    interval = seen.stays_within
    if interval is not None:
        name = f"P({plain(interval.label)})"
        if interval.below is not None:
            lines.append(f"if {name} were below {number(interval.low)}: {plain(interval.below)}")
        if interval.above is not None:
            lines.append(f"if {name} were above {number(interval.high)}: {plain(interval.above)}")
        if not lines:
            lines.append("at no probability: these prices allow no other decision")
    for price in seen.turning_prices[: SHOWN // 2]:
        lines.append(
            f"if deciding {plain(price.action)} where {plain(price.truth)} is true cost "
            f"{number(price.turns_at)} (now {number(price.now)}): {plain(price.to)}"
        )
    return lines


def _parts(seen: Any) -> list[str]:
    of = f"of {plain(seen.output)}: " if seen.output is not None else ""
    lines = [f"{of}baseline {number(seen.base)}, {number(seen.total)} here"]
    shown = [part for part in seen.parts if part.added != 0.0][:SHOWN]
    rest = sum(part.added for part in seen.parts) - sum(part.added for part in shown)
    n_rest = sum(part.added != 0.0 for part in seen.parts) - len(shown)
    rows = [(f"{part.column} = {plain(part.value)}", part.added) for part in shown]
    if n_rest:
        rows.append((f"{n_rest} other columns", rest))
    width = min(max((len(name) for name, _ in rows), default=0), 44)
    longest = max((abs(added) for _, added in rows), default=1.0)
    for name, added in rows:
        name = name if len(name) <= width else name[: width - 3] + "..."
        sign = "+" if added >= 0 else "-"
        bar = sign * max(1, round(_BAR * abs(added) / longest))
        lines.append(f"{name:<{width}} {f'{added:+.4f}':>9} {bar}")
    return lines


def change_sentences(seen: Any) -> list[str]:
    """Say what the nearest changes of one column would do."""
    if seen.decision is None or seen.changes is None:
        return []
    stay = ["prices given for this row stay as they are"] if seen.prices_stay else []
    if not seen.changes:
        return ["no change of a single column would turn it", *stay]
    now = {part.column: part.value for part in seen.parts}
    lines = []
    for change in seen.changes[: SHOWN // 2]:
        chances = dict(zip(seen.probabilities, change.probabilities, strict=True))
        label = change.decision if change.decision in chances else seen.output
        lines.append(
            f"{change.column} {change.to} (now {plain(now[change.column])}): "
            f"{plain(change.decision)}, P({plain(label)}) = {number(chances[label])}"
        )
    return lines + stay


# An explanation as HTML: a table of facts and a waterfall, with nothing but inline SVG

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
    foot = f"{unit}: baseline {number(seen.base)}, {number(seen.total)} here"
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


@dataclass(frozen=True)
class Part:
    """What one column added: its name, its value in the row, and the amount.

    Examples
    --------
    >>> from costboost.explain import Part
    >>> Part("hour", 3.0, 0.25)
    Part(column='hour', value=3.0, added=0.25)
    """

    column: str
    value: Any
    added: float


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why a model answers as it does for one row; printed as text, in a notebook as HTML.

    Attributes
    ----------
    model : str
        The name of the estimator.
    decision : label, or None for a regressor
    probabilities : dict of label -> float
        What the decision rests on; empty for a regressor.
    expected_cost : dict of action -> float
        Empty where the method decides without prices.
    stays_within : Interval or None
        Between which probabilities of `output` the decision is the cheapest (two classes).
    turning_prices : tuple of TurningPrice
        At what price of a mistake the decision would turn, the smallest change first.
    output : label or None
        The class whose decision value is explained: of two, the positive one where prices know it,
        else the second. None of a regressor.
    unit : str
        What the following are counted in.
    base, total : float
        The decision value of a row of which nothing is known, and this row's.
    parts : tuple of Part
        What every column added, the largest first; base and parts add up to total.
    changes : tuple of Change, or None
        Changes of one column that would turn the decision, the nearest first. Prices that are read
        from the column change with it. None of a model that starts from another model's answers:
        that one sees values, not bins.
    prices_stay : bool
        Whether prices were given as values of the row's own: changes leave those as they are,
        wherever they came from.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import CostBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CostBoostClassifier("adamec", n_estimators=10, random_state=0).fit(X, y)
    >>> why = model.explain(X[:1], costs={"fp": 10, "fn": 1})
    >>> bool(why.decision == model.predict(X[:1], costs={"fp": 10, "fn": 1})[0])
    True
    >>> round(why.base + sum(part.added for part in why.parts) - why.total, 9) + 0
    0.0
    """

    model: str
    decision: Any
    probabilities: dict[Any, float]
    expected_cost: dict[Any, float]
    stays_within: Interval | None
    turning_prices: tuple[TurningPrice, ...]
    output: Any
    unit: str
    base: float
    total: float
    parts: tuple[Part, ...]
    changes: tuple[Change, ...] | None
    prices_stay: bool = False

    def __str__(self) -> str:
        return decision_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return decision_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries, lists and numbers."""
        return asdict(self)
