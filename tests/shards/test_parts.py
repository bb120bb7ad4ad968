"""Parts store codes so that models need no copy of them, and find every row's codes again."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from costboost.binning.binner import fit_binner
from costboost.shards.parts import RawRows, TablePart, bind_part_labels, encode_part

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 3))
Y = RNG.integers(0, 3, N)
FOLDS = RNG.integers(0, 4, N).astype(np.uint8)  # of three; 3 is in none
BINNER = fit_binner(X)
CODES = BINNER.encode(X)


class Rows:
    def read(self):
        return RawRows(X, Y)


def make_part(folds=None):
    part = TablePart(Rows())
    bind_part_labels(classes=np.arange(3)).answer(part)
    encode_part(binner=BINNER, folds=None if folds is None else (folds, 3)).answer(part)
    return part


def loader(labels=None):
    return SimpleNamespace(labels=labels, n_segments=1 if labels is None else 3)


def codes_by_row(found, n_rows):
    """Return the codes that a shard would read, in the order of the rows."""
    cuts, skips = found.pieces or (found.starts, (0,) * (len(found.starts) - 1))
    skip = np.repeat(skips, np.diff(cuts))
    out = np.empty((n_rows, 3), dtype=np.uint8)
    out[found.rows] = found.codes[np.arange(n_rows) + skip]
    return out


@pytest.mark.parametrize("folds", [None, FOLDS])
def test_codes_of_rows_are_found(folds):
    part = make_part(folds)
    np.testing.assert_array_equal(part.codes_of(None), CODES)
    chosen = np.array([50, 3, 7], dtype=np.uint32)
    np.testing.assert_array_equal(part.codes_of(chosen), CODES[chosen])


class Blank:
    """A loader that groups rows by their classes, by other numbers, or not at all."""

    def __init__(self, by=None, labels=None):
        self.by, self.labels, self.n_segments = by, labels, 1 if by is None else 3

    def on(self, data):
        return Blank(self.by, None if self.by is None else self.by(data))


@pytest.mark.parametrize("by", [None, lambda data: data.y])
def test_all_rows_by_class_need_no_copy(by):
    part = make_part()
    made, found = part.as_stored(Blank(by))
    assert np.shares_memory(found.codes, part.codes)
    np.testing.assert_array_equal(codes_by_row(found, N), CODES)
    if by is not None:
        assert np.shares_memory(made.labels, part.data.y)
        for k in range(3):
            assert set(Y[found.rows[found.starts[k] : found.starts[k + 1]]]) == {k}


def test_what_was_said_of_rows_is_held_once_and_found():
    part = make_part()
    np.testing.assert_array_equal(part.data.y, np.sort(Y))
    np.testing.assert_array_equal(part.settled(None).y, Y)
    chosen = np.array([50, 3, 7], dtype=np.uint32)
    np.testing.assert_array_equal(part.settled(chosen).y, Y[chosen])


def test_other_groups_are_not_as_stored():
    aims = RNG.integers(0, 3, N)
    assert make_part().as_stored(Blank(lambda data: aims)) is None


def test_other_groups_are_copied():
    part, aims = make_part(), RNG.integers(0, 3, N)
    found = part.arranged(None, loader(aims))
    assert not np.shares_memory(found.codes, part.codes)
    np.testing.assert_array_equal(codes_by_row(found, N), CODES)
    for k in range(3):
        assert set(aims[found.rows[found.starts[k] : found.starts[k + 1]]]) == {k}


@pytest.mark.parametrize("fold", [0, 1, 2])
@pytest.mark.parametrize("folds", [FOLDS, np.minimum(FOLDS, 2)], ids=["some in none", "all"])
def test_models_that_leave_out_a_fold_share_the_codes(fold, folds):
    part = make_part(folds)
    chosen = np.flatnonzero((folds != fold) & (folds < 3)).astype(np.uint32)
    for labels in (None, Y[chosen]):
        found = part.arranged(chosen, loader(labels))
        assert np.shares_memory(found.codes, part.codes)
        np.testing.assert_array_equal(codes_by_row(found, len(chosen)), CODES[chosen])
        if labels is not None:
            assert len(found.starts) == 4
            for k, (begin, end) in enumerate(pairwise(found.starts)):
                assert np.all(Y[chosen][found.rows[begin:end]] == k)


def test_classes_that_a_part_has_no_rows_of():
    part = make_part(FOLDS)
    chosen = np.flatnonzero((FOLDS != 1) & (FOLDS < 3)).astype(np.uint32)
    own = SimpleNamespace(labels=Y[chosen], n_segments=5)
    found = part.arranged(chosen, own)
    assert found.starts.tolist()[3:] == [len(chosen)] * 3
    assert len(found.pieces.skips) == 10


def test_rows_that_aim_elsewhere_are_copied():
    part = make_part(FOLDS)
    chosen = np.flatnonzero((FOLDS != 1) & (FOLDS < 3)).astype(np.uint32)
    found = part.arranged(chosen, loader((Y[chosen] + 1) % 3))
    assert not np.shares_memory(found.codes, part.codes)
    np.testing.assert_array_equal(codes_by_row(found, len(chosen)), CODES[chosen])


def test_other_selections_are_copied():
    part = make_part(FOLDS)
    chosen = np.arange(5, 40, dtype=np.uint32)
    for labels in (None, Y[chosen]):
        found = part.arranged(chosen, loader(labels))
        assert not np.shares_memory(found.codes, part.codes)
        np.testing.assert_array_equal(codes_by_row(found, len(chosen)), CODES[chosen])
