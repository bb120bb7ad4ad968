"""Models that share the codes of a table are those that have copies of their own, bit for bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import StratifiedKFold

from costboost import CostBoostClassifier, Costs, GradientBoostClassifier, PNormBoostClassifier
from costboost.boosting.adaboost.rules import RULES
from costboost.fitting import tables
from costboost.shards.layout import FoldLayout, Folds, Shards, plan_folds


def folds_of(n, n_folds, seed=0):
    labels = np.random.default_rng(seed).integers(0, 2, n)
    return list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(labels, labels))


@pytest.mark.parametrize("n_shards", [1, 2, 3])
@pytest.mark.parametrize("n_folds", [2, 5])
def test_every_row_has_its_place(n_shards, n_folds):
    n, rng = 20_000, np.random.default_rng(1)
    splits, codes = folds_of(n, n_folds), rng.integers(0, 255, (n, 3)).astype(np.uint8)
    layout = plan_folds(Folds.of(splits, n), n_shards)
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
                for own, rows in shard.stretches():
                    assert_array_equal(own, codes[train[shard.rows[rows]]])
        found = np.zeros((len(test), 3), np.uint8)
        for own, places in layout.pieces(stored, fold):
            found[places] = own
        assert_array_equal(found, codes[test])


def test_rows_that_no_model_uses():
    rows = np.array([1, 2, 5, 7])
    layout = plan_folds(Folds.of([(rows[2:], rows[:2]), (rows[:2], rows[2:])], 9), 1)
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
    given = [tuple(map(np.array, split)) for split in splits]
    folds = Folds.of(given, 5)
    assert folds.numbers is None
    assert plan_folds(folds, 1) is None
    for found, split in zip(folds, given, strict=True):
        assert_array_equal(found[0], split[0])
        assert_array_equal(found[1], split[1])


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


def priced_rows(n_classes, n=12_000):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 6))
    X[::7, 2] = np.nan
    signal = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n)
    y = np.digitize(signal, [0.0, 1.0, 2.0][: n_classes - 1])
    price = rng.lognormal(size=(n, n_classes, n_classes))
    return X, y, Costs.from_matrix(price, classes=np.arange(n_classes))


def makers():
    common = {"n_estimators": 4, "cv": 3, "random_state": 0, "calibration": "sigmoid"}
    for name, rule in RULES.items():
        for n_classes in (2, 3) if rule.many_classes else (2,):
            yield f"{name} of {n_classes}", CostBoostClassifier(name, **common), n_classes
    for loss in ("log", "cost-exponential"):
        yield f"gradient {loss}", GradientBoostClassifier(loss, **common), 2
    yield "p-norm", PNormBoostClassifier(**common), 3
    yield "in one", CostBoostClassifier("csb2", ensemble=False, **common), 2
    sampled = {"subsample": 0.5, "max_features": 0.5, "min_samples_leaf": 9}
    yield "sampled", CostBoostClassifier("adac2", **sampled, **common), 2
    yield "by votes", CostBoostClassifier(votes="discrete", **common), 3


MAKERS = list(makers())


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    ("model", "n_classes"), [maker[1:] for maker in MAKERS], ids=[maker[0] for maker in MAKERS]
)
def test_all_families_share_codes(monkeypatch, model, n_classes, n_jobs):
    X, y, costs = priced_rows(n_classes)
    given = {"costs": costs, "sample_weight": np.random.default_rng(4).integers(1, 4, len(y))}
    model.set_params(n_jobs=n_jobs)
    said = model.fit(X, y, **given).predict_proba(X[:500])
    paid = np.concatenate(model.train_cost_ if model.ensemble else [model.train_cost_])
    cut, copied = [], []
    old_cut, old_copy = FoldLayout.cut, tables.LocalTable._arranged
    monkeypatch.setattr(tables, "MANY", 100)
    monkeypatch.setattr(FoldLayout, "cut", lambda *args: cut.append(1) or old_cut(*args))
    monkeypatch.setattr(
        tables.LocalTable, "_arranged", lambda *args: copied.append(1) or old_copy(*args)
    )
    assert_array_equal(model.fit(X, y, **given).predict_proba(X[:500]), said)
    again = np.concatenate(model.train_cost_ if model.ensemble else [model.train_cost_])
    assert_array_equal(again, paid)
    assert len(cut) == 3
    assert len(copied) == (0 if model.ensemble else 1)
