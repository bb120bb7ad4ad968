"""Binners from tampered parts: every one is refused, and a sound one comes back."""

import copy
import pickle
from dataclasses import fields

import numpy as np
import pytest

from costboost.binning.binner import Binner, check_binner, fit_binner


def table():
    numbers = np.linspace(-3, 3, 60)
    kinds = np.array(["ash", "elm", "oak"] * 20, dtype=object)
    codes = [float(i % 4) for i in range(60)]
    return np.column_stack([numbers.astype(object), kinds, np.array(codes, dtype=object)])


@pytest.fixture(scope="module")
def sound():
    return fit_binner(table(), max_bins=20, categorical_features=[1, 2])


def parts_of(binner):
    return {field.name: getattr(binner, field.name) for field in fields(Binner)}


NUMBERS, TREES = np.linspace(-3, 3, 60), ("ash", "elm", "oak")
EMPTY = np.zeros(0)
TAMPERINGS = {
    "max_bins too large": {"max_bins": 256},
    "max_bins huge": {"max_bins": 10**9},
    "max_bins negative": {"max_bins": -1},
    "max_bins no number": {"max_bins": "20"},
    "max_bins a truth": {"max_bins": True},
    "fewer bins than edges": {"max_bins": 3},
    "edges falling": {"edges": (np.array([1.0, 0.0]), EMPTY, EMPTY)},
    "edges twice": {"edges": (np.array([1.0, 1.0]), EMPTY, EMPTY)},
    "edges NaN": {"edges": (np.array([0.0, np.nan, 1.0]), EMPTY, EMPTY)},
    "first edge NaN": {"edges": (np.array([np.nan]), EMPTY, EMPTY)},
    "edges too many": {"edges": (np.arange(10.0**5), EMPTY, EMPTY)},
    "edges a matrix": {"edges": (np.zeros((2, 2)), EMPTY, EMPTY)},
    "edges strings": {"edges": (np.array(["a"]), EMPTY, EMPTY)},
    "edges no arrays": {"edges": ([0.0], EMPTY, EMPTY)},
    "edges no sequence": {"edges": 5},
    "no edges": {"edges": ()},
    "edges of categories": {"edges": (EMPTY, np.array([0.5]), EMPTY)},
    "a column less": {"edges": (EMPTY, EMPTY)},
    "categories of a column less": {"categories": (None, TREES)},
    "categories no sequence": {"categories": None},
    "categories no tuple": {"categories": (None, ["ash"], (0.0,))},
    "categories twice": {"categories": (None, ("ash", "ash"), (0.0,))},
    "categories not sorted": {"categories": (None, ("oak", "ash"), (0.0,))},
    "numbers not sorted": {"categories": (None, TREES, (1.0, 0.0))},
    "strings before numbers": {"categories": (None, ("ash", 1.0), (0.0,))},
    "a category that is missing": {"categories": (None, (float("nan"),), (0.0,))},
    "a category of another type": {"categories": (None, (b"ash",), (0.0,))},
    "categories too many": {"categories": (None, tuple(map(float, range(300))), (0.0,))},
    "has_missing too short": {"has_missing": np.zeros(2, dtype=bool)},
    "has_missing numbers": {"has_missing": np.zeros(3)},
    "names too few": {"feature_names": ("a",)},
    "names no strings": {"feature_names": (1, 2, 3)},
    "names a string": {"feature_names": "abc"},
}


@pytest.mark.parametrize("change", TAMPERINGS.values(), ids=TAMPERINGS.keys())
def test_tampered_parts_are_refused(sound, change):
    parts = {**parts_of(sound), **change}
    with pytest.raises(ValueError, match="no binner"):
        check_binner(**parts)
    with pytest.raises(ValueError, match="no binner"):
        Binner(**parts)
    forged = Binner.__new__(Binner)
    for name, part in parts.items():
        object.__setattr__(forged, name, part)
    with pytest.raises(ValueError, match="no binner"):
        pickle.loads(pickle.dumps(forged))


@pytest.mark.parametrize("state", [None, {}, {"edges": ()}, 3])
def test_states_of_something_else_are_refused(state):
    with pytest.raises(ValueError, match="made of"):
        Binner.__new__(Binner).__setstate__(state)


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))])
def test_sound_binners_come_back(sound, way):
    restored = way(sound)
    assert restored == sound
    assert not any(part.flags.writeable for part in restored.edges)
    assert restored.encode(table()).tolist() == sound.encode(table()).tolist()


def test_hard_columns_make_sound_binners():
    """Infinities, neighbours in floating point, one value, none at all."""
    hard = np.array([-np.inf, -1e308, -5e-324, 0.0, 5e-324, 1.0, np.nextafter(1, 2), np.inf])
    for column in (hard, hard[:1], np.full(3, np.nan), np.append(hard, np.nan)):
        check_binner(**parts_of(fit_binner(column[:, None])))
