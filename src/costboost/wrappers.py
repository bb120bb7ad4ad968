"""Costs around any classifier that knows nothing of them: by sampling, or by relabelling.

Both change the training rows and leave the learner alone: costing draws samples in which dear rows
are frequent, MetaCost gives every row the label that is cheapest to answer. So what they learn
contains the costs, and new prices need a new ``fit``; `costboost.MinimumCostClassifier` is the
wrapper whose prices may change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.utils import (
    _safe_indexing,
    assert_all_finite,
    check_random_state,
    get_tags,
    indexable,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, check_is_fitted, has_fit_parameter

from costboost._inputs import check_choice, check_labels, check_number
from costboost._validation import read_weights
from costboost.costs import Costs, as_costs
from costboost.decisions import CostDecisionMixin

__all__ = ["CostingClassifier", "MetaCostClassifier", "rejection_sample"]

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
Mask = NDArray[np.bool_]


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
    return np.asarray(check_random_state(random_state).random_sample(len(given)) < share)


class _Constant(DummyClassifier):  # type: ignore[misc]  # scikit-learn is untyped
    """Answers the only class it has seen; refuses what the estimator in its place would."""

    def __init__(self, *, check_finite: bool = True) -> None:
        super().__init__(strategy="most_frequent")
        self.check_finite = check_finite

    def fit(self, X: Any, y: ArrayLike, sample_weight: Any = None) -> Self:
        if self.check_finite:
            assert_all_finite(X)
        return super().fit(X, y)  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> Floats:
        if self.check_finite:
            assert_all_finite(X)
        return np.ones((_num_samples(X), 1))

    def predict(self, X: Any) -> NDArray[Any]:
        return np.repeat(self.classes_, len(self.predict_proba(X)))


def _fit_clone(estimator: Any, X: Any, labels: NDArray[Any], seed: int, weights: Any = None) -> Any:
    """Fit a clone; rows of a single class, which most classifiers refuse, make a constant."""
    if len(np.unique(labels)) == 1:
        return _Constant(check_finite=not get_tags(estimator).input_tags.allow_nan).fit(X, labels)
    model = clone(estimator)
    seeds = [name for name in model.get_params() if name.split("__")[-1] == "random_state"]
    if seeds:
        model.set_params(**dict.fromkeys(seeds, seed))
    return model.fit(X, labels, **({} if weights is None else {"sample_weight": weights}))


def _shares(model: Any, X: Any, classes: NDArray[Any], *, votes: bool) -> Floats:
    """Return probabilities, or votes, for all classes, also those that a model has not seen."""
    if votes:
        answers = np.searchsorted(classes, model.predict(X))
        return np.asarray(answers[:, None] == np.arange(len(classes)), dtype=np.float64)
    shares = np.zeros((_num_samples(X), len(classes)))
    shares[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(X)
    return shares


def _estimator_has(name: str) -> Callable[[Any], bool]:
    def check(self: Any) -> bool:
        return hasattr(self.estimator, name)

    return check


class _CostTrained(
    CostDecisionMixin,
    ClassifierMixin,  # type: ignore[misc]  # scikit-learn is untyped
    MetaEstimatorMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """What both wrappers share: their decisions contain the costs of ``fit``."""

    estimator: Any

    def _answers(self, X: Any) -> NDArray[Any]:
        raise NotImplementedError

    def _read(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, costs: Any
    ) -> tuple[Any, Int64, Floats | None, Costs]:
        """Check what ``fit`` was given; return X, class numbers, weights and bound costs."""
        (X,) = indexable(X)
        if _num_samples(X) == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        self.classes_, codes = check_labels(X, y)
        weights = None if sample_weight is None else read_weights(sample_weight, len(codes))
        bound = self._set_costs(costs, self.classes_[codes], weights)
        if not bound.is_square:
            raise ValueError(
                f"{type(self).__name__} trains a classifier on costs, so decisions must be the "
                "classes; for other actions use MinimumCostClassifier."
            )
        return X, codes, weights, bound

    def _copy_features(self, model: Any) -> None:
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))

    def _decision_proba(self, X: Any, costs: Any) -> Floats:
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
        return self._answers(X)

    def score(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, costs: Any = None
    ) -> float:
        """Return minus the mean realised cost; the given costs are paid, and do not decide."""
        decided = self.predict(X)
        paid_by = self.costs_ if costs is None else as_costs(costs, self.classes_, len(decided))
        paid = paid_by.of_decisions(np.asarray(y), decided)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return -float(np.average(paid, weights=weights))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        for name in ("sparse", "allow_nan", "categorical", "string"):
            setattr(tags.input_tags, name, getattr(inner.input_tags, name))
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags


class CostingClassifier(_CostTrained):
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
        Constant costs; ``fit`` may override them, and takes costs per row. With more than two
        classes a row weighs the mean cost of its wrong answers.
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
    >>> from costboost.costs import Costs
    >>> from costboost.wrappers import CostingClassifier
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
            What each mistake costs, constant or per row; overrides the constructor's.

        Returns
        -------
        self
        """
        check_number("n_estimators", self.n_estimators, low=1, whole=True)
        X, codes, weights, bound = self._read(X, y, sample_weight, costs)
        aims = bound.cheapest_labels(codes, encoded=True)
        prices = bound.of_errors(codes, target=aims, encoded=True)
        if not prices.any():  # no answer is dearer than another: all rows are alike
            prices = np.ones_like(prices)
        prices = prices if weights is None else prices * weights
        self.acceptance_ = float(np.mean(prices / prices.max()))
        rng = check_random_state(self.random_state)
        jobs = [
            (np.flatnonzero(rejection_sample(prices, rng)), int(rng.randint(2**31 - 1)))
            for _ in range(self.n_estimators)
        ]
        labels = self.classes_[aims]
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_clone)(self.estimator, _safe_indexing(X, rows), labels[rows], seed)
            for rows, seed in jobs
        )
        self._copy_features(self.estimators_[0])
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Return the mean of the models' probabilities, or their shares of votes, (n, K).

        They contain the costs: they are the probabilities of the samples, not of the table.
        """
        check_is_fitted(self)
        votes = not hasattr(self.estimator, "predict_proba")
        parts = [_shares(model, X, self.classes_, votes=votes) for model in self.estimators_]
        return np.asarray(np.mean(parts, axis=0))

    def _answers(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.classes_[np.argmax(self.predict_proba(X), axis=1)])


class MetaCostClassifier(_CostTrained):
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
        Constant costs; ``fit`` may override them, and takes costs per row.
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
    >>> from costboost.wrappers import MetaCostClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> C = [[0, 1, 1], [1, 0, 1], [100, 100, 0]]  # missing the last class is dear
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
            What each mistake costs, constant or per row; overrides the constructor's.

        Returns
        -------
        self
        """
        check_number("n_estimators", self.n_estimators, low=1, whole=True)
        check_number("max_samples", self.max_samples, low=0.0, high=1.0, open_low=True)
        check_choice("votes", self.votes, ("auto", True, False))
        X, codes, weights, bound = self._read(X, y, sample_weight, costs)
        rng = check_random_state(self.random_state)
        labels = self.classes_[codes]
        proba = self._bagged_proba(X, labels, weights, rng)
        relabelled = self.classes_[bound.decide(proba, encoded=True)]
        self.estimator_ = self._fit_last(X, relabelled, weights, rng)
        self.labels_ = relabelled
        self._copy_features(self.estimator_)
        return self

    def _fit_last(
        self, X: Any, labels: NDArray[Any], weights: Floats | None, rng: np.random.RandomState
    ) -> Any:
        seed = int(rng.randint(2**31 - 1))
        chances = self._chances(weights)
        if chances is None:
            return _fit_clone(self.estimator, X, labels, seed, weights)
        rows = rng.choice(len(labels), size=len(labels), p=chances)
        return _fit_clone(self.estimator, _safe_indexing(X, rows), labels[rows], seed)

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

    @available_if(_estimator_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the new labels, (n_samples, K); they contain the costs."""
        check_is_fitted(self)
        return _shares(self.estimator_, X, self.classes_, votes=False)


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
    model = _fit_clone(estimator, _safe_indexing(X, rows), labels[rows], seed, mine)
    return _shares(model, X, classes, votes=votes)
