"""What a small file may ask for: no more memory and no more predictions than it has parts."""

import json

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator

import costboost as cb
from costboost.persistence import ModelFileError
from costboost.persistence.packing import MAX_NESTED, check_amount
from fuzzing import original, parts_of, put_together
from zoo import MAKERS, fitted, quiet_fit, table

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def changed(name, change, path):
    """Write a model's file whose header was changed; its digest is right."""
    data, _ = original(name)
    header, rest = parts_of(data)
    change(header["objects"])
    path.write_bytes(put_together(data, header, rest))
    return path


def wrap(objects, depth, times):
    """Put the model into wrappers that each ask the one before so many times."""
    for _ in range(depth):
        before = {"object": len(objects) - 1}
        fields = {**objects[-1][1], "estimator": before, "estimators_": [before] * times}
        objects.append([objects[-1][0], fields])


@pytest.mark.parametrize("name", MAKERS)
def test_what_models_share_stays_far_below_the_bounds(name, tmp_path):
    cb.save(fitted(name)[0], tmp_path / "model")
    header, _ = parts_of((tmp_path / "model").read_bytes())
    arrays = [np.empty(shape, dtype) for dtype, shape in header["arrays"]]
    check_amount(header["objects"], arrays)


def test_frozen_models_inside_frozen_models_come_back(tmp_path):
    X, y = table()
    model = quiet_fit(cb.CostBoostClassifier("adaboost", 2), X, y)
    for _ in range(3):  # each stands in `estimator` and among the models that are asked
        model = quiet_fit(cb.MinimumCostClassifier(FrozenEstimator(model)), X, y)
    cb.save(model, tmp_path / "model")
    again = cb.load(tmp_path / "model")
    assert again.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()


def test_models_that_ask_each_other_again_and_again(tmp_path):
    """Ten answers of ten of ten: six levels in few bytes, a million predictions."""
    path = changed("costing constants", lambda objects: wrap(objects, 6, 10), tmp_path / "model")
    assert path.stat().st_size < 50_000
    with pytest.raises(ModelFileError, match="models are referred to too often"):
        cb.load(path)
    model = cb.load(changed("costing constants", lambda o: wrap(o, 3, 3), tmp_path / "model"))
    assert model.predict_proba(fitted("costing constants")[1]).shape[1] == 2


def test_models_nested_deeper_than_python_can_call(tmp_path):
    for depth, works in ((MAX_NESTED - 3, True), (MAX_NESTED, False), (400, False)):
        path = changed("costing constants", lambda o, d=depth: wrap(o, d, 1), tmp_path / "model")
        if works:
            cb.load(path).predict(fitted("costing constants")[1])
            continue
        with pytest.raises(ModelFileError, match=f"more than {MAX_NESTED} deep"):
            cb.load(path)


@pytest.mark.parametrize(
    ("kind", "name"), [("Forest", "stumps"), ("Member", "calibrated by isotonic")]
)
def test_trees_belong_to_one_model(kind, name, tmp_path):
    def change(objects):
        number = next(i for i, entry in enumerate(objects) if entry[0] == kind)
        text = json.dumps({"object": number})
        holder = next(entry for entry in objects if text in json.dumps(entry))
        last = objects.pop()
        objects.extend([holder] * 3)
        objects.append(last)

    with pytest.raises(ModelFileError, match=f"a {kind} is part of several objects"):
        cb.load(changed(name, change, tmp_path / "model"))


@pytest.mark.parametrize(
    ("kind", "field", "times"),
    [("Isotonic", {"array": 0}, 5), ("Binner", {"array": 0}, 1), ("Binner", {"texts": [0, 1]}, 1)],
)
def test_arrays_that_are_referred_to_again_and_again(kind, field, times):
    arrays = [np.zeros(1 << 23), np.zeros(1)]  # 64 MB, and the file has them once
    listed = [[kind, {"part": [field] * times}]]
    check_amount(listed, arrays)
    with pytest.raises(ModelFileError, match="arrays are referred to too often"):
        check_amount(listed * 3, arrays)


def test_texts_are_made_once(tmp_path):
    def change(objects):
        texts = next(entry[1]["feature_names"] for entry in objects if "feature_names" in entry[1])
        objects[-1][1]["random_state"] = [texts] * 1000

    made = cb.load(changed("auto of a frame", change, tmp_path / "model")).random_state
    assert len(made) == 1000
    assert all(part is made[0] for part in made)
    assert not made[0].flags.writeable


def test_what_is_saved_can_be_loaded(tmp_path):
    X, y = table()
    inner = quiet_fit(cb.CostBoostClassifier("adaboost", 2), X, y)
    model = cb.MinimumCostClassifier(inner)
    for _ in range(MAX_NESTED):
        model = cb.MinimumCostClassifier(model)
    with pytest.raises(ModelFileError, match="nested more than"):
        cb.save(model, tmp_path / "model")
    assert not (tmp_path / "model").exists()
