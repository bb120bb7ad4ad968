"""What the L_p family and its rivals cost on tables with many classes.

Every split of a set's rows (two thirds to train on) comes with costs of its own, drawn from the
class-frequency model. All methods get the same rows, costs, number of rounds and of leaves.
Results go to a file line by line; a run that was interrupted, or asks for more, continues there.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from _common import Report, judge
from _cost_models import NOT_MODELS, own_hash
from _multiclass_sets import Set, class_frequency_costs, cut
from costboost import CostBoostClassifier, Costs
from costboost.estimators.pnorm import PNormBoostClassifier
from costboost.estimators.pnorm.family import leaf_rows
from costboost.metrics import bootstrap_interval

Floats = NDArray[np.float64]

LEAVES = 31
RIVALS = ("AdaBoost.M2", "AdaCost", "CSB2")
CONSTANT = "constant"


class Cheapest:
    """Answers one class always: the cheapest for the rows that it saw."""

    def set_params(self, **params: Any) -> None:
        """Take what trees need, and leave it."""

    def fit(self, X: Any, y: Any, costs: Costs) -> Cheapest:
        self.answer, _ = costs.cheapest_constant(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.answer)


def contenders(n_rounds: int) -> dict[str, Any]:
    """Return the methods of the paper's Tables 1 and 2."""
    shared = {"n_estimators": n_rounds, "max_leaf_nodes": LEAVES, "random_state": 0, "n_jobs": 1}
    rival = partial(CostBoostClassifier, max_depth=None, calibration=None, **shared)
    ours = partial(PNormBoostClassifier, **shared)
    models = (ours(method="adaboost.m2"), rival("adacost"), rival("csb2"))
    return {
        **dict(zip(RIVALS, models, strict=True)),
        **{f"p = {p}": ours(p) for p in (1, 2, 3, 4, 5)},
        CONSTANT: Cheapest(),
    }


@dataclass(frozen=True)
class Trial:
    """How every set is tried; `leaf` is the least number of rows in a leaf of any method."""

    n_rounds: int
    splits: int
    most_rows: int
    leaf: int | str = "auto"


class Results:
    """A file of lines, one for each set, split and method, made by today's code or not."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.code = path, own_hash(NOT_MODELS - {"pnorm_classifier"})
        lines = path.read_text().splitlines() if path.exists() else []
        self.known = {tuple(line[:-1]): line[-1] for line in map(json.loads, lines)}

    def key(self, label: str, number: int, name: str, trial: Trial) -> Any:
        setting = (trial.n_rounds, trial.most_rows, trial.leaf)
        return label, number, name, *setting, self.code

    def add(self, key: Any, cost: float) -> None:
        self.known[key] = cost
        with self.path.open("a") as file:
            file.write(json.dumps([*key, cost]) + "\n")


def measure(
    sets: dict[str, Callable[[], Set]], models: dict[str, Any], trial: Trial, results: Results
) -> dict[str, Floats]:
    """Return what each method costs, (splits, methods), for every set; say how far we are."""
    found, start = {}, time.perf_counter()
    for at, (label, load) in enumerate(sets.items()):
        table = load()
        paid = [one_split(label, table, i, models, trial, results) for i in range(trial.splits)]
        found[label] = np.array(paid)
        minutes = (time.perf_counter() - start) / 60
        print(f"  {label} done, {at + 1} of {len(sets)} sets, {minutes:.1f} minutes", flush=True)
    return found


def one_split(
    label: str, table: Set, number: int, models: dict[str, Any], trial: Trial, results: Results
) -> list[float]:
    """Return the mean cost of each method on a third of the rows, trained on the others."""
    X, y = table
    keys = {name: results.key(label, number, name, trial) for name in models}
    missing = {name: model for name, model in models.items() if keys[name] not in results.known}
    if missing:
        train, test, priced = _deal(y, number, trial.most_rows)
        least = leaf_rows(trial.leaf, np.unique(y[train], return_counts=True)[1])
        for name, model in missing.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # AdaCost without a step says so
                model.set_params(min_samples_leaf=least)
                model.fit(cut(X, train), y[train], costs=priced)
            decided = model.predict(cut(X, test))
            results.add(keys[name], float(np.mean(priced.of_decisions(y[test], decided))))
    return [results.known[key] for key in keys.values()]


def _deal(y: Any, number: int, most_rows: int) -> tuple[Any, Any, Costs]:
    """Return the rows to train and to test on, and the costs, of one split."""
    rng = np.random.default_rng(number)
    classes, counts = np.unique(y, return_counts=True)
    rows = np.flatnonzero(np.isin(y, classes[counts >= 3]))
    if len(rows) > most_rows:
        rows, _ = train_test_split(
            rows, train_size=most_rows, stratify=y[rows], random_state=number
        )
        classes, counts = np.unique(y[rows], return_counts=True)
        rows = rows[np.isin(y[rows], classes[counts >= 3])]
    priced = class_frequency_costs(y[rows], rng)
    train, test = train_test_split(rows, test_size=1 / 3, stratify=y[rows], random_state=number)
    return train, test, priced


# --- what is printed


def show(found: dict[str, Floats], names: list[str], report: Report) -> None:
    """Print costs by set with their standard errors, means, and who costs less than whom."""
    means = np.array([paid.mean(axis=0) for paid in found.values()])
    print(f"\n{'':<15}" + "".join(f"{name:>16}" for name in names))
    for (label, paid), mean in zip(found.items(), means, strict=True):
        error = paid.std(axis=0, ddof=1) / np.sqrt(len(paid)) if len(paid) > 1 else 0 * mean
        cells = (f"{m:.1f} ({e:.1f})" for m, e in zip(mean, error, strict=True))
        print(f"{label:<15}" + "".join(f"{cell:>16}" for cell in cells))
    learnt = [i for i, name in enumerate(names) if name != CONSTANT]
    dear = int(np.argmax(means[:, learnt].mean(axis=1)))
    others = np.delete(means, dear, axis=0)
    ranks = 1 + means[:, learnt].argsort(axis=1).argsort(axis=1).mean(axis=0)
    _line("mean", means.mean(axis=0), 1)
    _line(f"less {list(found)[dear]}", others.mean(axis=0), 1)
    _line("mean ratio", _ratios(means), 3)
    _line("mean rank", ranks, 2)
    print("(standard errors over splits; ratio: geometric mean of cost + 1 over AdaBoost.M2's)")
    duels(found, names, report)


def _line(title: str, values: Any, digits: int) -> None:
    print(f"{title:<15}" + "".join(f"{value:>16.{digits}f}" for value in values))


def _ratios(means: Floats) -> Floats:
    """Return the geometric mean over sets of the cost over the first method's."""
    return np.asarray(np.exp(np.mean(np.log((means + 1) / (means[:, :1] + 1)), axis=0)))


def duels(found: dict[str, Floats], names: list[str], report: Report) -> None:
    """Judge every p >= 2 against every rival by the mean over sets, as the paper's claim reads.

    Intervals are over the splits of each set, which all methods share.
    """
    paid = np.concatenate(list(found.values()))
    codes = np.repeat(np.arange(len(found)), [len(rows) for rows in found.values()])
    heads = ("mean", "difference", "95% interval", "ratio", "sets won", "less than 1")
    print(f"\n{'':<26}" + "".join(f"{head:>16}" for head in heads))
    for ours in (name for name in names if name.startswith("p = ") and name != "p = 1"):
        for rival in RIVALS:
            pair = paid[:, [names.index(ours), names.index(rival)]]
            gap = bootstrap_interval(
                _gap, pair, codes, n_resamples=2000, stratify=codes, random_state=0
            )
            means = _set_means(pair, codes)
            ratio = float(means[:, 0].mean() / means[:, 1].mean())
            geometric = float(_ratios(means[:, ::-1])[1])
            won = f"{int(np.sum(means[:, 0] < means[:, 1]))} of {len(means)}"
            verdict = judge(ratio, 1.0)
            report.verdicts.append(verdict)
            report.extra.setdefault("duels", {})[f"{ours}, {rival}"] = [ratio, geometric]
            interval = f"{float(gap.low):.0f} to {float(gap.high):.0f}"
            cells = (f"{ratio:.3f}", f"{gap.estimate:.1f}", interval, f"{geometric:.3f}", won)
            text = "".join(f"{cell:>16}" for cell in (*cells, verdict))
            print(f"{f'{ours} over {rival}':<26}{text}", flush=True)


def _set_means(paid: Floats, codes: Any) -> Floats:
    return np.array([paid[codes == code].mean(axis=0) for code in np.unique(codes)])


def _gap(paid: Floats, codes: Any) -> float:
    means = _set_means(paid, codes).mean(axis=0)
    return float(means[0] - means[1])
