"""Forests from tampered arrays: every one is refused, before a kernel follows it anywhere.

One sound forest with thresholds, a set of categories, missing values and three trees; every
tampering changes one thing. A forest may come back by its constructor, by pickle, by `copy`, or by
a state that somebody else wrote: all ways must end in the same `ValueError`.
"""

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from costboost import CostBoostClassifier, GradientBoostClassifier, PNormBoostClassifier
from costboost.binning.binner import fit_binner
from costboost.trees.forest import Forest
from costboost.trees.walking import check_forest

LEFT, FEATURE = 40, 16
ARRAYS = ("words", "subsets", "roots", "depths", "values", "base", "gains", "covers")


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n).round(1),
            "kind": pd.Categorical(rng.choice(["ash", "elm", "oak", "yew"], size=n)),
            "b": rng.integers(0, 9, size=n).astype(float),
        }
    )
    frame.loc[rng.random(n) < 0.2, "b"] = np.nan
    odds = frame["a"] + (frame["kind"].isin(["ash", "yew"])) - frame["b"].isna() - 0.4
    return frame, (odds + rng.normal(size=n) * 0.5 > 0).astype(int)


@pytest.fixture(scope="module")
def sound():
    X, y = table()
    model = CostBoostClassifier("adaboost", n_estimators=3, max_depth=3, calibration=None)
    forest = model.fit(X, y)._model.members[0].forest
    assert len(forest.subsets)
    return forest


def arrays_of(forest):
    return {name: np.array(getattr(forest, name)) for name in ARRAYS}


def word(*, left, limit=0, flags=0, feature=0):
    return np.uint64((left << LEFT) | (feature << FEATURE) | (flags << 8) | limit)


def leaf_of(forest, tree=1):
    """A leaf of a tree, as a node of the forest, and its number in the tree."""
    start, stop = forest.roots[tree], forest.roots[tree + 1]
    left = (forest.words[start:stop] >> np.uint64(LEFT)).astype(int)
    number = int(np.flatnonzero(left == np.arange(stop - start))[0])
    return int(start) + number, number


def set_word(arrays, node, value):
    arrays["words"][node] = value


def own_child(forest, arrays):
    set_word(arrays, forest.roots[1], word(left=0, limit=1))  # a walk that stays at its root


def child_far_away(forest, arrays):
    set_word(arrays, forest.roots[1], word(left=2**24 - 1, limit=1))


def child_behind_the_end(forest, arrays):
    size = int(forest.roots[2] - forest.roots[1])
    set_word(arrays, forest.roots[1], word(left=size - 1, limit=1))


def child_in_front(forest, arrays):
    node, number = leaf_of(forest)
    set_word(arrays, node, word(left=number - 1, limit=1))  # a circle


def child_of_two(forest, arrays):
    node, _ = leaf_of(forest)
    set_word(arrays, node, forest.words[forest.roots[1]])


def leaf_that_sends_on(forest, arrays):
    node, number = leaf_of(forest)
    set_word(arrays, node, word(left=number, limit=3))


def leaf_with_a_set(forest, arrays):
    node, number = leaf_of(forest)
    set_word(arrays, node, word(left=number, limit=255, flags=2))


def leaf_at_a_column(forest, arrays):
    node, number = leaf_of(forest)
    set_word(arrays, node, word(left=number, limit=255, feature=2**24 - 1))


def split_nodes(forest):
    place = np.arange(len(forest.words)) - np.repeat(
        forest.roots, np.diff(np.append(forest.roots, len(forest.words)))
    )
    return np.flatnonzero((forest.words >> np.uint64(LEFT)).astype(int) != place)


def some_split(forest, *, subset):
    flagged = (forest.words[split_nodes(forest)] >> np.uint64(9)) & np.uint64(1)
    return split_nodes(forest)[flagged == int(subset)][0]


def column_far_away(forest, arrays):
    arrays["words"][some_split(forest, subset=False)] |= np.uint64(0xFFFFFF << FEATURE)


def column_next_to_the_last(forest, arrays):
    node = some_split(forest, subset=False)
    rest = forest.words[node] & ~np.uint64(0xFFFFFF << FEATURE)
    arrays["words"][node] = rest | np.uint64(3 << FEATURE)


def bits_that_mean_nothing(forest, arrays):
    arrays["words"][some_split(forest, subset=False)] |= np.uint64(1 << 12)


def threshold_as_a_set(forest, arrays):
    arrays["words"][some_split(forest, subset=False)] |= np.uint64(1 << 9)


def set_as_a_threshold(forest, arrays):
    arrays["words"][some_split(forest, subset=True)] &= ~np.uint64(1 << 9)


def code_that_is_not_there(forest, arrays):
    arrays["words"][some_split(forest, subset=False)] |= np.uint64(255)


def sets_missing(forest, arrays):
    arrays["subsets"] = arrays["subsets"][:0]


def sets_cut_short(forest, arrays):
    arrays["subsets"] = arrays["subsets"][:-1]


def sets_too_narrow(forest, arrays):
    arrays["subsets"] = arrays["subsets"][:, :3]


def roots_too_far(forest, arrays):
    arrays["roots"][-1] = len(forest.words) + 5


def roots_negative(forest, arrays):
    arrays["roots"][1] = -(10**9)


def roots_falling(forest, arrays):
    arrays["roots"][1:] = arrays["roots"][:0:-1]


def roots_not_from_the_start(forest, arrays):
    arrays["roots"][0] = 1


def roots_without_end(forest, arrays):
    arrays["roots"], arrays["depths"] = np.arange(10**5), np.zeros(10**5, dtype=np.int64)


def trees_without_roots(forest, arrays):
    arrays["roots"], arrays["depths"] = arrays["roots"][:0], arrays["depths"][:0]


def depth_without_end(forest, arrays):
    arrays["depths"][0] = 2**62


def depth_negative(forest, arrays):
    arrays["depths"][0] = -1


def depth_too_small(forest, arrays):
    arrays["depths"][1] -= 1


def depths_missing(forest, arrays):
    arrays["depths"] = arrays["depths"][:-1]


def values_cut_short(forest, arrays):
    arrays["values"] = arrays["values"][:2]


def values_without_outputs(forest, arrays):
    arrays["values"], arrays["base"] = arrays["values"][:, :0], arrays["base"][:0]


def values_not_a_number(forest, arrays):
    arrays["values"][-1] = np.nan


def values_infinite(forest, arrays):
    arrays["values"][-1] = np.inf


def base_not_a_number(forest, arrays):
    arrays["base"][0] = np.nan


def gains_infinite(forest, arrays):
    arrays["gains"][0] = np.inf


def gains_cut_short(forest, arrays):
    arrays["gains"] = arrays["gains"][:-1]


def covers_negative(forest, arrays):
    arrays["covers"][0] = -1.0


def covers_not_a_number(forest, arrays):
    arrays["covers"][-1] = np.nan


def base_too_long(forest, arrays):
    arrays["base"] = np.zeros(10**6)


def words_of_another_type(forest, arrays):
    arrays["words"] = arrays["words"].astype(np.float64)


def words_of_objects(forest, arrays):
    arrays["words"] = arrays["words"].astype(object)


def words_as_a_list(forest, arrays):
    arrays["words"] = arrays["words"].tolist()


def words_as_a_matrix(forest, arrays):
    arrays["words"] = arrays["words"][:, None]


TAMPERINGS = [
    own_child,
    child_far_away,
    child_behind_the_end,
    child_in_front,
    child_of_two,
    leaf_that_sends_on,
    leaf_with_a_set,
    leaf_at_a_column,
    column_far_away,
    column_next_to_the_last,
    bits_that_mean_nothing,
    threshold_as_a_set,
    set_as_a_threshold,
    code_that_is_not_there,
    sets_missing,
    sets_cut_short,
    sets_too_narrow,
    roots_too_far,
    roots_negative,
    roots_falling,
    roots_not_from_the_start,
    roots_without_end,
    trees_without_roots,
    depth_without_end,
    depth_negative,
    depth_too_small,
    depths_missing,
    values_cut_short,
    values_without_outputs,
    values_not_a_number,
    values_infinite,
    base_not_a_number,
    base_too_long,
    gains_infinite,
    gains_cut_short,
    covers_negative,
    covers_not_a_number,
    words_of_another_type,
    words_of_objects,
    words_as_a_list,
    words_as_a_matrix,
]


@pytest.mark.parametrize("tamper", TAMPERINGS)
def test_tampered_arrays_are_refused(sound, tamper):
    arrays = arrays_of(sound)
    tamper(sound, arrays)
    with pytest.raises(ValueError, match="no forest"):
        check_forest(sound.binner, **arrays)
    with pytest.raises(ValueError, match="no forest"):
        Forest(sound.binner, **arrays)
    with pytest.raises(ValueError, match="no forest"):
        Forest.__new__(Forest).__setstate__({"binner": sound.binner, **arrays})


@pytest.mark.parametrize("tamper", TAMPERINGS)
def test_tampered_pickles_are_refused(sound, tamper):
    arrays = arrays_of(sound)
    tamper(sound, arrays)
    forged = Forest.__new__(Forest)
    for name, array in {"binner": sound.binner, **arrays}.items():
        object.__setattr__(forged, name, array)
    with pytest.raises(ValueError, match="no forest"):
        pickle.loads(pickle.dumps(forged))
    with pytest.raises(ValueError, match="no forest"):
        copy.deepcopy(forged)


def test_every_array_is_tampered_with():
    names = {name for tamper in TAMPERINGS for name in tamper.__code__.co_consts}
    reached = {array for array in ARRAYS if array in names or array == "words"}
    assert reached == set(ARRAYS) == {field.name for field in fields(Forest)} - {"binner"}


@pytest.mark.parametrize("state", [None, {}, {"words": 1}, [1, 2]])
def test_states_of_something_else_are_refused(state):
    with pytest.raises(ValueError, match="made of"):
        Forest.__new__(Forest).__setstate__(state)


def test_a_binner_of_something_else_is_refused(sound):
    with pytest.raises(ValueError, match="binner is a dict"):
        replace(sound, binner={})
    narrow = fit_binner(np.arange(4.0)[:, None])
    with pytest.raises(ValueError, match="no forest"):
        replace(sound, binner=narrow)


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
def test_sound_forests_come_back(sound, way):
    X, _ = table(seed=1)
    restored = way(sound)
    assert_array_equal(restored.margins(X), sound.margins(X))
    for name in ARRAYS:
        assert not getattr(restored, name).flags.writeable


def test_other_byte_orders_are_read(sound):
    X, _ = table(seed=1)
    swapped = {name: a.astype(a.dtype.newbyteorder()) for name, a in arrays_of(sound).items()}
    assert_array_equal(Forest(sound.binner, **swapped).margins(X), sound.margins(X))


def test_a_chain_of_nodes_is_no_trouble():
    """Depth is found in one pass, however deep: 60,000 nodes under each other."""
    n_splits = 30_000
    words = [word(left=1, limit=0)]
    for node in range(1, 2 * n_splits + 1):
        deeper = node % 2 == 0 and node < 2 * n_splits
        words.append(word(left=node + 1, limit=0) if deeper else word(left=node, limit=255))
    binner = fit_binner(np.array([[0.0], [1.0]]))
    forest = Forest(
        binner,
        np.array(words, dtype=np.uint64),
        np.zeros((0, 4), dtype=np.uint64),
        np.array([0]),
        np.array([n_splits]),
        np.zeros((len(words), 1)),
        np.zeros(1),
        np.zeros(len(words)),
        np.zeros(len(words)),
    )
    assert forest.margins([[0.0], [1.0]]).tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize(
    "model",
    [
        CostBoostClassifier(n_estimators=5, random_state=0),
        GradientBoostClassifier(n_estimators=5, random_state=0),
        PNormBoostClassifier(n_estimators=5, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_survive_pickling(model):
    X, y = table()
    model.fit(X, y)
    restored = pickle.loads(pickle.dumps(model))
    assert_array_equal(restored.predict_proba(X), model.predict_proba(X))


def test_trees_and_codes_beyond_the_forest_are_refused(sound):
    X, _ = table()
    codes = sound.encode(X)
    margins = np.zeros((len(codes), 1))
    for first, last in ((0, 4), (-1, 2), (2, 1), (10**9, 10**9 + 1)):
        with pytest.raises(ValueError, match="3 trees"):
            sound.add_trees(codes, margins, first, last)
    for wrong in (codes[:, :2], np.zeros((len(codes), 9), dtype=np.uint8)):
        with pytest.raises(ValueError, match="3 columns"):
            sound.add_trees(np.ascontiguousarray(wrong), margins, 0, 1)
        with pytest.raises(ValueError, match="3 columns"):
            sound.margins_of_codes(np.ascontiguousarray(wrong))
