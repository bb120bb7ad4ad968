"""Training of gradient boosting models on some rows of a table that is binned once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from costboost.boosting.consume import EarlyStopping, Printer, consume
from costboost.boosting.gradient import GradientBoosting, GradientRound
from costboost.boosting.gradient_ensemble import (
    GradientEnsemble,
    Init,
    assemble_gradient,
)
from costboost.boosting.losses import CostExponentialLoss, HuberLoss
from costboost.boosting.minimisers import best_constant
from costboost.boosting.slope_learners import (
    SlopeLearner,
    SlopeRegressor,
    SlopeTree,
    check_regressor,
    set_units,
)
from costboost.boosting.slopes import Rows, bind_loss
from costboost.boosting.tallies import CostTally, loss_tally
from costboost.costs import Costs, as_costs
from costboost.gradient_boosting._plans import GradientPlan
from costboost.gradient_boosting._watching import Judge, Watched, proba_of
from costboost.trees.binning import Binner, fit_binner
from costboost.trees.shards import Shards, plan_layout, sensible_shards

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
Codes = NDArray[np.uint8]


@dataclass(frozen=True)
class GradientHistory:
    """What is known of the rounds of one model, and why they ended."""

    rounds: list[GradientRound]
    validation_cost: list[float]
    stop: str


class GradientTrainer:
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
    eval_set : tuple (X, y) or (X, y, costs), or None
    observer : callable or None
        Told of every round; True stops.
    """

    def __init__(
        self,
        plan: GradientPlan,
        X: Any,
        y: NDArray[Any],
        weights: Floats | None,
        *,
        costs: Costs | None = None,
        prices: Floats | None = None,
        eval_set: tuple[Any, ...] | None = None,
        observer: Any = None,
    ) -> None:
        self.plan, self.X, self.y, self.weights = plan, X, y, weights
        self.costs, self.prices, self.observer = costs, prices, observer
        self.histories: list[GradientHistory] = []
        self._codes: Codes | None = None
        self._max_rounds = plan.setting.n_rounds
        self.binner: Binner | None = None
        if plan.estimator is None:
            self.binner = fit_binner(
                X,
                weights,
                max_bins=plan.max_bins,
                categorical_features=plan.categorical_features,
                n_threads=plan.n_threads,
            )
            _check_constraints(plan.monotone, self.binner)
        self._held_out = None if eval_set is None else self._read_eval_set(eval_set)

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
        loss = fitted_loss(plan.loss, table)
        start, init = self._start(loss, table, whole, previous)
        layout = plan_layout(None, len(chosen), 1, self._n_shards(len(chosen)))
        with layout.cut(self._arranged(layout, whole)) as shards:
            slopes = bind_loss(loss, table, shards)
            learner = self._learner(shards, table, whole)
            setting = replace(plan.setting, n_rounds=max(self._max_rounds, 1))
            offsets = start if init is None else init.margins(self._take(whole)) + start
            tally = self._tally(slopes, shards, table, chosen)
            boosting = GradientBoosting(shards, slopes, learner, setting, offsets, tally)
            history = self._consume(boosting, watched, start, init, previous)
        self.histories.append(history)
        return assemble_gradient(history.rounds, self.binner, start, init)

    def _weighted_rows(self, rows: Any) -> Int64:
        """Return the numbers of the rows to train on: rows of weight 0 are as good as absent."""
        chosen = np.arange(len(self.y)) if rows is None else np.asarray(rows)
        if self.weights is None or np.all(self.weights[chosen] > 0.0):
            return chosen
        chosen = chosen[self.weights[chosen] > 0.0]
        if self.plan.n_classes and len(np.unique(self.y[chosen])) < 2:
            raise ValueError(
                "sample_weight leaves rows of fewer than two classes: give positive weights to "
                "rows of at least two classes."
            )
        return chosen

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
        if not getattr(plan.loss, "uses_costs", False):
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
        table: Rows,
        whole: Int64 | None,
        previous: tuple[GradientEnsemble, list[GradientRound]] | None,
    ) -> tuple[Floats, Init | None]:
        """Return f_0: a constant, and a fitted model where the user gave one."""
        plan = self.plan
        if previous is not None:
            return previous[0].start, previous[0].init
        if plan.init is None:
            return best_constant(loss, table), None
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
        model.fit(self._take(whole), table.y, **extra)
        odds = None
        if plan.n_classes:
            odds = float(getattr(loss, "odds", 1.0))
            if len(model.classes_) != plan.n_classes:
                raise ValueError(
                    f"init={type(model).__name__} knows {len(model.classes_)} of the "
                    f"{plan.n_classes} classes. Give more rows, or init=None."
                )
        return zero, Init(model, odds)

    def _take(self, rows: Int64 | None) -> Any:
        return self.X if rows is None else _safe_indexing(self.X, rows)

    def _n_shards(self, n_rows: int) -> int:
        n_features = 0 if self.binner is None else self.binner.n_features
        return sensible_shards(n_rows, n_features, self.plan.n_threads)

    def _arranged(self, layout: Any, rows: Int64 | None) -> Codes:
        """Return the codes of the rows, in the order of the layout."""
        if self.binner is None:
            return np.zeros((len(layout.rows), 0), dtype=np.uint8)
        n_threads = self.plan.n_threads
        if rows is None and self._codes is None:
            return self.binner.encode(self.X, positions=layout.positions, n_threads=n_threads)
        return np.asarray(self._all_codes()[layout.rows if rows is None else rows[layout.rows]])

    def _all_codes(self) -> Codes:
        if self._codes is None:
            assert self.binner is not None
            self._codes = self.binner.encode(self.X, n_threads=self.plan.n_threads)
        return self._codes

    def _learner(self, shards: Shards, table: Rows, rows: Int64 | None) -> SlopeLearner:
        plan, setting = self.plan, self.plan.setting
        searching = setting.step == "line-search"
        if self.binner is None:
            check_regressor(plan.estimator, weighted=not searching or table.weights is not None)
            taught = (self._take(rows), searching, table.weights)
            return SlopeRegressor(plan.estimator, *taught, seed=setting.seed)
        least_squares = searching or isinstance(plan.loss, HuberLoss)
        return SlopeTree(
            self.binner,
            plan.limits,
            least_squares=least_squares,
            l2=setting.l2,
            min_weight_leaf=plan.min_weight_leaf,
            monotone=plan.monotone,
            seed=setting.seed,
            largest_unit=set_units(shards, table.weights) if least_squares else 1.0,
        )

    def _tally(self, slopes: Any, shards: Shards, table: Rows, chosen: Int64) -> Any:
        if self.costs is None:
            return loss_tally(slopes)
        plan = self.plan
        tally = CostTally(
            shards,
            self.costs[chosen],
            table.y,
            table.weights,
            plan.odds,
            lambda raw: proba_of(plan.loss, raw.reshape(len(raw), -1)),
            plan.n_classes,
        )
        if self.weights is None or table.weights is not None:
            return tally
        common = float(self.weights[chosen[0]])
        return lambda shards: common * tally(shards)

    def _consume(
        self,
        boosting: GradientBoosting,
        watched: Watched | None,
        start: Floats,
        init: Init | None,
        previous: tuple[GradientEnsemble, list[GradientRound]] | None,
    ) -> GradientHistory:
        plan, done = self.plan, [] if previous is None else previous[1]
        boosting.replay(done)
        watch = None
        observers: list[Any] = []
        if watched is not None:
            judge = Judge(plan, self.binner, watched, start, init)
            for earlier in done:
                judge.add(earlier)
            watch = EarlyStopping(judge, plan.patience, plan.tolerance)
            observers.append(watch)
        if plan.verbose:
            observers.append(Printer(plan.setting.n_rounds, plan.verbose, watch))
        if self.observer is not None:
            observers.append(self.observer)
        outcome = consume(boosting.rounds(len(done)), observers, on_interrupt=plan.on_interrupt)
        rounds = done + outcome.rounds
        if outcome.interrupted:
            # Models still to come are made in the same time.
            self._max_rounds = len(rounds)
        if watch is not None and plan.patience is not None and watch.costs:
            rounds = rounds[: len(done) + watch.best_rounds]
        return GradientHistory(rounds, [] if watch is None else watch.costs, boosting.stop)

    # --- held-out rows

    def _hold_out(self, rows: Int64) -> tuple[Int64, Int64]:
        """Set a share of the rows apart (of every class), at least one and never all of them."""
        share = self.plan.validation_fraction
        if not share > 0.0:
            raise ValueError(
                "Early stopping needs held-out rows: give validation_fraction > 0 or an eval_set."
            )
        rng = np.random.default_rng(self.plan.setting.seed)
        apart = np.zeros(len(rows), dtype=bool)
        groups = self.y[rows] if self.plan.n_classes else np.zeros(len(rows), dtype=np.int64)
        for k in np.unique(groups):
            members = np.flatnonzero(groups == k)
            if len(members) > 1:
                n_apart = min(max(1, round(share * len(members))), len(members) - 1)
                apart[rng.permutation(members)[:n_apart]] = True
        if not apart.any():
            raise ValueError("Early stopping needs held-out rows: one row cannot be cut in two.")
        return rows[~apart], rows[apart]

    def _watch_rows(self, rows: Int64) -> Watched:
        needs_table = self.binner is None or not (
            self.plan.init is None or isinstance(self.plan.init, str)
        )
        return Watched(
            _safe_indexing(self.X, rows) if needs_table else None,
            None if self.binner is None else self._all_codes()[rows],
            self.y[rows],
            None if self.costs is None else self.costs[rows],
            None if self.prices is None else self.prices[rows],
            None if self.weights is None else self.weights[rows],
        )

    def _read_eval_set(self, eval_set: tuple[Any, ...]) -> Watched:
        if len(eval_set) not in (2, 3):
            raise ValueError(
                f"eval_set must be (X, y) or (X, y, costs), got {len(eval_set)} parts."
            )
        X, y = eval_set[0], np.asarray(eval_set[1])
        given = eval_set[2] if len(eval_set) == 3 else None
        per_row = self.prices is not None or (self.costs is not None and self.costs.per_row)
        if given is None and per_row:
            raise ValueError(
                "Training has prices per row, so the held-out rows need their own: give "
                "eval_set=(X, y, costs)."
            )
        codes = None if self.binner is None else self.binner.encode(X)
        if self.costs is None:
            prices = None if given is None else np.asarray(given, dtype=float)
            return Watched(X, codes, y.astype(float), None, prices, None)
        classes = self.costs.classes
        assert classes is not None
        costs = self.costs if given is None else as_costs(given, classes, len(y))
        return Watched(X, codes, np.searchsorted(classes, y), costs, None, None)

    # --- for calibration

    def score(self, model: GradientEnsemble, rows: Any) -> Floats:
        """Return the margins of some rows, to calibrate on: (n,) for two classes, else (n, K)."""
        needs_table = self.binner is None or model.init is not None
        X = _safe_indexing(self.X, rows) if needs_table else None
        if self.binner is None:
            margins = model.margins(X)
        else:
            margins = model.margins_of_codes(self._all_codes()[rows], X, self.plan.n_threads)
        return margins[:, 0] if margins.shape[1] == 1 else margins


def fitted_loss(loss: Any, rows: Rows) -> Any:
    """Return the loss with what it takes from the rows: the cost-exponential's largest cost."""
    if not isinstance(loss, CostExponentialLoss) or rows.objective is not None:
        return loss
    paid = rows.table if rows.table is not None else rows.prices
    assert paid is not None
    largest = float(np.max(paid - paid.min(axis=1, keepdims=True)))
    return replace(loss, scale=1.0 / largest if largest > 0.0 else 1.0)


def _check_constraints(monotone: NDArray[np.int8] | None, binner: Binner) -> None:
    if monotone is not None and np.any(binner.is_categorical & (monotone != 0)):
        first = int(np.flatnonzero(binner.is_categorical & (monotone != 0))[0])
        raise ValueError(
            f"monotonic_cst constrains column {first}, whose categories have no order. Set 0 there."
        )
