"""The trainer of all families: a table that is binned once, and the way from its rows to models.

    bin the table -> read eval sets -> for every model:
    weighted rows -> hold some out -> shards, loop -> replay -> take rounds -> model, curves

What AdaBoost, gradient boosting and the L_p family do differently is a `Family`: a record of
functions. `train_models` makes one model of all rows, or one for each fold of a calibration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import Binner
from costboost.binning.table_reading import weigh_rows
from costboost.binning.target_codes import TargetRows, cut_targets
from costboost.boosting.rounds import take_rounds
from costboost.calibration import (
    CalibratedScores,
    ClassCalibration,
    calibrate_folds,
    copies_in,
    keeps_copies,
    numbered,
    read_groups,
)
from costboost.costs import ColumnTests, Costs, as_costs
from costboost.fitting import warm
from costboost.fitting.held_out import (
    EvalSet,
    Follower,
    HeldOutRows,
    Judge,
    constant_cost,
    draw_held_out,
    eval_series,
    read_prices_of_set,
    set_history,
)
from costboost.fitting.plan import TrainingPlan
from costboost.fitting.tables import LocalTable, TrainingTable, draw_buckets
from costboost.inputs.arrays import encode
from costboost.inputs.checks import check_weighted_classes, is_spread, warn_caller
from costboost.shards.layout import Loader, RowData, Shards
from costboost.shards.rows import round_key, uniform
from costboost.trees.charges import Charges
from costboost.typing import Codes, Floats, Int64


def _late(keys: Floats, weights: Floats) -> Floats:
    """Return the keys of a weighted draw, by which the smallest are taken; inf of no weight."""
    late = np.full(len(keys), np.inf)
    np.divide(keys, weights, out=late, where=weights > 0.0)
    return late


def _no_warning(estimator: str, stop: str) -> None:
    """Say nothing of a fit without rounds."""


@dataclass(frozen=True)
class Family:
    """The functions in which one family of models differs from the others.

    Attributes
    ----------
    settle : callable
        ``settle(params, X, y, weights, costs, n_classes)`` checks the parameters of an estimator
        against each other and the data, and returns the plan.
    loader : callable
        ``loader(trainer, rows)`` returns what makes the state of the shards, for the rows of
        these numbers; None are all rows.
    loop : callable
        ``loop(trainer, shards, loader, rows, previous)`` returns the loop of rounds with its
        learner; `previous` is the `WarmState` that a warm start continues.
    follow : callable
        ``follow(trainer, loop, part)`` returns a `Follower`, which evaluates the rounds of the loop
        on `HeldOutRows`.
    to_member : callable
        ``to_member(trainer, loop, rounds)`` returns some rounds as a `Member` of a fitted model.
    finish : callable
        ``finish(trainer, loop, rounds, rows)`` returns the model of a training that has ended,
        and warns of what went wrong; without rounds, a constant.
    score : callable
        ``score(trainer, model, rows)`` returns the scores of rows of the table, to calibrate on.
    curves : callable
        ``curves(plan, loop, rounds, model)`` returns the fitted attributes that say something
        of every round.
    attributes : callable
        ``attributes(plan, members, scores)`` returns the fitted attributes by which an estimator
        answers: the `FittedModel` of these members, and what it knows beside it.
    warn_of_no_rounds : callable
        ``warn_of_no_rounds(estimator, stop)`` is called where no model took a round.
    """

    settle: Callable[..., Any]
    loader: Callable[[Any, Any], Loader]
    loop: Callable[[Any, Shards, Any, Any, Any], Any]
    follow: Callable[[Any, Any, HeldOutRows], Follower]
    to_member: Callable[[Any, Any, list[Any]], Any]
    finish: Callable[[Any, Any, list[Any], Any], Any]
    score: Callable[[Any, Any, Any], Floats]
    curves: Callable[[Any, Any, list[Any], Any], dict[str, Any]]
    attributes: Callable[[Any, tuple[Any, ...], Any], dict[str, Any]]
    warn_of_no_rounds: Callable[[str, str], None] = _no_warning


class History(NamedTuple):
    """The rounds of one model, why they ended, and what is known of each.

    `curves` are fitted attributes, `evals` the metric on each eval set by name.
    """

    rounds: list[Any]
    stop: str
    curves: dict[str, Any]
    evals: dict[str, list[float]]


class Trainer:
    """Holds a table, its codes, labels, weights and costs; trains models on any of its rows.

    Parameters
    ----------
    family : Family
    plan : TrainingPlan
    X : the table
    y : array of shape (n,): class numbers, or the target of a regression
    weights : float64 array of shape (n,) or None
    costs : Costs or None
        Bound to the classes and, if per row, to the rows; None for regression.
    observer : callable, or None
        Called after every round, with a function that makes the attributes of an estimator of the
        rounds so far; True stops.

    Attributes
    ----------
    table : TrainingTable
        Where the rows are.
    n_rows : int
    classes : ndarray of shape (K,), or None for regression
    histories : list of History
        One for each model, in the order of their training.
    interrupted : bool
        Whether Ctrl-C ended a training whose rounds are kept.
    """

    def __init__(
        self,
        family: Family,
        plan: TrainingPlan,
        X: Any,
        y: NDArray[Any],
        weights: Floats | None,
        costs: Costs | None = None,
        *,
        observer: Any = None,
    ) -> None:
        if 0 < plan.n_classes <= 256:
            y = y.astype(np.uint8)
        self.family, self.plan, self.X, self.n_rows = family, plan, X, len(y)
        self.observer, self.started = observer, perf_counter()
        self.classes: Any = None if costs is None else costs.classes
        self._row_data: RowData | None = RowData(y, weights, costs)
        self._fixed_costs = costs if costs is None or not costs.per_row else None
        self.histories: list[History] = []
        self.interrupted = False
        self.warned_of_early_end = False
        self.groups: Int64 | None = None  # the number of each row's group, where there are some
        self._trained_on: Any = None  # the rows of the model in training, before any is held out
        self._beaten: list[bool] = []  # of each model: whether a constant costs no more
        self._beaten_on = (
            "Training found no round whose decisions cost less on the held-out rows than"
        )
        self._max_rounds = int(plan.setting.n_rounds)
        self._eval_sets: list[tuple[str, HeldOutRows]] | None = None
        self.table: TrainingTable = X if is_spread(X) else LocalTable(X, len(y), plan.n_threads)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.table.close()

    def of_family(self, family: Family, plan: TrainingPlan) -> Trainer:
        """Return a trainer of another family, on the same table and rows."""
        other = copy(self)
        other.family, other.plan = family, plan
        return other

    # Before the first model.

    def bin_table(self) -> None:
        """Learn how to cut the columns of the table; an outside learner gets it as it is."""
        plan = self.plan
        if plan.estimator is None:
            target = self._target_rows if plan.target_encoding else None
            self.table.fit_binner(self.weights, plan.max_bins, plan.categorical_features, target)

    def _target_rows(self) -> TargetRows:
        """Return what columns of many categories are coded by."""
        weights = self.weights
        buckets = draw_buckets(self.n_rows, weights, self.copies, self.plan.seed)
        if self.plan.n_classes:
            return TargetRows(self.y, self.plan.n_classes, buckets)
        edges = cut_targets(self.y, weigh_rows(weights, self.n_rows))
        return TargetRows(self.y, len(edges) + 1, buckets, edges)

    def use_eval_sets(self, eval_sets: list[EvalSet] | None) -> None:
        """Prepare eval sets, as `read_eval_set` returns them: they replace held-out rows."""
        if eval_sets is not None:
            self._eval_sets = [(part.name, self._of_eval_set(part)) for part in eval_sets]

    def _of_eval_set(self, part: EvalSet) -> HeldOutRows:
        codes = None if self.binner is None else self.binner.encode(part.X)
        if self.classes is None:
            target, prices = read_prices_of_set(part)
            return HeldOutRows(part.X, codes, target, None, part.weights, prices)
        y = encode(self.classes, part.y, "y of eval_set")  # refuses labels that are not known
        given = part.costs
        costs = self.costs if given is None else as_costs(given, self.classes, len(y))
        return HeldOutRows(part.X, codes, y, costs, part.weights)

    @property
    def binner(self) -> Binner | None:
        """How columns are cut; None with an outside learner, which gets the table as it is."""
        return self.table.binner

    @property
    def share_held_out(self) -> float:
        """The share of rows that no model trains on, for early stopping."""
        inside = self.plan.patience is not None and self._eval_sets is None
        return float(self.plan.validation_fraction) if inside else 0.0

    # Labels, weights and costs of the rows.

    @property
    def row_data(self) -> RowData:
        """Labels, weights and costs of all rows: kept here, or fetched from a remote table."""
        if self._row_data is not None:
            return self._row_data
        found: RowData = self.X.row_data()
        return found if found.costs is not None else replace(found, costs=self._fixed_costs)

    def _release_row_data(self) -> None:
        """Drop the row data of a remote table, which can be fetched again."""
        if is_spread(self.X):
            self._row_data = None

    @property
    def y(self) -> NDArray[Any]:
        """The class numbers, or the target, (n,)."""
        return self.row_data.y

    @property
    def weights(self) -> Floats | None:
        """One for each row, (n,), if any were given."""
        return self.row_data.weights

    @property
    def costs(self) -> Any:
        """The costs; None for regression."""
        return self.row_data.costs

    def data_of(self, rows: Any) -> RowData:
        """Return labels, weights and costs of some rows; None are all."""
        return self.row_data if rows is None else self.row_data.take(rows)

    @cached_property
    def priced(self) -> bool:
        """Whether the user said what mistakes cost: else costs are nobody's bill."""
        return bool(self.costs != as_costs(None, self.classes))

    @cached_property
    def _money(self) -> tuple[float, float]:
        """The weight of all rows; what a constant answer costs a row more than hindsight."""
        data = self.row_data
        assert data.costs is not None
        prices = data.costs.of_labels(data.y.astype(np.intp), encoded=True)
        rows = len(data.y) if data.weights is None else float(np.sum(data.weights))
        constant = np.average(prices, axis=0, weights=data.weights).min()
        return float(rows), float(constant - np.average(prices.min(axis=1), weights=data.weights))

    @cached_property
    def entropy(self) -> float:
        """The mean log loss of the best constant answer."""
        data = self.row_data
        shares = np.bincount(data.y, data.weights) / self._money[0]
        shares = shares[shares > 0.0]
        return float(-(shares @ np.log(shares)))

    @property
    def column_tests(self) -> ColumnTests | None:
        """What columns cost a model of these rows; None where no prices are given."""
        tests = self.plan.tests
        return None if tests is None else tests.for_rows(self._money[0])

    def reference_codes(self, most: int) -> Codes:
        """Return the codes of some rows, (m, d), drawn by their weights and numbers."""
        chance = uniform(round_key(self.plan.seed, 0), np.arange(self.n_rows)) + 2.0**-54
        weights = self.row_data.weights
        keys = -np.log(chance) if weights is None else _late(-np.log(chance), weights)
        rows = np.sort(np.argsort(keys, kind="stable")[: min(most, int(np.isfinite(keys).sum()))])
        return self.table.codes_of(rows.astype(np.uint32))

    def charges(self, rate: float = 1.0) -> Charges | None:
        """Return what a new model pays for columns; None where those that it may use are free."""
        tests = self.column_tests
        return Charges(tests, self._money[1], rate) if tests is not None and len(tests) else None

    @cached_property
    def copies(self) -> Int64 | None:
        """The number of each row's set of copies; None where no row has any."""
        return self.table.copies(self.weights)

    def copies_for(self, cv: Any, groups: Any) -> Int64 | None:
        """Return the copies if they decide how rows are cut into folds."""
        return self.copies if keeps_copies(cv, groups) else None

    def grouping(self) -> tuple[NDArray[np.integer[Any]] | None, int]:
        """Return the group of each row inside a shard, (n,), and their number; (None, 1) without.

        Folds of a large table are laid out by these, before any model is trained.
        """
        loader = self.family.loader(self, None)
        return loader.labels, loader.n_segments

    # One model.

    def train(self, rows: Any = None, previous: Any = None) -> Any:
        """Train on all rows, or on those numbered; continue from the `WarmState` of another fit."""
        plan, family = self.plan, self.family
        used, held_out = self._weighted_rows(rows), self._eval_sets
        if plan.patience is not None and held_out is None:
            used, others = self._hold_out(used)
            held_out = [("held out", self._of_table(others))]
        with self.open(used, previous) as loop:
            self.table.release_memory()  # what it took to set the rounds up
            if plan.calibration is None:
                self._release_row_data()
            done = [] if previous is None else previous.rounds
            loop.replay(done)
            judge = None
            if held_out is not None:
                followers = [(name, family.follow(self, loop, part)) for name, part in held_out]
                judge = Judge(plan.metric, followers)
            taken = take_rounds(
                loop.rounds,
                plan,
                plan.setting.n_rounds,
                previous=done,
                judge=judge,
                idle=(lambda: False) if judge is None else judge.decisions.idle,
                observer=self._on_round(loop, done),
                start=self.started,
            )
            # What the user ended limits the models of this fit that are still to come.
            self._max_rounds = self._max_rounds if taken.limit is None else taken.limit
            self.interrupted = taken.interrupted
            if judge is not None and plan.patience is not None and plan.metric == "cost":
                self._beaten.append(judge.beats_no_constant())
            # Curves may need sums over the rows, which are in memory until the loop is closed.
            model = family.finish(self, loop, taken.rounds, used)
            curves = family.curves(plan, loop, taken.rounds, model)
            evals = {} if judge is None else judge.results
        self.histories.append(History(taken.rounds, loop.stop, curves, evals))
        return model

    @contextmanager
    def open(self, rows: Any, previous: Any = None) -> Iterator[Any]:
        """Set up the loop on some rows, or on all; its threads end with the block."""
        rows = None if rows is None or len(rows) == self.n_rows else rows
        loader: Any = self.family.loader(self, rows)
        with self.table.open(loader, rows, self.plan.width) as shards:
            loop = self.family.loop(self, shards, loader, rows, previous)
            del loader, rows  # while rounds are taken, nothing as long as remote rows is held here
            yield loop

    @property
    def n_rounds(self) -> int:
        """How many rounds a model may take."""
        return max(self._max_rounds, 1)

    def _weighted_rows(self, rows: Any) -> Any:
        """Return the numbers of the rows to train on, None if all of the table.

        Rows of weight 0 are as good as absent.
        """
        chosen = None if rows is None else np.asarray(rows)
        self._trained_on = chosen
        if self.weights is None:
            return chosen
        weights = self.weights if chosen is None else self.weights[chosen]
        if np.all(weights > 0.0):
            return chosen
        if self.plan.n_classes:
            check_weighted_classes(self.y if chosen is None else self.y[chosen], weights)
        weighted: NDArray[Any] = np.flatnonzero(weights > 0.0)
        return weighted.astype(np.uint32) if chosen is None else np.asarray(chosen[weighted])

    def _hold_out(self, rows: Any) -> tuple[Any, Any]:
        """Return (training rows, held-out rows): a share of every class is held out, never all."""
        rows = np.arange(self.n_rows, dtype=np.uint32) if rows is None else rows
        share = self.plan.validation_fraction
        if not share > 0.0:
            raise ValueError(
                "Early stopping needs held-out rows: give validation_fraction > 0 or an eval_set."
            )
        labels = self.y[rows] if self.plan.n_classes else np.zeros(len(rows), dtype=np.int64)
        # Rows of one group, or copies of a row, stay on one side.
        sets = copies_in(self.copies, rows) if self.groups is None else numbered(self.groups[rows])
        held_out = draw_held_out(labels, sets, share, self.plan.seed)
        if not held_out.any():
            what = "rows" if self.groups is None else "groups"
            raise ValueError(
                f"Early stopping needs held-out rows, but no class has two {what} to cut. Give "
                f"more {what}, an eval_set, or n_iter_no_change=None."
            )
        return rows[~held_out], rows[held_out]

    def _of_table(self, rows: Any) -> HeldOutRows:
        """Return rows of the table that are held out."""
        needs_table = self.binner is None or self.plan.needs_table
        X = self.table.table_of(rows) if needs_table else None
        codes = None if self.binner is None else self.table.codes_of(rows)
        taken = self.row_data.take(rows)
        return HeldOutRows(X, codes, taken.y, taken.costs, taken.weights, self.plan.prices_of(rows))

    # Callbacks.

    def _on_round(self, loop: Any, previous: list[Any]) -> Callable[[Any], bool] | None:
        """Return the callback of every round: the observer gets it with the model so far."""
        if self.observer is None:
            return None
        observer, rounds = self.observer, list(previous)

        def on_round(done: Any) -> bool:
            rounds.append(done)
            return bool(observer(done, lambda: self._so_far(loop, rounds)))

        return on_round

    def _so_far(self, loop: Any, rounds: list[Any]) -> dict[str, Any] | None:
        """Return the attributes of an estimator that had stopped after these rounds of a loop.

        It is calibrated on the rows that this model is not trained on; None where it is on all.
        """
        model, plan = self.family.to_member(self, loop, rounds), self.plan
        if plan.calibration is None:
            return self.family.attributes(plan, (model,), None)
        if self._trained_on is None:
            return None
        others = np.setdiff1d(np.arange(self.n_rows), self._trained_on)
        if not len(others):
            return None
        blank = ClassCalibration(plan.calibration, plan.n_classes, margins=plan.scores_are_margins)
        data, rising = self.row_data.take(others), plan.monotone is not None
        scores = self.family.score(self, model, others)
        fitted = blank.fit(scores, data.y, data.weights, rising=rising)
        calibrated = CalibratedScores((model,), (fitted,), 1)
        return self.family.attributes(plan, (model,), calibrated)

    # Comparison with the cheapest constant answer.

    def cheapest_constant(self, rows: Any) -> int:
        """Return the class number that is cheapest to answer on some rows, whatever they are."""
        data = self.data_of(rows)
        assert data.costs is not None
        if not data.costs.is_square:
            return int(np.argmax(np.bincount(data.y, data.weights, minlength=self.plan.n_classes)))
        label, _ = data.costs.cheapest_constant(self.classes[data.y], data.weights)
        return int(np.searchsorted(self.classes, label))

    def compare_with_constant(self, total: float, rows: Any, where: str) -> None:
        """Note whether one answer costs no more than decisions do on some rows altogether.

        Their total may have been summed in another order: it is compared but for its rounding.
        Rows of a remote table are not fetched for it.
        """
        if is_spread(self.X) or not self.priced:
            return
        data = self.data_of(rows)
        y, weights, costs = data.y, data.weights, data.costs
        assert costs is not None
        rounding = 1e-12 * float(np.max(np.abs(costs.of_labels(y.astype(np.intp), encoded=True))))
        mean = total / (len(y) if weights is None else float(np.sum(weights)))
        self._beaten.append(mean >= constant_cost(costs, y, weights) - rounding)
        self._beaten_on = f"The decisions of the model cost no less on {where} than"

    def compare_folds(self, rows: Any, proba: Floats) -> None:
        """Compare the cheapest decisions on the rows that folds left out with a constant."""
        if is_spread(self.X):
            return  # as in compare_with_constant
        data = self.data_of(rows)
        assert data.costs is not None
        decided = data.costs.decide(proba, encoded=True)
        total = data.costs.total(data.y, decided, data.weights, encoded=True)
        self.compare_with_constant(total, rows, "the rows that folds left out")

    def warn_if_beaten(self, *beaten: bool) -> None:
        """Warn if no model beat the cheapest constant on the held-out rows."""
        found = [*self._beaten, *beaten]
        # Where columns have prices, a constant answer may be all that they are worth.
        priced = self.plan.tests is not None and len(self.plan.tests) > 0
        if priced or not (found and all(found)):
            return
        remedy = (
            "At these costs the columns tell too little of the rows, or there are too few rows: "
            "answer the constant, look at the costs (costs.describe()), or give better columns."
        )
        if self.plan.patience is not None and self.plan.metric == "cost":
            remedy = (
                "Give more held-out rows (validation_fraction, eval_set), "
                'early_stopping_metric="log_loss", or calibration=, which separates rare, costly '
                "classes."
            )
        warn_caller(f"{self._beaten_on} the best constant answer. {remedy}")


# From a trainer to models: one of all rows, or one for each fold of a calibration.


class FittedModels(NamedTuple):
    """The models of a fit, and the map from their scores to probabilities, if calibrated.

    `curves` replace or add to the fitted attributes that trainings found for every round: one
    series for each model, or one for all.
    """

    models: tuple[Any, ...]
    scores: CalibratedScores | None
    curves: dict[str, list[Any]]


def train_models(
    estimator: Any,
    trainer: Trainer,
    given: warm.Given,
    *,
    cv: Any = None,
    groups: Any = None,
    ensemble: bool = True,
) -> FittedModels:
    """Train one model on all rows, or one for each fold and calibrate them.

    One model continues the last fit's if a warm start asks for it; `given` is described at
    `warm.continued`, the other arguments at `calibrate_folds`.
    """
    plan, earlier, scores = trainer.plan, None, None
    if estimator.warm_start:
        earlier = warm.continued(estimator, trainer, given)
    if groups is not None:
        trainer.groups = read_groups(groups, trainer.n_rows)
    if plan.calibration is None:
        models: tuple[Any, ...] = (trainer.train(None, earlier),)
    else:
        scores = calibrate_folds(
            trainer.train,
            lambda model, rows: trainer.family.score(trainer, model, rows),
            trainer.y,
            cv,
            classes=np.arange(plan.n_classes),
            method=plan.calibration,
            margins=plan.scores_are_margins,
            groups=groups,
            copies=trainer.copies_for(cv, groups),
            sample_weight=trainer.weights,
            rising=plan.monotone is not None,
            ensemble=ensemble,
            random_state=plan.seed,
            ended=(lambda: trainer.interrupted) if plan.on_interrupt == "keep" else None,
            announce=lambda folds: trainer.table.arrange(folds, *trainer.grouping()),
            judge=trainer.compare_folds if plan.compared_with_constant else None,
        )
        models = scores.models
    trainer.warn_if_beaten()
    vars(estimator).pop("_progress", None)
    if estimator.warm_start:
        warm.remember(estimator, trainer, models[0], given)
    return FittedModels(models, scores, {})


def set_fitted(estimator: Any, trainer: Trainer, found: FittedModels) -> None:
    """Set the fitted attributes of an estimator: models, calibration, and curves of the rounds."""
    family, models = trainer.family, found.models
    vars(estimator).update(family.attributes(trainer.plan, models, found.scores))
    # A single model may be the last of several trainings; several are all that were trained.
    kept = trainer.histories[-1:] if len(models) == 1 else trainer.histories
    curves = {name: [history.curves[name] for history in kept] for name in kept[-1].curves}
    curves |= eval_series(trainer.plan.metric, [history.evals for history in kept])
    set_history(estimator, curves | found.curves)
    if estimator.n_iter_ == 0:
        family.warn_of_no_rounds(type(estimator).__name__, kept[-1].stop)
