"""Bags of peers, as the public leaderboards run them: five models on stratified folds, averaged.

Each model stops on the log loss of its own fold. CatBoost runs at rate .05 for up to 10,000 rounds;
the others, and CatBoost again, have the parameters that Holzmüller et al. (2024, "Better by
default") tuned on many tables ("TD"), for up to 1,000 rounds. A patience of 300 rounds everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold

from _cost_tables import Table

N_FOLDS = 5
PATIENCE = 300
CATBOOST = {"iterations": 10_000, "learning_rate": 0.05}
CATBOOST_TD = {
    "iterations": 1000,
    "learning_rate": 0.08,
    "l2_leaf_reg": 1e-5,
    "boosting_type": "Plain",
    "bootstrap_type": "Bernoulli",
    "subsample": 0.9,
    "depth": 7,
    "random_strength": 0.8,
    "one_hot_max_size": 15,
    "leaf_estimation_iterations": 1,
    "max_bin": 254,
}
LIGHTGBM_TD = {
    "n_estimators": 1000,
    "learning_rate": 0.04,
    "subsample": 0.75,
    "subsample_freq": 1,
    "num_leaves": 50,
    "min_child_samples": 40,
    "min_child_weight": 1e-7,
}
XGBOOST_TD = {
    "n_estimators": 1000,
    "learning_rate": 0.08,
    "min_child_weight": 5e-6,
    "reg_lambda": 0.0,
    "max_depth": 6,
    "colsample_bylevel": 0.9,
    "subsample": 0.65,
    "tree_method": "hist",
    "max_bin": 256,
}
# X, y, X_held, y_held, categorical columns, seed -> a fitted model
Fit = Callable[[Any, Any, Any, Any, tuple[str, ...], int], Any]


class Bag(ClassifierMixin, BaseEstimator):
    """Five models on five folds; the mean of their probabilities.

    A class that a fold's training rows lack has probability 0 there, and its rows do not take part
    in the stopping of that fold: the libraries accept neither.
    """

    def __init__(self, fit_fold: Fit, categorical: tuple[str, ...], seed: int) -> None:
        self.fit_fold, self.categorical, self.seed = fit_fold, categorical, seed

    def fit(self, X: Any, y: Any) -> Bag:
        self.classes_ = np.unique(y)
        self.models_ = []
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=self.seed)
        for number, (train, held) in enumerate(folds.split(X, y)):
            present, codes = np.unique(y[train], return_inverse=True)
            held = held[np.isin(y[held], present)]
            held_codes = np.searchsorted(present, y[held])
            model = self.fit_fold(
                *(_rows(X, train), codes, _rows(X, held), held_codes),
                *(self.categorical, N_FOLDS * self.seed + number),
            )
            self.models_.append((np.searchsorted(self.classes_, present), model))
        return self

    def predict_proba(self, X: Any) -> Any:
        proba = np.zeros((len(X), len(self.classes_)))
        for present, model in self.models_:
            proba[:, present] += model.predict_proba(X)
        return proba / len(self.models_)


def _rows(X: Any, rows: Any) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _fit_catboost(
    params: dict[str, Any], X: Any, y: Any, X_held: Any, y_held: Any, categorical: Any, seed: int
) -> Any:
    from catboost import CatBoostClassifier

    model = CatBoostClassifier(
        **params,
        cat_features=list(categorical) or None,
        early_stopping_rounds=PATIENCE,
        random_seed=seed,
        thread_count=1,
        verbose=0,
        allow_writing_files=False,
    )
    return model.fit(X, y, eval_set=(X_held, y_held))


def _fit_lightgbm(
    params: dict[str, Any], X: Any, y: Any, X_held: Any, y_held: Any, categorical: Any, seed: int
) -> Any:
    from lightgbm import LGBMClassifier, early_stopping

    model = LGBMClassifier(**params, random_state=seed, n_jobs=1, verbose=-1)
    callbacks = [early_stopping(PATIENCE, verbose=False)]
    return model.fit(X, y, eval_set=[(X_held, y_held)], callbacks=callbacks)


def _fit_xgboost(
    params: dict[str, Any], X: Any, y: Any, X_held: Any, y_held: Any, categorical: Any, seed: int
) -> Any:
    from xgboost import XGBClassifier

    model = XGBClassifier(
        **params,
        early_stopping_rounds=PATIENCE,
        random_state=seed,
        n_jobs=1,
        verbosity=0,
        enable_categorical=bool(categorical),
    )
    return model.fit(X, y, eval_set=[(X_held, y_held)], verbose=False)


def catboost_bag(params: dict[str, Any], table: Table, seed: int) -> Bag:
    return Bag(_with(_fit_catboost, params), table.categorical, seed)


def lightgbm_bag(params: dict[str, Any], table: Table, seed: int) -> Bag:
    return Bag(_with(_fit_lightgbm, params), table.categorical, seed)


def xgboost_bag(params: dict[str, Any], table: Table, seed: int) -> Bag:
    return Bag(_with(_fit_xgboost, params), table.categorical, seed)


def _with(fit: Callable[..., Any], params: dict[str, Any]) -> Fit:
    return lambda *args: fit(params, *args)
