"""What a file may hold, by name: the kinds of `kinds`, and every loss that is registered.

A loss is kept as "classification loss log", "regression loss huber": by the name that it has in the
registry of its family when the file is written, and it is made by whatever has that name when the
file is read. So a loss of one's own can be saved, and a file still holds no code.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from costboost.boosting.gradient.losses import CLASSIFICATION_LOSSES, REGRESSION_LOSSES
from costboost.persistence import checks
from costboost.persistence.errors import ModelFileError
from costboost.persistence.kinds import KINDS, Kind, data_kind, name_of

__all__ = ["kind_named", "kind_of"]

_REGISTRIES = {
    "classification loss ": CLASSIFICATION_LOSSES,
    "regression loss ": REGRESSION_LOSSES,
}


def kind_of(value_type: type[Any]) -> tuple[str, Kind | None]:
    """Return the name under which objects of a type are kept, and how; None: they are not."""
    for family, known in _REGISTRIES.items():
        for own, loss in known.items():
            if loss is value_type:
                return family + own, _loss_kind(loss)
    name = name_of(value_type)
    kind = KINDS.get(name)
    return name, kind if kind is not None and kind.type is value_type else None


def kind_named(name: str) -> Kind:
    """Return how an object of this name in a file is made."""
    for family, known in _REGISTRIES.items():
        if name.startswith(family):
            own = name.removeprefix(family)
            if own not in known:
                raise ModelFileError(
                    f"it holds the {family}{own!r}, which is not registered here, and files hold "
                    "no code: register it first, by importing the module that does (see "
                    "CONTRIBUTING.md, 'Add a loss')"
                )
            return _loss_kind(known[own])
    if name not in KINDS:
        raise ModelFileError(f"it holds a {name!r}, which this version does not know")
    return KINDS[name]


def _loss_kind(loss: type[Any]) -> Kind:
    if not dataclasses.is_dataclass(loss):
        raise ModelFileError(
            f"{loss.__name__} is no dataclass, and files keep a loss by its fields: write "
            "@dataclass(frozen=True) above it"
        )
    return data_kind(loss, _check_loss)


def _check_loss(loss: Any) -> None:
    checks.check_finite(loss)
    loss.check_restored()
