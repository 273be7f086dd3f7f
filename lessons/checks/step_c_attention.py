"""Check of exercise C, in the simulator."""

import gpu  # noqa: F401 - `from numba import cuda` is the simulator, too
import numpy as np

from fractals.lessons.access import access_log


def check(answer):
    """Raise AssertionError with one clear line unless `answer` solves the exercise."""
    random = np.random.default_rng(3)
    for rows, columns, scale in ((32, 5, 1), (37, 23, 1), (3, 64, 1000)):
        x = scale * random.standard_normal((rows, columns))
        highest = x.max(axis=1)
        right = highest + np.log(np.exp(x - highest[:, None]).sum(axis=1))
        work = f"{rows} rows of {columns} numbers up to {x.max():.0f}"
        try:
            with access_log() as log:
                found = np.asarray(answer.run(x))
        except OverflowError:
            raise AssertionError(f"{work}: an exponential overflows") from None
        except IndexError as error:
            raise AssertionError(f"{work}: an index is outside the array: {error}") from None
        wrong = ~np.isclose(found, right, rtol=1e-9, atol=1e-9)
        assert not wrong.any(), f"{work}: {wrong.sum()} results are wrong"
        loads = log.elements(stored=False)
        assert loads <= x.size + rows, f"{work}: {loads} loads; one pass loads {x.size} numbers"
