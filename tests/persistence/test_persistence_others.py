"""Other people's files: pickle, joblib, skops and MLflow give back every estimator."""

import copy
import io
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest

import costboost as cb
from same import assert_same, said
from zoo import MAKERS, fitted, frame, quiet_fit, table

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def by_pickle(model, folder):
    return pickle.loads(pickle.dumps(model))


def by_joblib(model, folder):
    joblib.dump(model, folder / "model", compress=1)
    return joblib.load(folder / "model")


def by_mapped_joblib(model, folder):
    joblib.dump(model, folder / "model")
    return joblib.load(folder / "model", mmap_mode="r")


def by_skops(model, folder):
    skops = pytest.importorskip("skops.io")
    extra = [
        "sklearn.frozen._frozen.FrozenEstimator",
        "sklearn.model_selection._split.StratifiedKFold",
    ]
    return skops.loads(skops.dumps(model), trusted=[*cb.TRUSTED_TYPES, *extra])


@pytest.mark.parametrize("way", [by_pickle, by_joblib, by_mapped_joblib, by_skops])
@pytest.mark.parametrize("name", MAKERS)
def test_every_model_comes_back(name, way, tmp_path):
    model, X = fitted(name)
    again = way(model, tmp_path)
    assert_same(said(again, X), said(model, X), name)
    assert "_costboost_version" not in vars(again)


def newer_pickle(model):
    data = pickle.dumps(copy.deepcopy(model))
    old, new = cb.__version__.encode(), b"9" + cb.__version__.encode()[1:]
    assert data.count(old) == 1
    return data.replace(old, new), new.decode()


@pytest.mark.filterwarnings("default::UserWarning")
@pytest.mark.parametrize("read", [pickle.loads, lambda data: joblib.load(io.BytesIO(data))])
def test_a_newer_pickle_names_both_versions(read):
    data, version = newer_pickle(cb.GradientBoostRegressor())
    with pytest.warns(UserWarning, match="may be misread") as caught:
        read(data)
    assert version in str(caught[0].message)
    assert f"this is costboost {cb.__version__}" in str(caught[0].message)


@pytest.fixture
def mlflow(tmp_path, monkeypatch):
    """MLflow, writing to a folder of the test's own and to nobody else."""
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("DO_NOT_TRACK", "true")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    module = pytest.importorskip("mlflow")
    pytest.importorskip("mlflow.sklearn")
    module.set_tracking_uri((tmp_path / "runs").as_uri())
    return module


NO_ENVIRONMENT = {"pip_requirements": []}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", ["auto of a frame", "gradient log of 3", "regressor huber", "p-norm gbse", "costing"]
)
def test_mlflow_reads_what_it_writes_by_default(name, mlflow, tmp_path):
    pytest.importorskip("skops")
    model, X = fitted(name)
    trusted = {"skops_trusted_types": cb.TRUSTED_TYPES}
    mlflow.sklearn.save_model(model, tmp_path / "model", **trusted, **NO_ENVIRONMENT)
    again = mlflow.sklearn.load_model(str(tmp_path / "model"))
    assert_same(said(again, X), said(model, X), name)
    assert not list((tmp_path / "model").rglob("*.pkl"))


@pytest.mark.filterwarnings("ignore")
def test_mlflow_logs_models(mlflow):
    pytest.importorskip("skops")
    model, X = fitted("auto")
    with mlflow.start_run():
        trusted = {"skops_trusted_types": cb.TRUSTED_TYPES}
        info = mlflow.sklearn.log_model(model, name="fraud", **trusted, **NO_ENVIRONMENT)
    again = mlflow.sklearn.load_model(info.model_uri)
    assert_same(said(again, X), said(model, X), "logged")


@pytest.mark.filterwarnings("ignore")
def test_a_pyfunc_decides_by_columns_of_prices(mlflow, tmp_path):
    from costboost.persistence.mlflow import log_model, save_model

    model, X = fitted("auto of a frame")
    prices = {"fp": "check", "fn": "amount", "positive": "fraud"}
    save_model(model, tmp_path / "model", prices=prices, **NO_ENVIRONMENT)
    assert not list((tmp_path / "model").rglob("*.pkl"))
    scored = X.assign(check=np.linspace(1, 30, len(X)), unused="x").set_axis(range(5, 5 + len(X)))
    with mlflow.start_run():
        info = log_model(model, "fraud", prices=prices, **NO_ENVIRONMENT)
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
    from costboost.persistence.mlflow import CostScorer

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
    from costboost.persistence.mlflow import CostScorer

    X, labels = frame()
    model = quiet_fit(
        cb.CostBoostClassifier("csb2", 5), X, labels, costs=cb.Costs(fp=1, fn=3, positive="fraud")
    )
    answer = CostScorer(model).predict(X)
    assert list(answer["decision"]) == list(model.predict(X))
    model, X = fitted("regressor huber")
    answer = CostScorer(model).predict(pd.DataFrame(X))
    assert np.array_equal(answer["prediction"], model.predict(X))
