"""Requests to actors: by a tree where there are many, with rows where parts are to be built."""

import asyncio
from types import SimpleNamespace

import pytest

from costboost.clusters.protocol import Build, Failure, Reply, Request
from costboost.dask.transport import DaskTransport, _planted
from costboost.dask.workers import Bundle, Gone, deliver, key_of
from dask_fits import fingerprint, fit
from toy_parts import Numbers, Part, sum_numbers


def test_by_a_tree(people, client, expected, monkeypatch):
    from costboost.dask import transport

    monkeypatch.setattr(transport, "CHILDREN", 1)
    assert fingerprint(fit(people, client).to_local()) == expected


def addressed(n):
    return [(f"w{k}", f"tcp://w{k}", Bundle("fit", (f"request {k}",))) for k in range(n)]


def walk(bundles, depth=1):
    """Yield (name, address, requests, depth) of all that will be asked."""
    for name, address, bundle in bundles:
        yield name, address, bundle.requests, depth
        yield from walk(bundle.passed, depth + 1)


@pytest.mark.parametrize("children", [1, 2, 3, 16])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 16, 17, 50, 300])
def test_a_tree_reaches_everybody_once_and_is_as_flat_as_it_can_be(n, children):
    planted = _planted(addressed(n), children)
    found = sorted(walk(planted), key=lambda one: int(one[0][1:]))
    assert [one[:3] for one in found] == [(*one[:2], one[2].requests) for one in addressed(n)]

    def check(bundles):
        assert len(bundles) <= children
        for _, _, bundle in bundles:
            check(bundle.passed)

    check(planted)
    room = depth = 0
    while room < n:
        depth += 1
        room += children**depth
    assert max((one[3] for one in found), default=0) == depth


class Done:
    """A task of Dask that is done, or has failed."""

    def __init__(self, error=None):
        self.error = error

    def __await__(self):
        if self.error is not None:
            raise self.error
        yield from ()


class Client:
    """What a transport asks of Dask; whatever is to run on its loop runs at once."""

    rpc = None

    def __init__(self):
        self.loop = SimpleNamespace(add_callback=lambda run, *given: asyncio.run(run(*given)))
        self.computed, self.delivered, self.errors = [], [], {}

    def compute(self, pieces, workers):
        self.computed.append((pieces, workers))
        return [f"computed {piece}" for piece in pieces]

    def submit(self, function, fit, group, part, make_source, *rows, pure, workers):
        assert (function, fit, make_source, pure) == (deliver, "fit", Numbers, False)
        self.delivered.append((group, part, rows, workers))
        return Done(self.errors.get(part))


class Roster:
    """Four workers; `asked` notes which bundles reach them."""

    def __init__(self):
        self.known = dict.fromkeys("abcd", "a candidate")
        self.addresses = {name: f"tcp://{name}" for name in "abcd"}
        self.lost, self.asked, self.unreachable = {}, [], set()
        self.looked, self.owed, self.received = 0, [], []

    def reach(self, address):
        async def execute(function, actor, args, kwargs):
            (sent,), name = args, address[-1]
            assert (function, actor, kwargs) == ("answer", key_of("fit", name), {})
            if name in self.unreachable:
                raise OSError(f"no {name}")
            self.asked.append((name, sent.data))
            groups = tuple(request.group for request in sent.data.requests)
            return {"status": "OK", "result": [Reply("fit", groups, 1, (), {})]}

        return SimpleNamespace(actor_execute=execute)

    def bury(self, name, why):
        self.lost[name] = why
        del self.known[name]

    def look(self):
        self.looked += 1

    def owe(self, name, future):
        self.owed.append(name)

    def receive(self, name):
        self.received.append(name)


@pytest.fixture
def transport():
    pieces = [(f"X{part}", f"y{part}") for part in range(6)]
    made = DaskTransport(Client(), "fit", Part, pieces, Numbers)
    made._roster = Roster()
    return made


def request(group, parts=None, digests=None):
    build = None if parts is None else Build(dict.fromkeys(parts), digests or {})
    return Request("fit", group, 1, (sum_numbers(),), build)


def groups_of(replies):
    return sorted(reply.groups for reply in replies)


def test_all_requests_of_a_worker_go_together(transport):
    transport.submit([("a", request(0)), ("b", request(1)), ("a", request(2))])
    asked = [(name, len(bundle.requests)) for name, bundle in transport._roster.asked]
    assert asked == [("a", 2), ("b", 1)]
    assert groups_of(transport.collect(0.1)) == [(0, 2), (1,)]
    assert transport._roster.looked == 0
    assert transport.collect(0.0) == []
    assert transport._roster.looked == 1  # who is there, now that nothing comes


def test_requests_to_one_that_is_lost_are_dropped(transport):
    transport._roster.bury("b", "killed")
    transport.submit([("b", request(1)), ("b", request(2, [0])), ("c", request(3))])
    assert [name for name, _ in transport._roster.asked] == ["c"]
    assert transport.client.delivered == []


def test_what_one_that_is_gone_should_have_passed_on_is_asked_directly(transport):
    transport.children = 1
    transport._roster.unreachable = {"a"}
    transport.submit([(name, request(group)) for group, name in enumerate("abc")])
    assert transport.collect(0.1) == []
    assert transport.lost() == {"a": "OSError: no a"}
    ((name, bundle),) = transport._roster.asked
    assert (name, [passed[0] for passed in bundle.passed]) == ("b", ["c"])
    assert groups_of(transport.collect(0.1)) == [(1,)]


def test_parts_to_be_built_are_asked_when_their_rows_are_there(transport):
    transport.submit([("a", request(0, [4, 1])), ("b", request(1)), ("c", request(2, [5]))])
    client = transport.client
    assert client.computed == [(["X4", "y4", "X1", "y1", "X5", "y5"], None)]
    assert client.delivered == [
        (0, 4, ("computed X4", "computed y4"), ["tcp://a"]),
        (0, 1, ("computed X1", "computed y1"), ["tcp://a"]),
        (2, 5, ("computed X5", "computed y5"), ["tcp://c"]),
    ]
    asked = {name: bundle.requests[0] for name, bundle in transport._roster.asked}
    assert asked["a"].build == Build({4: None, 1: None}, {})  # no rows go by the driver
    assert asked["b"].build is None
    assert transport._roster.owed == ["a", "a", "c"]
    assert transport._roster.received == ["a", "c"]
    assert groups_of(transport.collect(0.1)) == [(0,), (1,), (2,)]


def test_parts_that_are_built_again_are_computed_by_those_who_are_trusted(transport):
    transport.submit([("b", request(0, [4], {4: "known"})), ("c", request(1, [5]))])
    assert transport.client.computed[0][1] == ["tcp://b", "tcp://c"]


def test_rows_that_cannot_be_brought_are_a_failure_of_their_part(transport):
    transport.client.errors[1] = ValueError("these rows will not do")
    transport.submit([("a", request(0, [4, 1, 2]))])
    (failure,) = transport.collect(0.1)
    assert isinstance(failure, Failure)
    assert (failure.fit, failure.group, failure.number, failure.part) == ("fit", 0, 1, 1)
    assert str(failure.error) == "these rows will not do"
    assert "these rows will not do" in failure.traceback
    assert transport._roster.asked == []


def test_a_task_that_was_cancelled_is_a_failure_without_an_error_to_raise(transport):
    transport.client.errors[4] = asyncio.CancelledError()
    transport.submit([("a", request(0, [4]))])
    (failure,) = transport.collect(0.1)
    assert failure.error is None
    assert "CancelledError" in failure.traceback


def test_replies_and_deaths_come_in_one_go(transport):
    transport._outcomes.put(Gone("d", "killed", Bundle("fit", ())))
    transport._outcomes.put(Reply("fit", (3,), 1, (), {}))
    assert groups_of(transport.collect(0.1)) == [(3,)]
    assert transport.lost() == {"d": "killed"}
    assert sorted(transport.workers()) == ["a", "b", "c"]
