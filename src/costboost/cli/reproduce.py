"""``costboost reproduce``: what the papers claim, computed again."""

from __future__ import annotations

from costboost import papers
from costboost.cli.errors import UsageError
from costboost.cli.screen import Screen

__all__ = ["reproduce"]


def reproduce(name: str | None, rest: list[str], screen: Screen) -> None:
    """List what can be computed, or compute one of it."""
    known = papers.names()
    if name is None:
        screen.say("Give one of these names; more options by 'python -m costboost.papers NAME -h'.")
        screen.say()
        screen.facts(list(known.items()))
        screen.result({"papers": known})
        return
    if name not in known:
        raise UsageError(f"There is no {name!r} among the papers: {', '.join(known)}.")
    papers.run(name, rest)
