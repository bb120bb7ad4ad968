"""What the cost benchmark measures on more than two classes: 17 sets, K from 3 to 26.

Labels are class numbers. Classes of fewer than ten rows are left out, since their half of the rows
would not do for five folds, and scikit-learn's calibration refuses them. Every split comes with ten
cost matrices of the class-frequency model of Lozano and Abe; costs are told as a share of those of
the constant answer that is cheapest on the training rows.

What the default leaves open was chosen on the sets of `many-dev`; waveform is among them since the
default for two classes was chosen on it, under the name waveformm.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import log_loss

from _cost_tables import Table, data_folder
from _multiclass_sets import class_frequency_costs, cut, digits
from costboost.datasets import load

Floats = NDArray[np.float64]
Raw = tuple[Any, Any, tuple[str, ...]]

LEAST = 10  # rows of a class
N_MATRICES = 10


def _loaded(name: str) -> Raw:
    data = load(name, folder=data_folder(), as_frame="pandas")
    X = data.X if data.categorical else data.X.to_numpy(dtype=np.float64)
    return X, data.y, data.categorical


def _asked(name: str, column: str) -> Raw:
    """Return a table with one of its columns for target; the old target is left out."""
    X, _, categorical = _loaded(name)
    known = X[column].notna().to_numpy()
    y = X[column][known].astype(str).to_numpy(dtype=str)
    X = X.drop(columns=column)[known]
    return _filled(X), y, tuple(c for c in categorical if c != column)


def _filled(X: Any) -> Any:
    """Make missing values a category, or the median: not every peer takes them."""
    filled = {}
    for name, values in X.items():
        if values.dtype.kind in "fiu":
            filled[name] = values.fillna(values.median())
        else:
            filled[name] = values.astype(str).fillna("missing").astype("category")
    return type(X)(filled)


def _plain(load_set: Callable[[], Any]) -> Raw:
    X, y = load_set()
    return X, y, ()


SETS: dict[str, Callable[[], Raw]] = {
    "anneal": partial(_loaded, "anneal"),
    "ann_thyroid": partial(_loaded, "ann_thyroid"),
    "crx_a7": partial(_asked, "crx", "A7"),
    "digits": partial(_plain, digits),
    "flare_c": partial(_loaded, "solar_flare_c"),
    "flare_zurich": partial(_loaded, "solar_flare_zurich"),
    "german_purpose": partial(_asked, "german_credit", "purpose"),
    "iris": partial(_plain, partial(load_iris, return_X_y=True)),
    "letter": partial(_loaded, "letter"),
    "mushroom_habitat": partial(_asked, "mushroom", "habitat"),
    "pendigits": partial(_loaded, "pendigits"),
    "satimage": partial(_loaded, "satimage"),
    "segment": partial(_loaded, "segment"),
    "semeion": partial(_loaded, "semeion"),
    "splice": partial(_loaded, "splice"),
    "waveform": partial(_loaded, "waveform_noise"),
    "wine": partial(_plain, partial(load_wine, return_X_y=True)),
}
MANY = tuple(SETS)
SEEN = (
    "ann_thyroid", "anneal", "digits", "iris", "satimage", "segment", "semeion", "splice",
    "waveform",
)  # fmt: skip
MANY_HALVES = {
    "many-dev": SEEN,
    "many-test": tuple(name for name in MANY if name not in SEEN),
}
# Rows, columns, as `_cost_tables.SIZES`.
MANY_SIZES = {
    "anneal": (890, 38),
    "ann_thyroid": (7200, 21),
    "crx_a7": (653, 14),
    "digits": (1797, 64),
    "flare_c": (1372, 10),
    "flare_zurich": (1389, 12),
    "german_purpose": (991, 19),
    "iris": (150, 4),
    "letter": (20000, 16),
    "mushroom_habitat": (8124, 21),
    "pendigits": (10992, 16),
    "satimage": (6435, 36),
    "segment": (2310, 19),
    "semeion": (1593, 256),
    "splice": (3190, 60),
    "waveform": (5000, 40),
    "wine": (178, 13),
}


def read_many(name: str) -> Table:
    """Load a set; labels are 0 .. K - 1."""
    X, y, categorical = SETS[name]()
    y = np.unique(np.asarray(y), return_inverse=True)[1]
    kept = np.flatnonzero(np.bincount(y)[y] >= LEAST)
    y = np.unique(y[kept], return_inverse=True)[1].astype(np.int64)
    return Table(name, cut(X, kept), y, None, categorical)


def measure_many(train: Table, test: Table, proba: Floats, seed: int) -> dict[str, float]:
    """Return log loss, error and cost of the cheapest decisions on the test rows."""
    n_classes = proba.shape[1]
    proba = proba / proba.sum(axis=1, keepdims=True)  # of single precision
    shares = [_share_of_constant(train, test, proba, [seed, i]) for i in range(N_MATRICES)]
    return {
        "log_loss": float(log_loss(test.y, proba, labels=np.arange(n_classes))),
        "error": float(np.mean(np.argmax(proba, axis=1) != test.y)),
        "cost": float(np.mean(shares)),
    }


def _share_of_constant(train: Table, test: Table, proba: Floats, seed: list[int]) -> float:
    costs = class_frequency_costs(train.y, np.random.default_rng(seed))
    constant, _ = costs.cheapest_constant(train.y)
    decided = costs.bind(np.arange(proba.shape[1]), len(test.y)).decide(proba)
    answers = np.full(len(test.y), constant)
    paid, instead = (np.mean(costs.of_decisions(test.y, a)) for a in (decided, answers))
    return float(paid / instead)
