"""The compiled orbits of the CPU: see `fractals.backends.cpu.chaos`, which calls them.

The bits are those of `fractals.kernels.buddhabrot.make_body`. The points of orbits are collected in
a thread's pool. A full pool is located in one loop, and filed by tile, as points of flames are.
"""

from fractals.backends.cpu.chaos import COLOR, POINT, SIDE_BITS
from fractals.backends.cpu.chaos_code import make_records
from fractals.backends.cpu.simd.control import keep_apart, whole_registers
from fractals.kernels import buddhabrot, scatter
from fractals.kernels.orbit import make_orbit


def make_body(target, options, anti):
    """Return ``body(samples, game, count, calls, window, pool, bins, sums)``.

    Parameters
    ----------
    samples : fractals.backends.cpu.chaos.Samples
    calls : array of int64
        Not used.
    window : fractals.kernels.scatter.Window
        With the colors of `fractals.backends.cpu.chaos.weighted`.
    game, count, pool, bins, sums
        As of `fractals.backends.cpu.chaos_code.make_body`.
    """
    real, small = target.real, target.int32
    start, advance, _ = make_orbit(target, options.formula, options.julia, False)
    drawn, julia = buddhabrot.make_drawn(target, anti), options.julia
    above = target.jit(buddhabrot.first_above)

    def shade_of(shade):
        return small(shade)

    locate, file, empty = make_records(target, shade_of)

    def body(samples, game, count, calls, window, pool, bins, sums):
        keep_apart()
        whole_registers()
        orbits, cells, places_of, counts = samples
        numbers, places, point = pool.numbers, pool.places, orbits.point
        xs, ys, shades = numbers[POINT], numbers[POINT + 1], numbers[COLOR]
        room, outside = len(xs), small(len(bins.fill) - 1)
        across = small((window.width + (1 << SIDE_BITS) - 1) >> SIDE_BITS)
        if count == 0:
            empty(bins, window.colors, sums, 0)
            return
        n = 0
        for t in range(count):
            steps = drawn(counts[t], orbits)
            if steps == 0:
                continue
            weight, exponent = orbits.weights[cells[t]], 0
            while weight > 1:
                weight >>= 1
                exponent += 1
            color = above(orbits.bounds, counts[t])
            shade = real(exponent * scatter.SHADES + color)
            u, v = places_of[0, t], places_of[1, t]
            a, b = (point[0], point[1]) if julia else (u, v)
            state = start(u, v)
            for _ in range(steps):
                state = advance(state, a, b, point)
                xs[n], ys[n], shades[n] = state[0], state[1], shade
                n += 1
                if n == room:
                    locate(numbers, POINT, places, n, window, across, outside)
                    file(places, False, n, window, bins, sums)
                    n = 0
        locate(numbers, POINT, places, n, window, across, outside)
        file(places, False, n, window, bins, sums)

    return body
