"""Workers that are lost, silent or slow; fits that are ended or begun again."""

import os
import signal
import threading
import time

import dask
import dask.dataframe as dd
import numpy as np
import pytest

from costboost import CostBoostClassifier
from costboost.clusters import driver
from costboost.clusters.protocol import (
    ClusterError,
    PartLostError,
    SourceChangedError,
    VersionsDifferError,
)
from costboost.dask import DaskCostBoostClassifier
from dask_fits import COSTS, PARAMS, collections, fingerprint, fit


def assert_freed(client):
    """No actor is left: Dask lets them go a moment later."""
    until = time.monotonic() + 5
    while any(client.run(_actors).values()):
        assert time.monotonic() < until
        time.sleep(0.05)


def _actors(dask_worker):
    return list(dask_worker.state.actors)


def test_a_worker_killed_in_the_middle_of_a_tree(people, victims, killing, expected):
    killed = killing(victims, ("divide_node", 8))
    assert fingerprint(fit(people, victims).to_local()) == expected
    assert len(killed) == 1


def test_two_fits_at_once_share_the_workers(people, client, expected):
    found = []

    def run():
        found.append(fingerprint(fit(people, client).to_local()))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected, expected]
    assert_freed(client)


def test_ctrl_c_frees_the_workers(people, client, monkeypatch):
    plain = driver.Driver._travel

    def travel(self, orders):
        if self.trips == 12:
            raise KeyboardInterrupt
        return plain(self, orders)

    monkeypatch.setattr(driver.Driver, "_travel", travel)
    model = DaskCostBoostClassifier(**PARAMS)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*collections(people), costs=COSTS, client=client)
    assert not hasattr(model, "classes_")
    assert_freed(client)


def test_workers_of_another_make_are_refused(people, client, monkeypatch):
    from costboost.clusters import protocol

    monkeypatch.setattr(protocol, "__version__", "0.0.0")
    with pytest.raises(VersionsDifferError, match=r"runs costboost .* \(here 0\.0\.0\)"):
        fit(people, client)
    assert_freed(client)


def test_by_way_of_the_scheduler(people, client, expected, monkeypatch):
    def unreachable(address):
        raise OSError(f"{address} cannot be reached from here")

    monkeypatch.setattr(client, "rpc", unreachable)
    assert fingerprint(fit(people, client).to_local()) == expected


@pytest.mark.scale
@pytest.mark.parametrize(
    "moments",
    [
        [("describe_part", 1)],
        [("glance_at_columns", 1)],
        [("encode_part", 1)],
        [("open_shard", 1)],
        [("begin_tree", 2)],
        [("vote", 2)],
        [("divide_node", 3), ("divide_node", 12)],
        [("assign_leaves", 1), ("assign_leaves", 2)],
    ],
    ids=str,
)
def test_a_worker_killed_anywhere(people, victims, killing, expected, moments):
    killed = killing(victims, *moments)
    assert fingerprint(fit(people, victims).to_local()) == expected
    assert len(killed) == len(moments)


@pytest.mark.scale
@pytest.mark.parametrize("seed", range(4))
def test_a_worker_killed_at_any_time(people, victims, expected, seed):
    """By a clock: in the middle of an answer, too."""
    delay = 0.2 + 0.25 * np.random.default_rng(seed).random()
    pids = victims.run(os.getpid)
    timer = threading.Timer(delay, os.kill, [sorted(pids.values())[seed % 3], signal.SIGKILL])
    timer.start()
    assert fingerprint(fit(people, victims).to_local()) == expected
    timer.join()


@pytest.mark.scale
def test_the_recipe_after_a_death(people, victims, killing):
    params = {"n_estimators": 6, "cv": 2, "random_state": 0}
    expected = fingerprint(CostBoostClassifier(**params).fit(*people, costs=COSTS))
    killed = killing(victims, ("divide_node", 10), ("assign_leaves", 5))
    assert fingerprint(fit(people, victims, params=params).to_local()) == expected
    assert len(killed) == 2


@pytest.mark.scale
def test_a_worker_that_is_silent_is_taken_for_lost(people, victims, killing, expected):
    stopped = killing(victims, ("divide_node", 5), sign=signal.SIGSTOP)
    try:
        assert fingerprint(fit(people, victims, deadline=8.0).to_local()) == expected
    finally:
        for pid in stopped_pids():
            os.kill(pid, signal.SIGCONT)
    assert len(stopped) == 1


def stopped_pids():
    """Return the children of this process that are stopped."""
    import psutil

    return [
        child.pid
        for child in psutil.Process().children(recursive=True)
        if child.status() == psutil.STATUS_STOPPED
    ]


@pytest.mark.scale
def test_the_last_worker_killed_is_an_error_within_the_deadline(people, monkeypatch):
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        plain, begun = driver.Driver.send, []

        def send(self, orders):
            if self.trips == 15 and not begun:
                pids = client.run(os.getpid)
                cluster.scale(0)  # nobody comes instead
                for pid in pids.values():
                    os.kill(pid, signal.SIGKILL)
                begun.append(time.monotonic())
            return plain(self, orders)

        monkeypatch.setattr(driver.Driver, "send", send)
        with pytest.raises(PartLostError, match="No worker is left for part 0, 1, 2, 3, 4 of 5"):
            fit(people, client, deadline=6.0)
        assert time.monotonic() - begun[0] < 6.5


@pytest.mark.scale
def test_a_source_that_changed_is_refused(people, victims, killing):
    """Whichever worker dies, it held parts whose rows come in another order the next time."""
    table, labels = people
    cuts = [slice(start, start + 100) for start in range(0, 700, 100)]
    shuffled = [dask.delayed(_shuffled, pure=False)(table.iloc[cut]) for cut in cuts]
    X = dd.from_delayed(shuffled, meta=table.iloc[:0])
    y = dd.from_delayed([dask.delayed(labels.iloc[cut]) for cut in cuts], meta=labels.iloc[:0])
    killing(victims, ("encode_part", 1))
    with pytest.raises(SourceChangedError, match=r"Part \d of the table reads differently"):
        DaskCostBoostClassifier(**PARAMS).fit(X, y, costs=COSTS, client=victims)


def _shuffled(table):
    return table.sample(frac=1.0)


@pytest.mark.scale
def test_many_parts(people, client, expected):
    assert fingerprint(fit(people, client, n_parts=64).to_local()) == expected


def test_a_scheduler_that_has_gone_ends_the_fit(people, monkeypatch):
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        plain = driver.Driver.send

        def send(self, orders):
            if self.trips == 15:
                client.sync(cluster.scheduler.close)
            return plain(self, orders)

        monkeypatch.setattr(driver.Driver, "send", send)
        with pytest.raises(ClusterError, match="The scheduler of the Dask cluster has gone"):
            fit(people, client)
