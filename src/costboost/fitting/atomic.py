"""A fit that counts only when it is done: all of its fitted attributes, or none of them.

``fit`` works on a draft, which shares everything with the estimator but its ``__dict__``. When it
returns, the draft's attributes become the estimator's in one assignment; when it raises (wrong
input, a failing learner, Ctrl-C), they are forgotten with the draft. So an estimator never has the
classes of one table and the trees of another, and a first fit that failed leaves it unfitted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from costboost.inputs.checks import one_fit, opened_to_fit

__all__ = ["all_at_once", "fits_tables"]

F = TypeVar("F", bound=Callable[..., Any])


def all_at_once(fit: F) -> F:
    """Make a ``fit`` set its attributes at the end, all at once.

    Whatever decorators inside this one set is part of the draft.

    Examples
    --------
    >>> class Halves:
    ...     @all_at_once
    ...     def fit(self, numbers):
    ...         self.first_ = numbers[0] / 2
    ...         self.second_ = numbers[1] / 2
    ...         return self
    >>> model = Halves().fit([1, 2])
    >>> try:
    ...     model.fit([5])
    ... except IndexError:
    ...     print(model.first_, model.second_)
    0.5 1.0
    """
    return _drafted(fit, opens=False)


def fits_tables(fit: F) -> F:
    """Make a ``fit`` do so that also takes tables that must be opened, such as `ParquetTable`.

    They hold labels, weights and costs. A table is opened for the estimator itself, and the draft
    is fitted while it is open.
    """
    return _drafted(fit, opens=True)


def _drafted(fit: F, *, opens: bool) -> F:
    @wraps(fit)
    def fit_draft(self: Any, *args: Any, **kwargs: Any) -> Any:
        X = args[0] if args else kwargs.get("X")
        if opens and hasattr(X, "open_for"):
            rest = {name: value for name, value in kwargs.items() if name != "X"}
            with opened_to_fit(self, fit, X, args[1:], rest) as (rows, given):
                return fit_draft(self, rows, None, **given)
        draft = object.__new__(type(self))
        draft.__dict__.update(self.__dict__)
        with one_fit():
            fit(draft, *args, **kwargs)
        self.__dict__ = draft.__dict__
        return self

    return cast(F, fit_draft)
