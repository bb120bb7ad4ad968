"""Every page of docs/ is run as it stands: Python, C and shell, and what they print is compared.

Pages with prompts (>>>) are doctests; in the others a block of text is what the last block prints.
"""

import contextlib
import doctest
import io
import os
import re
import shutil
import subprocess
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")
PAGES = sorted((Path(__file__).parents[1] / "docs").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NEEDED = {"onnx.md": ["onnx", "onnxruntime"], "persistence.md": ["skops"], "c.md": []}


def run_python(code, names):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "the page", "exec"), names)
    return out.getvalue()


def run_shell(code):
    run = subprocess.run(["sh", "-e", "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
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
    if any(kind == "sh" for kind, _ in blocks) and shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    names, printed = {"__name__": "page"}, ""
    for kind, code in blocks:
        if kind == "python":
            printed = run_python(code, names)
        elif kind == "sh":
            printed = run_shell(code)
        elif kind == "c":
            Path(re.match(r"/\* (\w+\.c) \*/", code)[1]).write_text(code, encoding="ascii")
        elif kind == "text":
            assert printed.strip() == code.strip()
    assert any(kind == "text" for kind, _ in blocks) or os.path.basename(page) not in NEEDED
