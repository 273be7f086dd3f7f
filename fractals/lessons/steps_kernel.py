"""A kernel that counts the iterations of each orbit, which end earlier than counts say."""

from fractals.kernels.escape import make_escape
from fractals.kernels.layout import make_place
from fractals.kernels.orbit import make_orbit, state_size
from fractals.kernels.primitives import number


def count_steps(target, formula, base):
    """Return the orbit statistic that counts iterations (`OrbitStatistic.make`)."""

    def start(x, y):
        return (number(0, x),)

    def update(w, x, y, u, v, a, b, point):
        return (w[0] + number(1, x),)

    return start, update


def make_steps_body(target, options):
    """Return the body that finds after how many iterations a picture's kernel ends each orbit.

    The one statistic of the options is `count_steps`. The arguments of ``body``, besides those of
    `fractals.kernels.escape.make_body`:

    taken : array of int32, shape (2, height, width)
        Filled: counts, and iterations.
    """
    escape, int32, julia = make_escape(target, options), target.int32, options.julia
    start, _, _ = make_orbit(target, options.formula, julia, False, options.statistics)
    place, last = make_place(target, False), state_size(options.formula, False)

    def body(i0, j0, di, dj, taken, grid, point, max_iterations):
        columns, rows = grid
        for j in range(j0, taken.shape[1], dj):
            for i in range(i0, taken.shape[2], di):
                u, v = place(columns, rows, taken.shape[2], j, i)
                a, b = (point[0], point[1]) if julia else (u, v)
                state = start(u, v, point)
                n, state = escape(int32(0), state, a, b, point, max_iterations, max_iterations)
                taken[0, j, i], taken[1, j, i] = n, int32(state[last])

    return body
