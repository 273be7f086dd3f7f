"""Field lines: where the escaped point's direction is one of some evenly spaced ones.

The lines cross the bands of equal counts as lines of an electric field cross equipotentials. Each
line forks at every band, because a step multiplies angles by the degree. The value goes from 0 on a
line to 1 beyond its weight.
"""

import math

from fractals.kernels.coloring import Coloring, Option
from fractals.kernels.coloring_math import make_lines


def make_value(target):
    lines = make_lines(target)

    def value(n, x, y, p, q, constants):
        return lines(
            x, y, constants[2], constants[3], constants[4], constants[5], constants[6], constants[7]
        )[0]

    return value


def constants(formula, escape_radius, width, lines, weight):
    start, scale = formula.fraction_constants(escape_radius)
    # Borders as wide as lines in the plane of log z. A turn is 2 pi there, and a
    # band about log(escape_radius) * log(degree).
    degree = max(2, formula.degree)
    border = math.pi * weight / (lines * math.log(escape_radius) * math.log(degree))
    return start, scale, lines, weight, border, 1 / degree


def line_options(weight):
    """Return the options of lines, which have this weight where none is given."""
    words = "width of a line, as a share of half the distance between lines"
    return {"lines": Option(2, 1, 256, "in a turn"), "weight": Option(weight, 1e-3, 1, words)}


def make():
    return Coloring(
        name="field_lines",
        title="lines across the bands of equal counts",
        make_value=make_value,
        constants=constants,
        transfer="linear",
        palette="ink",
        blend="multiply",
        options=line_options(0.2),
    )
