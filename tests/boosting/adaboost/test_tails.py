"""Z in logarithms: the same where numbers hold it, and right where they do not."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from costboost.boosting.adaboost.steps import (
    ALL,
    FALLING,
    RISING,
    CellLogs,
    CellSums,
    RowTails,
    Tails,
)
from costboost.boosting.adaboost.sums import RowLogs, View
from rows_of_votes import Rows, sums_of

few = settings(max_examples=30, deadline=None)


@few
@given(st.integers(0, 10**6), st.floats(-30.0, 30.0))
def test_sides_of_cells_are_those_of_z(seed, alpha):
    rng = np.random.default_rng(seed)
    q, u = rng.dirichlet(np.ones(6)).reshape(3, 2), rng.normal(size=(3, 2))
    q[0, 0] = u[1, 1] = 0.0
    u[0, 1], u[2, 0] = 0.5, -0.7  # both sides have weight
    sums, logs = CellSums(q, u), CellLogs(q, u)
    z, slope, _ = sums.z(alpha)
    assert math.exp(logs.log_sum(ALL, alpha)) == pytest.approx(z, rel=1e-12)
    rising, falling = (math.exp(logs.log_sum(side, alpha)) for side in (RISING, FALLING))
    assert rising - falling == pytest.approx(slope, abs=1e-12 * (rising + falling))
    tails = Tails(logs)
    assert tails.gap(alpha) == pytest.approx(math.log(falling / rising), abs=1e-9)
    mean = np.sum(q * np.abs(u)) / q.sum()
    assert tails.mean_size() == pytest.approx(mean, rel=1e-12)


def test_steps_that_numbers_do_not_hold():
    logs = CellLogs(np.array([0.5, 0.25, 0.25]), np.array([1e-3, 1.0, -1e-3]))
    # The first cell's term is exp(-1e3), the second's exp(-1e6): far below the smallest number.
    assert logs.log_sum(FALLING, 1e6) == pytest.approx(math.log(0.5e-3) - 1e3, rel=1e-14)
    assert logs.log_sum(RISING, 1e6) == pytest.approx(math.log(0.25e-3) + 1e3, rel=1e-14)
    assert Tails(logs).log_z(1e6) == pytest.approx(math.log(0.25) + 1e3, rel=1e-14)
    assert Tails(logs).gap(1e6) == pytest.approx(math.log(2.0) - 2e3, rel=1e-14)


def test_a_side_without_weight_falls_for_ever():
    up = Tails(CellLogs(np.array([1.0, 0.0]), np.array([0.5, -0.5])))
    assert up.gap(3.0) == math.inf
    down = Tails(CellLogs(np.array([0.0, 1.0]), np.array([0.5, -0.5])))
    assert down.gap(3.0) == -math.inf
    still = Tails(CellLogs(np.array([1.0, 1.0]), np.array([0.0, 0.0])))
    assert still.gap(3.0) == 0.0
    assert CellLogs(np.zeros(2), np.ones(2)).log_sum(ALL, 1.0) == -math.inf


@pytest.mark.parametrize("factored", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 1.0, -40.0, 5e4])
def test_tails_of_rows_do_not_depend_on_shards(factored, alpha, monkeypatch):
    monkeypatch.setattr("costboost.shards.layout._DEAL", 16)
    rows = Rows(3, 300, symmetric=False, factored=factored)
    q, u = rows.weights * rows.factors, rows.margins
    found = []
    for n_shards in (1, 2, 5):
        shards, _ = sums_of(rows, n_shards)
        with shards:
            tails = RowTails(shards, RowLogs(View(rows.hypothesis)))
            found.append([tails.log_sum(side, alpha) for side in (ALL, FALLING, RISING)])
    assert found[0] == found[1] == found[2]
    sizes = (np.ones(300), np.where(u > 0, u, 0.0), np.where(u < 0, -u, 0.0))
    expected = [logsumexp(-alpha * u, b=q * size) for size in sizes]
    np.testing.assert_allclose(found[0], expected, rtol=1e-12, atol=1e-12)
