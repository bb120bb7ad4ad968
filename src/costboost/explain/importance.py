"""How much each column matters to a forest, from what its nodes keep.

    gain     what the splits on the column gained, by the weight of their tree (the default)
    cover    the training rows that pass the splits on the column
    count    the number of splits on the column

as shares that add up to 1; all 0 where no tree was split. Several models are averaged.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from costboost.explain.subject import Member
from costboost.inputs.checks import check_choice

Floats = NDArray[np.float64]
Kind = Literal["gain", "cover", "count"]
KINDS: tuple[Kind, ...] = ("gain", "cover", "count")


def importances(members: tuple[Member, ...], kind: Kind = "gain") -> Floats:
    """Return the importance of every column, (n_features,): they add up to 1, or are all 0."""
    check_choice("kind", kind, KINDS)
    return _shares(np.sum([_of_member(member, kind) for member in members], axis=0))


def _shares(sums: NDArray[Any]) -> Floats:
    total = float(sums.sum())
    return np.asarray(sums / total if total > 0.0 else np.zeros(len(sums)))


def _of_member(member: Member, kind: Kind) -> Floats:
    forest = member.forest
    ends = np.append(forest.roots, len(forest.words))
    tree = np.repeat(np.arange(len(forest)), np.diff(ends))
    left = (forest.words >> np.uint64(40)).astype(np.int64) + ends[tree]
    is_split = left != np.arange(len(left))
    feature = ((forest.words >> np.uint64(16)) & np.uint64(0xFFFFFF)).astype(np.int64)[is_split]
    each: dict[Kind, NDArray[Any]] = {
        "gain": forest.gains * np.abs(member.weights)[tree],
        "cover": forest.covers,
        "count": np.ones(len(left)),
    }
    counted = each[kind][is_split].astype(np.float64)
    return _shares(np.bincount(feature, counted, minlength=forest.binner.n_features))
