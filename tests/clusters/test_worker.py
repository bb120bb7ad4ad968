"""What runs beside the rows: every request is answered, once, or it is said what failed."""

import pickle
import threading

import pytest

from costboost.clusters.driver import Driver
from costboost.clusters.journal import digest_of
from costboost.clusters.protocol import Build, Failure, Reply, Request, SourceChangedError
from costboost.clusters.worker import Worker
from costboost.runtime.messages import message
from toy_parts import (
    CALLS,
    Numbers,
    Part,
    Threads,
    add,
    fail,
    fetch_notes,
    fetch_rows,
    naive,
    note,
    plain,
    sources,
    square,
    sum_numbers,
)

SOURCES = {2: Numbers((1, 2)), 5: Numbers((3,)), 7: Numbers((4, 5, 6))}


def ask(worker, number, *orders, group=0, **given):
    return worker.answer(Request("fit", group, number, orders, **given))


def build(worker, *orders, number=1, sources=SOURCES, digests=None, **given):
    return ask(worker, number, *orders, build=Build(sources, digests or {}), **given)


@pytest.fixture
def worker():
    made = Worker("fit", Part)
    build(made, sum_numbers())
    return made


def test_threads_of_a_worker_answer_alike():
    transport = Threads("ab", "fit", threads=3)
    with Driver(transport, sources(), fit="fit") as driver:
        assert [plain(driver.send(orders)) for orders in CALLS] == naive()


def test_answers_are_reduced_but_those_by_part(worker):
    reply = ask(
        worker,
        2,
        {2: add(number=10), 5: add(number=20), 7: add(number=30)},
        sum_numbers(),
        fetch_rows(),
    )
    assert isinstance(reply, Reply)
    assert (reply.fit, reply.groups, reply.number) == ("fit", (0,), 2)
    nothing, total, rows = reply.answers
    assert (nothing, total) == (None, 21 + 20 + 20 + 90)
    assert {part: own.tolist() for part, own in rows.items()} == {
        2: [11, 12],
        5: [23],
        7: [34, 35, 36],
    }


def test_the_same_request_twice_changes_parts_once(worker):
    first = ask(worker, 2, add(number=1), sum_numbers())
    again = ask(worker, 2, add(number=1), sum_numbers())
    assert first.answers == again.answers == (None, 27)
    assert ask(worker, 3, sum_numbers()).answers == (27,)


def test_requests_of_before_or_of_others_do_no_harm(worker):
    ask(worker, 5, add(number=1))
    late = ask(worker, 4, add(number=1))
    other = worker.answer(Request("another", 0, 6, (add(number=1),)))
    assert isinstance(late, Failure)
    assert "Request 4 came after 5" in late.traceback
    assert "fit another came to a worker of fit" in other.traceback
    assert ask(worker, 6, sum_numbers()).answers == (27,)


def test_a_group_that_is_not_here_is_said_to_be_lost(worker):
    failure = ask(worker, 2, sum_numbers(), group=9)
    assert isinstance(failure.error, LookupError)
    assert "Group 9 is not here" in failure.traceback
    assert failure.part is None


def test_groups_are_forgotten_when_told_to(worker):
    reply = build(worker, sum_numbers(), group=1, sources={0: Numbers((100,))}, forget=(0, 8))
    assert reply.answers == (100,)
    assert isinstance(ask(worker, 2, sum_numbers()).error, LookupError)
    assert ask(worker, 2, sum_numbers(), group=1).answers == (100,)


def test_new_parts_are_told_the_journal_before_the_orders():
    journal = {part: [add(number=part), square(), note(key="x", number=part)] for part in SOURCES}
    reply = build(Worker("fit", Part), fetch_rows(), fetch_notes(), journal=journal)
    rows, notes = reply.answers
    assert {part: own.tolist() for part, own in rows.items()} == {
        2: [9, 16],
        5: [64],
        7: [121, 144, 169],
    }
    assert notes == {part: [{"x": part}] for part in SOURCES}


def test_a_part_that_fails_is_named_and_takes_its_group_with_it(worker):
    build(worker, sum_numbers(), group=1, sources={0: Numbers((3,))})
    failure = ask(worker, 2, add(number=0), fail(number=3, kind=OSError))
    assert (failure.group, failure.number, failure.part) == (0, 2, 5)
    assert type(failure.error) is OSError
    assert "OSError: 3 is here" in failure.traceback
    assert "toy_parts.py" in failure.traceback
    assert isinstance(ask(worker, 3, sum_numbers()).error, LookupError)
    assert ask(worker, 2, sum_numbers(), group=1).answers == (3,)  # another is none the worse


class LocalError(Exception):
    """Holds what cannot be pickled, whatever may have taught pickle to make errors again."""

    def __init__(self, one, other):
        super().__init__(f"{one} and {other}")
        self.lock = threading.Lock()


@message(reduce=None, changes=True)
def fail_here(part):
    raise LocalError("this", "that")


def test_an_error_that_cannot_travel_is_told_by_its_traceback(worker):
    failure = ask(worker, 2, fail_here())
    assert failure.error is None
    assert "LocalError: this and that" in failure.traceback
    pickle.loads(pickle.dumps(failure))


def test_sources_may_be_here_already():
    worker = Worker("fit", Part, sources={2: Numbers((8,)), 3: Numbers((9,))})
    assert build(worker, sum_numbers(), sources={2: None, 3: Numbers((1,))}).answers == (9,)


def test_digests_are_told_once_and_known_ones_must_be_found_again():
    known = {2: digest_of([1, 2])}
    worker = Worker("fit", Part)
    reply = build(worker, sum_numbers(), digests=known)
    assert reply.digests == {5: digest_of([3]), 7: digest_of([4, 5, 6])}
    assert ask(worker, 2, sum_numbers()).digests == {}
    failure = build(worker, sum_numbers(), group=1, digests={7: digest_of([4, 5])})
    assert (type(failure.error), failure.part) == (SourceChangedError, 7)


@message(reduce=None, changes=True)
def meet(part, *, barrier: threading.Barrier):
    """Waits until as many parts are asked at once."""
    barrier.wait(10.0)


def test_several_threads_answer_for_several_parts_at_once():
    worker = Worker("fit", Part, threads=3)
    reply = build(worker, meet(barrier=threading.Barrier(3)), fetch_rows())
    assert isinstance(reply, Reply), reply.traceback
    assert list(reply.answers[1]) == [2, 5, 7]
    worker.close()


def test_a_worker_that_was_closed_answers_nothing_more(worker):
    worker.close()
    assert isinstance(ask(worker, 2, sum_numbers()), Failure)
    failure = build(worker, sum_numbers(), group=1)
    assert isinstance(failure.error, InterruptedError)
