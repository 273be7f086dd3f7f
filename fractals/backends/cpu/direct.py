"""Direct iteration on the CPU: many samples at once, in packs, and only those still in flight.

The program is that of `fractals.kernels.escape`, with the same numbers and the same counts, in
another order. Samples leave the loop after few steps or after thousands, so lanes that are done
would soon outnumber the others. Therefore

1. every sample takes a few steps, each with a test; what escapes is written down at once;
2. the survivors' numbers are gathered in a list without gaps, and go on in blocks of many steps
   without a test: the fewer escape, the more. After each block the list is closed up again;
3. what escaped in a block goes back to the block's beginning, and at the end all such lanes take
   their last steps again, with a test each: the counts are exact.
"""

import math

from numba import types

from fractals.backends.cpu.simd.denormals import flush_denormals, restore_mode
from fractals.backends.cpu.simd.memory import (
    compress_rows,
    compress_store,
    load,
    load_rows,
    masked_store,
    select_each,
    store,
    store_rows,
)
from fractals.backends.cpu.simd.pack import (
    any_lane,
    first_lanes,
    indices,
    lane_count,
    splat,
    truncate,
)
from fractals.kernels.orbit import make_near, make_orbit, state_size
from fractals.kernels.primitives import number, select
from fractals.kernels.statistics import UNWATCHED

VECTORS = {2: 4, 3: 3, 4: 3}  # in a pack, by the numbers of a state: there are 32 registers
FEW_VECTORS = 2  # where there are more
EARLY = 16  # steps with a test each, before survivors are gathered; to a limit of 32 all of them
SHORTEST, LONGEST = 12, 192  # steps without a test
LONGEST_PERIODIC = 48  # the same, where orbits that repeat are looked for after them
UNROLL = 3  # steps in one turn of a loop
SAMPLES = 18432  # at most gathered in one list: what is left of them fits into a core's cache
ROOM = 528  # elements beyond the end of an array that a pack may touch
MAX_ROWS = 2 * 10 + 2  # of lists, where nothing is watched: state and c, twice, and an earlier z


def make_body(
    target,
    formula,
    julia,
    derivative,
    interior,
    block,
    sticky=False,
    watching=UNWATCHED,
    listed=False,
):
    """Return a body that fills what that of `fractals.kernels.escape.make_body` does.

    Its arguments are the same but for the strides: ``body(count, x, y, p, q, watched, columns,
    rows, point, limit, numbers, places)``: the first six arrays have one dimension, and the last
    two are of `scratch_sizes`.
    """
    jit = target.jit
    start, advance, finish = make_orbit(target, formula, julia, derivative, watching)
    own = state_size(formula, derivative)
    planes, watched_inside = watching.planes, watching.inside
    size = own + planes  # numbers of a state
    carried = size if julia else size + 2  # of a lane in the list: also its c, if it has its own
    saved, pending = carried, carried + 2  # rows: an earlier z; lanes that went back
    vectors = VECTORS.get(size, FEW_VECTORS)
    list_rows = MAX_ROWS + 2 * planes
    keep_row = 5 if derivative else 3  # of what is watched, where lanes land
    longest = LONGEST_PERIODIC if interior else LONGEST

    near = make_near(target, formula, derivative)
    interior = interior and not formula.remembers
    if listed:  # a row of the list is at hand in place of the columns

        def place(us, vs, i, row_u, row_v):
            return load(us, i, row_u), load(vs, i, row_v)

    else:

        def place(us, vs, i, row_u, row_v):
            return load(us, i, row_u) + row_u, load(vs, i, row_v) + row_v

    place = jit(place)

    if julia:

        def begin(u, v, a, b):
            return start(u, v), a, b

        def lane_of(state, a, b):
            return state

        def c_of(lane, a, b):
            return a, b

    else:

        def begin(u, v, a, b):
            return start(u, v), u, v

        def lane_of(state, a, b):
            return (*state, a, b)

        def c_of(lane, a, b):
            return lane[size], lane[size + 1]

    begin, lane_of, c_of = jit(begin), jit(lane_of), jit(c_of)

    if interior and not julia and formula.inside is not None:
        within = jit(formula.inside)
    else:

        @jit
        def within(a, b):
            return a < a

    if sticky or block == 1:  # an orbit that escaped may come back: every step is looked at

        def go_on(state, a, b, point, radius2, still):
            state = advance(state, a, b, point)
            return state, still & near(state, radius2)

    else:

        def go_on(state, a, b, point, radius2, still):
            return advance(state, a, b, point), still

    go_on = jit(go_on)

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
    put_watched, copy_watched, keep_watched = make_watched(jit, own, planes)

    @jit
    def launch(out, width, us, vs, rows, j, point, early, limit, lists, end):
        """Take the `early` first steps of a row of samples; return the new end of the list."""
        count, x, y, p, q, watched = out
        numbers, places, room = lists
        zero = splat(point[0] - point[0], vectors)
        one, most, radius2 = number(1, zero), number(limit, zero), splat(point[2], vectors)
        a, b = splat(point[0], vectors), splat(point[1], vectors)
        row_u, row_v = splat(rows[0, j], vectors), splat(rows[1, j], vectors)
        lanes = lane_count(zero)
        for i in range(0, width, lanes):
            u, v = place(us, vs, i, row_u, row_v)
            state, ca, cb = begin(u, v, a, b)
            valid = first_lanes(width - i, zero)
            inside = within(ca, cb)
            alive = ~inside
            n, k = zero, 0
            if early > 0:  # a first step that no lane is kept from is quicker
                state, n, k = advance(state, ca, cb, point), one, 1
                alive = alive & near(state, radius2)
            if i + lanes > width:  # testing that is quicker than masking each pack
                alive = alive & valid
            while k < early and any_lane(alive):
                state = select_each(alive, advance(state, ca, cb, point), state)
                n = n + select(alive, one, zero)
                alive = alive & near(state, radius2)
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
            put_slope(p, q, at, state, gone, valid)
            if planes:
                if watched_inside and early >= limit - 1:
                    state = select_each(alive, advance(state, ca, cb, point), state)
                    gone = gone | alive
                put_watched(watched, at, len(count), state, gone, valid)
            if early < limit - 1 and any_lane(alive):
                compress_rows(numbers, end, room, alive, lane_of(state, ca, cb))
                end = compress_store(places, end, alive, indices(at, zero))
        return end

    @jit
    def fly(out, point, n, limit, lists, end):
        """Take the list's lanes from step n to the limit; return how many went back.

        Their places are in the second row of `places`, the steps they have taken in the third.
        """
        watched = out[5]
        numbers, places, room = lists
        zero = splat(point[0] - point[0], vectors)
        radius2, lanes = splat(point[2], vectors), lane_count(zero)
        a, b = splat(point[0], vectors), splat(point[1], vectors)
        back = 0
        turn, mark = 0, 0
        steps = SHORTEST
        while end > 0 and n < limit - 1:
            steps = min(steps, limit - 1 - n)
            first, left = back, end
            end = 0
            for i in range(0, left, lanes):
                lane = load_rows(numbers, i, room, zero, carried)
                ca, cb = c_of(lane, a, b)
                valid = first_lanes(left - i, zero)
                state, still = lane[:size], valid
                for _ in range(steps // UNROLL):
                    for _ in range(UNROLL):
                        state, still = go_on(state, ca, cb, point, radius2, still)
                for _ in range(steps % UNROLL):
                    state, still = go_on(state, ca, cb, point, radius2, still)
                still = still & near(state, radius2)
                gone = valid & ~still
                closing = any_lane(gone) or end != i
                if any_lane(gone):
                    before = load_rows(numbers, i, room, zero, carried)
                    compress_rows(numbers, pending * room + back, room, gone, before)
                    back = compress_store(places, room + back, gone, load(places, i, zero)) - room
                if interior:
                    old_x = load(numbers, saved * room + i, zero)
                    old_y = load(numbers, (saved + 1) * room + i, zero)
                    if turn > 0:
                        periodic = still & (old_x == state[0]) & (old_y == state[1])
                        if any_lane(periodic):
                            still = still & ~periodic
                            closing = True
                    if turn == mark:
                        old_x, old_y = state[0], state[1]
                    if closing:
                        compress_rows(numbers, saved * room + end, room, still, (old_x, old_y))
                    elif turn == mark:
                        store_rows(numbers, saved * room + i, room, (old_x, old_y))
                if closing:
                    compress_rows(numbers, end, room, still, lane_of(state, ca, cb))
                    end = compress_store(places, end, still, load(places, i, zero))
                else:
                    store_rows(numbers, i, room, state)
                    end = min(i + lanes, left)
            for t in range(first, back):
                places[2 * room + t] = n
            n += steps
            # A block takes some time whatever its length; where a lane escapes, its steps are taken
            # again. Both together are least at about this length:
            best = 3 * math.sqrt(left * steps / (back - first + 1))
            steps = SHORTEST
            while steps < longest and 2 * steps <= best:
                steps *= 2
            if turn == mark:
                mark = max(1, 2 * mark)
            turn += 1
        if watched_inside:  # the last step of those that stayed
            row = pending * room + back
            for i in range(0, end, lanes):
                lane = load_rows(numbers, i, room, zero, carried)
                ca, cb = c_of(lane, a, b)
                keep_watched(numbers, row, room, 0, advance(lane[:size], ca, cb, point))
                for t in range(min(lanes, end - i)):
                    copy_watched(watched, places[i + t], len(out[0]), numbers, row, t, room)
        return back

    @jit
    def land(out, point, lists, back):
        """Take the last steps of the lanes that went back, and write down where they escaped."""
        count, x, y, p, q, watched = out
        numbers, places, room = lists
        zero = splat(point[0] - point[0], vectors)
        one, radius2, lanes = number(1, zero), splat(point[2], vectors), lane_count(zero)
        a, b = splat(point[0], vectors), splat(point[1], vectors)
        row = pending * room
        for i in range(0, back, lanes):
            lane = load_rows(numbers, row + i, room, zero, carried)
            ca, cb = c_of(lane, a, b)
            state, n = lane[:size], zero
            alive = first_lanes(back - i, zero)
            while any_lane(alive):
                for _ in range(UNROLL):
                    state = select_each(alive, advance(state, ca, cb, point), state)
                    n = n + select(alive, one, zero)
                    alive = alive & near(state, radius2)
            store_rows(numbers, i, room, (n, state[0], state[1]))
            keep_slope(numbers, 3 * room, room, i, state)
            if planes:
                keep_watched(numbers, keep_row * room, room, i, state)
        for t in range(back):
            k, n = places[room + t], places[2 * room + t] + int(numbers[t])
            count[k], x[k], y[k] = n, numbers[room + t], numbers[2 * room + t]
            copy_slope(p, q, k, numbers, 3 * room, t, room)
            if planes:
                copy_watched(watched, k, len(count), numbers, keep_row * room, t, room)

    def body(count, x, y, p, q, watched, columns, rows, point, limit, numbers, places):
        out = count, x, y, p, q, watched
        height = rows.shape[1]
        width = columns.shape[1] // height if listed else columns.shape[1]
        lines, room = max(1, SAMPLES // width), len(places) // 3
        lists = numbers, places, room
        us, vs = numbers[list_rows * room : -room], numbers[(list_rows + 1) * room :]
        for i in range(width):
            us[i], vs[i] = columns[0, i], columns[1, i]
        for i in range(width, width + ROOM):
            us[i] = vs[i] = 0
        mode = flush_denormals()
        early = EARLY if limit > 2 * EARLY else limit - 1
        for top in range(0, height, lines):
            end = 0
            for j in range(top, min(top + lines, height)):
                if listed:
                    for i in range(width):
                        us[i], vs[i] = columns[0, j * width + i], columns[1, j * width + i]
                end = launch(out, width, us, vs, rows, j, point, early, limit, lists, end)
            back = fly(out, point, early, limit, lists, end)
            land(out, point, lists, back)
        restore_mode(mode)

    return body


def make_watched(jit, own, planes):
    """Return ``(put, copy, keep)`` for what is watched, as those for the slope.

    Its `planes` numbers follow `own` others in a state; the array's planes are `size` apart.
    """

    def put(watched, k, size, state, gone, valid):
        zero = number(0, state[0])
        masked_store(watched, k, valid, select(gone, state[own], zero))

    def copy(watched, k, size, numbers, row, t, room):
        for plane in range(planes):
            watched[plane * size + k] = numbers[row + plane * room + t]

    def keep(numbers, row, room, i, state):
        store_rows(numbers, row + i, room, state[own:])

    put = jit(put)
    for plane in range(1, planes):
        put = _put_more(jit, put, own, plane)
    return put, jit(copy), jit(keep)


def _put_more(jit, put_others, own, plane):
    place = own + plane

    def put(watched, k, size, state, gone, valid):
        put_others(watched, k, size, state, gone, valid)
        zero = number(0, state[0])
        masked_store(watched, plane * size + k, valid, select(gone, state[place], zero))

    return jit(put)


def signature(real):
    """Return the types of a body's arguments for a Numba number type."""
    line, plane = real[::1], real[:, ::1]
    places = types.Integer.from_bitwidth(real.bitwidth, signed=True)[::1]
    arrays = types.int32[::1], line, line, line, line, line, plane, plane, line
    return *arrays, types.int32, line, places


def scratch_sizes(width, planes=0):
    """Return how many elements `numbers` and `places` have, for rows of `width` samples."""
    room = max(SAMPLES, width) + ROOM
    return (MAX_ROWS + 2 * planes + 2) * room, 3 * room
