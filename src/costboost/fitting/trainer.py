"""What every trainer has: a table that is binned once, and the way to a model.

    bin the table -> watch eval sets -> for every model:
    weighted rows -> hold some out -> open the loop -> replay -> take rounds -> history -> model

`Trainer`, `PNormTrainer` and `GradientTrainer` say what a loop and a model are; `train_models`
(`warm.py`) makes one of all rows, or one for each fold of a calibration.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import Binner
from costboost.boosting.rounds import Loop, Taken, take_rounds
from costboost.calibration import (
    CalibratedScores,
    ClassCalibration,
    copies_in,
    keeps_copies,
    numbered,
)
from costboost.costs import Costs, as_costs
from costboost.fitting.held_out import (
    EvalSet,
    Follower,
    HeldOutRows,
    Judge,
    constant_cost,
    draw_held_out,
)
from costboost.fitting.plan import TrainingPlan
from costboost.fitting.tables import LocalTable, TrainingTable
from costboost.inputs.arrays import encode
from costboost.inputs.checks import check_weighted_classes, is_spread, warn_caller
from costboost.shards.layout import RowData
from costboost.typing import Codes, Floats, Int64


class TableTrainer:
    """Holds a table and its codes, and says which of its rows are trained on.

    Parameters
    ----------
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
    table : Table
        Where the rows are.
    n_rows : int
    histories : list
        What is known of the rounds of each model, in the order of their training.
    scores_are_margins : bool
        Whether `score` returns real-valued margins rather than values in [0, 1].
    """

    plan: TrainingPlan
    scores_are_margins: bool
    histories: list[Any]
    _held_out: list[tuple[str, HeldOutRows]] | None  # the rows of eval sets, by name

    def __init__(
        self,
        plan: TrainingPlan,
        X: Any,
        y: NDArray[Any],
        weights: Floats | None,
        costs: Costs | None,
        observer: Any,
    ) -> None:
        if 0 < plan.n_classes <= 256:
            y = y.astype(np.uint8)
        self.plan, self.X, self.n_rows, self.observer = plan, X, len(y), observer
        self._row_data: RowData | None = RowData(y, weights, costs)
        self._fixed_costs = costs if costs is None or not costs.per_row else None
        self.started = perf_counter()
        self.histories = []
        self.interrupted = False  # by Ctrl-C, and what there was is kept
        self.groups: Int64 | None = None  # the number of each row's group, where there are some
        self._beaten: list[bool] = []  # of each model: whether a constant costs no more
        self._beaten_on = (
            "Training found no round whose decisions cost less on the held-out rows than"
        )
        self._max_rounds = int(plan.setting.n_rounds)
        self._held_out = None
        self.table: TrainingTable = X if is_spread(X) else LocalTable(X, len(y), plan.n_threads)

    # --- before the first model

    def bin_table(self) -> None:
        """Learn how to cut the columns of the table; an outside learner gets it as it is."""
        plan = self.plan
        if plan.estimator is None:
            self.table.fit_binner(self.weights, plan.max_bins, plan.categorical_features)

    def watch(self, held_out: list[EvalSet] | None) -> None:
        """Prepare the rows of eval sets, as `read_eval_set` returns them, to judge rounds by."""
        if held_out is not None:
            self._held_out = [(part.name, self._watch_table(part)) for part in held_out]

    # --- one model

    def train(self, rows: Any = None, previous: Any = None) -> Any:
        """Train on all rows, or on those numbered; continue from the `Progress` of another fit."""
        used, watched = self._weighted_rows(rows), self._held_out
        if self.plan.patience is not None and watched is None:
            used, held_out = self._hold_out(used)
            watched = [("held out", self._watch_rows(held_out))]
        with self.open(used, previous) as loop:
            self.table.release_memory()  # what it took to set the rounds up
            if self.plan.calibration is None:
                self._release_row_data()
            done = [] if previous is None else previous.rounds
            loop.replay(done)
            judge = self._judge(loop, watched)
            taken = self._take(loop, judge, done)
            evals = {} if judge is None else judge.results
            history = self._history(loop, taken.rounds, evals)
        self.note(history)
        return self._finish(loop, history, used)

    def open(self, rows: Int64 | None, previous: Any = None) -> AbstractContextManager[Loop[Any]]:
        """Set up the rounds on some rows, or on all; their threads end with the block."""
        raise NotImplementedError

    def _history(self, loop: Any, rounds: list[Any], evals: dict[str, list[float]]) -> Any:
        """Return the history of the rounds, computed while their rows are in memory."""
        raise NotImplementedError

    def _finish(self, loop: Any, history: Any, rows: Int64 | None) -> Any:
        """Return the model."""
        raise NotImplementedError

    def _judge(self, loop: Any, watched: list[tuple[str, HeldOutRows]] | None) -> Judge | None:
        """Return the judge of rounds, None without held-out rows."""
        if watched is None:
            return None
        followers = [(name, self._follower(loop, part)) for name, part in watched]
        return Judge(self.plan.metric, followers)

    def _follower(self, loop: Any, watched: HeldOutRows) -> Follower:
        """Return the follower of a loop, which evaluates its rounds on held-out rows."""
        raise NotImplementedError

    def _watch_table(self, part: EvalSet) -> HeldOutRows:
        """Return the rows of an eval set."""
        given, classes = part.costs, self.costs.classes
        y = encode(classes, part.y, "y of eval_set")  # refuses labels that are not known
        costs = self.costs if given is None else as_costs(given, classes, len(y))
        return HeldOutRows(part.X, self._encode(part.X), y, costs, part.weights)

    def _watch_rows(self, rows: Int64) -> HeldOutRows:
        """Return rows of the table that are held out."""
        X = self.table_of(rows) if self._follows_table else None
        codes = None if self.binner is None else self.codes_of(rows)
        taken = self.row_data.take(rows)
        return HeldOutRows(X, codes, taken.y, taken.costs, taken.weights)

    def _encode(self, X: Any) -> Codes | None:
        """Return the codes of another table, for the built-in tree."""
        return None if self.binner is None else self.binner.encode(X)

    @property
    def _follows_table(self) -> bool:
        """Whether rounds are followed on rows of the table, beside their codes or without."""
        return self.binner is None

    def score(self, model: Any, rows: Any) -> Floats:
        """Return the scores of some rows, to calibrate on."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.table.close()

    @property
    def binner(self) -> Binner | None:
        """How columns are cut; None with an outside learner, which gets the table as it is."""
        return self.table.binner

    @property
    def share_held_out(self) -> float:
        """The share of rows that no model trains on, for early stopping."""
        inside = self.plan.patience is not None and self._held_out is None
        return float(self.plan.validation_fraction) if inside else 0.0

    # --- labels, weights and prices of the rows

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
        """Class numbers, or the target of a regression, (n,)."""
        return self.row_data.y

    @property
    def weights(self) -> Floats | None:
        """One for each row, (n,), if any were given."""
        return self.row_data.weights

    @property
    def costs(self) -> Any:
        """The costs; None for regression."""
        return self.row_data.costs

    # --- the table

    def table_of(self, rows: Any) -> Any:
        """Return some rows of the table; None are all of them."""
        return self.table.table_of(rows)

    def codes_of(self, rows: Any) -> Codes:
        """Return the codes of some rows."""
        return self.table.codes_of(rows)

    # --- rows

    def grouping(self) -> tuple[NDArray[np.integer[Any]] | None, int]:
        """Return the group of each row, (n,), and the number of groups; (None, 1) without."""
        return None, 1

    @cached_property
    def copies(self) -> Int64 | None:
        """The number of each row's set of copies; None where no row has any."""
        return self.table.copies(self.weights)

    def copies_for(self, cv: Any, groups: Any) -> Int64 | None:
        """Return the copies if they decide how rows are cut into folds."""
        return self.copies if keeps_copies(cv, groups) else None

    def _weighted_rows(self, rows: Any) -> Int64 | None:
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

    def _some(self, rows: Int64 | None) -> Int64 | None:
        """Return the numbers of rows, None if they are all of the table."""
        return None if rows is None or len(rows) == self.n_rows else rows

    def _hold_out(self, rows: Int64 | None) -> tuple[Int64, Int64]:
        """Return (training rows, held-out rows): a share of every class is held out, never all."""
        rows = np.arange(self.n_rows, dtype=np.uint32) if rows is None else rows
        share = self.plan.validation_fraction
        if not share > 0.0:
            raise ValueError(
                "Early stopping needs held-out rows: give validation_fraction > 0 or an eval_set."
            )
        labels = self.y[rows] if self.plan.n_classes else np.zeros(len(rows), dtype=np.int64)
        held_out = draw_held_out(labels, self._sets_of(rows), share, self.plan.seed)
        if not held_out.any():
            what = "rows" if self.groups is None else "groups"
            raise ValueError(
                f"Early stopping needs held-out rows, but no class has two {what} to cut. Give "
                f"more {what}, an eval_set, or n_iter_no_change=None."
            )
        return rows[~held_out], rows[held_out]

    def _sets_of(self, rows: Int64) -> Int64 | None:
        """Return the sets of rows that stay together: groups, or copies of a row."""
        if self.groups is None:
            return copies_in(self.copies, rows)
        return numbered(self.groups[rows])

    # --- rounds

    def _take(self, loop: Loop[Any], judge: Judge | None, previous: list[Any]) -> Taken:
        """Take the rounds of one model; what the user ended limits the models still to come."""
        n_rounds, observer = self.plan.setting.n_rounds, self._on_round(loop, previous)
        judged: dict[str, Any] = {}
        if judge is not None:
            judged = {"judge": judge, "idle": judge.decisions.idle}
        taken = take_rounds(
            loop.rounds,
            self.plan,
            n_rounds,
            previous=previous,
            observer=observer,
            start=self.started,
            **judged,
        )
        if judge is not None and self.plan.patience is not None and self.plan.metric == "cost":
            self._beaten.append(judge.beats_no_constant())
        if taken.limit is not None:
            self._max_rounds = taken.limit
        self.interrupted = taken.interrupted
        return taken

    def _on_round(self, loop: Any, previous: list[Any]) -> Callable[[Any], bool] | None:
        """Return the callback of every round: the observer gets it with the model so far."""
        if self.observer is None:
            return None
        observer, rounds = self.observer, list(previous)

        def on_round(done: Any) -> bool:
            rounds.append(done)
            return bool(observer(done, lambda: self.fitted(loop, rounds)))

        return on_round

    def fitted(self, loop: Any, rounds: list[Any]) -> dict[str, Any] | None:
        """Return the attributes of an estimator that had stopped after these rounds of a loop.

        It is calibrated on the rows that this model is not trained on; None where it is on all.
        """
        model, plan = self.model_of(loop, rounds), self.plan
        if plan.calibration is None:
            return self.attributes((model,), None)
        if self._trained_on is None:
            return None
        left = np.setdiff1d(np.arange(self.n_rows), self._trained_on)
        if not len(left):
            return None
        blank = ClassCalibration(plan.calibration, plan.n_classes, margins=self.scores_are_margins)
        weights = None if self.weights is None else self.weights[left]
        rising = plan.monotone is not None
        fitted = blank.fit(self.score(model, left), self.y[left], weights, rising=rising)
        return self.attributes((model,), CalibratedScores((model,), (fitted,), 1))

    def model_of(self, loop: Any, rounds: list[Any]) -> Any:
        """Return the model of these rounds of a loop."""
        raise NotImplementedError

    def attributes(
        self, models: tuple[Any, ...], scores: CalibratedScores | None
    ) -> dict[str, Any]:
        """Return the fitted attributes by which an estimator with these models answers."""
        raise NotImplementedError

    def judge_left_out(self, rows: Any, proba: Floats) -> None:
        """Look at the calibrated probabilities, (n, K), of the rows that folds left out."""

    def settle_beaten(self, *beaten: bool) -> None:
        """Warn if no model beat the cheapest constant on the held-out rows."""
        found = [*self._beaten, *beaten]
        if found and all(found):
            warn_caller(f"{self._beaten_on} the best constant answer. {self._beaten_remedy}")

    @property
    def _beaten_remedy(self) -> str:
        """Advice for the warning that no model beats a constant."""
        if self.plan.patience is not None and self.plan.metric == "cost":
            return (
                "Give more held-out rows (validation_fraction, eval_set), "
                'early_stopping_metric="log_loss", or calibration=, which separates rare, costly '
                "classes."
            )
        return (
            "At these costs the columns tell too little of the rows, or there are too few rows: "
            "answer the constant, look at the costs (costs.describe()), or give better columns."
        )

    def note(self, history: Any) -> None:
        """Keep the history of a trained model."""
        self.histories.append(history)

    def histories_of(self, models: tuple[Any, ...]) -> list[Any]:
        """Return the histories of the models kept: of a single one, the history trained last."""
        return self.histories[-1:] if len(models) == 1 else self.histories

    @property
    def n_rounds(self) -> int:
        """How many rounds a model may take."""
        return max(self._max_rounds, 1)


# Shared by the AdaBoost and the L_p family


class ClassTrainer(TableTrainer):
    """Holds a table, its codes and its costs; trains on any of its rows.

    Parameters
    ----------
    plan : TrainingPlan
    X : the table
    y : int64 array of shape (n,), class numbers
    weights : float64 array of shape (n,) or None
    costs : Costs, bound to the classes and, if per row, to the rows
    classes : ndarray of shape (K,)
    observer : callable, or None
        Called after every round; True stops.
    """

    def __init__(
        self,
        plan: TrainingPlan,
        X: Any,
        y: Int64,
        weights: Floats | None,
        costs: Costs,
        classes: NDArray[Any],
        observer: Any = None,
    ) -> None:
        super().__init__(plan, X, y, weights, costs, observer)
        self.classes = classes

    @property
    def costs(self) -> Costs:
        """The costs of all rows."""
        found = self.row_data.costs
        assert found is not None
        return found

    def _of(self, rows: Int64 | None) -> tuple[Int64, Costs, Floats | None]:
        """Return the classes, the costs and the weights of some rows, or of all."""
        row_data = self.row_data if rows is None else self.row_data.take(rows)
        assert row_data.costs is not None
        return row_data.y, row_data.costs, row_data.weights

    @property
    def priced(self) -> bool:
        """Whether the user said what mistakes cost: else that is nobody's bill."""
        return bool(self.costs != as_costs(None, self.classes))

    def compare_with_constant(self, total: float, rows: Int64 | None, where: str) -> None:
        """Note whether one answer costs no more than decisions do on some rows altogether.

        Their total may have been summed in another order: it is compared but for its rounding.
        Rows that are elsewhere are not fetched for it.
        """
        if is_spread(self.X) or not self.priced:
            return
        y, costs, weights = self._of(rows)
        rounding = 1e-12 * float(np.max(np.abs(costs.of_labels(y.astype(np.intp), encoded=True))))
        mean = total / (len(y) if weights is None else float(np.sum(weights)))
        self._beaten.append(mean >= constant_cost(costs, y, weights) - rounding)
        self._beaten_on = f"The decisions of the model cost no less on {where} than"

    def _cheapest_constant(self, rows: Int64 | None) -> int:
        """Return the class number that is cheapest to answer on some rows, whatever they are."""
        y, costs, weights = self._of(self._some(rows))
        if not costs.is_square:
            return int(np.argmax(np.bincount(y, weights, minlength=self.plan.n_classes)))
        label, _ = costs.cheapest_constant(self.classes[y], weights)
        return int(np.searchsorted(self.classes, label))
