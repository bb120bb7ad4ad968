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
    {"_version", "runtime"},
    {"inputs"},
    {"costs"},
    {"binning"},
    {"shards"},
    {"trees"},
    {"boosting"},
    {"calibration"},
    {"decisions"},
    {"fitting"},
    {"clusters"},  # what Dask and Spark share
    {"explain"},  # a forest's explanation needs no estimator; estimators offer it as methods
    {"estimators"},
    {"dask"},
    {"metrics"},
    {"plots", "persistence", "deploy", "datasets", "trusted", "versions", "files"},
    {"spark"},  # its folders hold files of `persistence`
    {"report"},  # estimators offer it as a method, by name: `decisions.reporting`
    {"papers"},
    {"demo"},
    {"cli"},
    {"__main__"},
]
STRAY = {"__init__", "__pycache__"}


# Inside boosting: what all families use, then the families, none of which knows another.
BOOSTING = [
    {"_link_kernels", "bracket", "exact", "limits", "objectives"},
    {"_vote_kernels"},
    {"links", "paying", "rounds", "additive"},
    {"adaboost", "gradient", "pnorm"},
]
# Inside a family, the way of a round: each module imports only those before it.
FAMILIES = {
    "adaboost": [
        {"_row_kernels", "rules", "hypothesis", "links"},
        {"prices"},
        {"evaluation"},
        {"rows"},
        {"messages"},
        {"tails"},
        {"normalizer"},
        {"steps", "learner", "joint", "ledger"},
        {"effective"},
        {"weights"},
        {"loop"},
        {"model"},
    ],
    "adaboost/messages": [
        {"binding", "summing"},
        {"weighing", "logs", "voting"},
    ],
    "gradient": [
        {"_gradient_kernels", "minimisers"},
        {"_leaf_kernels"},
        {"rows"},
        {"messages", "starting", "loading"},
        {"losses"},
        {"learner", "tallies"},
        {"vectors"},
        {"loop"},
        {"model"},
    ],
    "gradient/losses": [
        {"base", "classes", "errors"},
        {"log", "exponential", "expected_cost", "squared", "huber", "pinball"},
        {"cost_exponential"},
        {"registry"},
    ],
    "pnorm": [
        {"methods"},
        {"rows"},
        {"messages"},
        {"learner"},
        {"loop"},
        {"model"},
    ],
}


SHARDS = [
    {"_tree_kernels", "bench", "columns", "grid", "loading", "sampling"},
    {"rows"},
    {"messages", "modes"},
    {"local"},
    {"layout"},
    {"arranging"},
    {"folds", "parts"},
    {"part_messages"},
]
TREES = [
    {"_forest_kernels", "_search_kernels", "interactions"},
    {"_room_kernels", "_score_kernels", "checking", "walking"},
    {"_pair_kernels", "_shard_kernels"},
    {"_split_kernels"},
    {"_grow_kernels", "splits", "tree"},
    {"at_once"},
    {"grower"},
    {"forest"},
]
FITTING = [
    {"apart", "atomic", "constraints", "copies", "history", "judging", "keywords"},
    {"eval_sets", "parameters", "plan", "spread_copies", "tables"},
    {"spread", "trainer"},
    {"class_trainer", "warm"},
    {"models"},
]
ESTIMATORS = [{"faces"}, {"adaboost", "gradient", "pnorm", "wrappers"}]
FACES = {
    "adaboost": [
        {"auto"},
        {"plan"},
        {"trainer"},
        {"blending"},
        {"folds"},
        {"recipe"},
        {"classifier"},
    ],
    "gradient": [{"plan"}, {"watching"}, {"trainer"}, {"base"}, {"classifier", "regressor"}],
    "pnorm": [{"plan"}, {"trainer"}, {"classifier"}],
    "wrappers": [{"base"}, {"cost_columns", "costing", "metacost", "minimum_cost", "rate"}],
}

LINES = {
    "": LINE,
    "shards": SHARDS,
    "trees": TREES,
    "boosting": BOOSTING,
    **{f"boosting/{k}": v for k, v in FAMILIES.items()},
    "fitting": FITTING,
    "estimators": ESTIMATORS,
    **{f"estimators/{k}": v for k, v in FACES.items()},
}
# The arrows that do point upwards, and why.
UPWARD = {
    "decisions/reporting.py imports costboost.report": "`report` is a method of every classifier, "
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


def upward(folder, texts):
    """Return what modules below a folder import from beside or behind themselves on its line.

    Its front door, `__init__`, is behind all of them; that of the package hands out by name, and
    names are looked up.
    """
    rank = {name: i for i, names in enumerate(LINES[folder]) for name in names}
    package = ".".join(["costboost", *folder.split("/")]).rstrip(".")
    found = []
    for path, text in sorted(texts.items()):
        here = path.split("/")[0].removesuffix(".py")
        for module in imports(text):
            inside = module == package or module.startswith(f"{package}.")
            there = module.removeprefix(package).lstrip(".").split(".")[0] or "__init__"
            if not inside or there == here or here == "__init__":
                continue
            if there == "__init__" and not folder:
                continue
            if there not in rank or rank[there] >= rank[here]:
                found.append(f"{path} imports {module}")
    return found


@pytest.mark.parametrize("folder", LINES)
def test_every_module_has_a_place_on_the_line(folder):
    place = ROOT / folder
    modules = {path.stem for path in place.glob("*.py")}
    packages = {path.parent.name for path in place.glob("*/__init__.py")}
    known = {name for names in LINES[folder] for name in names}
    assert (modules | packages) - STRAY == known


@pytest.mark.parametrize("folder", LINES)
def test_imports_point_downwards(folder):
    found = upward(folder, sources(folder))
    assert found == ([] if folder else list(UPWARD)), "\n".join(found)


@pytest.mark.parametrize(
    ("folder", "path", "line"),
    [
        ("", "boosting/rounds.py", "from costboost.fitting.plan import Plan"),
        ("", "boosting/rounds.py", "from costboost import fitting"),
        ("", "boosting/rounds.py", "import costboost.fitting.tables"),
        ("", "boosting/rounds.py", "from costboost import CostBoostClassifier"),
        ("", "boosting/rounds.py", "import costboost\ncostboost.make_report"),
        ("", "boosting/rounds.py", "import costboost as door\ndoor.metrics.total_cost"),
        ("", "plots/style.py", "from costboost.datasets import load"),  # they stand side by side
        ("boosting", "gradient/loop.py", "from costboost.boosting import adaboost"),
        ("boosting", "gradient/loop.py", "from costboost.boosting.adaboost.loop import Boosting"),
        ("boosting", "paying.py", "from costboost.boosting.pnorm import loop"),
        ("boosting", "paying.py", "from costboost.boosting import rounds"),
        ("boosting", "limits.py", "def late():\n    from costboost.boosting.paying import Payer"),
        ("boosting/adaboost", "steps.py", "from costboost.boosting.adaboost import loop"),
        ("boosting/adaboost", "steps.py", "from costboost.boosting.adaboost import joint"),
        ("boosting/gradient", "loading.py", "from costboost.boosting.gradient import messages"),
        ("boosting/gradient", "messages.py", "from costboost.boosting.gradient.losses import flat"),
        ("boosting/gradient", "losses/log.py", "from costboost.boosting.gradient import learner"),
        (
            "boosting/gradient/losses",
            "squared.py",
            "from costboost.boosting.gradient.losses import huber",
        ),
        (
            "boosting/gradient/losses",
            "base.py",
            "from costboost.boosting.gradient.losses import LogLoss",
        ),
    ],
)
def test_a_forbidden_import_is_found(folder, path, line):
    assert path in sources(folder)
    assert upward(folder, {path: line})
    allowed = "import numpy\nfrom costboost.runtime.messages import Message"
    assert not upward(folder, {path: allowed})


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


def test_tests_are_found_by_the_names_of_modules():
    """`test_steps.py` and `test_steps_estimate.py` test `steps`; `test_trees_*.py` all of `trees`.

    What stands in no folder tests the whole house.
    """
    found = []
    for path in sorted(TESTS.glob("*/**/test_*.py")):
        folder = ROOT / path.relative_to(TESTS).parent
        modules = {p.stem.lstrip("_") for p in [*folder.glob("*.py"), *folder.glob("*/")]}
        about = path.stem.removeprefix("test_") + "_"
        if not any(about.startswith(f"{name}_") for name in modules | {folder.name}):
            found.append(f"{path.relative_to(TESTS)}: no such module in {folder}")
    assert not found, "\n".join(found)


# Modules without tests of their own name, and why.
UNTESTED = {
    "_version.py": "a constant",
}


def test_modules_are_found_by_the_names_of_tests():
    """The tests of `trees/splits.py` are `trees/test_splits.py`, or `trees/test_splits_*.py`."""
    missing = set()
    for path in ROOT.rglob("*.py"):
        module = path.relative_to(ROOT)
        tests, about = TESTS / module.parent, path.stem.lstrip("_")
        named = [*tests.glob(f"test_{about}.py"), *tests.glob(f"test_{about}_*.py")]
        if not path.name.startswith("__") and not named:
            missing.add(module.as_posix())
    assert missing == set(UNTESTED)
