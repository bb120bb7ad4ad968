"""Keeping models: one file without code, and lists of types for those who keep them otherwise.

`save` writes a model as a container of arrays with a JSON header (`container`): objects become
nodes (`packing`), nodes become objects of the kinds that are known (`kinds`, `unpacking`), and
nothing is used before it is checked (`hints`, `checks`). `writing` replaces files whole.
"""

from costboost.persistence.container import ModelFileError
from costboost.persistence.files import ModelFile, load, read, save

__all__ = ["ModelFile", "ModelFileError", "load", "read", "save"]
