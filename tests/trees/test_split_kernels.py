"""The best split of a node, compiled and interpreted, against exhaustive searches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import trees as naive
from tree_searches import CLASS_CRITERIA, assert_same_split, few, find_split, node_tables, using


@given(node_tables())
@settings(max_examples=120, deadline=None)
def test_best_split_equals_the_exhaustive_search(kernels, case):
    table, rules = case
    with using(kernels):
        found = find_split(table, rules)
    assert_same_split(found, naive.best_split(table, range(len(table.codes)), rules))


@given(node_tables(), st.data())
@few
def test_search_is_confined_to_the_columns_given(kernels, case, data):
    table, rules = case
    columns = range(table.codes.shape[1])
    features = data.draw(st.lists(st.sampled_from(columns), unique=True, max_size=3).map(sorted))
    with using(kernels):
        found = find_split(table, rules, np.array(features, dtype=np.int64))
    expected = naive.best_split(table, range(len(table.codes)), rules, features)
    assert_same_split(found, expected)


def exact_gain(table, rules, left_sums):
    """The gain of a split, in fractions."""
    everything = table.sums(range(len(table.codes)))
    right = [a - b for a, b in zip(everything, left_sums, strict=True)]
    l2 = naive.Fraction(rules.l2)
    parts = [naive.exact_score(s, rules.criterion, l2) for s in (left_sums, right, everything)]
    return parts[0] + parts[1] - parts[2]


@given(node_tables(criteria=("gini", "error", "newton", "vector", "one-hot"), categorical=False))
@settings(max_examples=80, deadline=None)
def test_no_threshold_gains_more_in_exact_arithmetic(kernels, case):
    table, rules = case
    with using(kernels):
        found = find_split(table, rules)
    best = 0.0 if found is None else float(exact_gain(table, rules, found.left_sums.tolist()))
    if found is not None:
        assert best == pytest.approx(found.gain, rel=1e-9)
    rows = range(len(table.codes))
    for j in range(table.codes.shape[1]):
        for t, goes_left in naive.thresholds(range(int(table.n_bins[j]))):
            other = naive.try_split(table, rows, rules, j, t, goes_left)
            if other is not None:
                assert float(exact_gain(table, rules, other.left_sums)) <= best * (1 + 1e-9)


def unlimited(rules):
    """Limits on children make the best subset another problem: lift them."""
    return naive.Rules(rules.criterion, l2=rules.l2)


def every_subset(table, rows, j, rules):
    return naive.all_subsets(naive.present_codes(table, rows, j, rules))


@given(node_tables(criteria=(*CLASS_CRITERIA, "newton"), categorical=True, channels=(2,)))
@settings(max_examples=100, deadline=None)
def test_ordering_finds_the_best_of_all_subsets(kernels, case):
    """Two classes, or gradients: Fisher 1958; Breiman et al. 1984, section 9.4."""
    table, rules = case
    rules = unlimited(rules)
    with using(kernels):
        found = find_split(table, rules)
    best = naive.best_split(table, range(len(table.codes)), rules, subsets=every_subset)
    assert (found is None) == (best is None)
    if best is not None:
        assert found.gain == pytest.approx(best.gain, rel=1e-9)


@given(
    node_tables(criteria=(*CLASS_CRITERIA, "vector", "one-hot"), categorical=True, channels=(3, 5))
)
@few
def test_with_many_classes_no_order_by_one_class_is_better(kernels, case):
    table, rules = case
    rules, rows = unlimited(rules), range(len(table.codes))
    with using(kernels):
        found = find_split(table, rules)
    for channel in range(table.channels.shape[1]):

        def by_channel(table, rows, j, rules, channel=channel):
            return naive.ordered_subsets(table, rows, j, rules, [channel])

        other = naive.best_split(table, rows, rules, subsets=by_channel)
        # By more than rounding, that is: of equal gains the first wins.
        assert other is None or (found is not None and found.gain + found.rounding >= other.gain)
    best = naive.best_split(table, rows, rules, subsets=every_subset)
    assert found is None or found.gain <= best.gain * (1 + 1e-9)


def test_gradients_without_curvature_are_ordered_too(kernels):
    # Codes 0 and 2 pull up, 1 down, none with a hessian: 1 | 0, 2 is the best cut.
    table = naive.Table(
        np.array([[0], [1], [2]], dtype=np.uint8), np.array([[8, 0], [-8, 0], [8, 0]]), [3], [True]
    )
    with using(kernels):
        found = find_split(table, naive.Rules("newton", l2=1.0))
    assert found.goes_left[:3].tolist() == [0, 1, 0]
    assert found.gain == 64.0 + 256.0 - 64.0


@pytest.mark.parametrize("categorical", [False, True])
def test_rows_that_weigh_nothing_count_for_min_samples_leaf(kernels, categorical):
    # 3 | 3 is allowed only if the missing rows, which weigh nothing, stay away from the heavier
    # child.
    codes = np.array([[0], [0], [0], [1], [255], [255]], dtype=np.uint8)
    channels = np.array([[2, 0], [2, 0], [2, 0], [0, 1], [0, 0], [0, 0]])
    table = naive.Table(codes, channels, [2], [categorical])
    with using(kernels):
        found = find_split(table, naive.Rules("gini", min_samples_leaf=3))
        assert find_split(table, naive.Rules("gini", min_samples_leaf=4)) is None
    assert found.goes_left[codes[:, 0]].sum() == 3


@pytest.mark.parametrize("categorical", [False, True])
@pytest.mark.parametrize(("weights", "follows"), [((1, 2), 1), ((2, 1), 0), ((2, 2), None)])
def test_unseen_values_follow_the_heavier_child(kernels, categorical, weights, follows):
    codes = np.array([[0], [1]], dtype=np.uint8)
    channels = np.diag(weights)
    with using(kernels):
        found = find_split(naive.Table(codes, channels, [9], [categorical]), naive.Rules("gini"))
    # Equal: left. A subset is ordered by the share of class 0, so code 1 goes left in it.
    expected = True if follows is None else found.goes_left[follows]
    assert found.missing_left == expected
    if categorical:
        assert (found.goes_left[2:] == expected).all()


def test_ties_go_to_the_first(kernels):
    # The same column three times, cut between codes 1 and 3 (2 is empty): column 0, code 1.
    codes = np.repeat(np.array([[1], [1], [3], [3]], dtype=np.uint8), 3, axis=1)
    channels = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    for categorical, feature in (([False] * 3, 0), ([True, False, False], 1), ([True] * 3, 0)):
        with using(kernels):
            found = find_split(
                naive.Table(codes, channels, [4] * 3, categorical), naive.Rules("gini")
            )
        assert found.feature == feature
        assert found.threshold == (-1 if categorical[feature] else 1)
