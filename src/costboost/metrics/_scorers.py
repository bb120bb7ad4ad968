"""Scorers that do not lose costs.

scikit-learn's own scorers call `predict` without costs, and with metadata routing off nothing but
`fit` receives them. This one takes costs itself, decides inside, and refuses to score without any.

It is no subclass of scikit-learn's scorers, which are private, but has what its threshold tuning
takes from a scorer: a function of labels and decisions.
"""

from __future__ import annotations

import sys
from typing import Any, ClassVar, Literal

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED

from costboost.costs import Costs, as_costs
from costboost.decisions.responses import Decide, all_classes, check_decide, decisions
from costboost.metrics.prices import (
    cheapest_constant_of,
    check_labels,
    check_weights,
    normalized_of,
    realise,
    savings_of,
    total_of,
    weighted_mean,
)
from costboost.typing import Floats

Kind = Literal["mean", "total", "normalized", "regret", "savings"]
KINDS = ("mean", "total", "normalized", "regret", "savings")


def measure(kind: str, paid: Floats, prices: Floats, sample_weight: ArrayLike | None) -> float:
    """Return one measure of the costs paid."""
    weight = check_weights(sample_weight, len(paid))
    if kind == "mean":
        return weighted_mean(paid, weight)
    if kind == "total":
        return total_of(paid, sample_weight)
    if kind == "normalized":
        return normalized_of(paid, prices, weight)
    if kind == "regret":
        return weighted_mean(paid - prices.min(axis=1), weight)
    return savings_of(paid, cheapest_constant_of(prices, weight), weight)


# Searches and cross-validation turn exceptions of a scorer into nan, but raise a ValueError that
# quotes whatever it returns that is no number.
_SWALLOWERS = ("sklearn.model_selection._validation", "sklearn.metrics._scorer")


# Monitors of scikit-learn 1.9 take a number only from scorers of their own, and else a dictionary.
_MONITORS = ("sklearn.callback._scoring_monitor",)


class _NoCostsError(ValueError):
    """A scorer without the costs of the rows to score."""


class _NoScore:
    """Returned instead of a score where the caller would swallow the error: holds its message."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __str__(self) -> str:
        return f"none: {self.reason}"


class CostScorer(BaseEstimator):  # type: ignore[misc]
    """Scorer made by :func:`make_cost_scorer`: called as ``scorer(estimator, X, y, costs=...)``.

    Parameters
    ----------
    costs : Costs, dict, array-like or None, default=None
        Costs to use when none arrive with the rows: constant, or by column of X.
    kind : {"mean", "total", "normalized", "regret", "savings"}, default="mean"
        The measure.
    decide : {"auto", "proba", "predict"}, default="auto"
        How the model decides.

    Examples
    --------
    >>> from costboost.metrics import make_cost_scorer
    >>> type(make_cost_scorer(kind="savings")).__name__
    'CostScorer'
    """

    # Costs travel with the rows unless set otherwise; the other names are not metadata.
    __metadata_request__score: ClassVar[dict[str, Any]] = {
        "costs": True,
        "estimator": UNUSED,
        "y_true": UNUSED,
    }

    # What TunedThresholdClassifierCV asks of a scorer, beside `_score_func`.
    _sign: ClassVar[int] = 1
    _kwargs: ClassVar[dict[str, Any]] = {}
    _response_method: ClassVar[str] = "predict"

    def __init__(self, costs: Any = None, *, kind: Kind = "mean", decide: Decide = "auto") -> None:
        self.costs = costs
        self.kind = kind
        self.decide = decide

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y_true: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        costs: Any = None,
    ) -> float:
        """Return the score of a fitted model; the same as :meth:`score`."""
        caller = sys._getframe(1).f_globals.get("__name__")
        try:
            value = self.score(estimator, X, y_true, sample_weight=sample_weight, costs=costs)
        except _NoCostsError as error:
            if caller not in _SWALLOWERS:
                raise
            return _NoScore(str(error))  # type: ignore[return-value]
        return {"score": value} if caller in _MONITORS else value  # type: ignore[return-value]

    def score(
        self,
        estimator: Any,
        X: Any,
        y_true: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        costs: Any = None,
    ) -> float:
        """Return the score of a fitted model on these rows; higher is better.

        Parameters
        ----------
        estimator : classifier
            A fitted model.
        X : array-like of shape (n_samples, n_features)
            Rows.
        y_true : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.
        costs : Costs, dict, array-like or None, default=None
            The costs of these rows; None: those of the constructor.

        Returns
        -------
        score : float
            Savings, or minus the cost.
        """
        y = check_labels(y_true)
        used = self._costs_of(len(y), costs).bind_table(X)
        classes = all_classes(estimator, y) if used.classes is None else used.classes
        decided = decisions(estimator, X, used, classes, self.decide)
        return self._value(y, decided, used, classes, sample_weight)

    def _score_func(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        costs: Any = None,
    ) -> float:
        """Return the score of decisions that were taken already, as threshold tuning does."""
        y = check_labels(y_true)
        return self._value(y, y_pred, self._costs_of(len(y), costs), None, sample_weight)

    def _value(
        self, y: ArrayLike, decided: ArrayLike, costs: Costs, classes: Any, sample_weight: Any
    ) -> float:
        found = realise(y, decided, costs=costs, classes=classes)
        value = measure(self.kind, found.paid[0], found.prices, sample_weight)
        return value if self.kind == "savings" else -value

    def _costs_of(self, n_samples: int, costs: Any) -> Costs:
        given = self.costs if costs is None else costs
        if given is None:
            raise _NoCostsError(
                "no costs reached this scorer. With metadata routing off, scikit-learn hands costs "
                "to fit only: use costboost.metrics.cross_validate_cost, or turn routing on "
                "(sklearn.set_config(enable_metadata_routing=True)) and pass params={'costs': "
                "costs}, or give constants, make_cost_scorer(costs={'fp': 1, 'fn': 10})"
            )
        used = as_costs(given)
        if used.n_rows not in (None, n_samples):
            raise _NoCostsError(
                f"the scorer holds costs for {len(used)} rows, but is asked about {n_samples}: it "
                "cannot know which. Costs per row must be cut together with the rows: use "
                "costboost.metrics.cross_validate_cost, or make_cost_scorer() without costs and "
                "metadata routing, or name the column of X that holds them, Costs(fn='amount', ...)"
            )
        return used

    def _accept_sample_weight(self) -> bool:
        return True  # asked by scikit-learn's searches when routing is off

    def __sklearn_is_fitted__(self) -> bool:
        return True


def make_cost_scorer(
    costs: Any = None, *, kind: Kind = "mean", decide: Decide = "auto"
) -> CostScorer:
    """Return a scorer for scikit-learn that keeps costs: ``scoring=make_cost_scorer()``.

    It requests `costs` by default, so that with metadata routing on
    (``sklearn.set_config(enable_metadata_routing=True)``) each fold is scored with the costs of its
    own rows: ``cross_validate(model, X, y, params={"costs": costs}, scoring=make_cost_scorer())``
    or ``GridSearchCV(..., scoring=make_cost_scorer()).fit(X, y, costs=costs)``. With routing off,
    constants and costs by column of X, in the constructor, work everywhere; costs per row need
    :func:`cross_validate_cost`. A scorer that is left without costs, or with costs for other rows,
    raises an error rather than score something else.

    Parameters
    ----------
    costs : Costs, dict, array-like of shape (K, K) or None, default=None
        Costs to use when none arrive with the rows: constant, or by column of X, which each fold
        then reads from its own rows.
    kind : {"mean", "total", "normalized", "regret", "savings"}, default="mean"
        The measure. Higher is better: all but "savings" are negated.
    decide : {"auto", "proba", "predict"}, default="auto"
        How the model decides: "proba" takes the cheapest decision given `predict_proba`; "predict"
        the model's own, cost-blind decisions or those of a method trained on costs; "auto" asks a
        model whose `predict` takes costs, and otherwise is "proba".

    Returns
    -------
    scorer : CostScorer
        Called as ``scorer(estimator, X, y, sample_weight=None, costs=None)``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from costboost.metrics import make_cost_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = GaussianNB().fit(X[::2], y[::2])
    >>> scorer = make_cost_scorer({"fp": 2, "fn": 1}, kind="savings")
    >>> bool(0.5 < scorer(model, X[1::2], y[1::2]) < 1)
    True

    ``predict`` of a search takes no costs, and nothing outside scikit-learn can change that. Two
    ways to decide by prices of the rows at hand after a search: ask the model that it found, or
    put the search inside.

    >>> from sklearn.model_selection import GridSearchCV
    >>> from costboost import CostBoostClassifier, Costs, MinimumCostClassifier
    >>> prices = Costs(fp=X[:, 3], fn=50)
    >>> search = GridSearchCV(
    ...     CostBoostClassifier("adamec", 20), {"max_depth": [1, 2]}, scoring=scorer, cv=2
    ... )
    >>> search.fit(X, y).best_estimator_.predict(X, costs=prices).shape
    (569,)
    >>> search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-6]}, cv=2)
    >>> MinimumCostClassifier(search).fit(X, y).predict(X, costs=prices).shape
    (569,)
    """
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r}: use one of {', '.join(KINDS)}")
    check_decide(decide)
    if costs is not None:
        as_costs(costs)
    return CostScorer(costs, kind=kind, decide=decide)
