"""Check of exercise A, in the simulator, in which each thread runs ahead of the others."""

import gpu  # noqa: F401 - `from numba import cuda` is the simulator, too
import numpy as np


def check(answer):
    """Raise AssertionError with one clear line unless `answer` solves the exercise."""
    random = np.random.default_rng(1)
    for rows, inner, columns in ((8, 16, 8), (19, 13, 11)):
        a = random.random((rows, inner), np.float32)
        b = random.random((inner, columns), np.float32)
        found = answer.run(a, b)
        wrong = ~np.isclose(found, a @ b, rtol=1e-4)
        assert not wrong.any(), (
            f"{rows}x{inner} times {inner}x{columns}: {wrong.sum()} of {wrong.size} elements are "
            "wrong; is every tile whole before it is read, and read before it is overwritten?"
        )
