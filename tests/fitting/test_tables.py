"""A table in memory: its codes, and the shards of the models that train on its rows."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import KFold

from costboost import GradientBoostRegressor
from costboost.binning.binner import fit_binner
from costboost.fitting import tables
from costboost.fitting.tables import FollowedRows, LocalTable, find_copies
from costboost.shards.layout import Folds

N = 90
RNG = np.random.default_rng(0)
X = RNG.integers(0, 20, size=(N, 3)).astype(float)
X[::7, 1] = np.nan
LABELS = RNG.integers(0, 3, N)
SPLITS = list(KFold(3, shuffle=True, random_state=0).split(X))


@dataclass
class Numbers:
    """A loader whose shards hold the numbers of their rows among those of the model."""

    labels: object = None
    n_segments: int = 1

    def load(self, rows):
        return np.arange(N)[rows]


def binned(X=X, **options):
    table = LocalTable(X, len(X), 1)
    table.fit_binner(None, 255, "from_dtype")
    return table


def held(shards, trained):
    """The codes of a model's rows, in the order of the table's rows."""
    found = np.full((N, 3), 77, dtype=np.uint8)
    for shard in shards.shards:
        for codes, places in shard.stretches():
            found[trained[shard.rows[places]]] = codes
    return found[trained]


@pytest.fixture
def shared(monkeypatch):
    """Tables of any size share their codes among folds."""
    monkeypatch.setattr(tables, "MANY", 10)


def test_codes_are_those_of_the_binner():
    rows = np.array([5, 3, 88, 3])
    assert_array_equal(binned().codes_of(rows), fit_binner(X).encode(X)[rows])


@pytest.mark.parametrize("labels", [None, LABELS])
@pytest.mark.parametrize("rows", [None, np.arange(0, N, 2)])
def test_shards_hold_the_codes_of_their_rows(labels, rows):
    table = binned()
    trained = np.arange(N) if rows is None else rows
    own = None if labels is None else labels[trained]
    with table.open(Numbers(own, 1 if labels is None else 3), rows) as shards:
        assert shards.n_rows == len(trained)
        assert_array_equal(held(shards, trained), fit_binner(X).encode(X)[trained])
        for shard in shards.shards:
            assert_array_equal(shard.state, shard.rows)
            if labels is not None:
                assert_array_equal(np.diff(shard.starts), np.bincount(own, minlength=3))


@pytest.mark.parametrize("labels", [None, LABELS])
def test_folds_share_one_copy_of_the_codes(shared, labels):
    table, expected = binned(), fit_binner(X).encode(X)
    n_classes = 1 if labels is None else 3
    assert table.arrange(Folds.of(SPLITS, N), labels, n_classes)
    assert_array_equal(table.codes_of(np.array([4, 80, 4])), expected[[4, 80, 4]])
    copies = []
    for train, _ in SPLITS:
        own = None if labels is None else labels[train]
        with table.open(Numbers(own, n_classes), train) as shards:
            assert_array_equal(held(shards, train), expected[train])
            copies.append(shards.shards[0].codes)
    assert all(np.shares_memory(copies[0], other) for other in copies[1:])
    with table.open(Numbers()) as shards:  # all rows: no model of a fold
        assert_array_equal(held(shards, np.arange(N)), expected)


def test_small_tables_and_other_splits_share_nothing(monkeypatch):
    assert not binned().arrange(Folds.of(SPLITS, N))
    monkeypatch.setattr(tables, "MANY", 10)
    overlapping = [(train, test) for train, test in SPLITS[:1]] * 2
    assert not binned().arrange(Folds.of(overlapping, N))
    read = binned()
    read.codes_of([0])  # there is a copy in the order of the table already
    assert not read.arrange(Folds.of(SPLITS, N))


@pytest.mark.parametrize("arranged", [False, True])
def test_rows_that_are_followed_get_the_margins_of_the_forest(shared, arranged):
    model = GradientBoostRegressor(n_estimators=4, random_state=0).fit(X, X[:, 0])
    forest = model._model.members[0].forest
    table = binned()
    if arranged:
        assert table.arrange(Folds.of(SPLITS, N))
    for _, test in SPLITS:
        followed = table.follow(test, np.array([0.5]))
        first = followed.add(forest)
        kept = first.copy()
        start = forest.margins(X)[test] - forest.base
        np.testing.assert_allclose(first, 0.5 + start, rtol=1e-12)
        np.testing.assert_allclose(followed.add(forest), 0.5 + 2 * start, rtol=1e-12)
        assert_array_equal(first, kept)


def test_margins_stay_as_they_were_where_a_round_is_broken_off():
    class Broken:
        def __len__(self):
            return 1

        def add_trees(self, codes, margins, first, last, n_threads):
            margins += 1.0
            raise KeyboardInterrupt

    followed = FollowedRows([(np.zeros((2, 1), np.uint8), slice(None))], np.zeros((2, 1)), 1)
    with pytest.raises(KeyboardInterrupt):
        followed.add(Broken())
    assert_array_equal(followed.margins, np.zeros((2, 1)))


def test_an_outside_learner_gets_the_table_as_it_is():
    frame = pd.DataFrame(X, columns=list("abc"))
    table = LocalTable(frame, N, 1)
    assert table.table_of(None) is frame
    pd.testing.assert_frame_equal(table.table_of(np.array([7, 2])), frame.iloc[[7, 2]])
    with table.open(Numbers(LABELS, 3)) as shards:
        assert shards.n_rows == N
        assert {shard.codes.shape[1] for shard in shards.shards} == {0}
    assert not table.arrange(Folds.of(SPLITS, N))


def test_functions_are_applied_to_the_codes_of_the_rows_asked_for():
    table, rows = binned(), np.array([9, 1])
    found = table.apply(lambda codes: codes[:, 0].astype(float), rows)
    assert_array_equal(found, table.codes_of(rows)[:, 0])


def test_a_table_that_was_closed_is_binned_again(shared):
    table = binned()
    table.arrange(Folds.of(SPLITS, N))
    before = table.codes_of(np.arange(N))
    table.close()
    assert_array_equal(table.codes_of(np.arange(N)), before)
    assert table._folds is None


def test_copies_are_those_of_the_table():
    X = np.tile(np.random.default_rng(0).normal(size=(30, 4)), (2, 1))
    with pytest.warns(UserWarning, match="50% of the rows are copies"):
        found = LocalTable(X, 60, 1).copies(None)
    assert_array_equal(found, find_copies(X))
