"""Which kernels are compiled, and the warning of interpreted ones."""

import importlib
import warnings

import pytest

from costboost.runtime import machine


def test_interpreted_kernels_warn_once(monkeypatch):
    monkeypatch.setattr(machine, "_warned", False)
    monkeypatch.setattr(machine, "compiled_kernels", lambda: {"costboost.trees._a": False})
    with pytest.warns(RuntimeWarning, match=r"C compiler.*--force-reinstall --no-deps \."):
        machine.warn_if_interpreted()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        machine.warn_if_interpreted()


def test_compiled_kernels_do_not_warn(monkeypatch):
    monkeypatch.setattr(machine, "_warned", False)
    monkeypatch.setattr(machine, "compiled_kernels", lambda: {"costboost.trees._a": True})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        machine.warn_if_interpreted()


def test_kernel_list_is_the_one_that_is_built():
    for name in machine.KERNELS:
        assert hasattr(importlib.import_module(name), "__file__")
