"""What is installed, for bug reports."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from costboost._version import __version__
from costboost.runtime.compiled import compiled_kernels

PACKAGES = ("numpy", "scipy", "scikit-learn", "narwhals", "pandas", "polars", "matplotlib")


def show_versions() -> None:
    """Print the versions of Python and the packages, and which kernels are in use.

    Examples
    --------
    >>> from costboost import show_versions
    >>> show_versions()  # doctest: +ELLIPSIS
    costboost ...
    """
    print(f"costboost {__version__}")
    print(f"python    {sys.version.split()[0]} on {platform.platform()}")
    for package in PACKAGES:
        try:
            found = version(package)
        except PackageNotFoundError:
            found = "not installed"
        print(f"  {package:<14}{found}")
    print("kernels")
    for name, fast in compiled_kernels().items():
        print(f"  {name.rpartition('.')[2]:<20}{'compiled' if fast else 'interpreted (slow)'}")
