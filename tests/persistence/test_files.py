"""Every model comes back from its file as it was, and what cannot be kept is refused by name."""

import os
import subprocess
import sys

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import costboost as cb
from costboost.persistence import ModelFileError
from same import assert_same, said
from zoo import MAKERS, fitted, table


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", MAKERS)
def test_models_come_back_as_they_were(name, tmp_path):
    model, X = fitted(name)
    path = tmp_path / "model.costboost"
    cb.save(model, path)
    for mmap in (False, True):
        again = cb.load(path, mmap=mmap)
        assert_same(again, model, name)
        assert_same(said(again, X), said(model, X), name)
        assert_same(said(again, X[:1]), said(model, X[:1]), name)
    assert path.stat().st_mode & 0o777 == 0o666 & ~current_umask()


def test_every_public_estimator_can_be_kept():
    """A new one needs its kind in `persistence/kinds.py`, and a model in the zoo."""
    public = [getattr(cb, name) for name in cb.__all__]
    estimators = {kind for kind in public if isinstance(kind, type) and hasattr(kind, "fit")}
    assert len(estimators) >= 9
    kept = {type(fitted(name)[0]) for name in MAKERS}
    assert not {kind.__name__ for kind in estimators - kept}


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["auto", "auto of a frame", "gradient log", "p-norm lp-csb"])
def test_files_are_smaller_than_joblibs(name, tmp_path):
    model, _ = fitted(name)
    cb.save(model, tmp_path / "ours")
    joblib.dump(model, tmp_path / "theirs")
    assert (tmp_path / "ours").stat().st_size < (tmp_path / "theirs").stat().st_size


@pytest.mark.parametrize("mmap", [False, True])
def test_arrays_are_views_of_the_file(mmap, tmp_path):
    model, _ = fitted("auto")
    cb.save(model, tmp_path / "model")
    again = cb.load(tmp_path / "model", mmap=mmap)
    forests = [ensemble.forest for ensemble in again._model.members]
    first = forests[0].words
    while isinstance(first.base, np.ndarray):
        first = first.base
    for forest in forests:
        for name in ("words", "values", "roots", "depths"):
            assert np.shares_memory(getattr(forest, name), first)
            assert not getattr(forest, name).flags.writeable


def test_a_loaded_model_can_be_kept_again_and_is_the_same_file(tmp_path):
    model, _ = fitted("auto of a frame")
    cb.save(model, tmp_path / "one")
    cb.save(cb.load(tmp_path / "one", mmap=True), tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_unfitted_models_keep_their_parameters(tmp_path):
    model = cb.CostBoostClassifier("csb1", 7, categorical_features=["a", "b"], max_features=0.5)
    cb.save(model, tmp_path / "model")
    assert_same(cb.load(tmp_path / "model"), model, "model")


def test_a_warm_start_of_a_loaded_model_ends_at_the_same_model(tmp_path):
    X, y = table()
    model = cb.CostBoostClassifier("adaboost", 4, warm_start=True, random_state=0).fit(X, y)
    cb.save(model, tmp_path / "model")
    again = cb.load(tmp_path / "model")
    for part in (model, again):
        part.set_params(n_estimators=9).fit(X, y)
    assert_same(again.predict_proba(X), model.predict_proba(X), "warm start")


def test_loading_runs_in_a_process_that_knows_no_pickle(tmp_path):
    model, _ = fitted("auto")
    cb.save(model, tmp_path / "model")
    code = (
        "import sys, pickle, numpy as np\n"
        "def refuse(*args, **kw): raise AssertionError('pickle')\n"
        "import costboost\n"
        "costboost.load\n"  # imported when first used, and imports run code
        "pickle.load = pickle.loads = pickle.Unpickler = refuse\n"
        "import builtins; builtins.eval = builtins.exec = refuse\n"
        "model = costboost.load(sys.argv[1])\n"
        "print(model.predict_proba(np.zeros((1, 4)))[0, 1].hex())\n"
    )
    run = [sys.executable, "-W", "ignore", "-c", code, str(tmp_path / "model")]
    out = subprocess.run(run, capture_output=True, text=True, check=True)
    assert float.fromhex(out.stdout) == model.predict_proba(np.zeros((1, 4)))[0, 1]


def refused():
    boost = cb.CostBoostClassifier
    yield "LogisticRegression", LogisticRegression()
    yield "GaussianNB", boost("adaboost", estimator=GaussianNB())
    yield "beta is the function", boost("adacost", beta=lambda sign, c: 0.5 - sign * c / 2)
    yield "estimator is a sklearn", cb.MinimumCostClassifier(LogisticRegression())
    yield "costs", boost(costs=lambda: 0)
    yield "holds 'note'", vars_set(boost(), note="mine")
    yield "dtype complex128", boost(costs=np.array([[0j, 1], [1, 0]]))


def vars_set(model, **attributes):
    vars(model).update(attributes)
    return model


@pytest.mark.parametrize(("words", "model"), list(refused()))
def test_what_cannot_be_kept_is_refused_by_name(words, model, tmp_path):
    with pytest.raises(ModelFileError, match=words) as caught:
        cb.save(model, tmp_path / "model")
    assert "skops" in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_files_larger_than_the_limit_are_not_read(tmp_path):
    model, _ = fitted("auto")
    cb.save(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match="limit=1,000 allows fewer"):
        cb.load(tmp_path / "model", limit=1000)
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(1 << 40)  # sparse: nothing is stored, a terabyte is announced
    with pytest.raises(ModelFileError, match="limit"):
        cb.load(tmp_path / "huge")


def test_what_is_no_file_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ModelFileError, match="regular file"):
            cb.load(path)
    with pytest.raises(FileNotFoundError):
        cb.load(tmp_path / "nothing")
