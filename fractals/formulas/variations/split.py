"""split: mirrored in stripes."""

from fractals.kernels.elementary import PI, sincos
from fractals.kernels.primitives import number, select
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    zero, pi = number(0, x), number(PI, x)
    across, down = sincos(y * p[1] * pi)[1], sincos(x * p[0] * pi)[1]
    return select(across >= zero, x, -x), select(down >= zero, y, -y)


def make():
    """Return the variation."""
    return Variation("split", "Mirrored in stripes", apply, {"xsize": 0, "ysize": 0})
