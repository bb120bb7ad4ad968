"""What a challenge of a kept model advises, and whether that was right on later rows.

    python benchmarks/challenge.py --streams 40

A stream of card payments, a fraud known 7 days later. The old model is trained on days 40 to 69
(earlier the windows of its features reach back beyond the first payment), what is tried learns from
days 77 to 106 (as many), and days 114 to 143 judge. Days 144 to 189, which neither has seen, say
what the advice was worth. Where something changes, it does so on day 77. In two lines nothing
changes, but the old model is trained on three days, or on days 0 to 29. Prices are tried by
`reprice`, which learns nothing: days 77 to 143 judge.

Results are appended to `results/challenge.csv`: a run that was interrupted goes on when started
again.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from costboost import GradientBoostClassifier
from costboost.datasets import make_card_stream
from costboost.metrics import compare_decisions
from costboost.monitoring import Challenge, challenge, reprice

DAYS, DELAY = 190, 7
TRAINED, BEGINS, JUDGED, LATER = (40, 70), 77, 114, 144
TRIALS = {  # by change: what is tried, and on which days the old model was trained
    None: [
        ("new model", TRAINED), ("recalibrate", TRAINED), ("more rows", (67, 70)),
        ("first days", (0, 30)),
    ],
    "prevalence": [("new model", TRAINED), ("recalibrate", TRAINED)],
    "column": [("new model", TRAINED), ("recalibrate", TRAINED)],
    "adapt": [("new model", TRAINED), ("recalibrate", TRAINED)],
    "prices": [("reprice", TRAINED)],
}  # fmt: skip


class Line(NamedTuple):
    """A stream, the advice, and what following it would have saved on later rows."""

    change: str
    tried: str
    seed: int
    customers: int
    advice: str
    by_more_rows: bool
    saved: float
    later: float


def run(change: str | None, seed: int, customers: int) -> Iterator[Line]:
    """Challenge the old models of a stream."""
    stream = make_card_stream(
        customers, 2 * customers, DAYS, change=change,
        change_day=None if change is None else BEGINS, label_delay=DELAY, as_frame="numpy",
        random_state=seed,
    )  # fmt: skip
    for tried, (first, end) in TRIALS[change]:
        past = (stream.day >= first) & (stream.day < end)
        old = GradientBoostClassifier(n_estimators=50, random_state=0)
        old.fit(stream.X[past], stream.y[past])
        found = _tried(tried, old, stream, int(past.sum()))
        rows = np.flatnonzero(stream.day >= LATER)
        later = compare_decisions(
            _decided(old, stream, rows, repriced=tried == "reprice"), found.model, stream.X[rows],
            stream.y[rows], costs=stream.costs[rows], n_largest=0,
        ).total.realised  # fmt: skip
        assert later is not None
        yield Line(
            change or "nothing", tried, seed, customers, found.advice, found.pays_by_more_rows,
            found.saved.total, later.total,
        )  # fmt: skip


def _tried(tried: str, old: Any, stream: Any, n_old: int) -> Challenge:
    rows = np.flatnonzero((stream.day >= BEGINS) & (stream.day < LATER))
    X, y, costs = stream.X[rows], stream.y[rows], stream.costs[rows]
    if tried == "reprice":
        return reprice(old, X, y, costs=costs, old_costs=_old_prices(stream, rows))
    return challenge(
        old, X, y, time=stream.day[rows], costs=costs, label_delay=DELAY, n_old=n_old,
        recalibrate=tried == "recalibrate", holdout=float(np.mean(stream.day[rows] >= JUDGED)),
    )  # fmt: skip


def _old_prices(stream: Any, rows: Any) -> Any:
    """Return the prices before the change, when a fee was 5."""
    return {"fp": 5.0, "tp": 5.0, "fn": stream.amount[rows], "positive": 1}


def _decided(old: Any, stream: Any, rows: Any, *, repriced: bool) -> Any:
    return old.predict(stream.X[rows], costs=_old_prices(stream, rows)) if repriced else old


def read(path: Path) -> list[Line]:
    """Return the results."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [
            Line(a, b, int(c), int(d), e, f == "True", float(g), float(h))
            for a, b, c, d, e, f, g, h in csv.reader(file)
        ]


def fill(path: Path, seeds: Iterable[int], customers: int) -> None:
    """Append the results that are not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    done = {(line.change, line.seed, line.customers) for line in read(path)}
    for seed in seeds:
        for change in TRIALS:
            if (change or "nothing", seed, customers) not in done:
                lines = list(run(change, seed, customers))
                with path.open("a", newline="") as file:
                    csv.writer(file).writerows(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=40)
    parser.add_argument("--first-seed", type=int, default=5000)
    parser.add_argument("--customers", type=int, default=500)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    given = parser.parse_args()
    seeds = range(given.first_seed, given.first_seed + given.streams)
    fill(given.out / "challenge.csv", seeds, given.customers)
    lines = [
        line
        for line in read(given.out / "challenge.csv")
        if line.seed in seeds and line.customers == given.customers
    ]
    print("change      tried        streams  replace  right later  by more rows  wait  keep  right")
    for change, trials in TRIALS.items():
        for tried, _ in trials:
            own = [line for line in lines if line[:2] == (change or "nothing", tried)]
            taken = [line for line in own if line.advice == "replace"]
            kept = [line for line in own if line.advice == "keep"]
            print(
                f"{change or 'nothing':11} {tried:12} {len(own):7} {len(taken):8} "
                f"{sum(line.later > 0 for line in taken):12} "
                f"{sum(line.by_more_rows for line in taken):13} "
                f"{len(own) - len(taken) - len(kept):5} {len(kept):5} "
                f"{sum(line.later <= 0 for line in kept):6}"
            )


if __name__ == "__main__":
    main()
