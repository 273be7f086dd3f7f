"""bipolar: bipolar coordinates."""

from fractals.kernels.elementary import PI, angle, log, quotient
from fractals.kernels.plane import remainder, square_of
from fractals.kernels.primitives import fma, number, select
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    one, zero, quarter = number(1, x), number(0, x), number(PI / 2, x)
    t = square_of(x, y)
    a = fma(number(0.5, x), angle(t - one, y + y), -(quarter * p[0]))
    above = remainder(a + quarter, number(PI, x)) - quarter
    below = quarter - remainder(quarter - a, number(PI, x))
    a = select(a > quarter, above, select(a < -quarter, below, a))
    f, g = t + one + (x + x), t + one - (x + x)
    share = quotient(f, g)
    seen = (g != zero) & (share > zero)
    far = number(0.5 / PI, x) * log(select(seen, share, one))
    return select(seen, far, zero), select(seen, number(2 / PI, x) * a, zero)


def make():
    """Return the variation."""
    return Variation("bipolar", "Bipolar coordinates", apply, {"shift": 0})
