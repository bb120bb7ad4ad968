"""From the parameters of `CostBoostClassifier` to a plan: all choices settled, all checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost.learner import LEAF_VALUES
from costboost.boosting.adaboost.rules import RULES, MistakePrices, Rule, class_prices
from costboost.boosting.adaboost.weights import Setting
from costboost.boosting.formulas import OBJECTIVES, RuleInput
from costboost.calibration import CALIBRATORS
from costboost.costs import Costs
from costboost.estimators.adaboost.choices import (
    RECIPE_NAMES,
    Recipe,
    count_rows,
    recipe_of,
    without_auto,
)
from costboost.fitting.plan import (
    TrainingPlan,
    check_class_count,
    check_training,
    check_unbiased,
    read_monotone,
)
from costboost.inputs.arrays import read_finite, read_objective
from costboost.inputs.checks import check_choice, check_number, fit_seed
from costboost.typing import Floats, Int64

VOTES = ("discrete", "confidence", "real", "gentle")


@dataclass(frozen=True, kw_only=True)
class Plan(TrainingPlan):
    """Everything a training needs to know beside the rows.

    Attributes
    ----------
    method : str
        As the user chose it: "auto" runs the rule "adamec", and messages name what was chosen.
    rule : Rule
    setting : Setting
    class_prices : MistakePrices or None
        What mistakes cost by class, where rows of a class do not differ.
    discrete : bool
        Whether scores are shares of votes.
    in_step : bool
        Whether the folds are trained in step (`recipe.py`).
    recipe : Recipe or None
        Whose numbers they have; a named method has none.
    log_loss : bool
        Whether they are trained by log loss, in place of AdaBoost's votes.
    additive : float
        What the weight of an additive model beside them is multiplied by (`blending.py`); 0: none.
    mixes : bool
        Whether margins of more than two classes are mixed at last (`blending.py`).
    """

    method: str
    rule: Rule
    setting: Setting
    class_prices: MistakePrices | None
    criterion: Any
    min_weight_leaf: float
    subsample: float
    laplace: bool
    discrete: bool
    in_step: bool
    recipe: Recipe | None
    log_loss: bool
    additive: float
    mixes: bool

    @property
    def scores_are_margins(self) -> bool:
        """Whether scores are real-valued margins rather than shares of votes."""
        return not self.discrete

    @property
    def bounded(self) -> bool:
        """Whether a theorem bounds the training cost; it is about two classes."""
        return self.rule.bounded and self.n_classes == 2


def settle(
    params: Any, X: Any, y: Int64, weights: Floats | None, costs: Costs, n_classes: int
) -> Plan:
    """Check the parameters of an estimator against each other and the data."""
    check_choice("method", params.method, (*RECIPE_NAMES, *RULES))
    check_class_count(n_classes)
    seed = fit_seed(params)
    n_rows = count_rows(y, weights)
    params = without_auto(params, n_rows, X.shape[1], n_classes)
    _check_parameters(params)
    rule = RULES["adamec" if params.method in RECIPE_NAMES else params.method]
    _check_combination(params, rule, costs, n_classes)
    calibration = _calibration(params, rule)
    recipe: Recipe | None = params.recipe
    in_step = recipe is not None and calibration is not None
    votes = params.votes
    discrete = votes == "discrete" and not rule.partition and not params.log_loss
    monotone = read_monotone(params, X, n_classes=n_classes, costs=costs)
    setting = Setting(
        n_rounds=params.n_estimators,
        votes=votes,
        alpha=params.alpha,
        learning_rate=float(params.learning_rate),
        cost_scale=params.cost_scale,
        beta=_checked_beta(params.beta) if rule.takes_beta else None,
        objective=_objective(params.objective, len(y)) if rule.takes_objective else None,
    )
    return Plan.read(
        params,
        X,
        n_classes=n_classes,
        calibration=calibration,
        metric="log_loss" if in_step else "cost",
        seed=seed,
        method=params.method,
        setting=setting,
        rule=rule,
        class_prices=class_prices(costs, n_classes, aim=rule.trains_on_costs),
        criterion=params.criterion,
        min_weight_leaf=float(params.min_weight_leaf),
        subsample=float(params.subsample),
        laplace=bool(params.laplace),
        monotone=monotone,
        discrete=discrete,
        in_step=in_step,
        recipe=recipe,
        log_loss=params.log_loss,
        # Shares of votes are no log odds, and its curves obey no constraints.
        additive=0.0
        if recipe is None or not in_step or discrete or monotone is not None
        else recipe.additive(n_rows),
        mixes=params.calibration == "auto" and params.log_loss and n_classes > 2,
    )


def _check_parameters(params: Any) -> None:
    check_training(params)
    check_choice("votes", params.votes, VOTES)
    check_choice("laplace", params.laplace, (True, False))
    check_choice("alpha", params.alpha, ("published", "search", "estimate"))
    check_choice("criterion", params.criterion, ("gini", "entropy", "error"))
    check_choice("calibration", params.calibration, ("auto", *CALIBRATORS))
    check_number("learning_rate", params.learning_rate, low=0.0, open_low=True)
    check_number("min_weight_leaf", params.min_weight_leaf, low=0.0, high=0.5)
    if params.cost_scale != "auto":
        check_number("cost_scale", params.cost_scale, low=0.0, high=1.0, open_low=True)


def _check_combination(params: Any, rule: Rule, costs: Costs, n_classes: int) -> None:
    method = f"method={params.method!r}"
    if n_classes > 2 and not rule.many_classes:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"{method} is defined for two classes, y has {n_classes}. Use PNormBoostClassifier, "
            f"or one of {_able(lambda other: other.many_classes)}."
        )
    if rule.trains_on_costs and not costs.is_square:
        raise ValueError(
            f"{method} trains on the cost of wrong classes, but the costs have other actions, "
            f"{_names(costs.actions)}. Use method='adamec' or MinimumCostClassifier."
        )
    answered = set(_names(costs.classes)) <= set(_names(costs.actions))
    if not answered and rule.decision != "cheapest" and _calibration(params, rule) is None:
        raise ValueError(
            f"{method} without calibration answers classes, but the costs have other actions, "
            f"{_names(costs.actions)}. Set calibration='sigmoid' (or another one), or use "
            "method='adamec'."
        )
    check_unbiased(params.calibration, method, on_costs=rule.trains_on_costs)
    _check_votes(params, rule, method, n_classes)
    if params.alpha == "estimate" and not rule.estimates_step:
        raise ValueError(
            f"alpha='estimate' is AdaCost's first guess at a step that it then refines; {method} "
            "has none. Use alpha='published' or method='adacost'."
        )
    if rule.joint and params.feature_costs is not None:
        raise ValueError(
            f"{method} chooses a stump and its step together, by a loss that knows no prices of "
            "columns. Use another method, or feature_costs=None."
        )
    if rule.negative_steps and params.monotonic_cst is not None:
        raise ValueError(
            f"{method} takes negative steps, which would turn monotonic_cst around. Use another "
            "method, or monotonic_cst=None."
        )
    if rule.needs_n_rounds and (params.n_iter_no_change is not None or params.warm_start):
        raise ValueError(
            f"{method} spreads costs over a number of rounds fixed in advance: it can neither "
            "stop early nor be continued. Set n_iter_no_change=None and warm_start=False."
        )


def _check_votes(params: Any, rule: Rule, method: str, n_classes: int) -> None:
    votes = f"votes={params.votes!r}"
    if n_classes > 2 and params.votes != "discrete":
        raise ValueError(f"{votes} needs two classes, y has {n_classes}.")
    if params.votes in LEAF_VALUES and not rule.plain_loss:
        raise ValueError(
            f"{votes} fits leaf values to the plain exponential loss, which {method} does not "
            f"have. Use one of {_able(lambda other: other.plain_loss)}."
        )
    if params.votes == "confidence" and rule.discrete_only:
        raise ValueError(f"{method} is defined for discrete votes only.")
    if params.laplace and (params.estimator is not None or params.votes == "discrete"):
        given = votes if params.estimator is None else "estimator"
        raise ValueError(
            f"laplace=True estimates the leaf probabilities of the built-in tree, and {given} has "
            'no use for them. Leave it out, or set estimator=None and votes="confidence" (or '
            '"real", "gentle").'
        )


def _able(test: Callable[[Rule], bool]) -> str:
    """Return the names of the methods that pass a test."""
    return ", ".join(sorted(name for name, rule in RULES.items() if test(rule)))


def _names(actions: NDArray[Any] | None) -> list[Any]:
    return [] if actions is None else actions.tolist()


def _calibration(params: Any, rule: Rule) -> str | None:
    if params.calibration != "auto":
        return None if params.calibration is None else str(params.calibration)
    recipe = recipe_of(params)
    if recipe is not None:
        return recipe.calibration
    return "sigmoid" if rule.calibrated else None


def _checked_beta(beta: Any) -> Any:
    """Check a user's beta against the conditions of AdaCost's theorem, on a grid of costs."""
    if beta is None:
        return None
    grid = np.linspace(0.0, 1.0, 101)
    right = read_finite(beta(np.ones_like(grid), grid), grid.shape, "beta(1, c)")
    wrong = read_finite(beta(-np.ones_like(grid), grid), grid.shape, "beta(-1, c)")
    if not (np.all(right >= 0.0) and np.all(wrong >= right)):
        raise ValueError("beta must satisfy beta(-1, c) >= beta(1, c) >= 0 for c in [0, 1].")
    if np.any(np.diff(wrong) < 0.0) or np.any(np.diff(right) > 0.0):
        raise ValueError("beta(-1, c) must not fall and beta(1, c) must not rise with c.")
    return beta


def _objective(objective: Any, n_rows: int) -> Any:
    """Return the function (at, rows) -> (a, b, w0) of Gradient-CSB."""
    if isinstance(objective, str):
        check_choice("objective", objective, tuple(OBJECTIVES))
        return NamedObjective(objective)
    if callable(objective):
        return _UserObjective(objective)
    arrays = read_objective(objective, (n_rows,))
    return RowObjective(arrays)


@dataclass(frozen=True)
class NamedObjective:
    """One of `OBJECTIVES`; the sign of its a is that of the label."""

    name: str

    def __call__(self, at: RuleInput, rows: Any) -> tuple[Floats, Floats, Floats]:
        """Return those of some rows."""
        return OBJECTIVES[self.name](at)


@dataclass(frozen=True)
class _UserObjective:
    """A user's function of a `RuleInput`, checked; called for some rows at a time."""

    function: Any

    def __call__(self, at: RuleInput, rows: Any) -> tuple[Floats, Floats, Floats]:
        return read_objective(self.function(at), at.cost.shape, all_rows=False)


@dataclass(frozen=True)
class RowObjective:
    """The user's own a, b, w0, one of each per row."""

    arrays: tuple[Floats, Floats, Floats]

    def __call__(self, at: RuleInput | None, rows: Any) -> tuple[Floats, Floats, Floats]:
        """Return those of some rows."""
        a, b, w0 = self.arrays
        return a[rows], b[rows], w0[rows]

    def of_rows(self, rows: Any) -> RowObjective:
        """Return the objective of some rows, which are then numbered from 0."""
        return RowObjective(self(None, rows))
