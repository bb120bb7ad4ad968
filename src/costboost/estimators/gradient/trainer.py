"""Training of gradient boosting models on some rows of a table that is binned once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from costboost.binning.binner import Binner
from costboost.boosting.gradient.learner import (
    GradientLearner,
    GradientRegressor,
    GradientTree,
    Init,
    OutsideSteps,
    check_regressor,
)
from costboost.boosting.gradient.loop import GradientBoosting, GradientRound
from costboost.boosting.gradient.losses import flat
from costboost.boosting.gradient.rows import LossRows
from costboost.boosting.gradient.starting import GradientLoader, largest_cost, put_margins
from costboost.boosting.gradient.tallies import CostTally, loss_tally
from costboost.boosting.links import choices_of
from costboost.calibration import CalibratedScores
from costboost.costs import Costs
from costboost.estimators.gradient.model import assemble_gradient, to_model
from costboost.estimators.gradient.plan import GradientPlan
from costboost.fitting.held_out import (
    ClassResult,
    EvalSet,
    HeldOutResult,
    HeldOutRows,
    NumberResult,
    class_actions,
    series_of,
    set_history,
)
from costboost.fitting.plan import check_order
from costboost.fitting.trainer import TableTrainer
from costboost.fitting.warm import WarmState
from costboost.inputs.arrays import read_numbers
from costboost.inputs.checks import read_numeric_targets, warn_caller
from costboost.model import Member
from costboost.shards.local import Shards
from costboost.trees.forest import ForestBuilder
from costboost.typing import Floats, Int64

# Held-out rows: what each round's model costs, or loses, on rows that it was not trained on


class GradientFollower:
    """Adds rounds to the margins of held-out rows, and decides by them as the model does."""

    def __init__(
        self,
        plan: GradientPlan,
        binner: Binner | None,
        part: HeldOutRows,
        start: Floats,
        init: Init | None,
    ) -> None:
        self.plan, self.binner, self.part = plan, binner, part
        shape = (len(part.y), len(start))
        self.margins = np.broadcast_to(start, shape).copy()
        if init is not None:
            self.margins += init.margins(part.X)

    def _add(self, done: GradientRound) -> None:
        if self.binner is None:
            self.margins += OutsideSteps()(done.models, self.part.X, done.step)
            return
        builder = ForestBuilder(self.margins.shape[1])
        done.add_to(builder)
        forest = builder.build(self.binner)
        assert self.part.codes is not None
        n_threads = self.plan.n_threads
        forest.add_trees(self.part.codes, self.margins, 0, len(forest), n_threads)

    def follow(self, done: GradientRound) -> HeldOutResult:
        """Add a round; return what the model says now."""
        self._add(done)
        return self._predictions() if self.part.costs is None else self._answers(self.part.costs)

    def _answers(self, costs: Costs) -> ClassResult:
        part, plan = self.part, self.plan
        decided = part.y[:0]  # nobody asks
        if plan.odds is not None:
            decided = costs.decide(self._proba(), encoded=True)
        elif plan.metric == "cost":
            decided = class_actions(costs, choices_of(self.margins))
        assert costs.classes is not None
        return ClassResult(costs.classes, part.y, self._proba, decided, costs, part.weights)

    def _proba(self) -> Floats:
        return np.asarray(self.plan.loss.proba(flat(self.margins)))

    def _predictions(self) -> NumberResult:
        part = self.part
        return NumberResult(part.y, self.margins[:, 0], self._mean_loss, part.weights)

    def _mean_loss(self) -> float:
        rows = LossRows(self.part.y, 1, self.part.weights, prices=self.part.prices)
        return float(self.plan.loss.mean_value(rows, self.margins))


_LIGHTEST = 1e-100  # of the heaviest row, in any unit of weight


@dataclass(frozen=True)
class GradientHistory:
    """What is known of the rounds of one model, and why they ended."""

    rounds: list[GradientRound]
    evals: dict[str, list[float]]
    stop: str


class GradientTrainer(TableTrainer):
    """Holds a table, its codes, its targets and prices; trains on any of its rows.

    Parameters
    ----------
    plan : GradientPlan
    X : the table
    y : float64 array of shape (n,), or int64 class numbers
    weights : float64 array of shape (n,) or None
    costs : Costs or None
        Bound to the classes and, if per row, to the rows; None for regression.
    prices : float64 array of shape (n, 2) or None
        Pinball loss's (over, under) of every row.
    observer : callable or None
        Called after every round; True stops.
    """

    plan: GradientPlan
    histories: list[GradientHistory]
    scores_are_margins = True

    def __init__(
        self,
        plan: GradientPlan,
        X: Any,
        y: NDArray[Any],
        weights: Floats | None,
        *,
        costs: Costs | None = None,
        prices: Floats | None = None,
        observer: Any = None,
    ) -> None:
        super().__init__(plan, X, y, weights, costs, observer)
        self.prices = prices

    # --- training

    @contextmanager
    def open(
        self, rows: Int64 | None, previous: WarmState | None = None
    ) -> Iterator[GradientBoosting]:
        """Set up the rounds on some rows, or on all; their threads end with the block."""
        plan, part = self.plan, self._some(rows)
        loader = self._loader(part)
        table, costs = loader.rows, loader.data.costs
        with self.table.open(loader, part) as shards:
            (largest,) = shards.call([largest_cost(loss=plan.loss)])
            loss = plan.loss.scaled(largest)
            start, init = self._start(loss, shards, table, part, previous)
            learner = self._learner(table, part, self._l2(loader))
            setting = replace(plan.setting, n_rounds=self.n_rounds, l2=self._l2(loader))
            tally = self._tally(loss, shards, table, costs, part)
            self._first = (start, init)
            loop = GradientBoosting(shards, loss, learner, setting, start, tally)
            if init is not None:
                shards.put(put_margins, init.margins(self.table_of(part)) + start)
            del loader, table, costs  # rows elsewhere leave nothing here
            yield loop

    def _loader(self, part: Int64 | None) -> GradientLoader:
        """Return what makes the state of some rows, or of all."""
        plan, chosen = self.plan, slice(None) if part is None else part
        data = self.row_data if part is None else self.row_data.take(part)
        weights = data.weights
        weighted = weights is not None and np.ptp(weights) != 0.0  # all alike: as good as none
        shift = 0
        if weights is not None and weighted:
            shift = _shift(float(np.max(weights)))
        objective = plan.objective
        return GradientLoader(
            data,
            plan.n_outputs if plan.n_classes else 1,
            weighted=weighted,
            shift=shift,
            uses_costs=bool(plan.n_classes) and plan.loss.uses_costs,
            prices=None if self.prices is None else self.prices[chosen],
            objective=None if objective is None else tuple(part[chosen] for part in objective),
        )

    def _l2(self, loader: GradientLoader) -> float:
        """Return the penalty on leaves, in the unit of the rows' weights."""
        l2 = self.plan.setting.l2
        # One of 2**996 lets no leaf move, either.
        return math.ldexp(l2, min(loader.shift, 996 - math.frexp(l2)[1])) if loader.shift else l2

    def _start(
        self,
        loss: Any,
        shards: Shards,
        table: LossRows,
        whole: Int64 | None,
        previous: WarmState | None,
    ) -> tuple[Floats, Init | None]:
        """Return f_0: a constant, and a fitted model where the user gave one."""
        plan = self.plan
        if previous is not None:
            return previous.model.first, previous.model.init
        if plan.init is None:
            return loss.constant(shards, plan.n_outputs), None
        zero = np.zeros(plan.n_outputs)
        if isinstance(plan.init, str):
            return zero, None
        model = clone(plan.init)
        extra = {}
        if table.weights is not None:
            if not has_fit_parameter(model, "sample_weight"):
                raise ValueError(
                    f"init={type(model).__name__} takes no sample_weight. Give a model that does, "
                    "or fit without weights."
                )
            extra = {"sample_weight": table.weights}
        model.fit(self.table_of(whole), table.y, **extra)
        odds = None
        if plan.n_classes:
            odds = loss.odds
            if len(model.classes_) != plan.n_classes:
                raise ValueError(
                    f"init={type(model).__name__} knows {len(model.classes_)} of the "
                    f"{plan.n_classes} classes. Give more rows, or init=None."
                )
        return zero, Init(model, odds)

    def _learner(self, table: LossRows, rows: Int64 | None, l2: float) -> GradientLearner:
        plan, setting = self.plan, self.plan.setting
        searching = setting.step == "line-search"
        if self.binner is None:
            check_regressor(plan.estimator, weighted=not searching or table.weights is not None)
            taught = (self.table_of(rows), searching, table.weights)
            return GradientRegressor(plan.estimator, *taught, seed=setting.seed)
        check_order(plan.monotone, self.binner)
        least_squares = searching or plan.loss.least_squares
        return GradientTree(
            self.binner,
            plan.limits,
            least_squares=least_squares,
            l2=l2,
            min_weight_leaf=plan.min_weight_leaf,
            monotone=plan.monotone,
            seed=setting.seed,
            heaviest=1.0 if table.weights is None else float(np.max(table.weights)),
            n_outputs=plan.n_outputs,
        )

    def _tally(
        self, loss: Any, shards: Shards, table: LossRows, costs: Costs | None, part: Int64 | None
    ) -> Any:
        if costs is None:
            return loss_tally(loss, table)
        plan = self.plan
        cheapest = plan.odds is not None
        tally = CostTally(shards, costs, plan.loss, plan.n_classes, cheapest=cheapest)
        if self.weights is None:
            return tally
        heaviest = 1.0 if table.weights is None else float(np.max(table.weights))
        own = self.weights if part is None else self.weights[part]
        unit = float(np.max(own)) / heaviest
        return tally if unit == 1.0 else lambda shards, total: unit * tally(shards, total)

    def _follower(self, loop: GradientBoosting, watched: HeldOutRows) -> GradientFollower:
        return GradientFollower(self.plan, self.binner, watched, *self._first)

    def _history(
        self, loop: GradientBoosting, rounds: list[GradientRound], evals: dict[str, list[float]]
    ) -> GradientHistory:
        return GradientHistory(rounds, evals, loop.stop)

    def _finish(self, loop: Any, history: GradientHistory, rows: Int64 | None) -> Member:
        return self.model_of(loop, history.rounds)

    def model_of(self, loop: GradientBoosting, rounds: list[GradientRound]) -> Member:
        """Return the model of these rounds, which starts as the one in training does."""
        return assemble_gradient(rounds, self.binner, *self._first)

    def attributes(
        self, models: tuple[Member, ...], scores: CalibratedScores | None
    ) -> dict[str, Any]:
        """Return the fitted attributes by which an estimator with these models answers."""
        model = to_model(models, scores, self.plan)
        return {"_model": model, "n_iter_": model.n_rounds}

    # --- held-out rows

    @property
    def _follows_table(self) -> bool:
        given = self.plan.init
        return self.binner is None or not (given is None or isinstance(given, str))

    def _watch_rows(self, rows: Int64) -> HeldOutRows:
        prices = None if self.prices is None else self.prices[rows]
        return super()._watch_rows(rows)._replace(prices=prices)

    def _watch_table(self, part: EvalSet) -> HeldOutRows:
        if self.costs is not None:
            return super()._watch_table(part)
        n_rows, given = len(part.y), part.costs
        prices = None if given is None else read_numbers(given, "the prices of eval_set")
        if prices is not None and prices.shape != (n_rows, 2):
            raise ValueError(
                f"eval_set has prices of shape {prices.shape} for {n_rows} rows: give (n, 2), "
                "over and under of every row."
            )
        target = read_numeric_targets(part.X, part.y)
        return HeldOutRows(part.X, self._encode(part.X), target, None, part.weights, prices)

    # --- for calibration and the report

    def score(self, model: Member, rows: Any) -> Floats:
        """Return the margins of some rows, to calibrate on: (n,) for two classes, else (n, K)."""
        needs_table = self.binner is None or model.init is not None
        X = self.table_of(rows) if needs_table else None
        if self.binner is None:
            margins = model.margins(X)
        else:
            walk = partial(model.margins, X, n_threads=self.plan.n_threads)
            margins = self.table.apply(walk, rows)
        return margins[:, 0] if margins.shape[1] == 1 else margins

    def report(self, estimator: Any, models: tuple[Member, ...]) -> None:
        """Set the fitted attributes that tell of rounds."""
        kept = self.histories_of(models)
        paid = "train_cost_" if self.plan.n_classes else "train_loss_"
        series = series_of(kept, self.plan.metric, **{paid: "train_cost"})
        series["estimator_weights_"] = [model.steps for model in models]
        if self.binner is None:
            series["estimators_"] = [[list(part) for part in m.estimators] for m in models]
        set_history(estimator, series)
        estimator.n_iter_ = max(len(model) for model in models)
        estimator.start_ = models[0].first.copy()
        if estimator.n_iter_ == 0 and kept[-1].stop != "flat":
            _warn_of_no_rounds(type(estimator).__name__, kept[-1].stop)


def _warn_of_no_rounds(name: str, stop: str) -> None:
    why = {
        "leaf": "no split of the rows is allowed or gains. Give more rows, or a smaller "
        "min_samples_leaf",
        "uphill": "the first step would raise the loss. Use step='newton', another objective "
        "or another estimator",
    }.get(stop, "training was stopped. Let it run for a round")
    warn_caller(f"{name} took no step and answers the same for every row: {why}.")


def _shift(heaviest: float) -> int:
    """Return by which power of two weights are to be multiplied, so that sums of them have room.

    Nothing depends on their unit: the penalty on leaves (`l2`) has it too.
    """
    if _LIGHTEST <= heaviest <= 1.0 / _LIGHTEST:
        return 0
    return -int(np.frexp(heaviest)[1])
