"""Binning: a table becomes one byte per cell; `codes` draws what the bytes mean.

`fit_binner` reads a table and puts its weights on a grid (`table_reading`), and cuts its columns
(`column_bins`); the `Binner` that results encodes tables with those columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.binning.codes import MISSING, Key
from costboost.binning.column_bins import (
    ColumnBins,
    Encoder,
    LeftOut,
    check_kinds,
    cut_table,
    encode_table,
    make_encoder,
    make_target,
)
from costboost.binning.table_reading import (
    FeatureTable,
    check_features,
    check_not_empty,
    grid_of,
    read_table,
    weigh_rows,
)
from costboost.binning.target_codes import (
    MANY_LEVELS,
    TargetRows,
    code_levels,
    codes_of_rows,
    rows_in_unit,
    sum_levels,
)
from costboost.inputs.arrays import read_weights
from costboost.inputs.checks import warn_once_a_fit
from costboost.runtime.machine import warn_if_interpreted
from costboost.typing import Codes, Floats, Int64

__all__ = [
    "check_binner",
    "MISSING",
    "Binner",
    "check_max_bins",
    "fit_binner",
    "fit_target_binner",
    "make_binner",
    "restore_fields",
]


# Validation: encoding indexes edges and categories without checks.

_MOST = 255  # codes of values; the last byte is the missing value


def check_binner(
    max_bins: Any,
    edges: Any,
    categories: Any,
    has_missing: Any,
    feature_names: Any = None,
    level_codes: Any = None,
) -> None:
    """Raise unless the parts of a binner fit each other.

    Parameters
    ----------
    max_bins, edges, categories, has_missing, feature_names, level_codes
        As the attributes of `binner.Binner`.

    Raises
    ------
    ValueError
        If edges do not rise, a column has too many codes, or lengths differ.

    Examples
    --------
    >>> check_binner(255, [np.array([2.0, 1.0])], [None], np.array([False]))
    Traceback (most recent call last):
    ...
    ValueError: This is no binner: the edges of column 0 do not rise.
    """
    if isinstance(max_bins, bool) or not isinstance(max_bins, int | np.integer):
        raise _no_binner(f"max_bins is {max_bins!r}")
    if not 2 <= max_bins <= _MOST:
        raise _no_binner(f"max_bins is {max_bins}, not between 2 and {_MOST}")
    columns = {"edges": edges, "categories": categories}
    for name, part in columns.items():
        if not isinstance(part, Sequence) or isinstance(part, str) or not len(part):
            raise _no_binner(f"{name} must hold one entry for each column")
    if len(edges) != len(categories):
        raise _no_binner(f"{len(edges)} columns of edges, {len(categories)} of categories")
    _check_flags(has_missing, feature_names, len(edges))
    coded = _checked_level_codes(level_codes, len(edges))
    for j, (cuts, kept) in enumerate(zip(edges, categories, strict=True)):
        _check_edges(j, cuts, int(max_bins))
        if coded[j] is not None:
            _check_coded(j, cuts, kept, coded[j], int(max_bins))
        elif kept is not None:
            _check_categories(j, cuts, kept, int(max_bins))


def _no_binner(why: str) -> ValueError:
    return ValueError(f"This is no binner: {why}.")


def _check_flags(has_missing: Any, feature_names: Any, n_features: int) -> None:
    flags = np.asarray(has_missing)
    if flags.dtype != np.bool_ or flags.shape != (n_features,):
        raise _no_binner(f"has_missing must be {n_features} booleans")
    if feature_names is None:
        return
    named = isinstance(feature_names, Sequence) and all(isinstance(n, str) for n in feature_names)
    if not named or isinstance(feature_names, str) or len(feature_names) != n_features:
        raise _no_binner(f"feature_names must be {n_features} strings, or None")


def _check_edges(j: int, cuts: Any, max_bins: int) -> None:
    if not isinstance(cuts, np.ndarray) or cuts.dtype.kind != "f" or cuts.ndim != 1:
        raise _no_binner(f"the edges of column {j} are no array of floats")
    if len(cuts) >= max_bins:
        raise _no_binner(f"column {j} has {len(cuts)} edges, but max_bins is {max_bins}")
    if len(cuts) and not (cuts[0] == cuts[0] and np.all(cuts[1:] > cuts[:-1])):
        raise _no_binner(f"the edges of column {j} do not rise")


def _checked_level_codes(level_codes: Any, n_features: int) -> Sequence[Any]:
    if level_codes is None:
        return (None,) * n_features
    if not isinstance(level_codes, tuple) or len(level_codes) != n_features:
        raise _no_binner(f"level_codes must hold one entry for each of the {n_features} columns")
    return level_codes


def _check_coded(j: int, cuts: Any, kept: Any, codes: Any, max_bins: int) -> None:
    _check_order(j, kept)
    if not isinstance(codes, np.ndarray) or codes.dtype != np.uint8:
        raise _no_binner(f"the codes of the levels of column {j} are no bytes")
    if codes.shape != (len(kept) + 1,):
        raise _no_binner(f"column {j} has {len(kept)} levels, but codes {codes.shape}")
    most = len(cuts) if len(cuts) else max_bins - 1
    if codes.max() > most:
        raise _no_binner(f"a level of column {j} has the code {codes.max()}, more than {most}")


def _check_categories(j: int, cuts: Any, kept: Any, max_bins: int) -> None:
    _check_order(j, kept)
    if len(cuts) or len(kept) > max_bins:
        raise _no_binner(
            f"column {j} has {len(kept)} categories and {len(cuts)} edges, but max_bins is "
            f"{max_bins}"
        )


def _check_order(j: int, kept: Any) -> None:
    """Categories are numbers and then strings, each in their order: codes are their places."""
    if not isinstance(kept, tuple) or not all(isinstance(key, str | float) for key in kept):
        raise _no_binner(f"the categories of column {j} are no tuple of strings and floats")
    ranks = [(isinstance(key, str), key) for key in kept]
    if any(key != key for key in kept) or not all(a < b for a, b in pairwise(ranks)):
        raise _no_binner(f"the categories of column {j} are not in their order")


_MOST_BINS = 255


@dataclass(frozen=True, eq=False, repr=False)
class Binner:
    """How the columns of a table become codes; made by `fit_binner`, and never changed.

    Parameters
    ----------
    max_bins : int
        Codes of values are below it. A missing value, a category not seen in training and a
        category that was not kept all have the code `MISSING`, 255.
    edges : tuple of float64 arrays, one per feature
        Where numeric columns are cut, increasing; empty for categorical columns.
    categories : tuple, one entry per feature
        None for numeric columns; for categorical ones the categories kept, numbers before
        strings, each in their order. A category's code is its place.
    has_missing : bool array of shape (n_features,)
        Whether the missing code occurs in the training rows.
    feature_names : tuple of str or None
        The names of the columns, if they had any.
    level_codes : tuple, one entry per feature, or None
        None for columns whose categories are told apart. Of a column that is coded by its target
        (`target_codes`) the code of each of its categories, of which there may be any number, and
        of categories not seen in training: uint8, (L + 1,). Codes that have an order have edges,
        of the share of the second class. None if there is no such column.

    Attributes
    ----------
    n_features : int
    n_bins : int64 array of shape (n_features,)
        The number of codes of values: at least 1 for numeric columns.
    is_categorical : bool array of shape (n_features,)
        Whether codes have no order.

    Examples
    --------
    >>> import numpy as np
    >>> binner = fit_binner(np.array([[1.0], [2.0], [np.nan], [4.0]]))
    >>> binner.edges[0].tolist()
    [1.5, 3.0]
    >>> binner.encode([[0.0], [3.0], [3.5], [np.nan]]).ravel().tolist()
    [0, 1, 2, 255]
    """

    max_bins: int
    edges: tuple[Floats, ...]
    categories: tuple[tuple[Key, ...] | None, ...]
    has_missing: NDArray[np.bool_]
    feature_names: tuple[str, ...] | None = None
    level_codes: tuple[Codes | None, ...] | None = None

    def __post_init__(self) -> None:
        check_binner(**self.__getstate__())
        edges = tuple(_frozen(part, np.float64) for part in self.edges)
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "has_missing", _frozen(self.has_missing, np.bool_))
        if self.level_codes is not None:
            coded = [None if part is None else _frozen(part, np.uint8) for part in self.level_codes]
            object.__setattr__(self, "level_codes", tuple(coded))

    def __getstate__(self) -> dict[str, Any]:
        state = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.level_codes is None:
            del state["level_codes"]  # as before there were any
        return state

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, dict):
            state = {"level_codes": None} | state
        # As the constructor does: whoever restores a binner, its parts are checked and frozen.
        restore_fields(self, state)
        self.__post_init__()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Binner):
            return NotImplemented
        return (
            self.max_bins == other.max_bins
            and self.categories == other.categories
            and self.feature_names == other.feature_names
            and np.array_equal(self.has_missing, other.has_missing)
            and all(map(np.array_equal, self.edges, other.edges))
            and _same_codes(self.level_codes, other.level_codes)
        )

    def __repr__(self) -> str:
        return (
            f"Binner(n_features={self.n_features}, max_bins={self.max_bins}, "
            f"n_categorical={int(self.is_categorical.sum())})"
        )

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return len(self.edges)

    @cached_property
    def is_categorical(self) -> NDArray[np.bool_]:
        """Which columns hold categories whose codes have no order."""
        return _frozen(
            [
                kept is not None and (codes is None or (not len(cuts) and bool(codes.any())))
                for cuts, kept, codes in self._columns
            ],
            np.bool_,
        )

    def codes_of_levels(self, j: int) -> Codes | None:
        """Return the codes of the categories of column j and of others, if its target says them."""
        return None if self.level_codes is None else self.level_codes[j]

    def levels_of(self, j: int, code: int) -> tuple[Key, ...]:
        """Return the categories of column j that have a code; none of a column of numbers."""
        kept, codes = self.categories[j] or (), self.codes_of_levels(j)
        if codes is None:
            return kept[code : code + 1]
        return tuple(kept[i] for i in np.flatnonzero(codes[:-1] == code))

    def levels_going(self, j: int, goes: Any) -> tuple[Key, ...]:
        """Return the categories of column j whose codes go some way, bool (256,)."""
        kept, codes = self.categories[j] or (), self.codes_of_levels(j)
        way = goes[: len(kept)] if codes is None else goes[codes[:-1]]
        return tuple(key for key, goes_there in zip(kept, way, strict=True) if goes_there)

    @property
    def _columns(self) -> Iterable[tuple[Floats, tuple[Key, ...] | None, Codes | None]]:
        codes = self.level_codes or (None,) * self.n_features
        return zip(self.edges, self.categories, codes, strict=True)

    @cached_property
    def n_bins(self) -> Int64:
        """The number of codes of values, per column."""
        counts = [
            len(cuts) + 1
            if kept is None or len(cuts)
            else len(kept)
            if codes is None
            else int(codes.max()) + 1
            for cuts, kept, codes in self._columns
        ]
        return _frozen(counts, np.int64)

    def encode(
        self,
        X: Any,
        *,
        positions: NDArray[np.integer[Any]] | None = None,
        out: Codes | None = None,
        columns: Iterable[int] | None = None,
        n_threads: int = 1,
    ) -> Codes:
        """Return the code of every cell, uint8 (n_rows, n_columns).

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            A DataFrame must have the columns of the one in training, in the same order.
        positions : integer array of shape (n_samples,), optional
            Row i of `X` is written to row `positions[i]` of the result; to row i by default.
        out : uint8 array of shape (n_rows, n_features), optional
            Where to write; `n_rows` is at least `n_samples`. A new array by default.
        columns : iterable of int, optional
            The features to encode; the others are left as they are in `out` (0 in a new
            array). All of them by default.
        n_threads : int, default=1
            The codes do not depend on it.

        Returns
        -------
        uint8 array of shape (n_rows, n_features)
            `out`, or a new C-contiguous array.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.array([[0.1], [0.2], [0.3]])
        >>> fit_binner(X).encode(X, positions=np.array([2, 0, 1])).ravel().tolist()
        [1, 2, 0]
        """
        table = read_table(X)
        check_features(table, self.n_features, self.feature_names)
        target = make_target(table.n_rows, self.n_features, positions, out, columns)
        check_kinds(self._encoder, table, target.features)
        encode_table(self._encoder, table, target, n_threads)
        return target.out

    @cached_property
    def _encoder(self) -> Encoder:
        warn_if_interpreted()  # here, since every prediction asks for it and makes it once
        return make_encoder(self.edges, self.categories, self.level_codes)


def fit_binner(
    X: Any,
    sample_weight: Any = None,
    *,
    max_bins: int = 255,
    categorical_features: Any = "from_dtype",
    n_threads: int = 1,
) -> Binner:
    """Learn how to bin the columns of a table.

    A numeric column with at most `max_bins` distinct values gets a bin for each, cut halfway
    between neighbours. Otherwise the column is cut, from the smallest value up, where a fair
    share of the weight that is left (divided by the number of bins that are left) is reached;
    a value that weighs a fair share alone gets a bin alone. All rows are used, and weight k
    equals k copies of a row: not only in effect, but in every edge. Infinities are ordinary
    values; NaN and nulls are missing. Int64 beyond 2 ** 53 are rounded to float64.

    A categorical column keeps at most `max_bins` categories: the heaviest, ties in favour of
    those that sort first. All others share the missing code, with categories that were not
    seen in training and with missing values; a warning names the column and some of them. Nothing
    depends on the order of the rows or of a DataFrame's list of categories.

    Parameters
    ----------
    X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        Floats, integers, booleans; strings and categorical types become categories. What a
        sparse matrix does not store is 0.0.
    sample_weight : array-like of shape (n_samples,), optional
        Finite and not negative; weight 0 means absent.
    max_bins : int, default=255
        Between 2 and 255.
    categorical_features : "from_dtype", None, or array-like of bool, int or str
        Which columns hold categories: by their type (strings, pandas `category`, polars
        `Categorical` and `Enum`), none, or those given by mask, index or name. A column of
        numbers may be given: its categories are its values.
    n_threads : int, default=1
        The result does not depend on it.

    Returns
    -------
    Binner

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([["ash"], ["oak"], [None], ["ash"]], dtype=object)
    >>> binner = fit_binner(X)
    >>> binner.categories[0]
    ('ash', 'oak')
    >>> binner.encode([["oak"], ["elm"]]).ravel().tolist()
    [1, 255]
    """
    return fit_target_binner(
        X,
        sample_weight,
        None,
        max_bins=max_bins,
        categorical_features=categorical_features,
        n_threads=n_threads,
    )[0]


def fit_target_binner(
    X: Any,
    sample_weight: Any,
    target: Callable[[], TargetRows] | None,
    *,
    max_bins: int = 255,
    categorical_features: Any = "from_dtype",
    n_threads: int = 1,
) -> tuple[Binner, dict[int, Codes]]:
    """Learn how to bin the columns of a table; those of many levels by their target.

    Parameters
    ----------
    X, sample_weight, max_bins, categorical_features, n_threads
        As in `fit_binner`.
    target : callable or None
        Returns labels and buckets of the rows; called if there is a column of many levels. None:
        no column is coded by its target.

    Returns
    -------
    binner : Binner
    own : dict of int to uint8 array of shape (n_samples,)
        Of the columns that are coded by their target, the codes of the training rows: these know
        nothing of their own labels, while `binner` knows those of all rows.
    """
    table = read_table(X)
    check_not_empty(table)
    max_bins = check_max_bins(max_bins)
    weights = weigh_rows(sample_weight, table.n_rows)
    is_categorical = categorical_mask(categorical_features, table)
    bins = cut_table(table, weights, is_categorical, max_bins, n_threads)
    own: dict[int, Codes] = {}
    many = [j for j, part in enumerate(bins) if part.n_levels > MANY_LEVELS]
    if target is not None and many:
        rows = target()
        grid = None if sample_weight is None else grid_of(read_weights(sample_weight, table.n_rows))
        n_rows = table.n_rows if weights.rows is None else len(weights.rows)
        unit = rows_in_unit(grid, weights.total, n_rows)
        for j in many:
            found = code_levels(sum_levels(table, j, weights, rows), unit, max_bins)
            bins[j] = found.bins
            own[j] = codes_of_rows(table, j, found.bins.categories or (), found.own, rows.buckets)
    return make_binner(table, bins, max_bins, weighted=sample_weight is not None), own


def make_binner(
    table: FeatureTable, bins: Sequence[ColumnBins], max_bins: int, *, weighted: bool
) -> Binner:
    """Make the binner of the bins of all columns; warns of categories that get no code.

    Parameters
    ----------
    table : FeatureTable
        Its rows are not read.
    bins : sequence of ColumnBins, one per column
    max_bins : int
    weighted : bool
        Whether rows have weights, so that a share of them is one of weight.
    """
    for j, part in enumerate(bins):
        if part.left_out is not None:
            column, kept = table.describe(j), len(part.categories or ())
            _warn_left_out(column, kept, part.left_out, "weight" if weighted else "rows")
    return Binner(
        max_bins=max_bins,
        edges=tuple(part.edges for part in bins),
        categories=tuple(part.categories for part in bins),
        has_missing=np.array([part.has_missing for part in bins]),
        feature_names=table.names,
        level_codes=(
            tuple(part.level_codes for part in bins)
            if any(part.level_codes is not None for part in bins)
            else None
        ),
    )


def _warn_left_out(column: str, n_kept: int, left: LeftOut, of: str) -> None:
    """Warn once a fit: models of folds or resamples lose about the same."""
    named = ", ".join(map(repr, left.first)) + ", ..." * (left.n_keys > len(left.first))
    wider = f"raise max_bins (at most {_MOST_BINS}), " if n_kept < _MOST_BINS else ""
    warn_once_a_fit(
        column,
        f"{column} has {n_kept + left.n_keys:,} categories, more than max_bins={n_kept} can tell "
        f"apart: the {left.n_keys:,} with the least weight ({named}), {100 * left.share:.2g} % of "
        f"the {of}, share the code of missing values. To tell them apart, {wider}group categories "
        "before fitting, or set target_encoding=True: they are then told apart by the labels of "
        "other rows.",
    )


def check_max_bins(max_bins: Any) -> int:
    """Return the most bins a column may have, if a byte can tell them apart."""
    if not (isinstance(max_bins, int | np.integer) and 2 <= max_bins <= _MOST_BINS):
        raise ValueError(
            f"max_bins must be an integer between 2 and {_MOST_BINS}, got {max_bins!r}."
        )
    return int(max_bins)


def restore_fields(instance: Any, state: Any) -> None:
    """Set the fields of a frozen dataclass from a state that came from outside."""
    names = [field.name for field in fields(instance)]
    if not isinstance(state, dict) or sorted(state, key=str) != sorted(names):
        held = sorted(map(str, state)) if isinstance(state, dict) else type(state).__name__
        raise ValueError(f"A {type(instance).__name__} is made of {names}, not of {held}.")
    for name in names:
        object.__setattr__(instance, name, state[name])


def _same_codes(one: Any, other: Any) -> bool:
    """Whether the codes of levels are the same; None are none in any column."""
    if one is None or other is None:
        return one is other
    pairs = zip(one, other, strict=True)
    return all(a is b is None or np.array_equal(a, b) for a, b in pairs)


def _frozen(values: Any, dtype: Any) -> NDArray[Any]:
    array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array


# Which columns hold categories.


def categorical_mask(given: Any, table: FeatureTable) -> NDArray[np.bool_]:
    """Read `categorical_features` of `fit_binner` as one boolean per column."""
    d = table.n_columns
    if isinstance(given, str):
        if given != "from_dtype":
            raise ValueError(
                f'categorical_features={given!r} is not known: give "from_dtype", None, or a list '
                "of names, indices or booleans."
            )
        return np.array([table.is_categorical(j) for j in range(d)], dtype=np.bool_)
    wanted = np.asarray([] if given is None else given)
    if wanted.ndim == 1 and wanted.dtype.kind == "b":
        if len(wanted) not in (0, d):
            raise ValueError(
                f"categorical_features has {len(wanted)} booleans, but X has {d} columns."
            )
        return wanted if len(wanted) else np.zeros(d, dtype=np.bool_)
    mask = np.zeros(d, dtype=np.bool_)
    mask[_column_indices(wanted, table)] = True
    return mask


def _column_indices(wanted: NDArray[Any], table: FeatureTable) -> list[int]:
    if wanted.size == 0:
        return []
    if wanted.ndim != 1 or wanted.dtype.kind not in "iuUOT":
        raise ValueError(
            "categorical_features must be one list of booleans, indices or names, got an array "
            f"of shape {wanted.shape} and dtype {wanted.dtype}."
        )
    return [_column_index(item, table) for item in wanted.tolist()]


def _column_index(item: Any, table: FeatureTable) -> int:
    if isinstance(item, str):
        if table.names is None:
            raise ValueError(
                f"categorical_features names {item!r}, but the columns of X have no names: "
                "give indices, or a DataFrame."
            )
        if item not in table.names:
            raise ValueError(
                f"categorical_features names {item!r}, which is no column of X: "
                f"its columns are {list(table.names)}."
            )
        return table.names.index(item)
    if not isinstance(item, int) or not 0 <= item < table.n_columns:
        raise ValueError(
            f"categorical_features holds {item!r}: indices must lie between 0 and "
            f"{table.n_columns - 1}."
        )
    return item
