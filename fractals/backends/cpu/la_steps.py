"""How a packet skips along the stages of LA: `la_steps` of `fractals.kernels.perturb`.

Here a number is a tuple ``(x, y, e)``: two packs, and one exponent that all lanes under way share,
always 0 where numbers have no exponents. Scaling by powers of two changes no bits, so a lane has
the same numbers as with an exponent of its own. Lanes that wait keep their own exponents.
"""

import math

from fractals.backends.cpu.packet_lists import Packet, make_clamped
from fractals.backends.cpu.programs import REBASED
from fractals.backends.cpu.simd.elementary import exponents, larger_part, powers_of_two
from fractals.backends.cpu.simd.memory import spread
from fractals.backends.cpu.simd.pack import any_lane, least
from fractals.kernels.floatexp import LINEAR_EXPONENT, ZERO_EXPONENT
from fractals.kernels.layout import (
    LA_A,
    LA_B,
    LA_LENGTH,
    LA_NEXT,
    LA_RADIUS,
    LA_RADIUS_C,
    LA_Z,
    STAGE_BEGIN,
    STAGE_END,
)
from fractals.kernels.primitives import fma, number, select, split, two_to

# Bits by which a lane may be smaller than the largest of its packet; a smaller one waits, and goes
# on in another packet. The range of float64 then has room for the products of all lanes.
MAX_SPREAD = 100
# Columns of an entry's complex numbers Z, A and B, which come first.
COMPLEX_COLUMNS = LA_B + 2
# Above all exponents.
MAX_EXPONENT = 2.0**62


def make_plain_numbers(target, options):
    """Return the functions of numbers whose exponents are always 0: see `make_floatexp_numbers`."""
    jit, int64, step = target.jit, target.int64, target.jit(options.formula.perturbed)

    @jit
    def exponent(entries, entry, column):
        return int64(0)

    @jit
    def plus(p, q):
        return p[0] + q[0], p[1] + q[1], p[2]

    @jit
    def moved(Z, z):
        zero = number(0, z[0])
        x, y = step(Z[0], Z[1], z[0], z[1], zero, zero)
        return x, y, z[2]

    @jit
    def below(p, r, e):
        return larger_part(p[0], p[1]) < r

    @jit
    def normal(p, mask):
        return p

    return exponent, plus, moved, below, normal


def make_floatexp_numbers(target, options, along):
    """Return ``(exponent, plus, moved, below, normal)``.

    ``exponent(entries, entry, column)`` reads an exponent of an entry; ``plus(p, q)`` is a sum;
    ``moved(Z, z)`` is f(Z + z) - f(Z), as in `fractals.kernels.floatexp`; ``below(p, r, e)`` tells
    which lanes are smaller than r * 2**e; ``normal(p, mask)`` brings the largest of the lanes under
    a mask into [1, 2).
    """
    jit, int64 = target.jit, target.int64
    step, degree = jit(options.formula.perturbed), options.formula.degree

    @jit
    def power(k, like):
        return number(two_to(k, 1.0), like)

    @jit
    def exponent(entries, entry, column):
        return int64(entries[entry, column])

    @jit
    def plus(p, q):
        e = max(p[2], q[2])
        s, t = power(p[2] - e, p[0]), power(q[2] - e, q[0])
        return fma(p[0], s, q[0] * t), fma(p[1], s, q[1] * t), e

    @jit
    def moved(Z, z):
        zero = number(0, z[0])
        if z[2] - Z[2] < LINEAR_EXPONENT:
            return along(Z, z)
        e = max(Z[2], z[2])
        s, t = power(Z[2] - e, zero), power(z[2] - e, zero)
        x, y = step(Z[0] * s, Z[1] * s, z[0] * t, z[1] * t, zero, zero)
        if z[2] - Z[2] <= LINEAR_EXPONENT + MAX_SPREAD:  # some lanes may be linear
            u, v, _ = along(Z, z)
            linear = larger_part(z[0], z[1]) < power(Z[2] + LINEAR_EXPONENT - z[2], zero)
            x, y = select(linear, u * t, x), select(linear, v * t, y)
        return x, y, degree * e

    @jit
    def below(p, r, e):
        return larger_part(p[0], p[1]) < r * two_to(min(max(e - p[2], -1000), 1000), 1.0)

    @jit
    def normal(p, mask):
        most = -least(select(mask, -larger_part(p[0], p[1]), number(0, p[0])))
        if most == 0:
            return p[0], p[1], int64(ZERO_EXPONENT)
        _, k = split(most)
        scale = power(-k, p[0])
        return p[0] * scale, p[1] * scale, int64(p[2] + k)

    return exponent, plus, moved, below, normal


def make_plain_exponents(target):
    """Return the functions of packets without exponents: see `make_shared_exponents`."""
    jit, int64 = target.jit, target.int64

    @jit
    def share(packet, mask):
        return packet, mask, int64(0), int64(0)

    @jit
    def part(packet, mask, e, f):
        return packet

    @jit
    def rebase(packet, u, v, e, f):
        earlier, own = packet.earlier, packet.exponents
        return Packet(u, v, packet.a, packet.b, packet.count, packet.tangents, earlier, own)

    return share, part, rebase


def make_shared_exponents(target, options):
    """Return ``(share, part, rebase)`` of packets with exponents.

    Lanes under way share an exponent, and lanes that wait have their own. ``share(packet, mask)``
    returns the packet with exponents in common, the mask of those lanes that are not too small
    beside the others, and the exponents of z and dz. ``part(packet, mask, e, f)`` gives lanes the
    exponents that they had in common. ``rebase(packet, u, v, e, f)`` returns the packet with z = (u
    + iv) 2**e, and the exponent f of dz.
    """
    jit, int64, derivative = target.jit, target.int64, options.derivative
    clamped = make_clamped(target)

    @jit
    def raised(x, y, e, mask):
        """Give lanes with exponents of their own that of the largest."""
        own = e + exponents(larger_part(x, y))
        most = -least(select(mask, -own, number(MAX_EXPONENT, x)))
        scale = select(mask, powers_of_two(clamped(e - most)), number(1, x))
        return x * scale, y * scale, most, own

    if derivative:

        @jit
        def raised_tangents(tangents, e, mask):
            p, q, most, _ = raised(tangents[0], tangents[1], e, mask)
            return (p, q), int64(most)

    else:

        @jit
        def raised_tangents(tangents, e, mask):
            return tangents, int64(0)

    @jit
    def share(packet, mask):
        z_exponent, dz_exponent = packet.exponents
        x, y, most, own = raised(packet.x, packet.y, z_exponent, mask)
        large = own >= most - MAX_SPREAD
        mask = mask & (large | (larger_part(packet.x, packet.y) == number(0, x)))
        x, y = select(mask, x, packet.x), select(mask, y, packet.y)
        tangents, f = raised_tangents(packet.tangents, dz_exponent, mask)
        a, b, count, earlier = packet.a, packet.b, packet.count, packet.earlier
        shared = Packet(x, y, a, b, count, tangents, earlier, packet.exponents)
        return shared, mask, int64(most), f

    @jit
    def part(packet, mask, e, f):
        zero = number(0, packet.x)
        z_exponent, dz_exponent = packet.exponents
        own = select(mask, zero + e, z_exponent), select(mask, zero + f, dz_exponent)
        x, y, a, b, count, tangents, earlier, _ = packet
        return Packet(x, y, a, b, count, tangents, earlier, own)

    @jit
    def rebase(packet, u, v, e, f):
        zero = number(0, packet.x)
        a, b, count, earlier = packet.a, packet.b, packet.count, packet.earlier
        return Packet(u, v, a, b, count, packet.tangents, earlier, (zero + e, zero + f))

    return share, part, rebase


def make_la_steps(target, options, put_packet, select_steps):
    """Return ``la_steps(packet, samples, alive, context, which, staged, rebased)``.

    It skips along the stages. Its result is ``(packet, stepping, at, staged, rebased)``: the lanes
    under the mask `stepping` take single steps next, from the index `at`. `staged` and `rebased`
    are the ends of two lists of rebased samples: those that begin the stages again, on the list
    `which`, and those that begin single steps.
    """
    jit, int64 = target.jit, target.int64
    formula, floatexp = options.formula, options.floatexp
    julia, derivative = options.julia, options.derivative

    if not formula.holomorphic:  # no stages

        def no_steps(packet, samples, alive, context, which, staged, rebased):
            return packet, alive, number(0, packet.x), staged, rebased

        return jit(no_steps)

    derive, degree = jit(formula.derivative), formula.degree

    @jit
    def times(p, q):
        x, y = fma(p[0], q[0], -(p[1] * q[1])), fma(p[0], q[1], p[1] * q[0])
        return x, y, p[2] + q[2]

    @jit
    def along(W, d):
        """Return f'(W) d."""
        x, y = derive(W[0], W[1], d[0], d[1])
        return x, y, W[2] * (degree - 1) + d[2]

    if floatexp:
        exponent, plus, moved, below, normal = make_floatexp_numbers(target, options, along)
        share, part, rebase = make_shared_exponents(target, options)
    else:
        exponent, plus, moved, below, normal = make_plain_numbers(target, options)
        share, part, rebase = make_plain_exponents(target)

    if derivative:

        @jit
        def skipped_tangents(tangents, Z, z, f, a, b, h, mask):
            """Return dz after a skip, and its exponent."""
            dz = tangents[0], tangents[1], f
            dz = plus(times(along(plus(Z, z), dz), a), times(b, h))
            dz = normal(dz, mask)
            return (dz[0], dz[1]), dz[2]

    else:

        @jit
        def skipped_tangents(tangents, Z, z, f, a, b, h, mask):
            return tangents, f

    @jit
    def la_steps(packet, samples, alive, context, which, staged, rebased):
        stages, entries = context.tables.stages, context.tables.la_entries
        max_iterations, lists = context.max_iterations, context.lists
        zero = number(0, packet.x)
        stage = int64(context.perturb_view.stage_count - 1)
        # Stage, entry and exponents of all lanes that are under way, and of those that wait.
        entry, e, f = int64(stages[stage, STAGE_BEGIN]), int64(0), int64(0)
        waiting_stage, at = zero + stage, zero + entry
        c = packet.a, packet.b, context.exponent_c
        here, waiting = alive & ~alive, alive
        while any_lane(here) or any_lane(waiting):
            if not any_lane(here):  # waiting lanes go on, from the highest stage where a lane waits
                stage = int64(-least(select(waiting, -waiting_stage, zero)))
                here = waiting & (waiting_stage == zero + stage)
                entry = int64(least(select(here, at, zero + math.inf)))
                packet, here, e, f = share(packet, here & (at == zero + entry))
                waiting = waiting & ~here
            row = spread(entries, entry, zero, COMPLEX_COLUMNS)
            Z = row[LA_Z], row[LA_Z + 1], exponent(entries, entry, LA_Z + 2)
            z = packet.x, packet.y, e
            w = moved(Z, z)
            radius, radius_c = entries[entry, LA_RADIUS], entries[entry, LA_RADIUS_C]
            fits = here & below(w, radius, exponent(entries, entry, LA_RADIUS + 1))
            fits = fits & below(c, radius_c, exponent(entries, entry, LA_RADIUS_C + 1))
            fits = fits & (packet.count + entries[entry, LA_LENGTH] <= max_iterations)
            fails = here & ~fits
            if any_lane(fails):
                if stage > 0 and not any_lane(fits):
                    stage, entry = stage - 1, int64(entries[entry, LA_NEXT])
                    continue
                at = select(fails, zero + entries[entry, LA_NEXT], at)
                waiting_stage = select(fails, zero + (stage - 1), waiting_stage)
                packet = part(packet, fails, e, f)
                waiting = waiting | (fails & (waiting_stage >= zero))
            if any_lane(fits):
                a = row[LA_A], row[LA_A + 1], exponent(entries, entry, LA_A + 2)
                b = row[LA_B], row[LA_B + 1], exponent(entries, entry, LA_B + 2)
                tangents, f = skipped_tangents(packet.tangents, Z, z, f, a, b, context.h, fits)
                x, y, e = normal(plus(times(w, a), times(b, c)), fits)
                count, earlier = packet.count + entries[entry, LA_LENGTH], packet.earlier
                new = Packet(x, y, c[0], c[1], count, tangents, earlier, packet.exponents)
                packet = select_steps(fits, new, packet) if any_lane(alive & ~fits) else new
                entry += 1
                row = spread(entries, entry, zero, 2)
                z_size = larger_part(packet.x, packet.y)
                Z = row[LA_Z], row[LA_Z + 1], exponent(entries, entry, LA_Z + 2)
                u, v, k = plus(Z, (packet.x, packet.y, e))
                over, back = fits & (packet.count >= max_iterations), fits
                if entry != stages[stage, STAGE_END]:
                    back = fits & below((u, v, k), z_size, e)
                if any_lane(over | back):
                    back = back & ~over
                    whole = rebase(packet, u, v, k, f)
                    if julia:  # the stages are those of the first orbit
                        rebased = put_packet(lists, REBASED, rebased, back, whole, samples, False)
                    else:
                        staged = put_packet(lists, which, staged, back, whole, samples, False)
                    fits, alive = fits & ~(over | back), alive & ~(over | back)
                if floatexp:
                    small = fits & (z_size < 2.0**-MAX_SPREAD) & (z_size > zero)
                    if any_lane(small):
                        at = select(small, zero + entry, at)
                        waiting_stage = select(small, zero + stage, waiting_stage)
                        packet = part(packet, small, e, f)
                        waiting, fits = waiting | small, fits & ~small
            here = fits
        return packet, alive, at, staged, rebased

    return jit(la_steps)
