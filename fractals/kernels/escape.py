"""Direct iteration: how many steps an orbit takes to pass the escape radius, and where."""

from dataclasses import dataclass

from fractals.kernels import on_cpu
from fractals.kernels.formula import Formula
from fractals.kernels.layout import make_place
from fractals.kernels.orbit import (
    NO_STATISTICS,
    Statistics,
    first_size,
    make_near,
    make_orbit,
    make_planes,
    state_size,
)

# The least and the greatest count of each column of a tile, and how many samples are inside.
#
# A GPU sends these few numbers to the host in place of all counts.


ROWS = 3  # of the result: least, greatest, inside
NONE_YET = 2**62  # the least count of no samples


def make_tally_body(target):
    """Return the body that fills ``found`` (int32, shape (ROWS, columns)).

    ``body(i0, j0, di, dj, found, count, max_iterations)``. In a column where no sample escaped, the
    least count is `max_iterations` and the greatest -1.
    """
    int32, index = target.int32, target.index

    def body(i0, j0, di, dj, found, count, max_iterations):
        height, width = index(count.shape[0]), index(count.shape[1])
        i = index(i0)
        while j0 == 0 and i < width:
            least, greatest, inside = max_iterations, int32(-1), int32(0)
            for j in range(height):
                n = count[j, i]
                if n < max_iterations:
                    least, greatest = min(least, n), max(greatest, n)
                else:
                    inside += int32(1)
            found[0, i], found[1, i], found[2, i] = least, greatest, inside
            i = index(i + di)

    return body


@dataclass(frozen=True)
class EscapeOptions:
    """What a program of direct iteration is compiled for."""

    formula: Formula
    julia: bool = False  # whether c is the same for all samples, which are the starting points
    derivative: bool = False  # whether dz is iterated, too
    # Whether orbits that stay inside for certain end early. No count changes.
    interior_shortcuts: bool = True
    steps_per_check: int = 8  # steps that run without a branch
    # Whether each of these steps is tested for escape, because an escaped orbit may come back
    check_every_step: bool = False
    statistics: Statistics = NO_STATISTICS
    # Whether each sample's position is listed (`fractals.kernels.layout`)
    explicit_positions: bool = False


def make_escape(target, options):
    """Return ``escape(n, state, a, b, point, until, max_iterations) -> (count, state)``.

    ``escape`` goes on from step n, where the orbit has not escaped. ``count`` is the smallest n
    with |z_n|² > escape_radius²; `until` where there is none before `until`; and `max_iterations`
    where there will be none. So a count of `max_iterations` means inside, also where the orbit
    escapes at just this step. A formula whose orbits converge counts as escaped at the step where
    `make_near` finds it converged. "Escaped" is "not <=", which holds for infinities and NaN, too.

    ``steps_per_check`` steps run without a branch. The block of steps in which the orbit escaped is
    run again step by step from its beginning, so counts are exact, as rounding is the same. A block
    is tested at its end, or at each step with ``check_every_step``. With ``interior_shortcuts``, an
    orbit that returns to exactly an earlier point is periodic and ends at once, after Brent's cycle
    finding (1980): no count changes.
    """
    formula, block, every_step = options.formula, options.steps_per_check, options.check_every_step
    _, advance, _ = make_orbit(
        target, formula, options.julia, options.derivative, options.statistics
    )
    near = make_near(target, formula, options.derivative)
    # The same z does not repeat the orbit where the next z also depends on the previous one.
    shortcuts = options.interior_shortcuts and formula.memoryless
    surely_inside = formula.inside if shortcuts and not options.julia else None
    test_inside = surely_inside is not None
    inside = target.jit(surely_inside if test_inside else formula.step)
    int32 = target.int32

    def escape(n, state, a, b, point, until, max_iterations):
        if test_inside and inside(a, b):
            return max_iterations, state
        escape_radius_squared = point[2]
        last, within = int32(until - block), True
        while within and n < last:
            old_x, old_y = state[0], state[1]  # replaced each time n has doubled
            pause = last
            if shortcuts and n < int32(last - n):  # so 2 n needs 32 bits, too
                pause = max(int32(n + n), int32(block))
            while n < pause:
                before, k = state, int32(0)
                while k < block:  # a range counts in 64 bits, also where it is unrolled in part
                    k = int32(k + int32(1))
                    state = advance(state, a, b, point)
                    if every_step:
                        within &= near(state, escape_radius_squared, point)
                if not every_step:
                    within = near(state, escape_radius_squared, point)
                if not within:
                    state = before
                    break
                n = int32(n + block)
                if shortcuts and state[0] == old_x and state[1] == old_y:
                    n = max_iterations
        while n < until:
            state = advance(state, a, b, point)
            n = int32(n + int32(1))
            if not near(state, escape_radius_squared, point):
                break
        return n, state

    return target.jit(escape)


def make_keep(target, options):
    """Return ``keep(tile, j, i, n, state, max_iterations)``: it stores where an orbit ended."""
    formula, derivative, statistics = options.formula, options.derivative, options.statistics
    planes, inside, zero = statistics.planes, statistics.inside, target.real(0)
    _, _, finish = make_orbit(target, formula, options.julia, derivative, statistics)
    _, store = make_planes(target, state_size(formula, derivative), planes)

    def keep(tile, j, i, n, state, max_iterations):
        count, x, y, dx, dy, watched = tile
        count[j, i] = n
        escaped = n < max_iterations
        x[j, i] = state[0] if escaped else zero
        y[j, i] = state[1] if escaped else zero
        if derivative:
            slope = finish(state) if escaped else (state[2], state[3])
            dx[j, i] = slope[0] if escaped else zero
            dy[j, i] = slope[1] if escaped else zero
        if planes:
            store(watched, j, i, state, escaped or inside)

    return target.jit(keep)


@on_cpu("fractals.backends.cpu.fast:in_packs", "fractals.backends.cpu.fast:by_rows")
def make_body(target, options):
    """Return ``body(i0, j0, di, dj, tile, grid, point, max_iterations)``, which fills a tile.

    The arguments of ``body``, besides the strides (`fractals.kernels`):

    tile : EscapeTile
        Filled. z, dz and statistics are 0 where the orbit did not escape, but for statistics that
        are kept inside, too.
    grid : SampleGrid
    point : array of real
        c of a Julia set (x, y), the square of the escape radius, the formula's options, the
        statistics' constants.
    max_iterations : int32
    """
    julia, int32, index = options.julia, target.int32, target.index
    escape, keep = make_escape(target, options), make_keep(target, options)
    start, _, _ = make_orbit(target, options.formula, julia, options.derivative, options.statistics)
    place = make_place(target, options.explicit_positions)

    def body(i0, j0, di, dj, tile, grid, point, max_iterations):
        height, width = index(tile.count.shape[0]), index(tile.count.shape[1])
        columns, rows = grid
        j = index(j0)
        while j < height:  # a range with a stride would cost each GPU thread two divisions
            i = index(i0)
            while i < width:
                u, v = place(columns, rows, width, j, i)
                a, b = (point[0], point[1]) if julia else (u, v)
                state = start(u, v, point)
                n, state = escape(int32(0), state, a, b, point, max_iterations, max_iterations)
                keep(tile, j, i, n, state, max_iterations)
                i = index(i + di)
            j = index(j + dj)

    return body


def make_part_body(target, options):
    """Return the body that takes only the steps from `begin` to `until`.

    The results of all parts together are those of `make_body`. The GPU runs parts, because the time
    of a launch must be bounded. Between calls the arrays hold the orbits under way: those whose
    count is `until` and that have not escaped. The arguments of ``body``, besides those of
    `make_body`:

    rest : array of real, shape (planes, height, width)
        The numbers of the orbits' states that have no place in the tile.
    begin, until : int32
        Steps taken before and after the call.
    """
    formula, julia, derivative = options.formula, options.julia, options.derivative
    escape, index = make_escape(target, options), target.index
    start, _, finish = make_orbit(target, formula, julia, derivative, options.statistics)
    near = make_near(target, formula, derivative)
    zero, size, first = target.real(0), state_size(formula, derivative), first_size(derivative)
    more = size - first
    planes, inside = options.statistics.planes, options.statistics.inside
    load, store = make_planes(target, size, planes)
    load_more, store_more = make_planes(target, first, more)
    place = make_place(target, options.explicit_positions)

    if derivative:

        def load_first(tile, j, i):
            return tile.x[j, i], tile.y[j, i], tile.dx[j, i], tile.dy[j, i]

    else:

        def load_first(tile, j, i):
            return tile.x[j, i], tile.y[j, i]

    functions = target.jit(load_first), load_more, load
    load_state = _make_load_state(target, functions, more > 0, planes > 0)

    def body(i0, j0, di, dj, tile, rest, grid, point, begin, until, max_iterations):
        count, x, y, dx, dy, statistics = tile
        height, width = index(count.shape[0]), index(count.shape[1])
        columns, rows = grid
        j = index(j0)
        while j < height:
            i = index(i0)
            while i < width:
                u, v = place(columns, rows, width, j, i)
                a, b = (point[0], point[1]) if julia else (u, v)
                state = start(u, v, point)
                under_way = True
                if begin > 0:
                    state = load_state(tile, rest, j, i)
                    within = near(state, point[2], point)
                    under_way = within and count[j, i] == begin
                if under_way:
                    n, state = escape(begin, state, a, b, point, until, max_iterations)
                    count[j, i] = n
                    within = near(state, point[2], point)
                    under_way = within and n == until and until < max_iterations
                    keep = under_way or n < max_iterations
                    x[j, i] = state[0] if keep else zero
                    y[j, i] = state[1] if keep else zero
                    if derivative:
                        ended = keep and not under_way
                        slope = finish(state) if ended else (state[2], state[3])
                        dx[j, i] = slope[0] if keep else zero
                        dy[j, i] = slope[1] if keep else zero
                    if more:  # always: `near` reads the previous z in the next call
                        store_more(rest, j, i, state, True)
                    if planes:
                        store(statistics, j, i, state, keep or inside)
                i = index(i + di)
            j = index(j + dj)

    return body


def _make_load_state(target, functions, more, planes):
    """Return ``load_state(tile, rest, j, i)``: the state of an orbit under way."""
    load_first, load_more, load = functions
    if more and planes:

        def load_state(tile, rest, j, i):
            first = load_first(tile, j, i)
            return (*first, *load_more(rest, 0, j, i), *load(tile.statistics, 0, j, i))

    elif more:

        def load_state(tile, rest, j, i):
            return (*load_first(tile, j, i), *load_more(rest, 0, j, i))

    elif planes:

        def load_state(tile, rest, j, i):
            return (*load_first(tile, j, i), *load(tile.statistics, 0, j, i))

    else:

        def load_state(tile, rest, j, i):
            return load_first(tile, j, i)

    return target.jit(load_state)
