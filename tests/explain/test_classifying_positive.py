"""Whose value is explained: that of the positive class wherever it is known."""

import numpy as np
import pandas as pd
import pytest

from costboost import (
    CostBoostClassifier,
    Costs,
    GradientBoostClassifier,
    GradientBoostRegressor,
    PNormBoostClassifier,
)

MODELS = {
    "default": CostBoostClassifier(n_estimators=8, random_state=0),
    "votes": CostBoostClassifier("csb1", 6, max_depth=2, calibration=None),
    "one map": CostBoostClassifier("adamec", 8, cv=0.3, random_state=0),
    "loss": GradientBoostClassifier(n_estimators=8),
    "calibrated loss": GradientBoostClassifier(n_estimators=8, calibration="sigmoid", cv=3),
    "norm": PNormBoostClassifier(n_estimators=4, calibration="sigmoid", cv=3),
}


def rows(names, n=300):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    return X, np.where(X["a"] - X["b"] + rng.normal(size=n) > 0, *names)


@pytest.mark.parametrize("names", [("bad", "good"), ("worse", "fine")])
@pytest.mark.parametrize("name", list(MODELS))
def test_contributions_speak_for_the_positive_class(name, names):
    X, y = rows(names)
    bad, good = names
    model = MODELS[name].__class__(**MODELS[name].get_params())
    model.set_params(costs=Costs(fp=1, fn=4, positive=bad)).fit(X, y)
    sign = 1.0 if model.classes_[1] == bad else -1.0
    added = model.contributions(X)
    assert added.output == bad
    assert f"of {bad}" in repr(added)
    wanted = sign * model.decision_function(X)
    np.testing.assert_allclose(added.total, wanted, rtol=0, atol=1e-9)
    other = model.contributions(X, output=good)
    assert other.output == good
    np.testing.assert_array_equal(other.values, -added.values)
    np.testing.assert_array_equal(other.base, -added.base)
    # What makes a bad row more likely adds to it, whatever the labels are called.
    high, low = added.values[X["a"] > 1, 0].mean(), added.values[X["a"] < -1, 0].mean()
    assert high > 0 > low
    with pytest.raises(ValueError, match="none of the classes"):
        model.contributions(X, output="nobody")


@pytest.mark.parametrize("at", ["fit", "explain", "both", "nowhere"])
@pytest.mark.parametrize("names", [("bad", "good"), ("worse", "fine")])
def test_explain_speaks_for_the_positive_class(names, at):
    X, y = rows(names)
    bad, good = names
    prices = {who: Costs(fp=1, fn=4, positive=who) for who in names}
    by_fit = {"fit": bad, "both": good}.get(at)
    by_explain = {"explain": bad, "both": bad}.get(at)
    model = CostBoostClassifier(n_estimators=8, random_state=0)
    model.fit(X, y, costs=None if by_fit is None else prices[by_fit])
    why = model.explain(X[:1], costs=None if by_explain is None else prices[by_explain])
    wanted = max(names) if at == "nowhere" else bad
    assert why.output == wanted
    proba = dict(zip(model.classes_.tolist(), model.predict_proba(X[:1])[0], strict=True))
    assert why.total == pytest.approx(np.log(proba[wanted] / (1 - proba[wanted])))
    assert why.base + sum(part.added for part in why.parts) == pytest.approx(why.total)
    interval = why.stays_within
    assert interval.label == wanted
    if at != "nowhere":  # bad is called where P(bad) is above 1 / (1 + 4)
        called = why.decision == bad
        assert (interval.low, interval.high) == pytest.approx((0.2, 1.0) if called else (0.0, 0.2))
        assert (interval.below if called else interval.above) == good if called else bad
    assert f"of {wanted}" in str(why)
    assert f"P({wanted})" in str(why)


def test_actions_that_are_no_classes_are_explained_by_the_positive_class_of_fit():
    X, y = rows(("bad", "good"))
    model = CostBoostClassifier(n_estimators=8, random_state=0)
    model.fit(X, y, costs=Costs(fp=1, fn=4, positive="bad"))
    loans = Costs.of_actions(
        {"lend": {"bad": 9, "good": 0}, "look": 1, "no": {"bad": 0, "good": 3}}
    )
    why = model.explain(X[:1], costs=loans)
    assert why.output == why.stays_within.label == "bad"
    C = np.array([[9, 1, 0], [0, 1, 3]])
    for p in np.linspace(0.001, 0.999, 500):  # by brute force: where the decision stays
        best = ["lend", "look", "no"][int(np.argmin(np.array([p, 1 - p]) @ C))]
        inside = why.stays_within.low < p < why.stays_within.high
        assert inside == (best == why.decision)
    told = [line for line in str(why).splitlines() if "one change" in line]
    assert "P(good)" not in "".join(told)


def test_more_classes_and_regressors():
    X, _ = rows(("bad", "good"))
    y = pd.cut(X["a"], 3, labels=["x", "y", "z"]).astype(str).to_numpy()
    model = GradientBoostClassifier(n_estimators=3).fit(X, y)
    one, all_of_them = model.contributions(X, output="y"), model.contributions(X)
    assert (one.output, all_of_them.output) == ("y", None)
    np.testing.assert_array_equal(one.values, all_of_them.values[:, :, 1])
    number = GradientBoostRegressor(n_estimators=3).fit(X, X["a"])
    assert number.contributions(X).output is None
    with pytest.raises(ValueError, match="leave output out"):
        number.contributions(X, output="y")
