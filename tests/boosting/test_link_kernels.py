"""Links are libm's, row by row: compiled, interpreted and by the definition, to the last bit."""

import math

import numpy as np
import pytest
from scipy.special import softmax as scipy_softmax

from costboost.boosting import _link_kernels as compiled
from interpreted import load_interpreted

(interpreted,) = load_interpreted("boosting._link_kernels")


def naive_softmax(row):
    powers = [math.exp(x - max(row)) for x in row]
    total = 0.0
    for power in powers:
        total += power
    return [power / total for power in powers]


@pytest.mark.parametrize("kernels", [compiled, interpreted], ids=["compiled", "interpreted"])
@pytest.mark.parametrize("n_classes", [1, 2, 3, 8, 20])
def test_softmax_is_its_definition(kernels, n_classes):
    logits = np.random.default_rng(n_classes).normal(scale=20, size=(200, n_classes))
    out = np.empty_like(logits)
    kernels.softmax_rows(logits, out)
    assert out.tolist() == [naive_softmax(row) for row in logits.tolist()]
    assert np.allclose(out, scipy_softmax(logits, axis=1), rtol=1e-13)


@pytest.mark.parametrize("kernels", [compiled, interpreted], ids=["compiled", "interpreted"])
def test_logarithms_of_both_sides(kernels):
    shares = np.append(np.random.default_rng(0).uniform(size=500), [2.0**-52, 1 - 2.0**-52])
    out = np.empty((len(shares), 2))
    kernels.log_sides(shares, out)
    assert out.tolist() == [[math.log(s), -math.log1p(-s)] for s in shares.tolist()]
