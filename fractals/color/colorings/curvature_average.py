"""Curvature average: the mean angle between consecutive steps of the orbit, in half turns.

After Damien Jones (1999); see Härkönen, *On Smooth Fractal Coloring Techniques* (2007). The first
step of an orbit counts as straight.

So does a step that is shorter than 2^-40 |z| (2^-14 |z| in float32), because rounding of z decides
its direction: next to a fixed point of the formula. Deep views, in which many samples spend most
steps there, know all digits of the steps, and the directions of all of them.
"""

from fractals.kernels.coloring import Coloring, OrbitStatistic
from fractals.kernels.coloring_math import make_mean_value, make_polar, mean_constants
from fractals.kernels.elementary import angle_in_turns
from fractals.kernels.primitives import fma, number, select


def make_bend(target):
    """Return ``bend(s, t, p, q)``: the angle between two steps in half turns."""
    angle_of = target.jit(angle_in_turns)

    def bend(s, t, p, q):
        angle = angle_of(fma(s, p, t * q), fma(t, p, -(s * q)))
        turn = select(angle > number(0.5, s), number(1, s) - angle, angle)
        return turn + turn

    return target.jit(bend)


def make_statistic(target, formula, base):
    bend_of = make_bend(target)

    def start(x, y):
        return number(0, x), number(0, x), x, y

    def update(w, x, y, u, v, a, b, point):
        s, t = x - u, y - v  # this step
        p, q = u - w[2], v - w[3]  # the step before
        one = number(1, x)
        double = one + number(2.0**-30, x) > one
        least = select(double, number(2.0**-80, x), number(2.0**-28, x)) * fma(x, x, y * y)
        clear = (fma(s, s, t * t) > least) & (fma(p, p, q * q) > least)
        bend = select(clear, bend_of(s, t, p, q), number(0, x))
        return w[0] + bend, bend, u, v

    return start, update


def make_deep_statistic(target, formula, base):
    """Return the same of exact steps; the last two numbers are the direction of the last one."""
    bend_of, polar = make_bend(target), make_polar(target)

    def start(x, y):
        zero = number(0, x)
        return zero, zero, zero, zero

    def update(w, x, y, u, v, a, b, point, exact):
        _, s, t = polar(exact[2][0], exact[2][1])
        p, q = w[2], w[3]
        zero = number(0, x)
        clear = (abs(s) + abs(t) > zero) & (abs(p) + abs(q) > zero)
        bend = select(clear, bend_of(s, t, p, q), zero)
        return w[0] + bend, bend, s, t

    return start, update


def make():
    return Coloring(
        name="curvature_average",
        title="mean of how sharply the orbit turns",
        make_value=make_mean_value,
        constants=mean_constants,
        transfer="linear",
        statistic=OrbitStatistic(
            "curvature",
            ("sum", "last", "x", "y"),
            make_statistic,
            make_deep=make_deep_statistic,
            moves=True,
        ),
    )
