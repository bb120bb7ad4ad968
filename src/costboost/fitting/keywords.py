"""By which keyword an estimator's ``fit`` takes what belongs to rows, inside whatever it is.

A pipeline takes ``model__costs``, a search passes ``costs`` on, and with metadata routing both take
``costs``; a sampler on the way changes the rows, and what belongs to the old ones is lost.
"""

from __future__ import annotations

from typing import Any

from sklearn import get_config
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from costboost.costs import Costs
from costboost.decisions.responses import takes

__all__ = ["changes_rows", "costs_to_fit", "fit_key"]


def fit_key(estimator: Any, name: str) -> str | None:
    """Return the keyword under which an estimator's `fit` takes a row parameter, if it does."""
    if has_fit_parameter(estimator, name):
        return name
    if get_config()["enable_metadata_routing"]:
        return name if get_routing_for_object(estimator).consumes("fit", [name]) else None
    if isinstance(estimator, Pipeline):
        step, last = estimator.steps[-1]
        key = fit_key(last, name)
        return None if key is None else f"{step}__{key}"
    inner = getattr(estimator, "estimator", None)
    if inner is not None and (takes(estimator.fit, "params") or takes(estimator.fit, "fit_params")):
        return fit_key(inner, name)
    return None


def changes_rows(estimator: Any) -> bool:
    """Whether a sampler (of imbalanced-learn) draws other rows before the model sees them."""
    if isinstance(estimator, Pipeline):
        return any(
            hasattr(step, "fit_resample") or changes_rows(step) for _, step in estimator.steps
        )
    inner = getattr(estimator, "estimator", None)
    return inner is not None and changes_rows(inner)


def costs_to_fit(estimator: Any, given: Costs, bound: Costs) -> Costs:
    """Return the costs to hand to `fit`: prices already read, which no step can transform.

    Behind a sampler the old rows are gone, but the column is still in the table: there the model
    reads it itself.
    """
    unread = given.needs_table and given.n_rows is None
    return given if unread and changes_rows(estimator) else bound
