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

from costboost.trees.binning import Binner
from costboost.trees.codes import MISSING
from costboost.trees.splits import Split, SplitFinder

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]


class JointFinder(SplitFinder):
    """Finds the stump of least loss over all steps; `orientation` says how its sides vote."""

    def __init__(
        self,
        binner: Binner,
        costs: tuple[float, float],
        search: Literal["candidates", "hull"],
        min_count: int = 1,
    ) -> None:
        super().__init__(
            binner.n_bins, binner.is_categorical, 2, criterion="error", min_count=min_count
        )
        self.costs = costs
        self.search = search
        self.orientation: Int64 | None = None

    def find(
        self, hist: Int64, counts: Int64, sums: Int64, n_rows: int, features: Int64
    ) -> Split | None:
        """Return the stump of least loss, or None when no step lowers the loss."""
        stumps = _Stumps(self, hist, counts, sums, n_rows, features)
        if not len(stumps.wrong):
            return None
        wrong = stumps.wrong / sums.sum()
        negative, positive = (sums / sums.sum()).tolist()
        keep = _hull(wrong) if self.search == "hull" else _undominated(wrong)
        keep = np.sort(keep)  # ties go to the first candidate
        alphas, losses = best_steps(wrong[keep], positive, negative, self.costs)
        if not np.any(alphas > 0.0):
            return None
        losses = np.where(alphas > 0.0, losses, np.inf)
        chosen = int(keep[np.flatnonzero(losses <= losses.min() * (1 + 1e-14))[0]])
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
        min_count = finder.limits[2]
        cuts, lefts = [], []
        for j in features.tolist():
            order = self._order(j)
            rows = counts[j, order] if len(counts) else np.zeros(len(order), dtype=np.int64)
            left, size = np.cumsum(hist[j, order], axis=0), np.cumsum(rows)
            seen = hist[j, order].any(axis=1)
            last = len(order) - 1
            if not finder.is_categorical[j] and hist[j, MISSING].any():
                last += 1  # the last threshold parts missing values from all others
                extra = counts[j, MISSING] if len(counts) else 0
                cuts.append(_label(j, np.flatnonzero(seen[: last - 1]), 1))
                keep = _allowed(size[cuts[-1][:, 1]] + extra, n_rows, min_count)
                cuts[-1] = cuts[-1][keep]
                lefts.append(left[cuts[-1][:, 1]] + hist[j, MISSING])
            cuts.append(_label(j, np.flatnonzero(seen[:last]), 0))
            cuts[-1] = cuts[-1][_allowed(size[cuts[-1][:, 1]], n_rows, min_count)]
            lefts.append(left[cuts[-1][:, 1]])
        every = np.concatenate([_label(0, np.zeros(0, dtype=np.int64), 0), *cuts])
        rank = np.lexsort((every[:, 2], every[:, 1], every[:, 0]))
        self.cuts = every[rank]
        self.left = np.concatenate([np.zeros((0, 2), dtype=np.int64), *lefts])[rank]
        right = sums - self.left
        self.wrong = np.empty((2 * len(rank), 2))
        self.wrong[0::2] = np.column_stack([self.left[:, 1], right[:, 0]])
        self.wrong[1::2] = np.column_stack([right[:, 1], self.left[:, 0]])

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


def _label(feature: int, keys: Int64, side: int) -> Int64:
    return np.column_stack([np.full(len(keys), feature), keys, np.full(len(keys), side)])


def _allowed(sizes: Int64, n_rows: int, min_count: int) -> NDArray[np.bool_]:
    """Whether both sides have enough rows."""
    if min_count <= 1:
        return np.ones(len(sizes), dtype=bool)
    return (sizes >= min_count) & (n_rows - sizes >= min_count)


def _undominated(points: Floats) -> Int64:
    """Return the points than which no other is smaller in both coordinates."""
    order = np.lexsort((points[:, 1], points[:, 0]))
    lowest = np.minimum.accumulate(points[order, 1])
    first = np.r_[True, points[order[1:], 1] < lowest[:-1]]
    # Equal points dominate nobody: the first of them in the candidates' order stands for all.
    return np.asarray(order[first])


def _hull(points: Floats) -> Int64:
    """Return the vertices of the lower left convex hull, by a monotone chain."""
    hull: list[int] = []
    for i in _undominated(points).tolist():
        while len(hull) >= 2:
            (x1, y1), (x2, y2), (x3, y3) = points[hull[-2]], points[hull[-1]], points[i]
            if (x2 - x1) * (y3 - y1) > (y2 - y1) * (x3 - x1):
                break
            hull.pop()
        hull.append(i)
    return np.array(hull, dtype=np.int64)


def best_steps(
    wrong: Floats, positive: float, negative: float, costs: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return the step of least loss, and that loss, for each (b, d) at once.

    Newton's method on the convex loss, kept inside a bracket; a step that would be negative is 0.
    """
    c1, c2 = costs
    b, d = wrong[:, 0], wrong[:, 1]
    right1, right2 = positive - b, negative - d

    def loss(a: Floats) -> tuple[Floats, Floats, Floats]:
        up1, up2 = b * np.exp(c1 * a), d * np.exp(c2 * a)
        down1, down2 = right1 * np.exp(-c1 * a), right2 * np.exp(-c2 * a)
        slope = c1 * (up1 - down1) + c2 * (up2 - down2)
        return up1 + up2 + down1 + down2, slope, c1**2 * (up1 + down1) + c2**2 * (up2 + down2)

    low, high = np.zeros(len(b)), np.full(len(b), 40.0)
    alpha = np.full(len(b), 0.1)
    hopeless = loss(low)[1] >= 0.0
    for _ in range(60):
        _, slope, curvature = loss(alpha)
        low, high = np.where(slope < 0, alpha, low), np.where(slope < 0, high, alpha)
        following = alpha - slope / np.maximum(curvature, 1e-300)
        following = np.where((following > low) & (following < high), following, (low + high) / 2)
        if np.all(np.abs(following - alpha) <= 1e-14 * np.maximum(1.0, alpha)):
            break
        alpha = following
    alpha = np.where(hopeless, 0.0, alpha)
    return alpha, loss(alpha)[0]
