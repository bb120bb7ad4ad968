"""Messages: how answers of shards become one."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from costboost.runtime.messages import (
    Command,
    MaxMessage,
    Message,
    TupleSumMessage,
    largest,
    total,
    totals,
)

TABLES = [np.array([[1, -5], [0, 7]]), np.array([[2, 3], [-4, 2]]), np.array([[9, 9], [1, 1]])]


@dataclass(frozen=True)
class Own(Message):
    number: int

    def answer(self, shard):
        return self.number * shard


def test_answers_are_added_up_and_none_of_them_is_changed():
    before = [table.copy() for table in TABLES]
    assert_array_equal(total(TABLES), [[12, 7], [-3, 10]])
    assert_array_equal(Own(2).reduce([Own(2).answer(table) for table in TABLES]), 2 * total(TABLES))
    for table, old in zip(TABLES, before, strict=True):
        assert_array_equal(table, old)


def test_whole_numbers_are_added_without_end():
    big = 1 << 1200
    assert total([big, 1, -big, 1]) == 2
    assert totals([(big, 1), (1, big)]) == (big + 1, big + 1)


def test_parts_are_added_up_one_by_one():
    found = TupleSumMessage().reduce([(i, table) for i, table in enumerate(TABLES)])
    assert found[0] == 3
    assert_array_equal(found[1], total(TABLES))
    with pytest.raises(ValueError, match="zip"):
        totals([(1, 2), (1, 2, 3)])


def test_the_largest_answer_counts_entry_by_entry():
    assert_array_equal(MaxMessage().reduce(TABLES), [[9, 9], [1, 7]])
    assert largest([1e-300, 0.0, 1e300]) == 1e300


@pytest.mark.parametrize("kind", [Message, MaxMessage, TupleSumMessage])
def test_one_answer_is_the_answer(kind):
    assert kind().reduce([TABLES]) is TABLES


def test_commands_change_rows_and_answer_nothing():
    assert Command.changes
    assert not Message.changes
    assert Command().reduce([None, None]) is None


def test_a_message_without_an_answer_says_its_name():
    class Mute(Message):
        pass

    with pytest.raises(TypeError, match="Mute has no answer"):
        Mute().answer(None)


def test_a_message_stays_as_it_is_for_new_workers():
    message = Own(3)
    assert message.lasting() is message
    assert message.topic is None
    assert not message.ends
