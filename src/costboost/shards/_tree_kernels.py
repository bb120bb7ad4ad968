"""The compiled loops under one tree: histograms, the split of a node's rows, leaves.

Data, as every function here sees it:

    codes    (m, d) uint8     one shard's table; 255 is a missing value
    order    (m,) uint32      the shard's rows, permuted so that every node's rows are together
    begins, ends (S,) int64   where a node's rows lie in `order`, one range per segment; a
                              segment is a class (rows are grouped by class) or everything
    hist     int64            sums on a fixed-point grid, exact whatever the order of addition:
                              (K, d, 256) by class, (d, 256, C) for channels side by side; flat
                              here, because an index into three dimensions takes twice as long

`columns` names the columns to add up, where only some of them are searched; None is all of them.
`whole` says that the node is the root of an unsampled tree: `order` is then the identity and
is not read. Compiled by Cython in pure-Python mode; interpreted the same loops run slowly, and
the casts keep NumPy's bytes from wrapping at 255.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from costboost.runtime import interpreted as cython

if cython.compiled:
    from cython.cimports.costboost.shards._prefetch import prefetch, prefetch_far

# Rows of a node lie scattered in memory. They are asked for twice, so many rows before they are
# used: far ahead into the second cache, which can wait for many at once, and then into the first.
FAR = cython.declare(cython.Py_ssize_t, 64)
NEAR = cython.declare(cython.Py_ssize_t, 8)
# The bins of so many columns stay in the first cache (28 kB of 32). A wider table is added up a
# few columns at a time, and a block of rows after the other, whose codes stay in the second.
NARROW = cython.declare(cython.Py_ssize_t, 14)
BLOCK = cython.declare(cython.Py_ssize_t, 2048)
MISSING = cython.declare(cython.int, 255)


def is_compiled() -> bool:
    """Whether these kernels were compiled."""
    return cython.compiled


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add_line(
    line: cython.pointer[cython.const[cython.uchar]],
    d: cython.Py_ssize_t,
    value: cython.longlong,
    cells: cython.p_longlong,
) -> cython.int:
    """Add a value to the bin of every column; four at a time, which takes a third less.

    `cells` moves on with the columns: the place of a bin is then its code and a constant.
    """
    j: cython.Py_ssize_t
    # Adds of different columns never meet in one bin: a processor need not wait for one before it
    # begins the next.
    for j in range(0, d - 3, 4):
        cells[cython.cast(cython.Py_ssize_t, line[j])] += value
        cells[256 + cython.cast(cython.Py_ssize_t, line[j + 1])] += value
        cells[512 + cython.cast(cython.Py_ssize_t, line[j + 2])] += value
        cells[768 + cython.cast(cython.Py_ssize_t, line[j + 3])] += value
        cells = cells + 1024 if cython.compiled else cells[1024:]
    for j in range(d - d % 4, d):
        cells[cython.cast(cython.Py_ssize_t, line[j])] += value
        cells = cells + 256 if cython.compiled else cells[256:]
    return 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add_row(
    codes: cython.const[cython.uchar][:, ::1],
    row: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    width: cython.Py_ssize_t,
    value: cython.longlong,
    offset: cython.Py_ssize_t,
    hist: cython.longlong[::1],
) -> cython.int:
    """Add a value to the bins of neighbouring columns, whose histograms begin at `offset`.

    By addresses; interpreted, by parts of the arrays.
    """
    offset += 256 * first
    if cython.compiled:
        _add_line(cython.address(codes[row, first]), width, value, cython.address(hist[offset]))
    else:
        _add_line(codes[row, first:], width, value, hist[offset:])
    return 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _width(first: cython.Py_ssize_t, d: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return how many columns are added up next: an even share of the rest, `NARROW` at most."""
    times: cython.Py_ssize_t = (d - first + NARROW - 1) // NARROW
    return (d - first + times - 1) // times


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add_drawn(
    codes: cython.const[cython.uchar][:, ::1],
    row: cython.Py_ssize_t,
    columns: cython.const[cython.longlong][::1],
    value: cython.longlong,
    offset: cython.Py_ssize_t,
    hist: cython.longlong[::1],
) -> cython.int:
    """Add a value to the bins of some columns."""
    j: cython.Py_ssize_t
    for j in range(columns.shape[0]):
        hist[offset + cython.cast(cython.Py_ssize_t, codes[row, columns[j]])] += value
        offset += 256
    return 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _on_grid(
    weights: cython.const[cython.double][::1],
    factors: cython.const[cython.double][::1],
    scale: cython.double,
    row: cython.Py_ssize_t,
) -> cython.longlong:
    """Return a row's weight, times its factor if it has one, on the grid."""
    weight: cython.double = weights[row] * scale
    if factors.shape[0] > 0:
        weight *= factors[row]
    # Weights are not negative: half a unit more, cut towards zero, is the nearest unit.
    return cython.cast(cython.longlong, weight + 0.5)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _add_all_weights(
    codes: cython.const[cython.uchar][:, ::1],
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    weights: cython.const[cython.double][::1],
    factors: cython.const[cython.double][::1],
    scale: cython.double,
    plane: cython.Py_ssize_t,
    hist: cython.longlong[::1],
) -> cython.int:
    """Add the weights of rows that lie together to the bins of all columns."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    d: cython.Py_ssize_t = codes.shape[1]
    width: cython.Py_ssize_t
    # Blocks of rows whose codes stay in the cache while groups of columns are summed one after the
    # other: their histograms stay there too.
    while begin < end:
        stop = begin + BLOCK if begin + BLOCK < end else end
        j = 0
        while j < d:
            width = _width(j, d)
            for i in range(begin, stop):
                if cython.compiled and j == 0:  # past the end it asks in vain
                    prefetch(cython.address(codes[i, 0]) + FAR * d)
                _add_row(codes, i, j, width, _on_grid(weights, factors, scale, i), plane, hist)
            j += width
        begin = stop
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def add_class_weights(
    codes: cython.const[cython.uchar][:, ::1],
    order: cython.const[cython.uint][::1],
    whole: cython.bint,
    begins: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    weights: cython.const[cython.double][::1],
    factors: cython.const[cython.double][::1],
    scales: cython.const[cython.double][::1],
    hist: cython.longlong[::1],
    drawn: cython.bint,
    columns: cython.const[cython.longlong][::1],
) -> cython.int:
    """Do what `class_histogram` does."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    row: cython.Py_ssize_t
    ahead: cython.Py_ssize_t
    grid: cython.longlong
    plane: cython.Py_ssize_t
    scale: cython.double
    factored: cython.bint = factors.shape[0] > 0
    d: cython.Py_ssize_t = codes.shape[1]
    n_columns: cython.Py_ssize_t = columns.shape[0] if drawn else d
    for k in range(begins.shape[0]):
        # Segment k is class k: its rows add to one plane of the histogram, and to nothing else.
        plane = k * n_columns * 256
        scale = scales[k]
        # Three loops for one sum: all rows in order; all rows, few columns; scattered rows.
        if whole and not drawn:
            _add_all_weights(codes, begins[k], ends[k], weights, factors, scale, plane, hist)
        elif whole:
            for i in range(begins[k], ends[k]):
                if cython.compiled:
                    prefetch(cython.address(codes[i, 0]) + FAR * d)
                grid = _on_grid(weights, factors, scale, i)
                _add_drawn(codes, i, columns, grid, plane, hist)
        else:
            for i in range(begins[k], ends[k]):
                # Codes and weights of a row may lie on two cache lines each.
                if cython.compiled and i + NEAR < ends[k]:
                    ahead = order[i + NEAR]
                    prefetch(cython.address(codes[ahead, 0]))
                    prefetch(cython.address(codes[ahead, d - 1]))
                    prefetch(cython.address(weights[ahead]))
                    if factored:
                        prefetch(cython.address(factors[ahead]))
                    if i + FAR < ends[k]:
                        ahead = order[i + FAR]
                        prefetch_far(cython.address(codes[ahead, 0]))
                        prefetch_far(cython.address(codes[ahead, d - 1]))
                        prefetch_far(cython.address(weights[ahead]))
                        if factored:
                            prefetch_far(cython.address(factors[ahead]))
                row = order[i]
                grid = _on_grid(weights, factors, scale, row)
                if drawn:
                    _add_drawn(codes, row, columns, grid, plane, hist)
                else:
                    _add_row(codes, row, 0, d, grid, plane, hist)
    return 0


def class_histogram(
    codes: cython.const[cython.uchar][:, ::1],
    order: cython.const[cython.uint][::1],
    whole: cython.bint,
    begins: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    weights: cython.const[cython.double][::1],
    factors: cython.const[cython.double][::1],
    scales: cython.const[cython.double][::1],
    hist: cython.longlong[::1],
    columns: cython.const[cython.longlong][::1] = None,
):
    """Add round(scale * weight) of every row to its class's bins: one add per cell.

    `factors` has none, or one for each row's weight.
    """
    drawn: cython.bint = columns is not None
    # Without columns another array stands in their place, and is not read.
    chosen: cython.const[cython.longlong][::1] = columns if drawn else begins
    with cython.nogil:
        add_class_weights(
            codes, order, whole, begins, ends, weights, factors, scales, hist, drawn, chosen
        )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def add_pairs(
    codes: cython.const[cython.uchar][:, ::1],
    order: cython.const[cython.uint][::1],
    whole: cython.bint,
    begins: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    pairs: cython.const[cython.longlong][:, ::1],
    hist: cython.longlong[::1],
    drawn: cython.bint,
    columns: cython.const[cython.longlong][::1],
) -> cython.int:
    """Do what `pair_histogram` does."""
    c: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    s: cython.Py_ssize_t
    row: cython.Py_ssize_t
    cell: cython.Py_ssize_t
    ahead: cython.Py_ssize_t
    gradient: cython.longlong
    hessian: cython.longlong
    d: cython.Py_ssize_t = codes.shape[1]
    n_columns: cython.Py_ssize_t = columns.shape[0] if drawn else d
    for s in range(begins.shape[0]):
        for i in range(begins[s], ends[s]):
            row = i
            if not whole:
                row = order[i]
                if cython.compiled and i + NEAR < ends[s]:
                    # Scattered rows are asked for ahead, twice; see `FAR` and `NEAR`.
                    ahead = order[i + NEAR]
                    prefetch(cython.address(codes[ahead, 0]))
                    prefetch(cython.address(codes[ahead, d - 1]))
                    prefetch(cython.address(pairs[ahead, 0]))
                    if i + FAR < ends[s]:
                        ahead = order[i + FAR]
                        prefetch_far(cython.address(codes[ahead, 0]))
                        prefetch_far(cython.address(codes[ahead, d - 1]))
                        prefetch_far(cython.address(pairs[ahead, 0]))
            # Both sums side by side in a cell: one cache line for the pair.
            gradient = pairs[row, 0]
            hessian = pairs[row, 1]
            for j in range(n_columns):
                c = columns[j] if drawn else j
                cell = 2 * (j * 256 + cython.cast(cython.Py_ssize_t, codes[row, c]))
                hist[cell] += gradient
                hist[cell + 1] += hessian
    return 0


def pair_histogram(
    codes: cython.const[cython.uchar][:, ::1],
    order: cython.const[cython.uint][::1],
    whole: cython.bint,
    begins: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    pairs: cython.const[cython.longlong][:, ::1],
    hist: cython.longlong[::1],
    columns: cython.const[cython.longlong][::1] = None,
):
    """Add the (gradient, hessian) of every row to its bins; both already on the grid."""
    drawn: cython.bint = columns is not None
    chosen: cython.const[cython.longlong][::1] = columns if drawn else begins
    with cython.nogil:
        add_pairs(codes, order, whole, begins, ends, pairs, hist, drawn, chosen)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _add_all_packed(
    codes: cython.const[cython.uchar][:, ::1],
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    packed: cython.const[cython.longlong][::1],
    part: cython.longlong[::1],
) -> cython.int:
    """Add the words of a block of rows that lie together to the bins of all columns."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t = 0
    d: cython.Py_ssize_t = codes.shape[1]
    width: cython.Py_ssize_t
    while j < d:
        width = _width(j, d)
        for i in range(begin, end):
            # Only the first group of columns waits for memory: then the codes of the block are in
            # the cache.
            if cython.compiled and j == 0:
                prefetch(cython.address(codes[i, 0]) + FAR * d)
            _add_row(codes, i, j, width, packed[i], 0, part)
        j += width
    return 0


def packed_histogram(
    codes: cython.const[cython.uchar][:, ::1],
    order: cython.const[cython.uint][::1],
    whole: cython.bint,
    begins: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    packed: cython.const[cython.longlong][::1],
    shift: cython.int,
    block: cython.Py_ssize_t,
    part: cython.longlong[::1],
    hist: cython.longlong[::1],
    columns: cython.const[cython.longlong][::1] = None,
):
    """Add gradient * 2**shift + hessian of every row to its bins: one add per cell.

    After every `block` rows, few enough that no hessians carry into the gradients, the sums in
    `part` (zero before and after) are taken apart and added to `hist`: integers, and so exact.
    """
    c: cython.Py_ssize_t
    i: cython.Py_ssize_t
    s: cython.Py_ssize_t
    row: cython.Py_ssize_t
    ahead: cython.Py_ssize_t
    start: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    pair: cython.longlong
    mask: cython.longlong = (cython.cast(cython.longlong, 1) << shift) - 1
    drawn: cython.bint = columns is not None
    d: cython.Py_ssize_t = codes.shape[1]
    n_columns: cython.Py_ssize_t = columns.shape[0] if drawn else d
    with cython.nogil:
        for s in range(begins.shape[0]):
            start = begins[s]
            while start < ends[s]:
                stop = start + block if start + block < ends[s] else ends[s]
                if whole and not drawn:
                    _add_all_packed(codes, start, stop, packed, part)
                elif whole:
                    for i in range(start, stop):
                        if cython.compiled:
                            prefetch(cython.address(codes[i, 0]) + FAR * d)
                        _add_drawn(codes, i, columns, packed[i], 0, part)
                else:
                    for i in range(start, stop):
                        if cython.compiled and i + NEAR < ends[s]:
                            ahead = order[i + NEAR]
                            prefetch(cython.address(codes[ahead, 0]))
                            prefetch(cython.address(codes[ahead, d - 1]))
                            prefetch(cython.address(packed[ahead]))
                            if i + FAR < ends[s]:
                                ahead = order[i + FAR]
                                prefetch_far(cython.address(codes[ahead, 0]))
                                prefetch_far(cython.address(codes[ahead, d - 1]))
                                prefetch_far(cython.address(packed[ahead]))
                        row = order[i]
                        pair = packed[row]
                        if drawn:
                            _add_drawn(codes, row, columns, pair, 0, part)
                        else:
                            _add_row(codes, row, 0, d, pair, 0, part)
                # Hessians are not negative, and their sum is below 2**shift: a shift, which rounds
                # down, leaves the sum of the gradients, whatever its sign, and the mask that of the
                # hessians.
                for c in range(n_columns * 256):
                    pair = part[c]
                    hist[2 * c] += pair >> shift
                    hist[2 * c + 1] += pair & mask
                    part[c] = 0
                start = stop


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def add_vectors(
    codes: cython.const[cython.uchar][:, ::1],
    order: cython.const[cython.uint][::1],
    whole: cython.bint,
    begins: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    vectors: cython.const[cython.int][:, ::1],
    hist: cython.longlong[::1],
    drawn: cython.bint,
    columns: cython.const[cython.longlong][::1],
) -> cython.int:
    """Do what `vector_histogram` does."""
    c: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    s: cython.Py_ssize_t
    row: cython.Py_ssize_t
    cell: cython.Py_ssize_t
    ahead: cython.Py_ssize_t
    d: cython.Py_ssize_t = codes.shape[1]
    n_classes: cython.Py_ssize_t = vectors.shape[1]
    n_columns: cython.Py_ssize_t = columns.shape[0] if drawn else d
    for s in range(begins.shape[0]):
        for i in range(begins[s], ends[s]):
            row = i
            if not whole:
                row = order[i]
                if cython.compiled and i + NEAR < ends[s]:
                    ahead = order[i + NEAR]
                    prefetch(cython.address(codes[ahead, 0]))
                    prefetch(cython.address(codes[ahead, d - 1]))
                    prefetch(cython.address(vectors[ahead, 0]))
                    prefetch(cython.address(vectors[ahead, n_classes - 1]))
                    if i + FAR < ends[s]:
                        ahead = order[i + FAR]
                        prefetch_far(cython.address(codes[ahead, 0]))
                        prefetch_far(cython.address(codes[ahead, d - 1]))
                        prefetch_far(cython.address(vectors[ahead, 0]))
                        prefetch_far(cython.address(vectors[ahead, n_classes - 1]))
            for j in range(n_columns):
                c = columns[j] if drawn else j
                cell = n_classes * (j * 256 + cython.cast(cython.Py_ssize_t, codes[row, c]))
                # The K sums of a cell lie side by side, as the K numbers of a row do.
                for k in range(n_classes):
                    hist[cell + k] += vectors[row, k]
    return 0


def vector_histogram(
    codes: cython.const[cython.uchar][:, ::1],
    order: cython.const[cython.uint][::1],
    whole: cython.bint,
    begins: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    vectors: cython.const[cython.int][:, ::1],
    hist: cython.longlong[::1],
    columns: cython.const[cython.longlong][::1] = None,
):
    """Add the K signed weights of every row, already on the grid, to its bins."""
    drawn: cython.bint = columns is not None
    chosen: cython.const[cython.longlong][::1] = columns if drawn else begins
    with cython.nogil:
        add_vectors(codes, order, whole, begins, ends, vectors, hist, drawn, chosen)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def add_rows(
    codes: cython.const[cython.uchar][:, ::1],
    order: cython.const[cython.uint][::1],
    whole: cython.bint,
    begins: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    counts: cython.longlong[:, ::1],
    drawn: cython.bint,
    columns: cython.const[cython.longlong][::1],
) -> cython.int:
    """Do what `count_histogram` does."""
    c: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    s: cython.Py_ssize_t
    row: cython.Py_ssize_t
    n_columns: cython.Py_ssize_t = columns.shape[0] if drawn else codes.shape[1]
    for s in range(begins.shape[0]):
        for i in range(begins[s], ends[s]):
            row = i if whole else order[i]
            for j in range(n_columns):
                c = columns[j] if drawn else j
                counts[j, codes[row, c]] += 1
    return 0


def count_histogram(
    codes: cython.const[cython.uchar][:, ::1],
    order: cython.const[cython.uint][::1],
    whole: cython.bint,
    begins: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    counts: cython.longlong[:, ::1],
    columns: cython.const[cython.longlong][::1] = None,
):
    """Count rows by bin; only asked for when leaves have a least number of rows."""
    drawn: cython.bint = columns is not None
    chosen: cython.const[cython.longlong][::1] = columns if drawn else begins
    with cython.nogil:
        add_rows(codes, order, whole, begins, ends, counts, drawn, chosen)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def part_rows(
    codes: cython.const[cython.uchar][:, ::1],
    feature: cython.Py_ssize_t,
    goes_left: cython.const[cython.uchar][::1],
    order: cython.uint[::1],
    scratch: cython.uint[::1],
    whole: cython.bint,
    begins: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    middles: cython.longlong[::1],
) -> cython.int:
    """Do what `partition` does."""
    i: cython.Py_ssize_t
    s: cython.Py_ssize_t
    left: cython.Py_ssize_t
    right: cython.Py_ssize_t
    go: cython.Py_ssize_t
    row: cython.uint
    scattered: cython.bint = not whole and codes.shape[1] > 1
    for s in range(begins.shape[0]):
        left = begins[s]
        right = 0
        for i in range(begins[s], ends[s]):
            row = i if whole else order[i]
            if cython.compiled and scattered and i + NEAR < ends[s]:
                prefetch(cython.address(codes[order[i + NEAR], feature]))
                if i + FAR < ends[s]:
                    prefetch_far(cython.address(codes[order[i + FAR], feature]))
            go = cython.cast(cython.Py_ssize_t, goes_left[codes[row, feature]])
            # `left` never overtakes i: a place is overwritten only after its row was read.
            order[left] = row
            scratch[right] = row
            left += go
            right += 1 - go
        # Those that go right follow in the order in which they were met.
        for i in range(right):
            order[left + i] = scratch[i]
        middles[s] = left
    return 0


def partition(
    codes: cython.const[cython.uchar][:, ::1],
    feature: cython.Py_ssize_t,
    goes_left: cython.const[cython.uchar][::1],
    order: cython.uint[::1],
    scratch: cython.uint[::1],
    whole: cython.bint,
    begins: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    middles: cython.longlong[::1],
):
    """Move the rows that go left to the front of every segment, keeping their order.

    Every row is written to both sides and only one side moves on: no branch to mispredict.
    """
    with cython.nogil:
        part_rows(codes, feature, goes_left, order, scratch, whole, begins, ends, middles)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def write_leaf(
    order: cython.const[cython.uint][::1],
    whole: cython.bint,
    begins: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    leaf: cython.ushort,
    leaves: cython.ushort[::1],
) -> cython.int:
    """Do what `assign_leaf` does."""
    i: cython.Py_ssize_t
    s: cython.Py_ssize_t
    for s in range(begins.shape[0]):
        for i in range(begins[s], ends[s]):
            leaves[i if whole else order[i]] = leaf
    return 0


def assign_leaf(
    order: cython.const[cython.uint][::1],
    whole: cython.bint,
    begins: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    leaf: cython.ushort,
    leaves: cython.ushort[::1],
):
    """Write the number of a leaf at each of its rows."""
    with cython.nogil:
        write_leaf(order, whole, begins, ends, leaf, leaves)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _last_left(goes_left: cython.const[cython.uchar][::1]) -> cython.int:
    """Return up to which code all go left, and of those behind it none but missing values.

    `MISSING` where there is no such code: a subset of categories.
    """
    code: cython.int
    last: cython.int = -1
    for code in range(MISSING):
        if goes_left[code]:
            # A code that goes left behind one that does not: no threshold says that.
            if last < code - 1:
                return MISSING
            last = code
    return last


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _compare(
    line: cython.pointer[cython.const[cython.uchar]],
    count: cython.Py_ssize_t,
    last: cython.int,
    missing_left: cython.int,
    left: cython.int,
    right: cython.int,
    leaves: cython.pointer[cython.ushort],
) -> cython.longlong:
    """Write the leaves of rows whose codes lie side by side; return how many go left.

    Without a table to look codes up in, a compiler takes many of them at once.
    """
    i: cython.Py_ssize_t
    go: cython.int
    n_left: cython.uint = 0
    for i in range(count):
        go = cython.cast(cython.int, line[i] <= last)
        go |= cython.cast(cython.int, line[i] == MISSING) & missing_left
        leaves[i] = right + (left - right) * go
        n_left += go
    return n_left


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _write_cut(
    codes: cython.const[cython.uchar][:, ::1],
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    last: cython.int,
    missing_left: cython.int,
    left: cython.int,
    right: cython.int,
    leaves: cython.ushort[::1],
) -> cython.longlong:
    """Write the leaves of some rows of a table of one column; return how many go left."""
    if cython.compiled:
        return _compare(
            cython.address(codes[begin, 0]),
            end - begin,
            last,
            missing_left,
            left,
            right,
            cython.address(leaves[begin]),
        )
    else:  # noqa: RET505
        return _compare(
            codes[begin:, 0], end - begin, last, missing_left, left, right, leaves[begin:]
        )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def write_split(
    codes: cython.const[cython.uchar][:, ::1],
    feature: cython.Py_ssize_t,
    goes_left: cython.const[cython.uchar][::1],
    order: cython.const[cython.uint][::1],
    whole: cython.bint,
    begins: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    left: cython.ushort,
    right: cython.ushort,
    leaves: cython.ushort[::1],
) -> cython.longlong:
    """Do what `assign_split` does."""
    i: cython.Py_ssize_t
    s: cython.Py_ssize_t
    row: cython.Py_ssize_t
    go: cython.int
    count: cython.longlong = 0
    step: cython.int = left - right
    last: cython.int = MISSING
    scattered: cython.bint = not whole and codes.shape[1] > 1
    # One column alone, such as the copy of one that is often read: its codes lie side by side.
    if whole and codes.shape[1] == 1:
        last = _last_left(goes_left)
    for s in range(begins.shape[0]):
        # An empty segment has no first row whose address could be taken.
        if last < MISSING and begins[s] < ends[s]:
            go = cython.cast(cython.int, goes_left[MISSING])
            count += _write_cut(codes, begins[s], ends[s], last, go, left, right, leaves)
            continue
        for i in range(begins[s], ends[s]):
            row = i if whole else order[i]
            if cython.compiled and scattered and i + NEAR < ends[s]:
                prefetch(cython.address(codes[order[i + NEAR], feature]))
                if i + FAR < ends[s]:
                    prefetch_far(cython.address(codes[order[i + FAR], feature]))
            go = cython.cast(cython.int, goes_left[codes[row, feature]])
            leaves[row] = right + step * go
            count += go
    return count


def assign_split(
    codes: cython.const[cython.uchar][:, ::1],
    feature: cython.Py_ssize_t,
    goes_left: cython.const[cython.uchar][::1],
    order: cython.const[cython.uint][::1],
    whole: cython.bint,
    begins: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    left: cython.ushort,
    right: cython.ushort,
    leaves: cython.ushort[::1],
):
    """Write the leaf at each row of a node whose two children are leaves: no need to move rows.

    Returns how many rows go left.
    """
    count: cython.longlong
    with cython.nogil:
        count = write_split(
            codes, feature, goes_left, order, whole, begins, ends, left, right, leaves
        )
    return count


def weigh_leaves(
    leaves: cython.const[cython.ushort][::1],
    weights: cython.const[cython.double][::1],
    scale: cython.double,
    sums: cython.longlong[::1],
):
    """Add the weights of the rows of every leaf to the leaf's sum, on the grid."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(leaves.shape[0]):
            sums[leaves[i]] += cython.cast(cython.longlong, weights[i] * scale + 0.5)
