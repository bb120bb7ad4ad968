"""How far bounds on a mean cost lie above it, and how often they fail: six kinds of bills.

    python benchmarks/guarantee.py

Bills lie between 0 and 100 euros. Printed for each kind and number of rows: the true mean, how far
above it the three 95 % bounds are on average over 400 draws, and the share of draws in which the
betting bound lay below it, which may be 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from costboost.guarantee import METHODS, mean_bound

DRAWS = 400
CAP = 100.0


def rare(rng: np.random.Generator, n: int) -> np.ndarray:
    return CAP * (rng.random(n) < 0.003)


def six_decades(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.05, CAP * 10 ** rng.uniform(-6, 0, n), 0.0)


def ties(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.choice([0.0, 5.0, 40.0], n, p=[0.9, 0.08, 0.02])


def every_row_alike(rng: np.random.Generator, n: int) -> np.ndarray:
    return 8.0 + rng.random(n)


def half_of_the_cap(rng: np.random.Generator, n: int) -> np.ndarray:
    return CAP * rng.random(n)


def nearly_the_cap(rng: np.random.Generator, n: int) -> np.ndarray:
    return CAP * (rng.random(n) < 0.97)


KINDS: dict[str, tuple[Callable[[np.random.Generator, int], np.ndarray], float]] = {
    "0.3 % of rows cost 100": (rare, 0.3),
    "5 % of rows, over six decades": (six_decades, 5 * (1 - 1e-6) / math.log(1e6)),
    "mostly 0, sometimes 5 or 40": (ties, 1.2),
    "every row between 8 and 9": (every_row_alike, 8.5),
    "anything from 0 to 100": (half_of_the_cap, 50.0),
    "97 % of rows cost 100": (nearly_the_cap, 97.0),
}


def main() -> None:
    print("| bills | rows | true mean | betting | Hoeffding-Bentkus | Hoeffding | betting fails |")
    print("|---|---|---|---|---|---|---|")
    for name, (draw, mean) in KINDS.items():
        for n in (300, 3000):
            rng = np.random.default_rng(n)
            rows = [draw(rng, n) for _ in range(DRAWS)]
            bounds = {
                method: np.array([mean_bound(row, 0, CAP, method=method) for row in rows])
                for method in METHODS
            }
            above = " | ".join(f"+{np.mean(bounds[method]) - mean:.2f}" for method in METHODS)
            failed = float(np.mean(bounds["betting"] < mean))
            print(f"| {name} | {n:,} | {mean:.2f} | {above} | {failed:.1%} |")


if __name__ == "__main__":
    main()
