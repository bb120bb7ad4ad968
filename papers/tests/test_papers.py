"""The papers find themselves: what has a main is listed, and is run with its arguments."""

import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

import costboost
import papers


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
    assert not {"experiment", "report", "c45"} & set(known)
    with pytest.raises(ValueError, match="no 'nobody' among the papers"):
        papers.run("nobody")


def test_arguments_reach_the_command(monkeypatch):
    given = []
    other = types.SimpleNamespace(main=given.append)
    monkeypatch.setattr(papers, "names", lambda: {"the-other": ""})
    monkeypatch.setattr(papers, "import_module", {"papers.the_other": other}.__getitem__)
    papers.run("the-other", ["--rows", "3"])
    papers.run("the-other")
    assert given == [["--rows", "3"], []]
    with pytest.raises(ValueError, match="among the papers: the-other"):
        papers.run("nothing")


@pytest.mark.parametrize("name", papers.names())
def test_every_command_takes_the_same_options(name, capsys):
    with pytest.raises(SystemExit, match="0"):
        papers.run(name, ["--help"])
    assert "--quick" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["nothing"]])
def test_python_m_papers(arguments):
    ran = subprocess.run(
        [sys.executable, "-m", "papers", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == bool(arguments)
    assert "properties" in ran.stdout + ran.stderr


def test_what_is_installed_knows_nothing_of_the_papers():
    package = Path(costboost.__file__).parent
    assert not (package / "papers").exists()
    read = re.compile(r"^\s*(?:from|import) (?:costboost\.)?papers\b", re.MULTILINE)
    assert [path for path in package.rglob("*.py") if read.search(path.read_text())] == []
