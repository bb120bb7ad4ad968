"""A table in parts: messages are pickled, answers reduced twice, as a cluster does."""

from __future__ import annotations

import pickle
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd


class Wire:
    """Sends pickled messages to parts, and reduces twice: within two workers, then over them."""

    def __init__(self, tables, weights=None):
        weights = [None] * len(tables) if weights is None else weights
        self.parts = [
            SimpleNamespace(raw=SimpleNamespace(X=X, weights=w))
            for X, w in zip(tables, weights, strict=True)
        ]
        self.sent = []

    def __call__(self, messages):
        messages = pickle.loads(pickle.dumps(messages))
        self.sent += messages
        return [self.ask(message) for message in messages]

    def ask(self, message):
        answers = [pickle.loads(pickle.dumps(message.answer(part))) for part in self.parts]
        half = len(answers) // 2
        workers = [some for some in (answers[half:], answers[:half]) if some]
        return message.reduce([message.reduce(some) for some in workers])


def cuts_of(n_rows, n_parts, seed):
    """Borders of parts, some of them empty and some of one row."""
    rng = np.random.default_rng(seed)
    return [0, *np.sort(rng.integers(0, n_rows + 1, n_parts - 1)).tolist(), n_rows]


def split(X, borders):
    rows = pairwise(borders)
    if isinstance(X, pd.DataFrame):
        return [X.iloc[a:b] for a, b in rows]
    return [X[a:b] for a, b in rows]
