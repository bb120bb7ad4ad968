"""A fit on a cluster: who is reached, what its checkpoint is about, and that it goes on from it."""

from types import SimpleNamespace

import pytest

from costboost import CostBoostClassifier, Costs
from costboost.clusters import driver
from costboost.clusters.protocol import CheckpointError
from costboost.dask import DaskCostBoostClassifier
from costboost.dask import estimators as module
from costboost.dask.estimators import _about, _reached
from dask_fits import PARAMS, fingerprint, fit


def test_a_driver_that_was_lost_goes_on(people, client, expected, tmp_path, monkeypatch):
    path, trips, limit = tmp_path / "fit.checkpoint", [], [10**9]
    plain = driver.Driver._travel

    def travel(self, orders):
        if self.trips == limit[0]:
            raise MemoryError
        trips.append(self.trips)
        return plain(self, orders)

    monkeypatch.setattr(driver.Driver, "_travel", travel)
    fit(people, client)
    whole, limit[0] = len(trips), 30
    with pytest.raises(MemoryError):
        fit(people, client, checkpoint=path)
    limit[0] = 10**9
    trips.clear()
    assert fingerprint(fit(people, client, checkpoint=path).to_local()) == expected
    assert len(trips) == whole - 30 + 1  # of those kept, the one that read the rows is made again


def test_a_checkpoint_is_of_one_fit(people, client, tmp_path):
    path, few = tmp_path / "fit.checkpoint", {**PARAMS, "n_estimators": 1}
    first = fit(people, client, params=few, checkpoint=path)
    again = fit(people, client, params=few, checkpoint=path)  # of answers that are all kept
    assert fingerprint(again) == fingerprint(first)
    with pytest.raises(CheckpointError, match="written by another fit"):
        fit(people, client, params={**few, "max_depth": 2}, checkpoint=path)
    with pytest.raises(CheckpointError, match="parts 5"):
        fit(people, client, n_parts=4, params=few, checkpoint=path)


def test_what_a_fit_was_told_is_what_its_checkpoint_is_about():
    told = _about(DaskCostBoostClassifier("csb2"), {"costs": Costs(fp=1, fn=2), "groups": None})
    same = {"groups": None, "costs": Costs(fp=1, fn=2)}
    assert _about(DaskCostBoostClassifier("csb2"), same) == told
    others = [
        _about(DaskCostBoostClassifier("csb1"), same),
        _about(DaskCostBoostClassifier("csb2", n_estimators=7), same),
        _about(DaskCostBoostClassifier("csb2"), {**same, "costs": Costs(fp=1, fn=3)}),
        _about(DaskCostBoostClassifier("csb2"), {**same, "costs": Costs(fp=1, fn="amount")}),
        _about(CostBoostClassifier("csb2"), same),
    ]
    assert len({told, *others}) == 6


def test_without_a_client_it_is_said_how_to_get_one(monkeypatch):
    def missing():
        raise ValueError("No clients found")

    monkeypatch.setattr(module, "default_client", missing)
    with pytest.raises(ValueError, match=r"There is no Dask client: start one.*client="):
        _reached(None)


def test_the_client_that_is_given_is_the_one_that_is_asked(monkeypatch):
    given, there = SimpleNamespace(asynchronous=False), SimpleNamespace(asynchronous=False)
    monkeypatch.setattr(module, "default_client", lambda: there)
    assert _reached(given) is given
    assert _reached(None) is there
    with pytest.raises(ValueError, match="The client is asynchronous"):
        _reached(SimpleNamespace(asynchronous=True))
