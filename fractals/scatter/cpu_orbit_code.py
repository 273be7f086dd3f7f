"""The compiled orbits of the CPU: see `fractals.scatter.cpu_game`, which calls them.

The bits are those of `fractals.scatter.buddhabrot.make_body`. Samples were iterated before, and are
ordered by how long their orbits are, so that orbits side by side in a pack end at about the same
step. Their points are collected in a thread's pool. A full pool is located in one loop, and filed
by tile, as points of flames are.
"""

from numba import uint64

from fractals.backends.cpu.simd.control import by_vectors, keep_apart, whole_registers
from fractals.backends.cpu.simd.memory import compress_store, load, store
from fractals.backends.cpu.simd.pack import first_lanes, lane_count, splat
from fractals.kernels.orbit import make_orbit
from fractals.kernels.primitives import fma, select
from fractals.scatter import buddhabrot
from fractals.scatter import game as games
from fractals.scatter.cpu_game import (
    COLOR,
    POINT,
    SIDE_BITS,
    SORTED,
)
from fractals.scatter.cpu_game_code import make_records

VECTORS = 2  # of a pack: one's arithmetic hides the other's latency


def make_places_body(target):
    """Return ``body(i0, j0, di, dj, out, numbers, places, orbits, game)``: where samples lie.

    Parameters
    ----------
    out : array of int32, shape (1, samples)
        Filled: the cell of each sample from ``game.first`` on.
    numbers : array of int64
        Filled: which one of its cell each sample is.
    places : array of real, shape (2, samples)
        Filled: c of each.
    """
    (parts, place), find = buddhabrot.make_place(target), target.jit(buddhabrot.cell_of)

    def body(i0, j0, di, dj, out, numbers, places, orbits, game):
        keep_apart()
        whole_registers()
        n, samples = uint64(len(numbers)), orbits.samples
        past = game.first // samples
        at = game.first - past * samples
        r = at * orbits.stride % samples
        for j in range(n):
            k = find(r, orbits)
            own = orbits.counts[k]
            out[0, j], numbers[j] = k, past * own + r - (orbits.ends[k] - own)
            at, r = at + 1, r + orbits.stride
            if r >= samples:
                r -= samples
            if at == samples:
                at, past = 0, past + 1
        for j in range(n):
            k = uint64(out[0, j])
            right, down = parts(numbers[j], k, buddhabrot.ORBIT, orbits, game.k0, game.k1)
            places[0, j], places[1, j] = place(right, down, k, orbits)

    return body


def make_asked_body(target):
    """Return ``body(facts, places, orbits, asked, game)``: where samples of the pilot lie.

    Parameters
    ----------
    facts : array of int64, shape (samples, LOOKED)
        Filled: the first two numbers of each, as of `fractals.scatter.buddhabrot.make_look_body`.
    places : array of real, shape (2, samples)
        Filled: c of each.
    asked : array of int32, shape (samples, 2)
        The cell of each, and its number there.
    """
    (parts, place), whole = buddhabrot.make_place(target), target.int64

    def body(facts, places, orbits, asked, game):
        for j in range(len(asked)):
            k = asked[j, 0]
            right, down = parts(whole(asked[j, 1]), k, buddhabrot.LOOK, orbits, game.k0, game.k1)
            facts[j, 0], facts[j, 1] = right, down
            places[0, j], places[1, j] = place(right, down, k, orbits)

    return body


def make_look_body(target, options, anti):
    """Return ``body(facts, samples, scratch, window)``: what orbits of the pilot show.

    Parameters
    ----------
    facts : array of int64, shape (samples, LOOKED)
        Filled: the last three numbers of each, as of `fractals.scatter.buddhabrot.make_look_body`.
    samples : fractals.scatter.cpu_game.OrbitSamples
    scratch : array of real, shape (3, lanes)
        For at least as many lanes as a pack has.
    window : fractals.scatter.game.Window
    """
    real, whole = target.real, target.int64
    drawn = buddhabrot.make_drawn(target, anti)

    def no_shade(t, samples):
        return real(0)

    def begin(n, like):
        return splat(real(0), VECTORS)

    def count(found, shown, x, y, own, to):
        return found + select(shown, splat(real(1), VECTORS), splat(real(0), VECTORS))

    def after(found, like, to):
        return found

    def end(found, first, held, samples, scratch, to):
        store(scratch[0], 0, found)
        for i in range(held):
            to[samples.order[first + i], 2] = whole(scratch[0, i])
        return 0

    functions = map(target.jit, (no_shade, begin, count, after, end))
    follow = make_follow_packs(target, options, anti, *functions)

    def body(facts, samples, scratch, window):
        keep_apart()
        whole_registers()
        for t in range(len(facts)):
            n = samples.counts[t]
            facts[t, 2], facts[t, 3], facts[t, 4] = 0, n, drawn(n, samples.orbits)
        follow(samples, len(facts), window, scratch, facts)

    return body


def make_follow_packs(target, options, anti, shade, begin, keep, after, end):
    """Return ``follow(samples, count, window, scratch, to)``, which follows packs of orbits.

    Each pack takes ``kept = begin(n, like)``, for each point ``kept = keep(kept, shown, x, y, own,
    to)`` with the lanes that are in the window, after each step ``kept = after(kept, like, to)``,
    and ``n = end(kept, first, held, samples, scratch, to)`` of `held` samples from the first on, in
    their order. The last n is returned.
    ``shade(t, samples)`` returns `own` of a sample. `scratch`: array of real, shape (3, lanes).
    """
    real, julia = target.real, options.julia
    start, advance, _ = make_orbit(target, options.formula, julia, False)
    drawn = buddhabrot.make_drawn(target, anti)
    mirrored = buddhabrot.mirrors(options)

    def everywhere(view):
        """Return the numbers of a view for all lanes: a loop that stores reads them each time."""
        x0, y0 = splat(-view[0], VECTORS), splat(-view[1], VECTORS)
        a, b = splat(view[2], VECTORS), splat(view[3], VECTORS)
        c, d = splat(view[4], VECTORS), splat(view[5], VECTORS)
        left, middle = splat(view[6], VECTORS), splat(view[7], VECTORS)
        width, end = splat(view[8], VECTORS), splat(view[9], VECTORS)
        one, first = splat(view[10], VECTORS), splat(view[11], VECTORS)
        return x0, y0, a, b, c, d, left, middle, width, end, one, first

    def in_view(x, y, view):
        """Tell which lanes are in the window, by the same sums as `locate`."""
        x0, y0, a, b, c, d, left, middle, width, end, one, first = view
        zero = splat(real(0), VECTORS)
        dx, dy = fma(one, x, x0), fma(one, y, y0)
        px, py = fma(a, dx, fma(b, dy, left)), fma(c, dx, fma(d, dy, middle))
        return (px >= zero) & (py >= first) & (px < width) & (py < end)

    everywhere = target.jit(everywhere)
    in_view = target.jit(in_view)

    def follow(samples, count, window, scratch, to):
        orbits = samples.orbits
        us, vs, owns = scratch[0], scratch[1], scratch[2]
        like = splat(real(0), VECTORS)
        lanes, point, view = lane_count(like), orbits.point, everywhere(window.view)
        n, k = 0, 0
        while k < count:
            while k < count and drawn(samples.counts[samples.order[k]], orbits) == 0:
                k += 1
            first, held = k, 0
            while (
                k < count and held < lanes and drawn(samples.counts[samples.order[k]], orbits) > 0
            ):
                t = samples.order[k]
                us[held], vs[held] = samples.places[0, t], samples.places[1, t]
                owns[held] = shade(t, samples)
                held, k = held + 1, k + 1
            if held == 0:
                break
            for i in range(held, lanes):
                us[i] = vs[i] = owns[i] = real(0)
            u, v, own = load(us, 0, like), load(vs, 0, like), load(owns, 0, like)
            a, b = (splat(point[0], VECTORS), splat(point[1], VECTORS)) if julia else (u, v)
            state, lasting = start(u, v, point), first_lanes(held, like)
            ended, alive, kept = 0, lasting, begin(n, like)
            until = samples.counts[samples.order[first]]
            for s in range(samples.counts[samples.order[k - 1]]):
                state = by_vectors(advance, (state, a, b, point))
                if until <= s:
                    while until <= s:
                        ended += 1
                        until = samples.counts[samples.order[first + ended]]
                    alive = lasting & ~first_lanes(ended, like)
                x, y = state[0], state[1]
                kept = keep(kept, alive & in_view(x, y, view), x, y, own, to)
                if mirrored:
                    kept = keep(kept, alive & in_view(x, -y, view), x, -y, own, to)
                kept = after(kept, like, to)
            n = end(kept, first, held, samples, scratch, to)
        return n

    return target.jit(follow)


def make_body(target, options, anti, packed):
    """Return ``body(samples, game, count, calls, window, pool, bins, sums)``.

    `packed`: whether packs of orbits are followed, and not one after the other.

    Parameters
    ----------
    samples : fractals.scatter.cpu_game.OrbitSamples
    calls : array of int64
        Not used.
    window : fractals.scatter.game.Window
        With the colors of `fractals.scatter.cpu_game.weighted`.
    game, count, pool, bins, sums
        As of `fractals.scatter.cpu_game_code.make_body`.
    """
    real, small = target.real, target.int32
    start, advance, _ = make_orbit(target, options.formula, options.julia, False)
    drawn, julia = buddhabrot.make_drawn(target, anti), options.julia
    images = 2 if buddhabrot.mirrors(options) else 1
    above = target.jit(buddhabrot.first_above)

    def shade_of(shade):
        return small(shade)

    locate, file, empty = make_records(target, shade_of)

    def shade(t, samples):
        """Return the row of the window's colors of a sample's points."""
        orbits = samples.orbits
        weight, exponent = orbits.weights[samples.cells[t]], 0
        while weight > 1:
            weight >>= 1
            exponent += 1
        return real(exponent * games.SHADES + above(orbits.bounds, samples.counts[t]))

    def place(n, window, pool, bins, sums):
        """Add the first n points of the pool."""
        outside = small(len(bins.ends) - 1)
        across = small((window.width + (1 << SIDE_BITS) - 1) >> SIDE_BITS)
        locate(pool.numbers, POINT, pool.places, n, window, across, outside)
        file(pool.places, False, n, window, bins, sums)

    shade, place = map(target.jit, (shade, place))

    def follow(samples, count, window, pool, bins, sums):
        """Follow one orbit after the other; return how many points are left in the pool."""
        orbits, numbers = samples.orbits, pool.numbers
        xs, ys, shades = numbers[POINT], numbers[POINT + 1], numbers[COLOR]
        point, n = orbits.point, 0
        for k in range(count):
            t = samples.order[k]
            own, u, v = shade(t, samples), samples.places[0, t], samples.places[1, t]
            a, b = (point[0], point[1]) if julia else (u, v)
            state = start(u, v, point)
            for _ in range(drawn(samples.counts[t], orbits)):
                state = advance(state, a, b, point)
                y = state[1]
                for _ in range(images):
                    xs[n], ys[n], shades[n] = state[0], y, own
                    n, y = n + 1, -y
                    if n == len(xs):
                        place(n, window, pool, bins, sums)
                        n = 0
        return n

    def begin(n, like):
        return n

    def keep(n, shown, x, y, own, to):
        """Add the points of a pack that are in view to the pool."""
        xs, ys, shades, _window, _pool, _bins, _sums = to
        compress_store(xs, n, shown, x)
        compress_store(ys, n, shown, y)
        return compress_store(shades, n, shown, own)

    def after(n, like, to):
        """Place the points of the pool where another step might not fit in."""
        xs, _ys, _shades, window, pool, bins, sums = to
        if n + images * lane_count(like) > len(xs):
            place(n, window, pool, bins, sums)
            n = 0
        return n

    def end(n, first, held, samples, scratch, to):
        return n

    steps = tuple(map(target.jit, (begin, keep, after, end)))
    packs = make_follow_packs(target, options, anti, shade, *steps) if packed else None

    def follow_packs(samples, count, window, pool, bins, sums):
        """Do the same with packs of orbits, without points out of view."""
        numbers = pool.numbers
        lists = numbers[POINT], numbers[POINT + 1], numbers[COLOR]
        scratch = numbers[SORTED : SORTED + 3]
        return packs(samples, count, window, scratch, (*lists, window, pool, bins, sums))

    follow = target.jit(follow_packs if packed else follow)

    def body(samples, game, count, calls, window, pool, bins, sums):
        keep_apart()
        whole_registers()
        if count == 0:
            empty(bins, window.colors, sums, 0)
            return
        n = follow(samples, count, window, pool, bins, sums)
        place(n, window, pool, bins, sums)

    return body
