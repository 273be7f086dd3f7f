"""Decomposition: the direction of the escaped point, rounded down to equal parts of a turn.

Two parts give the binary decomposition, whose cells of 0 and 1 spell external angles. After Peitgen
and Richter, *The Beauty of Fractals* (1986).
"""

from fractals.kernels.coloring import Coloring, Option
from fractals.kernels.elementary import angle_in_turns
from fractals.kernels.primitives import select


def make_value(target):
    real, int32, angle_of = target.real, target.int32, target.jit(angle_in_turns)
    one = real(1)

    def value(n, x, y, p, q, constants):
        parts = constants[2]
        part = real(int32(angle_of(x, y) * parts))
        return select(part < parts, part, parts - one) / parts

    return value


def make():
    return Coloring(
        name="decomposition",
        title="which part of a turn the escaped point lies in",
        make_value=make_value,
        ends="any",
        constants=lambda formula, escape_radius, width, parts: (parts,),
        transfer="linear",
        options={"parts": Option(2, 2, 256, "of a turn")},
    )
