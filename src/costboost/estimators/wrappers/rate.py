"""Any classifier, deciding row by row so that limited actions keep to their rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from costboost.calibration import calibration_splits
from costboost.costs import Costs
from costboost.decisions import allocate
from costboost.estimators.base import all_at_once
from costboost.estimators.wrappers.base import Wrapper, copy_features, fit_clone, shares_of
from costboost.inputs.checks import check_not_empty, warn_caller
from costboost.typing import Floats, Int64

# A share of the largest cost: rows that only just gain from a limited action do without it.
_AGAINST_TIES = 1e-9


class RateClassifier(Wrapper):
    """Decide by expected cost, but take limited actions on no more than a share of the rows.

    `decide` of any classifier of this package shares out places among the rows that it is given at
    once. Here rows may come one at a time: ``fit`` finds the price at which the share of rows that
    take an action is its rate, and ``predict`` adds that price to the action's expected cost. On
    new rows the rate holds in expectation.

    Parameters
    ----------
    estimator : classifier
        With ``predict_proba``, whose probabilities should be calibrated. It is cloned.
    rates : dict or None, default=None
        The largest share of rows, in [0, 1], on which an action (or a class) is taken, such as
        ``{"review": 0.02}``; actions that are not named, and all with None, are not limited.
    costs : None, dict, array-like of shape (K, K) or Costs, default=None
        Constant costs; ``fit`` may be given others, also per row.
    cv : int, splitter or iterable, default=5
        Folds: prices are found by probabilities of rows that the model was not trained on.
    random_state : int, RandomState or None, default=None
        Shuffles the folds, and seeds the clones.

    Attributes
    ----------
    estimator_ : classifier
        Trained on all rows.
    action_prices_ : dict
        What is added to the expected cost of each limited action: what one more of the training
        rows would have saved there.
    classes_, costs_, costs_per_row_
        As in `CostDecisionMixin`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from costboost import RateClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = X / X.std(axis=0)
    >>> model = RateClassifier(LogisticRegression(max_iter=500), {0: 0.1}, random_state=0).fit(X, y)
    >>> bool(0.08 < np.mean(model.predict(X) == 0) < 0.12), model.action_prices_[0] > 0
    (True, True)
    """

    def __init__(
        self,
        estimator: Any,
        rates: Mapping[Any, float] | None = None,
        *,
        costs: Any = None,
        cv: Any = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.rates = rates
        self.costs = costs
        self.cv = cv
        self.random_state = random_state

    @all_at_once
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, costs: Any = None
    ) -> Self:
        """Train, and find the prices of limited actions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Weights for the estimator; a rate is a share of the rows, whatever their weight.
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            What decisions cost, constant or per row.

        Returns
        -------
        self
        """
        check_not_empty(X)
        (X,) = indexable(X)
        codes, weights, bound = self._read_rows(X, y, sample_weight, costs)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        taught = self._weights(weights)
        self.estimator_ = fit_clone(self.estimator, X, self.classes_[codes], seed, taught)
        copy_features(self, self.estimator_)
        self.action_prices_ = self._find_prices(X, codes, taught, bound, seed)
        return self

    def _weights(self, weights: Floats | None) -> Floats | None:
        if weights is None or has_fit_parameter(self.estimator, "sample_weight"):
            return weights
        warn_caller(f"{type(self.estimator).__name__}.fit takes no sample_weight: it gets none.")
        return None

    def _find_prices(
        self, X: Any, codes: Int64, weights: Floats | None, costs: Costs, seed: int
    ) -> dict[Any, float]:
        if not self.rates:
            return {}
        _check_rates(self.rates)
        labels, expected = self.classes_[codes], []
        for train, test in calibration_splits(codes, self.cv, random_state=seed):
            mine = None if weights is None else weights[train]
            model = fit_clone(self.estimator, _safe_indexing(X, train), labels[train], seed, mine)
            proba = shares_of(model, _safe_indexing(X, test), self.classes_, votes=False)
            expected.append(costs[test].expected(proba))
        shares = {action: float(rate) for action, rate in self.rates.items()}
        found = allocate(np.concatenate(expected), shares, actions=costs.actions)
        largest = max(float(np.max(np.abs(part))) for part in expected)
        free = found.expected_cost == found.unlimited_cost
        return {a: 0.0 if free else price + _AGAINST_TIES * largest
                for a, price in found.shadow_prices.items()}  # fmt: skip

    def predict_proba(self, X: Any) -> Floats:
        """Return the estimator's class probabilities, ``(n_samples, K)``."""
        check_is_fitted(self)
        return shares_of(self.estimator_, X, self.classes_, votes=False)

    def predict(self, X: Any, costs: Any = None) -> NDArray[Any]:
        """Return the decision of least expected cost, the prices of limited actions included.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            Prices to use instead of those of ``fit``, constant or one per row of X, in the same
            unit and for the same actions.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        proba = self.predict_proba(X)
        return self._cheapest(self._decision_costs(costs, X), proba)

    def _cheapest(self, costs: Costs, proba: Floats) -> NDArray[Any]:
        if not any(self.action_prices_.values()):
            return super()._cheapest(costs, proba)
        actions = self.classes_ if costs.is_square else np.asarray(costs.actions)
        unknown = [a for a in self.action_prices_ if a not in actions.tolist()]
        if unknown:
            raise ValueError(
                f"This model limits {unknown[0]!r}, but these costs have the actions "
                f"{actions.tolist()}. Give costs for the same actions, or fit on these."
            )
        added = [self.action_prices_.get(action, 0.0) for action in actions.tolist()]
        return np.asarray(actions[np.argmin(costs.expected(proba) + added, axis=1)])


def _check_rates(rates: Mapping[Any, float]) -> None:
    for action, rate in rates.items():
        number = isinstance(rate, int | float | np.integer | np.floating)
        if isinstance(rate, bool) or not number or not 0 <= rate <= 1:
            raise ValueError(f"rates[{action!r}]={rate!r}: give a share of the rows in [0, 1].")
