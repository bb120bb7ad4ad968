"""Whether the parts of a restored model fit each other: every index, length, edge and category.

Types are settled before (`hints`), and forests and binners check themselves; here stand the rules
between the rest. A check says what is wrong as a `ValueError`; the reader of the file makes a
`ModelFileError` of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from costboost.boosting.adaboost.rules import RULES
from costboost.boosting.gradient.losses import CLASSIFICATION_LOSSES
from costboost.calibration import CalibratedScores, ClassCalibration, Isotonic
from costboost.costs import Expression, NumberCosts, NumberDistribution
from costboost.costs.state import Factor, State, TablePrice
from costboost.costs.uncertain import check_together
from costboost.inputs.checks import check_jobs
from costboost.model import (
    Calibrate,
    FittedModel,
    Logistic,
    LossLink,
    Map,
    Member,
    Mixture,
    Normalise,
    Second,
    VoteShares,
    counts_votes,
)
from costboost.trees.forest import Forest

__all__ = [
    "check_calibration",
    "check_classes",
    "check_costs",
    "check_distribution",
    "check_estimator",
    "check_finite",
    "check_isotonic",
    "check_member",
    "check_model",
    "check_number_costs",
    "check_scores",
]


#: Margins and what calibration makes of them stay below it, so that links never overflow.
LARGEST = 1e300


def demand(holds: Any, message: str) -> None:
    """Raise unless a rule holds."""
    if not holds:
        raise ValueError(message)


def check_finite(value: Any) -> None:
    """Check that every number of a calibrator or loss is finite."""
    for name, part in vars(value).items():
        numbers = part if isinstance(part, tuple) else (part,)
        finite = all(np.isfinite(n) for n in numbers if isinstance(n, int | float))
        demand(finite, f"{name} of a {type(value).__name__} is not finite")


# --- calibration


def check_isotonic(calibrator: Isotonic) -> None:
    """Check knots that increase and values that are probabilities."""
    knots, values = calibrator.knots, calibrator.values
    demand(knots.ndim == 1 and knots.shape == values.shape and len(knots), "knots lack values")
    demand(np.isfinite(knots).all() and (np.diff(knots) >= 0).all(), "knots do not increase")
    demand(((values >= 0) & (values <= 1)).all(), "values of knots are no probabilities")
    demand((np.diff(values) >= 0).all(), "values of knots fall")


def check_calibration(calibration: ClassCalibration) -> None:
    """Check that there are as many calibrators as classes need, of the kind that was named."""
    demand(calibration.n_classes >= 1, "a calibration has no classes")
    kind, given = calibration.kind, calibration.calibrators
    if kind is None or calibration.n_classes == 1:
        demand(not given, "there are calibrators where none is needed")
        return
    several = calibration.n_classes > 2 and not calibration.joint
    needed = calibration.n_classes if several else 1
    demand(len(given) == needed, f"there are {len(given)} calibrators for {needed}")
    demand(all(type(part) is kind for part in given), "a calibrator is not of the kind named")
    for part in given:
        prior = getattr(part, "prior", None)
        demand(prior is None or len(prior) == calibration.n_classes, "a prior lacks classes")
        biases = getattr(part, "biases", None)
        demand(biases is None or len(biases) == calibration.n_classes, "biases lack classes")
        margins = getattr(part, "margins", calibration.margins)
        demand(margins is calibration.margins, "a calibrator takes other scores")


def check_scores(scores: CalibratedScores) -> None:
    """Check that every model has its map, and all have the same classes."""
    demand(scores.models and len(scores.models) == len(scores.maps), "not every model has its map")
    demand(len({part.n_classes for part in scores.maps}) == 1, "maps have different classes")
    demand(scores.n_folds >= 0, "the number of folds is negative")


# --- costs


def check_costs(state: State) -> None:
    """Check the cells of costs, their rows, and the labels."""
    demand(state.form in ("matrix", "rows", "answers"), "costs have no known form")
    held, values = state[1], list(_arrays(state[1]))  # the cells, and the prices among them
    demand(all(c.dtype == np.float64 and c.ndim <= 1 for c in values), "costs are no numbers")
    demand(all(np.isfinite(c).all() for c in values), "a cost is not finite")
    read = [cell.value.read for cell in held if isinstance(cell.value, TablePrice)]
    demand(all(isinstance(part, str | Expression) for part in read), "a cost is read from nothing")
    check_together(held)
    lengths = {c.size for c in values if c.ndim}
    demand(len(lengths) <= 1, "costs have different numbers of rows")
    for n in (state.n_classes, state.n_actions):
        demand(n is None or (type(n) is int and n >= 1), "costs have no classes")
    cells = {"rows": 1, "answers": state.n_classes}
    if state.form == "matrix":
        demand(state.n_classes is not None, "costs have no classes")
        cells["matrix"] = state.k * state.a
    demand(len(held) == cells[state.form], "costs have not as many cells as they need")
    for labels, n in ((state.classes, state.n_classes), (state.actions, state.n_actions)):
        if labels is not None:
            demand(type(labels) is np.ndarray and labels.shape == (n,), "a cost lacks its label")
            demand(len(set(labels.tolist())) == n, "labels of costs occur twice")
    if state.order is not None:
        named = type(state.order) is np.ndarray and state.classes is not None
        demand(named and sorted(state.order.tolist()) == sorted(state.classes.tolist()),  # type: ignore[union-attr]
               "costs name other classes than theirs")  # fmt: skip
    known = state.positive is None or state.classes is None
    demand(known or state.positive in state.classes.tolist(), "the positive class is none")  # type: ignore[union-attr]


def check_number_costs(costs: NumberCosts) -> None:
    """Check the prices of numbers: five, and one for each step."""
    state = costs._state
    values = list(_arrays(state.cells))
    demand(all(c.dtype == np.float64 and c.ndim <= 1 for c in values), "prices are no numbers")
    demand(all(np.isfinite(c).all() and (c >= 0).all() for c in values), "a price is no price")
    read = [cell.value.read for cell in state.cells if isinstance(cell.value, TablePrice)]
    demand(all(isinstance(part, str | Expression) for part in read), "a price is read from nothing")
    demand(len({c.size for c in values if c.ndim}) <= 1, "prices have different numbers of rows")
    demand(len(state.cells) == 5 + len(costs._beyond), "not every price has its place")
    for at in costs._beyond:
        most = 1.0 if at.relative else np.inf
        demand(at.side in ("under", "over") and 0.0 <= at.distance < most, "a step has no place")


def check_distribution(spread: NumberDistribution) -> None:
    """Check knots and levels: as many of both, in order, from 0 to 1."""
    knots, levels = spread.knots, spread.levels
    demand(knots.ndim == 1 and knots.shape == levels.shape and len(knots) > 1, "knots lack levels")
    demand(np.isfinite(knots).all() and (np.diff(knots) >= 0).all(), "knots do not increase")
    demand((np.diff(levels) >= 0).all(), "levels of knots fall")
    demand(levels[0] == 0.0 and levels[-1] == 1.0, "levels do not go from 0 to 1")


def _arrays(value: Any) -> Iterator[NDArray[Any]]:
    """Yield the arrays inside cells; beside them there may be columns, expressions and numbers."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple) and not isinstance(value, Factor):
        for part in value:
            yield from _arrays(part)
    else:
        # The law of a factor was checked as it was made.
        known = value is None or isinstance(value, str | float | Expression | Factor)
        demand(known, "a cost is no number")


# --- models


def largest_margin(forest: Forest) -> float:
    """Return how large a margin can be at most."""
    total = np.abs(forest.base)
    if len(forest):
        with np.errstate(over="ignore"):
            total = total + np.maximum.reduceat(np.abs(forest.values), forest.roots).sum(axis=0)
    return float(total.max(initial=0.0))


def check_member(member: Member) -> None:
    """Check a member: its trees and steps belong together, and margins are numbers."""
    steps, forest = member.steps, member.trees
    demand(forest is not None and not member.estimators, "a model has no trees")
    assert forest is not None
    demand(member.start is None and member.answers is None, "trees have their own start")
    demand(member.init is None, "a model begins with another model")
    demand(steps.ndim == 1 or steps.shape[1:] == (2,), "steps have another shape")
    demand(np.isfinite(steps).all(), "a step is not finite")
    demand(member.n_first >= 0, "a number of trees is negative")
    demand(len(forest.base) == forest.n_outputs, "a start has another shape")
    # A round has one tree, or one for each output.
    n_trees, most = len(forest) - member.n_first, len(steps) * forest.n_outputs
    demand(n_trees in (len(steps), most), f"there are {n_trees} trees for {len(steps)} rounds")
    weighed = member.weighs_gains and not isinstance(member, Mixture)
    demand(not weighed or n_trees == len(steps), "not every tree has its step")
    demand(largest_margin(forest) <= LARGEST, "a forest adds up to no number")
    if isinstance(member, Mixture):
        demand(steps.ndim == 1 and n_trees == len(forest) == len(steps), "a mixture has more trees")
        shares = (steps >= 0).all() and (member.adaptive or (steps <= 1).all())
        demand(shares, "a step is no share")
    _check_maps(member.maps, member)


def _check_maps(maps: tuple[Map, ...], member: Member) -> None:
    """Check that maps lead to probabilities: by a link, or by scores and their calibration."""
    if not maps:
        return
    forest = member.trees
    assert forest is not None
    kinds, wide = tuple(map(type, maps)), forest.n_outputs
    scores = {(), (Normalise,), (VoteShares, Second) if wide == 1 else (VoteShares,)}
    links = {(Logistic,), (LossLink,), (Normalise,), (VoteShares,)}
    known = kinds in links or (kinds[-1] is Calibrate and kinds[:-1] in scores)
    demand(known and (wide > 1 or Normalise not in kinds), "maps lead to no probabilities")
    for step in maps:
        if isinstance(step, Logistic):
            demand(np.isfinite(step.scale), "a scale is not finite")
        elif isinstance(step, VoteShares):
            demand(0 < step.total < np.inf, "votes weigh nothing")
        elif isinstance(step, LossLink):
            known = type(step.loss) in CLASSIFICATION_LOSSES.values()
            demand(known, "a model has no loss of classes")
        elif isinstance(step, Calibrate):
            _check_slopes(forest, step.calibration)
            n_classes = step.calibration.n_classes
            demand(n_classes == max(2, wide), "a calibration has other classes")
    if counts_votes(maps, wide):
        demand((forest.values >= 0).all() and (forest.base >= 0).all(), "a vote is negative")


def _check_slopes(forest: Forest, calibration: ClassCalibration) -> None:
    """Check that no margin, times the slope of its calibration, leaves the range of numbers."""
    largest = max(1.0, largest_margin(forest)) if calibration.margins else 1.0
    for part in calibration.calibrators:
        slopes = [
            abs(getattr(part, name, 0.0)) for name in ("A", "B", "a", "b", "c", "beta", "bias")
        ]
        demand(max(slopes) <= LARGEST / largest, "a calibration adds up to no number")


def check_model(model: FittedModel) -> None:
    """Check that the members of a model are of one kind, and are decided by as they can be."""
    demand(len(model.members) > 0, "a model has no trees")
    first = model.members[0]
    calibrated = [bool(m.maps) and isinstance(m.maps[-1], Calibrate) for m in model.members]
    demand(all(calibrated) or len(calibrated) == 1, "several models are not calibrated")
    demand(len({len(m.first) for m in model.members}) == 1, "members have different outputs")
    demand((model.decision is None) == (not first.maps), "a decision lacks probabilities")
    by_price = model.decision == "cheapest"
    demand(by_price or not calibrated[0], "calibrated models decide by price")
    if model.priced is not None:
        demand(by_price and not calibrated[0], "what is priced is not decided by")
        kinds = tuple(map(type, model.priced))
        demand(kinds in {(Logistic,), (VoteShares,)}, "no probabilities are priced")
        _check_maps(model.priced, first)


def check_classes(classes: NDArray[Any]) -> None:
    """Check that classes are sorted and differ."""
    demand(classes.ndim == 1 and len(classes) >= 1, "there are no classes")
    demand(np.all(classes[:-1] < classes[1:]), "classes are not sorted")


def check_estimator(model: Any) -> None:
    """Check what is fitted of an estimator; one that is not fitted has nothing to check."""
    fitted = vars(model)
    check_jobs(fitted.get("n_jobs"))
    classes = fitted.get("classes_")
    if classes is not None:
        check_classes(classes)
    n_features = fitted.get("n_features_in_", 1)
    demand(n_features >= 1, "a model has no columns")
    names = fitted.get("feature_names_in_")
    named = names is None or (names.shape == (n_features,) and all(type(n) is str for n in names))
    demand(named, "there is not one name for each column")
    if "locations_" in fitted:
        _check_locations(fitted, n_features)
    elif "costs_" in fitted:
        _check_prices(fitted["costs_"], classes)
    if "_model" in fitted:
        demand(fitted["estimator"] is None, "a model has no trees")
        _check_trees(fitted, fitted["_model"], classes, n_features)
    _check_inner(fitted, classes)
    prices = fitted.get("action_prices_", {}).values()
    demand(all(0.0 <= price < np.inf for price in prices), "a price of an action is no price")


def _check_locations(fitted: dict[str, Any], n_features: int) -> None:
    """Check the regressors inside a `MinimumCostRegressor`, its prices and least scale."""
    costs, models = fitted["costs_"], [*fitted["locations_"], *fitted["scales_"]]
    demand(costs is None or costs.n_rows is None, "prices to decide by are not constant")
    demand(len(fitted["locations_"]) > 0, "a wrapper has no models")
    for model in models:
        known = isinstance(model, BaseEstimator) and not hasattr(model, "classes_")
        demand(known and hasattr(model, "n_features_in_"), "a model is not fitted")
        demand(model.n_features_in_ == n_features, "a model has other columns")
    demand(0.0 < fitted["least_scale_"] < np.inf, "the least scale is no scale")


def _check_inner(fitted: dict[str, Any], classes: NDArray[Any] | None) -> None:
    """Check the models inside a wrapper: fitted ones, of some of its classes."""
    inner = [fitted["estimator_"]] if "estimator_" in fitted else fitted.get("estimators_", [])
    if "calibration_" in fitted:
        scores, inner = fitted["calibration_"], fitted["calibration_"].models
        demand(classes is not None and scores.maps[0].n_classes == len(classes), "classes differ")
        demand(
            fitted["_response"] in ("decision_function", "predict_proba"), "a model says nothing"
        )
    elif "estimator_" in fitted or "estimators_" in fitted:
        demand(len(inner) > 0, "a wrapper has no models")
    for model in inner:
        known = getattr(model, "classes_", None)
        demand(isinstance(model, BaseEstimator) and known is not None, "a model is not fitted")
        demand(set(known.tolist()) <= set(classes.tolist()), "a model has other classes")  # type: ignore[union-attr]


def _check_prices(costs: Any, classes: NDArray[Any] | None) -> None:
    # Prices of columns are read where the model decides; prices of rows are those of other rows.
    demand(costs.n_rows is None and classes is not None, "costs to decide by are not constant")
    assert classes is not None
    own = costs.classes
    demand(own is not None and own.tolist() == classes.tolist(), "costs have other classes")


def _check_trees(
    fitted: dict[str, Any], model: FittedModel, classes: NDArray[Any] | None, n_features: int
) -> None:
    """Check the model of an estimator against its classes, columns and rounds."""
    demand((model.decision is None) == (classes is None), "trees have other classes")
    for member in model.members:
        assert member.trees is not None
        demand(member.trees.binner.n_features == n_features, "trees have other columns")
        n_classes = 1 if classes is None else len(classes)
        wide = n_classes if n_classes > 2 or isinstance(member, Mixture) else 1
        demand(member.trees.n_outputs == wide, "trees have other classes")
    demand(fitted["n_iter_"] == model.n_rounds, "n_iter_ is not the number of rounds")
    rule = fitted.get("_rule_name")
    demand(rule is None or rule in RULES, f"the method {rule!r} is unknown")
