"""Losses by name."""

from types import SimpleNamespace

import numpy as np
import pytest

from costboost.boosting.gradient.losses import (
    CLASSIFICATION_LOSSES,
    REGRESSION_LOSSES,
    HuberLoss,
    OwnLoss,
    SquaredLoss,
    needs_all_rows,
    read_loss,
)

PARAMS = {"delta": 2.0, "over": 1.0, "under": 3.0, "objective": "cgada"}


@pytest.mark.parametrize("known", [REGRESSION_LOSSES, CLASSIFICATION_LOSSES])
def test_every_loss_is_found_by_the_name_it_has(known):
    for name, kind in known.items():
        found = read_loss(known, SimpleNamespace(loss=name, **PARAMS), np.arange(3.0))
        assert type(found) is kind
        assert found.kind == name


def test_parameters_reach_the_loss():
    params = SimpleNamespace(loss="huber", **PARAMS)
    assert read_loss(REGRESSION_LOSSES, params, np.arange(3.0)) == HuberLoss(2.0)


def test_a_users_loss_is_taken_as_it_is():
    own = SquaredLoss()
    found = read_loss(REGRESSION_LOSSES, SimpleNamespace(loss=own), np.zeros(1))
    assert found == OwnLoss(own)


def test_names_of_the_other_kind_are_refused_with_those_that_are_known():
    with pytest.raises(ValueError, match=r"loss='log'.*squared.*huber"):
        read_loss(REGRESSION_LOSSES, SimpleNamespace(loss="log"), np.zeros(1))
    with pytest.raises(ValueError, match="methods value, gradient and hessian"):
        read_loss(REGRESSION_LOSSES, SimpleNamespace(loss=None), np.zeros(1))


def test_quantiles_and_users_losses_need_all_rows():
    needing = {name for name in REGRESSION_LOSSES if needs_all_rows(REGRESSION_LOSSES, name)}
    assert needing == {"absolute", "pinball", "cost"}
    assert not any(needs_all_rows(CLASSIFICATION_LOSSES, name) for name in CLASSIFICATION_LOSSES)
    assert needs_all_rows(REGRESSION_LOSSES, SquaredLoss())
    assert not needs_all_rows(REGRESSION_LOSSES, "no such loss")  # refused elsewhere, by its name
