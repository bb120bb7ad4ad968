"""A forest of three trees, laid out by hand: a node is one word."""

from __future__ import annotations

import numpy as np


def pack(limit, *, shift=0, subset=0, feature=0, left=0):
    return limit | shift << 8 | subset << 9 | feature << 16 | left << 40


LEAF = 255


def toy_forest():
    """Tree 0: column 1 at 3, missing left, then categories {0, 70, 255} of column 0 on its left.

    Tree 1: a leaf. Tree 2: column 2 at 254, so that only missing values go right.
    """
    words = [
        pack(3 + 1, shift=1, feature=1, left=1),
        pack(0, subset=1, feature=0, left=3),
        *(pack(LEAF, left=node) for node in (2, 3, 4)),
        pack(LEAF, left=0),
        pack(254, feature=2, left=1),
        pack(LEAF, left=1),
        pack(LEAF, left=2),
    ]
    subsets = np.zeros((9, 4), dtype=np.uint64)
    subsets[1] = [1, 1 << 6, 0, 1 << 63]
    values = np.arange(18.0).reshape(9, 2) / 7
    arrays = (
        np.array(words, dtype=np.uint64),
        subsets,
        np.array([0, 5, 6]),
        np.array([2, 0, 1]),
        values,
    )
    for array in arrays:
        array.setflags(write=False)
    return arrays


def toy_leaves(row):
    first = 2
    if row[1] <= 3 or row[1] == 255:
        first = 3 if row[0] in (0, 70, 255) else 4
    return [first, 0, 2 if row[2] == 255 else 1]


TOY_CODES = np.array(
    [
        [a, b, c]
        for a in (0, 1, 64, 70, 254, 255)
        for b in (0, 3, 4, 254, 255)
        for c in (0, 254, 255)
    ],
    dtype=np.uint8,
)
