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
