"""Models as MLflow serves them: decisions by columns of prices."""

import json

import numpy as np
import pandas as pd
import pytest

import costboost as cb
from costboost.costs import expression
from costboost.persistence.mlflow import ServedModel, _load_pyfunc, _write, log_model, save_model
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
    answer = ServedModel(model, [[0, 1, 6], ["missed", 2, 0]]).predict(scored)
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
    answer = ServedModel(model).predict(X)
    assert list(answer["decision"]) == list(model.predict(X))
    model, X = fitted("regressor huber")
    answer = ServedModel(model).predict(pd.DataFrame(X))
    assert np.array_equal(answer["prediction"], model.predict(X))


def test_what_is_written_is_what_is_loaded_and_nothing_else(tmp_path):
    model, X = fitted("auto of a frame")
    prices = {"fp": 7.5, "fn": "amount", "positive": "fraud"}
    seen = {}

    def write(data_path, **more):
        scorer = _load_pyfunc(data_path)  # the folder goes away when everything is written
        seen.update(more, scorer=scorer, answer=scorer.predict(X))

    _write(write, model, prices, {"pip_requirements": ["mine"], "signature": 3})
    assert seen["scorer"].costs == cb.Costs(**prices).bind(model.classes_)
    assert model.costs_ != seen["scorer"].costs  # the model in hand keeps its own
    assert seen["loader_module"] == "costboost.persistence.mlflow"
    assert (seen["pip_requirements"], seen["signature"]) == (["mine"], 3)
    pd.testing.assert_frame_equal(seen["answer"], ServedModel(model, prices).predict(X))


def written(model, prices):
    """Return the scorer that MLflow would load."""
    seen = []
    _write(lambda data_path, **_: seen.append(_load_pyfunc(data_path)), model, prices, {})
    return seen[0]


FRAUD = {"classes": ["fine", "fraud"]}


@pytest.mark.parametrize(
    ("given", "same"),
    [
        (
            {"fp": np.int64(7), "fn": np.float32(0.5), "positive": np.str_("fraud")},
            lambda X: cb.Costs(fp=7, fn=0.5, positive="fraud"),
        ),
        (
            [[np.int64(0), 1], ["amount", np.float32(2)]],
            lambda X: cb.Costs(fp=1, fn=X["amount"], tp=2, positive="fraud"),
        ),
        (np.array([[0, 1], [5, 0]]), lambda X: cb.Costs(fp=1, fn=5, positive="fraud")),
        (
            {"fp": 1, "fn": "0.75 * amount + 2", "positive": "fraud"},
            lambda X: cb.Costs(fp=1, fn=0.75 * X["amount"] + 2, positive="fraud"),
        ),
        (
            {"fp": 1, "fn": expression("max(amount, 3)"), "positive": "fraud"},
            lambda X: cb.Costs(fp=1, fn=np.maximum(X["amount"], 3), positive="fraud"),
        ),
        (
            [[0, "check / 2"], [expression("amount"), 2]],
            lambda X: cb.Costs(fp=X["check"] / 2, fn=X["amount"], tp=2, positive="fraud"),
        ),
        (
            cb.Costs(fp=1, fn="amount", positive="fraud") * 3,
            lambda X: cb.Costs(fp=3, fn=3 * X["amount"], positive="fraud"),
        ),
        (cb.Costs.of_rows("amount"), lambda X: cb.Costs.of_rows(X["amount"])),
        (
            cb.Costs.of_actions({"go": {"fine": 0, "fraud": "amount"}, "stop": 5, "look": "check"}),
            lambda X: cb.Costs.from_matrix(
                [[np.zeros(len(X)), 5, X["check"]], [X["amount"], 5, X["check"]]],
                actions=["go", "stop", "look"],
                **FRAUD,
            ),
        ),
    ],
)
def test_prices_of_every_form_are_kept(given, same):
    model, X = fitted("auto of a frame")
    table = X.assign(check=np.linspace(1, 30, len(X)))
    costs = same(table)
    for scorer in (ServedModel(model, given), written(model, given)):
        answer = scorer.predict(table)
        assert list(answer["decision"]) == list(model.predict(X, costs=costs))
        expected = np.asarray(model.expected_cost(X, costs=costs)).min(axis=1)
        assert answer["expected_cost"].to_numpy().tobytes() == expected.tobytes()


def test_prices_of_the_model_itself_stay_its_own():
    model, X = fitted("auto of a frame")
    assert written(model, None).costs is None
    assert "expected_cost" not in written(model, None).predict(X)
    model, X = fitted("costs by column")
    assert written(model, model.costs_).costs == model.costs_


@pytest.mark.parametrize("kept", [{"fp": 7, "fn": "amount", "positive": "fraud"},
                                  [[0, 7], ["amount", 0]], None])  # fmt: skip
def test_prices_that_older_versions_wrote_are_read(kept, tmp_path):
    model, X = fitted("auto of a frame")
    cb.save(model, tmp_path / "model.costboost")
    (tmp_path / "prices.json").write_text(json.dumps(kept))
    scorer = _load_pyfunc(tmp_path)
    pd.testing.assert_frame_equal(scorer.predict(X), ServedModel(model, kept).predict(X))


def test_a_column_of_the_model_is_no_expression():
    X, y = frame()
    X = X.rename(columns={"amount": "amount - fee"}).assign(amount=9.0, fee=1.0)
    model = quiet_fit(cb.CostBoostClassifier("adamec", 3), X, y)
    prices = {"fp": 1, "fn": "amount - fee", "positive": "fraud"}
    costs = cb.Costs(fp=1, fn="amount - fee", positive="fraud")
    assert ServedModel(model, prices).costs == costs.bind(model.classes_)


@pytest.mark.parametrize(
    ("name", "prices", "problem"),
    [
        ("auto of a frame", cb.Costs(fp=1, fn=[2, 3], positive="fraud"), "are those of 2 rows"),
        ("auto of a frame", {"fp": 1, "fn": lambda X: X["amount"], "positive": "fraud"},
         "function"),
        ("regressor huber", {"fp": 1, "fn": 2}, "does not decide by prices"),
        ("rareboost", {"fp": 1, "fn": 2}, "calibration="),
    ],
)  # fmt: skip
def test_prices_that_cannot_be_kept_are_refused_when_they_are_given(name, prices, problem):
    with pytest.raises(ValueError, match=problem):
        written(fitted(name)[0], prices)


def test_one_row_of_one_price():
    model, X = fitted("auto of a frame")
    scorer = ServedModel(model, {"fp": 1, "fn": "amount", "positive": "fraud"})
    every = scorer.predict(X)
    for i in (0, 7):
        pd.testing.assert_frame_equal(scorer.predict(X[i : i + 1]), every[i : i + 1])
    dear = scorer.predict(X[:1].assign(amount=1e300))
    assert dear["decision"].tolist() == ["fraud"]


def test_a_column_that_is_no_number_is_refused():
    X, y = frame()
    model = quiet_fit(cb.CostBoostClassifier("adamec", 3), X, y)
    with pytest.raises(ValueError, match="must be numbers"):
        ServedModel(model, {"fp": 1, "fn": "town", "positive": "fraud"}).predict(X.fillna("none"))
