"""What exports read: an estimator's fitted model, its classes and prices, or a refusal by name.

`c` and `onnx` write down the members' trees, their maps and the decision of `costboost.model`. What
has no such form in other languages (outside learners, links that are functions in Python) is
refused here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from costboost.binning.binner import Binner
from costboost.costs import Costs
from costboost.deploy.prices import PriceFormulas, read_prices
from costboost.estimators.adaboost.classifier import CostBoostClassifier
from costboost.estimators.gradient import GradientBoostClassifier, GradientBoostRegressor
from costboost.estimators.pnorm import PNormBoostClassifier
from costboost.model import FittedModel, Logistic, LossLink, Member
from costboost.trees.forest import Forest

__all__ = ["Exported", "export"]

EXPORTABLE = (
    CostBoostClassifier,
    GradientBoostClassifier,
    GradientBoostRegressor,
    PNormBoostClassifier,
)


@dataclass(frozen=True)
class Exported:
    """An estimator to write in another language.

    Attributes
    ----------
    name : str
        Of its class.
    model : FittedModel
        Of trees; every link of a loss is a `Logistic`.
    classes : array of shape (K,), or None for a regression
    costs : Costs or None
        What decides, where decisions are by price: its classes, actions and positive class.
    """

    name: str
    model: FittedModel
    classes: NDArray[Any] | None
    costs: Costs | None

    @property
    def binner(self) -> Binner:
        """The binner of all forests."""
        return self.forests[0].binner

    @cached_property
    def forests(self) -> list[Forest]:
        """The forest of each member."""
        return self.model.forests

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
        return sorted({int(j) for forest in self.forests for j in forest.used_features})


def export(estimator: Any) -> Exported:
    """Return what exports read of a fitted estimator; raise where it has no form in C or ONNX."""
    name = type(estimator).__name__
    if type(estimator) not in EXPORTABLE:
        names = ", ".join(kind.__name__ for kind in EXPORTABLE)
        raise ValueError(
            f"A {name} cannot be exported: its trees, if it has any, are inside "
            f"other estimators. What can: {names}, with built-in trees."
        )
    check_is_fitted(estimator)
    if estimator.estimator is not None:
        raise ValueError(
            f"{name}(estimator={type(estimator.estimator).__name__}()) cannot be "
            "exported: only built-in trees have a form in other languages. Fit with estimator=None."
        )
    model: FittedModel = estimator._model
    if any(member.init is not None for member in model.members):
        raise ValueError(
            f"{name}(init={type(estimator.init).__name__}()) cannot be exported: it "
            "begins with another model. Fit with init=None."
        )
    model = replace(model, members=tuple(_portable(part, estimator) for part in model.members))
    priced = model.decision == "cheapest"
    return Exported(
        name, model, getattr(estimator, "classes_", None), estimator.costs_ if priced else None
    )


def _portable(member: Member, estimator: Any) -> Member:
    """Return a member with the logistic function that its loss's link is; refuse other links."""
    if not member.maps or not isinstance(member.maps[0], LossLink):
        return member
    scale = member.maps[0].loss.link_scale
    if scale is None:
        raise ValueError(
            f"loss={estimator.loss!r} cannot be exported: its `proba`, by which F becomes "
            "probabilities, is a function in Python. Fit with a loss without one, whose "
            "probabilities are the logistic function of F, or calibrate."
        )
    return replace(member, maps=(Logistic(scale),))
