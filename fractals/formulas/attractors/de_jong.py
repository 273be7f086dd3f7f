"""De Jong: the sine of one coordinate less the cosine of the other (Peter de Jong)."""

from fractals.kernels.attractor import Attractor
from fractals.kernels.elementary import sincos


def step(x, y, p):
    """Return the next point."""
    a, b, c, d = p
    return sincos(a * y)[0] - sincos(b * x)[1], sincos(c * x)[0] - sincos(d * y)[1]


def make(a=1.4, b=-2.3, c=2.4, d=-2.1):
    """Return the attractor."""
    return Attractor(
        "de_jong",
        "De Jong: the sine of one coordinate less the cosine of the other",
        step,
        parameters={"a": a, "b": b, "c": c, "d": d},
        stride=3.5,
        width="5.6",
    )
