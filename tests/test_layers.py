"""Imports only point downwards: every module reads stations before it, none behind."""

import ast
from pathlib import Path

import costboost

ROOT = Path(costboost.__file__).parent
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
RANK = {name: rank for rank, names in enumerate(LINE) for name in names}


# Inside boosting: what all families use, then the families, none of which knows another.
FAMILIES = ("adaboost", "gradient", "pnorm")
# Inside a family of boosting, the way of a round: each module imports only those before it.
ADABOOST = [
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
]


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


def test_modules_of_the_adaboost_loop_stand_in_a_line():
    rank = {name: i for i, names in enumerate(ADABOOST) for name in names}
    folder = ROOT / "boosting" / "adaboost"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(rank)
    found = []
    for path in sorted(folder.glob("[!_]*.py")):
        for module in imports(path):
            there = rank.get(module.removeprefix("costboost.boosting.adaboost."), 0)
            if there > rank[path.stem]:
                found.append(f"{path.name} imports {module}")
    assert not found, "\n".join(found)


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
