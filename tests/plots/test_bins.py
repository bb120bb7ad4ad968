"""Bins, quantiles and intervals, by hand and against copies of rows."""

import numpy as np
import pytest

from costboost.plots.bins import weighted_quantiles, wilson_interval


def test_wilson_interval_by_hand():
    # 8 of 10 at 95%: (0.4901, 0.9433), as printed in textbooks.
    low, high = wilson_interval(np.array([0.8]), np.array([10.0]), 0.95)
    np.testing.assert_allclose([low[0], high[0]], [0.4902, 0.9433], atol=1e-4)
    with pytest.raises(ValueError, match="confidence=95"):
        wilson_interval(np.array([0.8]), np.array([10.0]), 95)


def test_weighted_quantiles_are_those_of_copies():
    rng = np.random.default_rng(0)
    values, weight = rng.integers(0, 9, 30).astype(float), rng.integers(0, 4, 30)
    q = np.linspace(0.01, 0.99, 15)
    copies = np.quantile(np.repeat(values, weight), q, method="inverted_cdf")
    np.testing.assert_array_equal(weighted_quantiles(values, weight.astype(float), q), copies)
