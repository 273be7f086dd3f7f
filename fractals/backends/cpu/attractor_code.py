"""The compiled trajectories of the CPU: see `fractals.backends.cpu.chaos`, which calls them.

The bits are those of `fractals.kernels.attractor.make_body`. A thread moves a pool of points
together, in one loop without a branch, which LLVM turns into vectors.
"""

from fractals.backends.cpu.chaos import PLOTTED, SIDE_BITS, STALE
from fractals.backends.cpu.chaos_code import make_records
from fractals.backends.cpu.entry import invoke
from fractals.backends.cpu.simd.control import keep_apart, whole_registers
from fractals.kernels import attractor, scatter


def make_loop_body(target, mover):
    """Return ``body(numbers, row, n)``: one step of the first n points, and where they are shown.

    Their places are in the first three rows of `numbers`; from the row PLOTTED on come their
    columns, rows and colors.
    """
    move = attractor.make_move(target, mover)

    def body(numbers, row, n):
        keep_apart()
        whole_registers()
        xs, ys, zs = numbers[0, :n], numbers[1, :n], numbers[2, :n]
        across, down = numbers[PLOTTED, :n], numbers[PLOTTED + 1, :n]
        colors = numbers[PLOTTED + 2, :n]
        for i in range(len(xs)):
            xs[i], ys[i], zs[i], across[i], down[i], colors[i] = move(xs[i], ys[i], zs[i], row)

    return body


def make_body(target):
    """Return ``body(row, game, count, calls, window, pool, bins, sums)``.

    Parameters
    ----------
    row : array of real
        The numbers of an attractor.
    game, count, window, pool, bins, sums
        As of `fractals.backends.cpu.chaos_code.make_body`.
    calls : array of int64
        The address of the attractor's loop.
    """
    real, small, whole = target.real, target.int32, target.int64
    words, _, _ = scatter.make_random(target)
    begin = attractor.make_begin(target)
    locate, file, empty = make_records(target, scatter.make_shade(target))
    far = real(scatter.FAR)

    def begin_all(numbers, row, n, game):
        xs, ys, zs = numbers[0], numbers[1], numbers[2]
        for i in range(n):
            a, b, c, _ = words(0, game.first + i, 0, scatter.START, game.k0, game.k1)
            xs[i], ys[i], zs[i] = begin(a, b, c, row)

    def start_again(numbers, stale, row, n, s, game):
        """Give lost points another place; tell whether there are any."""
        xs, ys, zs = numbers[0], numbers[1], numbers[2]
        some = 0
        for i in range(n):
            lost = not ((abs(xs[i]) <= far) & (abs(ys[i]) <= far) & (abs(zs[i]) <= far))
            stale[i] = small(lost)
            some += small(lost)
        if some:
            for i in range(n):
                if stale[i]:
                    a, b, c, _ = words(s, game.first + i, 1, scatter.START, game.k0, game.k1)
                    xs[i], ys[i], zs[i] = begin(a, b, c, row)
        return some > 0

    begin_all, start_again = target.jit(begin_all), target.jit(start_again)

    def body(row, game, count, calls, window, pool, bins, sums):
        keep_apart()
        whole_registers()
        numbers, places = pool.numbers, pool.places
        outside = small(len(bins.ends) - 1)
        across = small((window.width + (1 << SIDE_BITS) - 1) >> SIDE_BITS)
        if count == 0:
            empty(bins, window.colors, sums, 0)
            return
        begin_all(numbers, row, count, game)
        for s in range(game.steps + game.fuse):
            invoke(calls[0], (numbers, row, whole(count)))
            some = start_again(numbers, places[STALE], row, count, s, game)
            if s < game.fuse:
                continue
            locate(numbers, PLOTTED, places, count, window, across, outside)
            file(places, some, count, window, bins, sums)

    return body
