"""Arithmetic of double-double numbers: unevaluated sums h + l of two float64, of some 104 bits.

h is the float64 nearest to the sum. The functions are compiled as they stand, for every target:
each product is an `fma`, so no compiler can contract it, and the bits are equal everywhere.

Sources: two_sum is Knuth's (1969), double-double that of Dekker (1971); the sums are those that
Hida, Li and Bailey (2001) call sloppy, whose error is at most a few 2**-105 of the larger operand,
as that of a float64 sum of operands that were rounded before. Joldes, Muller and Popescu (2017)
prove bounds for all of them.
"""

from fractals.kernels.elementary import nearest, quotient
from fractals.kernels.primitives import fma, number, select, sqrt


def total(ah, al, bh, bl):
    """Return a + b. The numbers need not be normalized, if their low parts are a few ulps."""
    s = ah + bh
    t = s - ah
    e = ((ah - (s - t)) + (bh - t)) + (al + bl)
    h = s + e
    return h, e - (h - s)


def total_single(ah, al, b):
    """Return a + b, where b is a float64."""
    s = ah + b
    t = s - ah
    e = ((ah - (s - t)) + (b - t)) + al
    h = s + e
    return h, e - (h - s)


def total_singles(a, b):
    """Return the exact sum of two float64."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def product(ah, al, bh, bl):
    """Return a b, not normalized: its low part may be a few ulps of its high part."""
    p = fma(ah, bh, number(0, ah))
    return p, fma(al, bh, fma(ah, bl, fma(ah, bh, -p)))


def product_single(ah, al, b):
    """Return a b, where b is a float64, not normalized."""
    p = fma(ah, b, number(0, ah))
    return p, fma(al, b, fma(ah, b, -p))


def product_singles(a, b):
    """Return the exact product of two float64."""
    p = fma(a, b, number(0, a))
    return p, fma(a, b, -p)


def square(ah, al):
    """Return a squared, not normalized."""
    p = fma(ah, ah, number(0, ah))
    return p, fma(ah + ah, al, fma(ah, ah, -p))


def normalized(s, e):
    """Return s + e, where e is below s."""
    h = s + e
    return h, e - (h - s)


def divided(ah, al, bh, bl):
    """Return a / b; where the quotient of float64 is an infinity, or NaN, that."""
    q, zero = quotient(ah, bh), number(0, ah)
    e = quotient(fma(-q, bl, fma(-q, bh, ah) + al), bh)
    h = q + e
    finite = e - e == zero
    return select(finite, h, q), select(finite, e - (h - q), zero)


def root(ah, al):
    """Return the square root of a; NaN below 0, and 0 of 0."""
    s, zero = sqrt(ah), number(0, ah)
    e = quotient(fma(-s, s, ah) + al, s + s)
    h = s + e
    finite = e - e == zero
    return select(finite, h, s), select(finite, e - (h - s), zero)


def whole(ah, al):
    """Return the whole number nearest to a; of two, the even one."""
    zero, one, half = number(0, ah), number(1, ah), number(0.5, ah)
    n = nearest(ah)
    off = ah - n
    n = select((off == half) & (al > zero), n + one, n)
    n = select((off == -half) & (al < zero), n - one, n)
    return normalized(n, select(off == zero, nearest(al), zero))


def below(ah, al, bh, bl):
    """Tell whether a < b."""
    return (ah < bh) | ((ah == bh) & (al < bl))


def at_most(ah, al, bh, bl):
    """Tell whether a <= b."""
    return (ah < bh) | ((ah == bh) & (al <= bl))


def equal(ah, al, bh, bl):
    """Tell whether a == b."""
    return (ah == bh) & (al == bl)


def unequal(ah, al, bh, bl):
    """Tell whether a != b."""
    return (ah != bh) | (al != bl)
