"""`TRUSTED_TYPES`: the types that a saved model of this library is made of, for ``skops.io.load``.

skops, and MLflow by default, write models as data, and build an object of a type that they do not
know only if the reader names that type. A model around other estimators needs theirs too.

The names are computed from the classes: those that our own files hold, losses, and what a warm
start continues from. skops and pickle write the module of a class, so a file of theirs is read by
the version that wrote it, or by one in which the class has not moved; files of `costboost.save`
name their parts without modules and are read by every later version. A fixed module for all
(assigning ``__module__``) would break the type hints of dataclasses, which are looked up there.

>>> "costboost.costs.costs.Costs" in TRUSTED_TYPES
True
"""

from __future__ import annotations

from typing import Any

from costboost.boosting.adaboost.learner import Hypothesis, OutsideVotes, WeakEstimator, WeakTree
from costboost.boosting.adaboost.loop import Round
from costboost.boosting.gradient.learner import Init, OutsideSteps
from costboost.boosting.gradient.loop import GradientRound
from costboost.boosting.gradient.losses import CLASSIFICATION_LOSSES, REGRESSION_LOSSES
from costboost.boosting.pnorm.learner import OutsideAnswers, PairClassifier, PairTree
from costboost.boosting.pnorm.loop import PNormRound
from costboost.fitting.warm import WarmState
from costboost.persistence.kinds import KINDS
from costboost.trees.tree import Tree

__all__ = ["TRUSTED_TYPES"]

#: A warm start continues from these; our own files leave them out.
_WARM_START: tuple[type[Any], ...] = (
    *(WarmState, Tree),
    *(Round, Hypothesis, WeakTree, WeakEstimator),
    GradientRound,
    *(PNormRound, PairTree, PairClassifier),
)
#: How outside estimators answer, which our own files do not hold either.
_OUTSIDE = (OutsideVotes, OutsideSteps, OutsideAnswers, Init)


def _ours() -> list[str]:
    """Return the names of the types, with their modules, in order and each once."""
    kept = [kind.type for kind in KINDS.values()]
    losses = [*CLASSIFICATION_LOSSES.values(), *REGRESSION_LOSSES.values()]
    types = (*kept, *losses, *_WARM_START, *_OUTSIDE)
    named = {f"{kind.__module__}.{kind.__qualname__}" for kind in types}
    return sorted(name for name in named if name.startswith("costboost."))


TRUSTED_TYPES: list[str] = _ours()
