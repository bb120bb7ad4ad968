"""Held-out rows of gradient boosting: what each round's model costs, or loses."""

from __future__ import annotations

import numpy as np
import pytest

from costboost.costs import Costs
from costboost.estimators.gradient import GradientBoostClassifier


def test_early_stopping_on_cost(cancer):
    X, y = cancer
    costs = Costs(fp=np.where(np.arange(len(y)) % 2, 1.0, 5.0), fn=2)
    model = GradientBoostClassifier(n_estimators=200, n_iter_no_change=10, random_state=0)
    model.fit(X, y, costs=costs)
    assert model.n_iter_ < 200
    assert np.argmin(model.validation_cost_) == model.n_iter_ - 1
    with pytest.raises(ValueError, match="eval_set=\\(X, y, costs\\)"):
        model.fit(X, y, costs=costs, eval_set=(X, y))
