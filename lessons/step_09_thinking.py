"""Step 9: thinking. Most steps are spent inside the set, where the answer is known before."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from ladder import cores, median_seconds, report
from numba import njit
from step_01_python import coordinates
from step_04_cost import HEIGHT, LIMIT, WIDTH
from step_05_threads import tiles
from step_08_packs import iterate


# [inside]
@njit(nogil=True)
def inside(x, y):
    """Return whether x + iy lies in the largest cardioid, or in the disc to the left of it."""
    q = (x - 0.25) ** 2 + y * y
    return q * (q + x - 0.25) <= 0.25 * y * y or (x + 1) ** 2 + y * y <= 0.0625


# [end]
# [choose]
@njit(nogil=True)
def fill(xs, ys, counts, limit):
    """Iterate only the samples that are not known to be inside."""
    cx, cy = np.empty(len(xs) * len(ys)), np.empty(len(xs) * len(ys))
    where = np.empty(len(cx), np.int64)
    size = 0
    for j in range(len(ys)):
        for i in range(len(xs)):
            counts[j * len(xs) + i] = limit
            if not inside(xs[i], ys[j]):
                cx[size], cy[size], where[size] = xs[i], ys[j], j * len(xs) + i
                size += 1
    found = np.empty(size, np.int32)
    iterate(cx[:size], cy[:size], found, limit)
    counts[where[:size]] = found


# [end]
def draw(width, height, limit):
    xs, ys = (np.array(values) for values in coordinates(width, height))
    counts = np.empty((height, width), np.int32)

    def fill_tile(tile):
        rows, columns = tile
        part = np.empty(counts[tile].size, np.int32)
        fill(xs[columns], ys[rows], part, limit)
        counts[tile] = part.reshape(counts[tile].shape)

    with ThreadPoolExecutor(cores()) as pool:
        list(pool.map(fill_tile, tiles(width, height)))
    return counts


if __name__ == "__main__":
    counts = draw(WIDTH, HEIGHT, LIMIT)  # compiles
    seconds = median_seconds(lambda: draw(WIDTH, HEIGHT, LIMIT))
    report(9, seconds, counts.sum(), picture=counts)
