"""One decision explained: the numbers are right, the words are there, HTML is escaped."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost import (
    CostBoostClassifier,
    Costs,
    GradientBoostClassifier,
    GradientBoostRegressor,
    PNormBoostClassifier,
)
from costboost.explain.turning import stays_within, turning_prices


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "amount": rng.lognormal(3, 1, size=n),
            "hour": rng.integers(0, 24, size=n),
            "<b>shop</b>": pd.Categorical(rng.choice(["<script>", "food", None], n)),
        }
    )
    chance = 1 / (1 + np.exp(2 - X["amount"] / 30 - X["<b>shop</b>"].eq("<script>")))
    return X, np.where(rng.random(n) < chance, "fraud", "fine")


def fitted(**options):
    X, y = table()
    model = CostBoostClassifier("adamec", 10, cv=3, random_state=0, **options)
    return model.fit(X, y, costs=Costs(fp=5, fn=40, positive="fraud")), X, y


def test_an_explanation_says_what_the_model_does():
    model, X, _ = fitted()
    for i in range(0, 300, 50):
        row = X.iloc[[i]]
        for costs in (
            None,
            Costs(fp=1, fn=3, positive="fraud"),
            {"fp": 50, "fn": 3, "positive": "fraud"},
        ):
            if isinstance(costs, dict):
                costs = Costs(**costs)
            seen = model.explain(row, costs=costs)
            assert seen.decision == model.predict(row, costs=costs)[0]
            np.testing.assert_allclose(
                list(seen.probabilities.values()), model.predict_proba(row)[0], rtol=1e-12
            )
            np.testing.assert_allclose(
                list(seen.expected_cost.values()),
                np.asarray(model.expected_cost(row, costs))[0],
                rtol=1e-12,
            )
            assert seen.total == pytest.approx(model.decision_function(row)[0], abs=1e-9)
            assert seen.base + sum(p.added for p in seen.parts) == pytest.approx(seen.total)
            sizes = [abs(part.added) for part in seen.parts]
            assert sizes == sorted(sizes, reverse=True)


def test_the_decision_turns_where_it_is_said_to():
    model, X, _ = fitted()
    for i in range(0, 300, 30):
        row = X.iloc[[i]]
        seen = model.explain(row)
        p = seen.probabilities["fraud"]
        within = seen.stays_within
        assert within.label == "fraud"
        assert within.low <= p <= within.high
        costs = model.costs_
        for at, side, other in (
            (within.low, -1e-6, within.below),
            (within.high, 1e-6, within.above),
        ):
            if other is not None:
                shifted = np.array([[1 - at - side, at + side]])
                assert model.classes_[costs.decide(shifted, encoded=True)][0] == other
        for price in seen.turning_prices:
            cells = {"fp": 5.0, "fn": 40.0}
            name = "fp" if price.action == "fraud" else "fn"
            assert cells[name] == price.now
            for factor in (0.999, 1.001):
                cells[name] = price.turns_at * factor
                turned = model.predict(row, costs=Costs(**cells, positive="fraud"))[0] == price.to
                rises = price.turns_at > price.now
                assert turned == (rises == (factor > 1))


def test_the_nearest_change_turns_the_decision():
    model, X, _ = fitted()
    costs = Costs(fp=20, fn=30, positive="fraud")
    tried = 0
    for i in range(0, 300, 6):
        row = X.iloc[[i]]
        seen = model.explain(row, costs=costs)
        assert list(seen.changes) == sorted(seen.changes, key=lambda c: c.distance)
        for change in seen.changes:
            if change.column.startswith("<b>"):
                continue
            # Up to a limit, or just above it; on its other side nothing has turned yet.
            above, up = np.nextafter(change.limit, np.inf), change.to.startswith("above")
            moved = row.astype({change.column: float})
            moved[change.column] = above if up else change.limit
            assert model.predict(moved, costs=costs)[0] == change.decision != seen.decision
            moved[change.column] = change.limit if up else above
            assert model.predict(moved, costs=costs)[0] == seen.decision
            tried += 1
    assert tried > 10


def test_three_actions_and_prices_per_row():
    X, y = table()
    C = np.array([[0.0, 2.0, 9.0], [30.0, 5.0, 1.0]])
    costs = Costs.from_matrix(C, classes=["fine", "fraud"], actions=["pay", "ask", "stop"])
    model = CostBoostClassifier("adamec", 8, cv=3, random_state=0).fit(X, y)
    seen = [model.explain(X.iloc[[i]], costs=costs) for i in range(0, 300, 20)]
    assert {one.decision for one in seen} <= {"pay", "ask", "stop"}
    assert all(set(one.expected_cost) == {"pay", "ask", "stop"} for one in seen)
    asked = [one for one in seen if one.decision == "ask"]
    assert all(
        one.stays_within.below == "pay" and one.stays_within.above == "stop" for one in asked
    )
    assert "pay" in str(seen[0])
    rows = Costs(fp=5, fn=np.linspace(1, 90, 300), positive="fraud")
    for i in (0, 150, 299):
        one = model.explain(X.iloc[[i]], costs=rows[[i]])
        assert one.decision == model.predict(X, costs=rows)[i]
        np.testing.assert_allclose(
            list(one.expected_cost.values()),
            np.asarray(model.expected_cost(X, rows))[i],
            rtol=1e-12,
        )


def test_many_classes_explain_the_class_decided_for():
    X, _ = table()
    y = np.digitize(X["amount"], [12, 30])
    for model in (
        CostBoostClassifier("adamec", 6, cv=3, random_state=0).fit(X, y),
        PNormBoostClassifier(n_estimators=5).fit(X, y),
    ):
        seen = model.explain(X.iloc[[3]])
        assert seen.decision == seen.output == model.predict(X.iloc[[3]])[0]
        values = model.decision_function(X.iloc[[3]])[0]
        assert seen.total == pytest.approx(values[list(model.classes_).index(seen.output)])
        assert seen.stays_within is None


def test_rules_without_prices_say_so_and_refuse_new_ones():
    X, y = table()
    model = CostBoostClassifier("adacost", 5).fit(X, y, costs=Costs(fp=1, fn=2, positive="fraud"))
    seen = model.explain(X.iloc[[0]])
    assert seen.expected_cost == {}
    assert seen.decision == model.predict(X.iloc[[0]])[0]
    assert "expected cost" not in str(seen)
    with pytest.raises(ValueError, match="calibration"):
        model.explain(X.iloc[[0]], costs=Costs(fp=1, fn=9, positive="fraud"))


def test_a_regressor_explains_its_prediction():
    X, _ = table()
    model = GradientBoostRegressor(n_estimators=5).fit(X, X["amount"])
    seen = model.explain(X.iloc[[0]])
    assert seen.total == pytest.approx(model.predict(X.iloc[[0]])[0])
    assert str(seen).startswith("GradientBoostRegressor predicts")
    assert "costs" not in str(seen)


def test_one_row_in_any_shape():
    X, y = table()
    numbers = X[["amount", "hour"]].to_numpy()
    model = GradientBoostClassifier(n_estimators=5).fit(numbers, y)
    totals = {
        model.explain(x).total
        for x in (numbers[:1], numbers[0], numbers[0].tolist(), [numbers[0].tolist()])
    }
    assert len(totals) == 1
    framed = GradientBoostClassifier(n_estimators=5).fit(X, y)
    assert framed.explain(X.iloc[4]).total == framed.explain(X.iloc[[4]]).total
    with pytest.raises(ValueError, match="one row, X has 2"):
        framed.explain(X[:2])


def test_text_fits_a_terminal_and_html_is_escaped():
    model, X, _ = fitted()
    at = int(np.flatnonzero(X["<b>shop</b>"] == "<script>")[0])
    seen = model.explain(X.iloc[[at]])
    text, html = str(seen), seen._repr_html_()
    assert text == repr(seen)
    assert max(map(len, text.splitlines())) <= 100
    for word in ("decides", "probability", "expected cost", "would turn", "log odds", "one change"):
        assert word in text
    assert "<script>" not in html
    assert "<b>shop" not in html
    assert "&lt;script&gt;" in html
    assert html.count("<svg") == 1
    assert text.isascii()
    numbers = seen.to_dict()
    assert numbers["parts"][0]["added"] == seen.parts[0].added


def test_missing_values_are_called_missing():
    model, X, _ = fitted()
    at = int(np.flatnonzero(X["<b>shop</b>"].isna())[0])
    assert "<b>shop</b> = missing" in str(model.explain(X.iloc[[at]]))


@given(seed=st.integers(0, 10**6), n_actions=st.integers(2, 4))
@settings(max_examples=60, deadline=None)
def test_intervals_hold_every_probability_at_which_the_action_is_cheapest(seed, n_actions):
    rng = np.random.default_rng(seed)
    C = rng.integers(0, 50, size=(2, n_actions)).astype(float)
    grid = np.linspace(0, 1, 401)
    cheapest = np.argmin((1 - grid)[:, None] * C[0] + grid[:, None] * C[1], axis=1)
    for a in np.unique(cheapest):
        within = stays_within(C, int(a), ["no", "yes"], list(range(n_actions)))
        inside = (grid >= within.low - 1e-12) & (grid <= within.high + 1e-12)
        assert np.all(inside[cheapest == a])
        expected = (1 - grid)[:, None] * C[0] + grid[:, None] * C[1]
        assert np.all(expected[inside, a] <= expected[inside].min(axis=1) + 1e-9)


def test_one_action_never_turns():
    C = np.array([[1.0], [2.0]])
    assert turning_prices(C, np.array([0.5, 0.5]), 0, ["a", "b"], ["only"]) == []
    assert stays_within(C, 0, ["a", "b"], ["only"]).below is None
