"""What the kernels need of the `cython` module when they run uncompiled and Cython is absent."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)

compiled = False
double = float
int = longlong = uint = ulonglong = Py_ssize_t = builtins.int


class _NoGil:
    """`with nogil:` and `@nogil`: there is nothing to release."""

    def __enter__(self) -> None: ...

    def __exit__(self, *exception: object) -> None: ...

    def __call__(self, function: F) -> F:
        return function


nogil = _NoGil()


def cfunc(function: F) -> F:
    """Mark a C function: interpreted, a Python one."""
    return function


inline = cfunc


def cclass(kind: C) -> C:
    """Mark a class with attributes of C types: interpreted, a Python one."""
    return kind


final = cclass


def exceptval(*, check: bool) -> Callable[[F], F]:
    """Declare how a C function raises: interpreted, as any other."""
    return cfunc


def cast(kind: Callable[[Any], Any], value: Any) -> Any:
    """Convert to a C type: interpreted, to the Python type that stands for it."""
    return kind(value)


def declare(kind: Callable[[Any], Any], value: Any) -> Any:
    """Declare a C variable of the module: interpreted, its value."""
    return kind(value)
