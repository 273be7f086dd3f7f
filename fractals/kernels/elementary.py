"""exp, sine, cosine, logarithm and angle of real numbers: the same bits on every target.

No library's are the same on CPU and GPU. Each is a series in `fma`, without a branch, for numbers
and packs; in float64 it is off by a few units in the last place. Big floats are given to their own
library.
"""

import math
from typing import Any

import numpy as np

from fractals.kernels.primitives import fma, number, select

PI = 3.141592653589793
# Half of pi and log 2 in pieces that float32 holds, too.
PI_1, PI_2, PI_3, PI_4 = (
    1.570796012878418,
    3.139164164167596e-07,
    6.223369259164557e-14,
    2.912732056093356e-20,
)
LN_1, LN_2, LN_3 = 0.6931467056274414, 4.7493244892393705e-07, 5.4979370506398e-14
FARTHEST = 700.0  # exponent beyond which exp is not told from exp(FARTHEST)
# Of arctan(t) / t in t², for t up to tan(22.5°): fitted at Chebyshev's points.
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
LOW_SLOPE, ROOT = 0.41421356237309503, 1.4142135623730951


def exp(x: Any) -> Any:
    """Return e**x; at most e**700.

    Examples
    --------
    >>> exp(0.0), round(exp(1.0), 12)
    (1.0, 2.718281828459)
    """
    return exp_series(x) if _is_plain(x) else _of_library("exp", x)


def sincos(x: Any) -> tuple[Any, Any]:
    """Return the sine and the cosine of x.

    Examples
    --------
    >>> sincos(0.0)
    (0.0, 1.0)
    """
    return sincos_series(x) if _is_plain(x) else (_of_library("sin", x), _of_library("cos", x))


def sinhcosh(x: Any) -> tuple[Any, Any]:
    """Return the hyperbolic sine and cosine of x."""
    return sinhcosh_series(x) if _is_plain(x) else (_of_library("sinh", x), _of_library("cosh", x))


def log(x: Any) -> Any:
    """Return the natural logarithm of x; that of the smallest normal number for what is less.

    Examples
    --------
    >>> log(1.0), round(log(10.0), 12)
    (0.0, 2.302585092994)
    """
    return log_series(x) if _is_plain(x) else _of_library("log", x)


def angle(x: Any, y: Any) -> Any:
    """Return the angle of x + iy, from -pi to pi; 0 for 0.

    Examples
    --------
    >>> angle(1.0, 0.0), round(angle(-1.0, 1.0) / PI, 12)
    (0.0, 0.75)
    """
    return angle_series(x, y) if _is_plain(x) else _of_library("atan2", y, x)


def quotient(x: Any, y: Any) -> Any:
    """Return x / y, as IEEE 754 has it where y is 0.

    Examples
    --------
    >>> quotient(-1.0, 0.0)
    -inf
    """
    if type(x) is float and y == 0:
        return math.copysign(math.inf, x) * math.copysign(1, y) if x else math.nan
    if not _is_plain(x) and y == 0:
        return x * math.inf
    return x / y


def nearest(x: Any) -> Any:
    """Return the nearest whole number; the even one of two."""
    return type(x)(np.rint(x)) if not isinstance(x, np.ndarray) else np.rint(x)


def parts(v: Any) -> tuple[Any, Any]:
    """Return m in [1, 2) and the whole number e with ``v == m * 2**e``, for a normal v > 0."""
    m, e = np.frexp(v)
    return _like(m * 2, v), _like(e - 1, v)


def scaled(v: Any, k: Any) -> Any:
    """Return v * 2**k for a whole number k; for exponents of normal numbers, and 0 below them."""
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


# --- The series. Compiled code takes them as they are.


def exp_series(x):
    """Return e**x: 2**k times a power series of what is left."""
    far = number(FARTHEST, x)
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
    return scaled(s + number(1, x), k)


def sincos_series(x):
    """Return sine and cosine: those of the rest after k right angles, put into their quadrant."""
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
    """Return both from e**x; near 0 the sine from its own series, which does not cancel."""
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
    """Return the logarithm: that of the mantissa m by artanh((m - 1) / (m + 1)), and e log 2."""
    one = number(1, x)
    large = scaled(number(0.25, x), number(1023, x))
    small = one / large
    m, e = parts(select(x > small, select(x < large, x, large), small))
    high = m > number(ROOT, x)
    m, e = select(high, m * number(0.5, x), m), select(high, e + one, e)
    s = (m - one) / (m + one)
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


def angle_series(x, y):
    """Return the angle: a series of the slope, below 22.5 degrees, put into its octant."""
    zero, one = number(0, x), number(1, x)
    p, q = abs(x), abs(y)
    steep = q > p
    large, small = select(steep, q, p), select(steep, p, q)
    far = small > large * number(LOW_SLOPE, x)  # then it is the angle from 45° on
    above, below = select(far, small - large, small), select(far, small + large, large)
    t = above / select(below > zero, below, one)
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
    found = fma(t, r, select(far, number(PI / 4, x), zero))
    found = select(steep, number(PI / 2, x) - found, found)
    found = select(x < zero, number(PI, x) - found, found)
    return select(y < zero, -found, found)


def quotient_series(x, y):
    """Return x / y."""
    return x / y


SERIES = {
    quotient: quotient_series,
    exp: exp_series,
    sincos: sincos_series,
    sinhcosh: sinhcosh_series,
    log: log_series,
    angle: angle_series,
}
