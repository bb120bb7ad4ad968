"""How many tasks can run at once: counted, waited for, and never promised without."""

from types import SimpleNamespace

import pytest

pytest.importorskip("pyspark")

from costboost.spark import job as module
from costboost.spark.job import choose_n_workers, is_connect


class Session:
    """A session whose cluster has so many slots: one number, or what it grows to."""

    def __init__(self, *slots, master="local[9]", **conf):
        self.slots, self.counted = list(slots), 0
        get = {name.replace("_", "."): value for name, value in conf.items()}.get
        manager = SimpleNamespace(resourceProfileFromId=lambda number: "default")
        context = SimpleNamespace(
            resourceProfileManager=lambda: manager, maxNumConcurrentTasks=self._count
        )
        self.sparkContext = SimpleNamespace(
            getConf=lambda: SimpleNamespace(get=get),
            master=master,
            _jsc=SimpleNamespace(sc=lambda: context),
        )

    def _count(self, profile):
        self.counted += 1
        return self.slots.pop(0) if len(self.slots) > 1 else self.slots[0]


@pytest.fixture
def clock(monkeypatch):
    """Time that passes only while somebody sleeps."""
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(module.time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    return now


def test_all_slots_are_taken_unless_fewer_are_wanted(clock):
    assert choose_n_workers(Session(3), None) == 3
    assert choose_n_workers(Session(3), 2) == 2
    assert choose_n_workers(Session(3), 3) == 3
    assert clock[0] == 0  # a local master has them from the start


def test_more_than_there_are_is_refused(clock):
    with pytest.raises(ValueError, match=r"num_workers=4 tasks .* this cluster has 3 slots"):
        choose_n_workers(Session(3), 4)
    with pytest.raises(ValueError, match=r"num_workers=1 tasks .* has 0 slots"):
        choose_n_workers(Session(0), None)
    for wanted in (0, -1):
        with pytest.raises(ValueError, match=f"num_workers={wanted} must be at least 1"):
            choose_n_workers(Session(3), wanted)


def test_executors_may_take_seconds_to_come(clock):
    growing = Session(0, 0, 0, 2, 2, 2, 4, master="spark://host")
    assert choose_n_workers(growing, 4) == 4
    assert clock[0] < 1.0  # and nobody waits any longer than needed
    growing = Session(*[0] * 50, 2, 2, 2, 6, master="spark://host")
    assert choose_n_workers(growing, None) == 6  # none came for a second after that


def test_patience_has_an_end(clock):
    with pytest.raises(ValueError, match="has 2 slots"):
        choose_n_workers(Session(2, master="yarn"), 3)
    assert clock[0] == pytest.approx(30.0, abs=0.2)
    with pytest.raises(ValueError, match="has 0 slots"):
        choose_n_workers(Session(0, master="yarn"), None)


def test_dynamic_allocation_is_refused():
    session = Session(3, spark_dynamicAllocation_enabled="true")
    with pytest.raises(ValueError, match=r"Spark starts no barrier job then.*Set it to false"):
        choose_n_workers(session, 2)
    assert session.counted == 0


class Remote:
    """A session of Spark Connect, which does not tell its slots."""

    __module__ = "pyspark.sql.connect.session"


def test_clients_of_spark_connect_are_believed(monkeypatch):
    assert is_connect(Remote())
    assert not is_connect(Session(3))
    monkeypatch.setattr(module, "_default_parallelism", lambda session: 5)
    assert choose_n_workers(Remote(), None) == 5
    assert choose_n_workers(Remote(), 40) == 40


def test_a_real_session_has_the_slots_of_its_master(spark):
    assert choose_n_workers(spark, None) == 3
    assert module._default_parallelism(spark) == 3
