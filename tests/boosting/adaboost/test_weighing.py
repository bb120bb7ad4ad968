"""First weights: copies of a row, powers of two, and rows without any weight."""

from types import SimpleNamespace

import numpy as np
import pytest

from costboost.boosting.adaboost.rows import TINY
from costboost.boosting.adaboost.updates import are_copies, multiply_sample_weights, settle_weights


def shard(weights, given=None):
    state = SimpleNamespace(
        labels=np.zeros(len(weights), dtype=np.uint8),
        weights=np.array(weights),
        sample_weights=None if given is None else np.array(given),
        absent=None,
        blocks=lambda: [slice(0, 1), slice(1, None)],
    )
    return SimpleNamespace(state=state)


@pytest.mark.parametrize(("given", "copies"), [([0.3, 0.6, 0.9], True), ([0.3, 0.6, 0.8], False)])
def test_copies_are_whole_numbers_of_the_least(given, copies):
    assert are_copies(least=0.3).answer(shard([1.0, 1.0, 1.0], given)) is copies
    assert are_copies(least=0.3).reduce([True, copies]) is copies


def test_given_weights_are_counted_in_their_unit():
    rows = shard([1.0, 2.0], [0.3, 0.9])
    assert multiply_sample_weights(exponent=1, unit=0.3, unit_exponent=-1).answer(rows) == 6.0
    assert rows.state.weights.tolist() == [1.0, 6.0]


def test_without_given_weights_only_the_scale_changes():
    rows = shard([1.0, 3.0])
    assert multiply_sample_weights(exponent=-1, unit=None, unit_exponent=0).answer(rows) == 1.5
    assert rows.state.weights.tolist() == [0.5, 1.5]


def test_rows_without_weight_are_noted_and_held_above_zero():
    rows = shard([0.0, 4.0])
    settle_weights(exponent=-2, constant=None).answer(rows)
    assert rows.state.weights.tolist() == [TINY, 1.0]
    assert rows.state.absent.tolist() == [True, False]
    settle_weights(exponent=0, constant=0.25).answer(rows)
    assert rows.state.weights.tolist() == [0.25, 0.25]
