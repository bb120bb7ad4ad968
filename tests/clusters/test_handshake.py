"""The same code gives the same bits: who runs another is refused by name."""

import sys

import numpy as np
import pytest

import costboost
from costboost.clusters import protocol
from costboost.clusters.protocol import VersionsDifferError, check, differences, identity


def test_a_process_says_what_it_runs():
    ours = identity()
    assert ours["costboost"] == costboost.__version__
    assert ours["numpy"] == np.__version__
    assert ours["python"] == ".".join(map(str, sys.version_info[:2]))
    assert ours["protocol"] == str(protocol.PROTOCOL)
    assert all(type(value) is str for value in ours.values())


def test_nothing_is_said_against_ones_like():
    assert differences(identity(), identity()) == []
    check("a", identity())


def test_all_that_differs_is_said_and_what_only_others_know_is_not():
    ours = {"numpy": "2.3.1", "python": "3.11", "kernels": "5f"}
    theirs = {"python": "3.12", "numpy": "2.3.1", "later": "yes"}
    assert differences(ours, theirs) == ["python 3.12 (here 3.11)", "kernels unknown (here 5f)"]
    with pytest.raises(VersionsDifferError) as caught:
        check("tcp://10.0.0.7:4711", theirs, ours)
    assert str(caught.value).startswith(
        "Worker tcp://10.0.0.7:4711 runs python 3.12 (here 3.11), kernels unknown (here 5f). The"
    )


def test_another_build_of_the_kernels_is_another_make(tmp_path, monkeypatch):
    def digest(name, content):
        (tmp_path / f"{name}.py").write_text(content)
        monkeypatch.setattr(protocol, "KERNELS", [name])
        return protocol._digest_of_kernels.__wrapped__()

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    first = digest("_toy_kernels", "a = 1")
    assert digest("_toy_kernels", "a = 1") == first
    assert digest("_toy_kernels", "a = 2") != first
    assert digest("_other_kernels", "a = 1") != first
