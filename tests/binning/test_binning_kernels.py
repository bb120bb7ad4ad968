"""The kernels of binning, compiled and interpreted."""

from __future__ import annotations

import numpy as np

from binning_cases import mixed_matrix
from costboost.binning import columns, cutting, encoding
from costboost.binning.binner import fit_binner
from interpreted import load_interpreted


def interpreted_kernels():
    (module,) = load_interpreted("binning._binning_kernels", hide_cython=False)
    assert not module.is_compiled()
    return module


def test_interpreted_kernels_give_the_same(monkeypatch):
    weights = np.random.default_rng(0).integers(0, 3, 400)
    tables = [mixed_matrix(), mixed_matrix(dtype=np.float64)]
    tables[1][:3, 0] = [np.inf, -np.inf, 1e308]

    def results():
        for X in tables:
            for max_bins in (4, 255):
                for weight in (None, weights):
                    binner = fit_binner(X, weight, max_bins=max_bins)
                    yield binner, binner.encode(X, positions=np.arange(400)[::-1])

    compiled = list(results())
    interpreted = interpreted_kernels()
    for module in (columns, cutting, encoding):
        monkeypatch.setattr(module, "kernels", interpreted)
    for (binner, codes), (other, other_codes) in zip(compiled, results(), strict=True):
        assert binner == other
        np.testing.assert_array_equal(codes, other_codes)
