"""Rows as exact as a page of at most two megabytes can keep them.

A level is how finely probabilities and prices are kept:

    level  probabilities                       prices of single rows
    0      as they are                         as they are
    1      2**-32 (two classes) or 2**-24      nine digits
    2      2**-24 or 2**-16                    hundredths
    3      2**-16 or 2**-12                    hundredths

The first level at which the page is small enough is taken; where none is, and beyond 200,000 rows,
rows are drawn at random. The page says which. Probabilities of several classes are rounded so that
they still add up to 1.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from costboost.report.packing import pack_rows
from costboost.report.rows import PageRows

__all__ = ["BUDGET", "fit_budget", "rounded", "rounded_like"]

Floats = NDArray[np.float64]

MOST_ROWS = 200_000  # so that a move stays quick
BUDGET = 1_700_000  # characters of packed rows: two megabytes, less what else is on the page
_BITS = {1: (32, 24), 2: (24, 16), 3: (16, 12)}


def fit_budget(rows: PageRows, random_state: int, budget: int = BUDGET, level: int = 0) -> PageRows:
    """Return the rows, sorted, at the first level that fits; else a random part of them."""
    draws = np.random.RandomState(random_state).permutation(len(rows))
    if len(rows) > MOST_ROWS:
        return fit_budget(rows.take(np.sort(draws[:MOST_ROWS])), random_state, budget, level)
    for at in range(level, 4):
        made = rounded(rows, at).sorted()
        size = len(pack_rows(made)[0])
        if size <= budget:
            return made
    kept = draws[: max(1, int(0.97 * len(rows) * budget / size))]
    return fit_budget(rows.take(np.sort(kept)), random_state, budget, level=2)


def rounded(rows: PageRows, level: int) -> PageRows:
    """Return the rows at a level."""
    if level == 0:
        return replace(rows, proba=_two_columns(rows), rounding="exact")
    bits = _BITS[level][0 if rows.proba.shape[1] == 2 else 1]
    columns = tuple(_round_prices(column, level) for column in rows.prices.columns)
    prices = "nine digits" if level == 1 else "hundredths"
    words = f"probabilities to multiples of 2**-{bits}" + (
        f", prices of single rows to {prices}" if columns else ""
    )
    return replace(
        rows,
        proba=_on_grid(_two_columns(rows), bits),
        prices=replace(rows.prices, columns=columns),
        rounding=words,
    )


def rounded_like(rows: PageRows, kept: PageRows) -> PageRows:
    """Return rows at the level at which a page keeps others."""
    made = (rounded(rows, level) for level in range(4))
    return next(some for some in made if some.rounding == kept.rounding)


def _two_columns(rows: PageRows) -> Floats:
    """Return the probabilities; of two classes, one is 1 less the other, exactly."""
    if rows.proba.shape[1] != 2:
        return rows.proba
    positive = 1 if rows.positive is None else rows.positive
    p = np.clip(rows.proba[:, positive], 0.0, 1.0)
    return np.column_stack([1.0 - p, p] if positive == 1 else [p, 1.0 - p])


def _on_grid(proba: Floats, bits: int) -> Floats:
    """Round each row to multiples of 2**-bits that add up to 1: the largest remainders go up."""
    scaled = np.ldexp(proba, bits)
    whole = np.floor(scaled)
    short = (2.0**bits - whole.sum(axis=1)).astype(np.int64)
    rank = np.argsort(np.argsort(whole - scaled, axis=1, kind="stable"), axis=1, kind="stable")
    up = rank < np.clip(short, 0, proba.shape[1])[:, None]
    made = whole + up
    made[np.arange(len(made)), np.argmax(made, axis=1)] += 2.0**bits - made.sum(axis=1)
    return np.asarray(np.ldexp(made, -bits))


def _round_prices(column: Floats, level: int) -> Floats:
    largest = float(np.max(np.abs(column)))
    digits = 2
    if level == 1 and largest > 0:
        digits = 8 - math.floor(math.log10(largest))
    return np.asarray(np.round(column, min(max(digits, -300), 300)))
