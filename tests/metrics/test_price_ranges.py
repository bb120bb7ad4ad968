"""Bills and decisions while prices move, against loops over certain costs."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from costboost import Costs
from costboost.costs import uncertain
from costboost.metrics import expected_maximum_profit, price_sensitivity, total_cost
from costboost.metrics.policies import PERFECT, price_policies, price_spread

LABELS = {"numbers": (0, 1), "strings": ("good", "bad"), "reversed": ("a", "b")}


def problem(seed=0, n=150, labels="numbers", scale=1.0):
    """Rows with amounts, probabilities, labels in any order, and costs with two factors."""
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 3, n)
    amount = rng.lognormal(3, 1, n) * scale
    no, yes = LABELS[labels]
    truth = rng.random(n) < p
    truth[:2] = True, False
    y = np.where(truth, yes, no)
    costs = Costs(
        fp=uncertain(8 * scale, low=0.5, high=2, mean=0.9),
        fn=uncertain(amount, low=0.6, high=1.0),
        tp=2 * scale,
        positive=yes,
    )
    order = sorted([no, yes])
    proba = np.stack([p if label == yes else 1 - p for label in order], axis=1)
    return y, proba, costs, order


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e6])
@pytest.mark.parametrize("weighted", [None, "whole", "fractional"])
def test_sensitivity_against_loops(labels, scale, weighted):
    y, proba, costs, order = problem(1, labels=labels, scale=scale)
    rng = np.random.default_rng(5)
    draws = {None: np.ones(150), "whole": rng.integers(1, 4, 150), "fractional": rng.random(150)}
    w = draws[weighted].astype(float)
    given = None if weighted is None else w
    found = price_sensitivity(y, proba, costs=costs, sample_weight=given)
    bound = costs.bind(order)
    decided = bound.decide(proba)

    def bill(values):
        return total_cost(y, decided, costs=bound.at(values), sample_weight=w)

    assert found.rows.total == pytest.approx(bill({}))
    for one in found.effects:
        assert one.cost_low == pytest.approx(bill({one.name: one.low}))
        assert one.cost_high == pytest.approx(bill({one.name: one.high}))
    widths = [one.width for one in found.effects]
    assert widths == sorted(widths, reverse=True)

    # The quantiles of bills at draws, which are independent of those used.
    bills = [bill({"fp": one.fp / (8 * scale), "fn": (one.fn / bound.fn)[0] * 0.8})
             for one in bound.draw(400, 0)]  # fmt: skip
    error = 4 * np.std(bills) / np.sqrt(400) * 2.5
    assert found.prices.low == pytest.approx(np.quantile(bills, 0.025), abs=error)
    assert found.prices.high == pytest.approx(np.quantile(bills, 0.975), abs=error)

    # Decisions that turn at a corner turn; and no others do, for regrets are linear between.
    turned, worst = np.zeros(150, dtype=bool), 0.0
    for fp, fn in itertools.product([0.5, 0.9, 2], [0.6, 0.8, 1.0]):
        there = bound.at({"fp": fp, "fn": fn})
        turned |= there.decide(proba) != decided
        costs_there = there.expected(proba)
        taken = costs_there[np.arange(150), np.searchsorted(order, decided)]
        worst = max(worst, float(np.sum(w * (taken - costs_there.min(axis=1)))))
    assert found.turned == pytest.approx(w[turned].sum() / w.sum())
    assert found.largest_regret == pytest.approx(worst)
    spent = w * bound.expected(proba)[np.arange(150), np.searchsorted(order, decided)]
    assert found.turned_money == pytest.approx(spent[turned].sum() / spent.sum())


def test_which_interval_is_larger():
    y, proba, costs, _ = problem(2, n=2000)
    narrow = Costs(fp=uncertain(8, low=0.99, high=1.01), fn=costs.at().fn, tp=2)
    assert price_sensitivity(y, proba, costs=narrow).larger == "rows"
    wide = Costs(fp=8, fn=uncertain(costs.at().fn, low=0.01, high=3, mean=1), tp=2)
    found = price_sensitivity(y, proba, costs=wide)
    assert found.larger == "prices"
    assert "the prices matter more" in str(found)
    assert "decisions turn" in repr(found)


def test_frames_groups_and_many_classes():
    rng = np.random.default_rng(0)
    law = {"low": 0.5, "high": 1.5}
    C = [[0, uncertain(3, **law), 9], [2, 0, uncertain(4, draws=[1, 2, 6])], [1, 5, 0]]
    costs = Costs.from_matrix(C, classes=["x", "y", "z"])
    proba = pd.DataFrame(rng.dirichlet(np.ones(3), 60), columns=["x", "y", "z"])
    y = pd.Series(rng.choice(["x", "y", "z"], 60))
    found = price_sensitivity(y, proba.to_numpy(), costs=costs, groups=np.arange(60) // 3)
    alone = price_sensitivity(y, proba.to_numpy(), costs=costs)
    assert found.rows.total == pytest.approx(alone.rows.total)
    assert found.rows.low != alone.rows.low
    framed = price_sensitivity(y, proba[["z", "x", "y"]], costs=costs)
    assert str(framed) == str(alone)
    assert {one.name for one in found.effects} == {"C[0, 1]", "C[1, 2]"}


def test_wrong_inputs_of_sensitivity():
    proba = [[0.5, 0.5], [0.1, 0.9]]
    with pytest.raises(ValueError, match="Every price of these costs is certain"):
        price_sensitivity([0, 1], proba, costs={"fp": 1, "fn": 2})
    many = {(k, a): uncertain(1, low=0, high=2) for k in range(4) for a in range(4)}
    costs = Costs.from_matrix([[many[k, a] if k != a else 0 for a in range(4)] for k in range(4)])
    wide = Costs.from_matrix([[many[k, a] for a in range(4)] for k in range(4)])
    with pytest.raises(ValueError, match="16 uncertain prices have 65,536 combinations"):
        price_sensitivity([0, 1, 2, 3], np.eye(4) * 0.6 + 0.1, costs=wide)
    assert price_sensitivity([0, 1, 2, 3], np.eye(4) * 0.6 + 0.1, costs=costs).n_rows == 4


def test_bills_by_prices_against_draws():
    """Every policy's interval is the quantiles of its bills at the draws of the prices."""
    y, proba, costs, order = problem(3)
    bound = costs.bind(order)
    truth = np.searchsorted(order, y)
    taken = {"model": bound.decide(proba, encoded=True), "today": (proba[:, 1] > 0.7).astype(int)}
    prices = bound.of_labels(y)
    spread = price_spread(bound, truth)
    found = price_policies(prices, taken, ["nothing", "all"], spread=spread)
    some = list(range(0, 4096, 64))
    for name in ("model", "today", "nothing", "all", PERFECT):
        sums = found.spread.sums(found.paid[name], found.taken[name])
        for draw in some:
            fp, fn = spread.relative[draw][[1, 2]]
            there = Costs(fp=bound.fp * fp, fn=bound.fn * fn, tp=2).bind([0, 1])
            decided = found.taken[name]
            assert sums[draw] == pytest.approx(there.total(truth, decided))
        total, low, high = found.cost_by_prices(name)
        assert total == found.cost(name).total
        assert low == np.quantile(sums, 0.025) < total < np.quantile(sums, 0.975) == high
    saved = found.saved_by_prices("model", "today")
    assert saved.low < saved.total < saved.high
    plain = price_policies(prices, taken, ["nothing", "all"])
    assert plain.cost_by_prices("model")[1:] == (plain.cost("model").total,) * 2
    assert price_spread(bound.at(), truth) is None


# ---- Expected maximum profit


def best_by_thresholds(y, score, w, costs):
    """The maximum profit and its share, by trying every threshold."""
    found = []
    for t in [np.inf, *sorted(set(score.tolist()), reverse=True)]:
        acted = (score >= t).astype(int)
        nobody = np.zeros_like(acted)
        saved = costs.of_decisions(y, nobody) - costs.of_decisions(y, acted)
        found.append((float(np.sum(w * saved) / w.sum()), float(w[acted == 1].sum() / w.sum())))
    return max(found, key=lambda one: (one[0], -one[1]))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("per_row", [False, True])
def test_profit_of_draws_is_the_mean_of_best_thresholds(seed, per_row):
    rng = np.random.default_rng(seed)
    n = 40
    y = np.r_[0, 1, rng.integers(0, 2, n - 2)]
    score = np.round(rng.random(n), 1 + seed % 2)
    w = rng.random(n) * (rng.random(n) > 0.2) + 0.01
    amount = rng.lognormal(1, 1, n) if per_row else 3.0
    draws = rng.lognormal(0, 1, 7)
    costs = Costs(fp=1, fn=uncertain(amount, draws=draws), tp=0.4).bind([0, 1])
    one = [best_by_thresholds(y, score, w, costs.at({"fn": f})) for f in draws]
    found = expected_maximum_profit(y, score, costs, sample_weight=w)
    assert found.profit == pytest.approx(np.mean([p for p, _ in one]), rel=1e-12)
    assert found.share == pytest.approx(np.mean([s for _, s in one]), rel=1e-12)
    both = Costs(fp=uncertain(1, low=0.5, high=2), fn=uncertain(amount, draws=draws), tp=0.4).bind(
        [0, 1]
    )
    drawn = expected_maximum_profit(y, score, both, sample_weight=w)
    grid = [
        best_by_thresholds(y, score, w, both.at({"fn": f, "fp": g}))
        for f in draws
        for g in 0.5 + 1.5 * (np.arange(40) + 0.5) / 40
    ]
    assert drawn.profit == pytest.approx(np.mean([p for p, _ in grid]), rel=0.01, abs=1e-3)
    certain = expected_maximum_profit(y, score, costs.at(), sample_weight=w)
    assert tuple(certain) == pytest.approx(best_by_thresholds(y, score, w, costs.at()))


@pytest.mark.parametrize(
    "law",
    [
        {"low": 0.1, "high": 3, "mean": 0.8},
        {"distribution": stats.gamma(2.0, scale=0.7)},
        {"distribution": stats.lognorm(0.9)},
        {"distribution": stats.poisson(2)},
    ],
    ids=["range", "gamma", "lognorm", "poisson"],
)
def test_profit_is_exact_for_one_price(law):
    """Against the mean over 20,000 quantiles; emp_credit and emp_churn test the closed forms."""
    rng = np.random.default_rng(0)
    y, score = np.r_[0, 1, rng.integers(0, 2, 28)], rng.random(30)
    costs = Costs(fp=1, fn=uncertain(2, **law)).bind([0, 1])
    found = expected_maximum_profit(y, score, costs)
    thresholds = [np.inf, *np.sort(score)[::-1]]
    acted = np.array([(score >= t) for t in thresholds])
    gain = np.array([[np.sum(a & (y == 1)), np.sum(a & (y == 0))] for a in acted]) / 30
    factor = costs.factors["fn"].law
    f = factor.quantile((np.arange(20_000) + 0.5) / 20_000)
    brute = (2 * f[:, None] * gain[:, 0] - gain[:, 1]).max(axis=1).mean()
    assert found.profit == pytest.approx(brute, rel=2e-4)


def test_wrong_inputs_of_profit():
    three = Costs.from_matrix([[0, 1, 2], [1, 0, 1]], classes=[0, 1], actions=["x", "y", "z"])
    with pytest.raises(ValueError, match="threshold between two classes"):
        expected_maximum_profit([0, 1], [0.1, 0.2], three)
    with pytest.raises(ValueError, match="y_true has 3 classes"):
        expected_maximum_profit([0, 1, 2], [0.1, 0.2, 0.3], {"fp": 1, "fn": 2})
    with pytest.raises(ValueError, match="n_draws=1"):
        expected_maximum_profit([0, 1], [0.1, 0.2], {"fp": 1, "fn": 2}, n_draws=1)
    with pytest.raises(ValueError, match="class"):
        expected_maximum_profit([1, 1], [0.1, 0.2], {"fp": 1, "fn": 2})
