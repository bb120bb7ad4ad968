"""``costboost train``: a table and prices become a model file, and a bill on rows held out."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from costboost.cli.bill import MODEL, Answers, Bill, answer, make_bill
from costboost.cli.columns import Choice, choose
from costboost.cli.doubts import note_doubts
from costboost.cli.errors import UsageError
from costboost.cli.labels import labels_of, shown, unlabelled
from costboost.cli.methods import Maker, telling
from costboost.cli.money import Money, count, share
from costboost.cli.prices import Prices
from costboost.cli.reading import Source, read_source, read_table
from costboost.cli.recipe import Recipe
from costboost.cli.rows import TableRows, read_rows, take_roles
from costboost.cli.screen import Screen
from costboost.cli.splitting import Split, hold_out
from costboost.cli.words import (
    classes_text,
    column_facts,
    findings,
    show_bill,
    show_findings,
)
from costboost.cli.writing import check_output
from costboost.persistence import save

__all__ = ["Choices", "Task", "open_task", "train"]


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What was asked for, beside the table and the prices."""

    target: str
    time: str | None = None
    groups: str | None = None
    current: str | None = None
    drop: Sequence[str] = ()
    keep: Sequence[str] = ()
    as_number: Sequence[str] = ()
    as_category: Sequence[str] = ()
    skip_unlabelled: bool = False
    seed: int = 0

    def options(self) -> dict[str, str | None]:
        """Return the columns that play a part, by the option that names them."""
        return {
            "--target": self.target,
            "--time": self.time,
            "--groups": self.groups,
            "--current": self.current,
        }

    def roles(self) -> dict[str, str]:
        """Return which part these columns play."""
        parts = ("the target", "the time", "the groups", "today's decisions")
        named = zip(self.options().values(), parts, strict=True)
        return {name: part for name, part in named if name is not None}


@dataclass(frozen=True)
class Task:
    """A table that was read for training; `kept` are the rows of the file, None for all of them."""

    source: Source
    choice: Choice
    rows: TableRows
    prices: Prices
    kept: pl.Series | None = None


def open_task(path: str, prices: Prices, asked: Choices, screen: Screen) -> Task:
    """Read a table for training: its columns, its truth and its prices."""
    source = read_source(path)
    with screen.working(f"Reading {source.name}"):
        frame = read_table(source, asked.as_category)
    take_roles(frame, asked.options())
    kept = _labelled(frame, asked.target, screen) if asked.skip_unlabelled else None
    frame = frame if kept is None else frame.filter(kept)
    classes = np.unique(labels_of(frame[asked.target]))
    prices.costs(classes.tolist())  # what is wrong with them is said before anything else
    with screen.working("Looking at the columns"):
        choice = _choose(frame, asked)
        parts = {"target": asked.target, "current": asked.current, "groups": asked.groups}
        rows = read_rows(frame, choice.features, prices, classes, **parts)
    return Task(source, choice, rows, prices, kept)


def _choose(frame: pl.DataFrame, asked: Choices) -> Choice:
    return choose(
        frame,
        asked.roles(),
        drop=asked.drop,
        keep=asked.keep,
        as_number=asked.as_number,
        as_category=asked.as_category,
    )


def _labelled(frame: pl.DataFrame, target: str, screen: Screen) -> pl.Series:
    gone = unlabelled(frame[target])
    if gone.any():
        screen.note(f"{count(int(gone.sum()), 'row')} without {target} left out, as asked.")
    return ~gone


def train(
    path: str,
    prices: Prices,
    asked: Choices,
    screen: Screen,
    *,
    output: str,
    force: bool,
    method: str,
    maker: Maker,
    holdout: float,
    refit: bool,
) -> None:
    """Train a model, bill it on rows held out, and write it."""
    check_output(output, force)
    if not 0 <= holdout <= 0.9:
        raise UsageError(f"--holdout {holdout} is a share of the rows from 0 to 0.9.")
    model = maker.make(method)
    task = open_task(path, prices, asked, screen)
    rows, money = task.rows, Money(prices.currency)
    time = None if asked.time is None else rows.frame[asked.time]
    with screen.working("Holding rows out"):
        split = hold_out(rows.truth, holdout, asked.seed, time=time, groups=rows.groups)
    _show_table(screen, task, split)
    fit(model, rows.take(split.train), task, screen, f"Training {method}")
    held = rows.take(split.held)
    bill, found = _judge(screen, model, held, asked.seed, money, split) if len(held) else (None, {})
    if refit and len(held):
        model = fit(maker.make(method), rows, task, screen, f"Training {method} on all rows")
    recipe = _recipe(task, asked, split, method, bill)
    if refit:
        recipe = replace(recipe, rows={"train": len(rows), "held_out": 0})
    model.set_params(n_jobs=None)  # whoever loads it has other cores, and other plans for them
    save(model, output, notes=recipe.to_notes())
    _show_end(screen, output, refit=refit)
    screen.result(_result(task, split, bill, found, output, model))


def fit(model: Any, rows: TableRows, task: Task, screen: Screen, what: str) -> Any:
    """Fit a model to rows, with a bar."""
    costs = _fit_costs(task, rows)
    with (
        screen.listening(),
        screen.working(what) as advance,
        telling(model, advance),
    ):
        model.fit(rows.X, rows.truth, costs=costs, groups=rows.groups)
    return model


def _fit_costs(task: Task, rows: TableRows) -> Any:
    """Return costs to fit with: by column where the features have them, so that Python can decide.

    What is read from columns that are no features is bound to these rows.
    """
    kinds = {feature.name: feature.kind for feature in task.choice.features}
    frame = task.rows.frame
    text = {name for name, kind in kinds.items() if frame[name].dtype == pl.String}
    known = all(kinds.get(name) == "number" or name in text for name in task.prices.columns())
    return task.prices.costs(np.unique(task.rows.truth).tolist()) if known else rows.costs


def _show_table(screen: Screen, task: Task, split: Split) -> None:
    rows = task.rows
    screen.say(f"{task.source.name}: {count(len(rows), 'row')}, {rows.frame.width} columns")
    described = task.prices.costs(np.unique(rows.truth).tolist()).describe(rows.frame)
    prices = [("prices" if not i else "", line) for i, line in enumerate(described.splitlines())]
    held = (
        f"{count(len(split.held), 'row')} ({share(len(split.held) / len(rows))}), {split.how}; "
        f"{len(split.train):,} to learn from"
        if len(split.held)
        else "nothing: there will be no bill"
    )
    screen.facts(
        [
            ("target", classes_text(rows.truth)),
            *column_facts(task.choice, rows.frame),
            *prices,
            ("held out", held + _groups_on_both_sides(rows, split)),
        ]
    )
    screen.say()


def _groups_on_both_sides(rows: TableRows, split: Split) -> str:
    if rows.groups is None or not len(split.held):
        return ""
    held = np.unique(rows.groups[split.held])
    both = np.isin(held, rows.groups[split.train]).sum()
    return f"; {both:,} of {count(len(held), 'group')} held out are also learnt from" * bool(both)


def _judge(
    screen: Screen, model: Any, held: TableRows, seed: int, money: Money, split: Split
) -> tuple[Bill, dict[str, Any]]:
    with screen.listening(), screen.working("Deciding about the rows held out"):
        answers: Answers = answer(model, held)
    bill = make_bill(held, {MODEL: answers.decided}, seed, screen)
    found = findings(model, held, answers, bill)
    screen.say(f"What decisions cost on the {count(len(held), 'row')} held out", "bold")
    screen.say()
    show_bill(screen, bill, money)
    show_findings(screen, found, money, held.positive)
    note_doubts(screen, held, found, "held out")
    return bill, found


def _recipe(task: Task, asked: Choices, split: Split, method: str, bill: Bill | None) -> Recipe:
    return Recipe(
        target=asked.target,
        features=task.choice.features,
        left_out=task.choice.left_out,
        prices=task.prices,
        time=asked.time,
        groups=asked.groups,
        current=asked.current,
        method=method,
        trained=datetime.datetime.now(datetime.UTC).date().isoformat(),
        table=Path(task.source.name).name,
        digest=task.source.digest,
        rows={"train": len(split.train), "held_out": len(split.held)},
        how=split.how,
        bill=[] if bill is None else bill.to_list(),
    )


def _show_end(screen: Screen, output: str, *, refit: bool) -> None:
    size = Path(output).stat().st_size
    what = ", trained again on all rows; the bill is of the model without those held out"
    screen.say()
    screen.say(f"Wrote {output} ({size / 1024:,.0f} KB){what * refit}.")
    screen.say(f"Next: costboost decide {output} new-rows.csv -o decisions.csv")


def _result(
    task: Task, split: Split, bill: Bill | None, found: dict[str, Any], output: str, model: Any
) -> dict[str, Any]:
    labels, counts = np.unique(task.rows.truth, return_counts=True)
    return {
        "model": output,
        "table": task.source.name,
        "rows": {"train": len(split.train), "held_out": len(split.held), "how": split.how},
        "classes": {shown(k): int(n) for k, n in zip(labels, counts, strict=True)},
        "features": {feature.name: feature.kind for feature in task.choice.features},
        "left_out": task.choice.left_out,
        "prices": task.prices.texts(),
        "currency": task.prices.currency,
        "bill": None if bill is None else bill.to_list(),
        "against": None if bill is None else bill.against,
        **found,
    }
