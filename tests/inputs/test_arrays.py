"""Numbers, labels, probabilities and weights as plain arrays, or the row that is wrong."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from costboost.inputs.arrays import (
    as_array,
    check_encoded,
    encode,
    is_missing,
    mean_paid,
    missing_in,
    read_labels,
    read_numbers,
    read_weights,
    without_mask,
)

MASKED = np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])


@pytest.mark.parametrize(
    "given",
    [
        [1, 2.5],
        (np.float32(1), Decimal("2.5")),
        [Fraction(1), Fraction(5, 2)],
        pd.Series([1, 2.5], index=[9, 4]),
        pl.Series([1.0, 2.5]),
        np.array([1, 2.5], dtype=">f8"),
        np.array([1, 2.5], dtype=object),
    ],
)
def test_numbers_of_every_kind_are_read_by_position(given):
    read = read_numbers(given, "price")
    assert_array_equal(read, [1, 2.5])
    assert read.dtype == np.float64
    assert not read.flags.writeable


def test_numbers_are_a_copy_without_minus_zero():
    given = np.array([-0.0, 1.0])
    read = read_numbers(given, "price")
    assert not np.signbit(read).any()
    given[1] = 9
    assert read[1] == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1, np.nan], "row 1: p is nan; every value must be finite"),
        ([[1, 2], [3, np.inf]], r"^p\[1, 1\] is inf"),
        ([[[1], [-2]]], r"row 0: p\[1, 0\] is -2, which is negative"),
        (1e301, r"^p is 1e\+301; values beyond 1e\+300 are refused: use larger units"),
        ([0, 1e-306], "row 1: p is 1e-306; values between 0 and 1e-305"),
        ([1, 10**400], "row 1: p is inf"),
        ([1, -(10**400)], "row 1: p is -inf"),
        (np.array([1, True], dtype=object), "row 1: p is True; p must be numbers"),
        (np.array([1, b"2"], dtype=object), "row 1: p is b'2'"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "p must be numbers, but they are dates"),
        (np.array([b"1"]), "they are bytes"),
        (np.zeros(1, dtype="m8[s]"), r"of type timedelta64\[s\]"),
        ([[1, 2], [3]], "p has rows of different lengths"),
        (MASKED[0], "row 1: p is nan"),
    ],
)
def test_the_first_wrong_number_is_named(given, message):
    with pytest.raises(ValueError, match=message):
        read_numbers(given, "p")


def test_the_ends_of_the_range_are_inside_it():
    assert_array_equal(read_numbers([0, 1e-305, 1e300], "p"), [0, 1e-305, 1e300])
    assert_array_equal(read_numbers([-1e300, -1e-305], "p", negative=True), [-1e300, -1e-305])
    assert read_numbers([], "p").shape == (0,)


def test_nothing_stands_under_a_mask():
    assert_array_equal(without_mask(MASKED), [[1, np.nan], [3, 4]])
    small = np.ma.array([1, 2], mask=[0, 1], dtype=np.float32)
    assert without_mask(small).dtype == np.float32
    dates = np.ma.array(["2020-01-01", "2021-01-01"], mask=[1, 0], dtype="M8[D]")
    assert without_mask(dates).tolist()[0] is None
    whole = np.ma.array([1, 2])
    assert without_mask(whole).dtype == whole.dtype
    assert type(without_mask(whole)) is np.ndarray
    assert_array_equal(as_array(MASKED, "p"), [[1, np.nan], [3, 4]])


def test_what_stands_for_no_value():
    for nothing in (None, np.nan, np.float64("nan"), np.float32("nan"), pd.NA, pd.NaT):
        assert is_missing(nothing)
    for something in (0, "", "nan", False, np.inf):
        assert not is_missing(something)
    assert missing_in(np.array(["a", pd.NA, 0, None], dtype=object)).tolist() == [0, 1, 0, 1]
    assert missing_in(np.array(["2020", "NaT"], dtype="M8[ns]")).tolist() == [0, 1]
    assert missing_in(np.array([1.0, np.nan])).tolist() == [0, 1]
    assert not missing_in(np.array(["", "nan"])).any()


def test_weights_may_be_0_but_not_all_of_them():
    assert_array_equal(read_weights(None, 3), [1, 1, 1])
    assert_array_equal(read_weights([True, False], 2), [1, 0])
    assert_array_equal(read_weights([Decimal(2), 0], 2), [2, 0])
    assert_array_equal(read_weights([0.0, 5e-324], 2), [0, 5e-324])
    assert read_weights([], 0).shape == (0,)
    assert_array_equal(read_weights([0, 0], 2, some=False), [0, 0])
    with pytest.raises(ValueError, match="zero for every row"):
        read_weights([0, 0], 2)
    with pytest.raises(ValueError, match=r"row 1: sample_weight is -1e-300"):
        read_weights([1, -1e-300], 2)


@pytest.mark.parametrize("unit", [1e-300, 1.0, 1e300])
def test_means_neither_overflow_nor_vanish(unit):
    paid = np.array([1.0, 4.0, 1.0]) * 1e299
    assert mean_paid(paid, np.array([0.5, 1.0, 0.0]) * unit) == pytest.approx(3e299)
    assert mean_paid(paid, None) == pytest.approx(2e299)


def test_labels_are_distinct_and_kept():
    labels = read_labels(["b", "a"], "classes")
    assert labels.tolist() == ["b", "a"]
    assert not labels.flags.writeable
    for wrong, message in (
        ([], r"classes must be a list of labels, but has shape \(0,\)"),
        ("a", r"shape \(\)"),
        ([1, 2, 1.0], "classes names 1.0 twice"),
    ):
        with pytest.raises(ValueError, match=message):
            read_labels(wrong, "classes")


def test_values_are_found_among_unsorted_labels():
    assert encode(np.array([5, -1, 3]), [3, 5, 5, -1], "y").tolist() == [2, 0, 0, 1]
    assert encode(np.array([0, 1]), [True, False], "y").tolist() == [1, 0]
    assert encode(np.array(["b", "a"]), np.array(["a"], dtype=object), "y").tolist() == [1]
    assert encode(np.array([1, 2]), [], "y").tolist() == []
    for labels, values, message in (
        ([1, 2], ["1"], "row 0: y has the label '1', which is not among"),
        ([1, 2], [2, 1.5], "row 1: y has the label 1.5"),
        ([1, 2], [1, np.nan], "row 1: y has the label nan"),
        ([1, 2], [7], "row 0: y has the label 7"),
        ([1, 2], [[1]], r"y has shape \(1, 1\); it must be one label per row"),
    ):
        with pytest.raises(ValueError, match=message):
            encode(np.array(labels), values, "y")


def test_codes_lie_within_their_labels():
    assert check_encoded(np.array([0, 2], dtype=np.uint8), 3, "y").tolist() == [0, 2]
    assert check_encoded(np.array([], dtype=int), 3, "y").size == 0
    with pytest.raises(ValueError, match=r"row 1: y has number 3, not in 0 \.\. 2"):
        check_encoded([0, 3], 3, "y")
    with pytest.raises(ValueError, match="y must be whole numbers"):
        check_encoded([0.0], 3, "y")
