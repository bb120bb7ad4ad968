"""The class-frequency cost model."""

import numpy as np
import pytest

from costboost.datasets import frequency_costs

Y = np.repeat(["a", "b", "c"], [60, 38, 2])
CLASSES = np.array(["a", "b", "c"])


def matrix(seed, y=Y):
    return np.asarray(frequency_costs(y, random_state=seed).of_labels(np.unique(y)))


def test_costs_are_uniform_up_to_the_ratio_of_the_shares():
    shares = np.array([0.60, 0.38, 0.02])
    drawn = np.array([matrix(seed) for seed in range(2000)])
    unit = drawn / (2000 * shares[None, :] / shares[:, None])  # C[true, predicted]
    off = ~np.eye(3, dtype=bool)
    assert np.all(drawn[:, ~off] == 0)
    assert unit[:, off].max() <= 1
    assert unit[:, off].mean(axis=0) == pytest.approx(np.full(6, 0.5), abs=0.02)
    assert unit[:, off].var(axis=0) == pytest.approx(np.full(6, 1 / 12), abs=0.006)


def test_the_rare_class_is_dear_to_miss():
    mean = np.mean([matrix(seed) for seed in range(500)], axis=0)
    assert mean[2, 0] == pytest.approx(30_000, rel=0.1)
    assert mean[0, 2] == pytest.approx(1000 / 30, rel=0.1)


def test_the_same_number_gives_the_same_costs_whatever_the_order_of_rows():
    assert np.array_equal(matrix(3), matrix(3, Y[::-1]))
    assert not np.array_equal(matrix(3), matrix(4))


def test_labels_that_say_nothing_are_refused():
    with pytest.raises(ValueError, match="one class only"):
        frequency_costs(["a", "a"])
    with pytest.raises(ValueError, match="one label for each row"):
        frequency_costs(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="one label for each row"):
        frequency_costs([])
