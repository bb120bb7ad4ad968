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
    {"explain"},  # a forest's explanation needs no estimator; estimators offer it as methods
    {"estimators"},
    {"metrics"},
    {"plots", "persistence", "deploy", "datasets", "trusted", "versions"},
    {"report"},  # handed up to the estimators' `report` by `decisions.reporting`
    {"papers"},
    {"demo"},
    {"cli"},
    {"__main__"},
]
RANK = {name: rank for rank, names in enumerate(LINE) for name in names}


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
