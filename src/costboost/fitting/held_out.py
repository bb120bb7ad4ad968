"""Held-out rows: how they are drawn or given, and how rounds are evaluated on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length

from costboost.calibration import labels_of_sets
from costboost.costs import Costs, NumberCosts, as_costs, as_number_costs
from costboost.inputs.arrays import read_numbers, read_weights
from costboost.inputs.checks import check_table, read_numeric_targets
from costboost.shards.layout import blocks_of
from costboost.typing import Array, Floats, Int64, Mask


def draw_held_out(labels: NDArray[Any], sets: Int64 | None, share: float, seed: int) -> Mask:
    """Return the mask of held-out rows, (n,): of every class at least one, and never all.

    Parameters
    ----------
    labels : class numbers of shape (n,)
    sets : int64 array of shape (n,) or None
        The number of each row's set; rows of a set stay together.
    share : float
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> draw_held_out(np.array([0, 0, 0, 0, 1, 1]), None, 0.5, 0).tolist()
    [True, False, True, False, False, True]
    """
    rng = np.random.default_rng(seed)
    classes = labels if sets is None else labels_of_sets(labels, sets)
    held_out = np.zeros(len(classes), dtype=bool)
    for k in np.unique(classes):
        members = np.flatnonzero(classes == k)
        if len(members) > 1:
            n_held_out = min(max(1, round(share * len(members))), len(members) - 1)
            held_out[rng.permutation(members)[:n_held_out]] = True
    return held_out if sets is None else _keep_classes(labels, sets, held_out)[sets]


def _keep_classes(labels: NDArray[Any], sets: Int64, held_out: Mask) -> Mask:
    """Return the mask without sets that hold a whole class, which training needs."""
    for k in np.setdiff1d(labels, labels[~held_out[sets]]):
        held_out[sets[np.argmax(labels == k)]] = False
    return held_out


# Evaluation after each round

METRICS = ("auto", "cost", "log_loss", "brier")
"""What early stopping goes by; "auto" is cost, and of the recipe log loss."""


class EvalSet(NamedTuple):
    """One eval_set as the user gave it, checked: costs and weights may be None."""

    name: str
    X: Any
    y: NDArray[Any]
    costs: Any
    weights: Floats | None


class HeldOutRows(NamedTuple):
    """Held-out rows: a table for outside learners, or codes; labels, costs and weights.

    `costs` are bound, None for regression; `prices` are pinball loss's, (n, 2).
    """

    X: Any
    codes: NDArray[np.uint8] | None
    y: NDArray[Any]
    costs: Any
    weights: Floats | None
    prices: Floats | None = None


class HeldOutResult(Protocol):
    """A model's predictions for held-out rows."""

    def measure(self, metric: Any) -> float:
        """Return the metric, by name or a user's function; lower is better."""


@dataclass(frozen=True)
class ClassResult:
    """A classifier's predictions for held-out rows.

    Attributes
    ----------
    classes : ndarray of shape (K,)
        As the user wrote them.
    y : integer array of shape (n,)
        The numbers of the true classes.
    proba : callable
        Returns class probabilities, (n, K); called only if the metric needs them.
    decided : integer array of shape (n,)
        Numbers of the actions taken.
    costs : Costs
        Bound, of these rows.
    weights : float64 array of shape (n,) or None
    """

    classes: NDArray[Any]
    y: NDArray[np.integer[Any]]
    proba: Callable[[], Floats]
    decided: NDArray[np.integer[Any]]
    costs: Costs
    weights: Floats | None

    def measure(self, metric: Any) -> float:
        """Return the metric, by name or a user's function; lower is better."""
        if callable(metric):
            return call_metric(metric, self.classes[self.y], self.proba(), self.weights)
        return float(np.average(self.row_losses(metric), weights=self.weights))

    def row_losses(self, metric: str) -> Floats:
        """Return the loss of each row, shape (n,), whose weighted mean is the metric."""
        proba = None if metric == "cost" else self.proba()
        out = np.empty(len(self.y))
        for rows in blocks_of(len(out)):
            y = self.y[rows].astype(np.intp)
            if proba is None:
                costs, decided = self.costs[rows], self.decided[rows]
                out[rows] = costs.of_decisions(y, decided, encoded=True)
                continue
            p = proba[rows]
            right = p[np.arange(len(y)), y]
            if metric == "log_loss":
                out[rows] = -np.log(np.maximum(right, 1e-15))
            else:  # Brier (1950), halved, so that with two classes it is (p - y)^2
                out[rows] = 0.5 * (np.sum(p**2, axis=1) - right**2 + (1.0 - right) ** 2)
        return out

    def constant_cost(self) -> float:
        """Return the mean cost of the cheapest constant; inf where even hindsight costs as much."""
        return constant_cost(self.costs, self.y, self.weights)


def constant_cost(costs: Costs, y: NDArray[np.integer[Any]], weights: Floats | None) -> float:
    """Return the mean cost of the cheapest constant; inf where even hindsight costs as much."""
    prices = costs.of_labels(y.astype(np.intp), encoded=True)
    constant = float(np.average(prices, axis=0, weights=weights).min())
    least = float(np.average(prices.min(axis=1), weights=weights))
    return constant if least < constant else np.inf


@dataclass(frozen=True)
class NumberResult:
    """A regression's predictions for held-out rows.

    Attributes
    ----------
    y : float64 array of shape (n,)
        The true numbers.
    predicted : float64 array of shape (n,)
    mean_loss : callable
        Returns the mean loss; called if no other metric was given.
    weights : float64 array of shape (n,) or None
    """

    y: Floats
    predicted: Floats
    mean_loss: Callable[[], float]
    weights: Floats | None

    def measure(self, metric: Any) -> float:
        """Return the mean loss, or a user's metric."""
        if callable(metric):
            return call_metric(metric, self.y, self.predicted.copy(), self.weights)
        return self.mean_loss()


def call_metric(
    metric: Any, truth: NDArray[Any], predicted: Floats, weights: Floats | None
) -> float:
    """Return a user's metric; it gets `sample_weight=` where there are weights."""
    extra = {} if weights is None else {"sample_weight": weights}
    return float(metric(truth, predicted, **extra))


class Follower(Protocol):
    """A model of a growing number of rounds, on held-out rows."""

    def follow(self, done: Any) -> HeldOutResult:
        """Add a round; return the predictions of the model so far."""


def class_actions(costs: Costs, answers: Array) -> Array:
    """Return class numbers as numbers of actions: the same, where the actions are the classes."""
    if not costs.is_square:
        raise ValueError(
            "This method decides for a class, and cannot stop by the cost of other actions, which "
            f'are {costs.actions}. Use early_stopping_metric="log_loss".'
        )
    return answers


class Decisions:
    """The decisions on held-out rows, round by round: whether they change, and beat a constant."""

    def __init__(self) -> None:
        self._last_two: tuple[Array | None, Array | None] = (None, None)
        self._constant: float | None = None

    def note(self, answers: ClassResult, *, by_cost: bool = True) -> None:
        """Keep the decisions of a round; `by_cost`: whether training stops by their cost."""
        if by_cost:
            self._last_two = (self._last_two[1], answers.decided)
        if self._constant is None:
            self._constant = answers.constant_cost()

    def idle(self) -> bool:
        """Whether the last round changed no decision: the cost cannot have moved."""
        before, last = self._last_two
        return before is not None and last is not None and np.array_equal(before, last)

    def beat_no_constant(self, least: float) -> bool:
        """Whether the cheapest constant costs no more than the cheapest round."""
        return self._constant is not None and least >= self._constant


class Judge:
    """Evaluates every round: its metric on the first set counts, those on others are recorded.

    Attributes
    ----------
    results : dict
        For each set, by name, the metric after each round.
    decisions : Decisions
        On the first set; none are noted where cost is not what counts.
    """

    def __init__(self, metric: Any, followers: Sequence[tuple[str, Follower]]) -> None:
        self.metric, self.followers = metric, followers
        self.results: dict[str, list[float]] = {name: [] for name, _ in followers}
        self.decisions = Decisions()

    def __call__(self, done: Any) -> float:
        """Follow all sets; return the metric on the first."""
        for i, (name, follower) in enumerate(self.followers):
            result = follower.follow(done)
            self.results[name].append(result.measure(self.metric))
            if i == 0 and self.metric == "cost":
                assert isinstance(result, ClassResult)
                self.decisions.note(result)
        return self.results[self.followers[0][0]][-1]

    def beats_no_constant(self) -> bool:
        """Whether the cheapest constant costs no more than the best round."""
        found = self.results[self.followers[0][0]]
        return self.decisions.beat_no_constant(min(found, default=np.inf))


# Histories of rounds as fitted attributes, one series or one for each model

# Which of them there are depends on the method.
HISTORY = (
    "estimator_weights_",
    "estimator_errors_",
    "normalizers_",
    "objective_",
    "objective_bound_",
    "cost_bound_",
    "train_cost_",
    "train_loss_",
    "validation_cost_",
    "validation_loss_",
    "validation_rounds_",
    "eval_results_",
    "estimators_",
    "recipe_",
)


def eval_series(metric: Any, evals: Sequence[dict[str, list[float]]]) -> dict[str, list[Any]]:
    """Return the attributes with metrics of held-out rows, one entry per model."""
    if not any(evals[-1].values()):
        return {}
    kind = "cost" if metric == "cost" else "loss"
    arrays = [{name: np.array(values) for name, values in part.items()} for part in evals]
    series: dict[str, list[Any]] = {f"validation_{kind}_": [next(iter(a.values())) for a in arrays]}
    if len(arrays[0]) > 1:
        series["eval_results_"] = list(arrays)
    return series


def set_history(estimator: Any, series: dict[str, list[Any]]) -> None:
    """Set the histories, one entry per model; delete those of the last fit.

    A single model's stand alone, several models' in a list.
    """
    for name in HISTORY:
        if hasattr(estimator, name):
            delattr(estimator, name)
    for name, values in series.items():
        setattr(estimator, name, values[0] if len(values) == 1 else values)


# Held-out rows that users give: one set, or several by name


def read_eval_set(estimator: Any, eval_set: Any, *, per_row: bool) -> list[EvalSet] | None:
    """Return the held-out rows that a user gave, if any: one set, or several by name.

    `per_row` says that training has prices per row, so that the held-out rows need their own.
    """
    if eval_set is None:
        return None
    named = eval_set if isinstance(eval_set, Mapping) else {"eval_set": eval_set}
    if not named:
        raise ValueError("eval_set is an empty dict: name at least one set, or leave it out.")
    return [_read_one_set(estimator, str(n), part, per_row=per_row) for n, part in named.items()]


def _read_one_set(estimator: Any, name: str, part: Any, *, per_row: bool) -> EvalSet:
    if not isinstance(part, tuple | list) or len(part) not in (2, 3, 4):
        given = f"{len(part)} parts" if isinstance(part, tuple | list) else repr(part)
        raise ValueError(
            f"{name} must be (X, y) or (X, y, costs) or (X, y, costs, sample_weight), got {given}."
        )
    X, y, costs, weights = (*part, None, None)[:4]
    trained_on = getattr(estimator, "costs_", getattr(estimator, "training_costs_", None))
    if costs is None and getattr(trained_on, "needs_table", False):
        costs = trained_on
    if costs is None and per_row:
        raise ValueError(
            "Training has prices per row, so the held-out rows need their own: give "
            f"{name}=(X, y, costs)."
        )
    X = check_table(estimator, X, reset=False)
    labels = column_or_1d(y)
    check_consistent_length(X, labels)
    if isinstance(costs, Costs) or (isinstance(costs, Mapping) and hasattr(estimator, "classes_")):
        costs = as_costs(costs, table=X)
    elif isinstance(costs, NumberCosts | Mapping):
        costs = as_number_costs(costs).bind_table(X)
    weights = None if weights is None else read_weights(weights, len(labels))
    return EvalSet(name, X, labels, costs, weights)


def read_prices_of_set(part: EvalSet) -> tuple[Floats, Floats | None]:
    """Return the target of a regression's eval set, (n,), and its prices, if any.

    They have shape (n, 2), over and under, or (n, 4) where they are `NumberCosts`.
    """
    n_rows, given = len(part.y), part.costs
    if isinstance(given, NumberCosts):
        return read_numeric_targets(part.X, part.y), given.training_prices(n_rows)
    prices = None if given is None else read_numbers(given, "the prices of eval_set")
    if prices is not None and prices.shape != (n_rows, 2):
        raise ValueError(
            f"eval_set has prices of shape {prices.shape} for {n_rows} rows: give (n, 2), "
            "over and under of every row."
        )
    return read_numeric_targets(part.X, part.y), prices
