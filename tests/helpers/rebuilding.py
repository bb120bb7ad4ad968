"""Shared by the tests of messages: shards that are lost and made again, as on a cluster."""

import pickle
from collections import Counter

import numpy as np

from costboost.clusters.journal import Journal

LOST = (0, 2)  # before these calls of a kind: the first, and one that others have come before


def spoil(state):
    """Overwrite arrays: new ones that are not written may lie where these were."""
    for array in vars(state).values():
        if isinstance(array, np.ndarray) and array.flags.writeable:
            array.fill(77)


class RebuiltShards:
    """Makes its shards anew before some of the calls, and tells them what their journal kept.

    A message that changes rows, and does not say so, is missing there: the model is another one.
    """

    is_remote, is_single_shard = True, False

    def __init__(self, shards):
        self.fresh = pickle.dumps(shards)
        self.shards = pickle.loads(self.fresh)
        self.n_features = shards[0].codes.shape[1]
        self.n_rows = sum(len(shard.rows) for shard in shards)
        self.journal, self.calls = Journal(), Counter()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def call(self, messages, n_rows=None):
        kinds = tuple(call.message for call in messages)
        if self.calls[kinds] in LOST:
            self.rebuild()
        self.calls[kinds] += 1
        answers = [[message.answer(shard) for message in messages] for shard in self.shards]
        self.journal.add(messages)
        return [
            message.reduce([parts[i] for parts in answers]) for i, message in enumerate(messages)
        ]

    def rebuild(self):
        for shard in self.shards:
            spoil(shard.state)
        self.shards = pickle.loads(self.fresh)
        missed = self.journal.since(0, range(len(self.shards)))
        for number, shard in enumerate(self.shards):
            for message in missed.get(number, ()):
                message.answer(shard)
