"""Binning a table that lies in parts, wherever they are: the binner of all its rows at once.

`fit_partitioned_binner` sends messages (`binning_messages`) and never sees rows. A column of few
distinct values needs one trip; of another one it first sees probes, then their ranks among all
rows, and then the values around its cuts until every cut is known exactly. Columns are asked about
in groups, so that parts that read files read each column once, and hold a few at a time.

Nothing depends on how many parts there are or which rows they hold: the result is that of
`binner.fit_binner`, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import Binner, categorical_mask, check_max_bins, make_binner
from costboost.binning.binning_messages import (
    MANY,
    Description,
    Glimpse,
    KeyTotals,
    count_keys,
    describe_part,
    forget_columns,
    glance_at_columns,
    kinds_held,
    rank_probes,
    sum_part_levels,
    values_between,
)
from costboost.binning.column_bins import ColumnBins, cut_ordered, halfway, keep_categories
from costboost.binning.table_reading import FeatureTable, check_not_empty
from costboost.binning.target_codes import MANY_LEVELS, code_levels, rows_in_unit
from costboost.inputs.arrays import check_some_weight
from costboost.typing import Codes, Floats, Int64

__all__ = [
    "Known",
    "PartTargets",
    "Send",
    "Walk",
    "fit_partitioned_binner",
    "fit_partitioned_target_binner",
    "walk",
]

Send = Callable[[Sequence[Any]], list[Any]]
"""One trip to all parts: messages in, their reduced answers out."""

_FEW = 1 << 16
_HELD_BYTES = 1 << 30


def fit_partitioned_binner(
    send: Send,
    *,
    max_bins: int = 255,
    categorical_features: Any = "from_dtype",
    few: int = _FEW,
    held_bytes: int = _HELD_BYTES,
    on_column: Callable[[int, int], None] | None = None,
) -> Binner:
    """Learn how to bin the columns of a table in parts.

    Parameters
    ----------
    send : callable
        Sends messages to every part and returns their reduced answers. A part has a `raw` with the
        table `X` and the `weights` of its rows (or None).
    max_bins, categorical_features : as in `binner.fit_binner`
    few : int, default=65536
        A column with at most so many distinct values is known after one trip.
    held_bytes : int, default=2 ** 30
        The bytes of sorted columns that all parts together hold between trips. Where one column
        needs more, parts read and sort it for every trip. The result does not depend on it.
    on_column : callable, optional
        Told how many columns are done, and of how many.

    Returns
    -------
    Binner
        Equal to that of `fit_binner` on all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> parts = [np.array([[1.0], [4.0]]), np.array([[2.0], [np.nan]])]
    >>> parts = [SimpleNamespace(raw=SimpleNamespace(X=X, weights=None)) for X in parts]
    >>> def send(messages):
    ...     return [m.reduce([m.answer(part) for part in parts]) for m in messages]
    >>> fit_partitioned_binner(send).edges[0].tolist()
    [1.5, 3.0]
    """
    return fit_partitioned_target_binner(
        send,
        None,
        max_bins=max_bins,
        categorical_features=categorical_features,
        few=few,
        held_bytes=held_bytes,
        on_column=on_column,
    )[0]


class PartTargets(NamedTuple):
    """What target statistics of a table in parts need beside the class numbers of the parts.

    Attributes
    ----------
    n_classes : int
    n_rows : int
        Of positive weight.
    buckets : list of uint8 arrays, one per part
        The bucket of every row.
    edges : float64 array or None
        Where numbers to predict are cut.
    """

    n_classes: int
    n_rows: int
    buckets: list[NDArray[np.uint8]]
    edges: Floats | None = None


def fit_partitioned_target_binner(
    send: Send,
    target: Callable[[], PartTargets] | None,
    *,
    max_bins: int = 255,
    categorical_features: Any = "from_dtype",
    few: int = _FEW,
    held_bytes: int = _HELD_BYTES,
    on_column: Callable[[int, int], None] | None = None,
) -> tuple[Binner, dict[int, Codes]]:
    """Learn how to bin the columns of a table in parts; those of many levels by their target.

    Parameters
    ----------
    send, max_bins, categorical_features, few, held_bytes, on_column
        As in `fit_partitioned_binner`.
    target : callable or None
        Called if there is a column of many levels. None: no column is coded by its target.

    Returns
    -------
    binner : Binner
        Equal to that of `binner.fit_target_binner` on all rows.
    own : dict of int to uint8 array of shape (L, BUCKETS)
        Of the columns that are coded by their target, the codes of training rows by level and
        bucket.
    """
    max_bins = check_max_bins(max_bins)
    by_type = isinstance(categorical_features, str)
    (described,) = send([describe_part(by_type=by_type)])
    heading = _heading(described)
    if by_type:
        heading.flags = _categorical_by_type(send, described, heading)
    mask = categorical_mask(categorical_features, heading)
    binning = _PartitionedBinning(
        send, described, mask, max_bins, max(few, max_bins), held_bytes, on_column, target
    )
    return binning.binner(heading), binning.own


# What the table is.


class _Heading(FeatureTable):
    """The columns of a table without its rows, for those who read names and types."""

    def __init__(self, n_rows: int, n_columns: int, names: tuple[str, ...] | None) -> None:
        self.n_rows, self.n_columns, self.names = n_rows, n_columns, names
        self.flags = np.zeros(n_columns, dtype=np.bool_)

    def numbers(self, j: int, start: int, stop: int) -> NDArray[Any]:
        """There are no rows."""
        raise TypeError("A heading has no rows.")

    def is_categorical(self, j: int) -> bool:
        """Whether column j holds categories."""
        return bool(self.flags[j])


def _heading(described: Description) -> _Heading:
    if len(described.headings) > 1:
        first, second, *_ = sorted(described.headings, key=repr)
        raise ValueError(
            "The parts of the table do not have the same columns: one has "
            f"{_columns(*first)}, another {_columns(*second)}. Give all parts the same columns, in "
            "the same order."
        )
    ((n_columns, names),) = described.headings
    heading = _Heading(described.n_rows, n_columns, names)
    check_not_empty(heading)
    if len(described.weighted) > 1:
        raise ValueError(
            "Some parts of the table have sample_weight and others have none: give weights to all "
            "rows, or to none."
        )
    if described.grid is not None:
        check_some_weight(described.grid.largest)
    return heading


def _columns(n_columns: int, names: tuple[str, ...] | None) -> str:
    return f"{n_columns} without names" if names is None else f"{list(names)}"


def _categorical_by_type(
    send: Send, described: Description, heading: _Heading
) -> NDArray[np.bool_]:
    """Return which columns hold categories, by type: parts where all is missing have no say."""
    flags = described.categorical & ~described.plain
    unlike = np.flatnonzero(described.categorical & described.plain)
    if len(unlike) == 0:
        return flags
    ((categories, numbers),) = send([kinds_held(columns=tuple(unlike.tolist()))])
    for j, has_categories, has_numbers in zip(unlike.tolist(), categories, numbers, strict=True):
        if has_categories and has_numbers:
            raise heading.refuse(
                j,
                "categories in some parts of the table and numbers in others",
                "convert it to one kind, or list it in categorical_features",
            )
        flags[j] = has_categories or not has_numbers
    return flags


# One column after the other.


class _PartitionedBinning:
    """The questions about the columns of one table."""

    def __init__(
        self,
        send: Send,
        described: Description,
        is_categorical: NDArray[np.bool_],
        max_bins: int,
        few: int,
        held_bytes: int,
        on_column: Callable[[int, int], None] | None,
        target: Callable[[], PartTargets] | None,
    ) -> None:
        self._target = target
        self._part_targets: PartTargets | None = None
        self.own: dict[int, Codes] = {}
        self.send, self.is_categorical, self.max_bins, self.few = (
            send,
            is_categorical,
            max_bins,
            few,
        )
        self.grid = described.grid
        self.on_column = on_column
        n_probes = min(max(described.n_rows >> 12, few >> 2), 1 << 18)
        self.n_probes = max(8, -(-2 * n_probes // described.n_parts))
        column_bytes = described.n_rows * (described.itemsize + (0 if self.grid is None else 8))
        self.keep = column_bytes <= held_bytes
        self.width = max(1, held_bytes // column_bytes)

    def binner(self, heading: FeatureTable) -> Binner:
        """Query all columns, a group at a time, and return the binner."""
        bins: dict[int, ColumnBins] = {}
        for group in self._groups():
            bins.update(self._cut(group))
            if self.on_column is not None:
                self.on_column(len(bins), len(self.is_categorical))
        ordered = [bins[j] for j in range(len(self.is_categorical))]
        return make_binner(heading, ordered, self.max_bins, weighted=self.grid is not None)

    def _groups(self) -> Iterable[list[int]]:
        numeric = np.flatnonzero(~self.is_categorical).tolist()
        yield from (numeric[i : i + self.width] for i in range(0, len(numeric), self.width))
        yield from ([j] for j in np.flatnonzero(self.is_categorical).tolist())

    def _cut(self, group: list[int]) -> dict[int, ColumnBins]:
        if self.is_categorical[group[0]]:
            return {group[0]: self._keep_categories(group[0])}
        try:
            return self._cut_numbers(group)
        finally:
            self.send([forget_columns()])

    # Numbers.

    def _cut_numbers(self, columns: list[int]) -> dict[int, ColumnBins]:
        glance = glance_at_columns(
            columns=tuple(columns),
            grid=self.grid,
            keep=self.keep,
            few=self.few,
            n_probes=self.n_probes,
        )
        (found,) = self.send([glance])
        seen: dict[int, Glimpse] = dict(zip(columns, found, strict=True))
        edges = {j: self._cut_few(part) for j, part in seen.items() if part.complete}
        edges |= self._narrow({j: part.values for j, part in seen.items() if not part.complete})
        return {j: ColumnBins(edges[j], None, seen[j].missing) for j in columns}

    def _cut_few(self, found: Glimpse) -> Floats:
        sums = np.append(0, np.cumsum(found.weights))
        return cut_ordered(found.values, sums, self.max_bins)

    def _narrow(self, probes: dict[int, Floats]) -> dict[int, Floats]:
        """Cut columns of many values: ranks of probes first, then what lies around the cuts."""
        edges: dict[int, Floats] = {}
        known = self._ranked(probes) if probes else {}
        while known:
            wanted = {}
            for j, column in list(known.items()):
                walked = walk(column, self.max_bins)
                wanted[j] = walked.wanted
                if not walked.wanted:
                    edges[j] = halfway(walked.lower, walked.upper)
                    del known[j]
            if known:
                known = self._filled(known, wanted)
        return edges

    def _ranked(self, probes: dict[int, Floats]) -> dict[int, Known]:
        (ranks,) = self.send(
            [
                rank_probes(
                    columns=tuple(probes),
                    grid=self.grid,
                    keep=self.keep,
                    probes=tuple(probes.values()),
                )
            ]
        )
        probed = zip(probes.items(), ranks, strict=True)
        return {j: Known(values, below, upto) for (j, values), (below, upto) in probed}

    def _filled(self, known: dict[int, Known], wanted: dict[int, list[int]]) -> dict[int, Known]:
        gaps = [column.gaps(wanted[j]) for j, column in known.items()]
        above, below = zip(*gaps, strict=True)
        (found,) = self.send(
            [
                values_between(
                    columns=tuple(known), grid=self.grid, keep=self.keep, above=above, below=below
                )
            ]
        )
        filled = zip(known.items(), found, strict=True)
        return {j: column.filled(*values) for (j, column), values in filled}

    # Categories.

    def _keep_categories(self, j: int) -> ColumnBins:
        (found,) = self.send([count_keys(column=j, grid=self.grid, many=MANY)])
        slices = [found] if found.totals is not None else self._slices(j, found)
        bins = keep_categories((part.totals or {} for part in slices), found.missing, self.max_bins)
        if self._target is None or bins.n_levels <= MANY_LEVELS:
            return bins
        return self._code_levels(j, self._target)

    def _code_levels(self, j: int, target: Callable[[], PartTargets]) -> ColumnBins:
        if self._part_targets is None:
            self._part_targets = target()
        n_classes, n_rows, buckets, edges = self._part_targets
        asked = [
            sum_part_levels(column=j, grid=self.grid, n_classes=n_classes, buckets=own, edges=edges)
            for own in buckets
        ]
        (sums,) = self.send([asked])
        weighed = int(sums.sums.sum()) + sums.missing
        unit = rows_in_unit(self.grid, weighed, n_rows)
        found = code_levels(sums, unit, self.max_bins)
        self.own[j] = found.own
        return found.bins

    def _slices(self, j: int, found: KeyTotals) -> Iterable[KeyTotals]:
        """Fetch many categories in slices by hash: in all parts a category is in the same one."""
        n_slices = max(2, -(-found.n_keys // MANY))
        for at in range(n_slices):
            yield self.send([count_keys(column=j, grid=self.grid, n_slices=n_slices, at=at)])[0]


# Cuts of a column of which only some values are known.


class Known(NamedTuple):
    """Values of a column, increasing, the smallest and the largest of all among them.

    Attributes
    ----------
    values : float64 array of shape (m,)
    below : int64 array of shape (m,)
        The weight of the rows below each value.
    upto : int64 array of shape (m,)
        The weight of the rows below it or equal to it.
    """

    values: Floats
    below: Int64
    upto: Int64

    def gaps(self, wanted: list[int]) -> tuple[Floats, Floats]:
        """Return the values on both sides of gaps; gap i is that after value i."""
        places = np.array(wanted, dtype=np.int64)
        return self.values[places], self.values[places + 1]

    def filled(self, values: Floats, weights: Int64) -> Known:
        """Add all values of some gaps."""
        gaps = np.searchsorted(self.values, values) - 1
        sums = np.cumsum(weights)
        before = sums - weights
        first = np.searchsorted(gaps, gaps)  # the first new value in the same gap
        upto = self.upto[gaps] + sums - before[first]
        merged = np.concatenate([self.values, values])
        order = np.argsort(merged, kind="stable")
        return Known(
            merged[order],
            np.concatenate([self.below, upto - weights])[order],
            np.concatenate([self.upto, upto])[order],
        )


class Walk(NamedTuple):
    """Cuts, each between two neighbouring values; none of it counts unless nothing is wanted.

    Attributes
    ----------
    lower, upper : float64 arrays
    wanted : list of int
        The gaps that must be known first, increasing.
    """

    lower: Floats
    upper: Floats
    wanted: list[int]


def walk(known: Known, max_bins: int) -> Walk:
    """Cut a column of more than `max_bins` values as `kernels.cut_sorted` does.

    Examples
    --------
    >>> few = Known(np.array([1.0, 2.0, 3.0]), np.array([0, 1, 2]), np.array([1, 2, 3]))
    >>> walk(few, 2).lower.tolist()
    [2.0]
    >>> walk(Known(np.array([1.0, 3.0]), np.array([0, 5]), np.array([1, 6])), 2).wanted
    [0]
    """
    cuts: list[int] = []
    wanted: set[int] = set()
    total, start = int(known.upto[-1]), 0
    for bins_left in range(max_bins, 1, -1):
        if start >= total:
            break
        share = -((start - total) // bins_left)  # rounded up
        i = int(np.searchsorted(known.upto, start + share))
        first, stop = int(known.below[i]), int(known.upto[i])
        if start + share <= first:  # the share ends in the gap before value i
            wanted |= _around(known, i - 1)
            start = _guess(known, i - 1, start + share)
            continue
        own_bin = stop - first >= share and first > start
        cut = i - 1 if own_bin else i
        start = first if own_bin else stop
        if start < total:
            cuts.append(cut)
            if known.upto[cut] < known.below[cut + 1]:
                wanted.add(cut)
    places = np.array(cuts, dtype=np.int64)
    return Walk(known.values[places], known.values[places + 1], sorted(wanted))


def _runs(known: Known, i: int) -> int:
    """Return the weights of the two values around gap i."""
    return int((known.upto - known.below)[i : i + 2].sum())


def _guess(known: Known, i: int, reached: int) -> int:
    """Guess where the run of equal values ends in which a share does: half a run further on."""
    return min(reached + _runs(known, i) // 4, int(known.below[i + 1]))


def _around(known: Known, i: int) -> set[int]:
    """Return gap i, and where values repeat, so that guesses drift, those beside it too."""
    width = 1 if _runs(known, i) > 2 else 0
    near = range(max(i - width, 0), min(i + width + 1, len(known.values) - 1))
    return {g for g in near if known.upto[g] < known.below[g + 1]}
