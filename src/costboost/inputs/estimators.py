"""What every estimator of ours shares: fits that count only when done, callbacks, versions.

``fit`` works on a draft, which shares everything with the estimator but its ``__dict__``. When it
returns, the draft's attributes become the estimator's in one assignment; when it raises (wrong
input, a failing learner, Ctrl-C), they are forgotten with the draft. So an estimator never has the
classes of one table and the trees of another, and a first fit that failed leaves it unfitted.

Callbacks are scikit-learn's (1.9 and later). Pickles carry the version that wrote them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from sklearn.utils.fixes import parse_version

from costboost._version import __version__
from costboost.inputs.checks import one_fit, opened_to_fit, warn_caller

__all__ = [
    "CallbackSupportMixin",
    "RoundCallbacks",
    "VersionedState",
    "all_at_once",
    "fits_tables",
    "with_callbacks",
]

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Without scikit-learn's callbacks there is nothing to support."""

    def _with_callbacks(method: Any) -> Any:
        return method


M = TypeVar("M", bound=Callable[..., Any])


def with_callbacks(method: M) -> M:
    """Tear callbacks down when `fit` ends; without scikit-learn's there is nothing to do."""
    return cast(M, _with_callbacks(method))


class RoundCallbacks:
    """An observer of rounds that calls an estimator's callbacks after each.

    `n_rounds` is the number of rounds of all models, at most; None where it is not known.
    """

    def __init__(self, estimator: Any, n_rounds: int | None, X: Any, y: Any) -> None:
        self.data = {"estimator": estimator, "X": X, "y": y}
        self.context = None
        self._has_callbacks = bool(getattr(estimator, "_skl_callbacks", ()))
        if hasattr(estimator, "_init_callback_context"):
            self.context = estimator._init_callback_context(max_subtasks=n_rounds)
            self.context.call_on_fit_task_begin(**self.data)

    def __call__(
        self, done: Any, fitted: Callable[[], dict[str, Any] | None] | None = None
    ) -> bool:
        """Report a round; True when a callback wants to stop.

        `fitted` returns the attributes of an estimator that had stopped here, for callbacks that
        ask it for answers.
        """
        if self.context is None or not self._has_callbacks:
            return False
        task = self.context.subcontext(task_name="round")
        task.call_on_fit_task_begin(**self.data)
        return bool(task.call_on_fit_task_end(**self.data, reconstruction_attributes=fitted))

    def close(self) -> None:
        """Report the end of fit."""
        if self.context is not None:
            self.context.call_on_fit_task_end(**self.data)


# The version that wrote a pickle: estimators carry it, and warn of a newer one

_NAME = "_costboost_version"


class VersionedState:
    """Stores the library's version in the state of an estimator, and checks it on loading.

    Examples
    --------
    >>> from costboost import CostBoostClassifier
    >>> state = CostBoostClassifier().__getstate__()
    >>> state["_costboost_version"] == __version__
    True
    """

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {**state, _NAME: __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        held = dict(state)
        version = held.pop(_NAME, None)
        if isinstance(version, str) and parse_version(version) > parse_version(__version__):
            warn_caller(
                f"This {type(self).__name__} was written by costboost {version}, and this is "
                f"costboost {__version__}: it may be misread. Upgrade costboost, or write the "
                "model with the older version."
            )
        restore = getattr(super(), "__setstate__", self.__dict__.update)
        restore(held)


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
