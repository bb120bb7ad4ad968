"""Partial means of laws, against sums and integrals over their quantiles."""

import numpy as np
import pytest
from scipy import stats

from costboost.costs.laws import law_of, read_law

LAWS = {
    "range": read_law(0.5, 3, None, None, None),
    "mean": read_law(0.5, 3, 0.9, None, None),
    "below zero": read_law(-3, -0.5, -1, None, None),
    "beta": read_law(None, None, None, stats.beta(6, 14), None),
    "gamma": read_law(None, None, None, stats.gamma(a=2.0, loc=1, scale=0.5), None),
    "pareto": read_law(None, None, None, stats.pareto(3.0), None),
    "poisson": read_law(None, None, None, stats.poisson(3), None),
    "binomial": read_law(None, None, None, stats.binom(7, 0.3), None),
    "draws": read_law(None, None, None, None, [3.0, 1.0, 1.0, 7.0]),
}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_partial_means(law):
    """At points in any order, some twice, at the ends, and beyond them."""
    u = (np.arange(400_000) + 0.5) / 400_000
    f = np.asarray(law.quantile(u))
    x = np.array([law.high, -9.0, 0.0, law.mean, law.low, law.mean, np.inf, 1.0, 3.0, 0.0])
    p, means = law.below(x)
    np.testing.assert_allclose(p, [(f <= at + 1e-12).mean() for at in x], atol=3e-5)
    expected = [np.where(f <= at + 1e-12, f, 0).mean() for at in x]
    np.testing.assert_allclose(means, expected, atol=2e-3 * abs(law.mean))
    assert means[6] == pytest.approx(law.mean, rel=1e-9)
    assert f.mean() == pytest.approx(law.mean, rel=2e-3)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_saved_and_restored(law):
    again = law_of(law.parts)
    assert again == law
    assert hash(again) == hash(law)
    assert again != read_law(0.1, 9, None, None, None)


@pytest.mark.parametrize(
    "parts",
    [
        {"kind": "norms"},
        {"kind": "distribution", "name": "rv_frozen", "args": (), "kwds": {}},
        {"kind": "distribution", "name": "zscore", "args": (), "kwds": {}},
        {"kind": "distribution", "name": "beta", "args": ("2", 3), "kwds": {}},
    ],
)
def test_what_files_may_not_hold(parts):
    with pytest.raises(ValueError, match=r"no law|no distribution|finite number"):
        law_of(parts)
