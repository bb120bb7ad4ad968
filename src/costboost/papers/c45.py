"""A classifier after Quinlan's C4.5, the weak learner of two of the papers (one by Weka's J48)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from costboost.inputs.arrays import read_weights
from costboost.papers import c45_trees
from costboost.papers.c45_splits import Table

Floats = NDArray[np.float64]

__all__ = ["C45Classifier"]


class C45Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A tree by gain ratio, pruned by pessimistic errors, with missing values by fractions.

    Numeric columns are cut in two, categorical ones give a branch for each category. Rows with a
    missing value go down every branch with a share of their weight, in training and in prediction.
    Written from Quinlan's descriptions, with release 8's price of a threshold; without its
    grouping of categories and its windows, which are off by default there too.

    Parameters
    ----------
    confidence : float or None, default=0.25
        Of the pessimistic pruning, by a leaf or by the largest branch; None: no pruning.
    min_objects : float, default=2.0
        The least weight in two branches of a test, where the mean weight of a row is 1.
    categorical_features : array-like of bool of shape (n_features,) or None, default=None
        Columns of codes 0, 1, 2 ... (as `Dataset.to_numpy` makes them), NaN where missing.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    tree_ : costboost.papers.c45_trees.Node
    n_features_in_ : int

    References
    ----------
    Quinlan 1993, "C4.5: Programs for machine learning".

    Examples
    --------
    The tree that Weka's J48 is known for has five leaves on the iris data.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = C45Classifier().fit(X, y)
    >>> [int(leaf.counts.sum()) for leaf in model.tree_.leaves()]
    [50, 48, 3, 3, 46]
    """

    def __init__(
        self,
        *,
        confidence: float | None = 0.25,
        min_objects: float = 2.0,
        categorical_features: Any = None,
    ) -> None:
        self.confidence = confidence
        self.min_objects = min_objects
        self.categorical_features = categorical_features

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> C45Classifier:
        """Grow a tree, and prune it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Fractional counts; scaled to a mean of 1, as Quinlan (1996) does in boosting.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(y)
        w = read_weights(sample_weight, len(X))
        if self.confidence is not None and not 0 < self.confidence <= 1:
            raise ValueError(f"confidence={self.confidence!r}: give a number in (0, 1], or None.")
        self.classes_, codes = np.unique(y, return_inverse=True)
        table = self._table(np.asarray(X), codes)
        rows = np.flatnonzero(w > 0)
        w = w[rows] * (len(rows) / w[rows].sum())
        self.tree_ = c45_trees.grow(table, rows, w, self.min_objects)
        if self.confidence is not None:
            c45_trees.prune(self.tree_, table, rows, w, self.confidence)
        return self

    def _table(self, X: Floats, codes: NDArray[np.int64]) -> Table:
        given = self.categorical_features
        mask = np.zeros(X.shape[1], dtype=bool) if given is None else np.asarray(given, dtype=bool)
        if mask.shape != (X.shape[1],):
            raise ValueError(
                f"categorical_features has shape {mask.shape}: give one True or False for each of "
                f"the {X.shape[1]} columns."
            )
        values = X[:, mask]
        values = values[~np.isnan(values)]
        if (values < 0).any() or (values != np.floor(values)).any():
            raise ValueError("Columns of categories must hold codes 0, 1, 2 ... or NaN.")
        return Table.read(X, codes.astype(np.int64), mask)

    def predict_proba(self, X: Any) -> Floats:
        """Return the class shares of the leaves that each row reaches, (n, K)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        out = np.zeros((len(X), len(self.classes_)))
        c45_trees.spread(self.tree_, X, np.arange(len(X)), np.ones(len(X)), out)
        return np.asarray(out / out.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest class of every row."""
        proba = self.predict_proba(X)
        return np.asarray(self.classes_[proba.argmax(axis=1)])
