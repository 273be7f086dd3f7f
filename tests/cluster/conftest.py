"""Fixtures: two workers on this machine. All tests of this folder start an engine."""

import os
from unittest import mock

import pytest
from support.scenes import scene
from support.workers import wait_for_workers

import fractals
from fractals.io import store
from fractals.io.store import MIN_SAMPLES, open_store

TILE = 2**10  # samples
STEPS = 20_000  # a tile of the picture takes some tens of milliseconds


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "cluster":
            item.add_marker(pytest.mark.cluster)
            item.add_marker(pytest.mark.filterwarnings("default"))  # those of the engine


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


@pytest.fixture(scope="session")
def drawn():
    """Return a scene that takes some seconds."""
    return scene(
        size=(640, 480),
        center=["-0.743643887037151", "0.131825904205330"],
        width="3e-6",
        max_iterations=STEPS,
    )


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Many tiles in a small picture."""
    monkeypatch.setattr(store, "MIN_SAMPLES", TILE)


@pytest.fixture(scope="session")
def whole(tmp_path_factory, drawn):
    """Return the store of the scene as one process computes it, of 160 tiles."""
    path = tmp_path_factory.mktemp("whole") / "whole.fz"
    with mock.patch.object(store, "MIN_SAMPLES", TILE):
        fractals.compute_to(path, drawn, device="cpu")
    assert open_store(path).tiles == 160
    return path


@pytest.fixture(scope="session")
def plain(tmp_path_factory, drawn):
    """Return the same store as a process of its own computes it, with the usual tiles."""
    path = tmp_path_factory.mktemp("plain") / "plain.fz"
    with mock.patch.object(store, "MIN_SAMPLES", MIN_SAMPLES):
        fractals.compute_to(path, drawn, device="cpu")
    return path
