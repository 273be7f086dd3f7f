"""Pickover stalks: how near the orbit comes to the axes.

The value goes from 0 far away to 1 on an axis. After Clifford Pickover,
*Computers, Pattern, Chaos and Beauty* (1990).
"""

from fractals.kernels.coloring import Coloring, Option, OrbitStatistic
from fractals.kernels.primitives import number, select

FAR = 1e15  # distance before the first step; its square is finite in float32


def make_statistic(target, formula, base):
    def start(x, y):
        return (number(FAR, x),)

    def update(w, x, y, u, v, a, b, point):
        s, t = abs(x), abs(y)
        near = select(s < t, s, t)
        return (select(near < w[0], near, w[0]),)

    return start, update


def make_value(target):
    def value(n, x, y, p, q, w, constants):
        return constants[2] / (constants[2] + abs(w[0]))

    return value


def constants(formula, escape_radius, width, thickness):
    return (thickness,)


def make():
    return Coloring(
        name="pickover_stalks",
        title="how near the orbit comes to the axes",
        make_value=make_value,
        ends="any",
        constants=constants,
        transfer="linear",
        side="both",
        options={
            "thickness": Option(
                0.02,
                1e-6,
                10,
                "distance from an axis at which the value is 1/2; on the axis it is 1",
            )
        },
        statistic=OrbitStatistic("axes", ("distance",), make_statistic),
    )
