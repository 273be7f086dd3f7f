"""waves2: waves."""

from fractals.kernels.elementary import sincos
from fractals.kernels.primitives import fma
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    return fma(p[1], sincos(y * p[0])[0], x), fma(p[3], sincos(x * p[2])[0], y)


def make():
    """Return the variation."""
    return Variation("waves2", "Waves", apply, {"freqx": 2, "scalex": 1, "freqy": 2, "scaley": 1})
