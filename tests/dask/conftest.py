import pytest


@pytest.fixture(scope="session")
def cluster():
    """Two processes that stay for all tests."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
    ) as made:
        yield made


@pytest.fixture(scope="session")
def client(cluster):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(cluster) as made:
        yield made
