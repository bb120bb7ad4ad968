"""One tree for all outputs of a round: every leaf holds a vector.

K classes that share a tree share its splits, which cost one pass over the table in place of K. The
split that is looked for lowers the squared distance of all gradients from their means together:

    gain = sum_k G_k^2 / W of both sides, less that of the node

with G_k the sums of gradients and W the weight of the rows (as CatBoost and SketchBoost do). The
values of the leaves are Newton steps of full precision, each output by its own hessians.

Rows hold (K + 1) integers, `vectors`: the gradients on a grid, and the weight.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import Binner
from costboost.boosting.gradient.learner import BuiltInTree
from costboost.boosting.gradient.messages import PutVectors
from costboost.shards.grid import grid_scale
from costboost.shards.local import Shards
from costboost.shards.modes import Vectors
from costboost.shards.sampling import RowSample, column_draw
from costboost.trees.grower import Grower
from costboost.trees.splits import SplitFinder
from costboost.trees.tree import Limits, Tree

Floats = NDArray[np.float64]

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
        shards.call([PutVectors(gradient, weight)])
        finder, limits = self._finder(weight)
        draw = column_draw(self.limits.max_features, self.binner.n_features, self.seed, number)
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
