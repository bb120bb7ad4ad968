"""Another fit between any two reads of a fitted attribute: an answer is one model's or the other's.

No thread and no clock: the object itself is given another fit's attributes, as `fit` does at its
end, when an attribute is read for the k-th time, for every k.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.naive_bayes import GaussianNB

from costboost import (
    CostBoostClassifier,
    CostColumns,
    CostingClassifier,
    GradientBoostClassifier,
    GradientBoostRegressor,
    GuaranteedClassifier,
    MetaCostClassifier,
    MinimumCostClassifier,
    ParityClassifier,
    PNormBoostClassifier,
    RateClassifier,
)

ESTIMATORS = {
    "named": CostBoostClassifier("csb2", 3, random_state=0),
    "calibrated": CostBoostClassifier("cgada", 3, cv=2, random_state=0),
    "gradient": GradientBoostClassifier(n_estimators=3, random_state=0),
    "regressor": GradientBoostRegressor(n_estimators=3, random_state=0),
    "pnorm": PNormBoostClassifier(n_estimators=3, calibration="sigmoid", cv=2, random_state=0),
    "minimum cost": MinimumCostClassifier(GaussianNB(), cv=2, random_state=0),
    "metacost": MetaCostClassifier(GaussianNB(), 3, random_state=0),
    "costing": CostingClassifier(GaussianNB(), 3, random_state=0),
    "columns": CostColumns(CostBoostClassifier("cgada", 3, cv=2, random_state=0)),
    "guaranteed": GuaranteedClassifier(GaussianNB(), 100, cv=0.3, random_state=0),
    "parity": ParityClassifier(GaussianNB(), cv=2, random_state=0),
    "rate": RateClassifier(GaussianNB(), {7: 0.25}, cv=2, random_state=0),
}
ASKED = (
    "predict",
    "predict_proba",
    "decision_function",
    "expected_cost",
    "decide",
    "explain",
    "contributions",
    "importances",
    "staged_predict",
    "staged_predict_proba",
)


class Reads:
    """Counts reads of an object's attributes; gives it others before the one numbered `at`."""

    def __init__(self, at=0, attributes=None):
        self.n, self.at, self.attributes, self.target = 0, at, attributes, None

    def one(self):
        self.n += 1
        if self.n == self.at:
            object.__setattr__(self.target, "__dict__", dict(self.attributes))


def watched(model, reads):
    """Return the same model; every attribute that is read of it, or of what it became, counts."""

    def look(self, name):
        held = object.__getattribute__(self, "__dict__")
        if name in held:
            reads.one()
        return object.__getattribute__(self, name)

    kind = type(type(model).__name__, (type(model),), {"__getattribute__": look})
    reads.target = object.__new__(kind)
    object.__setattr__(reads.target, "__dict__", dict(vars(model)))
    return reads.target


def said(model, method, X):
    """Return what a method answers, as something that compares; None where it refuses."""
    try:
        value = getattr(model, method)(
            *((X[:1] if method == "explain" else X),)[: method != "importances"]
        )
    except ValueError:
        return None
    if method.startswith("staged"):
        value = list(value)
    if method == "explain":
        return str(value)
    if method == "decide":
        value = (value.decisions, value.expected_cost)
    if method == "contributions":
        value = (value.base, value.values)
    return [np.asarray(part).tolist() for part in (value if isinstance(value, tuple) else (value,))]


def fits(name):
    """Two fits of one estimator: other columns count, in other units, with other classes."""
    models = []
    for seed, labels in ((1, [3, 7]), (2, [1, 7])):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(90, 3)) * seed
        goes = X[:, seed] + 0.5 * rng.normal(size=90) > 0
        model = clone(ESTIMATORS[name])
        if is_classifier(model):
            inner = model.estimator if name == "columns" else model
            inner.set_params(costs={"fp": 1.0, "fn": 5.0 * seed, "positive": 7})
            model.fit(X, np.take(labels, goes.astype(int)))
        else:
            model.fit(X, X[:, seed] * seed)
        models.append(model)
    return models


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_answer_is_of_one_fit_whenever_another_ends(name):
    one, other = fits(name)
    X, checked = np.random.default_rng(3).normal(size=(12, 3)), 0
    for method in ASKED:
        if not hasattr(one, method):
            continue
        both = [said(model, method, X) for model in (one, other)]
        if both[0] == both[1]:
            continue
        reads = Reads()
        assert said(watched(one, reads), method, X) == both[0]
        assert reads.n > 0
        for at in range(1, reads.n + 1):
            assert said(watched(one, Reads(at, vars(other))), method, X) in both
        checked += 1
    assert checked > 0
