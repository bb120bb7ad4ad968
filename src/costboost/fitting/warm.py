"""Warm starts: what the next fit continues from, and whether it is given the same data.

A round holds leaves that were cut on the codes of one table, weighted by one set of prices. On
other rows it means nothing, so a fit remembers digests of what it was given, and the next one
compares them: a pass over the codes, far less than a round costs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import hash as hash_object

from costboost.costs import Costs

# What a round depends on beside the rows. Other parameters may change from fit to fit.
FIXED = (
    "method",
    "loss",
    "p",
    "votes",
    "cost_scale",
    "beta",
    "objective",
    "init",
    "over",
    "under",
    "delta",
    "max_bins",
    "categorical_features",
    "target_encoding",
    "interaction_cst",
)


@dataclass(frozen=True)
class WarmState:
    """State of a finished fit, from which a warm start continues.

    Attributes
    ----------
    rounds : list
    model : the ensemble of these rounds
    seed : int
    params : dict
        What was chosen and must not change.
    digests : dict
        One for each thing that fit was given.
    """

    rounds: list[Any]
    model: Any
    seed: int
    params: dict[str, Any]
    digests: dict[str, str]


Given = Callable[[], dict[str, Any]]


def continued(estimator: Any, trainer: Any, given: Given) -> WarmState | None:
    """Return the state of the last fit, if there is one; check that it may be continued.

    `given` returns the arguments of this fit beside the table, under the names users know.
    """
    earlier: WarmState | None = getattr(estimator, "_progress", None)
    if earlier is None:
        return None
    _check_params(earlier, _fixed_params(estimator, trainer))
    now = _digests(trainer, given)
    changed = [name for name, digest in now.items() if earlier.digests.get(name) != digest]
    if changed:
        raise ValueError(
            f"warm_start=True continues the {len(earlier.rounds)} rounds of the last fit, but "
            f"{' and '.join(changed)} {'is' if len(changed) == 1 else 'are'} not what it was given "
            "then, so these rounds do not fit. Give the same data, or set warm_start=False to "
            "start anew."
        )
    n_rounds = trainer.plan.setting.n_rounds
    if len(earlier.rounds) > n_rounds:
        raise ValueError(
            f"n_estimators={n_rounds} is less than the {len(earlier.rounds)} rounds that were "
            "taken already: warm_start=True only adds rounds. Give more, or warm_start=False."
        )
    return earlier


def remember(estimator: Any, trainer: Any, model: Any, given: Given) -> None:
    """Keep the state that the next fit may continue from."""
    estimator._progress = WarmState(
        trainer.histories[-1].rounds,
        model,
        trainer.plan.seed,
        _fixed_params(estimator, trainer),
        _digests(trainer, given),
    )


def _fixed_params(estimator: Any, trainer: Any) -> dict[str, Any]:
    params = estimator.get_params(deep=False)
    fixed = {name: params[name] for name in FIXED if name in params}
    fixed["estimator"] = params["estimator"] is not None
    # As margins see it: the positive class of other prices may turn it round.
    fixed["monotonic_cst"] = trainer.plan.monotone
    fixed["share of rows held out"] = trainer.share_held_out
    return fixed


def _check_params(earlier: WarmState, now: dict[str, Any]) -> None:
    changed = [name for name, value in now.items() if not _same(earlier.params[name], value)]
    if changed:
        raise ValueError(
            f"warm_start=True continues the {len(earlier.rounds)} rounds of the last fit, which "
            f"were made with another {' and '.join(changed)}. Set back what was changed, or "
            "warm_start=False to start anew."
        )


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if isinstance(one, str | int | float) and isinstance(other, str | int | float):
        return one == other
    if callable(one) or callable(other):
        return False
    return bool(hash_object(one) == hash_object(other))


def _digests(trainer: Any, given: Given) -> dict[str, str]:
    weights = trainer.weights
    weights = np.ones(trainer.n_rows) if weights is None else weights
    parts = {"X": _table(trainer), "y": trainer.y, "sample_weight": weights, **given()}
    return {name: _digest(part) for name, part in parts.items()}


def _table(trainer: Any) -> Any:
    """Return the parts of a table that rounds depend on: its binner and its codes."""
    if trainer.binner is None:
        return trainer.X
    return trainer.binner, trainer.table.codes_of(slice(None))


def _digest(part: Any) -> str:
    """Return a digest of an array by its numbers, of anything else by its pickle."""
    if isinstance(part, Costs):  # without the classes, which have their own digest
        state = part._state
        part = (state.form, state.columns, state.actions)
    if isinstance(part, np.ndarray) and part.dtype != object:
        data = np.ascontiguousarray(part)
        return hashlib.blake2b(data.view(np.uint8).data, digest_size=16).hexdigest()
    return str(hash_object(part))
