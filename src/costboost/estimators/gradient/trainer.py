"""Training of gradient boosting models on some rows of a table that is binned once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import _check_y, has_fit_parameter

from costboost.binning.binner import Binner
from costboost.boosting.gradient.learner import (
    GradientLearner,
    GradientRegressor,
    GradientTree,
    check_regressor,
)
from costboost.boosting.gradient.loop import GradientBoosting, GradientRound
from costboost.boosting.gradient.messages import LargestCost
from costboost.boosting.gradient.model import GradientEnsemble, Init, assemble_gradient
from costboost.boosting.gradient.rows import GradientRows, Rows
from costboost.boosting.gradient.tallies import CostTally, loss_tally
from costboost.costs import Costs, as_costs
from costboost.estimators.gradient.plan import GradientPlan
from costboost.estimators.gradient.watching import Judge, Watched
from costboost.fitting.trainer import TableTrainer
from costboost.inputs.arrays import encode, read_numbers
from costboost.shards.layout import plan_layout, sensible_shards
from costboost.shards.local import Shards

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
Codes = NDArray[np.uint8]


@dataclass(frozen=True)
class GradientHistory:
    """What is known of the rounds of one model, and why they ended."""

    rounds: list[GradientRound]
    validation_cost: list[float]
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
    held_out : tuple (X, y, costs or None), or None
        Rows for early stopping, as `read_eval_set` returns them.
    observer : callable or None
        Told of every round; True stops.
    """

    plan: GradientPlan
    histories: list[GradientHistory]
    margins = True

    def __init__(
        self,
        plan: GradientPlan,
        X: Any,
        y: NDArray[Any],
        weights: Floats | None,
        *,
        costs: Costs | None = None,
        prices: Floats | None = None,
        held_out: tuple[Any, ...] | None = None,
        observer: Any = None,
    ) -> None:
        super().__init__(plan, X, y, weights, observer)
        self.costs, self.prices = costs, prices
        if self.binner is not None:
            _check_constraints(plan.monotone, self.binner)
        self._held_out = None if held_out is None else self._watch_table(*held_out)

    # --- training

    def train(
        self, rows: Any = None, previous: tuple[GradientEnsemble, list[GradientRound]] | None = None
    ) -> GradientEnsemble:
        """Train on all rows, or on those numbered; continue a previous model if given."""
        plan, watched = self.plan, self._held_out
        chosen = self._weighted_rows(rows)
        if plan.patience is not None and watched is None:
            chosen, apart = self._hold_out(chosen)
            watched = self._watch_rows(apart)
        whole = None if len(chosen) == len(self.y) else chosen
        table = self._rows(chosen)
        layout = plan_layout(None, len(chosen), 1, self._n_shards(len(chosen)))
        codes = self._arranged(layout, whole)
        with layout.cut(codes, lambda rows: GradientRows(table.take(rows))) as shards:
            (largest,) = shards.call([LargestCost(plan.loss)])
            loss = plan.loss.scaled(largest)
            start, init = self._start(loss, shards, table, whole, previous)
            learner = self._learner(table, whole)
            setting = replace(plan.setting, n_rounds=self.n_rounds)
            offsets = start if init is None else init.margins(self.table_of(whole)) + start
            tally = self._tally(loss, shards, table, chosen)
            boosting = GradientBoosting(shards, loss, learner, setting, offsets, tally)
            history = self._history(boosting, watched, start, init, previous)
        self.histories.append(history)
        return assemble_gradient(history.rounds, self.binner, start, init)

    def _rows(self, chosen: Int64) -> Rows:
        """Return what the loss needs of some rows."""
        plan, y = self.plan, self.y[chosen]
        weights = None if self.weights is None else self.weights[chosen]
        if weights is not None and np.ptp(weights) == 0.0:
            weights = None  # all alike: as good as none
        if not plan.n_classes:
            prices = None if self.prices is None else self.prices[chosen]
            return Rows(y, 1, weights, prices=prices)
        rows = Rows(y, plan.n_outputs, weights)
        if not plan.loss.uses_costs:
            return rows
        if plan.objective is not None:
            a, b, w0 = plan.objective
            return replace(rows, objective=(a[chosen], b[chosen], w0[chosen]))
        assert self.costs is not None
        if self.costs.is_constant:
            return replace(
                rows, table=self.costs.of_labels(np.arange(plan.n_classes), encoded=True)
            )
        return replace(rows, prices=self.costs[chosen].of_labels(y, encoded=True))

    def _start(
        self,
        loss: Any,
        shards: Shards,
        table: Rows,
        whole: Int64 | None,
        previous: tuple[GradientEnsemble, list[GradientRound]] | None,
    ) -> tuple[Floats, Init | None]:
        """Return f_0: a constant, and a fitted model where the user gave one."""
        plan = self.plan
        if previous is not None:
            return previous[0].start, previous[0].init
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

    def _n_shards(self, n_rows: int) -> int:
        n_features = 0 if self.binner is None else self.binner.n_features
        return sensible_shards(n_rows, n_features, self.plan.n_threads)

    def _learner(self, table: Rows, rows: Int64 | None) -> GradientLearner:
        plan, setting = self.plan, self.plan.setting
        searching = setting.step == "line-search"
        if self.binner is None:
            check_regressor(plan.estimator, weighted=not searching or table.weights is not None)
            taught = (self.table_of(rows), searching, table.weights)
            return GradientRegressor(plan.estimator, *taught, seed=setting.seed)
        least_squares = searching or plan.loss.least_squares
        return GradientTree(
            self.binner,
            plan.limits,
            least_squares=least_squares,
            l2=setting.l2,
            min_weight_leaf=plan.min_weight_leaf,
            monotone=plan.monotone,
            seed=setting.seed,
            heaviest=1.0 if table.weights is None else float(np.max(table.weights)),
        )

    def _tally(self, loss: Any, shards: Shards, table: Rows, chosen: Int64) -> Any:
        if self.costs is None:
            return loss_tally(loss, table)
        plan = self.plan
        tally = CostTally(
            shards,
            self.costs[chosen],
            table.y,
            table.weights,
            plan.odds,
            plan.loss.proba,
            plan.n_classes,
        )
        if self.weights is None or table.weights is not None:
            return tally
        common = float(self.weights[chosen[0]])
        return lambda shards, total: common * tally(shards, total)

    def _history(
        self,
        boosting: GradientBoosting,
        watched: Watched | None,
        start: Floats,
        init: Init | None,
        previous: tuple[GradientEnsemble, list[GradientRound]] | None,
    ) -> GradientHistory:
        done = [] if previous is None else previous[1]
        boosting.replay(done)
        judge = None if watched is None else Judge(self.plan, self.binner, watched, start, init)
        taken = self._take(boosting.rounds, judge, done)
        return GradientHistory(taken.rounds, taken.costs, boosting.stop)

    # --- held-out rows

    def _watch_rows(self, rows: Int64) -> Watched:
        needs_table = self.binner is None or not (
            self.plan.init is None or isinstance(self.plan.init, str)
        )
        return Watched(
            self.table_of(rows) if needs_table else None,
            None if self.binner is None else self.codes_of(rows),
            self.y[rows],
            None if self.costs is None else self.costs[rows],
            None if self.prices is None else self.prices[rows],
            None if self.weights is None else self.weights[rows],
        )

    def _watch_table(self, X: Any, y: NDArray[Any], given: Any) -> Watched:
        codes = None if self.binner is None else self.binner.encode(X)
        if self.costs is None:
            prices = None if given is None else read_numbers(given, "the prices of eval_set")
            if prices is not None and prices.shape != (len(y), 2):
                raise ValueError(
                    f"eval_set has prices of shape {prices.shape} for {len(y)} rows: give (n, 2), "
                    "over and under of every row."
                )
            target = np.asarray(_check_y(y, y_numeric=True), dtype=float)
            return Watched(X, codes, target, None, prices, None)
        classes = self.costs.classes
        assert classes is not None
        labels = encode(classes, y, "y of eval_set")
        costs = self.costs if given is None else as_costs(given, classes, len(y))
        return Watched(X, codes, labels, costs, None, None)

    # --- for calibration

    def score(self, model: GradientEnsemble, rows: Any) -> Floats:
        """Return the margins of some rows, to calibrate on: (n,) for two classes, else (n, K)."""
        needs_table = self.binner is None or model.init is not None
        X = self.table_of(rows) if needs_table else None
        if self.binner is None:
            margins = model.margins(X)
        else:
            margins = model.margins_of_codes(self.codes_of(rows), X, self.plan.n_threads)
        return margins[:, 0] if margins.shape[1] == 1 else margins


def _check_constraints(monotone: NDArray[np.int8] | None, binner: Binner) -> None:
    if monotone is not None and np.any(binner.is_categorical & (monotone != 0)):
        first = int(np.flatnonzero(binner.is_categorical & (monotone != 0))[0])
        raise ValueError(
            f"monotonic_cst constrains column {first}, whose categories have no order. Set 0 there."
        )
