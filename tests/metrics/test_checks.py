"""Weights, labels and scores of measures: scaled exactly, and refused with a reason."""

import numpy as np
import pandas as pd
import pytest

from costboost.metrics.prices import (
    check_binary,
    check_labels,
    check_scores,
    check_weights,
    positive_label,
    power_of_two,
    weighted_mean,
    weighty,
)


@pytest.mark.parametrize("largest", [5e-324, 1e-300, 0.75, 1.0, 1.5, 2.0, 1e300, 1.7e308])
def test_the_power_of_two_lies_just_below_the_largest_size(largest):
    for values in ([largest], [0.0, -largest], [largest / 4, -largest]):
        scale = power_of_two(np.array(values))
        assert scale <= largest
        assert largest - scale < scale  # less than its double, which may overflow
        assert np.frexp(scale)[0] == 0.5
    assert power_of_two(np.zeros(3)) == power_of_two(np.array([])) == 1.0


@pytest.mark.parametrize("unit", [1e-300, 1.0, 3e299])
def test_weights_keep_their_ratios_and_the_largest_is_between_1_and_2(unit):
    given = np.array([0.0, 1.0, 3.0, 0.1]) * unit
    weight = check_weights(given, 4)
    assert 1 <= weight.max() < 2
    np.testing.assert_array_equal(weight * power_of_two(given), given)  # nothing was rounded
    assert check_weights(None, 3).tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="at least one row"):
        check_weights(None, 0)


def test_the_mean_neither_overflows_nor_heeds_rows_without_weight():
    assert weighted_mean(np.full(1000, 1e308), np.ones(1000)) == pytest.approx(1e308)
    assert weighted_mean(np.array([1e-300, 3e-300]), np.array([3.0, 1.0])) == 1.5e-300
    assert weighted_mean(np.array([1e-300, 1e300]), np.array([1.0, 0.0])) == 1e-300
    assert weighted_mean(np.zeros(2), np.ones(2)) == 0
    assert weighted_mean(np.array([-2.0, 1.0]), np.array([1.0, 1.0])) == -0.5


def test_rows_of_positive_weight_are_kept_in_all_arrays():
    weight, table = np.array([1.0, 0.0, 2.0]), np.arange(6.0).reshape(3, 2)
    kept = weighty(weight, table, weight)
    assert [part.tolist() for part in kept] == [[[0, 1], [4, 5]], [1, 2]]


@pytest.mark.parametrize(
    ("labels", "given", "positive"),
    [
        ([0, 1], None, 1),
        ([-1, 1], None, 1),
        ([False, True], None, True),
        ([0, 0], None, 1),  # the other class of 0 is 1, also where it does not occur
        ([-1], None, 1),
        (["a", "b"], "a", "a"),
        (["b"], "a", "a"),
    ],
)
def test_the_positive_class_is_given_or_usual(labels, given, positive):
    assert positive_label(np.array(labels), given) == positive


@pytest.mark.parametrize(
    ("labels", "given", "message"),
    [
        ([0, 1, 2], None, "3 classes, but this measure is for two"),
        ([0, 1, 2], 1, "3 classes"),
        ([1, 2], None, r"labels \[1, 2\], which do not tell which is positive.*pos_label="),
        (["a"], None, "do not tell which is positive"),
        ([0, 1], 2, r"pos_label=2 is not one of \[0, 1\]"),
    ],
)
def test_a_positive_class_is_never_guessed(labels, given, message):
    with pytest.raises(ValueError, match=message):
        positive_label(np.array(labels), given)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[0.1, 0.9]], r"shape \(1, 2\): give one per row"),
        ([0.1, 0.2], "2 scores for 1 rows"),
        ([np.inf], "infinite or missing"),
        ([-0.5], r"probabilities range from -0.5 to -0.5.*calibrate"),
        ([1.0000001], "must be within"),
    ],
)
def test_scores_are_refused_with_a_reason(scores, message):
    with pytest.raises(ValueError, match=message):
        check_scores(scores, 1, probability=True)
    assert check_scores([-0.5], 1).tolist() == [-0.5]  # a margin may be anything


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_labels_that_are_missing_are_refused_by_name(missing):
    with pytest.raises(ValueError, match="y_pred holds missing values"):
        check_labels(np.array(["a", missing], dtype=object), "y_pred")
    assert check_labels([[1], [0]]).tolist() == [1, 0]  # a column is taken for its rows


def test_binary_rows_without_weight_are_gone():
    positive, score, weight = check_binary(["n", "y", "y"], [0.1, 0.2, 0.3], [4, 0, 2], "y")
    assert positive.tolist() == [False, True]
    assert score.tolist() == [0.1, 0.3]
    assert weight.tolist() == [1, 0.5]
