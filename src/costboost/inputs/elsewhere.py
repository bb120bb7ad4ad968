"""Tables that are not in memory but can be opened: what estimators do when they are given one.

Such a table has `open_for(estimator, costs)`, which gives a fit what it needs while it lasts, and
`answers(model, method, ...)`, which asks a fitted model about all rows, some at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

__all__ = ["answers_tables", "fits_tables", "refuse_unopened"]

F = TypeVar("F", bound=Callable[..., Any])

_IN_TABLE = {"y": "label", "sample_weight": "weight"}


def fits_tables(fit: F) -> F:
    """Let a ``fit`` take a table that must be opened, which holds labels, weights and costs."""

    @wraps(fit)
    def fit_opened(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if not hasattr(X, "open_for"):
            return fit(self, X, *args, **kwargs)
        names = list(signature(fit).parameters)[2:]
        given = dict(zip(names, args, strict=False)) | kwargs
        for name, column in _IN_TABLE.items():
            if given.pop(name, None) is not None:
                raise ValueError(
                    f"{name} was given beside a {type(X).__name__}, which names its own column of "
                    f"them: {type(X).__name__}(..., {column}=...), and fit(table) alone."
                )
        with X.open_for(self, given.pop("costs", None)) as opened:
            if opened.costs is not None and "costs" not in names:
                raise ValueError(
                    f"{type(self).__name__} learns numbers, not classes, and has no use for costs: "
                    "leave them out of the table."
                )
            if opened.costs is not None:
                given["costs"] = opened.costs
            return fit(self, opened.X, None, **given)

    return cast(F, fit_opened)


def answers_tables(method: F) -> F:
    """Let a method of fitted models take a table that must be opened."""

    @wraps(method)
    def answer(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if not hasattr(X, "answers"):
            return method(self, X, *args, **kwargs)
        if args:
            kwargs["costs"] = args[0]
        return X.answers(self, method.__name__, **kwargs)

    return cast(F, answer)


def refuse_unopened(X: Any) -> None:
    """Refuse a table that must be opened where nobody opens it."""
    if hasattr(X, "open_for"):
        raise ValueError(
            f"X is a {type(X).__name__}: fit, predict, predict_proba, expected_cost and "
            "decision_function of the boosting classes take it, nothing else does. Read some of "
            "its rows into a DataFrame."
        )
