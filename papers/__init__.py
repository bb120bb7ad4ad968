"""What the papers claim, computed again: ``python -m papers NAME``, from a checkout.

None of it is installed with the package. The pages are `docs/papers/`, the tests `papers/tests/`.

Every module here that defines ``main`` is one of them, under its own name (with hyphens for
underscores), described by the first line of its docstring: a new one needs no other mention.
``main`` takes a list of arguments. The ground that they share: `experiment` (``--quick``,
``--out``, ``--jobs``; work that is resumed) and `report` (tables, pictures, intervals).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

__all__ = ["names", "run"]


def names() -> dict[str, str]:
    """Return what can be computed, by name, with a line about each.

    Examples
    --------
    >>> import papers
    >>> papers.names()["properties"]
    'The four properties of Nikolaou et al. (2016), computed for every rule from the rule itself.'
    """
    found = {}
    for path in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))  # importing it may take seconds
        if any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body):
            found[path.stem.replace("_", "-")] = (ast.get_docstring(tree) or "").partition("\n")[0]
    return found


def run(name: str, arguments: Sequence[str] = ()) -> None:
    """Compute one of them, and print what comes out.

    Parameters
    ----------
    name : str
        One of `names`.
    arguments : sequence of str, default=()
        Those of its own command line.
    """
    known = names()
    if name not in known:
        raise ValueError(f"There is no {name!r} among the papers: {', '.join(known)}.")
    import_module(f"papers.{name.replace('-', '_')}").main(list(arguments))
