"""Models that share the codes of a table are those that have copies of their own, bit for bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import StratifiedKFold

from costboost import CostBoostClassifier, Costs
from costboost.fitting import tables
from costboost.shards.folds import FoldLayout, plan_folds
from costboost.shards.local import Shards


def folds_of(n, n_folds, seed=0):
    labels = np.random.default_rng(seed).integers(0, 2, n)
    return list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(labels, labels))


@pytest.mark.parametrize("n_shards", [1, 2, 3])
@pytest.mark.parametrize("n_folds", [2, 5])
def test_every_row_has_its_place(n_shards, n_folds):
    n, rng = 20_000, np.random.default_rng(1)
    splits, codes = folds_of(n, n_folds), rng.integers(0, 255, (n, 3)).astype(np.uint8)
    layout = plan_folds(splits, n, n_shards)
    stored = np.empty_like(codes)
    stored[layout.positions()] = codes
    for fold, (train, test) in enumerate(splits):
        with layout.cut(stored, fold, lambda rows: rows) as shards:
            assert shards.n_rows == len(train)
            assert_array_equal(
                np.sort(np.concatenate([s.rows for s in shards.shards])), np.arange(len(train))
            )
            for shard in shards.shards:
                assert np.shares_memory(shard.codes, stored)
                for own, rows in shard.pieces():
                    assert_array_equal(own, codes[train[shard.rows[rows]]])
        found = np.zeros((len(test), 3), np.uint8)
        for own, places in layout.pieces(stored, fold):
            found[places] = own
        assert_array_equal(found, codes[test])


def test_rows_that_no_model_uses():
    rows = np.array([1, 2, 5, 7])
    layout = plan_folds([(rows[2:], rows[:2]), (rows[:2], rows[2:])], 9, 1)
    with layout.cut(np.zeros((9, 1), np.uint8), 0, lambda rows: rows) as shards:
        assert shards.n_rows == 2
    assert layout.training_on(rows) is None
    assert layout.leaving_out(rows) is None


@pytest.mark.parametrize(
    "splits",
    [
        [([0, 1], [2, 3]), ([2, 3], [1, 0])],  # not in order
        [([0, 1], [2, 3]), ([1, 2, 3], [0])],  # some rows are left out by none
        [([0, 1, 4], [2, 3, 4]), ([2, 3, 4], [0, 1, 4])],  # a row on both sides
    ],
)
def test_other_splits_have_copies(splits):
    assert plan_folds([tuple(map(np.array, split)) for split in splits], 5, 1) is None


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_recipe_shares_codes(monkeypatch, n_classes, n_jobs):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(12_000, 6))
    X[::9, 3] = np.nan
    signal = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=len(X))
    y = np.digitize(signal, [0.0, 1.0, 2.0][: n_classes - 1])
    given = {"sample_weight": rng.integers(0, 3, len(y)).astype(float)}
    model = CostBoostClassifier(n_estimators=20, cv=3, random_state=0, n_jobs=n_jobs)
    apart = model.fit(X, y, costs=Costs.from_matrix(1 - np.eye(n_classes)), **given)
    said, costs = apart.predict_proba(X), np.array(apart.train_cost_)
    cut = []
    monkeypatch.setattr(tables, "MANY", 100)
    monkeypatch.setattr(
        FoldLayout, "cut", lambda *args, old=FoldLayout.cut: cut.append(old(*args)) or cut[-1]
    )
    together = model.fit(X, y, costs=Costs.from_matrix(1 - np.eye(n_classes)), **given)
    assert len(cut) == 3
    assert all(isinstance(shards, Shards) for shards in cut)
    assert_array_equal(together.predict_proba(X), said)
    assert_array_equal(np.array(together.train_cost_), costs)
