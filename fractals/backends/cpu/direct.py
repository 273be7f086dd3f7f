"""Direct iteration on the CPU: packs of samples, with stream compaction.

The program computes what `fractals.kernels.escape` does, with the same numbers and counts, in
another order. Orbits escape after few steps or after thousands, so in fixed packs most lanes would
soon be idle. Therefore

1. `first_steps`: every sample takes a few steps with a test each; escaped samples are stored.
   Where no neighbor escaped, samples take these steps without a test (`speculate`), and begin
   again if one of them escaped;
2. `iterate_blocks`: the states of the other samples form a list without gaps. They take blocks of
   steps without a test; the fewer escape, the longer the blocks. After each block the list is
   compacted;
   `find_cycle` tells whether some of them have reached a cycle. If so, every z is compared with an
   earlier one after each block, and a block is as long as one or more periods of that cycle;
3. `replay_escaped`: a sample that escaped in a block is returned to the block's start. At the end
   these samples take their last steps again, so counts are exact: `STRIDE` steps with one test,
   and where a sample escaped in those, single steps.
"""

import math

from fractals.backends import machine_code
from fractals.backends.cpu.programs import HALT, ROOM, SAMPLES, list_rows
from fractals.backends.cpu.simd.control import (
    align_stack,
    by_vectors,
    flush_denormals,
    keep_apart,
    repeat,
    restore_mode,
    unknown,
)
from fractals.backends.cpu.simd.memory import (
    compress_rows,
    compress_store,
    load,
    load_rows,
    masked_store,
    read_now,
    select_each,
    store,
    store_rows,
)
from fractals.backends.cpu.simd.pack import (
    FEW_REGISTERS,
    MASK_REGISTERS,
    any_lane,
    count_under,
    everywhere,
    first_lanes,
    indices,
    lane_count,
    splat,
    truncate,
)
from fractals.kernels.orbit import make_near, make_orbit, state_size
from fractals.kernels.primitives import number, select

# --- Orbit statistics are stored packs, and for samples that are replayed.


def make_statistics_stores(jit, own, planes):
    """Return ``(put, copy, keep)``, which store orbit statistics.

    The `planes` statistics follow `own` other numbers in a state. In an array of statistics the
    planes are ``size`` elements apart. ``put`` stores those of a pack in that array, ``keep`` in
    the scratch `numbers`, and ``copy`` copies them from there.
    """

    def put(arrays, k, size, state, gone, valid):
        zero = number(0, state[0])
        masked_store(arrays, k, valid, select(gone, state[own], zero))

    def copy(arrays, k, size, numbers, row, t, room):
        for plane in range(planes):
            arrays[plane * size + k] = numbers[row + plane * room + t]

    def keep(numbers, row, room, i, state):
        store_rows(numbers, row + i, room, state[own:])

    put = jit(put)
    for plane in range(1, planes):
        put = _put_more(jit, put, own, plane)
    return put, jit(copy), jit(keep)


def _put_more(jit, put_others, own, plane):
    place = own + plane

    def put(arrays, k, size, state, gone, valid):
        put_others(arrays, k, size, state, gone, valid)
        zero = number(0, state[0])
        masked_store(arrays, plane * size + k, valid, select(gone, state[place], zero))

    return jit(put)


# Vectors in a pack, by the numbers of a state. More vectors hide the latency of `fma`, as long as
# the states of all lanes fit into the vector registers. The figures are the fastest ones in
# benchmarks/limit/limit.py. A step with a test also keeps a count and a mask for each lane.
TESTED_VECTORS = {2: 3 if FEW_REGISTERS else 4, 3: 3, 4: 3}
BLOCK_VECTORS = {3: 3, 4: 3}  # of steps without a test
FEW_VECTORS = 2  # for longer states
UNROLL = 3  # steps in one round of a loop
# The vectors of steps without a test, and the steps in one round, without statistics: for z alone
# where each sample has its own c, and in Julia sets; and for z and its derivative, in states of up
# to MOST_WITH_DERIVATIVE numbers. A round moves each new z into the registers of the old one: after
# one step of (8, 1) with 18 moves for 32 operations, after three of (6, 3) with 4 for 72. An Intel
# core makes some of the moves where multiply-adds are computed, and takes 1.25 times as long with
# (8, 1). An AMD core makes them elsewhere, and takes 1.05 times as long with (6, 3) (Zen 4).
if MASK_REGISTERS:
    OWN_C, SAME_C, WITH_DERIVATIVE = (8, 1) if machine_code.MOVES_FREE else (6, 3), (6, 3), (4, 3)
elif FEW_REGISTERS:
    OWN_C, SAME_C, WITH_DERIVATIVE = (6, 1), (6, 1), (5, 1)
elif machine_code.FOR_BROWSERS:  # which move vectors to and from memory by themselves
    OWN_C, SAME_C, WITH_DERIVATIVE = (8, 3), (8, 3), (4, 3)
else:
    OWN_C, SAME_C, WITH_DERIVATIVE = (4, 3), (4, 3), (4, 1)
MOST_WITH_DERIVATIVE = 6
EARLY = 16  # steps of `first_steps`; with a limit of 32 or less it takes all steps
MIN_BLOCK, MAX_BLOCK = 12, 384  # steps without a test
STRIDE = 4  # steps with one test in `replay_escaped`
# After FIRST_SEARCH steps, and then each time after half as many again, a period is searched for:
# in up to 1/SEARCHED of the list's steps so far, and not while more than 1/MANY of the samples
# escape in a block.
FIRST_SEARCH, SEARCHED, MANY = 96, 128, 16
SEARCH = 2**14  # steps of a search between two looks at whether the tile is still needed
# Blocks are a multiple of a period that was found, with up to PERIODIC_BLOCK steps, or 1/SHARE of
# the steps so far: on average a sample in a cycle takes half a block in vain.
PERIODIC_BLOCK, SHARE = 48, 16


def make_body(target, options):
    """Return ``body(tile, grid, point, max_iterations, numbers, places, cells)``: it fills a tile.

    Parameters
    ----------
    target : Target
    options : fractals.kernels.escape.EscapeOptions

    Notes
    -----
    The arguments of ``body`` are those of `fractals.kernels.escape.make_body`, but for the arrays
    of the tile, which have one dimension, for `numbers` and `places`, scratch of
    `fractals.backends.cpu.programs.direct_sizes`, and for the `cells` of a
    `fractals.threads.Queue`: where it was stopped, the body returns after a block of steps, and
    the tile is not to be used.
    """
    jit, formula = target.jit, options.formula
    julia, derivative, explicit = options.julia, options.derivative, options.explicit_positions
    start, advance, finish = make_orbit(target, formula, julia, derivative, options.statistics)
    own = state_size(formula, derivative)
    planes, statistics_inside = options.statistics.planes, options.statistics.inside
    size = own + planes  # numbers of a state
    carried = size if julia else size + 2  # of a lane in the list: also its c, if it has its own
    # Rows: states before and after a block, which change places with each block, c, an earlier z,
    # and lanes returned to a block's start.
    other = carried
    saved = other + size
    pending = saved + 2
    few, vectors, unroll = pack_shape(size, options)
    list_height = list_rows(options)
    c_rows = list_height - 2  # of a Julia set's c, whose lanes have none of their own
    keep_row = 4 if derivative else 2  # of statistics, after z and dz of replayed lanes

    near = make_near(target, formula, derivative)
    shortcuts = options.interior_shortcuts and formula.memoryless
    if explicit:  # us and vs hold the positions of one row

        def place(us, vs, i, row_u, row_v):
            return load(us, i, row_u), load(vs, i, row_v)

    else:

        def place(us, vs, i, row_u, row_v):
            return load(us, i, row_u) + row_u, load(vs, i, row_v) + row_v

    place = jit(place)

    if julia:

        def begin(u, v, a, b, point):
            return start(u, v, point), a, b

        def lane_of(state, a, b):
            return state

        def c_of(lane, a, b):
            return a, b

        def keep_c(numbers, room, a, b):
            store_rows(numbers, c_rows * room, room, (a, b))

        def move_c(numbers, room, end, a, b):
            pass

        def compress_c(numbers, room, end, still, a, b):
            pass

        def c_at(numbers, i, room, a, b):
            return a, b

        def place_of_c(i, room):
            return c_rows * room

    else:

        def begin(u, v, a, b, point):
            return start(u, v, point), u, v

        def lane_of(state, a, b):
            return (*state, a, b)

        def c_of(lane, a, b):
            return lane[size], lane[size + 1]

        def keep_c(numbers, room, a, b):
            pass

        def move_c(numbers, room, end, a, b):
            store_rows(numbers, size * room + end, room, (a, b))

        def compress_c(numbers, room, end, still, a, b):
            compress_rows(numbers, size * room + end, room, still, (a, b))

        def c_at(numbers, i, room, a, b):
            return load_rows(numbers, size * room + i, room, a, 2)

        def place_of_c(i, room):
            return size * room + i

    begin, lane_of, c_of = jit(begin), jit(lane_of), jit(c_of)
    keep_c, place_of_c = jit(keep_c), jit(place_of_c)
    move_c, compress_c, c_at = jit(move_c), jit(compress_c), jit(c_at)

    test_inside = shortcuts and not julia and formula.inside is not None
    # With AVX-512, tests are cheaper and a pack has more lanes, so speculation fails more often.
    # Where the formula tells what is inside, few orbits are left that it would help; yet a browser
    # has the dearest tests, and few formulas tell that, so few programs are longer for it.
    speculative = FEW_REGISTERS and size == 2 and not test_inside
    if machine_code.FOR_BROWSERS:
        speculative = test_inside and not planes
    if test_inside:
        within = jit(formula.inside)
    else:

        @jit
        def within(a, b):
            return a < a

    if options.check_every_step or options.steps_per_check == 1:

        def all_go_on(zero):
            return first_lanes(lane_count(zero), zero)

        def go_on(state, a, b, point, escape_radius_squared, still):
            state = advance(state, a, b, point)
            return state, still & near(state, escape_radius_squared, point)

        def going_on(state, escape_radius_squared, point, still):
            return still

    else:  # the last state tells

        def all_go_on(zero):
            return ()

        def go_on(state, a, b, point, escape_radius_squared, still):
            return advance(state, a, b, point), still

        def going_on(state, escape_radius_squared, point, still):
            return near(state, escape_radius_squared, point)

    all_go_on, go_on, going_on = jit(all_go_on), jit(go_on), jit(going_on)

    @jit
    def tested(state, a, b, point, escape_radius_squared, alive, n):
        """Return the state, the lanes that go on, and the counts after a step with a test."""
        after = advance(state, a, b, point)
        # The test does not wait for the selection; in lanes not alive its result is not used.
        on = alive & near(after, escape_radius_squared, point)
        return select_each(alive, after, state), on, count_under(alive, n)

    if derivative:

        def put_slope(p, q, k, state, gone, valid):
            zero = number(0, state[0])
            slope = finish(state)
            masked_store(p, k, valid, select(gone, slope[0], zero))
            masked_store(q, k, valid, select(gone, slope[1], zero))

        def copy_slope(p, q, k, numbers, row, t, room):
            p[k], q[k] = numbers[row + t], numbers[row + room + t]

        def keep_slope(numbers, row, room, i, state):
            slope = finish(state)
            store(numbers, row + i, slope[0])
            store(numbers, row + room + i, slope[1])

    else:

        def put_slope(p, q, k, state, gone, valid):
            pass

        def copy_slope(p, q, k, numbers, row, t, room):
            pass

        def keep_slope(numbers, row, room, i, state):
            pass

    put_slope, copy_slope, keep_slope = jit(put_slope), jit(copy_slope), jit(keep_slope)
    put_statistics, copy_statistics, keep_statistics = make_statistics_stores(jit, own, planes)

    @jit
    def one_step(carried, numbers, room, zero, point, radius_squared):
        """Return the index of c, the state and the lanes that go on, after a step."""
        k, state, still = carried
        a, b = load_rows(numbers, k, room, zero, 2)
        state, still = by_vectors(go_on, (state, a, b, point, radius_squared, still))
        return k, state, still

    @jit
    def one_round(carried, numbers, room, zero, point, radius_squared):
        k, state, still = carried
        carried = unknown(k), state, still
        for _ in range(unroll):
            carried = one_step(carried, numbers, room, zero, point, radius_squared)
        return carried

    @jit
    def take_steps(numbers, i, room, before, after, point, steps):
        """Take a block of steps with the lanes at i, and return which of them go on.

        Their state is read from the row `before` on, and written from the row `after` on.

        The function is separate, because LLVM allocates registers better in a small one. c is
        loaded in each step, because there are too few registers for z and c of all lanes.
        """
        keep_apart()
        align_stack()
        zero = splat(point[0] - point[0], vectors)
        escape_radius_squared = splat(point[2], vectors)
        inputs = numbers, room, zero, point, escape_radius_squared
        state = load_rows(numbers, before * room + i, room, zero, size)
        carried = place_of_c(i, room), state, all_go_on(zero)
        carried = repeat(one_round, steps // unroll, carried, inputs)
        if unroll > 1:
            carried = repeat(one_step, steps % unroll, carried, inputs)
        _, state, still = carried
        store_rows(numbers, after * room + i, room, state)
        return going_on(state, escape_radius_squared, point, still)

    @jit
    def find_cycle(numbers, room, before, point, end, most, cells):
        """Return after how many steps the first of some lanes comes back to its z.

        The lanes are spread over the list, which ends at `end`, and copied to the end of its room.
        Returns 0 where none comes back within `most` steps.
        """
        zero = splat(point[0] - point[0], few)
        lanes = lane_count(zero)
        i = room - lanes
        for lane in range(lanes):
            k = end * lane // lanes
            for row in range(size):
                numbers[(before + row) * room + i + lane] = numbers[(before + row) * room + k]
            for row in range(size, carried):  # of c
                numbers[row * room + i + lane] = numbers[row * room + k]
        state = load_rows(numbers, before * room + i, room, zero, size)
        ca, cb = c_at(numbers, i, room, splat(point[0], few), splat(point[1], few))
        x, y = state[0], state[1]
        last = 0
        while last < most and read_now(cells, HALT) == 0:  # `most` may be a hundred million
            first, last = last + 1, min(last + SEARCH, most)
            for period in range(first, last + 1):
                state = by_vectors(advance, (state, ca, cb, point))
                if any_lane((state[0] == x) & (state[1] == y)):
                    return period
        return 0

    @jit
    def speculate(tile, at, u, v, point, early, max_iterations, lists, end):
        """Take the first steps of some neighbors without a test.

        Return the new end of the list, or -1 where one of them escaped, or is inside for certain:
        nothing is stored then.
        """
        numbers, places, room = lists
        zero = splat(point[0] - point[0], vectors)
        a, b = splat(point[0], vectors), splat(point[1], vectors)
        state, ca, cb = begin(u, v, a, b, point)
        if test_inside and any_lane(within(ca, cb)):
            return -1
        store_rows(numbers, end, room, lane_of(state, ca, cb))
        still = take_steps(numbers, end, room, 0, 0, point, early)
        if any_lane(~still):
            return -1
        store(tile.count, at, truncate(everywhere(max_iterations, zero)))
        store(tile.x, at, zero)
        store(tile.y, at, zero)
        put_slope(tile.dx, tile.dy, at, state, ~still, still)
        if early < max_iterations - 1:
            store(places, end, indices(at, zero))
            end += lane_count(zero)
        return end

    @jit
    def first_steps(tile, width, us, vs, rows, j, point, early, max_iterations, lists, end):
        """Return the new end of the list, after the `early` first steps of a row.

        Parameters
        ----------
        tile : EscapeTile
            Of one dimension: escaped samples are stored.
        width : int
            Samples in the row.
        us, vs : array of real
            Columns of the grid; or, with explicit positions, the positions of the row.
        rows : array of real, shape (2, height)
        j : int
            The row.
        point, max_iterations
            c of a Julia set, and the limit.
        early : int
            Steps, each with a test.
        lists : tuple
            `numbers`, `places`, and the distance between rows of `numbers`.
        end : int
            The end of the list so far.
        """
        count, x, y, dx, dy, statistics = tile
        numbers, places, room = lists
        zero = splat(point[0] - point[0], few)
        none, one = everywhere(0, zero), everywhere(1, zero)
        most = everywhere(max_iterations, zero)
        escape_radius_squared = splat(point[2], few)
        a, b = splat(point[0], few), splat(point[1], few)
        row_u, row_v = splat(rows[0, j], few), splat(rows[1, j], few)
        lanes, many = lane_count(zero), splat(point[0] - point[0], vectors)
        i, all_stayed = 0, False
        while i < width:
            if speculative and all_stayed and i + lane_count(many) <= width:
                u, v = place(us, vs, i, splat(rows[0, j], vectors), splat(rows[1, j], vectors))
                at = j * width + i
                after = speculate(tile, at, u, v, point, early, max_iterations, lists, end)
                all_stayed = after >= 0
                if all_stayed:
                    end = after
                    i += lane_count(many)
                    continue
            u, v = place(us, vs, i, row_u, row_v)
            state, ca, cb = begin(u, v, a, b, point)
            valid = first_lanes(width - i, zero)
            inside = within(ca, cb)
            alive = ~inside
            n, k = none, 0
            if early > 0:  # a first step that no lane is kept from is quicker
                state, n, k = by_vectors(advance, (state, ca, cb, point)), one, 1
                alive = alive & near(state, escape_radius_squared, point)
            if i + lanes > width:  # testing that is quicker than masking each pack
                alive = alive & valid
            while k < early and any_lane(alive):
                state, alive, n = by_vectors(
                    tested, (state, ca, cb, point, escape_radius_squared, alive, n)
                )
                k += 1
            gone = ~(alive | inside)
            at = j * width + i
            if i + lanes <= width:
                store(count, at, truncate(select(gone, n, most)))
                store(x, at, select(gone, state[0], zero))
                store(y, at, select(gone, state[1], zero))
            else:
                masked_store(count, at, valid, truncate(select(gone, n, most)))
                masked_store(x, at, valid, select(gone, state[0], zero))
                masked_store(y, at, valid, select(gone, state[1], zero))
            put_slope(dx, dy, at, state, gone, valid)
            if planes:
                if statistics_inside and early >= max_iterations - 1:
                    state = select_each(alive, advance(state, ca, cb, point), state)
                    gone = gone | alive
                put_statistics(statistics, at, len(count), state, gone, valid)
            if early < max_iterations - 1 and any_lane(alive):
                compress_rows(numbers, end, room, alive, lane_of(state, ca, cb))
                end = compress_store(places, end, alive, indices(at, zero))
            if speculative:
                all_stayed = not any_lane(~alive)
            i += lanes
        return end

    @jit
    def iterate_blocks(tile, point, n, max_iterations, lists, end, cells):
        """Return how many lanes of the list escaped from step n to the limit.

        A lane that escaped is returned to the start of its block. Its place is in the second row of
        `places`, the number of steps before the block in the third.
        """
        count, statistics = tile.count, tile.statistics
        numbers, places, room = lists
        zero = splat(point[0] - point[0], vectors)
        lanes = lane_count(zero)
        a, b = splat(point[0], vectors), splat(point[1], vectors)
        before, after = 0, other
        back = 0
        period, mark, saving, comparing = 0, FIRST_SEARCH, False, False
        steps = MIN_BLOCK
        while end > 0 and n < max_iterations - 1 and read_now(cells, HALT) == 0:
            steps = min(steps, max_iterations - 1 - n)
            first, left = back, end
            end = 0
            for i in range(0, left, lanes):
                still = take_steps(numbers, i, room, before, after, point, steps)
                state = load_rows(numbers, after * room + i, room, zero, size)
                gone = ~still
                if i + lanes > left:  # testing that is quicker than masking each pack
                    valid = first_lanes(left - i, zero)
                    still, gone = still & valid, gone & valid
                leaving = any_lane(gone)
                if leaving:
                    old = load_rows(numbers, before * room + i, room, zero, size)
                    lane = lane_of(old, *c_at(numbers, i, room, a, b))
                    compress_rows(numbers, pending * room + back, room, gone, lane)
                    back = compress_store(places, room + back, gone, load(places, i, zero)) - room
                if period > 0:
                    old_z = load_rows(numbers, saved * room + i, room, zero, 2)
                    if comparing:
                        periodic = still & (old_z[0] == state[0]) & (old_z[1] == state[1])
                        if any_lane(periodic):
                            still = still & ~periodic
                            leaving = True
                    if saving:
                        old_z = state[0], state[1]
                    if leaving:
                        compress_rows(numbers, saved * room + end, room, still, old_z)
                    elif end != i or saving:
                        store_rows(numbers, saved * room + end, room, old_z)
                if leaving:
                    ca, cb = c_at(numbers, i, room, a, b)
                    compress_rows(numbers, after * room + end, room, still, state)
                    compress_c(numbers, room, end, still, ca, cb)
                    end = compress_store(places, end, still, load(places, i, zero))
                else:
                    if end != i:
                        ca, cb = c_at(numbers, i, room, a, b)
                        store_rows(numbers, after * room + end, room, state)
                        move_c(numbers, room, end, ca, cb)
                        store(places, end, load(places, i, zero))
                    end += min(lanes, left - i)
            for t in range(first, back):
                places[2 * room + t] = n
            before, after = after, before
            n += steps
            comparing, saving = comparing or saving, False
            if shortcuts and n >= mark and MANY * (back - first) <= left:
                most = min(n * (end // lanes + 1) // SEARCHED, n // 4)
                found = find_cycle(numbers, room, before, point, end, most, cells)
                if found > 0:
                    period = found
                    # Other samples have other periods: blocks get a length with many divisors.
                    for factor in (2, 3, 2):
                        if factor * period <= PERIODIC_BLOCK:
                            period *= factor
                mark, saving = 3 * n // 2, period > 0
            # A block costs loads, stores and compaction, whatever its length; each lane that
            # leaves costs its steps again. With as many that leave per step as in the last block,
            # the sum of both is least at about this length. Yet after a block without any escapes
            # often come many: lengths grow no faster than twofold.
            best = min(3 * math.sqrt(left * steps / (left - end + 1)), 2 * steps)
            steps, longest = MIN_BLOCK, MAX_BLOCK
            if period > 0:
                steps, longest = period, min(max(PERIODIC_BLOCK, n // SHARE), MAX_BLOCK)
            while 2 * steps <= min(best, longest):
                steps *= 2
        if statistics_inside:  # the last step of the lanes that did not escape
            row = pending * room + back
            for i in range(0, end, lanes):
                state = load_rows(numbers, before * room + i, room, zero, size)
                ca, cb = c_at(numbers, i, room, a, b)
                keep_statistics(numbers, row, room, 0, advance(state, ca, cb, point))
                for t in range(min(lanes, end - i)):
                    copy_statistics(statistics, places[i + t], len(count), numbers, row, t, room)
        return back

    @jit
    def replay_escaped(tile, point, lists, back):
        """Take the last steps of `back` escaped lanes again, and store their results."""
        count, x, y, dx, dy, statistics = tile
        numbers, places, room = lists
        zero = splat(point[0] - point[0], few)
        lanes = lane_count(zero)
        escape_radius_squared = splat(point[2], few)
        a, b = splat(point[0], few), splat(point[1], few)
        row = pending * room
        for i in range(0, back, lanes):
            lane = load_rows(numbers, row + i, room, zero, carried)
            ca, cb = c_of(lane, a, b)
            before, n = lane[:size], load(places, 2 * room + i, zero)
            for steps in (STRIDE, 1):
                # An escaped lane goes on: selecting the state at each step would take longer.
                state, alive = before, first_lanes(back - i, zero)
                while any_lane(alive):
                    before, still = select_each(alive, state, before), all_go_on(zero)
                    for _ in range(steps):
                        state, still = by_vectors(
                            go_on, (state, ca, cb, point, escape_radius_squared, still)
                        )
                        n = count_under(alive, n)
                    alive = alive & going_on(state, escape_radius_squared, point, still)
            state = by_vectors(advance, (before, ca, cb, point))
            store(places, 2 * room + i, n)
            store_rows(numbers, i, room, (state[0], state[1]))
            keep_slope(numbers, 2 * room, room, i, state)
            if planes:
                keep_statistics(numbers, keep_row * room, room, i, state)
        for t in range(back):
            # Among the counted steps are the last STRIDE, which were then taken one by one.
            k, n = places[room + t], places[2 * room + t] - STRIDE
            count[k], x[k], y[k] = n, numbers[t], numbers[room + t]
            copy_slope(dx, dy, k, numbers, 2 * room, t, room)
            if planes:
                copy_statistics(statistics, k, len(count), numbers, keep_row * room, t, room)

    def body(tile, grid, point, max_iterations, numbers, places, cells):
        align_stack()
        columns, rows = grid
        height = rows.shape[1]
        width = columns.shape[1] // height if explicit else columns.shape[1]
        lines, room = max(1, SAMPLES // width), len(places) // 3
        lists = numbers, places, room
        us, vs = numbers[list_height * room : -room], numbers[(list_height + 1) * room :]
        for i in range(width):
            us[i], vs[i] = columns[0, i], columns[1, i]
        for i in range(width, width + ROOM):
            us[i] = vs[i] = 0
        mode = flush_denormals()
        keep_c(numbers, room, splat(point[0], vectors), splat(point[1], vectors))
        early = EARLY if max_iterations > 2 * EARLY else max_iterations - 1
        for top in range(0, height, lines):
            end = 0
            for j in range(top, min(top + lines, height)):
                if explicit:
                    for i in range(width):
                        us[i], vs[i] = columns[0, j * width + i], columns[1, j * width + i]
                end = first_steps(
                    tile, width, us, vs, rows, j, point, early, max_iterations, lists, end
                )
            back = iterate_blocks(tile, point, early, max_iterations, lists, end, cells)
            replay_escaped(tile, point, lists, back)
        restore_mode(mode)

    return body


def pack_shape(size, options):
    """Return the vectors of a step with and without a test, and the steps in one round.

    `size` is that of a state.
    """
    tested = TESTED_VECTORS.get(size, FEW_VECTORS)
    if size == 2:
        return tested, *(SAME_C if options.julia else OWN_C)
    if options.derivative and size <= MOST_WITH_DERIVATIVE and not options.statistics.planes:
        return tested, *WITH_DERIVATIVE
    return tested, BLOCK_VECTORS.get(size, FEW_VECTORS), UNROLL
