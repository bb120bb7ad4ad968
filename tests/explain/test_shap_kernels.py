"""The loops of Shapley values, compiled and interpreted."""

import numpy as np
import pytest

from costboost.explain import _shap_kernels, shapley
from costboost.explain.shapley import Explainer
from interpreted import load_interpreted
from shapley_cases import random_case


@pytest.fixture(scope="module", params=["installed", "interpreted"])
def kernels(request):
    if request.param == "installed":
        return _shap_kernels
    return load_interpreted("explain._shap_kernels")[0]


@pytest.mark.parametrize("n_splits", [1, 5, 12])
def test_compiled_and_interpreted_say_the_same(kernels, monkeypatch, n_splits):
    case = random_case(7, n_splits, n_outputs=2)
    codes = case.forest.encode(case.X)
    expected = Explainer(case.forest)._by_kernel(codes, None, 1)
    against = Explainer(case.forest)._by_kernel(codes, codes[:6], 1)
    monkeypatch.setattr(shapley, "kernels", kernels)
    np.testing.assert_array_equal(Explainer(case.forest)._by_kernel(codes, None, 1), expected)
    np.testing.assert_array_equal(Explainer(case.forest)._by_kernel(codes, codes[:6], 1), against)


def toy_values(kernels, codes, background=None):
    """Values of one tree by hand: column 0 at code 0; on its left column 1 at code 0.

    Leaves are worth 1, 2 and 4; 3/4 of the rows go left, and then half of them.
    """
    words = [0 << 16 | 1 << 40, 1 << 16 | 3 << 40, *(255 | node << 40 for node in (2, 3, 4))]
    trees = (
        np.array(words, dtype=np.uint64),
        np.empty((0, 4), dtype=np.uint64),
        np.array([0, 5]),
        np.array([[0.0], [0.0], [4.0], [1.0], [2.0]]),
        np.array([1.0, 0.75, 0.25, 0.5, 0.5]),
        np.array([[0, 1]]),
        np.arange(2),
        np.arange(2),
    )
    codes = np.array(codes, dtype=np.uint8)
    room = shapley._room(len(codes), 2, 5, 2, 2)
    phi = np.zeros((2, 1, len(codes)))
    if background is None:
        kernels.path_dependent(codes, *trees, shapley.gauss_points(2), *room, phi)
    else:
        others = np.array(background, dtype=np.uint8)
        theirs = shapley._room(len(others), 2, 5, 2, 2)
        own = (others, theirs[0], theirs[1], theirs[5], theirs[6], np.empty(64))
        kernels.interventional(codes, *trees, shapley.beta_table(2), *room, phi, *own)
    return phi[:, 0].T


def test_a_tree_of_two_columns_by_hand(kernels):
    # Nothing known: 2.125. Of (0, 0), only column 0 known: 1.5, only column 1: 1.75, both: 1.
    values = toy_values(kernels, [[0, 0], [1, 0]])
    np.testing.assert_allclose(values[0], [(-0.625 - 0.75) / 2, (-0.375 - 0.5) / 2], rtol=1e-15)
    # Of (1, 0) both are 4 once column 0 is known.
    np.testing.assert_allclose(values[1], [(1.875 + 2.25) / 2, (-0.375 + 0.0) / 2], rtol=1e-15)


def test_a_row_against_another_by_hand(kernels):
    # (0, 0) is worth 1, the other (1, 1) 4; column 0 of the row alone 2, column 1 of it alone 4.
    values = toy_values(kernels, [[0, 0]], background=[[1, 1]])
    np.testing.assert_allclose(values[0], [(-2.0 - 3.0) / 2, (0.0 - 1.0) / 2], rtol=1e-15)


@pytest.mark.parametrize("background", [None, [[1, 1], [0, 1], [0, 0]]])
def test_tabled_answers_are_those_of_each_row(kernels, background):
    # Two rows are enough for a table of the 2^2 answers of a leaf; one row's is computed.
    rows = [[0, 0], [0, 1], [1, 0], [1, 1]]
    together = toy_values(kernels, rows, background)
    for row, values in zip(rows, together, strict=True):
        np.testing.assert_array_equal(toy_values(kernels, [row], background)[0], values)
