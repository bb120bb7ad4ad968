"""A part that is built again is told what brings it to where the others are, and no more."""

import numpy as np
import pytest

from costboost.clusters.journal import Journal
from costboost.runtime.messages import message
from toy_parts import Numbers, Part, add, end, fetch_rows, note, square, sum_numbers

N_PARTS = 3


def parts():
    return [Part(Numbers((number, number + 5, 40))) for number in range(N_PARTS)]


def tell(held, orders):
    for order in orders:
        for number, part in enumerate(held):
            (order[number] if isinstance(order, list) else order).answer(part)


def state(part):
    return part.numbers.tolist(), part.notes


def draw(rng):
    """Return a call: some orders, for all parts or by part."""
    kinds = [
        sum_numbers(),
        fetch_rows(),
        add(number=int(rng.integers(9))),
        square(),
        [add(number=int(rng.integers(9))) for _ in range(N_PARTS)],
        note(key=str(rng.choice(["x", "y"])), number=int(rng.integers(9))),
        [note(key="x", number=int(rng.integers(9))) for _ in range(N_PARTS)],
        end(key=str(rng.choice(["x", "y"]))),
    ]
    return [kinds[k] for k in rng.integers(len(kinds), size=rng.integers(1, 4))]


@pytest.mark.parametrize("seed", range(30))
def test_a_new_part_becomes_what_the_others_are(seed):
    rng = np.random.default_rng(seed)
    journal, held = Journal(), parts()
    for number in range(8):
        orders = draw(rng)
        tell(held, orders)
        journal.add(orders)
        assert journal.calls == number + 1
        new = parts()
        for part, order_for in journal.since(0, range(N_PARTS)).items():
            for call in order_for:
                call.answer(new[part])
        assert [state(part) for part in new] == [state(part) for part in held]


def test_who_knows_some_calls_is_told_the_others():
    journal = Journal()
    for orders in (
        [add(number=1)],
        [sum_numbers()],
        [add(number=2), [add(number=10), add(number=11), add(number=12)]],
        [square()],
    ):
        journal.add(orders)
    assert journal.since(4, [0, 1]) == {}
    assert journal.since(3, [2]) == {2: [square()]}
    assert journal.since(1, [0, 2]) == {
        0: [add(number=2), add(number=10), square()],
        2: [add(number=2), add(number=12), square()],
    }


def test_questions_and_what_is_over_take_no_room():
    journal = Journal()
    journal.add([sum_numbers(), fetch_rows()])
    assert (len(journal), journal.since(0, [0])) == (0, {})
    journal.add([note(key="x", number=1), note(key="y", number=2)])
    journal.add([note(key="x", number=3), add(number=1)])
    assert len(journal) == 4
    journal.add([end(key="x")])
    assert journal.since(0, [1]) == {1: [note(key="y", number=2), add(number=1)]}
    journal.add([[end(key="y") for _ in range(N_PARTS)]])
    assert journal.since(0, [1]) == {1: [add(number=1)]}


@message(reduce=None, changes=True, lasting=lambda **arguments: arguments | {"ballast": ()})
def add_with_ballast(part, *, number, ballast):
    """Little of it must be replayed."""


def test_only_what_lasts_is_kept():
    journal = Journal()
    by_part = [add_with_ballast(number=number, ballast=(1,)) for number in range(N_PARTS)]
    journal.add([add_with_ballast(number=3, ballast=(0,) * 100), by_part])
    kept = [add_with_ballast(number=number, ballast=()) for number in (3, 2)]
    assert journal.since(0, [2]) == {2: kept}


def test_what_a_list_changes_in_one_part_is_remembered():
    journal = Journal()
    journal.add([[sum_numbers(), add(number=4), sum_numbers()]])
    assert journal.since(0, [0, 1]) == {0: [sum_numbers()], 1: [add(number=4)]}
