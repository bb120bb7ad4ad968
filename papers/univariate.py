"""Logistic regression on the best single column: the weak learner of Nikolaou et al.

Boosting asks for some hundred thousand of them on a few tables, so a table is prepared once. Where
a column has few values, only the weights of its values and classes matter: a `Block` holds either
the distinct values of some columns, (d, V), padded by values without weight, or these columns as
they are, (d, n), and Newton's steps are the same on both.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from costboost.inputs.arrays import read_weights

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

__all__ = ["CheckedLogistic", "UnivariateLogistic"]

NEWTON_STEPS = 12
STILL = 1e-8  # steps so short are the last: the next would be about their square
RIDGE = 1e-3  # keeps slopes finite where a column separates the classes
TIE = 1e-12  # errors that differ by less are equal, and the first column answers
WORTH = 5000  # cells that a block of distinct values must save, to be made


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
        w = read_weights(sample_weight, len(X))
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"y has {len(self.classes_)} classes."
            )
        return self._learn(blocks_of(X), codes, w)

    def _learn(self, blocks: list[Block], codes: Ints, w: Floats) -> UnivariateLogistic:
        w = w / w.sum()
        lines = [fit_lines(block, codes, w) for block in blocks]
        columns, slopes, shifts, errors = (
            np.concatenate(part) for part in zip(*lines, strict=True)
        )
        equal = np.flatnonzero(errors <= errors.min() + TIE)
        best = equal[np.argmin(columns[equal])]
        self.column_ = int(columns[best])
        self.coef_, self.intercept_ = float(slopes[best]), float(shifts[best])
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the log odds of the second class."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return self._line(X)

    def _line(self, X: Floats) -> Floats:
        return np.asarray(self.coef_ * X[:, self.column_] + self.intercept_)

    def predict_proba(self, X: Any) -> Floats:
        """Return class probabilities, (n, 2)."""
        p = expit(self.decision_function(X))
        return np.column_stack([1 - p, p])[:, : len(self.classes_)]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likelier class of every row."""
        above = self.decision_function(X) > 0
        return np.asarray(self.classes_[above.astype(int) if len(self.classes_) > 1 else above * 0])


class CheckedLogistic(UnivariateLogistic):
    """The same for a loop of this library, which has checked its table: clones share its blocks.

    Labels must be 0 and 1, as they are inside a loop, and all calls of `fit` of the clones of one
    instance must be for one table.
    """

    def __init__(self) -> None:
        self._blocks: list[Block] = []

    def __sklearn_clone__(self) -> CheckedLogistic:
        other = CheckedLogistic()
        other._blocks = self._blocks
        return other

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CheckedLogistic:
        """Fit every column, and keep the one of least weighted error."""
        if not self._blocks:
            self._blocks += blocks_of(X)
        self.classes_ = np.array([0, 1])
        self._learn(self._blocks, y, sample_weight)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the log odds of class 1."""
        return self._line(X)


class Block(NamedTuple):
    """Some columns of a table.

    Attributes
    ----------
    columns : ndarray of shape (d,)
    values : ndarray of shape (d, V)
    cells : ndarray of shape (n, d), or None
        Where every row stands in `values`, flattened; None: they are the rows.
    """

    columns: Ints
    values: Floats
    cells: Ints | None

    def weigh(self, w: Floats) -> Floats:
        """Return the weight of every value, (d, V), or of every row, (1, n)."""
        if self.cells is None:
            return w[None, :]
        each = np.repeat(w, len(self.columns))
        found = np.bincount(self.cells.ravel(), each, minlength=self.values.size)
        return np.asarray(found, dtype=np.float64).reshape(self.values.shape)


def blocks_of(X: Floats) -> list[Block]:
    """Return the columns of few values as one block, and the others as another."""
    levels = [np.unique(x, return_inverse=True) for x in X.T]
    sizes = np.array([len(found) for found, _ in levels])
    order = np.argsort(sizes, kind="stable")
    saved = np.arange(1, len(order) + 1) * (len(X) - sizes[order])
    n_few = int(np.argmax(saved)) + 1 if saved.max() >= WORTH else 0
    few, many = np.sort(order[:n_few]), np.sort(order[n_few:])
    blocks = [Block(many, np.ascontiguousarray(X.T[many]), None)] if len(many) else []
    if len(few):
        values = np.zeros((len(few), sizes[few].max()))
        for i, j in enumerate(few):
            values[i, : sizes[j]] = levels[j][0]
        starts = np.arange(len(few)) * values.shape[1]
        cells = np.column_stack([levels[j][1] for j in few]) + starts
        blocks.append(Block(few, values, cells))
    return blocks


def fit_lines(block: Block, codes: Ints, w: Floats) -> tuple[Ints, Floats, Floats, Floats]:
    """Return the columns of a block, their slopes and intercepts, and the weight they get wrong."""
    x, above = block.values, block.weigh(np.where(codes == 1, w, 0.0))
    total = block.weigh(w)
    mean = (total * x).sum(axis=1, keepdims=True)
    spread = np.sqrt((total * (x - mean) ** 2).sum(axis=1, keepdims=True))
    spread[spread <= 1e-12 * np.abs(x).max(axis=1, keepdims=True, initial=0.0)] = 1.0
    scaled = (x - mean) / spread
    slope, shift = _newton(scaled, above, total)
    says = slope * scaled + shift > 0
    errors = np.where(says, total - above, above).sum(axis=1)
    slope /= spread
    return block.columns, slope[:, 0], (shift - slope * mean)[:, 0], errors


def _newton(x: Floats, above: Floats, total: Floats) -> tuple[Floats, Floats]:
    """Return slopes and intercepts, (d, 1): weights of sum 1, penalty RIDGE slope^2 / 2."""
    slope, shift = np.zeros((len(x), 1)), np.zeros((len(x), 1))
    for _ in range(NEWTON_STEPS):
        p = 1.0 / (1.0 + np.exp(-np.clip(slope * x + shift, -30, 30)))
        mass = total * p
        gap, bend = above - mass, mass - mass * p
        a, b, c = _dot(bend * x, x) + RIDGE, _dot(bend, x), bend.sum(axis=1, keepdims=True) + 1e-12
        along, across = _dot(gap, x) - RIDGE * slope, gap.sum(axis=1, keepdims=True)
        size = a * c - b * b
        # A step of at most 4, so that nearly separated columns do not overshoot.
        steps = np.clip(np.stack([c * along - b * across, a * across - b * along]) / size, -4, 4)
        slope, shift = slope + steps[0], shift + steps[1]
        if np.abs(steps).max(initial=0.0) < STILL:
            break
    return slope, shift


def _dot(left: Floats, right: Floats) -> Floats:
    """Return the products of rows, (d, 1)."""
    return np.asarray(np.einsum("ij,ij->i", left, right))[:, None]
