"""Messages: functions of shards, the calls that they make, and how answers become one."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from costboost.runtime.messages import (
    Call,
    find_message,
    first,
    join,
    largest,
    message,
    ranges,
    total,
    totals,
)
from costboost.shards.rows import begin_tree, divide_node

TABLES = [np.array([[1, -5], [0, 7]]), np.array([[2, 3], [-4, 2]]), np.array([[9, 9], [1, 1]])]


@message(reduce=total)
def times(shard, *, number, plus=0):
    return number * shard + plus


@message(reduce=None, changes=True, topic="toy")
def clear(shard, *, key):
    shard.clear()


@message(
    reduce_with=lambda answers, *, number, **_: number * sum(answers),
    changes=lambda *, number: number > 1,
    lasting=lambda **arguments: arguments | {"number": 2},
)
def scaled(shard, *, number):
    return shard


def test_answers_are_added_up_and_none_of_them_is_changed():
    before, call = [table.copy() for table in TABLES], times(number=2)
    assert_array_equal(total(TABLES), [[12, 7], [-3, 10]])
    assert_array_equal(call.reduce([call.answer(table) for table in TABLES]), 2 * total(TABLES))
    for table, old in zip(TABLES, before, strict=True):
        assert_array_equal(table, old)


def test_whole_numbers_are_added_without_end():
    big = 1 << 1200
    assert total([big, 1, -big, 1]) == 2
    assert totals([(big, 1), (1, big)]) == (big + 1, big + 1)


def test_tuples_are_added_up_entry_by_entry():
    found = totals([(i, table) for i, table in enumerate(TABLES)])
    assert found[0] == 3
    assert_array_equal(found[1], total(TABLES))
    with pytest.raises(ValueError, match="zip"):
        totals([(1, 2), (1, 2, 3)])


def test_the_largest_answer_counts_entry_by_entry():
    assert_array_equal(largest(TABLES), [[9, 9], [1, 7]])
    assert largest([1e-300, 0.0, 1e300]) == 1e300


def test_ranges_and_lists_are_merged():
    assert ranges([(3.0, 1.0), (2.0, -1.0), (0.0, np.inf)]) == (3.0, -1.0)
    assert join([[1, 2], [], [3]]) == [1, 2, 3]
    assert first(["a", "a"]) == "a"


@pytest.mark.parametrize("reduce", [total, totals, largest, ranges, first, join])
def test_one_answer_is_the_answer(reduce):
    """`Shards.call` does not reduce the answers of a single shard."""
    answer = (2.0, 1.0) if reduce is ranges else [1.5, -2.0]
    assert reduce([answer]) == answer


def test_a_message_without_reduction_returns_nothing():
    call, shard = clear(key=1), [1, 2]
    assert call.answer(shard) is None
    assert shard == []
    assert call.reduce([None, None]) is None


def test_what_a_call_says_of_itself():
    plain, changing = times(number=3), clear(key=7)
    assert (plain.changes, plain.topic, plain.message.ends) == (False, None, False)
    assert plain.lasting() is plain
    assert (changing.changes, changing.topic) == (True, ("toy", 7))


def test_reduction_changes_and_replay_may_depend_on_the_arguments():
    call = scaled(number=3)
    assert call.reduce([1, 2]) == 9
    assert call.changes
    assert not scaled(number=1).changes
    assert call.lasting() == scaled(number=2)
    assert divide_node(node=1, left=2, feature=0, goes_left=None, modes=(1,)).lasting() == (
        divide_node(node=1, left=2, feature=0, goes_left=None, modes=())
    )


def test_arguments_are_given_by_name():
    with pytest.raises(TypeError, match="begin_tree takes its arguments by name"):
        begin_tree(None)


def test_calls_are_values():
    call = times(number=3, plus=1)
    assert call == times(number=3, plus=1) != times(number=2, plus=1)
    assert repr(call) == (
        f"Call(message=<message {__name__}.times>, arguments={{'number': 3, 'plus': 1}})"
    )
    with pytest.raises(AttributeError):
        call.message = clear
    for again in (pickle.loads(pickle.dumps(call)), copy.deepcopy(call)):
        assert isinstance(again, Call)
        assert again == call
        assert again.message is times


def test_pickles_name_messages_and_their_modules_are_imported():
    """In a process that has imported nothing yet; what a call holds of the message is its name."""
    content = pickle.dumps(begin_tree(sample=None))
    assert len(content) < 200
    code = f"import pickle; print(pickle.loads({content!r}).message)"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert found.stdout.strip() == "<message costboost.shards.rows.Shard.begin_tree>"


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("builtins", "eval"),
        ("costboost.shards.rows", "Shard"),  # in the package, but no message
        ("costboost.shards.rows", "begin_tree.function"),
        ("costboost.runtime.messages", "import_module"),
        ("costboost.no_such_module", "fly"),
        ("antigravity_of_nobody", "fly"),
    ],
)
def test_nothing_but_messages_is_found_by_name(module, name):
    with pytest.raises(LookupError, match="is no message of costboost"):
        find_message(module, name)
    assert "antigravity_of_nobody" not in sys.modules


def test_a_module_outside_the_package_is_not_imported(tmp_path, monkeypatch):
    (tmp_path / "costboosted.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(LookupError):
        find_message("costboosted", "fly")
