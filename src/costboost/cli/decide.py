"""``costboost decide`` and ``monitor``: new rows become decisions, and these are watched."""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from costboost.cli import InputError, UsageError
from costboost.cli.bill import Answers, answer
from costboost.cli.cells import Form
from costboost.cli.columns import (
    decisions_of,
    label_of,
    shown,
    unknown_column,
    unlabelled,
)
from costboost.cli.output import Screen, check_output, is_text, table_suffixes, write_table
from costboost.cli.prices import Prices
from costboost.cli.reading import Source, Table, read_cells, read_source
from costboost.cli.recipe import (
    Kept,
    TableRows,
    features_as_read,
    known_categories,
    load_rows,
    prices_to_ask_by,
    read_again,
    read_model,
    read_rows,
    take_roles,
)
from costboost.costs import Expression, ExpressionError
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
from costboost.inputs.moments import DAY, read_moments, read_span
from costboost.monitoring import Monitor, Period, watch_page
from costboost.persistence.writing import write_atomically
from costboost.text import count, listed, money, number, percent
from costboost.typing import Int64

__all__ = ["RANG", "as_options", "decide", "monitor", "parity_of_rows", "read_parity"]

RANG = 3  # exit code where an alarm has rung

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
    with screen.listening(), screen.working(f"Deciding about {count(len(rows), 'row')}"):
        if joint:
            groups = None if per is None else _groups(rows.frame, per, "--per")
            answers, actions, plan = _jointly(
                kept.model, rows, capacity, groups, defer, explore, forbidden, parity, regret, seed
            )
        else:
            answers, actions, plan = answer(kept.model, rows), rows.actions, None
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
    currency = prices.currency or (kept.recipe.prices.currency if kept.recipe.prices else "")
    result = _result(answers, actions, plan, output)
    if parity is not None:
        result["parity"] = _parity_result(plan, parity.groups)
    if regret is not None:
        result["regret"] = _regret_result(answers, plan)
    _show(screen, result, currency, n)
    screen.result(result)


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
    limits = _limits(capacity, actions)
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


def _limits(capacity: Sequence[str], actions: list[Any]) -> dict[Any, float]:
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


# ---- monitor


def monitor(
    model_path: str,
    table: str,
    prices: Prices,
    screen: Screen,
    *,
    form: Form,
    time: str | None,
    period: str,
    target: str | None,
    label_delay: str | None,
    decided: str | None,
    capacity: Sequence[str],
    state: str | None,
    output: str,
    force: bool,
    **settings: Any,
) -> int:
    """Watch and bill the periods of a table that are new; return the exit code."""
    at = Path(state) if state is not None else Path(output).with_suffix(".state.json")
    check_output(output, force or at.exists(), (".html", ".htm"))
    check_output(str(at), True, (".json",))
    kept = read_model(model_path)
    when = time or kept.recipe.time
    if when is None:
        raise UsageError("Say which column holds the time of each row: --time.")
    try:
        span = read_span(_number_or_text(period), "--period", positive=True)
        delay = None if label_delay is None else read_span(
            _number_or_text(label_delay), "--label-delay"
        )  # fmt: skip
    except ValueError as error:
        raise UsageError(str(error)) from None
    key = hashlib.blake2b(Path(model_path).read_bytes(), digest_size=16).hexdigest()
    given = {name: value for name, value in settings.items() if value is not None}
    watched = _monitor_of(kept, at, key, given)
    cut = _Periods(kept, table, form, when, span)
    truth = target or kept.recipe.target
    if target is not None and target not in cut.columns:
        raise unknown_column(target, cut.columns, "--target")
    if truth not in cut.columns:
        truth = None
    if delay is not None and truth is None:
        raise UsageError("--label-delay says when labels are known: give --target, too.")
    chosen = decided or ("decision" if "decision" in cut.columns else None)
    n_watched, n_billed, n_rung = len(watched.periods), 0, len(watched.alarms)
    asked = prices_to_ask_by(kept, prices)
    with screen.listening(), screen.working("Watching", total=len(cut.numbers)) as advance:
        last = int(cut.numbers[-1]) + 1
        blocked = False
        for number in cut.numbers.tolist():
            advance()
            begins = number * span
            old = next((p for p in watched.periods if p.at == begins), None)
            if old is not None and (old.billed is not None or truth is None):
                continue
            ripe = truth is not None and not blocked
            ripe = ripe and (delay is None or begins + span + delay <= last * span)
            if old is not None and not ripe:
                continue
            frame = cut.frame(number)
            take_roles(frame, {"--time": when, "--target": truth, "--decided": chosen})
            rows = read_rows(
                frame, features_as_read(frame, kept), asked, kept.model.classes_, model=kept.model
            )
            if not watched.capacity and capacity:
                limits = _limits(capacity, rows.actions)
                watched.capacity = {a: n for a, n in limits.items() if n >= 1}
            taken = None if chosen is None else decisions_of(
                frame[chosen], rows.actions, rows.positive
            )  # fmt: skip
            labels = _labels(frame[truth]) if ripe and truth is not None else None
            if labels is not None and delay is None and None in labels.tolist():
                labels = None  # not all are known yet
            blocked = blocked or (truth is not None and labels is None)
            moment = np.datetime64(begins, "us") if cut.dates else begins / DAY
            how = {"period": moment, "costs": rows.costs, "decisions": taken}
            try:
                if old is None:
                    watched.update(rows.X, **how)
                if labels is not None:
                    watched.update(rows.X, labels, **how)
                    n_billed += 1
            except ValueError as error:
                raise InputError(str(error)) from None
    currency = prices.currency or (kept.recipe.prices.currency if kept.recipe.prices else "")
    title = f"{Path(model_path).name}: the bill, watched"
    page = watch_page(watched, title=title, currency=currency)
    write_atomically(Path(output), [page.encode()], overwrite=True)
    watched.save(at)  # last: what fails before is done again
    found = {
        "watched": len(watched.periods) - n_watched,
        "billed": n_billed,
        "alarms": [_alarm(alarm, j >= n_rung) for j, alarm in enumerate(watched.alarms)],
        "periods": [_period(p) for p in watched.periods[-31:]],
        "state": str(at),
        "page": output,
    }
    _show_watched(screen, watched, found, currency)
    screen.result(found)
    return RANG if watched.alarms else 0


def _number_or_text(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _monitor_of(kept: Kept, at: Path, key: str, settings: dict[str, Any]) -> Monitor:
    try:
        if at.exists():
            return Monitor.load(at, kept.model, key=key, **settings)
        return Monitor(kept.model, key=key, **settings)
    except ValueError as error:
        raise InputError(str(error)) from None


class _Periods:
    """A table cut into periods, of which one is in memory at a time where the file is Parquet."""

    def __init__(self, kept: Kept, path: str, form: Form, when: str, span: int) -> None:
        self._kept, self._form, self._when, self._span = kept, form, when, span
        self._path = path
        self._whole: pl.DataFrame | None = None
        self._lazy: pl.LazyFrame | None = None
        if _is_parquet(path):
            self._lazy = pl.scan_parquet(path)
            self.columns = self._lazy.collect_schema().names()
            if when not in self.columns:
                raise unknown_column(when, self.columns, "--time")
            column = self._lazy.select(when).collect()[when]
        else:
            source = read_source(path, form.encoding, kept.recipe.form.encoding)
            self._whole = read_again(kept, source, form).frame
            self.columns = self._whole.columns
            if when not in self.columns:
                raise unknown_column(when, self.columns, "--time")
            column = self._whole[when]
        try:
            moments = read_moments(column, when)
        except ValueError as error:
            raise InputError(f"--time: {error}") from None
        if moments.missing.any():
            at = int(np.argmax(moments.missing))
            raise InputError(f"--time {when!r} is empty in row {at}: give every row one.")
        self.dates = moments.dates
        self._number: Int64 = moments.at // span
        self.numbers = np.unique(self._number)
        if not len(self.numbers):
            raise InputError(f"{path} has no rows: give those of a period at least.")

    def frame(self, number: int) -> pl.DataFrame:
        """Return the rows of one period."""
        here = np.flatnonzero(self._number == number)
        if self._whole is not None:
            return self._whole[here]
        assert self._lazy is not None
        first, last = int(here[0]), int(here[-1])
        some = self._lazy.slice(first, last - first + 1).collect()[here - first]
        data = io.BytesIO()
        some.write_parquet(data)
        read: Table = read_again(self._kept, Source(self._path, data.getvalue(), ""), self._form)
        return read.frame


def _is_parquet(path: str) -> bool:
    file = Path(path)
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(4) == b"PAR1"


def _labels(column: pl.Series) -> NDArray[Any]:
    """Return labels, None where there is none."""
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    made = column.to_numpy().astype(object)
    made[unlabelled(column).to_numpy()] = None
    return made


def _alarm(alarm: Any, is_new: bool) -> dict[str, Any]:
    return {"alarm": alarm.signal, "period": alarm.period, "text": alarm.text, "new": is_new}


def _period(p: Period) -> dict[str, Any]:
    found: dict[str, Any] = {"period": p.name, "rows": p.rows, "expected": p.expected}
    if p.billed is not None:
        found |= {name: p.billed[name] for name in ("paid", "difference", "low", "high")}
        found["beyond_chance"] = p.beyond_chance
    found["constant"] = p.constant if p.billed is None else p.billed["constant"]
    return {**found, "decisions": p.decisions, "columns": p.columns[:3]}


def _show_watched(screen: Screen, watched: Monitor, found: dict[str, Any], currency: str) -> None:
    screen.say(
        f"{count(found['watched'], 'new period')} watched, {found['billed']:,} billed; "
        f"{found['page']} shows all, {found['state']} keeps what is needed next time."
    )
    screen.say()
    lines = []
    for p in watched.periods[-7:]:
        b = p.billed
        paid = ["", ""] if b is None else [money(b["paid"]), money(b["difference"])]
        costs = p.constant if b is None else b["constant"]
        cheapest = f"{money(costs[p.cheapest])} ({p.cheapest})"
        mark = "more than chance" if p.beyond_chance else ""
        lines.append([p.name, f"{p.rows:,}", money(p.expected), *paid, cheapest, mark])
    unit = f", {currency}" if currency else ""
    head = ["period", "rows", f"expected{unit}", "paid", "difference", "cheapest constant", ""]
    screen.table(head, lines)
    for alarm in found["alarms"]:
        if not screen.as_json:
            screen.out.print(json.dumps(alarm), soft_wrap=True)
