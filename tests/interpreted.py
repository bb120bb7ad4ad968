"""Kernels as plain Python, whatever was compiled."""

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import costboost

TREE_KERNELS = (
    "shards._tree_kernels",
    "trees._split_kernels",
    "trees._forest_kernels",
    "trees._grow_kernels",
)


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


def tree_kernels(*, hide_cython):
    """Load the kernels of the trees as plain Python, with or without Cython's module at hand."""
    modules = load_interpreted(*TREE_KERNELS, hide_cython=hide_cython)
    return SimpleNamespace(**dict(zip(("tree", "split", "forest", "grow"), modules, strict=True)))
