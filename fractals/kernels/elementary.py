"""Exponential, sines, logarithms and angles of real numbers: the same bits on every target.

The functions of libraries differ between CPU and GPU. Each function here is a series in `fma`,
without a branch, for numbers and packs of samples.

Functions of formulas (`exp`, `log`, `angle`, ...) are off by a few units in the last place of
float64; big floats are given to their own library. Functions of colorings (`make_log2`,
`angle_in_turns`) share their range reduction, and have shorter series: 8 or 9 digits are far below
a step of a pixel's 16 bits, and shading is bound by arithmetic.
"""

import math
from typing import Any

import numpy as np

from fractals.kernels.primitives import fma, number, select, split

PI = 3.141592653589793
# pi / 2 and log 2 in pieces that float32 holds, too: k times a piece is exact for the k that occur,
# so that reducing a range loses no digits (Cody and Waite, 1980).
PI_1, PI_2, PI_3, PI_4 = (
    1.570796012878418,
    3.139164164167596e-07,
    6.223369259164557e-14,
    2.912732056093356e-20,
)
LN_1, LN_2, LN_3 = 0.6931467056274414, 4.7493244892393705e-07, 5.4979370506398e-14
# exp of more is exp of this, and of less than its negative exp of that: half of it and its inverse
# are normal numbers, in float64 and in float32. A CPU may take numbers below the normal ones as 0.
MAX_EXPONENT, MAX_EXPONENT_32 = 700.0, 86.0
# arctan(t) / t as a polynomial in t², for t up to tan(22.5°): fitted at Chebyshev's points.
ARCTAN = (
    1.0,
    -0.3333333333333312,
    0.19999999999940893,
    -0.14285714279250245,
    0.11111110744919658,
    -0.09090896809064027,
    0.07692045330902225,
    -0.06662951813629191,
    0.05846878297330872,
    -0.05035102456601552,
    0.03796525745386593,
    -0.017805397205419446,
)
# The same over 2 pi, so that angles are in turns, and shorter: the error is below 2e-11 turns.
ARCTAN_TURNS = (
    0.15915494308857342,
    -0.053051645778753036,
    0.031830807020048035,
    -0.022729934823609989,
    0.01757238331253623,
    -0.013463089511701299,
    0.0075009663062183202,
)
LOW_SLOPE, ROOT = 0.41421356237309503, 1.4142135623730951  # tan(22.5°), sqrt(2)


def exp(x: Any) -> Any:
    """Return e**x, at most e**700; in float32 at most e**86.

    >>> exp(0.0), round(exp(1.0), 12)
    (1.0, 2.718281828459)
    """
    return exp_series(x) if _is_plain(x) else _of_library("exp", x)


def sincos(x: Any) -> tuple[Any, Any]:
    """Return the sine and the cosine of x.

    >>> sincos(0.0)
    (0.0, 1.0)
    """
    return sincos_series(x) if _is_plain(x) else (_of_library("sin", x), _of_library("cos", x))


def sinhcosh(x: Any) -> tuple[Any, Any]:
    """Return the hyperbolic sine and cosine of x."""
    return sinhcosh_series(x) if _is_plain(x) else (_of_library("sinh", x), _of_library("cosh", x))


def log(x: Any) -> Any:
    """Return the natural logarithm of x.

    Below the smallest normal number it is the logarithm of that number.

    >>> log(1.0), round(log(10.0), 12)
    (0.0, 2.302585092994)
    """
    return log_series(x) if _is_plain(x) else _of_library("log", x)


def angle(x: Any, y: Any) -> Any:
    """Return the angle of x + iy: from -pi to pi, 0 for 0.

    >>> angle(1.0, 0.0), round(angle(-1.0, 1.0) / PI, 12)
    (0.0, 0.75)
    """
    return angle_series(x, y) if _is_plain(x) else _of_library("atan2", y, x)


def quotient(x: Any, y: Any) -> Any:
    """Return x / y, as IEEE 754 defines it where y is 0.

    >>> quotient(-1.0, 0.0)
    -inf
    """
    if type(x) is float and y == 0:
        return math.copysign(math.inf, x) * math.copysign(1, y) if x else math.nan
    if not _is_plain(x) and y == 0:
        return x * math.inf
    return x / y


def nearest(x: Any) -> Any:
    """Return the nearest whole number; of two, the even one."""
    return type(x)(np.rint(x)) if not isinstance(x, np.ndarray) else np.rint(x)


def parts(v: Any) -> tuple[Any, Any]:
    """Return the mantissa m, in [1, 2), and the exponent e of v.

    ``v == m * 2**e``; v is normal and above 0.
    """
    m, e = np.frexp(v)
    return _like(m * 2, v), _like(e - 1, v)


def scaled(v: Any, k: Any) -> Any:
    """Return ``v * 2**k``, where k is a whole number.

    The result is 0 where 2**k is below the normal numbers.
    """
    single = isinstance(v, np.float32) or getattr(v, "dtype", None) == np.float32
    least, most = (-126, 127) if single else (-1022, 1023)
    power = np.where(k >= least, np.ldexp(1.0, np.minimum(k, most).astype(int)), 0.0)
    return v * _like(power, v)


def _like(value: Any, other: Any) -> Any:
    if isinstance(other, np.ndarray):
        return value.astype(other.dtype)
    return type(other)(value)


def _is_plain(x: Any) -> bool:
    return isinstance(x, float | np.floating | np.ndarray)


def _of_library(name: str, *numbers: Any) -> Any:
    if hasattr(numbers[0], "context"):  # mpmath
        return getattr(numbers[0].context, name)(*numbers)
    import gmpy2

    return getattr(gmpy2, name)(*numbers)


# The series, which compiled code takes as they are.


def exp_series(x):
    """Return e**x: 2**k times the power series of the rest of x."""
    one = number(1, x)
    is_64 = one + number(2**-30, x) > one
    far = select(is_64, number(MAX_EXPONENT, x), number(MAX_EXPONENT_32, x))
    x = select(x < far, select(x > -far, x, -far), far)
    k = nearest(x * number(1 / (LN_1 + LN_2), x))
    r = fma(-k, number(LN_1, x), x)
    r = fma(-k, number(LN_2, x), r)
    r = fma(-k, number(LN_3, x), r)
    s = fma(r, number(1 / 6227020800, x), number(1 / 479001600, x))
    s = fma(r, s, number(1 / 39916800, x))
    s = fma(r, s, number(1 / 3628800, x))
    s = fma(r, s, number(1 / 362880, x))
    s = fma(r, s, number(1 / 40320, x))
    s = fma(r, s, number(1 / 5040, x))
    s = fma(r, s, number(1 / 720, x))
    s = fma(r, s, number(1 / 120, x))
    s = fma(r, s, number(1 / 24, x))
    s = fma(r, s, number(1 / 6, x))
    s = fma(r, s, number(0.5, x))
    s = fma(r * r, s, r)
    return scaled(s + one, k)


def sincos_series(x):
    """Return sine and cosine: series of the rest after k right angles."""
    one, two = number(1, x), number(2, x)
    k = nearest(x * number(2 / PI, x))
    r = fma(-k, number(PI_1, x), x)
    r = fma(-k, number(PI_2, x), r)
    r = fma(-k, number(PI_3, x), r)
    r = fma(-k, number(PI_4, x), r)
    t = r * r
    s = fma(t, number(-1 / 1307674368000, x), number(1 / 6227020800, x))
    s = fma(t, s, number(-1 / 39916800, x))
    s = fma(t, s, number(1 / 362880, x))
    s = fma(t, s, number(-1 / 5040, x))
    s = fma(t, s, number(1 / 120, x))
    s = fma(t, s, number(-1 / 6, x))
    s = fma(t * r, s, r)
    c = fma(t, number(1 / 20922789888000, x), number(-1 / 87178291200, x))
    c = fma(t, c, number(1 / 479001600, x))
    c = fma(t, c, number(-1 / 3628800, x))
    c = fma(t, c, number(1 / 40320, x))
    c = fma(t, c, number(-1 / 720, x))
    c = fma(t, c, number(1 / 24, x))
    c = fma(t, c, number(-0.5, x))
    c = fma(t, c, one)
    q = fma(number(-4, x), nearest(k * number(0.25, x)), k)  # from -2 to 2
    odd, opposite = abs(q) == one, abs(q) == two
    sine, cosine = select(odd, c, s), select(odd, s, c)
    sine = select(opposite | (q == -one), -sine, sine)
    return sine, select(opposite | (q == one), -cosine, cosine)


def sinhcosh_series(x):
    """Return both from e**x; near 0, the sine from its own series."""
    half = number(0.5, x)
    up = exp(x) * half
    down = number(0.25, x) / up
    t = x * x
    s = fma(t, number(1 / 1307674368000, x), number(1 / 6227020800, x))
    s = fma(t, s, number(1 / 39916800, x))
    s = fma(t, s, number(1 / 362880, x))
    s = fma(t, s, number(1 / 5040, x))
    s = fma(t, s, number(1 / 120, x))
    s = fma(t, s, number(1 / 6, x))
    s = fma(t * x, s, x)
    return select(abs(x) < half, s, up - down), up + down


def log_series(x):
    """Return the logarithm: 2 artanh of the mantissa's `ratio`, plus e log 2."""
    one = number(1, x)
    large = scaled(number(0.25, x), number(1023, x))
    small = one / large
    m, e = parts(select(x > small, select(x < large, x, large), small))
    s, e = ratio(m, e)
    t = s * s
    r = fma(t, number(2 / 21, x), number(2 / 19, x))
    r = fma(t, r, number(2 / 17, x))
    r = fma(t, r, number(2 / 15, x))
    r = fma(t, r, number(2 / 13, x))
    r = fma(t, r, number(2 / 11, x))
    r = fma(t, r, number(2 / 9, x))
    r = fma(t, r, number(2 / 7, x))
    r = fma(t, r, number(2 / 5, x))
    r = fma(t, r, number(2 / 3, x))
    r = fma(t, r, number(2, x))
    return fma(e, number(LN_1, x), fma(e, number(LN_2 + LN_3, x), s * r))


def ratio(m, e):
    """Return ``(m - 1) / (m + 1)`` and e, after moving m to [sqrt(1/2), sqrt(2)).

    The logarithm of m * 2**e is twice the artanh of the ratio, plus e log 2.
    """
    one = number(1, m)
    high = m > number(ROOT, m)
    m, e = select(high, m * number(0.5, m), m), select(high, e + one, e)
    return (m - one) / (m + one), e


def octant(x, y):
    """Return t, `far` and `steep`: the octant of x + iy, for `unfold`.

    t is the tangent of an angle between -22.5 and 22.5 degrees: that of |x| + i|y| from the real
    axis, or from the diagonal (`far`), after a reflection in the diagonal (`steep`).
    """
    zero, one = number(0, x), number(1, x)
    p, q = abs(x), abs(y)
    steep = q > p
    large, small = select(steep, q, p), select(steep, p, q)
    far = small > large * number(LOW_SLOPE, x)
    above, below = select(far, small - large, small), select(far, small + large, large)
    return above / select(below > zero, below, one), far, steep


def unfold(t, series, far, steep, x, half):
    """Return the angle of x + i|y|, between 0 and `half`, which is half a turn in the unit wanted.

    `t`, `far` and `steep` are of `octant`; `series` is arctan(t) / t in the same unit.
    """
    found = fma(t, series, select(far, half * number(0.25, x), number(0, x)))
    found = select(steep, half * number(0.5, x) - found, found)
    return select(x < number(0, x), half - found, found)


def angle_series(x, y):
    """Return the angle in radians, from -pi to pi."""
    t, far, steep = octant(x, y)
    s = t * t
    r = fma(s, number(ARCTAN[11], x), number(ARCTAN[10], x))
    r = fma(s, r, number(ARCTAN[9], x))
    r = fma(s, r, number(ARCTAN[8], x))
    r = fma(s, r, number(ARCTAN[7], x))
    r = fma(s, r, number(ARCTAN[6], x))
    r = fma(s, r, number(ARCTAN[5], x))
    r = fma(s, r, number(ARCTAN[4], x))
    r = fma(s, r, number(ARCTAN[3], x))
    r = fma(s, r, number(ARCTAN[2], x))
    r = fma(s, r, number(ARCTAN[1], x))
    r = fma(s, r, number(ARCTAN[0], x))
    found = unfold(t, r, far, steep, x, number(PI, x))
    return select(y < number(0, x), -found, found)


def angle_in_turns(x, y):  # compiled with `target.jit`
    """Return the angle of x + iy in turns, from 0 to 1.

    The angle of 0 is 0. The error is below 2e-11 turns in float64, and 2e-7 in float32.

    >>> round(angle_in_turns(0.0, -1.0), 8)
    0.75
    """
    t, far, steep = octant(x, y)
    s = t * t
    r = fma(s, number(ARCTAN_TURNS[6], x), number(ARCTAN_TURNS[5], x))
    r = fma(s, r, number(ARCTAN_TURNS[4], x))
    r = fma(s, r, number(ARCTAN_TURNS[3], x))
    r = fma(s, r, number(ARCTAN_TURNS[2], x))
    r = fma(s, r, number(ARCTAN_TURNS[1], x))
    r = fma(s, r, number(ARCTAN_TURNS[0], x))
    found = unfold(t, r, far, steep, x, number(0.5, x))
    return select(y < number(0, x), number(1, x) - found, found)


def make_log2(target):
    """Return ``log2(v)`` for v > 0; the absolute error is below 3e-8.

    The exponent, plus 2 / ln 2 times the artanh series of the mantissa's `ratio`.
    """
    real = target.real
    c1, c3, c5, c7, c9, c11 = (real(2 / math.log(2) / k) for k in (1, 3, 5, 7, 9, 11))

    def log2(v):
        m, exponent = split(v)
        s, e = ratio(m, real(exponent))
        t = s * s
        series = fma(t, fma(t, fma(t, fma(t, fma(t, c11, c9), c7), c5), c3), c1)
        return fma(s, series, e)

    return target.jit(log2)


def quotient_series(x, y):
    """Return x / y."""
    return x / y


# What Numba compiles for a call of each function. The last three are parts of series.
SERIES = {
    quotient: quotient_series,
    exp: exp_series,
    sincos: sincos_series,
    sinhcosh: sinhcosh_series,
    log: log_series,
    angle: angle_series,
    ratio: ratio,
    octant: octant,
    unfold: unfold,
}
