"""Period of the cycle that attracts the orbit, each number with its own color.

A sample whose period is not certain has no value, and gets the inside color: see `multiplier`. A
higher iteration limit leaves fewer such samples.
"""

import math

from fractals.color.colorings.atom_domains import GOLDEN
from fractals.color.colorings.multiplier import CYCLE, PERIOD, TOLERANCE
from fractals.kernels.coloring import Coloring
from fractals.kernels.primitives import select


def make_value(target):
    real = target.real
    zero, nan, golden = real(0), real(math.nan), real(GOLDEN)

    def value(n, x, y, p, q, w, constants):
        return select(w[PERIOD] > zero, w[PERIOD] * golden, nan)

    return value


def make():
    return Coloring(
        name="period",
        title="inside: the period of the attracting cycle, where it is certain",
        make_value=make_value,
        ends="any",
        memoryless=True,
        transfer="linear",
        side="inside",
        options={"tolerance": TOLERANCE},
        statistic=CYCLE,
    )
