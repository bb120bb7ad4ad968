"""Whether the parts of a restored model fit each other: every index, length, edge and category.

Types are settled before (`hints`); here stand the rules between values. A check says what is wrong
as a `ValueError`; the reader of the file makes a `ModelFileError` of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import Binner
from costboost.boosting.adaboost.model import Ensemble
from costboost.boosting.adaboost.rules import RULES
from costboost.boosting.gradient.model import GradientEnsemble
from costboost.boosting.pnorm.model import Mixture
from costboost.calibration import CALIBRATORS, CalibratedScores, ClassCalibration, Isotonic
from costboost.costs.state import State
from costboost.inputs.checks import check_jobs
from costboost.trees.forest import Forest

__all__ = [
    "check_binner",
    "check_calibration",
    "check_classes",
    "check_costs",
    "check_ensemble",
    "check_estimator",
    "check_finite",
    "check_forest",
    "check_gradient",
    "check_isotonic",
    "check_mixture",
    "check_scores",
]


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


# --- binning and trees


def check_binner(binner: Binner) -> None:
    """Check edges and categories: their number, their order, and that they are what codes need."""
    n_features = binner.n_features
    demand(2 <= binner.max_bins <= 255, "max_bins lies outside 2 .. 255")
    demand(n_features >= 1, "a binner has no columns")
    demand(binner.has_missing.shape == (n_features,), "has_missing is of another length")
    named = binner.feature_names
    demand(named is None or len(named) == n_features, "there is not one name for each column")
    for edges, kept in zip(binner.edges, binner.categories, strict=True):
        demand(len(edges) < binner.max_bins, "a column has too many edges")
        demand(not np.isnan(edges).any() and not (edges == np.inf).any(), "an edge is no number")
        demand((edges[1:] > edges[:-1]).all(), "edges are not increasing")
        if kept is not None:
            demand(len(edges) == 0, "a column of categories has edges")
            _check_categories(kept, binner.max_bins)


def _check_categories(kept: tuple[Any, ...], max_bins: int) -> None:
    demand(len(kept) <= max_bins, "a column has too many categories")
    numbers = np.array([key for key in kept if type(key) is float])
    words = [key for key in kept if type(key) is str]
    demand(list(kept) == [*numbers.tolist(), *words], "categories are not numbers, then text")
    demand((numbers[1:] > numbers[:-1]).all() and not np.isnan(numbers).any(), "categories differ")
    demand(all(map(str.__lt__, words, words[1:])), "categories are not in order")


def check_forest(forest: Forest) -> None:
    """Check every node: children, columns, limits, subsets, depths, and that values are finite."""
    n_nodes, n_trees = len(forest.words), len(forest.roots)
    one = forest.words.ndim == forest.roots.ndim == forest.depths.ndim == forest.base.ndim == 1
    demand(one and forest.values.ndim == forest.subsets.ndim == 2, "a forest's arrays are flat")
    demand(forest.values.shape == (n_nodes, len(forest.base)), "not every node has its values")
    demand(forest.subsets.shape in ((0, 4), (n_nodes, 4)), "not every node has its subset")
    demand(len(forest.depths) == n_trees, "not every tree has its depth")
    demand(np.isfinite(forest.values).all() and np.isfinite(forest.base).all(), "a value is not finite")
    ends = np.append(forest.roots, n_nodes)
    first = ends[0] == 0 if n_trees else n_nodes == 0
    demand(first and (np.diff(ends) > 0).all(), "trees do not follow one another")
    starts = np.repeat(forest.roots, np.diff(ends))
    stops = np.repeat(ends[1:], np.diff(ends))
    _check_nodes(forest, starts, stops)
    _check_depths(forest, starts)


def _check_nodes(forest: Forest, starts: NDArray[Any], stops: NDArray[Any]) -> None:
    words = forest.words
    at = np.arange(len(words))
    left = (words >> np.uint64(40)).astype(np.int64) + starts
    feature = ((words >> np.uint64(16)) & np.uint64(0xFFFFFF)).astype(np.int64)
    limit = (words & np.uint64(255)).astype(np.int64)
    shift = ((words >> np.uint64(8)) & np.uint64(1)).astype(np.int64)
    is_subset = ((words >> np.uint64(9)) & np.uint64(1)) == 1
    is_leaf = left == at
    demand((((words >> np.uint64(10)) & np.uint64(63)) == 0).all(), "a node has unknown marks")
    demand((is_leaf | ((left > at) & (left + 1 < stops))).all(), "a child lies outside its tree")
    demand((feature < forest.binner.n_features).all(), "a node asks for a column that is not there")
    demand((limit[is_leaf] == 255).all() and not is_subset[is_leaf].any(), "a leaf is none")
    demand((~is_subset | (len(forest.subsets) > 0)).all(), "a node lacks its subset")
    splits = ~is_leaf
    demand(
        (is_subset == forest.binner.is_categorical[feature])[splits].all(),
        "a node asks numbers of categories, or categories of numbers",
    )
    n_bins = forest.binner.n_bins[feature]
    demand((is_subset | is_leaf | (limit - shift < n_bins)).all(), "a node cuts beyond the edges")
    demand((limit >= shift)[splits].all(), "a node cuts below the edges")
    children = np.bincount(left[splits], minlength=len(words) + 1)[: len(words)]
    parents = children + np.append(0, children)[: len(words)]
    demand((parents == (at != starts)).all(), "a node has not one parent")


def _check_depths(forest: Forest, starts: NDArray[Any]) -> None:
    """Compare the depths that are kept with those of the nodes, found by doubling."""
    if not len(forest.words):
        return
    at = np.arange(len(forest.words))
    left = (forest.words >> np.uint64(40)).astype(np.int64) + starts
    splits = np.flatnonzero(left != at)
    above = at.copy()
    above[left[splits]] = above[left[splits] + 1] = splits
    depth = (above != at).astype(np.int64)
    while not (above == starts).all():
        depth, above = depth + depth[above], above[above]
    deepest = np.maximum.reduceat(depth, forest.roots)
    demand((forest.depths == deepest).all(), "a tree is not as deep as it says")


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
    kind, given = CALIBRATORS[calibration.method], calibration.calibrators
    if kind is None or calibration.n_classes == 1:
        demand(not given, "there are calibrators where none is needed")
        return
    several = calibration.n_classes > 2 and calibration.method != "temperature"
    needed = calibration.n_classes if several else 1
    demand(len(given) == needed, f"there are {len(given)} calibrators for {needed}")
    demand(all(type(part) is kind for part in given), "a calibrator is not of the kind named")
    for part in given:
        prior = getattr(part, "prior", None)
        demand(prior is None or len(prior) == calibration.n_classes, "a prior lacks classes")
        margins = getattr(part, "margins", calibration.margins)
        demand(margins is calibration.margins, "a calibrator takes other scores")


def check_scores(scores: CalibratedScores) -> None:
    """Check that every model has its map, and all have the same classes."""
    demand(scores.models and len(scores.models) == len(scores.maps), "not every model has its map")
    demand(len({part.n_classes for part in scores.maps}) == 1, "maps have different classes")
    demand(0 <= scores.n_folds, "the number of folds is negative")


# --- costs


def check_costs(state: State) -> None:
    """Check the cells of costs, their rows, and the labels."""
    demand(state.form in ("matrix", "rows", "answers"), "costs have no known form")
    arrays = all(type(c) is np.ndarray and c.dtype == np.float64 for c in state.columns)
    demand(arrays and state.columns, "costs are no numbers")
    demand(all(c.ndim <= 1 and np.isfinite(c).all() for c in state.columns), "a cost is not finite")
    lengths = {c.size for c in state.columns if c.ndim}
    demand(len(lengths) <= 1, "costs have different numbers of rows")
    for n in (state.n_classes, state.n_actions):
        demand(n is None or (type(n) is int and n >= 1), "costs have no classes")
    cells = {"rows": 1, "answers": state.n_classes}
    if state.form == "matrix":
        demand(state.n_classes is not None, "costs have no classes")
        cells["matrix"] = state.k * state.a
    demand(len(state.columns) == cells[state.form], "costs have not as many cells as they need")
    for labels, n in ((state.classes, state.n_classes), (state.actions, state.n_actions)):
        if labels is not None:
            demand(type(labels) is np.ndarray and labels.shape == (n,), "a cost lacks its label")
            demand(len(set(labels.tolist())) == n, "labels of costs occur twice")
    known = state.positive is None or state.classes is None
    demand(known or state.positive in state.classes.tolist(), "the positive class is none")  # type: ignore[union-attr]


# --- models


def _check_trees(forest: Forest | None, n_outputs: int, n_trees: int, others: Any) -> Forest:
    demand(forest is not None and not others, "a model has no trees")
    assert forest is not None
    demand(forest.n_outputs == n_outputs, f"a forest has {forest.n_outputs} outputs")
    demand(len(forest) == n_trees, f"a forest has {len(forest)} trees for {n_trees}")
    return forest


def check_ensemble(model: Ensemble) -> None:
    """Check a model of the AdaBoost family."""
    demand(model.n_classes >= 2, "a model has fewer than two classes")
    n_outputs = 1 if model.n_classes == 2 else model.n_classes
    _check_trees(model.forest, n_outputs, len(model.alphas), model.estimators)
    demand(model.alphas.ndim == 1 or model.alphas.shape[1:] == (2,), "alphas have another shape")
    demand(np.isfinite(model.alphas).all(), "an alpha is not finite")
    demand(model.base is None, "a forest has its own base")
    demand(model.total_alpha > 0 or not model.discrete, "votes weigh nothing")


def check_gradient(model: GradientEnsemble) -> None:
    """Check a model of gradient boosting."""
    demand(model.start.ndim == model.steps.ndim == 1, "steps have another shape")
    demand(model.init is None, "a model begins with another model")
    demand(np.isfinite(model.start).all() and np.isfinite(model.steps).all(), "a step is not finite")
    n_trees = len(model.steps) * len(model.start)
    _check_trees(model.forest, len(model.start), n_trees, model.estimators)


def check_mixture(model: Mixture) -> None:
    """Check a model of the L_p family."""
    demand(model.alphas.ndim == model.start.ndim == 1, "alphas have another shape")
    demand(np.isfinite(model.alphas).all() and np.isfinite(model.start).all(), "an alpha is not finite")
    answers = _check_trees(model.answers, len(model.start), len(model.alphas), model.estimators)
    demand((answers.values >= 0).all() and (model.start >= 0).all(), "an answer is negative")


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
    if "costs_" in fitted:
        _check_prices(fitted["costs_"], classes)
    models: Sequence[Any] = next((fitted[n] for n in _MODELS if n in fitted), ())
    if models:
        _check_models(fitted, models, classes, n_features)


_MODELS = ("_ensembles", "_models", "_mixtures")


def _check_prices(costs: Any, classes: NDArray[Any] | None) -> None:
    demand(costs.is_constant and classes is not None, "costs to decide by are not constant")
    assert classes is not None
    own = costs.classes
    demand(own is not None and own.tolist() == classes.tolist(), "costs have other classes")


def _check_models(
    fitted: dict[str, Any], models: Sequence[Any], classes: NDArray[Any] | None, n_features: int
) -> None:
    """Check the trees of an estimator against its classes, columns and calibration."""
    n_classes = 1 if classes is None else len(classes)
    for model in models:
        forest = model.answers if isinstance(model, Mixture) else model.forest
        demand(forest.binner.n_features == n_features, "trees have other columns")
        wide = n_classes if n_classes > 2 or isinstance(model, Mixture) else 1
        demand(forest.n_outputs == wide, "trees have other classes")
        demand(getattr(model, "n_classes", n_classes) == n_classes, "a model has other classes")
    demand(fitted["n_iter_"] == max(map(len, models)), "n_iter_ is not the number of rounds")
    scores = fitted.get("_scores")
    if scores is None:
        demand(len(models) == 1, "several models are not calibrated")
    else:
        same = len(scores.models) == len(models)
        demand(same and all(map(_is, scores.models, models)), "calibrated models are others")
        demand(scores.maps[0].n_classes == n_classes, "a calibration has other classes")
    rule = fitted.get("_rule_name")
    demand(rule is None or rule in RULES, f"the method {rule!r} is unknown")


def _is(one: Any, other: Any) -> bool:
    return one is other
