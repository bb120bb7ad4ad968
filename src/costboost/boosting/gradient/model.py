"""A fitted gradient boosting model: f_0 and the fitted rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from costboost.binning.binner import Binner
from costboost.boosting.gradient.learner import regression_answers
from costboost.boosting.gradient.loop import GradientRound
from costboost.inputs.outside import count_rows, read_probabilities
from costboost.trees.forest import Forest, ForestBuilder
from costboost.typing import Codes, Floats

_CLIP = 2.0**-52  # of probabilities inside logarithms


@dataclass(frozen=True)
class Init:
    """A fitted model whose answers are f_0.

    Attributes
    ----------
    model : fitted regressor or classifier
    odds : float or None
        F times this is the log odds; None: the model is a regressor.
    """

    model: Any
    odds: float | None = None

    def margins(self, X: Any) -> Floats:
        """Return f_0 of every row, (n, J)."""
        if self.odds is None:
            return regression_answers(self.model, X).reshape(-1, 1)
        classes = np.arange(len(self.model.classes_))
        proba = np.clip(read_probabilities(self.model, X, classes), _CLIP, 1 - _CLIP)
        logs = np.log(proba) / self.odds
        if proba.shape[1] == 2:
            return np.asarray(logs[:, 1:] - logs[:, :1])
        return np.asarray(logs - logs.mean(axis=1, keepdims=True))


@dataclass(frozen=True)
class GradientEnsemble:
    """f_0 plus trees, or regressors, J outputs.

    Attributes
    ----------
    start : float64 array of shape (J,)
        The constant f_0; 0 where `init` is a model.
    steps : float64 array of shape (T,)
        lambda_t * learning_rate.
    forest : Forest or None
        J trees for each round.
    estimators : tuple of tuples of J fitted regressors, if they are not trees
    init : Init or None
    """

    start: Floats
    steps: Floats
    forest: Forest | None
    estimators: tuple[tuple[Any, ...], ...] = ()
    init: Init | None = None

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def n_outputs(self) -> int:
        """J: 1, or K for K > 2 classes."""
        return len(self.start)

    def first_margins(self, X: Any) -> Floats:
        """Return f_0 of every row, (n, J)."""
        if self.init is not None:
            return self.init.margins(X) + self.start
        return np.repeat(self.start[None, :], count_rows(X), axis=0)

    def margins(self, X: Any, n_threads: int = 1, codes: Codes | None = None) -> Floats:
        """Return F of every row, (n, J); a forest bins X without codes."""
        if self.forest is None:
            margins = self.first_margins(X)
            for t in range(len(self)):
                margins += self._answers(t, X)
            return margins
        codes = self.forest.encode(X, n_threads) if codes is None else codes
        return self.margins_of_codes(codes, X, n_threads)

    def margins_of_codes(self, codes: Codes, X: Any, n_threads: int = 1) -> Floats:
        """Return F of rows that are binned already; `X` may be None without `init`."""
        assert self.forest is not None
        return self.forest.margins_of_codes(codes, n_threads) + self._margins_outside_forest(X)

    def _margins_outside_forest(self, X: Any) -> Floats:
        """Return the margins that the forest's own base does not contain, 0 or f_0 of `init`."""
        return np.zeros((1, 1)) if self.init is None else self.init.margins(X)

    def staged_margins(
        self, X: Any, n_threads: int = 1, codes: Codes | None = None
    ) -> Iterator[Floats]:
        """Yield F after each round; a new array every time."""
        margins = self.first_margins(X)
        if self.forest is None:
            for t in range(len(self)):
                margins += self._answers(t, X)
                yield margins.copy()
            return
        codes = self.forest.encode(X, n_threads) if codes is None else codes
        for at in range(0, len(self.forest), self.n_outputs):
            self.forest.add_trees(codes, margins, at, at + self.n_outputs, n_threads)
            yield margins.copy()

    def _answers(self, t: int, X: Any) -> Floats:
        parts = [regression_answers(model, X) for model in self.estimators[t]]
        return np.asarray(self.steps[t] * np.column_stack(parts))


def assemble_gradient(
    rounds: Sequence[GradientRound], binner: Binner | None, start: Floats, init: Init | None
) -> GradientEnsemble:
    """Make the fitted model of rounds."""
    steps = np.array([done.step for done in rounds])
    if binner is None:
        estimators = tuple(done.models for done in rounds)
        return GradientEnsemble(start, steps, None, estimators, init)
    builder = ForestBuilder(len(start))
    for done in rounds:
        done.add_to(builder)
    return GradientEnsemble(start, steps, builder.build(binner, start), (), init)
