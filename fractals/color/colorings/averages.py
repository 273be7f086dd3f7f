"""Colorings by means along the orbit."""

import math

from fractals.kernels.coloring import (
    Coloring,
    Option,
    OrbitStatistic,
    make_mean_value,
    make_polar,
    mean_constants,
)
from fractals.kernels.elementary import angle_in_turns, exp, log
from fractals.kernels.orbit import make_last, make_step, make_tangent
from fractals.kernels.primitives import fma, number, select, sqrt, two_to


def make_stripe_average_statistic(target, formula, base, density):
    bits = [bit == "1" for bit in bin(density)[3:]]  # below the highest, from the top

    def square(p, q):
        return fma(p, p, -(q * q)), fma(p, q, p * q)

    def times(p, q, u, v):
        return fma(p, u, -(q * v)), fma(p, v, q * u)

    square, times = target.jit(square), target.jit(times)

    def first(u, v):
        return u, v

    power, polar = target.jit(first), make_polar(target)
    for bit in bits:
        power = _next_power(target, power, square, times, bit)

    def start(x, y):
        return number(0, x), number(0, x)

    def update(w, x, y, u, v, a, b, point):
        _, p, q = polar(x, y)
        _, sine = power(p, q)
        half = number(0.5, x)
        stripe = fma(half, sine, half)
        # A point beyond the largest number has no direction: it counts as all of them do
        stripe = select(stripe > number(-1, x), stripe, half)  # rounding may lead below 0
        return w[0] + stripe, stripe

    return start, update


def make_stripe_average_deep_statistic(target, formula, base, density):
    """Return the same of mantissas, whose directions are those of z however small z is."""
    start, update = make_stripe_average_statistic(target, formula, base, density)
    plain = target.jit(update)

    def update_deep(w, x, y, u, v, a, b, point, exact):
        return plain(w, exact[0][0], exact[0][1], u, v, a, b, point)

    return start, update_deep


def _next_power(target, power, square, times, bit):
    """Return the power's square, times the base where the bit is 1."""
    if bit:

        def raised(p, q):
            u, v = power(p, q)
            u, v = square(u, v)
            return times(u, v, p, q)

    else:

        def raised(p, q):
            u, v = power(p, q)
            return square(u, v)

    return target.jit(raised)


def stripe_average():
    """Stripe average: the mean of 1/2 + sin(density * arg z) / 2 along the orbit.

    After Jussi Härkönen, *On Smooth Fractal Coloring Techniques* (2007). The density is a whole
    number, so the sine is the imaginary part of that power of z / |z|, which is cheaper than a
    sine.
    """
    return Coloring(
        name="stripe_average",
        title="mean of stripes around 0 along the orbit",
        make_value=make_mean_value,
        constants=mean_constants,
        transfer="linear",
        options={"density": Option(5, 1, 32, "stripes in a turn around 0", "code")},
        statistic=OrbitStatistic(
            "stripes",
            ("sum", "last"),
            make_stripe_average_statistic,
            make_deep=make_stripe_average_deep_statistic,
        ),
    )


def make_bend(target):
    """Return ``bend(s, t, p, q)``: the angle between two steps in half turns."""
    angle_of = target.jit(angle_in_turns)

    def bend(s, t, p, q):
        angle = angle_of(fma(s, p, t * q), fma(t, p, -(s * q)))
        turn = select(angle > number(0.5, s), number(1, s) - angle, angle)
        return turn + turn

    return target.jit(bend)


def make_curvature_average_statistic(target, formula, base):
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


def make_curvature_average_deep_statistic(target, formula, base):
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


def curvature_average():
    """Curvature average: the mean angle between consecutive steps of the orbit, in half turns.

    After Damien Jones (1999); see Härkönen, *On Smooth Fractal Coloring Techniques* (2007). The
    first step of an orbit counts as straight.

    So does a step that is shorter than 2^-40 |z| (2^-14 |z| in float32), because rounding of z
    decides its direction: next to a fixed point of the formula. Deep views, in which many samples
    spend most steps there, know all digits of the steps, and the directions of all of them.
    """
    return Coloring(
        name="curvature_average",
        title="mean of how sharply the orbit turns",
        make_value=make_mean_value,
        constants=mean_constants,
        transfer="linear",
        statistic=OrbitStatistic(
            "curvature",
            ("sum", "last", "x", "y"),
            make_curvature_average_statistic,
            make_deep=make_curvature_average_deep_statistic,
            moves=True,
        ),
    )


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


def make_triangle_average_statistic(target, formula, base):
    polar, image = make_polar(target), make_image(target, formula)
    next_numbers = make_next(target, polar)

    def update(w, x, y, u, v, a, b, point):
        p, q = image(x, y, u, v, a, b)
        moved, s, t = polar(p, q)
        return next_numbers(w, x, y, a, b, moved, s, t)

    return start, update


def make_triangle_average_deep_statistic(target, formula, base):
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


def triangle_average():
    """Triangle inequality average: where |z| lies between the bounds that its two terms allow.

    Of z = f + c the triangle inequality says ||f| - |c|| <= |z| <= |f| + |c|; the mean, along the
    orbit, of the place of |z| between these bounds. After Kerry Mitchell (1999) and Jussi Härkönen,
    *On Smooth Fractal Coloring Techniques* (2007). With the angle between f and c the place is
    max(|f|, |c|) (1 + cos angle) / (|z| + ||f| - |c||), where nothing cancels. The difference of
    |z| and a bound has no digits left where f or z is small.
    """
    return Coloring(
        name="triangle_average",
        title="triangle inequality average",
        make_value=make_mean_value,
        constants=mean_constants,
        transfer="linear",
        statistic=OrbitStatistic(
            "triangles",
            ("sum", "last"),
            make_triangle_average_statistic,
            make_deep=make_triangle_average_deep_statistic,
        ),
    )


LEAST_EXPONENT = -1e6  # of two, in place of that of 0


def make_stretch(target, formula):
    """Return ``stretch(u, v, a, b, point)``: log|f'| at u + iv."""
    tangent, last = make_tangent(target, formula), make_last(target, formula)

    def stretch(u, v, a, b, point):
        zero, one = number(0, u), number(1, u)
        p, q = tangent(u, v, one, zero, a, b, zero, zero, *last(point, u))
        p, q = abs(p), abs(q)
        high = p > q
        # so that squares do not over- or underflow
        large, small = select(high, p, q), select(high, q, p)
        part = small / select(large > zero, large, one)
        return log(large * sqrt(fma(part, part, one)))

    return target.jit(stretch)


def make_lyapunov_statistic(target, formula, base):
    stretch = make_stretch(target, formula)

    def update(w, x, y, u, v, a, b, point):
        n = w[0] + number(1, x)
        counted = n > number(point[base], x)
        return n, w[1] + select(counted, stretch(u, v, a, b, point), number(0, x))

    return start, update


def make_lyapunov_deep_statistic(target, formula, base):
    """Return the same of mantissas, and what the exponent adds, as f' is homogeneous there."""
    stretch, real = make_stretch(target, formula), target.real
    scale, least = real((formula.degree - 1) * math.log(2)), real(LEAST_EXPONENT)

    def update(w, x, y, u, v, a, b, point, exact):
        n = w[0] + number(1, x)
        counted = n > number(point[base], x)
        before = exact[1]
        exponent = real(before[2])
        exponent = select(exponent > least, exponent, least)
        grown = fma(scale, exponent, stretch(before[0], before[1], a, b, point))
        return n, w[1] + select(counted, grown, number(0, x))

    return start, update


def make_lyapunov_value(target):
    real = target.real
    zero, half, nan = real(0), real(0.5), real(math.nan)

    def value(n, x, y, p, q, w, constants):
        counted = real(n) - constants[2]
        mean = w[1] * constants[3] / select(counted > zero, counted, real(1))
        return select(counted > zero, half * exp(mean), nan)

    return value


def lyapunov():
    """Lyapunov exponent: whether orbits of neighboring points converge or diverge.

    The exponent is the mean of log|f'| along the orbit. The value is half of its exponential, the
    mean stretch of a step: below 1/2 neighbors converge (order), above they diverge (chaos). f' is
    taken along the real axis; where the formula is holomorphic, all directions are alike.
    """
    return Coloring(
        name="lyapunov",
        title="inside: the mean stretch of an orbit's neighbors, above 1/2 for chaos",
        make_value=make_lyapunov_value,
        ends="any",
        memoryless=True,
        constants=lambda formula, escape_radius, width, warmup: (float(warmup), 1 / formula.maps),
        transfer="linear",
        side="inside",
        options={"warmup": Option(20, 0, 1_000_000, "steps before the mean begins", "statistic")},
        statistic=OrbitStatistic(
            "exponents",
            ("steps", "sum"),
            make_lyapunov_statistic,
            lambda warmup: (float(warmup),),
            make_lyapunov_deep_statistic,
        ),
    )
