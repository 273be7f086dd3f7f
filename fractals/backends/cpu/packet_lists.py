"""Lists from which packets of samples are made up: see `fractals.backends.cpu.perturb_packets`.

A list has a row for each changing number of a sample, and the indices of the samples. Samples are
appended without gaps. c does not change, and is kept once for each sample.
"""

from typing import Any, NamedTuple

from fractals.backends.cpu.programs import (
    LISTS,
    OCTAVE,
    ORDER,
    ROW_COUNT,
    ROW_TANGENTS,
    ROW_X,
    ROW_Y,
    TALLY,
    earlier_row,
    exponent_row,
    row_count,
)
from fractals.backends.cpu.simd.memory import (
    compress_rows,
    compress_store,
    gather_rows,
    load,
    load_rows,
    select_each,
)
from fractals.backends.cpu.simd.pack import first_lanes, lane_count, splat
from fractals.kernels.primitives import number, select, split

# Vectors of a pack. Two let one's arithmetic hide the other's latency; four spill out of registers.
VECTORS = 2
# Octaves of the size of z by which samples are sorted. Smaller ones count as the last octave.
OCTAVES = 128
# The octaves begin with this power of two, above the size of any z.
MAX_OCTAVE = 8

# Rows of the list ESCAPED: the count, the point where the orbit escaped, and dz.
ESCAPED_COUNT, ESCAPED_X, ESCAPED_Y, ESCAPED_P, ESCAPED_Q = 0, 1, 2, 3, 4

# Stands for the exponent of numbers that have none; above all exponents of numbers.
PLAIN = 2.0**60


class Packet(NamedTuple):
    """Samples under way, one a lane: every number is a pack."""

    # x, y: z = x + iy, over ``2**exponents[0]``.
    x: Any
    y: Any
    # a, b: c = a + ib.
    a: Any
    b: Any
    count: Any  # steps taken; inside of the loop of single steps, minus the index in the reference
    # dz, or the columns of its Jacobian matrix, over ``2**exponents[1]``; empty without dz.
    tangents: Any
    earlier: Any  # z at an earlier rebasing: if it comes back, the sample's orbit is periodic
    exponents: Any  # exponents of z and of dz, where numbers have exponents; otherwise empty


class Lists(NamedTuple):
    """`Scratch`, and how many elements a row has."""

    numbers: Any
    indices: Any
    room: Any


class Context(NamedTuple):
    """What all packets of a tile share."""

    lists: Any
    tables: Any
    perturb_view: Any  # not named `view`, which Numba takes for the method of arrays
    max_iterations: Any
    exponent_c: Any  # exponent of two of c
    h: Any  # what a step adds to dz: two packs, and their exponent of two
    g: Any  # the same in float64; its imaginary part is 0


def make_lists(target, options):
    """Return ``(put, put_packet, sort, take)``.

    ``put(lists, which, end, mask, values, samples)`` appends values under a mask to a list, and
    returns its new end; ``put_packet`` appends a packet. ``sort(lists, which, end)`` orders a list;
    ``take(lists, which, begin, end, in_order, remembered)`` returns a packet of it, the samples'
    indices, and the mask of those lanes that hold a sample.
    """
    jit = target.jit
    rows, changing, tangents_end = row_count(options), earlier_row(options), exponent_row(options)

    @jit
    def put(lists, which, end, mask, values, samples):
        numbers, indices, room = lists
        compress_rows(numbers, which * rows * room + end, room, mask, values)
        return compress_store(indices, which * room + end, mask, samples) - which * room

    @jit
    def put_packet(lists, which, end, mask, packet, samples, remembered):
        """Append a packet, with its earlier z if that is `remembered`."""
        if remembered:
            begin = (which * rows + changing) * lists.room + end
            compress_rows(lists.numbers, begin, lists.room, mask, packet.earlier)
        values = (packet.x, packet.y, packet.count, *packet.tangents, *packet.exponents)
        return put(lists, which, end, mask, values, samples)

    @jit
    def sort(lists, which, end):
        """Order a list by the size of z.

        Samples of one size take the same skips, so packets of them wait for few lanes.
        """
        numbers, indices, room = lists
        order, tally, octaves = ORDER * room, TALLY * room, OCTAVE * room
        base = which * rows * room
        for k in range(OCTAVES + 1):
            indices[tally + k] = 0
        for t in range(end):
            x, y = numbers[base + ROW_X * room + t], numbers[base + ROW_Y * room + t]
            _, e = split(max(abs(x), abs(y)))
            octave = min(max(OCTAVES - MAX_OCTAVE + e, 0), OCTAVES - 1)
            indices[octaves + t] = octave
            indices[tally + octave + 1] += 1
        for k in range(OCTAVES):
            indices[tally + k + 1] += indices[tally + k]
        for t in range(end):
            octave = indices[octaves + t]
            k = indices[tally + octave]
            indices[tally + octave] = k + 1
            indices[order + k] = t
        for t in range(end, end + lane_count(splat(numbers[0], VECTORS))):
            indices[order + t] = 0  # padding lanes: loaded, never used

    @jit
    def take(lists, which, begin, end, in_order, remembered):
        numbers, indices, room = lists
        like = splat(numbers[0] - numbers[0], VECTORS)
        base = which * rows * room
        valid = first_lanes(end - begin, like)
        earlier = like, like
        if in_order:
            order = load(indices, ORDER * room + begin, like)
            values = gather_rows(numbers, order, base, room, like, changing)
            (samples,) = gather_rows(indices, order, which * room, room, order, 1)
            if remembered:
                earlier = gather_rows(numbers, order, base + changing * room, room, like, 2)
        else:
            values = load_rows(numbers, base + begin, room, like, changing)
            samples = load(indices, which * room + begin, like)
            samples = select(valid, samples, number(0, samples))  # padding lanes hold any number
        a, b = gather_rows(numbers, samples, LISTS * rows * room, room, like, 2)
        tangents, exponents = values[ROW_TANGENTS:tangents_end], values[tangents_end:]
        x, y, count = values[ROW_X], values[ROW_Y], values[ROW_COUNT]
        packet = Packet(x, y, a, b, count, tangents, earlier, exponents)
        return packet, samples, valid

    return put, put_packet, sort, take


def make_select_steps(target, options):
    """Return ``select_steps(mask, new, old)``: the packet `new` under a mask, elsewhere `old`.

    Packets are those before and after steps: c, the earlier z and the exponents are alike.
    """
    if options.derivative:

        def select_steps(mask, new, old):
            x, y, count = select_each(mask, (new.x, new.y, new.count), (old.x, old.y, old.count))
            tangents = select_each(mask, new.tangents, old.tangents)
            return Packet(x, y, old.a, old.b, count, tangents, old.earlier, old.exponents)

    else:

        def select_steps(mask, new, old):
            x, y, count = select_each(mask, (new.x, new.y, new.count), (old.x, old.y, old.count))
            return Packet(x, y, old.a, old.b, count, old.tangents, old.earlier, old.exponents)

    return target.jit(select_steps)


def make_clamped(target):
    """Return ``clamped(k)``: the nearest exponent of two that float64 has."""

    @target.jit
    def clamped(k):
        low, high = number(-1023, k), number(1023, k)
        return select(k < low, low, select(k > high, high, k))

    return clamped
