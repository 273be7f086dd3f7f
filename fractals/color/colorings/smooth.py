"""Smooth count: n + 1 - log(log|z| / log R) / log degree, without the bands of counts.

After García, Fernández, Barrallo and Martín, *Coloring Dynamical Systems in the Complex Plane*
(1999).
"""

from fractals.kernels.coloring import Coloring
from fractals.kernels.elementary import make_log2
from fractals.kernels.primitives import fma


def make_value(target):
    real, log2 = target.real, make_log2(target)
    one = real(1)

    def value(n, x, y, p, q, constants):
        beyond = log2(log2(fma(x, x, y * y))) - constants[2]
        return fma(-beyond, constants[3], real(n) + one)

    return value


def constants(formula, escape_radius, width):
    return formula.fraction_constants(escape_radius)


def make():
    return Coloring(
        name="smooth",
        title="smooth escape count",
        make_value=make_value,
        counted=True,
        constants=constants,
        converging="speed",
    )
