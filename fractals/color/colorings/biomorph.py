"""Biomorph: the smaller of |Re z| and |Im z| at escape, over the escape radius, at most 1.

Values below 1 are the body of a creature, where only one part of z is large. An escape radius of
about 10 suits it. After Clifford Pickover, *Biomorphs* (1986).
"""

from fractals.kernels.coloring import Coloring
from fractals.kernels.primitives import select


def make_value(target):
    one = target.real(1)

    def value(n, x, y, p, q, constants):
        s, t = abs(x), abs(y)
        near = select(s < t, s, t) * constants[2]
        return select(near < one, near, one)

    return value


def make():
    return Coloring(
        name="biomorph",
        title="where the escaped point is near an axis: the bodies of creatures",
        make_value=make_value,
        constants=lambda formula, escape_radius, width: (1 / escape_radius,),
        transfer="linear",
        palette="ink",
        blend="multiply",
    )
