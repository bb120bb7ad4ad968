"""What a picture is made from: scores of the positive class, and costs bound to the classes."""

from __future__ import annotations

import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline

from costboost.costs import Costs, as_costs
from costboost.decisions.responses import all_classes, probabilities
from costboost.inputs.labels import USUAL
from costboost.metrics.checks import check_labels, positive_label
from costboost.metrics.prices import bind_costs

Floats = NDArray[np.float64]
ResponseMethod = Literal["auto", "predict_proba", "decision_function"]


class Response(NamedTuple):
    """Scores of the positive class, shape (n,), and whether they are probabilities."""

    score: Floats
    probability: bool


def innermost(estimator: Any) -> Any:
    """Return the model inside searches and pipelines: the one that has a name of interest."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif isinstance(estimator, Pipeline):
            estimator = estimator[-1]
        else:
            return estimator


def model_name(estimator: Any) -> str:
    """Return what a legend calls a model that was given no name."""
    return type(innermost(estimator)).__name__


def fitted_costs(estimator: Any, *, tell: bool = True) -> Costs | None:
    """Return the costs that a model decides by when it is given none, if it has any to tell.

    With `tell` it warns where they stand in for costs per row. Actions that are not the classes
    have no threshold, so such costs are not taken over.
    """
    model = innermost(estimator)
    costs = getattr(model, "costs_", None)
    if not isinstance(costs, Costs) or not costs.is_square:
        return None
    if tell and getattr(model, "costs_per_row_", False):
        warnings.warn(
            f"{type(model).__name__} was fitted with costs per row and is drawn without costs: "
            f"their mean is used, {costs!r}. Pass costs= to draw each row's own.",
            UserWarning,
            stacklevel=4,
        )
    return costs


def two_classes(estimator: Any, y: ArrayLike) -> NDArray[Any]:
    """Return the classes of the model and the labels, of which there must be two."""
    classes = all_classes(estimator, check_labels(y, "y"))
    if len(classes) != 2:
        raise ValueError(
            f"this picture is for two classes, but the model and y have {len(classes)}: "
            f"{classes.tolist()[:10]}"
        )
    return classes


def positive_class(costs: Costs | None, pos_label: Any, classes: NDArray[Any]) -> Any:
    """Return the positive class: that of the costs or the one given, which must agree."""
    if pos_label is not None and pos_label not in classes.tolist():
        raise ValueError(f"pos_label={pos_label!r} is not one of {classes.tolist()}")
    named = None if costs is None else costs.positive
    if named is not None and pos_label is not None and named != pos_label:
        raise ValueError(
            f"pos_label={pos_label!r}, but these costs are for the positive class {named!r}: "
            "give one, or Costs(..., positive=)"
        )
    if named is None and pos_label is None:
        raise ValueError(
            f"the labels {classes.tolist()} do not tell which is positive (that is known for "
            f"{USUAL} only): say so with pos_label=, or Costs(..., positive=)"
        )
    return pos_label if named is None else named


def respond(
    estimator: Any, X: Any, classes: NDArray[Any], positive: Any, method: ResponseMethod
) -> Response:
    """Return the model's score of the positive class for every row."""
    if method not in ("auto", "predict_proba", "decision_function"):
        raise ValueError(
            f"response_method={method!r}: use 'auto', 'predict_proba' or 'decision_function'"
        )
    tried = ("predict_proba", "decision_function") if method == "auto" else (method,)
    for name in tried:
        if hasattr(estimator, name):
            return _call(estimator, X, classes, positive, name)
    raise ValueError(
        f"{type(estimator).__name__} has no {' and no '.join(tried)}, so there is nothing to draw: "
        "wrap it in MinimumCostClassifier to get probabilities"
    )


def _call(estimator: Any, X: Any, classes: NDArray[Any], positive: Any, name: str) -> Response:
    if name == "predict_proba":
        proba = probabilities(estimator, X, classes)
        return Response(proba[:, classes.tolist().index(positive)], True)
    score = np.asarray(estimator.decision_function(X), dtype=np.float64)
    if score.ndim != 1:
        raise ValueError(f"decision_function has shape {score.shape}: one score per row is needed")
    # scikit-learn's margins are those of the last class.
    last = np.asarray(estimator.classes_).tolist()[-1]
    return Response(score if last == positive else -score, False)


def _with_positive(costs: Any, pos_label: Any) -> Any:
    """Name the positive class of costs that leave it open."""
    if costs is None:
        return Costs(fp=1, fn=1, positive=pos_label)
    known = as_costs(costs)
    return known.with_positive(pos_label) if known.awaits_positive else known


def bound_costs(
    costs: Any, y_true: ArrayLike, pos_label: Any = None, labels: ArrayLike | None = None
) -> Costs:
    """Return costs of two classes bound to them, their positive class settled."""
    y = check_labels(y_true)
    if pos_label is not None:
        positive_label(y, pos_label)
        costs = _with_positive(costs, pos_label)
    bound = bind_costs(as_costs(costs), y, labels=labels, n_classes=2)
    if not bound.is_square or bound.classes is None or len(bound.classes) != 2:
        raise ValueError(
            f"this picture is for two classes that are also the decisions, but these costs are for "
            f"the classes {bound.classes} and the actions {bound.actions}"
        )
    return bound.with_positive(positive_class(bound, pos_label, bound.classes))
