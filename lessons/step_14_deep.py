"""Step 14: beyond the number. One orbit in 77 digits, and float64 for the differences from it."""

import gmpy2
import numpy as np
from ladder import median_seconds, report
from numba import njit
from step_01_python import coordinates

gmpy2.get_context().precision = 256  # bits: 77 digits
VIEW, LIMIT = 1e-60, 2000  # the view's width; float64 ends at 1e-13


# [deep]
def center():  # a point where three arms meet and z4 = -z3, by Newton's method
    c = gmpy2.mpc("-0.1011+0.9563j")
    for _ in range(10):  # each time twice as many digits are right
        z = dz = gmpy2.mpc(0)
        for _ in range(4):
            before, z, dz, d_before = z, z * z + c, 2 * z * dz + 1, dz
        c -= (z + before) / (dz + d_before)
    return c


def exact_orbit(c, limit):
    orbit, z = [], gmpy2.mpc(0)
    while len(orbit) < limit and gmpy2.norm(z) <= 4:
        orbit.append(complex(z))  # rounded to float64
        z = z * z + c
    return np.array(orbit)


@njit
def escape(reference, dc, limit):
    dz, m = 0j, 0
    for n in range(limit):
        z = reference[m] + dz
        if abs(z) > 2:
            return n
        if abs(z) < abs(dz) or m + 1 == len(reference):
            dz, m = z, 0  # rebasing: the reference begins again, at 0
        dz, m = (2 * reference[m] + dz) * dz + dc, m + 1  # nothing large cancels in here
    return limit


# [end]
def draw_deep(width, height, limit):
    (xs, ys), orbit = coordinates(width, height), exact_orbit(center(), limit)
    return np.array([[escape(orbit, complex(x, y) * VIEW / 3, limit) for x in xs] for y in ys])


if __name__ == "__main__":
    counts = draw_deep(384, 256, LIMIT)
    exact = median_seconds(lambda: exact_orbit(center() + VIEW, LIMIT))
    print(f"with 256 bits for each pixel: {exact * counts.size:.0f} s")
    seconds = median_seconds(lambda: draw_deep(384, 256, LIMIT), 3)
    report(14, seconds, counts.sum(), "perturbed it/s", picture=counts)
