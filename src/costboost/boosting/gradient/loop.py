"""Gradient boosting: a generator of rounds.

    margins -> derivatives -> tree (or any regressor) -> leaf values -> step -> margins -> ...

Forward stagewise with a loss (Friedman 2001): in every round a learner is fitted to the loss's
gradients, one for each output, all from the same margins. K classes grow K trees a round, as in
scikit-learn, LightGBM and XGBoost: each class then has its own splits and its own exact pair of
sums. A learner that is `shared` grows one tree with vector leaves instead, which takes a K-th of
the time (`learner.py`).

How far to go is `step`: "newton" gives every leaf -sum gradient / (sum hessian + l2); "exact" its
minimiser (a quantile for pinball loss); "line-search" fits by least squares and takes one lambda
for the whole round, the lecture's algorithm. All sums over rows are exact, so the model does not
depend on shards or threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.gradient.learner import GradientLearner
from costboost.boosting.gradient.messages import (
    mark_sample,
    move_margins,
    prepare_line_search,
    sum_along,
    sum_leaf_sides,
    sum_leaf_sizes,
    sum_leaves,
    try_leaves,
    try_steps,
    write_steps,
)
from costboost.boosting.gradient.minimisers import minimise, minimise_along, minimise_between
from costboost.boosting.gradient.rows import bind_loss
from costboost.inputs.arrays import check_some_w0
from costboost.shards.grid import grid_scale, to_floats
from costboost.shards.layout import Shards
from costboost.shards.rows import RowSample
from costboost.trees.forest import ForestBuilder
from costboost.trees.tree import Tree
from costboost.typing import Floats, Int64

Step = Literal["newton", "exact", "line-search"]
Stop = Literal["rounds", "flat", "leaf", "uphill"]

_SHORTEST = 1e-290  # the least move that lambda is divided by, so that it stays a number
_FAR_POWER = 100  # moves 2**100 times as far as a step, or as short, are put near it
# A sum of gradients below this share of what it could be at most is 0 but for rounding: no constant
# would lower the loss.
_STILL = 1e-9


@dataclass(frozen=True)
class GradientSetting:
    """The user's parameters, beside the loss and the learner.

    Attributes
    ----------
    n_rounds : int
    step : "newton" | "exact" | "line-search"
    learning_rate : float
    l2 : float
        Added to every leaf's sum of hessians.
    max_step : float
        The largest value of a leaf, before `learning_rate`.
    subsample : float
        The share of rows that each round learns from.
    seed : int
    """

    n_rounds: int
    step: Step = "newton"
    learning_rate: float = 0.1
    l2: float = 0.0
    max_step: float = np.inf
    subsample: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class GradientRound:
    """One round that was taken.

    Attributes
    ----------
    number : int
        From 0.
    step : float
        lambda * learning_rate; without a line search lambda is 1.
    train_cost : float
        What the decisions, or the loss, amount to on the training rows after this round.
    models : tuple of Tree, or of fitted regressors
        One for each output, or one for all of them.
    values : tuple of float64 arrays of shape (L,)
        What each leaf adds to its output; for a regressor, its factor (1,).
    """

    number: int
    step: float
    train_cost: float
    models: tuple[Any, ...]
    values: tuple[Floats, ...]

    def add_to(self, builder: ForestBuilder) -> None:
        """Add the round's trees to a forest: one for each output, or the one of all outputs."""
        if len(self.models) < len(self.values):
            builder.add(self.models[0], np.column_stack(self.values))
            return
        for k, (tree, values) in enumerate(zip(self.models, self.values, strict=True)):
            wide = np.zeros((len(values), builder.n_outputs))
            wide[:, k] = values
            builder.add(tree, wide)


class GradientBoosting:
    """The loop of one fit; margins and derivatives of rows live in the shards.

    Parameters
    ----------
    shards : Shards
        Of `GradientRows`.
    loss : BuiltIn
    learner : GradientLearner
    setting : GradientSetting
    start : float64 array of shape (J,)
        f_0, the same for all rows; see `costboost.boosting.gradient.rows.put_margins`.
    tally : callable, or None
        Returns the training cost or loss of the margins, given the sum of the steps.
    init : Init or None
        A model whose margins rows start from, beside `start`: whoever opens the loop puts them.
    """

    def __init__(
        self,
        shards: Shards,
        loss: Any,
        learner: GradientLearner,
        setting: GradientSetting,
        start: Floats,
        tally: Callable[[Shards, float], float] | None = None,
        init: Any = None,
    ) -> None:
        self.shards, self.loss, self.learner = shards, loss, learner
        self.setting, self.tally, self.start, self.init = setting, tally, start, init
        self.n_outputs = len(start)
        self.stop: Stop = "rounds"
        self.sum_of_steps = self._farthest = 0.0
        (tops,) = shards.call(
            [bind_loss(loss=loss, start=tuple(start.tolist()), moves_by=self._moves_by)]
        )
        self._heaviest, largest_w0, self._drift, self._largest_size = tops.tolist()
        check_some_w0(largest_w0)

    @property
    def _searching(self) -> bool:
        return self.setting.step == "line-search"

    @property
    def _moves_by(self) -> str:
        """How rows store a round until its step is taken; see `GradientRows.moves_by`."""
        if self._searching or not self.learner.has_leaves:
            return "steps"
        return "leaf" if self.n_outputs == 1 or self.learner.shared else "leaves"

    def rounds(self, first: int = 0) -> Iterator[GradientRound]:
        """Yield rounds until one cannot be taken; `stop` then says why."""
        for number in range(first, self.setting.n_rounds):
            largest = self.loss.measure(self.shards, self.sum_of_steps)
            # No gradient anywhere: the loss is at its minimum for these margins.
            if not np.any(largest[:, 0] > 0.0):
                self.stop = "flat"
                return
            sample = self._sample(number)
            self._farthest = 0.0
            # All trees are grown at the same margins: one for each output, or one for all of them.
            tops = [largest.max(axis=0)] if self.learner.shared else largest
            models, values = [], list[Floats]()
            for k, top in enumerate(tops):
                model = self.learner.learn(self.shards, k, number, top, sample)
                models.append(model)
                values += self._settle_leaves(model, k, largest)
            # A sample may miss the split that the next one finds, so only full rounds end training.
            if sample is None and self._stands_still(models, values, largest):
                self.stop = "leaf"
                return
            size = 1.0
            if self._searching and self._bounds_leaves:
                size, values = self._search_by_leaf(models[0], values[0])
            elif self._searching:
                size = self._line_search()
            if not size > 0.0:
                self.stop = "uphill"
                return
            step = size * self.setting.learning_rate
            yield self._take(number, step, tuple(models), tuple(step * v for v in values))
        self.stop = "rounds"

    def replay(self, rounds: Sequence[GradientRound]) -> None:
        """Restore the margins to their state after the given rounds (warm start)."""
        if rounds:
            largest = self.loss.measure(self.shards, self.sum_of_steps)
            for k in range(self.n_outputs):
                # Leaf limits depend on the first round's gradients, which are computed again here.
                self.learner.anchor(self.shards, k, largest[k])
        for done in rounds:
            if self.learner.shared:
                self.learner.recall(self.shards, done.models[0])
                self._write_step(0, np.column_stack(done.values) / done.step)
                self._move(done.step, done.values)
                continue
            for k, (model, values) in enumerate(zip(done.models, done.values, strict=True)):
                self.learner.recall(self.shards, model)
                self._write_step(k, values / done.step)
            self._move(done.step, done.values)

    def _stands_still(self, models: list[Any], values: list[Floats], largest: Floats) -> bool:
        """Whether no tree found a split, and another round could not either.

        Training has converged.
        """
        if not self.learner.deterministic or any(len(tree.leaves) > 1 for tree in models):
            return False
        for k, value in enumerate(values):
            gradient = abs(float(self._leaf_sums(k, 1, largest[k])[0][0]))
            if value[0] != 0.0 and gradient > _STILL * self.shards.n_rows * float(largest[k, 0]):
                return False
        return True

    # One round.

    def _settle_leaves(self, model: Any, k: int, largest: Floats) -> list[Floats]:
        """Return what each leaf of model k adds to its output, or to all; write it to the rows."""
        outputs = range(self.n_outputs) if self.learner.shared else (k,)
        values = [self._leaf_values(model, j, largest[j]) for j in outputs]
        self._write_step(k, np.column_stack(values) if self.learner.shared else values[0])
        return values

    def _sample(self, number: int) -> RowSample | None:
        """Draw and mark the rows that this round learns from; None: all of them."""
        if self.setting.subsample >= 1.0:
            return None
        sample = RowSample(self.setting.subsample, self.setting.seed, number)
        # A sample without rows counts as all rows.
        (n_rows,) = self.shards.call([mark_sample(sample=sample)])
        if n_rows == 0:
            self.shards.call([mark_sample(sample=None)])
        return sample

    def _leaf_values(self, model: Any, k: int, largest: Floats) -> Floats:
        """Return the value of each leaf for output k, before the learning rate, (L,)."""
        if not self.learner.has_leaves:
            return np.ones(1)
        setting, n_leaves = self.setting, len(model.leaves)
        if setting.step == "exact" and not self.loss.quadratic:
            values = self._exact_values(k, n_leaves, largest)
        else:
            gradients, hessians = self._leaf_sums(k, n_leaves, largest)
            values = newton_values(gradients, hessians, setting.l2)
        units = self._units(n_leaves)
        if self._searching and self.loss.has_prices and self.n_outputs == 1:
            values = _near_moves(values, units)
        # A leaf without curvature would go to infinity.
        values = np.clip(values, -setting.max_step / units, setting.max_step / units)
        self._farthest = max(self._farthest, float(np.max(units * np.abs(values))))
        return self.learner.in_order(model, values)

    def _units(self, n_leaves: int) -> Any:
        """Return the mean |a| of the rows in every leaf: a step of 1 / |a| is 1 to their loss.

        1 for losses whose F has one unit for all rows. One leaf stands for all of them.
        """
        if not self.loss.has_prices:
            return 1.0
        scales = self._scales(self._largest_size, self._heaviest, self.shards.n_rows)
        (sums,) = self.shards.call([sum_leaf_sizes(n_leaves=n_leaves, scales=scales)])
        sizes, shares = _to_float(sums, scales)
        # Rows too light for the grid have no mean.
        seen = (sizes > 0.0) & (shares > 0.0)
        return np.divide(sizes, shares, out=np.ones_like(sizes), where=seen)

    def _leaf_sums(
        self, k: int, n_leaves: int, largest: Floats, *, by_weight: bool = False
    ) -> tuple[Floats, Floats]:
        """Return the exact sums of gradients, and of hessians or weights, of every leaf."""
        by_weight = by_weight or self._searching
        top = self._heaviest if by_weight else float(largest[1])
        scales = self._scales(float(largest[0]), top, self.shards.n_rows)
        (sums,) = self.shards.call(
            [sum_leaves(output=k, n_leaves=n_leaves, by_weight=by_weight, scales=scales)]
        )
        return _to_float(sums, scales)

    def _scales(self, gradient: float, hessian: float, n_terms: int) -> tuple[float, float]:
        return grid_scale(gradient, n_terms), grid_scale(hessian, n_terms)

    def _exact_values(self, k: int, n_leaves: int, largest: Floats) -> Floats:
        closed = self.loss.leaf_values(self.shards, n_leaves)
        if closed is not None:
            return np.asarray(closed)
        # No closed form: a safeguarded Newton search over all leaves at once, a pass over rows for
        # each trial.
        bounds = self.loss.leaf_bounds(
            self.shards, lambda: self._leaf_sums(k, n_leaves, largest, by_weight=True)[1]
        )

        def at(values: Floats) -> tuple[Floats, Floats]:
            self.shards.call([try_leaves(output=k, values=values)])
            largest = self.loss.measure(self.shards, self.sum_of_steps, "trial")
            gradients, hessians = self._leaf_sums(k, n_leaves, largest[k])
            if bounds is not None:
                gradients = bounds.level(gradients, hessians)
            return gradients + self.setting.l2 * values, hessians + self.setting.l2

        if bounds is None:
            units = self._units(n_leaves)
            limit = np.minimum(self.setting.max_step / units, 1e300)
            values = minimise(at, n_leaves, limit, unit=1.0 / units)
        else:  # l2 draws towards 0
            ends = np.minimum(bounds.low, 0.0), np.maximum(bounds.high, 0.0)
            values = minimise_between(at, *ends)
        # The other outputs' trees are grown at the margins.
        self.loss.measure(self.shards, self.sum_of_steps)
        return values

    def _write_step(self, k: int, values: Floats) -> None:
        """Store what the round adds to output k of every row, unless leaves alone say it."""
        if self._moves_by != "leaf":
            self.shards.call(
                [write_steps(output=k, values=values if self.learner.has_leaves else None)]
            )

    def _take(
        self, number: int, step: float, models: tuple[Any, ...], values: tuple[Floats, ...]
    ) -> GradientRound:
        self._move(step, values)
        cost = np.nan
        if self.tally is not None:
            cost = self.tally(self.shards, self.sum_of_steps)
        return GradientRound(number, step, cost, models, values)

    def _move(self, step: float, values: tuple[Floats, ...]) -> None:
        self.sum_of_steps += step
        self.shards.call([move_margins(size=step, values=values)])

    # Lambda.

    def _line_search(self) -> float:
        """Return the lambda of least loss along the round's steps (the lecture's lambda_t).

        Where Cai's b makes the fitted direction one of ascent it is negative, and training ends.
        """
        closed = self.loss.best_step(self.shards)
        if closed is not None:
            return float(closed)
        (tops,) = self.shards.call([prepare_line_search()])
        longest, farthest = tops.tolist()
        if not longest > 0.0:
            return 0.0

        def at(size: Floats) -> tuple[Floats, Floats]:
            return self._sums_along(float(size[0]), longest)

        # As leaves, rows move by max_step at most: expected cost would else go to certainty.
        longest_move = max(self._longest_move(farthest), _SHORTEST)
        limit = min(self.loss.longest, self.setting.max_step) / longest_move
        return float(minimise(at, 1, limit, unit=1.0 / longest_move)[0])

    def _longest_move(self, farthest: float) -> float:
        """Return the longest move of any row by the round's steps, in units of the loss."""
        if self.loss.has_prices and self.learner.has_leaves:
            return self._farthest
        return farthest * float(np.max(self._units(1)))

    @property
    def _bounds_leaves(self) -> bool:
        """Whether a line search keeps each leaf, and not all of them at once, within `max_step`.

        Leaves of a loss with prices move in units of their own: bound by the costliest, the others
        would stand still. Two classes without Cai's b: a leaf's loss is its own there.
        """
        own = self.n_outputs == 1 and self._drift == 0.0
        return self.loss.has_prices and self.learner.has_leaves and own

    def _search_by_leaf(self, tree: Tree, steps: Floats) -> tuple[float, list[Floats]]:
        """Return lambda and leaf values; leaves whose loss falls for ever are held at `max_step`.

        Only a leaf whose rows all aim one way would; others are held by the rows that lose.
        """
        n_leaves = len(steps)
        moves = self._units(n_leaves) * np.abs(steps)
        if not np.any(moves > 0.0):
            return 0.0, [steps]
        # `within` is the lambda at which each leaf has moved by `max_step`.
        within = np.full(n_leaves, np.inf)
        np.divide(self.setting.max_step, moves, out=within, where=moves > 0.0)
        limits = np.where(self._aims_one_way(n_leaves), within, np.inf)
        reach = min(self.loss.longest / float(moves[moves > 0.0].min()), 1e300)

        def at(moved: Floats) -> tuple[Floats, Floats]:
            self.shards.call([try_leaves(output=0, values=moved)])
            top = self.loss.measure(self.shards, self.sum_of_steps, "trial")[0]
            scales = self._scales(float(top[0]), float(top[1]), self.shards.n_rows)
            (sums,) = self.shards.call(
                [sum_leaves(output=0, n_leaves=n_leaves, by_weight=False, scales=scales)]
            )
            return _to_float(sums, scales)

        size = minimise_along(at, steps, limits, reach, unit=1.0 / float(moves.max()))
        if not size > 0.0:
            return size, [steps]
        held = self.learner.in_order(tree, steps * np.minimum(1.0, limits / size))
        self._write_step(0, held)
        return size, [held]

    def _aims_one_way(self, n_leaves: int) -> NDArray[np.bool_]:
        """Whether all rows of a leaf, but those without price, should move the same way."""
        scale = grid_scale(self._largest_size, self.shards.n_rows)
        (sums,) = self.shards.call([sum_leaf_sides(n_leaves=n_leaves, scale=scale)])
        both = sums[:, :2].any(axis=1) & sums[:, 2:].any(axis=1)
        return np.asarray(~both)

    def _sums_along(self, size: float, longest: float) -> tuple[Floats, Floats]:
        """Return gradient and hessian of the loss, as a function of lambda, exactly summed."""
        self.shards.call([try_steps(size=size)])
        largest = self.loss.measure(self.shards, self.sum_of_steps + size, "trial")
        gradient, hessian = (top * longest for top in largest.max(axis=0).tolist())
        hessian *= longest  # what is infinite is refused by `grid_scale`
        scales = self._scales(gradient, hessian, self.shards.n_rows * self.n_outputs)
        (sums,) = self.shards.call([sum_along(scales=scales)])
        return _to_float(sums, scales)


def _to_float(sums: Int64, scales: tuple[float, float]) -> tuple[Floats, Floats]:
    """Convert exact sums (units, remainders) of gradients and of hessians to floats."""
    return to_floats(sums[:, :2], scales[0]), to_floats(sums[:, 2:], scales[1])


def _near_moves(values: Floats, units: Any) -> Floats:
    """Return what lambda multiplies, times a power of two where it moves no row, or all too far.

    Fitted to gradients, it is in units of |a|, and F in units of 1 / |a|.
    """
    _, power = math.frexp(float(np.max(units * np.abs(values))))
    return np.asarray(np.ldexp(values, -power)) if abs(power) > _FAR_POWER else values


def newton_values(gradients: Floats, hessians: Floats, l2: float) -> Floats:
    """Return -gradient / (hessian + l2); 0 for a leaf without curvature."""
    whole = hessians + l2
    return np.divide(-gradients, whole, out=np.zeros_like(gradients), where=whole > 0.0)
