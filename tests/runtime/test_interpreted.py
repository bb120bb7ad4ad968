"""What stands for Cython's module where there is none: kernels must find all of it."""

import ast
from pathlib import Path

import pytest

import costboost
from costboost.runtime import interpreted

KERNELS = sorted(Path(costboost.__file__).parent.rglob("_*_kernels.py"))


class Names(ast.NodeVisitor):
    """What runs of a file that was not compiled names of `cython`."""

    def __init__(self):
        self.found = set()

    def visit_Attribute(self, node):
        if isinstance(node.value, ast.Name) and node.value.id == "cython":
            self.found.add(node.attr)
        self.generic_visit(node)

    def visit_If(self, node):
        self.visit(node.test)
        if not ast.unparse(node.test).startswith("cython.compiled"):
            for inner in node.body:
                self.visit(inner)
        for inner in node.orelse:
            self.visit(inner)

    def visit_IfExp(self, node):
        self.visit_If(ast.If(node.test, [node.body], [node.orelse]))

    def visit_arg(self, node):
        """Types are annotations, which nobody looks at."""

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)

    def visit_FunctionDef(self, node):
        node.returns = None
        self.generic_visit(node)


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_kernels_find_all_that_they_name(path):
    tree, names = ast.parse(path.read_text(encoding="utf-8")), Names()
    names.visit(tree)
    assert names.found
    assert {name for name in names.found if not hasattr(interpreted, name)} == set()


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_types_of_kernels_are_never_looked_at(path):
    assert "\nfrom __future__ import annotations\n" in path.read_text(encoding="utf-8")


def test_casts_cut_towards_zero_as_in_c():
    for kind in (interpreted.int, interpreted.longlong, interpreted.Py_ssize_t):
        assert [interpreted.cast(kind, value) for value in (2.9, -2.9, -0.5)] == [2, -2, 0]
        assert interpreted.declare(kind, 7.0) == 7
    assert interpreted.cast(interpreted.double, 3) / 2 == 1.5


def test_errors_pass_a_block_without_the_gil():
    with pytest.raises(ZeroDivisionError), interpreted.nogil:
        raise ZeroDivisionError


def test_decorators_change_nothing():
    def function(x):
        return x + 1

    marks = (interpreted.cfunc, interpreted.inline, interpreted.nogil)
    for mark in (*marks, interpreted.exceptval(check=False)):
        assert mark(function) is function
    for mark in (interpreted.cclass, interpreted.final):
        assert mark(dict) is dict
    assert interpreted.compiled is False
