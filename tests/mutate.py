"""Change single places of the code, one at a time, and see whether the tests notice.

    make mutate                           # 60 changes, drawn with seed 0, for at most 30 minutes
    python tests/mutate.py 200 7          # 200 changes, drawn with seed 7
    python tests/mutate.py 40 7 explain   # 40 changes in one folder

A change swaps an operator, negates a test, moves a number by one, swaps two arguments or drops a
sign, inside one function. Then those tests run that execute this statement, the quickest first,
of the folder of `tests/` that mirrors its own. A change that none of them notices has survived, and
is printed with its line. Survivors that change nothing a user could see are listed in `SURVIVORS`,
each with its reason, and not drawn.

All of it happens in one session of pytest: the tests are collected once, and each change is made
to the functions in memory of a forked process. Which tests execute which statements is recorded
first; it is kept in a temporary folder for as long as neither the code nor the file of tests
changes.

Messages, annotations, defaults and compiled kernels are left alone: the kernels run compiled here,
and have interpreted twins in their own tests.
"""

from __future__ import annotations

import ast
import builtins
import gc
import hashlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "costboost"
RECORDS = Path(tempfile.gettempdir()) / "costboost-mutate"
FOLDERS = ("boosting", "decisions", "costs", "calibration", "explain")
# These start polars's threads when they are imported, which forked processes then wait for.
IGNORED = (
    "explain/test_variants.py",
    "decisions/test_mixin_by_column.py",
    "costs/test_binding_tables.py",
)
SECONDS = 30 * 60.0  # no change is begun later than this
PATIENCE = 300.0  # seconds for a file of tests
ENOUGH = 90.0  # seconds that the tests of one change may have taken when they were recorded
TINY = 1e-6  # numbers below this are tolerances

# (file, line of code, what it becomes) -> why no test can notice
SURVIVORS: dict[tuple[str, str, str], str] = {
    (
        "calibration/_logistic.py",
        "if moved[0] <= loss - 0.25 * promise + 1e-15 * (1.0 + abs(loss)):",
        "if (moved[0] < loss - 0.25 * promise + 1e-15 * (1.0 + abs(loss))):",
    ): "a step that falls short of the bound by nothing is halved, and leads to the same minimum",
    (
        "calibration/calibrators.py",
        "ends = np.ptp(z) * 2.0 ** np.arange(-2, 4)",
        "ends = np.ptp(z) * 2.0 ** np.arange(-2, 3)",
    ): "one start of a search less: the others find the same minimum",
    (
        "calibration/_logistic.py",
        "if moved[0] <= loss - 0.25 * promise + 1e-15 * (1.0 + abs(loss)):",
        "if moved[0] <= loss - 0.25 * promise + 1e-15 * (2.0 + abs(loss)):",
    ): "a tolerance for rounding, twice as large",
    (
        "explain/shapley.py",
        "used[tree[self.forest.values[:, k] != 0], k] = True",
        "used[tree[self.forest.values[:, k] != 1], k] = True",
    ): "zeros are added up too, which takes longer; a tree that adds 1 everywhere explains nothing",
    (
        "explain/nearest.py",
        "for side in (np.flatnonzero(points < now)[::-1], np.flatnonzero(points > now)):",
        "for side in (np.flatnonzero(points < now)[::-1], np.flatnonzero((points >= now))):",
    ): "the row's own value, which is looked at anyway, stands twice among the points",
    (
        "explain/priced.py",
        "return Axis(edges, True, 0.0, 1.0)",
        "return Axis(edges, True, 0.0, 2.0)",
    ): "a truth of 2 is read as 1, which is looked at first",
    (
        "calibration/calibrators.py",
        "if 0.0 < size < np.inf:",
        "if 1.0 < size < np.inf:",
    ): "the way for sizes out of range gives the same size, but for its rounding",
    (
        "calibration/_logistic.py",
        "top[top < 1e-300] = 1.0",
        "top[top < 1e-300] = 2.0",
    ): "the unit of a column that is 0, or next to it: its slope is 0",
    (
        "boosting/train_cost.py",
        "many = costs.classes is not None and len(costs.classes) > 256",
        "many = costs.classes is not None and len(costs.classes) > 255",
    ): "labels of 256 classes take four bytes in place of one",
    (
        "decisions/capacity.py",
        "gain = others[np.arange(len(want)), instead] - regrets[want, action]",
        "gain = (others[np.arange(len(want)), instead] + regrets[want, action])",
    ): "these rows have their cheapest action: its regret is 0, but for rounding",
    (
        "decisions/assignment.py",
        "if len(regrets) <= _FEW_ROWS:",
        "if (len(regrets) < _FEW_ROWS):",
    ): "where the search begins: it ends at the optimum from anywhere",
    (
        "explain/shapley.py",
        "theirs = (background, room[0], room[1], room[5], room[6], np.empty(1 << _SMALL))",
        "theirs = (background, room[0], room[1], room[5], room[6], np.empty(2 << _SMALL))",
    ): "scratch larger than is used",
    (
        "costs/costs.py",
        "return same(self._state, other._state) if isinstance(other, Costs) else NotImplemented",
        "return same(other._state, self._state) if isinstance(other, Costs) else NotImplemented",
    ): "two states are the same both ways round",
    (
        "costs/pricing.py",
        "return np.asarray(np.where(error > 0, above, beneath) * np.abs(error))",
        "return np.asarray(np.where((error >= 0), above, beneath) * np.abs(error))",
    ): "an error of 0 costs nothing on either side",
    (
        "calibration/calibrators.py",
        "if np.ptp(logits, axis=0).max() < LEAST:",
        "if (np.ptp(logits, axis=0).max() <= LEAST):",
    ): "scores that differ by exactly 1e-300",
    (
        "decisions/assignment.py",
        "tied = np.flatnonzero(np.sum(total == total.min(axis=1, keepdims=True), axis=1) > 1)",
        "tied = np.flatnonzero((np.sum(total == total.min(axis=1, keepdims=True), axis=1) >= 1))",
    ): "rows alike that have one cheapest action are sorted among themselves, which takes longer",
}

PAIRS: tuple[tuple[type[Any], type[Any]], ...] = (
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.Is, ast.IsNot),
    (ast.Add, ast.Sub),
    (ast.Mult, ast.Div),
    (ast.And, ast.Or),
    (ast.BitAnd, ast.BitOr),
)
SWAPS = dict(PAIRS) | {other: one for one, other in PAIRS}
LEFT_ALONE = (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)
# Keywords whose values change no result, and calls that swapped or changed only raise.
KEYWORDS = ("strict", "copy", "stacklevel", "maxsize", "check", "dtype")
CALLS = ("isinstance", "issubclass", "getattr", "hasattr", "cast", "zip", "setattr", "TypeVar")
SYMMETRIC = ("min", "max", "minimum", "maximum", "array_equal", "gcd")


@dataclass(frozen=True)
class Mutation:
    """A piece of a file, from `start` to `stop` (offsets), and what replaces it."""

    path: Path  # below PACKAGE
    line: int
    statement: int  # the line where the statement begins that holds it
    start: int
    stop: int
    text: str

    def apply(self, source: str) -> str:
        """Return the changed source, of as many lines as before."""
        lost = source.count("\n", self.start, self.stop)
        text = f"({self.text}{lost * chr(10)})" if lost else self.text
        return source[: self.start] + text + source[self.stop :]

    def describe(self, source: str) -> tuple[str, str, str]:
        """Return (file, the line as it is, the line as it becomes)."""
        line = source.splitlines()[self.line - 1].strip()
        became = self.apply(source).splitlines()[self.line - 1].strip()
        return self.path.as_posix(), line, became


def changed(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the node with one thing changed, each time another."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPS:
        yield ast.Compare(node.left, [SWAPS[type(node.ops[0])]()], node.comparators)
    elif isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
        yield ast.BinOp(node.left, SWAPS[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(SWAPS[type(node.op)](), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
        if node.value > 0:
            yield ast.Constant(node.value - 1)
    elif isinstance(node, ast.Constant) and isinstance(node.value, float):
        if not 0.0 < node.value < TINY:
            yield ast.Constant(node.value * 2 if node.value else 1.0)
    elif (
        isinstance(node, ast.Call)
        and (len(node.args), len(node.keywords)) == (2, 0)
        and ast.unparse(node.func).rpartition(".")[2] not in SYMMETRIC
    ):
        yield ast.Call(node.func, node.args[::-1], [])


def is_left_alone(node: ast.AST) -> bool:
    """Whether nothing at or below this node is changed."""
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        return "warn" in name or name in CALLS
    if isinstance(node, ast.keyword):
        return node.arg in KEYWORDS
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.unparse(node.test)
    return isinstance(node, LEFT_ALONE)


def mutations(file: Path) -> Iterator[Mutation]:
    """Yield all changes of a file, in order."""
    source = file.read_text(encoding="utf-8")
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def walk(node: ast.AST, statement: int, in_function: bool) -> Iterator[Mutation]:
        if is_left_alone(node):
            return
        if in_function:
            for other in changed(node):
                assert isinstance(node, ast.expr)
                start = starts[node.lineno - 1] + node.col_offset
                stop = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
                text = ast.unparse(other)
                if not isinstance(other, (ast.Constant, ast.Call, ast.Name)):
                    text = f"({text})"
                path = file.relative_to(PACKAGE)
                yield Mutation(path, node.lineno, statement, start, stop, text)
        below: Iterator[ast.AST] = ast.iter_child_nodes(node)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):  # no defaults, no decorators
            below, in_function = iter(node.body), in_function or isinstance(node, ast.FunctionDef)
        elif isinstance(node, ast.AnnAssign):
            below = iter([node.value] if node.value else [])
        for child in below:
            inside = child.lineno if isinstance(child, ast.stmt) else statement
            yield from walk(child, inside, in_function)

    yield from walk(ast.parse(source), 0, False)


def drawn(count: int, seed: int, folders: tuple[str, ...]) -> list[Mutation]:
    """Return `count` changes, as many from each folder as from the others."""
    rng = random.Random(seed)
    pools = []
    for folder in folders:
        pool = [
            mutation
            for file in sorted((PACKAGE / folder).rglob("*.py"))
            if not file.stem.endswith("_kernels")
            for mutation in mutations(file)
        ]
        rng.shuffle(pool)  # before any is left out: what is listed moves no other place
        texts = {
            file: (PACKAGE / file).read_text(encoding="utf-8") for file in {m.path for m in pool}
        }
        pools.append([m for m in pool if m.describe(texts[m.path]) not in SURVIVORS])
    return [pools[i % len(pools)].pop() for i in range(count)]


def stale_names() -> list[str]:
    """Return what FOLDERS, IGNORED and SURVIVORS name that is not there."""
    stale = [folder for folder in FOLDERS if not (PACKAGE / folder).is_dir()]
    stale += [file for file in IGNORED if not (ROOT / "tests" / file).is_file()]
    changes: set[tuple[str, str, str]] = set()
    for path in {PACKAGE / file for file, _, _ in SURVIVORS}:
        if path.is_file():
            source = path.read_text(encoding="utf-8")
            changes |= {mutation.describe(source) for mutation in mutations(path)}
    return stale + [" | ".join(entry) for entry in SURVIVORS if entry not in changes]


def watched(source: str, name: str) -> ast.Module:
    """Return a module whose functions note every statement that they begin, as name:line."""

    def note(node: ast.AST, in_function: bool) -> None:
        in_function |= isinstance(node, ast.FunctionDef)
        for child in ast.iter_child_nodes(node):
            note(child, in_function)
        for field in ("body", "orelse", "finalbody") if in_function else ():
            block = getattr(node, field, [])
            if isinstance(block, list) and not isinstance(node, ast.ClassDef):
                notes = [ast.parse(f"_noted.add('{name}:{s.lineno}')").body[0] for s in block]
                for place, (each, statement) in enumerate(zip(notes, block.copy(), strict=True)):
                    ast.increment_lineno(each, statement.lineno - 1)
                    block.insert(2 * place, each)

    note(tree := ast.parse(source), False)
    return tree


def replace_functions(path: Path, module: ast.Module | str) -> None:
    """Let all functions of a file, in memory, do what those of another module of its form do."""

    def codes_in(code: CodeType) -> Iterator[CodeType]:
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield constant
                yield from codes_in(constant)

    new = codes_in(compile(module, path, "exec"))
    codes = {(code.co_qualname, code.co_firstlineno): code for code in new}
    for function in functions_in_memory()[str(path)]:
        code = function.__code__
        function.__code__ = codes[code.co_qualname, code.co_firstlineno]


@cache
def functions_in_memory() -> dict[str, list[FunctionType]]:
    """Return all functions there are, by file."""
    found: defaultdict[str, list[FunctionType]] = defaultdict(list)
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType):
            found[thing.__code__.co_filename].append(thing)
    return found


class Session:
    """A plugin of pytest that runs, instead of all tests, those that each change concerns."""

    def __init__(self, mutations: list[Mutation]) -> None:
        self.mutations = mutations
        self.survived = self.tried = self.hung = 0
        self.noted: set[str] = set()
        self.fixtures: defaultdict[str, set[str]] = defaultdict(set)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        known = functions_in_memory()  # before the processes part
        unknown = {str(m.path) for m in self.mutations if str(PACKAGE / m.path) not in known}
        if unknown:
            raise RuntimeError(f"no test imports {sorted(unknown)}: changes would not be made")
        names = [file.read_text() for file in Path("/proc/self/task").glob("*/comm")]
        if "polars-0\n" in names:
            raise RuntimeError("a file of tests starts polars when imported: add it to IGNORED")
        records: dict[str, tuple[float, list[str]]] = {}
        for file in sorted({item.path for item in session.items}):
            if not record_of(file).exists():
                print("recording", file.relative_to(ROOT), flush=True)
                if in_child(partial(self.record, session, file), PATIENCE):
                    raise RuntimeError(f"{file} dies, or hangs, in a forked process")
            records |= json.loads(record_of(file).read_text())
        print("tests that fail without any change:", len(session.items) - len(records), flush=True)
        began = time.monotonic()
        for mutation in self.mutations:
            if time.monotonic() - began > SECONDS:
                print(f"time is up after {self.tried} of {len(self.mutations)} changes")
                break
            self.tried += 1
            place = ROOT / "tests" / mutation.path.parts[0]
            seconds = {
                item: records[item.nodeid][0]
                for item in session.items
                if item.path.is_relative_to(place) and item.nodeid in records
                if f"{mutation.path}:{mutation.statement}" in records[item.nodeid][1]
            }
            items = sorted(seconds, key=lambda item: seconds[item])
            while sum(seconds[item] for item in items) > ENOUGH:
                items.pop()
            patience = 20 + 3 * sum(seconds[item] for item in items)
            status = in_child(partial(self.run, session, items, mutation), patience)
            self.hung += os.WIFSIGNALED(status)
            if status == 0:
                self.survived += 1
                _, line, became = mutation.describe((PACKAGE / mutation.path).read_text())
                print(
                    f"{self.tried}: {mutation.path}:{mutation.line}, {len(items)} tests",
                    line,
                    became,
                    sep="\n    ",
                    flush=True,
                )
        return True

    def record(self, session: pytest.Session, file: Path) -> bool:
        """Write what each test of a file executes: {test: [seconds, [file:line]]}."""
        builtins._noted = self  # type: ignore[attr-defined]
        for folder in FOLDERS:
            for path in (PACKAGE / folder).rglob("*.py"):
                name = path.relative_to(PACKAGE).as_posix()
                replace_functions(path, watched(path.read_text(encoding="utf-8"), name))
        found = {}
        items = [item for item in session.items if item.path == file]
        for item, following in zip(items, [*items[1:], None], strict=True):
            self.noted, began, failed = set(), time.process_time(), session.testsfailed
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed == failed:
                names = getattr(item, "fixturenames", [])
                noted = self.noted.union(*(self.fixtures[name] for name in names))
                found[item.nodeid] = time.process_time() - began, sorted(noted)
        record_of(file).write_text(json.dumps(found))
        return True

    def add(self, place: str) -> None:
        """Note that a statement is executed."""
        self.noted.add(place)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, request: Any) -> Iterator[None]:
        """Let the statements of a fixture count for all tests that use it."""
        outer, self.noted = self.noted, set()
        try:
            return (yield)
        finally:
            self.fixtures[request.fixturename] |= self.noted
            self.noted |= outer

    def run(self, session: pytest.Session, items: list[pytest.Item], mutation: Mutation) -> bool:
        """Return whether no test fails after this change to the functions in memory."""
        path = PACKAGE / mutation.path
        replace_functions(path, mutation.apply(path.read_text(encoding="utf-8")))
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed:
                return False
        return True


@cache
def digest_of_code() -> bytes:
    """Return a digest of all modules of the package."""
    digest = hashlib.sha256(b"1")
    for file in sorted(PACKAGE.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.digest()


@cache
def record_of(file: Path) -> Path:
    """Return where the record of a file of tests is kept."""
    digest = hashlib.sha256(digest_of_code() + str(file).encode() + file.read_bytes())
    return RECORDS / f"{file.stem}-{digest.hexdigest()[:16]}.json"


def in_child(task: Callable[[], bool], patience: float) -> int:
    """Run a task in a forked process; return 0 if it says True, else what the process ended with.

    `patience` is in seconds of its own work, as the machine may be busy with that of others.
    """
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        result = False
        try:
            signal.setitimer(signal.ITIMER_PROF, patience)  # kills it
            signal.alarm(int(20 * patience))  # where it waits for ever
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            result = task()
        finally:
            os._exit(not result)
    return os.waitpid(child, 0)[1]


def main(count: str = "60", seed: str = "0", *folders: str) -> int:
    """Print every change that survived, and their share.

    Return 1 if the share is above a tenth, 2 if something is named that is not there.
    """
    if stale := stale_names():
        print("mutate.py names what is not there:", *stale, sep="\n    ")
        return 2
    RECORDS.mkdir(exist_ok=True)
    chosen = folders or FOLDERS
    session = Session(drawn(int(count), int(seed), chosen))
    # Tests know neither a deadline here, nor what failed before.
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(RECORDS / "hypothesis")
    options = ["-n", "0", "-s", "-qq", "-p", "no:cacheprovider"]
    options += [f"--ignore={ROOT / 'tests' / file}" for file in IGNORED]
    tests = [str(ROOT / "tests" / folder) for folder in chosen]
    status = pytest.main([*options, f"--rootdir={ROOT}", *tests], plugins=[session])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        return int(status)
    survived = session.survived
    print(
        f"{survived} of {session.tried} changes survived, {session.hung} were noticed by tests "
        f"that crashed or did not end; {len(SURVIVORS)} more are known to survive"
    )
    return int(survived > 0.1 * session.tried)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
