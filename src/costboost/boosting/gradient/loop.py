"""Gradient boosting: a generator of rounds.

    margins -> slopes, bends -> tree (or any regressor) -> leaf values -> step -> margins -> ...

Forward stagewise with a loss (Friedman 2001): in every round a learner is fitted to the slopes of
the loss, one for each output, all from the same margins. K classes grow K trees a round rather
than one tree with vector leaves: each class then has its own splits and its own exact pair of
sums, as in scikit-learn, LightGBM and XGBoost, and the tree engine stays as it is.

How far to go is `step`: "newton" gives every leaf -sum slope / (sum bend + l2); "exact" its
minimiser (a quantile for pinball loss); "line-search" fits by least squares and takes one lambda
for the whole round, the lecture's algorithm. All sums over rows are exact, so the model does not
depend on shards or threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.gradient import _gradient_kernels as kernels
from costboost.boosting.gradient.derivatives import Slopes
from costboost.boosting.gradient.learner import Lesson, SlopeLearner
from costboost.boosting.gradient.losses import PinballLoss
from costboost.boosting.gradient.minimisers import (
    minimise,
    pinball_along,
    pinball_by_leaf,
    pinball_prices,
)
from costboost.shards.grid import grid_scale, to_floats
from costboost.shards.local import Shards
from costboost.shards.rows import Shard
from costboost.shards.sampling import RowSample

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
Step = Literal["newton", "exact", "line-search"]
Stop = Literal["rounds", "flat", "leaf", "uphill"]

_LONGEST = 1e6  # of a line search that never turns
_STILL = 1e-9  # of the steepest sum of slopes: the constant is at its best
_EVERY = np.zeros(0, dtype=np.uint8)


@dataclass(frozen=True)
class GradientSetting:
    """What the user chose, beside the loss and the learner.

    Attributes
    ----------
    n_rounds : int
    step : "newton" | "exact" | "line-search"
    learning_rate : float
    l2 : float
        Added to every leaf's sum of bends.
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
    lessons : tuple of Lesson
        One learner for each output.
    values : tuple of float64 arrays of shape (L,)
        What each leaf adds to its output; for a regressor, its factor (1,).
    """

    number: int
    step: float
    train_cost: float
    lessons: tuple[Lesson, ...]
    values: tuple[Floats, ...]


class GradientBoosting:
    """The state of one fit: margins, slopes and bends of every row, round after round.

    Parameters
    ----------
    shards : Shards
    slopes : Slopes
        The loss, bound to the shards.
    learner : SlopeLearner
    setting : GradientSetting
    start : float64 array of shape (J,) or (n, J)
        f_0.
    tally : callable, or None
        Says what the margins amount to on the training rows.
    """

    def __init__(
        self,
        shards: Shards,
        slopes: Slopes,
        learner: SlopeLearner,
        setting: GradientSetting,
        start: Floats,
        tally: Callable[[Shards], float] | None = None,
    ) -> None:
        self.shards, self.slopes, self.learner = shards, slopes, learner
        self.setting, self.tally = setting, tally
        self.n_outputs = slopes.rows.n_outputs
        self.stop: Stop = "rounds"
        for shard in shards.shards:
            first = start[shard.rows] if start.ndim == 2 else start
            shape = (len(shard.rows), self.n_outputs)
            shard.data["margins"] = np.array(np.broadcast_to(first, shape), dtype=float, order="C")
            # Several outputs, or a line search: all steps are known before any is taken.
            if self.n_outputs > 1 or self._searching or not learner.has_leaves:
                shard.data["steps"] = np.zeros(shape)

    @property
    def _searching(self) -> bool:
        return self.setting.step == "line-search"

    def rounds(self, first: int = 0) -> Iterator[GradientRound]:
        """Yield rounds until one cannot be taken; `stop` then says why."""
        for number in range(first, self.setting.n_rounds):
            largest = self.slopes.measure(self.shards)
            if not np.any(largest[:, 0] > 0.0):
                self.stop = "flat"
                return
            sample = self._sample(number)
            lessons, values = [], []
            for k in range(self.n_outputs):
                lesson = self.learner.learn(self.shards, k, number, largest[k], sample)
                lessons.append(lesson)
                values.append(self._leaf_values(lesson, k, largest[k]))
                self._write_step(lesson, k, values[-1])
            if sample is None and self._stands_still(lessons, values, largest):
                self.stop = "leaf"
                return
            size = self._line_search() if self._searching else 1.0
            if not size > 0.0:
                self.stop = "uphill"
                return
            step = size * self.setting.learning_rate
            yield self._take(number, step, tuple(lessons), tuple(step * v for v in values))
        self.stop = "rounds"

    def replay(self, rounds: Sequence[GradientRound]) -> None:
        """Bring the margins to where they were after the given rounds."""
        if rounds:
            largest = self.slopes.measure(self.shards)
            for k in range(self.n_outputs):
                self.learner.anchor(self.shards, k, largest[k])
        for done in rounds:
            for k, (lesson, values) in enumerate(zip(done.lessons, done.values, strict=True)):
                self.learner.recall(self.shards, lesson)
                self._write_step(lesson, k, values / done.step)
            self._move(done.step, done.values)

    def _stands_still(self, lessons: list[Lesson], values: list[Floats], largest: Floats) -> bool:
        """Whether no tree found a split, and none would with one more constant added."""
        if not (self.learner.deterministic and _is_bare(lessons)):
            return False
        for k, value in enumerate(values):
            slope = abs(float(self._leaf_sums(k, 1, largest[k])[0][0]))
            if value[0] != 0.0 and slope > _STILL * self.shards.n_rows * float(largest[k, 0]):
                return False
        return True

    # --- one round

    def _sample(self, number: int) -> RowSample | None:
        """Choose the rows that this round learns from, and mark them."""
        if self.setting.subsample >= 1.0:
            return None
        sample = RowSample(self.setting.subsample, self.setting.seed, number)
        for shard in self.shards.shards:
            shard.data["keep"] = sample.keeps(shard.rows).astype(np.uint8)
        if not any(np.any(shard.data["keep"]) for shard in self.shards.shards):
            for shard in self.shards.shards:
                shard.data["keep"][:] = 1
        return sample

    def _leaf_values(self, lesson: Lesson, k: int, largest: Floats) -> Floats:
        """Return what each leaf adds to output k, before the learning rate."""
        if lesson.tree is None:
            return np.ones(1)
        setting, n_leaves = self.setting, len(lesson.tree.leaves)
        if setting.step == "exact":
            values = self._exact_values(k, n_leaves)
        else:
            slopes, bends = self._leaf_sums(k, n_leaves, largest)
            values = newton_values(slopes, bends, setting.l2)
        values = np.clip(values, -setting.max_step, setting.max_step)
        return self.learner.in_order(lesson.tree, values)

    def _leaf_sums(self, k: int, n_leaves: int, largest: Floats) -> tuple[Floats, Floats]:
        """Return the exact sums of slopes and bends of every leaf."""
        unit = self._searching
        top = self.learner.largest_unit if unit else float(largest[1])
        n_rows = self.shards.n_rows
        scales = (grid_scale(float(largest[0]), n_rows), grid_scale(top, n_rows))

        def part(shard: Shard) -> Int64:
            out = np.zeros((n_leaves, 4), dtype=np.int64)
            data = shard.data
            bends = data["unit"] if unit else data["bends"][k]
            keep = data.get("keep", _EVERY)
            kernels.sum_by_leaf(data["slopes"][k], bends, shard.leaves, keep, *scales, out)
            return out

        return _to_float(self.shards.sum(part), scales)

    def _exact_values(self, k: int, n_leaves: int) -> Floats:
        loss, rows, shards = self.slopes.loss, self.slopes.rows, self.shards
        if isinstance(loss, PinballLoss):
            gaps = np.asarray(rows.y, dtype=float) - shards.gather("margins")[:, 0]
            return pinball_by_leaf(gaps, *self._priced(), self._gather_leaves(), n_leaves)

        def at(values: Floats) -> tuple[Floats, Floats]:
            for shard in shards.shards:
                shard.data["trial"] = shard.data["margins"].copy()
                kernels.add_by_leaf(shard.data["trial"], k, shard.leaves, values)
            slopes, bends = self._leaf_sums(k, n_leaves, self.slopes.measure(shards, "trial")[k])
            return slopes + self.setting.l2 * values, bends + self.setting.l2

        limit = self.setting.max_step if np.isfinite(self.setting.max_step) else 1e300
        values = minimise(at, n_leaves, limit)
        self.slopes.measure(shards)  # the other outputs' trees are grown at the margins
        return values

    def _priced(self) -> tuple[Floats, Floats]:
        """Return the prices over and under, 0 for rows that this round does not learn from."""
        over, under = pinball_prices(self.slopes.loss, self.slopes.rows)
        if "keep" not in self.shards.shards[0].data:
            return over, under
        keep = self.shards.gather("keep")
        return over * keep, under * keep

    def _gather_leaves(self) -> NDArray[np.uint16]:
        for shard in self.shards.shards:
            shard.data["leaves"] = shard.leaves
        return self.shards.gather("leaves")

    def _write_step(self, lesson: Lesson, k: int, values: Floats) -> None:
        """Write what the lesson adds to every row's output k, if the rows keep steps."""
        for shard in self.shards.shards:
            steps = shard.data.get("steps")
            if steps is None:
                return
            if lesson.tree is None:
                steps[:, k] = shard.data["answers"]
            else:
                steps[:, k] = values[shard.leaves]

    def _take(
        self, number: int, step: float, lessons: tuple[Lesson, ...], values: tuple[Floats, ...]
    ) -> GradientRound:
        self._move(step, values)
        cost = np.nan if self.tally is None else self.tally(self.shards)
        return GradientRound(number, step, cost, lessons, values)

    def _move(self, step: float, values: tuple[Floats, ...]) -> None:
        self.slopes.total += step

        def move(shard: Shard) -> None:
            margins, steps = shard.data["margins"], shard.data.get("steps")
            if steps is None:
                kernels.add_by_leaf(margins, 0, shard.leaves, values[0])
            else:
                kernels.add_scaled(margins, steps, step, margins)

        self.shards.map(move)

    # --- lambda

    def _line_search(self) -> float:
        """Return the lambda of least loss along the round's steps (the lecture's lambda_t).

        Where Cai's b makes the fitted direction one of ascent it is negative, and training ends.
        """
        loss, rows = self.slopes.loss, self.slopes.rows
        if isinstance(loss, PinballLoss):
            gaps = np.asarray(rows.y, dtype=float) - self.shards.gather("margins")[:, 0]
            return pinball_along(gaps, self.shards.gather("steps")[:, 0], *self._priced())

        def prepare(shard: Shard) -> float:
            shard.data["along"] = self.slopes.along(shard)
            return float(np.max(np.abs(shard.data["along"]), initial=0.0))

        longest = self.shards.map(prepare)
        if not max(longest) > 0.0:
            return 0.0
        total = self.slopes.total

        def at(size: Floats) -> tuple[Floats, Floats]:
            self.slopes.total = total + float(size[0])
            return self._sums_along(float(size[0]), max(longest))

        # As leaves, rows move by max_step at most: expected cost would else go to certainty.
        tops = self.shards.map(lambda s: float(np.max(np.abs(s.data["steps"]), initial=0.0)))
        limit = min(_LONGEST, self.setting.max_step) / (max(tops) or 1.0)
        found = float(minimise(at, 1, limit)[0])
        self.slopes.total = total
        return found

    def _sums_along(self, size: float, longest: float) -> tuple[Floats, Floats]:
        """Return slope and bend of the loss, as a function of lambda, exactly summed."""

        def try_(shard: Shard) -> None:
            data = shard.data
            trial = data.setdefault("trial", np.empty_like(data["margins"]))
            kernels.add_scaled(data["margins"], data["steps"], size, trial)

        self.shards.map(try_)
        largest = self.slopes.measure(self.shards, "trial").max(axis=0) * (longest, longest**2)
        n_terms = self.shards.n_rows * self.n_outputs
        scales = (grid_scale(float(largest[0]), n_terms), grid_scale(float(largest[1]), n_terms))

        def part(shard: Shard) -> Int64:
            out = np.zeros((1, 4), dtype=np.int64)
            data = shard.data
            keep = data.get("keep", _EVERY)
            kernels.sum_along(data["slopes"], data["bends"], data["along"], keep, *scales, out)
            return out

        return _to_float(self.shards.sum(part), scales)


def _to_float(sums: Int64, scales: tuple[float, float]) -> tuple[Floats, Floats]:
    """Turn exact sums (units, remainders) of slopes and of bends into numbers."""
    return to_floats(sums[:, :2], scales[0]), to_floats(sums[:, 2:], scales[1])


def newton_values(slopes: Floats, bends: Floats, l2: float) -> Floats:
    """Return -slope / (bend + l2); 0 for a leaf without curvature."""
    whole = bends + l2
    return np.divide(-slopes, whole, out=np.zeros_like(slopes), where=whole > 0.0)


def _is_bare(lessons: Sequence[Lesson]) -> bool:
    """Whether no tree of the round found a split."""
    return all(lesson.tree is not None and len(lesson.tree.leaves) == 1 for lesson in lessons)
