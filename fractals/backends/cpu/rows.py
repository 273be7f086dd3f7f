"""Plain loops of the CPU over samples, row after row, and a sample in parts of its steps.

Each body computes what its namesake of `fractals.kernels` does. Samples may take hours, so between
parts it looks at the `cells` of a `fractals.threads.Queue`, its last argument. Where the queue was
stopped, by Ctrl-C for one, it returns early, and its results are not to be used.
"""

from fractals.backends.cpu.programs import HALT, PART
from fractals.backends.cpu.simd.control import keep_apart
from fractals.backends.cpu.simd.memory import read_now
from fractals.kernels import perturb, perturb_statistics
from fractals.kernels.escape import make_escape, make_keep
from fractals.kernels.layout import make_place
from fractals.kernels.orbit import make_near, make_orbit


def make_body(target, options):
    """Return ``body(tile, grid, point, max_iterations, cells)``."""
    int32, julia, formula = target.int32, options.julia, options.formula
    escape, keep = make_escape(target, options), make_keep(target, options)
    start, _, _ = make_orbit(target, formula, julia, options.derivative, options.statistics)
    near = make_near(target, formula, options.derivative)
    place = make_place(target, options.explicit_positions)

    @target.jit
    def go_on(n, state, a, b, point, max_iterations, cells):
        """Return what `escape` does, after the first part."""
        keep_apart()  # few samples get here, and `escape` within the loop over them would be slower
        while n < max_iterations and near(state, point[2], point) and read_now(cells, HALT) == 0:
            until = int32(min(n + PART, max_iterations))
            n, state = escape(n, state, a, b, point, until, max_iterations)
        return n, state

    def body(tile, grid, point, max_iterations, cells):
        columns, rows = grid
        height, width = tile.count.shape
        first = int32(min(PART, max_iterations))
        for j in range(height):
            if read_now(cells, HALT) != 0:
                return
            for i in range(width):
                u, v = place(columns, rows, width, j, i)
                a, b = (point[0], point[1]) if julia else (u, v)
                state = start(u, v, point)
                n, state = escape(int32(0), state, a, b, point, first, max_iterations)
                if n == first and first < max_iterations:
                    n, state = go_on(n, state, a, b, point, max_iterations, cells)
                keep(tile, j, i, n, state, max_iterations)

    return body


def make_perturb_body(target, options):
    """Return ``body(tile, work, grid, tables, view, later, max_iterations, cells)``.

    `view` is that of the first part, and `later` that of the others.
    """
    part = target.jit(perturb.make_body(target, options))

    def body(tile, work, grid, tables, view, later, max_iterations, cells):
        height, flags, now = tile.count.shape[0], work.under_way, view
        for j in range(height):
            now, flags[0, 0] = view, 1
            while flags[0, 0] != 0 and read_now(cells, HALT) == 0:
                flags[0, 0] = 0
                part(0, j, 1, height, tile, work, grid, tables, now, max_iterations)
                now = later

    return body


def make_statistics_body(target, options):
    """Return ``body(tile, work, grid, tables, point, view, later, max_iterations, cells)``.

    `view` is that of the first part, and `later` that of the others.
    """
    part = target.jit(perturb_statistics.make_statistics_body(target, options))

    def body(tile, work, grid, tables, point, view, later, max_iterations, cells):
        height, flags, now = tile.count.shape[0], work.under_way, view
        for j in range(height):
            now, flags[0, 0] = view, 1
            while flags[0, 0] != 0 and read_now(cells, HALT) == 0:
                flags[0, 0] = 0
                part(0, j, 1, height, tile, work, grid, tables, point, now, max_iterations)
                now = later

    return body
