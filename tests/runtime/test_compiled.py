"""Which kernels are compiled, and the warning of interpreted ones."""

import importlib
import warnings

import pytest

from costboost.runtime import compiled


def test_interpreted_kernels_warn_once(monkeypatch):
    monkeypatch.setattr(compiled, "_warned", False)
    monkeypatch.setattr(compiled, "compiled_kernels", lambda: {"costboost.trees._a": False})
    with pytest.warns(RuntimeWarning, match=r"C compiler.*--force-reinstall --no-deps \."):
        compiled.warn_if_interpreted()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled.warn_if_interpreted()


def test_compiled_kernels_do_not_warn(monkeypatch):
    monkeypatch.setattr(compiled, "_warned", False)
    monkeypatch.setattr(compiled, "compiled_kernels", lambda: {"costboost.trees._a": True})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled.warn_if_interpreted()


def test_kernel_list_is_the_one_that_is_built():
    for name in compiled.KERNELS:
        assert hasattr(importlib.import_module(name), "__file__")
