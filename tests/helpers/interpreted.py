"""Kernels as plain Python, whatever was compiled."""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import costboost
from costboost.shards import grid, rows
from costboost.trees import grower, tree

# In the order in which they call each other.
TREE_KERNELS = (
    "shards._tree_kernels",
    "trees._search_kernels",
    "trees._score_kernels",
    "trees._pair_kernels",
    "trees._split_kernels",
    "trees._grow_data_kernels",
    "trees._shard_kernels",
    "trees._grow_kernels",
    "trees._forest_kernels",
    "trees._mask_kernels",
)
WAYS = ("installed", "interpreted", "without-cython")


def load_interpreted(*names, hide_cython=True):
    """Load the sources of kernels ("trees._tree_kernels"), with Cython's module at hand or not.

    Those that call others call the ones loaded before them.
    """
    modules = []
    with pytest.MonkeyPatch.context() as patch:
        if hide_cython:
            patch.setitem(sys.modules, "cython", None)
        for name in names:
            module_name = name.rpartition(".")[2]
            path = Path(costboost.__file__).parent / f"{name.replace('.', '/')}.py"
            spec = importlib.util.spec_from_file_location(f"interpreted{module_name}", path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            patch.setitem(sys.modules, f"costboost.{name}", module)
            modules.append(module)
    return modules


def by_name(modules):
    """Return kernels by their short names: `split` is `_split_kernels`."""
    short = (name.rpartition("._")[2].removesuffix("_kernels") for name in TREE_KERNELS)
    return SimpleNamespace(**dict(zip(short, modules, strict=True)))


def tree_kernels(*, hide_cython):
    """Load the kernels of the trees as plain Python, with or without Cython's module at hand."""
    return by_name(load_interpreted(*TREE_KERNELS, hide_cython=hide_cython))


def installed_tree_kernels():
    """Return the kernels of the trees as they were installed."""
    return by_name(importlib.import_module(f"costboost.{name}") for name in TREE_KERNELS)


def tree_kernels_by(way):
    """Return the kernels of the trees in one of the `WAYS` that there are to run them."""
    if way == "installed":
        return installed_tree_kernels()
    if way == "interpreted":
        pytest.importorskip("cython")
    return tree_kernels(hide_cython=way == "without-cython")


def use_tree_kernels(patch, kernels):
    """Let the modules around the kernels of the trees use these."""
    for module in (grid, rows):
        patch.setattr(module, "kernels", kernels.tree)
    for module in (tree, grower):
        patch.setattr(module, "searches", kernels.search)
    patch.setattr(tree, "scores", kernels.score)
    patch.setattr(tree, "kernels", kernels.split)
    patch.setattr(grower, "data", kernels.grow_data)
    patch.setattr(grower, "kernels", kernels.grow)
