"""What wrappers share: constants, clones, answers that contain costs."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from costboost.costs import Costs
from costboost.estimators.wrappers import CostingClassifier, MetaCostClassifier
from wrapped_rows import DEAR, problem


@pytest.mark.parametrize("wrapper", [CostingClassifier, MetaCostClassifier])
def test_a_constant_answer_still_checks_the_table(wrapper):
    X, y = problem(K=2)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    priced = Costs(fp=0, fn=1)  # calling everything positive costs nothing
    model = wrapper(LogisticRegression(), 3, random_state=0).fit(table, y, costs=priced)
    assert_array_equal(model.predict(table), 1)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table.rename(columns={"c": "d"}))
    bare = wrapper(LogisticRegression(), 3, random_state=0).fit(X, y, costs=priced)
    for answer in (bare.predict, bare.predict_proba):
        with pytest.raises(ValueError, match=r"X has 1 features, but \w+ is expecting 3 features"):
            answer(X[:, :1])


@pytest.mark.parametrize("kind", [CostingClassifier, MetaCostClassifier])
def test_new_costs_need_a_new_fit(kind):
    X, y = problem()
    names = np.array(["b", "a", "c"])[y]
    model = kind(make_pipeline(StandardScaler(), LogisticRegression()), 3, random_state=0)
    model.fit(X, names, costs=Costs.from_matrix(DEAR, classes=["b", "a", "c"]))
    assert set(model.predict(X)) <= {"a", "b", "c"}
    assert model.n_features_in_ == 3
    with pytest.raises(ValueError, match="MinimumCostClassifier"):
        model.predict(X, costs=DEAR)
    with pytest.raises(ValueError, match="trained on costs"):
        model.expected_cost(X)
    assert model.score(X, names, costs=1 - np.eye(3)) <= 0
    actions = Costs.from_matrix([[0, 1], [1, 0], [2, 2]], classes=list("abc"), actions=[0, 1])
    with pytest.raises(ValueError, match="decisions must be the"):
        model.fit(X, names, costs=actions)


@pytest.mark.parametrize("kind", [CostingClassifier, MetaCostClassifier])
def test_bad_parameters_are_named(kind):
    X, y = problem()
    with pytest.raises(ValueError, match="n_estimators=0"):
        kind(LogisticRegression(), 0).fit(X, y)
    if kind is MetaCostClassifier:
        with pytest.raises(ValueError, match="max_samples=2"):
            kind(LogisticRegression(), max_samples=2).fit(X, y)
        with pytest.raises(ValueError, match="votes='some'"):
            kind(LogisticRegression(), votes="some").fit(X, y)
