"""Which rows of a table are copies of each other.

Oversampling and joins repeat rows. A model that is judged on copies of rows it was trained on looks
better than it is, so folds keep copies together. `find_copies` gives every row the number of its
*set* of equal rows; sets are numbered in the order of their first rows::

    row     0    1    2    3    4
    table   a    b    a    c    b
    set     0    1    0    2    1

Rows are compared by a hash of 64 bits: of a million different rows two have the same with a chance
of 3e-8, and then they only stay together in a fold.

Equal rows need not be copies. Two yes-or-no columns have four different rows, however many are
drawn, and each of them is new evidence. So rows count as copies only where equal pairs are far more
frequent than they would be if columns were drawn independently.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.binning.columns import SparseTable, Table
from costboost.binning.reading import read_table

__all__ = ["copies_in", "find_copies"]

Hashes = NDArray[np.uint64]
Int64 = NDArray[np.int64]

BLOCK = 8192  # rows that are hashed at once: a column of them stays in the cache
SURPRISE = 10.0  # so many times the equal pairs that chance would give are copies


def find_copies(X: Any) -> Int64 | None:
    """Return the number of each row's set of equal rows, or None where no row has copies.

    Missing values are equal to each other, and -0.0 to 0.0.

    Parameters
    ----------
    X : array-like, DataFrame, sparse matrix or Table of shape (n_samples, n_features)

    Returns
    -------
    int64 array of shape (n_samples,), or None

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> find_copies(X) is None
    True
    >>> find_copies(X[[0, 1, 0, 2, 1]]).tolist()
    [0, 1, 0, 2, 1]
    """
    table = read_table(X)
    hashes = _hash_rows(table)
    ordered = np.sort(hashes)
    if not np.any(ordered[1:] == ordered[:-1]):
        return None
    sets = _numbered(hashes)
    return sets if _surprising(table, np.bincount(sets)) else None


def copies_in(sets: Int64 | None, rows: Any) -> Int64 | None:
    """Return the sets of some of the rows, numbered anew; None where these have no copies.

    Examples
    --------
    >>> copies_in(np.array([0, 1, 0, 2, 1]), [1, 3, 4]).tolist()
    [0, 1, 0]
    """
    if sets is None:
        return None
    some = _numbered(sets[rows])
    return some if some.size and some.max() + 1 < some.size else None


def _numbered(values: NDArray[Any]) -> Int64:
    """Return the number of each value, in the order of their first occurrence."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


# --- hashes: the sum over columns of a mixture of the value and the column's own key


def _hash_rows(table: Table) -> Hashes:
    if isinstance(table, SparseTable):
        return _hash_stored(table)
    hashes = np.zeros(table.n_rows, dtype=np.uint64)
    keys = _mixed(np.arange(1, table.n_columns + 1, dtype=np.uint64))
    for j, part, bits in _columns_of(table):
        hashes[part] += _mixed(bits ^ keys[j])
    return hashes


def _columns_of(table: Table) -> Iterator[tuple[int, slice, Hashes]]:
    """Yield columns as bits: of numbers in blocks of rows, of categories as a whole."""
    numeric = [j for j in range(table.n_columns) if not table.has_keys(j)]
    # Blocks of a frame are new objects, which cost more than they save.
    step = BLOCK if table.names is None else max(table.n_rows, 1)
    for start in range(0, table.n_rows, step):
        part = slice(start, min(start + step, table.n_rows))
        for j in numeric:
            yield j, part, _bits(table.numbers(j, part.start, part.stop))
    for j in set(range(table.n_columns)) - set(numeric):
        yield j, slice(None), table.keys(j, 0, table.n_rows)[0].astype(np.uint64)


def _hash_stored(table: SparseTable) -> Hashes:
    """Hash the stored values other than 0, so that a stored 0 is as good as none."""
    csc = table.csc
    keys = np.repeat(np.arange(1, table.n_columns + 1, dtype=np.uint64), np.diff(csc.indptr))
    kept = csc.data != 0
    hashes = np.zeros(table.n_rows, dtype=np.uint64)
    np.add.at(hashes, csc.indices[kept], _mixed(_bits(csc.data[kept]) ^ _mixed(keys[kept])))
    return hashes


def _bits(values: NDArray[Any]) -> Hashes:
    """Return float64 numbers as bits, equal where the numbers are."""
    numbers = values.astype(np.float64) + 0.0  # -0.0 becomes 0.0
    numbers[np.isnan(numbers)] = np.nan
    return numbers.view(np.uint64)


def _mixed(z: Hashes) -> Hashes:
    """SplitMix64's finisher (Steele, Lea and Flood 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


# --- chance


def _surprising(table: Table, sizes: Int64) -> bool:
    """Whether equal pairs are far more than independent columns would give.

    A pair agrees in column j with the chance sum_v p_v^2, and in all with the product of these.
    """
    n = table.n_rows
    found = float(np.sum(sizes * (sizes - 1.0))) / 2.0
    expected = n * (n - 1.0) / 2.0
    for j in range(table.n_columns):
        expected *= _agreement(table, j)
        if expected * SURPRISE < found:
            return True
    return False


def _agreement(table: Table, j: int) -> float:
    """Return the chance that two different rows agree in a column."""
    n = table.n_rows
    if table.has_keys(j):
        values: NDArray[Any] = table.keys(j, 0, n)[0]
    else:
        values = _bits(table.numbers(j, 0, n))
    counts = np.unique(values, return_counts=True)[1]
    return float(np.sum(counts * (counts - 1.0))) / (n * (n - 1.0))
