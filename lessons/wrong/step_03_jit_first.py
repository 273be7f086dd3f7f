# The first call, which compiles, is one of the runs.

"""Exercise 3: time a compiled function wrongly on purpose, and then rightly."""

import statistics
import time


def time_it(function, runs):
    """Return the seconds of the first call, and the median seconds of `runs` further calls.

    The first call of a function of Numba compiles. Use time.perf_counter().
    """
    seconds = []
    for _ in range(runs):
        begin = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - begin)
    return seconds[0], statistics.median(seconds)
