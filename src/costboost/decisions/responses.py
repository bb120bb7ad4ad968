"""Decisions of a fitted classifier, given costs: the step that scikit-learn's scorers lose."""

from __future__ import annotations

from inspect import signature
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from costboost.costs import Costs
from costboost.inputs.arrays import encode
from costboost.typing import Floats

Decide = Literal["auto", "proba", "predict"]


def check_decide(decide: str) -> None:
    """Refuse unknown ways to decide."""
    if decide not in ("auto", "proba", "predict"):
        raise ValueError(f"decide={decide!r}: use 'auto', 'proba' or 'predict'")


def takes(method: Any, name: str) -> bool:
    """Return whether a method has a parameter of this name."""
    return callable(method) and name in signature(method).parameters


def all_classes(estimator: Any, y: NDArray[Any]) -> NDArray[Any]:
    """Return the sorted classes that the model knows or that occur in the labels."""
    known = getattr(estimator, "classes_", None)
    return np.unique(y) if known is None else np.union1d(np.asarray(known), y)


def probabilities(estimator: Any, X: Any, classes: NDArray[Any]) -> Floats:
    """Return `predict_proba` with one column for each of `classes`, zero where it knows none."""
    if not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"{type(estimator).__name__} has no predict_proba, which the cheapest decision needs: "
            "wrap it in MinimumCostClassifier, or use decide='predict' for its own decisions"
        )
    proba = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    known = np.asarray(estimator.classes_)
    if np.array_equal(known, classes):
        return proba
    wide = np.zeros((len(proba), len(classes)))
    wide[:, encode(classes, known, "classes_ of the model")] = proba
    return wide


def innermost(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the model that decides inside searches and pipelines, and X as it sees it."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif isinstance(estimator, Pipeline):
            for _, step in estimator.steps[:-1]:  # samplers draw rows in fit only
                X = step.transform(X) if hasattr(step, "transform") else X
            estimator = estimator[-1]
        else:
            return estimator, X


def decisions(
    estimator: Any, X: Any, costs: Costs, classes: NDArray[Any], decide: Decide
) -> NDArray[Any]:
    """Return the labels of the actions that a fitted model takes under these costs.

    A model whose `predict` takes costs is asked itself ("auto"): it knows whether its probabilities
    already contain those it was trained with, and refuses to count them twice.
    """
    if decide == "predict":
        return np.asarray(estimator.predict(X))
    if decide == "auto":
        model, inner = innermost(estimator, X)
        if takes(getattr(model, "predict", None), "costs"):
            given = None if costs.contain_truth else costs  # paid, but not to be decided by
            return np.asarray(model.predict(inner, costs=given))
    return costs.bind(classes, None).decide(probabilities(estimator, X, classes))
