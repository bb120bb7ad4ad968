"""A fitted ensemble of the AdaBoost family: votes of trees or of outside classifiers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from costboost.binning.binner import Binner
from costboost.boosting.adaboost.hypothesis import link, scores_of, voted_proba
from costboost.boosting.adaboost.learner import (
    LEAF_VALUES,
    Votes,
    class_votes,
    probability_votes,
)
from costboost.boosting.adaboost.loop import Round
from costboost.inputs.outside import count_rows
from costboost.trees.forest import Forest, ForestBuilder
from costboost.typing import Codes, Floats


@dataclass(frozen=True)
class Ensemble:
    """The fitted rounds; predicts margins F (two classes: one column), or votes of K classes.

    Attributes
    ----------
    n_classes : int
    alphas : float64 array of shape (T,) or (T, 2)
    forest : Forest or None
    estimators : tuple of fitted classifiers, if they are not trees
    votes : how outside classifiers vote
    discrete : bool
        Whether margins over the sum of alphas are shares of votes.
    base : float64 array of shape (n_outputs,) or None
        The margins before the first round of outside classifiers.
    slope : float
        Of the link of the method's loss.
    n_first : int
        Trees of the forest that are there before the first round.
    """

    n_classes: int
    alphas: Floats
    forest: Forest | None
    estimators: tuple[Any, ...]
    votes: Votes
    discrete: bool
    base: Floats | None = None
    slope: float = 2.0
    n_first: int = 0

    def __len__(self) -> int:
        return len(self.alphas)

    @property
    def total_alpha(self) -> float:
        """The sum of all alphas; 1 for a constant answer."""
        return float(np.sum(self.alphas)) if len(self.alphas) else 1.0

    @property
    def tree_weights(self) -> Floats:
        """The weight of each tree of the forest: |alpha|, or 1 for trees before the rounds."""
        alphas = self.alphas if self.alphas.ndim == 1 else self.alphas.sum(axis=1)
        return np.concatenate([np.ones(self.n_first), alphas])

    @property
    def totals(self) -> Floats:
        """The sum of the alphas after each round."""
        return np.cumsum(self.alphas if self.alphas.ndim == 1 else self.alphas.sum(axis=1))

    def margins(self, X: Any, n_threads: int = 1, codes: Codes | None = None) -> Floats:
        """Return F, (n, 1), or the votes of each class, (n, K); a forest bins X without codes."""
        if self.forest is not None:
            codes = self.forest.encode(X, n_threads) if codes is None else codes
            return self.forest.margins_of_codes(codes, n_threads)
        margins = self._no_votes(X)
        for t in range(len(self)):
            margins += self._vote(t, X)
        return margins

    def staged_margins(
        self, X: Any, n_threads: int = 1, codes: Codes | None = None
    ) -> Iterator[Floats]:
        """Yield the margins after each round."""
        if self.forest is not None:
            stages = self.forest.staged_margins(X, n_threads, codes)
            yield from islice(stages, self.n_first, None)
            return
        margins = self._no_votes(X)
        for t in range(len(self)):
            margins = margins + self._vote(t, X)
            yield margins

    def _no_votes(self, X: Any) -> Floats:
        base = np.zeros(1 if self.n_classes == 2 else self.n_classes)
        return np.repeat((base if self.base is None else self.base)[None, :], count_rows(X), axis=0)

    def _vote(self, t: int, X: Any) -> Floats:
        """Return the margins that outside classifier t adds, (n, J)."""
        return outside_votes(self.estimators[t], X, self.alphas[t], self.votes, self.n_classes)

    def proba(self, margins: Floats) -> Floats:
        """Return the probabilities that the method's loss assigns to margins, (n, K)."""
        return link(margins, self.slope)

    def priced_proba(self, margins: Floats, total_alpha: float) -> Floats:
        """Return the probabilities by which AdaMEC decides, (n, K)."""
        return voted_proba(margins, total_alpha, shares=self.votes not in LEAF_VALUES)

    def scores(self, margins: Floats, total_alpha: float) -> Floats:
        """Return the scores that are calibrated: (n,), or (n, K) of more than two classes."""
        return scores_of(margins, total_alpha, shares=self.discrete)


def outside_votes(estimator: Any, X: Any, alpha: Any, votes: Votes, n_classes: int) -> Floats:
    """Return the margins that an outside classifier with step alpha adds, (n, J)."""
    if votes != "discrete":
        return np.asarray(alpha * probability_votes(estimator, X, votes)[:, None])
    answers = class_votes(estimator, X, n_classes)
    if n_classes == 2:
        plus, minus = np.broadcast_to(alpha, 2)  # RareBoost has one for each side
        return np.asarray(np.where(answers == 1, plus, -minus)[:, None], dtype=float)
    margins = np.zeros((len(answers), n_classes))
    margins[np.arange(len(answers)), answers] = alpha
    return margins


def assemble(
    rounds: Sequence[Round],
    binner: Binner | None,
    n_classes: int,
    votes: Votes,
    *,
    discrete: bool,
    slope: float = 2.0,
) -> Ensemble:
    """Make the fitted model of rounds."""
    alphas = np.array([done.alpha for done in rounds])
    if binner is None:
        estimators = tuple(done.model.estimator for done in rounds)
        return Ensemble(n_classes, alphas, None, estimators, votes, discrete, slope=slope)
    builder = ForestBuilder(1 if n_classes == 2 else n_classes)
    for done in rounds:
        done.add_to(builder)
    return Ensemble(n_classes, alphas, builder.build(binner), (), votes, discrete, slope=slope)


def constant_ensemble(
    answer: int, n_classes: int, binner: Binner | None, *, discrete: bool, votes: Votes
) -> Ensemble:
    """Return the model without rounds that always predicts one class."""
    base = np.array([1.0 if answer == 1 else -1.0])
    if n_classes > 2:
        base = (np.arange(n_classes) == answer).astype(float)
    alphas = np.zeros(0)
    if binner is None:
        return Ensemble(n_classes, alphas, None, (), votes, discrete, base)
    forest = ForestBuilder(len(base)).build(binner, base)
    return Ensemble(n_classes, alphas, forest, (), votes, discrete)
