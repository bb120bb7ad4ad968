"""``costboost decide``: new rows become decisions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from costboost.cli import InputError, UsageError
from costboost.cli.bill import Answers, answer
from costboost.cli.cells import Form
from costboost.cli.columns import (
    label_of,
    shown,
    unknown_column,
)
from costboost.cli.output import Screen, check_output, is_text, table_suffixes, write_table
from costboost.cli.prices import Prices
from costboost.cli.reading import read_cells
from costboost.cli.recipe import (
    Kept,
    TableRows,
    known_categories,
    load_rows,
    read_model,
)
from costboost.costs import Expression, ExpressionError, FeatureCosts
from costboost.decisions import (
    Allocation,
    Exploration,
    Parity,
    ParityAllocation,
    allocate,
    allocate_parity,
    explore_decisions,
)
from costboost.decisions.parity import FEW_ROWS, RATES
from costboost.text import count, listed, money, number, percent

__all__ = ["as_options", "decide", "limits_of", "parity_of_rows", "read_parity"]

_DEFER = "defer"
_YES, _NO = ("true", "1", "1.0", "yes"), ("false", "0", "0.0", "no")


def decide(
    model_path: str,
    table: str,
    prices: Prices,
    screen: Screen,
    *,
    form: Form,
    output: str | None,
    force: bool,
    capacity: Sequence[str],
    per: str | None,
    defer: str | None,
    explore: float | None,
    never: Sequence[str],
    parity: Parity | None,
    regret: str | None,
    ask: str | None,
    column_costs: FeatureCosts | None,
    seed: int,
    only_decisions: bool,
    prefix: str,
) -> None:
    """Decide about every row of a table and write what was decided."""
    if screen.as_json and output in (None, "-"):
        raise UsageError("--json and the table would both go to standard output: name a file, -o.")
    check_output(output, force, table_suffixes())
    _refuse_together(capacity, explore, never, parity, regret)
    kept = read_model(model_path)
    forbidden = _forbidden(never)
    by = [name for name in (per, None if parity is None else parity.groups) if name is not None]
    read_too = [*by, *forbidden.values()]
    rows, read = load_rows(kept, table, prices, screen, form=form, also=read_too)
    _note_unseen(screen, kept, rows)
    asked = (per, defer, explore, parity, regret)
    joint = bool(capacity or forbidden) or any(value is not None for value in asked)
    _check_asking(ask, column_costs, joint=joint)
    with screen.listening(), screen.working(f"Deciding about {count(len(rows), 'row')}"):
        if ask is not None:
            new, asking = _next_tests(kept.model, rows, ask, column_costs, prefix)
        elif joint:
            groups = None if per is None else _groups(rows.frame, per, "--per")
            answers, actions, plan = _jointly(
                kept.model, rows, capacity, groups, defer, explore, forbidden, parity, regret, seed
            )
        else:
            answers, actions, plan = answer(kept.model, rows), rows.actions, None
    if ask is None:
        new = pl.DataFrame(_columns(kept.model, rows, answers, actions, plan, prefix))
    n, frame = len(rows), rows.frame
    named = [name for name in kept.recipe.identifiers if name in frame.columns]
    as_written = read.source.is_csv and is_text(output)
    separator = read.source.separator or ","
    with screen.working("Writing"):
        if as_written:  # cells as they are written, not the values that they were read as
            source, decimal = read.source, read.form.decimal
            del rows, read, frame
            frame = read_cells(source)
            new = _written(new, decimal)
            del source
        if only_decisions:
            numbers = pl.DataFrame({} if "row" in named else {"row": np.arange(n)})
            frame = numbers.hstack(frame.select(named))
        _refuse_taken(frame, new.columns)
        made = frame.hstack(new)
        del frame
        write_table(made, output, separator, force=force)
    currency = kept.currency(prices)
    if ask is not None:
        _show_tests(screen, asking | {"output": output}, currency, n)
        return
    result = _result(answers, actions, plan, output)
    if parity is not None:
        result["parity"] = _parity_result(plan, parity.groups)
    if regret is not None:
        result["regret"] = _regret_result(answers, plan)
    _show(screen, result, currency, n)
    screen.result(result)


# --- what to ask next


def _check_asking(ask: str | None, column_costs: FeatureCosts | None, *, joint: bool) -> None:
    if ask is None:
        if column_costs is not None:
            raise UsageError("--column-cost is for --ask reference (or missing): give that too.")
        return
    if ask not in ("reference", "missing"):
        raise UsageError(f"--ask {ask!r}: write --ask reference, or --ask missing.")
    if joint:
        raise UsageError(
            "--ask says of each row, on its own, what to buy: leave out --capacity, --per, "
            "--defer, --explore, --never, --parity and --regret."
        )


def _next_tests(
    model: Any, rows: TableRows, unknown: str, column_costs: FeatureCosts | None, prefix: str
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return what to ask next of every row, as columns, and a summary."""
    if not hasattr(model, "next_test"):
        raise InputError(f"--ask is for boosted trees, and this model is a {type(model).__name__}.")
    found = []
    try:
        for i in range(len(rows)):
            here = slice(i, i + 1)
            found.append(
                model.next_test(rows.X[here], rows.costs[here], column_costs, unknown=unknown)
            )
    except ValueError as error:
        text = str(error).replace("feature_costs", "--column-cost").replace("known=", "known")
        raise InputError(text) from None
    new = {
        "ask": [one.best for one in found],
        "ask_gains": [one.gain for one in found],
        "decision": _plain(np.array([one.decision for one in found])),
        "expected_cost": [one.expected_cost for one in found],
    }
    names = [one.best for one in found if one.best is not None]
    summary = {
        "ask": {name: names.count(name) for name in sorted(set(names))},
        "decide_now": len(found) - len(names),
        "expected_cost": float(np.sum(new["expected_cost"])),
        "expected_gain": float(np.sum(new["ask_gains"])),
    }
    columns = {f"{prefix}{name}": values for name, values in new.items()}
    return pl.DataFrame(columns, schema_overrides={f"{prefix}ask": pl.String}), summary


def _show_tests(screen: Screen, found: dict[str, Any], currency: str, n: int) -> None:
    parts = [f"{name}: {k:,} ({percent(k / n)})" for name, k in found["ask"].items()]
    facts = [
        ("ask for", listed(parts, 10) if parts else "nothing"),
        ("decide now", f"{count(found['decide_now'], 'row')} ({percent(found['decide_now'] / n)})"),
        ("expected cost", f"{money(found['expected_cost'], currency)} if all are decided now"),
        ("asking saves", f"{money(found['expected_gain'], currency)}, prices of columns paid"),
    ]
    if found["output"] not in (None, "-"):
        facts.append(("written to", str(found["output"])))
    screen.facts(facts)
    screen.result(found)


# --- limits


def _jointly(
    model: Any,
    rows: TableRows,
    capacity: Sequence[str],
    groups: Any,
    defer: str | None,
    explore: float | None,
    forbidden: dict[str, str],
    parity: Parity | None,
    regret: str | None,
    seed: int,
) -> tuple[Answers, list[Any], Any]:
    """Decide about all rows together, where actions are limited, forbidden, drawn, or deferred."""
    actions = [*rows.actions, *([_DEFER] if defer is not None else [])]
    limits = limits_of(capacity, actions)
    if groups is not None and not limits:
        raise UsageError("--per says for what a --capacity holds: give that too.")
    price = None if defer is None else _price(defer, rows.frame)
    costs = rows.costs if price is None else rows.costs.with_defer(price)
    if regret is not None and not costs.factors:
        raise InputError(
            "--regret minimax is for prices with a range, but every price is certain: give one, "
            "such as --fn-range 0.6..0.9, or leave --regret out."
        )
    proba = model._decision_proba(rows.X, rows.costs)
    expected = costs.expected(proba)
    how: dict[str, Any] = {
        "actions": costs.actions,
        "groups": groups,
        "cheapest": costs.decide(proba, encoded=True, regret=regret),
        "never": {
            label_of(name, actions, "--never"): _truths(rows.frame, column)
            for name, column in forbidden.items()
        },
    }
    plan: Any
    try:
        if parity is not None:
            plan = allocate_parity(
                expected,
                limits or None,
                parity_of_rows(parity, rows.frame, actions),
                proba=proba,
                classes=model.classes_,
                positive=rows.positive,
                **how,
            )
        elif explore is None:
            plan = allocate(expected, limits or None, **how)
        else:
            plan = explore_decisions(
                expected, limits or None, explore=explore, random_state=seed, **how
            )
    except ValueError as error:
        raise InputError(as_options(str(error))) from None
    return Answers(plan.decisions, proba, expected), actions, plan


def as_options(message: str) -> str:
    """Return a message about arguments that speaks of options."""
    message = message.replace("explore=", "--explore ", 1)
    message = re.sub(r"\bof='(\w+)'", r"--parity-of \1", message)
    message = message.replace("action=None: ", "--parity-action is not given: ")
    return re.sub(r"\bwithin=(?=\d)", "--parity-within ", message).replace(
        "within=", "--parity-within"
    )


def _refuse_together(
    capacity: Sequence[str],
    explore: float | None,
    never: Sequence[str],
    parity: Parity | None,
    regret: str | None,
) -> None:
    """Refuse options that ask for decisions that cannot be had at once."""
    if parity is not None and explore is not None:
        raise UsageError("--explore draws at random, which --parity cannot keep: give one of them.")
    if regret is None:
        return
    if regret != "minimax":
        raise UsageError(f"--regret {regret!r}: write --regret minimax, or leave it out.")
    given = {"capacity": capacity, "explore": explore, "never": never, "parity": parity}
    for name, value in given.items():
        if value is not None and value != ():
            raise UsageError(
                f"--regret minimax decides row by row, on its own: leave out --{name}, which goes "
                "by expected costs, or --regret."
            )


def read_parity(
    column: str | None, of: str | None, within: float | None, action: str | None
) -> Parity | None:
    """Return what the options ask for, the groups being a column, or None."""
    if column is None:
        for name, value in (("of", of), ("within", within), ("action", action)):
            if value is not None:
                raise UsageError(f"--parity-{name} says more of --parity COLUMN: give that too.")
        return None
    if of is not None and of not in RATES:
        raise UsageError(f"--parity-of {of!r}: write one of {listed(RATES)}.")
    if within is not None and not 0 <= within <= 1:
        raise UsageError(f"--parity-within {within:g}: give a difference of shares, 0 to 1.")
    if action is not None and of not in (None, "rate"):
        raise UsageError(f"--parity-action is for --parity-of rate, not for {of}: leave it out.")
    of_rate: Any = of or "rate"
    return Parity(column, of_rate, 0.02 if within is None else within, action)


def parity_of_rows(parity: Parity, frame: pl.DataFrame, actions: list[Any]) -> Parity:
    """Return parity between the groups of the rows, of an action that can be taken."""
    action = parity.action
    return replace(
        parity,
        groups=_groups(frame, parity.groups, "--parity"),
        action=None if action is None else label_of(action, actions, "--parity-action"),
    )


def _forbidden(never: Sequence[str]) -> dict[str, str]:
    """Return the columns that forbid actions, by action."""
    found: dict[str, str] = {}
    for text in never:
        action, equals, column = text.partition("=")
        if not equals or not action or not column:
            raise UsageError(f"--never {text!r}: write ACTION=COLUMN, such as decline=vip.")
        if action in found:
            raise UsageError(
                f"--never forbids {action} twice, the second time by {text!r}: give one column."
            )
        found[action] = column
    return found


def _truths(frame: pl.DataFrame, column: str) -> NDArray[np.bool_]:
    """Return a column of yes and no: true and false, 1 and 0, yes and no."""
    values = frame[column]
    words = values.cast(pl.String).str.to_lowercase()
    known = words.is_in([*_YES, *_NO])
    if not known.all():
        at = int((~known.fill_null(False)).arg_max() or 0)
        raise InputError(
            f"--never reads {column!r}, which is {values[at]!r} in row {at}: it must hold true and "
            "false, 1 and 0, or yes and no."
        )
    return words.is_in(_YES).to_numpy().astype(np.bool_)


def limits_of(capacity: Sequence[str], actions: list[Any]) -> dict[Any, float]:
    """Return how often actions can be taken, each of which may be limited once."""
    limits: dict[Any, float] = {}
    for text in capacity:
        action, limit = _limit(text, actions)
        if action in limits:
            raise UsageError(
                f"--capacity limits {shown(action)} twice, the second time by {text!r}: give one "
                "limit for each action."
            )
        limits[action] = limit
    return limits


def _limit(text: str, actions: list[Any]) -> tuple[Any, float]:
    name, equals, number = text.rpartition("=")
    try:
        limit = float(number)
    except ValueError:
        limit = -1.0
    share_of = 0 < limit < 1
    if not equals or limit < 0 or not (share_of or limit == int(limit)):
        raise UsageError(
            f"--capacity {text!r}: write ACTION=N, such as review=200, or a share, review=0.05."
        )
    return label_of(name, actions, "--capacity"), limit if share_of else int(limit)


def _groups(frame: pl.DataFrame, column: str, option: str) -> NDArray[Any]:
    if column not in frame.columns:
        raise unknown_column(column, frame.columns, option)
    if frame[column].null_count():
        raise InputError(f"{option} {column!r} is empty in some rows: give every row one.")
    return frame[column].cast(pl.String).to_numpy().astype(str)


def _price(defer: str, frame: pl.DataFrame) -> Any:
    try:
        return Expression(defer)(frame)
    except ExpressionError as error:
        raise InputError(f"--defer: {error}") from None


# --- what is new


def _note_unseen(screen: Screen, kept: Kept, rows: TableRows) -> None:
    """Note categories that are not in the training table: they count as missing."""
    for name, categories in known_categories(kept.model).items():
        column = rows.X[name]
        unknown = column.filter(column.is_not_null() & ~column.is_in([*map(str, categories)]))
        if len(unknown):
            values = listed([repr(v) for v in unknown.unique(maintain_order=True).to_list()], 3)
            screen.note(
                f"{count(len(unknown), 'row')} have a {name} that the model has not learnt "
                f"({values}): treated as missing."
            )


# --- the table


def _columns(
    model: Any, rows: TableRows, answers: Answers, actions: list[Any], plan: Any, prefix: str
) -> dict[str, Any]:
    """Return the new columns by name."""
    new: dict[str, Any] = {"decision": _plain(answers.decided)}
    for k, label in enumerate(model.classes_.tolist()):
        new[f"probability_{shown(label)}"] = answers.proba[:, k]
    if answers.expected is not None:
        places = {action: a for a, action in enumerate(actions)}
        taken = np.array([places[action] for action in answers.decided.tolist()], dtype=np.intp)
        new["expected_cost"] = answers.expected[np.arange(len(taken)), taken]
        for a, action in enumerate(actions):
            new[f"expected_cost_{shown(action)}"] = answers.expected[:, a]
    if isinstance(plan, Exploration):  # the log that policy_cost reads
        new["propensity"] = plan.propensity
        for a, action in enumerate(actions):
            new[f"propensity_{shown(action)}"] = plan.propensities[:, a]
        new["explored"] = plan.explored
    return {f"{prefix}{name}": values for name, values in new.items()}


def _plain(decided: NDArray[Any]) -> Any:
    kinds = set(map(type, decided.tolist()))
    return decided.tolist() if len(kinds) == 1 else [shown(action) for action in decided.tolist()]


def _refuse_taken(frame: pl.DataFrame, new: Iterable[str]) -> None:
    taken = [name for name in new if name in frame.columns]
    if taken:
        raise InputError(
            f"The table has a column {taken[0]!r} already: say --prefix new_, or --only-decisions."
        )


def _written(new: pl.DataFrame, decimal: str | None) -> pl.DataFrame:
    """Return new columns with numbers as the file writes them."""
    if decimal != ",":
        return new
    return new.with_columns(
        pl.selectors.float().cast(pl.String).str.replace(".", ",", literal=True)
    )


# ---- What is printed.


def _result(answers: Answers, actions: list[Any], plan: Any, output: str | None) -> dict[str, Any]:
    taken = [int(np.count_nonzero(answers.decided == action)) for action in actions]
    counts = {shown(action): n for action, n in zip(actions, taken, strict=True)}
    found: dict[str, Any] = {"decisions": counts, "output": output}
    if answers.expected is not None:
        places = {action: a for a, action in enumerate(actions)}
        chosen = np.array([places[action] for action in answers.decided.tolist()], dtype=np.intp)
        found["expected_cost"] = float(answers.expected[np.arange(len(chosen)), chosen].sum())
        constant = {shown(a): float(answers.expected[:, i].sum()) for a, i in places.items()}
        found["expected_cost_if_always"] = constant
    if isinstance(plan, Exploration):
        found["explored"] = int(plan.explored.sum())
        found["exploration_cost"] = plan.exploration_cost
    if plan is not None and plan.limited:
        found["without_limits"] = plan.unlimited_cost
        found["limits"] = plan.limit_texts()
    return found


def _parity_result(plan: ParityAllocation, column: str) -> dict[str, Any]:
    return {
        "column": column,
        "of": plan.parity.of,
        "within": float(plan.parity.within),
        "difference": plan.difference,
        "cost": plan.parity_cost,
        "one_point_more_saves": plan.shadow_price,
        "groups": [
            {
                "group": group,
                "rows": plan.group_sizes[group],
                "rate": rate,
                "cost": plan.group_costs[group],
                "more": plan.group_costs[group] - plan.group_costs_without[group],
            }
            for group, rate in plan.rates.items()
        ],
        "few_rows": plan.few_rows,
    }


def _regret_result(answers: Answers, plan: Allocation) -> dict[str, Any]:
    """Return how decisions of the least regret differ from the cheapest at the means of prices."""
    assert answers.expected is not None
    more = plan.expected_costs - answers.expected.min(axis=1)
    return {
        "rule": "minimax",
        "decisions_that_differ": int(np.count_nonzero(more > 0)),
        "more": float(more.sum()),
    }


def _show(screen: Screen, found: dict[str, Any], currency: str, n: int) -> None:
    parts = [f"{name}: {k:,} ({percent(k / n)})" for name, k in found["decisions"].items()]
    facts = [("decisions", listed(parts, 10))]
    if "expected_cost" in found:
        always = [f"always {a}: {money(c)}" for a, c in found["expected_cost_if_always"].items()]
        text = f"{money(found['expected_cost'], currency)}; {listed(always, 6)}"
        facts.append(("expected cost", text))
    if "explored" in found:
        text = f"{count(found['explored'], 'row')}, expected to cost "
        facts.append(("explored", text + money(found["exploration_cost"], currency)))
    for i, line in enumerate(found.get("limits", [])):
        facts.append(("limits" if not i else "", line))
    if "without_limits" in found:
        facts.append(("", f"{money(found['without_limits'], currency)} expected without limits"))
    if "parity" in found:
        facts += _parity_facts(found["parity"], currency)
    if "regret" in found:
        text = (
            "the least; not the cheapest at the means of prices: "
            f"{count(found['regret']['decisions_that_differ'], 'decision')}, expected to cost "
            f"{money(found['regret']['more'], currency)} more"
        )
        facts.append(("regret", text))
    if found["output"] not in (None, "-"):
        facts.append(("written to", str(found["output"])))
    screen.facts(facts)


def _parity_facts(found: dict[str, Any], currency: str) -> list[tuple[str, str]]:
    """Return what parity costs, whom, and of which groups little is known."""
    lines = [
        f"{found['of']} of each {found['column']} within {number(100 * found['within'])} points "
        f"costs {money(found['cost'], currency)} more than without it; one point more would save "
        f"{money(found['one_point_more_saves'], currency)}"
    ]
    for line in found["groups"]:
        lines.append(
            f"{line['group']}: {percent(line['rate'])} of {count(line['rows'], 'row')}, costs "
            f"{money(line['cost'], currency)}, {money(line['more'], currency)} more than without it"
        )
    if found["few_rows"]:
        lines.append(
            f"fewer than {FEW_ROWS} rows, whose rate says little: {listed(found['few_rows'], 10)}"
        )
    return [("parity" if not i else "", line) for i, line in enumerate(lines)]
