"""Logistic regression on the best single column: the weak learner of Nikolaou et al."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

Floats = NDArray[np.float64]

__all__ = ["UnivariateLogistic"]

NEWTON_STEPS = 12
RIDGE = 1e-3  # keeps slopes finite where a column separates the classes


class UnivariateLogistic(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Logistic regression on each column by itself, of which the least wrong one answers.

    All columns are fitted at once, by the same few Newton steps on standardised values.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    column_ : int
    coef_, intercept_ : float
        Of the column, as it is.
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = UnivariateLogistic().fit(X, y)
    >>> model.column_, round(model.score(X, y), 2)
    (22, 0.92)
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> UnivariateLogistic:
        """Fit every column, and keep the one of least weighted error.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), default=None
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        w = np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"y has {len(self.classes_)} classes."
            )
        w = w / w.sum()
        mean = w @ X
        spread = np.sqrt(w @ (X - mean) ** 2)
        spread[spread <= 1e-12 * np.abs(X).max(axis=0, initial=0.0)] = 1.0
        scaled = (X - mean) / np.where(spread > 0, spread, 1.0)
        slope, shift = _newton(scaled, codes.astype(float), w)
        wrong = ((slope * scaled + shift > 0) != (codes == 1)[:, None]).astype(float)
        self.column_ = int(np.argmin(w @ wrong))
        self.coef_ = float(slope[self.column_] / spread[self.column_])
        self.intercept_ = float(shift[self.column_] - self.coef_ * mean[self.column_])
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the log odds of the second class."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray(self.coef_ * X[:, self.column_] + self.intercept_)

    def predict_proba(self, X: Any) -> Floats:
        """Return class probabilities, (n, 2)."""
        p = expit(self.decision_function(X))
        return np.column_stack([1 - p, p])[:, : len(self.classes_)]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likelier class of every row."""
        above = self.decision_function(X) > 0
        return np.asarray(self.classes_[above.astype(int) if len(self.classes_) > 1 else above * 0])


def _newton(X: Floats, y: Floats, w: Floats) -> tuple[Floats, Floats]:
    """Return slopes and intercepts of all columns: weights of sum 1, penalty RIDGE slope^2 / 2."""
    slope, shift = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for _ in range(NEWTON_STEPS):
        p = expit(np.clip(slope * X + shift, -30, 30))
        gap = w[:, None] * (y[:, None] - p)
        bend = w[:, None] * p * (1 - p) + 1e-12
        a, b, c = (bend * X**2).sum(axis=0) + RIDGE, (bend * X).sum(axis=0), bend.sum(axis=0)
        along, across = (gap * X).sum(axis=0) - RIDGE * slope, gap.sum(axis=0)
        size = a * c - b * b
        # A step of at most 4, so that nearly separated columns do not overshoot.
        slope = slope + np.clip((c * along - b * across) / size, -4, 4)
        shift = shift + np.clip((a * across - b * along) / size, -4, 4)
    return slope, shift
