"""Shards in other processes: what loops say to rows must survive the journey.

A worker holds some shards and answers lists of messages; both go as pickles through a pipe. The
loops get nothing but `call`, the number of rows and of columns.
"""

import multiprocessing
import pickle
import traceback


def work(pipe):
    """Hold shards, answer messages, until told to end."""
    shards = {}
    while True:
        order, number, content = pickle.loads(pipe.recv_bytes())
        if order == "end":
            return
        try:
            answer = None
            if order == "load":
                shards[number] = content
            elif order == "call":
                answer = [message.answer(shards[number]) for message in content]
            else:
                del shards[number]
            reply = ("done", answer)
        except Exception:
            reply = ("failed", traceback.format_exc())
        pipe.send_bytes(pickle.dumps(reply))


class Workers:
    """Some processes; shards are dealt to them in turn."""

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
        """Send one thing to the holder of each shard; return the answers."""
        pipes = [self.pipes[number % len(self.pipes)] for number in numbers]
        answers = []
        for pipe, number, content in zip(pipes, numbers, contents, strict=True):
            pipe.send_bytes(pickle.dumps((order, number, content)))
            state, answer = pickle.loads(pipe.recv_bytes())
            assert state == "done", answer
            answers.append(answer)
        return answers

    def end(self):
        for pipe, process in zip(self.pipes, self.processes, strict=True):
            pipe.send_bytes(pickle.dumps(("end", 0, None)))
            process.join()


class ProcessShards:
    """What a loop sees of rows that are elsewhere."""

    far, alone = True, False

    def __init__(self, workers, shards):
        self.workers = workers
        self.n_features = shards[0].codes.shape[1]
        self.n_rows = sum(len(shard.codes) for shard in shards)
        self.numbers = [workers.next_number + i for i in range(len(shards))]
        workers.next_number += len(shards)
        workers.ask("load", self.numbers, shards)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.workers.ask("drop", self.numbers, [None] * len(self.numbers))

    def call(self, messages, n_rows=None):
        answers = self.workers.ask("call", self.numbers, [messages] * len(self.numbers))
        return [
            message.reduce([parts[i] for parts in answers]) for i, message in enumerate(messages)
        ]
