"""``costboost train``: a table and prices become a model file, and a bill on rows held out."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold

from costboost.boosting.adaboost.rules import RULES
from costboost.boosting.gradient.losses import CLASSIFICATION_LOSSES
from costboost.boosting.pnorm.methods import METHODS
from costboost.calibration import CALIBRATORS
from costboost.cli import InputError, UsageError
from costboost.cli.bill import (
    MODEL,
    Answers,
    Bill,
    answer,
    classes_text,
    column_facts,
    findings,
    make_bill,
    note_warnings,
    note_weights,
    show_bill,
    show_findings,
)
from costboost.cli.cells import Form
from costboost.cli.columns import (
    Choice,
    Feature,
    check_strays,
    choose,
    labels_of,
    shown,
    tidied,
    unlabelled,
)
from costboost.cli.output import Screen, check_output, save_new, show_rounds
from costboost.cli.prices import Prices
from costboost.cli.reading import Table, read_source, read_table
from costboost.cli.recipe import Recipe, TableRows, read_rows, take_roles
from costboost.costs import FeatureCosts
from costboost.estimators.adaboost.choices import RECIPE_NAMES
from costboost.estimators.adaboost.classifier import CostBoostClassifier
from costboost.estimators.gradient import GradientBoostClassifier
from costboost.estimators.pnorm import PNormBoostClassifier
from costboost.fitting.time_split import LabelTimes
from costboost.text import count, percent
from costboost.typing import Indices, Mask

__all__ = [
    "Holdout",
    "Maker",
    "check_holdout",
    "hold_out",
    "method_names",
    "time_codes",
    "Choices",
    "Task",
    "fit_costs",
    "label_times",
    "note_open",
    "open_task",
    "train",
]


# ---- Methods by name, as estimators that can decide by new prices. Named ones are calibrated
# unless set otherwise: prices change, which uncalibrated methods cannot follow.


def method_names() -> list[str]:
    """Return the names of all methods."""
    return [
        *RECIPE_NAMES,
        *RULES,
        *(f"gradient:{loss}" for loss in CLASSIFICATION_LOSSES),
        *METHODS,
    ]


@dataclass(frozen=True, kw_only=True)
class Maker:
    """Settings from which the estimators of all methods are made."""

    rounds: int | None = None
    calibration: str = "auto"
    seed: int = 0
    jobs: int = -1
    feature_costs: FeatureCosts | None = None

    def make(self, method: str) -> Any:
        """Return the estimator of a method, not fitted."""
        known = method_names()
        if method not in known:
            raise UsageError(f"--method {method!r} is not known; there are {', '.join(known)}.")
        if self.jobs == 0:
            raise UsageError("--jobs 0 would do nothing: give a number of threads, or -1.")
        params: dict[str, Any] = {"random_state": self.seed, "n_jobs": self.jobs}
        if self.rounds is not None:
            params["n_estimators"] = self.rounds
        params["calibration"] = _calibration(method, self.calibration)
        if self.feature_costs is not None:
            params["feature_costs"] = self.feature_costs
        if method in METHODS:
            if self.feature_costs is not None:
                raise UsageError(
                    f"--column-cost is not for --method {method}, which knows no prices of columns:"
                    " use auto, a method of the AdaBoost family or gradient:log."
                )
            return PNormBoostClassifier(method=method, **params)
        if method.startswith("gradient:"):
            return GradientBoostClassifier(method.partition(":")[2], **params)
        return CostBoostClassifier(method, **params)


def _calibration(method: str, given: str) -> str | None:
    kinds = [name for name in CALIBRATORS if name]
    if given not in ("auto", "none", *kinds):
        raise UsageError(f"--calibration {given!r} is not known: auto, none, {', '.join(kinds)}.")
    if given == "none":
        return None
    if given != "auto":
        return given
    if method in RECIPE_NAMES or (method in RULES and RULES[method].calibrated):
        return "auto"
    loss = CLASSIFICATION_LOSSES.get(method.partition(":")[2])
    return "sigmoid" if loss is None or loss.uses_costs else None


# ---- Held-out rows: by time where there is one, whole groups where there are any.


class Holdout(NamedTuple):
    """Rows to learn from, rows held out, and how they were chosen."""

    train: Indices
    held: Indices
    how: str


def time_codes(column: pl.Series) -> NDArray[np.intp]:
    """Return the moments of a column as numbers in their order."""
    if not (column.dtype.is_numeric() or column.dtype.is_temporal()):
        first = next((value for value in column.to_list() if value is not None), None)
        raise InputError(
            f"--time {column.name!r} holds {column.dtype}, such as {first!r}, which has no order "
            "in time: give numbers, or dates as 2026-11-16."
        )
    if column.null_count():
        at = int(column.is_null().arg_max() or 0)
        raise InputError(f"--time {column.name!r} is empty in row {at}: give every row a moment.")
    return (column.rank("dense").cast(pl.Int64) - 1).to_numpy().astype(np.intp)


def hold_out(
    y: NDArray[Any],
    part: float,
    seed: int,
    *,
    time: pl.Series | None = None,
    groups: NDArray[np.intp] | None = None,
    labels: LabelTimes | None = None,
) -> Holdout:
    """Hold out a part of the rows; none if `part` is 0.

    With `labels`, what was not known when the model was trained is not learnt from.
    """
    n = len(y)
    if part == 0:
        return Holdout(np.arange(n), np.arange(0), "none")
    if time is not None:
        split = _latest(time, part, labels)
    elif groups is not None:
        split = _whole_groups(y, part, seed, groups)
    else:
        held = np.sort(_drawn(y, part, seed))
        split = Holdout(np.setdiff1d(np.arange(n), held), held, "drawn at random, by class")
    check_holdout(y, split)
    return split


def _latest(time: pl.Series, part: float, labels: LabelTimes | None) -> Holdout:
    codes = time_codes(time)
    learnt, held = (labels or LabelTimes.in_order(codes)).latest(part)
    if held.all():
        raise InputError(
            f"--time {time.name!r} does not split the rows: {percent(float(np.mean(codes == 0)))} "
            "of them are at its first moment. Leave --time out, or give a finer one."
        )
    first = time.gather(int(np.argmin(np.where(held, codes, len(codes)))))[0]
    how = f"the latest, {time.name} >= {first}"
    unknown = int(np.count_nonzero(~held & ~learnt))
    if not learnt.any():
        raise InputError(
            f"None of the {count(unknown, 'row')} before {first} had a known label when the model "
            "was trained: give a shorter --gap or --label-delay, or hold out less with --holdout."
        )
    if unknown:
        how += f"; {count(unknown, 'earlier row')} not known by then left out"
    return Holdout(np.flatnonzero(learnt), np.flatnonzero(held), how)


def _whole_groups(y: NDArray[Any], part: float, seed: int, groups: NDArray[np.intp]) -> Holdout:
    n_splits = max(2, round(1 / part))
    n_groups = len(np.unique(groups))
    if n_groups < n_splits:
        raise InputError(
            f"--groups has {count(n_groups, 'group')}, too few to hold out {percent(part)} of "
            "them: leave it out, or hold out more with --holdout."
        )
    folds = StratifiedGroupKFold(n_splits, shuffle=True, random_state=seed)
    train, held = next(iter(folds.split(y, y, groups)))
    return Holdout(train, held, f"{count(len(np.unique(groups[held])), 'whole group')}")


def _drawn(y: NDArray[Any], part: float, seed: int) -> Indices:
    rng = np.random.RandomState(seed)
    drawn = []
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        drawn.append(rng.permutation(rows)[: max(1, round(part * len(rows)))])
    return np.concatenate(drawn)


def check_holdout(y: NDArray[Any], split: Holdout) -> None:
    """Refuse rows to learn from, or held out, without any of some class."""
    classes = set(np.unique(y).tolist())
    for rows, where in ((split.train, "to learn from"), (split.held, "held out")):
        lacking = classes - set(np.unique(y[rows]).tolist())
        if lacking:
            raise InputError(
                f"No row {where} is {shown(sorted(lacking, key=str)[0])} ({split.how}): more rows "
                "are needed, or another --holdout."
            )


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Options of training, beside the table and the prices."""

    target: str
    time: str | None = None
    groups: str | None = None
    current: str | None = None
    drop: Sequence[str] = ()
    keep: Sequence[str] = ()
    as_number: Sequence[str] = ()
    as_category: Sequence[str] = ()
    skip_unlabelled: bool = False
    gap: str | None = None
    label_delay: str | None = None
    label_time: str | None = None
    propensity: str | None = None
    form: Form = field(default_factory=Form)
    seed: int = 0

    def options(self) -> dict[str, str | None]:
        """Return the columns that play a part, by the option that names them."""
        return {
            "--target": self.target,
            "--time": self.time,
            "--groups": self.groups,
            "--current": self.current,
            "--label-time": self.label_time,
            "--propensity": self.propensity,
        }

    def roles(self) -> dict[str, str]:
        """Return the role of each column that is no feature, as the reason to leave it out."""
        parts = (
            "the target",
            "the time",
            "the groups",
            "today's decisions",
            "when labels were known",
            "the chance of a label",
        )
        named = zip(self.options().values(), parts, strict=True)
        return {name: part for name, part in named if name is not None}


@dataclass(frozen=True)
class Task:
    """A table that was read for training; `kept` are the rows of the file, None for all of them."""

    table: Table
    choice: Choice
    rows: TableRows
    prices: Prices
    kept: pl.Series | None = None
    labels: LabelTimes | None = None


def open_task(path: str, prices: Prices, choices: Choices, screen: Screen) -> Task:
    """Read a table for training: its columns, its truth and its prices."""
    source = read_source(path, choices.form.encoding)
    with screen.working(f"Reading {source.name}"):
        table = read_table(
            source,
            asked=choices.form,
            texts=choices.as_category,
            numbers=choices.as_number,
            target=choices.target,
        )
    frame = table.frame
    take_roles(frame, choices.options())
    if choices.form.tidy_labels:
        frame = frame.with_columns(tidied(frame[choices.target]))
    kept = _labelled(frame, choices.target, screen) if choices.skip_unlabelled else None
    frame = frame if kept is None else frame.filter(kept)
    late = {part: getattr(choices, part) for part in ("gap", "label_delay", "label_time")}
    times = label_times(frame, choices.time, **late)
    if times is not None and not (known := note_open(times, screen)).all():
        which = np.flatnonzero(kept if kept is not None else np.ones(len(known), dtype=np.bool_))
        kept = pl.Series(np.isin(np.arange(table.frame.height), which[known]))
        frame = frame.filter(pl.Series(known))
        times = label_times(frame, choices.time, **late)
    labels = labels_of(frame[choices.target])
    classes = np.unique(labels)
    if prices.actions is None:
        check_strays(choices.target, labels)
    prices.costs(classes.tolist())  # wrong prices fail before anything else
    with screen.working("Looking at the columns"):
        table.need([*prices.columns(), *filter(None, (choices.time, choices.current))])
        choice = _choose(frame, choices, table)
        parts = {
            name: getattr(choices, name) for name in ("target", "current", "groups", "propensity")
        }
        rows = read_rows(frame, choice.features, prices, classes, **parts)
    for name, text in table.understood.notes.items():
        if name in choice.names("category"):
            screen.note(text)
    return Task(table, choice, rows, prices, kept, times)


def label_times(
    frame: pl.DataFrame,
    time: str | None,
    *,
    gap: str | None = None,
    label_delay: str | None = None,
    label_time: str | None = None,
) -> LabelTimes | None:
    """Return when rows were decided and labels known; None where nothing of that was asked for."""
    if (gap, label_delay, label_time) == (None, None, None):
        return None
    if time is None:
        raise UsageError(
            "--gap, --label-delay and --label-time count from --time: name its column."
        )
    try:
        return LabelTimes.read(
            time, gap=gap or 0, label_delay=label_delay or 0, label_time=label_time, X=frame
        )
    except ValueError as error:
        text = (
            str(error).replace("label_delay", "--label-delay").replace("label_time", "--label-time")
        )
        raise InputError(text[:1].upper() + text[1:].rstrip(".") + ".") from None


def note_open(labels: LabelTimes, screen: Screen) -> Mask:
    """Return which rows have a known label at the end of the table, and make a note of the rest."""
    if not labels.delay and labels.reported is None:
        return np.ones(len(labels.when.at), dtype=np.bool_)
    known = labels.known_now()
    n_open = int(np.count_nonzero(~known))
    if n_open == len(known):
        raise InputError("No row has a known label yet: give a shorter --label-delay.")
    if n_open:
        screen.note(
            f"{count(n_open, 'row')} ({percent(n_open / len(known))}) have no known label yet: "
            "left out, not taken for negatives."
        )
    return known


def _choose(frame: pl.DataFrame, choices: Choices, table: Table) -> Choice:
    return choose(
        frame,
        choices.roles(),
        drop=choices.drop,
        keep=choices.keep,
        as_number=choices.as_number,
        as_category=choices.as_category,
        problems=table.understood.problems,
    )


def _labelled(frame: pl.DataFrame, target: str, screen: Screen) -> pl.Series:
    gone = unlabelled(frame[target])
    if gone.any():
        screen.note(
            f"{count(int(gone.sum()), 'row')} without {target} left out (--skip-unlabelled)."
        )
    return ~gone


def train(
    path: str,
    prices: Prices,
    choices: Choices,
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
    task = open_task(path, prices, choices, screen)
    rows, currency = task.rows, prices.currency
    time = None if choices.time is None else rows.frame[choices.time]
    with screen.working("Holding rows out"):
        split = hold_out(
            rows.truth, holdout, choices.seed, time=time, groups=rows.groups, labels=task.labels
        )
    _show_table(screen, task, split)
    fit(model, rows.take(split.train), task, screen, f"Training {method}")
    held = rows.take(split.held)
    bill, found = _judge(screen, model, held) if len(held) else (None, {})
    if refit and len(held):
        model = fit(maker.make(method), rows, task, screen, f"Training {method} on all rows")
    recipe = _recipe(task, choices, split, method, bill)
    if refit:
        everything = Holdout(np.arange(len(rows)), np.arange(0), "")
        until = None if task.labels is None else task.labels.until(everything.train)
        recipe = replace(recipe, until=until, rows={"train": len(rows), "held_out": 0})
    model.set_params(n_jobs=None)  # the machine that loads it has other cores
    # Written before it is shown: an error of the screen must not lose a model.
    written = save_new(model, output, recipe.to_notes(), force=force)
    if bill is not None:
        _show_bill(screen, bill, found, held, currency)
    _show_end(screen, written, refit=refit)
    screen.result(_result(task, split, bill, found, written, model))
    if written != output:
        raise InputError(
            f"{output} exists: another program has written it in the meantime. This model is in "
            f"{written}."
        )


def fit(model: Any, rows: TableRows, task: Task, screen: Screen, what: str) -> Any:
    """Fit a model to rows, with a bar."""
    costs = fit_costs(task.choice.features, task.prices, rows)
    with (
        screen.listening(),
        screen.working(what) as advance,
        show_rounds(model, advance),
    ):
        model.fit(rows.X, rows.truth, rows.fit_weight, costs=costs, groups=rows.groups)
    return model


def fit_costs(features: Sequence[Feature], prices: Prices, rows: TableRows) -> Any:
    """Return costs to fit with: by column where the features have them, so that Python can decide.

    What is read from columns that are no features is bound to these rows.
    """
    kinds = {feature.name: feature.kind for feature in features}
    text = {name for name in kinds if rows.frame[name].dtype == pl.String}
    known = all(kinds.get(name) == "number" or name in text for name in prices.columns())
    return prices.costs(np.unique(rows.truth).tolist()) if known else rows.costs


def _show_table(screen: Screen, task: Task, split: Holdout) -> None:
    rows = task.rows
    screen.say(f"{task.table.source.name}: {count(len(rows), 'row')}, {rows.frame.width} columns")
    described = task.prices.costs(np.unique(rows.truth).tolist()).describe(rows.frame)
    prices = [("prices" if not i else "", line) for i, line in enumerate(described.splitlines())]
    held = (
        f"{count(len(split.held), 'row')} ({percent(len(split.held) / len(rows))}), {split.how}; "
        f"{len(split.train):,} to learn from"
        if len(split.held)
        else "nothing: there will be no bill"
    )
    screen.facts(
        [
            *([("read so", task.table.remarks)] if task.table.remarks else []),
            ("target", classes_text(rows.truth)),
            *column_facts(task.choice, rows.frame),
            *prices,
            ("held out", held + _groups_on_both_sides(rows, split)),
        ]
    )
    screen.say()


def _groups_on_both_sides(rows: TableRows, split: Holdout) -> str:
    if rows.groups is None or not len(split.held):
        return ""
    held = np.unique(rows.groups[split.held])
    both = np.isin(held, rows.groups[split.train]).sum()
    return f"; {both:,} of {count(len(held), 'group')} held out are also learnt from" * bool(both)


def _judge(screen: Screen, model: Any, held: TableRows) -> tuple[Bill, dict[str, Any]]:
    with screen.listening(), screen.working("Deciding about the rows held out"):
        answers: Answers = answer(model, held)
    bill = make_bill(held, {MODEL: answers.decided})
    return bill, findings(model, held, answers, bill)


def _show_bill(
    screen: Screen, bill: Bill, found: dict[str, Any], held: TableRows, currency: str
) -> None:
    screen.say(f"What decisions cost on the {count(len(held), 'row')} held out", "bold")
    screen.say()
    show_bill(screen, bill, currency)
    show_findings(screen, found, currency, held.positive)
    note_warnings(screen, held, found, "held out")
    note_weights(screen, held)


def _recipe(task: Task, choices: Choices, split: Holdout, method: str, bill: Bill | None) -> Recipe:
    return Recipe(
        target=choices.target,
        features=task.choice.features,
        left_out=task.choice.left_out,
        prices=task.prices,
        time=choices.time,
        groups=choices.groups,
        current=choices.current,
        method=method,
        trained=datetime.datetime.now(datetime.UTC).date().isoformat(),
        table=Path(task.table.source.name).name,
        digest=task.table.source.digest,
        form=task.table.form,
        rows={"train": len(split.train), "held_out": len(split.held)},
        how=split.how,
        until=None if task.labels is None else task.labels.until(split.train),
        bill=[] if bill is None else bill.to_list(),
    )


def _show_end(screen: Screen, output: str, *, refit: bool) -> None:
    size = Path(output).stat().st_size
    what = ", trained again on all rows; the bill is of the model without those held out"
    screen.say()
    screen.say(f"Wrote {output} ({size / 1024:,.0f} KB){what * refit}.")
    screen.say(f"Next: costboost decide {output} new-rows.csv -o decisions.csv")


def _result(
    task: Task, split: Holdout, bill: Bill | None, found: dict[str, Any], output: str, model: Any
) -> dict[str, Any]:
    labels, counts = np.unique(task.rows.truth, return_counts=True)
    return {
        "model": output,
        "table": task.table.source.name,
        "read_so": task.table.remarks,
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
