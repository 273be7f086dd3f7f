"""The oracle of cycles: the attracting cycle of z² + c, by Newton's method in 40 digits.

Nothing of `fractals` is imported here. z² + c has at most one attracting cycle, so a point of
period p with a multiplier below 1 proves the period, if p is the smallest such number.
"""

import mpmath
from mpmath import mpc, mpf

STEPS = 300_000  # before cycles are looked for
MAX_PERIOD = 2100
NEAR = 0.01  # distance of a return that may be that of a cycle


def attracting_period(c):
    """Return the period of the cycle that attracts the orbit of 0, None where none is found."""
    z = 0j
    for _ in range(STEPS):
        z = z * z + c
        if abs(z) > 4:
            return None
    point, best = z, NEAR
    for period in range(1, MAX_PERIOD + 1):
        z = z * z + c
        if abs(z - point) <= best:
            best = abs(z - point)
            multiplier = multiplier_near(c, point, period)
            if multiplier is not None and multiplier < 1:
                return period
    return None


def multiplier_near(c, point, period):
    """Return |multiplier| of the point of this period to which Newton's method comes."""
    with mpmath.workdps(40):
        c, z = mpc(c), mpc(point)
        for _ in range(60):
            w, d = z, mpc(1)
            for _ in range(period):
                d, w = 2 * w * d, w * w + c
                if abs(w) > 100:
                    return None
            if d == 1:
                return None
            move = (w - z) / (d - 1)
            z -= move
            if abs(move) < mpf(10) ** -33:
                return float(abs(d))
    return None
