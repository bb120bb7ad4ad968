"""Training of one ensemble on some rows of a table that is binned once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, check_random_state

from costboost._inputs import plain
from costboost.boosting.consume import EarlyStopping, Printer, consume
from costboost.boosting.ensemble import Ensemble, assemble, constant_ensemble, outside_votes
from costboost.boosting.joint import JointFinder
from costboost.boosting.learners import Learner, OutsideLearner, TreeLearner
from costboost.boosting.ledger import vote_shares
from costboost.boosting.prices import Prices, training_prices
from costboost.boosting.rounds import Boosting, Round
from costboost.costs import Costs, as_costs
from costboost.plans import Plan, _RowObjective
from costboost.trees.binning import Binner, fit_binner
from costboost.trees.forest import ForestBuilder
from costboost.trees.shards import Layout, plan_layout, sensible_shards

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class History:
    """What is known of the rounds of one model."""

    rounds: list[Round]
    validation_cost: list[float]
    cost_bound: Floats | None


class Trainer:
    """Holds a table, its codes and its costs; trains on any of its rows.

    Parameters
    ----------
    plan : Plan
    X : the table
    y : int64 array of shape (n,), class numbers
    weights : float64 array of shape (n,) or None
    costs : Costs, bound to the classes and, if per row, to the rows
    classes : ndarray of shape (K,)
    eval_set : tuple (X, y) or (X, y, costs), or None
    observer : callable, or None
        Told of every round; True stops.
    """

    def __init__(
        self,
        plan: Plan,
        X: Any,
        y: Int64,
        weights: Floats | None,
        costs: Costs,
        classes: NDArray[Any],
        eval_set: tuple[Any, ...] | None = None,
        observer: Any = None,
    ) -> None:
        self.plan, self.X, self.y, self.weights = plan, X, y, weights
        self.costs, self.classes, self.observer = costs, classes, observer
        self.histories: list[History] = []
        self.binner: Binner | None = None
        self._codes: NDArray[np.uint8] | None = None
        self._max_rounds = plan.setting.n_rounds
        if plan.estimator is None:
            self.binner = fit_binner(
                X,
                weights,
                max_bins=plan.max_bins,
                categorical_features=plan.categorical_features,
                n_threads=plan.n_threads,
            )
        self._held_out = None if eval_set is None else self._read_eval_set(eval_set)

    def __enter__(self) -> Trainer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._codes = None

    def _read_eval_set(self, eval_set: tuple[Any, ...]) -> _Watched:
        if len(eval_set) not in (2, 3):
            raise ValueError(
                f"eval_set must be (X, y) or (X, y, costs), got {len(eval_set)} parts."
            )
        X, y = eval_set[0], eval_set[1]
        given = eval_set[2] if len(eval_set) == 3 else None
        if given is None and self.costs.per_row:
            raise ValueError(
                "Training has costs per row, so the held-out rows need their own: give "
                "eval_set=(X, y, costs)."
            )
        labels = np.asarray(y)
        costs = self.costs if given is None else as_costs(given, self.classes, len(labels))
        codes = None if self.binner is None else self.binner.encode(X)
        return _Watched(self, X, codes, labels, costs, None)

    # --- training

    def train(self, rows: Any = None, previous: list[Round] | None = None) -> Ensemble:
        """Train on all rows, or on those numbered; continue from previous rounds if given."""
        plan, watched = self.plan, self._held_out
        everything = self._weighted_rows(rows)
        if plan.patience is not None and watched is None:
            everything, apart = self._hold_out(everything)
            watched = self._watch_rows(apart)
        with self.open(everything) as boosting:
            if previous:
                boosting.replay(previous)
            history = self._consume(boosting, watched, previous or [])
        self.histories.append(history)
        if not history.rounds:
            return self._constant(boosting)
        return self.assemble(history.rounds)

    @contextmanager
    def open(self, rows: Int64) -> Iterator[Boosting]:
        """Set up the rounds on some rows; the threads end with the block."""
        plan = self.plan
        part = None if len(rows) == len(self.y) else rows
        y, costs, weights = self.y, self.costs, self.weights
        if part is not None:
            y, costs = y[part], costs[part]
            weights = None if weights is None else weights[part]
        prices = training_prices(costs, y, plan.n_classes, aim=plan.rule.trains_on_costs)
        prices = _aim_at_objective(prices, plan, rows)
        layout = self._layout(prices.labels)
        setting = replace(_at_rows(plan.setting, part), n_rounds=max(self._max_rounds, 1))
        with layout.cut(self._arranged(layout, part)) as shards:
            learner = self._learner(prices, part)
            data = (prices, costs, y, weights, plan.n_classes)
            yield Boosting(shards, plan.rule, learner, *data, setting)

    def assemble(self, rounds: list[Round]) -> Ensemble:
        """Put rounds together."""
        plan = self.plan
        votes = plan.setting.votes
        return assemble(rounds, self.binner, plan.n_classes, votes, discrete=plan.discrete)

    def _weighted_rows(self, rows: Any) -> Int64:
        """Return the numbers of the rows to train on: rows of weight 0 are as good as absent."""
        everything = np.arange(len(self.y)) if rows is None else np.asarray(rows)
        if self.weights is None or np.all(self.weights[everything] > 0.0):
            return everything
        everything = everything[self.weights[everything] > 0.0]
        if len(np.unique(self.y[everything])) < 2:
            raise ValueError(
                "sample_weight leaves rows of fewer than two classes: give positive weights to "
                "rows of at least two classes."
            )
        return everything

    def _consume(
        self, boosting: Boosting, watched: _Watched | None, previous: list[Round]
    ) -> History:
        plan = self.plan
        watch = None
        observers: list[Any] = []
        if watched is not None:
            watch = EarlyStopping(watched.judge(previous), plan.patience, plan.tolerance)
            observers.append(watch)
        if plan.verbose:
            observers.append(Printer(plan.setting.n_rounds, plan.verbose, watch))
        if self.observer is not None:
            observers.append(self.observer)
        outcome = consume(boosting.rounds(len(previous)), observers, on_interrupt=plan.on_interrupt)
        rounds = previous + outcome.rounds
        if outcome.interrupted:
            # Models still to come are made in the same time.
            self._max_rounds = len(rounds)
        if watch is not None and plan.patience is not None and watch.costs:
            rounds = rounds[: len(previous) + watch.best_rounds]
        bound = _cost_bound(boosting, rounds) if plan.bounded else None
        return History(rounds, [] if watch is None else watch.costs, bound)

    def _layout(self, labels: Int64) -> Layout:
        plan = self.plan
        n_features = 0 if self.binner is None else self.binner.n_features
        n_shards = sensible_shards(len(labels), n_features, plan.n_threads)
        return plan_layout(labels, len(labels), plan.n_classes, n_shards)

    def _arranged(self, layout: Layout, rows: Int64 | None) -> NDArray[np.uint8]:
        """Return the codes of the rows, in the order of the layout."""
        if self.binner is None:
            return np.zeros((len(layout.rows), 0), dtype=np.uint8)
        n_threads = self.plan.n_threads
        if rows is None and self._codes is None:
            return self.binner.encode(self.X, positions=layout.positions, n_threads=n_threads)
        return self.codes_of(layout.rows if rows is None else rows[layout.rows])

    def codes_of(self, rows: Any) -> NDArray[np.uint8]:
        """Return the codes of some rows; the table is binned at the first call, and kept."""
        if self._codes is None:
            assert self.binner is not None
            self._codes = self.binner.encode(self.X, n_threads=self.plan.n_threads)
        return np.asarray(self._codes[rows])

    def _learner(self, prices: Prices, rows: Int64 | None) -> Learner:
        plan = self.plan
        if self.binner is None:
            X = self.X if rows is None else _safe_indexing(self.X, rows)
            return OutsideLearner(
                plan.estimator,
                X,
                prices.labels,
                plan.n_classes,
                votes=plan.setting.votes,
                random_state=check_random_state(plan.seed),
            )
        finder = None
        stump = plan.limits.max_depth == 1 or plan.limits.max_leaf_nodes == 2
        if plan.rule.joint and prices.constant and stump and prices.largest > 0.0:
            # As in Boosting: the largest cost is scaled to 1.
            unit = prices.right / prices.largest
            both = (float(unit[1]), float(unit[0]))
            search, least = plan.rule.joint, plan.limits.min_samples_leaf
            finder = lambda binner: JointFinder(binner, both, search, least)  # noqa: E731
        return TreeLearner(
            self.binner,
            plan.n_classes,
            plan.limits,
            criterion=plan.criterion,
            min_weight_leaf=plan.min_weight_leaf,
            subsample=plan.subsample,
            votes=plan.setting.votes,
            laplace=plan.laplace,
            seed=plan.seed,
            finder=finder,
        )

    def _constant(self, boosting: Boosting) -> Ensemble:
        """Say that no round could be taken, and answer the cheapest constant."""
        plan = self.plan
        costs, y, weights = boosting.costs, boosting.y, boosting.sample_weight
        remedy = {
            "adacost": "a smaller cost_scale, deeper trees",
            "adac1": 'method="cgada", or deeper trees',
            "adac2": 'method="cgada", or deeper trees',
            "adac3": 'method="cgada", or deeper trees',
        }.get(plan.rule.name, "deeper trees")
        if costs.is_square:
            label, _ = costs.cheapest_constant(self.classes[y], weights)
            answer = int(np.searchsorted(self.classes, label))
        else:
            answer = int(np.argmax(np.bincount(y, weights, minlength=plan.n_classes)))
        warnings.warn(
            f"method={plan.rule.name!r} could not take a single step: the first learner's votes "
            f"are no better than chance under its weights. The model answers "
            f"{plain(self.classes[answer])!r} always. Try {remedy}, or other costs.",
            UserWarning,
            stacklevel=6,
        )
        return constant_ensemble(
            answer, plan.n_classes, self.binner, discrete=plan.discrete, votes=plan.setting.votes
        )

    # --- held-out rows

    def _hold_out(self, rows: Int64) -> tuple[Int64, Int64]:
        """Set a share of every class apart, at least one row and never all of them."""
        share = self.plan.validation_fraction
        if not share > 0.0:
            raise ValueError(
                "Early stopping needs held-out rows: give validation_fraction > 0 or an eval_set."
            )
        rng = np.random.default_rng(self.plan.seed)
        apart = np.zeros(len(rows), dtype=bool)
        for k in range(self.plan.n_classes):
            members = np.flatnonzero(self.y[rows] == k)
            if len(members) > 1:
                n_apart = min(max(1, round(share * len(members))), len(members) - 1)
                apart[rng.permutation(members)[:n_apart]] = True
        return rows[~apart], rows[apart]

    def _watch_rows(self, rows: Int64) -> _Watched:
        X = codes = None
        if self.binner is None:
            X = _safe_indexing(self.X, rows)
        else:
            codes = self.codes_of(rows)
        weights = None if self.weights is None else self.weights[rows]
        return _Watched(self, X, codes, self.classes[self.y[rows]], self.costs[rows], weights)

    # --- for calibration and the report

    def score(self, model: Ensemble, rows: Any) -> Floats:
        """Return the scores of some rows, to calibrate on."""
        if model.forest is None:
            margins = model.margins(_safe_indexing(self.X, rows))
        else:
            margins = model.forest.margins_of_codes(self.codes_of(rows), self.plan.n_threads)
        return model.scores(margins, model.total_alpha)

    def report(self, estimator: Any, models: tuple[Ensemble, ...]) -> None:
        """Set the fitted attributes that tell of rounds."""
        kept = self.histories[-1:] if len(models) == 1 else self.histories
        series = {
            "estimator_weights_": [model.alphas for model in models],
            "estimator_errors_": [np.array([r.error for r in h.rounds]) for h in kept],
            "normalizers_": [np.array([r.normalizer for r in h.rounds]) for h in kept],
            "train_cost_": [np.array([r.train_cost for r in h.rounds]) for h in kept],
        }
        if self.plan.bounded:
            series["cost_bound_"] = [h.cost_bound for h in kept]  # type: ignore[misc]
        if kept and kept[-1].validation_cost:
            series["validation_cost_"] = [np.array(h.validation_cost) for h in kept]
        for name, values in series.items():
            setattr(estimator, name, values[0] if len(models) == 1 else values)
        estimator.n_iter_ = max(len(model.alphas) for model in models)
        if self.plan.estimator is not None:
            lists = [list(model.estimators) for model in models]
            estimator.estimators_ = lists[0] if len(models) == 1 else lists


@dataclass(frozen=True)
class _Watched:
    """Held-out rows, and what the decisions of each round cost on them."""

    trainer: Trainer
    X: Any
    codes: NDArray[np.uint8] | None
    labels: NDArray[Any]
    costs: Costs
    weights: Floats | None

    def judge(self, previous: list[Round]) -> Any:
        """Return the function from a round to the mean cost after it."""
        plan = self.trainer.plan
        n_outputs = 1 if plan.n_classes == 2 else plan.n_classes
        margins = np.zeros((len(self.labels), n_outputs))
        total = 0.0

        def add(done: Round) -> None:
            nonlocal total
            total += float(np.sum(done.alpha))
            if done.lesson.tree is None:
                margins[:] += outside_votes(
                    done.lesson.estimator, self.X, done.alpha, plan.setting.votes, plan.n_classes
                )
                return
            assert self.codes is not None
            assert self.trainer.binner is not None
            builder = ForestBuilder(n_outputs)
            builder.add(done.lesson.tree, done.values)
            builder.build(self.trainer.binner).add_trees(self.codes, margins, 0, 1)

        for done in previous:
            add(done)

        def cost_after(done: Round) -> float:
            add(done)
            decided = self._decide(margins, total)
            paid = self.costs.of_decisions(self.labels, decided)
            return float(np.average(paid, weights=self.weights))

        return cost_after

    def _decide(self, margins: Floats, total: float) -> NDArray[Any]:
        classes = self.trainer.classes
        if self.trainer.plan.rule.decision == "cheapest":
            return self.costs.decide(vote_shares(margins, total))
        if margins.shape[1] == 1:
            return np.asarray(classes[(margins[:, 0] > 0.0).astype(int)])
        return np.asarray(classes[np.argmax(margins, axis=1)])


def _aim_at_objective(prices: Prices, plan: Plan, rows: Int64) -> Prices:
    """Gradient-CSB with the user's own a: the pseudo-label is its sign."""
    objective = plan.setting.objective
    if not isinstance(objective, _RowObjective):
        return prices
    labels = (objective.arrays[0][rows] > 0.0).astype(np.int64)
    return replace(prices.by_row(), labels=labels)


def _at_rows(setting: Any, rows: Int64 | None) -> Any:
    """Return the setting with a user's objective cut to the rows of this model."""
    objective = setting.objective
    if rows is None or not isinstance(objective, _RowObjective):
        return setting
    a, b, w0 = objective.arrays
    return replace(setting, objective=_RowObjective((a[rows], b[rows], w0[rows])))


def _cost_bound(boosting: Boosting, rounds: list[Round]) -> Floats:
    """Return sum c * prod Z after each round, in the user's units.

    c is what a mistake costs more than the answer aimed at; where that costs something too, it is
    paid in any case and added.
    """
    prices = boosting.terms.prices
    costs = prices.right[prices.labels] if prices.constant else prices.right
    weights = 1.0 if boosting.sample_weight is None else boosting.sample_weight
    total = float(np.sum(weights * (costs / prices.scale)))
    paid = boosting.costs.of_labels(boosting.y, encoded=True)
    unavoidable = float(np.sum(weights * paid[np.arange(len(paid)), prices.labels]))
    return np.asarray(unavoidable + total * np.cumprod([done.normalizer for done in rounds]))
