"""The kinds of object that a model file may hold, and how each is taken apart and made again.

Nearly all are dataclasses: their fields are kept by name and must have the types that they
declare, and a field that is added later, with a default, needs nothing here. Binners keep their
edges and categories end to end, so that a table of a thousand columns makes ten arrays and not a
thousand. Estimators are their parameters and the attributes listed in `FITTED`.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray
from sklearn import model_selection
from sklearn.frozen import FrozenEstimator

from costboost import calibration
from costboost.binning.binner import Binner
from costboost.costs import (
    ColumnTests,
    Costs,
    Expression,
    FeatureCosts,
    NumberCosts,
    NumberDistribution,
)
from costboost.costs.state import State
from costboost.decisions import Parity
from costboost.estimators.adaboost.classifier import CostBoostClassifier
from costboost.estimators.gradient import GradientBoostClassifier, GradientBoostRegressor
from costboost.estimators.pnorm import PNormBoostClassifier
from costboost.estimators.wrappers import (
    CostColumns,
    CostingClassifier,
    GuaranteedClassifier,
    MetaCostClassifier,
    MinimumCostClassifier,
    MinimumCostRegressor,
    ParityClassifier,
    RateClassifier,
)
from costboost.estimators.wrappers.base import Constant
from costboost.fitting.held_out import HISTORY
from costboost.fitting.time_split import TimeSplit
from costboost.model import (
    Calibrate,
    FittedModel,
    Logistic,
    LossLink,
    Member,
    Mixture,
    Normalise,
    Second,
    VoteShares,
)
from costboost.persistence import checks
from costboost.persistence.container import ModelFileError
from costboost.trees.forest import Forest
from costboost.typing import Floats, Int64

__all__ = ["fits", "ESTIMATORS", "KINDS", "PREDICTING", "Kind", "data_kind", "name_of"]


# Type checks of fields against their annotations


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is what an annotation says, types being exact: True is no int.

    Examples
    --------
    >>> fits((1.0, 2.0), tuple[float, ...]), fits(True, int), fits(None, str | None)
    (True, False, True)
    >>> fits({"a": 1.0}, dict[str, float]), fits({"a": 1.0}, dict[str, int])
    (True, False)
    >>> from numpy.typing import NDArray
    >>> fits(np.zeros(2), Floats), fits(np.zeros(2, int), Floats)
    (True, False)
    """
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if origin is Literal:
        return any(type(value) is type(part) and value == part for part in parts)
    if origin is np.ndarray:
        return type(value) is np.ndarray and _holds(value, parts)
    if origin is tuple:
        return type(value) is tuple and _tuple_fits(value, parts)
    if origin is list:
        return type(value) is list and all(fits(part, parts[0]) for part in value)
    if origin is dict:
        kept = type(value) is dict
        return kept and all(fits(k, parts[0]) and fits(v, parts[1]) for k, v in value.items())
    return value is None if hint in (None, type(None)) else type(value) is (origin or hint)


def _holds(array: Any, parts: tuple[Any, ...]) -> bool:
    """Whether an array has the dtype of NDArray[scalar]."""
    (scalar,) = get_args(parts[1]) or (Any,)
    return scalar is Any or array.dtype == np.dtype(scalar)


def _tuple_fits(value: tuple[Any, ...], parts: tuple[Any, ...]) -> bool:
    if len(parts) == 2 and parts[1] is Ellipsis:
        return all(fits(part, parts[0]) for part in value)
    return len(value) == len(parts) and all(map(fits, value, parts))


Fields = dict[str, Any]


class Kind(NamedTuple):
    """One kind of object: its fields, and how it is made of them."""

    type: type[Any]
    fields_of: Callable[[Any], Fields]
    make: Callable[[Fields], Any]


def name_of(kind: type[Any]) -> str:
    """Return the name under which objects of a type are kept."""
    return kind.__name__.lstrip("_")


def _check_fields(kind: type[Any], fields: Fields, hints: Fields, needed: set[str]) -> None:
    """Refuse fields that are unknown, missing, or not of their type."""
    for name, value in fields.items():
        if name not in hints:
            raise ModelFileError(f"{name!r} of a {name_of(kind)} is unknown to this version")
        if not fits(value, hints[name]):
            raise ModelFileError(f"{name!r} of a {name_of(kind)} cannot be {_short(value)}")
    if needed - set(fields):
        missing = ", ".join(sorted(needed - set(fields)))
        raise ModelFileError(f"a {name_of(kind)} lacks {missing}")


def _short(value: Any) -> str:
    array = isinstance(value, np.ndarray)
    text = f"an array of {value.dtype}" if array else f"a {type(value).__name__}"
    return text if len(text) < 80 else text[:80] + "..."


def data_kind(kind: type[Any], check: Callable[[Any], None] = lambda made: None) -> Kind:
    """Return the kind of a dataclass: fields by name, types as declared."""
    described = {field.name: field for field in dataclasses.fields(kind) if field.init}
    hints = {name: hint for name, hint in get_type_hints(kind).items() if name in described}
    missing = dataclasses.MISSING
    needed = {
        name
        for name, field in described.items()
        if field.default is missing and field.default_factory is missing
    }

    def make(fields: Fields) -> Any:
        _check_fields(kind, fields, hints, needed)
        made = kind(**fields)
        check(made)
        return made

    return Kind(kind, lambda value: {name: getattr(value, name) for name in described}, make)


# --- binners and costs


class _FlatBinner(NamedTuple):
    """A binner, its columns end to end."""

    max_bins: int
    has_missing: NDArray[np.bool_]
    edges: Floats
    edge_ends: Int64
    is_categorical: NDArray[np.bool_]
    numbers: Floats
    number_ends: Int64
    words: NDArray[np.object_]
    word_ends: Int64
    feature_names: NDArray[np.object_] | None
    level_codes: NDArray[np.uint8] | None = None  # of columns coded by their target alone
    code_ends: Int64 | None = None


def _ends(parts: Any) -> Int64:
    return np.cumsum([len(part) for part in parts], dtype=np.int64)


def _texts(parts: Any) -> NDArray[np.object_]:
    array = np.empty(len(parts), dtype=object)
    array[:] = parts
    return array


def _flatten_binner(binner: Binner) -> Fields:
    kept = [keys or () for keys in binner.categories]
    numbers = [[key for key in keys if not isinstance(key, str)] for keys in kept]
    words = [[key for key in keys if isinstance(key, str)] for keys in kept]
    flat = _FlatBinner(
        binner.max_bins,
        binner.has_missing,
        np.concatenate([np.empty(0), *binner.edges]),
        _ends(binner.edges),
        np.array([keys is not None for keys in binner.categories]),
        np.array([key for part in numbers for key in part], dtype=np.float64),
        _ends(numbers),
        _texts([key for part in words for key in part]),
        _ends(words),
        None if binner.feature_names is None else _texts(binner.feature_names),
    )
    made = flat._asdict()
    coded = {"level_codes", "code_ends"}
    if binner.level_codes is None:
        return {name: value for name, value in made.items() if name not in coded}
    codes = [np.empty(0, np.uint8) if own is None else own for own in binner.level_codes]
    return made | {"level_codes": np.concatenate(codes), "code_ends": _ends(codes)}


_BINNER_HINTS = get_type_hints(_FlatBinner)


def _make_binner(fields: Fields) -> Binner:
    _check_fields(Binner, fields, _BINNER_HINTS, set(_BINNER_HINTS) - {"level_codes", "code_ends"})
    flat = _FlatBinner(**fields)
    edges = _split(flat.edges, flat.edge_ends)
    numbers = [part.tolist() for part in _split(flat.numbers, flat.number_ends)]
    words = [part.tolist() for part in _split(flat.words, flat.word_ends)]
    if not len(edges) == len(numbers) == len(words) == flat.is_categorical.size:
        raise ModelFileError("parts of a Binner have different numbers of columns")
    together = [(*one, *two) for one, two in zip(numbers, words, strict=True)]
    categories = zip(flat.is_categorical.tolist(), together, strict=True)
    names, coded = flat.feature_names, None
    if flat.level_codes is not None and flat.code_ends is not None:
        parts = _split(flat.level_codes, flat.code_ends)
        coded = tuple(part if len(part) else None for part in parts)
        if any(own is not None for own in coded) and len(coded) == len(edges):
            held = zip(coded, flat.is_categorical.tolist(), strict=True)
            if any(own is not None and not holds for own, holds in held):
                raise ModelFileError("a column of numbers has codes of categories")
    binner = Binner(
        max_bins=flat.max_bins,
        edges=tuple(edges),
        categories=tuple(keys if holds else None for holds, keys in categories),
        has_missing=flat.has_missing,
        feature_names=None if names is None else tuple(names.tolist()),
        level_codes=coded,
    )
    if any(keys and not holds for holds, keys in zip(flat.is_categorical, together, strict=True)):
        raise ModelFileError("a column of numbers has categories")
    return binner


def _split(values: NDArray[Any], ends: Int64) -> list[NDArray[Any]]:
    """Cut an array where each part ends."""
    cuts = np.append(0, ends)
    if values.ndim != 1 or ends.ndim != 1 or (np.diff(cuts) < 0).any() or cuts[-1] != len(values):
        raise ModelFileError("parts of an array do not end where they should")
    return [values[start:stop] for start, stop in pairwise(cuts.tolist())]


_COSTS_HINTS = get_type_hints(State)


def _make_costs(fields: Fields) -> Costs:
    costs = object.__new__(Costs)
    costs.__setstate__(fields)
    _check_fields(Costs, costs._state._asdict(), _COSTS_HINTS, set())
    checks.check_costs(costs._state)
    return costs


def _make_number_costs(fields: Fields) -> NumberCosts:
    hints: Fields = {"cells": Any, "index": type(None), "steps": Any}
    _check_fields(NumberCosts, fields, hints, set(hints))
    costs = object.__new__(NumberCosts)
    costs.__setstate__(fields)
    checks.check_number_costs(costs)
    return costs


def _make_expression(fields: Fields) -> Expression:
    _check_fields(Expression, fields, {"text": str}, {"text"})
    return Expression(fields["text"])  # which parses it


# --- estimators

_SERIES = Floats | list[Floats]
_TABLE: Fields = {"n_features_in_": int, "feature_names_in_": NDArray[np.object_]}
_CLASSES: Fields = {
    **_TABLE,
    "classes_": NDArray[Any],
    "costs_": Costs,
    "costs_per_row_": bool,
    "effective_rows_": float,
}
_ROUNDS: Fields = {
    "n_iter_": int,
    **{name: _SERIES for name in HISTORY if name not in ("estimators_", "recipe_")},
    "validation_rounds_": Int64,
    "eval_results_": dict[str, Floats] | list[dict[str, Floats]],
}
_BOOSTED: Fields = {**_ROUNDS, "_model": FittedModel}
_GRADIENT: Fields = {**_BOOSTED, "start_": Floats}
_PRICED: Fields = {"feature_costs_": ColumnTests, "reference_codes_": NDArray[np.uint8]}

#: What ``fit`` sets, and of which type; anything else that an estimator holds is refused.
FITTED: dict[type[Any], Fields] = {
    CostBoostClassifier: {
        **_CLASSES,
        **_BOOSTED,
        **_PRICED,
        "_rule_name": str,
        "recipe_": dict[str, Any],
    },
    GradientBoostClassifier: {**_CLASSES, **_GRADIENT, **_PRICED},
    GradientBoostRegressor: {**_TABLE, **_GRADIENT, "training_costs_": NumberCosts},
    MinimumCostRegressor: {
        **_TABLE,
        "costs_": NumberCosts | None,
        "_costs_were_per_row": bool,
        "locations_": list[Any],
        "scales_": list[Any],
        "distribution_": NumberDistribution,
        "least_scale_": float,
        "n_calibrated_": int,
    },
    PNormBoostClassifier: {**_CLASSES, **_BOOSTED},
    MinimumCostClassifier: {
        **_CLASSES,
        "calibration_": calibration.CalibratedScores,
        "_response": str,
    },
    MetaCostClassifier: {**_CLASSES, "estimator_": Any, "labels_": NDArray[Any]},
    CostingClassifier: {**_CLASSES, "estimators_": list[Any], "acceptance_": float},
    CostColumns: {**_CLASSES, "estimator_": Any, "dropped_": list[str]},
    RateClassifier: {**_CLASSES, "estimator_": Any, "action_prices_": dict[Any, float]},
    ParityClassifier: {
        **_CLASSES,
        "estimator_": Any,
        "group_prices_": dict[Any, float],
        "few_rows_": list[Any],
        "shadow_price_": float,
    },
    GuaranteedClassifier: {
        **_CLASSES,
        "estimator_": Any,
        "policy_": dict[str, float],
        "measured_": dict[str, float],
        "n_held_out_": int,
        "n_promising_": int,
        "price_range_": tuple[float, float],
        "promise_": str,
    },
    Constant: {
        **_TABLE,
        "classes_": NDArray[Any],
        "strategy": str,
        "constant": Any,
        "random_state": Any,
        "n_classes_": int,
        "n_outputs_": int,
        "class_prior_": Floats,
        "sparse_output_": bool,
        "_strategy": str,
    },
    FrozenEstimator: {},
}
# What a fit may leave out: histories depend on the method, names on the table, and as how many
# rows they count on whether only some have labels.
_OPTIONAL = {*HISTORY, "feature_names_in_", "effective_rows_", "training_costs_", *_PRICED} - {
    "estimators_"
}
ESTIMATORS = tuple(kind for kind in FITTED if kind.__module__.startswith("costboost."))

# A warm start that continues from a file begins anew, with the same result: rounds hold trees in
# another form, and three times as many numbers.
_LEFT_OUT = ("_progress",)


def _estimator(kind: type[Any]) -> Kind:
    """Return the kind of an estimator: its parameters, and what `fit` has set."""
    params = set(kind._get_param_names())
    hints = {**dict.fromkeys(params, Any), **FITTED[kind]}
    fitted, defaults = set(FITTED[kind]) - _OPTIONAL, inspect.signature(kind).parameters

    def fields_of(value: Any) -> Fields:
        fields = {name: part for name, part in vars(value).items() if name not in _LEFT_OUT}
        unknown = sorted(set(fields) - set(hints) - {"estimators_"})
        if unknown:
            raise ModelFileError(
                f"{kind.__name__} holds {unknown[0]!r}, which is none of its parameters and "
                "nothing that fit sets: delete it, or use skops or joblib."
            )
        return fields

    def make(fields: Fields) -> Any:
        # All that a fit sets, or nothing of it.
        needed = fitted if set(fields) - params else set()
        _check_fields(kind, fields, hints, params | needed)
        for name in params & {"estimator", "init", "scale"}:
            value, optional = fields[name], defaults[name].default is None
            if not (type(value) in FITTED or (optional and isinstance(value, str | None))):
                raise ModelFileError(f"{name!r} of a {kind.__name__} cannot be {_short(value)}")
        made = object.__new__(kind)
        vars(made).update(fields)
        checks.check_estimator(made)
        return made

    return Kind(kind, fields_of, make)


# --- parameters that are objects


def _splitter(kind: type[Any]) -> Kind:
    """Return the kind of a splitter: the arguments of its constructor."""
    names = set(inspect.signature(kind).parameters)

    def make(fields: Fields) -> Any:
        _check_fields(kind, fields, dict.fromkeys(names, Any), names)
        return kind(**fields)

    return Kind(kind, lambda value: {name: getattr(value, name) for name in names}, make)


_SPLITTERS = (
    model_selection.KFold,
    model_selection.StratifiedKFold,
    model_selection.GroupKFold,
    model_selection.StratifiedGroupKFold,
    model_selection.ShuffleSplit,
    model_selection.StratifiedShuffleSplit,
    model_selection.GroupShuffleSplit,
    TimeSplit,
)


def _random_fields(value: np.random.RandomState) -> Fields:
    state: Any = value.get_state(legacy=False)
    return {**state["state"], "has_gauss": state["has_gauss"], "gauss": state["gauss"]}


def _make_random(fields: Fields) -> np.random.RandomState:
    hints = {"key": NDArray[np.uint32], "pos": int, "has_gauss": int, "gauss": float}
    _check_fields(np.random.RandomState, fields, hints, set(hints))
    if fields["key"].shape != (624,) or not 0 <= fields["pos"] <= 624:
        raise ModelFileError("a RandomState is in no state that it can be in")
    made = np.random.RandomState()
    made.set_state(("MT19937", *(fields[name] for name in hints)))
    return made


def _kinds() -> list[Kind]:
    calibrators = (
        calibration.Sigmoid,
        calibration.SigmoidBrier,
        calibration.Beta,
        calibration.Temperature,
        calibration.BiasCorrected,
        calibration.ClassBiases,
    )
    return [
        Kind(Binner, _flatten_binner, _make_binner),
        Kind(Costs, Costs.__getstate__, _make_costs),
        Kind(NumberCosts, NumberCosts.__getstate__, _make_number_costs),
        data_kind(NumberDistribution, checks.check_distribution),
        Kind(Expression, Expression.__getstate__, _make_expression),
        Kind(np.random.RandomState, _random_fields, _make_random),
        data_kind(Parity),
        data_kind(FeatureCosts),
        data_kind(ColumnTests),
        data_kind(Forest),
        data_kind(Member, checks.check_member),
        data_kind(Mixture, checks.check_member),
        data_kind(FittedModel, checks.check_model),
        *map(data_kind, (Logistic, LossLink, VoteShares, Normalise, Second, Calibrate)),
        *(data_kind(kind, checks.check_finite) for kind in calibrators),
        data_kind(calibration.Isotonic, checks.check_isotonic),
        data_kind(calibration.ClassCalibration, checks.check_calibration),
        data_kind(calibration.CalibratedScores, checks.check_scores),
        *map(_estimator, FITTED),
        *map(_splitter, _SPLITTERS),
    ]


#: The names of the estimators among them, also of those that are not of this library.
PREDICTING = frozenset(map(name_of, FITTED))

#: By their names in files; those of losses are in `registered`.
KINDS: dict[str, Kind] = {name_of(kind.type): kind for kind in _kinds()}
