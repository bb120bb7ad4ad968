"""What wrappers share: tags and routing of their estimator, models of clones, costs in answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.utils import assert_all_finite, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from costboost.costs import Costs
from costboost.decisions import CostDecisionMixin
from costboost.inputs.arrays import encode, read_probabilities, source_of, without_mask
from costboost.inputs.checks import check_jobs, check_learner, check_not_empty, set_input_tags
from costboost.typing import Floats, Int64


class Constant(DummyClassifier):  # type: ignore[misc]  # scikit-learn is untyped
    """Answers the only class it has seen; refuses what the estimator in its place would."""

    def __init__(self, *, check_finite: bool = True) -> None:
        super().__init__(strategy="most_frequent")
        self.check_finite = check_finite

    def fit(self, X: Any, y: ArrayLike, sample_weight: Any = None) -> Self:
        """Remember the only class."""
        if self.check_finite:
            assert_all_finite(X)
        return super().fit(X, y)  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> Floats:
        """Return 1 for every row, (n, 1)."""
        validate_data(self, X, reset=False, skip_check_array=True)  # as many columns, same names
        if self.check_finite:
            assert_all_finite(X)
        return np.ones((_num_samples(X), 1))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class for every row."""
        return np.repeat(self.classes_, len(self.predict_proba(X)))


def fit_clone(estimator: Any, X: Any, labels: NDArray[Any], seed: int, weights: Any = None) -> Any:
    """Fit a clone; rows of a single class, which most classifiers refuse, make a constant."""
    if len(np.unique(labels)) == 1:
        return Constant(check_finite=not get_tags(estimator).input_tags.allow_nan).fit(X, labels)
    model = clone(estimator)
    seeds = [name for name in model.get_params() if name.split("__")[-1] == "random_state"]
    if seeds:
        model.set_params(**dict.fromkeys(seeds, seed))
    return model.fit(X, labels, **({} if weights is None else {"sample_weight": weights}))


def shares_of(model: Any, X: Any, classes: NDArray[Any], *, votes: bool) -> Floats:
    """Return probabilities, or votes, for all classes, also those that a model has not seen."""
    if votes:
        answers = encode(classes, model.predict(X), source_of(model, "predict"))
        return np.asarray(answers[:, None] == np.arange(len(classes)), dtype=np.float64)
    return read_probabilities(model, X, classes)


def copy_features(wrapper: Any, model: Any) -> None:
    """Take over what a model knows of its columns; forget what the last one knew."""
    for name in ("n_features_in_", "feature_names_in_"):
        vars(wrapper).pop(name, None)
        if hasattr(model, name):
            setattr(wrapper, name, getattr(model, name))


def estimator_has(name: str) -> Callable[[Any], bool]:
    """Return the question whether a wrapper's estimator has a method."""

    def check(self: Any) -> bool:
        return hasattr(self.estimator, name)

    return check


class Wrapper(
    CostDecisionMixin,
    ClassifierMixin,  # type: ignore[misc]  # scikit-learn is untyped
    MetaEstimatorMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """A classifier around another one: it takes the tables and classes that its estimator takes."""

    estimator: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        set_input_tags(tags, [self.estimator])
        inner = get_tags(self.estimator)
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags


class RoutingWrapper(Wrapper):
    """A wrapper that hands metadata on to the ``fit`` of its estimator."""

    def get_metadata_routing(self) -> MetadataRouter:
        """Return who gets which metadata: this object itself, and the estimator's ``fit``."""
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                estimator=self.estimator,
                method_mapping=MethodMapping().add(caller="fit", callee="fit"),
            )
        )


class CostTrained(Wrapper):
    """What both wrappers share: their decisions contain the costs of ``fit``."""

    n_jobs: int | None

    def _answers(self, X: Any) -> NDArray[Any]:
        raise NotImplementedError

    def _read(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, costs: Any
    ) -> tuple[Any, Int64, Floats | None, Costs]:
        """Check what ``fit`` was given; return X, class numbers, weights and bound costs."""
        check_learner("estimator", self.estimator)
        check_not_empty(X)
        check_jobs(self.n_jobs)
        (X,) = indexable(without_mask(X))
        codes, weights, bound = self._read_rows(X, y, sample_weight, costs)
        if not bound.is_square:
            raise ValueError(
                f"{type(self).__name__} trains a classifier on costs, so decisions must be the "
                "classes; for other actions use MinimumCostClassifier."
            )
        return X, codes, weights, bound

    def _decides_by_costs(self) -> bool:
        return False

    def _decision_proba(self, X: Any, costs: Any) -> Floats:
        check_is_fitted(self)
        raise ValueError(
            f"{type(self).__name__} was trained on costs, which its answers contain, so it cannot "
            "price decisions. Fit it on the new costs, or use MinimumCostClassifier, whose "
            "calibration= gives probabilities that are free of costs."
        )

    def predict(self, X: Any, costs: Any = None) -> NDArray[Any]:
        """Return the classes to answer, by the costs of ``fit``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        costs : None
            Refused: other costs need another ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        if costs is not None:
            self._decision_proba(X, costs)
        return self._answers(without_mask(X))

    def score(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, costs: Any = None
    ) -> float:
        """Return minus the mean realised cost; the given costs are paid, and do not decide."""
        return self._score_answers(X, y, sample_weight, costs)
