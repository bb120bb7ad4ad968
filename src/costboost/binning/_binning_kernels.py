"""Kernels of binning: where to cut a sorted column, and which bin a value falls into.

Free functions from typed arrays to typed arrays: they allocate nothing and release the GIL.
Compiled by Cython in its pure-Python mode; interpreted they give the same results, slowly.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from costboost.runtime import interpreted as cython


def is_compiled() -> bool:
    """Whether these kernels were compiled."""
    return cython.compiled


def copy_columns(
    values: cython.const[cython.floating][:, :],
    columns: cython.const[cython.longlong][::1],
    out: cython.floating[:, ::1],
):
    """Copy `values[:, columns[k]]` to `out[k]`."""
    n_rows: cython.Py_ssize_t = values.shape[0]
    begin: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    with cython.nogil:
        # Tiles of rows: columns that are neighbours share cache lines.
        while begin < n_rows:
            end = begin + 512
            if end > n_rows:
                end = n_rows
            for k in range(columns.shape[0]):
                j = columns[k]
                for i in range(begin, end):
                    out[k, i] = values[i, j]
            begin = end


def cut_sorted(
    values: cython.const[cython.floating][::1],
    cumulative: cython.const[cython.longlong][::1],
    max_bins: cython.Py_ssize_t,
    lower: cython.double[::1],
    upper: cython.double[::1],
):
    """Cut a sorted column into at most `max_bins` bins of equal weight.

    Parameters
    ----------
    values : array of shape (n,)
        Sorted, without NaN.
    cumulative : array of shape (n + 1,) or (0,)
        `cumulative[i]` is the weight of the first i values, strictly increasing; empty when
        every value weighs 1.
    max_bins : int
        At least 2.
    lower, upper : arrays of shape (max_bins - 1,)
        Written: the last value left of each cut, and the first one right of it.

    Returns
    -------
    int
        The number of cuts.
    """
    n: cython.Py_ssize_t = values.shape[0]
    weighted: cython.bint = cumulative.shape[0] > 0
    start: cython.Py_ssize_t = 0
    stop: cython.Py_ssize_t
    first: cython.Py_ssize_t
    low: cython.Py_ssize_t
    high: cython.Py_ssize_t
    middle: cython.Py_ssize_t
    n_cuts: cython.Py_ssize_t = 0
    bins_left: cython.longlong = max_bins
    share: cython.longlong
    weight: cython.longlong
    with cython.nogil:
        # Few distinct values: a bin for each. Left with start < n if there are too many.
        while start < n and n_cuts < max_bins:
            low = start + 1
            high = n
            while low < high:
                middle = low + (high - low) // 2
                if values[middle] > values[start]:
                    high = middle
                else:
                    low = middle + 1
            start = low
            if start < n and n_cuts < max_bins - 1:
                lower[n_cuts] = values[start - 1]
                upper[n_cuts] = values[start]
            n_cuts += 1
        if start >= n:
            n_cuts = n_cuts - 1 if n_cuts > 0 else 0
        else:
            n_cuts = 0
            start = 0
            while bins_left > 1 and start < n:
                # The least weight that is a fair share of what is left, rounded up: exact,
                # for weights are integers.
                if weighted:
                    share = cumulative[n] - cumulative[start]
                    share = (share + bins_left - 1) // bins_left
                    low = start + 1
                    high = n
                    while low < high:
                        middle = low + (high - low) // 2
                        if cumulative[middle] - cumulative[start] >= share:
                            high = middle
                        else:
                            low = middle + 1
                    stop = low
                else:
                    share = (n - start + bins_left - 1) // bins_left
                    stop = start + share
                # The run of values equal to the one at which the share is reached:
                # values[first:stop].
                low = start
                high = stop - 1
                while low < high:
                    middle = low + (high - low) // 2
                    if values[middle] < values[stop - 1]:
                        low = middle + 1
                    else:
                        high = middle
                first = low
                low = stop
                high = n
                while low < high:
                    middle = low + (high - low) // 2
                    if values[middle] > values[stop - 1]:
                        high = middle
                    else:
                        low = middle + 1
                stop = low
                weight = stop - first
                if weighted:
                    weight = cumulative[stop] - cumulative[first]
                # A value that fills a bin alone gets one alone.
                if weight >= share and first > start:
                    stop = first
                if stop < n:
                    lower[n_cuts] = values[stop - 1]
                    upper[n_cuts] = values[stop]
                    n_cuts += 1
                start = stop
                bins_left -= 1
    return n_cuts


def encode_block(
    values: cython.const[cython.floating][:, :],
    columns: cython.const[cython.longlong][::1],
    features: cython.const[cython.longlong][::1],
    edges: cython.const[cython.double][::1],
    edge_offsets: cython.const[cython.longlong][::1],
    guide: cython.const[cython.uchar][::1],
    guide_offsets: cython.const[cython.longlong][::1],
    origins: cython.const[cython.double][::1],
    scales: cython.const[cython.double][::1],
    widths: cython.const[cython.longlong][::1],
    missing_code: cython.int,
    positions: cython.const[cython.longlong][::1],
    first: cython.Py_ssize_t,
    out: cython.uchar[:, :],
):
    """Write the codes of a block of rows.

    Row i goes to row `positions[first + i]` of `out`, or to row `first + i` if `positions` is
    empty; column `columns[k]` of `values` is feature `features[k]` of `out`.

    The code of x is the number of edges below x. The range of the edges of feature j is divided
    into equal cells, and `guide` says how many edges lie in the cells before each one. Rounded
    arithmetic is monotone, so edges in earlier cells than that of x are below x, and those in
    later cells above it: only the edges of its own cell, fewer than `2 * widths[j]`, are left
    to search. The search halves a window of that size, which the padding of the edges with +inf
    keeps inside the array, and so has no branch to mispredict.
    """
    n_rows: cython.Py_ssize_t = values.shape[0]
    placed: cython.bint = positions.shape[0] > 0
    begin: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    feature: cython.Py_ssize_t
    base: cython.Py_ssize_t
    cells: cython.Py_ssize_t
    cell: cython.Py_ssize_t
    width: cython.Py_ssize_t
    step: cython.Py_ssize_t
    code: cython.Py_ssize_t
    row: cython.Py_ssize_t
    origin: cython.double
    scale: cython.double
    last: cython.double
    x: cython.double
    z: cython.double
    with cython.nogil:
        # Tiles of rows: values and codes stay in the cache while columns take turns.
        while begin < n_rows:
            end = begin + 512
            if end > n_rows:
                end = n_rows
            for k in range(columns.shape[0]):
                j = columns[k]
                feature = features[k]
                base = edge_offsets[feature]
                cells = guide_offsets[feature]
                last = guide_offsets[feature + 1] - cells - 1
                origin = float(origins[feature])
                scale = float(scales[feature])
                width = widths[feature]
                for i in range(begin, end):
                    x = float(values[i, j])
                    z = (x - origin) * scale
                    z = z if z > 0.0 else 0.0
                    z = z if z < last else last
                    cell = int(z)
                    code = guide[cells + cell]
                    step = width
                    while step > 0:
                        code = code + step if edges[base + code + step - 1] < x else code
                        step = step >> 1
                    if x != x:
                        code = missing_code
                    row = first + i
                    if placed:
                        row = positions[row]
                    out[row, feature] = code
            begin = end
