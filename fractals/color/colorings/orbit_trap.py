"""Orbit trap: how near the orbit comes to a point, a line, a cross or a circle.

The value goes from 0 far away to 1 on the trap. The orbit is z_1, z_2, ..., up to the point that
escaped. After Clifford Pickover, *Computers, Pattern, Chaos and Beauty* (1990).
"""

import math

from fractals.kernels.coloring import Coloring, Option, OrbitStatistic
from fractals.kernels.primitives import fma, number, select, sqrt

MIN_SQUARE = 1e-30  # least square of a distance, because packs flush subnormal squares to 0
FAR = 1e30  # square of the distance before the first step; finite in float32


def make_statistic(target, formula, base, shape):
    if shape == "point":

        def square(s, t, radius):
            return fma(s, s, t * t)

    elif shape == "line":

        def square(s, t, radius):
            return t * t

    elif shape == "cross":

        def square(s, t, radius):
            s, t = abs(s), abs(t)
            nearest = select(s < t, s, t)
            return nearest * nearest

    else:

        def square(s, t, radius):
            beyond = sqrt(fma(s, s, t * t)) - radius
            return beyond * beyond

    square = target.jit(square)

    def start(x, y):
        return (number(FAR, x),)

    def update(w, x, y, u, v, a, b, point):
        s, t = x - number(point[base], x), y - number(point[base + 1], x)
        cos, sin = number(point[base + 2], x), number(point[base + 3], x)
        s, t = fma(cos, s, sin * t), fma(cos, t, -(sin * s))
        m = square(s, t, number(point[base + 4], x))
        m = select(m > number(MIN_SQUARE, x), m, number(MIN_SQUARE, x))
        return (select(m < w[0], m, w[0]),)

    return start, update


def statistic_constants(x, y, angle, radius):
    turned = math.radians(angle)
    return x, y, math.cos(turned), math.sin(turned), radius


def make_value(target):
    zero = target.real(0)

    def value(n, x, y, p, q, w, constants):
        reach = constants[2]
        return reach / (reach + sqrt(select(w[0] > zero, w[0], zero)))

    return value


def constants(formula, escape_radius, width, reach, **settings):
    return (reach,)


def make():
    return Coloring(
        name="orbit_trap",
        title="how near the orbit comes to a point, line, cross or circle",
        make_value=make_value,
        ends="any",
        constants=constants,
        transfer="linear",
        side="both",
        options={
            "shape": Option(
                "cross", 0, 0, "shape of the trap", "code", ("point", "line", "cross", "circle")
            ),
            "x": Option(0.0, -10, 10, "real part of the middle", "statistic"),
            "y": Option(0.0, -10, 10, "imaginary part of the middle", "statistic"),
            "angle": Option(0.0, -360, 360, "of a line or cross, in degrees", "statistic"),
            "radius": Option(0.5, 0, 10, "of a circle", "statistic"),
            "reach": Option(
                0.25, 1e-6, 100, "distance at which the value is 1/2; on the trap it is 1"
            ),
        },
        statistic=OrbitStatistic("trap", ("square",), make_statistic, statistic_constants),
    )
