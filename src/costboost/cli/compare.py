"""``costboost compare``: which of several methods and models costs less on the same rows.

Methods are trained on each fold's other rows and decide about its own; models decide as they are.
What is compared are the same rows, each billed once: intervals are those of differences row by row,
and ranks those of the folds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from costboost.cli import InputError, UsageError
from costboost.cli.bill import Bill, answer, classes_text, make_bill, note_weights, show_bill
from costboost.cli.columns import shown
from costboost.cli.models import note_training_rows
from costboost.cli.output import Screen, check_output, write_figure
from costboost.cli.prices import Prices
from costboost.cli.recipe import (
    Kept,
    TableRows,
    costs_by_name,
    read_again,
    read_model,
    read_rows,
)
from costboost.cli.train import (
    Choices,
    Holdout,
    Maker,
    Task,
    check_holdout,
    open_task,
    time_codes,
)
from costboost.fitting.time_split import LabelTimes
from costboost.metrics import (
    CriticalDifference,
    DecisionSwap,
    compare_decisions,
    critical_difference,
    paired_cost_test,
)
from costboost.text import count, money, span
from costboost.typing import Indices

__all__ = ["compare", "exchange_lines", "fold_rows", "show_swap"]

_MANY_ROWS = 20_000  # rows from which on fewer random flips do
_PICTURES = (".png", ".svg", ".pdf")


def compare(
    path: str,
    prices: Prices,
    choices: Choices,
    screen: Screen,
    *,
    scenarios: Mapping[str, Prices],
    methods: Sequence[str],
    models: Sequence[str],
    n_folds: int,
    picture: str | None,
    swap: bool,
    force: bool,
    maker: Maker,
) -> None:
    """Compare, print the bill of all and what is exchanged between two, and draw the ranks."""
    names = [*methods, *models]
    if len(names) < 2 or len(set(names)) < len(names):
        raise UsageError("Give at least two different ones, such as --method auto --method adamec.")
    if swap and len(names) != 2:
        raise UsageError("--swap shows what changes from one to another: give exactly two.")
    check_output(picture, force, _PICTURES)
    for method in methods:
        maker.make(method)  # an unknown name fails before any training
    kept = [read_model(name) for name in models]
    task = open_task(path, prices, choices, screen)
    for model in kept:
        note_training_rows(screen, model, task.table.source.digest)
    time = None if choices.time is None else task.rows.frame[choices.time]
    folds = list(
        fold_rows(
            task.rows.truth,
            n_folds,
            choices.seed,
            time=time,
            groups=task.rows.groups,
            labels=task.labels,
        )
    )
    screen.say(
        f"{task.table.source.name}: {count(len(task.rows), 'row')}; {classes_text(task.rows.truth)}"
    )
    others = _other_tasks(task, scenarios, choices.target)
    decided, *elsewhere = _decide([task, *others.values()], methods, kept, folds, screen, maker)
    found = _judge(task.rows, decided, folds, choices.seed, screen)
    _show(screen, found, prices.currency, n_folds=len(folds))
    note_weights(screen, task.rows)
    exchanged = _swap(task.rows, decided, folds) if swap else None
    if exchanged is not None:
        show_swap(screen, exchanged, names, prices.currency)
    bills = {
        name: _bill(other.rows, own, folds)
        for (name, other), own in zip(others.items(), elsewhere, strict=True)
    }
    if bills:
        _show_scenarios(screen, bills, names, prices.currency)
    if picture is not None:
        _draw(found, names, picture, force)
        screen.say(f"Wrote {picture}.")
    result = _result(found, names, len(folds), prices.currency)
    if exchanged is not None:
        result["swap"] = exchange_lines(exchanged)
    if bills:
        result["scenarios"] = [{"name": n, "bill": bill.to_list()} for n, bill in bills.items()]
    screen.result(result)


# ---- Folds: by time where there is one, whole groups where there are any.


def fold_rows(
    y: NDArray[Any],
    n_folds: int,
    seed: int,
    *,
    time: pl.Series | None = None,
    groups: NDArray[np.intp] | None = None,
    labels: LabelTimes | None = None,
) -> Iterator[tuple[Indices, Indices]]:
    """Yield rows to learn from and rows to judge by; by time, only later rows judge."""
    if time is not None:
        yield from _forward(y, n_folds, time, labels)
        return
    rarest = int(min(np.unique(y, return_counts=True)[1]))
    if rarest < n_folds:
        raise InputError(
            f"The rarest class has {count(rarest, 'row')}, fewer than {n_folds} folds: give "
            f"--folds {max(2, rarest)} or more rows."
        )
    if groups is not None:
        if len(np.unique(groups)) < n_folds:
            raise InputError(f"There are fewer groups than {n_folds} folds: give fewer --folds.")
        kept = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
        yield from kept.split(y, y, groups)
        return
    yield from StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(y, y)


def _forward(
    y: NDArray[Any], n_folds: int, time: pl.Series, labels: LabelTimes | None
) -> Iterator[tuple[Indices, Indices]]:
    codes = time_codes(time)
    times = labels or LabelTimes.in_order(codes)
    blocks = np.array_split(np.sort(codes), n_folds + 1)
    cuts = np.unique([block[0] for block in blocks[1:]])
    for start, stop in zip(cuts, [*cuts[1:], codes.max() + 1], strict=True):
        split = Holdout(
            np.flatnonzero(times.trainable(int(times.when.at[codes == start].min()))),
            np.flatnonzero((codes >= start) & (codes < stop)),
            f"a fold by {time.name}",
        )
        if len(split.train):
            check_holdout(y, split)
            yield split.train, split.held


@dataclass(frozen=True)
class Found:
    """The results of a comparison."""

    bill: Bill
    pairs: dict[str, dict[str, Any]]
    ranks: CriticalDifference
    best: str


Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


def _other_tasks(task: Task, scenarios: Mapping[str, Prices], target: str) -> dict[str, Task]:
    """Return the task at the prices of each scenario, which change those that were given."""
    asked = {name: task.prices.changed(changes) for name, changes in scenarios.items()}
    task.table.need([name for prices in asked.values() for name in prices.columns()])
    costs = costs_by_name(asked, np.unique(task.rows.truth), task.rows, target)
    return {
        name: replace(task, prices=asked[name], rows=replace(task.rows, costs=costs[name]))
        for name in scenarios
    }


def _decide(
    tasks: Sequence[Task],
    methods: Sequence[str],
    kept: Sequence[Kept],
    folds: Folds,
    screen: Screen,
    maker: Maker,
) -> list[dict[str, NDArray[Any]]]:
    """Return by task the decisions of each method about all rows, trained at the first's prices.

    Tasks differ in prices only. Rows that no fold tests keep a filler.
    """
    rows = tasks[0].rows
    names = [*methods, *(model.path for model in kept)]
    kind = np.asarray(rows.actions).dtype
    found = [{name: np.full(len(rows), rows.actions[0], kind) for name in names} for _ in tasks]
    steps = len(folds) * len(methods)
    with screen.listening(), screen.working("Training on folds", steps) as advance:
        for train, test in folds:
            part, left_out = rows.take(train), [task.rows.take(test) for task in tasks]
            for method in methods:
                model = maker.make(method)
                model.fit(part.X, part.truth, part.fit_weight, costs=part.costs, groups=part.groups)
                for own, decided in zip(left_out, found, strict=True):
                    decided[method][test] = answer(model, own).decided
                advance()
    with screen.working("Asking models"):
        for model in kept:
            for task, decided in zip(tasks, found, strict=True):
                decided[model.path] = _answer_of(model, task)
    return found


def _answer_of(kept: Kept, task: Task) -> NDArray[Any]:
    """Return the decisions of a model about the rows, at the prices of the comparison."""
    unknown = set(np.unique(task.rows.truth).tolist()) ^ set(kept.model.classes_.tolist())
    if unknown:
        raise InputError(f"{kept.path} knows other classes: {shown(sorted(unknown, key=str)[0])}.")
    features = kept.recipe.features or task.choice.features
    # Read once more: what is a number here may be a category to the model, or the reverse.
    table = read_again(kept, task.table.source, task.table.form)
    table.need([f.name for f in features])
    frame = table.frame if task.kept is None else table.frame.filter(task.kept)
    rows = read_rows(frame, features, task.prices, kept.model.classes_)
    return answer(kept.model, rows).decided


def _bill(rows: TableRows, decided: dict[str, NDArray[Any]], folds: Folds) -> Bill:
    tested = np.sort(np.concatenate([test for _, test in folds]))
    return make_bill(rows.take(tested), {name: d[tested] for name, d in decided.items()})


def _judge(
    rows: TableRows, decided: dict[str, NDArray[Any]], folds: Folds, seed: int, screen: Screen
) -> Found:
    tested = np.sort(np.concatenate([test for _, test in folds]))
    judged = rows.take(tested)
    own = {name: d[tested] for name, d in decided.items()}
    bill = make_bill(judged, own)
    best = min(own, key=lambda name: bill[name].cost)
    each = list(decided.values())
    scores = np.array([[_mean_cost(rows.take(test), d[test]) for d in each] for _, test in folds])
    with screen.working("Testing pairs", len(own) - 1) as advance:
        pairs = {}
        for name in own:
            if name != best:
                pairs[name] = _pair(judged, own[name], own[best], seed)
                advance()
    return Found(bill, pairs, critical_difference(scores), best)


def _mean_cost(rows: TableRows, decided: NDArray[Any]) -> float:
    paid = rows.costs.of_decisions(rows.truth, decided)
    return float(np.average(paid, weights=rows.weight))


def _pair(rows: TableRows, one: NDArray[Any], best: NDArray[Any], seed: int) -> dict[str, Any]:
    n = len(rows)
    test = paired_cost_test(
        rows.truth,
        one,
        best,
        costs=rows.costs,
        sample_weight=rows.weight,
        groups=rows.groups,
        n_resamples=9999 if n <= _MANY_ROWS else 1999,
        random_state=seed,
    )
    stand_for = n if rows.weight is None else float(rows.weight.sum())
    return {
        "more": stand_for * test.difference,
        "low": stand_for * test.low,
        "high": stand_for * test.high,
        "p_value": test.p_value,
        "rows_that_differ": test.n_different,
    }


def _show(screen: Screen, found: Found, currency: str, *, n_folds: int) -> None:
    screen.say(f"{count(int(found.bill.n_rows), 'row')} billed, in {n_folds} folds")
    screen.say()
    show_bill(screen, found.bill, currency)
    for name, pair in sorted(found.pairs.items(), key=lambda item: item[1]["more"]):
        sure = f"95 % interval {span(pair['low'], pair['high'])}, p = {pair['p_value']:.3g}"
        verdict = "is not significantly different from"
        if pair["low"] > 0:
            verdict = f"costs {money(pair['more'], currency)} more than"
        screen.say(f"{name} {verdict} {found.best} ({sure}).")
    if 2 * 0.5**n_folds > 0.05:
        screen.note(
            f"ranks over {n_folds} folds cannot differ significantly: give --folds 10 for those."
        )


def _show_scenarios(
    screen: Screen, bills: Mapping[str, Bill], names: Sequence[str], currency: str
) -> None:
    """Print what each method or model costs under other prices, by which it decides if it can."""
    lines = []
    for scenario, bill in bills.items():
        for name in names:
            line = bill[name]
            lines.append([scenario, name, money(line.cost), span(line.low, line.high)])
    screen.say()
    unit = f"cost, {currency}" if currency else "cost"
    screen.table(["scenario", "", unit, "95 % interval"], lines)


def _swap(rows: TableRows, decided: dict[str, NDArray[Any]], folds: Folds) -> DecisionSwap:
    """Return what changes from the first to the second, on the rows that were tested."""
    tested = np.sort(np.concatenate([test for _, test in folds]))
    judged = rows.take(tested)
    old, new = (d[tested] for d in decided.values())
    return compare_decisions(
        old,
        new,
        np.zeros((len(judged), 1)),
        judged.truth,
        costs=judged.costs,
        clusters=judged.groups,
        sample_weight=judged.weight,
    )


def show_swap(screen: Screen, swap: DecisionSwap, names: Sequence[str], currency: str) -> None:
    """Print which rows the second decides differently than the first, and what that saves."""
    unit = f"saved, {currency}" if currency else "saved"
    lines = [*swap.exchanges, swap.total]
    table = []
    for line in lines:
        assert line.realised is not None
        text = "all" if line is swap.total else f"{line.old} -> {line.new}"
        saved = line.realised
        table.append([text, f"{line.n_rows:,}", money(saved.total), span(saved.low, saved.high)])
    screen.say()
    screen.say(f"Decided differently by {names[1]} than by {names[0]}")
    screen.table(["", "rows", unit, "95 % interval"], table, len(lines) - 1)


def exchange_lines(swap: DecisionSwap) -> list[dict[str, Any]]:
    """Return the lines of a table of exchanges as plain values, the total last."""
    return [
        {"old": line.old, "new": line.new, "rows": line.n_rows, **line.realised._asdict()}
        for line in (*swap.exchanges, swap.total)
        if line.realised is not None
    ]


def _draw(found: Found, names: Sequence[str], path: str, force: bool) -> None:
    from costboost.plots import CriticalDifferenceDisplay

    display = CriticalDifferenceDisplay(result=found.ranks, names=names, alpha=0.05).plot()
    write_figure(display.figure_, path, force=force)


def _result(found: Found, names: Sequence[str], n_folds: int, currency: str) -> dict[str, Any]:
    return {
        "rows": int(found.bill.n_rows),
        "folds": n_folds,
        "currency": currency,
        "bill": found.bill.to_list(),
        "best": found.best,
        "against_best": found.pairs,
        "average_ranks": dict(zip(names, found.ranks.average_ranks.tolist(), strict=True)),
        "not_significantly_different": [[names[i] for i in group] for group in found.ranks.groups],
        "friedman_p_value": found.ranks.friedman.p_value,
    }
