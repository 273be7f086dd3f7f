"""gaussian_blur: a random point near 0."""

from fractals.kernels.elementary import PI, sincos
from fractals.kernels.plane import gaussian
from fractals.kernels.primitives import number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(number(2 * PI, x) * u[4])
    r = gaussian(u)
    return r * c, r * s


def make():
    """Return the variation."""
    return Variation("gaussian_blur", "A random point near 0", apply, draws=5, adds=True)
