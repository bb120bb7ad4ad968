"""Stump and alpha chosen together, from the sums in a histogram: CSAda and AdaBoostDB.

For two classes with constant costs C1 (positives) and C2 (negatives), a stump h that gets positives
of weight b and negatives of weight d wrong, and a step a, have the loss

    b (e^{C1 a} - e^{-C1 a}) + T+ e^{-C1 a} + d (e^{C2 a} - e^{-C2 a}) + T- e^{-C2 a}

(Masnadi-Shirazi and Vasconcelos 2007). CSAda minimises it over a for every candidate. For any a > 0
the loss is linear and increasing in (b, d), so the best candidate lies on the lower left convex
hull of all (b, d): AdaBoostDB looks at those few only, and so do both methods here.

Prices that differ by many powers of ten make steps long and leave a class next to no weight, until
a step brings it back: each class has a grid of its own, and losses are found by logarithms. Rows
that weigh less than 2**-62 of the costliest of their own class, times the number of rows, add
nothing to a loss here. A stump may part them from all others: its vote is then a constant's.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import Binner
from costboost.binning.codes import MISSING
from costboost.boosting.adaboost.steps import LONGEST, NEGLIGIBLE
from costboost.boosting.formulas import Bracket, Tolerance
from costboost.trees.tree import FREE, Bounds, Split, SplitFinder
from costboost.typing import Floats, Int64

_N_STRIPS = 512
_EDGE = 2.0**-40  # of its width: a point this little above an edge of the hull is on it
_FAR_ABOVE = 2.0**-30  # of the same: far beyond the rounding of floats
_TIE = 1e-14  # logarithms of Z that differ by less are equal
_TIE_OF_GAIN = 1e-10  # or, where Z is nearly 1, by less than this share of them


class JointFinder(SplitFinder):
    """Finds the stump of least loss over all steps; `orientation` says how its sides vote.

    `costs` are those of a positive and of a negative, `units` the logarithms of what the unit of
    each class's sums weighs, negatives first.
    """

    whole_table = True
    own_search = True
    counts_rows = True  # rows whose weight a grid does not hold are rows still: a cut may part them

    def __init__(
        self,
        binner: Binner,
        costs: tuple[float, float],
        units: Floats,
        min_count: int = 1,
        monotone: NDArray[np.int8] | None = None,
    ) -> None:
        super().__init__(
            binner.n_bins,
            binner.is_categorical,
            2,
            criterion="error",
            min_count=min_count,
            monotone=monotone,
        )
        self.costs = costs
        self.units = units

    def find(
        self,
        hist: Int64,
        counts: Int64,
        sums: Int64,
        n_rows: int,
        features: Int64,
        bounds: Bounds = FREE,
    ) -> Split | None:
        """Return the stump of least loss, or None when no step lowers the loss.

        `bounds` are for trees of gradients; stumps of votes have none.
        """
        stumps = _Stumps(self, hist, counts, sums, n_rows, features)
        allowed = np.flatnonzero(~stumps.turned)
        if not len(allowed):
            return None
        wrong = stumps.wrong[allowed]
        keep = np.sort(_hull(wrong))  # ties go to the first candidate
        alphas, logs = best_steps(wrong[keep], sums[::-1], self.units[::-1], self.costs)
        if not np.any(alphas > 0.0):
            return None
        logs = np.where(alphas > 0.0, logs, np.inf)
        least = float(logs.min())
        tie = least + min(_TIE, _TIE_OF_GAIN * abs(least))
        chosen = int(allowed[keep[np.flatnonzero(logs <= tie)[0]]])
        split, left_positive = stumps.split(chosen, max(-math.expm1(least), 0.0))
        self.orientation = np.array([1, 0] if left_positive else [0, 1])
        return split


class _Stumps:
    """All ways to cut a root in two, each with both votes.

    A cut is (feature, key, side): a threshold and whether missing values go left, or how many of
    the ordered categories do. `wrong` (n_stumps, 2) holds (b, d) on the grid; stump 2 i votes + on
    the right of cut i, stump 2 i + 1 on the left.
    """

    def __init__(
        self,
        finder: JointFinder,
        hist: Int64,
        counts: Int64,
        sums: Int64,
        n_rows: int,
        features: Int64,
    ) -> None:
        self.hist, self.sums, self.finder = hist, sums, finder
        self.counts, self.n_rows = counts, n_rows
        categorical = finder.is_categorical[features]
        parts = [self._thresholds(features[~categorical])]
        parts += [self._subsets(j) for j in features[categorical].tolist()]
        self.cuts, self.left = (np.concatenate(each) for each in zip(*parts, strict=True))
        if len(parts) > 1:
            rank = np.lexsort((self.cuts[:, 2], self.cuts[:, 1], self.cuts[:, 0]))
            self.cuts, self.left = self.cuts[rank], self.left[rank]
        right = sums - self.left
        self.wrong = np.empty((2 * len(self.cuts), 2), dtype=np.int64)
        self.wrong[0::2] = np.column_stack([self.left[:, 1], right[:, 0]])
        self.wrong[1::2] = np.column_stack([right[:, 1], self.left[:, 0]])

    @property
    def turned(self) -> NDArray[np.bool_]:
        """Mask of stumps that vote against the monotone constraint of their column, (n_stumps,)."""
        turned = np.zeros((len(self.cuts), 2), dtype=bool)
        if self.finder.monotone is not None:
            way = self.finder.monotone[self.cuts[:, 0]]
            turned[:, 0], turned[:, 1] = way < 0, way > 0
        return turned.ravel()

    def _thresholds(self, features: Int64) -> tuple[Int64, Int64]:
        """Return the cuts of all numeric columns at once, and the sums on their left."""
        hist, codes = self.hist[features], np.arange(256)
        rows = self.counts[features]
        last = self.finder.n_bins[features][:, None] - 1
        absent = hist[:, MISSING]
        seen, some_absent = rows > 0, rows[:, MISSING, None] > 0
        # Missing values go right, left; the last threshold parts them from all others.
        right = seen & (codes < last + some_absent)
        both = np.stack([right, seen & (codes < last) & some_absent], axis=2)
        if self.finder.min_count > 1:
            size = np.cumsum(rows, axis=1)
            missing = rows[:, MISSING, None]
            both &= self._allowed(np.stack([size, size + missing], axis=2))
        j, key, side = np.nonzero(both)
        left = np.cumsum(hist, axis=1)[j, key] + side[:, None] * absent[j]
        return np.column_stack([features[j], key, side]), left

    def _subsets(self, feature: int) -> tuple[Int64, Int64]:
        """Return the cuts of a categorical column between its ordered categories."""
        order = self._order(feature)
        key = np.arange(max(len(order) - 1, 0))
        if self.finder.min_count > 1:
            key = key[self._allowed(np.cumsum(self.counts[feature, order]))[key]]
        left = np.cumsum(self.hist[feature, order], axis=0)[key]
        return np.column_stack([np.full(len(key), feature), key, np.zeros_like(key)]), left

    def _allowed(self, sizes: Int64) -> NDArray[np.bool_]:
        """Whether both sides have enough rows, for so many on the left."""
        least = self.finder.min_count
        return np.asarray((sizes >= least) & (self.n_rows - sizes >= least))

    def _order(self, feature: int) -> Int64:
        """Return a column's codes in the order in which they are sent left."""
        if not self.finder.is_categorical[feature]:
            return np.arange(int(self.finder.n_bins[feature]))
        codes = np.flatnonzero(self.counts[feature])
        cells = self.hist[feature, codes]
        weight = cells.sum(axis=1)
        # Categories whose rows weigh nothing on the grid stand together, before all others.
        share = np.divide(cells[:, 1], weight, out=np.full(len(codes), -1.0), where=weight > 0)
        return codes[np.argsort(share, kind="stable")]

    def split(self, stump: int, gain: float) -> tuple[Split, bool]:
        """Return the cut of a stump, and whether its left side votes +."""
        feature, key, side = self.cuts[stump // 2].tolist()
        left_sums = self.left[stump // 2]
        heavier = left_sums.sum() >= (self.sums - left_sums).sum()
        order = self._order(feature)
        if self.finder.is_categorical[feature]:
            goes_left = np.full(256, heavier, dtype=np.uint8)
            goes_left[order] = np.arange(len(order)) <= key
            return Split(gain, feature, -1, goes_left, left_sums), stump % 2 == 1
        goes_left = (np.arange(256) <= key).astype(np.uint8)
        goes_left[MISSING] = side if self.counts[feature, MISSING] else heavier
        return Split(gain, feature, key, goes_left, left_sums), stump % 2 == 1


def _undominated(points: Int64) -> Int64:
    """Return the Pareto-minimal points, sorted by the first coordinate."""
    rest = _promising(points)
    order = rest[np.lexsort((points[rest, 1], points[rest, 0]))]
    lowest = np.minimum.accumulate(points[order, 1])
    first = np.r_[True, points[order[1:], 1] < lowest[:-1]]
    # Equal points dominate nobody: the first of them in the candidates' order stands for all.
    return np.asarray(order[first])


def _promising(points: Int64) -> Int64:
    """Drop points that are dominated by a strip further left, so that few remain to be sorted."""
    x, y = np.ascontiguousarray(points[:, 0]), np.ascontiguousarray(points[:, 1])
    start, width = x.min(), np.ptp(x)
    if not width > 0:
        return np.arange(len(x))
    strip = ((x - start) * (_N_STRIPS / width)).astype(np.int64)
    lowest = np.full(_N_STRIPS + 2, np.iinfo(np.int64).max)
    np.minimum.at(lowest, strip + 1, y)
    return np.flatnonzero(y <= np.minimum.accumulate(lowest)[strip])


def _thinned(candidates: Int64, points: Int64) -> Int64:
    """Return the candidates without those far above the line between both their neighbours.

    A hull has none of them. Few are left to be looked at one by one.
    """
    while len(candidates) > 2:
        right, down = (np.diff(points[candidates], axis=0) * [1.0, -1.0]).T
        width, height = right[:-1] + right[1:], down[:-1] + down[1:]
        above = right[:-1] * height - down[:-1] * width
        far = np.flatnonzero(above > _FAR_ABOVE * (width * height))
        if not len(far):
            break
        candidates = np.delete(candidates, far + 1)
    return candidates


def _hull(points: Int64) -> Int64:
    """Return the points on the lower left convex hull, by a monotone chain.

    Points on its edges but for rounding are kept: theirs is the least loss as well, where both ends
    of the edge tie, and they may come first.
    """
    hull: list[tuple[int, int, int]] = []
    candidates = _thinned(_undominated(points), points)
    for i, (x3, y3) in zip(candidates.tolist(), points[candidates].tolist(), strict=True):
        while len(hull) >= 2:
            (_, x1, y1), (_, x2, y2) = hull[-2:]
            # Whole numbers of any size: the second of three points is above the line by so much.
            above = (x2 - x1) * (y1 - y3) - (y1 - y2) * (x3 - x1)
            if above <= _EDGE * float((x3 - x1) * (y1 - y3)):
                break
            hull.pop()
        hull.append((i, x3, y3))
    return np.array([i for i, _, _ in hull], dtype=np.int64)


def best_steps(
    wrong: Int64, sums: Int64, units: Floats, costs: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return the step of least loss, and ln Z, for each (b, d) at once.

    `sums` and `units` are those of both classes in the same order: their weights on the grid, and
    the logarithm of what a unit weighs. A step that would be negative is 0, and one that lowers the
    loss for ever is infinite.
    """
    rate = np.array(costs)[:, None]
    with np.errstate(divide="ignore"):  # ln 0
        unit = (units - np.logaddexp(*(units + np.log(sums))))[:, None]
        up, down = unit + np.log(wrong.T), unit + np.log(sums[:, None] - wrong.T)
        price = np.log(rate)
    rising, falling = np.logaddexp(*(price + up)), np.logaddexp(*(price + down))
    alphas = np.zeros(len(wrong))
    falls = falling > rising + NEGLIGIBLE  # the slope at 0, as in the search for alpha
    alphas[falls & np.isneginf(rising)] = np.inf
    todo = np.flatnonzero(falls & np.isfinite(rising))
    if len(todo):
        alphas[todo] = _least(price + up[:, todo], price + down[:, todo], rate)
    return alphas, _log_z(up, down, rate, alphas)


def _least(up: Floats, down: Floats, rate: Floats) -> Floats:
    """Return where sum exp(up + rate a) = sum exp(down - rate a), a > 0, columns side by side.

    The gap of their logarithms is nearly straight wherever one price has its way. No minimiser is
    beyond the place where one class's mistakes alone outweigh all that fell at 0.
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        ends = (np.logaddexp(*down) - up) / rate
    high = np.minimum(np.nanmin(ends, axis=0), LONGEST)

    def gap(alpha: Floats) -> tuple[Floats, Floats]:
        parts = [up + rate * alpha, down - rate * alpha]
        rising, falling = (np.logaddexp(*part) for part in parts)
        bend = sum(
            np.sum(rate * np.exp(part - whole), axis=0)
            for part, whole in zip(parts, (rising, falling), strict=True)
        )
        return rising - falling, bend

    close, shut = Tolerance(1e-8, 0.0), Tolerance(1e-15, 0.0)
    bracket = Bracket(np.zeros_like(high), 0.0, high, close=close, shut=shut)
    return np.asarray(bracket.minimise(gap, 200))


def _log_z(up: Floats, down: Floats, rate: Floats, alphas: Floats) -> Floats:
    """Return ln sum exp(up + rate a) + exp(down - rate a); at a = 0 that is 0.

    Near 0 by the change alone, in which nothing is lost of short steps.
    """
    with np.errstate(invalid="ignore"):
        exponents = np.where(rate > 0.0, rate * alphas, 0.0)
        grown = np.where(np.isneginf(up), -np.inf, up + exponents)
    small = np.minimum(exponents, 1.0)
    rise = np.where(exponents < 1.0, np.exp(up) * np.expm1(small), np.exp(grown) - np.exp(up))
    change = np.sum(rise + np.exp(down) * np.expm1(-exponents), axis=0)
    whole = np.logaddexp.reduce(np.concatenate([grown, down - exponents]), axis=0)
    return np.asarray(np.where(change > -0.5, np.log1p(np.maximum(change, -0.5)), whole))
