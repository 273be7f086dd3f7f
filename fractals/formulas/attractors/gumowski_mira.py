"""Gumowski-Mira: wings of a particle in an accelerator (Igor Gumowski and Christian Mira)."""

from fractals.kernels.attractor import Attractor
from fractals.kernels.elementary import quotient
from fractals.kernels.primitives import fma, number


def step(x, y, p):
    """Return the next point: u = y + a y (1 - b y²) + f(x) and f(u) - x.

    f(x) = m x + 2 (1 - m) x² / (1 + x²).
    """
    a, b, m = p
    one = number(1, x)
    rest, s = one - m, x * x
    bent = fma(m, x, quotient(rest * (s + s), one + s))
    u = fma(a * y, fma(-b * y, y, one), y + bent)
    s = u * u
    return u, fma(m, u, quotient(rest * (s + s), one + s)) - x


def make(a=0.008, b=0.05, m=-0.496):
    """Return the attractor."""
    return Attractor(
        "gumowski_mira",
        "Gumowski-Mira: wings of a particle in an accelerator",
        step,
        parameters={"a": a, "b": b, "m": m},
        stride=12.0,
        spread=1.0,
        width="46",
    )
