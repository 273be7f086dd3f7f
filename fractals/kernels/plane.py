"""Functions of points and angles that several variations use; each is compiled as it stands."""

from fractals.kernels.elementary import PI, angle, exp, log, nearest, quotient, sincos
from fractals.kernels.primitives import fma, number, select, sqrt

TINY = 1e-10  # that keeps divisors from 0


def square_of(x, y):
    """Return the square of the distance from 0."""
    return fma(x, x, y * y)


def radius(x, y):
    """Return the distance from 0."""
    return sqrt(fma(x, x, y * y))


def inverse(v):
    """Return 1 / v for v of 0 or more, which is finite for 0, too."""
    return number(1, v) / (v + number(TINY, v))


def floor(v):
    """Return the greatest whole number that is not above v."""
    k = nearest(v)
    return select(k > v, k - number(1, v), k)


def whole_part(v):
    """Return v without its fraction."""
    k = floor(abs(v))
    return select(v < number(0, v), -k, k)


def remainder(v, by):
    """Return what is left of v after whole numbers of `by`, with the sign of v."""
    return fma(-whole_part(quotient(v, by)), by, v)


def power_of(v, exponent):
    """Return v, which is 0 or more, to the power of the exponent."""
    return exp(exponent * log(v))


def tangent_of(v):
    """Return the tangent."""
    s, c = sincos(v)
    return quotient(s, c)


def gaussian(u):
    """Return a number near a normal distribution, of four uniform ones."""
    return u[0] + u[1] + u[2] + u[3] - number(2, u[0])


def inverse_cosine(v):
    """Return the arc cosine."""
    rest = fma(-v, v, number(1, v))
    return angle(v, sqrt(select(rest > number(0, v), rest, number(0, v))))


def wedged(a, r, opening, hole, count):
    """Return the point at an angle and a distance, after `count` wedges were taken from a turn."""
    turns = fma(count, a, number(PI, a)) * number(0.5 / PI, a)
    share = fma(-(opening * count), number(0.5 / PI, a), number(1, a))
    s, c = sincos(fma(a, share, floor(turns) * opening))
    return (r + hole) * c, (r + hole) * s


FUNCTIONS = (
    square_of,
    radius,
    inverse,
    floor,
    whole_part,
    remainder,
    power_of,
    tangent_of,
    gaussian,
    inverse_cosine,
    wedged,
)
