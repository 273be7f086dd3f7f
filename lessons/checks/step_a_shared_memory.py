"""Check of exercise A, in the simulator.

Races show only sometimes. Therefore half of the threads are slowed here: they sleep after each
`syncthreads`, so the others run ahead of them wherever a `syncthreads` is missing.
"""

import contextlib
import time

import numpy as np


@contextlib.contextmanager
def slow_threads():
    from numba.cuda.simulator.kernel import BlockThread as kind

    plain = kind.syncthreads

    def syncthreads(thread):
        plain(thread)
        if thread.thread_id % 2:
            time.sleep(0.002)

    kind.syncthreads = syncthreads
    try:
        yield
    finally:
        kind.syncthreads = plain


def check(answer):
    """Raise AssertionError with one clear line unless `answer` solves the exercise."""
    random = np.random.default_rng(1)
    for rows, inner, columns in ((8, 16, 8), (19, 13, 11)):
        a = random.random((rows, inner), np.float32)
        b = random.random((inner, columns), np.float32)
        with slow_threads():
            found = answer.run(a, b)
        wrong = ~np.isclose(found, a @ b, rtol=1e-4)
        assert not wrong.any(), (
            f"{rows}x{inner} times {inner}x{columns}: {wrong.sum()} of {wrong.size} elements are "
            "wrong; is every tile whole before it is read, and read before it is overwritten?"
        )
