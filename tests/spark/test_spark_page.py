"""The page of docs/ on Spark runs as it stands, in a process and a Spark of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from spark_sessions import ENVIRONMENT

PAGE = Path(__file__).parents[2] / "docs" / "spark.md"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
BREAK = "== end of block =="  # Spark draws its tables with dashes


@pytest.mark.scale
def test_the_page_runs_as_it_stands(tmp_path):
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert [kind for kind, _ in blocks] == ["python", "text"] * (len(blocks) // 2)
    code = "".join(f"{code}\nprint({BREAK!r})\n" for kind, code in blocks if kind == "python")
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | ENVIRONMENT,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr[-4000:]
    printed = [part.strip() for part in run.stdout.split(BREAK)[:-1]]
    assert printed == [text.strip() for kind, text in blocks if kind == "text"]
