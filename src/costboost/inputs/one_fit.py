"""Methods that answer by one fit, although another thread may fit the same object meanwhile.

A fit gives an estimator a new ``__dict__`` when it is done (`costboost.fitting.atomic`) and leaves
the old one as it was. So a method that holds the dict that it found sees one fit to its end: the
binner, trees, calibration and prices that belong together.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar, cast

__all__ = ["OneFit", "of_one_fit"]

F = TypeVar("F", bound=Callable[..., Any])

_OF_THE_OBJECT = ("fit", "get_", "set_")  # these are about the object, whichever fit it has


def of_one_fit(method: F) -> F:
    """Let a method see the attributes of the fit that it began with, whatever follows."""

    @wraps(method)
    def answer(self: Any, *args: Any, **kwargs: Any) -> Any:
        held = object.__new__(type(self))
        held.__dict__ = self.__dict__
        return method(held, *args, **kwargs)

    return cast(F, answer)


class OneFit:
    """Makes every public method of its subclasses, but those of the object, one `of_one_fit`.

    Examples
    --------
    >>> class Pair(OneFit):
    ...     def fit(self, number):
    ...         self.__dict__ = {"one_": number, "other_": number}
    ...         return self
    ...     def both(self, meanwhile):
    ...         one = self.one_
    ...         meanwhile()
    ...         return one, self.other_
    >>> pair = Pair().fit(1)
    >>> pair.both(meanwhile=lambda: pair.fit(2)), pair.both(meanwhile=lambda: None)
    ((1, 1), (2, 2))
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, method in list(vars(cls).items()):
            if isinstance(method, FunctionType) and not name.startswith(("_", *_OF_THE_OBJECT)):
                setattr(cls, name, of_one_fit(method))
