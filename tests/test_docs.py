"""Every page of docs/ is run as it stands: Python, C and shell, and what they print is compared.

Pages with prompts (>>>) are doctests; in the others a block of text is what the last block prints.
"""

import contextlib
import doctest
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import pytest

from costboost import metrics, plots
from costboost.extend import CLASSIFICATION_LOSSES, REGRESSION_LOSSES, RULES

mpl.use("Agg")
DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("tutorials/*.md")])
PAGES = [page for page in PAGES if page.name != "spark.md"]  # by tests/spark/test_spark_page.py
PICTURE = re.compile(r"!\[[^]]+\]\((\S+\.png)\)")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NEEDED = {
    "onnx.md": ["onnx", "onnxruntime"],
    "persistence.md": ["skops"],
    "c.md": [],
    "metrics.md": [],
    "clusters.md": ["dask", "distributed"],
    "scale.md": ["pyarrow"],
    "command-line.md": ["typer", "rich", "polars"],
    "card-fraud.md": ["pandas"],
    "churn.md": ["pandas"],
    "command-line-only.md": ["pandas", "typer", "rich", "polars"],
    "credit.md": ["pandas"],
    "diagnosis.md": ["pandas"],
    "export.md": ["pandas", "onnx", "onnxruntime"],
    "maintenance.md": ["pandas"],
    "ten-million-rows.md": ["pandas", "pyarrow", "dask", "distributed"],
    "late-labels.md": ["pandas", "typer", "rich", "polars"],
    "watch.md": ["pandas", "typer", "rich", "polars"],
    "labels-of-some.md": ["pandas", "typer", "rich", "polars"],
    "parity.md": ["pandas", "typer", "rich", "polars"],
    "feature-costs.md": ["pandas"],
    "uncertain-prices.md": ["pandas", "typer", "rich", "polars"],
}
# Blocks of libraries that we do not install are run where they are.
FOREIGN = re.compile(r"# needs (\w+)\n")
# Numbers printed in full. Their last digits depend on the processor, for which linear algebra is
# compiled in several ways: pages are compared to twelve of them, which no reader looks behind.
IN_FULL = re.compile(r"\d+[.,]\d{12,}")
NAMED = re.compile(r"[Ii]nvariants?[ _](\d+(?:, \d+)*)")


def test_invariants_are_listed_as_tests_number_them():
    page = (DOCS / "algorithms.md").read_text(encoding="utf-8")
    part = page.split("\n## Invariants\n")[1].split("\n## ")[0]
    listed = [int(number) for number in re.findall(r"^(\d+)\. ", part, flags=re.M)]
    assert listed == list(range(1, len(listed) + 1))
    texts = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.rglob("*.py")]
    named = [found.split(", ") for text in texts for found in NAMED.findall(text)]
    assert {int(number) for numbers in named for number in numbers} == set(listed)


def test_every_measure_and_picture_has_a_line():
    lines = [line for line in (DOCS / "metrics.md").read_text().splitlines() if line[:3] == "| `"]
    told = [name for line in lines for name in re.findall(r"`(\w+)`", line)]
    assert {*metrics.__all__, *plots.__all__} <= set(told)


def run_python(code, names):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "the page", "exec"), names)
    return out.getvalue()


def run_shell(code):
    """Run a block of shell; a terminal shows what goes to either output."""
    merged = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    run = subprocess.run(["sh", "-e", "-c", code], check=False, **merged)
    assert run.returncode == 0, run.stdout
    return run.stdout


@pytest.fixture(autouse=True)
def _registries_as_they_were():
    """Take back the rules and losses that a page registers: other tests go over all there are."""
    kept = [(found, dict(found)) for found in (RULES, CLASSIFICATION_LOSSES, REGRESSION_LOSSES)]
    yield
    for found, before in kept:
        found.clear()
        found.update(before)


def run_blocks(blocks):
    """Run blocks of code in order; return what was printed before each block of text."""
    names, printed, told = {"__name__": "page"}, "", []
    for kind, code in blocks:
        foreign = FOREIGN.match(code)
        if foreign and importlib.util.find_spec(foreign[1]) is None:
            continue
        if kind == "python":
            printed = run_python(code, names)
        elif kind == "sh":
            printed = run_shell(code)
        elif kind == "c":
            Path(re.match(r"/\* (\w+\.c) \*/", code)[1]).write_text(code, encoding="ascii")
        elif kind == "text":
            told.append(printed)
    return told


def write_command(folder):
    """Write a script that is the command line of this very Python; return its folder."""
    script = folder / "costboost"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m costboost "$@"\n')
    script.chmod(0o755)
    return folder


def comparable(text):
    """Return a text with the numbers that it prints in full rounded to twelve digits."""

    def rounded(found):
        return f"{float(found[0].replace(',', '.')):.12g}"

    return IN_FULL.sub(rounded, text.strip())


def test_pages_are_compared_to_twelve_digits():
    assert comparable("0,11398773667425645;8,0") == comparable("0,11398773667425628;8,0")
    assert comparable("0.113987736674") != comparable("0.113987736675")
    assert comparable("11.999999999999998 1,234") == "12 1,234"


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Put the command line where a shell finds it."""
    (tmp_path / "bin").mkdir()
    folder = write_command(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.usefixtures("command")
def test_pages_run_as_they_stand(page, tmp_path, monkeypatch):
    for package in NEEDED.get(page.name, []):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    if ">>> " in text:
        result = doctest.testfile(str(page), module_relative=False)
        assert result.attempted
        assert not result.failed
        return
    blocks = BLOCK.findall(text)
    if any(kind == "c" for kind, _ in blocks) and shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    texts = [code for kind, code in blocks if kind == "text"]
    for told, written in zip(run_blocks(blocks), texts, strict=True):
        assert comparable(told) == comparable(written)
    assert texts or page.name not in NEEDED
    if page.parent != DOCS:
        assert_pictures_are_drawn(page, text)


def assert_pictures_are_drawn(page, text):
    """A tutorial draws its pictures itself; docs/tutorials/renew.py keeps them."""
    for name in PICTURE.findall(text):
        assert Path(name).read_bytes()[:4] == b"\x89PNG"
        assert (page.parent / name).stat().st_size < 100_000
