"""Triangle inequality average: where |z| lies between the bounds that its two terms allow.

Of z = f + c the triangle inequality says ||f| - |c|| <= |z| <= |f| + |c|; the mean, along the
orbit, of the place of |z| between these bounds. After Kerry Mitchell (1999) and Jussi Härkönen, *On
Smooth Fractal Coloring Techniques* (2007). With the angle between f and c the place is
max(|f|, |c|) (1 + cos angle) / (|z| + ||f| - |c||), where nothing cancels. The difference of |z|
and a bound has no digits left where f or z is small.
"""

from fractals.kernels.coloring import Coloring, OrbitStatistic
from fractals.kernels.coloring_math import make_mean_value, make_polar, mean_constants
from fractals.kernels.orbit import make_step
from fractals.kernels.primitives import fma, number, select, two_to


def make_image(target, formula):
    """Return ``image(x, y, u, v, a, b)``: f of the point u + iv before x + iy."""
    # z - c loses the digits of a small f. Other maps than f(z) + c have no f but z - c.
    apply = make_step(target, formula) if formula.additive and not formula.sequence else None

    if apply is None:

        def image(x, y, u, v, a, b):
            return x - a, y - b

    else:

        def image(x, y, u, v, a, b):
            return apply(u, v, number(0, x), number(0, x))

    return target.jit(image)


def make_next(target, polar):
    """Return ``next(w, x, y, a, b, moved, s, t)``: the numbers after z = x + iy = f + c.

    f has the length `moved` and the direction s + it.
    """

    def next_numbers(w, x, y, a, b, moved, s, t):
        zero, one = number(0, x), number(1, x)
        added, g, h = polar(a, b)
        size, _, _ = polar(x, y)
        low = abs(moved - added)
        larger = select(moved > added, moved, added)
        cosine = fma(s, g, t * h)
        below = size + low
        known = (abs(s) + abs(t) > zero) & (added > zero) & (below > zero)
        place = larger * (one + cosine) / select(known, below, one)
        place = select(known, place, zero)
        place = select(place > zero, select(place < one, place, one), zero)  # rounding
        return w[0] + place, place

    return target.jit(next_numbers)


def start(x, y):
    return number(0, x), number(0, x)


def make_statistic(target, formula, base):
    polar, image = make_polar(target), make_image(target, formula)
    next_numbers = make_next(target, polar)

    def update(w, x, y, u, v, a, b, point):
        p, q = image(x, y, u, v, a, b)
        moved, s, t = polar(p, q)
        return next_numbers(w, x, y, a, b, moved, s, t)

    return start, update


def make_deep_statistic(target, formula, base):
    """Return the same, with the direction of f however small f is: that of f of mantissas.

    f(z) + c in deep views is homogeneous, so scaling z by a power of two scales f exactly.
    """
    polar, image = make_polar(target), make_image(target, formula)
    next_numbers, degree = make_next(target, polar), formula.degree

    def update(w, x, y, u, v, a, b, point, exact):
        before = exact[1]
        p, q = image(x, y, before[0], before[1], a, b)
        length, s, t = polar(p, q)
        moved = length * two_to(degree * before[2], length)
        return next_numbers(w, x, y, a, b, moved, s, t)

    return start, update


def make():
    return Coloring(
        name="triangle_average",
        title="triangle inequality average",
        make_value=make_mean_value,
        constants=mean_constants,
        transfer="linear",
        statistic=OrbitStatistic(
            "triangles", ("sum", "last"), make_statistic, make_deep=make_deep_statistic
        ),
    )
