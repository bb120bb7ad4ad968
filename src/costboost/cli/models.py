"""Commands that read one model file: ``evaluate``, ``explain``, ``inspect`` and ``report``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from costboost.cli import InputError, UsageError
from costboost.cli.bill import (
    MODEL,
    answer,
    classes_text,
    findings,
    make_bill,
    note_warnings,
    note_weights,
    show_bill,
    show_findings,
)
from costboost.cli.cells import Form
from costboost.cli.columns import decisions_of, shown
from costboost.cli.decide import as_options, parity_of_rows
from costboost.cli.output import Screen, check_output
from costboost.cli.prices import Prices, read_toml
from costboost.cli.reading import read_cells
from costboost.cli.recipe import (
    Kept,
    Recipe,
    TableRows,
    load_rows,
    prices_to_ask_by,
    read_model,
    scenario_costs_of,
    take_roles,
)
from costboost.cli.train import label_times, note_open
from costboost.costs import Costs, Expression
from costboost.decisions import Parity
from costboost.estimators.adaboost.choices import recipe_words
from costboost.fitting.time_split import LabelTimes
from costboost.guarantee import CostBound, cost_bound
from costboost.inputs.moments import read_moments
from costboost.metrics import ScenarioCost, scenario_costs
from costboost.report import make_report
from costboost.text import count, listed, money, percent, span
from costboost.typing import Floats, Mask

__all__ = ["evaluate", "note_training_rows", "explain", "inspect", "report"]


def evaluate(
    model_path: str,
    table: str,
    prices: Prices,
    screen: Screen,
    *,
    form: Form,
    scenarios: Mapping[str, Prices],
    target: str | None,
    current: str | None,
    groups: str | None,
    time: str | None = None,
    gap: str | None = None,
    label_delay: str | None = None,
    label_time: str | None = None,
    propensity: str | None = None,
    promise: float | None = None,
    cap: float | None = None,
) -> None:
    """Bill a model on a table, and bound what new rows cost."""
    _check_promise(promise, cap)
    if promise is not None and (groups or propensity):
        raise UsageError("--promise is about rows that count alike and know nothing of each other.")
    kept = read_model(model_path)
    _check_scenarios(kept, scenarios)
    when = time or kept.recipe.time

    def known(frame: pl.DataFrame) -> Mask:
        late = {"gap": gap, "label_delay": label_delay, "label_time": label_time}
        take_roles(frame, {"--time": when, "--label-time": label_time})
        labels = label_times(frame, when, **late)
        if labels is None:
            return np.ones(frame.height, dtype=np.bool_)
        return note_open(labels, screen) & _after(labels, kept, screen)

    rows, read = load_rows(
        kept, table, prices, screen, form=form, target=target, needs_target=True, current=current,
        groups=groups, propensity=propensity, also=_columns_of(scenarios),
        known=None if (gap, label_delay, label_time) == (None,) * 3 else known,
    )  # fmt: skip
    currency = kept.currency(prices)
    source = read.source
    screen.say(f"{source.name}: {count(len(rows), 'row')}; {classes_text(rows.truth)}")
    note_training_rows(screen, kept, source.digest)
    with screen.listening(), screen.working("Deciding"):
        answers = answer(kept.model, rows)
    bill = make_bill(rows, {MODEL: answers.decided})
    found = findings(kept.model, rows, answers, bill)
    screen.say()
    show_bill(screen, bill, currency)
    show_findings(screen, {**found, "rounds": None, "importances": {}}, currency, rows.positive)
    cells = _cells(rows, answers.decided)
    note_weights(screen, rows)
    _show_cells(screen, cells, currency)
    costs = scenario_costs_of(kept, prices, scenarios, rows, target or kept.recipe.target)
    billed = _scenarios(rows, answers.proba, costs)
    _show_scenarios(screen, billed, currency)
    note_warnings(screen, rows, found, "of the table")
    bound = None
    if promise is not None:
        bound = _bound(kept, rows, answers.decided, source.digest, promise, cap)
        screen.say()
        screen.say(bound.sentence(currency))
    screen.result(
        {
            "promise": None if bound is None else asdict(bound),
            "model": model_path,
            "table": source.name,
            "rows": len(rows),
            "currency": currency,
            "bill": bill.to_list(),
            "against": bill.against,
            "cells": cells,
            **({"scenarios": [_plain(one) for one in billed]} if billed else {}),
            **found,
        }
    )


# ---- scenarios

_ASKED = "these prices"


def _check_scenarios(kept: Kept, scenarios: Mapping[str, Prices]) -> None:
    if scenarios and not kept.model._decides_by_costs():
        raise UsageError(
            f"{kept.path} decides without prices, so it decides alike in every scenario: leave "
            "--scenario out, and give the prices of each by --costs in a run of its own."
        )


def _columns_of(scenarios: Mapping[str, Prices]) -> list[str]:
    return [name for prices in scenarios.values() for name in prices.columns()]


def _scenarios(rows: TableRows, proba: Floats, costs: Mapping[str, Costs]) -> list[ScenarioCost]:
    """Return the bills of the prices that were asked for, and of each scenario."""
    if not costs:
        return []
    return scenario_costs(
        rows.truth,
        proba,
        scenarios={_ASKED: rows.costs, **costs},
        sample_weight=rows.weight,
        groups=rows.groups,
    )


def _show_scenarios(screen: Screen, billed: list[ScenarioCost], currency: str) -> None:
    """Print both bills of each scenario."""
    if not billed:
        return
    screen.say()
    unit = f"cost{currency and ', ' + currency}"
    head = ["scenario", unit, "95 % interval", "decided as now", "decided differently"]
    lines = [
        [
            one.name,
            money(one.cost.total),
            span(one.cost.low, one.cost.high),
            money(one.unchanged.total),
            percent(one.differ),
        ]
        for one in billed
    ]
    screen.table(head, lines)


def _plain(one: ScenarioCost) -> dict[str, Any]:
    return {
        "name": one.name,
        "cost": one.cost.total,
        "low": one.cost.low,
        "high": one.cost.high,
        "decided_as_now": one.unchanged.total,
        "saved_by_deciding_anew": one.saved.total,
        "differ": one.differ,
    }


def _check_promise(promise: float | None, cap: float | None) -> None:
    if cap is not None and promise is None:
        raise UsageError("--cap is the most that a row can cost, for --promise: give that, too.")


def _refuse_training_rows(kept: Kept, digest: str) -> None:
    if digest == kept.recipe.digest:
        raise InputError(
            f"{kept.path} was trained on rows of this very file, about which nothing can be "
            "promised: give --promise rows that are new to it."
        )


def _bound(
    kept: Kept, rows: TableRows, decided: Any, digest: str, confidence: float, cap: float | None
) -> CostBound:
    _refuse_training_rows(kept, digest)
    try:
        return cost_bound(rows.truth, decided, costs=rows.costs, confidence=confidence, cap=cap)
    except ValueError as error:
        raise UsageError(_promise_words(str(error))) from error


def _promise_words(message: str) -> str:
    """Return a message about a promise that speaks of options."""
    message = message.replace(
        "give costs.at({...}), the prices it is to hold at.",
        "give prices without a range, such as --fn amount, at which it is to hold.",
    )
    return message.replace("cap=...", "--cap").replace("cap=", "--cap ")


def _after(labels: LabelTimes, kept: Kept, screen: Screen) -> Mask:
    """Return which rows lie beyond the gap after what was learnt from; note the others."""
    if not labels.gap:
        return np.ones(len(labels.when.at), dtype=np.bool_)
    if kept.recipe.until is None:
        raise InputError(
            f"{kept.path} does not say until when it was trained, which --gap counts from: train "
            "it with --time and --gap, or leave --gap out."
        )
    try:
        until = read_moments(_moment(kept.recipe.until, labels.when.dates), "until")
    except ValueError:
        raise InputError(
            f"{kept.path} was trained until {kept.recipe.until}, which is no moment of the column "
            "that --time names: give the same kind of column."
        ) from None
    after = labels.when.at >= int(until.at[0]) + labels.gap
    n_near = int(np.count_nonzero(~after))
    if n_near == len(after):
        raise InputError(f"No row lies beyond --gap after {kept.recipe.until}: give later rows.")
    if n_near:
        screen.note(f"{count(n_near, 'row')} before, or within --gap of, the training left out.")
    return after


def _moment(until: str, dates: bool) -> Any:
    return np.array([np.datetime64(until, "us") if dates else float(until)])


def note_training_rows(screen: Screen, kept: Kept, digest: str) -> None:
    """Warn where a model is judged by the file that it was trained on."""
    if digest == kept.recipe.digest:
        screen.note(
            f"{kept.path} was trained on rows of this very file: what it costs here is less than "
            "it will cost on new rows."
        )


def _cells(rows: TableRows, decided: Any) -> list[dict[str, Any]]:
    """Return how often, and at what cost, each class was decided as each action."""
    paid = rows.costs.of_decisions(rows.truth, decided)
    found = []
    for label in np.unique(rows.truth).tolist():
        for action in rows.actions:
            here = (rows.truth == label) & (decided == action)
            cell = {"truth": shown(label), "decision": shown(action)}
            found.append({**cell, "rows": int(here.sum()), "cost": float(paid[here].sum())})
    return found


def _show_cells(screen: Screen, cells: list[dict[str, Any]], currency: str) -> None:
    if len(cells) > 16:
        return
    screen.say()
    lines = [
        [f"{c['truth']}, decided {c['decision']}", f"{c['rows']:,}", money(c["cost"])]
        for c in cells
    ]
    screen.table(["truth", "rows", f"cost{currency and ', ' + currency}"], lines)


# ---- explain


def explain(
    model_path: str,
    table: str,
    prices: Prices,
    screen: Screen,
    *,
    form: Form,
    row: int | None,
    identifier: str | None,
) -> None:
    """Explain the decision for one row of a table."""
    if (row is None) == (identifier is None):
        raise UsageError("Say which row: --row, counted from 0, or --id with its identifier.")
    kept = read_model(model_path)
    if not hasattr(kept.model, "explain"):
        raise InputError(f"A {type(kept.model).__name__} cannot explain its decisions.")
    rows, read = load_rows(kept, table, prices, screen, form=form)
    if row is None:
        written = [read_cells(read.source)] if read.source.is_csv else []
        row = _row_of(identifier or "", [rows.frame, *written], kept.recipe.identifiers)
    if row >= len(rows):
        raise InputError(
            f"{read.source.name} has {count(len(rows), 'row')}, numbered from 0 to "
            f"{len(rows) - 1}: there is no row {row}."
        )
    one = rows.take(np.array([row]))
    asked = prices_to_ask_by(kept, prices) if kept.model._decides_by_costs() else None
    with screen.listening(), screen.working("Explaining"):
        why = kept.model.explain(one.X, costs=_costs(asked, one, kept.model.classes_.tolist()))
    named = _identity(kept, rows.frame[row])
    screen.say(f"Row {row}{''.join(f', {name} {value}' for name, value in named.items() if name)}")
    screen.out.print(str(why), soft_wrap=True)
    screen.result({"row": row, "identity": named, **why.to_dict()})


def _costs(prices: Prices | None, one: TableRows, classes: list[Any]) -> Any:
    """Return costs that are read from the features, so that they change as these do.

    What prices read of other columns is the row's. None: the model's own prices, or none at all.
    """
    if prices is None:
        return None
    mine, theirs = one.X.schema, one.frame.schema
    if all(mine.get(name) == theirs[name] for name in prices.columns()):
        return prices.costs(classes)

    def reading(price: Expression) -> Any:
        def read(X: pl.DataFrame) -> Any:
            followed = [X[name] for name in price.columns if name in mine]
            # A category is text to the model, whatever it is to the price.
            followed = [f.cast(theirs[f.name]) if f.dtype == pl.String else f for f in followed]
            return price(one.frame[[0] * X.height].with_columns(followed))

        return read

    return prices.costs(classes, reading)


def _identity(kept: Kept, one: pl.DataFrame) -> dict[str, Any]:
    """Return the identifiers of the row, which are no features."""
    return {name: shown(one[name][0]) for name in kept.recipe.identifiers if name in one.columns}


def _row_of(identifier: str, frames: list[pl.DataFrame], identifiers: list[str]) -> int:
    """Return the row that an identifier names: COLUMN=VALUE, or a value of those left out.

    The frames hold the same rows: the values, and the cells as the file writes them.
    """
    known = frames[0].columns
    column, equals, value = identifier.partition("=")
    if equals and column in known:
        names = [column]
    else:
        names, value = [name for name in identifiers if name in known], identifier
    if not names:
        raise InputError(
            f"--id {identifier!r}: the model knows no identifier among the columns of this table: "
            "write COLUMN=VALUE."
        )
    found = [
        np.flatnonzero(frame[name].cast(pl.String) == value) for frame in frames for name in names
    ]
    rows = sorted({int(row) for at in found for row in at})
    if len(rows) != 1:
        some = f"{', '.join(map(str, rows[:5]))}{', ...' * (len(rows) > 5)}"
        many = f"{count(len(rows), 'row')}: {some}; say --row" if rows else "no row"
        raise InputError(f"--id {value!r}: {' or '.join(names)} is {value!r} in {many}.")
    return rows[0]


# ---- inspect


def inspect(path: str, screen: Screen) -> None:
    """Show the kind of a model, its training table, and the prices it decides by."""
    kept = read_model(path)
    result = _result(kept)
    screen.say(f"{path}: {result['estimator']}, {kept.size / 1024:,.0f} KB", "bold")
    screen.facts(_facts(kept, result))
    if kept.recipe.bill:
        currency = kept.recipe.prices.currency if kept.recipe.prices else ""
        screen.say()
        screen.say("What decisions cost on the rows held out then")
        lines = [
            [str(line["policy"]), money(line["cost"]), span(line["low"], line["high"])]
            for line in kept.recipe.bill
        ]
        unit = f"cost, {currency}" if currency else "cost"
        screen.table(["", unit, "95 % interval"], lines)
    screen.result(result)


def _result(kept: Kept) -> dict[str, Any]:
    model, recipe = kept.model, kept.recipe
    usual = {k: p.default for k, p in signature(type(model)).parameters.items()}
    changed = {k: v for k, v in model.get_params(deep=False).items() if _differs(v, usual.get(k))}
    changed.pop("n_jobs", None)  # of this process
    prices = recipe.prices.texts() if recipe.prices else {}
    return {
        "estimator": type(model).__name__,
        "version": kept.version,
        "size": kept.size,
        "parameters": changed,
        "classes": [shown(label) for label in getattr(model, "classes_", [])],
        "rounds": getattr(model, "n_iter_", None),
        "recipe": getattr(model, "recipe_", None),
        "features": {f.name: f.kind for f in recipe.features}
        or list(getattr(model, "feature_names_in_", [])),
        "left_out": recipe.left_out,
        "target": recipe.target,
        "positive": None if recipe.prices is None else recipe.prices.positive,
        "prices": prices,
        "ranges": (recipe.prices.ranges or {}) if recipe.prices else {},
        "method": recipe.method or None,
        "trained": recipe.trained or None,
        "table": recipe.table or None,
        "digest": recipe.digest or None,
        "rows": recipe.rows,
        "how": recipe.how or None,
        "bill": recipe.bill,
    }


def _differs(value: Any, usual: Any) -> bool:
    return repr(value) != repr(usual)


def _facts(kept: Kept, found: dict[str, Any]) -> list[tuple[str, str]]:
    recipe = kept.recipe
    facts = [("written by", f"costboost {found['version']}")]
    if recipe.target is not None:
        rows = recipe.rows
        facts += [
            ("trained", f"{recipe.trained} on {rows['train']:,} rows of {recipe.table}"),
            ("held out", f"{rows['held_out']:,} rows, {recipe.how}"),
            ("target", f"{recipe.target}: {listed(found['classes'])}"),
        ]
    else:
        facts.append(("classes", listed(found["classes"])))
    if found["recipe"] is not None:
        words = recipe_words(found["recipe"])
        facts += [(heading.lower(), text) for heading, text in words.items()]
    elif found["rounds"] is not None:
        facts.append(("rounds", f"{found['rounds']:,}"))
    if found["parameters"]:
        facts.append(("set to", listed([f"{k}={v!r}" for k, v in found["parameters"].items()])))
    facts.append(("features", listed(list(found["features"]), 20)))
    facts += [
        ("left out" if not i else "", f"{name}: {why}")
        for i, (name, why) in enumerate(found["left_out"].items())
    ]
    held = kept.model.costs_ if hasattr(kept.model, "costs_") else None
    own = {} if held is None or found["prices"] else {"prices": str(held)}
    given = {**{f"price {k}": v for k, v in found["prices"].items()}, **own}
    given |= {f"range of {k}": v for k, v in found["ranges"].items()}
    return [*facts, *given.items()]


# ---- report


def report(
    model_path: str,
    table: str,
    prices: Prices,
    screen: Screen,
    *,
    output: str,
    force: bool,
    form: Form,
    scenarios: Mapping[str, Prices],
    target: str | None,
    current: str | None,
    rows: bool,
    title: str | None,
    promise: float | None = None,
    cap: float | None = None,
    parity: Parity | None = None,
    swap: Sequence[str] = (),
) -> None:
    """Write the report of a model on a table whose truth is known."""
    check_output(output, force, (".html", ".htm"))
    _check_promise(promise, cap)
    kept = read_model(model_path)
    _check_scenarios(kept, scenarios)
    read, found = load_rows(
        kept, table, prices, screen, form=form, target=target, needs_target=True, current=current,
        also=_columns_of(scenarios),
    )  # fmt: skip
    source = found.source
    when = kept.recipe.time  # capacities are those of a day
    note_training_rows(screen, kept, source.digest)
    currency = kept.currency(prices)
    if promise is not None:
        _refuse_training_rows(kept, source.digest)
    replaced = {
        Path(what).name: _swapped(what, kept, table, prices, read, form, target) for what in swap
    }
    alike = None if parity is None else parity_of_rows(parity, read.frame, read.actions)
    try:
        with screen.listening(), screen.working("Writing the report"):
            made = make_report(
                kept.model,
                read.X,
                read.truth,
                costs=read.costs,
                scenarios=scenario_costs_of(
                    kept, prices, scenarios, read, target or kept.recipe.target
                ),
                current=read.current,
                time=None if when not in read.frame.columns else read.frame[when].to_numpy(),
                rows=rows,
                currency=currency,
                notes=_notes(kept.recipe),
                title=title or f"{Path(model_path).name} on {Path(source.name).name}",
                promise=promise,
                cap=cap,
                parity=alike,
                swap=replaced or None,
            )
    except ValueError as error:
        raise InputError(_promise_words(as_options(str(error)))) from error
    made.save(output, overwrite=force)
    size = Path(output).stat().st_size
    screen.say(f"Wrote {output} ({size / 1024:,.0f} KB): open it in a browser.")
    if rows:
        screen.note("the page holds the values of some rows: --rows asked for it.")
    screen.result({"report": output, "size": size, "rows": rows})


def _swapped(
    what: str,
    kept: Kept,
    table: str,
    prices: Prices,
    rows: TableRows,
    form: Form,
    target: str | None,
) -> Any:
    """Return what --swap-with names: decisions of a column or another model, or a price list."""
    if what in rows.frame.columns:
        return decisions_of(rows.frame[what], rows.actions, rows.positive)
    if not Path(what).is_file():
        raise InputError(
            f"--swap-with {what!r} is no column of the table and no file: name a column of "
            "decisions, a model file or a costs.toml."
        )
    if Path(what).suffix == ".toml":
        own = target or kept.recipe.target
        return scenario_costs_of(kept, prices, {what: read_toml(Path(what))}, rows, own)[what]
    other = read_model(what)

    def classes_of(one: Kept) -> str:
        return listed([shown(label) for label in one.model.classes_.tolist()])

    if other.model.classes_.tolist() != kept.model.classes_.tolist():
        raise InputError(
            f"--swap-with {what} knows the classes {classes_of(other)}, "
            f"and {kept.path} {classes_of(kept)}: give models of "
            "the same target."
        )
    theirs, _ = load_rows(other, table, prices, Screen(True), form=form)
    return answer(other.model, replace(theirs, costs=rows.costs)).decided


def _notes(recipe: Recipe) -> dict[str, str]:
    """Return notes for the model card on how the model was trained."""
    counts = ", ".join(f"{count:,} {part}" for part, count in recipe.rows.items())
    notes = {
        "Trained": " ".join(part for part in (recipe.trained, f"on {recipe.table}") if part),
        "Digest of that file": recipe.digest,
        "Its rows": f"{counts}; {recipe.how}" if recipe.how else counts,
        "Columns left out": "\n".join(f"{name}: {why}" for name, why in recipe.left_out.items()),
    }
    return {name: text for name, text in notes.items() if text} if recipe.table else {}
