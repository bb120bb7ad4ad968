"""Packages that only some features need: imported when they are used, missed in one sentence."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["EXTRA_OF", "Later", "need"]

# Which extra of ours brings a package.
EXTRA_OF = {
    "dask": "dask",
    "distributed": "dask",
    "matplotlib": "plot",
    "mlflow": "mlflow",
    "onnx": "onnx",
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "parquet",
    "pyspark": "spark",
    "shap": "explain",
}


def need(module: str, what: str) -> Any:
    """Import a module of an optional package and return it.

    Parameters
    ----------
    module : str
        With dots for a module inside the package.
    what : str
        Begins the sentence of the error: what cannot be done without.

    Raises
    ------
    ImportError
        If the package is missing or broken; it names the extra that brings it.

    Examples
    --------
    >>> from costboost.runtime.extras import need
    >>> need("json", "The report").dumps([1])
    '[1]'
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"{what} needs {package}: pip install 'costboost[{EXTRA_OF[package]}]'"
        ) from error


class Later:
    """A module that is imported when an attribute of it is first read."""

    def __init__(self, module: str, what: str) -> None:
        self._module, self._what = module, what

    def __getattr__(self, name: str) -> Any:
        return getattr(need(self._module, self._what), name)
