"""From nodes to values: all of them come back, and no node makes anything else."""

import numpy as np
import pytest

import costboost as cb
from costboost.persistence import ModelFileError
from costboost.persistence.container import FileContents
from costboost.persistence.packing import MAX_DEPTH, Packer, _Reader, texts_of, unpack
from model_files import opened, whole
from same import assert_same
from zoo import fitted


def contents_of(objects, arrays=()):
    return FileContents({"objects": objects}, tuple(arrays), "1")


def test_values_of_every_kind_come_back():
    value = {
        "plain": [None, True, 3, -(10**40), 1.5, -0.0, "t\xe9xt\udc80\0"],
        "float": (float("nan"), float("inf"), -float("inf"), 5e-324, 1.7976931348623157e308),
        "scalars": [np.float64(1.5), np.float32(0.1), np.int8(-3), np.bool_(True), np.str_("a")],
        "bytes": b"\x00\xff",
        3: np.array([None, "a", 1.5, ["x"]], dtype=object),
        (1, "b"): {},
    }
    packer = Packer()
    model = cb.CostBoostClassifier(costs=value)
    packer.pack(model, "model")
    again = unpack(opened(whole({"objects": packer.objects}, packer.arrays))).costs
    assert list(again) == list(value)
    assert repr(again) == repr(value)


@pytest.mark.parametrize(
    ("node", "says"),
    [
        ({"tuple": 3}, "not as many parts"),
        ({"dict": [["a", 1], ["a", 2]]}, "a name occurs twice"),
        ({"dict": [["a"]]}, "not as many parts"),
        ({"float": "1.5"}, "'1.5' is no float"),
        ({"bytes": 7}, "hexadecimal"),
        ({"scalar": ["<i8", 1.5]}, "no scalar has dtype '<i8'"),
        ({"scalar": ["<i8", True]}, "no scalar"),
        ({"scalar": ["O", 1]}, "no scalar"),
        ({"array": 1}, "there is no array 1"),
        ({"array": -1}, "there is no array -1"),
        ({"array": True}, "there is no array True"),
        ({"object": 0}, "there is no earlier object 0"),
        ({"cells": [[-1], []]}, "not whole"),
        ({"cells": [[1.0], [None]]}, "not whole"),
        ({"code": "import os"}, "a 'code', which this version does not know"),
        ({"float": "nan", "bytes": "00"}, "none of those that can be"),
        ({}, "none of those that can be"),
    ],
)
def test_nodes_that_nothing_wrote_are_refused(node, says):
    with pytest.raises(ModelFileError, match=says):
        _Reader((np.zeros(1),)).read(node)


def test_values_may_be_nested_as_deep_as_allowed_and_no_deeper():
    deep = 1
    for _ in range(MAX_DEPTH):
        deep = [deep]
    assert _Reader(()).read(deep) == deep
    assert _Reader(()).read([deep[0], deep[0]])  # how deep, not how many
    with pytest.raises(ModelFileError, match=f"more than {MAX_DEPTH} deep"):
        _Reader(()).read([deep])


@pytest.mark.parametrize(
    ("ends", "says"),
    [
        ([2, 1, 3], "end where"),
        ([1, 2], "end where"),
        ([1, 4], "end where"),
        ([-1, 3], "end where"),
    ],
)
def test_strings_end_where_the_next_one_begins(ends, says):
    joined = np.frombuffer(b"abc", dtype=np.uint8)
    assert texts_of(joined, np.array([1, 1, 3])).tolist() == ["a", "", "bc"]
    assert texts_of(joined[:0], np.zeros(0, dtype=np.int64)).tolist() == []
    with pytest.raises(ModelFileError, match=says):
        texts_of(joined, np.array(ends))
    with pytest.raises(ModelFileError, match=says):
        texts_of(joined.astype(np.int64), np.array([3]))


@pytest.mark.parametrize(
    ("objects", "says"),
    [
        (None, "lists no objects"),
        ([], "lists no objects"),
        ([["Forest"]], "by its kind and fields"),
        ([["Forest", []]], "by its kind and fields"),
        ([[3, {}]], "by its kind and fields"),
        ([["os.system", {}]], "holds a 'os.system', which this version does not know"),
    ],
)
def test_lists_of_objects_that_nothing_wrote_are_refused(objects, says):
    with pytest.raises(ModelFileError, match=says):
        unpack(contents_of(objects))


def test_an_object_that_occurs_twice_is_one_object_again():
    model, _ = fitted("minimum cost")
    packer = Packer()
    packer.pack(model, "model")
    again = unpack(contents_of(packer.objects, packer.arrays))
    first, *others = again.calibration_.models
    assert all(part is not first for part in others)
    assert_same(again, model, "model")
