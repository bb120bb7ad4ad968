"""What to ask next: against enumeration of all reference rows, values and rests."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost import CostBoostClassifier, Costs, FeatureCosts, GradientBoostClassifier
from costboost.decisions import with_unknown_tests
from costboost.decisions.sequential import Asking, _Offer, drawn
from naive import asking as naive

COSTS = Costs(fp=20, fn=25)
PRICES = np.array([[0.0, 20.0], [25.0, 0.0]])
TESTS = {1: 0.4, 2: 1.5, "both": {"columns": [3, 4], "cost": 2.0}}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 240)
    X = y[:, None] * [0.3, 1.0, 1.5, 1.0, 1.0] + rng.normal(size=(240, 5))
    X[::9, 2] = np.nan
    return np.round(X, 1), y


MODELS = [
    GradientBoostClassifier(n_estimators=12, max_depth=3, learning_rate=0.4, random_state=0),
    CostBoostClassifier("adamec", n_estimators=10, max_depth=2, cv=2, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=["gradient", "calibrated"])
def test_every_test_saves_what_enumeration_says(table, model):
    X, y = table
    model.fit(X, y, costs=COSTS)
    reference, saved = X[:9], []
    for i, known in ((100, ()), (101, (1,)), (102, (3, 4)), (99, (1, 2)), (103, (1, 2, 3, 4))):
        row = X[i].copy()
        row[[j for j in (1, 2, 3, 4) if j not in known]] = np.nan
        given = {"known": known, "reference": reference, "feature_costs": TESTS}
        found = model.next_test(row[None], **given)
        columns = {"1": (1,), "2": (2,), "both": (3, 4)}
        left = {name: own for name, own in columns.items() if not set(own) & set(known)}
        assert {test.name for test in found.tests} == set(left)
        for test in found.tests:
            asked = left[test.name]
            now, saves = naive.judge(model, reference, row, (0, *known), asked, PRICES)
            assert found.expected_cost == pytest.approx(now)
            assert test.saves == pytest.approx(max(saves, 0.0), abs=1e-9)
            saved.append(test.saves)
        gains = {test.name: test.gain for test in found.tests}
        together = [c for own in left.values() for c in own]
        if len(left) > 1:
            _, saves = naive.judge(model, reference, row, (0, *known), together, PRICES)
            gains["all"] = saves - sum(test.price for test in found.tests)
        best = max(gains.values(), default=0.0)
        assert found.gain == pytest.approx(max(best, 0.0), abs=1e-9)
        assert (found.best is None) == (best <= 1e-7)
        if found.best is not None and len(left) > 1:
            single = max(found.tests, key=lambda test: test.gain)
            assert found.best in (single.name, *(() if best == gains[single.name] else left))
        if not left:
            assert found.decision == model.predict(row[None])[0]
    assert max(saved) > 0.5


def test_a_row_that_is_known_is_decided_as_ever(table):
    X, y = table
    model = CostBoostClassifier("adamec", n_estimators=5, random_state=0, feature_costs=TESTS)
    model.fit(X, y, costs=COSTS)
    free = model.sequential_policy(X[:40], feature_costs=dict.fromkeys((1, 2, 3), 1e-7))
    assert free.total_costs[0] == pytest.approx(free.test_costs[0] + free.expected_costs[0])
    # Where every test costs more than there is to save, none is bought.
    dear = model.sequential_policy(X[:40], feature_costs=dict.fromkeys((1, 2, 3, 4), 100.0))
    assert not dear.bought.any()
    assert dear.test_costs.max() == 0.0
    shut = model.sequential_policy(X[:40], feature_costs=dict.fromkeys((1, 2, 3, 4), np.inf))
    assert shut.bought.shape == (40, 0)
    for i in range(40):
        assert shut.decisions[i] == dear.decisions[i]
    # The policy is `next_test`, again and again.
    run, row = model.sequential_policy(X[7:8]), dict(enumerate(X[7].tolist()))
    known, spent = [], 0.0
    while True:
        found = model.next_test({0: row[0], **{c: row[c] for c in known}}, known=known)
        if found.best is None:
            break
        spent += next(test.price for test in found.tests if test.name == found.best)
        known += {"1": [1], "2": [2], "both": [3, 4]}[found.best]
    assert run.decisions[0] == found.decision
    assert run.test_costs[0] == pytest.approx(spent)
    assert run.expected_costs[0] == pytest.approx(found.expected_cost)


def test_money_has_no_unit(table):
    X, y = table
    model = GradientBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    one = model.sequential_policy(X[:30], COSTS, TESTS, reference=X)
    times = {1: 3.2, 2: 12.0, "both": {"columns": [3, 4], "cost": 16.0}}
    eight = model.sequential_policy(X[:30], Costs(fp=160, fn=200), times, reference=X)
    assert np.array_equal(one.bought, eight.bought)
    assert eight.total_costs == pytest.approx(8 * one.total_costs)
    assert one.bought.any()


def test_a_fee_is_paid_with_the_first_test_of_a_group(table):
    X, y = table
    model = GradientBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    prices = {"g": {"columns": {1: 1.0, 2: 2.0}, "cost": 5.0}}
    first = model.next_test({0: 0.1, 3: 1, 4: 1}, COSTS, prices, reference=X)
    assert {test.name: test.price for test in first.tests} == {"1": 6.0, "2": 7.0}
    then = model.next_test({0: 0.1, 1: 0.5, 3: 1, 4: 1}, COSTS, prices, reference=X)
    assert {test.name: test.price for test in then.tests} == {"2": 2.0}


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_copies_lack_random_tests(kind):
    X = np.arange(200.0).reshape(40, 5)
    given = X if kind is np.asarray else kind({f"c{j}": X[:, j] for j in range(5)})
    copies, rows = with_unknown_tests(given, FeatureCosts(TESTS), n_copies=6)
    assert type(copies) is type(given)
    got = copies if kind is np.asarray else copies.to_numpy()
    lacks = np.isnan(got.astype(float))
    assert rows.tolist() == list(range(40)) * 6
    assert not lacks[:40].any()
    assert lacks[40:80, 1:].all()
    assert not lacks[:, 0].any()
    assert np.array_equal(lacks[:, 3], lacks[:, 4])  # bought together
    assert len({tuple(row) for row in lacks[80:].tolist()}) >= 6
    known = ~lacks
    assert np.array_equal(got[known], X[rows][known])


def test_a_model_of_unknown_tests_knows_what_to_make_of_them(table):
    X, y = table
    copies, rows = with_unknown_tests(X, TESTS, random_state=0)
    model = GradientBoostClassifier(n_estimators=30, random_state=0)
    model.fit(copies, y[rows], costs=COSTS, groups=rows)
    how = {"feature_costs": TESTS, "reference": X, "unknown": "missing"}
    row = {0: 0.5, 1: 2.0}
    found = model.next_test(row, **how)
    known = np.array([[0.5, 2.0, np.nan, np.nan, np.nan]])
    assert found.expected_cost == pytest.approx((model.predict_proba(known) @ PRICES).min())
    run = model.sequential_policy(X, **how)
    # It costs less than no tests, and less than all of them.
    total = COSTS.bind([0, 1]).total(y, run.decisions) + run.test_costs.sum()
    every = COSTS.bind([0, 1]).total(y, model.predict(X)) + 3.9 * len(y)
    none = COSTS.bind([0, 1]).total(y, model.predict(np.where([1, 0, 0, 0, 0], X, np.nan)))
    assert total < min(every, none)


def test_few_rows_are_all_taken_and_many_by_even_steps():
    rows, shares = drawn(np.array([1.0, 3.0]), 4)
    assert (rows.tolist(), shares.tolist()) == ([0, 1], [0.25, 0.75])
    rows, shares = drawn(np.array([1.0, 3.0, 0.0, 4.0]), 2)
    assert rows.tolist() == [1, 3]
    assert drawn(np.zeros(3), 3)[1].tolist() == [1 / 3] * 3


def test_two_tests_that_help_only_together_are_asked_for(table):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 2)).astype(float)
    y = (X[:, 0] != X[:, 1]).astype(int)
    model = GradientBoostClassifier(n_estimators=30, max_depth=2, learning_rate=0.5)
    model.fit(X, y, costs=Costs(fp=10, fn=10))
    found = model.next_test(
        {}, feature_costs={0: 2, 1: 2}, reference=[[0, 0], [0, 1], [1, 0], [1, 1]]
    )
    assert max(test.gain for test in found.tests) < 0 < found.gain
    assert found.best in ("0", "1")
    asking = Asking(model._model, FeatureCosts({0: 9, 1: 9}).bind(range(2)), np.zeros((1, 2), "u1"))
    assert asking.choose([], 1.0) == (None, 0.0)
    offers = [_Offer((0,), 1.0, 0.1), _Offer((1,), 1.0, 0.5), _Offer((0, 1), 2.0, 5.0)]
    assert asking.choose(offers, 1.0) == (1, 3.0)  # of both, the one that gains more alone
    assert asking.choose(offers[:2], 1.0) == (None, 0.0)


@pytest.mark.parametrize(
    ("row", "given", "words"),
    [
        ({"z": 1}, {}, "row names column 'z'"),
        ({0: 1.0}, {"known": ["z"]}, "known names column 'z'"),
        ({0: 1.0, 3: 1.0}, {}, "'both' brings several columns"),
        (np.zeros((2, 5)), {}, "about one row, and was given 2"),
        ({0: 1.0}, {"unknown": "nan"}, "unknown='nan'"),
        ({0: 1.0}, {"feature_costs": {9: 1}}, "names column 9"),
        ({0: 1.0}, {"reference": None}, "Give reference="),
    ],
)
def test_what_is_wrong_is_said(table, row, given, words):
    X, y = table
    model = GradientBoostClassifier(n_estimators=2).fit(X, y)
    given = {"feature_costs": TESTS, "reference": X} | given
    with pytest.raises(ValueError, match=words):
        model.next_test(row, **given)


def test_a_method_whose_scores_hold_costs_cannot_price_tests(table):
    X, y = table
    model = CostBoostClassifier("adacost", n_estimators=3, feature_costs=TESTS)
    model.fit(X, y, costs=COSTS)
    with pytest.raises(ValueError, match="without calibration"):
        model.next_test({0: 1.0})
