"""Rows in other processes: what is said to them must survive the journey.

A worker holds some shards, or parts of a table, and answers lists of messages; both go as pickles
through a pipe. It remembers which kinds of messages it has answered. Loops get nothing but `call`,
the number of rows and of columns; tables in parts get `send`.
"""

import multiprocessing
import pickle
import traceback

from costboost.shards.parts import RawRows, TablePart


def work(pipe):
    """Hold shards and parts, answer messages, until told to end."""
    held, answered = {}, set()

    def answer(order, number, content):
        if order == "load":
            held[number] = content
        elif order == "read":
            held[number] = TablePart(content)
        elif order == "call":
            answers = [message.answer(held[number]) for message in content]
            answered.update(kind for message in content for kind in kinds_of(message))
            return answers
        elif order == "drop":
            del held[number]
        return answered if order == "tell" else None

    while True:
        order, number, content = pickle.loads(pipe.recv_bytes())
        if order == "end":
            return
        try:
            reply = ("done", answer(order, number, content))
        except Exception:
            reply = ("failed", traceback.format_exc())
        pipe.send_bytes(pickle.dumps(reply))


def kinds_of(message):
    """Yield the kind of a message, and those of messages that it passes on."""
    yield name_of(message.message)
    for inner in message.arguments.get("calls", ()):
        yield from kinds_of(inner)


def name_of(message):
    return f"{message.__module__}.{message.__qualname__}"


class Workers:
    """Some processes; shards and parts are dealt to them in turn."""

    def __init__(self, count):
        context = multiprocessing.get_context("spawn")
        self.pipes, self.processes = [], []
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(target=work, args=(theirs,), daemon=True)
            process.start()
            self.pipes.append(ours)
            self.processes.append(process)
        self.next_number = 0

    def ask(self, order, numbers, contents):
        """Send one thing to the holder of each shard or part; return the answers."""
        pipes = [self.pipes[number % len(self.pipes)] for number in numbers]
        answers = []
        for pipe, number, content in zip(pipes, numbers, contents, strict=True):
            pipe.send_bytes(pickle.dumps((order, number, content)))
            state, answer = pickle.loads(pipe.recv_bytes())
            assert state == "done", answer
            answers.append(answer)
        return answers

    def hold(self, order, contents):
        """Give processes something to hold; return its numbers."""
        numbers = [self.next_number + i for i in range(len(contents))]
        self.next_number += len(contents)
        self.ask(order, numbers, contents)
        return numbers

    def drop(self, numbers):
        self.ask("drop", numbers, [None] * len(numbers))

    def answered(self):
        """Return the kinds of messages that the processes have answered."""
        numbers = range(len(self.pipes))
        return set().union(*self.ask("tell", numbers, [None] * len(numbers)))

    def end(self):
        for pipe, process in zip(self.pipes, self.processes, strict=True):
            pipe.send_bytes(pickle.dumps(("end", 0, None)))
            process.join()


class ProcessShards:
    """What a loop sees of rows that are elsewhere."""

    is_remote, is_single_shard = True, False

    def __init__(self, workers, shards):
        self.workers = workers
        self.n_features = shards[0].codes.shape[1]
        self.n_rows = sum(len(shard.codes) for shard in shards)
        self.numbers = workers.hold("load", shards)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.workers.drop(self.numbers)

    def call(self, messages, n_rows=None):
        answers = self.workers.ask("call", self.numbers, [messages] * len(self.numbers))
        return [
            message.reduce([parts[i] for parts in answers]) for i, message in enumerate(messages)
        ]


class Source:
    """Some rows of a frame, to be read elsewhere."""

    def __init__(self, frame, y, weights=None):
        self.frame, self.y, self.weights = frame, y, weights

    def read(self):
        return RawRows(self.frame, self.y, self.weights)


class ProcessParts:
    """Carries messages to the parts of a table that are elsewhere."""

    def __init__(self, workers, sources):
        self.workers = workers
        self.numbers = workers.hold("read", sources)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.workers.drop(self.numbers)

    @property
    def n_parts(self):
        return len(self.numbers)

    def send(self, orders):
        answers = []
        for order in orders:
            each = order if isinstance(order, list) else [order] * self.n_parts
            replies = self.workers.ask("call", self.numbers, [[message] for message in each])
            answers.append(each[0].reduce([reply for (reply,) in replies]))
        return answers
