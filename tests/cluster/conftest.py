"""A cluster of two processes of this machine, which tests kill, stop and patch."""

import os

import pytest
from support.workers import patched, restored, wait_for_workers


@pytest.fixture(scope="session")
def engine():
    """Return a cluster of two processes that are started again when they end."""
    distributed = pytest.importorskip("distributed", reason="the extra `cluster` is missing")
    import dask

    dask.config.set({"distributed.scheduler.work-stealing": False})
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        memory_limit=0,
        dashboard_address=None,
        silence_logs=50,
    ) as found:
        yield found


@pytest.fixture
def client(engine):
    """Return a client of the two workers, both of which are there."""
    from distributed import Client

    with Client(engine, set_as_default=False) as found:
        wait_for_workers(engine, found, 2)
        yield found


@pytest.fixture
def pids(client):
    """Return a function that returns the process of each worker, by address."""
    return lambda: client.run(os.getpid)


@pytest.fixture
def patch(client):
    """Return a function that replaces a name in some workers, until the test ends."""
    yield lambda name, value, workers=None: client.run(patched, name, value, workers=workers)
    client.run(restored)
