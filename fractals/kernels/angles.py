"""Directions of angles in degrees, with the same bits on every system and in a browser.

The cosines and sines of C libraries, and those of browsers, differ from each other in last bits.
"""

import functools
from fractions import Fraction

BITS = 128  # behind the point
ONE = 1 << BITS
PI = 0x3243F6A8885A308D313198A2E03707344  # in units of 2^-128


@functools.lru_cache(maxsize=256)
def direction(degrees: float) -> tuple[float, float]:
    """Return the cosine and the sine of an angle in degrees, rounded once.

    >>> direction(90), direction(-150)[1]
    ((0.0, 1.0), -0.5)
    """
    quarters, rest = divmod(Fraction(degrees), 90)
    angle = int(rest * PI) // 180
    sums, term, k = [0, 0], ONE, 0  # of the terms of even and of odd power: cosine and sine
    while term:
        sums[k % 2] += -term if k % 4 > 1 else term
        k += 1
        term = term * angle // (k << BITS)
    cos, sin = sums
    for _ in range(quarters % 4):
        cos, sin = -sin, cos
    return cos / ONE, sin / ONE
