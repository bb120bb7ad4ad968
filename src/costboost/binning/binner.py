"""Binning: a table becomes one byte per cell; `codes` draws what the bytes mean.

`fit_binner` reads a table (`reading`, `columns`), puts its weights on a grid (`weighing`) and cuts
its columns (`cutting`); the `Binner` that results encodes tables with those columns (`encoding`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.binning.categories import Key
from costboost.binning.checking import check_binner
from costboost.binning.codes import MISSING, Codes
from costboost.binning.cutting import cut_table
from costboost.binning.encoding import (
    Encoder,
    check_kinds,
    encode_table,
    make_encoder,
    make_target,
)
from costboost.binning.reading import categorical_mask, check_features, check_not_empty, read_table
from costboost.binning.weighing import weigh_rows

__all__ = ["MISSING", "Binner", "check_max_bins", "fit_binner", "restore_fields"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


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

    Attributes
    ----------
    n_features : int
    n_bins : int64 array of shape (n_features,)
        The number of codes of values: at least 1 for numeric columns.
    is_categorical : bool array of shape (n_features,)

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

    def __post_init__(self) -> None:
        check_binner(**self.__getstate__())
        edges = tuple(_frozen(part, np.float64) for part in self.edges)
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "has_missing", _frozen(self.has_missing, np.bool_))

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: Any) -> None:
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
        """Which columns hold categories."""
        return _frozen([kept is not None for kept in self.categories], np.bool_)

    @cached_property
    def n_bins(self) -> Integers:
        """The number of codes of values, per column."""
        counts = [
            len(cuts) + 1 if kept is None else len(kept)
            for cuts, kept in zip(self.edges, self.categories, strict=True)
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
        """Give every cell its code.

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
        return make_encoder(self.edges, self.categories)


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
    values; NaN and nulls are missing. Integers beyond 2 ** 53 are rounded to float64.

    A categorical column keeps at most `max_bins` categories: the heaviest, ties in favour of
    those that sort first. All others share the missing code, with categories that were not
    seen in training and with missing values. Nothing depends on the order of the rows or of a
    DataFrame's list of categories.

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
    table = read_table(X)
    check_not_empty(table)
    max_bins = check_max_bins(max_bins)
    weights = weigh_rows(sample_weight, table.n_rows)
    is_categorical = categorical_mask(categorical_features, table)
    bins = cut_table(table, weights, is_categorical, max_bins, n_threads)
    return Binner(
        max_bins=max_bins,
        edges=tuple(part.edges for part in bins),
        categories=tuple(part.categories for part in bins),
        has_missing=np.array([part.has_missing for part in bins]),
        feature_names=table.names,
    )


def check_max_bins(max_bins: Any) -> int:
    """Return the most bins a column may have, if a byte can tell them apart."""
    if not (isinstance(max_bins, int | np.integer) and 2 <= max_bins <= 255):
        raise ValueError(f"max_bins must be an integer between 2 and 255, got {max_bins!r}.")
    return int(max_bins)


def restore_fields(instance: Any, state: Any) -> None:
    """Set the fields of a frozen dataclass from a state that came from outside."""
    names = [field.name for field in fields(instance)]
    if not isinstance(state, dict) or sorted(state, key=str) != sorted(names):
        held = sorted(map(str, state)) if isinstance(state, dict) else type(state).__name__
        raise ValueError(f"A {type(instance).__name__} is made of {names}, not of {held}.")
    for name in names:
        object.__setattr__(instance, name, state[name])


def _frozen(values: Any, dtype: Any) -> NDArray[Any]:
    array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array
