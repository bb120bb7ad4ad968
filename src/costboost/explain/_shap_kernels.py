"""Shapley values of trees: what each column adds to the margin of a row.

A leaf is reached when every column on its path allows it. Seen as a game among the d distinct
columns of that path, it is a product: column j brings o_j when it is known (1 if the row's value
obeys all of the path's splits on j, else 0) and z_j when it is not (the share of the training rows
that go that way; or whether a row of the background does). The Shapley value of a product is

    phi_i = value (o_i - z_i) int_0^1 prod_{j != i} (t o_j + (1 - t) z_j) dt

(the multilinear extension of the game, Owen 1972), a polynomial of degree d - 1 in t, which
Gauss-Legendre's (d + 1) // 2 points integrate exactly. All terms are positive: nothing cancels.
The values are those of TreeSHAP (Lundberg et al. 2020), path-dependent or interventional.

As o_j is 0 or 1, a leaf knows 2^d answers. Where d <= SMALL and there are many rows, they are
tabled, and a row looks its answer up by the mask of its o_j; else every row's is computed, by the
same arithmetic, so that the bits do not depend on the number of rows. Rows go by column, in blocks:

    columns (F, block) uint8    codes of the columns that the trees look at
    goes (n, block) uint8       1 where a row goes left at a node of the tree at hand
    obeys (depth, block) uint8  o_j of every row, by slot: the distinct columns of a path
    phi (F, K, block)           what is added to

Nodes are words, as in `trees._forest_kernels`; `shares` has for each node the share of its parent's
training rows that go there.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from costboost.runtime import interpreted as cython

SMALL = cython.declare(cython.Py_ssize_t, 6)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _turn(
    codes: cython.const[cython.uchar][:, ::1],
    begin: cython.Py_ssize_t,
    features: cython.const[cython.longlong][::1],
    columns: cython.uchar[:, ::1],
) -> cython.Py_ssize_t:
    """Copy the next rows to the columns; return how many."""
    f: cython.Py_ssize_t
    i: cython.Py_ssize_t
    size: cython.Py_ssize_t = columns.shape[1]
    if size > codes.shape[0] - begin:
        size = codes.shape[0] - begin
    for f in range(features.shape[0]):
        for i in range(size):
            columns[f, i] = codes[begin + i, features[f]]
    return size


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _decide(
    columns: cython.uchar[:, ::1],
    size: cython.Py_ssize_t,
    places: cython.const[cython.longlong][::1],
    words: cython.const[cython.ulonglong][::1],
    subsets: cython.const[cython.ulonglong][:, ::1],
    root: cython.Py_ssize_t,
    n_nodes: cython.Py_ssize_t,
    parents: cython.longlong[::1],
    goes: cython.uchar[:, ::1],
) -> cython.void:
    """Write which rows go left at every split of a tree, and the parent of every node."""
    i: cython.Py_ssize_t
    node: cython.Py_ssize_t
    left: cython.Py_ssize_t
    place: cython.Py_ssize_t
    word: cython.ulonglong
    bits: cython.ulonglong
    code: cython.uint
    byte: cython.uchar
    limit: cython.uchar
    shift: cython.uchar
    for node in range(n_nodes):
        word = cython.cast(cython.ulonglong, words[root + node])
        left = word >> 40
        if left == node:
            continue
        parents[left] = node
        parents[left + 1] = node
        place = places[(word >> 16) & 0xFFFFFF]
        if (word >> 9) & 1:
            for i in range(size):
                code = cython.cast(cython.uint, columns[place, i])
                bits = cython.cast(cython.ulonglong, subsets[root + node, code >> 6])
                goes[node, i] = (bits >> (code & 63)) & 1
            continue
        limit = word & 255
        shift = (word >> 8) & 1
        for i in range(size):
            byte = (cython.cast(cython.uint, columns[place, i]) + shift) & 255
            goes[node, i] = byte <= limit


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _path(
    places: cython.const[cython.longlong][::1],
    words: cython.const[cython.ulonglong][::1],
    shares: cython.const[cython.double][::1],
    root: cython.Py_ssize_t,
    leaf: cython.Py_ssize_t,
    parents: cython.longlong[::1],
    steps: cython.longlong[:, ::1],
    slots: cython.longlong[::1],
    absent: cython.double[::1],
) -> cython.Py_ssize_t:
    """Write the path to a leaf, from its end: steps (parent, goes left, slot); return d.

    `slots` holds the place of each distinct column, `absent` the product of its shares, z_j. The
    path ends where the parent is -1.
    """
    d: cython.Py_ssize_t = 0
    s: cython.Py_ssize_t
    n: cython.Py_ssize_t = 0
    node: cython.Py_ssize_t = leaf
    parent: cython.Py_ssize_t
    place: cython.Py_ssize_t
    word: cython.ulonglong
    while node != 0:
        parent = parents[node]
        word = cython.cast(cython.ulonglong, words[root + parent])
        place = places[(word >> 16) & 0xFFFFFF]
        s = 0
        while s < d and slots[s] != place:
            s += 1
        if s == d:
            slots[d] = place
            absent[d] = 1.0
            d += 1
        absent[s] *= shares[root + node]
        steps[n, 0] = parent
        steps[n, 1] = 1 if cython.cast(cython.Py_ssize_t, word >> 40) == node else 0
        steps[n, 2] = s
        n += 1
        node = parent
    steps[n, 0] = -1
    return d


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _obey(
    steps: cython.longlong[:, ::1],
    d: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
    goes: cython.uchar[:, ::1],
    obeys: cython.uchar[:, ::1],
) -> cython.void:
    """Write o_j of every row: whether its value of a column obeys all splits of a path."""
    i: cython.Py_ssize_t
    s: cython.Py_ssize_t
    n: cython.Py_ssize_t = 0
    node: cython.Py_ssize_t
    other: cython.uchar
    for s in range(d):
        for i in range(size):
            obeys[s, i] = 1
    while steps[n, 0] >= 0:
        node = steps[n, 0]
        other = 1 - steps[n, 1]
        s = steps[n, 2]
        for i in range(size):
            obeys[s, i] &= goes[node, i] ^ other
        n += 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _mask(
    d: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
    obeys: cython.uchar[:, ::1],
    masks: cython.uchar[::1],
) -> cython.void:
    """Write the o_j of every row as one byte."""
    i: cython.Py_ssize_t
    s: cython.Py_ssize_t
    for i in range(size):
        masks[i] = obeys[0, i]
    for s in range(1, d):
        for i in range(size):
            masks[i] |= obeys[s, i] << s


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _integrate(
    d: cython.Py_ssize_t,
    known: cython.double[::1],
    absent: cython.double[::1],
    points: cython.const[cython.double][:, :, ::1],
    before: cython.double[::1],
    parts: cython.double[::1],
) -> cython.void:
    """Write (o_i - z_i) int prod_{j != i} (t o_j + (1 - t) z_j) dt for every slot."""
    q: cython.Py_ssize_t
    s: cython.Py_ssize_t
    n: cython.Py_ssize_t = (d + 1) // 2
    t: cython.double
    product: cython.double
    for s in range(d):
        parts[s] = 0.0
    for q in range(n):
        t = points[n, q, 0]
        product = points[n, q, 1]
        for s in range(d):
            before[s] = product
            product *= t * known[s] + (1.0 - t) * absent[s]
        product = 1.0
        s = d
        while s > 0:
            s -= 1
            parts[s] += before[s] * product
            product *= t * known[s] + (1.0 - t) * absent[s]
    for s in range(d):
        parts[s] *= known[s] - absent[s]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _compare(
    d: cython.Py_ssize_t,
    known: cython.double[::1],
    absent: cython.double[::1],
    weight: cython.double,
    betas: cython.const[cython.double][:, ::1],
    parts: cython.double[::1],
) -> cython.void:
    """Add the same for z_j that are 0 or 1: a row against one of the background.

    With a columns that only the row obeys and b that only the other does, the integral is
    int t^(a - 1) (1 - t)^b dt = (a - 1)! b! / (a + b)!, and betas[a, b] = a! b! / (a + b + 1)!.
    """
    s: cython.Py_ssize_t
    a: cython.Py_ssize_t = 0
    b: cython.Py_ssize_t = 0
    for s in range(d):
        if known[s] == 0.0 and absent[s] == 0.0:
            return
        if known[s] > absent[s]:
            a += 1
        elif known[s] < absent[s]:
            b += 1
    for s in range(d):
        if known[s] > absent[s]:
            parts[s] += weight * betas[a - 1, b]
        elif known[s] < absent[s]:
            parts[s] -= weight * betas[a, b - 1]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _read_mask(
    mask: cython.Py_ssize_t, d: cython.Py_ssize_t, out: cython.double[::1]
) -> cython.void:
    s: cython.Py_ssize_t
    for s in range(d):
        out[s] = 1.0 if (mask >> s) & 1 else 0.0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add_tabled(
    d: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
    slots: cython.longlong[::1],
    masks: cython.uchar[::1],
    table: cython.double[:, ::1],
    values: cython.const[cython.double][:, ::1],
    leaf: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    phi: cython.double[:, :, ::1],
) -> cython.void:
    """Add what the table says of every row's mask, times the leaf's values."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    s: cython.Py_ssize_t
    place: cython.Py_ssize_t
    value: cython.double
    for s in range(d):
        place = slots[s]
        for k in range(first, last):
            value = values[leaf, k]
            for i in range(size):
                phi[place, k, i] += value * table[s, masks[i]]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add_parts(
    d: cython.Py_ssize_t,
    row: cython.Py_ssize_t,
    slots: cython.longlong[::1],
    parts: cython.double[::1],
    values: cython.const[cython.double][:, ::1],
    leaf: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    phi: cython.double[:, :, ::1],
) -> cython.void:
    """Add one row's parts, times the leaf's values."""
    k: cython.Py_ssize_t
    s: cython.Py_ssize_t
    for s in range(d):
        for k in range(first, last):
            phi[slots[s], k, row] += values[leaf, k] * parts[s]


def path_dependent(
    codes: cython.const[cython.uchar][:, ::1],
    words: cython.const[cython.ulonglong][::1],
    subsets: cython.const[cython.ulonglong][:, ::1],
    roots: cython.const[cython.longlong][::1],
    values: cython.const[cython.double][:, ::1],
    shares: cython.const[cython.double][::1],
    spans: cython.const[cython.longlong][:, ::1],
    features: cython.const[cython.longlong][::1],
    places: cython.const[cython.longlong][::1],
    points: cython.const[cython.double][:, :, ::1],
    columns: cython.uchar[:, ::1],
    goes: cython.uchar[:, ::1],
    parents: cython.longlong[::1],
    steps: cython.longlong[:, ::1],
    slots: cython.longlong[::1],
    obeys: cython.uchar[:, ::1],
    masks: cython.uchar[::1],
    room: cython.double[:, ::1],
    table: cython.double[:, ::1],
    phi: cython.double[:, :, ::1],
):
    """Add the path-dependent Shapley values of a block of rows to phi.

    Parameters
    ----------
    roots : int64 array of shape (n_trees + 1,)
        Where each tree begins, and the end of the last.
    spans : int64 array of shape (n_trees, 2)
        Which outputs a tree's leaves have values for: first, and last + 1.
    points : float64 array of shape (n, n, 2)
        points[q, :q] are the Gauss-Legendre points on [0, 1] of order q, and their weights.
    columns, goes, parents, steps, slots, obeys, masks, room, table
        Scratch: see the head of this module. `room` has four rows, of as many entries as a path
        has columns at most; `steps` one row more than the deepest tree has levels.
    """
    t: cython.Py_ssize_t
    d: cython.Py_ssize_t
    i: cython.Py_ssize_t
    s: cython.Py_ssize_t
    mask: cython.Py_ssize_t
    leaf: cython.Py_ssize_t
    root: cython.Py_ssize_t
    n_nodes: cython.Py_ssize_t
    size: cython.Py_ssize_t
    known: cython.double[::1] = room[0]
    absent: cython.double[::1] = room[1]
    before: cython.double[::1] = room[2]
    parts: cython.double[::1] = room[3]
    with cython.nogil:
        size = _turn(codes, 0, features, columns)
        for t in range(roots.shape[0] - 1):
            root = roots[t]
            n_nodes = roots[t + 1] - root
            _decide(columns, size, places, words, subsets, root, n_nodes, parents, goes)
            for leaf in range(1, n_nodes):
                if cython.cast(cython.Py_ssize_t, words[root + leaf] >> 40) != leaf:
                    continue
                d = _path(places, words, shares, root, leaf, parents, steps, slots, absent)
                _obey(steps, d, size, goes, obeys)
                if d <= SMALL and size >= (1 << d) // 2:
                    for mask in range(1 << d):
                        _read_mask(mask, d, known)
                        _integrate(d, known, absent, points, before, parts)
                        for s in range(d):
                            table[s, mask] = parts[s]
                    _mask(d, size, obeys, masks)
                    _add_tabled(
                        d,
                        size,
                        slots,
                        masks,
                        table,
                        values,
                        root + leaf,
                        spans[t, 0],
                        spans[t, 1],
                        phi,
                    )
                    continue
                for i in range(size):
                    for s in range(d):
                        known[s] = obeys[s, i]
                    _integrate(d, known, absent, points, before, parts)
                    _add_parts(
                        d, i, slots, parts, values, root + leaf, spans[t, 0], spans[t, 1], phi
                    )


def interventional(
    codes: cython.const[cython.uchar][:, ::1],
    words: cython.const[cython.ulonglong][::1],
    subsets: cython.const[cython.ulonglong][:, ::1],
    roots: cython.const[cython.longlong][::1],
    values: cython.const[cython.double][:, ::1],
    shares: cython.const[cython.double][::1],
    spans: cython.const[cython.longlong][:, ::1],
    features: cython.const[cython.longlong][::1],
    places: cython.const[cython.longlong][::1],
    betas: cython.const[cython.double][:, ::1],
    columns: cython.uchar[:, ::1],
    goes: cython.uchar[:, ::1],
    parents: cython.longlong[::1],
    steps: cython.longlong[:, ::1],
    slots: cython.longlong[::1],
    obeys: cython.uchar[:, ::1],
    masks: cython.uchar[::1],
    room: cython.double[:, ::1],
    table: cython.double[:, ::1],
    phi: cython.double[:, :, ::1],
    background: cython.const[cython.uchar][:, ::1],
    their_columns: cython.uchar[:, ::1],
    their_goes: cython.uchar[:, ::1],
    their_obeys: cython.uchar[:, ::1],
    their_masks: cython.uchar[::1],
    counts: cython.double[::1],
):
    """Add the Shapley values of a block of rows against a background, the mean over its rows.

    The parameters are those of `path_dependent`; `background` and `their_...` are the same for
    the rows of the background, of which there are a block at most. `counts` is room for the number
    of them with each mask.
    """
    t: cython.Py_ssize_t
    b: cython.Py_ssize_t
    d: cython.Py_ssize_t
    i: cython.Py_ssize_t
    s: cython.Py_ssize_t
    mask: cython.Py_ssize_t
    leaf: cython.Py_ssize_t
    root: cython.Py_ssize_t
    n_nodes: cython.Py_ssize_t
    size: cython.Py_ssize_t
    n_others: cython.Py_ssize_t = background.shape[0]
    weight: cython.double
    known: cython.double[::1] = room[0]
    absent: cython.double[::1] = room[1]
    parts: cython.double[::1] = room[3]
    with cython.nogil:
        size = _turn(codes, 0, features, columns)
        _turn(background, 0, features, their_columns)
        for t in range(roots.shape[0] - 1):
            root = roots[t]
            n_nodes = roots[t + 1] - root
            _decide(columns, size, places, words, subsets, root, n_nodes, parents, goes)
            _decide(
                their_columns, n_others, places, words, subsets, root, n_nodes, parents, their_goes
            )
            for leaf in range(1, n_nodes):
                if cython.cast(cython.Py_ssize_t, words[root + leaf] >> 40) != leaf:
                    continue
                d = _path(places, words, shares, root, leaf, parents, steps, slots, absent)
                _obey(steps, d, size, goes, obeys)
                _obey(steps, d, n_others, their_goes, their_obeys)
                if d <= SMALL:
                    _mask(d, n_others, their_obeys, their_masks)
                    for mask in range(1 << d):
                        counts[mask] = 0.0
                    for b in range(n_others):
                        counts[their_masks[b]] += 1.0
                    for mask in range(1 << d):
                        _read_mask(mask, d, known)
                        for s in range(d):
                            parts[s] = 0.0
                        for b in range(1 << d):
                            if counts[b] > 0.0:
                                weight = counts[b] / n_others
                                _read_mask(b, d, absent)
                                _compare(d, known, absent, weight, betas, parts)
                        for s in range(d):
                            table[s, mask] = parts[s]
                    _mask(d, size, obeys, masks)
                    _add_tabled(
                        d,
                        size,
                        slots,
                        masks,
                        table,
                        values,
                        root + leaf,
                        spans[t, 0],
                        spans[t, 1],
                        phi,
                    )
                    continue
                for i in range(size):
                    for s in range(d):
                        known[s] = obeys[s, i]
                        parts[s] = 0.0
                    for b in range(n_others):
                        for s in range(d):
                            absent[s] = their_obeys[s, b]
                        _compare(d, known, absent, 1.0 / n_others, betas, parts)
                    _add_parts(
                        d, i, slots, parts, values, root + leaf, spans[t, 0], spans[t, 1], phi
                    )
