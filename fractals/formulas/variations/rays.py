"""rays: random rays."""

from fractals.kernels.elementary import PI, sincos
from fractals.kernels.plane import inverse, square_of, tangent_of
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    w = p[0]
    r = w * inverse(square_of(x, y)) * w * tangent_of(w * u[0] * number(PI, x))
    return r * sincos(x)[1], r * sincos(y)[0]


def make():
    """Return the variation."""
    return Variation("rays", "Random rays", apply, draws=1, weighted=True)
