"""The forward stagewise loop of the AdaBoost family: a generator of rounds.

    weights -> learner -> votes -> sums -> alpha -> margins, cost -> weights -> ...

Early stopping, progress, staged prediction and warm starts are consumers of the generator: they
take a round and decide whether to ask for another. What an algorithm is, its `Rule` says; whether
rows are alike within a class (constant costs) or not decides only how sums are taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from costboost.boosting import _row_kernels as kernels
from costboost.boosting import steps
from costboost.boosting.learners import Learner, Lesson, Votes
from costboost.boosting.ledger import Ledger
from costboost.boosting.prices import Prices
from costboost.boosting.rules import At, Beta, Rule
from costboost.boosting.sums import (
    CellSums,
    Hypothesis,
    RowSums,
    RowTerms,
    Sums,
    exponentials,
    steepest,
    to_float,
)
from costboost.costs import Costs
from costboost.trees.shards import Shard, Shards, grid_scale

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
Stop = Literal["rounds", "alpha", "perfect"]

_WIDEST = 1e250  # costs further apart than this are taken to be this far apart
_EMPTY = np.zeros(0)


@dataclass(frozen=True)
class Round:
    """One round that was taken.

    Attributes
    ----------
    number : int
        From 0.
    alpha : float or (float, float)
        The step, half-log convention; RareBoost has one for each side of the vote.
    error : float
        The weighted error of the votes under this round's weights.
    normalizer : float
        Z_t.
    train_cost : float
        What the decisions after this round cost on the training rows.
    lesson : Lesson
        The learner of this round.
    values : float64 array of shape (L, n_outputs)
        What each leaf adds to the margins.
    last : bool
        Whether the learner was perfect, which ends training.
    """

    number: int
    alpha: float | tuple[float, float]
    error: float
    normalizer: float
    train_cost: float
    lesson: Lesson
    values: Floats
    last: bool = False


@dataclass(frozen=True)
class Setting:
    """What the user chose, beside the rule and the learner.

    `objective` evaluates Gradient-CSB's (a, b, w0); `cost_scale` is the largest cost after
    scaling, or "auto".
    """

    n_rounds: int
    votes: Votes = "discrete"
    alpha: Literal["published", "search"] = "published"
    learning_rate: float = 1.0
    max_alpha: float = steps.MAX_ALPHA
    cost_scale: float | Literal["auto"] = "auto"
    beta: Beta | None = None
    objective: Any = None


class Boosting:
    """The state of one fit: weights and margins of every row, round after round.

    Parameters
    ----------
    shards : Shards
        Rows grouped by the labels of `prices`.
    rule : Rule
    learner : Learner
    prices : Prices
    costs : Costs
        Bound costs in the user's units, for decisions and `train_cost`.
    y : int64 array of shape (n,)
        The true labels, encoded.
    sample_weight : float64 array of shape (n,) or None
    n_classes : int
    setting : Setting
    """

    def __init__(
        self,
        shards: Shards,
        rule: Rule,
        learner: Learner,
        prices: Prices,
        costs: Costs,
        y: Int64,
        sample_weight: Floats | None,
        n_classes: int,
        setting: Setting,
    ) -> None:
        self.shards, self.rule, self.learner = shards, rule, learner
        self.costs, self.y, self.sample_weight = costs, y, sample_weight
        self.n_classes, self.setting = n_classes, setting
        self.n_outputs = 1 if n_classes == 2 else n_classes
        self.prices = self._scaled(prices)
        # Rows of one leaf and class are alike in all sums: no pass over rows.
        self._alike = prices.constant or rule.plain_rounds
        self.stop: Stop = "rounds"
        self.total_alpha = 0.0
        self._ledger = Ledger(
            shards, costs, y, sample_weight, self.prices.labels, n_classes, rule.decision
        )
        self._set_terms()
        self._set_first_weights()

    # --- before the first round

    def _scaled(self, prices: Prices) -> Prices:
        how, wanted = self.rule.scale, self.setting.cost_scale
        if prices.largest == 0.0 or (how == "none" and 1e-100 < prices.largest < 1e100):
            return prices
        if how == "none":  # only Z of AdaC2 depends on the unit of costs, and must not overflow
            return prices.scaled(math.ldexp(1.0, -math.frexp(prices.largest)[1]))
        if how == "smallest":
            return prices.scaled(1.0 / max(prices.smallest, prices.largest / _WIDEST))
        return prices.scaled((1.0 if wanted == "auto" else wanted) / prices.largest)

    def _at(
        self, cost: Floats, labels: Int64, rows: Any = None, row_cost: Floats | None = None
    ) -> At:
        """Return the rule's view of costs, for labels of the same first dimension."""
        sign = np.where(labels == 1, 1.0, -1.0) if self.n_classes == 2 else np.ones(len(labels))
        at = At(
            cost=cost,
            sign=_like(sign, cost),
            row_cost=None if row_cost is None else _like(row_cost, cost),
            n_rounds=self.setting.n_rounds,
            n_classes=self.n_classes,
            ratio=self._ratio,
            beta=self.setting.beta,
        )
        if self.setting.objective is not None:
            at = replace(at, objective=self.setting.objective(at, rows))
        return at

    @cached_property
    def _ratio(self) -> float:
        """The mean cost of the positives over that of the negatives (AdaUBoost's beta)."""
        if self.prices.constant:
            negative, positive = float(self.prices.right[0]), float(self.prices.right[1])
        else:
            weights = np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight
            plus = self.prices.labels == 1
            if not plus.any() or plus.all():
                return 1.0
            positive = float(np.average(self.prices.right[plus], weights=weights[plus]))
            negative = float(np.average(self.prices.right[~plus], weights=weights[~plus]))
        if not (positive > 0 and negative > 0):
            return 1.0
        return min(max(positive / negative, 1.0 / _WIDEST), _WIDEST)

    def _set_terms(self) -> None:
        """Evaluate the rule: by class where rows are alike, else by row."""
        if self._alike:
            shape = (self.n_classes, self.n_classes)
            classes = np.arange(self.n_classes)
            right, wide = np.ones(self.n_classes), np.ones(shape)
            if self.prices.constant:
                right, wide = self.prices.right, self.prices.wrong
            at, wrong = self._at(right, classes), self._at(wide, classes, row_cost=right)
            own = np.eye(self.n_classes, dtype=bool)
            self._margins = np.where(own, self.rule.right(at)[:, None], -self.rule.wrong(wrong))
            factors = self.rule.right_factor(at)[:, None], self.rule.wrong_factor(wrong)
            self._factors = np.where(own, *factors)
        self._rows_ready = False
        self._priced: Floats | None = None

    def _set_row_terms(self) -> None:
        """Give every shard the rule's margins and factors by row and answer, (m, K).

        Often only factors differ from row to row: then margins are `_even`, one table for all.
        """
        prices = self.prices.by_row()
        self._largest_factor = self._reach = 0.0
        self._even, self._even_margins = True, np.full((self.n_classes, self.n_classes), np.nan)
        for shard in self.shards.shards:
            terms = self._terms_of(shard, prices)
            shard.data["terms"] = terms  # type: ignore[assignment]
            self._reach = max(self._reach, float(np.max(np.abs(terms.u), initial=0.0)))
            self._largest_factor = max(self._largest_factor, float(np.max(terms.f, initial=0.0)))
            for k, own in enumerate(self._even_margins):
                block = terms.u[shard.starts[k] : shard.starts[k + 1]]
                if len(block) and np.isnan(own[0]):
                    own[:] = block[0]
                self._even = self._even and bool(np.all(block == own))
        self._even_margins = np.nan_to_num(self._even_margins)  # classes without rows
        self._rows_ready = True

    def _terms_of(self, shard: Shard, prices: Prices) -> RowTerms:
        labels, own = prices.labels[shard.rows], prices.right[shard.rows]
        at = wide = self._at(own, labels, shard.rows)
        if self.n_classes > 2:
            wide = self._at(prices.wrong[shard.rows], labels, shard.rows, own)
        right = labels[:, None] == np.arange(self.n_classes)
        u = np.where(right, _wide(self.rule.right(at)), -_wide(self.rule.wrong(wide)))
        f = np.where(right, _wide(self.rule.right_factor(at)), _wide(self.rule.wrong_factor(wide)))
        return RowTerms(u, np.broadcast_to(1.0, f.shape) if np.all(f == 1.0) else f)

    def _set_first_weights(self) -> None:
        """Start from sample_weight * first; the largest weight is then between 1/2 and 1."""
        prices = self.prices
        if prices.constant and self.setting.objective is None:
            at = self._at(prices.right, np.arange(self.n_classes))
            first = (self.rule.first(at) * self._before(at))[prices.labels]
        else:
            by_row = prices.by_row()
            at = self._at(by_row.right, by_row.labels, np.arange(len(by_row.labels)))
            first = self.rule.first(at) * self._before(at)
        # Each divided by its largest: products of 1e300 and 1e-300 stay in range.
        first = first / (np.max(first) or 1.0)
        if self.sample_weight is not None:
            first = first * (self.sample_weight / np.max(self.sample_weight))
        largest = float(np.max(first))
        if not largest > 0.0:
            first, largest = np.ones(len(self.y)), 1.0
        weights = np.ldexp(first, -int(np.frexp(largest)[1]))
        self.shards.scatter("weights", np.maximum(weights, 1e-280))
        self.largest = float(np.ldexp(largest, -int(np.frexp(largest)[1])))
        for shard in self.shards.shards:
            shard.data["margins"] = np.zeros((len(shard.rows), self.n_outputs))

    def _before(self, at: At) -> Floats:
        return np.ones_like(at.cost) if self.rule.before is None else self.rule.before(at)

    # --- the rounds

    def rounds(self, first: int = 0) -> Iterator[Round]:
        """Yield rounds until one cannot be taken; `stop` then says why."""
        if self.stop == "perfect":  # so said the rounds that were replayed
            return
        for number in range(first, self.setting.n_rounds):
            lesson = self.learner.learn(self.shards, number, *self._handed())
            if number == 0 and self._wants_first_step_scale():
                self._choose_scale(lesson)
            taken = self._step(lesson)
            if taken is None:
                self.stop = "alpha"
                return
            alpha, sizes, perfect = taken
            lesson = replace(lesson, hypothesis=replace(lesson.hypothesis, sizes=sizes))
            done = replace(self._record(number, lesson, alpha), last=perfect)
            yield done
            if perfect:
                self.stop = "perfect"
                return
            self._update(done)
        self.stop = "rounds"

    def replay(self, rounds: Sequence[Round]) -> None:
        """Bring weights and margins to where they were after the given rounds."""
        for done in rounds:
            self.learner.recall(self.shards, done.lesson)
            if done.number == 0 and self._wants_first_step_scale():
                self._choose_scale(done.lesson)
            self._record(done.number, done.lesson, done.alpha)
            self._update(done)
            self.stop = "perfect" if done.last else self.stop

    def _handed(self) -> tuple[float, str]:
        """Put the learner's weights in place; return their largest value and their name."""
        if self.rule.handed is None or self._joint_stump():
            return self.largest, "weights"
        if "handed factor" not in self.shards.shards[0].data:
            prices = self.prices.by_row()
            at = self._at(prices.right, prices.labels, np.arange(len(prices.labels)))
            self.shards.scatter("handed factor", self.rule.handed(at))

        def hand(shard: Shard) -> float:
            shard.data["handed"] = shard.data["weights"] * shard.data["handed factor"]
            return float(np.max(shard.data["handed"], initial=0.0))

        return max(self.shards.map(hand)), "handed"

    def _joint_stump(self) -> bool:
        return getattr(self.learner, "finder", None) is not None

    def _step(self, lesson: Lesson) -> tuple[float | tuple[float, float], Floats, bool] | None:
        """Choose alpha; return (alpha, vote sizes, perfect), or None if no step can be taken."""
        setting, hypothesis = self.setting, lesson.hypothesis
        weights = lesson.cells / lesson.cells.sum()
        right = hypothesis.right(self.n_classes)
        perfect = not np.any(weights[~right] > 0.0)
        if self.rule.partition:
            return self._partition_step(weights, hypothesis, perfect)
        if setting.votes in ("real", "gentle"):
            return setting.learning_rate, hypothesis.sizes, False
        if self.rule.step == "search" or setting.alpha == "search":
            alpha = self._searched(lesson)
            perfect = perfect or abs(alpha) >= setting.max_alpha
        else:
            closed = self._sums(
                lesson,
                exponent=self.rule.step_margin == "exponent",
                factor=self.rule.step_factor and self.n_classes == 2,
            )
            alpha = steps.half_log(closed, self.n_classes, setting.max_alpha)
        alpha *= setting.learning_rate
        if alpha <= 0.0 and not (self.rule.negative_steps and alpha < 0.0):
            return None
        return alpha, hypothesis.sizes, perfect

    def _searched(self, lesson: Lesson) -> float:
        """Return the minimiser of the method's own Z.

        CSB0's and CSB1's Z does not depend on alpha: there the voting loss sum D exp(-alpha m)
        is minimised. For K > 2 a wrong vote counts -1/(K - 1), and the result is brought to the
        half-log convention; AdaCost's exponents contain that code already.
        """
        max_alpha = self.setting.max_alpha
        fixed = self.rule.update == "one" or self.rule.name == "csb0"
        sums = self._sums(lesson, exponent=not fixed, factor=not fixed)
        if self.n_classes == 2 or self.rule.step == "search":
            return _least(sums, max_alpha)
        coded = self._sums(lesson, exponent=not fixed, factor=not fixed, code=True)
        alpha = _least(coded, 4 * max_alpha) * self.n_classes / (2 * (self.n_classes - 1))
        return min(alpha, max_alpha)

    def _partition_step(
        self, weights: Floats, hypothesis: Hypothesis, perfect: bool
    ) -> tuple[tuple[float, float], Floats, bool] | None:
        """RareBoost: alpha_p = 1/2 ln(TP / FP), alpha_n = 1/2 ln(TN / FN)."""
        alphas = []
        for vote in (1, 0):
            side = weights[hypothesis.votes == vote].sum(axis=0)
            if side.sum() <= 0.0:
                alphas.append(0.0)  # nobody votes this way: no reason to end
                continue
            q = CellSums(side, np.array([-1.0, 1.0]) if vote else np.array([1.0, -1.0]))
            alpha = steps.half_log(q, 2, self.setting.max_alpha) * self.setting.learning_rate
            if alpha <= 0.0:
                return None
            alphas.append(alpha)
        pair = (alphas[0], alphas[1])
        return pair, np.where(hypothesis.votes == 1, pair[0], pair[1]), perfect

    def _sums(
        self, lesson: Lesson, *, exponent: bool = True, factor: bool = True, code: bool = False
    ) -> Sums:
        """Return the sums of this round, with the rule's exponents and factors or without."""
        hypothesis = lesson.hypothesis
        plain = code or not exponent
        if self._by_cell(hypothesis) or (plain and not hypothesis.by_row):
            u = self._cell_margins(hypothesis)
            if plain:
                wrong = 1.0 / (self.n_classes - 1) if code else 1.0
                u = np.where(hypothesis.right(self.n_classes), 1.0, -wrong)
                u = u * hypothesis.sizes[:, None]
            cells = self._priced_cells(lesson) if factor else lesson.cells
            return CellSums(cells / lesson.cells.sum(), u)
        self._need_row_terms()
        reach = (self._reach if exponent else 1.0) * self._largest_size(hypothesis)
        sums = RowSums(
            self.shards,
            hypothesis,
            self._row_terms,
            float(lesson.cells.sum()),
            self._largest_term(hypothesis) if factor else self.largest,
            max(reach, 1e-300),
        )
        return sums.with_terms(exponent=exponent, factor=factor, code=code)

    def _by_cell(self, hypothesis: Hypothesis) -> bool:
        """Whether rows of one leaf and class have one effective margin."""
        if hypothesis.by_row or self._alike:
            return not hypothesis.by_row
        self._need_row_terms()
        return self._even

    def _cell_margins(self, hypothesis: Hypothesis) -> Floats:
        """Return the effective margin of every cell (leaf, class)."""
        margins = self._margins if self._alike else self._even_margins
        return np.asarray(margins[:, hypothesis.votes].T * hypothesis.sizes[:, None])

    def _priced_cells(self, lesson: Lesson) -> Floats:
        """Return the sum of weight * factor in every cell; a pass over rows if factors differ."""
        votes = lesson.hypothesis.votes
        if self._alike:
            return np.asarray(lesson.cells * self._factors[:, votes].T)
        self._need_row_terms()
        if not self._factors_differ():
            return lesson.cells
        if self._priced is None:
            scale = grid_scale(self._largest_term(lesson.hypothesis), self.shards.n_rows)

            def part(shard: Shard) -> Int64:
                out = np.zeros((*lesson.cells.shape, 2), dtype=np.int64)
                rows = (shard.data["weights"], shard.starts, shard.leaves, votes)
                kernels.sum_terms_by_leaf(*rows, self._row_terms(shard).f, scale, out)
                return out

            exact = self.shards.sum(part).reshape(-1, 2)
            self._priced = np.array(to_float(exact, scale, 1.0)).reshape(lesson.cells.shape)
        return self._priced

    def _factors_differ(self) -> bool:
        return any(any(self._row_terms(shard).f.strides) for shard in self.shards.shards)

    def _need_row_terms(self) -> None:
        if not self._rows_ready:
            self._set_row_terms()

    def _largest_term(self, hypothesis: Hypothesis) -> float:
        """Bound weight * factor; where factors are far apart, a product of bounds is too coarse."""
        if self._largest_factor <= 2.0**16:
            return self.largest * self._largest_factor
        return max(self.shards.map(lambda shard: _largest_term(shard, hypothesis)))

    def _largest_size(self, hypothesis: Hypothesis) -> float:
        size = float(np.max(hypothesis.sizes))
        if not hypothesis.by_row:
            return size
        sizes = self.shards.map(lambda shard: float(np.max(shard.data["sizes"], initial=0.0)))
        return size * max(sizes)

    def _row_terms(self, shard: Shard) -> RowTerms:
        terms: RowTerms = shard.data["terms"]  # type: ignore[assignment]
        sizes = shard.data.get("sizes")
        return terms if sizes is None else terms.times(sizes)

    # --- AdaCost's scale

    def _wants_first_step_scale(self) -> bool:
        first_step = self.rule.scale == "first-step" and self.setting.cost_scale == "auto"
        return first_step and self.prices.largest > 0.0

    def _choose_scale(self, lesson: Lesson) -> None:
        """Use the largest cost 1 if the first step is then positive, else half of the supremum.

        r(s) falls as the costs grow (Fan et al.'s conditions on beta); at the supremum itself the
        step would be 0 and every round the same.
        """
        unit = self.prices

        def positive(scale: float) -> bool:
            self.prices = unit.scaled(scale)
            self._set_terms()
            plus, minus = self._sums(lesson, factor=False).balance()
            return plus > minus

        if positive(1.0):
            return
        low, high = 0.0, 1.0
        if positive(2.0**-60):
            for _ in range(50):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if positive(middle) else (low, middle)
        self.prices = unit.scaled(0.5 * low if low > 0.0 else 1.0)
        self._set_terms()

    # --- after alpha is known

    def _record(self, number: int, lesson: Lesson, alpha: float | tuple[float, float]) -> Round:
        """Vote, pay, and compute this round's Z.

        Where that takes an exponential for every row, the new weights are made of the same ones.
        """
        hypothesis = lesson.hypothesis
        step = 1.0 if isinstance(alpha, tuple) else alpha
        weights = lesson.cells / lesson.cells.sum()
        error = float(np.sum(weights[~hypothesis.right(self.n_classes)]))
        self.total_alpha += float(np.sum(alpha)) if isinstance(alpha, tuple) else alpha
        values = self._values(hypothesis, step)
        cost = self._ledger.vote(hypothesis, values, step, self.total_alpha)
        applied = 1.0 if self.rule.update == "one" else step
        if self._by_cell(hypothesis):
            normalizer = self._sums(lesson).z(applied)[0]
        else:
            normalizer = self._multiply_rows(lesson, applied)
        return Round(number, alpha, error, normalizer, cost, lesson, values)

    def _values(self, hypothesis: Hypothesis, alpha: float) -> Floats:
        """Return what each leaf adds to the margins, (L, n_outputs)."""
        size = alpha * hypothesis.sizes
        if self.n_classes == 2:
            return np.asarray(np.where(hypothesis.votes == 1, size, -size)[:, None])
        values = np.zeros((len(size), self.n_classes))
        values[np.arange(len(size)), hypothesis.votes] = size
        return values

    def _update(self, done: Round) -> None:
        """Multiply the weights, if `_record` has not; AsymAda's factor for the next round too."""
        hypothesis = done.lesson.hypothesis
        self._priced = None
        if not self._by_cell(hypothesis):
            return
        step = 1.0 if isinstance(done.alpha, tuple) else done.alpha
        alpha = 1.0 if self.rule.update == "one" else step
        logs = -alpha * self._cell_margins(hypothesis)
        cells = done.lesson.cells / done.lesson.cells.sum()
        if self._alike:
            ahead = np.ones(self.n_classes)
            if self.rule.before is not None and self.prices.constant:
                ahead = self._before(self._at(self.prices.right, np.arange(self.n_classes)))
            with np.errstate(divide="ignore"):
                logs = logs + np.log(self._factors[:, hypothesis.votes].T * ahead)
            shift = _log_sum(logs, cells)
        else:
            shift = math.log(done.normalizer) if done.normalizer > 0.0 else 0.0
        factors = np.exp(np.clip(logs - shift, -700.0, 700.0))
        self.largest = max(self.shards.map(self._multiplier(hypothesis, factors)))

    def _multiplier(self, hypothesis: Hypothesis, factors: Floats) -> Callable[[Shard], float]:
        """Return what multiplies a shard's weights by the factors of their cells and rows."""
        # Where costs are constant, the factors of the cells contain it already.
        ahead = self._set_ahead() and not (self._alike and self.prices.constant)

        def multiply(shard: Shard) -> float:
            rows = (shard.data["weights"], shard.starts, shard.leaves)
            terms = None if self._alike else self._row_terms(shard).f
            if ahead:
                own = _wide(shard.data["ahead"], self.n_classes)
                terms = own if terms is None else terms * own
            if terms is None or not any(terms.strides):
                return float(kernels.multiply_by_leaf(*rows, factors))
            return float(kernels.multiply_by_leaf_and_row(*rows, hypothesis.votes, factors, terms))

        return multiply

    def _set_ahead(self) -> bool:
        """Give every shard the rule's factors before the next round, if it has any."""
        if self.rule.before is None:
            return False
        if "ahead" not in self.shards.shards[0].data:
            prices = self.prices.by_row()
            self.shards.scatter("ahead", self._before(self._at(prices.right, prices.labels)))
        return True

    def _multiply_rows(self, lesson: Lesson, alpha: float) -> float:
        """Multiply every weight by its own factor and exponential; return Z."""
        hypothesis = lesson.hypothesis
        self._need_row_terms()
        ahead = self._set_ahead()
        largest = self._largest_term(hypothesis)
        # A power of two keeps weights in range, exactly; Z itself is known only afterwards.
        shrink = math.ldexp(1.0, -math.frexp(largest)[1])
        reach = self._reach * self._largest_size(hypothesis)
        scale = grid_scale(steepest(largest * shrink, alpha, reach), self.shards.n_rows)
        table = exponentials(alpha, reach)

        def multiply(shard: Shard) -> tuple[float, Int64]:
            terms, out = self._row_terms(shard), np.zeros((1, 2), dtype=np.int64)
            own = shard.data["ahead"] if ahead else _EMPTY
            rows = (shard.data["weights"], shard.leaves, hypothesis.votes, hypothesis.sizes)
            step = (own, alpha, table, shrink, scale, out)
            return float(kernels.multiply_rows(*rows, terms.u, terms.f, *step)), out

        tops, sums = zip(*self.shards.map(multiply), strict=True)
        self.largest = max(tops)
        return to_float(np.sum(sums, axis=0), scale, float(lesson.cells.sum()) * shrink)[0]


def _largest_term(shard: Shard, hypothesis: Hypothesis) -> float:
    terms: RowTerms = shard.data["terms"]  # type: ignore[assignment]
    votes, rows = hypothesis.votes[shard.leaves], np.arange(len(shard.leaves))
    return float(np.max(shard.data["weights"] * terms.f[rows, votes], initial=0.0))


def _least(sums: Sums, max_alpha: float) -> float:
    if isinstance(sums, RowSums):
        return steps.search_rows(sums, max_alpha)
    return steps.search(sums, max_alpha)


def _like(values: Floats, cost: Floats) -> Floats:
    """Return one value per row as an array of the shape of `cost`, (m,) or (m, K)."""
    return np.broadcast_to(values.reshape(values.shape + (1,) * (cost.ndim - 1)), cost.shape)


def _wide(term: Any, n_classes: int = 1) -> Floats:
    """Return a term of shape (m,) as an (m, n_classes) view; one of shape (m, K) as it is."""
    if term.ndim > 1:
        return np.asarray(term)
    return np.asarray(np.broadcast_to(term[:, None], (len(term), n_classes)))


def _log_sum(logs: Floats, weights: Floats) -> float:
    """Return ln sum weights exp(logs), without overflow."""
    alive = logs[weights > 0.0]
    top = float(np.max(alive)) if alive.size else 0.0
    if not math.isfinite(top):
        return 0.0
    return top + math.log(float(np.sum(weights[weights > 0.0] * np.exp(alive - top))))
