"""What the cost benchmark measures on: 18 binary sets at 21 cost ratios, five sets with prices.

Labels are 0 and 1 everywhere, 1 being the positive class. Tables without categories are arrays;
the others are pandas frames whose categories know all their values, in training and test rows.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from costboost import Costs
from costboost.datasets import load

# What the default leaves open was chosen on nine of these and on eight of `_cost_many`. A table is
# seen if it was looked at under any name: landsatm and semeion are satimage and semeion, on which
# the default for more than two classes was chosen.
SEEN = [
    "congress",
    "heart",
    "krvskp",
    "landsatm",
    "liver",
    "musk2",
    "pima",
    "semeion",
    "sonar",
    "splicem",
    "waveformm",
]
UNSEEN = [
    "german_credit",
    "ionosphere",
    "mushroom",
    "parkinsons",
    "spambase",
    "survival",
    "wdbc",
]
HALVES = {
    "dev": tuple(f"nik_{name}" for name in SEEN),
    "test": tuple(f"nik_{name}" for name in UNSEEN),
}
NIKOLAOU = tuple(sorted(HALVES["dev"] + HALVES["test"]))
# The name of each priced set and its cost model; None is the only one.
PRICING = {
    "german_credit": "amount",
    "south_german_credit": None,
    "credit_default_taiwan": None,
    "bank_marketing": None,
    "creditcard_fraud_sample": None,
}
PRICED = tuple(PRICING)
# On these two it was chosen that from 10,000 rows on larger trees are boosted by log loss.
PRICED_SEEN = ("credit_default_taiwan", "bank_marketing")
# Known beforehand, so that work can be planned without reading files: rows, columns.
SIZES = {
    "nik_congress": (435, 16),
    "nik_german_credit": (1000, 24),
    "nik_heart": (270, 13),
    "nik_ionosphere": (351, 34),
    "nik_krvskp": (3196, 36),
    "nik_landsatm": (6435, 36),
    "nik_liver": (345, 6),
    "nik_mushroom": (8124, 21),
    "nik_musk2": (6598, 166),
    "nik_parkinsons": (195, 22),
    "nik_pima": (768, 8),
    "nik_semeion": (1593, 256),
    "nik_sonar": (208, 60),
    "nik_spambase": (4601, 57),
    "nik_splicem": (3175, 60),
    "nik_survival": (306, 3),
    "nik_waveformm": (5000, 40),
    "nik_wdbc": (569, 30),
    "german_credit": (1000, 20),
    "south_german_credit": (1000, 20),
    "credit_default_taiwan": (30000, 23),
    "bank_marketing": (37931, 10),
    "creditcard_fraud_sample": (1409, 29),
}

_STEPS = (1, 1.5, 2, 2.5, 5, 10, 15, 20, 25, 50, 100)
# (fp, fn), from dear false positives to dear false negatives.
RATIOS = tuple((s, 1.0) for s in reversed(_STEPS[1:])) + tuple((1.0, s) for s in _STEPS)
RATIO_NAMES = tuple(f"q {fp:g}:{fn:g}" for fp, fn in RATIOS)
_FP, _FN = np.array(RATIOS, dtype=float).T


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of a set, or a part of them."""

    name: str
    X: Any
    y: Any
    costs: Costs | None = None
    categorical: tuple[str, ...] = ()

    def take(self, index: Any) -> Table:
        """Cut out rows."""
        X = self.X.iloc[index] if self.categorical else self.X[index]
        costs = None if self.costs is None else self.costs[index]
        return Table(self.name, X, self.y[index], costs, self.categorical)

    def split(self, repeat: int) -> tuple[Table, Table]:
        """Return the training and the test half, stratified."""
        halves = StratifiedShuffleSplit(1, test_size=0.5, random_state=repeat)
        train, test = next(halves.split(np.zeros(len(self.y)), self.y))
        return self.take(train), self.take(test)


def default_repeats(name: str) -> int:
    """Return how often a set is split: small ones more often, and those with prices.

    A few dear rows decide what the latter save: five splits leave an interval of three points.
    """
    small = SIZES[name][0] < 2000
    if name in PRICED:
        return 25 if small else 5
    return 5 if small else 2


def data_folder() -> Path:
    """Return where the sets are."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("COSTBOOST_DATA") or beside)


@lru_cache(maxsize=2)
def read_table(name: str) -> Table:
    """Load a set; what was read last is kept, since jobs of one set follow each other."""
    data = load(name, folder=data_folder(), cost_model=PRICING.get(name), as_frame="pandas")
    y = (data.y == data.positive).astype(np.int64)
    X = data.X if data.categorical else data.X.to_numpy(dtype=np.float64)
    costs = None if name not in PRICING else _recoded(data)
    return Table(name, X, y, costs, data.categorical)


def _recoded(data: Any) -> Costs:
    """Return the costs of a set in terms of labels 0 and 1."""
    labels = np.unique(data.y)
    bound = data.costs.bind(labels, len(data.y))
    # The expected cost under a certain class is that class's row of C.
    prices = np.stack([bound.expected(np.tile(e, (len(data.y), 1))) for e in np.eye(2)], axis=1)
    order = [0, 1] if labels[1] == data.positive else [1, 0]
    return Costs.from_matrix(prices[:, order][:, :, order], classes=[0, 1])


def decide(p: Any) -> Any:
    """Return the cheapest decisions at every ratio, shape (n_ratios, n_rows)."""
    return p[None, :] > (_FP / (_FP + _FN))[:, None]


def normalized_costs(y: Any, decisions: Any) -> Any:
    """Return `costboost.metrics.normalized_cost` at every ratio, shape (n_ratios,)."""
    wrong_positives = (decisions & (y == 0)).sum(axis=1)
    wrong_negatives = (~decisions & (y == 1)).sum(axis=1)
    n_positive = int(y.sum())
    worst = _FP * (len(y) - n_positive) + _FN * n_positive
    return (_FP * wrong_positives + _FN * wrong_negatives) / worst
