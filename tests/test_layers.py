"""Imports only point downwards, every module reads stations before it; tests mirror the source."""

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import costboost

ROOT = Path(costboost.__file__).parent
TESTS = Path(__file__).parent
# One straight line: a module may import from its own station and from earlier ones.
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
RANK = {name: rank for rank, names in enumerate(LINE) for name in names}


# Inside boosting: what all families use, then the families, none of which knows another. Inside a
# family, the way of a round: each module imports only those before it.
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
        {"rows"},
        {"messages", "starting", "loading"},
        {"losses"},
        {"learner", "tallies"},
        {"vectors"},
        {"loop"},
        {"model"},
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


def station(module):
    return module.split(".")[1] if module.count(".") else "__init__"


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path} uses a relative import"
            if node.module == "costboost":
                yield from (f"costboost.{alias.name}" for alias in node.names)
            else:
                yield node.module


def names_imported(path):
    """Yield (module, name) of every `from costboost... import name`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "costboost":
            yield from ((node.module, alias.name) for alias in node.names)


def is_module(package, name):
    """Whether a package holds a module of this name."""
    return (ROOT.joinpath(*package.split(".")[1:]) / f"{name}.py").exists()


def test_imports_point_downwards():
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        here = path.relative_to(ROOT).with_suffix("").parts[0]
        if here == "__init__":
            continue
        assert here in RANK, f"{here} has no place on the line: add it to LINE"
        for module in imports(path):
            if not module.startswith("costboost."):
                continue
            there = station(module)
            if there in RANK and RANK[there] > RANK[here]:
                found.append(f"{path.relative_to(ROOT)} imports {module}")
    assert not found, "\n".join(found)


def test_families_of_boosting_know_nothing_of_each_other():
    found = []
    for path in sorted((ROOT / "boosting").rglob("*.py")):
        here = path.relative_to(ROOT / "boosting").parts[0]
        for module in imports(path):
            parts = module.split(".")
            if parts[:2] != ["costboost", "boosting"] or len(parts) < 3:
                continue
            if parts[2] in FAMILIES and parts[2] != here:
                found.append(f"{path.relative_to(ROOT)} imports {module}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("family", FAMILIES)
def test_modules_of_a_family_stand_in_a_line(family):
    rank = {name: i for i, names in enumerate(FAMILIES[family]) for name in names}
    folder, prefix = ROOT / "boosting" / family, f"costboost.boosting.{family.replace('/', '.')}."
    assert {p.stem for p in [*folder.glob("*.py"), *folder.glob("*/")]} - STRAY == set(rank)
    found = []
    for path in sorted(folder.rglob("*.py")):
        here = path.relative_to(folder).with_suffix("").parts[0]
        for module in imports(path):
            there = module.removeprefix(prefix).split(".")[0]
            if module.startswith(prefix) and rank[there] > rank.get(here, 0):
                found.append(f"{path.name} imports {module}")
    assert not found, "\n".join(found)


def modules():
    """Return for every module which others of the package it imports."""
    paths = {}
    for path in ROOT.rglob("*.py"):
        parts = ("costboost", *path.relative_to(ROOT).with_suffix("").parts)
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    graph = {}
    for name, path in paths.items():
        pairs = [(module, f"{module}.{part}") for module, part in names_imported(path)]
        read = {inner if inner in paths else outer for outer, inner in pairs}
        graph[name] = read - {name, "costboost"}  # the front door hands out by name
    return graph


def test_no_module_imports_itself_by_way_of_others():
    TopologicalSorter(modules()).prepare()  # CycleError names the circle


def test_nobody_imports_what_another_package_keeps_to_itself():
    """But for kernels: compiled loops call each other, and nobody else calls them there."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        here = path.relative_to(ROOT).parts[0]
        for module in imports(path):
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
            if module.startswith("costboost.") and private and not is_module(module, name):
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


def test_every_folder_has_tests():
    folders = {path.parent.relative_to(ROOT) for path in ROOT.rglob("[!_]*.py")}
    tested = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    # A folder's tests may all stand beside it, as the losses' do.
    named = {path.parent.relative_to(TESTS) / path.stem[5:] for path in TESTS.rglob("test_*.py")}
    assert folders - tested - named == set()
