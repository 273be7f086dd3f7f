"""Direct iteration in double-double numbers on the CPU: packs of samples, with stream compaction.

It is `fractals.backends.cpu.direct` for steps that take some ten times as long, so it is simpler:
all samples of some rows form a list without gaps, and take blocks of steps without a test. After
each block the list is compacted. A sample that escaped in a block is returned to the block's start,
and takes its last steps again, with a test each.
"""

import math

from fractals.backends.cpu.doubled import C_ROWS, SAMPLES, Z_ROWS, list_rows
from fractals.backends.cpu.programs import HALT, ROOM
from fractals.backends.cpu.simd.control import (
    align_stack,
    by_vectors,
    flush_denormals,
    keep_apart,
    repeat,
    restore_mode,
)
from fractals.backends.cpu.simd.memory import (
    compress_rows,
    compress_store,
    load,
    load_rows,
    read_now,
    select_each,
    store,
    store_rows,
)
from fractals.backends.cpu.simd.pack import (
    any_lane,
    count_under,
    first_lanes,
    indices,
    lane_count,
    splat,
)
from fractals.kernels.doubled.arithmetic import total
from fractals.kernels.doubled.orbit import constants_end, make_doubled_orbit
from fractals.kernels.orbit import state_size

VECTORS = 4  # in a pack of the list: their steps fill the time in which others wait for results
FEW = 2  # in packs that are tested at every step
FIRST_BLOCK, MAX_BLOCK = 4, 192  # steps without a test


def make_body(target, options):
    """Return ``body(tile, grid, point, max_iterations, numbers, places, cells)``: it fills a tile.

    The arguments are those of `fractals.backends.cpu.direct.make_body`; `grid` and `point` have the
    low parts that `fractals.kernels.doubled.escape` describes.
    """
    jit, explicit, julia = target.jit, options.explicit_positions, options.julia
    derivative, planes = options.derivative, options.statistics.planes
    inside_too, every_step = options.statistics.inside, options.check_every_step
    orbit, add = make_doubled_orbit(target, options), jit(total)
    start, advance, near, own = orbit.start, orbit.advance, orbit.near, orbit.own
    size = own + planes
    # Rows of the list: the states before and after a block, which change places with each block,
    # c, an earlier z, and lanes returned to a block's start, with their c.
    c_row, other = size, size + C_ROWS
    saved = other + size
    pending = saved + Z_ROWS
    grid_row = list_rows(options)
    low = state_size(options.formula, derivative)  # the place of the low part of x
    low_c = constants_end(options.formula, options.statistics)
    shortcuts = options.interior_shortcuts and options.formula.memoryless

    if explicit:

        def place(us, room, i, rows, j, like):
            return load_rows(us, i, room, like, 4)

    else:

        def place(us, room, i, rows, j, like):
            a = load_rows(us, i, room, like, 4)
            u, low_u = add(a[0], a[2], like + rows[0, j], like + rows[2, j])
            v, low_v = add(a[1], a[3], like + rows[1, j], like + rows[3, j])
            return u, v, low_u, low_v

    place = jit(place)
    if julia:

        def c_of(z, point, like):
            return like + point[0], like + point[1], like + point[low_c], like + point[low_c + 1]

    else:

        def c_of(z, point, like):
            return z

    c_of = jit(c_of)

    @jit
    def z_of(state):
        return state[0], state[1], state[low], state[low + 1]

    if every_step:

        def go_on(state, c, point, escape_radius_squared, still):
            state = advance(state, c, point)
            return state, still & near(state, escape_radius_squared, point)

        def all_go_on(zero):
            return first_lanes(lane_count(zero), zero)

        def going_on(state, escape_radius_squared, point, still):
            return still

    else:  # the last state tells

        def go_on(state, c, point, escape_radius_squared, still):
            return advance(state, c, point), still

        def all_go_on(zero):
            return ()

        def going_on(state, escape_radius_squared, point, still):
            return near(state, escape_radius_squared, point)

    go_on, all_go_on, going_on = jit(go_on), jit(all_go_on), jit(going_on)

    @jit
    def one_step(carried, numbers, k, room, zero, point, radius_squared):
        state, still = carried
        c = load_rows(numbers, k, room, zero, 4)
        return by_vectors(go_on, (state, c, point, radius_squared, still))

    @jit
    def take_steps(numbers, i, room, before, after, point, steps):
        """Take a block of steps with the lanes at i, and return which of them go on."""
        keep_apart()
        align_stack()
        zero = splat(point[0] - point[0], VECTORS)
        escape_radius_squared = splat(point[2], VECTORS)
        state = load_rows(numbers, before * room + i, room, zero, size)
        inputs = numbers, c_row * room + i, room, zero, point, escape_radius_squared
        state, still = repeat(one_step, steps, (state, all_go_on(zero)), inputs)
        store_rows(numbers, after * room + i, room, state)
        return going_on(state, escape_radius_squared, point, still)

    @jit
    def fill(numbers, places, room, width, rows, j, point, end):
        """Add the samples of a row to the list, and return its end."""
        zero = splat(point[0] - point[0], FEW)
        us, lanes = numbers[grid_row * room :], lane_count(zero)
        for i in range(0, width, lanes):
            z = place(us, room, i, rows, j, zero)
            state = start(z[0], z[1], z[2], z[3], point)
            store_rows(numbers, end, room, state)
            store_rows(numbers, c_row * room + end, room, c_of(z, point, zero))
            store(places, end, indices(j * width + i, zero))
            end += min(lanes, width - i)
        return end

    @jit
    def keep_statistics(tile, numbers, places, room, first, at, count):
        """Store the statistics of states of the list, from `first` on, of places from `at` on."""
        for plane in range(planes):
            for t in range(count):
                k = plane * len(tile.count) + places[at + t]
                tile.statistics[k] = numbers[(own + plane) * room + first + t]

    @jit
    def iterate_blocks(tile, point, max_iterations, numbers, places, room, end, cells):
        """Return how many lanes of the list escaped before the limit."""
        zero = splat(point[0] - point[0], VECTORS)
        lanes = lane_count(zero)
        before, after, back, n = 0, other, 0, 0
        mark, saving, comparing = 4 * FIRST_BLOCK, False, False
        steps = FIRST_BLOCK
        while end > 0 and n < max_iterations - 1 and read_now(cells, HALT) == 0:
            steps = min(steps, max_iterations - 1 - n)
            first, left, end = back, end, 0
            for i in range(0, left, lanes):
                still = take_steps(numbers, i, room, before, after, point, steps)
                valid = first_lanes(left - i, zero)
                gone, still = ~still & valid, still & valid
                state = load_rows(numbers, after * room + i, room, zero, size)
                c = load_rows(numbers, c_row * room + i, room, zero, 4)
                if any_lane(gone):
                    old = load_rows(numbers, before * room + i, room, zero, size)
                    compress_rows(numbers, pending * room + back, room, gone, old)
                    compress_rows(numbers, (pending + size) * room + back, room, gone, c)
                    back = compress_store(places, room + back, gone, load(places, i, zero)) - room
                if shortcuts:
                    z, old_z = z_of(state), load_rows(numbers, saved * room + i, room, zero, 4)
                    if comparing:
                        same = (old_z[0] == z[0]) & (old_z[1] == z[1])
                        still = still & ~(same & (old_z[2] == z[2]) & (old_z[3] == z[3]))
                    if saving:
                        old_z = z
                    compress_rows(numbers, saved * room + end, room, still, old_z)
                compress_rows(numbers, after * room + end, room, still, state)
                compress_rows(numbers, c_row * room + end, room, still, c)
                end = compress_store(places, end, still, load(places, i, zero))
            for t in range(first, back):
                places[2 * room + t] = n
            before, after = after, before
            n += steps
            comparing, saving = comparing or saving, False
            if n >= mark:
                mark, saving = 2 * n, True
            # As in `fractals.backends.cpu.direct`: a block costs compaction, whatever its length,
            # and each lane that leaves its steps again.
            best = min(math.sqrt(left * steps / (left - end + 1)), 2 * steps)
            longest, steps = MAX_BLOCK, FIRST_BLOCK
            while 2 * steps <= min(best, longest):
                steps *= 2
        if inside_too:  # the last step of the lanes that did not escape
            for i in range(0, end, lanes):
                state = load_rows(numbers, before * room + i, room, zero, size)
                c = load_rows(numbers, c_row * room + i, room, zero, 4)
                store_rows(numbers, after * room, room, by_vectors(advance, (state, c, point)))
                some = min(lanes, end - i)
                keep_statistics(tile, numbers[after * room :], places, room, 0, i, some)
        return back

    if derivative:
        finish = orbit.finish

        def keep_slope(numbers, i, room, state):
            store_rows(numbers, size * room + i, room, finish(state))

        def copy_slope(tile, k, numbers, t, room):
            tile.dx[k], tile.dy[k] = numbers[size * room + t], numbers[(size + 1) * room + t]

    else:

        def keep_slope(numbers, i, room, state):
            pass

        def copy_slope(tile, k, numbers, t, room):
            pass

    keep_slope, copy_slope = jit(keep_slope), jit(copy_slope)

    @jit
    def replay_escaped(tile, point, numbers, places, room, back):
        """Take the last steps of `back` escaped lanes again, and store their results."""
        zero = splat(point[0] - point[0], FEW)
        escape_radius_squared = splat(point[2], FEW)
        for i in range(0, back, lane_count(zero)):
            state = load_rows(numbers, pending * room + i, room, zero, size)
            c = load_rows(numbers, (pending + size) * room + i, room, zero, 4)
            n, alive = load(places, 2 * room + i, zero), first_lanes(back - i, zero)
            while any_lane(alive):
                state = select_each(alive, by_vectors(advance, (state, c, point)), state)
                n = count_under(alive, n)
                alive = alive & near(state, escape_radius_squared, point)
            store(places, 2 * room + i, n)
            store_rows(numbers, i, room, state)
            keep_slope(numbers, i, room, state)
        for t in range(back):
            k = places[room + t]
            tile.count[k] = places[2 * room + t]
            tile.x[k], tile.y[k] = numbers[t], numbers[room + t]
            copy_slope(tile, k, numbers, t, room)
        keep_statistics(tile, numbers, places, room, 0, room, back)

    def body(tile, grid, point, max_iterations, numbers, places, cells):
        align_stack()
        columns, rows = grid
        height, room = rows.shape[1], len(places) // 3
        width = columns.shape[1] // height if explicit else columns.shape[1]
        lines = max(1, SAMPLES // width)
        us = numbers[grid_row * room :]
        for row in range(4):
            for i in range(width, width + ROOM):
                us[row * room + i] = 0
            for i in range(width):
                us[row * room + i] = columns[row, i]
        for k in range(len(tile.count)):
            tile.count[k] = max_iterations
            tile.x[k] = tile.y[k] = 0
        if derivative:
            for k in range(len(tile.count)):
                tile.dx[k] = tile.dy[k] = 0
        if planes:
            for k in range(len(tile.statistics)):
                tile.statistics[k] = 0
        mode = flush_denormals()
        for top in range(0, height, lines):
            end = 0
            for j in range(top, min(top + lines, height)):
                if explicit:
                    for row in range(4):
                        for i in range(width):
                            us[row * room + i] = columns[row, j * width + i]
                end = fill(numbers, places, room, width, rows, j, point, end)
            back = iterate_blocks(tile, point, max_iterations, numbers, places, room, end, cells)
            replay_escaped(tile, point, numbers, places, room, back)
        restore_mode(mode)

    return body
