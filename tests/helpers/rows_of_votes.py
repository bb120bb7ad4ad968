"""Shared by the tests of AdaBoost's sums: random rows in leaves, and sums over them."""

import numpy as np

from costboost import Costs
from costboost.boosting.adaboost.learner import Hypothesis
from costboost.boosting.adaboost.rows import RowTerms, TrainingRows
from costboost.boosting.adaboost.steps import RowSums
from costboost.boosting.adaboost.sums import View
from costboost.shards.layout import RowData, plan_layout


class Rows:
    """Random rows of two classes in three leaves, with their own margins and factors."""

    def __init__(self, seed, n=50, *, symmetric=True, factored=False):
        rng = np.random.default_rng(seed)
        self.n, first = n, int(rng.integers(0, n + 1))
        self.starts = np.array([0, first, n])
        self.labels = np.repeat([0, 1], [first, n - first])
        self.leaves = rng.integers(0, 3, n).astype(np.uint16)
        self.hypothesis = Hypothesis(rng.integers(0, 2, 3), rng.uniform(0.2, 1.0, 3))
        self.weights = rng.uniform(0.0, 1.0, n) ** 4
        right = rng.uniform(0.0, 1.0, n)
        wrong = right if symmetric else rng.uniform(0.0, 1.0, n)
        own = self.labels[:, None] == np.arange(2)
        self.u = np.where(own, right[:, None], -wrong[:, None])
        self.f = np.ones((n, 2))
        if factored:
            self.f = rng.uniform(0.5, 2.0, (n, 1 if symmetric else 2)) * self.f
        self.terms = RowTerms.of(self.u, self.f)

    @property
    def margins(self):
        answers = self.hypothesis.votes[self.leaves]
        sizes = self.hypothesis.sizes[self.leaves]
        return sizes * self.u[np.arange(self.n), answers]

    @property
    def factors(self):
        return self.f[np.arange(self.n), self.hypothesis.votes[self.leaves]]

    def arguments(self):
        terms, hypothesis = self.terms, self.hypothesis
        answers = terms.columns(hypothesis), terms.sizes(hypothesis, 2)
        return self.weights, self.starts, self.leaves, *answers, terms.u, terms.f


def sums_of(rows, n_shards=1):
    """Return the sums over the rows of one shard, or of several."""
    layout = plan_layout(rows.labels, rows.n, 2, n_shards)
    given = TrainingRows(RowData(rows.labels, None, Costs(fp=1, fn=1).bind([0, 1])), 2, rows.labels)
    shards = layout.cut(np.zeros((rows.n, 1), np.uint8), given.load)
    for shard in shards.shards:
        shard.leaves[:] = rows.leaves[shard.rows]
        shard.state.weights = rows.weights[shard.rows]
        shard.state._terms = RowTerms.of(rows.u[shard.rows], rows.f[shard.rows])
    bounds = (float(rows.weights.max() * rows.f.max()), 1.0)
    return shards, RowSums(shards, View(rows.hypothesis), by_leaf(rows), *bounds)


def by_leaf(rows):
    out = np.zeros((3, 2))
    np.add.at(out, (rows.leaves, rows.labels), rows.weights)
    return out
