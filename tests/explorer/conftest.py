"""Fixtures: servers of the explorer. The tests are skipped where its extra is not installed."""

import pytest

for name in ("starlette", "uvicorn", "websockets"):
    pytest.importorskip(name, reason="the extra 'explore' is not installed")

from support.explorer import start  # noqa: E402 - it imports these


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    made, thread = start(tmp_path_factory.mktemp("explorer"))
    yield made
    made.running.close()
    thread.join(20)
    assert not thread.is_alive()


@pytest.fixture
def own_server(tmp_path):
    """Return a function that starts a server with other terms."""
    started = []

    def make(**terms):
        started.append(start(tmp_path, **terms))
        return started[-1][0]

    yield make
    for made, thread in started:
        made.running.close()
        thread.join(20)
