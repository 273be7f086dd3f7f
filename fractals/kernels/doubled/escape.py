"""Direct iteration in double-double numbers: what `fractals.kernels.escape` does in float64.

There are no shortcuts for orbits that stay inside. The arguments of the bodies are those of their
namesakes there, but for two: `grid` has the low parts of columns and rows as rows 2 and 3, and
`point` has those of c of a Julia set behind the constants of the statistics.
"""

from fractals.kernels import on_cpu
from fractals.kernels.doubled.arithmetic import total
from fractals.kernels.doubled.orbit import constants_end, make_doubled_orbit
from fractals.kernels.orbit import make_planes


def make_sample(target, options):
    """Return ``sample(grid, point, width, j, i)``: a sample's position, and its c.

    Both are four numbers: real and imaginary part, and the low parts of both.
    """
    explicit, julia, index = options.explicit_positions, options.julia, target.index
    add, lows = target.jit(total), constants_end(options.formula, options.statistics)
    if explicit:

        def place(columns, rows, width, j, i):
            k = index(j * width + i)
            return columns[0, k], columns[1, k], columns[2, k], columns[3, k]

    else:

        def place(columns, rows, width, j, i):
            u, low_u = add(columns[0, i], columns[2, i], rows[0, j], rows[2, j])
            v, low_v = add(columns[1, i], columns[3, i], rows[1, j], rows[3, j])
            return u, v, low_u, low_v

    place = target.jit(place)
    if julia:

        def sample(grid, point, width, j, i):
            columns, rows = grid
            c = point[0], point[1], point[lows], point[lows + 1]
            return place(columns, rows, width, j, i), c

    else:

        def sample(grid, point, width, j, i):
            columns, rows = grid
            own = place(columns, rows, width, j, i)
            return own, own

    return target.jit(sample)


def make_escape(target, options, orbit):
    """Return ``escape(n, state, c, point, until, max_iterations)``.

    It is `fractals.kernels.escape.make_escape` without shortcuts.
    """
    block, every_step = options.steps_per_check, options.check_every_step
    advance, near, int32 = orbit.advance, orbit.near, target.int32

    def escape(n, state, c, point, until):
        escape_radius_squared = point[2]
        last, within = int32(until - block), True
        while within and n < last:
            before, k = state, int32(0)
            while k < block:
                k = int32(k + int32(1))
                state = advance(state, c, point)
                if every_step:
                    within &= near(state, escape_radius_squared, point)
            if not every_step:
                within = near(state, escape_radius_squared, point)
            if within:
                n = int32(n + block)
            else:
                state = before
        while n < until:
            state = advance(state, c, point)
            n = int32(n + int32(1))
            if not near(state, escape_radius_squared, point):
                break
        return n, state

    return target.jit(escape)


def make_keep(target, options, orbit):
    """Return ``keep(tile, j, i, n, state, done, kept)``: it stores where an orbit is.

    `done`: whether its steps are taken, so that dz is stored as colorings read it. `kept`: whether
    z and dz are, or zeros in their place.
    """
    planes, inside, derivative = (
        options.statistics.planes,
        options.statistics.inside,
        options.derivative,
    )
    finish, zero = orbit.finish, target.real(0)
    _, store = make_planes(target, orbit.own, planes)

    def keep(tile, j, i, n, state, done, kept):
        count, x, y, dx, dy, watched = tile
        count[j, i] = n
        x[j, i] = state[0] if kept else zero
        y[j, i] = state[1] if kept else zero
        if derivative:
            slope = finish(state) if done and kept else (state[2], state[3])
            dx[j, i] = slope[0] if kept else zero
            dy[j, i] = slope[1] if kept else zero
        if planes:
            store(watched, j, i, state, kept or inside)

    return target.jit(keep)


@on_cpu("fractals.backends.cpu.doubled:in_packs")
def make_body(target, options):
    """Return ``body(i0, j0, di, dj, tile, grid, point, max_iterations)``, which fills a tile."""
    orbit, int32, index = make_doubled_orbit(target, options), target.int32, target.index
    escape, keep = make_escape(target, options, orbit), make_keep(target, options, orbit)
    sample, start = make_sample(target, options), orbit.start

    def body(i0, j0, di, dj, tile, grid, point, max_iterations):
        height, width = index(tile.count.shape[0]), index(tile.count.shape[1])
        j = index(j0)
        while j < height:
            i = index(i0)
            while i < width:
                z, c = sample(grid, point, width, j, i)
                state = start(z[0], z[1], z[2], z[3], point)
                n, state = escape(int32(0), state, c, point, max_iterations)
                keep(tile, j, i, n, state, True, n < max_iterations)
                i = index(i + di)
            j = index(j + dj)

    return body


def make_part_body(target, options):
    """Return the body that takes only the steps from `begin` to `until`.

    The array `rest` keeps all numbers of an orbit under way but the statistics.
    """
    orbit = make_doubled_orbit(target, options)
    escape, keep = make_escape(target, options, orbit), make_keep(target, options, orbit)
    sample, start, near = make_sample(target, options), orbit.start, orbit.near
    planes, index = options.statistics.planes, target.index
    load, _ = make_planes(target, orbit.own, planes)
    load_own, store_own = make_planes(target, 0, orbit.own)
    if planes:

        def load_state(tile, rest, j, i):
            return (*load_own(rest, 0, j, i), *load(tile.statistics, 0, j, i))

    else:

        def load_state(tile, rest, j, i):
            return load_own(rest, 0, j, i)

    load_state = target.jit(load_state)

    def body(i0, j0, di, dj, tile, rest, grid, point, begin, until, max_iterations):
        count = tile.count
        height, width = index(count.shape[0]), index(count.shape[1])
        j = index(j0)
        while j < height:
            i = index(i0)
            while i < width:
                z, c = sample(grid, point, width, j, i)
                state = start(z[0], z[1], z[2], z[3], point)
                under_way = True
                if begin > 0:
                    state = load_state(tile, rest, j, i)
                    within = near(state, point[2], point)
                    under_way = within and count[j, i] == begin
                if under_way:
                    n, state = escape(begin, state, c, point, until)
                    within = near(state, point[2], point)
                    under_way = within and n == until and until < max_iterations
                    keep(tile, j, i, n, state, not under_way, under_way or n < max_iterations)
                    store_own(rest, j, i, state, True)
                i = index(i + di)
            j = index(j + dj)

    return body
