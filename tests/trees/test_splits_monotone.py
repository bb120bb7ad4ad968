"""Splits of columns along which the values of leaves must rise or fall."""

import numpy as np
import pytest

from costboost.trees.tree import SplitFinder


def test_constrained_splits_equal_the_naive_search():
    """The best threshold whose children's values, within bounds, are in order."""
    rng = np.random.default_rng(0)
    for way in (-1, 0, 1):
        for bounds in ((-np.inf, np.inf), (-0.3, 0.2), (0.5, 0.9)):
            hist = np.zeros((1, 256, 2), dtype=np.int64)
            hist[0, :6, 0] = rng.integers(-50, 50, 6)
            hist[0, :6, 1] = rng.integers(10, 60, 6)
            finder = SplitFinder(
                np.array([6]),
                np.array([False]),
                2,
                criterion="newton",
                l2=3.0,
                monotone=np.array([way], dtype=np.int8),
            )
            sums = hist[0].sum(axis=0)
            none = np.empty((0, 256), dtype=np.int64)
            found = finder.find(hist, none, sums, 100, np.array([0]), bounds)

            def value(g, h, bounds=bounds):
                return min(max(-g / (h + 3.0), bounds[0]), bounds[1])

            def gained(g, h):
                return -2 * (g * value(g, h) + 0.5 * (h + 3.0) * value(g, h) ** 2)

            best = (0.0, None)
            for t in range(5):
                left = hist[0, : t + 1].sum(axis=0).tolist()
                right = (sums - left).tolist()
                if way * (value(*right) - value(*left)) < 0:
                    continue
                gain = gained(*left) + gained(*right) - gained(*sums.tolist())
                best = max(best, (gain, t), key=lambda pair: pair[0])
            if best[1] is None or best[0] < 1e-9:
                assert found is None
            else:
                assert found.threshold == best[1]
                assert found.gain == pytest.approx(best[0])
