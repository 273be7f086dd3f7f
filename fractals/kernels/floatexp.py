"""Floatexp: complex numbers with an exponent of their own, where float64 has none left.

A number is a tuple ``(x, y, e)``: (x + iy) * 2**e, with one exponent for both parts; a real number
is a tuple ``(x, e)``. `normal` brings the larger part into [1, 2); between two of its calls parts
may grow or shrink by a hundred orders of magnitude.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from fractals.kernels.formula import Formula
from fractals.kernels.layout import ORBIT_KINKS, ORBIT_Z, TINY_INDEX, TINY_Z
from fractals.kernels.primitives import fma, number, select, split, two_to

# Exponent of 0: below that of all other numbers, so that 0 is never the larger part of a sum.
ZERO_EXPONENT = -(2**40)
# Exponent of two of z / Z below which f(Z + z) - f(Z) is computed as f'(Z) z. The square term is
# smaller than the linear one by this factor, far below the rounding of float64. Scaling z to the
# exponent of Z would lose its smaller part, which decides alone beside the real axis.
LINEAR_EXPONENT = -100
# A point of the reference with smaller parts is kept in `tiny`, with an exponent. The square of a
# larger one is at least 2**-900, which float64 holds with all its bits.
MAX_TINY = 2.0**-450
# Exponent of two of z / Z: beside a kink, where f is not linear however small z is, a smaller z is
# scaled up to this size. Products of z with itself are then negligible, and do not underflow.
LIFTED_EXPONENT = -400
# Relative size of a part that underflowed, for the derivative of f only: products with normalized
# parts do not underflow, and the part stays negligible.
SIDE = 2.0**-500
# Largest exponent of two of a kink's number beside z: all z are smaller, so none crosses the kink.
MAX_KINK_EXPONENT = 900
# A point of the reference with smaller parts gets an exponent before it is used: its product with a
# small z would be out of range. Larger points keep the exponent 0, which is quicker.
MAX_NORMALIZED = 2.0**-50


class Arithmetic(NamedTuple):
    """Functions of numbers (x, y, e) and reals (x, e)."""

    normal: Any  # ``normal(x, y, e)``: the same number with its larger part in [1, 2)
    # times, plus: the product and the sum of two numbers
    times: Any
    plus: Any
    size: Any  # the larger part of a normal number as a real (x, e)
    less: Any  # whether a real is less than another; both are normal and not negative
    ratio: Any  # the quotient of two reals; the second is above 0


def make_arithmetic(target: Any, floatexp: bool) -> Arithmetic:
    """Return the arithmetic; without `floatexp` exponents are 0 and cost nothing."""
    jit, int64 = target.jit, target.int64

    def normal(x: Any, y: Any, e: Any) -> Any:
        if not floatexp:
            return x, y, e
        largest = abs(select(abs(x) < abs(y), y, x))
        if largest == 0:
            return x, y, int64(ZERO_EXPONENT)
        _, k = split(largest)
        scale = two_to(-k, x)
        return x * scale, y * scale, int64(e + k)

    normal = jit(normal)

    def times(p: Any, q: Any) -> Any:
        x, y = fma(p[0], q[0], -(p[1] * q[1])), fma(p[0], q[1], p[1] * q[0])
        return normal(x, y, int64(p[2] + q[2])) if floatexp else (x, y, p[2])

    def plus(p: Any, q: Any) -> Any:
        if not floatexp:
            return p[0] + q[0], p[1] + q[1], p[2]
        e = select(p[2] < q[2], q[2], p[2])
        s, t = two_to(p[2] - e, p[0]), two_to(q[2] - e, q[0])
        return normal(fma(p[0], s, q[0] * t), fma(p[1], s, q[1] * t), e)

    def size(p: Any) -> Any:
        return abs(select(abs(p[0]) < abs(p[1]), p[1], p[0])), p[2]

    def less(p: Any, q: Any) -> Any:
        if not floatexp:
            return p[0] < q[0]
        return (p[1] < q[1]) | ((p[1] == q[1]) & (p[0] < q[0]))

    def ratio(p: Any, q: Any) -> Any:
        x, _, e = normal(p[0] / q[0], p[0] - p[0], int64(p[1] - q[1]) if floatexp else p[1])
        return x, e

    return Arithmetic(normal, *map(jit, (times, plus, size, less, ratio)))


def make_kinks(target: Any, formula: Formula, floatexp: bool) -> Any:
    """Return ``kinks(orbit, m)``: the numbers of `Formula.kinks` at Z_m.

    Each is a float64 or, with `floatexp`, two numbers: x and e.
    """
    int64, count = target.int64, formula.kink_count
    first = ORBIT_KINKS + count  # of the columns with exponents

    if count == 0:

        def kinks(orbit: Any, m: Any) -> Any:
            return ()

    elif count == 1 and floatexp:

        def kinks(orbit: Any, m: Any) -> Any:
            return orbit[m, first], int64(orbit[m, first + 1])

    elif count == 1:

        def kinks(orbit: Any, m: Any) -> Any:
            return (orbit[m, ORBIT_KINKS],)

    elif floatexp:

        def kinks(orbit: Any, m: Any) -> Any:
            x, e = orbit[m, first], int64(orbit[m, first + 1])
            return x, e, orbit[m, first + 2], int64(orbit[m, first + 3])

    else:

        def kinks(orbit: Any, m: Any) -> Any:
            return orbit[m, ORBIT_KINKS], orbit[m, ORBIT_KINKS + 1]

    return target.jit(kinks)


def radius_column(formula: Formula, floatexp: bool) -> int:
    """Return the column of |Z|² - R²; with `floatexp`, x and e follow."""
    return ORBIT_KINKS + formula.kink_count * (3 if floatexp else 1)


def make_kinks_beside(target: Any, formula: Formula) -> Any:
    """Return ``beside(Z, e, lift)``: the kinks' numbers, scaled to float64.

    They are those of Z / 2**e, times 2**lift.
    """
    count = formula.kink_count
    first, second = (*(formula.kink_degrees or (2, 2)), 0)[:2]

    if count == 0:

        def beside(Z: Any, e: Any, lift: Any) -> Any:
            return ()

    elif count == 1:

        def beside(Z: Any, e: Any, lift: Any) -> Any:
            return (Z[3] * two_to(min(Z[4] - first * e + lift, MAX_KINK_EXPONENT), Z[3]),)

    else:

        def beside(Z: Any, e: Any, lift: Any) -> Any:
            p = two_to(min(Z[4] - first * e + lift, MAX_KINK_EXPONENT), Z[3])
            q = two_to(min(Z[6] - second * e + lift, MAX_KINK_EXPONENT), Z[5])
            return Z[3] * p, Z[5] * q

    return target.jit(beside)


@dataclass(frozen=True)
class Ops:
    """Functions of numbers that the parts of one program share; each is made once, when needed.

    Without `floatexp` exponents are 0 and cost nothing.
    """

    target: Any  # a Target
    formula: Formula
    floatexp: bool  # whether numbers have an exponent of their own

    @cached_property
    def arithmetic(self) -> Arithmetic:
        """Return the arithmetic of numbers."""
        return make_arithmetic(self.target, self.floatexp)

    @cached_property
    def readers(self) -> tuple[Any, Any]:
        """Return ``number_at(table, row, column)`` and ``real_at(table, row, column)``.

        They read the number (x, y, e) or the real (x, e) that begins in a column of a table.
        """
        int64 = self.target.int64

        def number_at(table: Any, row: Any, column: Any) -> Any:
            return table[row, column], table[row, column + 1], int64(table[row, column + 2])

        def real_at(table: Any, row: Any, column: Any) -> Any:
            return table[row, column], int64(table[row, column + 1])

        return self.target.jit(number_at), self.target.jit(real_at)

    @cached_property
    def plain(self) -> Any:
        """Return ``plain((x, y, e)) -> (x, y)``: a number in float64, or 0."""
        if self.floatexp:

            def plain(z: Any) -> Any:
                scale = two_to(z[2], z[0])
                return z[0] * scale, z[1] * scale

        else:

            def plain(z: Any) -> Any:
                return z[0], z[1]

        return self.target.jit(plain)

    @cached_property
    def reference(self) -> Any:
        """Return ``reference(orbit, tiny, m) -> (X, Y, E, *kinks)``: the point Z_m."""
        target, formula, floatexp = self.target, self.formula, self.floatexp
        int64, normal = target.int64, self.arithmetic.normal
        kinks, (number_at, _) = make_kinks(target, formula, floatexp), self.readers

        def point(orbit: Any, tiny: Any, m: Any) -> Any:
            x, y = orbit[m, ORBIT_Z], orbit[m, ORBIT_Z + 1]
            if floatexp and abs(x) < MAX_NORMALIZED and abs(y) < MAX_NORMALIZED:
                if abs(x) < MAX_TINY and abs(y) < MAX_TINY:
                    first, end = int64(0), int64(tiny.shape[0])  # between them is the point, if any
                    while first < end:
                        middle = (first + end) // 2
                        if tiny[middle, TINY_INDEX] < m:
                            first = middle + 1
                        else:
                            end = middle
                    if first < tiny.shape[0] and tiny[first, TINY_INDEX] == m:
                        return number_at(tiny, first, TINY_Z)
                return normal(x, y, int64(0))
            return x, y, int64(0)

        point = target.jit(point)
        if formula.kink_count == 0:
            return point

        def reference(orbit: Any, tiny: Any, m: Any) -> Any:
            return point(orbit, tiny, m) + kinks(orbit, m)

        return target.jit(reference)

    def move(self, near_radius: bool) -> Any:
        """Return ``move_at(orbit, m)``: Z_m - Z_(m-1), from the last columns of the orbit."""
        int64, floatexp = self.target.int64, self.floatexp
        column = radius_column(self.formula, floatexp)
        if near_radius:
            column += 3 if floatexp else 1

        if floatexp:

            def move_at(orbit: Any, m: Any) -> Any:
                return orbit[m, column], orbit[m, column + 1], int64(orbit[m, column + 2])

        else:

            def move_at(orbit: Any, m: Any) -> Any:
                return orbit[m, column], orbit[m, column + 1], int64(0)

        return self.target.jit(move_at)

    @cached_property
    def moved(self) -> Any:
        """Return ``moved(Z, z)``: f(Z + z) - f(Z) for numbers (x, y, e).

        f is homogeneous, so Z and z are scaled by the same power of two; where z is negligible
        beside Z, f is linear. Where a kink lies between Z and Z + z f is not linear, however small
        z is: see `_moved_across_kinks`.
        """
        target, formula, floatexp = self.target, self.formula, self.floatexp
        if floatexp and formula.kink_count:
            return self._moved_across_kinks()
        step, derive = target.jit(formula.perturbed), target.jit(formula.derivative)
        normal = self.arithmetic.normal
        degree, int64 = formula.degree, target.int64

        def moved(Z: Any, z: Any) -> Any:
            zero = number(0, z[0])
            if not floatexp:
                x, y = step(Z[0], Z[1], z[0], z[1], zero, zero, *Z[3:])
                return x, y, z[2]
            if z[2] - Z[2] < LINEAR_EXPONENT:
                x, y = derive(Z[0], Z[1], z[0], z[1])
                return normal(x, y, int64(Z[2] * (degree - 1) + z[2]))
            e = select(Z[2] < z[2], z[2], Z[2])
            s, t = two_to(Z[2] - e, zero), two_to(z[2] - e, zero)
            x, y = step(Z[0] * s, Z[1] * s, z[0] * t, z[1] * t, zero, zero)
            return normal(x, y, int64(degree * e))

        return target.jit(moved)

    def _moved_across_kinks(self) -> Any:
        """Return `moved` for a formula with kinks.

        What z adds to the numbers whose absolute values are taken is linear in z if z is negligible
        beside Z. So z and these numbers are scaled by one power of two, the lift, until products of
        z with itself are negligible but do not underflow.
        """
        target, formula = self.target, self.formula
        step, beside = target.jit(formula.perturbed), make_kinks_beside(target, formula)
        normal, int64 = self.arithmetic.normal, target.int64
        degree = formula.degree

        def moved(Z: Any, z: Any) -> Any:
            zero = number(0, z[0])
            relative = z[2] - Z[2]
            lift = select(relative < LIFTED_EXPONENT, LIFTED_EXPONENT - relative, int64(0))
            e = select(Z[2] < z[2], z[2], Z[2])
            s, t = two_to(Z[2] - e, zero), two_to(z[2] - e + lift, zero)
            kinks = beside(Z, e, lift)
            x, y = step(Z[0] * s, Z[1] * s, z[0] * t, z[1] * t, zero, zero, *kinks)
            return normal(x, y, int64(degree * e - lift))

        return target.jit(moved)

    @cached_property
    def along(self) -> Any:
        """Return ``along(W, d)``: f'(W) d for numbers (x, y, e)."""
        jit, formula, floatexp = self.target.jit, self.formula, self.floatexp
        derive, degree, int64 = jit(formula.derivative), formula.degree, self.target.int64
        normal = self.arithmetic.normal

        def along(W: Any, d: Any) -> Any:
            x, y = derive(W[0], W[1], d[0], d[1])
            return normal(x, y, int64(W[2] * (degree - 1) + d[2]) if floatexp else d[2])

        return jit(along)

    @cached_property
    def sided(self) -> Any:
        """Return ``sided(W, z)``: W = Z + z, on its side of the axes, where f may have kinks.

        A part of W that is far smaller than the other part underflows to 0. It gets the sign of z's
        part, because the derivative of f changes with that sign. Only `along` takes the result:
        the size of the part is made up.
        """
        if not (self.floatexp and self.formula.kink_count):

            def sided(W: Any, z: Any) -> Any:
                return W

        else:

            def sided(W: Any, z: Any) -> Any:
                return side(W[0], z[0]), side(W[1], z[1]), W[2]

        def signed(part: Any, small: Any) -> Any:
            zero, tiny = number(0, part), number(SIDE, part)
            sign = select(small < zero, -tiny, select(small > zero, tiny, zero))
            return select(part == zero, sign, part)

        side = self.target.jit(signed)
        return self.target.jit(sided)

    def within(self, near_radius: bool) -> tuple[Any, Any]:
        """Return ``(within_plain, within)``: whether an orbit has not escaped.

        Both are called as ``within(orbit, m, Z, z, W, escape_radius_squared)``, with Z, z and
        W = Z + z as (x, y), or as numbers (x, y, e).

        `near_radius`: whether some point of the reference is so near to the escape radius R that
        Z + z, rounded to float64, may lie on the other side. Then |Z|² - R², which was computed in
        the precision of the reference, decides together with |Z + z|² - |Z|².
        """
        jit, int64, floatexp = self.target.jit, self.target.int64, self.floatexp
        plus, plain = self.arithmetic.plus, self.plain
        column = radius_column(self.formula, floatexp)

        if near_radius:

            @jit
            def within_plain(orbit, m, Z, z, W, radius_squared):
                more = fma(Z[0] + W[0], z[0], (Z[1] + W[1]) * z[1])
                return orbit[m, column] + more <= number(0, more)

        else:

            @jit
            def within_plain(orbit, m, Z, z, W, radius_squared):
                return fma(W[0], W[0], W[1] * W[1]) <= radius_squared

        if near_radius and floatexp:

            @jit
            def within(orbit, m, Z, z, W, radius_squared):
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
            def within(orbit, m, Z, z, W, radius_squared):
                return within_plain(orbit, m, Z, z, plain(W), radius_squared)

        return within_plain, within
