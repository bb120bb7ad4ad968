"""Columns of Python objects, as numbers or as categories."""

from __future__ import annotations

from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import pytest

from costboost.binning.binner import fit_binner
from costboost.binning.codes import holds_strings, object_keys, object_numbers, pandas_keys
from costboost.binning.table_reading import ObjectTable


def test_categories_of_other_types_go_by_their_names():
    X = pd.DataFrame({"c": pd.cut([1.0, 5.0, 9.0], [0, 4, 6, 10])})
    assert fit_binner(X).categories[0] == ("(0, 4]", "(4, 6]", "(6, 10]")


def test_objects_that_are_numbers():
    X = np.array([[1, 2.5, True], [None, np.float32(1), False]], dtype=object)
    binner = fit_binner(X)
    assert not binner.is_categorical.any()
    assert binner.encode(X).tolist() == [[0, 1, 1], [255, 0, 0]]


@pytest.mark.parametrize("value", [{"foo": "bar"}, [1], object()])
@pytest.mark.parametrize("categorical", ["from_dtype", [0]])
def test_objects_that_are_refused(value, categorical):
    X = np.array([[1.0], [2.0]], dtype=object)
    X[0, 0] = value
    with pytest.raises(TypeError, match=r"argument must be .* string.* number"):
        fit_binner(X, categorical_features=categorical)


refuse = partial(ObjectTable(np.empty((0, 4), dtype=object)).refuse, 3)


def test_numbers_and_their_missing_kin_become_floats():
    given = [1, Decimal("0.25"), None, pd.NA, pd.NaT, np.nan, True, np.int8(-3), -(2**60) - 1]
    expected = [1, 0.25, np.nan, np.nan, np.nan, np.nan, 1, -3, -(2.0**60)]
    np.testing.assert_array_equal(object_numbers(given, refuse), expected)
    assert object_numbers([], refuse).shape == (0,)


def test_equal_numbers_are_one_category_whatever_their_type():
    codes, keys = object_keys([1, "1", True, None, -0.0, 1.0, np.float32(0), float("nan")], refuse)
    assert keys == [1.0, "1", 0.0]
    assert codes.tolist() == [0, 1, 0, -1, 2, 0, 2, -1]
    assert str(keys[2]) == "0.0"  # not -0.0, which came first
    codes, keys = object_keys([], refuse)
    assert (codes.tolist(), keys) == ([], [])


def test_nan_among_strings_is_missing_but_a_number_is_not():
    assert holds_strings(["a", np.nan, None], refuse)
    assert not holds_strings([1.5, None], refuse)
    assert not holds_strings([None, np.nan], refuse)
    for stray in (1.5, 1, True, Decimal(2)):
        with pytest.raises(ValueError, match="Column 3 holds both strings and numbers"):
            holds_strings(["a", stray], refuse)


def test_pandas_categories_that_no_row_has_are_left_out():
    column = pd.Series(pd.Categorical(["b", None, "b", "c"], categories=["c", "unused", "b"]))
    codes, keys = pandas_keys(column)
    assert sorted(keys) == ["b", "c"]
    assert [keys[code] if code >= 0 else None for code in codes] == ["b", None, "b", "c"]


def test_whole_numbers_that_no_float_holds_are_refused():
    for read in (object_numbers, object_keys):
        with pytest.raises(ValueError, match=r"Column 3 holds whole numbers beyond 1\.8e308"):
            read([1, 10**400], refuse)
