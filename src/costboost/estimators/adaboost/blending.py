"""The recipe's second model, and how its log odds are blended with those of the boosted trees.

On small tables every fold also fits the additive model of `boosting/additive.py`: smooth where
trees are rough, it errs elsewhere. Both models' margins become log odds by a calibration to the
rows left out; their blend is a weighted mean, whose one weight has the least log loss there, drawn
to one half. It is affine in both margins, so that it is one forest again.

With more than two classes, the blended margins are at last mixed among the classes (`Mixing`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from costboost.boosting.additive import Basis, fit_coefficients, make_basis
from costboost.boosting.formulas import Bracket, Tolerance
from costboost.boosting.train_cost import Proba, expected_price
from costboost.calibration import ClassCalibration
from costboost.calibration.calibrators import BIAS_RIDGE, NEVER, row_counts
from costboost.estimators.adaboost.choices import Recipe
from costboost.fitting.train import Trainer
from costboost.model import Logistic, Member
from costboost.runtime.messages import message, total
from costboost.shards.layout import Folds
from costboost.shards.rows import Shard
from costboost.trees.forest import Forest, join_forests
from costboost.typing import AnyInts, Floats

_SHORT = Tolerance(0.0, 1e-6)  # a step of the share that is as good as none


@dataclass(frozen=True)
class LogOdds:
    """Margins (n, J) -> log odds, or what softmax takes: beta * margins + biases."""

    beta: float
    biases: Floats

    def __call__(self, margins: Floats) -> Floats:
        """Return log odds, (n, J)."""
        return self.beta * margins + self.biases


def fit_log_odds(margins: Floats, y: AnyInts, weights: Floats | None) -> LogOdds:
    """Return the calibration of margins (n, J) by a temperature and biases drawn to 0."""
    n_outputs = margins.shape[1]
    blank = ClassCalibration("bias-corrected", max(n_outputs, 2), margins=True)
    (fitted,) = blank.fit(margins[:, 0] if n_outputs == 1 else margins, y, weights).calibrators
    if n_outputs > 1:
        return LogOdds(fitted.beta, np.array(fitted.biases))
    # Weights may leave a class next to no share, of which the logarithm is no number to blend.
    return LogOdds(fitted.beta, np.array([min(max(fitted.bias, NEVER), -NEVER)]))


@dataclass(frozen=True)
class Blend:
    """Two models' margins -> one margin, on the scale of log odds."""

    share: float  # of the additive model
    boosted: LogOdds
    additive: LogOdds

    def __call__(self, boosted: Floats, additive: Floats) -> Floats:
        """Return the blended margins, (n, J)."""
        return np.asarray(
            (1.0 - self.share) * self.boosted(boosted) + self.share * self.additive(additive)
        )


def best_share(
    one: Floats, other: Floats, y: AnyInts, weights: Floats | None, even: float
) -> float:
    """Return the share of the other log odds (n, J) at which the mean of both has least log loss.

    The loss is convex. A penalty of `even` rows draws the share to one half.
    """
    w = np.ones(len(y)) if weights is None else row_counts(weights)
    way = other - one

    def derivatives(share: float) -> tuple[float, float]:
        slope, bend = _along(one + share * way, way, y, w)
        return slope + even * (share - 0.5), bend + even

    bracket = Bracket(0.5, 0.0, 1.0, close=_SHORT, still=_SHORT, wary=True)
    return float(bracket.minimise(derivatives))


def _along(at: Floats, way: Floats, y: AnyInts, w: Floats) -> tuple[float, float]:
    """Return the first two derivatives of the log loss along a way, (n, J)."""
    if at.shape[1] == 1:
        p, d = expit(at[:, 0]), way[:, 0]
        return float(w @ ((p - y) * d)), float(w @ (p * (1.0 - p) * d**2))
    p = softmax(at, axis=1)
    mean = (p * way).sum(axis=1)
    slope = mean - way[np.arange(len(y)), y]
    return float(w @ slope), float(w @ ((p * way**2).sum(axis=1) - mean**2))


@dataclass(frozen=True)
class AdditivePart:
    """The additive model of one fold, and its part in the blend."""

    blend: Blend
    forest: Forest

    def blended(self, model: Member) -> Member:
        """Return both models as one; the additive trees are there before the first round."""
        blend, boosted = self.blend, model.trees
        assert boosted is not None
        factors = [blend.share * blend.additive.beta, (1.0 - blend.share) * blend.boosted.beta]
        base = blend(boosted.base[None, :], self.forest.base[None, :])[0]
        # What splits gain has no unit in common: each model's are shares, by its part in the blend.
        parts = [
            _with_shares(self.forest, np.ones(len(self.forest)), blend.share),
            _with_shares(boosted, model.tree_weights, 1.0 - blend.share),
        ]
        forest = join_forests(parts, factors, base)
        return replace(model, trees=forest, maps=(Logistic(1.0),), n_first=len(self.forest))


def _with_shares(forest: Forest, weights: Floats, share: float) -> Forest:
    """Return the forest with gains that, by the weights of trees, add up to a share.

    Steps too small for that to be a number leave no gain.
    """
    sizes = np.diff(np.append(forest.roots, len(forest.words)))
    total = float(np.abs(weights).repeat(sizes) @ forest.gains)
    scale = share / total if total > share / np.finfo(float).max else 0.0
    return replace(forest, gains=forest.gains * scale)


@message(reduce=total)
def price_blended(shard: Shard, *, proba: Proba, total: float, part: AdditivePart) -> int:
    """Price the decisions of two models exactly: rows hold the margins of the boosted one."""
    boosted = shard.state.margins
    additive = np.empty_like(boosted)
    for codes, rows in shard.stretches():
        additive[rows] = part.forest.margins_of_codes(codes)
    return expected_price(shard, part.blend(boosted, additive), proba, total)


class AdditiveFolds:
    """The additive models of all folds, with the ridge that the rows left out like best.

    Parameters
    ----------
    trainer : Trainer
    folds : Folds
    used : array of row numbers
        All rows that folds use, increasing.
    basis : Basis

    Attributes
    ----------
    forests : list of Forest
        Of each fold.
    margins : float64 array of shape (n, J)
        Of the rows left out, fold after fold.
    log_odds : LogOdds
        Of those margins.
    """

    def __init__(self, trainer: Trainer, folds: Folds, used: AnyInts, basis: Basis) -> None:
        self.trainer, self.basis, self.used = trainer, basis, used
        self.n_outputs = trainer.plan.n_outputs
        places = np.zeros(trainer.n_rows, dtype=np.intp)
        places[used] = np.arange(len(used))
        self._columns = basis.columns(trainer.table.codes_of(used))
        self._splits = [(places[train], places[test]) for train, test in folds]
        self._tests = np.concatenate([test for _, test in folds])
        with threadpool_limits(1, "blas"):  # whose sums depend on the number of threads
            self._search()

    def _search(self) -> None:
        """Fit with less and less ridge, until the rows left out have more loss."""
        y, weights = self.trainer.y[self._tests], self._weights(self._tests)
        found: list[Floats] = []
        least = np.inf
        plan: Any = self.trainer.plan
        for ridge in plan.recipe.ridges:
            found = self._fit_folds(ridge, found)
            margins = self._left_out(found)
            log_odds = fit_log_odds(margins, y, weights)
            loss = _log_loss(log_odds(margins), y, weights)
            if not loss < least:
                break
            least, self.ridge, self.margins, self.log_odds = loss, ridge, margins, log_odds
            best = found
        self.forests = [self.basis.forest(coefficients) for coefficients in best]

    def _fit_folds(self, ridge: float, earlier: list[Floats]) -> list[Floats]:
        """Return the coefficients of all folds; those of a greater ridge are where to begin."""
        starts: Sequence[Floats | None] = earlier or [None] * len(self._splits)
        pairs = zip(self._splits, starts, strict=True)
        return [self._fit(train, ridge, start) for (train, _), start in pairs]

    def _left_out(self, found: list[Floats]) -> Floats:
        """Return the margins of the rows left out, fold after fold."""
        pairs = zip(self._splits, found, strict=True)
        parts = [self._columns[test] @ f[1:] + f[0] for (_, test), f in pairs]
        return np.concatenate(parts)

    def of_all_rows(self) -> Forest:
        """Return the model of all rows, with the same ridge."""
        with threadpool_limits(1, "blas"):
            return self.basis.forest(self._fit(np.arange(len(self.used)), self.ridge, None))

    def blend(self, boosted: Floats, y: AnyInts, weights: Floats | None) -> Blend:
        """Return the blend with margins (n, J) of the same rows, by another model."""
        log_odds = fit_log_odds(boosted, y, weights)
        plan: Any = self.trainer.plan
        pair = log_odds(boosted), self.log_odds(self.margins)
        share = plan.additive * best_share(*pair, y, weights, plan.recipe.even)
        return Blend(share, log_odds, self.log_odds)

    def _fit(self, places: AnyInts, ridge: float, start: Floats | None) -> Floats:
        rows = self.used[places]
        y, weights = self.trainer.y[rows], self._weights(rows)
        return fit_coefficients(self._columns[places], y, weights, self.n_outputs, ridge, start)

    def _weights(self, rows: AnyInts) -> Floats | None:
        weights = self.trainer.weights
        return None if weights is None else weights[rows]


def fit_additive(trainer: Trainer, folds: Folds) -> AdditiveFolds | None:
    """Return the additive models of all folds; None where the plan, or the table, has none."""
    plan: Any = trainer.plan
    if not plan.additive:
        return None
    assert trainer.binner is not None
    used = folds.used(trainer.n_rows)
    weights = None if trainer.weights is None else trainer.weights[used]
    codes = trainer.table.codes_of(used)
    basis = make_basis(trainer.binner, codes, weights, plan.limits.columns)
    if not 0 < basis.width <= plan.recipe.widest:
        return None
    return AdditiveFolds(trainer, folds, used, basis)


def _log_loss(log_odds: Floats, y: AnyInts, weights: Floats | None) -> float:
    if log_odds.shape[1] == 1:
        log_odds = np.concatenate([np.zeros_like(log_odds), log_odds], axis=1)
    losses = -log_softmax(log_odds, axis=1)[np.arange(len(y)), y]
    return float(np.average(losses, weights=weights))


# More than two classes: what margins of one class say of another


@dataclass(frozen=True)
class Mixing:
    """Margins (n, K) -> those of which the softmax is calibrated: margins @ matrix + shift."""

    matrix: Floats
    shift: Floats

    def mixed(self, model: Member) -> Member:
        """Return the model with these margins, one forest again."""
        forest = model.trees
        assert forest is not None
        with threadpool_limits(1, "blas"):
            values, base = forest.values @ self.matrix, forest.base @ self.matrix + self.shift
        return replace(
            model, trees=replace(forest, values=values, base=base), maps=(Logistic(1.0),)
        )


def fit_mixing(
    scores: Floats,
    y: AnyInts,
    weights: Floats | None,
    calibration: ClassCalibration,
    recipe: Recipe,
) -> Mixing | None:
    """Return the mixing of out-of-fold margins (n, K) with least log loss, drawn to a calibration.

    Structured matrix scaling: calibrated log odds are multiplied by a matrix, whose diagonal is
    drawn to 1 and all else to 0 by penalties of so many rows each. None where a class has no row.
    """
    (start,) = calibration.calibrators
    n_classes = calibration.n_classes
    if start.beta <= 0 or min(start.biases) <= NEVER / 2 or n_classes > recipe.mixed_classes:
        return None
    # Some rows say as much of a few hundred numbers as all.
    some = slice(None, None, -(-len(y) // recipe.mixed_rows))
    y, biases = y[some], np.array(start.biases)
    w = np.ones(len(y)) if weights is None else row_counts(weights[some])
    centring = start.beta * (np.eye(n_classes) - 1.0 / n_classes)
    near = scores[some] @ centring + biases
    penalty = np.full((n_classes, n_classes), recipe.mixing[1])
    np.fill_diagonal(penalty, recipe.mixing[0])
    own, count = np.eye(n_classes)[y], float(w.sum())

    def loss(flat: Floats) -> tuple[float, Floats]:
        more, shift = flat[:-n_classes].reshape(n_classes, n_classes), flat[-n_classes:]
        logs = log_softmax(near + near @ more + shift, axis=1)
        residuals = (np.exp(logs) - own) * w[:, None]
        slopes = near.T @ residuals + penalty * more
        value = -float(w @ (logs * own).sum(axis=1))
        value += 0.5 * (float(np.sum(penalty * more**2)) + BIAS_RIDGE * float(shift @ shift))
        down = np.append(slopes.ravel(), residuals.sum(axis=0) + BIAS_RIDGE * shift)
        return value / count, down / count

    with threadpool_limits(1, "blas"):  # whose sums depend on the number of threads
        options = {"maxiter": 200, "ftol": 1e-10, "gtol": 1e-7}
        first = np.zeros(n_classes * (n_classes + 1))
        found = minimize(loss, first, jac=True, method="L-BFGS-B", options=options).x
    whole = np.eye(n_classes) + found[:-n_classes].reshape(n_classes, n_classes)
    return Mixing(centring @ whole, biases @ whole + found[-n_classes:])
