"""Small problems for the L_p family, and its loop on shards of them."""

import numpy as np
from hypothesis import strategies as st

from costboost import Costs
from costboost.binning.binner import fit_binner
from costboost.boosting.pnorm.learner import RelationalTree
from costboost.boosting.pnorm.loop import PNormBoosting, PNormSetting
from costboost.boosting.pnorm.methods import (
    METHODS,
)
from costboost.boosting.pnorm.rows import PNormLoader
from costboost.shards.layout import RowData, plan_layout
from costboost.trees.tree import Limits

NAMES = list(METHODS)
seeds = st.integers(0, 10_000)


def problem(seed=0, n=60, d=3, K=3, levels=8):
    """(X, y): K noisy classes; columns of few values."""
    rng = np.random.default_rng(seed)
    X = np.floor(rng.normal(size=(n, d)) * levels / 4)
    y = np.argmax(X @ rng.normal(size=(d, K)) + rng.normal(size=(n, K)), axis=1)
    y[:K] = np.arange(K)
    return X, y


def row_costs(seed, y, K):
    """C (n, K), positive but for 0 at the label: nothing ties."""
    rng = np.random.default_rng([seed, 1])
    C = rng.uniform(0.1, 3.0, size=(len(y), K)) * rng.uniform(0.5, 2.0, size=(len(y), 1))
    C[np.arange(len(y)), y] = 0.0
    return C


def matrix(seed, K):
    C = np.random.default_rng([seed, 2]).uniform(0.5, 5.0, size=(K, K))
    np.fill_diagonal(C, 0.0)
    return C


def frequency_matrix(y, rng):
    """Dear to miss where rare: C[true, answer] ~ U[0, 2000 P(answer) / P(true)], 0 if right."""
    classes, counts = np.unique(y, return_counts=True)
    P = counts / counts.sum()
    C = rng.uniform(size=(len(P), len(P))) * 2000 * P[None, :] / P[:, None]
    np.fill_diagonal(C, 0.0)
    return classes, C


def mixture_of(rng, n, K):
    return rng.dirichlet(np.ones(K), size=n)


def loader(y, costs, weights, K):
    return PNormLoader(RowData(y, weights, costs), K).load


def fetch(loop, name):
    return loop.shards.fetch(lambda shard: getattr(shard.state, name))


def run(X, y, C, method="lp-csb", *, p=2.0, step="harmonic", T=5, n_shards=1, weights=None, **tree):
    """The rounds and the state of the loop, with stumps unless said otherwise."""
    K = C.shape[1]
    binner = fit_binner(X, weights)
    layout = plan_layout(None, len(y), 1, n_shards)
    costs = (Costs.of_rows(C) if len(C) == len(y) else Costs.from_matrix(C)).bind(np.arange(K))
    limits = Limits(**({"max_depth": 1} | tree))
    codes = binner.encode(X, positions=layout.positions)
    with layout.cut(codes, loader(y, costs, weights, K)) as shards:
        learner = RelationalTree(binner, K, limits, METHODS[method].one_label)
        choices = (METHODS[method], learner, costs, K, PNormSetting(T, p, step))
        loop = PNormBoosting(shards, *choices, weighted=weights is not None)
        return list(loop.rounds()), loop
