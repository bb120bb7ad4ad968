import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost import CostBoostClassifier, Costs
from costboost.metrics import mean_cost


@pytest.mark.parametrize("classes", [[0, 1], ["no", "yes"], [False, True]])
def test_deferring_is_cheapest_where_every_decision_is_dear(classes):
    costs = Costs(fp=10, fn=40, positive=classes[1]).bind(classes)
    p = np.linspace(0, 1, 101)
    proba = np.column_stack([1 - p, p])
    expected = costs.expected(proba)
    decided = costs.with_defer(3).decide(proba)
    for row, answer in zip(expected, decided, strict=True):
        assert answer == ("defer" if row.min() > 3 else classes[int(row.argmin())])
        assert isinstance(answer, str | int | bool)


def test_price_per_row_rows_of_costs_and_pickles():
    costs = Costs.of_rows([5.0, 50.0, 8.0]).bind([0, 1]).with_defer([1.0, 2.0, 30.0], action="ask")
    assert costs.shape == (3, 2, 3)
    assert costs.of_labels([0, 1, 1]).tolist() == [[0, 5, 1], [50, 0, 2], [8, 0, 30]]
    half = np.full((3, 2), 0.5)
    assert costs.decide(half).tolist() == ["ask", "ask", 0]
    assert pickle.loads(pickle.dumps(costs)) == costs
    assert costs[[0, 2]].of_labels([0, 1]).tolist() == [[0, 5, 1], [8, 0, 30]]
    assert mean_cost([0, 1, 1], costs.decide(half), costs=costs) == pytest.approx((1 + 2 + 8) / 3)


def test_models_defer():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.where(X[:, 0] + rng.normal(size=400) > 0, "ill", "well")
    model = CostBoostClassifier(costs={"fp": 2, "fn": 10, "positive": "ill"}, random_state=0).fit(
        X, y
    )
    plan = model.decide(X, defer=1.0)
    expected = model.expected_cost(X)
    assert np.array_equal(plan.decisions == "defer", expected.min(axis=1) > 1.0)
    assert np.array_equal(model.predict(X, costs=model.costs_.with_defer(1.0)), plan.decisions)
    few = model.decide(X, defer=1.0, capacity={"defer": 10})
    assert few.counts["defer"] == 10
    per_row = model.decide(X, defer=np.where(np.arange(400) < 200, 0.0, 1e6))
    assert np.mean(per_row.decisions[200:] == "defer") == 0
    assert np.mean(per_row.decisions[:200] == "defer") > 0.9


@pytest.mark.parametrize("price", ["fee", lambda table: table["fee"]], ids=["column", "function"])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_the_price_of_deferring_may_be_a_column_or_a_function(price, frame):
    table = frame({"amount": [10.0, 400.0], "fee": [1.0, 2.0]})
    waiting = Costs(fp=5, fn="amount").bind([0, 1]).with_defer(price)
    with pytest.raises(ValueError, match="bind_table"):
        waiting.of_labels([1, 1])
    costs = waiting.bind_table(table)
    assert costs.of_labels([1, 1]).tolist() == [[10, 0, 1], [400, 0, 2]]
    assert costs == Costs(fp=5, fn=[10, 400]).bind([0, 1]).with_defer([1.0, 2.0])
    rows = Costs.of_rows(table["amount"]).bind([0, 1]).with_defer(price).bind_table(table)
    assert rows.of_labels([0, 1]).tolist() == [[0, 10, 1], [400, 0, 2]]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("constructor", [True, False])
def test_models_read_the_price_of_deferring_from_the_table(frame, constructor):
    rng = np.random.default_rng(0)
    amount = rng.lognormal(3, 1, 300)
    X = frame({"x": rng.normal(size=300), "amount": amount, "fee": 0.05 * amount})
    y = (X["x"].to_numpy() + rng.normal(size=300) > 1).astype(int)
    given = Costs(fp=5, fn="amount", tp=5)
    model = CostBoostClassifier("adamec", 10, random_state=0, costs=given if constructor else None)
    model.fit(X, y, costs=None if constructor else given)
    own = None if constructor else given
    by_hand = model.decide(X, own, defer=0.05 * amount, capacity={1: 5})
    bound = given.bind_table(X).bind([0, 1]).with_defer(0.05 * amount)
    expected = bound.expected(model.predict_proba(X))[np.arange(300), by_hand.codes]
    assert by_hand.expected_cost == pytest.approx(expected.sum())
    assert 0 < by_hand.counts["defer"] < 300
    for defer in ("fee", lambda table: 0.05 * table["amount"].to_numpy()):
        plan = model.decide(X, own, defer=defer, capacity={1: 5})
        assert np.array_equal(plan.codes, by_hand.codes)
    with pytest.raises(ValueError, match="'tip', which X does not have"):
        model.decide(X, own, defer="tip")
    one = model.decide(X[:1], own, defer="fee")
    assert one.decisions.shape == (1,)


def test_prices_of_deferring_keep_the_identity_of_rows():
    table = pd.DataFrame({"amount": [10.0, 400.0], "fee": [1.0, 2.0]}, index=[7, 3])
    costs = Costs(fp=5, fn=table["amount"]).bind([0, 1])
    with pytest.raises(ValueError, match="different indexes"):
        costs.with_defer(table["fee"][::-1])
    indexed = Costs(fp=5, fn=6).bind([0, 1]).with_defer(table["fee"])
    with pytest.raises(ValueError, match="in another order"):
        indexed.bind_table(table[::-1])
    assert indexed.bind_table(table).of_labels([1, 0])[:, 2].tolist() == [1, 2]
    gains = Costs(fp=5, fn=6, tp=-2, benefits=True).bind([0, 1])
    assert gains.with_defer(-1).of_labels([1]).tolist() == [[6, -2, -1]]


def test_what_cannot_defer_says_why():
    with pytest.raises(ValueError, match="bind"):
        Costs(fp=1, fn=2).with_defer(1)
    with pytest.raises(ValueError, match="bind"):
        Costs.of_rows([[0, 1], [2, 0]]).bind([0, 1]).with_defer(1)
    bound = Costs(fp=1, fn=2, positive="go").bind(["defer", "go"])
    with pytest.raises(ValueError, match="there already"):
        bound.with_defer(1)
    with pytest.raises(ValueError, match="negative"):
        bound.with_defer(-1, action="ask")
    rows = Costs(fp=1, fn=[1, 2]).bind([0, 1])
    with pytest.raises(ValueError, match="2 rows"):
        rows.with_defer([1, 2, 3])


def test_the_largest_price_of_deferring_and_a_negative_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    model = CostBoostClassifier("adamec", 5, random_state=0).fit(X, y)
    assert model.decide(X, defer=1e300).counts["defer"] == 0
    everywhere = Costs(1e300, 1e300)
    assert sum(model.decide(X, costs=everywhere, defer=1e300).counts.values()) == len(X)
    with pytest.raises(ValueError, match=r"price is -1, .*make the costs with benefits=True"):
        model.decide(X, defer=-1)
    paid = model.decide(X, costs=Costs(1, 1, benefits=True), defer=-1)
    assert paid.counts["defer"] == len(X)
