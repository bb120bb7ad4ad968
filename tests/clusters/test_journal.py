"""A part that is built again is told what brings it to where the others are, and no more."""

from dataclasses import dataclass

import numpy as np
import pytest

from costboost.clusters.journal import Journal
from toy_parts import Add, End, Note, Numbers, Part, Rows, Square, Sum

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
        Sum(),
        Rows(),
        Add(int(rng.integers(9))),
        Square(),
        [Add(int(rng.integers(9))) for _ in range(N_PARTS)],
        Note(str(rng.choice(["x", "y"])), int(rng.integers(9))),
        [Note("x", int(rng.integers(9))) for _ in range(N_PARTS)],
        End(str(rng.choice(["x", "y"]))),
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
            for message in order_for:
                message.answer(new[part])
        assert [state(part) for part in new] == [state(part) for part in held]


def test_who_knows_some_calls_is_told_the_others():
    journal = Journal()
    for orders in ([Add(1)], [Sum()], [Add(2), [Add(10), Add(11), Add(12)]], [Square()]):
        journal.add(orders)
    assert journal.since(4, [0, 1]) == {}
    assert journal.since(3, [2]) == {2: [Square()]}
    assert journal.since(1, [0, 2]) == {
        0: [Add(2), Add(10), Square()],
        2: [Add(2), Add(12), Square()],
    }


def test_questions_and_what_is_over_take_no_room():
    journal = Journal()
    journal.add([Sum(), Rows()])
    assert (len(journal), journal.since(0, [0])) == (0, {})
    journal.add([Note("x", 1), Note("y", 2)])
    journal.add([Note("x", 3), Add(1)])
    assert len(journal) == 4
    journal.add([End("x")])
    assert journal.since(0, [1]) == {1: [Note("y", 2), Add(1)]}
    journal.add([[End("y") for _ in range(N_PARTS)]])
    assert journal.since(0, [1]) == {1: [Add(1)]}


@dataclass(frozen=True)
class Large(Add):
    """An order of which little has to be told again."""

    ballast: tuple = ()

    def lasting(self):
        return Add(self.number)


def test_only_what_lasts_is_kept():
    journal = Journal()
    journal.add([Large(3, (0,) * 100), [Large(number, (1,)) for number in range(N_PARTS)]])
    assert journal.since(0, [2]) == {2: [Add(3), Add(2)]}


def test_what_a_list_changes_in_one_part_is_remembered():
    journal = Journal()
    journal.add([[Sum(), Add(4), Sum()]])
    assert journal.since(0, [0, 1]) == {0: [Sum()], 1: [Add(4)]}
