"""Which kernels are compiled, and one warning where they are not."""

from __future__ import annotations

import importlib
import warnings
from pathlib import Path

KERNELS = (
    "costboost.trees._binning_kernels",
    "costboost.trees._tree_kernels",
    "costboost.trees._split_kernels",
    "costboost.trees._forest_kernels",
    "costboost.boosting._row_kernels",
    "costboost.boosting._vote_kernels",
    "costboost.boosting._gradient_kernels",
)

_warned = False


def compiled_kernels() -> dict[str, bool]:
    """Return for every kernel module whether the compiled one is in use."""
    modules = {name: importlib.import_module(name) for name in KERNELS}
    return {name: Path(str(module.__file__)).suffix != ".py" for name, module in modules.items()}


def warn_if_interpreted() -> None:
    """Warn, once in a process, that interpreted kernels are slow and how to get fast ones."""
    global _warned
    if _warned:
        return
    _warned = True
    slow = [name for name, fast in compiled_kernels().items() if not fast]
    if slow:
        warnings.warn(
            f"costboost runs {len(slow)} of its kernels interpreted ({', '.join(slow)}), hundreds "
            "of times slower than compiled. Install a C compiler and reinstall: "
            "pip install --force-reinstall --no-binary costboost costboost",
            RuntimeWarning,
            stacklevel=3,
        )
