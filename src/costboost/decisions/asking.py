"""What columns a row needs, and what they cost: the paths of its trees, read test by test."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.costs import ColumnTests, as_feature_costs
from costboost.inputs.checks import answers_tables, check_table, count_threads
from costboost.model import FittedModel
from costboost.trees.forest import Forest
from costboost.trees.walking import find_leaves
from costboost.typing import Codes, Floats

Bools = NDArray[np.bool_]
_CELLS = 1 << 20  # rows by trees that are walked at a time


def asked_by_node(forest: Forest, tests: ColumnTests) -> Bools:
    """Return which tests the path to each node of each tree asks for, (n_nodes, T)."""
    asked = np.zeros((len(forest.words), len(tests)), dtype=bool)
    starts = np.append(forest.roots, len(forest.words)).tolist()
    for t in range(len(forest)):
        tree, start = forest.tree(t), starts[t]
        for node in np.flatnonzero(tree.left >= 0).tolist():  # children stand after their parents
            below = asked[start + node].copy()
            test = int(tests.test_of[tree.feature[node]])
            if test >= 0:
                below[test] = True
            left = start + int(tree.left[node])
            asked[left] = asked[left + 1] = below
    return asked


def asked_tests(model: FittedModel, codes: Codes, tests: ColumnTests, n_threads: int = 1) -> Bools:
    """Return which tests the paths of binned rows ask for, in any tree, (n, T)."""
    asked = np.zeros((len(codes), len(tests)), dtype=bool)
    for forest in model.forests:
        if not len(forest):
            continue
        by_node = asked_by_node(forest, tests)
        step = max(1, _CELLS // len(forest))
        for begin in range(0, len(codes), step):
            rows = slice(begin, begin + step)
            nodes = np.empty((len(codes[rows]), len(forest)), dtype=np.int64)
            find_leaves(forest.nodes, 0, len(forest), codes[rows], nodes, n_threads)
            nodes += forest.roots
            for t in range(len(forest)):
                asked[rows] |= by_node[nodes[:, t]]
    return asked


class ColumnCostsMixin:
    """What the columns that rows need cost, for models of built-in trees."""

    feature_costs_: ColumnTests | None
    n_features_in_: int
    n_jobs: int | None

    def _column_tests(self, feature_costs: Any) -> ColumnTests:
        """Return the prices of columns that were given, or those of the fit."""
        if feature_costs is None:
            tests: ColumnTests | None = getattr(self, "feature_costs_", None)
            if tests is None:
                raise ValueError(
                    "This model was trained without feature_costs, so what its columns cost is "
                    'not known. Give feature_costs={"column": price, ...}.'
                )
            return tests
        given = as_feature_costs(feature_costs)
        assert given is not None
        names = getattr(self, "feature_names_in_", None)
        listed = list(range(self.n_features_in_)) if names is None else [str(n) for n in names]
        fitted: ColumnTests | None = getattr(self, "feature_costs_", None)
        tests = given.bind(listed)
        return tests if fitted is None else tests.for_rows(fitted.rows)

    def _own_trees(self) -> FittedModel:
        """Return the model; raise where columns are read by something else than built-in trees."""
        model: FittedModel = self._fitted_model()  # type: ignore[attr-defined]
        plain = all(m.trees is not None and m.init is None for m in model.members)
        if not plain:
            raise ValueError(
                "The columns that a row needs are read from built-in trees, and this model has "
                "estimators of its own. Use estimator=None and init=None."
            )
        return model

    @answers_tables
    def test_cost(self, X: Any, feature_costs: Any = None) -> Floats:
        """Return what the columns that each row needs cost, (n_samples,).

        A row needs the columns on its paths through all trees; each is paid for once. Where the
        model pays (``pay="model"``) every row bears an equal share, that of a row of `fit`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        feature_costs : dict, array-like or FeatureCosts, default=None
            Other prices than those of the fit.

        Returns
        -------
        ndarray of shape (n_samples,)
            In the currency of the costs.
        """
        model = self._own_trees()
        tests = self._column_tests(feature_costs)
        X, n_threads = check_table(self, X, reset=False), count_threads(self.n_jobs)
        if tests.pay == "row":
            codes = model.encode(X, n_threads)
            assert codes is not None
            return tests.cost(asked_tests(model, codes, tests, n_threads))
        return np.full(X.shape[0], float(tests.cost(used_tests(model, tests))) / tests.rows)


def used_tests(model: FittedModel, tests: ColumnTests) -> Bools:
    """Return which tests any tree asks for, (T,)."""
    used = np.zeros(len(tests), dtype=bool)
    for forest in model.forests:
        found = tests.test_of[forest.used_features]
        used[found[found >= 0]] = True
    return used
