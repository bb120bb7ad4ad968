"""`method="auto"`: the recommended recipe, the same on every table.

Gentle AdaBoost on small trees, shrunk and sampled, is trained on k folds in step, its log odds
blended with those of a smooth additive model of the same folds (`blending.py`), until the rows that
the folds left out have their least calibrated log loss. One map from scores to probabilities (a
temperature, and a bias drawn to 0) is fitted to all left-out scores, the k models' probabilities
are averaged, and the cheapest expected cost decides.

"Least" is the latest look that chance cannot tell from the best: the mean of k models stands more
rounds than each of them alone, and the curve of the loss is flat and noisy there. From 10,000 rows
on, and with more than two classes, log loss on larger trees takes the place of Gentle AdaBoost;
classes share a tree of vector leaves a round, and get a bias each. So many rows need no additive
model either. From 50,000 rows on steps are long and few.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import islice, zip_longest
from typing import Any

import numpy as np

from costboost.boosting.rounds import (
    EarlyStopping,
    Observer,
    consume,
    reported,
)
from costboost.calibration import CalibratedScores, ClassCalibration, calibration_folds
from costboost.calibration.calibrators import row_counts
from costboost.estimators.adaboost.blending import (
    AdditiveFolds,
    AdditivePart,
    Blend,
    fit_additive,
)
from costboost.estimators.adaboost.folds import Fold, Opener
from costboost.estimators.adaboost.trainer import History, OutOfFold, Trainer
from costboost.fitting.held_out import ClassResult, Decisions
from costboost.model import Member
from costboost.shards.layout import blocks_of
from costboost.typing import AnyInts, Floats

STEP = 10  # rounds between two looks at the rows left out
DOUBT = 0.5  # standard errors by which a later look may be worse than the best
SOLVED = 1e-4  # the share of a constant answer's log loss at which nothing is left to learn


@dataclass(frozen=True)
class Look:
    """The rows left out, seen after some rounds: the map fitted to them, and the loss of each."""

    n_rounds: int
    calibration: ClassCalibration
    losses: Floats  # of a user's metric, which has none for rows: the one number
    weights: Floats | None
    cost: float = np.nan  # the mean of what the decisions cost
    blend: Blend | None = None  # of the scores that were calibrated, if there are two models

    @property
    def loss(self) -> float:
        """The mean loss."""
        return float(np.average(self.losses, weights=self.weights))

    def rivals(self, best: Look) -> bool:
        """Whether it is worse than the best by no more than `DOUBT` standard errors, row by row.

        Weights say how many rows each row is, here too: an error of so many rows.
        """
        worse = self.losses - best.losses
        n = np.ones(len(worse)) if self.weights is None else row_counts(self.weights)
        mean = float(np.average(worse, weights=n))
        error = float(np.sqrt(np.sum(n * (worse - mean) ** 2)) / np.sum(n))
        return mean <= DOUBT * error


@dataclass(frozen=True)
class FoldsRound:
    """The same round of all folds; None where a fold had ended before."""

    number: int
    rounds: tuple[Any, ...]


class Race:
    """All folds, advanced in step; judges them by the rows that they left out."""

    def __init__(
        self, trainer: Trainer, folds: list[Fold], additive: AdditiveFolds | None = None
    ) -> None:
        self.trainer, self.folds, self.additive = trainer, folds, additive
        rows = np.concatenate([fold.test for fold in folds])
        self.y = trainer.y[rows].astype(np.uint8 if trainer.plan.n_classes <= 256 else np.uint32)
        self.weights = None if trainer.weights is None else trainer.weights[rows]
        self.costs = trainer.costs[rows]
        self._decisions = Decisions()
        plan = trainer.plan
        self.priced = plan.metric == "cost" or trainer.priced
        self.watch = EarlyStopping(
            self, plan.patience, plan.tolerance, STEP, plan.setting.n_rounds, self._decisions.idle
        )
        judged = plan.metric == "log_loss" and plan.patience is not None
        self._solved = SOLVED * _entropy(self.y, self.weights) if judged else -np.inf
        self._last: Look | None = None
        self.interrupted = False
        self.train_costs: dict[int, list[float]] = {}  # by the number of rounds, of each fold
        self._last_look: Look | None = None
        self._best: Look | None = None
        self._chosen: Look | None = None

    def steps(self) -> Iterator[FoldsRound]:
        """Take one round of every fold at a time, until all have ended."""
        sources = [fold.source() for fold in self.folds]
        for number, rounds in enumerate(zip_longest(*sources)):
            for fold, done in zip(self.folds, rounds, strict=True):
                if done is not None:
                    fold.rounds.append(done)
            yield FoldsRound(number, rounds)

    def __call__(self, step: FoldsRound) -> float:
        """Calibrate the folds as they are; return the loss of the rows left out."""
        plan, n_rounds = self.trainer.plan, step.number + 1
        scores = np.concatenate([fold.scores(n_rounds) for fold in self.folds])
        blank = ClassCalibration(
            plan.calibration, plan.n_classes, margins=self.trainer.scores_are_margins
        )
        blend = None
        if self.additive is not None:
            margins = scores.reshape(len(scores), -1)
            blend = self.additive.blend(margins, self.y, self.weights)
            scores = blend(margins, self.additive.margins).reshape(scores.shape)
        fitted = blank.fit(scores, self.y, self.weights, rising=plan.monotone is not None)
        self._price_training_rows(n_rounds, fitted, blend)
        proba = np.empty((len(scores), plan.n_classes))
        for rows in blocks_of(len(scores)):
            proba[rows] = fitted.predict(scores[rows])
        del scores
        answers = self._answers(proba)
        if callable(plan.metric):
            losses, weights = np.array([answers.measure(plan.metric)]), None
        else:
            losses, weights = answers.row_losses(plan.metric), self.weights
        self._last = Look(n_rounds, fitted, losses, weights, answers.measure("cost"), blend)
        return self._last.loss

    def _price_training_rows(
        self, n_rounds: int, fitted: ClassCalibration, blend: Blend | None
    ) -> None:
        """Note what the decisions cost on the rows that each fold trains on."""
        # An interrupted round may be in the margins of the loop, but not in the model.
        self.train_costs[n_rounds] = [
            fold.training_cost(n_rounds, fitted, part, walk=self.interrupted)
            for fold, part in zip(self.folds, self._additive_parts(blend), strict=True)
        ]

    def _additive_parts(self, blend: Blend | None) -> list[AdditivePart | None]:
        """Return what every fold's model is blended with."""
        if blend is None or self.additive is None:
            return [None] * len(self.folds)
        return [AdditivePart(blend, forest) for forest in self.additive.forests]

    def models(self, n_rounds: int, blend: Blend | None) -> tuple[Member, ...]:
        """Return the models of all folds after so many rounds."""
        pairs = zip(self.folds, self._additive_parts(blend), strict=True)
        return tuple(fold.blended(n_rounds, part) for fold, part in pairs)

    def _answers(self, proba: Floats) -> ClassResult:
        """Return what all folds say of the rows that they left out, and decide."""
        trainer = self.trainer
        given = (self._decide(proba), self.costs, self.weights)
        answers = ClassResult(trainer.classes, self.y, lambda: proba, *given)
        if self.priced:
            self._decisions.note(answers, by_cost=trainer.plan.metric == "cost")
        return answers

    def _decide(self, proba: Floats) -> AnyInts:
        """Return the numbers of the cheapest actions; rows go by blocks, to save memory."""
        assert self.costs.actions is not None
        few = len(self.costs.actions) <= 256
        decided: AnyInts = np.empty(len(proba), np.uint8 if few else np.intp)
        for rows in blocks_of(len(proba)):
            decided[rows] = self.costs[rows].decide(proba[rows], encoded=True)
        return decided

    def _watch(self, step: FoldsRound) -> bool:
        """Look if it is time to; True when the loss has not fallen for long enough, or is gone."""
        enough = self.watch(step)
        self._choose()
        return enough or self.watch.best <= self._solved

    def _choose(self) -> None:
        """Keep the last look if it is the best, or rivals it."""
        look, self._last = self._last, None
        if look is None:
            return
        self._last_look = look
        if self._best is None or self.watch.best_rounds == look.n_rounds:
            self._best = self._chosen = look
        elif look.rivals(self._best):
            self._chosen = look

    def run(self) -> Look:
        """Advance until the loss has not fallen for a while, or the user has seen enough."""
        plan, watch = self.trainer.plan, self.watch
        observers: list[Observer] = [self._watch]
        n_rounds, start = plan.setting.n_rounds, self.trainer.started
        with reported(plan.verbose, n_rounds, self._say, start, every=STEP) as shown:
            observers += [*shown, self._tell]
            outcome = consume(self.steps(), observers, on_interrupt=plan.on_interrupt)
        steps, self.interrupted = outcome.rounds, outcome.interrupted
        if watch.looks[-1:] != [len(steps)]:  # ended between two looks, or before the first
            watch.look(FoldsRound(len(steps) - 1, ()))
        self._choose()
        assert self._chosen is not None
        least = watch.best if plan.metric == "cost" else self._chosen.cost
        self.trainer.settle_beaten(self._decisions.beat_no_constant(least))
        return self._chosen

    def _say(self, step: FoldsRound) -> str:
        """Say what the last look saw of the rows left out."""
        metric, look = self.trainer.plan.metric, self._last_look
        if look is None:
            return "no look yet at the rows left out"
        what = "loss" if callable(metric) else metric.replace("_", " ")
        bill = f", cost {look.cost:.6g}" if self.priced and metric != "cost" else ""
        return f"out-of-fold {what} {look.loss:.6g}{bill}"

    def _tell(self, step: FoldsRound) -> bool:
        observer = self.trainer.observer
        if observer is None:
            return False
        n_rounds = step.number + 1
        answers = [
            observer(done, lambda: self._fitted(n_rounds))
            for done in step.rounds
            if done is not None
        ]
        return any(answers)  # all of them were told

    def _fitted(self, n_rounds: int) -> dict[str, Any] | None:
        """Return the attributes of an estimator with these rounds, calibrated by the last look.

        Before the first look there is no such thing.
        """
        if self._last_look is None:
            return None
        models = self.models(n_rounds, self._last_look.blend)
        maps = (self._last_look.calibration,) * len(models)
        return self.trainer.attributes(models, CalibratedScores(models, maps, len(models)))


def train_in_step(
    trainer: Trainer, cv: Any, groups: Any, *, ensemble: bool
) -> tuple[CalibratedScores, OutOfFold]:
    """Train one model for each fold, all to the same number of rounds, and calibrate them.

    With ``ensemble=False`` the folds say how many rounds and which calibration; one model of all
    rows then takes so many, unless Ctrl-C ended the folds: then they are what is kept.
    """
    plan = trainer.plan
    cut = calibration_folds(
        trainer.y,
        cv,
        groups=groups,
        copies=trainer.copies_for(cv, groups),
        sample_weight=trainer.weights,
        random_state=plan.seed,
    )
    trainer.table.arrange(cut, *((None, 1) if plan.log_loss else trainer.grouping()))
    additive = fit_additive(trainer, cut)
    with ExitStack() as stack:
        opener = Opener(trainer, stack)
        tests = (cut.test(k).astype(np.uint32) for k in range(len(cut)))
        folds = [opener.open(partial(cut.train, k), test) for k, test in enumerate(tests)]
        race = Race(trainer, folds, additive)
        chosen = race.run()
    n_rounds = chosen.n_rounds
    if ensemble or len(folds) == 1 or race.interrupted:
        looked = [r for r in race.watch.looks if r <= n_rounds]
        by_look = [race.train_costs[r] for r in looked]
        train_costs = [list(costs) for costs in zip(*by_look, strict=True)]
        for fold in folds:
            trainer.note(History(fold.rounds[:n_rounds], {}))
        models = race.models(n_rounds, chosen.blend)
    else:
        rows = cut.used(trainer.n_rows)
        part = None
        if additive is not None and chosen.blend is not None:
            part = AdditivePart(chosen.blend, additive.of_all_rows())
        model, costs = _train_alike(trainer, rows, n_rounds, chosen.calibration, part)
        models, train_costs = (model,), [costs]
    scores = CalibratedScores(models, (chosen.calibration,) * len(models), len(cut))
    return scores, OutOfFold(race.watch.looks, race.watch.costs, train_costs)


def _entropy(y: AnyInts, weights: Floats | None) -> float:
    """Return the log loss of the best constant answer."""
    counts = np.bincount(y, None if weights is None else weights / weights.max())
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares @ np.log(shares)))


def _train_alike(
    trainer: Trainer,
    rows: AnyInts,
    n_rounds: int,
    calibration: ClassCalibration,
    part: AdditivePart | None,
) -> tuple[Member, list[float]]:
    """Train one model on all rows, for as many rounds as the folds took.

    Also return what its decisions on these rows cost, at the looks. Callbacks are told of its
    rounds, but it is the number of rounds that the calibration is for.
    """
    costs: list[float] = []
    with ExitStack() as stack:
        fold = Opener(trainer, stack).open(lambda: rows, rows[:0])

        def on_round(done: Any) -> bool:
            fold.rounds.append(done)
            if trainer.observer is not None:
                trainer.observer(done, None)
            n_taken = len(fold.rounds)
            if n_taken % STEP == 0 or n_taken == n_rounds:
                costs.append(fold.training_cost(n_taken, calibration, part))
            return False

        rounds = islice(fold.source(), n_rounds)
        taken = consume(rounds, [on_round], on_interrupt=trainer.plan.on_interrupt).rounds
        model = fold.blended(len(taken), part)
    trainer.note(History(taken, {}))
    return model, costs
