"""A fitted model: members, the maps from their margins to probabilities, and one decision.

    row -> margins of each member -> its maps -> probabilities, the mean over the members
        -> "cheapest": the expected cost of every action, and the least
        -> "largest": the largest of the margins, or the sign of a single one

One member is a model on its own; several are the models of calibration folds, which share a binner,
so that a table is encoded once for all. Every family ends in this form (`to_model` of its folder in
`estimators`), and prediction, stages, explanations, model files and exports read nothing else.
Estimators add what only they know: the labels of the classes, and prices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import repeat
from typing import Any, Literal, TypeAlias

import numpy as np

from costboost.binning.binner import Binner
from costboost.boosting.formulas import choices_of, link, normalised, vote_shares
from costboost.boosting.gradient.learner import Init
from costboost.calibration import CalibratedScores, ClassCalibration
from costboost.inputs.arrays import count_rows
from costboost.runtime.machine import run
from costboost.trees.forest import Forest, JointForest, join_members, used_columns
from costboost.typing import Codes, Floats, Int64

_LEAST = 1e-300  # of probabilities inside logarithms
_BLOCK = 1 << 14  # rows whose probabilities are computed together


# ---- Maps: from margins (n, J) to probabilities (n, K), one after the other


@dataclass(frozen=True)
class Logistic:
    """One margin F: 1 / (1 + exp(-+ scale F)); several: the softmax of scale F."""

    scale: float

    def apply(self, values: Floats) -> Floats:
        """Return probabilities, (n, K)."""
        return link(values, self.scale)


@dataclass(frozen=True)
class LossLink:
    """Margins to probabilities by the link of a gradient boosting loss.

    Attributes
    ----------
    loss : a loss of classes
        Its `link_scale` says which `Logistic` this is; None: none.
    """

    loss: Any

    def apply(self, values: Floats) -> Floats:
        """Return probabilities, (n, K)."""
        return np.asarray(self.loss.proba(values[:, 0] if values.shape[1] == 1 else values))


@dataclass(frozen=True)
class VoteShares:
    """One margin F: s = (1 + F / total) / 2, cut to [0, 1], and 1 - s; several: `Normalise`."""

    total: float

    def apply(self, values: Floats) -> Floats:
        """Return the share of the votes for each class, (n, K)."""
        return vote_shares(values, self.total)


@dataclass(frozen=True)
class Normalise:
    """Values over their sum; alike where that is not positive."""

    def apply(self, values: Floats) -> Floats:
        """Return rows that add up to 1, (n, K)."""
        return normalised(values)


@dataclass(frozen=True)
class Second:
    """The second of two values."""

    def apply(self, values: Floats) -> Floats:
        """Return it as the only column, (n, 1)."""
        return values[:, 1:]


@dataclass(frozen=True)
class Calibrate:
    """Scores to probabilities by a fitted calibration."""

    calibration: ClassCalibration

    def apply(self, values: Floats) -> Floats:
        """Return probabilities, (n, K)."""
        return self.calibration.predict(values)


Map: TypeAlias = Logistic | LossLink | VoteShares | Normalise | Second | Calibrate


def apply_maps(maps: Sequence[Map], values: Floats) -> Floats:
    """Return what maps make of values, one map after the other."""
    for step in maps:
        values = step.apply(values)
    return values


def counts_votes(maps: Sequence[Map], n_outputs: int) -> bool:
    """Whether the first map divides by a sum of margins, none of which can be negative."""
    return isinstance(maps[0], Normalise) or (isinstance(maps[0], VoteShares) and n_outputs > 1)


# ---- Members: rounds that add up to margins


@dataclass(frozen=True, eq=False)
class Member:
    """One boosted model: margins are a start and what every round adds to it.

    Attributes
    ----------
    steps : float64 array of shape (T,) or (T, 2)
        How far each round went: alpha (RareBoost: one for each side), or lambda * learning_rate.
    trees : Forest or None
        The rounds as trees, one for each round or for each round and output. Its leaf values
        contain the steps, its base is the start.
    maps : tuple of Map
        From margins to probabilities; none in a regression.
    init : Init or None
        A model whose answers are added to the margins.
    n_first : int
        Trees that are there before the first round.
    weighs_gains : bool
        Whether importances multiply the gains of a tree by its step, which its learner did not
        know.
    estimators : tuple
        The rounds as outside estimators, in place of trees.
    start : float64 array of shape (J,) or None
        The margins before the first outside estimator.
    answers : callable or None
        From an outside estimator, a table and a step to what the round adds, (n, J).
    """

    steps: Floats
    trees: Forest | None
    maps: tuple[Map, ...] = ()
    init: Init | None = None
    n_first: int = 0
    weighs_gains: bool = True
    estimators: tuple[Any, ...] = ()
    start: Floats | None = None
    answers: Callable[[Any, Any, Any], Floats] | None = None

    def __getstate__(self) -> dict[str, Any]:
        # What follows from the fields is computed again when it is asked for.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def forest(self) -> Forest | None:
        """The forest whose margins are those of the member, but for `init`."""
        return self.trees

    @property
    def first(self) -> Floats:
        """The margins before the first round and without `init`, (J,)."""
        start = self.start if self.trees is None else self.trees.base
        assert start is not None
        return start

    @property
    def total(self) -> float:
        """The sum of all steps; 1 for a constant answer."""
        return float(np.sum(self.steps)) if len(self.steps) else 1.0

    @cached_property
    def totals(self) -> Floats:
        """The sum of the steps after each round, (T,)."""
        return np.cumsum(self._step_sums)

    @property
    def _step_sums(self) -> Floats:
        return self.steps if self.steps.ndim == 1 else self.steps.sum(axis=1)

    @property
    def tree_weights(self) -> Floats:
        """How much each tree counts in importances, (n_trees,)."""
        assert self.trees is not None
        if not self.weighs_gains:
            return np.ones(len(self.trees))
        return np.concatenate([np.ones(self.n_first), self._step_sums])

    def margins(self, X: Any, codes: Codes | None = None, n_threads: int = 1) -> Floats:
        """Return the margins of rows, (n, J); `X` is not read where there are codes and no init."""
        if self.forest is None:
            return self._outside_margins(X)
        codes = self.forest.encode(X, n_threads) if codes is None else codes
        margins = self.forest.margins_of_codes(codes, n_threads)
        return margins if self.init is None else margins + self.init.margins(X)

    def _outside_margins(self, X: Any) -> Floats:
        margins = self._first_margins(X)
        for t in range(len(self)):
            margins += self._answer(t, X)
        return margins

    def staged_margins(
        self, X: Any, codes: Codes | None = None, n_threads: int = 1
    ) -> Iterator[Floats]:
        """Yield the margins after each round, (n, J); a new array every time."""
        margins = self._first_margins(X)
        if self.trees is None:
            for t in range(len(self)):
                margins += self._answer(t, X)
                yield margins.copy()
            return
        codes = self.trees.encode(X, n_threads) if codes is None else codes
        n_trees = len(self.trees)
        self.trees.add_trees(codes, margins, 0, self.n_first, n_threads)
        each = max(1, (n_trees - self.n_first) // max(1, len(self)))  # trees of a round
        for at in range(self.n_first, n_trees, each):
            self.trees.add_trees(codes, margins, at, at + each, n_threads)
            yield margins.copy()

    def _first_margins(self, X: Any) -> Floats:
        if self.init is not None:
            return self.init.margins(X) + self.first
        return np.repeat(self.first[None, :], count_rows(X), axis=0)

    def _answer(self, t: int, X: Any) -> Floats:
        """Return what the outside estimator of round t adds, (n, J)."""
        assert self.answers is not None
        return self.answers(self.estimators[t], X, self.steps[t])

    def proba(self, margins: Floats) -> Floats:
        """Return the probabilities of margins, (n, K), also a little beyond those there can be."""
        # Slopes are measured on both sides of a margin; a sum of votes cannot fall below 0.
        below = counts_votes(self.maps, margins.shape[1])
        return apply_maps(self.maps, np.maximum(margins, 0.0) if below else margins)


@dataclass(frozen=True, eq=False)
class Mixture(Member):
    """A member of the L_p family: every round mixes its answers f_t into H.

    The trees are kept with their bare answers. Unrolled, the convex combination is a sum,

        H_T = prod_s (1 - alpha_s) H_0 + sum_t alpha_t prod_{s > t} (1 - alpha_s) f_t

    so one forest with K outputs, its leaves scaled, predicts it in one walk.

    Attributes
    ----------
    adaptive : bool
        Whether votes are added up (AdaBoost.M2) rather than mixed.
    """

    adaptive: bool = False

    @property
    def shares(self) -> tuple[float, Floats]:
        """Weights of H_0 and of each hypothesis in H_T, (T + 1,); sum 1 except for AdaBoost.M2."""
        if self.adaptive:
            return 1.0, self.steps
        # kept[t] is the product of 1 - alpha_s over s > t.
        kept = np.append(np.cumprod(1.0 - self.steps[::-1])[::-1], 1.0)
        return float(kept[0]), np.asarray(self.steps * kept[1:])

    @property
    def tree_weights(self) -> Floats:
        """How much each tree counts in importances, (n_trees,)."""
        return self.shares[1]

    @cached_property
    def forest(self) -> Forest | None:
        """H_T as one forest with K outputs; None for outside classifiers."""
        if self.trees is None:
            return None
        base, shares = self.shares
        sizes = np.diff(np.append(self.trees.roots, len(self.trees.words)))
        values = self.trees.values * np.repeat(shares, sizes)[:, None]
        return replace(self.trees, values=values, base=base * self.first)

    def _outside_margins(self, X: Any) -> Floats:
        base, shares = self.shares
        margins = np.repeat(base * self.first[None, :], count_rows(X), axis=0)
        for t, share in enumerate(shares):
            margins += share * self._answer(t, X)
        return margins

    def staged_margins(
        self, X: Any, codes: Codes | None = None, n_threads: int = 1
    ) -> Iterator[Floats]:
        """Yield H_t after each round; a new array every time.

        Mixed round by round, ties of H come out a rounding apart from those of the unrolled sum:
        the last stage is that sum, so that stages end at what the model itself says.
        """
        margins = self.first
        if self.trees is not None and codes is None:
            codes = self.trees.encode(X, n_threads)
        for t in range(len(self) - 1):
            answers = self._answers_of_round(t, X, codes, n_threads)
            margins = mix(margins, answers, self.steps[t], adaptive=self.adaptive)
            yield margins
        if len(self):
            yield self.margins(X, codes, n_threads)

    def _answers_of_round(self, t: int, X: Any, codes: Codes | None, n_threads: int) -> Floats:
        """Return f_t of every row, (n, K)."""
        if self.trees is None or codes is None:
            return self._answer(t, X)
        answers = np.zeros((len(codes), len(self.first)))
        self.trees.add_trees(codes, answers, t, t + 1, n_threads)
        return answers


def mix(scores: Floats, answers: Floats, alpha: float, *, adaptive: bool) -> Floats:
    """Return (1 - alpha) H + alpha f, or with AdaBoost.M2 the sum of votes."""
    return np.asarray((scores if adaptive else (1.0 - alpha) * scores) + alpha * answers)


# ---- The model


@dataclass(frozen=True, eq=False)
class FittedModel:
    """Members, and what is made of their margins.

    Attributes
    ----------
    members : tuple of Member
    decision : "cheapest" | "largest" | None
        By price, or by the margins: the largest, and of a single one the sign. None: a regression.
    unit : str
        Of the decision values, such as "margin".
    priced : tuple of Map or None
        The maps to what is priced, where that is not the probability: shares of votes.
    """

    members: tuple[Member | Mixture, ...]
    decision: Literal["cheapest", "largest"] | None
    unit: str
    priced: tuple[Map, ...] | None = None

    def __getstate__(self) -> dict[str, Any]:
        # What follows from the fields is made again when it is asked for.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def n_rounds(self) -> int:
        """The rounds of the longest member."""
        return max(len(member) for member in self.members)

    @property
    def is_calibrated(self) -> bool:
        """Whether a calibration maps margins to probabilities; else decision values are sums."""
        maps = self.members[0].maps
        return bool(maps) and isinstance(maps[-1], Calibrate)

    @property
    def forests(self) -> list[Forest]:
        """The forests of the members, none of them of outside estimators."""
        return [member.forest for member in self.members if member.forest is not None]

    # --- margins: a list with one array of shape (n, J) for each member

    def encode(self, X: Any, n_threads: int = 1) -> Codes | None:
        """Return the codes of a table in the columns that any member looks at; None: no trees."""
        if self._used is None:
            return None
        binner, columns = self._used
        return binner.encode(X, columns=columns, n_threads=n_threads)

    @cached_property
    def _used(self) -> tuple[Binner, Int64] | None:
        """The binner of the members, and the columns that any of them looks at; None: no trees."""
        return used_columns([member.trees for member in self.members])

    def margins(self, X: Any, codes: Codes | None, n_threads: int = 1) -> list[Floats]:
        """Return the margins of rows by each member."""
        if codes is not None and self._joint is not None:
            return list(self._joint.margins_of_codes(codes, n_threads))
        return [member.margins(X, codes, n_threads) for member in self.members]

    @cached_property
    def _joint(self) -> JointForest | None:
        """The forests of all members as one; None where a member is more than its forest."""
        if any(member.init is not None for member in self.members):
            return None
        return join_members([member.forest for member in self.members])

    def staged(self, X: Any, n_threads: int = 1) -> Iterator[tuple[FittedModel, list[Floats]]]:
        """Yield the model and the margins of rows after each round.

        A member that ended early stays as it was.
        """
        codes = self.encode(X, n_threads)
        stages = [
            member.staged_margins(X, codes, n_threads)
            if len(member)
            else repeat(member.margins(X, codes, n_threads))
            for member in self.members
        ]
        last: list[Any] = [None] * len(stages)
        for t in range(self.n_rounds):
            last = [next(stage, before) for stage, before in zip(stages, last, strict=True)]
            yield self._after(t + 1), last

    def _after(self, n_rounds: int) -> FittedModel:
        """Return the model with the maps after some rounds: shares are of the votes so far."""
        members = tuple(
            replace(member, maps=_with_total(member.maps, _total_after(member, n_rounds)))
            if any(isinstance(step, VoteShares) for step in member.maps)
            else member
            for member in self.members
        )
        if self.priced is None:
            return replace(self, members=members)
        total = _total_after(self.members[0], n_rounds)
        return replace(self, members=members, priced=_with_total(self.priced, total))

    # --- what is made of margins

    def proba(self, margins: Sequence[Floats], n_threads: int = 1) -> Floats:
        """Return probabilities, (n, K): the mean over the members."""
        n_rows = len(margins[0])
        if n_rows <= _BLOCK:
            return self._proba_of_block(margins)
        # Maps treat rows one by one: in blocks their temporary arrays stay in the cache.
        blocks = [slice(start, start + _BLOCK) for start in range(0, n_rows, _BLOCK)]
        parts = run(lambda at: self._proba_of_block([m[at] for m in margins]), blocks, n_threads)
        return np.concatenate(parts)

    def _proba_of_block(self, margins: Sequence[Floats]) -> Floats:
        members = self.members
        if len(members) > 1 and self._shares_maps:
            whole = apply_maps(members[0].maps, np.concatenate(margins))
            shares = list(whole.reshape(len(members), -1, whole.shape[1]))
        else:
            shares = [
                apply_maps(member.maps, part) for member, part in zip(members, margins, strict=True)
            ]
        total = shares[0]
        for share in shares[1:]:
            total = total + share
        return total / len(shares) if len(shares) > 1 else total

    @cached_property
    def _shares_maps(self) -> bool:
        """Whether all members have the same maps."""
        first = self.members[0].maps
        try:
            return all(member.maps == first for member in self.members)
        except ValueError:  # of maps that hold arrays
            return False

    def proba_to_price(self, margins: Sequence[Floats]) -> Floats:
        """Return the probabilities that prices are multiplied by, (n, K)."""
        return self.proba(margins) if self.priced is None else apply_maps(self.priced, margins[0])

    def values(self, margins: Sequence[Floats]) -> Floats:
        """Return the decision values: (n,) of a regression or of two classes, else (n, K).

        Calibrated they are log odds, or log probabilities; else margins.
        """
        values = margins[0]
        if self.is_calibrated:
            values = np.log(np.maximum(self.proba(margins), _LEAST))
        if values.shape[1] == 2:
            return np.asarray(values[:, 1] - values[:, 0])
        return values[:, 0] if values.shape[1] == 1 else values

    def recalibrated(
        self,
        margins: Sequence[Floats],
        y: Int64,
        sample_weight: Floats | None = None,
        *,
        rising: bool = False,
    ) -> FittedModel:
        """Return the model with other maps from scores to probabilities; it decides by price.

        A calibration is fitted anew, of its own kind; where there is none, a sigmoid.

        Parameters
        ----------
        margins : sequence of float64 arrays of shape (n, J)
            Of the rows to fit to, by each member.
        y : int array of shape (n,)
            Numbers of their classes.
        sample_weight : float64 array of shape (n,), default=None
        rising : bool, default=False
            Whether probabilities must not fall with scores.
        """
        fitted = []
        for member, part in zip(self.members, margins, strict=True):
            before, last = _score_maps(member), member.maps[-1]
            if isinstance(last, Calibrate):
                blank = replace(last.calibration, calibrators=())
            else:
                n_classes = max(2, len(member.first))
                blank = ClassCalibration("sigmoid", n_classes, margins=not before)
            fitted.append(blank.fit(apply_maps(before, part), y, sample_weight, rising=rising))
        return calibrated(self.members, _score_maps, CalibratedScores((), tuple(fitted), 0))

    def choices(self, margins: Sequence[Floats]) -> Int64:
        """Return the class numbers that are decided without prices, (n,)."""
        return choices_of(margins[0])


def calibrated(
    members: Sequence[Member], before: Callable[[Member], tuple[Map, ...]], scores: CalibratedScores
) -> FittedModel:
    """Return the model of members whose scores are calibrated; it decides by price.

    Parameters
    ----------
    members : sequence of Member
    before : callable
        From a member to the maps from its margins to the scores that are calibrated.
    scores : CalibratedScores
    """
    parts = tuple(
        replace(member, maps=(*before(member), Calibrate(fitted)))
        for member, fitted in zip(members, scores.maps, strict=True)
    )
    many = scores.maps[0].n_classes > 2
    return FittedModel(parts, "cheapest", "log probability" if many else "log odds")


def _score_maps(member: Member) -> tuple[Map, ...]:
    """Return the maps from a member's margins to what is calibrated: margins, or shares."""
    last = member.maps[-1]
    if isinstance(last, Calibrate | Logistic | LossLink):
        return member.maps[:-1]
    if isinstance(last, VoteShares) and len(member.first) == 1:
        return (*member.maps, Second())
    return member.maps


def _total_after(member: Member, n_rounds: int) -> float:
    if not len(member):
        return member.total
    return float(member.totals[min(n_rounds, len(member)) - 1])


def _with_total(maps: tuple[Map, ...], total: float) -> tuple[Map, ...]:
    return tuple(VoteShares(total) if isinstance(step, VoteShares) else step for step in maps)
