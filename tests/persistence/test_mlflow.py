"""Models as MLflow serves them: decisions by columns of prices."""

import numpy as np
import pandas as pd
import pytest

import costboost as cb
from costboost.persistence.mlflow import CostScorer, _load_pyfunc, _write, log_model, save_model
from zoo import fitted, frame, quiet_fit, table

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.mark.filterwarnings("ignore")
def test_a_pyfunc_decides_by_columns_of_prices(mlflow, tmp_path):
    model, X = fitted("auto of a frame")
    prices = {"fp": "check", "fn": "amount", "positive": "fraud"}
    save_model(model, tmp_path / "model", prices=prices, pip_requirements=[])
    assert not list((tmp_path / "model").rglob("*.pkl"))
    scored = X.assign(check=np.linspace(1, 30, len(X)), unused="x").set_axis(range(5, 5 + len(X)))
    with mlflow.start_run():
        info = log_model(model, "fraud", prices=prices, pip_requirements=[])
    for place in (str(tmp_path / "model"), info.model_uri):
        answer = mlflow.pyfunc.load_model(place).predict(scored)
        costs = cb.Costs(fp=scored["check"].to_numpy(), fn=X["amount"].to_numpy(), positive="fraud")
        assert list(answer["decision"]) == list(model.predict(X, costs=costs))
        assert len(set(answer["decision"])) == 2
        assert np.array_equal(answer["probability_fraud"], model.predict_proba(X)[:, 1])
        assert np.array_equal(
            answer["expected_cost"], model.expected_cost(X, costs=costs).min(axis=1)
        )
        assert list(answer.index) == list(scored.index)
    with pytest.raises(ValueError, match=r"read from \['check'\]"):
        mlflow.pyfunc.load_model(str(tmp_path / "model")).predict(X)


def test_a_scorer_of_arrays_matrices_and_actions():
    X, y = table()
    C, actions = [[0, 1, 6], [30, 2, 0]], ["send home", "look again", "operate"]
    triage = cb.Costs.from_matrix(C, classes=[0, 1], actions=actions)
    model = quiet_fit(cb.CostBoostClassifier(n_estimators=10, random_state=0), X, y, costs=triage)
    scored = pd.DataFrame(X).rename(columns=str).assign(missed=np.linspace(1, 60, len(X)))
    answer = CostScorer(model, [[0, 1, 6], ["missed", 2, 0]]).predict(scored)
    full = np.tile(np.array(C, dtype=float), (len(X), 1, 1))
    full[:, 1, 0] = scored["missed"]
    costs = cb.Costs.from_matrix(full, classes=[0, 1], actions=actions)
    assert list(answer["decision"]) == list(model.predict(X, costs=costs))
    assert set(answer["decision"]) == set(actions)


def test_a_scorer_without_prices_decides_as_the_model_does():
    X, labels = frame()
    model = quiet_fit(
        cb.CostBoostClassifier("csb2", 5), X, labels, costs=cb.Costs(fp=1, fn=3, positive="fraud")
    )
    answer = CostScorer(model).predict(X)
    assert list(answer["decision"]) == list(model.predict(X))
    model, X = fitted("regressor huber")
    answer = CostScorer(model).predict(pd.DataFrame(X))
    assert np.array_equal(answer["prediction"], model.predict(X))


def test_what_is_written_is_what_is_loaded_and_nothing_else(tmp_path):
    model, X = fitted("auto of a frame")
    prices = {"fp": 7.5, "fn": "amount", "positive": "fraud"}
    seen = {}

    def write(data_path, **more):
        scorer = _load_pyfunc(data_path)  # the folder goes away when everything is written
        seen.update(more, scorer=scorer, answer=scorer.predict(X))

    _write(write, model, prices, {"pip_requirements": ["mine"], "signature": 3})
    assert seen["scorer"].prices == prices
    assert seen["loader_module"] == "costboost.persistence.mlflow"
    assert (seen["pip_requirements"], seen["signature"]) == (["mine"], 3)
    pd.testing.assert_frame_equal(seen["answer"], CostScorer(model, prices).predict(X))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (
            {"fp": np.int64(7), "fn": np.float32(0.5), "positive": np.str_("fraud")},
            {"fp": 7, "fn": 0.5, "positive": "fraud"},
        ),
        ([[np.int64(0), 1], ["amount", np.float32(2)]], [[0, 1], ["amount", 2.0]]),
        (np.array([[0, 1], [5, 0]]), [[0, 1], [5, 0]]),
        (None, None),
    ],
)
def test_prices_may_be_numbers_of_numpy(given, kept):
    model, X = fitted("auto of a frame")
    seen = []

    def write(data_path, **more):
        scorer = _load_pyfunc(data_path)
        seen.extend([scorer.prices, scorer.predict(X)])

    _write(write, model, given, {})
    assert seen[0] == kept
    pd.testing.assert_frame_equal(seen[1], CostScorer(model, given).predict(X))


def test_one_row_of_one_price():
    model, X = fitted("auto of a frame")
    scorer = CostScorer(model, {"fp": 1, "fn": "amount", "positive": "fraud"})
    every = scorer.predict(X)
    for i in (0, 7):
        pd.testing.assert_frame_equal(scorer.predict(X[i : i + 1]), every[i : i + 1])
    dear = scorer.predict(X[:1].assign(amount=1e300))
    assert dear["decision"].tolist() == ["fraud"]


def test_a_column_that_is_no_number_is_refused():
    X, y = frame()
    model = quiet_fit(cb.CostBoostClassifier("adamec", 3), X, y)
    with pytest.raises(ValueError, match="could not convert"):
        CostScorer(model, {"fp": 1, "fn": "town", "positive": "fraud"}).predict(X.fillna("none"))
