"""Bets: against a naive twin, and their false-alarm rate by simulation."""

import math

import numpy as np
import pytest

from costboost.monitoring.betting import STAKES, Bettor, conformal_growth, log_growth


def naive_wealth(periods, most, dependent):
    """The wealth by its definition: every stake and every beginning on its own."""
    total = 0.0
    for g in STAKES:
        for j in range(len(periods)):
            product = 1.0
            for rows in periods[j:]:
                product *= math.prod(1 + g * d / most for d in rows) ** (1 / dependent)
            total += product / ((j + 1) * (j + 2)) / len(STAKES)
    return total + 1 / (len(periods) + 1)  # those yet to begin hold what they had


@pytest.mark.parametrize("dependent", [1.0, 3.5])
def test_wealth_is_that_of_its_definition(dependent):
    rng = np.random.default_rng(0)
    periods = [rng.normal(0.3, 1.0, 6).clip(-2) for _ in range(7)]
    bettor = Bettor()
    assert bettor.log_wealth == 0.0
    for t, rows in enumerate(periods):
        log = bettor.bet(log_growth(rows, np.full(6, 2.0), dependent))
        assert math.exp(log) == pytest.approx(naive_wealth(periods[: t + 1], 2.0, dependent))


def rings(rng, p_true, p_said, alpha, n_periods=60, n_rows=40):
    bettor = Bettor()
    for _ in range(n_periods):
        p = np.full(n_rows, p_said)
        seen = (rng.random(n_rows) < p_true).astype(float)
        if bettor.bet(log_growth(seen - p, np.ones(n_rows), 1.0)) >= math.log(1 / alpha):
            return True
    return False


def test_few_false_alarms_and_many_true_ones():
    rng = np.random.default_rng(1)
    false = sum(rings(rng, 0.05, 0.05, 0.1) for _ in range(300))
    true = sum(rings(rng, 0.12, 0.05, 0.1) for _ in range(100))
    assert false <= 30  # Ville's bound, of which beginnings anew use up a part
    assert true >= 98


def test_rows_that_come_in_clusters_need_the_power():
    """Ten rows that are all or none: without 1 / phi the bound is broken, with it it holds."""
    rng = np.random.default_rng(2)

    def rate(dependent):
        n = 0
        for _ in range(200):
            bettor = Bettor()
            for _ in range(40):
                seen = np.repeat(rng.random(10) < 0.1, 10).astype(float)
                log = bettor.bet(log_growth(seen - 0.1, np.ones(100), dependent))
                if log >= math.log(1 / 0.1):
                    n += 1
                    break
        return n / 200

    assert rate(1.0) > 0.3
    assert rate(10.0) <= 0.1


def test_ranks_bet_fairly():
    """The mean payment of each power over all p-values is 1."""
    s = (np.arange(2000) + 0.5) / 2000
    pays = np.exp([conformal_growth(0, 1, 1, float(p)) for p in s**20])  # by substitution
    np.testing.assert_allclose(np.mean(pays * (20 * s**19)[:, None], axis=0), 1.0, rtol=1e-5)
    assert conformal_growth(0, 1, 100, 0.5)[0] > conformal_growth(50, 1, 100, 0.5)[0]


def test_a_price_that_moves_is_found_by_ranks():
    def wealth(values):
        bettor, rng = Bettor(), np.random.default_rng(3)
        for t in range(1, len(values) + 1):
            past = np.abs(np.array(values[:t]) - np.median(values[:t]))
            larger, ties = int(np.sum(past > past[-1])), int(np.sum(past == past[-1]))
            log = bettor.bet(conformal_growth(larger, ties, t, 1 - rng.random()))
        return log

    steady = np.random.default_rng(4).normal(10, 1, 90).tolist()
    assert wealth(steady) < math.log(20)
    assert wealth([*steady[:60], *(np.array(steady[60:]) + 5)]) > math.log(20)
