"""Rows set apart: a share of every class, whole sets, and every class still trained on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost.fitting.held_out import draw_held_out


@pytest.mark.parametrize("share", [0.01, 0.25, 0.9])
def test_every_class_has_rows_on_both_sides(share):
    labels = np.repeat([0, 1, 2], [100, 8, 2])
    apart = draw_held_out(labels, None, share, 0)
    for k, n_rows in enumerate((100, 8, 2)):
        n_apart = min(max(1, round(share * n_rows)), n_rows - 1)
        assert np.sum(apart[labels == k]) == n_apart


def test_a_single_row_is_trained_on():
    assert not draw_held_out(np.array([0]), None, 0.5, 0).any()
    assert draw_held_out(np.array([0, 0, 1]), None, 0.5, 0)[2] == np.False_


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5)), min_size=1), st.integers(0, 9))
def test_sets_stay_together_and_no_class_is_lost(rows, seed):
    labels = np.array([label for label, _ in rows])
    _, sets = np.unique([number for _, number in rows], return_inverse=True)
    apart = draw_held_out(labels, sets, 0.4, seed)
    for number in range(sets.max() + 1):
        assert len(np.unique(apart[sets == number])) == 1
    assert set(labels[~apart]) == set(labels)


def test_the_seed_decides():
    labels = np.zeros(50, dtype=int)
    one, again, other = (draw_held_out(labels, None, 0.3, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert np.any(one != other)
