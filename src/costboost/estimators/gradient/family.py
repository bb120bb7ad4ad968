"""Gradient boosting as the trainer knows it: plan, rows, learner, loop, held-out rows, model."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from costboost.boosting.formulas import choices_of
from costboost.boosting.gradient.learner import (
    GradientLearner,
    GradientRegressor,
    GradientTree,
    Init,
    OutsideSteps,
    VectorTree,
    check_regressor,
)
from costboost.boosting.gradient.loop import GradientBoosting, GradientRound, GradientSetting
from costboost.boosting.gradient.losses import (
    CLASSIFICATION_LOSSES,
    REGRESSION_LOSSES,
    CostLoss,
    flat,
    read_loss,
)
from costboost.boosting.gradient.rows import GradientLoader, LossRows, largest_cost, put_margins
from costboost.boosting.gradient.tallies import CostTally, loss_tally
from costboost.calibration import CALIBRATORS, CalibratedScores
from costboost.costs import Costs, NumberCosts
from costboost.estimators.gradient.model import assemble_gradient, to_model
from costboost.fitting.held_out import (
    ClassResult,
    HeldOutResult,
    HeldOutRows,
    NumberResult,
    class_actions,
)
from costboost.fitting.plan import (
    TrainingPlan,
    check_class_count,
    check_order,
    check_training,
    check_unbiased,
    read_monotone,
)
from costboost.fitting.train import Family, Trainer
from costboost.fitting.warm import WarmState
from costboost.inputs.arrays import read_numbers
from costboost.inputs.checks import check_choice, check_number, fit_seed, warn_caller
from costboost.model import Member
from costboost.shards.layout import Shards
from costboost.trees.forest import ForestBuilder
from costboost.typing import Floats, Int64

STEPS = ("auto", "newton", "exact", "line-search")


@dataclass(frozen=True, kw_only=True)
class GradientPlan(TrainingPlan):
    """Everything a training needs to know beside the rows; see the estimators' parameters.

    Attributes
    ----------
    loss : Loss
    odds : float or None
        F times this is the log odds; None: F is not, or contains costs.
    objective : tuple of three arrays of shape (n,), or None
        The user's own (a, b, w0) for the cost-exponential loss.
    prices : float64 array of shape (n, 2) or (n, 4), or None
        Of every row: over and under, and where given by `NumberCosts` also per squared unit.
    one_tree : bool
        Whether a round grows one tree with vector leaves, not one for each class.
    even_weights : bool
        Whether weights that are all alike count as none, and extreme ones are rescaled.
    tallied : bool
        Whether rounds know what decisions cost on the training rows.
    """

    loss: Any
    odds: float | None
    setting: GradientSetting
    min_weight_leaf: float
    init: Any = None
    objective: tuple[Floats, Floats, Floats] | None = None
    prices: Floats | None = None
    one_tree: bool = False
    even_weights: bool = True
    tallied: bool = True

    @property
    def needs_table(self) -> bool:
        """Whether rounds are evaluated on rows of the table: those of a fitted `init` are."""
        return not (self.init is None or isinstance(self.init, str))

    def prices_of(self, rows: Any) -> Floats | None:
        """Return the prices of some rows, (n, 2), if they have any."""
        return None if self.prices is None else self.prices[rows]


def settle_regression(
    params: Any,
    X: Any,
    y: Floats,
    weights: Floats | None,
    over: Any = None,
    under: Any = None,
    costs: NumberCosts | None = None,
) -> GradientPlan:
    """Check the parameters of a regressor against each other and the data.

    `costs` are those of loss="cost", bound to the table.
    """
    loss = read_loss(REGRESSION_LOSSES, params, y, weights)
    prices = _read_prices(params, loss, over, under, len(y))
    if costs is not None:
        loss, prices = _cost_loss(costs, len(y))
    plan = _settle(params, X, loss, 0, odds=None, max_step=np.inf)
    return replace(plan, prices=prices)


def _cost_loss(costs: NumberCosts, n_rows: int) -> tuple[Any, Floats | None]:
    """Return the loss of some prices, and those of every row, (n, 4), unless they share them."""
    if costs.is_constant:
        return CostLoss.of(costs.training_prices(None)), None
    prices = costs.training_prices(n_rows)
    if not prices.any():
        raise ValueError(
            f"Every price of these rows is zero, so there is nothing to minimise: {costs!r}. Check "
            "the column that the costs read."
        )
    return CostLoss.of(prices), prices


def _read_prices(params: Any, loss: Any, over: Any, under: Any, n_rows: int) -> Floats | None:
    """Return prices per row, (n, 2), if any were given."""
    if over is None and under is None:
        return None
    if not loss.takes_prices:
        raise ValueError(
            f'over and under are prices of loss="pinball", not of {params.loss!r}; loss="cost" '
            "takes costs=NumberCosts(under=, over=)."
        )
    given = (params.over if over is None else over, params.under if under is None else under)
    columns = [
        read_numbers(part, name) for part, name in zip(given, ("over", "under"), strict=True)
    ]
    if any(part.shape not in ((), (n_rows,)) for part in columns):
        raise ValueError(f"over and under must be numbers, or one for each of {n_rows} rows.")
    return np.stack([np.broadcast_to(part, n_rows) for part in columns], axis=1)


def settle_classification(
    params: Any, X: Any, y: Int64, weights: Floats | None, costs: Costs, n_classes: int
) -> GradientPlan:
    """Check the parameters of a classifier against each other and the data."""
    check_choice("calibration", params.calibration, tuple(CALIBRATORS))
    check_class_count(n_classes)
    loss = read_loss(CLASSIFICATION_LOSSES, params, y)
    objective = loss.read_row_terms(params, len(y), n_classes)
    priced = loss.uses_costs
    check_unbiased(params.calibration, f"loss={params.loss!r}", on_costs=priced)
    if priced and objective is None and not costs.is_square:
        raise ValueError(
            f"loss={params.loss!r} trains on the cost of wrong classes, but the costs have other "
            f"actions. Use loss='log', which needs no costs in training."
        )
    max_step = np.inf
    if params.max_step is not None:
        check_number("max_step", params.max_step, low=0.0, open_low=True)
        max_step = float(params.max_step) / loss.odds
    plan = _settle(
        params,
        X,
        loss,
        n_classes,
        odds=None if priced else loss.odds,
        max_step=max_step,
        objective=objective,
        costs=costs,
    )
    _check_column_prices(plan, params)
    return plan


def _settle(
    params: Any,
    X: Any,
    loss: Any,
    n_classes: int,
    *,
    odds: float | None,
    max_step: float,
    objective: tuple[Floats, Floats, Floats] | None = None,
    costs: Costs | None = None,
) -> GradientPlan:
    _check_parameters(params)
    seed = fit_seed(params)
    setting = GradientSetting(
        n_rounds=params.n_estimators,
        step=_step(params, loss),
        learning_rate=float(params.learning_rate),
        l2=float(params.l2_regularization),
        max_step=max_step,
        subsample=float(params.subsample),
        seed=seed,
    )
    return GradientPlan.read(
        params,
        X,
        n_classes=n_classes,
        calibration=getattr(params, "calibration", None),
        metric="cost" if n_classes else "loss",
        seed=seed,
        setting=setting,
        loss=loss,
        odds=odds,
        min_weight_leaf=float(params.min_weight_leaf),
        monotone=read_monotone(params, X, n_classes=n_classes, costs=costs),
        init=params.init,
        objective=objective,
    )


def _check_column_prices(plan: GradientPlan, params: Any) -> None:
    """Refuse prices of columns where the gain of a split is not known in money."""
    priced = plan.tests is not None and len(plan.tests) > 0
    if priced and (params.loss != "log" or params.step == "line-search"):
        raise ValueError(
            f"feature_costs sets the price of a column against what a split saves of log loss; "
            f"loss={params.loss!r} with step={params.step!r} has none. Use loss='log' and "
            "step='newton', or CostBoostClassifier."
        )


def _step(params: Any, loss: Any) -> Any:
    check_choice("step", params.step, STEPS)
    if params.step == "auto":
        if params.estimator is not None:
            return "line-search"
        return "newton" if loss.smooth else "exact"
    if params.step == "exact" and params.estimator is not None:
        raise ValueError(
            'step="exact" sets the leaves of the built-in tree; with estimator= use "line-search" '
            'or "newton".'
        )
    if params.step == "exact" and loss.endless:
        raise ValueError(
            "The expected cost of a leaf is least at certainty, F = +-infinity: use "
            'step="newton" or "line-search".'
        )
    if params.step == "newton" and not loss.smooth:
        raise ValueError(
            f'loss={params.loss!r} has no curvature for Newton steps: use step="exact" or '
            '"line-search".'
        )
    return params.step


def _check_parameters(params: Any) -> None:
    check_training(params)
    check_number("learning_rate", params.learning_rate, low=0.0, open_low=True)
    check_number("l2_regularization", params.l2_regularization, low=0.0)
    check_number("min_weight_leaf", params.min_weight_leaf, low=0.0, high=0.5)
    if isinstance(params.init, str):
        check_choice("init", params.init, ("zero",))


# The loop on some rows.

_LIGHTEST = 1e-100  # of the heaviest row, in any unit of weight


def load_rows(trainer: Trainer, rows: Any) -> GradientLoader:
    """Return the loader of some rows; None are all."""
    plan: Any = trainer.plan
    data, chosen = trainer.data_of(rows), slice(None) if rows is None else rows
    weighted, shift = data.weights is not None, 0
    if plan.even_weights and data.weights is not None:
        weighted = bool(np.ptp(data.weights) != 0.0)
        shift = _shift(float(np.max(data.weights))) if weighted else 0
    objective = plan.objective
    return GradientLoader(
        data,
        plan.n_outputs,
        weighted=weighted,
        shift=shift,
        uses_costs=bool(plan.n_classes) and plan.loss.uses_costs,
        prices=plan.prices_of(chosen),
        objective=None if objective is None else tuple(part[chosen] for part in objective),
    )


def _shift(heaviest: float) -> int:
    """Return by which power of two weights are to be multiplied, so that sums of them have room.

    Nothing depends on their unit: the penalty on leaves (`l2`) has it too.
    """
    if _LIGHTEST <= heaviest <= 1.0 / _LIGHTEST:
        return 0
    return -int(np.frexp(heaviest)[1])


def open_loop(
    trainer: Trainer,
    shards: Shards,
    loader: GradientLoader,
    rows: Any,
    previous: WarmState | None,
) -> GradientBoosting:
    """Return the loop with its learner; a warm start begins where the earlier model did."""
    plan: Any = trainer.plan
    table, l2 = loader.rows, _l2(plan.setting.l2, loader.shift)
    (largest,) = shards.call([largest_cost(loss=plan.loss)])
    loss = plan.loss.scaled(largest)
    start, init = _start(trainer, loss, shards, table, rows, previous)
    learner = _learner(trainer, table, rows, l2)
    setting = replace(plan.setting, n_rounds=trainer.n_rounds, l2=l2)
    tally = _tally(plan, loss, shards, loader) if plan.tallied else None
    loop = GradientBoosting(shards, loss, learner, setting, start, tally, init)
    if init is not None:
        shards.put(put_margins, init.margins(trainer.table.table_of(rows)) + start)
    return loop


def _l2(l2: float, shift: int) -> float:
    """Return the penalty on leaves, in the unit of the rows' weights."""
    # One of 2**996 lets no leaf move, either.
    return math.ldexp(l2, min(shift, 996 - math.frexp(l2)[1])) if shift else l2


def _start(
    trainer: Trainer,
    loss: Any,
    shards: Shards,
    table: LossRows,
    rows: Any,
    previous: WarmState | None,
) -> tuple[Floats, Init | None]:
    """Return f_0: a constant, and a fitted model where the user gave one."""
    plan: Any = trainer.plan
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
    model.fit(trainer.table.table_of(rows), table.y, **extra)
    odds = None
    if plan.n_classes:
        odds = loss.odds
        if len(model.classes_) != plan.n_classes:
            raise ValueError(
                f"init={type(model).__name__} knows {len(model.classes_)} of the "
                f"{plan.n_classes} classes. Give more rows, or init=None."
            )
    return zero, Init(model, odds)


def _learner(trainer: Trainer, table: LossRows, rows: Any, l2: float) -> GradientLearner:
    plan: Any = trainer.plan
    seed, searching = plan.setting.seed, plan.setting.step == "line-search"
    heaviest = None if table.weights is None else float(np.max(table.weights))
    if trainer.binner is None:
        check_regressor(plan.estimator, weighted=not searching or table.weights is not None)
        how = (trainer.table.table_of(rows), searching, table.weights)
        return GradientRegressor(plan.estimator, *how, seed=seed)
    check_order(plan.monotone, trainer.binner)
    if plan.one_tree:
        return VectorTree(trainer.binner, plan.n_outputs, plan.limits, l2, seed, heaviest)
    return GradientTree(
        trainer.binner,
        plan.limits,
        least_squares=searching or plan.loss.least_squares,
        l2=l2,
        min_weight_leaf=plan.min_weight_leaf,
        monotone=plan.monotone,
        seed=seed,
        heaviest=1.0 if heaviest is None else heaviest,
        n_outputs=plan.n_outputs,
        charges=trainer.charges(),
        loss_of_row=trainer.entropy if plan.tests is not None and plan.n_classes else 0.0,
    )


def _tally(plan: Any, loss: Any, shards: Shards, loader: GradientLoader) -> Any:
    """Return the function that sums up the training cost, or loss, after a round."""
    table, costs, own = loader.rows, loader.data.costs, loader.data.weights
    if costs is None:
        return loss_tally(loss, table)
    cheapest = plan.odds is not None
    tally = CostTally(shards, costs, plan.loss, plan.n_classes, cheapest=cheapest)
    if own is None:
        return tally
    # Costs are in the unit of the user's weights, sums in that of the loader's.
    heaviest = 1.0 if table.weights is None else float(np.max(table.weights))
    unit = float(np.max(own)) / heaviest
    return tally if unit == 1.0 else lambda shards, total: unit * tally(shards, total)


# Its models, and their evaluation.


def to_member(trainer: Trainer, loop: GradientBoosting, rounds: list[GradientRound]) -> Member:
    """Return the member of some rounds, which starts as the one in training does."""
    return assemble_gradient(rounds, trainer.binner, loop.start, loop.init)


def finish(
    trainer: Trainer, loop: GradientBoosting, rounds: list[GradientRound], rows: Any
) -> Member:
    """Return the model of a training that has ended."""
    return to_member(trainer, loop, rounds)


class GradientFollower:
    """Adds rounds to the margins of held-out rows, and decides by them as the model does."""

    def __init__(self, trainer: Trainer, loop: GradientBoosting, part: HeldOutRows) -> None:
        self.binner, self.part = trainer.binner, part
        self.plan: Any = trainer.plan
        self.margins = np.broadcast_to(loop.start, (len(part.y), len(loop.start))).copy()
        if loop.init is not None:
            self.margins += loop.init.margins(part.X)

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
        """Add a round; return the predictions of the model so far."""
        self._add(done)
        part = self.part
        if part.costs is None:
            return NumberResult(part.y, self.margins[:, 0], self._mean_loss, part.weights)
        return self._decisions(part.costs)

    def _decisions(self, costs: Costs) -> ClassResult:
        part, plan = self.part, self.plan
        decided = part.y[:0]  # no metric reads them
        if plan.odds is not None:
            decided = costs.decide(self._proba(), encoded=True)
        elif plan.metric == "cost":
            decided = class_actions(costs, choices_of(self.margins))
        assert costs.classes is not None
        return ClassResult(costs.classes, part.y, self._proba, decided, costs, part.weights)

    def _proba(self) -> Floats:
        return np.asarray(self.plan.loss.proba(flat(self.margins)))

    def _mean_loss(self) -> float:
        rows = LossRows(self.part.y, 1, self.part.weights, prices=self.part.prices)
        return float(self.plan.loss.mean_value(rows, self.margins))


def score(trainer: Trainer, model: Member, rows: Any) -> Floats:
    """Return the margins of some rows of the table: (n,) for two classes, else (n, K)."""
    needs_table = trainer.binner is None or model.init is not None
    X = trainer.table.table_of(rows) if needs_table else None
    if trainer.binner is None:
        return np.asarray(flat(model.margins(X)))
    walk = partial(model.margins, X, n_threads=trainer.plan.n_threads)
    return np.asarray(flat(trainer.table.apply(walk, rows)))


def curves(
    plan: GradientPlan, loop: GradientBoosting, rounds: list[GradientRound], model: Member
) -> dict[str, Any]:
    """Return the fitted attributes of every round."""
    found: dict[str, Any] = {
        "train_cost_" if plan.n_classes else "train_loss_": np.array(
            [done.train_cost for done in rounds]
        ),
        "estimator_weights_": model.steps,
    }
    if model.forest is None:
        found["estimators_"] = [list(part) for part in model.estimators]
    return found


def attributes(
    plan: GradientPlan, members: tuple[Member, ...], scores: CalibratedScores | None
) -> dict[str, Any]:
    """Return the fitted attributes by which an estimator with these members answers."""
    model, start = to_model(members, scores, plan), members[0].first.copy()
    return {"_model": model, "n_iter_": model.n_rounds, "start_": start}


def _warn_of_no_rounds(name: str, stop: str) -> None:
    if stop == "flat":  # the start is the best there is
        return
    why = {
        "leaf": "no split of the rows is allowed or gains. Give more rows, or a smaller "
        "min_samples_leaf",
        "uphill": "the first step would raise the loss. Use step='newton', another objective "
        "or another estimator",
    }.get(stop, "training was stopped. Let it run for a round")
    warn_caller(f"{name} took no step and answers the same for every row: {why}.")


GRADIENT = Family(
    settle=settle_classification,
    loader=load_rows,
    loop=open_loop,
    follow=GradientFollower,
    to_member=to_member,
    finish=finish,
    score=score,
    curves=curves,
    attributes=attributes,
    warn_of_no_rounds=_warn_of_no_rounds,
)
REGRESSION = replace(GRADIENT, settle=settle_regression)
