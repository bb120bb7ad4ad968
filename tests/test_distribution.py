"""What is uploaded: its contents, and that it installs, runs and tests itself anywhere.

`make test-dist` runs these on what `make dist` built. Each installation is a folder beside one
environment of nothing but the required packages.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from costboost import __version__
from costboost.runtime.machine import KERNELS

pytestmark = pytest.mark.dist
ROOT = Path(__file__).parents[1]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
TESTING = ["pytest>=8", "pytest-xdist>=3.5", "hypothesis>=6.100"]
# Tests of these need no extra.
TESTS = ["tests/runtime", "tests/test_package.py", "tests/test_extras.py", "tests/test_versions.py",
         "tests/trees/test_grower.py", "tests/trees/test_splits.py"]  # fmt: skip
SUFFIXES = {".md", ".rst", ".png", ".py", ".pxd", ".css", ".html", ".js", ".typed", ".txt", ".toml"}
# A fit that is quick without a compiler, whose numbers do not depend on one.
FIT = """
import warnings
import numpy as np
from costboost import CostBoostClassifier
from costboost.runtime.machine import compiled_kernels
rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3)).round(1)
y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    model = CostBoostClassifier("adamec", n_estimators=3, cv=2, random_state=0).fit(X, y)
print(sum(compiled_kernels().values()), sum("interpreted" in str(w.message) for w in told))
print(model.predict_proba(X).tobytes().hex())
"""


def run(*command, **how):
    """Run a command to its end and return what it printed; a failure shows all of it."""
    done = subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **how,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    return done.stdout


def built(pattern):
    found = list((ROOT / "dist").glob(pattern))
    assert len(found) == 1, f"{pattern} in dist/: {found}; `make dist` builds it"
    return found[0]


@pytest.fixture(scope="module")
def sdist():
    return built(f"costboost-{__version__}.tar.gz")


@pytest.fixture(scope="module")
def wheel():
    return built(f"costboost-{__version__}-*.whl")


@pytest.fixture(scope="module")
def unpacked(sdist, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return folder / f"costboost-{__version__}"


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """Return the Python of an environment that holds the required packages alone."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    made = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith("/METADATA")]
        metadata = archive.read(name).decode()
    needed = [n for n in re.findall(r"^Requires-Dist: (.*)$", metadata, re.M) if "extra" not in n]
    assert len(needed) == 4
    run(*PIP, "--python", made, "install", "--quiet", "--no-compile", *needed)
    return made


def install(what, folder, **environment):
    """Install into a folder of its own; return where, and what was said."""
    told = run(
        *PIP, "install", "-v", "--no-deps", "--no-compile", "--no-cache-dir", "--target", folder,
        what, env={**os.environ, **environment},
    )  # fmt: skip
    return folder, told


def run_there(python, folder, *arguments, **how):
    """Run Python where the package is found in a folder, and nothing of this checkout is."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    environment |= {"PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
    return run(python, *arguments, env=environment, **{"cwd": folder, **how})


@pytest.fixture(scope="module")
def compiled(wheel, tmp_path_factory):
    return install(wheel, tmp_path_factory.mktemp("wheel"))[0]


def files_of(archive):
    """Return the files of the source distribution, by their paths in it."""
    with tarfile.open(archive) as opened:
        return {m.name.partition("/")[2]: m.size for m in opened.getmembers() if m.isfile()}


def tracked(*folders):
    """Return what the repository holds below some folders."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    return set(run("git", "ls-files", *folders, cwd=ROOT).split("\n")) - {""}


def test_the_source_holds_the_package_and_its_tests_as_they_are_tracked(sdist):
    held = {name for name in files_of(sdist) if name.split("/")[0] in ("src", "tests")}
    made = {name for name in held if name.startswith("src/costboost.egg-info/")}
    assert held - made == tracked("src", "tests")


def test_the_source_holds_what_builds_and_describes_it(sdist):
    held = files_of(sdist)
    wanted = ["LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "SECURITY.md", "setup.py",
              "pyproject.toml", "src/costboost/py.typed", "docs/costs.md"]  # fmt: skip
    assert set(wanted) <= set(held)
    assert sum(name.endswith(".pxd") for name in held) >= 10
    kernels = {"src/" + name.replace(".", "/") + ".py" for name in KERNELS}
    assert kernels <= set(held)


def test_the_source_holds_nothing_that_is_made_and_no_data(sdist):
    held = files_of(sdist)
    odd = {n for n in held if Path(n).suffix not in SUFFIXES and "egg-info" not in n}
    assert odd == {"LICENSE", "Makefile", "MANIFEST.in", "PKG-INFO", "setup.cfg", "CITATION.cff"}
    assert not [name for name in held if "__pycache__" in name]
    pages = {name for name in held if name.endswith(".rst")}
    assert {name.split("/")[0] for name in pages if "_templates" not in name} == {"examples"}
    assert sum(held.values()) < 8e6
    assert sdist.stat().st_size < 3e6


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    binary = {name for name in held if name.endswith((".so", ".pyd"))}
    about = {name for name in held if ".dist-info/" in name}
    assert held - binary - about == {
        name.removeprefix("src/") for name in tracked("src") if not name.endswith(".pxd")
    }
    modules = {name.split(".")[0].replace("/", ".") for name in binary}
    assert modules == {*KERNELS, "costboost.runtime._cyutility"}
    assert [name for name in about if name.endswith("/licenses/LICENSE")]


def test_links_of_the_description_lead_somewhere_from_anywhere(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith("/METADATA")]
        page = archive.read(name).decode()
    links = re.findall(r"\]\(([^)\s]+)\)", page)
    assert links
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


def test_the_first_lines_of_the_readme_run_with_nothing_but_what_is_required(python, compiled):
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL).group(1)
    run_there(python, compiled, "-W", "error", "-c", "from costboost import *\n" + code)


def test_the_command_tells_the_demo_with_nothing_but_what_is_required(python, compiled, tmp_path):
    command = compiled / "bin" / "costboost"
    told = run_there(python, compiled, command, "demo", "--rows", "2000", "-o", tmp_path)
    assert "What to type next" in told
    assert "costboost[plot]" in told
    assert (tmp_path / "card-fraud-report.html").exists()


def test_without_a_compiler_the_source_installs_and_gives_the_same_model(
    sdist, python, compiled, tmp_path
):
    folder, told = install(sdist, tmp_path / "sdist", CC="false")
    assert told.count("interpreted, and slow") == len(KERNELS) + 1
    slow, fast = (run_there(python, at, "-c", FIT).split() for at in (folder, compiled))
    assert slow[:2] == ["0", "1"]
    assert fast[:2] == [str(len(KERNELS)), "0"]
    assert slow[2] == fast[2]


def test_without_its_declarations_the_source_installs_all_the_same(unpacked, python, tmp_path):
    copy = shutil.copytree(unpacked, tmp_path / "copy")
    for path in copy.rglob("*.pxd"):
        path.unlink()
    folder, told = install(copy, tmp_path / "installed")
    assert "warning: the kernels stay interpreted, and slow" in told
    assert run_there(python, folder, "-c", FIT).split()[:2] == ["0", "1"]


def test_tests_that_need_no_extra_pass_from_the_source(python, compiled, unpacked, tmp_path):
    run(*PIP, "install", "--quiet", "--no-compile", "--target", tmp_path, *TESTING)
    path = os.pathsep.join([str(compiled), str(tmp_path)])
    told = run_there(
        python, path, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", *TESTS, cwd=unpacked
    )
    assert re.search(r"^\d+ passed", told, re.M), told
