"""What goes over the wire: orders for some parts, and answers that are put together on the way."""

import pickle

import numpy as np
import pytest

from costboost.clusters.protocol import (
    Build,
    Request,
    by_part,
    for_parts,
    message_of,
    order_for,
    put_together,
)
from toy_parts import Numbers, Part, add, fetch_rows, square, sum_numbers


def test_some_parts_are_told_their_own_of_a_list():
    listed = [add(number=number) for number in range(5)]
    assert for_parts(listed, [3, 1]) == {3: add(number=3), 1: add(number=1)}
    assert for_parts(add(number=7), [3, 1]) == add(number=7)
    assert order_for(listed, 3) == order_for(for_parts(listed, [3, 1]), 3) == add(number=3)
    assert order_for(add(number=7), 3) == add(number=7)


def test_an_order_by_part_is_known_by_any_of_its_messages():
    assert message_of({3: fetch_rows()}) == fetch_rows()
    assert message_of(sum_numbers()) == sum_numbers()
    assert by_part({3: fetch_rows(), 4: fetch_rows()})
    assert by_part(fetch_rows())
    assert not by_part({3: sum_numbers()})


@pytest.mark.parametrize("seed", range(10))
def test_however_groups_are_put_together_the_answers_are_those_of_all(seed):
    rng = np.random.default_rng(seed)
    orders = [square(), fetch_rows(), {part: add(number=part) for part in range(9)}, sum_numbers()]
    parts = {number: Part(Numbers((number, 3))) for number in range(9)}
    each = {}
    for number, part in parts.items():
        each[number] = [order_for(order, number).answer(part) for order in orders]
    replies = [({number: own[1]}, own) for number, own in each.items()]
    replies = [[own[0], rows, own[2], own[3]] for rows, own in replies]
    rng.shuffle(replies)
    while len(replies) > 1:  # in any order, some at a time, as in a tree
        taken = int(rng.integers(2, 5))
        replies = [*replies[taken:], put_together(orders, replies[:taken])]
    squares, rows, nothing, total = replies[0]
    assert squares == sum(own[0] for own in each.values())
    assert {number: list(own) for number, own in rows.items()} == {
        number: list(own[1]) for number, own in each.items()
    }
    assert nothing is None
    assert total == sum(own[3] for own in each.values())


def test_a_request_survives_the_journey():
    build = Build({1: Numbers((1, 2))}, {1: "digest"})
    request = Request(
        "fit", 3, 7, (sum_numbers(), {1: add(number=1)}), build, {1: [add(number=4)]}, (0, 2)
    )
    assert pickle.loads(pickle.dumps(request)) == request
    assert Request("fit", 3, 7, (sum_numbers(),)).journal == {}
