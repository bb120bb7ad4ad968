"""What a file may hold, by name; losses by the name that they are registered under."""

from dataclasses import dataclass

import pytest

from costboost.boosting.gradient.losses import (
    CLASSIFICATION_LOSSES,
    REGRESSION_LOSSES,
    HuberLoss,
    LogLoss,
)
from costboost.costs import Costs
from costboost.persistence import ModelFileError
from costboost.persistence.kinds import KINDS
from costboost.persistence.packing import kind_named, kind_of


@dataclass(frozen=True)
class SteepLoss(HuberLoss):
    """Huber's, under another name."""

    steepness: float = 1.0


def test_every_loss_has_a_name_of_its_family_and_is_made_by_it():
    families = {"classification loss": CLASSIFICATION_LOSSES, "regression loss": REGRESSION_LOSSES}
    names = set()
    for family, known in families.items():
        for own, loss in known.items():
            name = kind_of(loss)[0]
            assert name == f"{family} {own}"
            assert kind_named(name).type is loss
            names.add(name)
    assert len(names) == len(CLASSIFICATION_LOSSES) + len(REGRESSION_LOSSES)
    assert not names & set(KINDS)


def test_a_loss_of_one_s_own_is_kept_while_it_is_registered(monkeypatch):
    assert kind_of(SteepLoss) == ("SteepLoss", None)
    monkeypatch.setitem(REGRESSION_LOSSES, "steep", SteepLoss)
    name, kind = kind_of(SteepLoss)
    assert name == "regression loss steep"
    loss = SteepLoss(0.5, steepness=3.0)
    assert kind_named(name).make(kind.fields_of(loss)) == loss
    with pytest.raises(ValueError, match="steepness of a SteepLoss is not finite"):
        kind.make({**kind.fields_of(loss), "steepness": float("nan")})
    monkeypatch.delitem(REGRESSION_LOSSES, "steep")
    with pytest.raises(ModelFileError, match=r"regression loss 'steep'.*register it first"):
        kind_named(name)


def test_a_loss_is_made_by_whatever_has_its_name_now(monkeypatch):
    monkeypatch.setitem(REGRESSION_LOSSES, "huber", SteepLoss)
    assert kind_named("regression loss huber").type is SteepLoss
    assert kind_of(HuberLoss) == ("HuberLoss", None)


def test_a_loss_of_the_other_family_is_another():
    assert kind_of(LogLoss)[0] == "classification loss log"
    with pytest.raises(ModelFileError, match="'log'"):
        kind_named("regression loss log")


def test_a_namesake_of_a_kind_is_none():
    assert kind_of(Costs) == ("Costs", KINDS["Costs"])
    assert kind_of(type("Costs", (), {})) == ("Costs", None)
    with pytest.raises(ModelFileError, match="holds a 'Cost', which this version does not know"):
        kind_named("Cost")
