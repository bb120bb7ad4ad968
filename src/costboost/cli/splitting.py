"""Which rows are held out, and folds: by time where there is one, whole groups where there are any.

By time the latest rows are held out, and a moment is never on both sides. Groups then keep folds
and intervals together, but a customer may well have rows before and after the cut, as in life.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from costboost.cli.errors import InputError
from costboost.cli.labels import shown
from costboost.cli.money import count, share
from costboost.cli.reading import ISO_DATE

__all__ = ["Split", "fold_rows", "hold_out", "time_codes"]

Indices = NDArray[np.intp]


class Split(NamedTuple):
    """Rows to learn from, rows held out, and how they were chosen."""

    train: Indices
    held: Indices
    how: str


def time_codes(column: pl.Series) -> NDArray[np.intp]:
    """Return the moments of a column as numbers in their order."""
    text = column.dtype == pl.String and bool(column.drop_nulls().str.contains(ISO_DATE).all())
    if not (text or column.dtype.is_numeric() or column.dtype.is_temporal()):
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
) -> Split:
    """Hold out a part of the rows; none if `part` is 0."""
    n = len(y)
    if part == 0:
        return Split(np.arange(n), np.arange(0), "none")
    if time is not None:
        split = _latest(time, part)
    elif groups is not None:
        split = _whole_groups(y, part, seed, groups)
    else:
        held = np.sort(_drawn(y, part, seed))
        split = Split(np.setdiff1d(np.arange(n), held), held, "drawn at random, by class")
    _check_classes(y, split)
    return split


def _latest(time: pl.Series, part: float) -> Split:
    codes = time_codes(time)
    n = len(codes)
    cut = int(np.sort(codes)[min(n - 1, n - round(part * n))])
    if cut == 0:
        raise InputError(
            f"--time {time.name!r} does not split the rows: {share(float(np.mean(codes == 0)))} "
            "of them are at its first moment. Leave --time out, or give a finer one."
        )
    first = time.gather(int(np.flatnonzero(codes == cut)[0]))[0]
    how = f"the latest, {time.name} >= {first}"
    return Split(np.flatnonzero(codes < cut), np.flatnonzero(codes >= cut), how)


def _whole_groups(y: NDArray[Any], part: float, seed: int, groups: NDArray[np.intp]) -> Split:
    n_splits = max(2, round(1 / part))
    n_groups = len(np.unique(groups))
    if n_groups < n_splits:
        raise InputError(
            f"--groups has {count(n_groups, 'group')}, too few to hold out {share(part)} of them: "
            "leave it out, or hold out more with --holdout."
        )
    folds = StratifiedGroupKFold(n_splits, shuffle=True, random_state=seed)
    train, held = next(iter(folds.split(y, y, groups)))
    return Split(train, held, f"{count(len(np.unique(groups[held])), 'whole group')}")


def _drawn(y: NDArray[Any], part: float, seed: int) -> Indices:
    rng = np.random.RandomState(seed)
    drawn = []
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        drawn.append(rng.permutation(rows)[: max(1, round(part * len(rows)))])
    return np.concatenate(drawn)


def _check_classes(y: NDArray[Any], split: Split) -> None:
    classes = set(np.unique(y).tolist())
    for rows, where in ((split.train, "to learn from"), (split.held, "held out")):
        lacking = classes - set(np.unique(y[rows]).tolist())
        if lacking:
            raise InputError(
                f"No row {where} is {shown(sorted(lacking, key=str)[0])} ({split.how}): more rows "
                "are needed, or another --holdout."
            )


def fold_rows(
    y: NDArray[Any],
    n_folds: int,
    seed: int,
    *,
    time: pl.Series | None = None,
    groups: NDArray[np.intp] | None = None,
) -> Iterator[tuple[Indices, Indices]]:
    """Yield rows to learn from and rows to judge by; by time, only later rows judge."""
    if time is not None:
        yield from _forward(y, n_folds, time)
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


def _forward(y: NDArray[Any], n_folds: int, time: pl.Series) -> Iterator[tuple[Indices, Indices]]:
    codes = time_codes(time)
    blocks = np.array_split(np.sort(codes), n_folds + 1)
    cuts = np.unique([block[0] for block in blocks[1:]])
    for start, stop in zip(cuts, [*cuts[1:], codes.max() + 1], strict=True):
        split = Split(
            np.flatnonzero(codes < start),
            np.flatnonzero((codes >= start) & (codes < stop)),
            f"a fold by {time.name}",
        )
        if len(split.train):
            _check_classes(y, split)
            yield split.train, split.held
