"""Curvature average: the mean of how sharply the orbit turns at each step, in half turns.

After Damien Jones (1999); see Härkönen, *On Smooth Fractal Coloring Techniques* (2007). The first
step of an orbit turns by nothing.
"""

from fractals.kernels.coloring import Coloring, Watcher
from fractals.kernels.coloring_math import make_mean_value, mean_constants, turn
from fractals.kernels.primitives import fma, number, select


def make_watch(target, formula, base):
    angle_of = target.jit(turn)

    def start(x, y):
        return number(0, x), number(0, x), x, y

    def watch(w, x, y, u, v, a, b, point):
        s, t = x - u, y - v  # this step
        p, q = u - w[2], v - w[3]  # and the one before
        angle = angle_of(fma(s, p, t * q), fma(t, p, -(s * q)))
        bend = select(angle > number(0.5, x), number(1, x) - angle, angle)
        bend = bend + bend
        return w[0] + bend, bend, u, v

    return start, watch


def make():
    return Coloring(
        name="curvature_average",
        title="mean of how sharply the orbit turns",
        make_value=make_mean_value,
        constants=mean_constants,
        transfer="linear",
        watcher=Watcher("curvature", ("sum", "last", "x", "y"), make_watch),
    )
