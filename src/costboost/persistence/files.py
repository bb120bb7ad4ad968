"""`save` and `load`: a model as one file of arrays and a JSON header, without code."""

from __future__ import annotations

import mmap as memory_maps
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost._version import __version__
from costboost.persistence.container import PRELUDE, lay_out, open_contents
from costboost.persistence.errors import ModelFileError
from costboost.persistence.kinds import ESTIMATORS
from costboost.persistence.packing import Packer
from costboost.persistence.unpacking import unpack
from costboost.persistence.writing import write_atomically

__all__ = ["load", "save"]

LIMIT = 1 << 30


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to one file that holds arrays and plain values, and no code.

    The file takes the place of an older one at once or not at all: a full disk or a kill leaves
    what was there. ``docs/persistence.md`` describes the format.

    Parameters
    ----------
    model : estimator of costboost
        With built-in trees, or around estimators that have them, fitted or not. Outside
        estimators, and functions among the parameters, are refused by name. What ``warm_start``
        keeps to continue from is left out: a warm start of a loaded model begins with the first
        round, and ends at the same model.
    path : path-like
        Where to write; ``model.costboost`` is a good name.

    See Also
    --------
    load : read it back.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import costboost
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = costboost.GradientBoostClassifier(n_estimators=5).fit(X, y)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tumours.costboost"
    >>> costboost.save(model, path)
    >>> again = costboost.load(path)
    >>> bool((again.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    if type(model) not in ESTIMATORS:
        names = ", ".join(kind.__name__ for kind in ESTIMATORS if not kind.__name__.startswith("_"))
        raise ModelFileError(
            f"A {type(model).__module__}.{type(model).__qualname__} cannot be saved, only the "
            f"estimators of costboost: {names}. Keep others with skops or joblib."
        )
    packer = Packer()
    packer.pack(model, type(model).__name__)
    write_atomically(Path(path), lay_out({"objects": packer.objects}, packer.arrays))


def load(path: str | os.PathLike[str], *, mmap: bool = False, limit: int = LIMIT) -> Any:
    """Read a model that `save` wrote, check every part of it, and return it.

    Its predictions are those of the model that was saved, bit for bit.

    Parameters
    ----------
    path : path-like
    mmap : bool, default=False
        Map the file into memory instead of reading it, so that processes share its pages. Then
        the file must not be changed in place while the model lives (`save` never does that:
        it replaces the file, and the old one stays until nobody needs it).
    limit : int, default=2**30
        The largest file to read, in bytes. Arrays are used where they lie in the file's bytes,
        and nothing larger is made of it.

    Returns
    -------
    estimator

    Raises
    ------
    ModelFileError
        If the file is no model, is damaged, was changed, is newer than this version of the
        library, or is larger than the limit.

    See Also
    --------
    save : write it.
    """
    try:
        contents = open_contents(_read(Path(path), mmap, limit))
    except ModelFileError as error:
        raise ModelFileError(f"{path} is no costboost model: {error}.") from None
    try:
        model = unpack(contents)
        if type(model) not in ESTIMATORS:
            raise ModelFileError(f"it holds a {type(model).__name__}, which is no estimator")
    except MemoryError:
        raise
    except Exception as error:  # parts of a file fail each other in many ways: the user hears one
        raise ModelFileError(
            f"{path}, written by costboost {contents.version}, holds no model that costboost "
            f"{__version__} can use: {error}."
        ) from error
    return model


def _read(path: Path, mapped: bool, limit: int) -> NDArray[np.uint8]:
    """Return the bytes of a file, once they are known to be a regular file's and not too many."""
    if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for its writer
        raise ModelFileError("it is not a regular file")
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if size > limit:
            raise ModelFileError(f"it has {size:,} bytes, and limit={limit:,} allows fewer")
        if size < PRELUDE.size:
            raise ModelFileError(f"it has {size} bytes, fewer than a model file begins with")
        if mapped:
            held = memory_maps.mmap(file.fileno(), size, access=memory_maps.ACCESS_READ)
            return np.frombuffer(held, dtype=np.uint8)
        return np.fromfile(file, dtype=np.uint8, count=size)
