"""The fitted model that all families end in: members that share their codes, maps, stages."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from costboost import CostBoostClassifier, GradientBoostRegressor
from costboost.model import FittedModel, apply_maps
from explained_tables import SMALL, table


def test_margins_of_every_member_are_its_own():
    X, y = table()
    model = CostBoostClassifier("adamec", cv=3, **SMALL).fit(X, y)
    fitted = model._model
    margins = fitted.margins(X, fitted.encode(X))
    assert len(margins) == len(fitted.members) == 3
    for got, member in zip(margins, fitted.members, strict=True):
        np.testing.assert_array_equal(got, member.forest.margins(X))
    np.testing.assert_allclose(fitted.values(margins), model.decision_function(X), rtol=1e-12)
    assert fitted.is_calibrated


@pytest.mark.parametrize("calibration", ["bias-corrected", "isotonic", "temperature"])
@pytest.mark.parametrize(("n_classes", "max_depth"), [(2, 1), (2, 4), (3, 3)])
def test_members_answer_together_as_they_do_alone(monkeypatch, calibration, n_classes, max_depth):
    X, _ = table()
    y = np.random.default_rng(0).integers(n_classes, size=len(X))
    how = {"calibration": calibration, "cv": 4, "max_depth": max_depth, "random_state": 0}
    fitted = CostBoostClassifier("adamec", 8, **how).fit(X, y)._model
    codes = fitted.encode(X)
    margins = [member.margins(None, codes) for member in fitted.members]
    for n in (0, 1, 5, len(X)):
        got = fitted.margins(None, codes[:n])
        for part, expected in zip(got, margins, strict=True):
            np.testing.assert_array_equal(part, expected[:n])
    shares = [apply_maps(m.maps, part) for m, part in zip(fitted.members, margins, strict=True)]
    expected = sum(shares[1:], start=shares[0]) / 4
    np.testing.assert_array_equal(fitted.proba(margins), expected)
    monkeypatch.setattr("costboost.model._BLOCK", 7)  # and in blocks of rows
    for n_threads in (1, 3):
        np.testing.assert_array_equal(fitted.proba(margins, n_threads), expected)


def test_a_model_keeps_only_its_fields():
    X, y = table()
    model = CostBoostClassifier("adamec", 5, cv=3, max_depth=3, random_state=0).fit(X, y)
    expected = model.predict_proba(X)
    assert {"_joint", "_used", "_shares_maps"} <= set(vars(model._model))
    again = pickle.loads(pickle.dumps(model))
    assert set(vars(again._model)) == {"members", "decision", "unit", "priced"}
    np.testing.assert_array_equal(again.predict_proba(X), expected)
    model.fit(X, 1 - y)  # what was made for the model of before does not answer for this one
    np.testing.assert_array_equal(model.predict_proba(X[:5]), model.predict_proba(X)[:5])
    assert (model.predict_proba(X) != expected).any()


def test_margins_from_elsewhere_are_added():
    X, _ = table()
    X = X[["age", "noise"]].to_numpy()
    init = LinearRegression()
    model = GradientBoostRegressor(init=init, **SMALL).fit(X, X[:, 0] + X[:, 1])
    fitted = model._model
    assert not fitted.is_calibrated
    (margins,) = fitted.margins(X, fitted.encode(X))
    np.testing.assert_allclose(fitted.values([margins]), model.predict(X), rtol=1e-12)
    (member,) = fitted.members
    alone = replace(member, init=None).margins(X)
    np.testing.assert_allclose(margins - alone, member.init.margins(X), rtol=1e-9, atol=1e-9)


def test_models_of_different_binners_are_refused():
    X, y = table()
    one, other = (
        CostBoostClassifier("adaboost", **SMALL).fit(part, y[: len(part)])._model
        for part in (X, X[:150])
    )
    mixed = FittedModel(one.members + other.members, None, one.unit)
    with pytest.raises(ValueError, match="binner"):
        mixed.encode(X)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shares_of_a_stage_are_of_the_votes_so_far(n_classes):
    X, _ = table()
    y = np.arange(len(X)) % n_classes
    model = CostBoostClassifier("adamec", 6, cv=3, max_depth=2, random_state=0).fit(X, y)
    members = model._model.members
    for t, (stage, margins) in enumerate(model._model.staged(X), start=1):
        for member, part, given in zip(stage.members, margins, members, strict=True):
            total = sum(given.steps[:t].tolist())  # a member that ended early has all its votes
            expected = (1 + part / total) / 2 if n_classes == 2 else part / total
            shares = apply_maps(member.maps[:-1], part)
            np.testing.assert_allclose(shares, expected, rtol=1e-9, atol=1e-12)
            assert shares.min() >= 0
    assert t == model.n_iter_ == model._model.n_rounds
    np.testing.assert_allclose(stage.proba(margins), model.predict_proba(X), rtol=1e-9)


def test_what_is_priced_moves_with_the_stages():
    X, y = table()
    costs = {"fp": 1, "fn": 4}
    model = CostBoostClassifier("adamec", 5, calibration=None, max_depth=2, costs=costs).fit(X, y)
    for t, decided in enumerate(model.staged_predict(X), start=1):
        shorter = CostBoostClassifier("adamec", t, calibration=None, max_depth=2, costs=costs).fit(
            X, y
        )
        np.testing.assert_array_equal(decided, shorter.predict(X))


def test_a_member_keeps_only_its_fields():
    X, y = table()
    (member,) = CostBoostClassifier("adaboost", **SMALL).fit(X, y)._model.members
    assert member.totals[-1] == pytest.approx(member.total)  # computed, and not kept
    again = pickle.loads(pickle.dumps(member))
    assert "totals" not in vars(again)
    np.testing.assert_array_equal(again.margins(X), member.margins(X))
