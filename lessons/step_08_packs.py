"""Step 8: the wavefront. Escaped samples leave the lanes, and the others close the gaps."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from ladder import cores, median_seconds, report
from numba import njit
from step_01_python import coordinates
from step_04_cost import HEIGHT, LIMIT, WIDTH
from step_05_threads import tiles
from step_07_lanes import replay

BLOCK = 16  # steps between two tests; a sample's numbers stay in registers for so long


# [wavefront]
@njit(nogil=True)
def iterate(cx, cy, counts, limit):
    """Compute the counts of samples; `cx` and `cy` are overwritten."""
    size = len(cx)
    x, y, new_x, new_y = np.zeros(size), np.zeros(size), np.empty(size), np.empty(size)
    place = np.arange(size)  # the sample that each lane holds
    for n in range(0, limit, BLOCK):
        for k in range(size):  # vector instructions, and several vectors in flight
            a, b = x[k], y[k]
            for _ in range(BLOCK):
                a, b = a * a - b * b + cx[k], 2 * a * b + cy[k]
            new_x[k], new_y[k] = a, b
        kept = 0
        for k in range(size):
            if new_x[k] ** 2 + new_y[k] ** 2 <= 4:  # stays: moves to the front, without gaps
                x[kept], y[kept], place[kept] = new_x[k], new_y[k], place[k]
                cx[kept], cy[kept] = cx[k], cy[k]
                kept += 1
            else:
                counts[place[k]] = replay(x[k], y[k], cx[k], cy[k], n, limit)
        size = kept
    counts[place[:size]] = limit


# [end]
def draw(width, height, limit, side=64):
    xs, ys = (np.array(values) for values in coordinates(width, height))
    counts = np.empty((height, width), np.int32)

    def fill(tile):
        rows, columns = tile
        cx, cy = np.meshgrid(xs[columns], ys[rows])
        found = np.empty(cx.size, np.int32)
        iterate(cx.ravel(), cy.ravel(), found, limit)
        counts[tile] = found.reshape(cx.shape)

    with ThreadPoolExecutor(cores()) as pool:
        list(pool.map(fill, tiles(width, height, side)))
    return counts


if __name__ == "__main__":
    counts = draw(WIDTH, HEIGHT, LIMIT)  # compiles
    seconds = median_seconds(lambda: draw(WIDTH, HEIGHT, LIMIT))
    report(8, seconds, counts.sum(), picture=counts)
