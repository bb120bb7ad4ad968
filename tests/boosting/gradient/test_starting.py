"""First margins: closed forms, and sums of all rows without any rounding."""

import math

import numpy as np
import pytest

from costboost.boosting.gradient.losses import CostExponentialLoss, ExponentialLoss, LogLoss
from costboost.boosting.gradient.rows import (
    LossRows,
    bind_loss,
    class_weights,
    fetch_row_kinds,
    largest_cost,
    log_shares,
    sum_at_constant,
    sum_class_weights,
    sum_sizes,
    sum_targets,
    terms_by_class,
)
from costboost.shards.grid import rounded
from gradient_shards import best_constant, cut_rows


def test_closed_forms_of_the_start():
    y = np.array([0, 0, 0, 1])
    assert best_constant(LogLoss(), LossRows(y)).tolist() == [math.log(1 / 3)]
    assert best_constant(ExponentialLoss(), LossRows(y)).tolist() == [0.5 * math.log(1 / 3)]
    # CSAda's F* = ln(C1 W+ / (C2 W-)) / (C1 + C2), C1 = 1 and C2 = 1/4
    table = np.array([[0.0, 0.25], [1.0, 0.0]])
    found = best_constant(CostExponentialLoss(), LossRows(y, table=table))
    assert found[0] == pytest.approx(math.log(1 / (0.25 * 3)) / 1.25, rel=1e-12)


def sums_of(rows, message, n_shards=1):
    with cut_rows(rows, n_shards=n_shards) as shards:
        return shards.call([message])[0]


@pytest.mark.parametrize("n_shards", [1, 3])
def test_sums_over_many_powers_of_ten_are_not_rounded(n_shards, monkeypatch):
    monkeypatch.setattr("costboost.shards.layout._DEAL", 4)
    monkeypatch.setattr("costboost.shards.layout._BLOCK", 3)
    rng = np.random.default_rng(0)
    y = np.r_[1e200, rng.normal(size=17), -1e200, 1e-200]
    sums = sums_of(LossRows(y), sum_targets(), n_shards)
    assert rounded(sums[0]) == math.fsum(y)
    assert rounded(sums[1]) == 20.0
    labels, weights = rng.integers(0, 3, 20), 10.0 ** rng.uniform(-200, 200, 20)
    with cut_rows(LossRows(labels, 3, weights), n_shards=n_shards) as shards:
        expected = [math.fsum(weights[labels == k]) for k in range(3)]
        assert class_weights(shards, 3).tolist() == expected
        counts = sums_of(LossRows(labels, 3), sum_class_weights(n_classes=4), n_shards)
        assert [rounded(count) for count in counts] == np.bincount(labels, minlength=4).tolist()


def test_derivatives_at_a_constant_are_added_up():
    rng = np.random.default_rng(1)
    rows = LossRows(rng.integers(0, 3, 30), 3, rng.uniform(0.1, 2, 30))
    f0 = (0.2, -0.1, 1.0)
    g, h = LogLoss().derivatives(rows, np.tile(f0, (30, 1)))
    for output in range(3):
        sums = sums_of(rows, sum_at_constant(loss=LogLoss(), constant=f0, output=output))
        expected = [math.fsum(part[:, output]) for part in (g, h)]
        assert [rounded(part) for part in sums] == expected


def test_a_class_without_weight_is_as_likely_as_an_ulp():
    with cut_rows(LossRows(np.array([1, 1, 1]))) as shards:
        assert log_shares(shards, 1)[0] == pytest.approx(52 * math.log(2))
    weights = np.array([1.0, 3.0, 0.0])
    with cut_rows(LossRows(np.array([0, 1, 2]), 3, weights)) as shards:
        logs = np.log([0.25, 0.75, 2.0**-52])
        np.testing.assert_allclose(log_shares(shards, 3), logs - logs.mean(), rtol=1e-14)


def test_binding_tells_the_largest_weights_and_sets_the_margins():
    weights = np.array([0.5, 4.0, 0.0])
    table = np.array([[0.0, 0.25], [1.0, 0.0]])
    rows = LossRows(np.array([1, 0, 1]), weights=weights, table=table)
    with cut_rows(rows, n_shards=2) as shards:
        # The objective adacost: a = y / 2, b = -c / 2, w0 = c.
        (found,) = shards.call(
            [bind_loss(loss=CostExponentialLoss("adacost"), start=(0.7,), moves_by="steps")]
        )
        assert found.tolist() == [4.0, 1.0, 0.5, 2.0]
        margins = shards.fetch(lambda shard: shard.state.margins)
        assert margins.tolist() == [[0.7]] * 3
    plain = sums_of(
        LossRows(np.array([1, 0])), bind_loss(loss=LogLoss(), start=(0.0,), moves_by="leaf")
    )
    assert plain.tolist() == [1.0, 1.0, 0.0, 0.0]


def test_what_is_given_is_told_without_rows():
    rows = LossRows(np.array([0, 1]), weights=np.ones(2), prices=np.ones((2, 2)))
    outline = sums_of(rows, fetch_row_kinds())
    assert len(outline.y) == len(outline.weights) == len(outline.prices) == 0
    assert outline.table is None


def test_terms_and_sizes_of_classes():
    y, loss = np.array([1, 0, 1, 1]), CostExponentialLoss("asymboost")
    table = np.array([[0.0, 0.25], [1.0, 0.0]])
    rows, weights = LossRows(y, table=table), np.array([1.0, 2.0, 0.0, 3.0])
    assert sums_of(rows, largest_cost(loss=loss)) == 1.0
    assert sums_of(rows, terms_by_class(loss=loss)).a.tolist() == [-0.25, 1.0]
    assert sums_of(LossRows(y, prices=table[y]), terms_by_class(loss=loss)) is None
    sums = sums_of(LossRows(y, weights=weights, table=table), sum_sizes(loss=loss))
    assert [rounded(part) for part in sums] == [1.0 + 0.5 + 3.0, 6.0]
