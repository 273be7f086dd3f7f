"""Step 3: the loop of step 1, compiled by Numba. The first call compiles, the others run."""

import time

import numpy as np
from ladder import median_seconds, report
from numba import njit
from step_01_python import HEIGHT, LIMIT, WIDTH, coordinates
from step_01_python import escape as python_escape

# [compile]
escape = njit(python_escape)  # the same function; @njit above its definition does the same


@njit
def fill(xs, ys, counts, limit):
    """Compute the count of every pixel."""
    for j in range(len(ys)):
        for i in range(len(xs)):
            counts[j, i] = escape(complex(xs[i], ys[j]), limit)


# [end]
# [draw]
def draw(width, height, limit):
    """Return the counts of all pixels, as an array."""
    xs, ys = (np.array(values) for values in coordinates(width, height))
    counts = np.empty((height, width), np.int32)
    fill(xs, ys, counts, limit)
    return counts


# [end]
# [time]
def seconds_of_a_call():
    begin = time.perf_counter()
    draw(WIDTH, HEIGHT, LIMIT)
    return time.perf_counter() - begin


def main():
    print(f"first call   {seconds_of_a_call():.3f} s: compiles for these types, then runs")
    print(f"second call  {seconds_of_a_call():.3f} s: runs")
    print(f"compiled for {fill.signatures}")
    seconds = median_seconds(lambda: draw(WIDTH, HEIGHT, LIMIT))
    counts = draw(WIDTH, HEIGHT, LIMIT)
    report(3, seconds, counts.sum(), picture=counts)


# [end]
if __name__ == "__main__":
    main()
