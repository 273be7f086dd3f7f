"""Check of exercise 10, in the simulator."""

import gpu  # noqa: F401 - `from numba import cuda` is the simulator, too
import numpy as np


def check(answer):
    """Raise AssertionError with one clear line unless `answer` solves the exercise."""
    random = np.random.default_rng(10)
    for size in (128, 1, 1000, 1500):
        x, y = random.random((2, size), np.float32)
        try:
            found = answer.run(np.float32(1.5), x, y)
        except IndexError as error:
            raise AssertionError(f"{size} elements: {error}: a guard is missing") from None
        assert np.shape(found) == (size,), f"{size} elements: the result has shape {found.shape}"
        wrong = np.flatnonzero(~np.isclose(found, 1.5 * x + y))
        assert not wrong.size, (
            f"{size} elements: {wrong.size} are wrong, the first at index {wrong[0]}"
        )
