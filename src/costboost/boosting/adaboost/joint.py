"""Stump and alpha chosen together, from the sums in a histogram: CSAda and AdaBoostDB.

For two classes with constant costs C1 (positives) and C2 (negatives), a stump h that gets positives
of weight b and negatives of weight d wrong, and a step a, have the loss

    b (e^{C1 a} - e^{-C1 a}) + T+ e^{-C1 a} + d (e^{C2 a} - e^{-C2 a}) + T- e^{-C2 a}

(Masnadi-Shirazi and Vasconcelos 2007). CSAda minimises it over a for every candidate. For any a > 0
the loss is linear and increasing in (b, d), so the best candidate lies on the lower left convex
hull of all (b, d): AdaBoostDB's faster search looks at those few only, and finds the same stump.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import Binner
from costboost.binning.codes import MISSING
from costboost.boosting.bracket import Bracket, Tolerance
from costboost.trees.splits import FREE, Bounds, Split, SplitFinder

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

_N_STRIPS = 512
_STEEP = 500.0  # exponents are cut here, far from overflow


class JointFinder(SplitFinder):
    """Finds the stump of least loss over all steps; `orientation` says how its sides vote."""

    whole_table = True
    own_search = True

    def __init__(
        self,
        binner: Binner,
        costs: tuple[float, float],
        search: Literal["candidates", "hull"],
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
        self.search = search

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
        wrong = stumps.wrong[allowed] / sums.sum()
        negative, positive = (sums / sums.sum()).tolist()
        keep = _hull(wrong) if self.search == "hull" else _undominated(wrong)
        keep = np.sort(keep)  # ties go to the first candidate
        alphas, losses = best_steps(wrong[keep], positive, negative, self.costs)
        if not np.any(alphas > 0.0):
            return None
        losses = np.where(alphas > 0.0, losses, np.inf)
        best = keep[np.flatnonzero(losses <= losses.min() * (1 + 1e-14))[0]]
        chosen = int(allowed[best])
        split, left_positive = stumps.split(chosen, float(positive + negative - losses.min()))
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
        self.wrong = np.empty((2 * len(self.cuts), 2))
        self.wrong[0::2] = np.column_stack([self.left[:, 1], right[:, 0]])
        self.wrong[1::2] = np.column_stack([right[:, 1], self.left[:, 0]])

    @property
    def turned(self) -> NDArray[np.bool_]:
        """Which stumps vote against the way that their column is constrained to, (n_stumps,)."""
        turned = np.zeros((len(self.cuts), 2), dtype=bool)
        if self.finder.monotone is not None:
            way = self.finder.monotone[self.cuts[:, 0]]
            turned[:, 0], turned[:, 1] = way < 0, way > 0
        return turned.ravel()

    def _thresholds(self, features: Int64) -> tuple[Int64, Int64]:
        """Return the cuts of all numeric columns at once, and the sums on their left."""
        hist, codes = self.hist[features], np.arange(256)
        last = self.finder.n_bins[features][:, None] - 1
        absent = hist[:, MISSING]
        seen, some_absent = hist.any(axis=2), absent.any(axis=1, keepdims=True)
        # Missing values go right, left; the last threshold parts them from all others.
        right = seen & (codes < last + some_absent)
        both = np.stack([right, seen & (codes < last) & some_absent], axis=2)
        if self.finder.min_count > 1 and len(self.counts):
            size = np.cumsum(self.counts[features], axis=1)
            missing = self.counts[features, MISSING][:, None]
            both &= self._allowed(np.stack([size, size + missing], axis=2))
        j, key, side = np.nonzero(both)
        left = np.cumsum(hist, axis=1)[j, key] + side[:, None] * absent[j]
        return np.column_stack([features[j], key, side]), left

    def _subsets(self, feature: int) -> tuple[Int64, Int64]:
        """Return the cuts of a categorical column between its ordered categories."""
        order = self._order(feature)
        key = np.arange(max(len(order) - 1, 0))
        if self.finder.min_count > 1 and len(self.counts):
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
        cells = self.hist[feature]
        codes = np.flatnonzero(cells.any(axis=1))
        share = cells[codes, 1] / cells[codes].sum(axis=1)
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
        goes_left[MISSING] = side if self.hist[feature, MISSING].any() else heavier
        return Split(gain, feature, key, goes_left, left_sums), stump % 2 == 1


def _undominated(points: Floats) -> Int64:
    """Return the points than which no other is smaller in both coordinates, by the first."""
    rest = _promising(points)
    order = rest[np.lexsort((points[rest, 1], points[rest, 0]))]
    lowest = np.minimum.accumulate(points[order, 1])
    first = np.r_[True, points[order[1:], 1] < lowest[:-1]]
    # Equal points dominate nobody: the first of them in the candidates' order stands for all.
    return np.asarray(order[first])


def _promising(points: Floats) -> Int64:
    """Return the points above no point of a strip further left: few are left to be sorted."""
    x, y = np.ascontiguousarray(points[:, 0]), np.ascontiguousarray(points[:, 1])
    start, width = x.min(), np.ptp(x)
    if not width > 0.0:
        return np.arange(len(x))
    strip = ((x - start) * (_N_STRIPS / width)).astype(np.int64)
    lowest = np.full(_N_STRIPS + 2, np.inf)
    np.minimum.at(lowest, strip + 1, y)
    return np.flatnonzero(y <= np.minimum.accumulate(lowest)[strip])


def _hull(points: Floats) -> Int64:
    """Return the vertices of the lower left convex hull, by a monotone chain."""
    hull: list[tuple[int, float, float]] = []
    candidates = _undominated(points)
    for i, (x3, y3) in zip(candidates.tolist(), points[candidates].tolist(), strict=True):
        while len(hull) >= 2:
            (_, x1, y1), (_, x2, y2) = hull[-2:]
            if (x2 - x1) * (y3 - y1) > (y2 - y1) * (x3 - x1):
                break
            hull.pop()
        hull.append((i, x3, y3))
    return np.array([i for i, _, _ in hull], dtype=np.int64)


def best_steps(
    wrong: Floats, positive: float, negative: float, costs: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return the step of least loss, and that loss, for each (b, d) at once.

    Newton's method on the convex loss, kept inside a bracket; a step that would be negative is 0,
    and one that lowers the loss for ever is infinite.
    """
    c1, c2 = costs
    b, d = wrong[:, 0], wrong[:, 1]
    up, down = np.stack([b, d]), np.stack([positive - b, negative - d])
    rate = np.array([[c1], [c2]])
    alpha, least = np.zeros(len(b)), np.full(len(b), positive + negative)
    falls = np.sum(rate * (up - down), axis=0) < 0.0  # the slope at 0
    endless = falls & (np.sum(rate * up, axis=0) == 0.0)
    alpha[endless], least[endless] = np.inf, np.sum((up + down)[rate[:, 0] == 0.0], axis=0)[endless]
    todo = np.flatnonzero(falls & ~endless)
    if len(todo):
        alpha[todo], least[todo] = _newton(up[:, todo], down[:, todo], rate)
    return alpha, least


def _newton(up: Floats, down: Floats, rate: Floats) -> tuple[Floats, Floats]:
    """Minimise sum up exp(rate a) + down exp(-rate a) over a > 0, columns side by side.

    u exp(-a u) is at most 1 / (e a), so that no minimiser is beyond sum down / (e sum rate up).
    """
    wrong, right = np.sum(rate * up, axis=0), np.sum(rate * down, axis=0)
    high = np.maximum(np.sum(down, axis=0) / wrong, 40.0)
    # Two terms with the mean rate have their minimum here.
    start = 0.5 * np.log(right / np.maximum(wrong, 1e-16 * right)) / np.max(rate)
    start = np.minimum(start, 39.0)

    def derivatives(alpha: Floats) -> tuple[Floats, Floats]:
        grown, shrunk = _terms(up, down, rate, alpha)
        slope = np.sum(rate * (grown - shrunk), axis=0)
        return slope, np.sum(rate**2 * (grown + shrunk), axis=0)

    # Digits double: after a step this short the loss does not change any more.
    close, still = Tolerance(1e-7, 1e-7), Tolerance(1e-14, 1e-14)
    bracket = Bracket(start, 0.0, high, close=close, still=still, freezes=False)
    alpha = bracket.minimise(derivatives, 200)
    grown, shrunk = _terms(up, down, rate, alpha)
    return alpha, np.sum(grown + shrunk, axis=0)


def _terms(up: Floats, down: Floats, rate: Floats, alpha: Floats) -> tuple[Floats, Floats]:
    """Return up exp(rate a) and down exp(-rate a); far beyond the minimum, cut."""
    exponents = rate * alpha
    return up * np.exp(np.minimum(exponents, _STEEP)), down * np.exp(-exponents)
