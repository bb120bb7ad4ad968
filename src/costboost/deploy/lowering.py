"""From an estimator to what any language can compute: trees, a few maps, one decision.

    row -> margins of each forest -> maps -> probabilities, the mean over the forests
        -> with prices: the expected cost of every action, and the cheapest
        -> without: the sign or the largest of the margins

`lower` reads an estimator once and says it in these words; `c` and `onnx` write them down. What
has no such form (outside learners, functions) is refused by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from costboost.binning.binner import Binner
from costboost.boosting.adaboost.learner import LEAF_VALUES
from costboost.boosting.adaboost.model import Ensemble
from costboost.calibration import CalibratedScores, ClassCalibration
from costboost.costs import Costs
from costboost.deploy.prices import PriceFormulas, read_prices
from costboost.estimators.adaboost.classifier import CostBoostClassifier
from costboost.estimators.gradient import GradientBoostClassifier, GradientBoostRegressor
from costboost.estimators.pnorm import PNormBoostClassifier
from costboost.trees.forest import Forest

__all__ = [
    "Calibrate",
    "Logistic",
    "Lowered",
    "Map",
    "Normalise",
    "ForestPart",
    "Second",
    "VoteShares",
    "lower",
]


@dataclass(frozen=True)
class Logistic:
    """One margin F: 1 / (1 + exp(-+ scale F)); several: the softmax of scale F."""

    scale: float


@dataclass(frozen=True)
class VoteShares:
    """One margin F: s = (1 + F / total) / 2, cut to [0, 1], and 1 - s; several: `Normalise`."""

    total: float


@dataclass(frozen=True)
class Normalise:
    """Values over their sum; alike where that is not positive."""


@dataclass(frozen=True)
class Second:
    """The second of two values."""


@dataclass(frozen=True)
class Calibrate:
    """Scores to probabilities by a fitted calibration."""

    calibration: ClassCalibration


Map: TypeAlias = Logistic | VoteShares | Normalise | Second | Calibrate


@dataclass(frozen=True)
class ForestPart:
    """One forest, and the maps from its margins to probabilities and to what is priced."""

    forest: Forest
    maps: tuple[Map, ...]


@dataclass(frozen=True)
class Lowered:
    """A fitted estimator as forests, and maps from their margins to probabilities.

    Attributes
    ----------
    parts : tuple of Part
        Probabilities are the mean over them; a regression has one part without maps.
    classes : array of shape (K,), or None for a regression
    decision : "cheapest" | "largest" | None
        By price, or by the margins: the largest, and of a single one the sign.
    priced : tuple of Map or None
        The maps to what is priced, where that is not the probability: shares of votes.
    costs : Costs or None
        What decides, where decisions are by price: its classes, actions and positive class.
    """

    name: str
    binner: Binner
    parts: tuple[ForestPart, ...]
    classes: NDArray[Any] | None
    decision: Literal["cheapest", "largest"] | None
    priced: tuple[Map, ...] | None = None
    costs: Costs | None = None

    @cached_property
    def prices(self) -> PriceFormulas | None:
        """The prices of ``fit``, in the order of the classes and actions."""
        return None if self.costs is None else read_prices(self.costs, self.binner)

    @property
    def actions(self) -> NDArray[Any] | None:
        """Labels of the decisions: the classes, or other actions."""
        return self.classes if self.costs is None else self.costs.actions

    @property
    def n_classes(self) -> int:
        """K; 1 for a regression."""
        return 1 if self.classes is None else len(self.classes)

    @property
    def used_features(self) -> list[int]:
        """The columns that any tree looks at."""
        used = {int(j) for part in self.parts for j in part.forest.used_features}
        return sorted(used)


def lower(model: Any) -> Lowered:
    """Return a fitted estimator as forests and maps; raise for estimators with no such form."""
    lowering = _LOWERINGS.get(type(model))
    if lowering is None:
        names = ", ".join(kind.__name__ for kind in _LOWERINGS)
        raise ValueError(
            f"A {type(model).__name__} cannot be exported: its trees, if it has any, are inside "
            f"other estimators. What can: {names}, with built-in trees."
        )
    check_is_fitted(model)
    if model.estimator is not None:
        raise ValueError(
            f"{type(model).__name__}(estimator={type(model.estimator).__name__}()) cannot be "
            "exported: only built-in trees have a form in other languages. Fit with estimator=None."
        )
    lowered: Lowered = lowering(model)
    return lowered


def _calibrated(
    forests: list[Forest], scores: CalibratedScores, before: tuple[Map, ...]
) -> tuple[ForestPart, ...]:
    pairs = zip(forests, scores.maps, strict=True)
    return tuple(ForestPart(forest, (*before, Calibrate(fitted))) for forest, fitted in pairs)


def _before_calibration(model: Ensemble) -> tuple[Map, ...]:
    """Return how margins become the scores that are calibrated; see `Ensemble.scores`."""
    if not model.discrete:
        return ()
    shares = VoteShares(model.total_alpha)
    return (shares, Second()) if model.n_classes == 2 else (shares,)


def _lower_adaboost(model: CostBoostClassifier) -> Lowered:
    ensembles = model._ensembles
    forests = [ensemble.forest for ensemble in ensembles if ensemble.forest is not None]
    head = (type(model).__name__, forests[0].binner)
    if model._scores is not None:
        maps = zip(forests, ensembles, model._scores.maps, strict=True)
        parts = tuple(
            ForestPart(forest, (*_before_calibration(ensemble), Calibrate(fitted)))
            for forest, ensemble, fitted in maps
        )
        return Lowered(*head, parts, model.classes_, "cheapest", None, model.costs_)
    parts = (ForestPart(forests[0], (Logistic(ensembles[0].slope),)),)
    if not model._decides_by_costs():
        return Lowered(*head, parts, model.classes_, "largest")
    priced: tuple[Map, ...] = (VoteShares(ensembles[0].total_alpha),)
    if ensembles[0].votes in LEAF_VALUES:  # their margins have no share of votes
        priced = (Logistic(2.0),)
    return Lowered(*head, parts, model.classes_, "cheapest", priced, model.costs_)


def _gradient_forests(model: Any) -> list[Forest]:
    if any(part.init is not None for part in model._models):
        raise ValueError(
            f"{type(model).__name__}(init={type(model.init).__name__}()) cannot be exported: it "
            "begins with another model. Fit with init=None."
        )
    return [part.forest for part in model._models]


def _lower_gradient(model: GradientBoostClassifier) -> Lowered:
    forests = _gradient_forests(model)
    head = (type(model).__name__, forests[0].binner)
    if model._scores is not None:
        parts = _calibrated(forests, model._scores, ())
        return Lowered(*head, parts, model.classes_, "cheapest", None, model.costs_)
    scale = model._loss.link_scale
    if scale is None:
        raise ValueError(
            f"loss={model.loss!r} cannot be exported: its `proba`, by which F becomes "
            "probabilities, is a function in Python. Fit with a loss without one, whose "
            "probabilities are the logistic function of F, or calibrate."
        )
    maps = (Logistic(scale),)
    if not model._decides_by_costs():
        return Lowered(*head, (ForestPart(forests[0], maps),), model.classes_, "largest")
    parts = (ForestPart(forests[0], maps),)
    return Lowered(*head, parts, model.classes_, "cheapest", None, model.costs_)


def _lower_regressor(model: GradientBoostRegressor) -> Lowered:
    forest = _gradient_forests(model)[0]
    return Lowered(type(model).__name__, forest.binner, (ForestPart(forest, ()),), None, None)


def _lower_pnorm(model: PNormBoostClassifier) -> Lowered:
    forests = [mixture.forest for mixture in model._mixtures if mixture.forest is not None]
    head = (type(model).__name__, forests[0].binner)
    if model._scores is not None:
        parts = _calibrated(forests, model._scores, (Normalise(),))
        return Lowered(*head, parts, model.classes_, "cheapest", None, model.costs_)
    return Lowered(*head, (ForestPart(forests[0], (Normalise(),)),), model.classes_, "largest")


_LOWERINGS: dict[type[Any], Any] = {
    CostBoostClassifier: _lower_adaboost,
    GradientBoostClassifier: _lower_gradient,
    GradientBoostRegressor: _lower_regressor,
    PNormBoostClassifier: _lower_pnorm,
}
