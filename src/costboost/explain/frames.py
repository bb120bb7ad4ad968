"""Data frames for results: pandas if it is installed, else polars."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def make_frame(columns: dict[str, Any]) -> Any:
    """Return a data frame of the columns given."""
    for library in ("pandas", "polars"):
        try:
            return import_module(library).DataFrame(columns)
        except ImportError:
            continue
    raise ImportError("A data frame needs pandas or polars: pip install pandas")
