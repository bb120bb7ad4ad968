"""Whatever is asked of a model, it checks a table once and encodes it once."""

import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris

from costboost import (
    CostBoostClassifier,
    GradientBoostClassifier,
    GradientBoostRegressor,
    PNormBoostClassifier,
)
from costboost.binning.binner import Binner
from costboost.estimators import base
from costboost.explain import mixin

COSTS = {"fp": 1, "fn": 4}
MODELS = {
    "auto": CostBoostClassifier(n_estimators=20, cv=3, random_state=0),
    "named": CostBoostClassifier("csb2", 4, calibration="sigmoid", cv=5, random_state=0),
    "votes": CostBoostClassifier("adaboost", 4, calibration=None, random_state=0),
    "gradient": GradientBoostClassifier(n_estimators=4, random_state=0),
    "calibrated gradient": GradientBoostClassifier(
        "expected-cost", 4, calibration="sigmoid", cv=5, random_state=0
    ),
    "p-norm": PNormBoostClassifier(n_estimators=4, random_state=0),
    "calibrated p-norm": PNormBoostClassifier(
        n_estimators=4, calibration="isotonic", cv=3, random_state=0
    ),
    "regressor": GradientBoostRegressor(n_estimators=4, random_state=0),
}
MANY = ("p-norm", "calibrated p-norm", "auto", "calibrated gradient")
CASES = [(name, 2) for name in MODELS] + [(name, 3) for name in MANY]


def given(name, n_classes):
    X, y = (load_iris if n_classes == 3 else load_breast_cancer)(return_X_y=True)
    X, y = X[:, :4].copy(), y if name != "regressor" else X[:, 0] ** 2
    return X, y


FACES = {
    "predict": lambda model, X, y: model.predict(X),
    "predict_proba": lambda model, X, y: model.predict_proba(X),
    "decision_function": lambda model, X, y: model.decision_function(X),
    "expected_cost": lambda model, X, y: model.expected_cost(X),
    "decide": lambda model, X, y: model.decide(X),
    "score": lambda model, X, y: model.score(X, y),
    "staged_predict": lambda model, X, y: list(model.staged_predict(X)),
    "staged_predict_proba": lambda model, X, y: list(model.staged_predict_proba(X)),
    "staged_decision_function": lambda model, X, y: list(model.staged_decision_function(X)),
    "contributions": lambda model, X, y: model.contributions(X[:40]),
    "explain": lambda model, X, y: model.explain(X[:1]),
}
PRICED = ("expected_cost", "decide")  # by models that decide by costs


@pytest.fixture
def counted(monkeypatch):
    """Count tables that are checked, and tables that are encoded."""
    counts = {"checked": 0, "encoded": 0}

    def count(holder, name, what):
        real = getattr(holder, name)

        def counting(*args, **options):
            counts[what] += 1
            return real(*args, **options)

        monkeypatch.setattr(holder, name, counting)

    count(Binner, "encode", "encoded")
    count(base, "check_table", "checked")
    count(mixin, "check_table", "checked")
    return counts


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ["numpy", "pandas"])
@pytest.mark.parametrize(("name", "n_classes"), CASES)
def test_every_face_reads_a_table_once(name, n_classes, kind, counted):
    X, y = given(name, n_classes)
    X = X if kind == "numpy" else pd.DataFrame(X, columns=list("abcd"))
    extra = {"costs": COSTS} if n_classes == 2 and name != "regressor" else {}
    model = clone(MODELS[name]).fit(X, y, **extra)
    asked = {face: ask for face, ask in FACES.items() if hasattr(model, face)}
    if name in ("votes", "p-norm"):
        asked = {face: ask for face, ask in asked.items() if face not in PRICED}
    found = {}
    for face, ask in asked.items():
        counted.update(checked=0, encoded=0)
        ask(model, X, y)
        found[face] = dict(counted)
    assert found == {face: {"checked": 1, "encoded": 1} for face in asked}
    assert {"predict", "score", "contributions", "explain"} <= set(found)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_background_is_read_once_too(counted):
    X, y = given("named", 2)
    model = clone(MODELS["named"]).fit(X, y, costs=COSTS)
    for ask, n_rows in ((model.contributions, 7), (model.explain, 1)):
        counted.update(checked=0, encoded=0)
        ask(X[:n_rows], background=X[100:110])
        assert counted == {"checked": 2, "encoded": 2}
