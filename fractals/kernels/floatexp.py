"""Complex numbers with an exponent of their own, for depths where float64 has none left.

A number is a tuple ``(x, y, e)``: (x + iy) * 2**e, with one exponent for both parts. `normal`
brings the larger part into [1, 2); between two of its calls parts may grow or shrink a hundred
orders. Zero has the exponent `NEVER`, so that it is never the larger one of a sum.
"""

from typing import Any, NamedTuple

from fractals.kernels.formula import Formula
from fractals.kernels.primitives import fma, number, select, split, two_to
from fractals.kernels.tangent import gradient_derivative

NEVER = -(2**40)
ALIKE = -900  # a z so much smaller than Z, in powers of two, adds nothing to the derivative at Z
SMALL = 2.0**-450  # a reference point below it stands in the list of tiny ones, with its exponent
LIFTED = -400  # where a kink is, a z so much smaller than Z is made that size beside it
LARGEST = 900  # exponent of a kink's number that is beyond all z
LITTLE = 2.0**-50  # a reference point below it is given an exponent


class Arithmetic(NamedTuple):
    """Functions of numbers (x, y, e): `less` compares the larger parts, with a real (x, e)."""

    normal: Any
    times: Any
    plus: Any
    size: Any
    less: Any
    ratio: Any


def make_arithmetic(target: Any, extended: bool) -> Arithmetic:
    """Return the functions; where not `extended` exponents are 0, and cost nothing."""
    jit, int64 = target.jit, target.int64

    def normal(x: Any, y: Any, e: Any) -> Any:
        if not extended:
            return x, y, e
        largest = select(abs(x) < abs(y), abs(y), abs(x))
        if largest == 0:
            return x, y, int64(NEVER)
        _, k = split(largest)
        scale = two_to(-k, x)
        return x * scale, y * scale, int64(e + k)

    normal = jit(normal)

    def times(p: Any, q: Any) -> Any:
        x, y = fma(p[0], q[0], -(p[1] * q[1])), fma(p[0], q[1], p[1] * q[0])
        return normal(x, y, int64(p[2] + q[2])) if extended else (x, y, p[2])

    def plus(p: Any, q: Any) -> Any:
        if not extended:
            return p[0] + q[0], p[1] + q[1], p[2]
        e = select(p[2] < q[2], q[2], p[2])
        s, t = two_to(p[2] - e, p[0]), two_to(q[2] - e, q[0])
        return normal(fma(p[0], s, q[0] * t), fma(p[1], s, q[1] * t), e)

    def size(p: Any) -> Any:
        """Return the larger part as a real (x, e); p is normal."""
        return select(abs(p[0]) < abs(p[1]), abs(p[1]), abs(p[0])), p[2]

    def less(p: Any, q: Any) -> Any:
        """Compare reals (x, e), normal and not negative."""
        if not extended:
            return p[0] < q[0]
        return p[1] < q[1] or (p[1] == q[1] and p[0] < q[0])

    def ratio(p: Any, q: Any) -> Any:
        """Divide reals (x, e), q > 0."""
        x, _, e = normal(p[0] / q[0], p[0] - p[0], int64(p[1] - q[1]) if extended else p[1])
        return x, e

    return Arithmetic(normal, *map(jit, (times, plus, size, less, ratio)))


def make_kinks(target: Any, formula: Formula, extended: bool) -> Any:
    """Return ``kinks(orbit, m)``: the numbers of `Formula.kinks` at a point of the reference.

    Each is a float64 or, where `extended`, two: a mantissa and an exponent.
    """
    int64, count = target.int64, formula.kink_count

    if count == 0:

        def kinks(orbit, m):
            return ()

    elif count == 1 and extended:

        def kinks(orbit, m):
            return orbit[m, 3], int64(orbit[m, 4])

    elif count == 1:

        def kinks(orbit, m):
            return (orbit[m, 2],)

    elif extended:

        def kinks(orbit, m):
            return orbit[m, 4], int64(orbit[m, 5]), orbit[m, 6], int64(orbit[m, 7])

    else:

        def kinks(orbit, m):
            return orbit[m, 2], orbit[m, 3]

    return target.jit(kinks)


def make_reference(target: Any, formula: Formula, extended: bool) -> Any:
    """Return ``reference(orbit, tiny, m) -> (X, Y, E, *kinks)``."""
    int64, normal = target.int64, make_arithmetic(target, extended).normal
    kinks = make_kinks(target, formula, extended)

    def point(orbit, tiny, m):
        x, y = orbit[m, 0], orbit[m, 1]
        if extended and abs(x) < LITTLE and abs(y) < LITTLE:
            if abs(x) < SMALL and abs(y) < SMALL:
                for k in range(tiny.shape[0]):
                    if tiny[k, 0] == m:
                        return tiny[k, 1], tiny[k, 2], int64(tiny[k, 3])
            return normal(x, y, int64(0))  # else its product with a small z might underflow
        return x, y, int64(0)

    if formula.kink_count == 0:
        return target.jit(point)
    point = target.jit(point)

    def reference(orbit, tiny, m):
        return point(orbit, tiny, m) + kinks(orbit, m)

    return target.jit(reference)


def make_kinks_beside(target: Any, formula: Formula) -> Any:
    """Return ``beside(Z, e, lift)``: the kinks' numbers of Z / 2**e, times 2**lift, in float64."""
    count = formula.kink_count
    first, second = (*(formula.kink_degrees or (2, 2)), 0)[:2]

    if count == 0:

        def beside(Z, e, lift):
            return ()

    elif count == 1:

        def beside(Z, e, lift):
            return (Z[3] * two_to(min(Z[4] - first * e + lift, LARGEST), Z[3]),)

    else:

        def beside(Z, e, lift):
            p = two_to(min(Z[4] - first * e + lift, LARGEST), Z[3])
            q = two_to(min(Z[6] - second * e + lift, LARGEST), Z[5])
            return Z[3] * p, Z[5] * q

    return target.jit(beside)


def make_moved(target: Any, formula: Any, extended: bool) -> Any:
    """Return ``moved(Z, z)``: f(Z + z) - f(Z) for numbers (x, y, e).

    f is homogeneous, so both can be scaled alike; where z is negligible beside Z, f is linear.
    But where a kink runs between Z and Z + z it is not, however small z is. What is added to the
    numbers whose absolute values are taken is linear in z there: so z and these numbers are
    scaled alike, until products of z with itself are negligible but do not underflow.
    """
    if extended and formula.kink_count:
        return _make_moved_across(target, formula)
    step, derive = target.jit(formula.perturbed), target.jit(formula.derivative)
    normal = make_arithmetic(target, extended).normal
    degree, int64 = formula.degree, target.int64

    def moved(Z, z):
        zero = number(0, z[0])
        if not extended:
            x, y = step(Z[0], Z[1], z[0], z[1], zero, zero, *Z[3:])
            return x, y, z[2]
        if z[2] - Z[2] < ALIKE:
            x, y = derive(Z[0], Z[1], z[0], z[1])
            return normal(x, y, int64(Z[2] * (degree - 1) + z[2]))
        e = select(Z[2] < z[2], z[2], Z[2])
        s, t = two_to(Z[2] - e, zero), two_to(z[2] - e, zero)
        x, y = step(Z[0] * s, Z[1] * s, z[0] * t, z[1] * t, zero, zero)
        return normal(x, y, int64(degree * e))

    return target.jit(moved)


def _make_moved_across(target: Any, formula: Formula) -> Any:
    """Return `moved` for a formula with kinks, which is of degree 2."""
    step, beside = target.jit(formula.perturbed), make_kinks_beside(target, formula)
    normal, int64 = make_arithmetic(target, True).normal, target.int64

    def moved(Z, z):
        zero = number(0, z[0])
        apart = z[2] - Z[2]
        lift = select(apart < LIFTED, LIFTED - apart, int64(0))
        e = select(Z[2] < z[2], z[2], Z[2])
        s, t = two_to(Z[2] - e, zero), two_to(z[2] - e + lift, zero)
        numbers = beside(Z, e, lift)
        x, y = step(Z[0] * s, Z[1] * s, z[0] * t, z[1] * t, zero, zero, *numbers)
        return normal(x, y, int64(2 * e - lift))

    return target.jit(moved)


def make_within(target: Any, formula: Formula, extended: bool, near_radius: bool) -> Any:
    """Return ``(within_plain, within)``: whether Z + z, as (x, y) or (x, y, e), has not escaped.

    Where the reference comes `near_radius`, Z + z rounded to float64 may lie on the other side.
    Then |Z|² - R², computed with the reference, decides together with |Z + z|² - |Z|².
    """
    jit, int64, plus = target.jit, target.int64, make_arithmetic(target, extended).plus
    plain = make_plain(target, extended)
    column = radius_column(formula, extended)

    if near_radius:

        @jit
        def within_plain(orbit, m, Z, z, W, radius2):
            more = fma(Z[0] + W[0], z[0], (Z[1] + W[1]) * z[1])
            return orbit[m, column] + more <= number(0, more)

    else:

        @jit
        def within_plain(orbit, m, Z, z, W, radius2):
            return fma(W[0], W[0], W[1] * W[1]) <= radius2

    if near_radius and extended:

        @jit
        def within(orbit, m, Z, z, W, radius2):
            both = plus(Z, W)
            more = fma(both[0], z[0], both[1] * z[1])
            if more == 0:
                return orbit[m, column + 1] <= 0
            e, f = int64(orbit[m, column + 2]), both[2] + z[2]
            top = select(e < f, f, e)
            s, t = two_to(e - top, more), two_to(f - top, more)
            return fma(orbit[m, column + 1], s, more * t) <= 0

    else:

        @jit
        def within(orbit, m, Z, z, W, radius2):
            return within_plain(orbit, m, Z, z, plain(W), radius2)

    return within_plain, within


def radius_column(formula: Formula, extended: bool) -> int:
    """Return the column of the orbit with |Z|² - R²; where `extended`, two more with its parts."""
    return 2 + formula.kink_count * (3 if extended else 1)


def make_plain(target: Any, extended: bool) -> Any:
    """Return ``plain((x, y, e)) -> (x, y)``: a number in float64, 0 where it is too small."""
    if extended:

        def plain(z):
            scale = two_to(z[2], z[0])
            return z[0] * scale, z[1] * scale

    else:

        def plain(z):
            return z[0], z[1]

    return target.jit(plain)


def make_slopes(target: Any, formula: Formula, extended: bool) -> Any:
    """Return ``along(W, d)``: f'(W) d; and ``slope(W, d, t)``: dz in float64.

    It is the complex derivative, or what gives |z| the same gradient.
    """
    derive, int64 = target.jit(formula.derivative), target.int64
    normal, plain = make_arithmetic(target, extended).normal, make_plain(target, extended)
    degree, holomorphic = formula.degree, formula.holomorphic
    whole = target.jit(gradient_derivative)

    def along(W, d):
        x, y = derive(W[0], W[1], d[0], d[1])
        return normal(x, y, int64(W[2] * (degree - 1) + d[2]) if extended else d[2])

    def slope(W, d, t):
        p, q = plain(d)
        if holomorphic:
            return p, q
        x, y = plain(W)
        s, r = plain(t)
        return whole(x, y, p, q, s, r)

    return target.jit(along), target.jit(slope)
