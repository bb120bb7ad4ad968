"""Actors that hold parts: rows are brought to them, and replies put together on the way back."""

import asyncio
import gc
from types import SimpleNamespace

import pytest

from costboost.clusters.journal import digest_of
from costboost.clusters.protocol import Build, Failure, Reply, Request, identity
from costboost.dask import workers as module
from costboost.dask.workers import Bundle, Gone, Holder, ask, call, deliver, key_of
from toy_parts import Numbers, Part, add, fail, fetch_rows, sum_numbers

NAMES = "abcd"  # of workers: the first has group 0 with parts 0 and 1, the next group 1, ...


def parts_of(group):
    return [2 * group, 2 * group + 1]


def source_of(part):
    return Numbers((part, 100 + part))


class Cluster:
    """Actors of this process, reached as Dask reaches those of workers."""

    def __init__(self, monkeypatch):
        self.actors, self.gone = {}, set()
        for group, name in enumerate(NAMES):
            state = SimpleNamespace(nthreads=1)
            here = SimpleNamespace(address=f"tcp://{name}", state=state, rpc=self.reach)
            monkeypatch.setattr(module, "get_worker", lambda here=here: here)
            self.actors[key_of("fit", name)] = Holder("fit", Part)
            for part in parts_of(group):
                deliver("fit", group, part, source_of, part)

    def reach(self, address):
        async def execute(function, actor, args, kwargs):
            if address[-1] in self.gone:
                raise OSError(f"{address} cannot be reached")
            if actor not in self.actors:
                return {"status": "error", "exception": LookupError(f"no {actor}")}
            given = [value.data for value in args]
            answer = await getattr(self.actors[actor], function)(*given, **kwargs)
            return {"status": "OK", "result": answer}

        return SimpleNamespace(actor_execute=execute)

    def call(self, name, method, *given):
        key = key_of("fit", name)
        return asyncio.run(call(self.reach, f"tcp://{name}", key, method, *given))

    def ask(self, bundle, name="a"):
        return asyncio.run(ask(self.reach, name, f"tcp://{name}", bundle))

    def close(self):
        self.gone.clear()
        for name in NAMES:
            self.call(name, "close")


def build(group, number=1):
    return Request(
        "fit", group, number, (sum_numbers(),), Build(dict.fromkeys(parts_of(group)), {})
    )


def bundle(*orders, name="a", passed=()):
    """Return a request for one, and what it passes on: bundles by the names of others."""
    told = tuple((other, f"tcp://{other}", own) for other, own in dict(passed).items())
    return Bundle("fit", (Request("fit", NAMES.index(name), 2, orders),), told)


def tree(*orders):
    """Return a bundle for the first, which passes on to two, one of which passes on to another."""
    below = bundle(*orders, name="c", passed={"d": bundle(*orders, name="d")})
    return bundle(*orders, passed={"b": bundle(*orders, name="b"), "c": below})


@pytest.fixture
def unbuilt(monkeypatch):
    made = Cluster(monkeypatch)
    yield made
    made.close()


@pytest.fixture
def cluster(unbuilt):
    for group, name in enumerate(NAMES):
        (reply,) = unbuilt.ask(Bundle("fit", (build(group),)), name)
        assert isinstance(reply, Reply), reply
    return unbuilt


def test_an_actor_says_what_it_runs(unbuilt):
    assert unbuilt.call("b", "greet") == identity()


def test_replies_of_a_tree_are_one_reply(cluster):
    (reply,) = cluster.ask(tree(add(number=1), sum_numbers(), fetch_rows()))
    assert (reply.fit, sorted(reply.groups), reply.number) == ("fit", [0, 1, 2, 3], 2)
    nothing, total, rows = reply.answers
    assert (nothing, total) == (None, sum(2 * part + 102 for part in range(8)))
    assert {part: own.tolist() for part, own in rows.items()} == {
        part: [part + 1, part + 101] for part in range(8)
    }


def test_digests_of_a_tree_are_told_together(unbuilt):
    passed = [(name, f"tcp://{name}", build(group)) for group, name in enumerate(NAMES)][1:]
    told = tuple((name, address, Bundle("fit", (own,))) for name, address, own in passed)
    (reply,) = unbuilt.ask(Bundle("fit", (build(0),), told))
    assert reply.digests == {part: digest_of([part, 100 + part]) for part in range(8)}


def test_one_that_cannot_be_reached_is_told_of_with_all_that_was_meant_for_it(cluster):
    cluster.gone.add("c")
    sent = tree(sum_numbers())
    reply, gone = cluster.ask(sent)
    assert sorted(reply.groups) == [0, 1]
    assert gone == Gone("c", "OSError: tcp://c cannot be reached", sent.passed[1][2])
    assert [name for name, _, _ in gone.bundle.passed] == ["d"]  # can be asked directly now
    cluster.gone.add("a")
    (nobody,) = cluster.ask(sent)
    assert (nobody.name, nobody.bundle) == ("a", sent)


def test_failures_are_passed_up_as_they_are(cluster):
    reply, failure = cluster.ask(tree(fail(number=105, kind=OSError)))
    assert sorted(reply.groups) == [0, 1, 3]
    assert isinstance(failure, Failure)
    assert (failure.group, failure.part, str(failure.error)) == (2, 5, "105 is here")


def test_several_groups_of_one_worker_are_answered_together(cluster):
    cluster.actors[key_of("fit", "a")].bring(9, 40, source_of(40))
    more = Request("fit", 9, 2, (sum_numbers(),), Build({40: None}, {}))
    (reply,) = cluster.ask(Bundle("fit", (Request("fit", 0, 2, (sum_numbers(),)), more)))
    assert reply.groups == (0, 9)
    assert reply.answers == (0 + 100 + 1 + 101 + 40 + 140,)


def test_rows_are_brought_for_one_building(cluster):
    cluster.actors[key_of("fit", "a")].bring(7, 0, source_of(0))
    first, again = (
        Request("fit", 7, number, (sum_numbers(),), Build({0: None}, {})) for number in (3, 4)
    )
    (reply,) = cluster.ask(Bundle("fit", (first,)))
    assert reply.answers == (100,)
    (failure,) = cluster.ask(Bundle("fit", (again,)))
    assert isinstance(failure, Failure)  # who builds again has to bring the rows again


def test_an_actor_that_was_closed_answers_nothing_more(cluster):
    cluster.call("a", "close")
    (outcome,) = cluster.ask(bundle(sum_numbers()))
    assert isinstance(outcome, Gone)


def test_a_call_raises_what_the_worker_could_not_do(cluster):
    reached = call(cluster.reach, "tcp://a", key_of("another", "a"), "greet")
    with pytest.raises(LookupError, match="no costboost-another-a"):
        asyncio.run(reached)


def test_rows_find_the_actor_of_their_fit_as_long_as_it_is_there(monkeypatch):
    cluster = Cluster(monkeypatch)
    deliver("fit", 3, 6, source_of, 6)
    with pytest.raises(KeyError):
        deliver("another", 3, 6, source_of, 6)
    cluster.close()
    cluster.actors.clear()
    gc.collect()
    with pytest.raises(KeyError):
        deliver("fit", 3, 6, source_of, 6)
