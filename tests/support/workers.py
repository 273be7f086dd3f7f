"""Workers of a cluster on this machine."""

import time


def wait_for_workers(engine, client, count):
    """Wait until there are enough workers.

    A worker that is killed while it starts is given up by the process that watches it, and started
    again when the engine is asked for as many.
    """
    until = time.monotonic() + 120
    while len(client.nthreads()) < count:
        assert time.monotonic() < until, "the engine starts no worker"
        engine.scale(count)
        time.sleep(0.5)


def after(share, act):
    """Return a progress function that calls `act` once a share of the parts is done."""
    acted = []

    def progress(done, total):
        if not acted and done >= share * total:
            acted.append(True)
            act()

    return progress


def patched(name, value):
    """Replace a name of `fractals.rendering.cluster.worker` in a worker process."""
    from fractals.rendering.cluster import worker

    worker.before = getattr(worker, "before", {})
    worker.before.setdefault(name, getattr(worker, name))
    setattr(worker, name, value)
    worker._sessions.clear()


def restored():
    from fractals.rendering.cluster import worker

    for name, value in getattr(worker, "before", {}).items():
        setattr(worker, name, value)
    worker._sessions.clear()
