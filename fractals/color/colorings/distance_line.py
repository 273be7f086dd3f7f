"""Distance line: the set's boundary as a line, equally wide at every zoom.

The value goes from 0 at the boundary to 1 at the line's weight, by the distance estimate of
`distance.py`.
"""

from fractals.color.colorings import distance
from fractals.kernels.coloring import Coloring, Option
from fractals.kernels.primitives import fma, select


def make_value(target):
    estimate = target.jit(distance.make_value(target))
    zero, one, two, three = (target.real(k) for k in range(4))

    def value(n, x, y, p, q, constants):
        t = estimate(n, x, y, p, q, constants) * constants[3]
        t = select(t > zero, select(t < one, t, one), zero)
        return t * t * fma(-two, t, three)

    return value


def constants(formula, escape_radius, width, weight):
    return *distance.constants(formula, escape_radius, width), 1 / weight


def make():
    return Coloring(
        name="distance_line",
        title="the set's boundary as a line",
        make_value=make_value,
        constants=constants,
        derivative=True,
        gradient="length",
        transfer="linear",
        palette="ink",
        blend="multiply",
        options={"weight": Option(1.0, 0.01, 1000, "of the line, in thousandths of the width")},
    )
