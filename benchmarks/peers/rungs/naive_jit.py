"""A bare `@jit`, as in Numba's own Mandelbrot example."""

from numba import jit

PACKAGE = "numba"


@jit
def escape(c, limit):
    """Return the steps until |z| > 2, or the limit."""
    z = 0j
    for n in range(1, limit):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag > 4:
            return n
    return limit


@jit
def fill(xs, ys, counts, limit):
    """Count at every sample."""
    for j in range(len(ys)):
        for i in range(len(xs)):
            counts[j, i] = escape(complex(xs[i], ys[j]), limit)
