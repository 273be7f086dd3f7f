"""Distance estimate to the set, 2|z| log|z| / |dz|, in thousandths of the picture's width.

The set is no nearer than a quarter of the estimate. After Milnor (1989) and Peitgen and Saupe,
*The Science of Fractal Images* (1988). The unit is the width of the picture and not a pixel, so
pictures of all sizes look alike.
"""

import math

from fractals.kernels.coloring import Coloring
from fractals.kernels.elementary import make_log2
from fractals.kernels.primitives import fma, select


def make_value(target):
    real, log2 = target.real, make_log2(target)
    zero, one = real(0), real(1)

    def value(n, x, y, p, q, constants):
        m = fma(x, x, y * y)
        p, q = abs(p), abs(q)
        large, small = select(p > q, p, q), select(p > q, q, p)
        known = large > zero
        large = select(known, large, one)
        ratio = small / large  # the square of `large` could overflow
        size = large * real(math.sqrt(fma(ratio, ratio, one)))
        return select(known, constants[2] * (real(math.sqrt(m)) * log2(m) / size), zero)

    return value


def constants(formula, escape_radius, width):
    return (1000 * math.log(2) / width,)


def make():
    return Coloring(
        name="distance",
        title="distance to the set, in thousandths of the picture's width",
        make_value=make_value,
        constants=constants,
        derivative=True,
        gradient="length",
    )
