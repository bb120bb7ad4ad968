"""Weak learners: the built-in tree, or any scikit-learn classifier.

A learner is trained on the weights that its shards hold and returns a `WeakModel`: leaves written
to `shard.leaves`, the class each leaf votes for, and the weight of every (leaf, class) cell. An
outside classifier is a tree whose leaves are its answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from costboost.binning.binner import Binner
from costboost.inputs.arrays import ask, count_rows, read_classes, read_probabilities, source_of
from costboost.runtime.messages import message, total
from costboost.shards.grid import ClassWeights, grid_scale
from costboost.shards.layout import Shards
from costboost.shards.rows import ColumnDraw, RowSample, Shard, column_draw
from costboost.trees.charges import Charges, impurity
from costboost.trees.forest import recall_leaves
from costboost.trees.grower import Grower
from costboost.trees.tree import ROUNDING, Limits, SplitFinder, Tree
from costboost.typing import Floats, Int64

Votes = Literal["discrete", "confidence", "real", "gentle"]

LEAF_VALUES = ("real", "gentle")  # fitted values of leaves, taken with a step of 1

_CLIP = 2.0**-52  # of probabilities inside logarithms, as SAMME.R does


@dataclass(frozen=True)
class Hypothesis:
    """The vote of every leaf of a learner: its class and its strength.

    Attributes
    ----------
    votes : int64 array of shape (L,)
        The class each leaf votes for.
    sizes : float64 array of shape (L,)
        How strongly; 1 for discrete votes.
    by_row : bool
        Whether rows of one leaf vote with different strength; the rows' `sizes` say how.
    """

    votes: Int64
    sizes: Floats
    by_row: bool = False

    def right(self, n_classes: int) -> NDArray[np.bool_]:
        """Return (L, K): whether the leaf's vote is right for a row of the class."""
        return np.asarray(self.votes[:, None] == np.arange(n_classes))


@dataclass(frozen=True)
class WeakModel:
    """The weak model of one round: how its leaves vote, and the weight in them.

    Attributes
    ----------
    hypothesis : Hypothesis
    cells : float64 array of shape (L, K)
        The weight of the rows of every class in every leaf, as the shards hold it.
    """

    hypothesis: Hypothesis
    cells: Floats

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.cells.sum())

    @cached_property
    def shares(self) -> Floats:
        """The share of the weight in every cell, (L, K)."""
        return np.asarray(self.cells / self.total)


@dataclass(frozen=True)
class WeakTree(WeakModel):
    """A weak model that is a grown tree."""

    tree: Tree


@dataclass(frozen=True)
class WeakEstimator(WeakModel):
    """A weak model that is a fitted scikit-learn classifier."""

    estimator: Any


@dataclass(frozen=True)
class LearnerWeights:
    """The weights that a learner trains on: those of the rows, times the rule's factors.

    Attributes
    ----------
    largest : float
        No product is above this.
    weigh : callable
        Called with a hypothesis; adds up the weights alone by leaf and class, (L, K).
    by_class : float64 array of shape (K,) or None
        What multiplies the weights of each class.
    by_row : bool
        Whether every weight is multiplied by `AdaRows.learner_factors`.
    units : float64 array of shape (K,) or None
        For a learner that picks alpha too: the logarithms of what a weight of 1 of each class is.
    """

    largest: float
    weigh: Callable[[Hypothesis], Floats]
    by_class: Floats | None = None
    by_row: bool = False
    units: Floats | None = None


class Learner(Protocol):
    """Interface of weak learners."""

    @property
    def chooses_step(self) -> bool:
        """Whether votes and alpha are chosen together, by another search than the tree's."""

    def learn(self, shards: Shards, number: int, learner_weights: LearnerWeights) -> WeakModel:
        """Train on the learner's weights."""

    def recall(self, shards: Shards, model: Any) -> None:
        """Write to `shard.leaves` the leaves of an earlier weak model of this learner."""


def leaf_votes(
    sums: NDArray[Any], votes: Votes, *, laplace: float = 0.0, bounds: Floats | None = None
) -> Hypothesis:
    """Return the hypothesis in which every leaf votes for its heaviest class.

    Among classes whose weights are equal but for rounding the first one wins: boosting makes
    leaves that are half and half in theory.

    Parameters
    ----------
    sums : ndarray of shape (L, K)
        Class weights in each leaf.
    votes : "discrete" | "confidence" | "real" | "gentle"
        Strength 1; |P(+) - P(-)| (Schapire and Singer; Gentle AdaBoost's leaf value); or
        1/2 |ln(P(+) / P(-))| (Real AdaBoost). All but the first are for two classes.
    laplace : float
        Added to both classes' weights: the Laplace estimate, in units of `sums`.
    bounds : float64 array of shape (L, 2) or None
        Where the second of two classes' shares may lie: a leaf outside votes as one at the end.
    """
    if bounds is not None:
        sums = _within(sums, bounds, laplace)
        laplace = 0.0
    heaviest = sums.max(axis=1, keepdims=True) * (1.0 - ROUNDING)
    chosen = np.argmax(sums >= heaviest, axis=1).astype(np.int64)
    if votes == "discrete":
        return Hypothesis(chosen, np.ones(len(chosen)))
    weights = sums.astype(float) + laplace
    total = weights.sum(axis=1)
    # A leaf without weight is half and half, and votes with strength 0.
    p = np.divide(
        weights, total[:, None], out=np.full(weights.shape, 0.5), where=total[:, None] > 0
    )
    if votes == "real":
        p = np.clip(p, _CLIP, 1 - _CLIP)
        return Hypothesis(chosen, np.abs(0.5 * np.log(p[:, 1] / p[:, 0])))
    return Hypothesis(chosen, np.abs(p[:, 1] - p[:, 0]))


def _within(sums: NDArray[Any], bounds: Floats, laplace: float) -> Floats:
    """Return the class shares of each leaf, (L, 2), the second kept within its bounds."""
    weights = sums.astype(float) + laplace
    total = weights.sum(axis=1)
    share = np.divide(weights[:, 1], total, out=np.full(len(total), 0.5), where=total > 0.0)
    share = np.clip(share, bounds[:, 0], bounds[:, 1])
    return np.column_stack([1.0 - share, share])


@message(reduce=total)
def sum_learner_weights(shard: Shard, *, mode: ClassWeights) -> int:
    """Return the total weight, on the grid of a mode."""
    state, total = shard.state, 0
    for rows in state.pieces(shard.starts):
        weights = state.weights[rows] * mode.scales[state.labels[rows.start]]
        if mode.factored:
            weights *= state.learner_factors[rows]
        total += int(np.sum((weights + 0.5).astype(np.int64)))
    return total


@dataclass
class TreeLearner:
    """The built-in tree.

    Attributes
    ----------
    binner : Binner
    n_classes : int
    limits : Limits
    criterion : "gini" | "entropy" | "error"
    min_weight_leaf : float
        The least share of the weight in a leaf.
    subsample : float
        The share of rows that each tree learns from; drawn by row number.
    votes, laplace :
        As in `leaf_votes`; `laplace` adds a row of average weight to each class.
    n_copies : float or None
        How many rows there are, one of weight 3 being three of them; None: as many as rows.
    seed : int
    finder : callable or None
        Makes another split finder from a binner and the units of weights: CSAda's joint search.
    monotone : int8 array of shape (n_features,) or None
        +1: votes for the second of two classes rise with the column, -1: they fall, 0: free.
    charges : Charges or None
        What columns cost; gains are then net of it.
    """

    binner: Binner
    n_classes: int
    limits: Limits
    criterion: Literal["gini", "entropy", "error"] = "gini"
    min_weight_leaf: float = 0.0
    subsample: float = 1.0
    votes: Votes = "discrete"
    laplace: bool = False
    n_copies: float | None = None
    seed: int = 0
    finder: Callable[[Binner, Floats], SplitFinder] | None = None
    monotone: NDArray[np.int8] | None = None
    charges: Charges | None = None

    @property
    def chooses_step(self) -> bool:
        """Whether a finder of its own chooses alpha too."""
        return self.finder is not None

    def learn(self, shards: Shards, number: int, learner_weights: LearnerWeights) -> WeakTree:
        """Grow a tree on the learner's weights."""
        scales: Any = grid_scale(learner_weights.largest, shards.n_rows)
        # A class's factor goes into its scale: the histogram of each class is exact on a grid of
        # its own.
        by_class = (scales,) * self.n_classes
        if learner_weights.by_class is not None:
            scales = scales * learner_weights.by_class
            by_class = tuple(scales.tolist())
        mode = ClassWeights(by_class, learner_weights.by_row)
        finder = self._finder(shards, mode, learner_weights.units)
        draw = self._draw(number)
        grower = Grower(shards, mode, finder, self.limits, draw, self.charges)
        sample = RowSample(self.subsample, self.seed, number) if self.subsample < 1.0 else None
        tree = grower.grow(sample)
        weight, leaf_sums = float(tree.sums[0].sum()), tree.leaf_sums
        if self.charges is not None:
            self.charges.spend(float(tree.gain.sum()), impurity(finder, tree.sums[0]))
        if not self.chooses_step:  # gains as shares of the weight; a joint search's are already
            np.divide(tree.gain, max(weight, 1.0), out=tree.gain)
        if learner_weights.units is not None:
            # Weights were relative to the largest of their class: votes compare classes, so back to
            # one unit.
            leaf_sums = leaf_sums * np.exp(learner_weights.units - np.max(learner_weights.units))
        # Laplace's correction adds the mean weight of a row, not 1: weights need not sum to
        # anything.
        unit = self.laplace * weight / (self.n_copies or shards.n_rows)
        hypothesis = leaf_votes(leaf_sums, self.votes, laplace=unit, bounds=tree.leaf_bounds)
        if finder.orientation is not None and len(tree.leaves) == 2:
            hypothesis = Hypothesis(finder.orientation, hypothesis.sizes)
        # The leaves' sums are those of the rows' weights then, and need no second pass.
        if not learner_weights.by_row and sample is None:
            return WeakTree(hypothesis, leaf_sums / scales, tree)
        return WeakTree(hypothesis, learner_weights.weigh(hypothesis), tree)

    def recall(self, shards: Shards, model: WeakTree) -> None:
        """Assign every row to its leaf in the tree of an earlier round."""
        shards.call([recall_leaves(tree=model.tree)])
        if self.charges is not None:
            sums = model.tree.sums[0]
            gain = float(model.tree.gain.sum()) * float(sums.sum())
            self.charges.end(shards, model.tree)
            self.charges.spend(gain, impurity(self._weightless, sums))

    def _finder(self, shards: Shards, mode: ClassWeights, units: Floats | None) -> SplitFinder:
        if self.finder is not None:
            return self.finder(self.binner, np.zeros(2) if units is None else units)
        if self.min_weight_leaf <= 0.0:
            return self._weightless
        (total,) = shards.call([sum_learner_weights(mode=mode)])
        return self._make_finder(self.min_weight_leaf * float(total))

    @cached_property
    def _weightless(self) -> SplitFinder:
        """The split finder without a limit on leaf weight, which serves all rounds."""
        return self._make_finder(0.0)

    def _make_finder(self, min_weight: float) -> SplitFinder:
        return SplitFinder(
            self.binner.n_bins,
            self.binner.is_categorical,
            self.n_classes,
            criterion=self.criterion,
            min_weight=min_weight,
            min_count=self.limits.min_samples_leaf,
            monotone=self.monotone,
        )

    def _draw(self, number: int) -> ColumnDraw | None:
        limits, n_features = self.limits, self.binner.n_features
        return column_draw(limits.max_features, n_features, self.seed, number, among=limits.columns)


@dataclass
class OutsideLearner:
    """Any classifier with `sample_weight`, trained on weights of sum 1.

    Attributes
    ----------
    estimator : classifier
        Cloned in every round.
    X, y : the table and the encoded labels, in the order in which they were given
    n_classes : int
    votes : as in `leaf_votes`; other than "discrete" needs `predict_proba`
    random_state : RandomState
    seeds : list of lists of int
        Drawn so far, for every round and every random state of the estimator.
    """

    estimator: Any
    X: Any
    y: NDArray[Any]
    n_classes: int
    votes: Votes = "discrete"
    random_state: np.random.RandomState = field(default_factory=np.random.RandomState)
    seeds: list[list[int]] = field(default_factory=list)
    chooses_step = False

    def learn(self, shards: Shards, number: int, learner_weights: LearnerWeights) -> WeakEstimator:
        """Fit a clone on the learner's weights."""
        weights = shards.fetch(lambda shard: shard.state.weights)
        if learner_weights.by_class is not None:
            weights *= learner_weights.by_class[self.y]
        if learner_weights.by_row:
            weights *= shards.fetch(lambda shard: shard.state.learner_factors)
        # Every round has a classifier of its own, since all of them vote in the end.
        estimator = clone(self.estimator)
        self._sow(estimator, number)
        # Sum 1: regularised learners must not depend on the scale of the weights.
        estimator.fit(self.X, self.y, sample_weight=weights / weights.sum())
        self._answer(shards, estimator)
        by_row = self.votes != "discrete"
        hypothesis = Hypothesis(np.arange(self.n_classes), np.ones(self.n_classes), by_row)
        return WeakEstimator(hypothesis, learner_weights.weigh(hypothesis), estimator)

    def _sow(self, estimator: Any, number: int) -> None:
        """Set all random states, nested ones too, by round: a warm start draws as one long fit."""
        names = [name for name in estimator.get_params() if name.split("__")[-1] == "random_state"]
        while len(self.seeds) <= number:
            self.seeds.append([int(self.random_state.randint(2**31 - 1)) for _ in names])
        estimator.set_params(**dict(zip(sorted(names), self.seeds[number], strict=True)))

    def recall(self, shards: Shards, model: WeakEstimator) -> None:
        """Write the answers of the classifier of an earlier round."""
        self._answer(shards, model.estimator)

    def _answer(self, shards: Shards, estimator: Any) -> None:
        if self.votes == "discrete":
            votes, sizes = class_votes(estimator, self.X, self.n_classes), None
        else:
            margins = probability_votes(estimator, self.X, self.votes)
            votes, sizes = (margins > 0).astype(np.int64), np.abs(margins)
        # An outside classifier has no leaves: the class that it gives to a row takes the place of
        # one.
        shards.put(_put_leaves, votes)
        if sizes is not None:
            shards.put(_put_sizes, sizes)


def _put_leaves(shard: Shard, votes: Int64) -> None:
    shard.leaves[:] = votes


def _put_sizes(shard: Shard, sizes: Floats) -> None:
    shard.state.sizes = sizes


def class_votes(estimator: Any, X: Any, n_classes: int) -> Int64:
    """Return an outside classifier's predictions as class numbers, (n,), checked."""
    answers = ask(estimator, "predict", X)
    return read_classes(answers, count_rows(X), n_classes, source_of(estimator, "predict"))


def probability_votes(estimator: Any, X: Any, votes: Votes) -> Floats:
    """Return signed votes made of an outside classifier's probabilities (two classes), (n,)."""
    proba = read_probabilities(estimator, X, np.arange(2))
    if votes == "real":
        p = np.clip(proba, _CLIP, 1 - _CLIP)
        return np.asarray(0.5 * np.log(p[:, 1] / p[:, 0]))
    return np.asarray(proba[:, 1] - proba[:, 0])


@dataclass(frozen=True)
class OutsideVotes:
    """How the outside classifiers of a fitted model vote."""

    votes: Votes
    n_classes: int

    def __call__(self, estimator: Any, X: Any, alpha: Any) -> Floats:
        """Return the margins that a classifier with step alpha adds, (n, J)."""
        if self.votes != "discrete":
            return np.asarray(alpha * probability_votes(estimator, X, self.votes)[:, None])
        answers = class_votes(estimator, X, self.n_classes)
        if self.n_classes == 2:
            plus, minus = np.broadcast_to(alpha, 2)  # RareBoost has one for each side
            return np.asarray(np.where(answers == 1, plus, -minus)[:, None], dtype=float)
        margins = np.zeros((len(answers), self.n_classes))
        margins[np.arange(len(answers)), answers] = alpha
        return margins
