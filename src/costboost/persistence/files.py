"""`save` and `load`: a model as one file of arrays and a JSON header, without code."""

from __future__ import annotations

import json
import mmap as memory_maps
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost._version import __version__
from costboost.persistence.container import PRELUDE, ModelFileError, lay_out, open_contents
from costboost.persistence.kinds import ESTIMATORS
from costboost.persistence.packing import Packer, check_amount, unpack
from costboost.persistence.writing import write_atomically

__all__ = ["ModelFile", "load", "read", "save"]

LIMIT = 1 << 30


class ModelFile(NamedTuple):
    """What `read` found in a file.

    Attributes
    ----------
    model : estimator
    notes : dict
        What was noted beside the model when it was saved.
    version : str
        Of the library that wrote the file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import CostBoostClassifier, __version__, save
    >>> from costboost.persistence import read
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CostBoostClassifier("adaboost", n_estimators=3).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/tumours.costboost", notes={"trained": "on all rows"})
    ...     found = read(f"{folder}/tumours.costboost")
    >>> found.notes, found.version == __version__
    ({'trained': 'on all rows'}, True)
    """

    model: Any
    notes: dict[str, Any]
    version: str


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    notes: Mapping[str, Any] | None = None,
    overwrite: bool = False,
) -> None:
    """Write a model to one file that holds arrays and plain values, and no code.

    The file is there as a whole or not at all: a full disk or a kill leaves what was there. It
    never takes the place of another unless `overwrite` says so, of anything but a regular file
    never; of several writers of one name exactly one succeeds. A symbolic link stays, and the file
    that it points to is written. ``docs/persistence.md`` describes the format.

    Parameters
    ----------
    model : estimator of costboost
        With built-in trees, or around estimators that have them, fitted or not. Outside
        estimators, and functions among the parameters, are refused by name. What ``warm_start``
        keeps to continue from is left out: a warm start of a loaded model begins with the first
        round, and ends at the same model.
    path : path-like
        Where to write; ``model.costboost`` is a good name.
    notes : dict, default=None
        What to keep beside the model, for whoever uses the file: text, numbers, booleans, None,
        lists and dictionaries of them by name, as JSON has them. `read` returns them.
    overwrite : bool, default=False
        Replace a file that is there, as ``--force`` does on the command line.

    Raises
    ------
    FileExistsError
        If there is a file and `overwrite` is False, or something that is no regular file.
    ModelFileError
        If the model cannot be kept.

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
    check_amount(packer.objects, packer.arrays)  # what is written can be read
    header: dict[str, Any] = {"objects": packer.objects}
    if notes:
        header["notes"] = _checked_notes(dict(notes))
    write_atomically(Path(path), lay_out(header, packer.arrays), overwrite=overwrite)


def _checked_notes(notes: dict[str, Any]) -> dict[str, Any]:
    """Refuse notes that would come back as something else."""
    try:
        same = json.loads(json.dumps(notes, allow_nan=False)) == notes
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"notes are kept as JSON, which these are not: {error}.") from None
    if not same:
        raise ModelFileError(
            "notes are kept as JSON: names are text, and tuples would come back as lists. Give "
            "text, finite numbers, booleans, None, lists and dictionaries."
        )
    return notes


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
    costboost.persistence.read : the model and what was noted beside it.

    Examples
    --------
    >>> import costboost
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = costboost.CostBoostClassifier("adaboost", n_estimators=3).fit(X, y)
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     costboost.save(model, f"{folder}/tumours.costboost")
    ...     again = costboost.load(f"{folder}/tumours.costboost")
    >>> bool((again.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    return read(path, mmap=mmap, limit=limit).model


def read(path: str | os.PathLike[str], *, mmap: bool = False, limit: int = LIMIT) -> ModelFile:
    """Read a model as `load` does, and what was noted beside it.

    Parameters
    ----------
    path, mmap, limit
        As for `load`.

    Returns
    -------
    ModelFile

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import costboost
    >>> from costboost import persistence
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.costboost"
    >>> costboost.save(costboost.CostBoostClassifier(), path, notes={"trained on": "2026-11-16"})
    >>> persistence.read(path).notes
    {'trained on': '2026-11-16'}
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
    return ModelFile(model, contents.notes, contents.version)


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
