"""Final angle: the direction of the escaped point, in turns; smooth `decomposition`."""

from fractals.kernels.coloring import Coloring
from fractals.kernels.elementary import angle_in_turns


def make_value(target):
    angle_of = target.jit(angle_in_turns)

    def value(n, x, y, p, q, constants):
        return angle_of(x, y)

    return value


def make():
    return Coloring(
        name="final_angle",
        title="direction of the escaped point",
        make_value=make_value,
        ends="any",
        transfer="linear",
    )
