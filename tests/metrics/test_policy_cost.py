"""What a new policy would have cost, against simulations in which the truth is known."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost import Costs
from costboost.metrics import policy_cost, total_cost

COSTS = Costs(fp=1, fn=3)


def draw(rng, n=2000, *, hidden=0.0, closed=False):
    """Return labels, the chance of one, which rows have one, the new decisions, and true risks.

    `hidden` moves the log odds of a label with the truth itself, which no column shows; with
    `closed` the riskiest fifth is never labelled.
    """
    x = rng.uniform(size=n)
    risk = 0.1 + 0.8 * x**2
    y = (rng.uniform(size=n) < risk).astype(int)
    chance = 0.9 - 0.75 * x
    if closed:
        chance = np.where(x > 0.8, 0.0, chance)
    odds = chance / (1 - chance) * np.exp(hidden * (0.5 - y))
    labelled = rng.uniform(size=n) < odds / (1 + odds)
    return y, chance, labelled, (x > 0.5).astype(int), risk


def naive(y, new, costs, labelled, chance, proba=None):
    """Return the three estimates, row by row."""
    n = len(y)
    inverse = share = doubly = 0.0
    for i in range(n):
        cost = {(0, 1): costs[0], (1, 0): costs[1]}
        c = cost.get((y[i], new[i]), 0.0)
        m = 0.0
        if proba is not None:
            m = proba[i] * cost.get((1, new[i]), 0.0) + (1 - proba[i]) * cost.get((0, new[i]), 0.0)
        w = 1 / chance[i] if labelled[i] else 0.0
        inverse += w * c
        share += w
        doubly += m + w * (c - m)
    return inverse, n * inverse / share, doubly


@pytest.mark.parametrize("seed", range(3))
def test_estimates_are_those_of_the_naive_twin(seed):
    y, chance, labelled, new, risk = draw(np.random.default_rng(seed), 300)
    proba = np.column_stack([1 - risk, risk])
    found = policy_cost(
        y, new, costs=COSTS, labelled=labelled, propensity=chance, proba=proba, labels=[0, 1]
    )
    got = [found.estimates[name].total for name in found.estimates]
    assert got == pytest.approx(naive(y, new, (1.0, 3.0), labelled, chance, risk))
    assert found.method == "doubly-robust"
    assert found.total == found.estimates["doubly-robust"].total


def test_parts_add_up():
    y, chance, labelled, new, _ = draw(np.random.default_rng(0), closed=True)
    found = policy_cost(y, new, costs=COSTS, labelled=labelled, propensity=chance)
    parts = (found.known, found.estimated, found.unknowable)
    assert sum(part.rows for part in parts) == 2000
    assert found.known.rows == labelled.sum()
    assert found.known.cost == pytest.approx(total_cost(y[labelled], new[labelled], costs=COSTS))
    assert found.unknowable.rows == np.sum(chance == 0)
    # There, the new policy declines: a good one declined costs 1, a bad one nothing.
    assert (found.unknowable.low, found.unknowable.high) == (0.0, np.sum(chance == 0))
    assert np.isnan(found.total)
    inside = found.estimates[found.method]
    assert found.low == inside.low
    assert found.high == inside.high + found.unknowable.high


def test_with_all_labels_it_is_the_bill():
    y, _, _, new, risk = draw(np.random.default_rng(1), 500)
    for proba in (None, np.column_stack([1 - risk, risk])):
        found = policy_cost(y, new, costs=COSTS, propensity=np.ones(500), proba=proba)
        paid = total_cost(y, new, costs=COSTS)
        assert found.bounds == pytest.approx((paid, paid))
        assert [e.total for e in found.estimates.values()] == pytest.approx(
            [paid] * len(found.estimates)
        )
        assert found.estimated.rows == found.unknowable.rows == 0


@pytest.mark.parametrize("method", ["inverse-propensity", "self-normalised", "doubly-robust"])
def test_no_bias_and_intervals_that_hold(method):
    # Truth: the expected cost over the same distribution of rows, by a very long draw.
    rng = np.random.default_rng(7)
    y, _, _, new, _ = draw(rng, 400_000)
    truth = total_cost(y, new, costs=COSTS) / 400_000 * 1000
    totals, covered = [], 0
    for _ in range(200):
        y, chance, labelled, new, risk = draw(rng, 1000)
        wrong = np.clip(risk + 0.2, 0, 1)  # a poor model: the propensities make up for it
        found = policy_cost(
            y, new, costs=COSTS, labelled=labelled, propensity=chance, method=method,
            proba=np.column_stack([1 - wrong, wrong]),
        )  # fmt: skip
        totals.append(found.total)
        covered += found.low <= truth <= found.high
        assert found.bounds[0] <= total_cost(y, new, costs=COSTS) <= found.bounds[1]
    error = np.std(totals) / np.sqrt(len(totals))
    assert abs(np.mean(totals) - truth) < 3.5 * error
    assert covered >= 182  # of 200; a 95 % interval covers fewer once in 1,000 such tests


def test_a_good_model_makes_up_for_wrong_propensities():
    rng = np.random.default_rng(8)
    off, doubly = [], []
    for _ in range(60):
        y, chance, labelled, new, risk = draw(rng)
        wrong = np.clip(chance + 0.2, 0, 1)
        paid = total_cost(y, new, costs=COSTS)
        with pytest.warns(UserWarning, match="propensities do not fit"):
            found = policy_cost(
                y, new, costs=COSTS, labelled=labelled, propensity=wrong,
                proba=np.column_stack([1 - risk, risk]),
            )  # fmt: skip
        doubly.append(found.estimates["doubly-robust"].total - paid)
        off.append(found.estimates["inverse-propensity"].total - paid)
    assert abs(np.mean(doubly)) < 3.5 * np.std(doubly) / np.sqrt(60)
    assert abs(np.mean(off)) > 10 * np.std(off) / np.sqrt(60)


def test_accepted_rows_alone_mislead():
    rng = np.random.default_rng(9)
    y, _, labelled, new, _ = draw(rng, 20_000)
    paid = total_cost(y, new, costs=COSTS)
    alone = total_cost(y[labelled], new[labelled], costs=COSTS) * 20_000 / labelled.sum()
    found = policy_cost(
        y, new, costs=COSTS, labelled=labelled, propensity=draw(np.random.default_rng(9), 20_000)[1]
    )
    assert abs(alone - paid) > 4 * abs(found.total - paid)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("hidden", [0.0, 1.5])
def test_bounds_contain_the_truth_where_assumptions_fail(hidden, closed):
    rng = np.random.default_rng(10)
    plain = 0
    for _ in range(60):
        y, chance, labelled, _, _ = draw(rng, hidden=hidden, closed=closed)
        new = np.zeros_like(y)  # accept all: what the rows without a label would have cost
        found = policy_cost(
            y, new, costs=COSTS, labelled=labelled, propensity=chance,
            hidden_bias=np.exp(1.0),  # the true factor is exp(0.75): at that the bound is tight
        )  # fmt: skip
        paid = total_cost(y, new, costs=COSTS)
        assert found.bounds[0] <= paid <= found.bounds[1]
        low, high = found.hidden_bias_bounds
        assert low <= paid <= high
        assert found.bounds[0] <= low <= high <= found.bounds[1]
        plain += found.low <= paid <= found.high
    if hidden and not closed:
        assert plain < 30  # an estimate that trusts the propensities is wrong there


def test_extreme_weights_are_the_extremes():
    # Of few rows, against all ways to give each row its least or its largest weight.
    rng = np.random.default_rng(11)
    y = np.array([0, 1, 1, 0, 1, 0, 1, 0])
    new = np.array([1, 0, 1, 1, 0, 0, 0, 1])
    chance = rng.uniform(0.2, 0.9, 8)
    labelled = np.ones(8, dtype=bool)
    labelled[7] = False
    amount = rng.uniform(1, 9, 8)
    costs = Costs(fp=2, fn=amount)
    cost = np.where(y == 1, np.where(new == 0, amount, 0), np.where(new == 1, 2, 0))[:7]
    # What a row costs whatever is true is known: none here, as every decision may be free.
    odds = (1 - chance[:7]) / chance[:7]
    ends = []
    for mask in range(2**7):
        up = np.array([(mask >> i) & 1 for i in range(7)], dtype=bool)
        w = np.where(up, 1 + odds * 2.5, 1 + odds / 2.5)
        ends.append(8 * np.sum(w * cost) / np.sum(w))
    from costboost.metrics._policy_cost import _extreme
    from costboost.metrics._policy_rows import PolicyRows

    rows = PolicyRows(
        np.append(cost, 0.0), np.zeros(8), np.ones(8), labelled, chance, None, np.ones(8)
    )
    inverse = np.where(labelled, 1 / chance, 0.0)
    got = [_extreme(rows, inverse, np.ones(8), 2.5, upper).sum() for upper in (False, True)]
    assert got == pytest.approx([min(ends), max(ends)])
    with pytest.warns(UserWarning, match="effective rows"):
        policy_cost(y, new, costs=costs, labelled=labelled, propensity=chance, hidden_bias=2.5)


def test_weights_are_copies_and_labels_may_be_anything():
    y, chance, labelled, new, risk = draw(np.random.default_rng(12), 400)
    copies = np.random.default_rng(13).integers(0, 4, 400)
    again = np.repeat(np.arange(400), copies)
    proba = np.column_stack([1 - risk, risk])

    def run(rows, **more):
        return policy_cost(
            y[rows], new[rows], costs=COSTS, labelled=labelled[rows], propensity=chance[rows],
            proba=proba[rows], **more,
        )  # fmt: skip

    weighted, repeated = run(np.arange(400), sample_weight=copies), run(again)
    for name in weighted.estimates:
        assert weighted.estimates[name].total == pytest.approx(repeated.estimates[name].total)
    assert weighted.bounds == pytest.approx(repeated.bounds)
    # Names of classes in the other order, missing labels as None, decisions by name.
    names = np.array(["zero", "one"], dtype=object)
    text = names[y]
    text[~labelled] = None
    found = policy_cost(
        text, names[new], costs=Costs(fp=1, fn=3, positive="one"), propensity=chance,
        proba=proba[:, ::-1],
    )  # fmt: skip
    assert found.total == pytest.approx(run(np.arange(400)).total)
    dear = policy_cost(
        y, new, costs=Costs(fp=1e6, fn=3e6), labelled=labelled, propensity=chance, proba=proba
    )
    assert dear.total == pytest.approx(1e6 * found.total)


def test_actions_that_cost_the_same_whatever_is_true_are_known():
    costs = Costs.of_actions({"pay": {0: 0, 1: 50}, "call": 4})
    y = np.array([0, 1, np.nan, np.nan] * 50)
    found = policy_cost(
        y, np.array(["pay", "call"] * 100), costs=costs, propensity=[0.5] * 200, labels=[0, 1]
    )
    assert found.known.rows == 150
    assert found.estimated.rows == 50
    assert found.known.cost == 100 * 4


# ---- From a log


def logged(rng, n=2000):
    y, chance, paid, new, _ = draw(rng, n)
    decided = np.where(paid, "pay", "decline")
    log = {
        "decision": decided,
        "propensity_pay": chance,
        "propensity_decline": 1 - chance,
    }
    return y, log, np.where(new == 1, "decline", "pay"), paid, chance


ACTIONS = Costs.of_actions({"pay": {0: 0, 1: 3}, "decline": {0: 1, 1: 0}})


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_a_log_says_what_propensities_are(make):
    y, log, new, paid, chance = logged(np.random.default_rng(0))
    found = policy_cost(y, new, costs=ACTIONS, log=make(log), reveals="pay")
    plain = policy_cost(y, new, costs=ACTIONS, labelled=paid, propensity=chance)
    assert found.total == plain.total
    prefixed = make({f"new_{name}": values for name, values in log.items()})
    assert policy_cost(y, new, costs=ACTIONS, log=prefixed, reveals=["pay"]).total == plain.total


def test_without_reveals_a_row_tells_about_the_same_decision_only():
    rng = np.random.default_rng(1)
    off = []
    for _ in range(60):
        y, log, new, _, _ = logged(rng)
        found = policy_cost(y, new, costs=ACTIONS, log=log)
        assert found.known.rows == np.sum(log["decision"] == new)
        off.append(found.total - total_cost(y, new, costs=ACTIONS))
    assert abs(np.mean(off)) < 3.5 * np.std(off) / np.sqrt(60)


def test_chances_that_were_made_may_be_small():
    rng = np.random.default_rng(4)
    y, _, paid, new, _ = draw(rng, 20_000)
    chance = np.full(20_000, 0.01)
    paid = rng.uniform(size=20_000) < chance
    log = {"decision": np.where(paid, "pay", "decline"), "propensity_pay": chance,
           "propensity_decline": 1 - chance}  # fmt: skip
    new = np.where(new == 1, "decline", "pay")
    made = policy_cost(y, new, costs=ACTIONS, log=log, reveals="pay")
    assert made.unknowable.rows == 0
    assert made.low <= total_cost(y, new, costs=ACTIONS) <= made.high
    guessed = policy_cost(y, new, costs=ACTIONS, labelled=paid, propensity=chance)
    assert guessed.estimated.rows == 0
    assert np.isnan(guessed.total)


def test_groups_widen_the_interval():
    y, chance, labelled, new, _ = draw(np.random.default_rng(5), 300)
    again = np.tile(np.arange(300), 4)
    how = {"costs": COSTS, "labelled": labelled[again], "propensity": chance[again]}
    alone = policy_cost(y[again], new[again], **how)
    together = policy_cost(y[again], new[again], **how, groups=again)
    assert alone.total == pytest.approx(together.total)
    assert together.high - together.low == pytest.approx(2 * (alone.high - alone.low), rel=0.1)


# ---- What it says


def test_it_says_what_is_known_estimated_and_unknowable():
    y, chance, labelled, new, _ = draw(np.random.default_rng(0), closed=True)
    found = policy_cost(y, new, costs=COSTS, labelled=labelled, propensity=chance, hidden_bias=1.5)
    text = str(found)
    for part in ("known ", "estimated ", "unknowable ", "no number", "factor of up to 1.5"):
        assert part in text
    assert repr(found).startswith("PolicyCost(no number, ")
    assert np.isnan(found.mean)


Y, CHANCE, LABELLED, NEW, RISK = draw(np.random.default_rng(3), 200)
GOOD = {"costs": COSTS, "labelled": LABELLED, "propensity": CHANCE}
LOG = {
    "decision": np.where(LABELLED, "0", "1"),
    "propensity_0": CHANCE,
    "propensity_1": 1 - CHANCE,
}
WRONG = {
    "nothing": ({"costs": COSTS}, "estimate_propensity estimates it"),
    "short": ({**GOOD, "propensity": CHANCE[:9]}, r"shape \(9,\)"),
    "above 1": ({**GOOD, "propensity": CHANCE * 2}, "lies between 0 and 1"),
    "below 0": ({**GOOD, "propensity": -CHANCE}, "lies between 0 and 1"),
    "missing": ({**GOOD, "propensity": CHANCE * np.nan}, "propensity"),
    "what came": ({**GOOD, "propensity": 1 - LABELLED.astype(float)}, "chances before the draw"),
    "no label": ({**GOOD, "labelled": LABELLED & False}, "no row has a label"),
    "mask": ({**GOOD, "labelled": LABELLED * 2}, "True and False"),
    "short mask": ({**GOOD, "labelled": LABELLED[:5]}, "yes or no for each of the 200"),
    "method": ({**GOOD, "method": "ips"}, "allowed: 'auto', 'inverse-propensity'"),
    "no model": ({**GOOD, "method": "doubly-robust"}, "needs proba="),
    "bias": ({**GOOD, "hidden_bias": 0.5}, "hidden_bias=0.5 must be a number at least 1"),
    "overlap": ({**GOOD, "min_propensity": 0}, "above 0"),
    "confidence": ({**GOOD, "confidence": 95}, "between 0 and 1"),
    "proba": ({**GOOD, "proba": RISK}, "np.column_stack"),
    "truth in costs": ({**GOOD, "costs": Costs.of_rows(np.ones((200, 2)))}, "not known of every"),
    "one group": ({**GOOD, "groups": [1] * 200}, "at least two"),
    "groups": ({**GOOD, "groups": [1]}, r"groups has shape \(1,\)"),
    "both": ({**GOOD, "log": LOG}, "not both"),
    "reveals alone": ({**GOOD, "reveals": 0}, "give both"),
    "log": ({"costs": COSTS, "log": 3}, "log is a int"),
    "log's columns": ({"costs": COSTS, "log": {"day": [1]}}, "it needs decision"),
    "log's length": ({"costs": COSTS, "log": {k: v[:5] for k, v in LOG.items()}}, "5 rows for 200"),
    "log's sums": (
        {"costs": COSTS, "log": {**LOG, "propensity_1": CHANCE}},
        "add up to",
    ),
    "log's actions": (
        {"costs": COSTS, "log": {"decision": LOG["decision"], "propensity_0": CHANCE * 0 + 1}},
        "no column propensity_1",
    ),
    "reveals": ({"costs": COSTS, "log": LOG, "reveals": "pay"}, "actions of the log are 0, 1"),
    "reveals none": ({"costs": COSTS, "log": LOG, "reveals": []}, "reveals is empty"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_inputs_say_what_to_do(name):
    how, said = WRONG[name]
    with pytest.raises(ValueError, match=said):
        policy_cost(Y, NEW, **how)


def test_labels_that_should_be_there():
    y = np.where(LABELLED, Y, np.nan)
    y[np.argmax(LABELLED)] = np.nan
    with pytest.raises(ValueError, match="label is still open"):
        policy_cost(y, NEW, costs=COSTS, log=LOG, reveals="0")
    with pytest.raises(ValueError, match="y_true has none"):
        policy_cost(y, NEW, **GOOD)
    with pytest.raises(ValueError, match="at least two"):
        policy_cost([1], [0], costs=COSTS, propensity=[1])
    with pytest.raises(ValueError, match="give as many"):
        policy_cost(Y, NEW[:3], **GOOD)
