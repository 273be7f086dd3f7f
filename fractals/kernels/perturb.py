"""Perturbation: the difference from a reference orbit is iterated, at any depth, in float64.

A sample's orbit is Z + z, where Z is the reference orbit, computed once in arbitrary precision, and
z stays small: z -> f(Z + z) - f(Z) + c, with c the distance of the sample from the center. Where
the orbit comes nearer to 0 than z is long, or the reference ends, it is rebased: z becomes the
whole of it, and the reference starts again (Zhuoran, 2021). So no sample needs another reference.

Most steps are skipped: first by the stages of linear approximations, aligned with the periods of
the reference (Zhuoran, 2022), later by a tree of approximations (`fractals.kernels.bla`).

Three loops take turns: `leap` along the stages, `creep` step by step while z is smaller than
float64 can tell, `fly` in plain float64. Which comes next is seen from the state alone, so work can
be cut into launches of bounded length.
"""

from fractals.kernels.floatexp import (
    make_arithmetic,
    make_moved,
    make_plain,
    make_reference,
    make_slopes,
)
from fractals.kernels.primitives import fma, select
from fractals.kernels.sample_position import make_place

# Columns of the stages' entries, and of the state. Exponents, counts and indices are whole numbers
# in float64, exact up to 2**53.
ZREF, A, B, RADIUS, RADIUS_C, LENGTH, NEXT, ENTRY = 0, 3, 6, 9, 11, 13, 14, 15
FRESH, BUDGET, STAGES, LEVELS = 6, 7, 8, 9  # places in `view`
STATE = 13  # z, n, m, stage, entry, two tangents

TINY = -500  # z below 2**TINY is iterated with an exponent
LOST = 2.0**-900  # z that small has left the range of float64's products
NORMAL = -1000  # exponent of two of the smallest powers that float64 is relied on to hold
LEVEL = 2  # the lowest level of the tree skips 2**LEVEL steps


def thresholds(degree):
    """Return the exponent below which z is iterated with one, and below which float64 has lost z.

    Near 0 a step raises z to the power of the degree, which float64 must hold.
    """
    if degree == 2:
        return TINY, LOST
    return NORMAL // degree, 2.0 ** (NORMAL // degree)


def make_body(target, formula, julia, derivative, extended, listed=""):
    """Return the body that fills count, z = x + iy and dz = p + iq as direct iteration does.

    dz is dz/dc (dz/dz0 of a Julia set) times the width of the view. Samples may be `listed`:
    "list", or "scaled" with an exponent each, which is then that of the width, too. Its arrays:

    - ``state`` (STATE, height, width): where each sample is, between launches;
      ``under_way`` (1, 1): is set to 1 if any sample needs another launch;
    - ``columns`` (2, width), ``rows`` (2, height): the samples' distances from the center, whose
      exponent is ``view[1]``; or those of the list (`fractals.kernels.sample_position`);
    - ``orbit`` (M, 2), ``tiny`` (K, 4): the reference, and its points that float64 can't hold, with
      index, x, y, exponent. For a Julia set the orbit of 0 follows that of the center;
    - ``stages`` (S, 2), ``entries`` (N, ENTRY): where each stage begins and ends, and its entries;
    - ``levels`` (L,), ``tree`` (T, 8 or 10): where each level begins, and its entries;
    - ``view``: the square of the escape radius, the exponent, the mantissa of the width, the index
      where the first orbit ends, where the orbit of 0 begins, where it ends; whether this is the
      first launch; how many steps of all kinds a launch takes at most; how many stages and levels
      there are;
    - ``limit``.
    """
    jit, int64, int32 = target.jit, target.int64, target.int32
    normal, times, plus, size, less, _ = make_arithmetic(target, extended)
    reference = make_reference(target, extended)
    moved = make_moved(target, formula, extended)
    step, derive = jit(formula.perturbed), jit(formula.derivative)
    place, scaled = make_place(target, listed), listed == "scaled"
    holomorphic = formula.holomorphic
    zero = target.real(0)
    radius = 6 if holomorphic else 8  # its column in the tree
    least, lost = thresholds(formula.degree)
    pair = derivative and not holomorphic  # both columns of the Jacobian travel along

    plain = make_plain(target, extended)
    along, slope = make_slopes(target, formula, extended)

    @jit
    def leap(z, n, m, stage, j, d, c, h, entries, stages, bounds, budget):
        """Skip along the stages, as long as one of them can be used."""
        _, limit, home, _, _, top = bounds
        c_size = size(c)
        while stage >= 0 and budget > 0 and n < limit:
            budget -= 1
            Z = entries[j, ZREF], entries[j, ZREF + 1], int64(entries[j, ZREF + 2])
            w = moved(Z, z)
            near = entries[j, RADIUS], int64(entries[j, RADIUS + 1])
            near_c = entries[j, RADIUS_C], int64(entries[j, RADIUS_C + 1])
            length = int64(entries[j, LENGTH])
            if less(size(w), near) and less(c_size, near_c) and n + length <= limit:
                a = entries[j, A], entries[j, A + 1], int64(entries[j, A + 2])
                b = entries[j, B], entries[j, B + 1], int64(entries[j, B + 2])
                if derivative:
                    d = plus(times(along(plus(Z, z), d), a), times(b, h))
                z = plus(times(w, a), times(b, c))
                n += length
                j += 1
                W = plus((entries[j, ZREF], entries[j, ZREF + 1], int64(entries[j, ZREF + 2])), z)
                if j == stages[stage, 1] or less(size(W), size(z)):
                    z, stage = W, top  # the longest skips may fit again
                    j = stages[stage, 0]
                    if julia:  # the stages are those of the first orbit
                        m, stage = home, int64(-1)
            else:
                j = int64(entries[j, NEXT])
                stage -= 1
                if stage < 0:
                    m = j
        return z, n, m, stage, j, d, budget

    if holomorphic or not extended:

        @jit
        def skip(z, n, m, d, t, c, h, entries, levels, bounds):
            return z, d, t, int64(0)

    else:

        @jit
        def turned(entries, i, k, v):
            """Apply the matrix that begins in column k of an entry."""
            x = fma(entries[i, k], v[0], entries[i, k + 1] * v[1])
            y = fma(entries[i, k + 2], v[0], entries[i, k + 3] * v[1])
            return normal(x, y, int64(entries[i, k + 4]) + v[2])

        @jit
        def skip(z, n, m, d, t, c, h, entries, levels, bounds):
            """Skip by a BLA of matrices where that is valid; return how many steps."""
            _, limit, _, _, level_count, _ = bounds
            best, length, longer = int64(-1), int64(0), int64(1 << LEVEL)
            if m > 0 and (m - 1) & ((1 << LEVEL) - 1) == 0:
                at, z_size, c_size = (m - 1) >> LEVEL, size(z), size(c)
                for k in range(level_count):
                    i = levels[k] + at
                    near = less(z_size, (entries[i, 10], int64(entries[i, 11])))
                    near = near and less(c_size, (entries[i, 12], int64(entries[i, 13])))
                    if not (near and n + longer <= limit):
                        break
                    best, length = i, longer
                    if at & 1:
                        break
                    at >>= 1
                    longer <<= 1
            if best >= 0:
                z = plus(turned(entries, best, 0, z), turned(entries, best, 5, c))
                if derivative:
                    d = plus(turned(entries, best, 0, d), turned(entries, best, 5, h))
                if pair:
                    i = h[1], h[0], h[2]
                    t = plus(turned(entries, best, 0, t), turned(entries, best, 5, i))
            return z, d, t, length

    @jit
    def creep(z, n, m, end, d, t, c, h, orbit, tiny, entries, levels, bounds, budget):
        """Take single steps while z is too small for float64, and skip where that is possible."""
        radius2, limit, home, last, _, _ = bounds
        escaped = False
        Z = reference(orbit, tiny, m)
        W = plus(Z, z)
        while z[2] < least and n < limit and budget > 0:
            budget -= 1
            z, d, t, length = skip(z, n, m, d, t, c, h, entries, levels, bounds)
            if length == 0:
                length = int64(1)
                if derivative:
                    d = plus(along(W, d), h)
                if pair:
                    t = plus(along(W, t), (h[1], h[0], h[2]))
                z = plus(moved(Z, z), c)
            n += length
            m += length
            Z = reference(orbit, tiny, m)
            W = plus(Z, z)
            u, v = plain(W)
            if not (fma(u, u, v * v) <= radius2):
                escaped = True
                break
            if m == end or less(size(W), size(z)):
                z, m, end = W, home, last
                Z = reference(orbit, tiny, m)
        return z, W, n, m, end, d, t, escaped, budget

    @jit
    def fly(z, n, m, end, d, t, c, h, orbit, levels, tree, bounds, budget):
        """Take steps in float64, and skip by the tree where it can be used."""
        radius2, limit, home, last, level_count, _ = bounds
        escaped = False
        x, y = plain(z)
        a, b = plain(c)
        g, _ = plain(h)
        p, q = plain(d)
        s, r = plain(t)
        c_size = select(abs(a) < abs(b), abs(b), abs(a))
        X, Y = orbit[m, 0], orbit[m, 1]
        u, v = X + x, Y + y
        while n < limit and budget > 0:
            budget -= 1
            best = int64(-1)
            length = int64(1)
            if m > 0 and (m - 1) & ((1 << LEVEL) - 1) == 0:
                at = (m - 1) >> LEVEL
                longer = int64(1 << LEVEL)
                z_size = select(abs(x) < abs(y), abs(y), abs(x))
                for k in range(level_count):
                    i = levels[k] + at
                    fits = z_size < tree[i, radius] and c_size < tree[i, radius + 1]
                    fits = fits and n + longer <= limit
                    if not fits:
                        break
                    best, length = i, longer
                    if at & 1:
                        break
                    at >>= 1
                    longer <<= 1
            if best >= 0:
                if holomorphic:
                    ax, ay, bx, by = tree[best, 0], tree[best, 1], tree[best, 2], tree[best, 3]
                    ex, ey = tree[best, 4], tree[best, 5]
                    ex, ey = fma(ex, x, -(ey * y)), fma(ex, y, ey * x)
                    if derivative:
                        fx, fy = ax + ex + ex, ay + ey + ey
                        p, q = fma(fx, p, -(fy * q)), fma(fx, q, fy * p)
                        p, q = fma(bx, g, p), fma(by, g, q)
                    ax, ay = ax + ex, ay + ey
                    x, y = fma(ax, x, -(ay * y)), fma(ax, y, ay * x)
                    x, y = fma(bx, a, fma(-by, b, x)), fma(bx, b, fma(by, a, y))
                else:
                    a0, a1, a2, a3 = tree[best, 0], tree[best, 1], tree[best, 2], tree[best, 3]
                    b0, b1, b2, b3 = tree[best, 4], tree[best, 5], tree[best, 6], tree[best, 7]
                    if derivative:
                        p, q = fma(a0, p, fma(a1, q, b0 * g)), fma(a2, p, fma(a3, q, b2 * g))
                        s, r = fma(a0, s, fma(a1, r, b1 * g)), fma(a2, s, fma(a3, r, b3 * g))
                    x, y = fma(a0, x, a1 * y), fma(a2, x, a3 * y)
                    x, y = fma(b0, a, fma(b1, b, x)), fma(b2, a, fma(b3, b, y))
            else:
                if derivative:
                    p, q = derive(u, v, p, q)
                    p += g
                if pair:
                    s, r = derive(u, v, s, r)
                    r += g
                x, y = step(X, Y, x, y, a, b)
            n += length
            m += length
            X, Y = orbit[m, 0], orbit[m, 1]
            u, v = X + x, Y + y
            if not (fma(u, u, v * v) <= radius2):
                escaped = True
                break
            z_size = select(abs(x) < abs(y), abs(y), abs(x))
            whole = select(abs(u) < abs(v), abs(v), abs(u))
            if m == end or whole < z_size:
                x, y, m, end = u, v, home, last
                X, Y = orbit[m, 0], orbit[m, 1]
                z_size = whole
            if extended and z_size < lost:
                break
        z = normal(x, y, int64(0))
        d = normal(p, q, int64(0))
        t = normal(s, r, int64(0))
        return z, (u, v, int64(0)), n, m, end, d, t, escaped, budget

    def body(
        x0,
        y0,
        dx,
        dy,
        count,
        x,
        y,
        p,
        q,
        state,
        under_way,
        columns,
        rows,
        orbit,
        tiny,
        stages,
        entries,
        levels,
        tree,
        view,
        limit,
    ):
        exponent, first_end = int64(view[1]), int64(view[3])
        home, last = int64(view[4]), int64(view[5])
        none = normal(zero, zero, int64(0))
        width = normal(view[2], zero, exponent)
        h = none if julia else width  # what a step adds to dz: c is fixed in a Julia set
        most = int64(limit)
        top = int64(int64(view[STAGES]) - 1)
        bounds = view[0], most, home, last, int64(view[LEVELS]), top
        j = y0
        while j < count.shape[0]:
            i = x0
            while i < count.shape[1]:
                u, v = place(columns, rows, count.shape[1], j, i)
                if scaled:
                    exponent = int64(columns[2, j * count.shape[1] + i])
                    width = normal(view[2], zero, exponent)
                    h = none if julia else width
                offset = normal(u, v, exponent)
                c = none if julia else offset
                if view[FRESH] > 0:
                    z = offset if julia else none
                    n, m, stage = int64(0), int64(0), top
                    entry = int64(stages[stage, 0]) if stage >= 0 else int64(0)
                    d = width if julia else none
                    t = (d[1], d[0], d[2])
                else:
                    z = state[0, j, i], state[1, j, i], int64(state[2, j, i])
                    n, m = int64(state[3, j, i]), int64(state[4, j, i])
                    stage, entry = int64(state[5, j, i]), int64(state[6, j, i])
                    d = state[7, j, i], state[8, j, i], int64(state[9, j, i])
                    t = state[10, j, i], state[11, j, i], int64(state[12, j, i])
                end = first_end if m < home or home == 0 else last
                budget, escaped, W = int64(view[BUDGET]), n < 0, none
                while n >= 0 and n < most and budget > 0 and not escaped:
                    if stage >= 0:
                        z, n, m, stage, entry, d, budget = leap(
                            z, n, m, stage, entry, d, c, h, entries, stages, bounds, budget
                        )
                        end = first_end if m < home or home == 0 else last
                    elif extended and z[2] < least:
                        z, W, n, m, end, d, t, escaped, budget = creep(
                            z, n, m, end, d, t, c, h, orbit, tiny, entries, levels, bounds, budget
                        )
                    else:
                        z, W, n, m, end, d, t, escaped, budget = fly(
                            z, n, m, end, d, t, c, h, orbit, levels, tree, bounds, budget
                        )
                if n >= 0:
                    done = escaped or n >= most
                    escaped = escaped and n < most
                    count[j, i] = int32(n if escaped else most)
                    x[j, i], y[j, i] = plain(W) if escaped else (zero, zero)
                    if derivative:
                        g, f = slope(W, d, t) if escaped else (zero, zero)
                        p[j, i], q[j, i] = g, f
                    if not done:
                        under_way[0, 0] = 1
                    state[0, j, i], state[1, j, i], state[2, j, i] = z
                    state[3, j, i] = -1 if done else n
                    state[4, j, i], state[5, j, i], state[6, j, i] = m, stage, entry
                    if derivative:
                        state[7, j, i], state[8, j, i], state[9, j, i] = d
                    if pair:
                        state[10, j, i], state[11, j, i], state[12, j, i] = t
                i += dx
            j += dy

    return body
