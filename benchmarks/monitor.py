"""How soon a monitor rings after a known change, and how often without one.

    python benchmarks/monitor.py --streams 100

Each stream has 120 days of card payments, a fraud known 7 days later. A model is trained on days 0
to 29 and decides from day 37 on; its monitor takes the first 21 of these for its reference. On day
60 something changes, or nothing does. The delay counts from that day until the day on which the
alarm rang, 7 days of waiting for labels among them, as all changes but that of prices are seen in
labels.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np

from costboost import GradientBoostClassifier
from costboost.datasets import make_card_stream
from costboost.monitoring import Monitor

DAYS, CHANGE, DELAY = 120, 60, 7
TRAINED, REFERENCE = 30, 21
CHANGES = (None, "prevalence", "column", "prices", "adapt")


def first_alarm(
    change: str | None, seed: int, n_customers: int, **settings: float
) -> tuple[int, str] | None:
    """Return on which day a stream's first alarm rings, and which; None if none does."""
    day_of_change = None if change is None else CHANGE
    stream = make_card_stream(
        n_customers, 2 * n_customers, DAYS, change=change, change_day=day_of_change,
        label_delay=DELAY, as_frame="numpy", random_state=seed,
    )  # fmt: skip
    X, y, day = stream.X, stream.y, stream.day
    past = day < TRAINED
    model = GradientBoostClassifier(n_estimators=50, random_state=0).fit(X[past], y[past])
    how = {"reference": REFERENCE, **settings}
    monitor = Monitor(model, drift_rows=0, **how)
    start = TRAINED + DELAY
    for today in range(start, DAYS + DELAY):
        if today < DAYS:
            rows = np.flatnonzero(day == today)
            monitor.update(X[rows], period=today, costs=stream.costs[rows])
        if today - DELAY >= start:  # whose labels are known tonight
            rows = np.flatnonzero(day == today - DELAY)
            monitor.update(X[rows], y[rows], period=today - DELAY, costs=stream.costs[rows])
        if monitor.alarms:
            return today, monitor.alarms[0].signal
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--customers", type=int, default=3000)
    parser.add_argument("--within", type=int, default=30, help="days after the change")
    parser.add_argument("--tolerance", type=float, default=0.25)
    parser.add_argument("--reference", type=int, default=REFERENCE)
    given = parser.parse_args()
    settings = {"tolerance": given.tolerance, "reference": given.reference}
    print(f"{'change':12} streams  before it  within {given.within} days  median delay  seconds")
    for change in CHANGES:
        began = time.process_time()
        rang = [
            first_alarm(change, seed, given.customers, **settings) for seed in range(given.streams)
        ]
        spent = time.process_time() - began
        if change is None:
            false = sum(found is not None for found in rang)
            print(f"{'none':12} {len(rang):7} {false:10} {'':15} {'':13} {spent:8.0f}", flush=True)
            continue
        early = sum(found is not None and found[0] < CHANGE for found in rang)
        delays = [math.inf if found is None else found[0] - CHANGE for found in rang]
        within = sum(0 <= delay <= given.within for delay in delays)
        middle = float(np.median([delay for delay in delays if delay >= 0]))
        print(
            f"{change:12} {len(rang):7} {early:10} {within:15} {middle:13.0f} {spent:8.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
