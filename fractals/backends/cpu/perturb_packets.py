"""Perturbation on the CPU: samples that are at the same point of the reference go on together.

The program is that of `fractals.kernels.perturb`, with the same numbers, in another order. A
sample alone waits for its own arithmetic most of the time, and a pack whose lanes are at different
points of the reference would wait for memory. But neighbors take nearly the same way, and all that
were rebased begin again at the same point. So a *packet* of samples, one a lane, takes its
reference points and its skips from one place in memory. As in the packets of rays of Wald,
Slusallek, Benthin and Wagner (2001), a lane that decides otherwise than the rest waits; here, until
the others are gone. Lanes that were rebased leave, and are put on a list, from which packets are
made up again, without gaps, of lanes that are alike.

Every lane takes exactly the steps it would take alone, so results are the same to the last bit.
"""

from numba import types

from fractals.backends.cpu.packet_lists import (
    BLOCK,
    FRESH,
    HOME,
    LEFT,
    LISTS,
    PLAIN,
    READY,
    SAMPLES,
    STAGED,
    TABLES,
    VECTORS,
    make_lists,
    rows_of,
)
from fractals.backends.cpu.perturb_bla import COMPARE, FIRST, REMEMBER, make_fly
from fractals.backends.cpu.perturb_la import make_leap
from fractals.backends.cpu.simd.pack import lane_count, splat
from fractals.kernels import perturb
from fractals.kernels.floatexp import NEVER, make_arithmetic
from fractals.kernels.primitives import two_to
from fractals.kernels.sample_position import make_place

UNWATCHED = 8  # rebasings before an earlier z is kept: most samples have escaped by then


def make_body(target, formula, julia, derivative, extended, listed=""):
    """Return a body that fills what that of `fractals.kernels.perturb.make_body` does.

    Its arguments are the same but for the strides: the first seven arrays have one dimension, and
    the last two are of `packet_lists.scratch_sizes`. Samples that are `listed` have one exponent.
    Those that are too small for float64 are left under way in ``state``, for the other body.
    """
    jit, int64 = target.jit, target.int64
    rows_a_lane = rows_of(formula, derivative, extended)
    changing = rows_a_lane - 2  # what comes before an earlier z
    ze = changing - 2  # the exponent of z
    pair = derivative and not formula.holomorphic
    _, _, sort, packet = make_lists(target, formula, derivative, extended)
    leap = make_leap(target, formula, julia, derivative, extended)
    fly = make_fly(target, formula, derivative, extended)
    normal = make_arithmetic(target, extended).normal
    place = make_place(target, listed)

    @jit
    def begin(lists, end, u, v, d, own):
        """Put a sample on the first list."""
        numbers, places, room = lists
        zero = u - u
        for row in range(changing):
            numbers[row * room + end] = zero
        z, c = 0, LISTS * rows_a_lane
        numbers[c * room + end], numbers[(c + 1) * room + end] = zero, zero
        first = z if julia else c
        numbers[first * room + end], numbers[(first + 1) * room + end] = u, v
        if derivative:
            numbers[3 * room + end] = d
        if pair:
            numbers[6 * room + end] = d
        places[end], places[HOME * room + end] = end, own

    @jit
    def finish(out, lists, end, tables, bounds, h):
        """Take the samples of the first list to their ends, and write down what became of them."""
        numbers, _, _ = lists
        _, _, first_end, home, last, stage_count, _, _ = bounds
        lanes = lane_count(splat(numbers[0], VECTORS))
        start = splat(numbers[0] - numbers[0], VECTORS)
        width = splat(h[0], VECTORS), start, h[2]
        g = splat(h[0] * two_to(h[2], h[0]), VECTORS)
        fresh, ready, left, turn = 0, 0, 0, 0
        while end > 0:  # along the stages, and from there to the first rebasing
            again = 0
            for i in range(0, end, lanes):
                lane, own, alive = packet(lists, STAGED + turn, i, end, False, False)
                at = start
                if stage_count > 0:
                    lane, alive, at, again, fresh = leap(
                        lane, own, alive, tables, bounds, width, lists, 1 - turn, again, fresh
                    )
                ends = fresh, ready, left
                fresh, ready, left = fly(
                    lane, own, alive, at, first_end, tables, bounds, g, lists, FRESH, ends, FIRST
                )
            end, turn = again, 1 - turn
        start, turn = start + home, 0
        rounds, mark = 0, UNWATCHED
        while fresh > 0:  # from one rebasing to the next
            way = COMPARE if rounds > UNWATCHED else FIRST
            if rounds == mark:
                way, mark = REMEMBER, 2 * mark
            rounds += 1
            end, fresh = fresh, 0
            sort(lists, FRESH + turn, end)
            turn = 1 - turn
            for i in range(0, end, lanes):
                lane, own, alive = packet(lists, FRESH + 1 - turn, i, end, True, way == COMPARE)
                ends = fresh, ready, left
                fresh, ready, left = fly(
                    lane, own, alive, start, last, tables, bounds, g, lists, FRESH + turn, ends, way
                )
        write(out, lists, ready)
        if extended:
            leave(out, lists, left)

    @jit
    def write(out, lists, ready):
        """Write down where samples escaped."""
        count, x, y, p, q, _, _ = out
        numbers, places, room = lists
        base = READY * rows_a_lane * room
        for t in range(ready):
            k = places[HOME * room + places[READY * room + t]]
            count[k] = int(numbers[base + t])
            x[k], y[k] = numbers[base + room + t], numbers[base + 2 * room + t]
            if derivative:
                p[k], q[k] = numbers[base + 3 * room + t], numbers[base + 4 * room + t]

    @jit
    def leave(out, lists, left):
        """Write down where samples are that go on one by one."""
        count, _, _, _, _, state, under_way = out
        numbers, places, room = lists
        base, plane = LEFT * rows_a_lane * room, len(count)
        for t in range(left):
            k = places[HOME * room + places[LEFT * room + t]]
            e, f = numbers[base + ze * room + t], numbers[base + (ze + 1) * room + t]
            if e == PLAIN:
                e = f = 0.0
            z = normal(numbers[base + t], numbers[base + room + t], int64(e))
            state[k], state[plane + k], state[2 * plane + k] = z
            state[3 * plane + k] = numbers[base + 2 * room + t]
            state[4 * plane + k] = numbers[base + changing * room + t]
            state[5 * plane + k], state[6 * plane + k] = -1.0, 0.0
            if derivative:
                d = normal(numbers[base + 3 * room + t], numbers[base + 4 * room + t], int64(f))
                state[7 * plane + k], state[8 * plane + k], state[9 * plane + k] = d
            under_way[0] = 1

    def body(
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
        numbers,
        places,
    ):
        out = count, x, y, p, q, state, under_way
        height, plane = rows.shape[1], len(count)
        width = plane // height
        lists = numbers, places, len(places) // TABLES
        tables = orbit, stages, entries, levels, tree
        most, exponent = numbers.dtype.type(limit), int64(view[1])
        ends = int64(view[3]), int64(view[4]), int64(view[5])
        lengths = int64(view[perturb.STAGES]), int64(view[perturb.LEVELS])
        # A zero with the exponent of the view would be the larger part of a sum with a z that is
        # smaller than the view, and z would be lost.
        exponent_c = NEVER if julia and extended else exponent
        bounds = (view[0], most, *ends, *lengths, exponent_c)
        zero = view[0] - view[0]
        h = (zero if julia else view[2]), zero, exponent_c
        for k in range(plane):
            count[k], x[k], y[k] = limit, zero, zero
            if derivative:
                p[k], q[k] = zero, zero
            if extended:
                state[3 * plane + k] = -1.0  # done
        end = 0
        for top in range(0, height, BLOCK[1]):
            for left in range(0, width, BLOCK[0]):
                for j in range(top, min(top + BLOCK[1], height)):
                    for i in range(left, min(left + BLOCK[0], width)):
                        u, v = place(columns, rows, width, j, i)
                        begin(lists, end, u, v, view[2] if julia else zero, j * width + i)
                        if extended:
                            e = exponent if julia else NEVER
                            numbers[ze * lists[2] + end] = e
                            numbers[(ze + 1) * lists[2] + end] = e
                        end += 1
                if end > SAMPLES:
                    finish(out, lists, end, tables, bounds, h)
                    end = 0
        finish(out, lists, end, tables, bounds, h)

    return body


def signature():
    """Return the types of a body's arguments."""
    real, index = types.float64, types.int64
    line, plane = real[::1], real[:, ::1]
    out = types.int32[::1], *5 * (line,), types.int32[::1]
    tables = plane, plane, index[:, ::1], plane, index[::1], plane
    return *out, plane, plane, *tables, line, types.int32, line, index[::1]
