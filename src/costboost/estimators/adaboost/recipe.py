"""`method="auto"`: the recommended recipe, free to improve from version to version.

Small trees are boosted by log loss, shrunk and sampled, on k folds in step, and their log odds
blended with those of a smooth additive model of the same folds (`blending.py`), until the
calibrated out-of-fold log loss stops improving. One map from scores to probabilities (a
temperature, and a bias drawn to 0) is fitted to all out-of-fold scores, the k models' probabilities
are averaged, and the cheapest expected cost decides. More than two classes share a tree of vector
leaves a round. Its numbers are in `choices.py`.

The round that is kept is the latest look that chance cannot tell from the best: the mean of k
models stands more rounds than each of them alone, and the curve of the loss is flat and noisy
there. The folds train by gradient boosting's family; by AdaBoost's where votes are named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import islice, zip_longest
from typing import Any, NamedTuple

import numpy as np

from costboost.boosting.formulas import scores_of
from costboost.boosting.gradient.loop import GradientSetting
from costboost.boosting.gradient.losses import LogLoss
from costboost.boosting.rounds import EarlyStopping, Observer, consume, reported
from costboost.boosting.train_cost import price_expected
from costboost.calibration import (
    CalibratedScores,
    ClassBiases,
    ClassCalibration,
    calibration_folds,
)
from costboost.calibration.calibrators import row_counts
from costboost.estimators.adaboost.blending import (
    AdditiveFolds,
    AdditivePart,
    Blend,
    Mixing,
    fit_additive,
    fit_mixing,
    price_blended,
)
from costboost.estimators.adaboost.choices import Recipe, describe
from costboost.estimators.adaboost.columns import Tests, choose_tests
from costboost.estimators.adaboost.plan import Plan
from costboost.estimators.gradient.family import GRADIENT, GradientPlan
from costboost.fitting.held_out import ClassResult, Decisions
from costboost.fitting.plan import TrainingPlan
from costboost.fitting.train import FittedModels, History, Trainer
from costboost.inputs.checks import count_features
from costboost.model import Logistic, Member
from costboost.shards.grid import rounded
from costboost.shards.layout import Folds, blocks_of
from costboost.trees.forest import ForestBuilder
from costboost.typing import AnyInts, Floats


def log_loss_plan(plan: Plan) -> GradientPlan:
    """Return the plan by which gradient boosting's family trains the folds of this recipe."""
    shared = {field.name: getattr(plan, field.name) for field in fields(TrainingPlan)}
    shared["tests"] = None  # columns are chosen before, not paid for by splits
    assert plan.recipe is not None
    shared["setting"] = GradientSetting(
        n_rounds=plan.setting.n_rounds,
        learning_rate=plan.setting.learning_rate,
        l2=plan.recipe.l2,
        max_step=plan.recipe.max_step,
        subsample=plan.subsample,
        seed=plan.seed,
    )
    return GradientPlan(
        **shared,
        loss=LogLoss(),
        odds=LogLoss.odds,
        min_weight_leaf=plan.min_weight_leaf,
        one_tree=plan.n_outputs > 1,
        even_weights=False,
        tallied=False,  # looks compute costs, by calibrated probabilities
    )


# The models that are trained in step: one for each fold, round after round.


@dataclass(frozen=True)
class CalibratedProba:
    """The calibrated probabilities of margins, as a picklable function."""

    calibration: ClassCalibration
    shares: bool

    def __call__(self, margins: Floats, total: float) -> Floats:
        """Return probabilities, (m, K)."""
        return self.calibration.predict(scores_of(margins, total, shares=self.shares))


class Fold:
    """One of the models: its rounds, and the scores of its out-of-fold rows.

    Parameters
    ----------
    trainer : Trainer
        Of the recipe.
    train : callable
        Returns the numbers of the rows trained on: many, and seldom needed.
    test : array of row numbers
        The rows left out.
    stack : ExitStack
        At its end the threads of the loop end.
    """

    def __init__(
        self, trainer: Trainer, train: Callable[[], AnyInts], test: AnyInts, stack: ExitStack
    ) -> None:
        self.trainer, self.train, self.test = trainer, train, test
        plan = self.plan
        boosted = trainer.of_family(GRADIENT, log_loss_plan(plan)) if plan.log_loss else trainer
        self.loop: Any = stack.enter_context(boosted.open(train()))
        self.start = self.loop.start if plan.log_loss else np.zeros(self.loop.n_outputs)
        self.rounds: list[Any] = []
        self._followed = trainer.table.follow(test, self.start)
        # The number of rounds in the margins, and the margins: set together, so that Ctrl-C at
        # any moment leaves both as they were.
        self._seen = (0, np.tile(self.start, (len(test), 1)))

    @property
    def plan(self) -> Plan:
        """The plan of the recipe."""
        plan: Any = self.trainer.plan
        return plan  # type: ignore[no-any-return]

    def model(self, n_rounds: int, part: AdditivePart | None) -> Member:
        """Return the member of the first rounds, blended with an additive one if there is any."""
        plan, binner = self.plan, self.trainer.binner
        builder = ForestBuilder(len(self.start))
        for done in self.rounds[:n_rounds]:
            done.add_to(builder)
        assert binner is not None
        forest = builder.build(binner, self.start if plan.log_loss else None)
        maps = (Logistic(1.0 if plan.log_loss else 2.0),)
        found = Member(np.array(self._steps(n_rounds)), forest, maps)
        return found if part is None else part.blended(found)

    def _steps(self, n_rounds: int) -> list[Any]:
        rounds = self.rounds[:n_rounds]
        return [done.step if self.plan.log_loss else done.alpha for done in rounds]

    def total(self, n_rounds: int) -> float:
        """Return the sum of the alphas of the first rounds; 1 where margins are no votes."""
        votes = n_rounds > 0 and not self.plan.log_loss
        return float(np.sum(self._steps(n_rounds))) if votes else 1.0

    def scores(self, n_rounds: int) -> Floats:
        """Return the out-of-fold scores after so many rounds; never fewer than before."""
        n_seen, margins = self._seen
        builder = ForestBuilder(len(self.start))
        for done in self.rounds[n_seen:n_rounds]:
            done.add_to(builder)
        if len(builder):
            assert self.trainer.binner is not None
            margins = self._followed.add(builder.build(self.trainer.binner))
            self._seen = (min(n_rounds, len(self.rounds)), margins)
        return scores_of(margins, self.total(n_rounds), shares=self.plan.discrete)

    def curves(self, n_rounds: int, model: Member) -> dict[str, Any]:
        """Return the fitted attributes of the first rounds; log loss knows neither errors nor Z."""
        found: dict[str, Any] = {"estimator_weights_": model.steps}
        if not self.plan.log_loss:
            rounds = self.rounds[:n_rounds]
            found["estimator_errors_"] = np.array([done.error for done in rounds])
            found["normalizers_"] = np.array([done.normalizer for done in rounds])
        return found

    def training_cost(
        self,
        n_rounds: int,
        calibration: ClassCalibration,
        part: AdditivePart | None = None,
        *,
        walk: bool = False,
    ) -> float:
        """Return the total cost of the calibrated decisions on the training rows.

        With `walk` rows walk through the model itself, whatever margins the loop has for them.
        """
        if walk:
            return self._walked_cost(self.model(n_rounds, part), calibration)
        proba, total = CalibratedProba(calibration, self.plan.discrete), self.total(n_rounds)
        call = price_expected(proba=proba, total=total)
        if part is not None:
            call = price_blended(proba=proba, total=total, part=part)
        (exact,) = self.loop.shards.call([call])
        return rounded(exact)

    def _walked_cost(self, model: Member, calibration: ClassCalibration) -> float:
        trainer, rows = self.trainer, self.train()
        data = trainer.data_of(rows)
        assert data.costs is not None
        proba = calibration.predict(trainer.family.score(trainer, model, rows))
        decided = data.costs.decide(proba, encoded=True)
        return data.costs.total(data.y, decided, data.weights, encoded=True)


# Looks at the out-of-fold rows, by which training ends.


@dataclass(frozen=True)
class Look:
    """The out-of-fold rows after some rounds: the map fitted to their scores, and their losses."""

    n_rounds: int
    calibration: ClassCalibration
    losses: Floats  # of each row; of a user's metric, which has none for rows, the one number
    weights: Floats | None
    cost: float = np.nan  # the mean cost of the decisions
    blend: Blend | None = None  # of the scores that were calibrated, if there are two models

    @property
    def loss(self) -> float:
        """The mean loss."""
        return float(np.average(self.losses, weights=self.weights))

    def rivals(self, best: Look, doubt: float) -> bool:
        """Whether it is worse than the best by no more than so many standard errors, row by row.

        Weights say how many rows each row is, here too: an error of so many rows.
        """
        worse = self.losses - best.losses
        n = np.ones(len(worse)) if self.weights is None else row_counts(self.weights)
        mean = float(np.average(worse, weights=n))
        error = float(np.sqrt(np.sum(n * (worse - mean) ** 2)) / np.sum(n))
        return mean <= doubt * error


class FoldsRound(NamedTuple):
    """The same round of all folds; None where a fold had ended before."""

    number: int
    rounds: tuple[Any, ...]


class Race:
    """All folds, advanced in step and judged by their out-of-fold rows."""

    def __init__(
        self, trainer: Trainer, folds: list[Fold], additive: AdditiveFolds | None = None
    ) -> None:
        self.trainer, self.folds, self.additive = trainer, folds, additive
        data = trainer.data_of(np.concatenate([fold.test for fold in folds]))
        plan: Any = trainer.plan
        self.recipe: Recipe = plan.recipe
        self.y: AnyInts = data.y.astype(np.uint8 if plan.n_classes <= 256 else np.uint32)
        assert data.costs is not None
        self.weights, self.costs = data.weights, data.costs
        self._decisions = Decisions()
        self.priced = plan.metric == "cost" or trainer.priced
        self.watch = EarlyStopping(
            self,
            plan.patience,
            plan.tolerance,
            self.recipe.every,
            plan.setting.n_rounds,
            self._decisions.idle,
        )
        judged = plan.metric == "log_loss" and plan.patience is not None
        self._solved = self.recipe.solved * _entropy(self.y, self.weights) if judged else -np.inf
        self._new_look: Look | None = None  # until it is compared with the best
        self.interrupted = False
        self.stopped = "no further step"  # why: a reason of `choices.STOPPED`
        self.train_costs: dict[int, list[float]] = {}  # by the number of rounds, of each fold
        self._last_look: Look | None = None
        self._best: Look | None = None
        self._chosen: Look | None = None

    def steps(self) -> Iterator[FoldsRound]:
        """Take one round of every fold at a time, until all have ended."""
        sources = [fold.loop.rounds() for fold in self.folds]
        for number, rounds in enumerate(zip_longest(*sources)):
            for fold, done in zip(self.folds, rounds, strict=True):
                if done is not None:
                    fold.rounds.append(done)
            yield FoldsRound(number, rounds)

    def __call__(self, step: FoldsRound) -> float:
        """Calibrate the folds as they are; return the out-of-fold loss."""
        plan, n_rounds = self.trainer.plan, step.number + 1
        scores = np.concatenate([fold.scores(n_rounds) for fold in self.folds])
        blank = ClassCalibration(plan.calibration, plan.n_classes, margins=plan.scores_are_margins)
        blend = None
        if self.additive is not None:
            margins = scores.reshape(len(scores), -1)
            blend = self.additive.blend(margins, self.y, self.weights)
            scores = blend(margins, self.additive.margins).reshape(scores.shape)
        fitted = blank.fit(scores, self.y, self.weights, rising=plan.monotone is not None)
        # What the decisions cost on the training rows of each fold. An interrupted round may be in
        # the margins of the loop, but not in the model.
        self.train_costs[n_rounds] = [
            fold.training_cost(n_rounds, fitted, part, walk=self.interrupted)
            for fold, part in zip(self.folds, self._additive_parts(blend), strict=True)
        ]
        proba = np.empty((len(scores), plan.n_classes))
        for rows in blocks_of(len(scores)):
            proba[rows] = fitted.predict(scores[rows])
        del scores
        result = ClassResult(
            self.trainer.classes,
            self.y,
            lambda: proba,
            self._decide(proba),
            self.costs,
            self.weights,
        )
        if self.priced:
            self._decisions.note(result, by_cost=plan.metric == "cost")
        if callable(plan.metric):
            losses, weights = np.array([result.measure(plan.metric)]), None
        else:
            losses, weights = result.row_losses(plan.metric), self.weights
        cost = result.measure("cost")
        self._new_look = Look(n_rounds, fitted, losses, weights, cost, blend)
        return self._new_look.loss

    def cost_after(self, n_rounds: int) -> float:
        """Return the mean cost of the decisions on the rows left out, after so many rounds."""
        self(FoldsRound(n_rounds - 1, ()))
        assert self._new_look is not None
        return self._new_look.cost

    def _additive_parts(self, blend: Blend | None) -> list[AdditivePart | None]:
        """Return the additive model that every fold's model is blended with."""
        if blend is None or self.additive is None:
            return [None] * len(self.folds)
        return [AdditivePart(blend, forest) for forest in self.additive.forests]

    def models(self, n_rounds: int, blend: Blend | None) -> tuple[Member, ...]:
        """Return the models of all folds after so many rounds."""
        pairs = zip(self.folds, self._additive_parts(blend), strict=True)
        return tuple(fold.model(n_rounds, part) for fold, part in pairs)

    def mixing(self, chosen: Look) -> Mixing | None:
        """Return how the margins of the chosen models are mixed, by the rows left out."""
        members, score = self.models(chosen.n_rounds, chosen.blend), self.trainer.family.score
        pairs = zip(members, self.folds, strict=True)
        scores = [score(self.trainer, member, fold.test) for member, fold in pairs]
        given = np.concatenate(scores), self.y, self.weights
        return fit_mixing(*given, chosen.calibration, self.recipe)

    def _decide(self, proba: Floats) -> AnyInts:
        """Return the numbers of the cheapest actions; rows go by blocks, to save memory."""
        costs = self.costs
        assert costs.actions is not None
        decided: AnyInts = np.empty(len(proba), np.uint8 if len(costs.actions) <= 256 else np.intp)
        for rows in blocks_of(len(proba)):
            decided[rows] = costs[rows].decide(proba[rows], encoded=True)
        return decided

    def _watch(self, step: FoldsRound) -> bool:
        """Look if it is time to; True when the loss has not fallen for long enough, or is gone."""
        enough = self.watch(step)
        self._choose()
        if self.watch.best <= self._solved:
            self.stopped = "nothing left"
        elif enough:
            self.stopped = "no improvement"
        return enough or self.watch.best <= self._solved

    def _choose(self) -> None:
        """Keep the new look if it is the best, or rivals it."""
        look, self._new_look = self._new_look, None
        if look is None:
            return
        self._last_look = look
        if self._best is None or self.watch.best_rounds == look.n_rounds:
            self._best = self._chosen = look
        elif look.rivals(self._best, self.recipe.doubt):
            self._chosen = look

    def run(self) -> Look:
        """Advance until the loss has not fallen for a while, or the user has seen enough."""
        plan, watch = self.trainer.plan, self.watch
        observers: list[Observer] = [self._watch]
        n_rounds, start = plan.setting.n_rounds, self.trainer.started
        with reported(
            plan.verbose, n_rounds, self._describe, start, every=self.recipe.every
        ) as shown:
            observers += [*shown, self._on_round]
            outcome = consume(self.steps(), observers, on_interrupt=plan.on_interrupt)
        steps, self.interrupted = outcome.rounds, outcome.interrupted
        if self.interrupted:
            self.stopped = "interrupted"
        elif self.stopped == "no further step" and len(steps) == n_rounds:
            self.stopped = "all rounds"
        if watch.looks[-1:] != [len(steps)]:  # ended between two looks, or before the first
            watch.look(FoldsRound(len(steps) - 1, ()))
        self._choose()
        assert self._chosen is not None
        least = watch.best if plan.metric == "cost" else self._chosen.cost
        self.trainer.warn_if_beaten(self._decisions.beat_no_constant(least))
        return self._chosen

    def _describe(self, step: FoldsRound) -> str:
        """Return the results of the last look, for people who watch."""
        metric, look = self.trainer.plan.metric, self._last_look
        if look is None:
            return "no look yet at the rows left out"
        what = "loss" if callable(metric) else metric.replace("_", " ")
        bill = f", cost {look.cost:.6g}" if self.priced and metric != "cost" else ""
        return f"out-of-fold {what} {look.loss:.6g}{bill}"

    def _on_round(self, step: FoldsRound) -> bool:
        """Call the observer with the round of every fold; True where one answer is to stop."""
        observer = self.trainer.observer
        if observer is None:
            return False
        n_rounds = step.number + 1
        taken = [done for done in step.rounds if done is not None]
        answers = [observer(done, lambda: self._so_far(n_rounds)) for done in taken]
        if any(answers):  # every round is reported, also after one that is to stop
            self.stopped = "callback"
        return any(answers)

    def _so_far(self, n_rounds: int) -> dict[str, Any] | None:
        """Return the attributes of an estimator with these rounds, calibrated by the last look.

        None before the first look.
        """
        if self._last_look is None:
            return None
        models = self.models(n_rounds, self._last_look.blend)
        maps = (self._last_look.calibration,) * len(models)
        scores = CalibratedScores(models, maps, len(models))
        return self.trainer.family.attributes(self.trainer.plan, models, scores)


def _entropy(y: AnyInts, weights: Floats | None) -> float:
    """Return the log loss of the best constant answer."""
    counts = np.bincount(y, None if weights is None else weights / weights.max())
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares @ np.log(shares)))


def train_in_step(
    estimator: Any, trainer: Trainer, given: Any, *, cv: Any, groups: Any, ensemble: bool
) -> FittedModels:
    """Train one model for each fold, all to the same number of rounds, and calibrate them.

    With ``ensemble=False`` the folds say how many rounds and which calibration; one model of all
    rows then takes so many, unless Ctrl-C ended the folds: then they are what is kept.
    """
    plan: Any = trainer.plan
    data = trainer.row_data
    cut = calibration_folds(
        data.y,
        cv,
        groups=groups,
        copies=trainer.copies_for(cv, groups),
        sample_weight=data.weights,
        random_state=plan.seed,
    )
    del data
    trainer.table.arrange(cut, *((None, 1) if plan.log_loss else trainer.grouping()))
    _buy_columns(trainer, cut)
    plan = trainer.plan
    additive = fit_additive(trainer, cut)
    with ExitStack() as stack:
        tests = (cut.test(k).astype(np.uint32) for k in range(len(cut)))
        folds = [Fold(trainer, partial(cut.train, k), test, stack) for k, test in enumerate(tests)]
        race = Race(trainer, folds, additive)
        chosen = race.run()
    n_rounds, calibration = chosen.n_rounds, chosen.calibration
    mixing = race.mixing(chosen) if plan.mixes else None
    if mixing is not None:
        plain = ClassBiases(biases=(0.0,) * plan.n_classes, margins=True)
        calibration = replace(calibration, calibrators=(plain,))
    if ensemble or len(folds) == 1 or race.interrupted:
        models = race.models(n_rounds, chosen.blend)
        looked = [race.train_costs[r] for r in race.watch.looks if r <= n_rounds]
        train_costs = [list(costs) for costs in zip(*looked, strict=True)]
        for fold, model in zip(folds, models, strict=True):
            curves = fold.curves(n_rounds, model)
            trainer.histories.append(History(fold.rounds[:n_rounds], fold.loop.stop, curves, {}))
    else:
        part = None
        if additive is not None and chosen.blend is not None:
            part = AdditivePart(chosen.blend, additive.of_all_rows())
        rows = cut.used(trainer.n_rows)
        model, costs = _train_alike(trainer, rows, n_rounds, chosen.calibration, part)
        models, train_costs = (model,), [costs]
    vars(estimator).pop("_progress", None)  # warm starts continue one model
    if mixing is not None:
        models = tuple(mixing.mixed(model) for model in models)
    maps = (calibration,) * len(models)
    scores = CalibratedScores(models, maps, len(cut))
    curves_of_looks: dict[str, list[Any]] = {
        "validation_rounds_": [np.array(race.watch.looks)],
        "validation_loss_": [np.array(race.watch.costs)],
        "train_cost_": [np.array(costs) for costs in train_costs],
        "recipe_": [describe(plan, len(models[0].steps), race.stopped, len(cut), chosen, mixing)],
    }
    return FittedModels(models, scores, curves_of_looks)


# Which columns are bought, where they have prices.

TRIAL: dict[str, Any] = {"n_rounds": 20, "learning_rate": 0.4}  # tell what columns are worth


def _buy_columns(trainer: Trainer, cut: Folds) -> None:
    """Limit the trainer's plan to the columns that are worth their price, out of fold."""
    plan, tests = trainer.plan, trainer.column_tests
    if tests is None or not len(tests):
        return

    def limited(bought: Tests) -> Any:
        columns = tests.usable(bought)
        width = count_features(plan.drawn, max(len(columns), 1))
        return replace(plan, limits=replace(plan.limits, columns=columns, max_features=width))

    def mistakes(bought: Tests) -> float:
        trial = limited(bought)
        trial = replace(trial, setting=replace(plan.setting, **TRIAL), tests=None)
        return _trial_cost(trainer.of_family(trainer.family, trial), cut)

    bought = choose_tests(tests, mistakes)
    trainer.plan = limited(bought)


def _trial_cost(trainer: Trainer, cut: Folds) -> float:
    """Return the mean cost of decisions on rows left out, by a few rounds."""
    additive = fit_additive(trainer, cut)
    with ExitStack() as stack:
        tests = (cut.test(k).astype(np.uint32) for k in range(len(cut)))
        folds = [Fold(trainer, partial(cut.train, k), test, stack) for k, test in enumerate(tests)]
        race = Race(trainer, folds, additive)
        n_taken = len(list(islice(race.steps(), TRIAL["n_rounds"])))
        return race.cost_after(n_taken)


def _train_alike(
    trainer: Trainer,
    rows: AnyInts,
    n_rounds: int,
    calibration: ClassCalibration,
    part: AdditivePart | None,
) -> tuple[Member, list[float]]:
    """Train one model on all rows, for as many rounds as the folds took.

    Also return what its decisions on these rows cost, at the looks. Callbacks see its rounds, but
    cannot stop it: the calibration is for this number of rounds.
    """
    costs: list[float] = []
    plan: Any = trainer.plan
    with ExitStack() as stack:
        fold = Fold(trainer, lambda: rows, rows[:0], stack)

        def on_round(done: Any) -> bool:
            fold.rounds.append(done)
            if trainer.observer is not None:
                trainer.observer(done, None)
            n_taken = len(fold.rounds)
            if n_taken % plan.recipe.every == 0 or n_taken == n_rounds:
                costs.append(fold.training_cost(n_taken, calibration, part))
            return False

        rounds = islice(fold.loop.rounds(), n_rounds)
        taken = consume(rounds, [on_round], on_interrupt=plan.on_interrupt).rounds
        model = fold.model(len(taken), part)
    curves = fold.curves(len(taken), model)
    trainer.histories.append(History(taken, fold.loop.stop, curves, {}))
    return model, costs
