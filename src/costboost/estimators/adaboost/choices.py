"""What "auto" stands for: in a named method, and in a recipe, by rows and classes.

A recipe is one frozen record of numbers. Those that go by the rows of the training table are
curves, so that one row more never makes another model of it. `NEWEST` is what `method="auto"` is;
a recipe that was released stays as it is, and a later one is another record beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import Any

import numpy as np

from costboost.calibration.calibrators import LARGEST_COUNT
from costboost.typing import Floats, Int64


@dataclass(frozen=True)
class Curve:
    """A number that goes by the rows: linear in their logarithm between knots, flat beyond.

    Attributes
    ----------
    knots : tuple of (rows, value), in rising order of the rows
    """

    knots: tuple[tuple[float, float], ...]

    def __call__(self, n_rows: int) -> float:
        """Return the value, to six digits: machines differ in the last digit of logarithms."""
        rows, values = np.array(self.knots).T
        return round(float(np.interp(np.log(max(n_rows, 1)), np.log(rows), values)), 6)

    def whole(self, n_rows: int) -> int:
        """Return the nearest whole number."""
        return round(self(n_rows))


def always(value: float) -> Curve:
    """Return the curve of a number that does not go by the rows."""
    return Curve(((1, value),))


@dataclass(frozen=True)
class Rounds:
    """The rounds and trees of a recipe; curves go by the rows of the training table.

    Attributes
    ----------
    leaves : Curve
        Of a tree, grown in the order of gains.
    max_depth : int or None
        How deep it may grow.
    most, learning_rate : Curve
        How many rounds there are at most, and the factor of each.
    patience, tolerance : Curve
        Training ends when the out-of-fold log loss has not fallen by this share for so many rounds.
    least_rows : Curve
        The least number of rows in a leaf.
    subsample : float
        The share of the rows that each tree learns from.
    fewest_features : int
        Columns drawn for each node: the square root of their number, or so many if that is more.
    """

    leaves: Curve
    most: Curve
    learning_rate: Curve
    patience: Curve
    tolerance: Curve
    least_rows: Curve
    subsample: float
    fewest_features: int = 1
    max_depth: int | None = None

    def choices(self, n_rows: int, n_columns: int) -> dict[str, Any]:
        """Return the parameters of the estimator that it stands for."""
        drawn = min(max(math.isqrt(n_columns), self.fewest_features), n_columns)
        return {
            "n_estimators": self.most.whole(n_rows),
            "max_depth": self.max_depth,
            "max_leaf_nodes": self.leaves.whole(n_rows),
            "learning_rate": self.learning_rate(n_rows),
            "subsample": self.subsample,
            "max_features": drawn,
            "min_samples_leaf": self.least_rows.whole(n_rows),
            "n_iter_no_change": self.patience.whole(n_rows),
            "tol": self.tolerance(n_rows),
        }


@dataclass(frozen=True)
class Recipe:
    """All numbers of a recipe.

    Attributes
    ----------
    name : str
    two, many : Rounds
        Of two classes and of more, by log loss.
    voted : Rounds
        Of more than two classes, where votes are asked for or no calibration: SAMME.
    calibration : str
    l2, max_step : float
        Of log loss: what is added to the curvature of a leaf, and its longest step in log odds.
    additive : Curve
        What the weight of the additive model is multiplied by: trees learn from many rows what it
        knows, and it would take too long.
    ridges : tuple of float
        Of the additive model, from much to little.
    widest : int
        Columns of its regression; it is left out where it had more.
    even : float
        Rows by which its weight is drawn to one half.
    mixing : pair of float
        Of margins among more than two classes: rows by which the diagonal of the matrix is drawn to
        1, and by which all else is drawn to 0.
    mixed_classes, mixed_rows : int
        There is no matrix of more classes; it is fitted to about so many rows at most.
    every : int
        Rounds between two looks at the out-of-fold rows.
    doubt : float
        Standard errors by which a later look may be worse than the best.
    solved : float
        The share of a constant answer's log loss at which nothing is left to learn.
    """

    name: str
    two: Rounds
    many: Rounds
    voted: Rounds
    calibration: str = "bias-corrected"
    l2: float = 0.02
    max_step: float = 4.0
    additive: Curve = Curve(((5_000, 1.0), (20_000, 0.0)))
    ridges: tuple[float, ...] = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003)
    widest: int = 2_000
    even: float = 20.0
    mixing: tuple[float, float] = (50.0, 1_000.0)
    mixed_classes: int = 50
    mixed_rows: int = 50_000
    every: int = 10
    doubt: float = 0.5
    solved: float = 1e-4


# Of release 0.1. Many rows stand long steps: as good as many short ones, in a third of the time.
_TWO = Rounds(
    leaves=Curve(((200, 6), (2_000, 20), (10_000, 31))),
    most=Curve(((3_000, 400), (10_000, 500), (20_000, 500), (50_000, 100))),
    learning_rate=Curve(((3_000, 0.1), (10_000, 0.07), (20_000, 0.07), (50_000, 0.2))),
    patience=Curve(((500, 40), (2_000, 80), (20_000, 100), (50_000, 30))),
    tolerance=Curve(((2_000, 0.002), (20_000, 0.0))),
    least_rows=Curve(((2_000, 3), (10_000, 10), (50_000, 20))),
    subsample=0.8,
    fewest_features=8,
)
_MANY = Rounds(
    leaves=Curve(((500, 8), (2_000, 64))),
    max_depth=6,
    most=Curve(((20_000, 400), (50_000, 100))),
    learning_rate=Curve(((20_000, 0.1), (50_000, 0.2))),
    patience=Curve(((500, 30), (2_000, 80), (20_000, 80), (50_000, 30))),
    tolerance=always(0.002),
    least_rows=always(5),
    subsample=0.7,
)
_VOTED = Rounds(
    leaves=always(256),
    max_depth=8,
    most=always(400),
    learning_rate=always(0.5),
    patience=always(80),
    tolerance=always(0.002),
    least_rows=always(5),
    subsample=0.7,
)
AUTO_1 = Recipe("auto-1", two=_TWO, many=_MANY, voted=_VOTED)
RECIPES = {recipe.name: recipe for recipe in (AUTO_1,)}
NEWEST = AUTO_1
RECIPE_NAMES = ("auto", *RECIPES)

# In a named method.
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


def recipe_of(params: Any) -> Recipe | None:
    """Return the recipe that parameters ask for: by its name, and with the built-in tree."""
    if params.estimator is not None:
        return None
    return NEWEST if params.method == "auto" else RECIPES.get(params.method)


def count_rows(y: Int64, weights: Floats | None) -> int:
    """Return as how many rows a recipe takes a table.

    A row of weight 3 is three. Weights that are not whole have some unit: they count as Kish's
    effective number of rows, ``(sum w)^2 / sum w^2``.
    """
    if weights is None:
        return len(y)
    shares = weights / weights.max()  # whose squares stay in range
    if np.all(weights == np.rint(weights)):
        with np.errstate(over="ignore"):
            return round(min(float(weights.sum()), LARGEST_COUNT))
    return max(1, round(float(shares.sum() ** 2 / (shares @ shares))))


def without_auto(params: Any, n_rows: int, n_columns: int, n_classes: int) -> SimpleNamespace:
    """Return the parameters with every "auto" that stands for a number settled.

    Also which `recipe` they ask for, and whether it boosts by log loss: whoever names votes, or no
    calibration, gets votes.
    """
    given, recipe = params.get_params(deep=False), recipe_of(params)
    log_loss = recipe is not None and given["calibration"] is not None and given["votes"] == "auto"
    choices = NAMED
    if recipe is not None:
        rounds = recipe.two if n_classes <= 2 else recipe.many if log_loss else recipe.voted
        votes = "gentle" if n_classes <= 2 else "discrete"
        choices = {**rounds.choices(n_rows, n_columns), "votes": votes}
    if given["max_depth"] == "auto" and given["max_leaf_nodes"] is not None:
        given["max_depth"] = None
    elif given["max_depth"] == "auto" and recipe is not None:
        given["max_leaf_nodes"] = choices["max_leaf_nodes"]
    for name, choice in choices.items():
        if isinstance(given[name], str) and given[name] == "auto":
            given[name] = choice
    return SimpleNamespace(**given, recipe=recipe, log_loss=log_loss)


# What a recipe became in a fit

#: Why its training ended.
STOPPED = {
    "no improvement": "the out-of-fold loss had not fallen for {patience} rounds",
    "nothing left": "the out-of-fold loss is as good as zero",
    "all rounds": "all {n_estimators} rounds were taken",
    "no further step": "no fold could take a further step",
    "callback": "a callback ended it",
    "interrupted": "it was interrupted",
}


def describe(
    plan: Any,
    n_rounds: int,
    stopped: str,
    n_folds: int,
    chosen: Any,
    mixing: Any,
) -> dict[str, Any]:
    """Return what a recipe became in a fit, as plain values (`recipe_` of the estimator).

    A `mixing` of classes contains the calibration of the `chosen` look, from which it was fitted.
    """
    limits, setting, calibration = plan.limits, plan.setting, chosen.calibration
    return {
        "name": plan.recipe.name,
        "boosting": "log loss" if plan.log_loss else f"{setting.votes} votes",
        "max_depth": limits.max_depth,
        "max_leaf_nodes": limits.max_leaf_nodes,
        "min_samples_leaf": limits.min_samples_leaf,
        "max_features": limits.max_features,
        "subsample": plan.subsample,
        "learning_rate": setting.learning_rate,
        "n_estimators": setting.n_rounds,
        "patience": plan.patience,
        "rounds": n_rounds,
        "stopped": stopped,
        "additive_weight": 0.0 if chosen.blend is None else chosen.blend.share,
        "folds": n_folds,
        "calibration": calibration.method,
        "calibration_parameters": [_parameters(one) for one in calibration.calibrators],
        "mixing": None if mixing is None else mixing.matrix.tolist(),
    }


def _parameters(calibrator: Any) -> dict[str, Any]:
    """Return the numbers of a calibrator by name; of isotonic regression, lists of them."""
    found = {field.name: getattr(calibrator, field.name) for field in fields(calibrator)}
    found.pop("margins", None)
    return {name: np.asarray(v).tolist() for name, v in found.items() if v is not None}


def recipe_words(recipe: Mapping[str, Any]) -> dict[str, str]:
    """Return what `recipe_` of a fitted model says in plain words, by heading."""
    trees = [f"at most {recipe['max_leaf_nodes']} leaves"] if recipe["max_leaf_nodes"] else []
    trees += [f"depth {recipe['max_depth']}"] if recipe["max_depth"] else []
    why = STOPPED[recipe["stopped"]].format(**recipe)
    weight = recipe["additive_weight"]
    mixed = "" if recipe["mixing"] is None else ", then a matrix that mixes the classes"
    numbers = "; ".join(
        ", ".join(f"{name} {_number(value)}" for name, value in one.items())
        for one in recipe["calibration_parameters"]
    )
    return {
        "Recipe": recipe["name"],
        "Boosting": f"{recipe['boosting']}, trees of {' and '.join(trees) or 'any size'}, "
        f"learning rate {recipe['learning_rate']:g}",
        "Rounds": f"{recipe['rounds']} of at most {recipe['n_estimators']}; training ended "
        f"because {why}",
        "Additive model": f"weight {weight:.2f} beside the trees" if weight else "none",
        "Calibration": f"{recipe['calibration']} ({numbers}){mixed}, on {recipe['folds']} folds",
    }


def _number(value: Any) -> str:
    """Return a number, or several, with three digits."""
    if isinstance(value, list):
        return f"[{', '.join(_number(part) for part in value)}]"
    return f"{value:.3g}" if isinstance(value, int | float) else str(value)
