"""Mixins of estimators: scikit-learn's callbacks (1.9 and later), and versions of pickles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from sklearn.utils.fixes import parse_version

from costboost._version import __version__
from costboost.inputs.checks import warn_caller

__all__ = ["CallbackSupportMixin", "with_callbacks", "RoundCallbacks", "VersionedState"]

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
