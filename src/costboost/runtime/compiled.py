"""Which kernels are compiled, and one warning where they are not."""

from __future__ import annotations

import importlib
import warnings
from pathlib import Path

_ROOT = Path(__file__).parents[1]
KERNELS = tuple(
    ".".join(("costboost", *path.relative_to(_ROOT).with_suffix("").parts))
    for path in sorted(_ROOT.rglob("_*_kernels.py"))
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
            "of times slower than compiled. Install a C compiler and reinstall, in a checkout: "
            "pip install --force-reinstall --no-deps .",
            RuntimeWarning,
            stacklevel=3,
        )
