"""Kernels that send many rows down many trees at once: 64 rows are the bits of a word.

A *mask* holds one bit for each row of a block. Which rows a split sends right is a mask, made once
for all trees that split alike; which rows reach a node is one too, so that a step down the tree is

    right child = node & split            left child = node ^ right child

for all rows of the block together, without a branch or a load that depends on a row. The leaves of
a tree have numbers of at most eight bits. A bit of the number is one more mask, a *plane*: the
rows that reach a node below which all leaves have that bit. Eight planes are turned into one byte
for each row, and the byte finds the value of its leaf. Values are added tree after tree, so that
margins are those of any other way, bit for bit.

    codes of a column -> 8 planes -> masks of splits -> masks of nodes -> 8 planes -> leaf numbers

Masks have `width` words. A block has 64 * width rows: row i is byte i of a column, and whatever bit
of a mask `_turn` makes of it, the same everywhere.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from costboost.runtime import interpreted as cython

ALL = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
SMALL = cython.declare(cython.Py_ssize_t, 128)  # rows of a block of two words
LARGE = cython.declare(cython.Py_ssize_t, 512)  # of eight
AHEAD = cython.declare(cython.Py_ssize_t, 8)  # trees whose leaves are numbered before values


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _first(
    x: cython.ulonglong, y: cython.ulonglong, shift: cython.int, kept: cython.ulonglong
) -> cython.ulonglong:
    return x ^ ((((x >> shift) ^ y) & kept) << shift)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _second(
    x: cython.ulonglong, y: cython.ulonglong, shift: cython.int, kept: cython.ulonglong
) -> cython.ulonglong:
    return y ^ (((x >> shift) ^ y) & kept)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _turn(
    words: cython.ulonglong[::1], begin: cython.Py_ssize_t, width: cython.Py_ssize_t
) -> cython.void:
    """Turn bytes of 8 * width words into planes, or planes into bytes: it is its own inverse.

    Eight words are eight times eight squares of bits, each of which is transposed.
    """
    w: cython.Py_ssize_t
    a: cython.ulonglong
    b: cython.ulonglong
    c: cython.ulonglong
    d: cython.ulonglong
    e: cython.ulonglong
    f: cython.ulonglong
    g: cython.ulonglong
    h: cython.ulonglong
    kept: cython.ulonglong
    for w in range(width):
        a = cython.cast(cython.ulonglong, words[begin + w])
        b = cython.cast(cython.ulonglong, words[begin + width + w])
        c = cython.cast(cython.ulonglong, words[begin + 2 * width + w])
        d = cython.cast(cython.ulonglong, words[begin + 3 * width + w])
        e = cython.cast(cython.ulonglong, words[begin + 4 * width + w])
        f = cython.cast(cython.ulonglong, words[begin + 5 * width + w])
        g = cython.cast(cython.ulonglong, words[begin + 6 * width + w])
        h = cython.cast(cython.ulonglong, words[begin + 7 * width + w])
        # Neighbours, then pairs, then halves exchange a bit, two bits, four.
        kept = 0x5555555555555555
        a, b = _first(a, b, 1, kept), _second(a, b, 1, kept)
        c, d = _first(c, d, 1, kept), _second(c, d, 1, kept)
        e, f = _first(e, f, 1, kept), _second(e, f, 1, kept)
        g, h = _first(g, h, 1, kept), _second(g, h, 1, kept)
        kept = 0x3333333333333333
        a, c = _first(a, c, 2, kept), _second(a, c, 2, kept)
        b, d = _first(b, d, 2, kept), _second(b, d, 2, kept)
        e, g = _first(e, g, 2, kept), _second(e, g, 2, kept)
        f, h = _first(f, h, 2, kept), _second(f, h, 2, kept)
        kept = 0x0F0F0F0F0F0F0F0F
        a, e = _first(a, e, 4, kept), _second(a, e, 4, kept)
        b, f = _first(b, f, 4, kept), _second(b, f, 4, kept)
        c, g = _first(c, g, 4, kept), _second(c, g, 4, kept)
        d, h = _first(d, h, 4, kept), _second(d, h, 4, kept)
        words[begin + w] = a
        words[begin + width + w] = b
        words[begin + 2 * width + w] = c
        words[begin + 3 * width + w] = d
        words[begin + 4 * width + w] = e
        words[begin + 5 * width + w] = f
        words[begin + 6 * width + w] = g
        words[begin + 7 * width + w] = h


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _exceed(
    planes: cython.ulonglong[::1],
    begin: cython.Py_ssize_t,
    above: cython.ulonglong[::1],
    to: cython.Py_ssize_t,
    width: cython.Py_ssize_t,
) -> cython.void:
    """Write for each t < 16 which numbers of four planes are larger than t."""
    w: cython.Py_ssize_t
    t: cython.Py_ssize_t
    b: cython.Py_ssize_t
    n: cython.Py_ssize_t = 1
    at: cython.Py_ssize_t
    bit: cython.ulonglong
    for w in range(width):
        above[to + w] = 0
    # With one bit more on top: larger than t if it is set or the others are; than t + n, if both.
    for b in range(4):
        for t in range(n):
            at = to + t * width
            for w in range(width):
                bit = planes[begin + b * width + w]
                above[at + n * width + w] = above[at + w] & bit
                above[at + w] = above[at + w] | bit
        n = 2 * n


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _split_rows(
    codes: cython.const[cython.uchar][:, ::1],
    begin: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
    features: cython.const[cython.longlong][::1],
    starts: cython.const[cython.longlong][::1],
    flips: cython.const[cython.uchar][::1],
    bound_starts: cython.const[cython.longlong][::1],
    bounds: cython.const[cython.uchar][::1],
    column: cython.uchar[::1],
    planes: cython.ulonglong[::1],
    above: cython.ulonglong[::1],
    masks: cython.ulonglong[::1],
    width: cython.Py_ssize_t,
) -> cython.void:
    """Write the mask of every split for a block of rows: those that it sends right."""
    f: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    w: cython.Py_ssize_t
    c: cython.Py_ssize_t
    bound: cython.Py_ssize_t
    low: cython.Py_ssize_t
    high: cython.Py_ssize_t
    flip: cython.ulonglong
    x: cython.ulonglong
    y: cython.ulonglong
    for f in range(features.shape[0]):
        j = features[f]
        for i in range(size):
            column[i] = codes[begin + i, j]
        _turn(planes, 0, width)
        # Masks of the lower four bits, and of the upper ones; those exceed -1 everywhere.
        _exceed(planes, 0, above, 0, width)
        for w in range(width):
            above[16 * width + w] = ALL
        _exceed(planes, 4 * width, above, 17 * width, width)
        for c in range(starts[f], starts[f + 1]):
            # Codes change sides behind each bound: a threshold is one, a set has several.
            k = bound_starts[c]
            flip = ALL if flips[c] else 0
            bound = cython.cast(cython.Py_ssize_t, bounds[k])
            low = (bound & 15) * width
            high = (16 + (bound >> 4)) * width
            for w in range(0, width, 2):
                x = above[high + width + w] | (above[high + w] & above[low + w])
                y = above[high + width + w + 1] | (above[high + w + 1] & above[low + w + 1])
                masks[c * width + w] = flip ^ x
                masks[c * width + w + 1] = flip ^ y
            for k in range(bound_starts[c] + 1, bound_starts[c + 1]):
                bound = cython.cast(cython.Py_ssize_t, bounds[k])
                low = (bound & 15) * width
                high = (16 + (bound >> 4)) * width
                for w in range(0, width, 2):
                    x = above[high + width + w] | (above[high + w] & above[low + w])
                    y = above[high + width + w + 1] | (above[high + w + 1] & above[low + w + 1])
                    masks[c * width + w] ^= x
                    masks[c * width + w + 1] ^= y


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _number_leaves(
    t: cython.Py_ssize_t,
    split_starts: cython.const[cython.longlong][::1],
    parents: cython.const[cython.ushort][::1],
    lefts: cython.const[cython.ushort][::1],
    conditions: cython.const[cython.int][::1],
    plane_starts: cython.const[cython.longlong][::1],
    slots: cython.const[cython.ushort][::1],
    masks: cython.ulonglong[::1],
    reach: cython.ulonglong[::1],
    numbers: cython.ulonglong[::1],
    to: cython.Py_ssize_t,
    width: cython.Py_ssize_t,
) -> cython.void:
    """Write the number of the leaf of every row of a block in tree t, a byte each."""
    s: cython.Py_ssize_t
    p: cython.Py_ssize_t
    node: cython.Py_ssize_t
    left: cython.Py_ssize_t
    split: cython.Py_ssize_t
    at: cython.Py_ssize_t
    a: cython.ulonglong
    b: cython.ulonglong
    c: cython.ulonglong
    d: cython.ulonglong
    e: cython.ulonglong
    f: cython.ulonglong
    g: cython.ulonglong
    h: cython.ulonglong
    aa: cython.ulonglong
    bb: cython.ulonglong
    cc: cython.ulonglong
    dd: cython.ulonglong
    ee: cython.ulonglong
    ff: cython.ulonglong
    gg: cython.ulonglong
    hh: cython.ulonglong
    # Words go in pairs, which are one register.
    for s in range(split_starts[t], split_starts[t + 1]):
        node = cython.cast(cython.Py_ssize_t, parents[s]) * width
        left = cython.cast(cython.Py_ssize_t, lefts[s]) * width
        split = cython.cast(cython.Py_ssize_t, conditions[s]) * width
        if width == 8:
            # All is read before anything is written: the compiler then takes two words at a time.
            a = reach[node]
            b = reach[node + 1]
            c = reach[node + 2]
            d = reach[node + 3]
            e = reach[node + 4]
            f = reach[node + 5]
            g = reach[node + 6]
            h = reach[node + 7]
            aa = a & masks[split]
            bb = b & masks[split + 1]
            cc = c & masks[split + 2]
            dd = d & masks[split + 3]
            ee = e & masks[split + 4]
            ff = f & masks[split + 5]
            gg = g & masks[split + 6]
            hh = h & masks[split + 7]
            reach[left] = a ^ aa
            reach[left + 1] = b ^ bb
            reach[left + 2] = c ^ cc
            reach[left + 3] = d ^ dd
            reach[left + 4] = e ^ ee
            reach[left + 5] = f ^ ff
            reach[left + 6] = g ^ gg
            reach[left + 7] = h ^ hh
            reach[left + 8] = aa
            reach[left + 9] = bb
            reach[left + 10] = cc
            reach[left + 11] = dd
            reach[left + 12] = ee
            reach[left + 13] = ff
            reach[left + 14] = gg
            reach[left + 15] = hh
        else:
            a = reach[node]
            b = reach[node + 1]
            c = a & masks[split]
            d = b & masks[split + 1]
            reach[left] = a ^ c
            reach[left + 1] = b ^ d
            reach[left + 2] = c
            reach[left + 3] = d
    for p in range(8):
        at = to + p * width
        a = b = c = d = e = f = g = h = 0
        for s in range(plane_starts[8 * t + p], plane_starts[8 * t + p + 1]):
            node = cython.cast(cython.Py_ssize_t, slots[s]) * width
            a |= reach[node]
            b |= reach[node + 1]
            if width == 8:
                c |= reach[node + 2]
                d |= reach[node + 3]
                e |= reach[node + 4]
                f |= reach[node + 5]
                g |= reach[node + 6]
                h |= reach[node + 7]
        numbers[at] = a
        numbers[at + 1] = b
        if width == 8:
            numbers[at + 2] = c
            numbers[at + 3] = d
            numbers[at + 4] = e
            numbers[at + 5] = f
            numbers[at + 6] = g
            numbers[at + 7] = h
    _turn(numbers, to, width)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add_values(
    numbers: cython.uchar[::1],
    starts: cython.const[cython.longlong][::1],
    t: cython.Py_ssize_t,
    n_trees: cython.Py_ssize_t,
    values: cython.const[cython.double][::1],
    margins: cython.double[:, :, :],
    member: cython.Py_ssize_t,
    begin: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
    width: cython.Py_ssize_t,
) -> cython.void:
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    n: cython.Py_ssize_t
    leaf: cython.Py_ssize_t
    total: cython.double
    n_outputs: cython.Py_ssize_t = margins.shape[2]
    at: cython.Py_ssize_t = starts[t] * n_outputs
    b: cython.Py_ssize_t
    c: cython.Py_ssize_t
    d: cython.Py_ssize_t
    e: cython.Py_ssize_t
    f: cython.Py_ssize_t
    g: cython.Py_ssize_t
    h: cython.Py_ssize_t
    if n_outputs == 1 and n_trees == AHEAD:
        # A margin takes the values of eight trees, one after the other, before it is written.
        b = starts[t + 1]
        c = starts[t + 2]
        d = starts[t + 3]
        e = starts[t + 4]
        f = starts[t + 5]
        g = starts[t + 6]
        h = starts[t + 7]
        for i in range(size):
            total = margins[member, begin + i, 0]
            total = total + values[at + numbers[i]]
            total = total + values[b + numbers[64 * width + i]]
            total = total + values[c + numbers[128 * width + i]]
            total = total + values[d + numbers[192 * width + i]]
            total = total + values[e + numbers[256 * width + i]]
            total = total + values[f + numbers[320 * width + i]]
            total = total + values[g + numbers[384 * width + i]]
            total = total + values[h + numbers[448 * width + i]]
            margins[member, begin + i, 0] = total
        return
    for n in range(n_trees):
        at = starts[t + n] * n_outputs
        for i in range(size):
            leaf = at + cython.cast(cython.Py_ssize_t, numbers[64 * width * n + i]) * n_outputs
            for k in range(n_outputs):
                margins[member, begin + i, k] += values[leaf + k]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _block(n_rows: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return how many of the rows that are left come next."""
    if n_rows >= LARGE:
        return LARGE
    # So many rows in small blocks take longer than in a large one that they do not fill.
    if n_rows > SMALL + SMALL // 2:
        return n_rows
    return n_rows if n_rows < SMALL else SMALL


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add_block(
    codes: cython.const[cython.uchar][:, ::1],
    begin: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
    features: cython.const[cython.longlong][::1],
    starts: cython.const[cython.longlong][::1],
    flips: cython.const[cython.uchar][::1],
    bound_starts: cython.const[cython.longlong][::1],
    bounds: cython.const[cython.uchar][::1],
    split_starts: cython.const[cython.longlong][::1],
    parents: cython.const[cython.ushort][::1],
    lefts: cython.const[cython.ushort][::1],
    conditions: cython.const[cython.int][::1],
    plane_starts: cython.const[cython.longlong][::1],
    slots: cython.const[cython.ushort][::1],
    value_starts: cython.const[cython.longlong][::1],
    members: cython.const[cython.longlong][::1],
    column: cython.uchar[::1],
    words: cython.ulonglong[::1],
    above: cython.ulonglong[::1],
    masks: cython.ulonglong[::1],
    reach: cython.ulonglong[::1],
    values: cython.const[cython.double][::1],
    margins: cython.double[:, :, :],
    width: cython.Py_ssize_t,
) -> cython.void:
    t: cython.Py_ssize_t = 0
    n: cython.Py_ssize_t
    i: cython.Py_ssize_t
    for i in range(width):
        reach[i] = ALL  # the root
    _split_rows(
        codes,
        begin,
        size,
        features,
        starts,
        flips,
        bound_starts,
        bounds,
        column,
        words,
        above,
        masks,
        width,
    )
    while t < members.shape[0]:
        n = 1
        while n < AHEAD and t + n < members.shape[0] and members[t + n] == members[t]:
            n += 1
        for i in range(n):
            _number_leaves(
                t + i,
                split_starts,
                parents,
                lefts,
                conditions,
                plane_starts,
                slots,
                masks,
                reach,
                words,
                8 * i * width,
                width,
            )
        _add_values(column, value_starts, t, n, values, margins, members[t], begin, size, width)
        t += n


def add_margins(
    codes: cython.const[cython.uchar][:, ::1],
    features: cython.const[cython.longlong][::1],
    starts: cython.const[cython.longlong][::1],
    flips: cython.const[cython.uchar][::1],
    bound_starts: cython.const[cython.longlong][::1],
    bounds: cython.const[cython.uchar][::1],
    split_starts: cython.const[cython.longlong][::1],
    parents: cython.const[cython.ushort][::1],
    lefts: cython.const[cython.ushort][::1],
    conditions: cython.const[cython.int][::1],
    plane_starts: cython.const[cython.longlong][::1],
    slots: cython.const[cython.ushort][::1],
    value_starts: cython.const[cython.longlong][::1],
    members: cython.const[cython.longlong][::1],
    column: cython.uchar[::1],
    words: cython.ulonglong[::1],
    above: cython.ulonglong[::1],
    masks: cython.ulonglong[::1],
    reach: cython.ulonglong[::1],
    values: cython.const[cython.double][::1],
    margins: cython.double[:, :, :],
):
    """Add the leaf values of trees to margins[members[t]], tree after tree.

    Parameters
    ----------
    features, starts, flips, bound_starts, bounds
        The splits; see `masks.Splits`.
    split_starts, parents, lefts, conditions, plane_starts, slots, value_starts
        The trees; see `masks.Trees`.
    members : int64 array of shape (T,)
    column, words, above, masks, reach
        Scratch; see `masks.MaskPlan.room`.
    values : float64 array
        All outputs of the first leaf of the first tree, then of the second.
    margins : float64 array of shape (n_members, n, n_outputs)
    """
    begin: cython.Py_ssize_t = 0
    size: cython.Py_ssize_t
    with cython.nogil:
        while begin < codes.shape[0]:
            size = _block(codes.shape[0] - begin)
            # The widths as constants: loops over words become straight code.
            if size > SMALL:
                _add_block(
                    codes,
                    begin,
                    size,
                    features,
                    starts,
                    flips,
                    bound_starts,
                    bounds,
                    split_starts,
                    parents,
                    lefts,
                    conditions,
                    plane_starts,
                    slots,
                    value_starts,
                    members,
                    column,
                    words,
                    above,
                    masks,
                    reach,
                    values,
                    margins,
                    8,
                )
            else:
                _add_block(
                    codes,
                    begin,
                    size,
                    features,
                    starts,
                    flips,
                    bound_starts,
                    bounds,
                    split_starts,
                    parents,
                    lefts,
                    conditions,
                    plane_starts,
                    slots,
                    value_starts,
                    members,
                    column,
                    words,
                    above,
                    masks,
                    reach,
                    values,
                    margins,
                    2,
                )
            begin += size


def find_leaves(
    codes: cython.const[cython.uchar][:, ::1],
    features: cython.const[cython.longlong][::1],
    starts: cython.const[cython.longlong][::1],
    flips: cython.const[cython.uchar][::1],
    bound_starts: cython.const[cython.longlong][::1],
    bounds: cython.const[cython.uchar][::1],
    split_starts: cython.const[cython.longlong][::1],
    parents: cython.const[cython.ushort][::1],
    lefts: cython.const[cython.ushort][::1],
    conditions: cython.const[cython.int][::1],
    plane_starts: cython.const[cython.longlong][::1],
    slots: cython.const[cython.ushort][::1],
    value_starts: cython.const[cython.longlong][::1],
    column: cython.uchar[::1],
    words: cython.ulonglong[::1],
    above: cython.ulonglong[::1],
    masks: cython.ulonglong[::1],
    reach: cython.ulonglong[::1],
    leaf_nodes: cython.const[cython.longlong][::1],
    leaves: cython.longlong[:, ::1],
):
    """Write the leaf of every row in every tree, as a node number counted from the root."""
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    begin: cython.Py_ssize_t = 0
    size: cython.Py_ssize_t
    with cython.nogil:
        while begin < codes.shape[0]:
            size = codes.shape[0] - begin
            size = size if size < LARGE else LARGE
            for i in range(8):
                reach[i] = ALL
            _split_rows(
                codes,
                begin,
                size,
                features,
                starts,
                flips,
                bound_starts,
                bounds,
                column,
                words,
                above,
                masks,
                8,
            )
            for t in range(leaves.shape[1]):
                _number_leaves(
                    t,
                    split_starts,
                    parents,
                    lefts,
                    conditions,
                    plane_starts,
                    slots,
                    masks,
                    reach,
                    words,
                    0,
                    8,
                )
                for i in range(size):
                    leaves[begin + i, t] = leaf_nodes[value_starts[t] + column[i]]
            begin += size
