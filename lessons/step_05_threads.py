"""Step 5: all cores. Who takes which pixels decides how long the last core works."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from ladder import cores, median_seconds, report
from step_01_python import coordinates
from step_04_cost import HEIGHT, LIMIT, WIDTH, compiled, with_real_numbers

fill = compiled(with_real_numbers)  # nogil=True: threads run it at the same time


# [parts]
def parts(width, height, number):
    """Return one part of the columns for each thread."""
    edges = [width * k // number for k in range(number + 1)]
    return [(slice(0, height), slice(*pair)) for pair in pairwise(edges)]


def tiles(width, height, size=64):
    """Return squares that cover the picture; those at the right and lower edge are smaller."""
    return [
        (slice(y, min(y + size, height)), slice(x, min(x + size, width)))
        for y in range(0, height, size)
        for x in range(0, width, size)
    ]


# [end]
# [draw]
def draw(width, height, limit, areas=None, threads=None):
    """Return the counts; each thread takes the next area as soon as it is free."""
    xs, ys = (np.array(values) for values in coordinates(width, height))
    counts = np.empty((height, width), np.int32)

    def fill_area(area):
        rows, columns = area
        fill(xs[columns], ys[rows], counts[area], limit)  # counts[area] is a view, not a copy

    with ThreadPoolExecutor(threads or cores()) as pool:
        list(pool.map(fill_area, areas or tiles(width, height)))
    return counts


# [end]
if __name__ == "__main__":
    counts = draw(WIDTH, HEIGHT, LIMIT)
    ways = {
        "one thread": (None, 1),
        "a part for each thread": (parts(WIDTH, HEIGHT, cores()), None),
        "tiles": (None, None),
    }
    for name, (areas, threads) in ways.items():
        seconds = median_seconds(lambda a=areas, t=threads: draw(WIDTH, HEIGHT, LIMIT, a, t))
        print(f"{name:23} {1e3 * seconds:6.1f} ms")
    report(5, seconds, counts.sum(), picture=counts)
