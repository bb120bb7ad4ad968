"""Run the tutorials, and write into them what they print and draw.

`python docs/tutorials/renew.py`, or with the names of some pages for these only.

tests/test_docs.py compares what they print with what stands there, and says so when they differ.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests"))

from test_docs import BLOCK, PICTURE, run_blocks, write_command  # noqa: E402


def renew(page):
    """Run one page in a folder of its own; its texts and pictures are then those of this run."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        printed = iter(run_blocks(BLOCK.findall(text)))
        page.write_text(
            BLOCK.sub(
                lambda block: (
                    "```text\n{}\n```".format(next(printed).strip("\n"))
                    if block[1] == "text"
                    else block[0]
                ),
                text,
            ),
            encoding="utf-8",
        )
        for picture in PICTURE.findall(text):
            shutil.copy(picture, HERE)
        os.chdir(HERE)


if __name__ == "__main__":
    asked = [Path(name).resolve() for name in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PATH"] = f"{write_command(Path(folder))}{os.pathsep}{os.environ['PATH']}"
        os.environ["COLUMNS"] = "80"
        for page in asked or sorted(HERE.glob("*.md")):
            print(page.name, flush=True)
            renew(page)
