"""What a split pays for its column, set against what it gains.

A split on a column that its rows have not paid for yet must gain more than they would pay. Money
and gains meet in one unit: a model's loss before its first round is worth what its decisions cost
then beyond what hindsight would (`worth`), and every share of that loss the same share of the
money. So prices of mistakes and of columns may be multiplied by any number, and nothing changes.

Who pays is the model, once, or every row by itself: then shards keep for each row what it has paid
for, (m, T), count who in a node has not, and note after a tree what its paths asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from costboost.costs import ColumnTests
from costboost.runtime.messages import message, total
from costboost.shards.grid import grid_scale
from costboost.shards.layout import Shards
from costboost.shards.rows import ROOT, Shard, heaviest_row
from costboost.trees.tree import SplitFinder, Tree
from costboost.typing import Floats, Int64

Bools = NDArray[np.bool_]


@message(reduce=total)
def weigh_unpaid(
    shard: Shard, *, node: int, groups: tuple[int, ...], n_groups: int, scale: float
) -> Int64:
    """Weigh the rows of a node: all, those without each test, those without any of each group.

    Integers on the grid of `scale`, (1 + T + G,).
    """
    order, whole, begins, ends = shard.where(node)
    sums = np.zeros(1 + len(groups) + n_groups, dtype=np.int64)
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        rows = np.arange(begin, end) if whole else order[begin:end]
        weights = np.ones(len(rows), dtype=np.int64)
        if shard.sample_weights is not None:
            weights = (shard.sample_weights[rows] * scale + 0.5).astype(np.int64)
        sums[0] += weights.sum()
        if shard.paid is None:
            sums[1:] += weights.sum()
            continue
        paid = shard.paid[rows]
        sums[1 : 1 + len(groups)] += weights @ ~paid
        for group in range(n_groups):
            without = ~paid[:, np.array(groups) == group].any(axis=1)
            sums[1 + len(groups) + group] += weights[without].sum()
    return sums


@message(reduce=None, changes=True)
def note_paid(shard: Shard, *, asked: Bools) -> None:
    """Note what rows have paid for: the tests, (L, T), that their leaf's path asked for."""
    found = asked[shard.leaves]
    shard.paid = found if shard.paid is None else shard.paid | found


def asked_by_leaf(tree: Tree, tests: ColumnTests) -> Bools:
    """Return which tests the path to each leaf of a tree asks for, (L, T)."""
    asked = np.zeros((len(tree.left), len(tests)), dtype=bool)
    for node in np.flatnonzero(tree.left >= 0).tolist():  # children stand after their parents
        below = asked[node].copy()
        test = int(tests.test_of[tree.feature[node]])
        if test >= 0:
            below[test] = True
        left = int(tree.left[node])
        asked[left] = asked[left + 1] = below
    return asked[tree.leaves]


@dataclass
class Charges:
    """The prices of columns while one model is trained, and what has been paid.

    Attributes
    ----------
    tests : ColumnTests
    worth : float
        What the best constant answer costs a row more than hindsight: the money there is to save.
    rate : float
        The share of a tree's answer that the model takes.
    left : float
        The share of it that trees so far have left, where gains are shares (`spend`).
    """

    tests: ColumnTests
    worth: float
    rate: float = 1.0
    left: float = 1.0
    _bought: Bools = field(init=False)

    def __post_init__(self) -> None:
        self._bought = np.zeros(len(self.tests), dtype=bool)
        self._unit = self._weight = self._scale = 1.0

    @property
    def by_row(self) -> bool:
        """Whether rows pay, each for what its paths ask for."""
        return self.tests.pay == "row"

    def begin(self, shards: Shards, loss: float | None, loss_of_row: float) -> None:
        """Begin a tree; its root must be made.

        Parameters
        ----------
        shards : Shards
        loss : float or None
            The loss of the tree's rows in units of its gains; None: `loss_of_row` times their
            weight.
        loss_of_row : float
        """
        (heaviest,) = shards.call([heaviest_row()])
        self._scale = grid_scale(heaviest, shards.n_rows) if heaviest > 0.0 else 1.0
        self._weight = float(self._weigh(shards, ROOT)[0])
        whole = self._weight / self._scale * loss_of_row if loss is None else loss
        money = self.left * self.worth
        self._unit = whole / money if money > 0.0 else np.inf

    def _weigh(self, shards: Shards, node: int) -> Int64:
        groups = tuple(self.tests.groups.tolist())
        n_groups = len(self.tests.fees)
        call = weigh_unpaid(node=node, groups=groups, n_groups=n_groups, scale=self._scale)
        (sums,) = shards.call([call])
        return np.asarray(sums)

    def penalties(self, shards: Shards, node: int, path: frozenset[int]) -> Floats:
        """Return what a split on each test's columns pays, in units of gain, (T,).

        `path` are the tests that the node's path has asked for already.
        """
        tests, here = self.tests, list(path)
        if self.by_row:
            unpaid = self._weigh(shards, node)[1:] / self._weight
            own, fees = unpaid[: len(tests)], unpaid[len(tests) :]
        else:
            due = ~tests.group_asked(self._bought)
            own, fees = (~self._bought).astype(float), due.astype(float)
        own[here] = 0.0
        fees[tests.group_asked(np.isin(np.arange(len(tests)), here))] = 0.0
        prices = tests.prices * own
        grouped = tests.groups >= 0
        prices[grouped] += (tests.fees * fees)[tests.groups[grouped]]
        if not self.by_row:
            prices /= tests.rows
        with np.errstate(invalid="ignore"):  # nothing to pay, though no money can be saved
            return np.where(prices > 0.0, prices * self._unit, 0.0)

    def end(self, shards: Shards, tree: Tree) -> None:
        """Note what a grown tree, or one of an earlier round, asks for."""
        asked = asked_by_leaf(tree, self.tests)
        if self.by_row:
            shards.call([note_paid(asked=asked)])
        else:
            self._bought |= asked.any(axis=0)

    def spend(self, gain: float, whole: float) -> None:
        """Take away the money that a tree has saved: its gain as a share of the whole."""
        share = self.rate * gain / whole if whole > 0.0 else 0.0
        self.left *= min(max(1.0 - share, 0.0), 1.0)


def by_penalty(
    features: Int64, tests: ColumnTests, penalties: Floats
) -> Iterator[tuple[Int64, float]]:
    """Yield columns that pay the same, as places among the given ones, and what they pay.

    Free ones together come first, then one test after the other.
    """
    owner = tests.test_of[features]
    free = (owner < 0) | (np.append(penalties, 0.0)[owner] <= 0.0)
    if free.any():
        yield np.flatnonzero(free), 0.0
    for test in sorted(set(owner[~free].tolist())):
        if np.isfinite(penalties[test]):
            yield np.flatnonzero(owner == test), float(penalties[test])


def impurity(finder: SplitFinder, sums: Int64) -> float:
    """Return what a perfect split of a node with these class sums would gain."""
    score = finder.score(sums)
    return -score if finder.criterion == 1 else finder.weight(sums) - score
