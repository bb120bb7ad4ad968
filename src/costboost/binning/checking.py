"""Whether edges and categories are those of a binner: what encoding relies on without looking.

Codes are found by searching sorted edges, and a column must not have more codes than a byte can
tell apart. What comes from a file may hold anything, so a `Binner` checks its parts whenever it is
made.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

__all__ = ["check_binner"]

_MOST = 255  # codes of values; the last byte is the missing value


def check_binner(
    max_bins: Any, edges: Any, categories: Any, has_missing: Any, feature_names: Any = None
) -> None:
    """Raise unless the parts of a binner fit each other.

    Parameters
    ----------
    max_bins, edges, categories, has_missing, feature_names
        As the attributes of `binner.Binner`.

    Raises
    ------
    ValueError
        If edges do not rise, a column has too many codes, or lengths differ.

    Examples
    --------
    >>> check_binner(255, [np.array([2.0, 1.0])], [None], np.array([False]))
    Traceback (most recent call last):
    ...
    ValueError: This is no binner: the edges of column 0 do not rise.
    """
    if isinstance(max_bins, bool) or not isinstance(max_bins, int | np.integer):
        raise _no_binner(f"max_bins is {max_bins!r}")
    if not 2 <= max_bins <= _MOST:
        raise _no_binner(f"max_bins is {max_bins}, not between 2 and {_MOST}")
    columns = {"edges": edges, "categories": categories}
    for name, part in columns.items():
        if not isinstance(part, Sequence) or isinstance(part, str) or not len(part):
            raise _no_binner(f"{name} must hold one entry for each column")
    if len(edges) != len(categories):
        raise _no_binner(f"{len(edges)} columns of edges, {len(categories)} of categories")
    _check_flags(has_missing, feature_names, len(edges))
    for j, (cuts, kept) in enumerate(zip(edges, categories, strict=True)):
        _check_edges(j, cuts, int(max_bins))
        if kept is not None:
            _check_categories(j, cuts, kept, int(max_bins))


def _no_binner(why: str) -> ValueError:
    return ValueError(f"This is no binner: {why}.")


def _check_flags(has_missing: Any, feature_names: Any, n_features: int) -> None:
    flags = np.asarray(has_missing)
    if flags.dtype != np.bool_ or flags.shape != (n_features,):
        raise _no_binner(f"has_missing must be {n_features} booleans")
    if feature_names is None:
        return
    named = isinstance(feature_names, Sequence) and all(isinstance(n, str) for n in feature_names)
    if not named or isinstance(feature_names, str) or len(feature_names) != n_features:
        raise _no_binner(f"feature_names must be {n_features} strings, or None")


def _check_edges(j: int, cuts: Any, max_bins: int) -> None:
    if not isinstance(cuts, np.ndarray) or cuts.dtype.kind != "f" or cuts.ndim != 1:
        raise _no_binner(f"the edges of column {j} are no array of floats")
    if len(cuts) >= max_bins:
        raise _no_binner(f"column {j} has {len(cuts)} edges, but max_bins is {max_bins}")
    if len(cuts) and not (cuts[0] == cuts[0] and np.all(cuts[1:] > cuts[:-1])):
        raise _no_binner(f"the edges of column {j} do not rise")


def _check_categories(j: int, cuts: Any, kept: Any, max_bins: int) -> None:
    """Categories are numbers and then strings, each in their order: codes are their places."""
    if not isinstance(kept, tuple) or not all(isinstance(key, str | float) for key in kept):
        raise _no_binner(f"the categories of column {j} are no tuple of strings and floats")
    if len(cuts) or len(kept) > max_bins:
        raise _no_binner(
            f"column {j} has {len(kept)} categories and {len(cuts)} edges, but max_bins is "
            f"{max_bins}"
        )
    ranks = [(isinstance(key, str), key) for key in kept]
    if any(key != key for key in kept) or not all(a < b for a, b in pairwise(ranks)):
        raise _no_binner(f"the categories of column {j} are not in their order")
