"""The driver: it numbers calls, sends messages, reduces answers, and rebuilds lost parts.

The driver holds no rows. Of every part it knows the source, what the source read (a digest) and
how often it was built again; of all of them the journal. Parts live in groups (see `requests`):

    trip    every group gets a request; a group whose worker is lost, silent or failing is
            forgotten, its parts become unplaced, are built on other workers with the journal of all
            calls *before* this one, and get the request again. Answers of others are kept.

So in the middle of a call some parts may have changed and others not, and yet each part sees every
call exactly once. A part that was lost after it had answered is built again in the next trip, with
this call in its journal.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from costboost.clusters import protocol
from costboost.clusters.journal import Checkpoint, Journal, OrderForParts
from costboost.clusters.protocol import (
    Build,
    Candidate,
    ClusterError,
    Failure,
    Order,
    PartLostError,
    Reply,
    Request,
    SourceChangedError,
    Transport,
    VersionsDifferError,
    by_part,
    for_parts,
    message_of,
    order_for,
    put_together,
)
from costboost.runtime.messages import Call

__all__ = ["Placement", "Driver"]


# Placement: a part goes to a worker that has its rows already, else to the least loaded one.


class Placement:
    """Assigns parts to workers, evenly and by preference.

    Parameters
    ----------
    transport : Transport
    homes : mapping
        The worker on which a part's rows are already.

    Attributes
    ----------
    refused : dict
        Workers that get no parts any more, and why.
    """

    def __init__(self, transport: Transport, homes: Mapping[int, str]) -> None:
        self.refused: dict[str, str] = {}
        self._transport = transport
        self._homes = dict(homes)
        self._shunned: dict[int, set[str]] = {}

    def leave(self, parts: Iterable[int]) -> None:
        """Record that parts have lost their preferred worker."""
        for part in parts:
            self._homes.pop(part, None)

    def shun(self, worker: str, parts: Iterable[int]) -> None:
        """Exclude a worker for parts that failed on it, if there is another one."""
        for part in parts:
            self._shunned.setdefault(part, set()).add(worker)

    def deal(self, parts: Iterable[int], load: Counter[str]) -> list[tuple[str, tuple[int, ...]]]:
        """Assign parts to live workers; `load` is the number of parts that each holds.

        A part that failed before is alone in its group, so that it takes no others with it.
        """
        alive = self._candidates()
        dealt: dict[tuple[str, int | None], list[int]] = {}
        for part in sorted(parts):
            able = [n for n, c in alive.items() if c.parts is None or part in c.parts]
            if not able:
                continue
            worker = self._choose(part, able, load)
            load[worker] += 1
            dealt.setdefault((worker, part if part in self._shunned else None), []).append(part)
        return [(worker, tuple(own)) for (worker, _), own in dealt.items()]

    def _candidates(self) -> dict[str, Candidate]:
        """Return who may hold parts: alive, of the same make, and not silent."""
        alive = {}
        for name, candidate in self._transport.workers().items():
            if name in self.refused:
                continue
            try:
                protocol.check(name, candidate.identity)
            except VersionsDifferError as error:
                self.refused[name] = str(error)
                continue
            alive[name] = candidate
        return alive

    def _choose(self, part: int, able: list[str], load: Counter[str]) -> str:
        home = self._homes.get(part)
        if home in able:
            return home
        shunned = self._shunned.get(part, set())
        return min(able, key=lambda name: (name in shunned, load[name]))


_LOOK = 0.25  # seconds between two looks at who is alive
_PATIENCE = 0.9  # of the deadline, for a worker to come: the error is raised before it has passed


@dataclass
class _SentGroup:
    """Parts that were built together on a worker, and of how many calls they know."""

    number: int
    worker: str
    parts: tuple[int, ...]
    knows: int = 0
    built: bool = False
    waiting_since: float = 0.0
    # Orders that only end something travel with the next request.
    later: list[OrderForParts] = field(default_factory=list)


@dataclass
class _Trip:
    """One call while it is under way."""

    number: int
    orders: tuple[OrderForParts, ...]
    waiting: dict[int, _SentGroup] = field(default_factory=dict)
    replies: list[tuple[Any, ...]] = field(default_factory=list)
    answered: list[_SentGroup] = field(default_factory=list)
    unplaced: set[int] = field(default_factory=set)
    digests: dict[int, str] = field(default_factory=dict)


class Driver:
    """Parts on a cluster, as one that can be spoken to.

    Parameters
    ----------
    transport : Transport
    sources : sequence
        One for every part; None where a worker has it already.
    deadline : float
        Seconds that a worker may take for one request, and that parts may be without a worker.
    rebuilds : int
        How often one part is built again before the fit gives up.
    homes : mapping, optional
        The worker on which a part's rows are already.
    checkpoint : path-like, optional
        Where calls and answers are kept (see `checkpoint`).
    about : mapping of str, optional
        What the checkpoint is about: the fit's parameters.
    fit : str, optional
        The fit's own name, as its workers know it.
    """

    def __init__(
        self,
        transport: Transport,
        sources: Sequence[Any],
        *,
        deadline: float = 600.0,
        rebuilds: int = 3,
        homes: Mapping[int, str] | None = None,
        checkpoint: str | Path | None = None,
        about: Mapping[str, str] | None = None,
        fit: str | None = None,
    ) -> None:
        self.fit = fit or new_fit()
        self.n_parts = len(sources)
        self.journal = Journal()
        self.trips = 0
        self._transport = transport
        self._sources = list(sources)
        self._deadline = deadline
        self._rebuilds = rebuilds
        self._placement = Placement(transport, homes or {})
        self._groups: dict[int, _SentGroup] = {}
        self._unplaced = set(range(self.n_parts))
        self._digests: dict[int, str] = {}
        self._built: Counter[int] = Counter()
        self._dropped: dict[str, list[int]] = {}
        self._next_group = 0
        self._last_words = ""
        self._closed = False
        self._checkpoint: Checkpoint | None = None
        if checkpoint is not None:
            about = {**(about or {}), "parts": str(self.n_parts)}
            self._checkpoint = Checkpoint(checkpoint, about)
        self._start()

    # The face.

    def send(self, orders: Sequence[OrderForParts]) -> list[Any]:
        """Send orders to all parts in one trip; return one reduced answer for each.

        Each order is one message for every part, or a list with one for each part. Orders that
        only end something travel with the next ones. Whatever goes wrong frees the workers;
        after Ctrl-C the fit may go on, with parts that are built again.
        """
        if all(_ends(order) for order in orders):
            return self._end(orders)
        if self._closed:
            raise ClusterError("This fit has ended: its workers were let go.")
        try:
            return self._recall(tuple(orders))
        except KeyboardInterrupt:
            self._abandon()
            raise
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Shut the workers down."""
        if self._closed:
            return
        self._closed = True
        if self._checkpoint is not None:
            self._checkpoint.close()
        self._transport.close()

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    # Starting.

    def _start(self) -> None:
        """Reach the workers; refuse those of another make before any work."""
        try:
            self._transport.start()
            for name, candidate in self._transport.workers().items():
                protocol.check(name, candidate.identity)
        except BaseException:
            self.close()
            raise

    # Calls.

    def _end(self, orders: Sequence[OrderForParts]) -> list[Any]:
        """Forget what has ended; groups release it on their next request."""
        self.journal.add(orders)
        for group in self._groups.values():
            group.later += orders
        return [None] * len(orders)

    def _abandon(self) -> None:
        """Leave all groups: some may have changed by a call that never was, and others not."""
        for group in self._groups.values():
            self._dropped.setdefault(group.worker, []).append(group.number)
        self._groups.clear()
        self._unplaced = set(range(self.n_parts))

    def _recall(self, orders: tuple[OrderForParts, ...]) -> list[Any]:
        """Return answers from the checkpoint as far as it goes, else those of the workers."""
        kept = None if self._checkpoint is None else self._checkpoint.recall(orders)
        if kept is not None and not kept.digests:
            self.journal.add(orders)
            return list(kept.answers)
        if kept is not None:
            self._digests.update(kept.digests)  # a source that reads otherwise now is refused
        trip = self._travel(orders)
        answers = self._answers(trip)
        if self._checkpoint is not None and kept is None:
            self._checkpoint.keep(orders, answers, trip.digests)
        return answers

    def _travel(self, orders: tuple[OrderForParts, ...]) -> _Trip:
        """Make one trip: request every part once, and record failures on the way."""
        self.trips += 1
        trip = _Trip(self.trips, orders, unplaced=self._unplaced)
        self._unplaced = set()
        self._bury(trip)
        self._ask(trip, list(self._groups.values()))
        since = monotonic()
        while trip.waiting or trip.unplaced:
            since = self._place(trip, since)
            for reply in self._transport.collect(min(_LOOK, self._deadline)):
                self._take(trip, reply)
            self._bury(trip)
            self._hurry(trip)
        answered = sorted(part for group in trip.answered for part in group.parts)
        assert answered == list(range(self.n_parts)), "each part answers a call once"
        self.journal.add(orders)
        for group in trip.answered:
            group.knows = self.journal.calls
        return trip

    def _answers(self, trip: _Trip) -> list[Any]:
        """Reduce the answers of all groups, those by part in the order of parts."""
        everyone = range(self.n_parts)
        orders = [for_parts(order, everyone) for order in trip.orders]
        together = put_together(orders, trip.replies)
        return [_in_order(order, answer) for order, answer in zip(orders, together, strict=True)]

    def _ask(self, trip: _Trip, groups: Iterable[_SentGroup]) -> None:
        """Send a trip's orders to some groups, with what they have missed."""
        requests = []
        for group in groups:
            group.waiting_since = monotonic()
            trip.waiting[group.number] = group
            requests.append((group.worker, self._request(trip, group)))
        if requests:
            self._transport.submit(requests)

    def _request(self, trip: _Trip, group: _SentGroup) -> Request:
        build = None
        if not group.built:
            sources = {part: self._sources[part] for part in group.parts}
            known = {part: self._digests[part] for part in group.parts if part in self._digests}
            build = Build(sources, known)
        return Request(
            self.fit,
            group.number,
            trip.number,
            tuple(for_parts(order, group.parts) for order in trip.orders),
            build,
            self._missed(group),
            tuple(self._dropped.get(group.worker, ())),
        )

    def _missed(self, group: _SentGroup) -> dict[int, list[Call[Any]]]:
        """Return the messages that a group has missed, by part."""
        missed = self.journal.since(group.knows, group.parts)
        if not group.later:
            return missed
        return {
            part: [*(order_for(order, part) for order in group.later), *missed.get(part, ())]
            for part in group.parts
        }

    # What comes back.

    def _take(self, trip: _Trip, reply: Reply | Failure) -> None:
        """Record a reply; one that is not awaited (late, or doubled) is dropped."""
        if reply.fit != self.fit or reply.number != trip.number:
            return
        if isinstance(reply, Failure):
            self._fail(trip, reply)
            return
        awaited = [trip.waiting[number] for number in reply.groups if number in trip.waiting]
        if len(awaited) < len(reply.groups):
            self._ask(trip, awaited)  # put together with one that was given up: ask the others
            return
        for group in awaited:
            del trip.waiting[group.number]
            group.built = True
            group.later.clear()
        trip.answered += awaited
        trip.replies.append(reply.answers)
        trip.digests.update(reply.digests)
        self._digests.update(reply.digests)

    def _fail(self, trip: _Trip, failure: Failure) -> None:
        """Raise what the user did, as it is; build a group again where something else failed."""
        group = trip.waiting.get(failure.group)
        if group is None:
            return
        where = f"on worker {group.worker}, part {failure.part}"
        self._last_words = f"\nThe last traceback, {where}:\n{failure.traceback}"
        if isinstance(failure.error, (ValueError, TypeError, SourceChangedError)):
            failure.error.add_note(f"Raised {where}:\n{failure.traceback}")
            raise failure.error
        self._placement.shun(group.worker, group.parts)
        self._forget(trip, group)
        part = failure.part
        self._blame(group.parts if part is None else (part,), f"failed {where}")

    def _bury(self, trip: _Trip) -> None:
        """Forget the groups of workers that are gone."""
        gone = self._transport.lost()
        for worker in sorted({group.worker for group in self._groups.values()} & gone.keys()):
            parts = self._leave(trip, worker)
            if worker not in self._transport.let_go:
                self._blame(parts, f"worker {worker} was lost: {gone[worker]}")

    def _hurry(self, trip: _Trip) -> None:
        """Treat a worker that misses the deadline as lost."""
        late = monotonic() - self._deadline
        silent = {group.worker for group in trip.waiting.values() if group.waiting_since < late}
        for worker in silent:
            self._placement.refused[worker] = f"did not answer within {self._deadline:g} s"
        for worker in silent:
            parts = self._leave(trip, worker)
            self._blame(parts, f"worker {worker} {self._placement.refused[worker]}")

    def _leave(self, trip: _Trip, worker: str) -> list[int]:
        """Leave all groups of a worker; return their parts."""
        groups = [group for group in self._groups.values() if group.worker == worker]
        for group in groups:
            self._forget(trip, group)
        return sorted(part for group in groups for part in group.parts)

    def _forget(self, trip: _Trip, group: _SentGroup) -> None:
        """Leave a group; its parts are built again, now or in the next trip."""
        del self._groups[group.number]
        trip.waiting.pop(group.number, None)
        answered = any(one is group for one in trip.answered)
        (self._unplaced if answered else trip.unplaced).update(group.parts)
        self._placement.leave(group.parts)

    def _blame(self, suspects: Sequence[int], why: str) -> None:
        """Count what may have ended a worker; raise where it did so too often.

        Parts that were always lost together cannot be distinguished: all of them are named.
        """
        self._built.update(suspects)
        found = [part for part in suspects if self._built[part] > self._rebuilds]
        if not found:
            return
        most = max(self._built[part] for part in found)
        named = [str(part) for part in found if self._built[part] == most]
        which = f"Part {named[0]}" if len(named) == 1 else f"One of the parts {', '.join(named)}"
        raise PartLostError(
            f"{which} of {self.n_parts} was built again {self._rebuilds} times and lost each time; "
            f"at last {why}.{self._last_words}"
        )

    # Homes.

    def _place(self, trip: _Trip, since: float) -> float:
        """Place unplaced parts on live workers; return since when there have been none."""
        if not trip.unplaced:
            return monotonic()
        groups = []
        for worker, parts in self._placement.deal(trip.unplaced, self._load()):
            group = _SentGroup(self._next_group, worker, parts)
            self._next_group += 1
            self._groups[group.number] = group
            trip.unplaced.difference_update(parts)
            groups.append(group)
        self._ask(trip, groups)
        if trip.unplaced and monotonic() - since > _PATIENCE * self._deadline:
            self._give_up(sorted(trip.unplaced))
        return since if trip.unplaced else monotonic()

    def _load(self) -> Counter[str]:
        """Return how many parts each worker has."""
        load: Counter[str] = Counter()
        for group in self._groups.values():
            load[group.worker] += len(group.parts)
        return load

    def _give_up(self, parts: list[int]) -> None:
        """Raise because no worker is left for some parts."""
        gone = {**self._transport.lost(), **self._placement.refused}
        why = "; ".join(f"worker {name}: {reason}" for name, reason in gone.items())
        waited = f"waited {_PATIENCE * self._deadline:g} s"
        raise PartLostError(
            f"No worker is left for part {', '.join(map(str, parts))} of {self.n_parts} "
            f"({why or 'none has come'}); {waited}.{self._last_words}"
        )


def new_fit() -> str:
    """Return a name for a fit, unlike any other's."""
    return uuid.uuid4().hex


def _ends(order: OrderForParts) -> bool:
    """Return whether an order only ends something; releasing workers ends everything."""
    calls = [order] if isinstance(order, Call) else order
    return all(call.message.ends for call in calls)


def _in_order(order: Order, answer: Any) -> Any:
    """Reduce answers that were kept by part, in the order of parts."""
    if not by_part(order):
        return answer
    return message_of(order).reduce([answer[part] for part in sorted(answer)])
