"""Kernels as plain Python, whatever was compiled."""

import importlib.util
import sys
from pathlib import Path

import pytest

import costboost


def load_interpreted(*names, hide_cython=True):
    """Load the sources of kernels ("trees._tree_kernels"), with Cython's module at hand or not."""
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
            modules.append(module)
    return modules
