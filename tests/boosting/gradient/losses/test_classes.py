"""Losses of classes at some rows: numbers by class or by row."""

import numpy as np
import pytest

from costboost.boosting.gradient import _gradient_kernels as kernels
from costboost.boosting.gradient.losses import ExponentialTerms
from costboost.boosting.gradient.losses.classes import EXPONENTIAL, ClassTerms
from costboost.boosting.gradient.rows import LossRows
from gradient_losses import derive, example


@pytest.mark.parametrize("name", ["asymboost-2", "adacost-3", "expected-cost-2", "cgada-3"])
def test_prices_by_class_equal_prices_by_row(name):
    loss, _, rows, raw = example(name)
    n_classes = rows.prices.shape[1]
    table = np.random.default_rng(3).uniform(0.1, 1, size=(n_classes, n_classes))
    np.fill_diagonal(table, 0.0)
    found = []
    for bundle in (
        LossRows(rows.y, rows.n_outputs, table=table),
        LossRows(rows.y, rows.n_outputs, prices=table[rows.y]),
    ):
        found.append(derive(loss, bundle, raw)[1])
    np.testing.assert_array_equal(*found)


def plain(labels, a, b, w0, *, by_class):
    return ClassTerms(EXPONENTIAL, np.array(labels, np.uint8), by_class, a, b, w0, np.zeros(0))


def test_rows_read_the_numbers_of_their_class():
    a, b, w0 = np.array([-0.25, 1.0]), np.array([0.5, -0.75]), np.array([2.0, 3.0])
    terms = plain([1, 0, 1], a, b, w0, by_class=True)
    assert terms.aims.tolist() == [1.0, -0.25, 1.0]
    assert terms.sizes.tolist() == [1.0, 0.25, 1.0]
    assert (terms.largest_w0, terms.drift) == (3.0, 0.75)
    own = plain([1, 0], np.array([-3.0, 2.0]), np.zeros(2), np.ones(2), by_class=False)
    assert own.sizes.tolist() == [3.0, 2.0]
    assert own.drift == 0.0
    many = plain([2, 0], np.array([[1.0, -4.0, 0], [0, 2, 2], [5, 0, 0]]), w0, w0, by_class=True)
    assert many.sizes.tolist() == [5.0, 4.0]
    assert plain([], np.zeros(0), np.zeros(0), np.zeros(0), by_class=False).largest_w0 == 0.0


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("alike", [False, True])
def test_what_multiplies_gradients_along_a_line_is_the_derivative(n_classes, by_class, alike):
    """Of sum w0 exp(-(a (F + l f) + b (A + l))) in l, by differences."""
    rng = np.random.default_rng(0)
    n, m = (n_classes if by_class else 6), 6
    labels = np.array([0, 1, n_classes - 1, 1, 0, 1])
    shape = (n,) if n_classes == 2 else (n, n_classes)
    # As of K classes: every a is that of a margin F_y - F_k.
    a, b, w0 = rng.uniform(0.5, 2, shape), rng.normal(size=shape), rng.uniform(0.5, 2, shape)
    if n_classes == 2:
        a *= np.where(np.arange(n) % 2, 1.0, -1.0)
    if alike:
        b[:], w0[:] = b.flat[0], w0.flat[0]
    rows = LossRows(labels, n_outputs=1 if n_classes == 2 else 3)
    terms = ClassTerms.of(EXPONENTIAL, rows, labels, (a, b, w0), by_class)
    assert terms.b.size == (1 if alike and n_classes == 2 else b.size)
    F, f = rng.normal(size=(2, m, 1 if n_classes == 2 else 3))
    total = 0.4
    at = (a[labels], b[labels], w0[labels]) if by_class else (a, b, w0)

    def value(size):
        own = ExponentialTerms(labels, *at, total + size)
        moved = F + size * f
        return own.value(moved[:, 0] if n_classes == 2 else moved).sum()

    derived = np.zeros((terms.depth, F.shape[1], m))
    terms.derive(F, total, derived)
    along = terms.along(f)
    slope = 0.0
    for k in range(F.shape[1]):
        out = np.empty((2, m))
        kernels.unfold(*terms.read(derived, k), False, out)
        slope += (out[0] * along[:, k]).sum()
    assert slope == pytest.approx((value(1e-6) - value(-1e-6)) / 2e-6, rel=1e-6)


def test_steps_are_their_own_direction_without_drift():
    steps = np.ones((3, 1))
    assert (
        plain([1, 0, 1], np.ones(2), np.zeros(2), np.ones(2), by_class=True).along(steps) is steps
    )
    free = plain([1, 0], np.array([0.0, 2.0]), np.ones(2), np.ones(2), by_class=True)
    assert free.along(np.zeros((2, 1))).tolist() == [[0.5], [0.0]]  # an a of 0 moves nothing
