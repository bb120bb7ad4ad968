"""What the tests of both exports share: models, odd tables, and what must be refused."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import costboost as cb
from costboost.boosting.gradient.losses import CLASSIFICATION_LOSSES, LogLoss
from zoo import MAKERS, table

WRAPPERS = (
    "minimum cost",
    "minimum cost of numbers",
    "frozen",
    "metacost",
    "costing",
    "costing constants",
    "rate",
    "guaranteed",
    "parity",
    "cost columns",
)
# Prices by column have tests of their own: there are none in place of those that are not given.
NAMES = [name for name in MAKERS if name not in (*WRAPPERS, "costs by column")]


def odd_rows(rows, rng):
    """Return rows full of what tables seldom hold: edges, neighbours of edges, odd numbers."""
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -1.0, 254.0, 255.0, 0.5, 1e300])
    drawn = rng.choice(odd, size=rows.shape)
    shuffled = rng.permuted(rows, axis=0)
    with np.errstate(over="ignore"):
        near = np.nextafter(shuffled, rng.choice([-np.inf, np.inf], size=rows.shape))
    which = rng.integers(3, size=rows.shape)
    return np.choose(which, [drawn, shuffled, near])


@dataclass(frozen=True)
class Steep(LogLoss):
    """A registered loss whose probabilities are the logistic function of three times F."""

    kind: ClassVar[str] = "steep"
    odds: ClassVar[float] = 3.0


@dataclass(frozen=True)
class Linked(LogLoss):
    """A registered loss with a link of its own: a quarter of the logistic one, and more."""

    kind: ClassVar[str] = "linked"

    def proba(self, raw):
        return 0.125 + 0.75 * super().proba(raw)


def fit_registered(loss, *data):
    """Fit a model with a loss that is registered only while it learns."""
    CLASSIFICATION_LOSSES[loss.kind] = loss
    try:
        return cb.GradientBoostClassifier(loss.kind, 3).fit(*data)
    finally:
        del CLASSIFICATION_LOSSES[loss.kind]


def refused():
    X, y = table()
    full = np.nan_to_num(X, posinf=0, neginf=0)
    tree = DecisionTreeClassifier(max_depth=1)
    boost = cb.CostBoostClassifier
    yield "MetaCostClassifier", cb.MetaCostClassifier(boost("adaboost", 2), 2).fit(X, y)
    yield "DecisionTreeClassifier", boost("adaboost", 2, tree).fit(full, y)
    yield (
        "init=LogisticRegression",
        cb.GradientBoostClassifier(n_estimators=2, init=LogisticRegression()).fit(full, y),
    )
    yield "LogisticRegression", LogisticRegression().fit(full, y)
    yield "loss='linked' .* `proba`", fit_registered(Linked, X, y)
    yield "loss=Linked.* `proba`", cb.GradientBoostClassifier(Linked(), 2).fit(X, y)
