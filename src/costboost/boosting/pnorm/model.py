"""A fitted mixture of the L_p family: H_T as a forest, or as outside classifiers.

The trees are kept with their bare answers. Unrolled, the convex combination is a sum,

    H_T = prod_s (1 - alpha_s) H_0 + sum_t alpha_t prod_{s > t} (1 - alpha_s) f_t

so one forest with K outputs, its leaves scaled and H_0 its base, predicts it in one walk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from costboost.binning.binner import Binner
from costboost.boosting.pnorm.learner import outside_answers
from costboost.boosting.pnorm.loop import PNormRound
from costboost.boosting.pnorm.methods import Method, make_stochastic
from costboost.trees.forest import Forest, ForestBuilder
from costboost.typing import Codes, Floats


@dataclass(frozen=True, eq=False)
class Mixture:
    """The fitted rounds; predicts the mixture H_T.

    Attributes
    ----------
    alphas : float64 array of shape (T,)
    start : float64 array of shape (K,)
        H_0; zeros for AdaBoost.M2.
    stochastic : bool
        Whether answers are made distributions.
    adaptive : bool
        Whether votes are added up (AdaBoost.M2) rather than mixed.
    answers : Forest or None
        The trees; the value of a leaf is f_t.
    estimators : tuple of fitted classifiers, if they are not trees
    kind : "pairs" | "classes"
        What outside classifiers learnt; see `learner.py`.
    """

    alphas: Floats
    start: Floats
    stochastic: bool
    adaptive: bool
    answers: Forest | None
    estimators: tuple[Any, ...] = ()
    kind: Literal["pairs", "classes"] = "pairs"

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state.pop("forest", None)  # made again when it is asked for
        return state

    def __len__(self) -> int:
        return len(self.alphas)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.start)

    @property
    def shares(self) -> tuple[float, Floats]:
        """Weights of H_0 and of each hypothesis in H_T, (T + 1,); sum 1 except for AdaBoost.M2."""
        if self.adaptive:
            return 1.0, self.alphas
        # kept[t] is the product of 1 - alpha_s over s > t.
        kept = np.append(np.cumprod(1.0 - self.alphas[::-1])[::-1], 1.0)
        return float(kept[0]), np.asarray(self.alphas * kept[1:])

    @cached_property
    def forest(self) -> Forest | None:
        """H_T as one forest with K outputs; None for outside classifiers."""
        if self.answers is None:
            return None
        base, shares = self.shares
        sizes = np.diff(np.append(self.answers.roots, len(self.answers.words)))
        values = self.answers.values * np.repeat(shares, sizes)[:, None]
        return replace(self.answers, values=values, base=base * self.start)

    def scores(self, X: Any, n_threads: int = 1, codes: Codes | None = None) -> Floats:
        """Return H_T of raw rows, (n, K); a forest bins them without codes."""
        if self.forest is not None:
            codes = self.forest.encode(X, n_threads) if codes is None else codes
            return self.scores_of_codes(codes, n_threads)
        base, shares = self.shares
        scores = np.repeat(base * self.start[None, :], X.shape[0], axis=0)
        for estimator, share in zip(self.estimators, shares, strict=True):
            scores += share * self._answers_of(estimator, X)
        return scores

    def scores_of_codes(self, codes: Codes, n_threads: int = 1) -> Floats:
        """Return H_T of binned rows, (n, K)."""
        assert self.forest is not None
        return self.forest.margins_of_codes(codes, n_threads)

    def staged_scores(
        self, X: Any, n_threads: int = 1, codes: Codes | None = None
    ) -> Iterator[Floats]:
        """Yield H_t after each round; a new array every time.

        Mixed round by round, ties of H come out a rounding apart from those of the unrolled sum:
        the last stage is that sum, so that stages end at what the model itself says.
        """
        scores = self.start
        staged = self._staged_answers(X, n_threads, codes)
        for alpha, answers in zip(self.alphas[:-1], staged, strict=False):
            scores = mix(scores, answers, alpha, adaptive=self.adaptive)
            yield scores
        if len(self):
            yield self.scores(X, n_threads, codes)

    def _staged_answers(self, X: Any, n_threads: int, codes: Codes | None) -> Iterator[Floats]:
        """Yield f_t of every row, round after round."""
        if self.answers is None:
            yield from (self._answers_of(estimator, X) for estimator in self.estimators)
            return
        codes = self.answers.encode(X, n_threads) if codes is None else codes
        for t in range(len(self)):
            answers = np.zeros((len(codes), self.n_classes))
            self.answers.add_trees(codes, answers, t, t + 1, n_threads)
            yield answers

    def _answers_of(self, estimator: Any, X: Any) -> Floats:
        answers = outside_answers(estimator, X, self.n_classes, self.kind)
        return make_stochastic(answers) if self.stochastic else answers.astype(np.float64)


def mix(scores: Floats, answers: Floats, alpha: float, *, adaptive: bool) -> Floats:
    """Return (1 - alpha) H + alpha f, or with AdaBoost.M2 the sum of votes."""
    return np.asarray((scores if adaptive else (1.0 - alpha) * scores) + alpha * answers)


def normalised(scores: Floats) -> Floats:
    """Return H with rows scaled to sum 1; a row of zeros becomes uniform.

    Examples
    --------
    >>> import numpy as np
    >>> normalised(np.array([[0.25, 0.25], [0.0, 0.0]])).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    total = scores.sum(axis=1, keepdims=True)
    uniform = np.full_like(scores, 1.0 / scores.shape[1])
    return np.asarray(np.divide(scores, total, out=uniform, where=total > 0.0))


def one_tree(binner: Binner, done: PNormRound, *, stochastic: bool) -> Forest:
    """Return the tree of one round, its answers as leaf values."""
    return _grow([done], binner, stochastic)


def _grow(rounds: Sequence[PNormRound], binner: Binner, stochastic: bool) -> Forest:
    builder = ForestBuilder(rounds[0].hypothesis.answers.shape[1])
    for done in rounds:
        done.add_to(builder, stochastic=stochastic)
    return builder.build(binner)


def assemble_mixture(
    rounds: Sequence[PNormRound], method: Method, binner: Binner | None, n_classes: int
) -> Mixture:
    """Make the fitted model of at least one round."""
    stochastic = method.answers == "stochastic"
    return Mixture(
        alphas=np.array([done.alpha for done in rounds]),
        start=np.full(n_classes, 0.0 if method.adaptive else 1.0 / n_classes),
        stochastic=stochastic,
        adaptive=method.adaptive,
        answers=None if binner is None else _grow(rounds, binner, stochastic),
        estimators=() if binner else tuple(done.hypothesis.estimator for done in rounds),
        kind=outside_kind(method),
    )


def constant_mixture(answer: int, method: Method, binner: Binner | None, n_classes: int) -> Mixture:
    """Return the mixture without rounds that always answers one class."""
    return Mixture(
        alphas=np.zeros(0),
        start=np.eye(n_classes)[answer],
        stochastic=method.answers == "stochastic",
        adaptive=method.adaptive,
        answers=None if binner is None else ForestBuilder(n_classes).build(binner),
        kind=outside_kind(method),
    )


def outside_kind(method: Method) -> Literal["pairs", "classes"]:
    """Return what an outside classifier learns: a binary relation, or a class."""
    return "classes" if method.answers == "functional" else "pairs"
