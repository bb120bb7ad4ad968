"""Constraints on the built-in trees, read once: columns by name or position, refused by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import Binner
from costboost.inputs.checks import is_frame
from costboost.trees.interactions import Interactions, make_interactions

Ways = NDArray[np.int8]

_MOST = {"pairwise": 2, "no_interactions": 1}


def read_monotone(params: Any, X: Any, *, n_classes: int) -> Ways | None:
    """Return one of -1, 0, 1 for every column, or None without constraints.

    `monotonic_cst` is an array over the columns, or a dict by name or position. `n_classes` is 0
    for regression.
    """
    given = params.monotonic_cst
    if given is None:
        return None
    _refuse_outside(params, "monotonic_cst")
    names = column_names(X)
    ways = np.zeros(len(names))
    if isinstance(given, Mapping):
        for key, way in given.items():
            ways[find_column(key, names, "monotonic_cst")] = _read_way(key, way)
    else:
        listed = np.asarray(given, dtype=object)
        if listed.shape != ways.shape:
            raise ValueError(
                f"monotonic_cst must hold -1, 0 or 1 for each of the {len(names)} columns, or be a "
                f"dict of them by name; it has shape {listed.shape}."
            )
        ways[:] = [_read_way(name, way) for name, way in zip(names, listed, strict=True)]
    if n_classes > 2 and np.any(ways):
        raise ValueError(
            f"monotonic_cst needs two classes: with {n_classes} there is no one number that could "
            f"rise with column {names[int(np.flatnonzero(ways)[0])]!r}."
        )
    return ways.astype(np.int8) if np.any(ways) else None


def _read_way(name: Any, way: Any) -> int:
    if isinstance(way, bool) or way not in (-1, 0, 1):
        raise ValueError(
            f"monotonic_cst says {way!r} of column {name!r}; allowed are 1 (rising), -1 (falling) "
            "and 0 (free)."
        )
    return int(way)


def check_order(monotone: Ways | None, binner: Binner) -> None:
    """Refuse monotone constraints on columns whose values have no order."""
    if monotone is None or not np.any(binner.is_categorical & (monotone != 0)):
        return
    j = int(np.flatnonzero(binner.is_categorical & (monotone != 0))[0])
    name = j if binner.feature_names is None else repr(binner.feature_names[j])
    raise ValueError(
        f"monotonic_cst constrains column {name}, whose categories have no order. Set 0 there, or "
        "take the column out of categorical_features."
    )


def read_interactions(params: Any, X: Any) -> Interactions | None:
    """Return which columns may meet on a path, or None without constraints.

    `interaction_cst` is "pairwise", "no_interactions", or groups of columns by name or position.
    """
    given = params.interaction_cst
    if given is None:
        return None
    _refuse_outside(params, "interaction_cst")
    names = column_names(X)
    if isinstance(given, str):
        if given not in _MOST:
            raise ValueError(
                f"interaction_cst={given!r} is not known; allowed: 'pairwise', 'no_interactions', "
                "or a list of groups of columns."
            )
        return Interactions(len(names), most=_MOST[given])
    groups = []
    for group in given:
        if isinstance(group, str) or not isinstance(group, Iterable):
            raise ValueError(
                f"interaction_cst holds {group!r}; it must be a list of groups of columns, such as "
                "[['age', 'income'], ['amount']]."
            )
        groups.append([find_column(key, names, "interaction_cst") for key in group])
        if not groups[-1]:
            raise ValueError("interaction_cst holds an empty group: name its columns.")
    return make_interactions(len(names), groups)


def column_names(X: Any) -> list[Any]:
    """Return the names of the columns of a table; their positions where they have none."""
    return [str(name) for name in X.columns] if is_frame(X) else list(range(X.shape[1]))


def find_column(key: Any, names: list[Any], parameter: str) -> int:
    """Return the position of a column given by name or position."""
    if key in names and not isinstance(key, bool):
        return names.index(key)
    is_place = isinstance(key, Integral) and not isinstance(key, bool)
    if is_place and 0 <= int(key) < len(names):
        return int(key)
    known = "numbered from 0" if not names or isinstance(names[0], int) else f"such as {names[0]!r}"
    raise ValueError(
        f"{parameter} names column {key!r}, which X does not have: it has {len(names)} columns, "
        f"{known}."
    )


def _refuse_outside(params: Any, name: str) -> None:
    if params.estimator is not None:
        raise ValueError(
            f"{name} constrains the built-in tree, but estimator="
            f"{type(params.estimator).__name__} was given. Give the constraint to that estimator, "
            "or leave estimator=None."
        )
