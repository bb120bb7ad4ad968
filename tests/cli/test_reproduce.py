"""`costboost reproduce`: the papers by name."""

import json

import pytest

from costboost import papers
from costboost.cli.errors import UsageError
from costboost.cli.reproduce import reproduce
from costboost.cli.screen import Screen


def test_papers_are_listed_and_computed(run, monkeypatch):
    assert set(json.loads(run("reproduce", "--json").out)["papers"]) == set(papers.names())
    assert "properties" in run("reproduce").out
    given = []
    monkeypatch.setattr(papers, "run", lambda name, rest: given.append((name, rest)))
    assert run("reproduce", "properties", "--fast", "3").code == 0
    assert given == [("properties", ["--fast", "3"])]


def test_each_name_is_listed_with_its_line(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    reproduce(None, [], Screen(False))
    lines = capsys.readouterr().out.splitlines()
    for name, about in papers.names().items():
        assert any(line.split(maxsplit=1) == [name, about] for line in lines), name


def test_a_name_that_is_none_computes_nothing(monkeypatch):
    monkeypatch.setattr(papers, "run", lambda *_: pytest.fail("was computed"))
    for name in ("proprties", "c45_trees", ""):
        with pytest.raises(UsageError, match=r"among the papers: .*properties"):
            reproduce(name, [], Screen(False))
