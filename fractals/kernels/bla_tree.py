"""The programs that fill the trees of linear approximations (`fractals.kernels.bla`), on the CPU.

Several threads may fill blocks of a tree.
"""

import math
from typing import Any, NamedTuple

from fractals.kernels.bla import LOWEST_LEVEL, TOLERANCE, make_larger, make_row
from fractals.kernels.floatexp import MAX_TINY, ZERO_EXPONENT, Ops, make_kinks, make_kinks_beside
from fractals.kernels.layout import (
    BLA_B,
    BLA_RADIUS,
    BLA_RADIUS_C,
    BLA_SIZE,
    FLOATEXP_A,
    FLOATEXP_B,
    FLOATEXP_RADIUS,
    FLOATEXP_RADIUS_C,
    MATRIX_B,
    MATRIX_RADIUS,
    MATRIX_RADIUS_C,
    MATRIX_SIZE,
    ORBIT_Z,
)
from fractals.kernels.primitives import number, select, split, two_to

# A z longer than this share of |Z| is about to be rebased, so no skip is valid there.
NEAR_REBASING = 0.125
# Largest coefficient of c. The product with a c that float64 can hold stays in its range of 1e308;
# an entry with a larger coefficient is never valid.
MAX_COEFFICIENT = 1e290
# In plane units: no skip is valid where |Z| is larger, because the orbit is about to escape.
MAX_REFERENCE = 4.0
# Share of the escape radius. A skip tests for escape only where it ends, so none leads a sample
# nearer to the escape radius.
WITHIN = 1 - 2.0**-20
# Parts of the room between |Z| and the escape radius: z may take one, and c one at each level of
# the tree, so that their sum does not leave the room.
ROOM_PARTS = 16
# Exponent of two of c, below which float64 has no number for c; its part is then left out.
MIN_EXPONENT_C = -1000
# Exponent of two of a view's radius, below which E and F are left out: products of E, F and D grow
# as the third power of 1 / |c|, and would leave the range of float64.
MIN_CURVED_EXPONENT = -200
# Parts of the tolerance that the terms of third order z³, z² c and z c² may take, one each.
PARTS = 3
FEW = 4  # steps that are joined one by one; an entry of the lowest level joins these


class Skip(NamedTuple):
    """An entry of the tree of a holomorphic formula, in the order of its columns."""

    ax: Any
    ay: Any
    dx: Any
    dy: Any
    bx: Any
    by: Any
    ex: Any
    ey: Any
    fx: Any
    fy: Any
    radius: Any
    radius_c: Any


class MatrixSkip(NamedTuple):
    """An entry of the tree of another formula, in the order of its columns."""

    a0: Any
    a1: Any
    a2: Any
    a3: Any
    b0: Any
    b1: Any
    b2: Any
    b3: Any
    radius: Any
    radius_c: Any


def make_room(target):
    """Return ``room(X, Y, radius_squared)``: a |z| with which Z + z stays within."""

    @target.jit
    def room(X, Y, radius_squared):
        free = math.sqrt(radius_squared) * WITHIN - math.sqrt(X * X + Y * Y)
        return max(number(0, X), free / ROOM_PARTS)

    return room


def make_lower(target):
    """Return ``lower(r, v, w)`` and ``lower_root(r, v, w)``.

    The first is the smaller of r and v / w, the second that of r and the root of v / w. Both are r
    where w is 0 or NaN.
    """

    @target.jit
    def lower(r, v, w):
        known = w > 0
        return select(known, min(r, v / select(known, w, number(1, w))), r)

    @target.jit
    def lower_root(r, v, w):
        known = w > 0
        return select(known, min(r, math.sqrt(v / select(known, w, number(1, w)))), r)

    return lower, lower_root


def make_tree_body(target, formula, curved):
    """Return the body that fills the tree.

    ``body(x0, y0, dx, dy, tree, orbit, levels, ends, exponent, largest_c, radius_squared, part)``:
    the arrays are those of `fractals.kernels.layout.PerturbTables`, ``ends`` the last indices of
    the orbits in ``orbit``, ``exponent`` the exponent of two of c, and ``radius_squared`` the
    square of the escape radius. With `curved`, the terms E and F of a holomorphic formula are
    computed, which are 0 otherwise; ``largest_c`` is then the largest part of any sample's c.
    ``part`` is ``(low, high, first, last)``: what is filled are the levels from ``low`` to before
    ``high``, over the entries of level 0 from ``first`` to before ``last``. Entries that are never
    valid are not written.
    """
    int64, holomorphic = target.int64, formula.holomorphic
    if holomorphic:
        single, joined = make_holomorphic_entries(target, formula, curved)
    else:
        single, joined = make_matrix_entries(target, formula)
    size = BLA_SIZE if holomorphic else MATRIX_SIZE
    radius = BLA_RADIUS if holomorphic else MATRIX_RADIUS
    radius_c = BLA_RADIUS_C if holomorphic else MATRIX_RADIUS_C
    begin_c, end_c = (BLA_B, BLA_RADIUS) if holomorphic else (MATRIX_B, MATRIX_RADIUS)
    row = make_row(target, formula)
    entry_of: Any = Skip if holomorphic else MatrixSkip

    @target.jit
    def put(tree, i, entry, has_c):
        zero, infinite = number(0, entry[0]), number(math.inf, entry[0])
        valid, valid_c = entry[radius], entry[radius_c]
        for k in range(size):
            value = entry[k]
            if k < begin_c:  # a z of 0 would become NaN
                valid = select(abs(value) < infinite, valid, zero)
            elif k < end_c:
                value = select(has_c, value, zero)
                # c of an exponential map has any size.
                valid_c = select(abs(value) < MAX_COEFFICIENT, valid_c, zero)
            tree[i, k] = value
        tree[i, radius] = valid
        tree[i, radius_c] = select(has_c, valid_c, infinite)

    @target.jit
    def get(tree, i):
        return entry_of(*row(tree, i), tree[i, radius], tree[i, radius_c])

    @target.jit
    def few(orbit, m, radius_squared, largest_c):
        """Return the entry of some steps: joined in parts, fewer errors add up."""
        entry = single(orbit, m, radius_squared)
        for k in range(1, FEW):
            entry = joined(entry, single(orbit, m + k, radius_squared), largest_c)
        return entry

    def body(x0, y0, dx, dy, tree, orbit, levels, ends, exponent, largest_c, radius_squared, part):
        low, high, first, last = part
        has_c = exponent > MIN_EXPONENT_C
        step, steps = int64(1 << LOWEST_LEVEL), orbit.shape[0] - 2
        if low == 0 < high:
            for i in range(first, min(last, steps >> LOWEST_LEVEL)):
                m = 1 + i * step
                entry = few(orbit, m, radius_squared, largest_c)
                for k in range(FEW, step, FEW):
                    later = few(orbit, m + k, radius_squared, largest_c)
                    entry = joined(entry, later, largest_c)
                put(tree, levels[0] + i, entry, has_c)
            for k in range(ends.shape[0]):  # no skip leads from one orbit into the next
                i = (ends[k] - 1) >> LOWEST_LEVEL
                if first <= i < min(last, steps >> LOWEST_LEVEL):
                    tree[levels[0] + i, radius] = 0
        for level in range(max(low, 1), high):
            below, here = levels[level - 1], levels[level]
            for i in range(first >> level, min(last >> level, steps >> (LOWEST_LEVEL + level))):
                p, q = get(tree, below + 2 * i), get(tree, below + 2 * i + 1)
                put(tree, here + i, joined(p, q, largest_c), has_c)

    return body


def make_holomorphic_entries(target, formula, curved):
    """Return ``single(orbit, m, radius_squared)`` and ``joined(p, q, largest_c)``.

    The first is the `Skip` of one step from Z_m, the second the `Skip` by p, then q. They branch on
    no value.
    """
    derive, degree, larger = target.jit(formula.derivative), formula.degree, make_larger(target)
    # The square term of (Z + z)**d, relative to its linear term, is this times z / Z.
    curve = (degree - 1) / 2
    # An entry leaves out the cubic term, which is 0 for a formula of degree 2.
    cubic = NEAR_REBASING
    if degree > 2:
        cubic = math.sqrt(6 * TOLERANCE / ((degree - 1) * (degree - 2)))
    share = min(NEAR_REBASING, cubic)  # of |Z|, up to which one step is valid
    room, (lower, lower_root) = make_room(target), make_lower(target)

    @target.jit
    def times(ax, ay, bx, by):
        return ax * bx - ay * by, ax * by + ay * bx

    @target.jit
    def single(orbit, m, radius_squared):
        X, Y = orbit[m, ORBIT_Z], orbit[m, ORBIT_Z + 1]
        zero, one = number(0, X), number(1, X)
        a, b = derive(X, Y, one, zero)
        size = larger(X, Y)
        known = (size >= MAX_TINY) & (size < MAX_REFERENCE)
        square = select(known, X * X + Y * Y, one)
        dx, dy = times(a, b, X, -Y)
        dx, dy = select(known, curve * dx / square, zero), select(known, curve * dy / square, zero)
        radius = select(known, min(share * size, room(X, Y, radius_squared)), zero)
        infinite = number(math.inf, X)
        return Skip(a, b, dx, dy, one, zero, zero, zero, zero, zero, radius, infinite)

    @target.jit
    def product(p, q, r):
        """Return p q + r."""
        x, y = times(*p, *q)
        return x + r[0], y + r[1]

    @target.jit
    def joined(p, q, largest_c):
        pa, pb, pd, pe, pf = (p.ax, p.ay), (p.bx, p.by), (p.dx, p.dy), (p.ex, p.ey), (p.fx, p.fy)
        qa, qb, qd, qe, qf = (q.ax, q.ay), (q.bx, q.by), (q.dx, q.dy), (q.ex, q.ey), (q.fx, q.fy)
        none = p.ax - p.ax, p.ax - p.ax
        A, B = product(pa, qa, none), product(pb, qa, qb)
        D = product(product(pa, pa, none), qd, product(pd, qa, none))
        E = F = none
        a, b, d = larger(*pa), larger(*pb), larger(*pd)
        a2, d2 = larger(*qa), larger(*qd)
        r = min(p.radius, q.radius / (a + d * p.radius))
        r_c = lower(min(p.radius_c, q.radius_c), q.radius, b)
        if curved:
            twice = qd[0] + qd[0], qd[1] + qd[1]
            E = product(product(pb, twice, qe), pa, product(pe, qa, none))
            F = product(product(pb, qd, qe), pb, product(pf, qa, qf))
            e, f, e2 = larger(*pe), larger(*pf), larger(*qe)
            # Sizes of the terms of third order, which are left out.
            zzz, zzc = 2 * d2 * a * d, 2 * d2 * (a * e + b * d) + e2 * d
            zcc, ccc = 2 * d2 * (a * f + b * e) + e2 * e, 2 * d2 * b * f + e2 * f
            least = TOLERANCE * a2 * a / PARTS
            r_c = lower_root(min(r_c, largest_c), least, zcc)
            r_c = lower_root(r_c, TOLERANCE * larger(*B), ccc)
            r = lower(lower_root(r, least, zzz), least, zzc * r_c)
        else:
            r = lower_root(r, TOLERANCE * a2, 2 * d * d2)
            r_c = lower(r_c, TOLERANCE * a2, 2 * d2 * b)
        r = select((a > 0) & (r == r), r, number(0, r))
        (ax, ay), (dx, dy), (bx, by), (ex, ey), (fx, fy) = A, D, B, E, F
        return Skip(ax, ay, dx, dy, bx, by, ex, ey, fx, fy, r, r_c)

    return single, joined


def make_matrix_entries(target, formula):
    """Return the functions of `make_holomorphic_entries`, for a `MatrixSkip`."""
    derive, degree, larger = target.jit(formula.derivative), formula.degree, make_larger(target)
    has_kinks = formula.kink_distance is not None
    kink_distance = target.jit(formula.kink_distance or formula.derivative)
    kinks, room = make_kinks(target, formula, False), make_room(target)
    lower, _ = make_lower(target)

    @target.jit
    def single(orbit, m, radius_squared):
        X, Y = orbit[m, ORBIT_Z], orbit[m, ORBIT_Z + 1]
        zero, one = number(0, X), number(1, X)
        a0, a2 = derive(X, Y, one, zero)
        a1, a3 = derive(X, Y, zero, one)
        size = max(larger(a0, a1), larger(a2, a3))
        least = abs(a0 * a3 - a1 * a2) / (2 * select(size > 0, size, one))
        # Formulas of a higher degree are conformal between their kinks: |f'(z)| is d |z|**(d - 1).
        r = TOLERANCE * (least if degree == 2 else larger(X, Y)) / (degree - 1)
        if has_kinks:
            r = min(r, kink_distance(X, Y, *kinks(orbit, m)) / 2)
        r = min(r, room(X, Y, radius_squared))
        radius = select(larger(X, Y) < MAX_REFERENCE, r, zero)
        infinite = number(math.inf, X)
        return MatrixSkip(a0, a1, a2, a3, one, zero, zero, one, radius, infinite)

    @target.jit
    def product(x0, x1, x2, x3, y0, y1, y2, y3):
        return (
            x0 * y0 + x1 * y2,
            x0 * y1 + x1 * y3,
            x2 * y0 + x3 * y2,
            x2 * y1 + x3 * y3,
        )

    @target.jit
    def joined(p, q, largest_c):
        a0, a1, a2, a3 = product(q.a0, q.a1, q.a2, q.a3, p.a0, p.a1, p.a2, p.a3)
        b0, b1, b2, b3 = product(q.a0, q.a1, q.a2, q.a3, p.b0, p.b1, p.b2, p.b3)
        a_size = max(abs(p.a0) + abs(p.a1), abs(p.a2) + abs(p.a3))
        b_size = max(abs(p.b0) + abs(p.b1), abs(p.b2) + abs(p.b3))
        r = select(a_size > 0, lower(p.radius, q.radius, a_size), number(0, p.radius))
        r_c = lower(min(p.radius_c, q.radius_c), q.radius, b_size)
        b0, b1, b2, b3 = b0 + q.b0, b1 + q.b1, b2 + q.b2, b3 + q.b3
        return MatrixSkip(a0, a1, a2, a3, b0, b1, b2, b3, r, r_c)

    return single, joined


# The tree of matrices with exponents, by which z is skipped where it is too small for float64.
#
# It is the tree above for formulas that are not holomorphic, z -> A z + B c with real 2x2
# matrices. Here numbers have an exponent: products over many steps, and the
# distances from kinks in a deep view, are out of float64's range. Holomorphic formulas have stages
# of linear approximations instead (`fractals.kernels.bla`).


# Exponent of two of a radius without limit: that of one step's c. All others are far smaller.
INFINITE_EXPONENT = 2**40


class FloatexpSkip(NamedTuple):
    """An entry: two matrices, row by row, and two radii, each with its exponent of two."""

    a: Any
    a_exponent: Any
    b: Any
    b_exponent: Any
    radius: Any
    radius_exponent: Any
    radius_c: Any
    radius_c_exponent: Any


def make_matrix_arithmetic(target):
    """Return ``(normal, times, plus)`` of matrices with an exponent.

    A matrix is four numbers, row by row. ``normal(m, e)`` brings the largest number into [1, 2);
    ``times(p, e, q, f)`` and ``plus(p, e, q, f)`` return a matrix and its exponent, too.
    """
    jit, int64 = target.jit, target.int64

    @jit
    def normal(m, e):
        largest = max(max(abs(m[0]), abs(m[1])), max(abs(m[2]), abs(m[3])))
        if largest == 0:
            return m, int64(ZERO_EXPONENT)
        _, k = split(largest)
        s = two_to(-k, largest)
        return (m[0] * s, m[1] * s, m[2] * s, m[3] * s), int64(e + k)

    @jit
    def times(p, e, q, f):
        m = (
            p[0] * q[0] + p[1] * q[2],
            p[0] * q[1] + p[1] * q[3],
            p[2] * q[0] + p[3] * q[2],
            p[2] * q[1] + p[3] * q[3],
        )
        return normal(m, e + f)

    @jit
    def plus(p, e, q, f):
        k = max(e, f)
        s, t = two_to(e - k, p[0]), two_to(f - k, p[0])
        m = p[0] * s + q[0] * t, p[1] * s + q[1] * t, p[2] * s + q[2] * t, p[3] * s + q[3] * t
        return normal(m, k)

    return normal, times, plus


def make_entries(target, formula):
    """Return ``single(orbit, tiny, m, radius_squared)`` and ``joined(p, q)``: entries of steps.

    The first is the `FloatexpSkip` of one step from Z_m, the second that by p, then q.
    """
    jit, int64, degree = target.jit, target.int64, formula.degree
    has_kinks = formula.kink_distance is not None
    derive = jit(formula.derivative)
    kink_distance = jit(formula.kink_distance or formula.derivative)
    reference, beside = Ops(target, formula, True).reference, make_kinks_beside(target, formula)
    normal, times, plus = make_matrix_arithmetic(target)

    @jit
    def norm(m):
        """Return the largest factor of a vector's larger part."""
        return max(abs(m[0]) + abs(m[1]), abs(m[2]) + abs(m[3]))

    @jit
    def real(x, e):
        """Return the real x * 2**e, x in [1, 2)."""
        if not x > 0:
            return number(0, x), int64(ZERO_EXPONENT)
        _, k = split(x)
        return x * two_to(-k, x), int64(e + k)

    @jit
    def smaller(x, e, y, f):
        less = f < e or (f == e and y < x)
        return select(less, y, x), select(less, f, e)

    @jit
    def single(orbit, tiny, m, radius_squared):
        Z = reference(orbit, tiny, m)
        X, Y, e = Z[0], Z[1], Z[2]
        zero, one = number(0, X), number(1, X)
        a0, a2 = derive(X, Y, one, zero)
        a1, a3 = derive(X, Y, zero, one)
        a, f = normal((a0, a1, a2, a3), int64(e * (degree - 1)))  # as f'(z) grows with z
        largest = max(max(abs(a0), abs(a1)), max(abs(a2), abs(a3)))
        least = abs(a0 * a3 - a1 * a2) / (2 * largest) if largest > 0 else zero
        near = TOLERANCE * (least if degree == 2 else max(abs(X), abs(Y)) / (degree - 1))
        if has_kinks:
            near = min(near, kink_distance(X, Y, *beside(Z, e, 0)) / 2)
        plain = two_to(e, X)
        known = max(abs(X), abs(Y)) * plain < MAX_REFERENCE
        r, k = real(near if known else zero, e)
        size = math.sqrt(X * X + Y * Y) * plain
        s, j = real((math.sqrt(radius_squared) * WITHIN - size) / ROOM_PARTS, int64(0))
        r, k = smaller(r, k, s, j)
        unit = one, zero, zero, one
        return FloatexpSkip(a, f, unit, int64(0), r, k, one, int64(INFINITE_EXPONENT))

    @jit
    def bounded(radius, exponent, matrix, matrix_exponent, r, e):
        """Return the smaller of r * 2**e and radius / norm(matrix)."""
        if not norm(matrix) > 0:
            return r, e
        s, f = real(radius / norm(matrix), exponent - matrix_exponent)
        return smaller(s, f, r, e)

    @jit
    def joined(p, q):
        a, e = times(q.a, q.a_exponent, p.a, p.a_exponent)
        b, f = times(q.a, q.a_exponent, p.b, p.b_exponent)
        b, f = plus(b, f, q.b, q.b_exponent)
        r, k = bounded(q.radius, q.radius_exponent, p.a, p.a_exponent, p.radius, p.radius_exponent)
        s, j = bounded(
            q.radius, q.radius_exponent, p.b, p.b_exponent, p.radius_c, p.radius_c_exponent
        )
        s, j = smaller(s, j, q.radius_c, q.radius_c_exponent)
        return FloatexpSkip(a, e, b, f, r, k, s, j)

    return single, joined


def make_floatexp_tree_body(target, formula):
    """Return the body that fills the tree.

    ``body(x0, y0, dx, dy, floatexp_tree, orbit, tiny, levels, ends, radius_squared)``: the arrays
    are those of `fractals.kernels.layout.PerturbTables`, ``ends`` the last indices of the orbits in
    ``orbit``, and ``radius_squared`` the square of the escape radius.
    """
    jit, int64 = target.jit, target.int64
    single, joined = make_entries(target, formula)

    @jit
    def put(tree, i, entry):
        for k in range(4):
            tree[i, FLOATEXP_A + k], tree[i, FLOATEXP_B + k] = entry.a[k], entry.b[k]
        tree[i, FLOATEXP_A + 4], tree[i, FLOATEXP_B + 4] = entry.a_exponent, entry.b_exponent
        tree[i, FLOATEXP_RADIUS], tree[i, FLOATEXP_RADIUS + 1] = entry.radius, entry.radius_exponent
        tree[i, FLOATEXP_RADIUS_C] = entry.radius_c
        tree[i, FLOATEXP_RADIUS_C + 1] = entry.radius_c_exponent

    @jit
    def matrix(tree, i, column):
        return tree[i, column], tree[i, column + 1], tree[i, column + 2], tree[i, column + 3]

    @jit
    def get(tree, i):
        return FloatexpSkip(
            matrix(tree, i, FLOATEXP_A),
            int64(tree[i, FLOATEXP_A + 4]),
            matrix(tree, i, FLOATEXP_B),
            int64(tree[i, FLOATEXP_B + 4]),
            tree[i, FLOATEXP_RADIUS],
            int64(tree[i, FLOATEXP_RADIUS + 1]),
            tree[i, FLOATEXP_RADIUS_C],
            int64(tree[i, FLOATEXP_RADIUS_C + 1]),
        )

    @jit
    def few(orbit, tiny, m, radius_squared):
        entry = single(orbit, tiny, m, radius_squared)
        for k in range(1, FEW):
            entry = joined(entry, single(orbit, tiny, m + k, radius_squared))
        return entry

    @jit
    def invalidate(tree, i):
        """Make the radius of an entry 0."""
        tree[i, FLOATEXP_RADIUS], tree[i, FLOATEXP_RADIUS + 1] = 0, ZERO_EXPONENT

    def body(x0, y0, dx, dy, floatexp_tree, orbit, tiny, levels, ends, radius_squared):
        points = orbit.shape[0]
        floatexp_tree[:, :] = 0
        floatexp_tree[:, FLOATEXP_RADIUS + 1] = ZERO_EXPONENT  # no entry is valid yet
        step = int64(1 << LOWEST_LEVEL)
        lowest = (points - 2) >> LOWEST_LEVEL if levels.shape[0] > 0 else 0
        for i in range(lowest):
            m = 1 + i * step
            entry = few(orbit, tiny, m, radius_squared)
            for k in range(FEW, step, FEW):
                entry = joined(entry, few(orbit, tiny, m + k, radius_squared))
            put(floatexp_tree, levels[0] + i, entry)
            for k in range(ends.shape[0]):  # no skip leads from one orbit into the next
                if m <= ends[k] < m + step:
                    invalidate(floatexp_tree, levels[0] + i)
        for level in range(1, levels.shape[0]):
            below, here = levels[level - 1], levels[level]
            for i in range((points - 2) >> (LOWEST_LEVEL + level)):
                entry = joined(
                    get(floatexp_tree, below + 2 * i), get(floatexp_tree, below + 2 * i + 1)
                )
                put(floatexp_tree, here + i, entry)

    return body
