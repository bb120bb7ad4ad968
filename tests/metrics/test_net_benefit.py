"""Decision curves and return on investment: the same by counting, and in money."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost import Costs
from costboost.metrics import net_benefit, roi, roi_curve, total_cost

rows = st.lists(
    st.tuples(st.booleans(), st.sampled_from([0, 0.2, 0.25, 0.5, 0.9, 1]), st.integers(0, 3)),
    min_size=2,
    max_size=20,
).filter(lambda rows: any(w for *_, w in rows))


@settings(max_examples=60, deadline=None)
@given(rows, st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.5, 0.95]))
def test_net_benefit_counts_rows(rows, t):
    y, p, w = (np.array(part) for part in zip(*rows, strict=True))
    benefit = 0.0
    for truth, said, weight in rows:
        if said > t:
            benefit += weight * (1 if truth else -t / (1 - t))
    expected = benefit / w.sum()
    assert net_benefit(y, p, thresholds=[t], sample_weight=w)[1][0] == pytest.approx(expected)
    copies = np.repeat(np.arange(len(y)), w)
    assert net_benefit(y[copies], p[copies], thresholds=[t], pos_label=True)[1][0] == pytest.approx(
        expected
    )
    if (y & (w > 0)).any():
        share = w[y].sum() / w.sum()
        found = net_benefit(y, p, thresholds=[t], sample_weight=w, standardized=True)[1][0]
        assert found == pytest.approx(expected / share)


def test_net_benefit_is_what_treating_saves():
    generator = np.random.default_rng(0)
    p = generator.beta(1, 3, 400)
    y = np.where(generator.random(400) < p, "ill", "well")
    for fp, fn in ((1, 9), (3, 1), (10, 10)):
        costs = Costs(fp=fp, fn=fn, positive="ill")
        proba = np.stack([p, 1 - p], axis=1)  # "ill" comes first
        decided = costs.bind(["ill", "well"]).decide(proba)
        idle = np.full(400, "well")
        saved = total_cost(y, idle, costs=costs) - total_cost(y, decided, costs=costs)
        _, benefit = net_benefit(y, p, thresholds=[fp / (fp + fn)], pos_label="ill")
        assert fn * benefit[0] * 400 == pytest.approx(saved)


@pytest.mark.parametrize("weights", [None, [1, 2, 0, 0.5, 3]])
def test_return_on_investment_by_hand(weights):
    y, decided = [0, 1, 1, 0, 1], [1, 1, 0, 0, 1]
    fn = np.array([9, 40, 70, 9, 2.0])
    costs = Costs(fp=5, tp=8, fn=fn)
    w = np.ones(5) if weights is None else np.array(weights)
    spent = w[0] * 5 + (w[1] + w[4]) * 8
    saved = -5 * w[0] + w[1] * (40 - 8) + w[4] * (2 - 8)
    found = roi(y, decided, costs=costs, sample_weight=weights)
    assert found == pytest.approx(saved / spent)
    per_row = np.array([1, 2, 3, 4, 5.0])
    found = roi(y, decided, costs=costs, sample_weight=weights, spend=per_row)
    assert found == pytest.approx(saved / (w[0] + 2 * w[1] + 5 * w[4]))
    named = np.array(["b", "a"])
    again = Costs(fp=5, tp=8, fn=fn, positive="a")
    found = roi(named[y], named[decided], costs=again, sample_weight=weights)
    assert found == pytest.approx(saved / spent)


def test_the_curve_is_the_return_of_each_prefix():
    generator = np.random.default_rng(1)
    y, score = generator.integers(0, 2, 60), generator.permutation(60) / 60
    costs = Costs(fp=5, tp=5, fn=generator.lognormal(3, 1, 60))
    share, returned = roi_curve(y, score, costs=costs)
    for k in (1, 7, 60):
        acted = (score >= np.sort(score)[-k]).astype(int)
        assert share[k - 1] == pytest.approx(k / 60)
        assert returned[k - 1] == pytest.approx(roi(y, acted, costs=costs))


def test_edges_and_refusals():
    assert roi([0, 1], [0, 0], costs={"fp": 1, "fn": 9}) == 0
    assert roi([0, 1], [0, 1], costs={"fp": 1, "fn": 9}) == np.inf
    earns = Costs(fp=1, tp=-9, fn=0, benefits=True)
    with pytest.raises(ValueError, match="spend="):
        roi([0, 1], [0, 1], costs=earns)
    assert roi([0, 1], [1, 1], costs=earns, spend=1) == 4
    with pytest.raises(ValueError, match="spend has shape"):
        roi([0, 1], [1, 1], costs=earns, spend=[1, 1, 1])
    with pytest.raises(ValueError, match="is none of"):
        roi([0, 1], [1, 2], costs=Costs.from_matrix([[0, 1], [9, 0]], classes=[0, 1]))
    with pytest.raises(ValueError, match="below 1"):
        net_benefit([0, 1], [0.1, 0.2], thresholds=[1.0])
    with pytest.raises(ValueError, match="within"):
        net_benefit([0, 1], [0.1, 1.2])
    with pytest.raises(ValueError, match="no row is positive"):
        net_benefit([0, 0], [0.1, 0.2], standardized=True)
