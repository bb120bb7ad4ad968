"""Which version wrote a pickle: estimators carry it, and a newer one is told of.

Pickles, joblib's and skops' files hold attributes as they were. A later version may give them
another meaning, so whoever reads them with an older one should know. (`costboost.load` needs no
such warning: it refuses what it does not understand.)
"""

from __future__ import annotations

from typing import Any

from sklearn.utils.fixes import parse_version

from costboost._version import __version__
from costboost.inputs.checks import warn_caller

__all__ = ["VersionedState"]

_NAME = "_costboost_version"


class VersionedState:
    """Puts the library's version into the state of an estimator, and looks at it there.

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
