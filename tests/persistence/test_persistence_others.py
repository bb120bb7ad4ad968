"""Other people's files: pickle, joblib, skops and MLflow give back every estimator."""

import copy
import io
import pickle

import joblib
import pytest

import costboost as cb
from same import assert_same, said
from zoo import MAKERS, fitted

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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", ["auto of a frame", "gradient log of 3", "regressor huber", "p-norm gbse", "costing"]
)
def test_mlflow_reads_what_it_writes_by_default(name, mlflow, tmp_path):
    pytest.importorskip("skops")
    model, X = fitted(name)
    trusted = {"skops_trusted_types": cb.TRUSTED_TYPES}
    mlflow.sklearn.save_model(model, tmp_path / "model", **trusted, pip_requirements=[])
    again = mlflow.sklearn.load_model(str(tmp_path / "model"))
    assert_same(said(again, X), said(model, X), name)
    assert not list((tmp_path / "model").rglob("*.pkl"))


@pytest.mark.filterwarnings("ignore")
def test_mlflow_logs_models(mlflow):
    pytest.importorskip("skops")
    model, X = fitted("auto")
    with mlflow.start_run():
        trusted = {"skops_trusted_types": cb.TRUSTED_TYPES}
        info = mlflow.sklearn.log_model(model, name="fraud", **trusted, pip_requirements=[])
    again = mlflow.sklearn.load_model(info.model_uri)
    assert_same(said(again, X), said(model, X), "logged")
