"""Digests: of the content alone, whatever holds it and in whichever process."""

import copy
import os
import pickle
import subprocess
import sys
from collections import namedtuple
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from costboost.clusters.journal import DigestedSource, digest_of
from costboost.clusters.protocol import SourceChangedError
from toy_parts import Moody, Numbers, add, note, square

Pair = namedtuple("Pair", "a b")


@dataclass(frozen=True)
class Held:
    a: object
    b: object = None


class Plain:
    def __init__(self, a):
        self.a = a


# No two of these are the same.
DIFFERENT = [
    None,
    True,
    1,
    1.0,
    "1",
    b"1",
    0.0,
    -0.0,
    np.float32(1),
    np.array([1]),
    np.array([1.0]),
    np.array([[1]]),
    np.array([1, 0]),
    np.array([1], dtype=object),
    np.array(["1"]),
    [],
    (),
    {},
    set(),
    "",
    [1, 2],
    [2, 1],
    (1, 2),
    [[1], 2],
    [[1, 2]],
    [1, [2]],
    ["ab", "c"],
    ["a", "bc"],
    {1: 2},
    {"1": 2},
    {2: 1},
    {1, 2},
    Decimal("1.0"),
    Decimal("1.00"),
    int,
    np.float64,
    np.dtype("f4"),
    len,
    Held(1),
    Held(1, 2),
    Held(2, 1),
    Plain(1),
    Plain(2),
    Pair(1, 2),
    add(number=3),
    note(key="x", number=3),
    square(),
    np.random.RandomState(0),
    np.random.RandomState(1),
    pd.Series([1, 2]),
    pd.Series([1.0, 2.0]),
    pd.Series([1, 2], name="x"),
    pd.DataFrame({"x": [1, 2]}),
    pd.DataFrame({"x": [1, 2], "y": [1, 2]}),
    pd.DataFrame({"y": [1, 2], "x": [1, 2]}),
    pd.DataFrame({"x": ["a", None]}),
    pd.DataFrame({"x": ["a", "None"]}),
    pd.DataFrame({"x": pd.Categorical(["a", "b"])}),
]


def test_other_content_has_another_digest():
    named = [(digest_of(value), value) for value in DIFFERENT]
    alike = [(one, other) for (a, one), (b, other) in combinations(named, 2) if a == b]
    assert alike == []


def test_copies_have_the_same_digest():
    for value in DIFFERENT:
        assert digest_of(copy.deepcopy(value)) == digest_of(value)
        assert digest_of(pickle.loads(pickle.dumps(value))) == digest_of(value)


def test_one_object_twice_is_two_equal_objects():
    assert digest_of([(1.5,)] * 2) == digest_of([(1.5,), (3.0 / 2.0,)])
    array = np.arange(3)
    assert digest_of([array, array]) == digest_of([array, array.copy()])


def test_arrays_are_their_values_wherever_they_lie():
    array = np.arange(24.0).reshape(4, 6)
    for same in (np.asfortranarray(array), np.arange(48.0).reshape(4, 12)[:, :6] * 1, array[::-1]):
        expected = np.array(same.tolist())
        assert digest_of(same) == digest_of(expected)
    assert digest_of(np.zeros((0, 3))) != digest_of(np.zeros((3, 0)))
    assert digest_of(np.array(5)) != digest_of(np.array([5]))
    assert digest_of(np.array([np.nan])) == digest_of(np.array([np.nan]))
    assert digest_of(np.array(["a", None, 2.5], object)) == digest_of(
        np.array(["a", None, 2.5], object)
    )


def test_tables_are_their_columns_however_they_are_stored():
    pa = pytest.importorskip("pyarrow")
    whole = pa.table({"x": [1, 2, 3], "word": ["a", None, "c"]})
    pieces = pa.concat_tables([whole.slice(0, 1), whole.slice(1)])
    assert pieces.column(0).num_chunks == 2
    assert digest_of(pieces) == digest_of(whole)
    frame = pd.DataFrame({"x": [1, 2, 3], "word": ["a", None, "c"]})
    assert digest_of(frame.iloc[[2, 0, 1]].sort_index()) == digest_of(frame)
    assert digest_of(frame.set_axis([7, 8, 9])) == digest_of(frame)  # rows go by their place
    assert digest_of(frame.iloc[[1, 0, 2]]) != digest_of(frame)


def test_missing_cells_are_content():
    frame = pd.DataFrame({"x": [1.0, np.nan], "kind": pd.Categorical(["u", None])})
    assert digest_of(frame.copy()) == digest_of(frame)
    assert digest_of(frame.assign(x=[1.0, 0.0])) != digest_of(frame)
    assert digest_of(frame.assign(kind=pd.Categorical(["u", "u"]))) != digest_of(frame)


def test_every_process_finds_the_same_digest():
    code = (
        "from costboost.clusters.journal import digest_of\n"
        "print(digest_of([{'b', 'a', 'c'}, {'x': 1.5}, frozenset('hello'), len]))"
    )
    expected = digest_of([{"c", "a", "b"}, {"x": 1.5}, frozenset("hello"), len])
    env = {**os.environ, "PYTHONHASHSEED": "12345"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert run.stdout.strip() == expected, run.stderr


def test_what_contains_itself_is_refused():
    loop = []
    loop.append(loop)
    with pytest.raises(ValueError, match="contains itself"):
        digest_of(loop)


def test_a_source_may_read_again_what_it_read_before():
    watched = DigestedSource(4, Numbers((1, 2)))
    assert watched.digest is None
    assert watched.read() == [1, 2]
    assert watched.digest == digest_of([1, 2])
    again = DigestedSource(4, Numbers((1, 2)), watched.digest)
    assert again.read() == again.read() == [1, 2]


def test_a_source_that_reads_otherwise_is_refused_by_its_part():
    watched = DigestedSource(4, Moody())
    watched.read()
    with pytest.raises(SourceChangedError, match=r"Part 4 of the table reads differently"):
        watched.read()
    with pytest.raises(SourceChangedError, match=r"Part 5"):
        DigestedSource(5, Numbers((1, 2)), digest_of([2, 1])).read()


def test_a_watched_source_has_all_that_its_source_has_and_may_travel():
    watched = DigestedSource(0, Numbers((1, 2)), "known")
    assert watched.numbers == (1, 2)
    with pytest.raises(AttributeError, match="keep"):
        watched.keep  # noqa: B018
    again = pickle.loads(pickle.dumps(watched))
    assert (again.part, again.source, again.digest) == (0, Numbers((1, 2)), "known")
