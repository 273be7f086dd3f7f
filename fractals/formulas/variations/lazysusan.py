"""lazysusan: a turned disc."""

from fractals.kernels.elementary import angle, sincos
from fractals.kernels.plane import inverse, radius
from fractals.kernels.primitives import fma, number, select
from fractals.kernels.scatter import Variation


def apply(x, y, u, p):
    """Return the point that (x, y) is moved to."""
    w = p[5]
    px, py = x - p[3], y + p[4]
    r = radius(px, py)
    s, c = sincos(angle(px, py) + fma(p[2], w - r, p[0]))
    far = w * fma(p[1], inverse(r), number(1, x))
    inside, near = r < w, w * r
    return (
        select(inside, fma(near, c, p[3]), fma(far, px, p[3])),
        select(inside, fma(near, s, -p[4]), fma(far, py, -p[4])),
    )


def make():
    """Return the variation."""
    return Variation(
        "lazysusan",
        "A turned disc",
        apply,
        {"spin": 0, "space": 0, "twist": 0, "x": 0, "y": 0},
        weighted=True,
    )
