"""Pickover stalks: how near the orbit comes to the axes, as the logarithm of thickness / distance.

After Clifford Pickover, *Computers, Pattern, Chaos and Beauty* (1990).
"""

import math

from fractals.coloring import Coloring, Option, Watcher
from fractals.formula import number, select
from fractals.series import make_log2

LEAST = 1e-15  # distances are no smaller, as a logarithm is taken
FAR = 1e15


def make_watch(target, formula, base):
    def start(x, y):
        return (number(FAR, x),)

    def watch(w, x, y, u, v, a, b, point):
        s, t = abs(x), abs(y)
        near = select(s < t, s, t)
        near = select(near > number(LEAST, x), near, number(LEAST, x))
        return (select(near < w[0], near, w[0]),)

    return start, watch


def make_value(target):
    log2, real = make_log2(target), target.real
    zero, known = real(0), real(LEAST)

    def value(n, x, y, p, q, w, constants):
        depth = constants[2] - log2(select(w[0] > known, w[0], known))
        return select(depth > zero, depth, zero)

    return value


def constants(formula, escape_radius, width, thickness):
    return (math.log2(thickness),)


def make():
    return Coloring(
        name="pickover_stalks",
        title="how near the orbit comes to the axes: log2(thickness / distance)",
        make_value=make_value,
        constants=constants,
        transfer="linear",
        side="both",
        options={"thickness": Option(0.03, 1e-6, 10, "of a stalk: beyond it the value is 0")},
        watcher=Watcher("axes", ("distance",), make_watch),
    )
