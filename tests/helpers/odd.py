"""Odd learners, rules, losses, objectives and betas: what code that is not ours may answer.

A learner is right for the rows but for one thing. Names say which.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

NUMBERS = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-320, 0.0, -1.0, 0.5, 77.0, 65536.0, 2.0**63)


class OddClassifier(ClassifierMixin, BaseEstimator):
    """A stump whose answers are changed by `change`, a function of `CHANGES`."""

    def __init__(self, change="none", where="predict"):
        self.change = change
        self.where = where

    def fit(self, X, y, sample_weight=None):
        self.inner_ = DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight)
        self.classes_ = self.inner_.classes_
        if self.where == "classes_":
            self.classes_ = CHANGES[self.change](self.classes_.astype(float))
        return self

    def _changed(self, name, answer):
        return CHANGES[self.change](answer.astype(float)) if self.where == name else answer

    def predict(self, X):
        return self._changed("predict", self.inner_.predict(X))

    def predict_proba(self, X):
        return self._changed("predict_proba", self.inner_.predict_proba(X))

    def decision_function(self, X):
        return self._changed("decision_function", self.inner_.predict_proba(X)[:, -1])


class OddRegressor(RegressorMixin, BaseEstimator):
    """A line whose answers are changed by `change`."""

    def __init__(self, change="none"):
        self.change = change

    def fit(self, X, y, sample_weight=None):
        self.inner_ = LinearRegression().fit(X, y, sample_weight)
        return self

    def predict(self, X):
        return CHANGES[self.change](self.inner_.predict(X))


def _one(value):
    def change(answer):
        answer = np.array(answer, dtype=float)
        answer.reshape(-1)[-1] = value
        return answer

    return change


def _all(value):
    return lambda answer: np.full(answer.shape, value)


CHANGES = {
    "none": lambda answer: answer,
    **{f"one {value:g}": _one(value) for value in NUMBERS},
    **{f"all {value:g}": _all(value) for value in NUMBERS},
    "too short": lambda answer: answer[:-1],
    "too long": lambda answer: np.concatenate([answer, answer]),
    "empty": lambda answer: answer[:0],
    "a column more": lambda answer: np.stack([answer, answer], axis=-1),
    "a scalar": lambda answer: 1.0,
    "nothing": lambda answer: None,
    "strings": lambda answer: answer.astype(str),
    "words": lambda answer: np.full(answer.shape, "yes"),
    "objects": lambda answer: answer.astype(object),
    "complex": lambda answer: answer + 1j,
    "a list": lambda answer: answer.tolist(),
    "ragged": lambda answer: [[1.0], [1.0, 2.0]],
    "dates": lambda answer: np.full(answer.shape, np.datetime64("2020-01-01")),
    "huge integers": lambda answer: np.full(answer.shape, 10**400, dtype=object),
    "float16": lambda answer: answer.astype(np.float16),
    "negated": lambda answer: -answer,
    "doubled": lambda answer: answer * 2,
}
HARMLESS = ("none", "objects", "a list", "float16")


def odd_function(change, plain=np.ones_like):
    """A function of a rule: `plain` of the costs, changed."""
    return lambda at: CHANGES[change](np.asarray(plain(at.cost), dtype=float))


class OddLoss:
    """Squared loss (or log loss of two classes) with one of its three methods changed."""

    def __init__(self, change="none", where="gradient", classes=False):
        self.change, self.where, self.classes = change, where, classes

    def _changed(self, name, answer):
        return CHANGES[self.change](answer) if self.where == name else answer

    def _residual(self, y, raw):
        return 1 / (1 + np.exp(-np.clip(raw, -50, 50))) - y if self.classes else raw - y

    def value(self, y, raw):
        return self._changed("value", self._residual(y, raw) ** 2)

    def gradient(self, y, raw):
        return self._changed("gradient", self._residual(y, raw))

    def hessian(self, y, raw):
        return self._changed("hessian", np.full_like(raw, 0.25 if self.classes else 1.0))

    def proba(self, raw):
        p = 1 / (1 + np.exp(-np.clip(raw, -50, 50)))
        return self._changed("proba", np.column_stack([1 - p, p]))
