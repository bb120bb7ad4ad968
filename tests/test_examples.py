"""Every example of the gallery runs without a warning and draws; each Display is in one."""

import ast
import re
import runpy
import shutil
import tempfile
from pathlib import Path

import pytest

from costboost import plots

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

EXAMPLES = Path(__file__).parents[1] / "examples"
PROGRAMS = sorted(EXAMPLES.glob("*/plot_*.py"))
NEEDED = {
    "plot_exports": ["onnx", "onnxruntime"],
    "plot_parquet": ["pandas", "pyarrow"],
}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_examples_draw(program, tmp_path, monkeypatch):
    for package in ["pandas", *NEEDED.get(program.stem, [])]:
        pytest.importorskip(package)
    if '"cc"' in program.read_text(encoding="utf-8") and shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # what an example writes goes with it
    monkeypatch.setattr(plt, "show", lambda: None)
    plt.close("all")
    try:
        runpy.run_path(str(program), run_name="__main__")
        assert plt.get_fignums()
        for number in plt.get_fignums():
            assert_drawn(plt.figure(number))
    finally:
        plt.close("all")


def assert_drawn(figure):
    """What is written on a picture lies on it, and every axis that has numbers has a name."""
    figure.canvas.draw()
    page = figure.get_window_extent()
    box = figure.get_tightbbox().transformed(figure.dpi_scale_trans)
    assert box.x0 >= page.x0 - 2
    assert box.x1 <= page.x1 + 2
    assert box.y0 >= page.y0 - 2
    assert box.y1 <= page.y1 + 2
    named = [ax.get_xlabel() + ax.get_ylabel() + ax.get_title(loc="left") for ax in figure.axes]
    assert all(named)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_examples_are_pages(program):
    text = program.read_text(encoding="utf-8")
    head = ast.get_docstring(ast.parse(text))
    title, line, empty, *paragraph = head.split("\n")
    assert len(line) == len(title)
    assert (set(line), empty) == ({"="}, "")
    assert len(" ".join(paragraph)) > 80
    assert "\n# %%\n# " in text
    assert "plt.show()" in text
    assert text.isascii()
    # Nobody chose the numbers for what they show.
    seeds = re.findall(r"(?:random_state=|default_rng\()(\w+)", text)
    assert set(seeds) <= {"0", "i"}


def test_every_picture_has_an_example():
    text = "\n".join(program.read_text(encoding="utf-8") for program in PROGRAMS)
    assert len(PROGRAMS) >= 24
    assert [
        name for name in plots.__all__ if f"{name}." not in text and f"{name}(" not in text
    ] == []


def test_every_group_has_a_header():
    folders = {program.parent for program in PROGRAMS} | {EXAMPLES}
    for folder in folders:
        title, line, *_ = (folder / "GALLERY_HEADER.rst").read_text(encoding="ascii").split("\n")
        assert len(title) == len(line)
    assert sorted(EXAMPLES.rglob("*.py")) == PROGRAMS
