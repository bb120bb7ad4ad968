"""What goes wrong with model files, under one name."""

from __future__ import annotations

__all__ = ["ModelFileError"]


class ModelFileError(ValueError):
    """A model cannot be written to a file, or a file holds no model that can be trusted.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import costboost
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.costboost"
    >>> _ = path.write_bytes(b"something else")
    >>> costboost.load(path)
    Traceback (most recent call last):
        ...
    costboost.persistence.errors.ModelFileError: ...model.costboost is no costboost model: ...
    """
