import os
import signal
import threading

import numpy as np
import pytest

try:
    import distributed
except ImportError:  # without the extra dask there is nothing to test here
    collect_ignore_glob = ["test_*.py"]


def make_cluster(n_workers):
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        dashboard_address=":0",  # any port that is free
        silence_logs=50,
    )


@pytest.fixture(scope="session")
def client():
    """Two processes that stay for all tests."""
    with make_cluster(2) as cluster, distributed.Client(cluster) as made:
        yield made


@pytest.fixture
def victims():
    """Three processes of a test's own, which it may kill."""
    with make_cluster(3) as cluster, distributed.Client(cluster) as made:
        yield made


@pytest.fixture
def killing(monkeypatch):
    """Kill workers before certain sends of the driver: `killing(client, (name, nth), ...)`.

    A name is that of a message ("divide_node"); the worker that dies is the next of those alive.
    """
    from costboost.clusters import driver

    def plan(client, *moments, sign=signal.SIGKILL):
        seen, killed, plain = {}, [], driver.Driver.send

        def send(self, orders):
            for name in names_of(orders):
                seen[name] = seen.get(name, 0) + 1
                if (name, seen[name]) in moments:
                    killed.append(kill_one(client, sign))
            return plain(self, orders)

        monkeypatch.setattr(driver.Driver, "send", send)
        return killed

    return plan


def names_of(orders):
    for order in orders:
        call = order[0] if isinstance(order, list) else order
        yield call.message.__name__
        yield from (inner.message.__name__ for inner in call.arguments.get("calls", ()))


def kill_one(client, sign=signal.SIGKILL):
    pids = client.run(os.getpid, on_error="ignore")  # one may be dying
    address = sorted(pids)[0]
    os.kill(pids[address], sign)
    return address


@pytest.fixture
def interrupting():
    """Raise KeyboardInterrupt in this thread after some seconds."""
    timers = []

    def later(seconds):
        timers.append(threading.Timer(seconds, signal.raise_signal, [signal.SIGINT]))
        timers[-1].start()

    yield later
    for timer in timers:
        timer.cancel()


@pytest.fixture(scope="session")
def people():
    """A table with missing values, categories and prices, and labels."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(7)
    n = 700
    table = pd.DataFrame(rng.normal(size=(n, 4)).round(2), columns=list("abcd"))
    table.loc[rng.random(n) < 0.2, "b"] = np.nan
    table["kind"] = pd.Categorical(rng.choice(["u", "v", "w", None], n))
    table["amount"] = rng.exponential(100.0, n).round(1)
    score = table.a + table.b.fillna(1.0) * (table.kind == "u") + rng.normal(size=n)
    return table, pd.Series((score > 0.3).astype(np.int64), name="label")


@pytest.fixture(scope="session")
def expected(people):
    """What is learnt from the same people in memory, by the fit of `dask_fits`."""
    from costboost import CostBoostClassifier
    from dask_fits import COSTS, PARAMS, fingerprint

    return fingerprint(CostBoostClassifier(**PARAMS).fit(*people, costs=COSTS))
