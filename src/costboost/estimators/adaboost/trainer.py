"""Training of one ensemble on some rows of a table that is binned once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from costboost.boosting.adaboost.effective import Setting, scaled_prices
from costboost.boosting.adaboost.joint import JointFinder
from costboost.boosting.adaboost.learner import LEAF_VALUES, Learner, OutsideLearner, TreeLearner
from costboost.boosting.adaboost.links import voted_proba
from costboost.boosting.adaboost.loop import Boosting, Round
from costboost.boosting.adaboost.model import Ensemble, assemble, constant_ensemble, outside_votes
from costboost.boosting.adaboost.prices import Prices, training_prices
from costboost.boosting.adaboost.rules import At, Rule
from costboost.costs import Costs, as_costs
from costboost.estimators.adaboost.plan import Plan, _RowObjective
from costboost.fitting.constraints import check_order
from costboost.fitting.trainer import TableTrainer, set_history
from costboost.inputs.arrays import encode
from costboost.inputs.checks import plain, warn_caller
from costboost.shards.layout import Layout, plan_layout, sensible_shards
from costboost.trees.forest import ForestBuilder

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

FEW = 20  # rounds: who asks for no more may well end early


@dataclass(frozen=True)
class History:
    """What is known of the rounds of one model."""

    rounds: list[Round]
    validation_cost: list[float]
    cost_bound: Floats | None


class Trainer(TableTrainer):
    """Holds a table, its codes and its costs; trains on any of its rows.

    Parameters
    ----------
    plan : Plan
    X : the table
    y : int64 array of shape (n,), class numbers
    weights : float64 array of shape (n,) or None
    costs : Costs, bound to the classes and, if per row, to the rows
    classes : ndarray of shape (K,)
    held_out : tuple (X, y, costs or None), or None
        Rows for early stopping, as `read_eval_set` returns them.
    observer : callable, or None
        Told of every round; True stops.
    """

    plan: Plan
    histories: list[History]

    def __init__(
        self,
        plan: Plan,
        X: Any,
        y: Int64,
        weights: Floats | None,
        costs: Costs,
        classes: NDArray[Any],
        held_out: tuple[Any, ...] | None = None,
        observer: Any = None,
    ) -> None:
        super().__init__(plan, X, y, weights, observer)
        self.costs, self.classes = costs, classes
        self._warned = False
        self.out_of_fold: tuple[list[int], list[float]] | None = None  # set by the recipe
        self._held_out = None if held_out is None else self._watch_table(*held_out)

    @property
    def margins(self) -> bool:  # type: ignore[override]
        """Whether `score` returns real-valued margins rather than shares of votes."""
        return not self.plan.discrete

    def __enter__(self) -> Trainer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._codes = None

    def _watch_table(self, X: Any, labels: NDArray[Any], given: Any) -> _Watched:
        encode(self.classes, labels, "y of eval_set")  # refuses labels that are not known
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
            history = self._history(boosting, watched, previous or [])
        self.histories.append(history)
        if not history.rounds:
            return self._constant(boosting)
        if boosting.stop == "alpha":
            self._warn_if_early(len(history.rounds))
        return self.assemble(history.rounds, boosting.terms.link_slope())

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
        setting = replace(_at_rows(plan.setting, part), n_rounds=self.n_rounds)
        prices, setting = _aim_at_objective(prices, plan.rule, setting)
        layout = self._layout(prices.labels)
        with layout.cut(self._arranged(layout, part)) as shards:
            learner = self._learner(prices, part, weights)
            data = (prices, costs, y, weights, plan.n_classes)
            yield Boosting(shards, plan.rule, learner, *data, setting)

    def assemble(self, rounds: list[Round], slope: float = 2.0) -> Ensemble:
        """Put rounds together; `slope` is that of the link."""
        plan = self.plan
        kind = (plan.n_classes, plan.setting.votes)
        return assemble(rounds, self.binner, *kind, discrete=plan.discrete, slope=slope)

    def _history(
        self, boosting: Boosting, watched: _Watched | None, previous: list[Round]
    ) -> History:
        judge = None if watched is None else watched.judge()
        taken = self._take(boosting.rounds, judge, previous)
        bound = _cost_bound(boosting, taken.rounds) if self.plan.bounded else None
        return History(taken.rounds, taken.costs, bound)

    def _layout(self, labels: Int64) -> Layout:
        plan = self.plan
        n_features = 0 if self.binner is None else self.binner.n_features
        n_shards = sensible_shards(len(labels), n_features, plan.n_threads)
        return plan_layout(labels, len(labels), plan.n_classes, n_shards)

    def _learner(self, prices: Prices, rows: Int64 | None, weights: Floats | None) -> Learner:
        plan = self.plan
        if self.binner is None:
            return OutsideLearner(
                plan.estimator,
                self.table_of(rows),
                prices.labels,
                plan.n_classes,
                votes=plan.setting.votes,
                random_state=check_random_state(plan.seed),
            )
        check_order(plan.monotone, self.binner)
        finder = None
        stump = plan.limits.max_depth == 1 or plan.limits.max_leaf_nodes == 2
        if plan.rule.joint and prices.constant and stump and prices.largest > 0.0:
            # As in Boosting: the largest cost is scaled to 1.
            unit = prices.right / prices.largest
            both = (float(unit[1]), float(unit[0]))
            search, least = plan.rule.joint, plan.limits.min_samples_leaf
            ways = plan.monotone
            finder = lambda binner: JointFinder(binner, both, search, least, ways)  # noqa: E731
        return TreeLearner(
            self.binner,
            plan.n_classes,
            plan.limits,
            criterion=plan.criterion,
            min_weight_leaf=plan.min_weight_leaf,
            subsample=plan.subsample,
            votes=plan.setting.votes,
            laplace=plan.laplace,
            n_copies=None if weights is None else float(np.sum(weights)),
            seed=plan.seed,
            finder=finder,
            monotone=plan.monotone,
        )

    def _constant(self, boosting: Boosting) -> Ensemble:
        """Say that no round could be taken, and answer the cheapest constant."""
        plan = self.plan
        costs, y, weights = boosting.costs, boosting.y, boosting.sample_weight
        if costs.is_square:
            label, _ = costs.cheapest_constant(self.classes[y], weights)
            answer = int(np.searchsorted(self.classes, label))
        else:
            answer = int(np.argmax(np.bincount(y, weights, minlength=plan.n_classes)))
        warn_caller(
            f"method={plan.rule.name!r} could not take a single step: the first learner's votes "
            f"are no better than chance under its weights. The model answers "
            f"{plain(self.classes[answer])!r} always. Try {self._remedy()}, or other costs."
        )
        return constant_ensemble(
            answer, plan.n_classes, self.binner, discrete=plan.discrete, votes=plan.setting.votes
        )

    def _warn_if_early(self, n_taken: int) -> None:
        """Say once that a method ended in the first tenth of the rounds it was asked for."""
        name, n_rounds = self.plan.rule.name, self.n_rounds
        if self._warned or n_rounds < FEW or 10 * n_taken > n_rounds:
            return
        self._warned = True
        warn_caller(
            f"method={name!r} ended after {n_taken} of {n_rounds} rounds: under its weights the "
            f"next learner's votes are no better than chance. Try {self._remedy()}, or "
            f"n_estimators={n_taken} if this is all you want."
        )

    def _remedy(self) -> str:
        name = self.plan.rule.name
        if name == "adacost":
            return 'a smaller cost_scale, votes="confidence" (its authors\' own), or deeper trees'
        if name in ("adac1", "adac2", "adac3"):
            return 'method="cgada", or deeper trees'
        return "deeper trees"

    # --- held-out rows

    def _watch_rows(self, rows: Int64) -> _Watched:
        X = codes = None
        if self.binner is None:
            X = self.table_of(rows)
        else:
            codes = self.codes_of(rows)
        weights = None if self.weights is None else self.weights[rows]
        return _Watched(self, X, codes, self.classes[self.y[rows]], self.costs[rows], weights)

    # --- for calibration and the report

    def score(self, model: Ensemble, rows: Any) -> Floats:
        """Return the scores of some rows, to calibrate on."""
        if model.forest is None:
            margins = model.margins(self.table_of(rows))
        else:
            margins = model.forest.margins_of_codes(self.codes_of(rows), self.plan.n_threads)
        return model.scores(margins, model.total_alpha)

    def report(self, estimator: Any, models: tuple[Ensemble, ...]) -> None:
        """Set the fitted attributes that tell of rounds."""
        kept = self.histories[-1:] if len(models) == 1 else self.histories
        series: dict[str, list[Any]] = {
            "estimator_weights_": [model.alphas for model in models],
            "estimator_errors_": [np.array([r.error for r in h.rounds]) for h in kept],
            "normalizers_": [np.array([r.normalizer for r in h.rounds]) for h in kept],
            "train_cost_": [np.array([r.train_cost for r in h.rounds]) for h in kept],
        }
        if self.plan.bounded:
            series["cost_bound_"] = [h.cost_bound for h in kept]
        if kept[-1].validation_cost:
            series["validation_cost_"] = [np.array(h.validation_cost) for h in kept]
        if self.out_of_fold is not None:
            rounds, losses = self.out_of_fold
            series["validation_rounds_"] = [np.array(rounds)]
            series["validation_loss_"] = [np.array(losses)]
        if self.plan.estimator is not None:
            series["estimators_"] = [list(model.estimators) for model in models]
        set_history(estimator, series)
        estimator.n_iter_ = max(len(model.alphas) for model in models)


@dataclass(frozen=True)
class _Watched:
    """Held-out rows, and what the decisions of each round cost on them."""

    trainer: Trainer
    X: Any
    codes: NDArray[np.uint8] | None
    labels: NDArray[Any]
    costs: Costs
    weights: Floats | None

    def judge(self) -> Any:
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

        def cost_after(done: Round) -> float:
            add(done)
            decided = self._decide(margins, total)
            paid = self.costs.of_decisions(self.labels, decided)
            return float(np.average(paid, weights=self.weights))

        return cost_after

    def _decide(self, margins: Floats, total: float) -> NDArray[Any]:
        classes = self.trainer.classes
        if self.trainer.plan.rule.decision == "cheapest":
            shares = self.trainer.plan.setting.votes not in LEAF_VALUES
            return self.costs.decide(voted_proba(margins, total, shares=shares))
        if margins.shape[1] == 1:
            return np.asarray(classes[(margins[:, 0] > 0.0).astype(int)])
        return np.asarray(classes[np.argmax(margins, axis=1)])


def _aim_at_objective(prices: Prices, rule: Rule, setting: Setting) -> tuple[Prices, Setting]:
    """Gradient-CSB with the user's own a: the pseudo-label is its sign.

    A function is asked once for all rows, with their true labels, unless its signs are theirs.
    """
    objective = setting.objective
    if objective is None:
        return prices, setting
    if not isinstance(objective, _RowObjective):
        own = scaled_prices(prices, rule, setting.cost_scale).by_row()
        sign = np.where(own.labels == 1, 1.0, -1.0)
        at = At(cost=own.right, sign=sign, n_rounds=setting.n_rounds)
        arrays = objective(at, np.arange(len(sign)))
        if np.all(arrays[0] * sign >= 0.0):
            return prices, setting
        objective = _RowObjective(arrays)
    labels = (objective.arrays[0] > 0.0).astype(np.int64)
    return replace(prices.by_row(), labels=labels), replace(setting, objective=objective)


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
