"""Packages that only some features need."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from costboost.runtime.machine import EXTRA_OF, Later, need

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_every_extra_brings_its_package():
    extras = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]
    for package, extra in EXTRA_OF.items():
        names = {re.split(r"[\[<>=]", spec)[0].removesuffix("-skinny") for spec in extras[extra]}
        assert package in names


def test_what_is_there_is_returned():
    assert need("os.path", "A path") is sys.modules["os.path"]
    assert Later("os.path", "A path").sep == sys.modules["os.path"].sep


def test_what_is_missing_is_named_with_its_extra(monkeypatch):
    # Whatever another test has imported before.
    for name in ("mlflow", "mlflow.pyfunc"):
        monkeypatch.setitem(sys.modules, name, None)
    wanted = r"^Logging needs mlflow: pip install 'costboost\[mlflow\]'$"
    with pytest.raises(ImportError, match=wanted) as raised:
        need("mlflow.pyfunc", "Logging")
    assert isinstance(raised.value.__cause__, ImportError)  # a broken package shows its own error
    with pytest.raises(ImportError, match=wanted):
        getattr(Later("mlflow", "Logging"), "pyfunc")  # noqa: B009
