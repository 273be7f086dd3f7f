"""Biomorph: where the escaped point is still near an axis, as if it had not left.

The smaller of |Re z| and |Im z| over the escape radius, at most 1: below 1 is the creature's body.
It wants an escape radius of about 10. After Clifford Pickover, *Biomorphs* (1986).
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
