"""What is fitted to slopes: the built-in tree, or any regressor.

The tree searches histograms of (slope, bend) pairs on an integer grid. Both fit in one 64-bit word,
21 bits of slope and 16 of bend below the largest row's, which halves the work; the leaf values are
computed from full precision afterwards, so the coarse grid decides splits only.

When the coarse grid serves: from 32,768 rows on (smaller tables are quick anyway), and if a typical
row is not lost on it: the slopes' mean deviation (its lower bound mean |slope| - |mean slope|) and
the mean bend are at least 1/256 of the largest. Heavy-tailed targets, a start far from all rows and
nearly fitted classes fail this test, and take a word each: 62 bits less the logarithm of the number
of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from costboost.binning.binner import Binner
from costboost.boosting.gradient import _gradient_kernels as kernels
from costboost.shards.grid import grid_scale
from costboost.shards.local import Shards
from costboost.shards.modes import PackedPairs, Pairs
from costboost.shards.rows import Mode, Shard
from costboost.shards.sampling import ColumnDraw, RowSample, column_draw
from costboost.trees.forest import Recall
from costboost.trees.grower import Grower, Limits, Tree
from costboost.trees.splits import SplitFinder

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

PACKED_ROWS = 1 << 15
_TYPICAL_SLOPE = 1 << (PackedPairs.SLOPE_BITS - 8)
_TYPICAL_BEND = 1 << (PackedPairs.BEND_BITS - 8)
# A leaf needs this share of an average row's curvature before the first round: LightGBM's and
# scikit-learn's least hessian of 1e-3, in units that do not depend on weights and prices.
_LEAST_BEND = 4e-3


@dataclass(frozen=True)
class Lesson:
    """What was learnt for one output in one round: a tree, or a fitted regressor."""

    tree: Tree | None = None
    estimator: Any = None


class SlopeLearner(Protocol):
    """What a round asks of a learner."""

    has_leaves: bool
    largest_unit: float

    @property
    def deterministic(self) -> bool:
        """Whether the same slopes give the same lesson."""

    def learn(
        self, shards: Shards, output: int, number: int, largest: Floats, sample: RowSample | None
    ) -> Lesson:
        """Fit the slopes of an output; write `shard.leaves`, or `shard.data["answers"]`."""

    def anchor(self, shards: Shards, output: int, largest: Floats) -> None:
        """Take notice of the slopes before the first round, when earlier rounds are replayed."""

    def recall(self, shards: Shards, lesson: Lesson) -> None:
        """Write what an earlier lesson says of each row."""

    def in_order(self, tree: Tree, values: Floats) -> Floats:
        """Return leaf values that keep the order that constraints ask for."""


def set_units(shards: Shards, weights: Floats | None) -> float:
    """Give rows bends that are their weights: the fit is then by least squares; return the top."""
    for shard in shards.shards:
        given = shard.data.get("sample weights")
        shard.data["unit"] = np.ones(len(shard.rows)) if given is None else given
    return 1.0 if weights is None else float(np.max(weights))


@dataclass
class SlopeTree:
    """The built-in tree.

    Attributes
    ----------
    binner : Binner
    limits : Limits
    least_squares : bool
        Search by the weights of rows instead of their bends.
    l2 : float
    min_weight_leaf : float
        The least share of the sum of bends in a leaf.
    monotone : int8 array of shape (n_features,) or None
        +1 rising, -1 falling, 0 free.
    seed : int
    largest_unit : float
        The largest weight of a row.
    """

    binner: Binner
    limits: Limits
    least_squares: bool = False
    l2: float = 0.0
    min_weight_leaf: float = 0.0
    monotone: NDArray[np.int8] | None = None
    seed: int = 0
    largest_unit: float = 1.0
    has_leaves: bool = field(default=True, init=False)
    _least: dict[int, float] = field(default_factory=dict, init=False)

    @property
    def deterministic(self) -> bool:
        """Whether the same slopes give the same tree."""
        width = self.limits.max_features
        return width is None or width >= self.binner.n_features

    def learn(
        self, shards: Shards, output: int, number: int, largest: Floats, sample: RowSample | None
    ) -> Lesson:
        """Grow a tree on the slopes of one output."""
        top = self._top(largest)
        mode, bend_scale, total = self._put_on_grid(shards, output, top)
        finder = self._finder(shards, output, bend_scale, total / bend_scale, top[1])
        draw = self._draw(number, output)
        return Lesson(Grower(shards, mode, finder, self.limits, draw).grow(sample))

    def anchor(self, shards: Shards, output: int, largest: Floats) -> None:
        """Remember the least bend of a leaf, which is a share of the first round's."""
        _, bend_scale, total = self._put_on_grid(shards, output, self._top(largest))
        self._least[output] = _LEAST_BEND * total / bend_scale / shards.n_rows

    def _top(self, largest: Floats) -> tuple[float, float]:
        return float(largest[0]), self.largest_unit if self.least_squares else float(largest[1])

    def recall(self, shards: Shards, lesson: Lesson) -> None:
        """Send every row down the tree of an earlier lesson."""
        tree = lesson.tree
        assert tree is not None
        shards.call([Recall(tree)])

    def in_order(self, tree: Tree, values: Floats) -> Floats:
        """Return leaf values that rise and fall as `monotone` says."""
        return values if self.monotone is None else ordered_values(tree, values, self.monotone)

    def _bends(self, shard: Shard, output: int) -> Floats:
        return shard.data["unit"] if self.least_squares else shard.data["bends"][output]

    def _put_on_grid(
        self, shards: Shards, output: int, top: tuple[float, float]
    ) -> tuple[Mode, float, int]:
        """Choose the grid (see the head of this module); return mode, scale and sum of bends."""
        if shards.n_rows >= PACKED_ROWS:
            slope_scale = grid_scale(top[0], 1, PackedPairs.SLOPE_BITS + 1)
            bend_scale = grid_scale(top[1], 1, PackedPairs.BEND_BITS + 1)
            totals = shards.sum(lambda shard: self._pack(shard, output, slope_scale, bend_scale))
            size, slope, bend, alive = totals.tolist()
            if size - abs(slope) >= _TYPICAL_SLOPE * alive and bend >= _TYPICAL_BEND * alive:
                return PackedPairs(), bend_scale, bend
        slope_scale = grid_scale(top[0], shards.n_rows)
        bend_scale = grid_scale(top[1], shards.n_rows)

        def widen(shard: Shard) -> int:
            pairs = shard.data.setdefault("pairs", np.empty((len(shard.rows), 2), np.int64))
            slopes, bends = shard.data["slopes"][output], self._bends(shard, output)
            kernels.widen_pairs(slopes, bends, slope_scale, bend_scale, pairs)
            return int(np.sum(pairs[:, 1]))

        return Pairs(), bend_scale, int(shards.sum(widen))

    def _pack(self, shard: Shard, output: int, slope_scale: float, bend_scale: float) -> Int64:
        packed = shard.data.setdefault("packed", np.empty(len(shard.rows), np.int64))
        totals = np.zeros(4, dtype=np.int64)
        slopes, bends = shard.data["slopes"][output], self._bends(shard, output)
        scales = (slope_scale, bend_scale, PackedPairs.SHIFT)
        kernels.pack_pairs(slopes, bends, *scales, packed, totals)
        return totals

    def _finder(
        self, shards: Shards, output: int, bend_scale: float, total: float, top: float
    ) -> SplitFinder:
        least = self._least.setdefault(output, _LEAST_BEND * total / shards.n_rows)
        least = max(least, self.min_weight_leaf * total)
        options: dict[str, Any] = {} if self.monotone is None else {"monotone": self.monotone}
        return SplitFinder(
            self.binner.n_bins,
            self.binner.is_categorical,
            2,
            criterion="newton",
            l2=self.l2 * bend_scale,
            min_weight=least * bend_scale,
            min_count=self.limits.min_samples_leaf,
            heaviest=top * bend_scale + 1.0,  # rounding included
            **options,
        )

    def _draw(self, number: int, output: int) -> ColumnDraw | None:
        width, n_features = self.limits.max_features, self.binner.n_features
        return column_draw(width, n_features, self.seed, number, output)


def ordered_values(tree: Tree, values: Floats, monotone: NDArray[np.int8]) -> Floats:
    """Clip leaf values so that they rise (+1) or fall (-1) along the constrained columns.

    From the root down: at a split of a constrained column, the leaves of one side are kept below,
    those of the other above, the middle of the two sides' means (weighted by bends); where the
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
class SlopeRegressor:
    """Any regressor: fitted to -slope / bend with weights bend, or to -slope by least squares.

    Attributes
    ----------
    estimator : regressor
        Cloned for every output of every round.
    X : the table, in the order in which it was given
    least_squares : bool
        Fit the slopes themselves, with the rows' weights.
    weights : float64 array of shape (n,) or None
    seed : int
    """

    estimator: Any
    X: Any
    least_squares: bool = True
    weights: Floats | None = None
    seed: int = 0
    has_leaves: bool = field(default=False, init=False)
    deterministic: bool = field(default=False, init=False)
    largest_unit: float = field(default=1.0, init=False)

    def learn(
        self, shards: Shards, output: int, number: int, largest: Floats, sample: RowSample | None
    ) -> Lesson:
        """Fit a clone to the slopes of one output."""
        slopes, bends = (self._gather(shards, name, output) for name in ("slopes", "bends"))
        target, weights = regression_target(slopes, bends, self.weights, self.least_squares)
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
        return Lesson(estimator=estimator)

    def anchor(self, shards: Shards, output: int, largest: Floats) -> None:
        """Regressors remember nothing."""

    def recall(self, shards: Shards, lesson: Lesson) -> None:
        """Ask the regressor of an earlier lesson again."""
        self._answer(shards, lesson.estimator)

    def in_order(self, tree: Tree, values: Floats) -> Floats:
        """Constraints are the regressor's own business."""
        return values

    def _answer(self, shards: Shards, estimator: Any) -> None:
        shards.scatter("answers", np.asarray(estimator.predict(self.X), dtype=float).reshape(-1))

    def _gather(self, shards: Shards, name: str, output: int) -> Floats:
        out = np.empty(shards.n_rows)
        for shard in shards.shards:
            out[shard.rows] = shard.data[name][output]
        return out


def regression_target(
    slopes: Floats, bends: Floats, weights: Floats | None, least_squares: bool
) -> tuple[Floats, Floats | None]:
    """Return what a regressor is fitted to, and the weights of the rows.

    Slopes and bends are weighted; a row without curvature has no part in a Newton fit.
    """
    if least_squares:
        if weights is None:
            return -slopes, None
        return np.divide(-slopes, weights, out=np.zeros_like(slopes), where=weights > 0), weights
    return np.divide(-slopes, bends, out=np.zeros_like(slopes), where=bends > 0.0), bends


def check_regressor(estimator: Any, *, weighted: bool) -> None:
    """Raise if rows have weights and the regressor takes none."""
    if weighted and not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"{type(estimator).__name__}.fit takes no sample_weight, which this fit needs. Use "
            'step="line-search" without sample_weight, or another estimator.'
        )
