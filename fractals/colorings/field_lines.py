"""Field lines: where the escaped point's direction is one of some, evenly spaced.

They run across the bands of equal counts as the lines of an electric field do, and each of them
forks where a step multiplies angles. From 0 on a line to 1 beyond its weight.
"""

from fractals.coloring import Coloring, Option
from fractals.series import fraction_constants, make_lines


def make_value(target):
    lines = make_lines(target)

    def value(n, x, y, p, q, constants):
        return lines(x, y, constants[2], constants[3], constants[4], constants[5], constants[6])[0]

    return value


def constants(formula, escape_radius, width, lines, weight):
    start, scale = fraction_constants(formula, escape_radius)
    return start, scale, lines, weight, 1 / formula.degree


def make():
    return Coloring(
        name="field_lines",
        title="lines across the bands of equal counts",
        make_value=make_value,
        constants=constants,
        transfer="linear",
        palette="ink",
        blend="multiply",
        options={
            "lines": Option(8, 1, 256, "in a turn"),
            "weight": Option(0.15, 1e-3, 1, "of a line, in half its distance to the next one"),
        },
    )
