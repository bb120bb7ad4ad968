"""An explanation as text, for a terminal."""

from __future__ import annotations

from typing import Any

from costboost.inputs.arrays import is_missing

SHOWN = 8  # columns, and prices and changes by half
_BAR = 20  # letters of the longest bar


def number(value: float) -> str:
    """Return a number with about four significant digits.

    Examples
    --------
    >>> [number(x) for x in (0.04712, 12.3456, 1234.5, 2000000.0)]
    ['0.04712', '12.35', '1,234', '2,000,000']
    """
    if value and (abs(value) < 1e-4 or abs(value) >= 1e15):
        return f"{value:.4g}"
    if abs(value) < 1:
        return f"{value:.4g}"
    text = f"{value:,.{max(0, 4 - len(str(int(abs(value)))))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


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
    lines = [f"{of}{number(seen.base)} before anything is known, {number(seen.total)} here"]
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
        told = change.decision if change.decision in chances else list(chances)[-1]
        lines.append(
            f"{change.column} {change.to} (now {plain(now[change.column])}): "
            f"{plain(change.decision)}, P({plain(told)}) = {number(chances[told])}"
        )
    return lines + stay
