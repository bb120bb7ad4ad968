"""The kinds of object that a file may hold: whole, and with their own types alone."""

import dataclasses

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold

import costboost as cb
from costboost import TimeSplit
from costboost.binning.binner import fit_binner
from costboost.fitting.held_out import HISTORY
from costboost.persistence import ModelFileError
from costboost.persistence.kinds import KINDS, data_kind, name_of
from costboost.persistence.packing import Packer
from model_files import whole
from same import assert_same
from zoo import fitted, frame


def without_each_field(name):
    """Yield files of a model from which one part of what `fit` set is left out."""
    packer = Packer()
    packer.pack(fitted(name)[0], name)
    kind, fields = packer.objects[-1]
    for field in sorted(set(fields) - set(type(fitted(name)[0])._get_param_names())):
        left = {key: value for key, value in fields.items() if key != field}
        objects = [*packer.objects[:-1], [kind, left]]
        yield field, whole({"objects": objects}, packer.arrays)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "name", ["auto", "gradient log", "regressor huber", "p-norm gbse", "costing"]
)
def test_a_model_without_one_of_its_parts_is_refused(name, tmp_path):
    model, X = fitted(name)
    for field, data in without_each_field(name):
        (tmp_path / "model").write_bytes(data)
        if field in HISTORY and field != "estimators_":  # a model answers without its history
            assert np.array_equal(cb.load(tmp_path / "model").predict(X), model.predict(X))
            continue
        with pytest.raises(ModelFileError, match=f"lacks {field}"):
            cb.load(tmp_path / "model")


def again(value, **changes):
    kind = KINDS[name_of(type(value))]
    return kind.make({**kind.fields_of(value), **changes})


def test_a_binner_comes_back_column_by_column():
    X, _ = frame()
    binner = fit_binner(X, categorical_features="from_dtype")
    made = again(binner)
    assert made.categories == binner.categories
    assert made.feature_names == binner.feature_names
    np.testing.assert_array_equal(made.encode(X), binner.encode(X))
    plain = fit_binner(np.arange(6.0).reshape(3, 2))
    assert_same(again(plain), plain, "binner")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"edge_ends": np.array([1])}, "do not end where they should"),
        ({"edge_ends": np.array([3, 2, 6, 6])}, "do not end where they should"),
        ({"is_categorical": np.array([True])}, "different numbers of columns"),
        ({"is_categorical": np.zeros(4, dtype=bool)}, "a column of numbers has categories"),
        ({"max_bins": 255.0}, "'max_bins' of a Binner cannot be a float"),
        ({"edges": np.zeros(3, dtype=np.float32)}, "cannot be an array of float32"),
        ({"more": 1}, "'more' of a Binner is unknown to this version"),
    ],
)
def test_a_binner_whose_parts_do_not_fit_is_refused(changes, says):
    X, _ = frame()
    with pytest.raises((ModelFileError, ValueError), match=says):
        again(fit_binner(X, categorical_features="from_dtype"), **changes)


def test_draws_go_on_where_they_were():
    state = np.random.RandomState(5)
    state.normal(size=3)  # one of a pair is left
    made = again(state)
    assert made.normal(size=4).tolist() == state.normal(size=4).tolist()
    for changes in ({"pos": 625}, {"pos": -1}, {"key": np.zeros(3, dtype=np.uint32)}):
        with pytest.raises(ModelFileError, match="in no state"):
            again(state, **changes)


@pytest.mark.parametrize(
    "splitter",
    [
        KFold(3),
        StratifiedKFold(4, shuffle=True, random_state=2),
        TimeSplit(2, time="day", gap="7D"),
    ],
)
def test_splitters_come_back_by_their_arguments(splitter):
    assert vars(again(splitter)) == vars(splitter)
    with pytest.raises(ModelFileError, match="unknown"):
        again(splitter, test_size=0.5)


def test_dataclasses_need_what_has_no_default():
    @dataclasses.dataclass(frozen=True)
    class Pair:
        one: int
        two: float = 2.0
        three: tuple = dataclasses.field(default_factory=tuple)
        four: int = dataclasses.field(default=0, init=False)

    seen = []
    kind = data_kind(Pair, seen.append)
    assert kind.fields_of(Pair(1, 3.0)) == {"one": 1, "two": 3.0, "three": ()}
    assert kind.make({"one": 5}) == Pair(5)
    assert seen == [Pair(5)]
    for fields, says in (
        ({}, "a Pair lacks one"),
        ({"one": 1.0}, "'one' of a Pair cannot be a float"),
        ({"one": 1, "four": 2}, "'four' of a Pair is unknown"),
    ):
        with pytest.raises(ModelFileError, match=says):
            kind.make(fields)


def test_an_estimator_is_its_parameters_and_what_fit_sets():
    unfitted = cb.CostBoostClassifier("csb1", 7)
    assert_same(again(unfitted), unfitted, "model")
    with pytest.raises(ModelFileError, match=r"lacks .*classes_"):
        again(unfitted, n_iter_=3)
    with pytest.raises(
        ModelFileError, match="'estimator' of a CostBoostClassifier cannot be a dict"
    ):
        again(unfitted, estimator={})
    with pytest.raises(ModelFileError, match="cannot be a NoneType"):
        again(cb.MinimumCostClassifier(unfitted), estimator=None)
    noted = cb.CostBoostClassifier()
    noted.note = "mine"
    with pytest.raises(ModelFileError, match="holds 'note'"):
        KINDS["CostBoostClassifier"].fields_of(noted)
