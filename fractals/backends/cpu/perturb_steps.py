"""How a packet takes single steps, and skips by the tree of BLA (`bla_steps`)."""

import math

from fractals.backends.cpu.packet_lists import PLAIN, VECTORS, Packet, make_clamped
from fractals.backends.cpu.programs import ESCAPED, REMAINING
from fractals.backends.cpu.simd.elementary import exponents, larger_part, powers_of_two
from fractals.backends.cpu.simd.memory import spread
from fractals.backends.cpu.simd.pack import any_lane, least, splat
from fractals.kernels.bla import LOWEST_LEVEL, make_longest_skip, make_skip, make_tangents
from fractals.kernels.floatexp import Ops
from fractals.kernels.layout import (
    BLA_RADIUS,
    MATRIX_RADIUS,
    ORBIT_KINKS,
)
from fractals.kernels.perturb import SURELY_WITHIN, thresholds
from fractals.kernels.primitives import number, select

# What is done with a lane's earlier z (Brent, 1980): nothing, z becomes the earlier z, or z is
# compared with it, and a lane that is rebased to exactly its earlier z is periodic and done.
IGNORE, REMEMBER, COMPARE = 0, 1, 2
# Steps from one index where a skip may begin to the next.
SKIP_DISTANCE = 1 << LOWEST_LEVEL


def make_settled(target, options):
    """Return ``settled(packet, exponent_c) -> (tiny, packet)``: z, c and dz without exponents.

    Lanes whose z is too small for float64 are under the mask `tiny`.
    """
    clamped = make_clamped(target)
    min_exponent, min_size = thresholds(options.formula.degree)

    @target.jit
    def scale(e, plain):
        return select(plain, number(1, e), powers_of_two(clamped(e)))

    if options.derivative:

        @target.jit
        def scaled_tangents(tangents, e, plain):
            s = scale(e, plain)
            return tangents[0] * s, tangents[1] * s

    else:

        @target.jit
        def scaled_tangents(tangents, e, plain):
            return tangents

    @target.jit
    def settled(packet, exponent_c):
        x, y, a, b, count, tangents, earlier, (z_exponent, dz_exponent) = packet
        z_size = larger_part(x, y)
        plain = z_exponent == PLAIN
        own = z_exponent + exponents(z_size)
        tiny = (plain & (z_size < min_size)) | (~plain & (own < min_exponent))
        s, t = scale(z_exponent, plain), powers_of_two(clamped(number(exponent_c, z_size)))
        x, y, a, b = x * s, y * s, a * t, b * t
        tangents = scaled_tangents(tangents, dz_exponent, plain)
        own_exponents = number(PLAIN, z_size), dz_exponent
        return tiny, Packet(x, y, a, b, count, tangents, earlier, own_exponents)

    return settled


def make_longest_packet_skip(target, options):
    """Return ``longest_skip``, as `fractals.kernels.bla.make_longest_skip` does, for a packet.

    Its facts are ``(tree, z_size, c_size, largest_c, m, latest, counts, max_iterations)``: no lane
    has a c larger than `largest_c`, and none reaches the limit before the index `latest`.
    """
    radius = BLA_RADIUS if options.formula.holomorphic else MATRIX_RADIUS

    @target.jit
    def valid(mask, entry, length, facts):
        tree, z_size, c_size, largest_c, m, latest, counts, max_iterations = facts
        fits = mask & (z_size < tree[entry, radius])
        if not largest_c < tree[entry, radius + 1]:
            fits = fits & (c_size < tree[entry, radius + 1])
        if m + length > latest:
            fits = fits & (counts + (m + length) <= max_iterations)
        return fits

    return make_longest_skip(target, valid, any_lane)


def make_bla_steps(target, options, put, put_packet, select_steps):
    """Return ``bla_steps(packet, samples, alive, at, end, context, which, ends, check)``.

    The functions ``put``, ``put_packet`` and ``select_steps`` are those of `packet_lists`.
    It takes single steps from the indices `at`, and skips by the tree, until all lanes have left.
    It returns `ends`: the ends of the lists of the samples that were rebased (the list `which`),
    that escaped, and that became too small for float64.

    A lane that is rebased to exactly an earlier z is periodic, and is done: `check` is IGNORE,
    REMEMBER or COMPARE.
    """
    jit, int64 = target.jit, target.int64
    formula, floatexp = options.formula, options.floatexp
    step, skip = jit(formula.perturbed), make_skip(target, formula)
    radius = BLA_RADIUS if formula.holomorphic else MATRIX_RADIUS  # behind the other numbers
    step_tangents, skip_tangents, slope = make_tangents(target, formula, options.derivative)
    longest_skip = make_longest_packet_skip(target, options)
    settled = make_settled(target, options)
    within, _ = Ops(target, formula, floatexp).within(options.near_radius)
    columns = ORBIT_KINKS + formula.kink_count  # of the orbit, that a step reads
    _, min_size = thresholds(formula.degree)

    @jit
    def stepped(Z, packet, g):
        """Return the packet after a step from Z, columns of the orbit."""
        x, y, a, b, count, tangents, earlier, own = packet
        tangents = step_tangents(Z[0] + x, Z[1] + y, tangents, g)
        x, y = step(Z[0], Z[1], x, y, a, b, *Z[2:])
        return Packet(x, y, a, b, count, tangents, earlier, own)

    @jit
    def skipped(row, packet, g):
        """Return the packet after a skip by an entry of the tree."""
        x, y, a, b, count, tangents, earlier, own = packet
        tangents = skip_tangents(row, x, y, a, b, tangents, g)
        x, y = skip(row, x, y, a, b)
        return Packet(x, y, a, b, count, tangents, earlier, own)

    @jit
    def looked(Z, packet, mask, surely_within):
        """Return Z + z, the sizes of Z + z and z, and the calm lanes.

        A calm lane neither escapes, nor is rebased, nor leaves float64.
        """
        u, v = packet.x + Z[0], packet.y + Z[1]
        z_size, size = larger_part(packet.x, packet.y), larger_part(u, v)
        calm = mask & (size < surely_within) & (size >= z_size)
        if floatexp:
            calm = calm & (z_size >= min_size)
        return u, v, size, z_size, calm

    @jit
    def with_count(packet, count):
        x, y, a, b, _, tangents, earlier, own = packet
        return Packet(x, y, a, b, count, tangents, earlier, own)

    @jit
    def with_earlier(packet, u, v):
        x, y, a, b, count, tangents, _, own = packet
        return Packet(x, y, a, b, count, tangents, (u, v), own)

    @jit
    def rebase(packet, u, v, count):
        _, _, a, b, _, tangents, earlier, own = packet
        return Packet(u, v, a, b, count, tangents, earlier, own)

    @jit
    def bla_steps(packet, samples, alive, at, end, context, which, ends, check):
        orbit, tree, levels = context.tables.orbit, context.tables.bla_tree, context.tables.levels
        lists, g, max_iterations = context.lists, context.g, context.max_iterations
        level_count, radius_squared = (
            context.perturb_view.level_count,
            context.perturb_view.escape_radius_squared,
        )
        rebased, escaped_end, remaining = ends
        zero = number(0, packet.x)
        if floatexp:
            tiny, plain = settled(packet, context.exponent_c)
            tiny = alive & tiny
            if any_lane(tiny):
                waits = with_earlier(packet, at, at)
                remaining = put_packet(lists, REMAINING, remaining, tiny, waits, samples, True)
                alive = alive & ~tiny
            packet = plain
        if check == REMEMBER:
            packet = with_earlier(packet, packet.x, packet.y)
        surely_within = splat(SURELY_WITHIN * math.sqrt(radius_squared), VECTORS)
        bound = splat(radius_squared, VECTORS)
        c_size = larger_part(packet.a, packet.b)
        largest_c = -least(select(alive, -c_size, zero))
        packet = with_count(packet, packet.count - at)  # lanes at one m then step together
        # Up to this m no lane is at the limit.
        latest = int64(max_iterations + least(select(alive, -packet.count, zero + math.inf)))
        while any_lane(alive):
            m = int64(least(select(alive, at, zero + math.inf)))
            here = alive & (at == zero + m)
            together = not any_lane(alive & ~here)
            Z, z_size = spread(orbit, m, zero, columns), larger_part(packet.x, packet.y)
            while any_lane(here):
                facts = tree, z_size, c_size, largest_c, m, latest, packet.count, max_iterations
                chosen, entry, length = longest_skip(here, m, levels, level_count, facts)
                if entry < 0 and together:
                    # Single steps up to where a skip may begin again, or something happens.
                    stop = min(((m - 1) | (SKIP_DISTANCE - 1)) + 2, min(end, latest))
                    while True:
                        packet = stepped(Z, packet, g)
                        m += 1
                        Z = spread(orbit, m, zero, columns)
                        u, v, size, z_size, here = looked(Z, packet, chosen, surely_within)
                        if m >= stop or any_lane(chosen & ~here):
                            break
                else:
                    if entry >= 0:
                        new = skipped(spread(tree, entry, zero, radius), packet, g)
                    else:
                        new = stepped(Z, packet, g)
                    if together and not any_lane(here & ~chosen):
                        packet = new
                        m += length
                    else:
                        if together:
                            at, together = zero + m, False
                        packet = select_steps(chosen, new, packet)
                        m += length
                        at = select(chosen, zero + m, at)
                    Z = spread(orbit, m, zero, columns)
                    u, v, size, z_size, here = looked(Z, packet, chosen, surely_within)
                if any_lane(chosen & ~here) or m == end or m >= latest:
                    n = packet.count + m
                    left = chosen & ~within(orbit, m, Z, (packet.x, packet.y), (u, v), bound)
                    over = chosen & (n >= max_iterations)
                    escaped = left & ~over
                    if any_lane(escaped):
                        dz = slope(u, v, packet.tangents)
                        result = n, u, v, dz[0], dz[1]
                        escaped_end = put(lists, ESCAPED, escaped_end, escaped, result, samples)
                    left = left | over
                    back = chosen & ~left
                    if m != end:
                        back = back & (size < z_size)
                    if check != IGNORE:
                        earlier_x, earlier_y = packet.earlier
                        periodic = back & (u == earlier_x) & (v == earlier_y)
                        left, back = left | periodic, back & ~periodic
                    if any_lane(back):
                        rebased = put_packet(
                            *(lists, which, rebased, back, rebase(packet, u, v, n)),
                            *(samples, check != IGNORE),
                        )
                    left = left | back
                    if floatexp:
                        tiny = chosen & ~left & (z_size < min_size)
                        if any_lane(tiny):
                            waits = with_earlier(with_count(packet, n), zero + m, zero)
                            remaining = put_packet(
                                lists, REMAINING, remaining, tiny, waits, samples, True
                            )
                            left = left | tiny
                    alive = alive & ~left
                    here = chosen & ~left
                if not together and any_lane(alive & ~here):
                    break
        return rebased, escaped_end, remaining

    return bla_steps
