"""Which rows are trained on and which are calibrated on."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from calibration_cases import seeds
from costboost import CostBoostClassifier
from costboost.calibration import (
    calibration_folds,
    calibration_splits,
    copies_in,
    keeps_copies,
    labels_of_sets,
    numbered,
    read_groups,
)
from costboost.calibration._folds import rows_of_sets


@settings(deadline=None, max_examples=60)
@given(
    counts=st.lists(st.integers(2, 12), min_size=1, max_size=4),
    cv=st.integers(2, 7),
    seed=seeds,
)
def test_folds_partition_the_rows_and_always_train_on_every_class(counts, cv, seed):
    codes = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    splits = calibration_splits(codes, cv, random_state=seed)
    assert len(splits) == min(cv, *counts)
    tested = np.sort(np.concatenate([test for _, test in splits]))
    np.testing.assert_array_equal(tested, np.arange(len(codes)))
    for train, test in splits:
        assert not np.intersect1d(train, test).size
        assert len(train) + len(test) == len(codes)
        assert set(codes[train]) == set(codes[test]) == set(codes)


def test_folds_follow_the_seed():
    codes = np.tile([0, 1], 50)
    one, same, other = (calibration_splits(codes, 5, random_state=k) for k in (0, 0, 1))
    np.testing.assert_array_equal(one[0][1], same[0][1])
    assert not np.array_equal(one[0][1], other[0][1])


def test_a_class_of_one_row_is_on_both_sides():
    codes = np.array([0] * 6 + [1] * 6 + [2])
    with pytest.warns(UserWarning, match="single row"):
        splits = calibration_splits(codes, 3, random_state=0)
    assert len(splits) == 3
    assert all(12 in train and 12 in test for train, test in splits)
    with pytest.warns(UserWarning, match="single row"):
        ((train, test),) = calibration_splits([0, 1], 5)
    assert train.tolist() == test.tolist() == [0, 1]
    with pytest.warns(UserWarning, match="single row"):
        ((train, test),) = calibration_splits([0, 0, 1], 0.5, random_state=0)
    assert 2 in train
    assert 2 in test


@pytest.mark.parametrize(("share", "expected"), [(0.5, [10, 2]), (0.01, [1, 1]), (0.99, [19, 3])])
def test_a_share_is_held_out_of_every_class(share, expected):
    codes = np.repeat([0, 1], [20, 4])
    ((train, test),) = calibration_splits(codes, share, random_state=0)
    assert np.bincount(codes[test]).tolist() == expected
    assert not np.intersect1d(train, test).size
    assert len(train) + len(test) == 24


@pytest.mark.parametrize("cv", [3, 0.4, GroupKFold(3)])
def test_groups_stay_together(cv):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.array(list("abcdefghijkl")), 10)
    codes = rng.integers(0, 2, 120)
    splits = calibration_splits(codes, cv, groups=groups, random_state=0)
    assert len(splits) == (1 if cv == 0.4 else 3)
    for train, test in splits:
        assert not set(groups[train]) & set(groups[test])


def test_there_are_no_more_folds_than_groups_that_hold_a_class():
    # The second class lies within two of six groups: of three folds, one would lack it.
    groups = np.repeat(np.arange(6), 4)
    codes = np.where((groups < 2) & (np.arange(24) % 2 == 0), 1, 0)
    splits = calibration_splits(codes, 5, groups=groups, random_state=0)
    assert len(splits) == 2
    for train, test in splits:
        assert set(codes[train]) == set(codes[test]) == {0, 1}


def test_groups_that_cannot_be_cut():
    codes, groups = [0, 0, 1, 1], [0, 0, 1, 1]
    with pytest.raises(ValueError, match="within one group"):
        calibration_splits(codes, 2, groups=groups)


def test_a_class_within_one_group_skips_the_folds_that_do_not_train_on_it():
    codes = np.array([0, 0, 0, 0, 0, 0, 1, 1])
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    with pytest.warns(UserWarning, match="one class only"):
        splits = calibration_splits(codes, 2, groups=groups, random_state=0)
    assert all(set(codes[train]) == {0, 1} for train, _ in splits)


@pytest.mark.parametrize("cv", [4, 0.5, KFold(4), None])
def test_rows_of_weight_zero_are_absent(cv):
    codes = np.tile([0, 1], 30)
    w = np.where(np.arange(60) % 5 == 0, 0.0, 1.0)
    for train, test in calibration_splits(codes, cv, sample_weight=w, random_state=0):
        assert w[train].all()
        assert w[test].all()


def test_a_class_of_weight_zero_is_still_trained_on():
    codes = np.tile([0, 1], 10)
    splits = calibration_splits(codes, 2, sample_weight=1.0 * (codes == 0), random_state=0)
    assert all(set(codes[train]) == {0, 1} for train, _ in splits)


def test_own_splits():
    codes = np.tile([0, 1], 10)
    pairs = [(np.arange(10), np.arange(10, 20)), (np.arange(20) > 5, np.arange(20) <= 5)]
    splits = calibration_splits(codes, iter(pairs))
    assert splits[0][1].tolist() == list(range(10, 20))
    assert splits[1][1].tolist() == list(range(6))
    with pytest.warns(UserWarning, match="one class only"):
        calibration_splits(codes, [pairs[0], (np.arange(0, 10, 2), np.arange(1, 4, 2))])


@pytest.mark.parametrize("cv", [1, True, 0, -3, 1.0, 0.0, 1.5, "five", object()])
def test_refused_folds(cv):
    with pytest.raises(ValueError, match="cv="):
        calibration_splits([0, 1, 0, 1], cv)


def test_no_usable_fold():
    with pytest.raises(ValueError, match="No fold"):
        calibration_splits([0, 0, 1, 1], [([0, 1], [2, 3])])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("lone", [False, True])
@pytest.mark.parametrize("cv", [2, 5, 0.3, StratifiedKFold(3)])
def test_folds_of_which_little_is_kept_are_the_same(weighted, lone, cv):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 90).astype(np.uint8)
    if lone:
        labels[17] = 3
    asked = {"random_state": 3}
    if weighted:
        asked["sample_weight"] = rng.integers(0, 3, 90)
        asked["sample_weight"][17] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class of a single row
        splits = calibration_splits(labels, cv, **asked)
        folds = calibration_folds(labels, cv, **asked)
    assert len(folds) == len(splits)
    for found, expected in zip(folds, splits, strict=True):
        assert_array_equal(found[0], expected[0])
        assert_array_equal(found[1], expected[1])
    used = np.unique(np.concatenate([np.concatenate(split) for split in splits]))
    assert_array_equal(folds.used(90), used)


def test_values_are_numbered_as_they_come():
    assert numbered(np.array(["b", "a", "b", "c"])).tolist() == [0, 1, 0, 2]
    assert numbered(np.array([], dtype=int)).tolist() == []
    assert numbered(np.array([7.0])).tolist() == [0]


def test_sets_of_some_rows_are_numbered_anew():
    sets = np.array([4, 1, 4, 2, 1])
    assert copies_in(sets, [0, 1, 2]).tolist() == [0, 1, 0]
    assert copies_in(sets, np.array([True, True, False, True, False])) is None  # none is twice
    assert copies_in(sets, []) is None
    assert copies_in(None, [0]) is None


def test_a_set_of_several_classes_counts_as_the_rarest():
    labels = np.array([0, 0, 0, 0, 1, 1, 2, 0])
    sets = np.array([0, 1, 1, 2, 1, 2, 2, 3])
    assert labels_of_sets(labels, sets).tolist() == [0, 1, 2, 0]
    assert rows_of_sets(sets, np.array([1, 3])).tolist() == [1, 2, 4, 7]
    assert rows_of_sets(sets, np.array([], dtype=int)).tolist() == []


@pytest.mark.parametrize("cv", [2, 4, 0.3, None])
@pytest.mark.parametrize("weighted", [False, True])
def test_copies_of_a_row_are_never_on_both_sides(cv, weighted):
    rng = np.random.default_rng(0)
    sets = rng.integers(0, 40, 120)
    labels = sets % 2
    w = rng.integers(0, 2, 120) if weighted else None
    splits = calibration_splits(labels, cv, copies=sets, sample_weight=w, random_state=0)
    folds = calibration_folds(labels, cv, copies=sets, sample_weight=w, random_state=0)
    assert len(folds) == len(splits) == (1 if cv == 0.3 else cv or 5)
    for (train, test), pair in zip(splits, folds, strict=True):
        assert not set(sets[train]) & set(sets[test])
        assert_array_equal(np.sort(pair[1]), np.sort(test))
        if weighted:
            assert w[train].all()
            assert w[test].all()


def test_copies_give_way_to_groups_and_splitters():
    assert keeps_copies(5, None)
    assert keeps_copies(None, None)
    assert not keeps_copies(5, [1, 2])
    assert not keeps_copies(KFold(3), None)
    assert not keeps_copies([([0], [1])], None)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 2], r"groups has shape \(2,\); it must hold one group for each of the 3 rows"),
        ([[1], [2], [3]], r"groups has shape \(3, 1\)"),
        (["a", None, "b"], "row 1: groups is None"),
        ([1.0, 2.0, np.nan], "row 2: groups is nan"),
        (np.array([1, pd.NA, 2], dtype=object), "row 1: groups is <NA>"),
        (np.array(["2020", "NaT", "2021"], dtype="M8[ns]"), "row 1: groups is NaT"),
        (np.array(["a", 1, "b"], dtype=object), "groups are of different kinds"),
    ],
)
def test_groups_that_are_refused(groups, message):
    with pytest.raises(ValueError, match=message):
        read_groups(groups, 3)


@pytest.mark.parametrize(("dtype", "names"), [("Int64", [1, 2, 3]), ("string", ["a", "b", "c"])])
def test_a_fit_refuses_groups_that_pandas_misses(dtype, names):
    X, y = np.arange(12.0).reshape(-1, 1), np.tile([0, 1], 6)
    groups = pd.Series(names * 4, dtype=dtype)
    model = CostBoostClassifier("adamec", 2, cv=3, random_state=0)
    assert model.fit(X, y, groups=groups).n_iter_ > 0
    groups[7] = None
    with pytest.raises(ValueError, match="row 7: groups is "):
        model.fit(X, y, groups=groups)


def test_groups_are_numbered_in_their_order():
    assert read_groups(["z", "a", "z"], 3).tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="All rows are of one group"):
        calibration_splits([0, 1, 0, 1], 0.5, groups=["a"] * 4)


def test_rows_that_are_trained_and_calibrated_on_are_refused():
    codes = np.tile([0, 1], 5)
    with pytest.raises(ValueError, match="2 of fold 1, row 3 first"):
        calibration_splits(codes, [([0, 1], [2]), ([2, 3, 4], [4, 3])])
    with pytest.raises(ValueError, match="row numbers from 0 to 9"):
        calibration_splits(codes, [([0, 1], [10])])
    with pytest.raises(ValueError, match=r"cannot cut these 10 rows of no groups.*Give groups="):
        calibration_splits(codes, GroupKFold(2))
