"""Trainers of classes with prices: held-out rows, and the constant that costs least."""

import numpy as np
import pytest
from sklearn.base import clone

from costboost import CostBoostClassifier, Costs, PNormBoostClassifier

RNG = np.random.default_rng(1)
X = RNG.normal(size=(200, 3))
Y = np.where(X[:, 0] + X[:, 1] + RNG.normal(size=200) > 0.5, "yes", "no")
PRICES = RNG.lognormal(size=200)
LATE = slice(120, 200)
COSTS = Costs(fp=1, fn=4, positive="yes")
MODELS = {
    "adaboost": CostBoostClassifier("adac2", 6, n_iter_no_change=6, calibration=None),
    "pnorm": PNormBoostClassifier(n_estimators=6, n_iter_no_change=6),
}
each_family = pytest.mark.parametrize("family", MODELS)


def fitted(family, eval_set, costs=COSTS):
    return clone(MODELS[family]).fit(X[:120], Y[:120], costs=costs, eval_set=eval_set)


def realised(model, fp, fn, weights=None):
    """The mean cost of the decisions on the late rows after every round."""
    late = Y[LATE]
    found = []
    for decided in model.staged_predict(X[LATE]):
        alarms, misses = (decided == "yes") & (late == "no"), (decided == "no") & (late == "yes")
        found.append(np.average(alarms * fp + misses * fn, weights=weights))
    return found


@each_family
def test_held_out_rows_are_paid_at_the_prices_of_training(family):
    model = fitted(family, (X[LATE], Y[LATE]))
    paid = realised(model, 1, 4)
    np.testing.assert_allclose(model.validation_cost_[: len(paid)], paid, rtol=1e-12)


@each_family
def test_held_out_rows_may_have_prices_and_weights_of_their_own(family):
    weights = RNG.integers(0, 3, 80).astype(float)
    own = Costs(fp=2, fn=PRICES[LATE], positive="yes")
    model = fitted(family, (X[LATE], Y[LATE], own, weights))
    paid = realised(model, 2, PRICES[LATE], weights)
    np.testing.assert_allclose(model.validation_cost_[: len(paid)], paid, rtol=1e-12)


@each_family
def test_labels_that_training_never_saw_are_refused(family):
    with pytest.raises(ValueError, match=r"y of eval_set.*maybe"):
        fitted(family, (X[LATE], np.where(Y[LATE] == "no", "no", "maybe")))


@pytest.mark.parametrize(
    ("fn", "expected"), [(4, "yes"), (0.25, "no"), (1e300, "yes"), (1e-300, "no")]
)
def test_where_no_step_can_be_taken_the_cheapest_constant_answers(fn, expected):
    # 7 rows of weight 3 against 3 of weight 7, all alike, and some that do not count.
    y = np.array(["no"] * 7 + ["yes"] * 3 + ["no"] * 4)
    weights = np.array([3.0] * 7 + [7.0] * 3 + [0.0] * 4)
    model = CostBoostClassifier("adaboost", 3, calibration=None)
    with pytest.warns(
        UserWarning, match=f"could not take a single step.*answers '{expected}' always"
    ):
        model.fit(
            np.ones((14, 2)), y, costs=Costs(fp=1, fn=fn, positive="yes"), sample_weight=weights
        )
    assert model.predict(np.ones((1, 2))).tolist() == [expected]


def test_with_actions_that_are_no_classes_the_first_of_equal_classes_answers():
    y = np.array(["no"] * 6 + ["yes"] * 6)
    costs = Costs.from_matrix(
        [[0, 5, 1], [9, 0, 1]], classes=["no", "yes"], actions=["no", "yes", "ask"]
    )
    model = CostBoostClassifier("adaboost", 3, calibration=None)
    with pytest.warns(UserWarning, match="The model answers 'no' always"):
        model.fit(np.ones((12, 2)), y, costs=costs)
    assert model.predict_proba(np.ones((1, 2))).argmax() == 0
