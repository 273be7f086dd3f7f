"""Lists from which packets of samples are made up: see `fractals.backends.cpu.perturb_packets`.

A list has a row for each number of a lane that changes, and the samples that they are of. Lanes are
put on it one after the other without gaps. What does not change, c, is kept once for each sample.
"""

from fractals.backends.cpu.simd.memory import (
    compress_rows,
    compress_store,
    gather_rows,
    load,
    load_rows,
)
from fractals.backends.cpu.simd.pack import first_lanes, lane_count, splat
from fractals.kernels.primitives import number, select, split

VECTORS = 2  # in a pack
SAMPLES = 8192  # that are under way together
BLOCK = 4, 4  # columns and rows of samples that begin as neighbors
ROOM = 256  # elements beyond the end of a list that a pack may touch
OCTAVES = 128  # of the size of z, by which lanes are sorted

# The lists: along the stages (two: one is read while the next is written), where the reference
# begins (two), escaped, and those too small for float64, which go on one by one.
STAGED, FRESH, READY, LEFT, LISTS = 0, 2, 4, 5, 6
# As long as a list each: its order, tallies, and octaves, and where samples belong in the picture.
ORDER, TALLY, OCTAVE, HOME, TABLES = LISTS, LISTS + 1, LISTS + 2, LISTS + 3, LISTS + 4

PLAIN = 2.0**60  # stands for the exponent of numbers that have none


def numbers_of(formula, derivative):
    """Return how many numbers a lane has: z, c, the count, tangents, and an earlier z."""
    return 7 + (0 if not derivative else 2 if formula.holomorphic else 4)


def rows_of(formula, derivative, extended):
    """Return how many rows a list has: `numbers_of` but c, and exponents of z and dz."""
    return numbers_of(formula, derivative) - 2 + (2 if extended else 0)


def scratch_sizes(rows):
    """Return how many elements the arrays for `numbers` and `places` have."""
    room = SAMPLES + BLOCK[0] * BLOCK[1] + ROOM
    return (LISTS * rows + 2) * room, TABLES * room


def make_lists(target, formula, derivative, extended):
    """Return ``(put, put_lane, sort, packet)``.

    `lists` is ``(numbers, places, room)``: a list is `rows` times `room` numbers, and its samples.
    Its last rows are the earlier z. After the lists come two rows of c, by sample.
    """
    jit = target.jit
    rows, ze = rows_of(formula, derivative, extended), numbers_of(formula, derivative)
    earlier, changing, tangents = ze - 2, rows - 2, ze - 4

    @jit
    def put(lists, which, end, mask, values, own):
        """Put the values under a mask on a list; return its new end."""
        numbers, places, room = lists
        compress_rows(numbers, which * rows * room + end, room, mask, values)
        return compress_store(places, which * room + end, mask, own) - which * room

    @jit
    def put_lane(lists, which, end, mask, lane, own, remembered):
        """Put the lanes under a mask on a list, with their earlier z if that is `remembered`."""
        if remembered:
            numbers, _, room = lists
            begin = (which * rows + changing) * room + end
            compress_rows(numbers, begin, room, mask, lane[earlier:ze])
        return put(lists, which, end, mask, lane[:2] + lane[4:earlier] + lane[ze:], own)

    @jit
    def sort(lists, which, end):
        """Order a list by the size of z: lanes that are alike skip alike."""
        numbers, places, room = lists
        order, tally, octaves = ORDER * room, TALLY * room, OCTAVE * room
        base = which * rows * room
        for k in range(OCTAVES + 1):
            places[tally + k] = 0
        for t in range(end):
            _, e = split(max(abs(numbers[base + t]), abs(numbers[base + room + t])))
            octave = min(max(OCTAVES - 8 + e, 0), OCTAVES - 1)
            places[octaves + t] = octave
            places[tally + octave + 1] += 1
        for k in range(OCTAVES):
            places[tally + k + 1] += places[tally + k]
        for t in range(end):
            octave = places[octaves + t]
            k = places[tally + octave]
            places[tally + octave] = k + 1
            places[order + k] = t
        for t in range(end, end + lane_count(splat(numbers[0], VECTORS))):
            places[order + t] = 0  # lanes that there are not, but are read

    @jit
    def packet(lists, which, begin, end, in_order, remembered):
        """Return lanes of a list, the samples that they are of, and which there are."""
        numbers, places, room = lists
        like = splat(numbers[0] - numbers[0], VECTORS)
        base = which * rows * room
        valid = first_lanes(end - begin, like)
        kept = like, like
        if in_order:
            order = load(places, ORDER * room + begin, like)
            lane = gather_rows(numbers, order, base, room, like, changing)
            (own,) = gather_rows(places, order, which * room, room, order, 1)
            if remembered:
                kept = gather_rows(numbers, order, base + changing * room, room, like, 2)
        else:
            lane = load_rows(numbers, base + begin, room, like, changing)
            own = load(places, which * room + begin, like)
            own = select(valid, own, number(0, own))  # nothing is known of what comes behind
        c = gather_rows(numbers, own, LISTS * rows * room, room, like, 2)
        lane = lane[:2] + c + lane[2:tangents] + kept + lane[tangents:]
        return lane, own, valid

    return put, put_lane, sort, packet


def make_clamped(target):
    """Return ``clamped(k)``: an exponent that float64 has."""

    @target.jit
    def clamped(k):
        low, high = number(-1023, k), number(1023, k)
        return select(k < low, low, select(k > high, high, k))

    return clamped
