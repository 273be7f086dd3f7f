"""Perturbation on the CPU: samples at the same point of the reference take their steps together.

The program is that of `fractals.kernels.perturb`, with the same numbers, in another order. One
sample alone waits for its own arithmetic most of the time, and a pack whose lanes are at different
points of the reference would wait for memory. But neighbors take nearly the same skips, and all
rebased samples begin at the same point of the reference. So a *packet* of samples, one a lane,
reads its reference points and its skips from one place in memory. As in the packets of rays of
Wald, Slusallek, Benthin and Wagner (2001), lanes that decide differently wait; here, until the
others have left. Rebased samples leave their packet and are appended to a list, from which new
packets of similar samples are made up, without gaps (stream compaction).

Every sample takes exactly the steps it would take alone, so results are the same to the last bit.
"""

from fractals.backends.cpu.la_steps import make_la_steps
from fractals.backends.cpu.packet_lists import (
    ESCAPED_COUNT,
    ESCAPED_P,
    ESCAPED_Q,
    ESCAPED_X,
    ESCAPED_Y,
    PLAIN,
    VECTORS,
    Context,
    Lists,
    make_lists,
    make_select_steps,
)
from fractals.backends.cpu.perturb_steps import COMPARE, IGNORE, REMEMBER, make_bla_steps
from fractals.backends.cpu.programs import (
    BLOCK_SIZE,
    ESCAPED,
    HALT,
    IN_TILE,
    LISTS,
    MAX_SAMPLES,
    REBASED,
    REMAINING,
    ROW_COUNT,
    ROW_TANGENTS,
    ROW_X,
    ROW_Y,
    STAGED,
    TABLES,
    earlier_row,
    exponent_row,
    row_count,
)
from fractals.backends.cpu.simd.memory import read_now
from fractals.backends.cpu.simd.pack import lane_count, splat
from fractals.kernels.floatexp import ZERO_EXPONENT, make_arithmetic
from fractals.kernels.layout import (
    STATE_COUNT,
    Sample,
    make_place,
)
from fractals.kernels.perturb import make_state
from fractals.kernels.primitives import two_to

# Rebasings before a z is remembered and compared with later ones, to find periodic orbits. Most
# samples have escaped by then, so the comparison costs nothing in pictures without an inside.
FIRST_REMEMBERED = 8


def make_put_sample(target, options):
    """Return ``put_sample(lists, end, u, v, dz, exponent, own)``, onto the first list.

    The sample lies at u + iv; `dz` is the derivative of its z, `exponent` the exponent of the first
    point of its orbit, and `own` its index in the tile.
    """
    rows, changing, ze = row_count(options), earlier_row(options), exponent_row(options)
    julia, derivative, pair = options.julia, options.derivative, options.pair
    floatexp = options.floatexp

    @target.jit
    def put_sample(lists, end, u, v, dz, exponent, own):
        numbers, indices, room = lists
        zero = u - u
        for row in range(changing):
            numbers[row * room + end] = zero
        z, c = ROW_X, LISTS * rows
        numbers[c * room + end], numbers[(c + 1) * room + end] = zero, zero
        first = z if julia else c
        numbers[first * room + end], numbers[(first + 1) * room + end] = u, v
        if derivative:
            numbers[ROW_TANGENTS * room + end] = dz
        if pair:
            numbers[(ROW_TANGENTS + 3) * room + end] = dz
        if floatexp:
            numbers[ze * room + end], numbers[(ze + 1) * room + end] = exponent, exponent
        indices[end], indices[IN_TILE * room + end] = end, own

    return put_sample


def make_write(target, options):
    """Return ``(write_escaped, write_remaining)``, which take the samples from their lists.

    ``write_escaped(tile, work, lists, end)`` writes where samples escaped;
    ``write_remaining(work, lists, end)`` writes where samples are that go on one by one.
    """
    jit, int64, derivative = target.jit, target.int64, options.derivative
    rows, changing, ze = row_count(options), earlier_row(options), exponent_row(options)
    normal = make_arithmetic(target, options.floatexp).normal
    _, store = make_state(target, options)

    @jit
    def write_escaped(tile, work, lists, end):
        numbers, indices, room = lists
        base, width = ESCAPED * rows * room, tile.count.shape[1]
        for t in range(end):
            own = indices[IN_TILE * room + indices[ESCAPED * room + t]]
            j, i = own // width, own % width
            x, y = numbers[base + ESCAPED_X * room + t], numbers[base + ESCAPED_Y * room + t]
            if not (x == x and y == y):
                work.under_way[0, 1] = 1
            tile.count[j, i] = int(numbers[base + ESCAPED_COUNT * room + t])
            tile.x[j, i], tile.y[j, i] = x, y
            if derivative:
                tile.dx[j, i] = numbers[base + ESCAPED_P * room + t]
                tile.dy[j, i] = numbers[base + ESCAPED_Q * room + t]

    @jit
    def write_remaining(work, lists, end):
        numbers, indices, room = lists
        base, width = REMAINING * rows * room, work.state.shape[2]
        for t in range(end):
            own = indices[IN_TILE * room + indices[REMAINING * room + t]]
            z_exponent = numbers[base + ze * room + t]
            dz_exponent = numbers[base + (ze + 1) * room + t]
            if z_exponent == PLAIN:
                z_exponent = dz_exponent = 0.0
            x, y = numbers[base + ROW_X * room + t], numbers[base + ROW_Y * room + t]
            z = normal(x, y, int64(z_exponent))
            dz = z
            if derivative:
                p = numbers[base + ROW_TANGENTS * room + t]
                q = numbers[base + (ROW_TANGENTS + 1) * room + t]
                dz = normal(p, q, int64(dz_exponent))
            n, m = numbers[base + ROW_COUNT * room + t], numbers[base + changing * room + t]
            # Such samples are of holomorphic formulas, so dz2 is not stored.
            sample = Sample(z, n, m, int64(-1), int64(0), dz, dz)
            store(work.state, own // width, own % width, sample, False)
            work.under_way[0, 0] = 1

    return write_escaped, write_remaining


def make_finish(target, options):
    """Return ``finish(tile, work, lists, end, tables, view, most, exponent_c, cells)``.

    It takes the samples of the first list, up to `end`, to their ends, and writes their results.
    `most` is the limit of iterations as a float64. Where the queue of `cells` was stopped, it
    returns early.
    """
    jit, floatexp, julia = target.jit, options.floatexp, options.julia
    put, put_packet, sort, take = make_lists(target, options)
    select_steps = make_select_steps(target, options)
    la_steps = make_la_steps(target, options, put_packet, select_steps)
    bla_steps = make_bla_steps(target, options, put, put_packet, select_steps)
    write_escaped, write_remaining = make_write(target, options)

    @jit
    def finish(tile, work, lists, end, tables, view, most, exponent_c, cells):
        zero = lists.numbers[0] - lists.numbers[0]
        width = zero if julia else view.width
        start = splat(zero, VECTORS)
        lanes = lane_count(start)
        h = splat(width, VECTORS), start, exponent_c
        g = splat(width * two_to(exponent_c, width), VECTORS)
        context = Context(lists, tables, view, most, exponent_c, h, g)
        rebased, escaped, remaining = 0, 0, 0
        # First along the stages, and from there to the first rebasing; then from one rebasing to
        # the next. One loop for both, because `bla_steps` is inlined at each place that calls it.
        staging, begin, until = view.stage_count > 0, start, view.first_end
        which, side, check = STAGED, 0, IGNORE
        rounds, next_remembered = 0, FIRST_REMEMBERED
        while end > 0:
            staged = 0
            again = which == REBASED
            if again:
                check = COMPARE if rounds > FIRST_REMEMBERED else IGNORE
                if rounds == next_remembered:
                    check, next_remembered = REMEMBER, 2 * next_remembered
                rounds += 1
                rebased = 0
                sort(lists, which + side, end)
            into = REBASED + 1 - side if again else REBASED
            for i in range(0, end, lanes):
                if read_now(cells, HALT) != 0:
                    return
                packet, samples, alive = take(lists, which + side, i, end, again, check == COMPARE)
                at = begin
                if staging:
                    packet, alive, at, staged, rebased = la_steps(
                        packet, samples, alive, context, STAGED + 1 - side, staged, rebased
                    )
                ends = rebased, escaped, remaining
                rebased, escaped, remaining = bla_steps(
                    packet, samples, alive, at, until, context, into, ends, check
                )
            end, side = rebased if again else staged, 1 - side
            if end == 0 and not again:
                which, side, end = REBASED, 0, rebased
                staging, begin, until = False, start + view.rebase_start, view.rebase_end
        write_escaped(tile, work, lists, escaped)
        if floatexp:
            write_remaining(work, lists, remaining)

    return finish


def make_body(target, options):
    """Return a body that fills what that of `fractals.kernels.perturb.make_body` does.

    Its arguments are the same but for the strides; after them comes a `Scratch`. Positions share
    one exponent. Samples that are too small for float64 are left under way in the state, for the
    other body.
    """
    int64 = target.int64
    julia, derivative, floatexp = options.julia, options.derivative, options.floatexp
    put_sample, finish = make_put_sample(target, options), make_finish(target, options)
    position = make_place(target, options.explicit_positions)

    def body(tile, work, grid, tables, view, max_iterations, scratch):
        height, width = tile.count.shape
        lists = Lists(scratch.numbers, scratch.indices, len(scratch.indices) // TABLES)
        most, zero = scratch.numbers.dtype.type(max_iterations), view.width - view.width
        # A zero with the exponent of the view would be the larger part of a sum with a z that is
        # smaller than the view, and z would be lost.
        exponent_c = int64(ZERO_EXPONENT) if julia and floatexp else view.exponent
        exponent_z = view.exponent if julia else int64(ZERO_EXPONENT)
        dz = view.width if julia else zero
        for j in range(height):
            for i in range(width):
                tile.count[j, i] = max_iterations
                tile.x[j, i], tile.y[j, i] = zero, zero
                if derivative:
                    tile.dx[j, i], tile.dy[j, i] = zero, zero
                if floatexp:
                    work.state[STATE_COUNT, j, i] = -1.0  # done
        end = 0
        for top in range(0, height, BLOCK_SIZE[1]):
            for left in range(0, width, BLOCK_SIZE[0]):
                for j in range(top, min(top + BLOCK_SIZE[1], height)):
                    for i in range(left, min(left + BLOCK_SIZE[0], width)):
                        u, v = position(grid.columns, grid.rows, width, j, i)
                        put_sample(lists, end, u, v, dz, exponent_z, j * width + i)
                        end += 1
                last = top + BLOCK_SIZE[1] >= height and left + BLOCK_SIZE[0] >= width
                if last or end > MAX_SAMPLES:  # called at one place, where it is inlined
                    finish(tile, work, lists, end, tables, view, most, exponent_c, scratch.cells)
                    end = 0

    return body
