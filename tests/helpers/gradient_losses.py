"""Shared by the tests of losses: every loss beside its naive twin, and rows for it."""

import numpy as np
import pytest

from costboost.boosting.gradient.losses import (
    CostExponentialLoss,
    ExpectedCostLoss,
    ExponentialLoss,
    HuberLoss,
    LogLoss,
    PinballLoss,
    SquaredLoss,
)
from costboost.boosting.gradient.rows import LossRows, bind_loss
from gradient_shards import cut_rows
from naive import gradient as naive

OBJECTIVES = {
    "asymboost": lambda c: (c, 0.0, 1.0),
    "adacost": lambda c: (0.5, -c / 2, c),
    "cgada": lambda c: (1.0, 0.0, c),
    "adaboost": lambda c: (1.0, 0.0, 1.0),
}
CASES = {
    "squared": (SquaredLoss(), naive.squared, 0),
    "absolute": (PinballLoss(), naive.pinball(1, 1), 0),
    "pinball": (PinballLoss(2.0, 0.5), naive.pinball(2.0, 0.5), 0),
    "huber": (HuberLoss(0.7), naive.huber(0.7), 0),
}
for _k in (2, 3, 4):
    CASES[f"log-{_k}"] = (LogLoss(), naive.log, _k)
    CASES[f"exponential-{_k}"] = (ExponentialLoss(), naive.exponential, _k)
    CASES[f"expected-cost-{_k}"] = (ExpectedCostLoss(), naive.expected_cost, _k)
    for _name, _objective in OBJECTIVES.items():
        CASES[f"{_name}-{_k}"] = (
            CostExponentialLoss(_name, total=0.3),
            naive.cost_exponential(_objective, 0.3),
            _k,
        )
each_loss = pytest.mark.parametrize("name", CASES)
SMOOTH = [name for name in CASES if name not in ("absolute", "pinball", "huber")]


def example(name, n=40, seed=0):
    """Return the loss, its twin, and rows with prices and raw scores."""
    loss, twin, n_classes = CASES[name]
    rng = np.random.default_rng(seed)
    n_outputs = 1 if n_classes <= 2 else n_classes
    raw = rng.normal(size=(n, n_outputs))
    if n_classes == 0:
        return loss, twin, LossRows(rng.normal(size=n)), raw
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)]
    prices = rng.uniform(0.05, 1.0, size=(n, n_classes))
    prices[np.arange(n), y] = 0.0
    uses = getattr(loss, "uses_costs", False)
    return loss, twin, LossRows(y, n_outputs, prices=prices if uses else None), raw


def flat(raw):
    return raw[:, 0] if raw.shape[1] == 1 else raw


def price_of(rows, i):
    return None if rows.prices is None else rows.prices[i]


def derive(loss, rows, raw, n_shards=1):
    """Return the largest derivatives, and all gradients and hessians in the order of the table."""
    with cut_rows(rows, n_shards=n_shards) as shards:
        shards.call([bind_loss(loss=loss, start=(0.0,) * rows.n_outputs, moves_by="leaf")])
        shards.put(lambda shard, part: setattr(shard.state, "margins", part), raw)
        largest = loss.measure(shards, getattr(loss, "total", 0.0))
        outputs = range(rows.n_outputs)
        parts = shards.fetch(
            lambda shard: np.stack([shard.state.derivatives(k) for k in outputs]).T
        )
        return largest, parts[:, 0], parts[:, 1]
