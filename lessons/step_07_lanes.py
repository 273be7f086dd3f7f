"""Step 7: lanes. One instruction computes 8 samples; blocks of steps without a test."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from ladder import cores, median_seconds, report
from numba import njit
from step_01_python import coordinates
from step_04_cost import HEIGHT, LIMIT, WIDTH

LANES, BLOCK = 32, 8  # samples that advance together; steps without a test


# [lanes]
@njit(nogil=True)
def replay(x, y, cx, cy, n, limit):
    while n < limit and x * x + y * y <= 4:
        x, y = x * x - y * y + cx, 2 * x * y + cy
        n += 1
    return n


@njit(nogil=True)
def fill_row(xs, cy, counts, limit):
    new_x, new_y = np.empty(LANES), np.empty(LANES)
    for start in range(0, len(xs), LANES):
        cx = np.full(LANES, 3.0)  # the last group may be shorter: lanes outside escape at once
        part = xs[start : start + LANES]
        cx[: len(part)] = part
        x, y, found, left = np.zeros(LANES), np.zeros(LANES), np.full(LANES, limit), LANES
        active = np.ones(LANES, np.bool_)
        for n in range(0, limit, BLOCK):
            for k in range(LANES):  # no branch inside: LLVM makes vector instructions of this
                a, b = x[k], y[k]
                for _ in range(BLOCK):
                    a, b = a * a - b * b + cx[k], 2 * a * b + cy
                new_x[k], new_y[k] = a, b
            for k in range(LANES):
                # An orbit beyond 2 never returns; an overflow gives inf or nan, which is not <= 4.
                if active[k] and not new_x[k] ** 2 + new_y[k] ** 2 <= 4:
                    found[k] = replay(x[k], y[k], cx[k], cy, n, limit)  # from the block's start
                    active[k], left = False, left - 1
            if left == 0:
                break
            x, y, new_x, new_y = new_x, new_y, x, y
        counts[start : start + LANES] = found[: len(part)]


# [end]
def draw(width, height, limit):
    xs, ys = (np.array(values) for values in coordinates(width, height))
    counts = np.empty((height, width), np.int32)
    with ThreadPoolExecutor(cores()) as pool:
        list(pool.map(lambda j: fill_row(xs, ys[j], counts[j], limit), range(height)))
    return counts


if __name__ == "__main__":
    counts = draw(WIDTH, HEIGHT, LIMIT)  # compiles
    seconds = median_seconds(lambda: draw(WIDTH, HEIGHT, LIMIT))
    report(7, seconds, counts.sum(), picture=counts)
