"""Shared by the tests of tables in parts: rows in this process, behind pickled messages."""

import pickle
from itertools import pairwise

from costboost.fitting.spread import PartsTable
from costboost.shards.parts import RawRows, TablePart


class Rows:
    """A source: some rows of a frame."""

    def __init__(self, frame, y, weights=None):
        self.frame, self.y, self.weights = frame, y, weights

    def read(self):
        return RawRows(self.frame, self.y, self.weights)


class InProcess:
    """Carries pickled messages to parts in this process."""

    def __init__(self, sources):
        self.parts = [TablePart(pickle.loads(pickle.dumps(source))) for source in sources]

    @property
    def n_parts(self):
        return len(self.parts)

    def send(self, orders):
        answers = []
        for order in orders:
            each = order if isinstance(order, list) else [order] * len(self.parts)
            each = pickle.loads(pickle.dumps(each))
            replies = [one.answer(part) for one, part in zip(each, self.parts, strict=True)]
            answers.append(each[0].reduce(pickle.loads(pickle.dumps(replies))))
        return answers


def spread(frame, y, weights=None, cuts=(), **options):
    bounds = [0, *cuts, len(y)]
    parts = [slice(*pair) for pair in pairwise(bounds)]
    own = [None if weights is None else weights[part] for part in parts]
    sources = [Rows(frame.iloc[p], y[p], w) for p, w in zip(parts, own, strict=True)]
    return PartsTable(InProcess(sources), frame.columns, **options)
