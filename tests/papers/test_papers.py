"""The papers find themselves: what has a main is listed, and is run with its arguments."""

import subprocess
import sys
import types

import pytest

from costboost import papers


def test_every_paper_has_a_name_and_a_line():
    known = papers.names()
    assert "properties" in known
    assert all(about.endswith(".") for about in known.values())
    assert not {"__init__", "__main__"} & set(known)


def test_a_new_module_appears_by_itself(tmp_path, monkeypatch):
    (tmp_path / "fresh.py").write_text('"""A new claim.\n\nMore."""\ndef main(argv):\n    pass\n')
    (tmp_path / "helper.py").write_text('"""No claim."""\ndef other():\n    pass\n')
    monkeypatch.setattr(papers, "__file__", str(tmp_path / "__init__.py"))
    assert papers.names() == {"fresh": "A new claim."}


def test_names_have_hyphens_and_modules_have_underscores():
    known = papers.names()
    assert all("_" not in name for name in known)
    assert not {"cells", "options", "report", "intervals"} & set(known)
    with pytest.raises(ValueError, match="no 'nobody' among the papers"):
        papers.run("nobody")


def test_arguments_reach_those_who_take_them(monkeypatch):
    given = []
    modules = {
        "plain": types.SimpleNamespace(main=lambda: given.append("plain")),
        "other": types.SimpleNamespace(main=lambda argv: given.append(argv)),
    }
    monkeypatch.setattr(papers, "names", lambda: dict.fromkeys(modules, ""))
    monkeypatch.setattr(papers, "import_module", lambda name: modules[name.rpartition(".")[2]])
    papers.run("plain")
    papers.run("other", ["--rows", "3"])
    assert given == ["plain", ["--rows", "3"]]
    with pytest.raises(ValueError, match="takes no arguments"):
        papers.run("plain", ["3"])
    with pytest.raises(ValueError, match="among the papers: plain, other"):
        papers.run("nothing")


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
