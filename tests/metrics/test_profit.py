"""Profit measures against their definitions, by numerical integration, and a peer."""

import numpy as np
import pytest
from scipy import integrate, stats

from costboost import Costs
from costboost.costs import uncertain
from costboost.metrics import (
    bootstrap_interval,
    emp_churn,
    emp_credit,
    expected_maximum_profit,
    mp_churn,
    profit,
    total_cost,
)


def problem(seed, n=200, share=0.3, ties=False):
    rng = np.random.default_rng(seed)
    y = (rng.uniform(size=n) < share).astype(int)
    y[:2] = [0, 1]
    score = rng.normal(size=n) + y
    return y, np.round(score, 1 if ties else 9)


def best_profit(y, score, weight, benefit, cost):
    """max over all thresholds, each tried: the definition, at one benefit or several."""
    acted = np.vstack([np.zeros(len(y)), score >= np.unique(score)[:, None]])
    acted *= weight / weight.sum()
    earned = np.multiply.outer(benefit, acted @ y) - cost * (acted @ (1 - y))
    best = np.argmax(earned, axis=-1)  # the first: of nobody, where nothing is earned
    return np.array([np.max(earned, axis=-1), acted.sum(axis=1)[best]])


def integral(y, score, weight, law, cost, low, high):
    """EMP and the mean share by the trapezoid rule over the unknown price."""
    b = np.linspace(low, high, 4001)
    found = best_profit(y, score, weight, b, cost)
    return [integrate.trapezoid(found[j] * law(b), b) for j in range(2)]


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_credit_against_integration(ties, weighted):
    y, score = problem(0, n=60, ties=ties)
    weight = np.random.default_rng(1).uniform(size=60) if weighted else np.ones(60)
    for p0, p1, roi in [(0.55, 0.1, 0.2644), (0.0, 0.0, 0.05), (0.2, 0.7, 0.9)]:
        ours = emp_credit(y, score, p0=p0, p1=p1, roi=roi, sample_weight=weight)
        spread = integral(y, score, weight, np.ones_like, roi, 0.0, 1.0)
        certain = best_profit(y, score, weight, 1.0, roi)
        for j in range(2):
            by_hand = (1 - p0 - p1) * spread[j] + p1 * certain[j]
            assert ours[j] == pytest.approx(by_hand, abs=2e-4 if j else 1e-6)


@pytest.mark.parametrize(
    ("alpha", "beta", "clv", "incentive", "contact"),
    [(6, 14, 200, 10, 1), (1, 1, 50, 5, 30), (0.5, 3, 1000, 1, 0)],
)
def test_churn_against_integration(alpha, beta, clv, incentive, contact):
    y, score = problem(3, n=60)
    ours = emp_churn(
        y, score, alpha=alpha, beta=beta, clv=clv, incentive=incentive, contact=contact
    )
    draws = stats.beta(alpha, beta).ppf((np.arange(20000) + 0.5) / 20000)
    benefits = np.linspace(-contact, clv - incentive - contact, 2001)
    table = best_profit(y, score, np.ones(60), benefits, incentive + contact)[0]
    by_hand = np.mean(np.interp(draws * (clv - incentive) - contact, benefits, table))
    assert ours.profit == pytest.approx(by_hand, rel=1e-3)


def test_maximum_profit_is_that_of_the_best_threshold():
    y, score = problem(5, ties=True)
    for gamma in (0.0, 0.05, 0.3, 1.0):
        ours = mp_churn(y, score, gamma=gamma)
        best, share = best_profit(y, score, np.ones(len(y)), gamma * 190 - 1, 11)
        assert ours.profit == pytest.approx(best, rel=1e-12, abs=1e-15)
        assert ours.share == pytest.approx(share)


def test_a_certain_distribution_is_no_distribution():
    y, score = problem(7)
    sure = emp_churn(y, score, alpha=3e6, beta=7e6)
    assert sure.profit == pytest.approx(mp_churn(y, score, gamma=0.3).profit, rel=1e-3)


def test_perfect_and_hopeless_rankings():
    y = np.array([0, 0, 0, 1])
    assert emp_credit(y, y).profit == pytest.approx(0.25 * (0.1 + 0.35 / 2))
    # Backwards, the hull is that of acting on all or on nobody.
    worth = 3 * 0.2644  # of lambda, from which on declining all pays
    spread = 0.25 * (1 - worth) ** 2 / 2
    assert emp_credit(y, -y).profit == pytest.approx(0.1 * 0.25 * (1 - worth) + 0.35 * spread)
    assert mp_churn(y, 0 * y, gamma=0.9).profit == pytest.approx((0.9 * 190 - 1 - 33) / 4)


def test_weights_are_repeated_rows():
    y, score = problem(9, n=50)
    times = np.random.default_rng(0).integers(0, 4, 50)
    times[:2] = 1
    for measure in (emp_credit, emp_churn, mp_churn):
        weighted = measure(y, score, sample_weight=times)
        repeated = measure(np.repeat(y, times), np.repeat(score, times))
        assert weighted == pytest.approx(repeated, rel=1e-12)


def test_against_a_peer():
    peer = pytest.importorskip("empulse.metrics")
    for seed in range(3):
        y, score = problem(seed, n=400)
        p = 1 / (1 + np.exp(-score))
        assert emp_credit(y, p).profit == pytest.approx(peer.empcs_score(y, p), rel=1e-12)
        kept = uncertain(-190, distribution=stats.beta(6, 14))
        churn = Costs(fp=11, fn=-1, tp=kept, benefits=True)
        general = expected_maximum_profit(y, p, churn).profit
        assert general == pytest.approx(peer.empc_score(y, p), rel=1e-12)
        assert emp_churn(y, p).profit == pytest.approx(peer.empc_score(y, p), rel=1e-12)
        assert mp_churn(y, p).profit == pytest.approx(peer.mpc_score(y, p), rel=1e-12)


@pytest.mark.parametrize(
    ("measure", "wrong"),
    [
        (emp_credit, {"p0": 0.9, "p1": 0.2}),
        (emp_credit, {"roi": -1}),
        (emp_churn, {"alpha": 0}),
        (emp_churn, {"clv": 5, "incentive": 10}),
        (mp_churn, {"gamma": 1.5}),
    ],
)
def test_wrong_parameters_are_refused(measure, wrong):
    with pytest.raises(ValueError, match="must be a number"):
        measure([0, 1], [0.1, 0.9], **wrong)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="rows of both classes"):
        emp_credit([1, 1], [0.2, 0.3], pos_label=1)


def test_profit_is_minus_the_cost():
    y, decided = [0, 0, 1, 1], [0, 1, 1, 0]
    costs = Costs(fp=3, fn=50, tn=-8, tp=[1, 2, -3, -4], benefits=True)
    assert profit(y, decided, costs=costs) == -total_cost(y, decided, costs=costs)
    assert profit(y, decided, costs=costs) == 8 - 3 + 3 - 50
    assert profit(y, decided, costs=costs, sample_weight=[2, 1, 1, 1]) == 16 - 3 + 3 - 50
    found = bootstrap_interval(profit, y, decided, costs=costs, random_state=0)
    assert found.estimate == -42
    free = profit([0], [0], costs={"fp": 1, "fn": 1})
    assert str(free) == "0.0"
