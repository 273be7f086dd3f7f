"""disc2: a spiral of stripes on a disc."""

from fractals.kernels.elementary import PI, angle, sincos
from fractals.kernels.primitives import fma, number, select
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    one, turn = number(1, x), number(2 * PI, x)
    s, c = sincos(p[1])
    # A twist of more than a turn moves the middle further and further away.
    far = one + select(p[1] > turn, p[1] - turn, select(p[1] < -turn, p[1] + turn, number(0, x)))
    sine, cosine = sincos(p[0] * number(PI, x) * (x + y))
    r = angle(y, x) * number(1 / PI, x)
    return r * fma(c - one, far, sine), r * fma(s, far, cosine)


def make():
    """Return the variation."""
    return Variation("disc2", "A spiral of stripes on a disc", apply, {"rot": 0, "twist": 0})
