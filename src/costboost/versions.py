"""What is installed, for bug reports."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from costboost._version import __version__
from costboost.runtime.machine import compiled_kernels

PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "narwhals",
    "pandas",
    "polars",
    "pyarrow",
    "matplotlib",
    "typer",
    "rich",
)


def installed() -> dict[str, Any]:
    """Return the versions of Python and the packages, and which kernels are compiled.

    Examples
    --------
    >>> from costboost.versions import installed
    >>> sorted(installed())
    ['costboost', 'kernels', 'packages', 'platform', 'python']
    """
    return {
        "costboost": __version__,
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "packages": {package: _version_of(package) for package in PACKAGES},
        "kernels": {
            name.rpartition(".")[2]: "compiled" if fast else "interpreted (slow)"
            for name, fast in compiled_kernels().items()
        },
    }


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def show_versions() -> None:
    """Print the versions of Python and the packages, and which kernels are in use.

    Examples
    --------
    >>> from costboost import show_versions
    >>> show_versions()  # doctest: +ELLIPSIS
    costboost ...
    """
    found = installed()
    print(f"costboost {found['costboost']}")
    print(f"python    {found['python']} on {found['platform']}")
    for package, number in found["packages"].items():
        print(f"  {package:<14}{number}")
    print("kernels")
    for name, state in found["kernels"].items():
        print(f"  {name:<20}{state}")
