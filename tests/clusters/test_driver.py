import re
import time

import pytest

from costboost.clusters.driver import Driver
from costboost.clusters.protocol import (
    ClusterError,
    PartLostError,
    SourceChangedError,
    VersionsDifferError,
    identity,
)
from toy_parts import (
    CALLS,
    Moody,
    Numbers,
    Threads,
    end,
    fail,
    fetch_notes,
    naive,
    note,
    plain,
    run,
    sources,
    sum_numbers,
)


class Dying:
    """A plan: some workers die at some requests (counted for each worker), before or after."""

    def __init__(self, *deaths):
        self.deaths, self.seen = set(deaths), {}

    def __call__(self, worker, request, when):
        self.seen[worker] = self.seen.get(worker, 0) + (when == "before")
        return "die" if (worker, self.seen[worker], when) in self.deaths else None


@pytest.mark.parametrize("workers", ["a", "ab", "abcdefghi"])
def test_calls_answer_as_on_all_rows_at_once(workers):
    assert run(workers=workers) == naive()


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("at", range(1, 8))
def test_a_worker_that_dies_is_not_missed(at, when):
    assert run(Dying(("a", at, when))) == naive()


def test_several_deaths_in_one_call_and_later():
    plan = Dying(("a", 3, "after"), ("b", 3, "before"), ("c", 6, "after"))
    assert run(plan, workers="abcd") == naive()


@pytest.mark.parametrize("after", range(6))
def test_a_part_that_answered_and_was_lost_is_built_with_this_call(after):
    transport = Threads("ab", "fit")
    with Driver(transport, sources(), fit="fit", deadline=5.0) as driver:
        for number, orders in enumerate(CALLS):
            assert plain(driver.send(orders)) == naive()[number]
            if number == after:
                transport.gone["a"] = "killed between calls"


def test_repeated_requests_change_parts_once():
    assert run(lambda worker, request, when: "twice") == naive()


def test_late_replies_are_no_longer_wanted():
    late = {("a", 2), ("a", 5)}
    plan = lambda w, r, when: "late" if when == "after" and (w, r.number) in late else None  # noqa: E731
    assert run(plan, deadline=0.5) == naive()


def test_a_request_of_before_does_no_harm():
    transport = Threads("a", "fit")
    with Driver(transport, sources(), fit="fit") as driver:
        heard = [plain(driver.send(orders)) for orders in CALLS[:4]]
        transport.submit(transport.requests[1:3])
        heard += [plain(driver.send(orders)) for orders in CALLS[4:]]
    assert heard == naive()


def test_the_last_worker_gone_is_an_error_within_the_deadline():
    begun = time.monotonic()
    with pytest.raises(PartLostError, match=r"No worker is left for part 0, 1, .*worker a: killed"):
        run(Dying(("a", 2, "before")), workers="a", deadline=1.0)
    assert time.monotonic() - begun < 1.5


def test_a_worker_that_comes_later_takes_over():
    transport = Threads("a", "fit", Dying(("a", 3, "after")))
    with Driver(transport, sources(), fit="fit", deadline=5.0) as driver:
        heard = [plain(driver.send(orders)) for orders in CALLS[:2]]
        transport.join("b")
        heard += [plain(driver.send(orders)) for orders in CALLS[2:]]
    assert heard == naive()


def test_a_part_that_always_fails_is_named_with_its_traceback():
    with pytest.raises(PartLostError, match=r"Part 3 of 7 was built again 3 times") as caught:
        run(calls=[[sum_numbers()], [fail(number=15, kind=OSError)]])
    assert "OSError: 15 is here" in str(caught.value)
    assert "toy_parts.py" in str(caught.value)


def test_a_part_that_fails_once_is_built_again():
    class Once:
        failed = False

        def __call__(self, worker, request, when):
            if when == "before" and worker == "a" and request.number == 3 and not self.failed:
                self.failed = True
                transport.workers_made["a"]._groups.clear()  # as after a failure

    transport = Threads("ab", "fit", Once())
    with Driver(transport, sources(), fit="fit") as driver:
        assert [plain(driver.send(orders)) for orders in CALLS] == naive()


def test_an_error_of_the_user_is_raised_as_it_is():
    with pytest.raises(ValueError, match="15 is here") as caught:
        run(calls=[[sum_numbers()], [fail(number=15, kind=ValueError)]])
    assert "part 3" in caught.value.__notes__[0]


def test_a_source_that_changed_is_refused():
    changing = [Numbers((1, 2)), Moody()]
    with pytest.raises(SourceChangedError, match="Part 1 of the table reads differently"):
        run(Dying(("b", 2, "before")), calls=[[sum_numbers()], [sum_numbers()]], sources=changing)


@pytest.mark.parametrize("name", ["costboost", "protocol", "python", "numpy", "kernels"])
def test_workers_of_another_make_are_refused_by_name_before_any_work(name):
    transport = Threads("ab", "fit", identities={"b": {**identity(), name: "other"}})
    with pytest.raises(VersionsDifferError, match=f"Worker b runs {name} other"):
        Driver(transport, sources(), fit="fit")
    assert transport.closed
    assert not transport.requests


def test_a_worker_of_another_make_that_comes_later_gets_no_parts():
    transport = Threads("a", "fit", Dying(("a", 2, "before")))
    with Driver(transport, sources(), fit="fit", deadline=1.0) as driver:
        driver.send([sum_numbers()])
        transport.identities["z"] = {**identity(), "numpy": "0.1"}
        transport.join("z")
        with pytest.raises(PartLostError, match=r"numpy 0\.1"):
            driver.send([sum_numbers()])


def test_parts_stay_with_those_who_can_read_them():
    offers = {"a": frozenset({0, 2, 4, 6}), "b": frozenset({1, 3, 5})}
    transport = Threads("ab", "fit", offers=offers)
    with Driver(transport, sources(), fit="fit") as driver:
        assert [plain(driver.send(orders)) for orders in CALLS] == naive()
    for name, request in transport.requests:
        assert request.build is None or set(request.build.sources) == set(offers[name])


def test_ctrl_c_frees_the_workers():
    transport = Threads("ab", "fit")

    def interrupt(timeout):
        raise KeyboardInterrupt

    transport.collect = interrupt
    with Driver(transport, sources(), fit="fit") as driver, pytest.raises(KeyboardInterrupt):
        driver.send([sum_numbers()])
    assert transport.closed
    assert all(worker.closed for worker in transport.workers_made.values())


@pytest.mark.parametrize("at", range(len(CALLS)))
def test_after_ctrl_c_a_fit_may_go_on_where_it_was(at):
    """The call that was interrupted has changed some parts; it never was, and is made again."""
    transport, heard = Threads("ab", "fit"), []
    collect = transport.collect

    def interrupt(timeout):
        collect(timeout)
        raise KeyboardInterrupt

    with Driver(transport, sources(), fit="fit") as driver:
        for number, orders in enumerate(CALLS):
            if number == at:
                transport.collect = interrupt
                with pytest.raises(KeyboardInterrupt):
                    driver.send(orders)
                transport.collect = collect
            heard.append(plain(driver.send(orders)))
        held = [len(worker._groups) for worker in transport.workers_made.values()]
    assert heard == naive()
    assert held == [1, 1]


def test_what_is_over_is_told_later_and_never_again():
    transport = Threads("ab", "fit")
    with Driver(transport, sources(), fit="fit", deadline=5.0) as driver:
        driver.send([note(key="x", number=1), note(key="y", number=2)])
        driver.send([note(key="y", number=3)])
        trips = driver.trips
        driver.send([end(key="x")])
        assert driver.trips == trips
        assert driver.send([fetch_notes()])[0] == [{"y": 9}] * 7
        transport.gone["a"] = "killed"
        assert driver.send([fetch_notes()])[0] == [{"y": 9}] * 7
        assert len(driver.journal) == 2
        driver.close()
        assert driver.send([end(key="y")]) == [None]
        with pytest.raises(ClusterError, match="has ended"):
            driver.send([fetch_notes()])


class Deadly:
    """A plan: a worker dies of every request to the part; perhaps all others are let go then."""

    def __init__(self, part, together=False):
        self.part, self.together, self.transport = part, together, None

    def __call__(self, worker, request, when):
        built = () if request.build is None else request.build.sources
        if self.part not in built or when == "after":
            return None
        transport = self.transport
        if self.together:
            for other in set(transport.inboxes) - {worker}:
                transport.gone[other] = "let go"
                transport.let_go.add(other)
        for k in range(7):
            transport.join(f"{worker}.{k}")
        return "die"


@pytest.mark.parametrize("deadly", [0, 2, 6])
def test_a_part_that_kills_its_worker_is_among_those_that_are_named(deadly):
    plan = Deadly(deadly)
    plan.transport = Threads("abc", "fit", plan)
    with (
        pytest.raises(PartLostError, match="lost each time; at last worker") as caught,
        Driver(plan.transport, sources(), fit="fit", deadline=5.0) as driver,
    ):
        driver.send([sum_numbers()])
    named = str(caught.value).split(" of 7 ")[0]
    assert named == f"Part {deadly}" or re.search(rf"One of the parts .*\b{deadly}\b", named)


@pytest.mark.parametrize("deadly", [0, 2, 6])
def test_parts_that_were_let_go_are_not_blamed(deadly):
    plan = Deadly(deadly, together=True)
    plan.transport = Threads("abcdefg", "fit", plan)
    for name, part in zip("abcdefg", range(7), strict=True):
        plan.transport.offers[name] = frozenset([part])
    join = plan.transport.join

    def take_over(name):
        # Whoever comes takes the part of the one whose place it takes.
        if "." in name:
            plan.transport.offers[name] = frozenset([int(name.rsplit(".")[-1])])
        join(name)

    plan.transport.join = take_over
    with (
        pytest.raises(PartLostError, match=rf"Part {deadly} of 7 was built again 3 times"),
        Driver(plan.transport, sources(), fit="fit", deadline=5.0) as driver,
    ):
        driver.send([sum_numbers()])
