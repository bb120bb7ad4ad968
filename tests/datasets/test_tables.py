"""The kinds of table that columns become."""

import sys

import numpy as np
import pytest

from costboost import CostBoostClassifier
from costboost.datasets import load, make_card_fraud
from costboost.datasets._dataset import categories_of, codes_of, to_array, to_codes, to_table


@pytest.mark.parametrize("gone", ["pandas", "polars"])
def test_without_a_frame_library(small_folder, monkeypatch, gone):
    from costboost.datasets import _dataset

    monkeypatch.setitem(sys.modules, gone, None)
    with pytest.raises(ImportError, match=rf"pip install 'costboost\[{gone}\]'"):
        load("haberman", folder=small_folder, as_frame=gone)
    monkeypatch.setattr(_dataset, "find_spec", lambda kind: None)
    assert isinstance(load("haberman", folder=small_folder).X, np.ndarray)


def test_all_kinds_of_table_give_the_same_model():
    scores = []
    for kind in ("pandas", "polars", "numpy"):
        data = make_card_fraud(1500, fraud_rate=0.1, as_frame=kind)
        model = CostBoostClassifier("adaboost", 10, random_state=0).fit(data.X, data.y)
        scores.append(model.decision_function(data.X))
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[0], scores[2])


def mixed():
    return {
        "number": np.array([1.5, np.nan, 3.0]),
        "kind": np.array(["z", None, "a"], dtype=object),
        "other": np.array(["b", "b", "b"], dtype=object),
    }


def test_codes_are_places_among_sorted_categories_and_gaps_are_nan():
    kind = mixed()["kind"]
    assert categories_of(kind) == ["a", "z"]
    np.testing.assert_array_equal(codes_of(kind), [1, np.nan, 0])
    np.testing.assert_array_equal(to_codes(mixed())[:, 1], codes_of(kind))
    many = [f"k{j:02}" for j in range(40)]
    assert categories_of(np.array(many[::-1], dtype=object)) == many
    nothing = np.array([None, None], dtype=object)
    assert categories_of(nothing) == []
    assert np.isnan(codes_of(nothing)).all()


def test_frames_keep_numbers_gaps_and_sorted_categories():
    frame = to_table(mixed(), "pandas")
    assert frame["number"].dtype == np.float64
    assert frame["kind"].cat.categories.tolist() == ["a", "z"]
    assert frame["kind"].isna().tolist() == [False, True, False]
    table = to_table(mixed(), "polars")
    assert table["number"].null_count() == table["kind"].null_count() == 1
    assert table["kind"].dtype.categories.to_list() == ["a", "z"]
    assert table["kind"].to_list() == ["z", None, "a"]


def test_arrays_hold_objects_only_where_there_are_categories():
    assert to_array(mixed()).tolist()[0] == [1.5, "z", "b"]
    assert to_array(mixed())[1, 1] is None
    numbers = to_array({"a": np.array([1.0, 2.0]), "b": np.array([3.0, np.nan])})
    assert numbers.dtype == np.float64
    np.testing.assert_array_equal(numbers, [[1, 3], [2, np.nan]])


def test_an_unknown_kind_of_table_is_refused():
    with pytest.raises(
        ValueError, match="as_frame='arrow' is not known; allowed: 'auto', 'pandas'"
    ):
        to_table(mixed(), "arrow")
