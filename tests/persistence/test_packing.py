"""From values to nodes: without code, and what occurs twice once."""

import json

import numpy as np
import pytest

import costboost as cb
from costboost.persistence import ModelFileError
from costboost.persistence.packing import Packer


def test_nodes_are_those_of_the_documentation():
    packer = Packer()
    value = {
        "a": [None, True, 3, 1.5, "x"], "b": (1,), "c": float("-inf"), "d": b"\x00\xff",
        "e": np.int16(-2), "f": np.arange(2), "g": np.array(["ab", "", "c"], dtype=object),
        "h": np.array([[1, None]], dtype=object),
    }  # fmt: skip
    node = packer.pack(value, "v")
    assert node == {
        "dict": [
            ["a", [None, True, 3, 1.5, "x"]],
            ["b", {"tuple": [1]}],
            ["c", {"float": "-inf"}],
            ["d", {"bytes": "00ff"}],
            ["e", {"scalar": ["<i2", -2]}],
            ["f", {"array": 0}],
            ["g", {"texts": [1, 2]}],
            ["h", {"cells": [[1, 2], [1, None]]}],
        ]
    }
    assert json.loads(json.dumps(node, allow_nan=False)) == node
    assert bytes(packer.arrays[1]) == b"abc"
    assert packer.arrays[2].tolist() == [2, 2, 3]


def test_equal_arrays_are_kept_once_and_others_apart():
    packer = Packer()
    x = np.arange(4.0)
    numbers = [
        packer.add(array, "x")
        for array in (x, x.copy(), x[::-1][::-1], x.astype(">f8"), np.asfortranarray(x))
    ]
    assert numbers == [0] * 5
    others = [x.reshape(2, 2), x.astype(np.float32), -x, x.view(np.int64), np.array(0.0)]
    assert [packer.add(array, "x") for array in others] == [1, 2, 3, 4, 5]
    assert packer.arrays[0].dtype.str == "<f8"
    assert packer.arrays[5].shape == ()


def test_what_is_not_contiguous_is_kept_as_it_reads():
    packer = Packer()
    table = np.arange(12).reshape(3, 4)
    packer.add(table.T, "x")
    packer.add(table[:, ::2], "x")
    assert packer.arrays[0].tolist() == table.T.tolist()
    assert packer.arrays[1].tolist() == table[:, ::2].tolist()
    assert all(array.flags.c_contiguous for array in packer.arrays)


def test_an_object_is_kept_once_however_often_it_occurs():
    packer = Packer()
    costs = cb.Costs(fp=1, fn=2)
    node = packer.pack([costs, costs, cb.Costs(fp=1, fn=2)], "costs")
    assert [part["object"] for part in node] == [0, 0, 1]  # equal is not the same
    assert len(packer.objects) == 2


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"a": [1, {2}]}, r"v\['a'\]\[1\] is a builtins.set"),
        ([len], r"v\[0\] is the function len"),
        (np.array([1j]), "v is an array of dtype complex128 in 1 dimensions"),
        (np.complex64(1), "v is a complex64"),
        (np.timedelta64(3, "s"), "v is a timedelta64"),
        (np.ma.masked_array([1, 2]), "v is a numpy.ma.*MaskedArray"),
        ({(1, len): 2}, r"a name in v\[1\] is the function len"),
        (np.array([object()], dtype=object), "a cell of v is a builtins.object"),
        (type("Money", (float,), {})(1.5), "v is a .*Money"),
        (cb.CostBoostClassifier(beta=len), "v.beta is the function len"),
    ],
)
def test_what_would_need_code_is_refused_by_its_place(value, says):
    with pytest.raises(ModelFileError, match=says) as caught:
        Packer().pack(value, "v")
    assert "skops" in str(caught.value)
