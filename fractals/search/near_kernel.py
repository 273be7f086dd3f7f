"""Orbits near a reference orbit, with dz/dc, for the search for nuclei: step by step, at any depth.

Each orbit is a row of `state`. A call goes on with every row for a number of steps, and notes the
steps m at which a nucleus of period m is expected within a radius (`fractals.search.newton`).
"""

from typing import Any

from fractals.kernels.floatexp import Ops
from fractals.kernels.formula import Formula
from fractals.kernels.primitives import fma, number, select, two_to

# The columns of `state`, NEAR_SIZE for each orbit.
NEAR_Z = 0  # z, the difference from the reference: x, y, e
NEAR_INDEX = 3  # m: z is the difference from the m-th point of the reference
NEAR_STEP = 4  # steps taken
NEAR_END = 5  # 1: the orbit has escaped, or a cycle attracts it
NEAR_SAVED_STEP = 6  # step after which dz was saved
NEAR_DZ = 7  # dz/dc, or the first column of the Jacobian matrix: x, y, e
NEAR_DZ2 = 10  # second column of the matrix, if the formula is not holomorphic: x, y, e
NEAR_SAVED = 13  # dz after an earlier step: x, y, e
NEAR_POINT = 16  # the point of the orbit: x, y, e
NEAR_C = 19  # c, the difference from the reference's: x, y, e
NEAR_SIZE = 22

# Exponent of two of |z| beyond which an orbit has escaped, and z says nothing of nuclei.
MAX_EXPONENT = 10
# Distance, relative to dz/dc, within which two of its values count as one, squared: it has come
# back, since a cycle attracts the orbit.
SAME_SQUARED = 2.0**-96
# Exponents of two of a quotient beyond which it is 0 or infinite in a comparison.
FAR = 900


def make_body(target: Any, formula: Formula) -> Any:
    """Return ``body(..., state, hits, orbit, tiny, radius, limit, budget)``.

    `hits` holds, for each row, the number of steps noted and the steps; `radius` is a real (x, e),
    and with a radius of 0 orbits end only at `limit`. `budget` is the most steps of a row in this
    call.
    """
    jit, int64 = target.jit, target.int64
    ops = Ops(target, formula, True)
    normal, _, plus, size, less, _ = ops.arithmetic
    point, moved, along = ops.reference, ops.moved, ops.along
    load, _ = ops.readers
    holomorphic = formula.holomorphic

    @jit
    def store(state, j, column, z):
        state[j, column], state[j, column + 1], state[j, column + 2] = z

    @jit
    def shorter(p, q, factor, exponent):
        """Tell whether |p|² < factor |q|² 2**(2 exponent)."""
        e = int64(2 * (p[2] - q[2] - exponent))
        e = select(e < -FAR, int64(-FAR), select(e > FAR, int64(FAR), e))
        left = fma(p[0], p[0], p[1] * p[1]) * two_to(e, p[0])
        return left < factor * fma(q[0], q[0], q[1] * q[1])

    @jit
    def within(W, dz, dz2, radius):
        """Tell whether W, linear in c, has a zero nearer than the radius."""
        if holomorphic:
            return shorter(W, dz, radius[0] * radius[0], radius[1])
        zero = number(0, W[0])
        u = normal(fma(dz2[1], W[0], -(dz2[0] * W[1])), zero, int64(dz2[2] + W[2]))
        v = normal(zero, fma(dz[0], W[1], -(dz[1] * W[0])), int64(dz[2] + W[2]))
        area = normal(fma(dz[0], dz2[1], -(dz[1] * dz2[0])), zero, int64(dz[2] + dz2[2]))
        return shorter(plus(u, v), area, radius[0] * radius[0], radius[1])

    def body(i0, j0, di, dj, state, hits, orbit, tiny, radius, limit, budget):
        end = int64(orbit.shape[0] - 1)
        for j in range(j0, state.shape[0], dj):
            z, dz, dz2 = load(state, j, NEAR_Z), load(state, j, NEAR_DZ), load(state, j, NEAR_DZ2)
            saved, W, c = (
                load(state, j, NEAR_SAVED),
                load(state, j, NEAR_POINT),
                load(state, j, NEAR_C),
            )
            m, n = int64(state[j, NEAR_INDEX]), int64(state[j, NEAR_STEP])
            saved_n, ended = int64(state[j, NEAR_SAVED_STEP]), int64(state[j, NEAR_END])
            zero = number(0, c[0])
            one = number(1, zero)
            last = min(limit, n + budget)
            while n < last and ended == 0:
                dz = plus(along(W, dz), (one, zero, int64(0)))
                if not holomorphic:
                    dz2 = plus(along(W, dz2), (zero, one, int64(0)))
                z = plus(moved(point(orbit, tiny, m), z), c)
                m += 1
                n += 1
                W = plus(point(orbit, tiny, m), z)
                if m == end or less(size(W), size(z)):
                    z, m = W, int64(0)
                if W[2] > MAX_EXPONENT:
                    ended = int64(1)
                if radius[0] == 0:
                    continue
                k = int64(hits[j, 0])
                if within(W, dz, dz2, radius) and k + 1 < hits.shape[1]:
                    hits[j, k + 1] = n
                    hits[j, 0] = k + 1
                apart = plus(dz, (-saved[0], -saved[1], saved[2]))
                if saved_n > 0 and shorter(apart, saved, number(SAME_SQUARED, zero), int64(0)):
                    k = int64(hits[j, 0])
                    if k + 1 < hits.shape[1]:
                        hits[j, k + 1] = n - saved_n
                        hits[j, 0] = k + 1
                    ended = int64(1)
                if n & (n - 1) == 0:  # after Brent, 1980
                    saved_n, saved = n, dz
            store(state, j, NEAR_Z, z)
            store(state, j, NEAR_DZ, dz)
            store(state, j, NEAR_DZ2, dz2)
            store(state, j, NEAR_SAVED, saved)
            store(state, j, NEAR_POINT, W)
            state[j, NEAR_INDEX], state[j, NEAR_STEP] = m, n
            state[j, NEAR_SAVED_STEP], state[j, NEAR_END] = saved_n, ended

    return body
