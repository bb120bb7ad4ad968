"""The nearest changes that turn a decision, by making them."""

import numpy as np
import pandas as pd
import pytest

from costboost import Costs, GradientBoostClassifier
from costboost.explain.changes import rounded
from explained_decisions import fitted


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


def test_a_value_that_is_missing_may_become_known_where_only_one_is():
    # The column has no edges: all that the trees can see is whether it is missing.
    X = np.where(np.arange(60) % 2, 3.0, np.nan)[:, None]
    model = GradientBoostClassifier(n_estimators=5, min_samples_leaf=5)
    model.fit(X, np.isnan(X[:, 0]).astype(int))
    (change,) = model.explain([np.nan]).changes
    assert (change.to, change.limit, change.decision, change.distance) == ("known", None, 0, 1.0)
    assert model.predict([[3.0]])[0] == 0
    assert "x0 known (now missing): 0" in str(model.explain([np.nan]))


def test_a_missing_number_is_told_both_ends_of_the_bin_that_turns_the_decision():
    x = np.tile(np.arange(10.0), 20)
    X = np.append(x, [np.nan] * 40)[:, None]
    y = np.append((x >= 4) & (x <= 6), np.zeros(40)).astype(int)
    model = GradientBoostClassifier(n_estimators=10, min_samples_leaf=5).fit(X, y)
    (change,) = model.explain([np.nan]).changes
    assert (change.to, change.limit, change.decision) == ("above 3.5 and at most 4.5", 4.5, 1)
    assert model.predict([[np.nan], [3.5], [3.6], [4.5]]).tolist() == [0, 0, 1, 1]


def test_categories_that_turn_the_decision_are_those_that_do():
    model, X, _ = fitted()
    costs = Costs(fp=20, fn=30, positive="fraud")
    turned = 0
    for i in range(0, 300, 10):
        row = X.iloc[[i]]
        seen = model.explain(row, costs=costs)
        for change in seen.changes:
            if not change.column.startswith("<b>"):
                continue
            turned += 1
            moved = row.copy()
            moved[change.column] = pd.Categorical([change.to], X[change.column].cat.categories)
            assert (change.limit, change.distance) == (None, 1.0)
            assert model.predict(moved, costs=costs)[0] == change.decision
            assert change.probabilities == pytest.approx(model.predict_proba(moved)[0])
    assert turned > 0


def test_a_forest_without_splits_knows_no_change():
    with pytest.warns(UserWarning, match="single step|took no step"):
        model = GradientBoostClassifier(n_estimators=3).fit(np.ones((20, 2)), np.arange(20) % 2)
    assert model.explain([1.0, 1.0]).changes == ()


def test_no_bin_nearer_turns_the_decision():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 12, size=(400, 2)).astype(float)
    y = ((X[:, 0] > 7) | (X[:, 1] > 9)).astype(int)
    model = GradientBoostClassifier(n_estimators=20).fit(X, y)
    for row in ([2.0, 3.0], [11.0, 3.0], [9.0, 11.0]):
        changes = {change.column: change for change in model.explain(row).changes}
        for j in range(2):
            tried = np.repeat([row], 12, axis=0)
            tried[:, j] = np.arange(12)
            turns = np.flatnonzero(model.predict(tried) != model.predict([row])[0])
            if not len(turns):
                assert f"x{j}" not in changes
                continue
            nearest = np.abs(turns - row[j]).min()
            assert changes[f"x{j}"].distance == pytest.approx(nearest / 12)


def test_numbers_are_rounded_to_the_side_where_they_hold():
    assert rounded(1234567.8, True, lambda x: True) == "1.23457e+06"
    assert rounded(1234567.8, False, lambda x: True) == "1.23456e+06"
    assert rounded(-2 / 3, True, lambda x: True) == "-0.666666"
    assert rounded(5.5, True, lambda x: x == 5.5) == "5.5"
    assert rounded(1.1475, False, lambda x: True) == "1.1475"  # a float a little below that
    assert rounded(0.1 + 0.2, False, lambda x: x == 0.1 + 0.2) == "0.30000000000000004"


def test_what_the_text_says_turns_the_decision_as_the_limit_does():
    # Edges with many digits and close to each other: six of them do not tell them apart.
    rng = np.random.default_rng(3)
    X = 7e5 + rng.normal(size=(400, 1))
    y = (np.sin(3 * X[:, 0]) > 0).astype(int)
    model = GradientBoostClassifier(n_estimators=20).fit(X, y)
    for x in X[:40]:
        seen = model.explain(x)
        for change in seen.changes:
            said = float(change.to.split()[-1])
            value = np.nextafter(said, np.inf) if change.to.startswith("above") else said
            assert model.predict([[value]])[0] == change.decision != seen.decision
