"""Exterior grid: field lines, and the borders between bands of equal counts.

The value goes from 0 on a line to 1 beyond its weight.
"""

from fractals.color.colorings.field_lines import constants, line_options
from fractals.kernels.coloring import Coloring
from fractals.kernels.coloring_math import make_lines
from fractals.kernels.primitives import select


def make_value(target):
    lines = make_lines(target)

    def value(n, x, y, p, q, constants):
        line, border = lines(
            x, y, constants[2], constants[3], constants[4], constants[5], constants[6], constants[7]
        )
        return select(line < border, line, border)

    return value


def make():
    return Coloring(
        name="exterior_grid",
        title="field lines, and the borders between bands",
        make_value=make_value,
        constants=constants,
        transfer="linear",
        palette="ink",
        blend="multiply",
        options=line_options(0.1),
    )
