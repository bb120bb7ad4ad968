"""What "auto" stands for: of a named method, and of the recipe (`recipe.py`) by the table's size.

The recipe's numbers go by the number of rows and of classes; whoever gives a number keeps it.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

NAMED = {
    "n_estimators": 100,
    "max_depth": 3,
    "learning_rate": 1.0,
    "subsample": 1.0,
    "max_features": None,
    "min_samples_leaf": 1,
    "votes": "discrete",
    "n_iter_no_change": None,
    "tol": 0.0,
}
RECIPE = {
    "n_estimators": 400,
    "max_depth": 3,
    "learning_rate": 0.1,
    "subsample": 0.7,
    "max_features": "sqrt",
    "min_samples_leaf": 5,
    "votes": "gentle",
    "n_iter_no_change": 40,
    "tol": 0.002,
}
LARGE, LARGER, LARGEST = 1_000, 10_000, 50_000  # rows, from which on:
RECIPE_LARGE = {**RECIPE, "max_depth": 6, "n_iter_no_change": 80}
RECIPE_LARGER = {
    **RECIPE_LARGE,
    "max_depth": None,
    "learning_rate": 0.05,
    "min_samples_leaf": 20,
    "n_iter_no_change": 100,
    "tol": 0.0,
}
LOG_LEAVES = 31  # of the trees in tables that are larger still
# So many rows stand longer steps: as good as many short ones, in a third of the time.
LONG_STEPS = {"n_estimators": 100, "learning_rate": 0.2, "n_iter_no_change": 30}
RECIPE_LARGEST = {**RECIPE_LARGER, **LONG_STEPS, "max_features": 0.3}
# More than two classes: log loss too, one tree with vector leaves a round.
RECIPE_MANY = {**RECIPE_LARGE, "votes": "discrete"}
RECIPE_MANY_SMALL = {**RECIPE_MANY, "n_iter_no_change": 30}
RECIPE_MANY_LARGEST = {**RECIPE_MANY, **LONG_STEPS}
# From so many rows on.
Recipes = tuple[tuple[int, dict[str, Any]], ...]
TWO: Recipes = (
    (0, RECIPE),
    (LARGE, RECIPE_LARGE),
    (LARGER, RECIPE_LARGER),
    (LARGEST, RECIPE_LARGEST),
)
MANY: Recipes = ((0, RECIPE_MANY_SMALL), (LARGE, RECIPE_MANY), (LARGEST, RECIPE_MANY_LARGEST))
# The same by SAMME, where votes are asked for, or no calibration.
RECIPE_VOTES = {**RECIPE_MANY, "max_depth": 8, "learning_rate": 0.5}


def is_recipe(params: Any) -> bool:
    """Whether the parameters ask for the recipe: method="auto" on the built-in tree."""
    return bool(params.method == "auto" and params.estimator is None)


def without_auto(params: Any, n_samples: int, n_classes: int) -> SimpleNamespace:
    """Return the parameters with every "auto" that stands for a number settled."""
    given = params.get_params(deep=False)
    log_loss = _by_log_loss(params, n_samples, n_classes)
    choices = _choices(params, n_samples, n_classes, log_loss=log_loss)
    if given["max_depth"] == "auto" and given["max_leaf_nodes"] is not None:
        given["max_depth"] = None
    elif given["max_depth"] == "auto" and log_loss and n_classes == 2:
        given["max_leaf_nodes"] = LOG_LEAVES
    for name, choice in choices.items():
        if isinstance(given[name], str) and given[name] == "auto":
            given[name] = choice
    return SimpleNamespace(**given, log_loss=log_loss)


def _choices(params: Any, n_samples: int, n_classes: int, *, log_loss: bool) -> dict[str, Any]:
    """Return what "auto" stands for."""
    if not is_recipe(params):
        return NAMED
    if n_classes > 2:
        return _by_size(n_samples, MANY) if log_loss else RECIPE_VOTES
    return _by_size(n_samples if log_loss else min(n_samples, LARGER - 1), TWO)


def _by_size(n_samples: int, recipes: Recipes) -> dict[str, Any]:
    return next(recipe for least, recipe in reversed(recipes) if n_samples >= least)


def _by_log_loss(params: Any, n_samples: int, n_classes: int) -> bool:
    """Whether the recipe boosts by log loss; whoever names votes, or no calibration, gets votes."""
    if not is_recipe(params) or params.calibration is None or params.votes != "auto":
        return False
    return n_classes > 2 or n_samples >= LARGER


def takes_additive(n_samples: int) -> bool:
    """Whether the recipe has a use for an additive model: many rows teach trees what it knows."""
    return n_samples < LARGER
