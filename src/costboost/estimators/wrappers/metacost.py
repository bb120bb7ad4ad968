"""MetaCost: every row with its cheapest label."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from costboost.estimators.base import all_at_once
from costboost.estimators.wrappers.base import (
    CostTrained,
    copy_features,
    estimator_has,
    fit_clone,
    shares_of,
)
from costboost.inputs.arrays import without_mask
from costboost.inputs.checks import check_choice, check_number, of_one_fit, read_random_state
from costboost.typing import Floats, Int64


class MetaCostClassifier(CostTrained):
    """Relabel every row with its cheapest answer, then train once, around any classifier.

    Bagged models estimate P(j|x); every training row gets the label of least expected cost; one
    model of the estimator's own kind learns the new labels (Domingos 1999).

    Parameters
    ----------
    estimator : classifier
    n_estimators : int, default=50
        The number of bootstrap samples (Domingos' m).
    max_samples : float, default=1.0
        The size of each sample, as a share of the rows (his n).
    votes : "auto" or bool, default="auto"
        Whether models vote for a class rather than give probabilities (his p, turned round).
        "auto" votes where the estimator has no ``predict_proba``.
    out_of_bag : bool, default=False
        Ask only the models that did not train on a row about it (his q, turned round). Rows that
        all of them trained on are asked about everywhere.
    costs : None, dict, array-like of shape (K, K) or Costs, default=None
        Constant costs, or by column; ``fit`` may override them, and take costs per row.
    n_jobs : int or None, default=None
        Models trained at once.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    costs_ : Costs
    estimator_ : fitted classifier
    labels_ : ndarray of shape (n_samples,)
        The cheapest label of each training row.
    n_features_in_, feature_names_in_ : where the estimator has them

    Notes
    -----
    ``sample_weight`` goes to the estimator if it takes weights, and else into the probability of
    being drawn; an estimator without weights then learns the new labels from a last such sample.

    References
    ----------
    Domingos 1999, "MetaCost: a general method for making classifiers cost-sensitive".

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from costboost import MetaCostClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> C = [[0, 1, 1], [1, 0, 1], [100, 100, 0]]  # missing the last class is costly
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    >>> model = MetaCostClassifier(tree, 10, random_state=0).fit(X, y, costs=C)
    >>> bool(np.sum(model.predict(X) == 2) > np.sum(y == 2))
    True
    """

    def __init__(
        self,
        estimator: Any,
        n_estimators: int = 50,
        *,
        max_samples: float = 1.0,
        votes: bool | str = "auto",
        out_of_bag: bool = False,
        costs: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.votes = votes
        self.out_of_bag = out_of_bag
        self.costs = costs
        self.n_jobs = n_jobs
        self.random_state = random_state

    @all_at_once
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, costs: Any = None
    ) -> Self:
        """Bag, relabel, train.

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
        check_number("max_samples", self.max_samples, low=0.0, high=1.0, open_low=True)
        check_choice("votes", self.votes, ("auto", True, False))
        X, codes, weights, bound = self._read(X, y, sample_weight, costs)
        rng = read_random_state(self.random_state)
        labels = self.classes_[codes]
        proba = self._bagged_proba(X, labels, weights, rng)
        relabelled = self.classes_[bound.decide(proba, encoded=True)]
        self.estimator_ = self._fit_last(X, relabelled, weights, rng)
        self.labels_ = relabelled
        copy_features(self, self.estimator_)
        return self

    def _fit_last(
        self, X: Any, labels: NDArray[Any], weights: Floats | None, rng: np.random.RandomState
    ) -> Any:
        seed = int(rng.randint(2**31 - 1))
        chances = self._chances(weights)
        if chances is None:
            return fit_clone(self.estimator, X, labels, seed, weights)
        rows = rng.choice(len(labels), size=len(labels), p=chances)
        return fit_clone(self.estimator, _safe_indexing(X, rows), labels[rows], seed)

    def _takes_weights(self) -> bool:
        return bool(has_fit_parameter(self.estimator, "sample_weight"))

    def _bagged_proba(
        self, X: Any, labels: NDArray[Any], weights: Floats | None, rng: np.random.RandomState
    ) -> Floats:
        """Return P(j|x) of the training rows, (n, K): the mean over bagged models."""
        n_rows = len(labels)
        size = max(1, round(self.max_samples * n_rows))
        votes = self.votes
        if votes == "auto":
            votes = not hasattr(self.estimator, "predict_proba")
        passed = weights if self._takes_weights() else None
        jobs = []
        for _ in range(self.n_estimators):
            rows = np.asarray(rng.choice(n_rows, size=size, p=self._chances(weights)))
            jobs.append((rows, int(rng.randint(2**31 - 1))))
        parts = Parallel(n_jobs=self.n_jobs)(
            delayed(_bag)(self.estimator, X, labels, passed, self.classes_, rows, seed, votes)
            for rows, seed in jobs
        )
        shares = np.array(parts)
        asked = np.ones((len(jobs), n_rows))
        if self.out_of_bag:
            for t, (rows, _) in enumerate(jobs):
                asked[t, rows] = 0.0
            asked[:, ~asked.any(axis=0)] = 1.0
        return np.asarray(np.einsum("tn,tnk->nk", asked / asked.sum(axis=0), shares))

    def _chances(self, weights: Floats | None) -> Floats | None:
        """Return how likely each row is drawn: alike, unless only so weights can count."""
        if weights is None or self._takes_weights():
            return None
        return np.asarray(weights / weights.sum())

    def _answers(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.estimator_.predict(X), dtype=self.classes_.dtype)

    @available_if(estimator_has("predict_proba"))  # type: ignore[untyped-decorator]
    @of_one_fit
    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the new labels, (n_samples, K); they contain the costs."""
        check_is_fitted(self)
        return shares_of(self.estimator_, without_mask(X), self.classes_, votes=False)


def _bag(
    estimator: Any,
    X: Any,
    labels: NDArray[Any],
    weights: Floats | None,
    classes: NDArray[Any],
    rows: Int64,
    seed: int,
    votes: bool,
) -> Floats:
    """Train on some rows; return what the model says of all of them."""
    mine = None if weights is None else weights[rows]
    model = fit_clone(estimator, _safe_indexing(X, rows), labels[rows], seed, mine)
    return shares_of(model, X, classes, votes=votes)
