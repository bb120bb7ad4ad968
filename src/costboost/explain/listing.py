"""Trees in readable form: as a table of nodes, as text, and as `shap` wants them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from costboost.explain.contributions import make_frame
from costboost.inputs.checks import check_choice
from costboost.model import FittedModel, Member
from costboost.trees.forest import Forest, NodeTable
from costboost.typing import Floats

# How much each column matters to a forest, from what its nodes keep

Kind = Literal["gain", "cover", "count"]
KINDS: tuple[Kind, ...] = ("gain", "cover", "count")


def importances(members: Sequence[Member], kind: Kind = "gain") -> Floats:
    """Return the importance of every column, (n_features,): they add up to 1, or are all 0."""
    check_choice("kind", kind, KINDS)
    return _shares(np.sum([_of_member(member, kind) for member in members], axis=0))


def _shares(sums: NDArray[Any]) -> Floats:
    total = float(sums.sum())
    return np.asarray(sums / total if total > 0.0 else np.zeros(len(sums)))


def _of_member(member: Member, kind: Kind) -> Floats:
    forest = member.forest
    assert forest is not None
    ends = np.append(forest.roots, len(forest.words))
    tree = np.repeat(np.arange(len(forest)), np.diff(ends))
    left = (forest.words >> np.uint64(40)).astype(np.int64) + ends[tree]
    is_split = left != np.arange(len(left))
    feature = ((forest.words >> np.uint64(16)) & np.uint64(0xFFFFFF)).astype(np.int64)[is_split]
    each: dict[Kind, NDArray[Any]] = {
        "gain": forest.gains * np.abs(member.tree_weights)[tree],
        "cover": forest.covers,
        "count": np.ones(len(left)),
    }
    counted = each[kind][is_split].astype(np.float64)
    return _shares(np.bincount(feature, counted, minlength=forest.binner.n_features))


def list_nodes(
    model: FittedModel, names: tuple[str, ...], classes: NDArray[Any] | None = None
) -> Any:
    """Return a data frame with one row for every node of every tree; see `to_frame`."""
    columns: dict[str, list[Any]] = {}
    for m, forest in enumerate(model.forests):
        for t in range(len(forest)):
            for name, part in _columns(forest.tree(t), names, classes).items():
                columns.setdefault(name, []).extend(part)
            size = len(columns["node"]) - len(columns.setdefault("tree", []))
            columns["tree"] += [t] * size
            columns.setdefault("model", []).extend([m] * size)
    order = ["model", "tree", *[name for name in columns if name not in ("model", "tree")]]
    return make_frame({name: columns[name] for name in order if name in columns})


def _columns(
    table: NodeTable, names: tuple[str, ...], classes: NDArray[Any] | None
) -> dict[str, list[Any]]:
    """Return the columns of one tree; None where nothing applies."""
    is_split = table.feature >= 0
    by_set = np.array([part is not None for part in table.subset])
    depth = np.zeros(len(is_split), dtype=np.int64)
    for node in np.flatnonzero(is_split):
        depth[[table.left[node], table.right[node]]] = depth[node] + 1

    def only(part: NDArray[Any], where: NDArray[np.bool_]) -> list[Any]:
        return [x if there else None for x, there in zip(part.tolist(), where, strict=True)]

    columns = {
        "node": np.arange(len(is_split)).tolist(),
        "depth": depth.tolist(),
        "column": [names[j] if j >= 0 else None for j in table.feature],
        "threshold": only(table.threshold, is_split & ~by_set),
        "categories": [None if part is None else list(part) for part in table.subset],
        "missing": only(np.where(table.missing_left, "left", "right"), is_split),
        "left": only(table.left, is_split),
        "right": only(table.right, is_split),
        "gain": only(table.gain, is_split),
        "cover": table.cover.tolist(),
    }
    if table.value.shape[1] == 1:
        return {**columns, "value": only(table.value[:, 0], ~is_split)}
    outputs = range(table.value.shape[1])
    labels = classes if classes is not None and len(classes) > 2 else outputs
    return columns | {
        f"value {label}": only(table.value[:, k], ~is_split) for k, label in enumerate(labels)
    }


def tree_text(forest: Forest, t: int, names: tuple[str, ...]) -> str:
    """Return a tree as indented text, one line for every split and leaf."""
    table = forest.tree(t)
    lines: list[str] = []
    pending: list[tuple[int, int, str]] = [(0, 0, "")]
    while pending:  # a stack, as deep trees would exhaust recursion
        node, depth, says = pending.pop()
        if says:
            lines.append("|   " * depth + says)
            depth += 1
        if table.feature[node] < 0:
            value = ", ".join(f"{v + 0.0:+.6g}" for v in table.value[node])
            lines.append("|   " * depth + f"adds {value}  ({table.cover[node]:g} rows)")
            continue
        yes, no = _questions(table, node, names[table.feature[node]])
        pending += [(int(table.right[node]), depth, no), (int(table.left[node]), depth, yes)]
    return "\n".join(lines)


def _questions(table: NodeTable, node: int, name: str) -> tuple[str, str]:
    """Return what a row says that goes left, and one that goes right."""
    left, right = ("", " or missing")
    if table.missing_left[node]:
        left, right = right, left
    subset = table.subset[node]
    if subset is not None:
        listed = ", ".join(str(key) for key in subset)
        return f"{name} in {{{listed}}}{left}", f"{name} not in {{{listed}}}{right}"
    limit = float(table.threshold[node])
    if np.isinf(limit):  # parts missing values from all others
        known, missing = f"{name} is known", f"{name} is missing"
        return (known, missing) if right else (missing, known)
    return f"{name} <= {limit:.6g}{left}", f"{name} > {limit:.6g}{right}"


def shap_model(member: Member) -> dict[str, Any]:
    """Return a forest as the dictionary that `shap.TreeExplainer` takes; see `to_shap`."""
    forest = member.forest
    assert forest is not None
    if member.init is not None:
        raise ValueError(
            "The model starts from the answers of another model (init=), which are no tree: "
            "to_shap cannot express them. Fit with init=None, or use contributions."
        )
    if len(forest.subsets):
        j = _first_subset(forest)
        raise ValueError(
            f"Column {j} is split by sets of categories, which shap's trees cannot express. Use "
            "contributions, which is exact for them, or fit on encoded columns."
        )
    coded = forest.binner.level_codes
    by_target = [j for j in forest.used_features.tolist() if coded and coded[j] is not None]
    if by_target:
        raise ValueError(
            f"Column {by_target[0]} is coded by its target (target_encoding), which shap's trees "
            "cannot express. Use contributions, which is exact for it, or fit on encoded columns."
        )
    return {
        "internal_dtype": np.float64,
        "input_dtype": np.float64,
        "objective": "raw_value",
        "tree_output": "raw_value",
        "base_offset": forest.base.copy() if forest.n_outputs > 1 else float(forest.base[0]),
        "trees": [_shap_tree(forest.tree(t)) for t in range(len(forest))],
    }


def _first_subset(forest: Forest) -> int:
    node = int(np.flatnonzero((forest.words >> np.uint64(9)) & np.uint64(1))[0])
    return int((forest.words[node] >> np.uint64(16)) & np.uint64(0xFFFFFF))


def _shap_tree(table: NodeTable) -> dict[str, Any]:
    return {
        "children_left": table.left.astype(np.int32),
        "children_right": table.right.astype(np.int32),
        "children_default": np.where(table.missing_left, table.left, table.right).astype(np.int32),
        "features": table.feature.astype(np.int32),
        "thresholds": np.where(table.feature >= 0, table.threshold, -2.0),
        "values": table.value.copy(),
        "node_sample_weight": table.cover.copy(),
    }
