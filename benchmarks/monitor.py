"""How soon a monitor rings after a known change, and how often without one.

    python benchmarks/monitor.py --streams 100 --first-seed 1000

Each stream has 120 days of card payments, a fraud known 7 days later. A model is trained on days 0
to 29 and decides from day 37 on; its monitor takes the first 21 of these for its reference. On day
60 something changes, or nothing does. The delay counts from that day until the day on which the
alarm rang, 7 days of waiting for labels among them, as all changes but that of prices are seen in
labels.

Streams of one seed are the same up to the change, so they share a model and the days before. Each
result is appended to `results/monitor.csv`: a run that was interrupted goes on when started again,
and streams of other settings are kept beside it.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from costboost import Costs, GradientBoostClassifier
from costboost.datasets import make_card_stream
from costboost.monitoring import Monitor

DAYS, CHANGE, DELAY = 120, 60, 7
TRAINED, REFERENCE = 30, 21
CHANGES = ("none", "prevalence", "column", "prices", "adapt")

Ring = tuple[float, str]  # on which day, and which signal; inf and "" where none rang


class Settings(NamedTuple):
    """What names a line of the results, beside the change and the seed."""

    customers: int = 3000
    tolerance: float = 0.25
    reference: int = REFERENCE


class Stream(NamedTuple):
    """What a monitor sees of a stream, and when."""

    X: Any
    y: Any
    day: Any
    fee: Any
    amount: Any

    def changed(self, change: str, names: Sequence[str]) -> Stream:
        """Return an unchanged stream with other columns or prices, as `make_card_stream` has it."""
        after = self.day >= CHANGE
        if change == "prices":
            return self._replace(fee=np.where(after, 4 * self.fee, self.fee))
        X = self.X.copy()
        for j, name in enumerate(names):
            if name.startswith("terminal_fraud_share"):
                X[after, j] *= 100
        return self._replace(X=X)

    def costs(self, rows: Any) -> Costs:
        """Return the prices of some rows."""
        fee = self.fee[rows]
        return Costs(fp=fee, fn=self.amount[rows], tp=fee, positive=1)


def streams_of(changes: Sequence[str], seed: int, customers: int) -> Iterator[Stream]:
    """Yield the stream of each change; those whose payments are the same are made once."""
    base, names = None, ()
    for change in changes:
        own = change if change in ("prevalence", "adapt") else None
        if own is None and base is not None:
            yield base if change == "none" else base.changed(change, names)
            continue
        made = make_card_stream(
            customers, 2 * customers, DAYS, change=own, change_day=CHANGE if own else None,
            label_delay=DELAY, as_frame="numpy", random_state=seed,
        )  # fmt: skip
        stream = Stream(made.X, made.y, made.day, made.fee, made.amount)
        if own is None:
            base, names = stream, made.feature_names
            stream = base if change == "none" else base.changed(change, names)
        yield stream


def first_alarms(changes: Sequence[str], seed: int, settings: Settings) -> Iterable[Ring]:
    """Yield for each change the first alarm of its stream."""
    begun = None
    for stream in streams_of(changes, seed, settings.customers):
        if begun is None:
            past = stream.day < TRAINED
            model = GradientBoostClassifier(n_estimators=50, random_state=0)
            model.fit(stream.X[past], stream.y[past])
            how = {"reference": settings.reference, "tolerance": settings.tolerance}
            begun = Monitor(model, drift_rows=0, **how)
            early = watch(begun, stream, range(TRAINED + DELAY, CHANGE))
        own = deepcopy(begun, {id(begun.model): begun.model})
        yield early or watch(own, stream, range(CHANGE, DAYS + DELAY)) or (math.inf, "")


def watch(monitor: Monitor, stream: Stream, days: Iterable[int]) -> Ring | None:
    """Watch a stream day by day until an alarm rings."""
    for today in days:
        for day in (today, today - DELAY):  # whose payments come, and whose labels are known
            rows = np.flatnonzero(stream.day == day)
            if day < TRAINED + DELAY or not len(rows):
                continue
            labels = stream.y[rows] if day < today else None
            monitor.update(stream.X[rows], labels, period=day, costs=stream.costs(rows))
        if monitor.alarms:
            return today, monitor.alarms[0].signal
    return None


def read(path: Path) -> dict[tuple[str, int, Settings], float]:
    """Return the day of each stream's first alarm."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {
            (change, int(seed), Settings(int(n), float(tolerance), int(reference))): float(day)
            for change, seed, n, tolerance, reference, day, _ in csv.reader(file)
        }


def run(path: Path, seeds: Iterable[int], settings: Settings) -> None:
    """Append the results of those streams that are not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    done = read(path)
    for seed in seeds:
        todo = [change for change in CHANGES if (change, seed, settings) not in done]
        for change, (day, signal) in zip(todo, first_alarms(todo, seed, settings), strict=True):
            with path.open("a", newline="") as file:
                csv.writer(file).writerow([change, seed, *settings, day, signal])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--customers", type=int, default=3000)
    parser.add_argument("--within", type=int, default=35, help="days after the change")
    parser.add_argument("--tolerance", type=float, default=0.25)
    parser.add_argument("--reference", type=int, default=REFERENCE)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    given = parser.parse_args()
    settings = Settings(given.customers, given.tolerance, given.reference)
    seeds = range(given.first_seed, given.first_seed + given.streams)
    run(given.out / "monitor.csv", seeds, settings)
    found = read(given.out / "monitor.csv")
    print(f"{'change':12} streams  before it  within {given.within} days  median delay")
    for change in CHANGES:
        days = np.array([found[change, seed, settings] for seed in seeds])
        if change == "none":
            print(f"{change:12} {len(days):7} {np.isfinite(days).sum():10}")
            continue
        delays = days - CHANGE
        within = np.count_nonzero((delays >= 0) & (delays <= given.within))
        middle = np.median(delays[delays >= 0])
        print(f"{change:12} {len(days):7} {(delays < 0).sum():10} {within:15} {middle:13.0f}")


if __name__ == "__main__":
    main()
