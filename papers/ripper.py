"""A learner of rules after Cohen's RIPPER, on weighted rows: what stands for Fan et al.'s cRipper.

Rules for the rarer class are grown and pruned one at a time (Cohen's IREP*, without the passes of
optimisation that follow there), each on the rows that no earlier rule covers. It is cost-sensitive
as theirs is: rows are weighed by what it costs to get them wrong, and counts are sums of weights.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from costboost.inputs.arrays import read_weights

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

__all__ = ["Condition", "RuleClassifier"]

GROW = 2 / 3  # of the rows; the others prune
LEAST_GAIN = 1e-9


class Condition(NamedTuple):
    """``x[column] <= value``, ``>= value`` or ``== value``; false where the value is missing."""

    column: int
    sign: str
    value: float

    def covers(self, X: Floats) -> Mask:
        """Return which rows fulfil it."""
        x = X[:, self.column]
        if self.sign == "==":
            return np.asarray(x == self.value)
        return np.asarray(x <= self.value if self.sign == "<=" else x >= self.value)


Rule = tuple[Condition, ...]


def covered(rule: Rule, X: Floats) -> Mask:
    """Return which rows fulfil all conditions of a rule."""
    found = np.ones(len(X), dtype=bool)
    for condition in rule:
        found &= condition.covers(X)
    return found


class RuleClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """An ordered list of rules for the class of fewer rows; the other class is the default.

    Parameters
    ----------
    max_rules : int, default=32
    categorical_features : array-like of bool of shape (n_features,) or None, default=None
        Columns that are asked for equality.
    random_state : int, RandomState or None, default=None
        Which rows grow a rule, and which prune it.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    rules_ : list of tuples of Condition
    confidences_ : ndarray of shape (n_rules + 1,)
        Laplace-corrected shares of the rules' class among the weights of the rows that each rule is
        the first to cover; the last is of the rows that none covers.
    n_features_in_ : int

    References
    ----------
    Cohen 1995, "Fast effective rule induction".

    Examples
    --------
    >>> X = [[x, z] for x in range(10) for z in range(10)]
    >>> y = [int(x >= 6 and z <= 2) for x, z in X]
    >>> model = RuleClassifier(random_state=0).fit(X, y)
    >>> for condition in model.rules_[0]:
    ...     print(*condition)
    1 <= 2.0
    0 >= 6.0
    >>> model.score(X, y)
    1.0
    """

    def __init__(
        self, *, max_rules: int = 32, categorical_features: Any = None, random_state: Any = None
    ) -> None:
        self.max_rules = max_rules
        self.categorical_features = categorical_features
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> RuleClassifier:
        """Learn rules one after the other, until one is wrong on half of what it covers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            What rows count; scaled to a mean of 1 for the Laplace correction.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(y)
        w = read_weights(sample_weight, len(X))
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"y has {len(self.classes_)} classes."
            )
        kept = w > 0
        X, codes, w = X[kept], codes[kept], w[kept] * (kept.sum() / w[kept].sum())
        self._aim = int(2 * codes.sum() <= len(codes))
        given = self.categorical_features
        kinds = np.zeros(X.shape[1], dtype=bool) if given is None else np.asarray(given, dtype=bool)
        aim = codes == self._aim
        rng = check_random_state(self.random_state)
        self.rules_: list[Rule] = []
        left = np.arange(len(X))
        while len(self.rules_) < self.max_rules and aim[left].any():
            rule = _learn(X[left], aim[left], w[left], kinds, rng)
            if not rule:
                break
            self.rules_.append(rule)
            left = left[~covered(rule, X[left])]
        which = self._first(X)
        inside, total = (
            np.bincount(which, weights=v, minlength=len(self.rules_) + 1) for v in (w * aim, w)
        )
        self.confidences_ = (inside + 1) / (total + 2)
        return self

    def _first(self, X: Floats) -> Ints:
        """Return the number of the first rule that covers each row, or how many there are."""
        which = np.full(len(X), len(self.rules_))
        for k in range(len(self.rules_) - 1, -1, -1):
            which[covered(self.rules_[k], X)] = k
        return which

    def predict_proba(self, X: Any) -> Floats:
        """Return the confidences of the first rule that covers each row, (n, 2)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        p = self.confidences_[self._first(X)]
        both = [1 - p, p] if self._aim else [p, 1 - p]
        return np.column_stack(both[: len(self.classes_)])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likelier class of every row."""
        proba = self.predict_proba(X)
        return np.asarray(self.classes_[proba.argmax(axis=1)])


def _learn(X: Floats, aim: Mask, w: Floats, kinds: Mask, rng: Any) -> Rule:
    """Return a rule that was grown on two thirds of the rows and pruned on the rest.

    It is empty where it is wrong on half of the weight that it covers, or covers nothing.
    """
    grows = np.zeros(len(X), dtype=bool)
    for group in (aim, ~aim):  # each class is divided by itself
        rows = rng.permutation(np.flatnonzero(group))
        grows[rows[: int(np.ceil(GROW * len(rows)))]] = True
    rule = grow(X[grows], aim[grows], w[grows], kinds)
    tested = ~grows if (~grows & aim).any() else grows
    rule = prune(rule, X[tested], aim[tested], w[tested])
    inside = covered(rule, X[tested])
    right, all_of = w[tested][inside & aim[tested]].sum(), w[tested][inside].sum()
    return rule if rule and right > 0.5 * all_of else ()


def grow(X: Floats, aim: Mask, w: Floats, kinds: Mask) -> Rule:
    """Add the condition of most information gain (FOIL's), until no row of the other class is left.

    The gain is p (log2 p/(p + n) - log2 P/(P + N)), with weights before (P, N) and after (p, n).
    """
    rule: Rule = ()
    while aim.any() and not aim.all():
        gain, condition = max(
            (
                search(X, aim, w, columns)
                for search, columns in (
                    (_best_threshold, np.flatnonzero(~kinds)),
                    (_best_category, np.flatnonzero(kinds)),
                )
                if len(columns)
            ),
            key=lambda found: found[0],
        )
        if gain <= LEAST_GAIN:
            break
        rule = (*rule, condition)
        inside = condition.covers(X)
        X, aim, w = X[inside], aim[inside], w[inside]
    return rule


def prune(rule: Rule, X: Floats, aim: Mask, w: Floats) -> Rule:
    """Return the first conditions of a rule, as many as have the largest (p - n) / (p + n)."""
    worths = []
    for length in range(1, len(rule) + 1):
        inside = covered(rule[:length], X)
        p, n = w[inside & aim].sum(), w[inside & ~aim].sum()
        worths.append((p - n) / (p + n) if p + n > 0 else -1.0)
    return rule[: int(np.argmax(worths)) + 1] if worths else rule


def _gains(p: Floats, n: Floats, aim: Mask, w: Floats) -> Floats:
    before = np.log2(w[aim].sum() / w.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        found = p * (np.log2(p / (p + n)) - before)
    return np.where(p > 0, found, -np.inf)


def _best_threshold(X: Floats, aim: Mask, w: Floats, columns: Ints) -> tuple[float, Condition]:
    x = X[:, columns]
    order = np.argsort(x, axis=0, kind="stable")  # NaN last
    values = np.take_along_axis(x, order, axis=0)
    known = ~np.isnan(values)
    right, wrong = (np.where(known, v[order], 0.0) for v in (w * aim, w * ~aim))
    p, n = right.cumsum(axis=0), wrong.cumsum(axis=0)
    last = np.empty(values.shape, dtype=bool)  # of equal values: where <= may cut
    last[-1], last[:-1] = False, (values[1:] > values[:-1])
    p_above, n_above = p[-1] - p, n[-1] - n
    best = (-np.inf, Condition(0, "<=", 0.0))
    for sign, gains in (("<=", _gains(p, n, aim, w)), (">=", _gains(p_above, n_above, aim, w))):
        gains = np.where(last, gains, -np.inf)
        row, j = np.unravel_index(int(gains.argmax()), gains.shape)
        if gains[row, j] > best[0] + LEAST_GAIN:
            value = float(values[row + (sign == ">="), j])
            best = (float(gains[row, j]), Condition(int(columns[j]), sign, value))
    return best


def _best_category(X: Floats, aim: Mask, w: Floats, columns: Ints) -> tuple[float, Condition]:
    best = (-np.inf, Condition(0, "==", 0.0))
    for column in columns:
        values, codes = np.unique(X[:, column], return_inverse=True)
        p, n = (
            np.bincount(codes, weights=v, minlength=len(values)).astype(np.float64)
            for v in (w * aim, w * ~aim)
        )
        gains = np.where(np.isnan(values), -np.inf, _gains(p, n, aim, w))
        k = int(gains.argmax())
        if gains[k] > best[0] + LEAST_GAIN:
            best = (float(gains[k]), Condition(int(column), "==", float(values[k])))
    return best
