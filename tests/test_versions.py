"""What is installed, for bug reports."""

import sys
from pathlib import Path

import pytest

import costboost
from costboost import versions
from costboost.runtime import machine
from costboost.versions import installed


def test_show_versions_names_every_kernel(capsys):
    costboost.show_versions()
    printed = capsys.readouterr().out
    for name in machine.KERNELS:
        assert name.rpartition(".")[2] in printed
    assert "scikit-learn" in printed


def test_the_citation_is_of_this_version():
    page = Path(__file__).parents[1] / "CITATION.cff"
    if not page.exists():
        pytest.skip("the package is installed without pages")
    assert f"\nversion: {costboost.__version__}\n" in page.read_text(encoding="utf-8")


def test_a_package_that_is_not_there_is_said_to_be_missing(monkeypatch):
    monkeypatch.setattr(versions, "PACKAGES", ("numpy", "no-such-package"))
    found = installed()
    assert found["packages"] == {
        "numpy": sys.modules["numpy"].__version__,
        "no-such-package": "not installed",
    }
    assert found["costboost"] == costboost.__version__
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))


def test_a_kernel_that_is_interpreted_is_called_slow(monkeypatch, capsys):
    monkeypatch.setattr(versions, "compiled_kernels", lambda: {"a.b._x": True, "a._y": False})
    assert installed()["kernels"] == {"_x": "compiled", "_y": "interpreted (slow)"}
    versions.show_versions()
    printed = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert printed[-2:] == [["_x", "compiled"], ["_y", "interpreted (slow)"]]
