"""Time of the rounds of every named method, against the bare engine and scikit-learn.

    python benchmarks/family.py [--quick] [--rows N] [--repeats N] [--json FILE]

A round of the bare engine is a tree, its votes and the new weights of plain AdaBoost, and nothing
else. Binning and calibration are outside: the clock is read when a round is done. A method does the
same work in every repetition, so the shortest time of each round is taken, then their mean. The
first round, in which AdaCost settles its scale, is left out. Where a method ends early, so many
rounds of the engine are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from _common import BINS, THREADS, Line, Ours, Report, make_table, now, start, time_rounds
from costboost import CostBoostClassifier, Costs
from costboost.boosting.adaboost.rules import RULES
from costboost.costs import as_costs
from costboost.estimators.adaboost.family import ADABOOST
from costboost.fitting.train import Trainer

ENGINE = "engine"
CLASSES = np.array([0, 1])


class Method:
    """A named method on a table that is binned once; training it again yields its clock."""

    def __init__(self, name: str, leaves: int, rounds: int, X: Any, y: Any, costs: Costs) -> None:
        model = CostBoostClassifier(
            name, rounds, max_leaf_nodes=leaves, max_bins=BINS, calibration=None, n_jobs=THREADS
        )
        bound = as_costs(costs, CLASSES, len(y))
        plan = ADABOOST.settle(model, X, y, bound, 2)
        self.slow = plan.rule.step == "search" or costs.per_row
        self.stamps: list[Any] = []
        self.trainer = Trainer(ADABOOST, plan, X, y, None, bound, observer=self._stamp)
        self.trainer.bin_table()

    def _stamp(self, done: Any, fitted: Any) -> bool:
        self.stamps.append(now())
        return False

    def times(self) -> Any:
        """Train; return the time of each round but the first."""
        self.stamps.clear()
        self.trainer.train()
        self.trainer.histories.clear()
        return np.diff(self.stamps, axis=0)


def engine_times(ours: Ours, leaves: int, rounds: int) -> Any:
    loop = ours.adaboost(leaves)
    stamps = [now() for _, _ in zip(range(rounds), loop, strict=False)]
    loop.close()
    return np.diff(stamps, axis=0)


def mean_of_shortest(runs: list[Any], taken: int) -> Any:
    """Return the mean over rounds of the shortest (wall, processor) time of each."""
    if taken < 2:
        return np.full(2, np.nan)
    return np.min(runs, axis=0)[: taken - 1].mean(axis=0)


def family(report: Report, leaves: int, X: Any, y: Any, rounds: int, repeats: int) -> None:
    # Mild costs: what a round costs does not depend on them, how many can be taken does.
    amounts = np.random.default_rng(1).uniform(1.0, 1.5, len(y))
    priced = {"": Costs(fp=1, fn=1.2), ", by row": Costs(fp=1, fn=amounts)}
    ours = Ours(X, y)
    shape = "stumps" if leaves == 2 else f"{leaves} leaves"
    report.head(f"One round, {shape}, {len(y):,} x {X.shape[1]}", (Ours.name, ENGINE))
    for kind, costs in priced.items():
        for name, rule in RULES.items():
            if kind and not (rule.trains_on_costs or rule.decision == "cheapest"):
                continue
            method = Method(name, leaves, rounds, X, y, costs)
            calls: dict[str, Callable[[], Any]] = {
                Ours.name: method.times,
                ENGINE: partial(engine_times, ours, leaves, rounds),
            }
            runs: dict[str, list[Any]] = {who: [] for who in calls}
            for _ in range(repeats):
                for who, call in calls.items():
                    runs[who].append(call())
            taken = len(method.stamps)
            times = {who: mean_of_shortest(found, taken) for who, found in runs.items()}
            note = "" if taken == rounds else f"ended after {taken} rounds"
            target = 1.5 if method.slow else 1.15
            report.add(Line(name + kind, times, ENGINE, target, note))


def outside_learner(report: Report, n_rows: int, repeats: int) -> None:
    X, y = make_table(n_rows, 20)
    stump = DecisionTreeClassifier(max_depth=1)
    models = {
        Ours.name: partial(CostBoostClassifier, "adaboost", estimator=stump),
        "scikit-learn": partial(AdaBoostClassifier, stump),
    }
    trains = {
        name: (lambda n, model=model: model(n_estimators=n).fit(X, y))
        for name, model in models.items()
    }
    report.head(f"One round, estimator={stump}, {n_rows:,} x 20", tuple(models))
    times = time_rounds(trains, 20, repeats)
    report.add(Line("adaboost", times, "scikit-learn", 1.1))


def main() -> None:
    options = start(__doc__)
    report = Report()
    X, y = make_table(options.rows)
    for leaves in (2, 8):
        family(report, leaves, X, y, 15, options.repeats)
    outside_learner(report, 20_000, options.repeats)
    report.close(options.json)


if __name__ == "__main__":
    main()
