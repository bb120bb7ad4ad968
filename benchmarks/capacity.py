"""Joint decisions under limits on 1,000,000 rows: CPU seconds (one thread) by limited actions.

    python benchmarks/capacity.py

There is no peer: a general linear program of this size does not fit the memory of a laptop.
"""

from __future__ import annotations

import time

import numpy as np

from costboost.decisions import allocate

ROWS = 1_000_000
CASES = {
    "one limited action": {"review": 2_000},
    "two": {"review": 2_000, "call": 5_000},
    "three": {"review": 2_000, "call": 5_000, "decline": 10_000},
    "all four, every place taken": {
        "approve": 400_000,
        "review": 200_000,
        "call": 300_000,
        "decline": 100_000,
    },
}


def expected_costs(rng: np.random.Generator, *, rounded: bool) -> np.ndarray:
    """Return what approving, reviewing, calling and declining are expected to cost."""
    p, amount = rng.beta(0.5, 5, ROWS), rng.lognormal(4, 1, ROWS)
    if rounded:  # as of a model with few leaves: many rows alike
        p, amount = np.round(p, 2), np.full(ROWS, 100.0)
    return np.column_stack([p * amount, np.full(ROWS, 5.0), 2 + 0.3 * p * amount, 20 * (1 - p)])


def seconds(table: np.ndarray, capacity: dict[str, int], groups: np.ndarray | None) -> float:
    start = time.process_time()
    allocate(table, capacity, actions=["approve", "review", "call", "decline"], groups=groups)
    return time.process_time() - start


def main() -> None:
    rng = np.random.default_rng(0)
    days = rng.integers(365, size=ROWS)
    tables = {name: expected_costs(rng, rounded=name == "ties") for name in ("plain", "ties")}
    for name, capacity in CASES.items():
        times = [min(seconds(table, capacity, None) for _ in range(3)) for table in tables.values()]
        print(f"{name:30s} {times[0]:.2f} s   with ties {times[1]:.2f} s")
    a_day = {"review": 20, "call": 50, "decline": 10}
    print(f"{'three, on each of 365 days':30s} {seconds(tables['plain'], a_day, days):.2f} s")


if __name__ == "__main__":
    main()
