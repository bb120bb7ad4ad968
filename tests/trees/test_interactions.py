"""Which columns a path may go on with, against the definition read aloud."""

import itertools

import numpy as np
import pytest

from costboost.trees.tree import Interactions, make_interactions

GROUPS = [
    [],
    [{0, 1}],
    [{0, 1}, {1, 2}],
    [{0}, {1}, {2}],
    [{0, 1, 2, 3, 4}],
    [{0, 1, 2}, {2, 3}, {3}],
]


def allowed_by_definition(n_features, groups, path):
    """A column, if some group holds it and the whole path; columns without a group are one more."""
    rest = {j for j in range(n_features) if not any(j in group for group in groups)}
    return [
        j
        for j in range(n_features)
        if any({j, *path} <= group for group in [*groups, *([rest] if rest else [])])
    ]


@pytest.mark.parametrize("groups", GROUPS)
def test_a_path_goes_on_inside_a_group_that_holds_all_of_it(groups):
    rule = make_interactions(5, groups)
    for size in range(4):
        for path in itertools.combinations(range(5), size):
            got = rule.allowed(frozenset(path))
            assert got.dtype == np.int64
            assert got.tolist() == allowed_by_definition(5, groups, path)


def test_columns_that_no_group_names_may_meet_each_other_only():
    rule = make_interactions(6, [[1, 3]])
    assert rule.allowed(frozenset({0})).tolist() == [0, 2, 4, 5]
    assert rule.allowed(frozenset({0, 1})).tolist() == []  # such a path cannot have come about


def test_a_number_of_columns_bounds_the_path_whichever_they_are():
    rule = Interactions(4, most=2)
    assert rule.allowed(frozenset()).tolist() == [0, 1, 2, 3]
    assert rule.allowed(frozenset({3})).tolist() == [0, 1, 2, 3]
    assert rule.allowed(frozenset({3, 1})).tolist() == [1, 3]


def test_groups_may_be_any_iterables():
    generated = make_interactions(3, (iter(group) for group in ([0, 0, 1],)))
    assert generated == make_interactions(3, [{0, 1}])
