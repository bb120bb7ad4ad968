"""What to ask next of a row whose columns are known in part, and when to stop asking.

The columns that are not known yet are drawn from *reference rows*, some of those trained on. Given
what is known of a row, each of them counts by how it shares leaves: a walk down every tree follows
what is known and parts by the training rows (`covers`) at what is not, as Shapley values do; the
weight that arrives in a leaf is divided among the reference rows in it. A test then is worth

    min_a E[C(y, a)]  -  E_v min_a E[C(y, a) | its columns are v]

where v and what stays unknown come from those rows, and probabilities from the model itself, of
rows put together from what is known, v and the rest. It is never negative.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.binning.codes import MISSING
from costboost.costs import ColumnTests
from costboost.model import FittedModel
from costboost.trees.forest import Forest, unpack_subset
from costboost.trees.walking import find_leaves
from costboost.typing import Codes, Floats, Int64

Bools = NDArray[np.bool_]
VALUES = 48  # of a test that are tried, at most
MANY = 96  # the same where nothing stays to be drawn; rare values may turn a dear decision
REST = 12  # rows for what stays unknown then, at most
REFERENCE = 256  # rows that a model keeps
_SAME = 1e-9  # of what is at stake: savings that are rounding


class PricedTest(NamedTuple):
    """A test that could be bought next.

    Attributes
    ----------
    name : str
    price : float
        What it costs now, with the fee of its group if that is not paid yet.
    saves : float
        By how much it is expected to lower the cost of the decision.

    Examples
    --------
    >>> PricedTest("mri", price=180.0, saves=200.0).gain
    20.0
    """

    name: str
    price: float
    saves: float

    @property
    def gain(self) -> float:
        """What is saved less the price."""
        return self.saves - self.price


@dataclass(frozen=True)
class NextTest:
    """What to do next with one row.

    Attributes
    ----------
    best : str or None
        The test to buy; None: decide now.
    decision : object
        The cheapest decision by what is known.
    expected_cost : float
        What it is expected to cost.
    tests : tuple of PricedTest
        Those that can still be bought, by what they gain, the largest first.
    gain : float
        What is saved, less prices, by the best of single tests, groups and all tests together: two
        tests may be worth buying though neither is alone. 0: decide now.

    Examples
    --------
    >>> tests = (PricedTest("mri", 180.0, 200.0), PricedTest("blood", 22.0, 5.0))
    >>> print(NextTest("mri", decision="treat", expected_cost=210.0, tests=tests, gain=20.0))
    ask for mri: treat is expected to cost 210
      mri: costs 180, saves 200
      blood: costs 22, saves 5
    """

    best: str | None
    decision: Any
    expected_cost: float
    tests: tuple[PricedTest, ...]
    gain: float

    def __str__(self) -> str:
        head = "decide now" if self.best is None else f"ask for {self.best}"
        lines = [
            f"{head}: {self.decision!s} is expected to cost {self.expected_cost:.6g}",
            *(
                f"  {test.name}: costs {test.price:.6g}, saves {test.saves:.6g}"
                for test in self.tests
            ),
        ]
        return "\n".join(lines)


class _Walk:
    """The nodes of a forest, level by level, and the reference rows in its leaves."""

    def __init__(self, forest: Forest, reference: Codes) -> None:
        words, n_nodes = forest.words, len(forest.words)
        sizes = np.diff(np.append(forest.roots, n_nodes))
        self.roots = forest.roots
        self.left = (words >> np.uint64(40)).astype(np.int64) + np.repeat(forest.roots, sizes)
        self.feature = ((words >> np.uint64(16)) & np.uint64(0xFFFFFF)).astype(np.int64)
        self.goes_left = _goes_left(forest)
        splits = self.left != np.arange(n_nodes)
        self.levels, level = list[Int64](), forest.roots[splits[forest.roots]]
        while len(level):
            self.levels.append(level)
            below = np.concatenate([self.left[level], self.left[level] + 1])
            level = below[splits[below]]
        whole, part = forest.covers, forest.covers[self.left]
        self.share = np.divide(part, whole, out=np.full(n_nodes, 0.5), where=whole > 0.0)
        self.leaves = np.empty((len(reference), len(forest)), dtype=np.int64)
        find_leaves(forest.nodes, 0, len(forest), reference, self.leaves, 1)
        self.leaves += forest.roots
        self.n_rows = np.bincount(self.leaves.ravel(), minlength=n_nodes)

    def weights(self, codes: Codes, known: Bools) -> Floats:
        """Return the weight of each reference row, given the known codes of a row, (m,)."""
        reach = np.zeros(len(self.left))
        reach[self.roots] = 1.0
        for nodes in self.levels:
            column = self.feature[nodes]
            goes = self.goes_left[nodes, codes[column]]
            to_left = np.where(known[column], goes, self.share[nodes])
            reach[self.left[nodes]] = reach[nodes] * to_left
            reach[self.left[nodes] + 1] = reach[nodes] * (1.0 - to_left)
        each = np.divide(reach, self.n_rows, out=np.zeros_like(reach), where=self.n_rows > 0)
        return np.asarray(each[self.leaves].sum(axis=1))


def _goes_left(forest: Forest) -> Bools:
    """Return whether each code goes left at each node, (n_nodes, 256)."""
    words, codes = forest.words[:, None], np.arange(256, dtype=np.uint64)
    shift = (words >> np.uint64(8)) & np.uint64(1)  # as in `Forest.tree`
    found: Bools = (codes + shift) % np.uint64(256) <= words & np.uint64(255)
    if len(forest.subsets):
        for node in np.flatnonzero((forest.words >> np.uint64(9)) & np.uint64(1)).tolist():
            found[node] = unpack_subset(forest.subsets[node])
    return found


def drawn(weights: Floats, most: int) -> tuple[Int64, Floats]:
    """Return rows that stand for weighted ones, at most so many, and their shares.

    Few rows are all taken, by their weights; of more, the rows at even steps of the summed weight.
    """
    total = weights.sum()
    shares = weights / total if total > 0.0 else np.full(len(weights), 1.0 / len(weights))
    if len(weights) <= most:
        return np.arange(len(weights)), shares
    at = (np.arange(most) + 0.5) / most
    rows = np.minimum(np.searchsorted(np.cumsum(shares), at), len(weights) - 1)
    return rows, np.full(most, 1.0 / most)


class _Offer(NamedTuple):
    """Tests that could be bought together: their price, and what they save."""

    tests: tuple[int, ...]
    price: float
    saves: float

    @property
    def gain(self) -> float:
        return self.saves - self.price


class Asking:
    """Judges tests by a fitted model and reference rows.

    Parameters
    ----------
    model : FittedModel
        Of built-in trees, deciding by price.
    tests : ColumnTests
    reference : uint8 array of shape (m, d)
        Binned rows.
    unknown : "reference" or "missing"
        Whether what is not known is drawn from the reference rows, or is a missing value: for
        models that were trained on rows with unknown tests.
    """

    def __init__(
        self,
        model: FittedModel,
        tests: ColumnTests,
        reference: Codes,
        unknown: Literal["reference", "missing"] = "reference",
    ) -> None:
        self.model, self.tests, self.reference = model, tests, reference
        self.as_missing = unknown == "missing"
        used = np.zeros(tests.n_features, dtype=bool)
        for forest in model.forests:
            used[forest.used_features] = True
        self.used = used

    @cached_property
    def _walks(self) -> list[_Walk]:
        return [_Walk(forest, self.reference) for forest in self.model.forests if len(forest)]

    def known(self, bought: Bools) -> Bools:
        """Return which columns are known when some tests are bought, (d,): free ones are."""
        return np.append(bought, True)[self.tests.test_of] & ~np.isin(
            np.arange(self.tests.n_features), self.tests.never
        )

    def weights(self, codes: Codes, known: Bools) -> Floats:
        """Return the weight of each reference row, given what is known of a row, (m,)."""
        found = np.zeros(len(self.reference))
        for walk in self._walks:
            found += walk.weights(codes, known)
        return found if found.any() else np.ones(len(found))

    @cached_property
    def _classes(self) -> Floats:
        """The model's probabilities of the reference rows, (m, K)."""
        return self.proba(self.reference)

    def weights_by_class(self, weights: Floats, proba: Floats) -> Floats:
        """Return the weights of reference rows whose classes are as probable as those of a row."""
        shares = weights @ self._classes / weights.sum()
        ratio = np.divide(proba, shares, out=np.zeros_like(proba), where=shares > 0.0)
        return np.asarray(weights * (self._classes @ ratio))

    def proba(self, codes: Codes) -> Floats:
        """Return the model's probabilities of binned rows, (n, K)."""
        return self.model.proba_to_price(self.model.margins(None, codes))

    def now(self, codes: Codes, known: Bools, weights: Floats) -> Floats:
        """Return the probabilities of a row by what is known, (K,)."""
        if self.as_missing:
            return np.asarray(self.proba(np.where(known, codes, np.uint8(MISSING))[None])[0])
        rows, shares = drawn(weights, VALUES)
        whole = self.reference[rows].copy()
        whole[:, known] = codes[known]
        return np.asarray(shares @ self.proba(whole))

    def after(
        self, codes: Codes, known: Bools, weights: Floats, columns: Iterable[int]
    ) -> tuple[Floats, Floats]:
        """Return the probabilities that a test may lead to, (V, K), and how likely each is."""
        values, likely = drawn(weights, MANY if self.as_missing else VALUES)
        if self.as_missing:
            whole = np.full((len(values), len(codes)), MISSING, dtype=np.uint8)
            whole[:, list(columns)] = self.reference[values][:, list(columns)]
            whole[:, known] = codes[known]
            return self.proba(whole), likely
        rest, shares = drawn(weights, REST)
        asked = list(columns)
        whole = np.repeat(self.reference[rest][None], len(values), axis=0)
        whole[:, :, asked] = self.reference[values][:, None, asked]
        whole[:, :, known] = codes[known]
        proba = self.proba(whole.reshape(-1, len(codes)))
        return np.einsum("r,vrk->vk", shares, proba.reshape(len(values), len(rest), -1)), likely

    def judge(self, codes: Codes, bought: Bools, prices: Floats) -> tuple[Floats, list[_Offer]]:
        """Return the probabilities by what is known, and what can be bought.

        Parameters
        ----------
        codes : uint8 array of shape (d,)
            Of columns that are known; others are not read.
        bought : bool array of shape (T,)
        prices : float64 array of shape (K, A)
        """
        known = self.known(bought)
        weights = self.weights(codes, known)
        if self.as_missing:
            weights = self.weights_by_class(weights, self.now(codes, known, weights))
        offers = []
        for tests in self._sets(bought):
            paid, price = bought.copy(), 0.0
            for test in tests:
                price += self.tests.price_of(test, paid)
                paid[test] = True
            columns = [c for test in tests for c in self.tests.columns[test]]
            saves = 0.0
            if self.used[columns].any():
                proba, likely = self.after(codes, known, weights, columns)
                costs = proba @ prices
                saves = float((likely @ costs).min() - likely @ costs.min(axis=1))
            offers.append(_Offer(tests, price / self.share, max(saves, 0.0)))
        return self.now(codes, known, weights), offers

    @property
    def share(self) -> float:
        """Among how many rows a price is shared."""
        return 1.0 if self.tests.pay == "row" else self.tests.rows

    def _sets(self, bought: Bools) -> list[tuple[int, ...]]:
        """Return the sets of tests that are judged: one, a group, all that are left."""
        left = np.flatnonzero(~bought)
        sets: list[tuple[int, ...]] = [(int(test),) for test in left]
        for group in range(len(self.tests.fees)):
            sets.append(tuple(left[self.tests.groups[left] == group].tolist()))
        useful = [t for t in left.tolist() if self.used[list(self.tests.columns[t])].any()]
        sets.append(tuple(useful))
        alone, together = sets[: len(left)], sets[len(left) :]
        return alone + list(dict.fromkeys(s for s in together if len(s) > 1))

    def choose(self, offers: list[_Offer], stake: float) -> tuple[int | None, float]:
        """Return the test to buy, None for none, and what is gained.

        Of tests that gain most together, the one that gains most alone comes first.
        """
        best = max(offers, key=lambda offer: offer.gain, default=None)
        if best is None or not best.gain > _SAME * stake:
            return None, 0.0
        alone = {o.tests[0]: o.gain for o in offers if len(o.tests) == 1}
        return max(best.tests, key=lambda test: alone[test]), best.gain


@dataclass(frozen=True)
class PolicyRun:
    """What asking test by test came to, row by row.

    Attributes
    ----------
    decisions : ndarray of shape (n,)
    tests : tuple of T str
    bought : bool array of shape (n, T)
    test_costs : float64 array of shape (n,)
        What the tests of each row cost.
    expected_costs : float64 array of shape (n,)
        What the decisions are expected to cost.

    Examples
    --------
    >>> bought, spent = np.array([[True], [False]]), np.array([180.0, 0.0])
    >>> run = PolicyRun(np.array([1, 0]), ("mri",), bought, spent, np.array([5.0, 40.0]))
    >>> run.total_costs.tolist()
    [185.0, 40.0]
    """

    decisions: NDArray[Any]
    tests: tuple[str, ...]
    bought: Bools
    test_costs: Floats
    expected_costs: Floats

    @property
    def total_costs(self) -> Floats:
        """What tests cost and decisions are expected to, (n,)."""
        return self.test_costs + self.expected_costs


def run_policy(asking: Asking, codes: Codes, prices: Floats) -> tuple[Int64, Bools, Floats]:
    """Buy test by test for every row; return actions, tests bought (n, T) and expected costs.

    `prices` are those of each row, (n, K, A). Rows that are alike in what is known are asked alike.
    """
    n, tests = len(codes), asking.tests
    bought = np.zeros((n, len(tests)), dtype=bool)
    actions, expected = np.zeros(n, dtype=np.int64), np.zeros(n)
    cache: dict[bytes, tuple[int | None, int, float]] = {}
    for i in range(n):
        while True:
            known = asking.known(bought[i]) & asking.used
            key = bought[i].tobytes() + codes[i, known].tobytes() + prices[i].tobytes()
            if key not in cache:
                proba, offers = asking.judge(codes[i], bought[i], prices[i])
                costs = proba @ prices[i]
                test, _ = asking.choose(offers, float(np.abs(prices[i]).max()))
                cache[key] = (test, int(costs.argmin()), float(costs.min()))
            test, actions[i], expected[i] = cache[key]
            if test is None:
                break
            bought[i, test] = True
    return actions, bought, expected
