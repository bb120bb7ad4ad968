"""Ctrl-C in a round of the recipe."""

import pytest

from costboost.boosting.gradient import loop as rounds
from recipe_models import interrupt_loop


@pytest.fixture
def interrupt(monkeypatch):
    """Return a function that makes Ctrl-C come in the n-th round of any fold."""
    return lambda number: interrupt_loop(monkeypatch, rounds.GradientBoosting, number)
