"""Any classifier, deciding row by row so that rates differ little between groups."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.validation import check_is_fitted

from costboost.calibration import calibration_splits
from costboost.costs import Costs
from costboost.decisions import Parity
from costboost.decisions.parity import (
    FEW_ROWS,
    group_labels,
    read_problem,
    target_and_weights,
)
from costboost.estimators.base import all_at_once
from costboost.estimators.wrappers.base import Wrapper, copy_features, fit_clone, shares_of
from costboost.inputs.arrays import mean_paid
from costboost.inputs.checks import check_not_empty, warn_caller
from costboost.text import listed
from costboost.typing import Floats, Int64


class ParityClassifier(Wrapper):
    """Decide by expected cost, at prices by group that keep rates alike.

    ``decide(..., parity=...)`` of any classifier of this package needs all rows at once. Here rows
    may come one at a time: ``fit`` finds, on rows that the model was not trained on, what an
    action would have to cost more or less in each group, and ``predict`` adds that. On new rows
    rates differ by no more than `within` on average, not exactly.

    Parameters
    ----------
    estimator : classifier
        With ``predict_proba``, whose probabilities should be calibrated. It is cloned.
    parity : Parity or None, default=None
        Its groups name a column of X. None: rates may differ as they like.
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
    group_prices_ : dict
        What is added to the action's expected cost in each group; for "blocked" and "missed" times
        the row's probability of being negative, or positive.
    few_rows_ : list
        Groups of fewer than 50 training rows, whose prices say little.
    shadow_price_ : float
        What one percentage point more would have saved on the training rows.
    classes_, costs_, costs_per_row_
        As in `CostDecisionMixin`.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from costboost import ParityClassifier
    >>> from costboost.decisions import Parity
    >>> generator = np.random.default_rng(0)
    >>> X = pd.DataFrame({"a": generator.normal(size=2000), "region": [0, 1] * 1000})
    >>> y = (X["a"] + X["region"] + generator.normal(size=2000) > 1).astype(int)
    >>> model = ParityClassifier(LogisticRegression(), Parity("region", within=0.05))
    >>> decided = model.fit(X, y).predict(X)
    >>> rates = [np.mean(decided[X["region"] == group]) for group in (0, 1)]
    >>> bool(abs(rates[0] - rates[1]) < 0.07)
    True
    """

    def __init__(
        self,
        estimator: Any,
        parity: Parity | None = None,
        *,
        costs: Any = None,
        cv: Any = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.parity = parity
        self.costs = costs
        self.cv = cv
        self.random_state = random_state

    @all_at_once
    def fit(self, X: Any, y: ArrayLike, costs: Any = None) -> Self:
        """Train, and find the prices of groups.

        Parameters
        ----------
        X : table of n_samples rows
        y : array-like of shape (n_samples,)
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            What decisions cost, constant or per row.

        Returns
        -------
        self
        """
        check_not_empty(X)
        (X,) = indexable(X)
        codes, _, bound = self._read_rows(X, y, None, costs)
        if self.parity is not None and not isinstance(self.parity, Parity):
            raise ValueError(f"parity={self.parity!r}: give a Parity, or None.")
        if self.parity is not None and not isinstance(self.parity.groups, str):
            raise ValueError("Name the column of groups, Parity('region'): predict reads it too.")
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        self.estimator_ = fit_clone(self.estimator, X, self.classes_[codes], seed)
        copy_features(self, self.estimator_)
        self.group_prices_: dict[Any, float] = {}
        self.few_rows_: list[Any] = []
        self.shadow_price_ = 0.0
        if self.parity is not None:
            self._find_prices(self.parity, X, codes, bound, seed)
        return self

    def _find_prices(self, parity: Parity, X: Any, codes: Int64, costs: Costs, seed: int) -> None:
        parts, rows = [], []
        for train, test in calibration_splits(codes, self.cv, random_state=seed):
            labels = self.classes_[codes[train]]
            model = fit_clone(self.estimator, _safe_indexing(X, train), labels, seed)
            parts.append(shares_of(model, _safe_indexing(X, test), self.classes_, votes=False))
            rows.append(test)
        order = np.concatenate(rows)
        proba = np.concatenate(parts)
        problem = read_problem(
            costs[order].expected(proba),
            None,
            replace(parity, groups=group_labels(parity.groups, X)[order]),
            actions=self.classes_ if costs.is_square else costs.actions,
            proba=proba,
            classes=self.classes_,
            positive=costs.positive,
        )
        relaxed = problem.relaxed()
        assert problem.cut.labels is not None
        groups = problem.cut.labels.tolist()
        prices = relaxed.prices / problem.group_sums(problem.weights)
        self.group_prices_ = dict(zip(groups, prices.tolist(), strict=True))
        sizes = problem.cut.sizes.tolist()
        self.few_rows_ = [g for g, n in zip(groups, sizes, strict=True) if n < FEW_ROWS]
        self.shadow_price_ = 0.01 * relaxed.slope

    def predict_proba(self, X: Any) -> Floats:
        """Return the estimator's class probabilities, ``(n_samples, K)``."""
        check_is_fitted(self)
        return shares_of(self.estimator_, X, self.classes_, votes=False)

    def predict(self, X: Any, costs: Any = None) -> NDArray[Any]:
        """Return the decision of least expected cost, the prices of groups included.

        Parameters
        ----------
        X : table of n_samples rows
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            Prices to use instead of those of ``fit``, in the same unit and for the same actions.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        proba = self.predict_proba(X)
        return self._decided(X, self._decision_costs(costs, X), proba)

    def _decided(self, X: Any, costs: Costs, proba: Floats) -> NDArray[Any]:
        if self.parity is None:
            return self._cheapest(costs, proba)
        actions = np.asarray(self.classes_ if costs.is_square else costs.actions)
        target, weights = target_and_weights(
            self.parity, actions, proba, self.classes_, costs.positive, len(proba)
        )
        groups = group_labels(self.parity.groups, X).tolist()
        unknown = sorted({str(g) for g in groups if g not in self.group_prices_})
        if unknown:
            warn_caller(
                f"These groups were not among the rows of fit: {listed(unknown)}. Their rows are "
                "decided without a price of their group."
            )
        expected = costs.expected(proba)
        expected[:, target] += weights * [self.group_prices_.get(g, 0.0) for g in groups]
        return np.asarray(actions[np.argmin(expected, axis=1)])

    def decide(self, X: Any, costs: Any = None, **_: Any) -> NoReturn:
        """Refuse: this model decides rows one by one."""
        raise ValueError(
            "ParityClassifier decides rows one by one, by prices of their groups: use predict, or "
            "decide(..., parity=...) of the model in estimator_."
        )

    def score(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, costs: Any = None
    ) -> float:
        """Return minus the mean realised cost of the decisions; prices of groups are not paid.

        Parameters
        ----------
        X : table of n_samples rows
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            As in `predict`.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        prices = self._decision_costs(costs, X)
        paid = prices.of_decisions(y, self._decided(X, prices, self.predict_proba(X)))
        return -mean_paid(paid, sample_weight)
