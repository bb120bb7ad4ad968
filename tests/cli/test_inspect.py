"""`costboost inspect`, `versions` and `reproduce`: what is there."""

import json
import subprocess
import sys

import pytest

from costboost import __version__, load, papers
from costboost.runtime.compiled import KERNELS


def test_what_is_in_a_model_file(run, folder):
    found = json.loads(run("inspect", folder / "model.cb", "--json").out)
    assert found["estimator"] == "CostBoostClassifier"
    assert found["version"] == __version__
    assert found["target"] == "fraud"
    assert found["classes"] == ["no", "yes"]
    assert found["prices"] == {"fp": "8", "fn": "amount", "tp": "8"}
    assert found["features"]["merchant"] == "category"
    assert found["parameters"]["method"] == "adamec"
    assert found["parameters"]["n_estimators"] == 10
    assert "n_jobs" not in found["parameters"]
    assert load(folder / "model.cb").n_jobs is None
    assert found["bill"][0]["policy"] == "do nothing"
    assert found["size"] == (folder / "model.cb").stat().st_size


def test_in_words(run, folder):
    printed = run("inspect", folder / "model.cb").out
    for words in (
        "CostBoostClassifier",
        "payments.csv",
        "merchant",
        "currency: constant",
        "amount",
    ):
        assert words in printed


def test_versions(run):
    assert "scikit-learn" in run("versions").out
    found = json.loads(run("versions", "--json").out)
    assert found["costboost"] == __version__
    assert len(found["kernels"]) == len(KERNELS)
    assert {"polars", "typer", "rich"} <= set(found["packages"])


def test_papers_are_listed_and_computed(run, monkeypatch):
    assert set(json.loads(run("reproduce", "--json").out)["papers"]) == set(papers.names())
    assert "properties" in run("reproduce").out
    given = []
    monkeypatch.setattr(papers, "run", lambda name, rest: given.append((name, rest)))
    assert run("reproduce", "properties", "--fast", "3").code == 0
    assert given == [("properties", ["--fast", "3"])]


def test_a_demo_of_few_rows(run, monkeypatch):
    from costboost import demo

    given = []
    monkeypatch.setattr(demo, "main", given.append)
    assert run("demo", "--rows", "3000", "-o", "here").code == 0
    assert given == [["--rows", "3000", "--seed", "0", "--output", "here"]]


@pytest.mark.parametrize("arguments", [[], ["nothing"]])
def test_python_m_papers(arguments):
    ran = subprocess.run(
        [sys.executable, "-m", "costboost.papers", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == bool(arguments)
    assert "properties" in ran.stdout + ran.stderr
