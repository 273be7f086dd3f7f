"""The tree of matrices with exponents, by which z is skipped where it is too small for float64.

It is the tree that `fractals.kernels.bla` makes for formulas that are not holomorphic, z -> A z +
B c with real 2x2 matrices. Here numbers have an exponent: products over many steps, and the
distances from kinks in a deep view, are out of float64's range. Holomorphic formulas have stages of
linear approximations instead (`fractals.kernels.la`).
"""

import math
from typing import Any, NamedTuple

from fractals.kernels.bla import LOWEST_LEVEL, MAX_REFERENCE, ROOM_PARTS, TOLERANCE, WITHIN
from fractals.kernels.floatexp import ZERO_EXPONENT, make_kinks_beside, make_reference
from fractals.kernels.layout import (
    FLOATEXP_A,
    FLOATEXP_B,
    FLOATEXP_RADIUS,
    FLOATEXP_RADIUS_C,
)
from fractals.kernels.primitives import number, select, split, two_to

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
    reference, beside = make_reference(target, formula, True), make_kinks_beside(target, formula)
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

    Parameters
    ----------
    target : Target
    formula : Formula

    Returns
    -------
    callable
        ``body(x0, y0, dx, dy, floatexp_tree, orbit, tiny, levels, ends, radius_squared)``: the
        arrays are those of `fractals.kernels.layout.PerturbTables`, ``ends`` the last indices of
        the orbits in ``orbit``, and ``radius_squared`` the square of the escape radius.
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
            entry = single(orbit, tiny, m, radius_squared)
            for k in range(1, step):
                entry = joined(entry, single(orbit, tiny, m + k, radius_squared))
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
