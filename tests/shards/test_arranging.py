"""Models that leave out one fold each find their rows in codes that are stored once."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from costboost.shards import layout
from costboost.shards.layout import deal_folds, left_out, rows_without, without_fold

N, N_FOLDS, N_CLASSES = 50, 3, 2
RNG = np.random.default_rng(0)
FOLDS = RNG.integers(0, N_FOLDS + 1, N).astype(np.uint8)  # the last are in no fold
LABELS = RNG.integers(0, N_CLASSES, N)
CODES = np.arange(N, dtype=np.uint8)[:, None]  # every row has its own


@pytest.mark.parametrize("n_shards", [1, 3])
@pytest.mark.parametrize("labelled", [False, True])
def test_rows_lie_by_shard_class_and_fold(n_shards, labelled, monkeypatch):
    monkeypatch.setattr(layout, "_DEAL", 6)
    labels, n_classes = (LABELS, N_CLASSES) if labelled else (None, 1)
    rows, starts = deal_folds(FOLDS, N_FOLDS, labels, n_classes, n_shards)
    of_class = LABELS if labelled else np.zeros(N, dtype=int)
    expected = sorted(range(N), key=lambda i: (i // 6 % n_shards, of_class[i], FOLDS[i], i))
    assert rows.tolist() == expected
    first = 0
    for own in starts:
        assert own.shape == (n_classes, N_FOLDS + 2)
        for k in range(n_classes):
            for fold in range(N_FOLDS + 1):
                inside = rows[first + own[k, fold] : first + own[k, fold + 1]]
                assert np.all(of_class[inside] == k)
                assert np.all(FOLDS[inside] == fold)
        first += own[-1, -1]
    assert first == N


@pytest.mark.parametrize("n_segments", [1, N_CLASSES])
@pytest.mark.parametrize("fold", range(N_FOLDS))
def test_the_rows_of_all_folds_but_one(fold, n_segments):
    stored, (starts,) = deal_folds(FOLDS, N_FOLDS, LABELS, N_CLASSES, 1)
    rows, segments, pieces = rows_without(stored, starts, fold, n_segments)
    wanted = np.flatnonzero((fold != FOLDS) & (FOLDS < N_FOLDS))
    assert_array_equal(np.sort(rows), wanted)
    sizes = [np.sum(LABELS[wanted] == k) for k in range(N_CLASSES)]
    assert segments.tolist() == ([0, *np.cumsum(sizes)] if n_segments > 1 else [0, len(wanted)])
    skips = np.repeat(pieces.skips, np.diff(pieces.starts))
    assert_array_equal(stored[np.arange(len(rows)) + skips], rows)


@pytest.mark.parametrize("fold", range(N_FOLDS))
def test_the_fold_that_was_left_out_is_found(fold):
    stored, (starts,) = deal_folds(FOLDS, N_FOLDS, LABELS, N_CLASSES, 1)
    chosen = np.flatnonzero((fold != FOLDS) & (FOLDS < N_FOLDS)).astype(np.uint32)
    assert left_out(chosen, stored, starts) == fold


def test_other_selections_leave_out_no_fold():
    stored, (starts,) = deal_folds(FOLDS, N_FOLDS, LABELS, N_CLASSES, 1)
    some = np.flatnonzero((FOLDS != 1) & (FOLDS < N_FOLDS))
    in_none = np.flatnonzero(FOLDS == N_FOLDS)
    others = {
        "all that are in folds": np.flatnonzero(FOLDS < N_FOLDS),
        "two folds are lacking": np.flatnonzero(FOLDS == 0),
        "a row too few": some[1:],
        "a row of the fold": np.sort(np.append(some, np.flatnonzero(FOLDS == 1)[0])),
        "a row of no fold": np.sort(np.append(some, in_none[0])),
        "nothing": some[:0],
    }
    for name, chosen in others.items():
        assert left_out(chosen.astype(np.uint32), stored, starts) is None, name


def test_a_model_has_segments_for_classes_without_rows():
    stored, (starts,) = deal_folds(FOLDS, N_FOLDS, LABELS, N_CLASSES, 1)
    chosen = np.flatnonzero((FOLDS != 0) & (FOLDS < N_FOLDS)).astype(np.uint32)
    codes = CODES[stored]
    found = without_fold(codes, chosen, stored, starts, 0, N_CLASSES + 2)
    assert found.starts.tolist()[-3:] == [len(chosen)] * 3
    assert len(found.starts) == N_CLASSES + 3
    # Rows are places among those of the model; the codes are found behind the skips.
    skips = np.repeat(found.pieces.skips, np.diff(found.pieces.starts))
    own = found.codes[np.arange(len(chosen)) + skips, 0]
    assert_array_equal(own, chosen[found.rows])
    assert found.codes is codes
