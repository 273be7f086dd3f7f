"""radial_blur: a random turn and zoom."""

from fractals.kernels.elementary import PI, angle, sincos
from fractals.kernels.plane import gaussian, radius
from fractals.kernels.primitives import fma, number
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    s, c = sincos(p[0] * number(PI / 2, x))
    t = p[1] * gaussian(u)
    r = radius(x, y)
    sine, cosine = sincos(fma(t, s, angle(x, y)))
    far = fma(t, c, number(-1, x))
    return fma(r, cosine, far * x), fma(r, sine, far * y)


def make():
    """Return the variation."""
    return Variation(
        "radial_blur", "A random turn and zoom", apply, {"angle": 0}, draws=4, weighted=True
    )
