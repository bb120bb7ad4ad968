"""Learners of relational examples: the built-in tree, or any scikit-learn classifier.

Examples are `vectors`, (m, K) int32 on a grid: +w where the pair (row, class) has label 1, -w where
it has label 0 (see `methods.py`). A learner returns a `PairHypothesis`: which of the K classes each
leaf says 1 for, with the leaf of every row in `shard.leaves`; or answers row by row.

The authors gave their learner the table K times, once for each class, with the class as a column.
The built-in tree reads the table once. A split on x serves all classes, and every leaf ends in a
split on y: it says 1 for the classes whose signed weight is positive there, and 0 for the others.
That is the tree over (x, y) whose splits on y come last, where they cost nothing and are made
wherever they pay. The best split on x maximises sum_k max(s_k, 0) over the leaves, the weighted
number of pairs answered right. Where a hypothesis must name exactly one class, a leaf names the one
of largest sum, and splits are chosen accordingly.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from costboost.binning.binner import Binner
from costboost.binning.codes import MISSING
from costboost.boosting.pnorm.methods import Method, make_stochastic
from costboost.inputs.arrays import ask, read_classes, source_of
from costboost.shards.grid import Vectors
from costboost.shards.layout import Shards
from costboost.shards.rows import RowSample, Shard, column_draw
from costboost.trees.forest import recall_leaves
from costboost.trees.grower import Grower
from costboost.trees.tree import Limits, Split, SplitFinder, Tree
from costboost.typing import Floats, Int64

Bits = NDArray[np.uint8]

_NARROW = 128  # codes in the richest column: below this, histograms are kept narrow
_PAIRS = 1 << 18  # pairs (row, class) that an outside learner is asked about at a time


@dataclass(frozen=True)
class PairTree:
    """A hypothesis h(x, y) in {0, 1} that is a tree.

    Attributes
    ----------
    tree : Tree
    answers : uint8 array of shape (L, K)
        The answer of each leaf for each class.
    reward : int or None
        sum v h over all rows, on the grid; None where the tree learnt from a sample of them.
    """

    tree: Tree
    answers: Bits
    reward: int | None

    def in_units(self, total: int, weight_unit: float) -> PairTree:
        """Return it with gains as shares of the total pair weight, covers in the user's weights."""
        tree = self.tree
        tree = replace(tree, gain=tree.gain / total, cover=tree.cover * weight_unit)
        return replace(self, tree=tree)


@dataclass(frozen=True)
class PairClassifier:
    """A hypothesis that is a fitted classifier; rows hold its answers."""

    estimator: Any
    answers = None
    reward = None

    def in_units(self, total: int, weight_unit: float) -> PairClassifier:
        """Return itself: it has no such numbers."""
        return self


PairHypothesis = PairTree | PairClassifier


class RelationalLearner(Protocol):
    """Interface of learners of relational examples."""

    def learn(self, shards: Shards, number: int) -> PairHypothesis:
        """Learn from the signed weights; rows find their leaves, or get answers."""

    def recall(self, shards: Shards, hypothesis: Any) -> None:
        """Write the answers of an earlier hypothesis of this learner."""


class NarrowFinder(SplitFinder):
    """Searches histograms of few codes."""

    _wide: Int64 | None = None

    def find(self, hist: Int64, *rest: Any) -> Split | None:
        """Return the best split; see `SplitFinder.find`."""
        # The search takes histograms of 256 codes. The cells between the last code and the one of
        # missing values are never written, so the buffer stays zero there from node to node.
        if self._wide is None or len(self._wide) != len(hist):
            self._wide = np.zeros((hist.shape[0], 256, hist.shape[2]), dtype=np.int64)
        self._wide[:, : hist.shape[1] - 1] = hist[:, :-1]
        self._wide[:, MISSING] = hist[:, -1]
        return super().find(self._wide, *rest)


@dataclass
class RelationalTree:
    """The built-in tree: one table, vector leaves.

    Attributes
    ----------
    binner : Binner
    n_classes : int
    limits : Limits
    one_label : bool
        Whether a leaf answers 1 for exactly one class.
    subsample : float
        The share of rows that each tree learns from; drawn by row number.
    seed : int
    """

    binner: Binner
    n_classes: int
    limits: Limits
    one_label: bool = False
    subsample: float = 1.0
    seed: int = 0

    def learn(self, shards: Shards, number: int) -> PairTree:
        """Grow a tree on the signed weights."""
        # Every node that waits holds K sums for each code: where columns have few of them, narrow
        # histograms take a fraction of the memory.
        n_codes = int(np.max(self.binner.n_bins))
        narrow = n_codes <= _NARROW
        finder = (NarrowFinder if narrow else SplitFinder)(
            self.binner.n_bins,
            self.binner.is_categorical,
            self.n_classes,
            criterion="one-hot" if self.one_label else "vector",
            min_count=self.limits.min_samples_leaf,
        )
        mode = Vectors(self.n_classes, n_codes if narrow else None)
        width, n_features = self.limits.max_features, self.binner.n_features
        draw = column_draw(width, n_features, self.seed, number)
        sample = RowSample(self.subsample, self.seed, number) if self.subsample < 1.0 else None
        tree = Grower(shards, mode, finder, self.limits, draw).grow(sample)
        answers = leaf_answers(tree.leaf_sums, one_label=self.one_label)
        # Sums of a sample say nothing exact of all rows: their reward is then summed by the loop.
        reward = int(np.sum(tree.leaf_sums * answers)) if sample is None else None
        return PairTree(tree, answers, reward)

    def recall(self, shards: Shards, hypothesis: PairTree) -> None:
        """Send every row down the tree of an earlier round."""
        shards.call([recall_leaves(tree=hypothesis.tree)])


def leaf_answers(sums: Int64, *, one_label: bool) -> Bits:
    """Return the 0/1 answer of each leaf for each class, by the sign of its weights, (L, K).

    Examples
    --------
    >>> import numpy as np
    >>> leaf_answers(np.array([[3, -1, 2], [-4, -1, -3]]), one_label=False).tolist()
    [[1, 0, 1], [0, 0, 0]]
    >>> leaf_answers(np.array([[3, -1, 2], [-4, -1, -3]]), one_label=True).tolist()
    [[1, 0, 0], [0, 1, 0]]
    """
    best = np.argmax(sums, axis=1)[:, None]
    predicted = best == np.arange(sums.shape[1]) if one_label else sums > 0
    return np.asarray(predicted, dtype=np.uint8)


@dataclass
class RelationalClassifier:
    """Any scikit-learn classifier.

    Attributes
    ----------
    estimator : classifier
        Cloned in every round. One without `sample_weight` learns from a cost-proportionate
        rejection sample instead (Zadrozny, Langford and Abe 2003).
    X : array or sparse matrix of shape (n, d), in the order in which it was given
    n_classes : int
    kind : "pairs" | "classes"
        It learns l from the expanded table of pairs (x, y), where y is K columns of 0 and 1; or
        y from x, where each answer that is better than a row's worst one is a weighted example.
    seed : int
    """

    estimator: Any
    X: Any
    n_classes: int
    kind: Literal["pairs", "classes"] = "pairs"
    seed: int = 0
    weighted: bool = field(init=False)

    def __post_init__(self) -> None:
        self.weighted = has_fit_parameter(self.estimator, "sample_weight")

    def learn(self, shards: Shards, number: int) -> PairClassifier:
        """Fit a clone on the relational examples."""
        vectors = shards.fetch(lambda shard: shard.state.vectors).astype(np.int64)
        # An example of a class cannot weigh against it. The same number is added to all classes of
        # a row, which changes no comparison between answers that name one class.
        if self.kind == "classes":
            vectors -= vectors.min(axis=1, keepdims=True)
        rng = np.random.RandomState([self.seed, number])
        rows, classes = self._sample(vectors, rng)
        weights = np.abs(vectors[rows, classes])
        pairs = self.kind == "pairs"
        labels = (vectors[rows, classes] > 0).astype(np.int64) if pairs else classes
        table = expand(self.X, rows, classes if pairs else None, self.n_classes)
        # Weights of mean 1: learners may regularise in units of a row.
        estimator = self._fit(table, labels, weights / weights.mean(), rng)
        hypothesis = PairClassifier(estimator)
        self.recall(shards, hypothesis)
        return hypothesis

    def _sample(self, vectors: Int64, rng: np.random.RandomState) -> tuple[Int64, Int64]:
        """Return the pairs to learn from: all that weigh, or a rejection sample of them."""
        if self.weighted:
            rows, classes = np.nonzero(vectors)
            return rows, classes
        # A pair is kept with a probability proportional to its weight; the kept ones weigh alike.
        share = np.abs(vectors) / np.abs(vectors).max()
        rows, classes = np.nonzero(rng.random_sample(vectors.shape) < share)
        return rows, classes

    def _fit(self, table: Any, labels: Int64, weights: Floats, rng: np.random.RandomState) -> Any:
        if np.ptp(labels) == 0:  # most classifiers refuse a single label
            return DummyClassifier(strategy="most_frequent").fit(table, labels)
        estimator = clone(self.estimator)
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=rng.randint(np.iinfo(np.int32).max))
        extra = {"sample_weight": weights} if self.weighted else {}
        return estimator.fit(table, labels, **extra)

    def recall(self, shards: Shards, hypothesis: PairClassifier) -> None:
        """Write the answers of the classifier of an earlier round."""
        answers = outside_answers(hypothesis.estimator, self.X, self.n_classes, self.kind)
        shards.put(_put_answers, answers)


def _put_answers(shard: Shard, answers: Bits) -> None:
    shard.state.answers = answers


def outside_answers(estimator: Any, X: Any, n_classes: int, kind: str) -> Bits:
    """Return a fitted classifier's 0/1 answer for every pair (row, class), (n, K)."""
    n_rows = X.shape[0]
    answers = np.zeros((n_rows, n_classes), dtype=np.uint8)
    source = source_of(estimator, "predict")
    if kind == "classes":
        predicted = read_classes(ask(estimator, "predict", X), n_rows, n_classes, source)
        answers[np.arange(n_rows), predicted] = 1
        return answers
    # The table of pairs is K times as long as X, so it is built for some rows at a time.
    step = max(1, _PAIRS // n_classes)
    for start in range(0, n_rows, step):
        rows = np.repeat(np.arange(start, min(start + step, n_rows)), n_classes)
        classes = np.tile(np.arange(n_classes), len(rows) // n_classes)
        predicted = ask(estimator, "predict", expand(X, rows, classes, n_classes))
        answers[rows, classes] = read_classes(predicted, len(rows), 2, source)
    return answers


def outside_kind(method: Method) -> Literal["pairs", "classes"]:
    """Return what an outside classifier learns: a binary relation, or a class."""
    return "classes" if method.answers == "functional" else "pairs"


@dataclass(frozen=True)
class OutsideAnswers:
    """How the outside classifiers of a fitted mixture answer.

    Attributes
    ----------
    kind : "pairs" | "classes"
        What they learnt; see `RelationalClassifier`.
    n_classes : int
    stochastic : bool
        Whether answers are made distributions.
    """

    kind: Literal["pairs", "classes"]
    n_classes: int
    stochastic: bool

    def __call__(self, estimator: Any, X: Any, alpha: Any = None) -> Floats:
        """Return f_t of every row, (n, K), whatever its share in the mixture."""
        answers = outside_answers(estimator, X, self.n_classes, self.kind)
        return make_stochastic(answers) if self.stochastic else answers.astype(np.float64)


def expand(X: Any, rows: Int64, classes: Int64 | None, n_classes: int) -> Any:
    """Return rows of X; with classes, each behind K columns that name its class.

    Examples
    --------
    >>> import numpy as np
    >>> expand(np.array([[5.0], [7.0]]), np.array([0, 0, 1]), np.array([0, 1, 1]), 2).tolist()
    [[5.0, 1.0, 0.0], [5.0, 0.0, 1.0], [7.0, 0.0, 1.0]]
    """
    table = _safe_indexing(X, rows)
    if classes is None:
        return table
    if hasattr(table, "to_numpy"):  # a DataFrame: its columns become one array
        table = table.to_numpy()
    named = np.eye(n_classes)[classes]
    if sp.issparse(table):
        return sp.hstack([table, sp.csr_array(named)], format="csr")
    return np.hstack([table, named])
