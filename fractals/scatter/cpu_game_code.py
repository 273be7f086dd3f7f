"""The compiled chaos game of the CPU: see `fractals.scatter.cpu_game`, which calls it.

The bits are those of `fractals.scatter.game.make_body`. A thread plays a pool of trajectories
together: in each step they are moved into lists by the transform that they drew, and each variation
goes over its list in one loop without a branch, which LLVM turns into vectors. A signed index of
unknown sign keeps LLVM from that, because Python counts negative ones from the end: indices are
unsigned, or rows of the pool are cut out first, and counted from 0.
"""

from numba import uint64

from fractals.backends.cpu.entry import invoke
from fractals.backends.cpu.simd.control import keep_apart, whole_registers
from fractals.backends.cpu.simd.memory import compress_store, load, replace_in_cell
from fractals.backends.cpu.simd.pack import lane_count, splat
from fractals.backends.machine_code import REGISTER
from fractals.kernels.primitives import fma, number, select
from fractals.kernels.random import make_random, make_take
from fractals.scatter import attractor
from fractals.scatter import game as games
from fractals.scatter.cpu_bucket_code import add_row, fetch_row
from fractals.scatter.cpu_game import (
    AHEAD,
    BUCKET_BITS,
    CHOICE_BITS,
    COLOR,
    DRAWN,
    FINAL,
    ID,
    ID_BITS,
    LANES,
    LAST,
    ORDER,
    PLACE,
    PLOTTED,
    POINT,
    RECORD,
    SIDE_BITS,
    SMALL,
    SORTED,
    STALE,
    WORDS,
)

X, Y, C = POINT, POINT + 1, COLOR
# With more transforms, points are moved one by one, as always where the CPU has no instruction that
# moves some lanes to the front.
FEW = 10 if REGISTER > 16 else 0


def make_variation_body(target, variation):
    """Return the loop of one variation, times its weight, over a list of points.

    It is ``body(numbers, order, row, span, dice)``, where `span` is ``(at, begin, n, source, into,
    keep)``, and `dice` is ``(s, first, group, kind, k0, k1)``. Points begin .. begin + n - 1 are
    read from the rows `source` and source + 1. The result is added to the rows `into` and into + 1
    (`keep`), or takes their place.
    """
    apply = target.jit(variation.apply)
    take = make_take(target, variation.width)
    draw = games.make_draw(target, variation.draws)
    real, whole = target.real, target.int64

    def body(numbers, order, row, span, dice):
        keep_apart()
        whole_registers()
        at, begin, n, source, into, keep = span
        s, first, group, kind, k0, k1 = dice
        xs, ys = numbers[source, begin : begin + n], numbers[source + 1, begin : begin + n]
        ox, oy = numbers[into, begin : begin + n], numbers[into + 1, begin : begin + n]
        ids = order[begin : begin + n]
        weight, p, kept = row[at], take(row, at + 1), keep != 0
        for i in range(len(xs)):
            u = draw(s, first + whole(ids[i] & ID), group, kind, k0, k1)
            a, b = apply(xs[i], ys[i], u, p)
            # Read in any case: LLVM makes no vectors of a loop with a branch.
            before, below = ox[i], oy[i]
            before, below = select(kept, before, real(0)), select(kept, below, real(0))
            ox[i], oy[i] = fma(weight, a, before), fma(weight, b, below)

    return body


def make_records(target, shade):
    """Return ``(locate, file, empty)``: points become records, which are kept and added by tile.

    ``shade(c)`` is the row of the window's colors of a point with the color c.
    """
    small, real = target.int32, target.real
    shade = target.jit(shade)

    def locate(numbers, source, places, n, window, across, outside):
        xs, ys, cs = numbers[source], numbers[source + 1], numbers[source + 2]
        records, tiles = places[RECORD], places[RECORD + 1]
        v = window.view
        x0, y0, a, b, c, d = v[0], v[1], v[2], v[3], v[4], v[5]
        left, middle, width, end, one, first = v[6], v[7], v[8], v[9], v[10], v[11]
        zero, top, side = real(0), small(window.top), (1 << SIDE_BITS) - 1
        for i in range(n):
            dx, dy = fma(one, xs[i], -x0), fma(one, ys[i], -y0)
            px, py = fma(a, dx, fma(b, dy, left)), fma(c, dx, fma(d, dy, middle))
            inside = (px >= zero) & (py >= first) & (px < width) & (py < end)
            column, line = small(px if inside else zero), small(py if inside else first)
            line = small(line - top)
            place = (line & side) << SIDE_BITS | (column & side)
            records[i] = shade(cs[i]) << BUCKET_BITS | place
            tile = (line >> SIDE_BITS) * across + (column >> SIDE_BITS)
            tiles[i] = tile if inside else outside

    def keep(places, n, bins, outside):
        """Append records to their tile's list; tell whether one is half full.

        Lists begin at multiples of their room, a power of two, so a bit of the place where a record
        is written tells whether its list is half full.
        """
        records, tiles, ends, lists = places[RECORD], places[RECORD + 1], bins.ends, bins.records
        keep_apart()
        seen, begin = uint64(0), outside * bins.room
        for i in range(uint64(n)):
            tile = uint64(tiles[uint64(i)])
            at = uint64(ends[tile])
            lists[at] = records[uint64(i)]
            ends[tile] = at + uint64(1)
            seen |= at
        bins.tally[0] += n - (ends[outside] - begin)
        ends[outside] = begin
        return seen & uint64(bins.room >> 1) > 0

    def add(records, begin, end, colors, buckets):
        keep_apart()
        place, i = (1 << BUCKET_BITS) - 1, uint64(begin)
        while i < uint64(end):  # less to count than a `for`
            # The tile is seldom in the cache. What lies behind the end is fetched, too.
            fetch_row(buckets, records[i + uint64(AHEAD)] & place)
            add_row(buckets, records[i] & place, colors, records[i] >> BUCKET_BITS)
            i += uint64(1)

    def empty(bins, colors, sums, least):
        """Add the records of all lists of some length to the sums, under the tile's flag."""
        for tile in range(len(bins.ends) - 1):
            begin, end = tile * bins.room, bins.ends[tile]
            n = end - begin
            if n == 0 or n < least:
                continue
            buckets = sums.small[tile]
            while not replace_in_cell(sums.flags, tile, 0, 1):
                pass
            if len(sums.large) > 0 and sums.records[tile] + n >= SMALL:
                large = sums.large[tile]
                for bucket in range(len(large)):
                    for m in range(4):
                        large[bucket, m] += buckets[bucket, m]
                        buckets[bucket, m] = 0
                sums.records[tile] = 0
            sums.records[tile] += n
            add(bins.records, begin, end, colors, buckets)
            replace_in_cell(sums.flags, tile, 1, 0)
            bins.ends[tile] = begin

    keep, add, empty = target.jit(keep), target.jit(add), target.jit(empty)

    def file(places, some, n, window, bins, sums):
        """Keep the records of points but of those that start again, and add long lists to the sums.

        `some`: whether any starts again.
        """
        outside = len(bins.ends) - 1
        if some:
            for i in range(n):
                if places[STALE, i]:
                    places[RECORD + 1, i] = small(outside)
        if keep(places, n, bins, outside):
            empty(bins, window.colors, sums, bins.room >> 2)

    return target.jit(locate), target.jit(file), empty


def make_body(target):
    """Return ``body(flame, game, count, calls, window, pool, bins, sums)``.

    Parameters
    ----------
    flame : fractals.scatter.game.FlameData
    game : fractals.scatter.game.Game
    count : int64
        Trajectories, at most a pool. 0: only the lists are emptied.
    calls : array of int64
        The address of each variation's loop.
    window : fractals.scatter.game.Window
    pool : fractals.scatter.cpu_game.Trajectories
    bins : fractals.scatter.cpu_game.Bins
    sums : fractals.scatter.cpu_game.Sums
    """
    real, small, whole = target.real, target.int32, target.int64
    words, unit, start = make_random(target)
    locate, file, empty = make_records(target, games.make_shade(target))
    far = real(games.FAR)

    def begin_all(numbers, order, last, n, game):
        xs, ys, cs = numbers[X], numbers[Y], numbers[C]
        for i in range(n):
            a, b, c, _ = words(0, game.first + i, 0, games.START, game.k0, game.k1)
            xs[i], ys[i], cs[i] = start(a), start(b), unit(c)
            order[i], last[i] = i, 0

    def draw(places, n, s, game):
        """Draw four numbers of each trajectory, which choose its next four transforms."""
        v, w, x, y = places[WORDS], places[WORDS + 1], places[WORDS + 2], places[WORDS + 3]
        group, first, k0, k1 = s >> 2, game.first, game.k0, game.k1
        for i in range(uint64(n)):
            a, b, c, d = words(group, first + whole(i), 0, games.CHOICE, k0, k1)
            v[i], w[i], x[i], y[i] = small(a >> 1), small(b >> 1), small(c >> 1), small(d >> 1)

    def choose_four(places, order, bounds, choices, n):
        """Note the next four transforms of each point, above the bits of its trajectory."""
        v, w, x, y = places[WORDS], places[WORDS + 1], places[WORDS + 2], places[WORDS + 3]
        four = places[RECORD]
        for i in range(uint64(n)):
            four[i] = 0
        for m in range(choices - 1):
            bound = bounds[0, m]
            for i in range(uint64(n)):
                low = small(v[i] >= bound) | small(w[i] >= bound) << CHOICE_BITS
                high = small(x[i] >= bound) | small(y[i] >= bound) << CHOICE_BITS
                four[i] += (low | high << 2 * CHOICE_BITS) << ID_BITS
        for i in range(uint64(n)):
            own = order[i] & ID
            order[i] = own | four[uint64(own)]

    def chosen(drawn, order, s, n):
        """Note the transform that each point draws in a step, as a number that packs compare."""
        up = small(ID_BITS + CHOICE_BITS * (s & 3))
        for i in range(uint64(n)):
            drawn[i] = real(order[i] >> up & (1 << CHOICE_BITS) - 1)

    def choose(drawn, own, words_of, order, last, bounds, choices, n):
        """Do the same where it depends on the transform before, or there are many transforms.

        `own`: memory for each point's random number.
        """
        for i in range(uint64(n)):
            own[i] = words_of[uint64(order[i])]
        for i in range(n):
            k, row = 0, last[i] if len(bounds) > 1 else 0
            for m in range(choices - 1):
                k += 1 if own[i] >= bounds[row, m] else 0
            drawn[i] = real(k)

    def sort(numbers, drawn, order, moved, ends, choices, n):
        """Move points into lists, one for each transform, a transform after the other."""
        xs, ys, cs = numbers[X], numbers[Y], numbers[C]
        gx, gy, gc = numbers[SORTED], numbers[SORTED + 1], numbers[SORTED + 2]
        like, end = splat(real(0), 1), 0
        for i in range(LANES):
            drawn[n + i] = real(-1)
        for k in range(choices):
            own = number(k, like)
            for i in range(0, n, lane_count(like)):
                mask = load(drawn, i, like) == own
                compress_store(gx, end, mask, load(xs, i, like))
                compress_store(gy, end, mask, load(ys, i, like))
                compress_store(gc, end, mask, load(cs, i, like))
                end = compress_store(moved, end, mask, load(order, i, like))
            ends[k] = end

    def sort_many(numbers, drawn, order, moved, ends, choices, n):
        """Do the same, a point after the other."""
        xs, ys, cs = numbers[X], numbers[Y], numbers[C]
        gx, gy, gc = numbers[SORTED], numbers[SORTED + 1], numbers[SORTED + 2]
        for k in range(choices):
            ends[k] = 0
        for i in range(uint64(n)):
            ends[uint64(drawn[i])] += 1
        total = 0
        for k in range(choices):
            total, ends[k] = total + ends[k], total
        for i in range(uint64(n)):
            k = uint64(drawn[i])
            at = uint64(ends[k])
            ends[k] += 1
            gx[at], gy[at], gc[at], moved[at] = xs[i], ys[i], cs[i], order[i]

    def affine(numbers, source, into, row, begin, end):
        xs, ys = numbers[source, begin:end], numbers[source + 1, begin:end]
        tx, ty = numbers[PLACE, begin:end], numbers[PLACE + 1, begin:end]
        ox, oy = numbers[into, begin:end], numbers[into + 1, begin:end]
        a, b, c, d, e, f = row[0], row[1], row[2], row[3], row[4], row[5]
        for i in range(len(xs)):
            x, y = xs[i], ys[i]
            tx[i], ty[i] = fma(a, x, fma(b, y, c)), fma(d, x, fma(e, y, f))
            ox[i], oy[i] = real(0), real(0)

    def finish(numbers, source, into, row, posts, begin, end):
        xs, ys = numbers[into, begin:end], numbers[into + 1, begin:end]
        cs, tc = numbers[source + 2, begin:end], numbers[into + 2, begin:end]
        color, speed = row[games.COLOR], row[games.SPEED]
        for i in range(len(xs)):
            tc[i] = fma(speed, color - cs[i], cs[i])
        if posts:
            a, b, c, d, e, f = row[6], row[7], row[8], row[9], row[10], row[11]
            for i in range(len(xs)):
                x, y = xs[i], ys[i]
                xs[i], ys[i] = fma(a, x, fma(b, y, c)), fma(d, x, fma(e, y, f))

    def transform(k, flame, calls, numbers, order, source, into, span, step, game):
        """Apply transform k to a list of points; behind its end some are written, too."""
        begin, end = span
        n = (end - begin + LANES - 1) // LANES * LANES  # loops of whole vectors have no rest
        end = begin + n
        s, kind = step
        row, code = flame.rows[k], flame.code[k]
        affine(numbers, source, into, row, begin, end)
        for j in range(code[games.LENGTH]):
            at = games.CALLS + games.CALL * j
            does = code[at + 2]
            reads = into if does >= games.POST_SET else PLACE
            writes = PLACE if does <= games.PRE_ADD else into
            adds = not (does == games.PRE_SET or does == games.POST_SET)
            list_of = whole(code[at + 1]), whole(begin), whole(n)
            rows = whole(reads), whole(writes), whole(adds)
            dice = whole(s), game.first, whole(code[at + 3]), whole(kind), game.k0, game.k1
            invoke(calls[code[at]], (numbers, order, row, list_of + rows, dice))
        finish(numbers, source, into, row, code[games.HAS_POST], begin, end)

    def start_again(numbers, stale, order, n, s, game):
        """Give points beyond FAR, or without a place, another place; tell whether there are any."""
        xs, ys = numbers[X], numbers[Y]
        some = 0
        for i in range(n):
            lost = not ((abs(xs[i]) <= far) & (abs(ys[i]) <= far))
            stale[i] = small(lost)
            some += small(lost)
        if some:
            for i in range(n):
                if stale[i]:
                    t = game.first + (order[i] & ID)
                    a, b, _, _ = words(s, t, 1, games.START, game.k0, game.k1)
                    xs[i], ys[i] = start(a), start(b)
        return some > 0

    def recolor(places, n, code, outside):
        """Take the palette's row of each point's transform, or leave the point out."""
        records, tiles, last = places[RECORD], places[RECORD + 1], places[LAST]
        for i in range(n):
            row = code[last[i], games.SHADE]
            if row < 0:
                tiles[i] = outside
            else:
                records[i] += small(row * games.SHADES) << BUCKET_BITS

    begin_all, draw, choose_four = map(target.jit, (begin_all, draw, choose_four))
    chosen, choose = target.jit(chosen), target.jit(choose)
    sort, sort_many = target.jit(sort), target.jit(sort_many)
    affine, finish = target.jit(affine), target.jit(finish)
    transform, start_again, recolor = map(target.jit, (transform, start_again, recolor))

    def body(flame, game, count, calls, window, pool, bins, sums):
        keep_apart()
        whole_registers()
        numbers, places = pool.numbers, pool.places
        drawn, last = numbers[DRAWN], places[LAST]
        choices = len(flame.rows) - 1 if flame.final else len(flame.rows)
        outside = small(len(bins.ends) - 1)
        across = small((window.width + (1 << SIDE_BITS) - 1) >> SIDE_BITS)
        plain, xaos = True, len(flame.bounds) > 1
        fours = not xaos and choices <= 1 << CHOICE_BITS
        for k in range(choices):
            plain = plain and flame.code[k, games.SHADE] == 0
        if count == 0:
            empty(bins, window.colors, sums, 0)
            return
        begin_all(numbers, places[ORDER], last, count, game)
        for s in range(game.steps + game.fuse):
            order, moved = places[ORDER + (s & 1)], places[ORDER + (s + 1 & 1)]
            if s & 3 == 0:
                draw(places, count, s, game)
                if fours:
                    choose_four(places, order, flame.bounds, choices, count)
            if fours:
                chosen(drawn, order, s, count)
            else:
                word = places[WORDS + (s & 3)]
                choose(drawn, places[RECORD], word, order, last, flame.bounds, choices, count)
            if choices > FEW:
                sort_many(numbers, drawn, order, moved, pool.ends, choices, count)
            else:
                sort(numbers, drawn, order, moved, pool.ends, choices, count)
            at = 0
            for k in range(choices):
                end = pool.ends[k]
                if end > at:
                    step, span = (s, games.DRAW), (at, end)
                    transform(k, flame, calls, numbers, moved, SORTED, POINT, span, step, game)
                    if xaos or not plain:
                        last[at:end] = small(k)
                at = end
            some = start_again(numbers, places[STALE], moved, count, s, game)
            if s < game.fuse:
                continue
            source = POINT
            if flame.final:
                source = FINAL
                step, span = (s, games.DRAW_FINAL), (0, count)
                transform(choices, flame, calls, numbers, moved, POINT, FINAL, span, step, game)
            locate(numbers, source, places, count, window, across, outside)
            if not plain:
                recolor(places, count, flame.code, outside)
            file(places, some, count, window, bins, sums)

    return body


# --- Attractors: the bits are those of `fractals.scatter.attractor.make_body`
#
# A thread moves a pool of points together, in one loop without a branch, which LLVM turns into
# vectors.


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


def make_attractor_body(target):
    """Return ``body(row, game, count, calls, window, pool, bins, sums)``.

    Parameters
    ----------
    row : array of real
        The numbers of an attractor.
    game, count, window, pool, bins, sums
        As of `fractals.scatter.cpu_game_code.make_body`.
    calls : array of int64
        The address of the attractor's loop.
    """
    real, small, whole = target.real, target.int32, target.int64
    words, _, _ = make_random(target)
    begin = attractor.make_begin(target)
    locate, file, empty = make_records(target, games.make_shade(target))
    far = real(games.FAR)

    def begin_all(numbers, row, n, game):
        xs, ys, zs = numbers[0], numbers[1], numbers[2]
        for i in range(n):
            a, b, c, _ = words(0, game.first + i, 0, games.START, game.k0, game.k1)
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
                    a, b, c, _ = words(s, game.first + i, 1, games.START, game.k0, game.k1)
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
