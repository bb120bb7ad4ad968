"""`costboost versions`: for people, and for machines."""

import json

from costboost import __version__
from costboost.runtime.machine import KERNELS
from costboost.versions import installed


def test_versions(run):
    assert "scikit-learn" in run("versions").out
    found = json.loads(run("versions", "--json").out)
    assert found["costboost"] == __version__
    assert len(found["kernels"]) == len(KERNELS)
    assert {"polars", "typer", "rich"} <= set(found["packages"])


def test_json_holds_what_is_printed_and_nothing_else(run):
    printed = run("versions").out
    assert not printed.startswith("{")
    found = json.loads(run("versions", "--json").out)
    assert found == installed()
    assert all(number in printed for number in found["packages"].values())
    assert all(name in printed for name in found["kernels"])
