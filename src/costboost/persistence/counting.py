"""How much a file asks for, counted on its header before anything is built.

A file may refer to an array or an object as often as it likes, so that a few bytes can stand for
any amount of memory, checks and predictions: an object that holds ten times the one before it, six
times over, predicts a million times. What `save` writes stays far below the bounds here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from numpy.typing import NDArray

from costboost.persistence.container import ModelFileError
from costboost.persistence.kinds import PREDICTING

__all__ = ["check_amount"]

MAX_NESTED = 16  # estimators in estimators
# A frozen estimator may be each of the members of an ensemble: that many predictions, at most.
PREDICTIONS, PREDICTIONS_OF_EACH = 1000, 4
# Bytes that are referred to, each time they are: an array is checked wherever it is used.
BYTES, BYTES_OF_EACH = 1 << 25, 8
BINNER_BYTES = 8  # a binner makes objects of Python of its arrays, of some eight times their size
# A model stands in its estimator only, its members and their forests in it.
PARENTS = {"Forest": 1, "Member": 1, "Mixture": 1, "FittedModel": 1, "CalibratedScores": 1}


def check_amount(listed: Sequence[Any], arrays: Sequence[NDArray[Any]]) -> None:
    """Refuse objects that stand for more than a file of their size can hold.

    Parameters
    ----------
    listed : list of [kind, fields]
        The objects of a header.
    arrays : list of ndarray
        What they refer to by number.
    """
    sizes = [array.nbytes for array in arrays]
    size, n_estimators = 0, 0
    predictions: list[int] = []
    depths: list[int] = []
    parents: Counter[int] = Counter()
    for i, (kind, fields) in enumerate(listed):
        weight = BINNER_BYTES if kind == "Binner" else 1
        size += weight * sum(sizes[n] for n in _numbers(fields, "array", len(sizes)))
        size += weight * sum(sizes[n] for n in _numbers(fields, "texts", len(sizes)))
        held = list(_numbers(fields, "object", i))
        parents.update(held)
        own = int(kind in PREDICTING)
        n_estimators += own
        depths.append(own + max((depths[n] for n in held), default=0))
        # A wrapper predicts by what it has fitted, and its `estimator` is the pattern of that.
        pattern = fields.get("estimator") if own and kind != "FrozenEstimator" else None
        asked = sum(predictions[n] for n in held)
        asked -= sum(predictions[n] for n in _numbers(pattern, "object", i))
        predictions.append(min(own + asked, 1 << 40))
    _demand(size <= BYTES + BYTES_OF_EACH * sum(sizes), "its arrays are referred to too often")
    _demand(max(depths) <= MAX_NESTED, f"estimators are nested more than {MAX_NESTED} deep")
    most = PREDICTIONS + PREDICTIONS_OF_EACH * n_estimators
    _demand(max(predictions) <= most, "its models are referred to too often")
    for i, n in parents.items():
        kind = listed[i][0]
        _demand(n <= PARENTS.get(kind, n), f"a {kind} is part of several objects")


def _demand(holds: bool, message: str) -> None:
    if not holds:
        raise ModelFileError(message)


def _numbers(node: Any, name: str, n: int) -> Iterator[int]:
    """Yield the numbers below n that a value refers to by a name, each time it does."""
    waiting = [node]
    while waiting:
        here = waiting.pop()
        if isinstance(here, list):
            waiting += here
        elif isinstance(here, dict):
            for key, content in here.items():
                if key == name:
                    given = content if isinstance(content, list) else [content]
                    yield from (m for m in given if type(m) is int and 0 <= m < n)
                waiting.append(content)
