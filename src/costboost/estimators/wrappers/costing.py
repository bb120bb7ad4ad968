"""Costing: samples in which costly rows are frequent."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from costboost.estimators.base import all_at_once
from costboost.estimators.wrappers.base import CostTrained, copy_features, fit_clone, shares_of
from costboost.inputs.arrays import without_mask
from costboost.inputs.checks import check_number, read_random_state
from costboost.typing import Floats, Mask


def rejection_sample(
    weights: ArrayLike, random_state: Any = None, *, ceiling: float | None = None
) -> Mask:
    """Accept each row with probability weight / ceiling, independently.

    What is accepted is distributed as the rows are, times their weight (Zadrozny, Langford and
    Abe 2003): the error on it is in expectation the weighted error. Sampling with replacement
    would repeat rows, which a learner takes for evidence.

    Parameters
    ----------
    weights : array-like of shape (n_samples,)
        Not negative.
    random_state : int, RandomState or None
    ceiling : float, default=None
        At least the largest weight, which is the default.

    Returns
    -------
    bool array of shape (n_samples,)

    Examples
    --------
    >>> rejection_sample([3, 0, 3], random_state=0).tolist()
    [True, False, True]
    """
    given = np.asarray(weights, dtype=np.float64)
    largest = float(np.max(given, initial=0.0))
    top = largest if ceiling is None else float(ceiling)
    if not top >= largest:
        raise ValueError(
            f"ceiling={ceiling!r} is below the largest weight, {largest:g}: rows above it would "
            "be drawn too rarely. Give a larger one, or None."
        )
    share = given / top if top > 0.0 else np.zeros_like(given)
    return np.asarray(read_random_state(random_state).random_sample(len(given)) < share)


class CostingClassifier(CostTrained):
    """Cost-proportionate rejection sampling and averaging, around any classifier.

    Each model learns from rows accepted with probability proportional to what getting them wrong
    costs (Zadrozny, Langford and Abe 2003). The learner needs no weights, and a sample is much
    smaller than the table where costs differ.

    Parameters
    ----------
    estimator : classifier
    n_estimators : int, default=10
        The number of samples, and of models. If all rows cost the same, all are accepted, and
        the models differ only as far as the estimator is random.
    costs : None, dict, array-like of shape (K, K) or Costs, default=None
        Constant costs, or by column; ``fit`` may override them, and take costs per row. With
        more than two classes a row weighs the mean cost of its wrong answers.
    n_jobs : int or None, default=None
        Models trained at once.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    costs_ : Costs
    estimators_ : list of fitted classifiers
    acceptance_ : float
        The share of rows that a sample accepts in expectation: mean weight / largest weight.
    n_features_in_, feature_names_in_ : where the estimator has them

    Notes
    -----
    ``sample_weight`` multiplies the price of a row. Rows aim at their cheapest answer, which need
    not be the true class.

    References
    ----------
    Zadrozny, Langford and Abe 2003, "Cost-sensitive learning by cost-proportionate example
    weighting".

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from costboost import Costs
    >>> from costboost import CostingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    >>> model = CostingClassifier(tree, random_state=0).fit(X, y, costs=Costs(fp=20, fn=1))
    >>> bool(model.predict(X).sum() < tree.fit(X, y).predict(X).sum())
    True
    """

    def __init__(
        self,
        estimator: Any,
        n_estimators: int = 10,
        *,
        costs: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.costs = costs
        self.n_jobs = n_jobs
        self.random_state = random_state

    @all_at_once
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, costs: Any = None
    ) -> Self:
        """Draw samples and train a model on each.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            What each mistake costs, constant, by column or per row; overrides the constructor's.

        Returns
        -------
        self
        """
        check_number("n_estimators", self.n_estimators, low=1, whole=True)
        X, codes, weights, bound = self._read(X, y, sample_weight, costs)
        aims = bound.cheapest_labels(codes, encoded=True)
        prices = bound.of_errors(codes, target=aims, encoded=True)
        if not prices.any():  # no answer costs more than another: all rows are alike
            prices = np.ones_like(prices)
        prices = prices / prices.max()
        if weights is not None:  # both within [0, 1]: their product cannot overflow
            prices = prices * (weights / weights.max())
        self.acceptance_ = float(np.mean(prices / prices.max()))
        rng = read_random_state(self.random_state)
        jobs = [
            (np.flatnonzero(rejection_sample(prices, rng)), int(rng.randint(2**31 - 1)))
            for _ in range(self.n_estimators)
        ]
        labels = self.classes_[aims]
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(fit_clone)(self.estimator, _safe_indexing(X, rows), labels[rows], seed)
            for rows, seed in jobs
        )
        copy_features(self, self.estimators_[0])
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Return the mean of the models' probabilities, or their shares of votes, (n, K).

        They contain the costs: they are the probabilities of the samples, not of the table.
        """
        check_is_fitted(self)
        votes = not hasattr(self.estimator, "predict_proba")
        X = without_mask(X)
        parts = [shares_of(model, X, self.classes_, votes=votes) for model in self.estimators_]
        return np.asarray(np.mean(parts, axis=0))

    def _answers(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.classes_[np.argmax(self.predict_proba(X), axis=1)])
