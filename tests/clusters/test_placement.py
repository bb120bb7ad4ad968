"""Who gets which parts: whoever has the rows, else whoever has least, and can hold them."""

from collections import Counter

from costboost.clusters.driver import Placement
from costboost.clusters.protocol import Candidate, identity


class Workers:
    """What a housing asks of a transport."""

    def __init__(self, names, **offers):
        self.there = {name: Candidate(identity(), offers.get(name)) for name in names}

    def workers(self):
        return dict(self.there)


def dealt(placement, parts, **load):
    return dict(placement.deal(parts, Counter(load)))


def test_parts_are_dealt_evenly_in_their_order():
    found = dealt(Placement(Workers("abc"), {}), {6, 2, 4, 0, 1, 3, 5})
    assert found == {"a": (0, 3, 6), "b": (1, 4), "c": (2, 5)}


def test_whoever_has_least_gets_more():
    load = Counter(a=3, b=1)
    placement = Placement(Workers("abc"), {})
    assert dict(placement.deal([0, 1, 2, 3], load)) == {"c": (0, 2), "b": (1, 3)}
    assert load == {"a": 3, "b": 3, "c": 2}


def test_parts_go_where_their_rows_are_as_long_as_these_are_there():
    homes = {0: "b", 1: "b", 2: "gone", 3: "b"}
    placement = Placement(Workers("ab"), homes)
    assert dealt(placement, [0, 1, 2, 3]) == {"b": (0, 1, 3), "a": (2,)}
    placement.leave([0, 1])
    assert dealt(placement, [0, 1, 3]) == {"a": (0,), "b": (1, 3)}
    assert homes == {0: "b", 1: "b", 2: "gone", 3: "b"}  # the caller's own


def test_parts_that_nobody_can_hold_wait():
    workers = Workers("ab", a=frozenset({0, 2}), b=frozenset({1}))
    assert dealt(Placement(workers, {0: "b"}), range(5)) == {"a": (0, 2), "b": (1,)}
    assert dealt(Placement(Workers(""), {}), range(5)) == {}


def test_a_part_that_failed_is_alone_and_elsewhere_if_it_can_be():
    placement = Placement(Workers("ab"), {})
    placement.shun("b", [1, 2])
    found = placement.deal([0, 1, 2, 3], Counter(a=9))
    assert found == [("b", (0, 3)), ("a", (1,)), ("a", (2,))]
    placement.shun("a", [2])
    assert placement.deal([2], Counter(a=9)) == [("b", (2,))]  # it has failed everywhere
    alone = Placement(Workers("b"), {})
    alone.shun("b", [0])
    assert alone.deal([0], Counter()) == [("b", (0,))]


def test_workers_of_another_make_get_no_parts_and_it_is_noted_why():
    workers = Workers("ab")
    workers.there["a"] = Candidate({**identity(), "numpy": "0.1"})
    placement = Placement(workers, {0: "a"})
    assert dealt(placement, [0, 1]) == {"b": (0, 1)}
    assert list(placement.refused) == ["a"]
    assert "Worker a runs numpy 0.1" in placement.refused["a"]
    placement.refused["b"] = "did not answer"
    assert dealt(placement, [0, 1]) == {}
