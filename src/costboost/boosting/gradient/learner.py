"""Learners that are fitted to gradients: the built-in tree, or any regressor.

The tree searches histograms of (gradient, hessian) pairs on an integer grid. Both fit in one word
of 64 bits, 21 bits of gradient and 16 of hessian below the largest row's: half the work. The leaf
values are computed from full precision afterwards, so the coarse grid decides splits only.

When the coarse grid serves: from 32,768 rows on (smaller tables are quick anyway), and if a typical
row is not lost on it: the gradients' mean deviation (its lower bound mean |gradient| - |mean
gradient|) and the mean hessian are at least 1/256 of the largest. Heavy-tailed targets, a start far
from all rows and nearly fitted classes fail this test, and take a word each: 62 bits less the
logarithm of the number of rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from costboost.binning.binner import Binner
from costboost.boosting.gradient.messages import write_packed_pairs, write_pairs, write_vectors
from costboost.inputs.arrays import ask, count_rows, read_finite, read_probabilities, source_of
from costboost.shards.grid import GradientPairs, PackedPairs, Vectors, grid_scale
from costboost.shards.layout import Shards
from costboost.shards.rows import ColumnDraw, Mode, RowSample, Shard, column_draw
from costboost.trees.charges import Charges
from costboost.trees.forest import recall_leaves
from costboost.trees.grower import Grower
from costboost.trees.tree import Limits, SplitFinder, Tree
from costboost.typing import Floats

PACKED_ROWS = 1 << 15
_CLIP = 2.0**-52  # of probabilities inside logarithms
FAR = 1e150  # answers beyond are refused: their squares are summed
_TYPICAL_GRADIENT = 1 << (PackedPairs.GRADIENT_BITS - 8)
_TYPICAL_HESSIAN = 1 << (PackedPairs.HESSIAN_BITS - 8)
# A leaf needs this share of an average row's curvature before the first round: LightGBM's and
# scikit-learn's least hessian of 1e-3, in units that do not depend on weights and prices.
_LEAST_HESSIAN = 4e-3
_FAR_POWER = 800  # gains that are 2**800 away from 1 are told in a unit of their own


class GradientLearner(Protocol):
    """Interface of learners that are fitted to gradients.

    Its models are trees, which give rows leaves, or fitted regressors; `shared` says that one of
    them serves all outputs.
    """

    has_leaves: bool
    shared: bool

    @property
    def deterministic(self) -> bool:
        """Whether the same gradients give the same model."""

    def learn(
        self, shards: Shards, output: int, number: int, largest: Floats, sample: RowSample | None
    ) -> Any:
        """Fit the gradients of an output; rows find their leaves, or get answers."""

    def anchor(self, shards: Shards, output: int, largest: Floats) -> None:
        """Set limits by the gradients before the first round, when earlier rounds are replayed."""

    def recall(self, shards: Shards, model: Any) -> None:
        """Write the leaves, or answers, of an earlier model of this learner."""

    def in_order(self, tree: Tree, values: Floats) -> Floats:
        """Return leaf values that keep the order that constraints ask for."""


class BuiltInTree:
    """Base class of the built-in trees."""

    binner: Binner
    limits: Limits
    has_leaves = True

    @property
    def deterministic(self) -> bool:
        """Whether the same gradients give the same tree."""
        limits, n_features = self.limits, self.binner.n_features
        return column_draw(limits.max_features, n_features, 0, 0, among=limits.columns) is None

    def recall(self, shards: Shards, model: Tree) -> None:
        """Assign every row to its leaf in an earlier tree."""
        shards.call([recall_leaves(tree=model)])


@dataclass
class GradientTree(BuiltInTree):
    """The built-in tree of one output.

    Attributes
    ----------
    binner : Binner
    limits : Limits
    least_squares : bool
        Search by the weights of rows instead of their hessians.
    l2 : float
    min_weight_leaf : float
        The least share of the sum of hessians in a leaf.
    monotone : int8 array of shape (n_features,) or None
        +1 rising, -1 falling, 0 free.
    seed : int
    heaviest : float
        The largest weight of a row.
    n_outputs : int
    charges : Charges or None
        What columns cost; gains are then net of it.
    loss_of_row : float
        What a row of weight 1 loses by log loss at the best constant.
    """

    binner: Binner
    limits: Limits
    least_squares: bool = False
    l2: float = 0.0
    min_weight_leaf: float = 0.0
    monotone: NDArray[np.int8] | None = None
    seed: int = 0
    heaviest: float = 1.0
    n_outputs: int = 1
    charges: Charges | None = None
    loss_of_row: float = 0.0
    shared = False
    _least: dict[int, float] = field(default_factory=dict, init=False)
    _gain_power: int | None = field(default=None, init=False)

    def learn(
        self, shards: Shards, output: int, number: int, largest: Floats, sample: RowSample | None
    ) -> Tree:
        """Grow a tree on the gradients of one output."""
        top = self._top(largest)
        mode, scales, total = self._put_on_grid(shards, output, top)
        finder = self._finder(shards, output, scales[1], total / scales[1], top[1])
        draw = self._draw(number, output)
        # A second-order step gains half of gradient^2 / hessian.
        loss = 2.0 * self.loss_of_row * (scales[0] / scales[1]) * scales[0]
        tree = Grower(shards, mode, finder, self.limits, draw, self.charges, loss).grow(sample)
        return replace(tree, gain=np.ldexp(tree.gain, self._unit_of_gains(scales)))

    def anchor(self, shards: Shards, output: int, largest: Floats) -> None:
        """Remember the least hessian of a leaf, which is a share of the first round's."""
        _, scales, total = self._put_on_grid(shards, output, self._top(largest))
        self._least[output] = _LEAST_HESSIAN * total / scales[1] / shards.n_rows
        self._unit_of_gains(scales)

    def _unit_of_gains(self, scales: tuple[float, float]) -> int:
        """Return the power of two from gradient^2 / hessian on the grid to units of the loss.

        Where the first tree's gains would be no numbers in these, its power is that of all trees.
        Of several outputs the first may have next to no price, in whose unit others overflow.
        """
        (_, gradient), (_, hessian) = map(math.frexp, scales)
        power = hessian + 1 - 2 * gradient
        if self._gain_power is None:
            size = power + 62  # a row's gain at most
            far = size > _FAR_POWER or (size < -_FAR_POWER and self.n_outputs == 1)
            self._gain_power = power if far else 0
        return power - self._gain_power

    def _top(self, largest: Floats) -> tuple[float, float]:
        return float(largest[0]), self.heaviest if self.least_squares else float(largest[1])

    def recall(self, shards: Shards, model: Tree) -> None:
        """Assign every row to its leaf in an earlier tree; what that asked for is paid."""
        super().recall(shards, model)
        if self.charges is not None:
            self.charges.end(shards, model)

    def in_order(self, tree: Tree, values: Floats) -> Floats:
        """Return leaf values that rise and fall as `monotone` says."""
        return values if self.monotone is None else ordered_values(tree, values, self.monotone)

    def _put_on_grid(
        self, shards: Shards, output: int, top: tuple[float, float]
    ) -> tuple[Mode, tuple[float, float], int]:
        """Choose the grid (see the head of this module).

        Returns the mode, the scales of gradients and hessians, and the sum of hessians.
        """
        # Both derivatives in one word halve the adds of a histogram, at fewer digits: taken if
        # typical rows, not the largest alone, still have digits enough.
        if shards.n_rows >= PACKED_ROWS:
            scales = (
                grid_scale(top[0], 1, PackedPairs.GRADIENT_BITS + 1),
                grid_scale(top[1], 1, PackedPairs.HESSIAN_BITS + 1),
            )
            (sums,) = shards.call(
                [write_packed_pairs(output=output, by_weight=self.least_squares, scales=scales)]
            )
            size, gradient, hessian, alive = sums.tolist()
            typical = size - abs(gradient) >= _TYPICAL_GRADIENT * alive
            if typical and hessian >= _TYPICAL_HESSIAN * alive:
                return PackedPairs(), scales, hessian
        scales = (grid_scale(top[0], shards.n_rows), grid_scale(top[1], shards.n_rows))
        (total,) = shards.call(
            [write_pairs(output=output, by_weight=self.least_squares, scales=scales)]
        )
        return GradientPairs(), scales, int(total)

    def _finder(
        self, shards: Shards, output: int, hessian_scale: float, total: float, top: float
    ) -> SplitFinder:
        # The limit is a share of the first round's hessians: those of later rounds shrink as
        # margins grow.
        least = self._least.setdefault(output, _LEAST_HESSIAN * total / shards.n_rows)
        least = max(least, self.min_weight_leaf * total)
        options: dict[str, Any] = {} if self.monotone is None else {"monotone": self.monotone}
        return SplitFinder(
            self.binner.n_bins,
            self.binner.is_categorical,
            2,
            criterion="newton",
            l2=self.l2 * hessian_scale,
            min_weight=least * hessian_scale,
            min_count=self.limits.min_samples_leaf,
            heaviest=top * hessian_scale + 1.0,  # rounding included
            **options,
        )

    def _draw(self, number: int, output: int) -> ColumnDraw | None:
        width, n_features = self.limits.max_features, self.binner.n_features
        return column_draw(width, n_features, self.seed, number, output, self.limits.columns)


def ordered_values(tree: Tree, values: Floats, monotone: NDArray[np.int8]) -> Floats:
    """Clip leaf values so that they rise (+1) or fall (-1) along the constrained columns.

    From the root down: at a split of a constrained column, the leaves of one side are kept below,
    those of the other above, the middle of the two sides' means (weighted by hessians); where the
    means are in the wrong order both sides get the middle.
    """
    values = values.copy()
    number = {int(node): i for i, node in enumerate(tree.leaves)}
    weight = np.maximum(tree.sums[:, 1].astype(float), 0.0)

    def members(node: int) -> list[int]:
        if tree.left[node] < 0:
            return [number[node]]
        return members(int(tree.left[node])) + members(int(tree.left[node]) + 1)

    leaf_weight = weight[tree.leaves]
    for node in np.flatnonzero(tree.left >= 0):
        way = int(monotone[tree.feature[node]])
        if way == 0:
            continue
        left, right = members(int(tree.left[node])), members(int(tree.left[node]) + 1)
        sides = [
            float(np.average(values[s], weights=leaf_weight[s] + 1e-300)) for s in (left, right)
        ]
        middle = 0.5 * sides[0] + 0.5 * sides[1]
        low, high = (left, right) if way > 0 else (right, left)
        values[low] = np.minimum(values[low], middle)
        values[high] = np.maximum(values[high], middle)
    return values


@dataclass
class GradientRegressor:
    """Any regressor: fitted to Newton steps weighted by hessians, or to -gradient by least squares.

    Attributes
    ----------
    estimator : regressor
        Cloned for every output of every round.
    X : the table, in the order in which it was given
    least_squares : bool
        Fit the gradients themselves, with the rows' weights.
    weights : float64 array of shape (n,) or None
    seed : int
    """

    estimator: Any
    X: Any
    least_squares: bool = True
    weights: Floats | None = None
    seed: int = 0
    has_leaves = False
    shared = False
    deterministic = False

    def learn(
        self, shards: Shards, output: int, number: int, largest: Floats, sample: RowSample | None
    ) -> Any:
        """Fit a clone to the gradients of one output."""
        gradients, hessians = shards.fetch(lambda shard: shard.state.derivatives(output).T).T
        target, weights = regression_target(gradients, hessians, self.weights, self.least_squares)
        estimator = clone(self.estimator)
        if "random_state" in estimator.get_params():
            draw = np.random.RandomState([self.seed, number, output])
            estimator.set_params(random_state=draw.randint(np.iinfo(np.int32).max))
        X = self.X
        if sample is not None:
            chosen = sample.keeps(np.arange(len(target)))
            if chosen.any():
                rows = np.flatnonzero(chosen)
                X, target = _safe_indexing(X, rows), target[rows]
                weights = None if weights is None else weights[rows]
        extra = {} if weights is None else {"sample_weight": weights}
        estimator.fit(X, target, **extra)
        self._answer(shards, estimator)
        return estimator

    def anchor(self, shards: Shards, output: int, largest: Floats) -> None:
        """Regressors remember nothing."""

    def recall(self, shards: Shards, model: Any) -> None:
        """Write the answers of the regressor of an earlier round."""
        self._answer(shards, model)

    def in_order(self, tree: Tree, values: Floats) -> Floats:
        """Constraints are the regressor's own business."""
        return values

    def _answer(self, shards: Shards, estimator: Any) -> None:
        shards.put(_put_answers, regression_answers(estimator, self.X))


def _put_answers(shard: Shard, values: Floats) -> None:
    shard.state.answers = values


def regression_answers(estimator: Any, X: Any) -> Floats:
    """Return a fitted regressor's predictions, (n,), checked; (n, 1) is raveled."""
    answers, source = ask(estimator, "predict", X), source_of(estimator, "predict")
    return read_finite(answers, (count_rows(X),), source, low=-FAR, high=FAR)


@dataclass(frozen=True)
class OutsideSteps:
    """What the outside regressors of a round add to margins."""

    def __call__(self, models: tuple[Any, ...], X: Any, step: Any) -> Floats:
        """Return a step times the answers of J regressors, (n, J)."""
        return np.asarray(step * np.column_stack([regression_answers(m, X) for m in models]))


@dataclass(frozen=True)
class Init:
    """A fitted model whose answers are f_0.

    Attributes
    ----------
    model : fitted regressor or classifier
    odds : float or None
        F times this is the log odds; None: the model is a regressor.
    """

    model: Any
    odds: float | None = None

    def margins(self, X: Any) -> Floats:
        """Return f_0 of every row, (n, J)."""
        if self.odds is None:
            return regression_answers(self.model, X).reshape(-1, 1)
        classes = np.arange(len(self.model.classes_))
        proba = np.clip(read_probabilities(self.model, X, classes), _CLIP, 1 - _CLIP)
        logs = np.log(proba) / self.odds
        if proba.shape[1] == 2:
            return np.asarray(logs[:, 1:] - logs[:, :1])
        return np.asarray(logs - logs.mean(axis=1, keepdims=True))


def regression_target(
    gradients: Floats, hessians: Floats, weights: Floats | None, least_squares: bool
) -> tuple[Floats, Floats | None]:
    """Return (target, weights) for fitting a regressor to gradients.

    Gradients and hessians are weighted; a row without curvature has no part in a Newton fit.
    """
    if least_squares:
        if weights is None:
            return -gradients, None
        return _divide(-gradients, weights), weights
    return _divide(-gradients, hessians), hessians


def _divide(gradients: Floats, by: Floats) -> Floats:
    return np.divide(gradients, by, out=np.zeros_like(gradients), where=by > 0.0)


def check_regressor(estimator: Any, *, weighted: bool) -> None:
    """Raise if rows have weights and the regressor takes none."""
    if weighted and not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"{type(estimator).__name__}.fit takes no sample_weight, which this fit needs. Use "
            'step="line-search" without sample_weight, or another estimator.'
        )


# One tree for all outputs of a round: every leaf holds a vector.

_BITS = 31  # of the integers, sign included


@dataclass
class VectorTree(BuiltInTree):
    """The built-in tree with vector leaves.

    Attributes
    ----------
    binner : Binner
    n_outputs : int
        K.
    limits : Limits
    l2 : float
        Added to the weight of a leaf in the search, in rows.
    seed : int
    heaviest : float or None
        The largest weight of a row; None where rows have none.
    """

    binner: Binner
    n_outputs: int
    limits: Limits
    l2: float = 0.0
    seed: int = 0
    heaviest: float | None = None
    shared = True

    def learn(
        self, shards: Shards, output: int, number: int, largest: Floats, sample: RowSample | None
    ) -> Tree:
        """Grow a tree on the gradients of all outputs."""
        gradient = grid_scale(float(largest[0]), 1, _BITS)
        weight = 1.0 if self.heaviest is None else grid_scale(self.heaviest, 1, _BITS)
        shards.call([write_vectors(gradient_scale=gradient, weight_scale=weight)])
        finder, limits = self._finder(weight)
        width, n_features, among = self.limits.max_features, self.binner.n_features, limits.columns
        draw = column_draw(width, n_features, self.seed, number, among=among)
        mode = Vectors(self.n_outputs + 1)
        tree = Grower(shards, mode, finder, limits, draw).grow(sample)
        # From gradient^2 / weight on the grid to units of the loss.
        return replace(tree, gain=tree.gain / gradient * (weight / gradient))

    def _finder(self, weight: float) -> tuple[SplitFinder, Limits]:
        """Return the search; where rows weigh 1 each, their weight counts them."""
        least, limits = self.limits.min_samples_leaf, self.limits
        if self.heaviest is None:
            limits = replace(limits, min_samples_leaf=1)
        finder = SplitFinder(
            self.binner.n_bins,
            self.binner.is_categorical,
            self.n_outputs + 1,
            criterion="squares",
            l2=self.l2 * weight,
            min_weight=float(least) if self.heaviest is None else 0.0,
            min_count=limits.min_samples_leaf,
            heaviest=1.0 if self.heaviest is None else self.heaviest * weight + 1.0,
        )
        return finder, limits

    def anchor(self, shards: Shards, output: int, largest: Floats) -> None:
        """Do nothing: a leaf is limited by its rows alone."""

    def in_order(self, tree: Tree, values: Floats) -> Floats:
        """Constraints are about two classes: K outputs have none."""
        return values
