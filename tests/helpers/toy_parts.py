"""A toy fit: parts of whole numbers, messages about them, and a transport that loses workers.

Its calls are `CALLS` on `sources()`; `naive()` is what they must answer.
"""

import pickle
import queue
import threading
from dataclasses import dataclass

import numpy as np

from costboost.clusters.driver import Driver
from costboost.clusters.protocol import Candidate, identity
from costboost.clusters.worker import Worker
from costboost.runtime.messages import join, message, total


class Part:
    def __init__(self, source):
        self.source = source
        self.numbers = np.array(source.read(), dtype=np.int64)
        self.notes = {}


@dataclass(frozen=True)
class Numbers:
    """A source; it counts what it reads in a list that is shared only within this process."""

    numbers: tuple

    def read(self):
        return list(self.numbers)


class Moody:
    """A source that reads differently every time."""

    times = 0

    def read(self):
        type(self).times += 1
        return [type(self).times]


@message(reduce=None, changes=True)
def add(part, *, number: int):
    part.numbers += number


@message(reduce=total, changes=True)
def square(part):
    """Changes and answers."""
    part.numbers = part.numbers**2 % 1_000_003
    return int(part.numbers.sum())


@message(reduce=None, changes=True, topic="note")
def note(part, *, key: str, number: int):
    """Write something down under a topic, until it ends."""
    part.notes[key] = part.notes.get(key, 0) * 3 + number


@message(reduce=None, changes=True, ends=True, topic="note")
def end(part, *, key: str):
    part.notes.pop(key, None)


@message(reduce=join, by_part=True)
def fetch_notes(part):
    return [dict(part.notes)]


@message(reduce=total)
def sum_numbers(part):
    return int(part.numbers.sum())


@message(reduce=np.concatenate, by_part=True)
def fetch_rows(part):
    return part.numbers


@message(reduce=total)
def fail(part, *, number: int, kind: type):
    """Fails where a number is, with an error that a user or a machine could have made."""
    if number in part.numbers:
        raise kind(f"{number} is here")
    return 0


class Threads:
    """Workers as threads of this process; requests and replies are pickled on the way.

    `plan(worker, request, when)` is asked "before" and "after" a worker answers, and may return
    "die" (the worker is gone, the reply with it), "twice" (the request is delivered twice),
    "late" (the reply comes when the next request is answered) or None.
    """

    def __init__(self, names, fit, plan=None, identities=None, offers=None, threads=1):
        self.names, self.fit = list(names), fit
        self.plan = plan or (lambda worker, request, when: None)
        self.identities, self.offers = identities or {}, offers or {}
        self.threads = threads
        self.gone, self.inboxes, self.workers_made = {}, {}, {}
        self.replies = queue.Queue()
        self.late = []
        self.closed = False
        self.requests = []
        self.let_go = set()

    def start(self):
        for name in self.names:
            self.join(name)

    def join(self, name):
        self.inboxes[name] = queue.Queue()
        self.workers_made[name] = Worker(self.fit, Part, threads=self.threads)
        threading.Thread(target=self._serve, args=(name,), daemon=True).start()

    def _serve(self, name):
        while True:
            item = self.inboxes[name].get()
            if item is None or name in self.gone:
                return
            request = pickle.loads(item)
            if self.plan(name, request, "before") == "die":
                self.gone[name] = "killed"
                return
            reply = pickle.dumps(self.workers_made[name].answer(request))
            after = self.plan(name, request, "after")
            if after == "die":
                self.gone[name] = "killed"
                return
            if after == "late":
                self.late.append(reply)
                continue
            if after == "twice":
                again = self.workers_made[name].answer(pickle.loads(item))
                self.replies.put(pickle.dumps(again))
            while self.late:
                self.replies.put(self.late.pop())
            self.replies.put(reply)

    def workers(self):
        return {
            name: Candidate(self.identities.get(name, identity()), self.offers.get(name))
            for name in self.inboxes
            if name not in self.gone
        }

    def submit(self, requests):
        for name, request in requests:
            self.requests.append((name, request))
            self.inboxes[name].put(pickle.dumps(request))

    def collect(self, timeout):
        try:
            return [pickle.loads(self.replies.get(timeout=timeout))]
        except queue.Empty:
            return []

    def lost(self):
        return dict(self.gone)

    def close(self):
        self.closed = True
        for name, inbox in self.inboxes.items():
            self.workers_made[name].close()
            inbox.put(None)


TABLE = np.arange(1, 30)
CALLS = [
    [sum_numbers()],
    [add(number=3), sum_numbers(), fetch_rows()],
    [square(), add(number=1), fetch_rows()],
    [[add(number=part) for part in range(7)], fetch_rows()],
    [add(number=5)],
    [square(), sum_numbers()],
    [fetch_rows()],
]


def sources(n_parts=7):
    return [Numbers(tuple(own.tolist())) for own in np.array_split(TABLE, n_parts)]


def naive():
    """The same calls on all rows at once."""
    parts = [np.array(source.numbers) for source in sources()]
    heard = []
    for orders in CALLS:
        answers = []
        for order in orders:
            for number in range(len(parts)):
                own = order[number] if isinstance(order, list) else order
                if own.message is add:
                    parts[number] = parts[number] + own.arguments["number"]
                elif own.message is square:
                    parts[number] = parts[number] ** 2 % 1_000_003
            rows = np.concatenate(parts)
            kind = (order[0] if isinstance(order, list) else order).message
            answers.append(
                None if kind is add else rows.tolist() if kind is fetch_rows else int(rows.sum())
            )
        heard.append(answers)
    return heard


def plain(answers):
    return [a.tolist() if isinstance(a, np.ndarray) else a for a in answers]


def run(plan=None, workers="ab", calls=CALLS, **options):
    transport = Threads(workers, "fit", plan)
    options = {"deadline": 5.0, **options}
    with Driver(transport, options.pop("sources", sources()), fit="fit", **options) as driver:
        return [plain(driver.send(orders)) for orders in calls]
