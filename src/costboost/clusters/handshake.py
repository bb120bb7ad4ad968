"""Whether a worker is of the same make as the driver: the same code gives the same bits.

An identity is a plain dictionary of strings, so that any version can read it:
{"costboost": "0.1.0", "protocol": "1", "python": "3.11", "numpy": "2.3.1", "kernels": "5f1c..."}.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from functools import cache
from pathlib import Path

import numpy as np

from costboost._version import __version__
from costboost.clusters.errors import VersionsDifferError
from costboost.clusters.requests import PROTOCOL
from costboost.runtime.compiled import KERNELS

Identity = dict[str, str]


@cache
def _digest_of_kernels() -> str:
    """Hash the kernels in use: compiled files, or their sources where they run interpreted."""
    digest = hashlib.blake2b(digest_size=8)
    for name in KERNELS:
        path = Path(str(importlib.import_module(name).__file__))
        digest.update(f"{name}{path.suffix}".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def identity() -> Identity:
    """Return what this process runs.

    Examples
    --------
    >>> sorted(identity())
    ['costboost', 'kernels', 'numpy', 'protocol', 'python']
    """
    return {
        "costboost": __version__,
        "protocol": str(PROTOCOL),
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "numpy": np.__version__,
        "kernels": _digest_of_kernels(),
    }


def differences(ours: Identity, theirs: Identity) -> list[str]:
    """Say in which entries two identities differ.

    Examples
    --------
    >>> differences({"numpy": "2.3.1", "python": "3.11"}, {"numpy": "1.26.4", "python": "3.11"})
    ['numpy 1.26.4 (here 2.3.1)']
    """
    names = [name for name in ours if ours[name] != theirs.get(name)]
    return [f"{name} {theirs.get(name, 'unknown')} (here {ours[name]})" for name in names]


def check(worker: str, theirs: Identity, ours: Identity | None = None) -> None:
    """Refuse a worker of another make, by name."""
    found = differences(ours or identity(), theirs)
    if found:
        raise VersionsDifferError(
            f"Worker {worker} runs {', '.join(found)}. The model would depend on who computes "
            "what: install the same versions, and the same build of costboost, everywhere."
        )
