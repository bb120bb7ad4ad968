"""Rows of one group are never both trained on and held out for early stopping."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from costboost import CostBoostClassifier, GradientBoostClassifier, PNormBoostClassifier
from costboost.fitting.train import Trainer

STOP = {"n_iter_no_change": 2, "random_state": 0, "validation_fraction": 0.3}
MODELS = {
    "named": CostBoostClassifier("adaboost", 5, **STOP),
    "calibrated": CostBoostClassifier("adamec", 5, cv=3, **STOP),
    "gradient": GradientBoostClassifier(n_estimators=5, **STOP),
    "gradient, calibrated": GradientBoostClassifier(
        n_estimators=5, calibration="sigmoid", cv=2, **STOP
    ),
    "p-norm": PNormBoostClassifier(n_estimators=5, **STOP),
}


@pytest.fixture
def cuts(monkeypatch):
    """Collect the rows of every hold-out."""
    found, hold_out = [], Trainer._hold_out

    def held(self, rows):
        found.append(hold_out(self, rows))
        return found[-1]

    monkeypatch.setattr(Trainer, "_hold_out", held)
    return found


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("tags", ["numbers", "names"])
def test_groups_are_held_out_together(cuts, name, tags):
    X, y = make_classification(300, 6, flip_y=0.2, weights=[0.7], random_state=0)
    groups = np.random.default_rng(0).integers(0, 40, 300)
    given = groups if tags == "numbers" else np.array([f"customer {g}" for g in groups])
    MODELS[name].fit(X, y, groups=given)
    assert cuts
    for kept, apart in cuts:
        assert not set(groups[kept]) & set(groups[apart])
        assert set(y[kept]) == {0, 1}
        assert 0.1 < len(apart) / (len(apart) + len(kept)) < 0.5


def test_without_groups_rows_of_one_are_on_both_sides(cuts):
    X, y = make_classification(300, 6, random_state=0)
    groups = np.random.default_rng(0).integers(0, 40, 300)
    MODELS["named"].fit(X, y)
    ((kept, apart),) = cuts
    assert set(groups[kept]) & set(groups[apart])


def test_a_class_within_one_group_is_trained_on(cuts):
    X, y = make_classification(200, 6, random_state=0)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        groups = np.where(y == 1, 7, rng.integers(0, 5, 200))
        GradientBoostClassifier(n_estimators=2, **STOP).fit(X, y, groups=groups)
        kept, apart = cuts[-1]
        assert set(y[kept]) == {0, 1}
        assert len(apart)


def test_groups_that_cannot_be_cut_are_refused():
    X, y = make_classification(60, 6, random_state=0)
    with pytest.raises(ValueError, match="no class has two groups to cut"):
        MODELS["named"].fit(X, y, groups=np.zeros(60))
    with pytest.raises(ValueError, match="groups has shape"):
        MODELS["gradient"].fit(X, y, groups=[1, 2])
