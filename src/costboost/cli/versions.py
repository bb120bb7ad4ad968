"""``costboost versions``: what is installed."""

from __future__ import annotations

from costboost.cli.screen import Screen
from costboost.versions import installed, show_versions

__all__ = ["versions"]


def versions(screen: Screen) -> None:
    """Show the versions of everything that matters."""
    if not screen.as_json:
        show_versions()
    screen.result(installed())
