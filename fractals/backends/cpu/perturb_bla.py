"""How a packet takes single steps, and skips by the tree: `fly` of `fractals.kernels.perturb`."""

import math

from fractals.backends.cpu.packet_lists import (
    LEFT,
    PLAIN,
    READY,
    VECTORS,
    make_clamped,
    make_lists,
    numbers_of,
)
from fractals.backends.cpu.simd.exponents import exponents, larger_part, powers_of_two
from fractals.backends.cpu.simd.memory import select_each, spread
from fractals.backends.cpu.simd.pack import any_lane, least, splat
from fractals.kernels.perturb import LEVEL, thresholds
from fractals.kernels.primitives import fma, number, select

FIRST, REMEMBER, COMPARE = 0, 1, 2  # what is known of a lane's earlier z: see `fly`
BLOCK = 1 << LEVEL  # steps from where a skip may begin to the next such place
SURE = 0.7  # of the escape radius: a point whose parts are smaller is within


def make_tangents(target, formula, derivative):
    """Return ``(by_step, by_skip, slope)``: what becomes of dz, as in `perturb.make_body`.

    `lane` is z, c, the count, and the tangents; the last result is the derivative at W = u + iv.
    """
    derive = target.jit(formula.derivative)

    if not derivative:

        def by_step(u, v, lane, g):
            return ()

        def by_skip(e, lane, g):
            return ()

        def slope(u, v, lane):
            return number(0, u), number(0, u)

    elif formula.holomorphic:

        def by_step(u, v, lane, g):
            p, q = derive(u, v, lane[5], lane[6])
            return p + g, q

        def by_skip(e, lane, g):
            x, y, p, q = lane[0], lane[1], lane[5], lane[6]
            ex, ey = fma(e[4], x, -(e[5] * y)), fma(e[4], y, e[5] * x)
            fx, fy = e[0] + ex + ex, e[1] + ey + ey
            p, q = fma(fx, p, -(fy * q)), fma(fx, q, fy * p)
            return fma(e[2], g, p), fma(e[3], g, q)

        def slope(u, v, lane):
            return lane[5], lane[6]

    else:

        def by_step(u, v, lane, g):
            p, q = derive(u, v, lane[5], lane[6])
            s, r = derive(u, v, lane[7], lane[8])
            return p + g, q, s, r + g

        def by_skip(e, lane, g):
            p, q, s, r = lane[5], lane[6], lane[7], lane[8]
            return (
                fma(e[0], p, fma(e[1], q, e[4] * g)),
                fma(e[2], p, fma(e[3], q, e[6] * g)),
                fma(e[0], s, fma(e[1], r, e[5] * g)),
                fma(e[2], s, fma(e[3], r, e[7] * g)),
            )

        def slope(u, v, lane):
            p, q, s, r = lane[5], lane[6], lane[7], lane[8]
            g, h = fma(u, p, v * q), fma(u, s, v * r)
            m = fma(u, u, v * v)
            return fma(g, u, h * v) / m, fma(g, v, -(h * u)) / m

    return target.jit(by_step), target.jit(by_skip), target.jit(slope)


def make_settled(target, ze, de, derivative, degree):
    """Return ``settled(lane, exponent_c) -> (tiny, lane)``: z, c and dz without exponents.

    A lane whose z is too small for float64 is `tiny`.
    """
    clamped = make_clamped(target)
    earlier = ze - 2
    smallest, lost = thresholds(degree)

    @target.jit
    def scale(e, plain):
        return select(plain, number(1, e), powers_of_two(clamped(e)))

    @target.jit
    def settled(lane, exponent_c):
        z_size = larger_part(lane[0], lane[1])
        plain = lane[ze] == PLAIN
        own = lane[ze] + exponents(z_size)
        tiny = (plain & (z_size < lost)) | (~plain & (own < smallest))
        s, t = scale(lane[ze], plain), powers_of_two(clamped(number(exponent_c, z_size)))
        numbers = lane[0] * s, lane[1] * s, lane[2] * t, lane[3] * t, lane[4]
        if derivative:
            t = scale(lane[de], plain)
            numbers = numbers + (lane[5] * t, lane[6] * t)
        return tiny, numbers + lane[earlier:ze] + (number(PLAIN, z_size), lane[de])

    return settled


def make_fly(target, formula, derivative, extended):
    """Return ``fly(...) -> ends``: single steps, and skips by the tree, until all lanes have left.

    The ends are those of three lists: the lanes that were rebased, that escaped, and that became
    too small for float64.
    """
    jit, int64 = target.jit, target.int64
    ze, de = numbers_of(formula, derivative), numbers_of(formula, derivative) + 1  # rows
    earlier = ze - 2
    step, holomorphic = jit(formula.perturbed), formula.holomorphic
    radius = 6 if holomorphic else 8  # its column in the tree
    put, put_lane, _, _ = make_lists(target, formula, derivative, extended)
    by_step, by_skip, slope = make_tangents(target, formula, derivative)
    settled = make_settled(target, ze, de, derivative, formula.degree)
    _, lost = thresholds(formula.degree)

    if holomorphic:

        @jit
        def skipped(e, x, y, a, b):
            ex, ey = fma(e[4], x, -(e[5] * y)), fma(e[4], y, e[5] * x)
            ax, ay = e[0] + ex, e[1] + ey
            x, y = fma(ax, x, -(ay * y)), fma(ax, y, ay * x)
            return fma(e[2], a, fma(-e[3], b, x)), fma(e[2], b, fma(e[3], a, y))

    else:

        @jit
        def skipped(e, x, y, a, b):
            x, y = fma(e[0], x, e[1] * y), fma(e[2], x, e[3] * y)
            return fma(e[4], a, fma(e[5], b, x)), fma(e[6], a, fma(e[7], b, y))

    @jit
    def stepped(Z, lane, g):
        """Take a single step from where the reference is at Z."""
        X, Y = Z
        x, y = step(X, Y, lane[0], lane[1], lane[2], lane[3])
        return (x, y) + lane[2:5] + by_step(X + lane[0], Y + lane[1], lane, g) + lane[earlier:]

    @jit
    def looked(Z, lane, mask, surely_within):
        """Return the whole of z, its size and z's, and under a mask where nothing happens."""
        u, v = lane[0] + Z[0], lane[1] + Z[1]
        z_size, size = larger_part(lane[0], lane[1]), larger_part(u, v)
        calm = mask & (size < surely_within) & (size >= z_size)
        if extended:
            calm = calm & (z_size >= lost)
        return u, v, size, z_size, calm

    @jit
    def fly(lane, own, alive, at, end, tables, bounds, g, lists, which, ends, way):
        """Take single steps, and skip by the tree where it can be used, until all have left.

        A lane that is rebased to exactly an earlier z is periodic, and is done (Brent, 1980): `way`
        is REMEMBER where this z will be the earlier one, COMPARE where it is compared with it.
        """
        orbit, _, _, levels, tree = tables
        radius2, limit, _, _, _, _, level_count, exponent_c = bounds
        fresh, ready, one_by_one = ends
        zero = number(0, lane[0])
        if extended:
            tiny, plain = settled(lane, exponent_c)
            tiny = alive & tiny
            if any_lane(tiny):
                waits = lane[:earlier] + (at, at) + lane[ze:]
                one_by_one = put_lane(lists, LEFT, one_by_one, tiny, waits, own, True)
                alive = alive & ~tiny
            lane = plain
        if way == REMEMBER:
            lane = lane[:earlier] + lane[:2] + lane[ze:]
        surely_within = splat(SURE * math.sqrt(radius2), VECTORS)
        bound = splat(radius2, VECTORS)
        c_size = larger_part(lane[2], lane[3])
        c_most = -least(select(alive, -c_size, zero))
        lane = lane[:4] + (lane[4] - at,) + lane[5:]  # the count, counted from m
        # Up to this m no lane is at the limit.
        latest = int64(limit + least(select(alive, -lane[4], zero + math.inf)))
        while any_lane(alive):
            m = int64(least(select(alive, at, zero + math.inf)))
            here = alive & (at == zero + m)
            together = not any_lane(alive & ~here)
            Z, z_size = spread(orbit, m, zero, 2), larger_part(lane[0], lane[1])
            while any_lane(here):
                best, length = int64(-1), int64(1)
                chosen = here
                if m > 0 and (m - 1) & ((1 << LEVEL) - 1) == 0:
                    i, longer = (m - 1) >> LEVEL, int64(1 << LEVEL)
                    for k in range(level_count):
                        row = levels[k] + i
                        fits = chosen & (z_size < tree[row, radius])
                        if not c_most < tree[row, radius + 1]:
                            fits = fits & (c_size < tree[row, radius + 1])
                        if m + longer > latest:
                            fits = fits & (lane[4] + (m + longer) <= limit)
                        if not any_lane(fits):
                            break
                        chosen, best, length = fits, row, longer
                        if i & 1:
                            break
                        i >>= 1
                        longer <<= 1
                if best < 0 and together:
                    # Single steps up to where a skip may begin again, or something happens.
                    stop = min(((m - 1) | (BLOCK - 1)) + 2, min(end, latest))
                    while True:
                        lane = stepped(Z, lane, g)
                        m += 1
                        Z = spread(orbit, m, zero, 2)
                        u, v, size, z_size, here = looked(Z, lane, chosen, surely_within)
                        if m >= stop or any_lane(chosen & ~here):
                            break
                else:
                    if best >= 0:
                        e = spread(tree, best, zero, radius)
                        x, y = skipped(e, lane[0], lane[1], lane[2], lane[3])
                        new = (x, y) + lane[2:5] + by_skip(e, lane, g) + lane[earlier:]
                    else:
                        new = stepped(Z, lane, g)
                    if together and not any_lane(here & ~chosen):
                        lane = new
                        m += length
                    else:
                        if together:
                            at, together = zero + m, False
                        lane = select_each(chosen, new, lane)
                        m += length
                        at = select(chosen, zero + m, at)
                    Z = spread(orbit, m, zero, 2)
                    u, v, size, z_size, here = looked(Z, lane, chosen, surely_within)
                if any_lane(chosen & ~here) or m == end or m >= latest:
                    n = lane[4] + m
                    left = chosen & ~(fma(u, u, v * v) <= bound)
                    over = chosen & (n >= limit)
                    escaped = left & ~over
                    if any_lane(escaped):
                        result = (n, u, v) + slope(u, v, lane)
                        ready = put(lists, READY, ready, escaped, result, own)
                    left = left | over
                    back = chosen & ~left
                    if m != end:
                        back = back & (size < z_size)
                    if way != FIRST:
                        periodic = back & (u == lane[earlier]) & (v == lane[earlier + 1])
                        left, back = left | periodic, back & ~periodic
                    if any_lane(back):
                        whole = (u, v) + lane[2:4] + (n,) + lane[5:]
                        fresh = put_lane(lists, which, fresh, back, whole, own, way != FIRST)
                    left = left | back
                    if extended:
                        tiny = chosen & ~left & (z_size < lost)
                        if any_lane(tiny):
                            waits = lane[:4] + (n,) + lane[5:earlier] + (zero + m, zero) + lane[ze:]
                            one_by_one = put_lane(lists, LEFT, one_by_one, tiny, waits, own, True)
                            left = left | tiny
                    alive = alive & ~left
                    here = chosen & ~left
                if not together and any_lane(alive & ~here):
                    break
        return fresh, ready, one_by_one

    return fly
