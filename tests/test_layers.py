"""Imports only point downwards, every module reads stations before it; tests mirror the source."""

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import costboost

ROOT = Path(costboost.__file__).parent
TESTS = Path(__file__).parent
# One straight line: a module may import from its own station and from earlier ones. Stations in one
# set stand side by side, and know nothing of each other.
LINE = [
    {"_version", "runtime", "text", "typing"},
    {"inputs"},
    {"costs"},
    {"binning"},
    {"shards"},
    {"trees"},
    {"boosting"},
    {"calibration"},
    {"model"},  # what every family ends in, and all that answers reads
    {"decisions"},
    {"guarantee"},  # bounds on the mean of realised costs
    {"fitting"},
    {"clusters"},  # what Dask and Spark share
    {"explain"},  # a forest's explanation needs no estimator; estimators offer it as methods
    {"estimators"},
    {"dask"},
    {"metrics"},
    {"plots", "persistence", "deploy", "datasets", "versions", "files", "extend"},
    {"spark"},  # its folders hold files of `persistence`
    {"report"},  # estimators offer it as a method, by name: `decisions.reporting`
    {"monitoring"},  # its page is filled as a report's
    {"demo"},
    {"cli"},
    {"__main__"},
]
STRAY = {"__init__", "__pycache__"}
# Folders of these folders know nothing of each other; the modules beside them serve all of them.
# Finer arrows are not drawn: that nothing goes in circles is tested for all modules at once.
APART = {
    "boosting": {"adaboost", "gradient", "pnorm"},
    "estimators": {"adaboost", "gradient", "pnorm", "wrappers"},
}

# The arrows between them that there are, and why.
ACROSS = {
    "adaboost/recipe.py imports costboost.estimators.gradient.family": "the recipe trains larger "
    "tables by log loss, as gradient boosting does",
    "wrappers/minimum_cost_regressor.py imports costboost.estimators.gradient": "what answers "
    "locations and scales where no regressor is given",
}

# The arrows that do point upwards, and why.
UPWARD = {
    "decisions/mixin.py imports costboost.report": "`report` is a method of every classifier, "
    "and its maker needs all of them; it is read when it is first asked for",
}


def is_module(name):
    """Whether there is a module, or a package, of this dotted name."""
    place = ROOT.joinpath(*name.split(".")[1:])
    return place.with_suffix(".py").exists() or (place / "__init__.py").exists()


def read_by(module, name):
    """Return the module that `from module import name` reads; the front door hands out by name."""
    if module == "costboost" and name in costboost._HOMES:
        return f"costboost.{costboost._HOMES[name]}"
    inner = f"{module}.{name}"
    return inner if inner.startswith("costboost.") and is_module(inner) else module


def imports(text):
    """Yield all modules that a source text imports, also `a.b` of `from a import b`.

    `costboost.load`, after `import costboost`, imports the home of `load`.
    """
    nodes, doors = list(ast.walk(ast.parse(text))), set()
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
            doors |= {a.asname or a.name for a in node.names if a.name == "costboost"}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import"
            yield from (read_by(node.module, alias.name) for alias in node.names)
    for node in nodes:
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) in doors:
            yield read_by("costboost", node.attr)


def names_imported(path):
    """Yield (module, name) of every `from costboost... import name`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "costboost":
            yield from ((node.module, alias.name) for alias in node.names)


def sources(folder):
    """Return the modules below a folder of the package, by their paths in it."""
    found = (ROOT / folder).rglob("*.py")
    return {path.relative_to(ROOT / folder).as_posix(): path.read_text() for path in found}


def upward(texts):
    """Return what modules import from beside or behind their own station.

    The front door, `__init__`, hands out by name, and names are looked up.
    """
    rank = {name: i for i, names in enumerate(LINE) for name in names}
    found = []
    for path, text in sorted(texts.items()):
        here = path.split("/")[0].removesuffix(".py")
        for module in imports(text):
            there = module.removeprefix("costboost").lstrip(".").split(".")[0]
            ours = module.split(".")[0] == "costboost" and there
            if not ours or here in (there, "__init__"):
                continue
            if there not in rank or rank[there] >= rank[here]:
                found.append(f"{path} imports {module}")
    return found


def across(folder, texts):
    """Return what a folder's modules import of folders in it that are none of their business."""
    found = []
    for path, text in sorted(texts.items()):
        here = path.split("/")[0]
        for module in imports(text):
            there = module.removeprefix(f"costboost.{folder}.").split(".")[0]
            inside = module.startswith(f"costboost.{folder}.") and there in APART[folder]
            if inside and there != here and here != "__init__.py":
                found.append(f"{path} imports {module}")
    return found


def test_every_module_has_a_place_on_the_line():
    modules = {path.stem for path in ROOT.glob("*.py")}
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert (modules | packages) - STRAY == {name for names in LINE for name in names}


def test_imports_point_downwards():
    assert upward(sources("")) == list(UPWARD)


@pytest.mark.parametrize("folder", APART)
def test_folders_that_are_apart_do_not_know_each_other(folder):
    assert {path.parent.name for path in (ROOT / folder).glob("*/__init__.py")} >= APART[folder]
    found = across(folder, sources(folder))
    assert set(found) == {arrow for arrow in ACROSS if folder == "estimators"}


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("boosting/rounds.py", "from costboost.fitting.plan import Plan"),
        ("boosting/rounds.py", "from costboost import fitting"),
        ("boosting/rounds.py", "import costboost.fitting.tables"),
        ("boosting/rounds.py", "from costboost import CostBoostClassifier"),
        ("boosting/rounds.py", "import costboost\ncostboost.make_report"),
        ("boosting/rounds.py", "import costboost as door\ndoor.metrics.total_cost"),
        ("boosting/rounds.py", "def late():\n    from costboost.fitting import plan"),
        ("plots/style.py", "from costboost.datasets import load"),  # they stand side by side
    ],
)
def test_a_forbidden_import_is_found(path, line):
    assert path in sources("")
    assert upward({path: line})
    assert not upward({path: "import numpy\nfrom costboost.runtime.messages import Message"})


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("gradient/loop.py", "from costboost.boosting import adaboost"),
        ("gradient/loop.py", "from costboost.boosting.adaboost.loop import Boosting"),
        ("train_cost.py", "from costboost.boosting.pnorm import loop"),
    ],
)
def test_an_import_of_another_family_is_found(path, line):
    assert path in sources("boosting")
    assert across("boosting", {path: line})
    assert not across("boosting", {path: "from costboost.boosting.rounds import Outcome"})


PAGE = TESTS.parent / "CONTRIBUTING.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the package is installed without pages")
def test_the_picture_of_the_house_is_this_line():
    picture = PAGE.read_text(encoding="utf-8").split("\n    table, costs, prices")[1]
    lines = re.findall(r"^ {6}([a-z]+(?:, [a-z]+)*)(?=  |$)", picture.split("\n\n")[0], flags=re.M)
    public = [{name for name in names if not name.startswith("_")} for names in LINE]
    assert [set(line.split(", ")) for line in lines] == [names for names in public if names]


def modules():
    """Return for every module which others of the package it imports."""
    paths = {}
    for path in ROOT.rglob("*.py"):
        parts = ("costboost", *path.relative_to(ROOT).with_suffix("").parts)
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    graph = {}
    for name, path in paths.items():
        read = {read_by(*pair) for pair in names_imported(path)}
        graph[name] = read - {name, "costboost"}  # the front door hands out by name
    return graph


def test_no_module_imports_itself_by_way_of_others():
    TopologicalSorter(modules()).prepare()  # CycleError names the circle


def test_nobody_imports_what_another_package_keeps_to_itself():
    """But for kernels: compiled loops call each other, and nobody else calls them there."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        here = path.relative_to(ROOT).parts[0]
        for module in imports(path.read_text()):
            parts = module.split(".")
            private = any(part.startswith("_") for part in parts[2:])
            if path.stem.endswith("_kernels") and parts[-1].endswith("_kernels"):
                continue
            if parts[0] == "costboost" and private and parts[1] != here:
                found.append(f"{path.relative_to(ROOT)} imports {module}")
    assert not found, "\n".join(found)


def test_nobody_imports_names_that_another_module_keeps_to_itself():
    """Also within a package: a leading underscore says that nobody else reads it."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        for module, name in names_imported(path):
            private = name.startswith("_") and not name.endswith("_")
            if module.startswith("costboost.") and private and not is_module(f"{module}.{name}"):
                found.append(f"{path.relative_to(ROOT)} imports {name} of {module}")
    assert not found, "\n".join(found)


def test_files_that_are_named_exist():
    """Where a docstring or a comment names a file, it stands beside it, or where the path says."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        for name in re.findall(r"`([\w/]+\.py)`", path.read_text()):
            places = (path.parent, path.parent.parent, ROOT, TESTS.parent)
            if not any((place / name).exists() for place in places):
                found.append(f"{path.relative_to(ROOT)} speaks of {name}")
    assert not found, "\n".join(found)


def test_tests_mirror_the_folders():
    """The tests of `boosting/adaboost` stand in `tests/boosting/adaboost`; every folder has some.

    Within a folder they are named by what they test. Those in no folder test the whole house.
    """
    tested = {path.parent.relative_to(TESTS) for path in TESTS.glob("*/**/test_*.py")}
    folders = {path.parent.relative_to(ROOT) for path in ROOT.glob("*/**/*.py")}
    assert tested - folders == set()
    assert folders - tested == set()
