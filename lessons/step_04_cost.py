"""Step 4: what abs, complex numbers and fastmath cost, and what the machine code says."""

import numpy as np
from ladder import median_seconds, report
from numba import njit
from step_01_python import coordinates
from step_01_python import escape as with_abs

WIDTH, HEIGHT, LIMIT = 768, 512, 1000  # long orbits: their steps take nearly all of the time


# [variants]
def with_squares(c, limit):
    z = 0j
    for n in range(limit):
        if z.real**2 + z.imag**2 > 4:  # |z|² > 4 needs no square root
            return n
        z = z**2 + c
    return limit


def with_real_numbers(c, limit):
    x = y = 0.0
    for n in range(limit):
        if x * x + y * y > 4:  # the compiler computes x * x and y * y once
            return n
        x, y = x * x - y * y + c.real, 2 * x * y + c.imag
    return limit


# [end]
# [compiled]
def compiled(escape, fastmath=False):
    escape = njit(escape, fastmath=fastmath)

    @njit(nogil=True, fastmath=fastmath)
    def fill(xs, ys, counts, limit):
        for j in range(len(ys)):
            for i in range(len(xs)):
                counts[j, i] = escape(complex(xs[i], ys[j]), limit)

    return fill


# [end]
def draw(width, height, limit, fill=None):
    xs, ys = (np.array(values) for values in coordinates(width, height))
    counts = np.empty((height, width), np.int32)
    (fill or compiled(with_real_numbers))(xs, ys, counts, limit)
    return counts


if __name__ == "__main__":
    for escape in (with_abs, with_squares, with_real_numbers):
        fill = compiled(escape)
        draw(8, 8, 8, fill)  # compiles
        seconds = median_seconds(lambda fill=fill: draw(WIDTH, HEIGHT, LIMIT, fill), runs=3)
        calls = "hypot" in next(iter(fill.inspect_asm().values()))  # the machine code, as text
        print(f"{escape.__name__:18} {1e3 * seconds:5.0f} ms", "calls hypot" if calls else "")
    counts = draw(WIDTH, HEIGHT, LIMIT, fill)
    report(4, seconds, counts.sum(), picture=counts)
