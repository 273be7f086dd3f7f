"""oscilloscope: mirrored within a wave."""

from fractals.kernels.elementary import PI, exp, sincos
from fractals.kernels.primitives import fma, number, select
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    wave = sincos(number(2 * PI, x) * p[1] * x)[1]
    t = fma(p[2] * exp(-(abs(x) * p[3])), wave, p[0])
    return x, select(abs(y) <= t, -y, y)


def make():
    """Return the variation."""
    return Variation(
        "oscilloscope",
        "Mirrored within a wave",
        apply,
        {"separation": 1, "frequency": 3.141592653589793, "amplitude": 1, "damping": 0},
    )
