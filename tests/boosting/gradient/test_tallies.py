"""What margins amount to on the training rows, against a loop over rows."""

import math

import numpy as np
import pytest

from costboost import Costs
from costboost.boosting.gradient.losses import (
    ExponentialLoss,
    HuberLoss,
    LogLoss,
    OwnLoss,
    PinballLoss,
    SquaredLoss,
)
from costboost.boosting.gradient.messages import write_derivatives
from costboost.boosting.gradient.rows import GradientLoader, LossRows, bind_loss
from costboost.boosting.gradient.tallies import CostTally, loss_tally
from costboost.shards.layout import RowData, plan_layout
from gradient_shards import cut_rows

N = 60


@pytest.fixture(autouse=True)
def small_deals(monkeypatch):
    monkeypatch.setattr("costboost.shards.layout._DEAL", 7)


def put_margins(shards, margins):
    shards.put(lambda shard, part: setattr(shard.state, "margins", part), margins)


@pytest.mark.parametrize("loss", [SquaredLoss(), HuberLoss(0.5), PinballLoss(1.0, 3.0)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_the_mean_loss_is_that_of_the_rows(loss, weighted, own):
    rng = np.random.default_rng(0)
    y, raw = rng.normal(size=N), rng.normal(size=(N, 1))
    weights = np.where(np.arange(N) % 5, rng.uniform(0.1, 9, N), 0.0) if weighted else None
    counts = np.ones(N) if weights is None else weights
    rows, given = LossRows(y, 1, weights), OwnLoss(loss) if own else loss
    expected = math.fsum(counts * loss.value(y, raw[:, 0])) / math.fsum(counts)
    found = []
    for n_shards in (1, 3):
        with cut_rows(rows, n_shards=n_shards) as shards:
            shards.call([bind_loss(loss=given, start=(0.0,), moves_by="leaf")])
            put_margins(shards, raw)
            tally = loss_tally(given, rows)
            if not own:
                shards.call([write_derivatives(where="margins", total=0.0)])
            found += [tally(shards, 0.0), tally(shards, 0.0)]
    assert len(set(found)) == 1
    assert found[0] == pytest.approx(expected, rel=1e-12)


def prices(kind, n_classes):
    rng = np.random.default_rng(n_classes)
    shape = (N, n_classes, n_classes) if kind == "by row" else (n_classes, n_classes)
    C = rng.integers(1, 9, shape).astype(float)
    C[..., np.arange(n_classes), np.arange(n_classes)] = 0.0
    return Costs.from_matrix(C, classes=np.arange(n_classes)), np.broadcast_to(
        C, (N, n_classes, n_classes)
    )


@pytest.mark.parametrize("kind", ["by class", "by row"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("cheapest", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", [LogLoss(), ExponentialLoss()])
def test_decisions_are_paid_for(kind, n_classes, cheapest, weighted, loss):
    costs, C = prices(kind, n_classes)
    rng = np.random.default_rng(1)
    y = rng.integers(0, n_classes, N)
    raw = rng.normal(size=(N, 1 if n_classes == 2 else n_classes))
    weights = rng.integers(0, 5, N).astype(float) if weighted else None
    proba = loss.proba(raw[:, 0] if n_classes == 2 else raw)
    if cheapest:
        decided = [int(np.argmin(proba[i] @ C[i])) for i in range(N)]
    else:
        decided = np.argmax(np.hstack([0 * raw, raw]) if n_classes == 2 else raw, axis=1)
    paid = C[np.arange(N), y, decided]
    expected = math.fsum(paid if weights is None else weights * paid)
    found = []
    for n_shards in (1, 3):
        layout = plan_layout(None, N, 1, n_shards)
        loader = GradientLoader(
            RowData(y, weights, costs.bind(np.arange(n_classes), N)), raw.shape[1]
        )
        with layout.cut(np.zeros((N, 0), np.uint8), loader.load) as shards:
            bound = costs.bind(np.arange(n_classes), N)
            tally = CostTally(shards, bound, loss, n_classes, cheapest=cheapest)
            put_margins(shards, raw)
            found.append(tally(shards, 1.0))
    assert found[0] == found[1]
    assert found[0] == pytest.approx(expected, rel=1e-12)


def test_actions_that_are_no_classes_are_paid_for():
    rng = np.random.default_rng(2)
    costs = Costs.from_matrix([[0, 1, 5], [9, 2, 0]], classes=[0, 1], actions=["no", "ask", "yes"])
    costs, y, raw = costs.bind([0, 1]), rng.integers(0, 2, N), rng.normal(size=(N, 1))
    C = np.array([[0.0, 1, 5], [9, 2, 0]])
    decided = np.argmin(LogLoss().proba(raw[:, 0]) @ C, axis=1)
    layout = plan_layout(None, N, 1, 2)
    loader = GradientLoader(RowData(y, None, costs))
    with layout.cut(np.zeros((N, 0), np.uint8), loader.load) as shards:
        tally = CostTally(shards, costs, LogLoss(), 2, cheapest=True)
        put_margins(shards, raw)
        assert tally(shards, 1.0) == C[y, decided].sum()
