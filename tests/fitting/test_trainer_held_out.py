"""The rows that a trainer holds out: labels, prices and weights, alike in all families."""

import numpy as np
import pytest
from sklearn.base import clone

from costboost import (
    CostBoostClassifier,
    Costs,
    GradientBoostClassifier,
    PNormBoostClassifier,
)

RNG = np.random.default_rng(1)
X = RNG.normal(size=(200, 3))
Y = np.where(X[:, 0] + X[:, 1] + RNG.normal(size=200) > 0.5, "yes", "no")
PRICES = RNG.lognormal(size=200)
LATE = slice(120, 200)
COSTS = Costs(fp=1, fn=4, positive="yes")
MODELS = {
    "adaboost": CostBoostClassifier("adac2", 6, n_iter_no_change=6, calibration=None),
    "gradient": GradientBoostClassifier("expected-cost", 6, n_iter_no_change=6),
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
