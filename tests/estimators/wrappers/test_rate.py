import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from costboost import Costs, MinimumCostClassifier, RateClassifier


@parametrize_with_checks(
    [
        RateClassifier(LogisticRegression(), cv=2, random_state=0),
        RateClassifier(DecisionTreeClassifier(max_depth=2), {}, random_state=0),
    ]
)
@pytest.mark.filterwarnings("ignore")  # the checks' own tiny tables
def test_scikit_learn_checks(estimator, check):
    check(estimator)


TRIAGE = Costs.from_matrix(
    [[0, 2, 10], [30, 3, 0]], classes=[0, 1], actions=["pass", "review", "stop"]
)


@pytest.fixture(scope="module")
def rows():
    return make_classification(4000, weights=[0.85], random_state=0)


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.05])
def test_rate_holds_on_new_rows(rows, rate):
    X, y = rows
    model = RateClassifier(LogisticRegression(), {"review": rate}, costs=TRIAGE, random_state=0)
    model.fit(X[:2000], y[:2000])
    free = MinimumCostClassifier(LogisticRegression(), costs=TRIAGE, calibration=None)
    wanted = np.mean(free.fit(X[:2000], y[:2000]).predict(X[2000:]) == "review")
    assert wanted > 0.06
    taken = np.mean(model.predict(X[2000:]) == "review")
    assert abs(taken - rate) <= 4 * np.sqrt(rate / 2000)


def test_rows_are_decided_one_by_one(rows):
    X, y = rows
    model = RateClassifier(LogisticRegression(), {"review": 0.03}, costs=TRIAGE, random_state=0)
    model.fit(X, y)
    together = model.predict(X[:50])
    assert [model.predict(X[i : i + 1])[0] for i in range(50)] == together.tolist()


def test_several_rates_and_prices_per_row(rows):
    X, y = rows
    amount = np.random.default_rng(0).lognormal(3, 1, len(y))
    matrix = np.zeros((len(y), 2, 3))
    matrix[:, 0] = [0, 2, 10]
    matrix[:, 1] = np.column_stack([amount, np.full(len(y), 3.0), np.zeros(len(y))])
    costs = Costs.from_matrix(matrix, classes=[0, 1], actions=["pass", "review", "stop"])
    model = RateClassifier(LogisticRegression(), {"review": 0.02, "stop": 0.03}, random_state=0)
    model.fit(X[:2000], y[:2000], costs=costs[:2000])
    decided = model.predict(X[2000:], costs=costs[2000:])
    assert abs(np.mean(decided == "review") - 0.02) < 0.013
    assert abs(np.mean(decided == "stop") - 0.03) < 0.016
    assert min(model.action_prices_.values()) > 0


def test_ties_go_against_the_limited_action(rows):
    """A stump knows two probabilities: a rate below the share of one leaf takes none of it."""
    X, y = rows
    stump = DecisionTreeClassifier(max_depth=1)
    model = RateClassifier(stump, {1: 0.001}, costs={"fp": 1, "fn": 50}, random_state=0).fit(X, y)
    assert np.all(model.predict(X) == 0)


def test_no_price_where_the_rate_is_not_reached(rows):
    X, y = rows
    model = RateClassifier(LogisticRegression(), {1: 0.9}, random_state=0).fit(X, y)
    assert model.action_prices_ == {1: 0.0}
    assert np.array_equal(model.predict(X), LogisticRegression().fit(X, y).predict(X))


def test_in_a_pipeline_with_frames_and_strings(rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    labels = np.where(y == 1, "fraud", "legit")
    inner = RateClassifier(LogisticRegression(), {"fraud": 0.02}, random_state=0)
    model = make_pipeline(StandardScaler(), inner).fit(frame, labels)
    assert 0.01 < np.mean(model.predict(frame) == "fraud") < 0.03


@pytest.mark.parametrize("rate", [-0.1, 1.5, True, "few"])
def test_wrong_rates_are_refused(rows, rate):
    with pytest.raises(ValueError, match=r"give a share of the rows in \[0, 1\]"):
        RateClassifier(LogisticRegression(), {1: rate}).fit(*rows)


def test_unknown_actions_are_refused(rows):
    X, y = rows
    with pytest.raises(ValueError, match="names 'review', but the actions are"):
        RateClassifier(LogisticRegression(), {"review": 0.1}).fit(X, y)
    model = RateClassifier(LogisticRegression(), {"review": 0.02}, costs=TRIAGE).fit(X, y)
    with pytest.raises(ValueError, match="limits 'review', but these costs have the actions"):
        model.predict(X, costs={"fp": 1, "fn": 3})
