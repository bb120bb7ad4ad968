"""``costboost monitor`` and ``challenge``: a bill is watched, and what would cost less is tried.

A monitor takes a table period by period, and keeps a small state from run to run. A challenge bills
a model, and what could replace it, on the latest rows: a new model, another map from scores to
probabilities, or other prices.
"""

from __future__ import annotations

import datetime
import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from costboost.cli import InputError, UsageError
from costboost.cli.bill import MODEL, make_bill, show_bill
from costboost.cli.cells import Form
from costboost.cli.columns import decisions_of, unknown_column, unlabelled
from costboost.cli.compare import exchange_lines, show_swap
from costboost.cli.decide import limits_of
from costboost.cli.models import note_training_rows
from costboost.cli.output import Advance, Screen, check_output, save_new
from costboost.cli.prices import Prices
from costboost.cli.reading import Source, Table, read_source
from costboost.cli.recipe import (
    Kept,
    Recipe,
    TableRows,
    features_as_read,
    load_rows,
    prices_to_ask_by,
    read_again,
    read_model,
    read_rows,
    take_roles,
)
from costboost.cli.train import Maker, fit_costs, label_times, note_open
from costboost.inputs.moments import DAY, read_moments, read_span
from costboost.monitoring import Challenge, Monitor, Period, watch_page
from costboost.monitoring import challenge as run_challenge
from costboost.monitoring import reprice as run_reprice
from costboost.persistence.writing import write_atomically
from costboost.text import count, money, span
from costboost.typing import Int64, Mask

__all__ = ["RANG", "challenge", "monitor"]

RANG = 3  # exit code where an alarm has rung


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
    length, delay = _spans(period, label_delay)
    key = hashlib.blake2b(Path(model_path).read_bytes(), digest_size=16).hexdigest()
    given = {name: value for name, value in settings.items() if value is not None}
    watched = _monitor_of(kept, at, key, given)
    cut = _Periods(kept, table, form, when, length)
    truth = _truth_column(kept, target, cut.columns, has_delay=delay is not None)
    chosen = decided or ("decision" if "decision" in cut.columns else None)
    n_watched, n_rung = len(watched.periods), len(watched.alarms)
    with screen.listening(), screen.working("Watching", total=len(cut.numbers)) as advance:
        n_billed = _watch(
            watched, cut, kept, prices_to_ask_by(kept, prices), advance,
            truth=truth, delay=delay, chosen=chosen, capacity=capacity,
        )  # fmt: skip
    currency = kept.currency(prices)
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


def _spans(period: str, label_delay: str | None) -> tuple[int, int | None]:
    """Return how long a period is, and how late labels are, in microseconds."""
    try:
        length = read_span(_number_or_text(period), "--period", positive=True)
        if label_delay is None:
            return length, None
        return length, read_span(_number_or_text(label_delay), "--label-delay")
    except ValueError as error:
        raise UsageError(str(error)) from None


def _truth_column(
    kept: Kept, target: str | None, columns: Sequence[str], *, has_delay: bool
) -> str | None:
    """Return the column of the truth; None where the table has none."""
    if target is not None and target not in columns:
        raise unknown_column(target, columns, "--target")
    truth = target or kept.recipe.target
    truth = truth if truth in columns else None
    if has_delay and truth is None:
        raise UsageError("--label-delay says when labels are known: give --target, too.")
    return truth


def _watch(
    watched: Monitor,
    cut: _Periods,
    kept: Kept,
    asked: Prices | None,
    advance: Advance,
    *,
    truth: str | None,
    delay: int | None,
    chosen: str | None,
    capacity: Sequence[str],
) -> int:
    """Watch the new periods, and bill those whose labels are due; return how many were billed.

    Periods are billed in their order: after one whose labels are not all known, none is.
    """
    known, n_billed = {p.at: p for p in watched.periods}, 0
    end, blocked = (int(cut.numbers[-1]) + 1) * cut.length, truth is None
    for number in cut.numbers.tolist():
        advance()
        begins = number * cut.length
        old = known.get(begins)
        due = not blocked and (delay is None or begins + cut.length + delay <= end)
        if old is not None and (old.billed is not None or not due):
            continue
        frame = cut.frame(number)
        take_roles(frame, {"--time": cut.when, "--target": truth, "--decided": chosen})
        rows = read_rows(
            frame, features_as_read(frame, kept), asked, kept.model.classes_, model=kept.model
        )
        if not watched.capacity and capacity:
            limits = limits_of(capacity, rows.actions)
            watched.capacity = {a: n for a, n in limits.items() if n >= 1}
        taken = None if chosen is None else decisions_of(
            frame[chosen], rows.actions, rows.positive
        )  # fmt: skip
        labels = _labels(frame[truth]) if due and truth is not None else None
        if labels is not None and delay is None and None in labels.tolist():
            labels = None  # not all are known yet
        blocked = blocked or labels is None
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
    return n_billed


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

    def __init__(self, kept: Kept, path: str, form: Form, when: str, length: int) -> None:
        self._kept, self._form, self.when, self.length = kept, form, when, length
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
        self._number: Int64 = moments.at // length
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


# ---- Would a change pay?

# What decides until now and then, by what is changed.
_NEW, _MAP, _PRICES = "new model", "recalibrated", "repriced"
_NAMES = {
    _NEW: ("old model", "challenger"),
    _MAP: ("old model", "recalibrated one"),
    _PRICES: ("old prices", "new prices"),
}


def challenge(
    model_path: str,
    table: str,
    prices: Prices,
    screen: Screen,
    *,
    form: Form,
    target: str | None,
    time: str | None,
    gap: str | None,
    label_delay: str | None,
    label_time: str | None,
    groups: str | None,
    recalibrate: bool,
    reprice: bool,
    method: str | None,
    maker: Maker,
    holdout: float | None,
    output: str | None,
    force: bool,
) -> None:
    """Bill a model, and what could replace it, on recent rows, and say what to do."""
    check_output(output, force)
    kind = _kind(prices, recalibrate, reprice, method, maker, holdout, gap)
    new = None if method is None else maker.make(method)
    kept = read_model(model_path)
    when = time or kept.recipe.time
    if when is None and kind != _PRICES:
        raise UsageError("Say which column holds the time of each row: --time.")
    late = {"gap": gap, "label_delay": label_delay, "label_time": label_time}

    def known(frame: pl.DataFrame) -> Mask:
        take_roles(frame, {"--time": when, "--label-time": label_time})
        labels = label_times(frame, when, **late)
        if labels is None:
            return np.ones(frame.height, dtype=np.bool_)
        return note_open(labels, screen)

    before = kept.recipe.prices if kind == _PRICES else None
    also = [*([] if when is None or kind == _PRICES else [when]),
            *([] if before is None else before.columns())]  # fmt: skip
    rows, read = load_rows(
        kept, table, prices, screen, form=form, target=target, needs_target=True, groups=groups,
        also=also, known=None if kind == _PRICES and not any(late.values()) else known,
    )  # fmt: skip
    note_training_rows(screen, kept, read.source.digest)
    features, asked = tuple(features_as_read(rows.frame, kept)), prices_to_ask_by(kept, prices)
    costs = rows.costs if asked is None else fit_costs(features, asked, rows)
    with screen.listening(), screen.working("Trying what could replace it"):
        try:
            if kind == _PRICES:
                found = run_reprice(
                    kept.model, rows.X, rows.truth, costs=costs,
                    old_costs=_old_costs(kept, rows), groups=rows.groups,
                )  # fmt: skip
            else:
                assert when is not None
                found = run_challenge(
                    kept.model, rows.X, rows.truth, time=rows.frame[when], costs=costs,
                    challenger=new, recalibrate=kind == _MAP, groups=rows.groups,
                    gap=gap or 0, label_delay=label_delay or 0,
                    label_time=None if label_time is None else rows.frame[label_time],
                    holdout=0.25 if holdout is None else holdout,
                    n_old=kept.recipe.rows.get("train"),
                )  # fmt: skip
        except ValueError as error:
            raise InputError(_as_options(str(error))) from None
    judged, written = rows.take(found.judged), None
    if output is not None:
        found.model.set_params(n_jobs=None)  # the machine that loads it has other cores
        recipe = _recipe(kind, replace(kept.recipe, time=when), found, judged, read)
        if kind == _NEW:
            times = label_times(rows.frame, when, **late)
            recipe = replace(
                recipe, target=target or recipe.target,
                method=method or recipe.method,
                until=None if times is None else times.until(found.learnt),
            )  # fmt: skip
        notes = replace(recipe, prices=asked, features=features).to_notes()
        written = save_new(found.model, output, notes, force=force)
    _show_challenge(screen, kind, found, judged, read.source.name, kept.currency(prices), written)


def _kind(
    prices: Prices,
    recalibrate: bool,
    reprice: bool,
    method: str | None,
    maker: Maker,
    holdout: float | None,
    gap: str | None,
) -> str:
    """Return what is to be changed; refuse options that do not go together."""
    if holdout is not None and not 0 < holdout <= 0.9:
        raise UsageError(f"--holdout {holdout} is a share of the rows, above 0 and up to 0.9.")
    trains = {"--method": method, "--rounds": maker.rounds}
    trains["--calibration"] = None if maker.calibration == "auto" else maker.calibration
    given = [name for name, value in trains.items() if value is not None]
    if recalibrate and reprice:
        raise UsageError("--recalibrate and --reprice are two questions: ask one at a time.")
    if recalibrate or reprice:
        given += ["--holdout"] * (reprice and holdout is not None) + ["--gap"] * (
            reprice and gap is not None
        )
        if given:
            option, what = ("--reprice", "nothing") if reprice else ("--recalibrate", "no model")
            raise UsageError(f"{option} trains {what}: leave out {', '.join(given)}.")
    elif given and method is None:
        raise UsageError("--rounds and --calibration are of a --method: name one, too.")
    if reprice and not prices.texts():
        raise UsageError("--reprice needs the new prices: give --fp and --fn, or --costs.")
    return _PRICES if reprice else _MAP if recalibrate else _NEW


def _old_costs(kept: Kept, rows: TableRows) -> Any:
    """Return what the model has decided by until now, for these rows."""
    if kept.recipe.prices is None:
        if kept.model.costs_per_row_:
            raise InputError(
                f"{kept.path} was fitted with prices of other rows, so nobody knows what it would "
                "have decided about these: 'evaluate' bills it by the new prices."
            )
        return kept.model.costs_
    kept.recipe.prices.check(rows.frame, kept.recipe.target)
    return kept.recipe.prices.costs(kept.model.classes_.tolist()).bind_table(rows.frame)


def _recipe(kind: str, old: Recipe, found: Challenge, judged: TableRows, read: Table) -> Recipe:
    """Return the recipe of what could replace a model, from the recipe of that."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    table = Path(read.source.name).name
    if kind == _NEW:
        own = make_bill(judged, {MODEL: found.swap.new})
        return replace(
            old,
            trained=today,
            table=table,
            digest=read.source.digest,
            form=read.form,
            rows={"train": len(found.learnt), "held_out": len(found.judged)},
            how=f"the latest by {old.time}",
            bill=own.to_list(),
        )
    what = (
        "repriced, and judged by"
        if kind == _PRICES
        else f"recalibrated on {len(found.learnt):,} rows of"
    )
    how = "; ".join(part for part in (old.how, f"{what} {table}, {today}") if part)
    return replace(old, how=how, bill=[])  # which was another model's, or at other prices


def _show_challenge(
    screen: Screen,
    kind: str,
    found: Challenge,
    judged: TableRows,
    name: str,
    currency: str,
    written: str | None,
) -> None:
    """Print the bill of both, what is exchanged, and the advice; and all of it as JSON."""
    old, new = _NAMES[kind]
    n_learnt, n_judged = len(found.learnt), len(found.judged)
    bill = make_bill(judged, {old: found.swap.old, new: found.swap.new})
    rows = f"{count(n_judged, 'row')} judge"
    if kind != _PRICES:
        rows = f"{count(n_learnt, 'row')} to learn from, the latest {n_judged:,} judge"
    screen.say(f"{name}: {rows}")
    screen.say()
    show_bill(screen, bill, currency)
    show_swap(screen, found.swap, (f"the {old}", f"the {new}"), currency)
    screen.say()
    for line in _advice(found, old, currency):
        screen.say(line)
    if written is not None:
        screen.say(f"Wrote {written}.")
    as_many = found.saved_by_as_many
    screen.result(
        {
            "change": kind,
            "rows": {"train": n_learnt, "judged": n_judged},
            "currency": currency,
            "bill": bill.to_list(),
            "saved": found.saved._asdict(),
            "saved_by_as_many": None if as_many is None else as_many._asdict(),
            "pays_by_more_rows": found.pays_by_more_rows,
            "decided_differently": found.swap.total.n_rows,
            "swap": exchange_lines(found.swap)[:-1],
            "advice": found.advice,
            "rows_needed": found.rows_needed,
            "model": written,
        }
    )


def _as_options(text: str) -> str:
    """Return a message of the function as one about the options of the command."""
    options = {" label_delay": " --label-delay", " gap": " --gap", " holdout": " --holdout"}
    for name, option in options.items():
        text = text.replace(name, option)
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _advice(found: Challenge, old: str, currency: str) -> list[str]:
    saved, n_changed = found.saved, found.swap.total.n_rows
    sure = f"95 % interval {span(saved.low, saved.high)}"
    what = f"The change would have saved {money(saved.total, currency)} ({sure})"
    if found.advice == "replace":
        return [f"{what}: it pays.", *_why(found, currency)]
    if found.advice == "keep":
        return [f"{what}: keep the {old}."]
    why = f"only {count(n_changed, 'row')} would be decided differently"
    if saved.low <= 0 <= saved.high and n_changed:
        why = "that may be chance"
    lines = [f"{what}; {why}: wait."]
    if found.rows_needed is not None:
        lines.append(
            f"If it stays so, about {count(found.rows_needed, 'row')} must judge for a clear "
            f"answer, {len(found.judged):,} did."
        )
    return lines


def _why(found: Challenge, currency: str) -> list[str]:
    """Return a sentence on whether more rows pay, or newer ones, where both may."""
    as_many = found.saved_by_as_many
    if as_many is None:
        return []
    saved = money(as_many.total, currency)
    sure = f"95 % interval {span(as_many.low, as_many.high)}"
    if found.pays_by_more_rows:
        return [
            f"It learnt from more rows than the old model: from the latest only, as many as that "
            f"had, it would have saved {saved} ({sure}). So it is more rows that pay; that the "
            "rows have changed is not shown."
        ]
    return [
        f"From the latest rows only, as many as the old model learnt from, it would have saved "
        f"{saved} ({sure}): newer rows pay, not only more of them."
    ]
