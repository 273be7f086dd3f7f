"""Triangle inequality average: where |z| lies between the bounds that its two terms allow.

Of z = f + c the triangle inequality says ||f| - |c|| <= |z| <= |f| + |c|; the mean, along the
orbit, of the place of |z| between these bounds. After Kerry Mitchell (1999) and Jussi Härkönen, *On
Smooth Fractal Coloring Techniques* (2007).
"""

from fractals.kernels.coloring import Coloring, OrbitStatistic
from fractals.kernels.coloring_math import make_mean_value, mean_constants
from fractals.kernels.primitives import fma, number, select, sqrt


def make_statistic(target, formula, base):
    def start(x, y):
        return number(0, x), number(0, x)

    def update(w, x, y, u, v, a, b, point):
        zero, one = number(0, x), number(1, x)
        f, g = x - a, y - b
        moved = sqrt(fma(f, f, g * g))
        added = sqrt(fma(a, a, b * b))
        low, high = abs(moved - added), moved + added
        apart = high - low
        known = apart > zero
        place = (sqrt(fma(x, x, y * y)) - low) / select(known, apart, one)
        place = select(known, place, zero)
        place = select(
            place > zero, select(place < one, place, one), zero
        )  # rounding can leave the bounds
        return w[0] + place, place

    return start, update


def make():
    return Coloring(
        name="triangle_average",
        title="triangle inequality average",
        make_value=make_mean_value,
        constants=mean_constants,
        transfer="linear",
        statistic=OrbitStatistic("triangles", ("sum", "last"), make_statistic),
    )
