"""Whole arrays in NumPy: a step for all samples that have not escaped, which are compacted."""

import numpy as np

PACKAGE = "numpy"
BANDS = True  # a picture of 150 million samples does not fit in memory as arrays of complex numbers


def fill(xs, ys, counts, limit):
    """Count at every sample."""
    c = (xs + 1j * ys[:, None]).ravel()
    z, where = np.zeros_like(c), np.arange(len(c))
    flat = counts.reshape(-1)
    flat[:] = limit
    for n in range(1, limit):
        z = z * z + c
        escaped = z.real**2 + z.imag**2 > 4
        flat[where[escaped]] = n
        z, c, where = z[~escaped], c[~escaped], where[~escaped]
        if not len(z):
            break
