"""Colorings of the last point of an orbit: its direction and its distance."""

import math

from fractals.kernels.coloring import Coloring, Option
from fractals.kernels.coloring_math import make_lines
from fractals.kernels.elementary import angle_in_turns, make_log2
from fractals.kernels.primitives import fma, select


def make_final_angle_value(target):
    angle_of = target.jit(angle_in_turns)

    def value(n, x, y, p, q, constants):
        return angle_of(x, y)

    return value


def final_angle():
    """Final angle: the direction of the escaped point, in turns; smooth `decomposition`."""
    return Coloring(
        name="final_angle",
        title="direction of the escaped point",
        make_value=make_final_angle_value,
        ends="any",
        transfer="linear",
    )


def make_decomposition_value(target):
    real, int32, angle_of = target.real, target.int32, target.jit(angle_in_turns)
    one = real(1)

    def value(n, x, y, p, q, constants):
        parts = constants[2]
        part = real(int32(angle_of(x, y) * parts))
        return select(part < parts, part, parts - one) / parts

    return value


def decomposition():
    """Decomposition: the direction of the escaped point, rounded down to equal parts of a turn.

    Two parts give the binary decomposition, whose cells of 0 and 1 spell external angles. After
    Peitgen and Richter, *The Beauty of Fractals* (1986).
    """
    return Coloring(
        name="decomposition",
        title="which part of a turn the escaped point lies in",
        make_value=make_decomposition_value,
        ends="any",
        constants=lambda formula, escape_radius, width, parts: (parts,),
        transfer="linear",
        options={"parts": Option(2, 2, 256, "of a turn")},
    )


def make_biomorph_value(target):
    one = target.real(1)

    def value(n, x, y, p, q, constants):
        s, t = abs(x), abs(y)
        near = select(s < t, s, t) * constants[2]
        return select(near < one, near, one)

    return value


def biomorph():
    """Biomorph: the smaller of |Re z| and |Im z| at escape, over the escape radius, at most 1.

    Values below 1 are the body of a creature, where only one part of z is large. An escape radius
    of about 10 suits it. After Clifford Pickover, *Biomorphs* (1986).
    """
    return Coloring(
        name="biomorph",
        title="where the escaped point is near an axis: the bodies of creatures",
        make_value=make_biomorph_value,
        constants=lambda formula, escape_radius, width: (1 / escape_radius,),
        transfer="linear",
        palette="ink",
        blend="multiply",
    )


def make_field_lines_value(target):
    lines = make_lines(target)

    def value(n, x, y, p, q, constants):
        return lines(
            x, y, constants[2], constants[3], constants[4], constants[5], constants[6], constants[7]
        )[0]

    return value


def field_lines_constants(formula, escape_radius, width, lines, weight):
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


def field_lines():
    """Field lines: where the escaped point's direction is one of some evenly spaced ones.

    The lines cross the bands of equal counts as lines of an electric field cross equipotentials.
    Each line forks at every band, because a step multiplies angles by the degree. The value goes
    from 0 on a line to 1 beyond its weight.
    """
    return Coloring(
        name="field_lines",
        title="lines across the bands of equal counts",
        make_value=make_field_lines_value,
        constants=field_lines_constants,
        transfer="linear",
        palette="ink",
        blend="multiply",
        options=line_options(0.2),
    )


def make_exterior_grid_value(target):
    lines = make_lines(target)

    def value(n, x, y, p, q, constants):
        line, border = lines(
            x, y, constants[2], constants[3], constants[4], constants[5], constants[6], constants[7]
        )
        return select(line < border, line, border)

    return value


def exterior_grid():
    """Exterior grid: field lines, and the borders between bands of equal counts.

    The value goes from 0 on a line to 1 beyond its weight.
    """
    return Coloring(
        name="exterior_grid",
        title="field lines, and the borders between bands",
        make_value=make_exterior_grid_value,
        constants=field_lines_constants,
        transfer="linear",
        palette="ink",
        blend="multiply",
        options=line_options(0.1),
    )


NEAR = 1e-6  # |z|² below which a root counts as 0, without a direction
ESCAPED = 0.5  # value of samples that escape


def make_root_value(target):
    real, log2, angle_of = target.real, make_log2(target), target.jit(angle_in_turns)
    zero, one, near, far = real(0), real(1), real(NEAR), real(ESCAPED)

    def value(n, x, y, p, q, constants):
        m = fma(x, x, y * y)
        limit = fma(constants[2], log2(m + one), select(m > near, angle_of(x, y), zero))
        # The added 1e-4 turns keep roots on the positive real axis, whose angle may be rounded to
        # just below a whole turn, in one color.
        return select(m > constants[3], far, limit + constants[4])

    return value


def root_constants(formula, escape_radius, width, spread):
    return spread, escape_radius**2 if formula.escapes else math.inf, 1e-4


def root():
    """Root: the point that the orbit converges to, by its direction and distance from 0.

    Roots of unity are spread evenly around the palette. A layer of `speed` adds how fast they
    converge.
    """
    return Coloring(
        name="root",
        title="the point that an orbit converges to",
        make_value=make_root_value,
        constants=root_constants,
        transfer="linear",
        ends="converging",
        options={"spread": Option(0.1, -10, 10, "turns of the palette per doubling of 1 + |z|²")},
    )
