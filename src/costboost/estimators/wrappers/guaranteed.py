"""Any classifier, deciding so that a promise about the mean cost of new rows can be kept.

A *policy* is two numbers: a tilt, by which the odds of the positive class are multiplied before the
cheapest decision is taken, and a margin: a row is deferred where that decision is expected to cost
more than deferring by more than the margin. Held-out rows are cut in two. One part orders a family
of policies, the safest first; on the other each is tested at level 1 - confidence against all
limits at once, in that order, until the first fails (Learn then Test, fixed-sequence testing).
Whatever is chosen among those that passed, for whatever reason, breaks a limit with probability at
most 1 - confidence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing, check_random_state, column_or_1d, indexable
from sklearn.utils.validation import check_is_fitted

from costboost.calibration import calibration_splits
from costboost.costs import Costs
from costboost.estimators.base import all_at_once
from costboost.estimators.wrappers.base import Wrapper, copy_features, fit_clone, shares_of
from costboost.guarantee import cost_range, mean_bound, mean_p_value, rate_p_value, rounded_up
from costboost.inputs.arrays import mean_paid
from costboost.inputs.checks import check_learner, check_not_empty, warn_caller
from costboost.text import count, listed, money, percent
from costboost.typing import Floats, Int64

RATES = ("blocked", "missed", "deferred")
_TILTS = (1.0, *(f for k in (0.5, 1, 1.5, 2, 3, 4, 6) for f in (2.0**k, 2.0**-k)))
_SHARES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0)
_ORDERING = 0.2  # share of the held-out rows that orders the policies


class Policy(NamedTuple):
    """How expected costs become decisions; without `margin` nothing is deferred."""

    tilt: float
    margin: float | None


class GuaranteedClassifier(Wrapper):
    """Decide as cheaply as a limit on the mean cost of new rows can be promised.

    Parameters
    ----------
    estimator : classifier
        With ``predict_proba``. It is cloned and trained on the rows that are not held out; a
        `FrozenEstimator`, or any fitted one with ``cv="prefit"``, is taken as it is, and all rows
        given to ``fit`` must then be new to it. The promise does not need its probabilities to be
        right; what can be promised does.
    limit : float
        The mean cost of a row that is not to be exceeded, deferred rows included.
    confidence : float, default=0.95
        Probability, over draws of the held-out rows, with which all limits hold.
    defer : float, str, callable or None, default=None
        Price of handing a row to people, the action "defer"; a column's name or a function of the
        table, as in `Costs.with_defer`. None: every row is decided.
    at_most : dict or None, default=None
        Further limits: the largest share of the rows of the negative class that is decided
        positive, ``"blocked"``; of the positive class that is decided negative, ``"missed"``; of
        all rows that is ``"deferred"``.
    cap, floor : float or None, default=None
        The most and the least that a row can cost, as in `costboost.guarantee.cost_bound`; `cap` is
        needed where costs differ by row.
    costs : None, dict, array-like of shape (K, K) or Costs, default=None
        Costs, constant or by column; ``fit`` may be given others, also per row.
    cv : float, iterable or "prefit", default=0.5
        The share of the rows that is held out, or the one pair of (train, held out) row numbers.
    random_state : int, RandomState or None, default=None
        Chooses the rows that are held out, and seeds the clone.

    Attributes
    ----------
    estimator_ : classifier
    policy_ : dict
        ``"tilt"``, the factor of the odds of the positive class, and with `defer` ``"margin"``: the
        expected saving above which a row is deferred.
    promise_ : str
        What is promised, in plain words.
    measured_ : dict
        Means on the held-out rows: ``"cost"``, each limited share and ``"deferred"``. They are not
        promised: the policy was chosen on these rows.
    n_held_out_ : int
    n_promising_ : int
        How many policies of the family keep all limits.
    price_range_ : tuple of float
        The least and the largest cost of a row that the promise covers.
    classes_, costs_, costs_per_row_
        As in `CostDecisionMixin`.

    Raises
    ------
    ValueError
        From ``fit``, where no policy of the family keeps the limits with that confidence; the
        message says what it would take.

    Notes
    -----
    The promise is about rows that are drawn as the held-out rows were: it does not survive drift,
    says nothing about a group among them, and takes rows for independent of each other. There is no
    ``sample_weight`` for the same reason. Several limits cost no confidence: a policy is kept only
    if each is kept (an intersection-union test).

    References
    ----------
    Angelopoulos, Bates, Candes, Jordan and Lei 2021, "Learn then Test".

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from costboost import GuaranteedClassifier
    >>> X, y = make_classification(4000, weights=[0.9], random_state=0)
    >>> prices = {"fp": 8, "fn": 40}
    >>> model = GuaranteedClassifier(LogisticRegression(), 3.0, defer=5, random_state=0)
    >>> print(model.fit(X, y, costs=prices).promise_)
    With 95 % confidence the average bill of such rows is at most 3.
    >>> bool(-model.score(X, y) < 3)
    True
    """

    def __init__(
        self,
        estimator: Any,
        limit: float,
        *,
        confidence: float = 0.95,
        defer: Any = None,
        at_most: Mapping[str, float] | None = None,
        cap: float | None = None,
        floor: float | None = None,
        costs: Any = None,
        cv: Any = 0.5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.limit = limit
        self.confidence = confidence
        self.defer = defer
        self.at_most = at_most
        self.cap = cap
        self.floor = floor
        self.costs = costs
        self.cv = cv
        self.random_state = random_state

    @all_at_once
    def fit(self, X: Any, y: ArrayLike, costs: Any = None) -> Self:
        """Train, and find the cheapest policy that keeps the limits.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            What decisions cost, constant, by column or per row.

        Returns
        -------
        self
        """
        check_learner("estimator", self.estimator)
        check_not_empty(X)
        (X,) = indexable(X)
        codes, _, bound = self._read_rows(X, y, None, costs)
        prefit = isinstance(self.estimator, FrozenEstimator) or (
            isinstance(self.cv, str) and self.cv == "prefit"
        )
        _check_limits(self.limit, self.confidence, self.at_most, bound, self.defer is not None)
        generator = check_random_state(self.random_state)
        seed, shuffle = (int(generator.randint(np.iinfo(np.int32).max)) for _ in range(2))
        if prefit:
            check_is_fitted(self.estimator)
            self.estimator_, held_out = self.estimator, np.arange(len(codes))
        else:
            train, held_out = self._cut(codes, seed)
            rows, labels = _safe_indexing(X, train), self.classes_[codes[train]]
            self.estimator_ = fit_clone(self.estimator, rows, labels, seed)
        copy_features(self, self.estimator_)
        rows = _safe_indexing(X, held_out)
        calibration = _HeldOut(
            shares_of(self.estimator_, rows, self.classes_, votes=False),
            codes[held_out],
            self._with_defer(bound[held_out] if bound.n_rows is not None else bound, rows),
            self.defer is not None,
            _positive(bound),
        )
        self._choose(calibration, np.random.default_rng(shuffle))
        return self

    def _cut(self, codes: Int64, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the row numbers to train on and those held out, which must not overlap."""
        pairs = calibration_splits(codes, self.cv, random_state=seed)
        if len(pairs) != 1:
            raise ValueError(
                f"cv={self.cv!r} makes {len(pairs)} pairs of rows, but a promise is about one "
                "model: give the share of the rows to hold out, one (train, held out) pair, or "
                "'prefit'."
            )
        train, held_out = pairs[0]
        both = np.intersect1d(train, held_out)
        if len(both):
            raise ValueError(
                f"Row {both[0]} would be trained on and held out: a promise needs rows that the "
                "model has not seen. Give more rows, or another cv=."
            )
        return train, held_out

    def _with_defer(self, costs: Costs, X: Any) -> Costs:
        return costs if self.defer is None else costs.with_defer(self.defer).bind_table(X)

    def _choose(self, rows: _HeldOut, generator: np.random.Generator) -> None:
        """Set the cheapest policy that keeps all limits, or raise."""
        n = len(rows.labels)
        order = generator.permutation(n)
        n_first = max(1, round(_ORDERING * n))
        first, rest = order[:n_first], order[n_first:]
        policies = _family(rows, first)
        taken = [rows.decide(policy) for policy in policies]
        paid = [rows.paid(codes) for codes in taken]
        low, high = cost_range(rows.costs, np.concatenate(paid), self.cap, self.floor)
        if self.limit < low:
            raise ValueError(
                f"limit={self.limit:g} is below {low:g}, the least that a row can cost."
            )
        limits = dict(self.at_most or {})
        risks = [
            [_Risk("cost", self.limit, cost, None, low, high)]
            + [_Risk(name, limits[name], *rows.events(name, codes)) for name in sorted(limits)]
            for codes, cost in zip(taken, paid, strict=True)
        ]
        # The safest first, by rows that test nothing.
        doubts = [max(risk.doubt(first) for risk in mine) for mine in risks]
        passed: list[int] = []
        tested = np.argsort(doubts, kind="stable").tolist()
        for i in tested:
            if max(risk.p_value(rest, self.confidence) for risk in risks[i]) > 1 - self.confidence:
                break
            passed.append(i)
        if not passed:
            _refuse(risks, tested[0], rest, self.limit, self.confidence)
        best = min(passed, key=lambda i: float(np.mean(paid[i])))
        chosen = policies[best]
        self.policy_ = {"tilt": chosen.tilt}
        if chosen.margin is not None:
            self.policy_["margin"] = chosen.margin
        self.measured_ = {risk.name: risk.mean for risk in risks[best]}
        self.measured_["deferred"] = float(np.mean(rows.is_deferred(taken[best])))
        self.n_held_out_, self.n_promising_ = n, len(passed)
        self.price_range_ = (low, high)
        self.promise_ = _sentence(self.confidence, self.limit, limits)

    def predict_proba(self, X: Any) -> Floats:
        """Return the estimator's class probabilities, ``(n_samples, K)``."""
        check_is_fitted(self)
        return shares_of(self.estimator_, X, self.classes_, votes=False)

    def _decision_costs(self, costs: Any, X: Any) -> Costs:
        """Return the costs to decide by, "defer" among them; warn where the promise is void."""
        prices = self._with_defer(super()._decision_costs(costs, X), X)
        low, high = self.price_range_
        table = np.asarray(prices)
        if table.size and (table.max() > high or table.min() < low):
            outside = table.max() if table.max() > high else table.min()
            warn_caller(
                f"A price of these rows, {outside:g}, lies outside of {low:g} to {high:g}, which "
                "the promise of this model covers: it does not hold for them. Fit again, with "
                "cap= above every price."
            )
        elif (
            costs is not None
            and prices.is_constant
            and self.costs_.is_constant
            and not self.costs_per_row_
            and not np.array_equal(table, np.asarray(self._with_defer(self.costs_, X)))
        ):
            warn_caller(
                "These prices are not those that the promise of this model was made for: it does "
                "not hold at them. Fit again to have one that does; cv='prefit' keeps the model."
            )
        return prices

    def predict(self, X: Any, costs: Any = None) -> NDArray[Any]:
        """Return the decision of the policy for each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            Prices to use instead of those of ``fit``: needed where those were per row. The promise
            holds for prices that come about as those of ``fit`` did.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes, or names of actions, "defer" among them, where there are others.
        """
        proba = self.predict_proba(X)
        return self._cheapest(self._decision_costs(costs, X), proba)

    def _cheapest(self, costs: Costs, proba: Floats) -> NDArray[Any]:
        policy = Policy(self.policy_["tilt"], self.policy_.get("margin"))
        positive = _positive(self.costs_.bind(self.classes_))
        codes = _decide(costs, proba, policy, self.defer is not None, positive)
        if costs.is_square:
            return np.asarray(self.classes_[codes])
        assert costs.actions is not None  # bound to the classes
        return np.asarray(costs.actions[codes])

    def decide(self, X: Any, costs: Any = None, **_: Any) -> NoReturn:
        """Refuse: decisions made jointly are none that the promise is about."""
        raise ValueError(
            "GuaranteedClassifier promises something about rows decided one by one, which "
            "decisions made jointly do not keep: use predict, or decide of the model in estimator_."
        )

    def score(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, costs: Any = None
    ) -> float:
        """Return minus the mean realised cost of the decisions, deferred rows included.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
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
        paid = prices.of_decisions(column_or_1d(y), self._cheapest(prices, self.predict_proba(X)))
        return -mean_paid(paid, sample_weight)


class _HeldOut(NamedTuple):
    """Rows that the model has not seen: probabilities, class numbers, prices of all actions."""

    proba: Floats
    labels: Int64
    costs: Costs
    deferring: bool
    positive: int | None

    def decide(self, policy: Policy) -> Int64:
        return _decide(self.costs, self.proba, policy, self.deferring, self.positive)

    def paid(self, codes: Int64) -> Floats:
        return self.costs.of_decisions(self.labels, codes, encoded=True)

    def is_deferred(self, codes: Int64) -> NDArray[np.bool_]:
        assert self.costs.actions is not None
        return np.asarray(codes == len(self.costs.actions) - 1) & self.deferring

    def events(self, name: str, codes: Int64) -> tuple[Floats, NDArray[np.bool_]]:
        """Return where a rate's event happens, and the rows that it is a share of."""
        if name == "deferred":
            return self.is_deferred(codes).astype(np.float64), np.ones(len(codes), dtype=bool)
        assert self.positive is not None
        answer = self.positive if name == "blocked" else 1 - self.positive
        return (codes == answer).astype(np.float64), self.labels == 1 - answer


class _Risk(NamedTuple):
    """What one policy does to each held-out row, and the mean that it must not exceed.

    `of` marks the rows that the mean is taken of; None is all of them.
    """

    name: str
    limit: float
    values: Floats
    of: NDArray[np.bool_] | None
    low: float = 0.0
    high: float = 1.0

    def among(self, rows: NDArray[np.intp]) -> Floats:
        return self.values[rows] if self.of is None else self.values[rows[self.of[rows]]]

    @property
    def mean(self) -> float:
        kept = self.values if self.of is None else self.values[self.of]
        return float(np.mean(kept)) if len(kept) else math.nan

    def doubt(self, rows: NDArray[np.intp]) -> float:
        """How far the mean is above the limit, in standard errors; for the order of tests only."""
        if self.limit >= self.high:
            return -math.inf
        values = self.among(rows)
        if not len(values):
            return 0.0
        # A row more, as bad as can be half the time, so that no variance is zero.
        spread = math.sqrt(np.var(values) + 0.25 * (self.high - self.low) ** 2 / len(values))
        return float((np.mean(values) - self.limit) / spread) * math.sqrt(len(values))

    def p_value(self, rows: NDArray[np.intp], confidence: float) -> float:
        values = self.among(rows)
        if self.of is not None:
            return rate_p_value(int(values.sum()), len(values), self.limit)
        # The rows are in random order already.
        return mean_p_value(
            values, self.limit, self.low, self.high, confidence=confidence, random_state=None
        )

    def rows_needed(self, rows: NDArray[np.intp], confidence: float) -> float:
        """About how many held-out rows it would take, if these are typical; inf if none suffice."""
        values = self.among(rows)
        gap = self.limit - float(np.mean(values)) if len(values) else 0.0
        if gap <= 0:
            return math.inf
        # gap = sqrt(2 v L / n) + r L / n, solved for 1 / sqrt(n).
        strength, reach = -math.log(1 - confidence), (self.high - self.low)
        a, b = reach * strength / 0.75, math.sqrt(2 * float(np.var(values)) * strength)
        root = (math.sqrt(b * b + 4 * a * gap) - b) / (2 * a)
        share = len(values) / max(len(rows), 1)
        return 1 / (root * root * share * (1 - _ORDERING))


def _positive(costs: Costs) -> int | None:
    """Return the number of the positive class where decisions are two classes."""
    two = costs.is_square and costs.classes is not None and len(costs.classes) == 2
    return costs.positive_number if two else None


def _tilted(proba: Floats, tilt: float, positive: int | None) -> Floats:
    """Multiply the odds of the positive class."""
    if tilt == 1.0 or positive is None:
        return proba
    p = tilt * proba[:, positive]
    p = p / (p + proba[:, 1 - positive])
    return np.stack([1 - p, p] if positive else [p, 1 - p], axis=1)


def _decide(
    costs: Costs, proba: Floats, policy: Policy, deferring: bool, positive: int | None
) -> Int64:
    """Return the number of each row's action; "defer", where there is one, is the last."""
    tilted = _tilted(proba, policy.tilt, positive)
    if not deferring:
        return np.asarray(costs.decide(tilted, encoded=True), dtype=np.int64)
    expected = costs.expected(tilted)
    own = np.argmin(expected[:, :-1], axis=1)
    least = np.take_along_axis(expected, own[:, None], axis=1)[:, 0]
    margin = math.inf if policy.margin is None else policy.margin
    handed = least - expected[:, -1] > margin
    return np.asarray(np.where(handed, expected.shape[1] - 1, own), dtype=np.int64)


def _family(rows: _HeldOut, first: NDArray[np.intp]) -> list[Policy]:
    """Return the policies; margins are quantiles of what deferring saves on the ordering rows."""
    tilts = _TILTS if rows.positive is not None else (1.0,)
    if not rows.deferring:
        return [Policy(tilt, None) for tilt in tilts]
    found = []
    for tilt in tilts:
        expected = rows.costs.expected(_tilted(rows.proba, tilt, rows.positive))[first]
        saved = expected[:, :-1].min(axis=1) - expected[:, -1]
        margins = {float(np.quantile(saved, 1 - share)) for share in _SHARES[1:-1]}
        # Where deferring is cheaper by what is expected; everything; nothing.
        everything = -2.0 * rows.costs.largest - 1.0
        found += [Policy(tilt, m) for m in sorted({*margins, 0.0, everything})]
        found.append(Policy(tilt, None))
    return found


def _check_limits(
    limit: Any, confidence: float, at_most: Any, costs: Costs, deferring: bool
) -> None:
    number = isinstance(limit, int | float | np.integer | np.floating)
    if not number or isinstance(limit, bool) or not math.isfinite(limit):
        raise ValueError(f"limit={limit!r}: give the mean cost that is not to be exceeded.")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence!r}: give a probability between 0 and 1.")
    if at_most is None:
        return
    if not isinstance(at_most, Mapping):
        raise ValueError(f"at_most={at_most!r}: give a dict of shares, like {{'blocked': 0.02}}.")
    for name, share in at_most.items():
        if name not in RATES:
            raise ValueError(f"at_most names {name!r}: use {listed(RATES, last=' or ')}.")
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
            raise ValueError(f"at_most[{name!r}]={share!r}: give a share above 0, at most 1.")
        if name == "deferred" and not deferring:
            raise ValueError("at_most limits 'deferred', but nothing can be deferred: give defer=.")
        two = costs.is_square and costs.positive_number is not None
        if name != "deferred" and not two:
            raise ValueError(
                f"at_most limits {name!r}, which is known for two classes that are also the "
                "decisions, one of them positive: name it in Costs(..., positive=)."
            )


_WORDS = {
    "blocked": "{} of the negative rows are decided positive",
    "missed": "{} of the positive rows are decided negative",
    "deferred": "{} of the rows are deferred",
}


def _sentence(confidence: float, limit: float, limits: Mapping[str, float]) -> str:
    parts = [f"the average bill of such rows is at most {money(rounded_up(float(limit)))}"]
    parts += [f"at most {_WORDS[name].format(percent(limits[name]))}" for name in sorted(limits)]
    return f"With {percent(confidence)} confidence {listed(parts, last=' and ')}."


def _refuse(
    risks: list[list[_Risk]], safest: int, rest: NDArray[np.intp], limit: float, confidence: float
) -> NoReturn:
    """Say that no policy keeps the limits, and what it would take."""
    needed = [max(risk.rows_needed(rest, confidence) for risk in mine) for mine in risks]
    cost, others = risks[safest][0], risks[safest][1:]
    best = min(float(np.mean(mine[0].values)) for mine in risks)
    text = (
        f"No policy keeps limit={limit:g}"
        + (" and at_most" if len(risks[0]) > 1 else "")
        + f" with {percent(confidence)} confidence on {count(len(rest), 'held-out row')}; the "
        f"cheapest costs {money(best)} a row on average."
    )
    fewest = min(needed)
    if math.isfinite(fewest) and fewest > len(rest):
        about = float(f"{fewest:.1e}")
        text += f" About {about:,.0f} such rows would do."
    else:
        text += " More rows alone are unlikely to help."
    if any(risk.p_value(rest, confidence) > 1 - confidence for risk in others):
        text += " The shares of at_most alone cannot be promised: raise them."
    else:
        values = cost.among(rest)
        bound = mean_bound(values, cost.low, cost.high, confidence=confidence, random_state=None)
        text += f" With these rows, limit={rounded_up(bound):g} would be within reach."
    raise ValueError(text + " Or give a better model, or a cheaper defer=.")
