"""Prices over and under: quantiles of all rows, of leaves, and along steps."""

from types import SimpleNamespace

import numpy as np
import pytest

from costboost.boosting.gradient.losses import AbsoluteLoss, PinballLoss
from costboost.boosting.gradient.messages import write_steps
from costboost.boosting.gradient.rows import LossRows, bind_loss
from gradient_shards import best_constant, cut_rows

RNG = np.random.default_rng(0)
Y = RNG.normal(size=41)
WEIGHTS = RNG.integers(0, 4, 41).astype(float)
PRICES = RNG.uniform(0.1, 3, (41, 2))
LEAVES = (np.arange(41) % 3).astype(np.uint16)
ROWS = {
    "plain": LossRows(Y),
    "weighted": LossRows(Y, 1, WEIGHTS),
    "by row": LossRows(Y, prices=PRICES),
    "both": LossRows(Y, 1, WEIGHTS, PRICES),
}


@pytest.fixture(autouse=True)
def small_deals(monkeypatch):
    monkeypatch.setattr("costboost.shards.layout._DEAL", 5)


def total(loss, rows, raw, among=slice(None)):
    extra = () if rows.prices is None else (rows.prices[among],)
    values = loss.value(rows.y[among], np.broadcast_to(raw, rows.y[among].shape), *extra)
    return float(np.sum(values * rows.unit_or_weights[among]))


def test_by_hand():
    loss = PinballLoss(over=1.0, under=9.0)
    y, raw = np.zeros(3), np.array([2.0, -2.0, 0.0])
    assert loss.value(y, raw).tolist() == [2.0, 18.0, 0.0]
    assert loss.gradient(y, raw).tolist() == [1.0, -9.0, 0.0]
    assert loss.hessian(y, raw).tolist() == [1.0, 1.0, 1.0]
    prices = np.array([[5.0, 0.0], [0.0, 7.0], [1.0, 1.0]])
    assert loss.value(y, raw, prices).tolist() == [10.0, 14.0, 0.0]


@pytest.mark.parametrize("name", ROWS)
def test_the_constant_is_a_quantile_of_all_rows(name):
    loss, rows = PinballLoss(1.0, 4.0), ROWS[name]
    (found,) = best_constant(loss, rows)
    assert total(loss, rows, found) <= min(total(loss, rows, y) for y in Y) * (1 + 1e-12)
    if name == "plain":
        assert found == np.sort(Y)[32]  # of level 4/5 among 41


@pytest.mark.parametrize("n_shards", [1, 3])
@pytest.mark.parametrize("name", ROWS)
def test_leaves_and_steps_are_least(name, n_shards):
    loss, rows = PinballLoss(2.0, 1.0), ROWS[name]
    with cut_rows(rows, n_shards=n_shards) as shards:
        shards.call([bind_loss(loss=loss, start=(0.3,), moves_by="steps")])
        for shard in shards.shards:
            shard.leaves[:] = LEAVES[shard.rows]
        values = loss.leaf_values(shards, 4)
        assert values[3] == 0.0  # without rows
        for leaf in range(3):
            own = leaf == LEAVES
            least = min(total(loss, rows, y, own) for y in Y[own])
            found = total(loss, rows, 0.3 + values[leaf], own)
            assert found == pytest.approx(least, rel=1e-12)
        steps = np.array([1.0, -0.5, 0.0])
        shards.call([write_steps(output=0, values=steps)])
        size = loss.best_step(shards)
    tries = [(y - 0.3) / steps[leaf] for y, leaf in zip(Y, LEAVES, strict=True) if steps[leaf]]
    least = min(total(loss, rows, 0.3 + at * steps[LEAVES]) for at in tries)
    assert total(loss, rows, 0.3 + size * steps[LEAVES]) == pytest.approx(least, rel=1e-12)


def test_rows_that_a_round_does_not_learn_from_do_not_count():
    loss = PinballLoss()
    with cut_rows(LossRows(Y)) as shards:
        shards.call([bind_loss(loss=loss, start=(0.0,), moves_by="leaf")])
        shards.shards[0].state.keep = (np.arange(41) < 7).astype(np.uint8)
        (found,) = loss.leaf_values(shards, 1)
    assert found == np.median(Y[:7])


def test_prices_are_checked():
    read = PinballLoss.from_params
    assert read(SimpleNamespace(over=1, under=0), Y, None) == PinballLoss(1.0, 0.0)
    with pytest.raises(ValueError, match="both 0: there is nothing to minimise"):
        read(SimpleNamespace(over=0, under=0), Y, None)
    for name in ("over", "under"):
        with pytest.raises(ValueError, match=name):
            read(SimpleNamespace(**{"over": 1, "under": 1, name: -1}), Y, None)


def test_absolute_errors_have_no_prices():
    loss = AbsoluteLoss.from_params(SimpleNamespace(over=5, under=0), Y, None)
    assert loss.value(np.zeros(2), np.array([3.0, -3.0])).tolist() == [3.0, 3.0]
    assert best_constant(loss, LossRows(Y))[0] == np.median(Y)
