"""The compiled paths of light of the CPU: `fractals.space.cpu_ray_lists` calls them."""

from numba import uint64

from fractals.backends.cpu.entry import invoke, shaped
from fractals.backends.cpu.simd.memory import (
    compress_rows,
    compress_store,
    load,
    load_rows,
    store,
    store_rows,
)
from fractals.backends.cpu.simd.memory import spread as fill
from fractals.backends.cpu.simd.pack import any_lane, first_lanes, lane_count, splat
from fractals.kernels.primitives import fma, number, select
from fractals.kernels.random import make_take
from fractals.kernels.space import added, scaled, three
from fractals.space import light as lights
from fractals.space import march
from fractals.space.cpu_ray_lists import (
    AWAY,
    BASE,
    BLOCK,
    CAME,
    CLEAR,
    COLOR,
    COLUMN,
    DIRECTION,
    DRAWN,
    ENDED,
    FOOT,
    GOING,
    HITS,
    LANES,
    LAST,
    LENGTH,
    LIGHT,
    MET,
    NORMAL,
    ORIGIN,
    PIXEL,
    PLACE,
    ROW,
    SAMPLE,
    SEEN,
    SURFACE,
    TAP,
    THROUGH,
    TO_SUN,
    TRAP,
)
from fractals.space.light import AWAY as FROM_SURFACE
from fractals.space.light import (
    DIRECT,
    EMISSION,
    GLOSS,
    HALVED,
    NEAR,
    NOWHERE,
    OPEN,
    SHADOW,
    SUNLIGHT,
    WIDER,
)
from fractals.space.march import (
    CONE,
    OPTIONS,
    TAPS,
    Space,
)


def make_walk_body(target, walk, vectors):
    """Return ``body(rays, room, n, spread, most, space)``: the first n rays of a list walk.

    Parameters
    ----------
    rays : array of real
        Rows of ``room`` numbers, as of `fractals.space.cpu_ray_lists`.
    spread : real
        A ray meets the surface where the distance is not above ``spread * length + base``.
    most : int64
        Evaluations of the field for a ray; 0: one, at its length, which is all that it finds.
    space : fractals.space.march.Space
    """
    jit, real = target.jit, target.real
    advance, estimate = march.make_advance(target, walk), march.make_estimate(target, walk)
    count, start, cross = walk.numbers, march.make_begin(target, walk), jit(march.crossing)
    scatter, place = jit(scatter_lanes), jit(added)
    trapped, rooted = march.make_trapped(target, walk), walk.trap is None

    def body(rays, room, n, spread, most, space):
        numbers = space.numbers
        zero = splat(numbers[0] - numbers[0], vectors)
        one, wide, lanes = number(1, zero), number(spread, zero), lane_count(zero)
        head = fill(numbers, 0, zero, OPTIONS)
        bail, bound, ball, factor, own, ca, cb, cc, fourth, step, lead, pull = head
        options = fill(numbers, OPTIONS, zero, count)
        begin, live = GOING * room, 0
        if most == 0:
            begin, live = 0, n
        for i in range(0, n - live, lanes):
            ray = load_rows(rays, i, room, zero, 9)
            enter, leave = cross(ray[0], ray[1], ray[2], ray[3], ray[4], ray[5], bound)
            t = select(enter > ray[6], enter, ray[6])
            store_rows(rays, ENDED * room + i, room, (t, zero, zero))
            goes = first_lanes(n - i, zero) & (t < leave)
            kept = ray[0], ray[1], ray[2], ray[3], ray[4], ray[5], t, ray[7], leave
            compress_rows(rays, GOING * room + live, room, goes, kept)
            live = compress_store(rays, LAST * room + live, goes, ray[8]) - LAST * room
        last = max(most, 1) - 1
        for k in range(last + 1):
            end = 0
            final = number(real(k - last), zero) >= zero
            for block in range(0, live, BLOCK // vectors * lanes):
                stop, met = min(block + BLOCK // vectors * lanes, live), MET * room - block
                # No branch depends on a distance here. So the CPU begins with the next pack's orbit
                # while the logarithm and the quotient of this one's distance take their time.
                for i in range(block, stop, lanes):
                    ray = load_rows(rays, begin + i, room, zero, 9)
                    o, d, t, valid = ray[:3], ray[3:6], ray[6], first_lanes(live - i, zero)
                    x, y, z = place(o, t, d)
                    a, b, c = fma(own, x, ca), fma(own, y, cb), fma(own, z, cc)
                    state = start(x, y, z, fourth)
                    for _ in range(space.steps):
                        if not any_lane(valid & (state[4] < bail)):
                            break
                        state = advance(state, a, b, c, bail, options)
                    h = estimate(state, bail, ball, factor, options)
                    if most == 0:
                        store(rays, AWAY * room + i, h)
                        continue
                    reach = fma(wide, t, ray[7])
                    near = ~(h > reach)
                    further = fma(step, fma(-lead, reach, h), t)
                    inside = further < ray[8]
                    hits = select(near | (final & inside), one, select(inside, -one, zero))
                    length = select(near, fma(pull, h - reach, t), further)
                    store(rays, begin + 6 * room + i, length)
                    store_rows(rays, met + i, room, (state[5], hits))
                if most == 0:
                    continue
                for i in range(block, stop, lanes):
                    trap, hits = load_rows(rays, met + i, room, zero, 2)
                    valid = first_lanes(live - i, zero)
                    goes = valid & (hits < zero)
                    ends = valid & ~goes
                    if any_lane(ends):
                        ray = load_rows(rays, begin + i, room, zero, 10)
                        compress_rows(rays, LANES * room, room, ends, (ray[6], trap, hits))
                        after = compress_store(rays, (LANES + 3) * room, ends, ray[9])
                        scatter(rays, room, after - (LANES + 3) * room)
                        compress_rows(rays, begin + end, room, goes, ray[:9])
                        end = compress_store(rays, LAST * room + end, goes, ray[9]) - LAST * room
                    else:
                        if end < i:
                            ray = load_rows(rays, begin + i, room, zero, 10)
                            store_rows(rays, begin + end, room, ray)
                        end += min(lanes, live - i)
            live = end
            if live == 0:
                break
        if rooted and most > 0:  # a root for each ray, not for each of its steps
            for i in range(0, n, lanes):
                store(rays, TRAP * room + i, trapped(load(rays, TRAP * room + i, zero)))

    return body


def scatter_lanes(rays, room, count):
    """Write what was found of rays that have ended to their places."""
    room, end, lanes = uint64(room), uint64(ENDED) * uint64(room), uint64(LANES) * uint64(room)
    for m in range(uint64(count)):
        place = end + uint64(rays[lanes + uint64(3) * room + m])
        rays[place] = rays[lanes + m]
        rays[place + room] = rays[lanes + room + m]
        rays[place + uint64(2) * room] = rays[lanes + uint64(2) * room + m]


def make_walk(target):
    """Return ``walk(calls, rays, n, spread, most, space)``, which calls the program of a solid."""
    whole = target.int64

    def walk(calls, rays, n, spread, most, space):
        rows, room = rays.shape
        flat = shaped(rays, (rows * room,))
        inner = Space(space.numbers, whole(space.steps), whole(space.most))
        invoke(calls[0], (flat, whole(room), whole(n), spread, whole(most), inner))

    return target.jit(walk)


def make_body(target, shared, guided):
    """Return ``body(sums, job, shot, space, calls, rays, own, ids)``: the light of some paths.

    Parameters
    ----------
    sums : array of int64, shape (1, pixels, numbers)
        As of `fractals.space.paths.make_body`.
    job : fractals.space.cpu_ray_lists.PathRange
    shot, space
        As of `fractals.space.paths.make_body`. Where there are less than 0 bounces, rays through
        the middle of pixels walk, and what they meet is left in `rays`; `light` is their base.
    calls : array of int64
        The address of the solid's program.
    rays, own : array of real
        Rows of `fractals.space.cpu_ray_lists`: of rays, and of paths.
    ids : array of int64, shape (2, room)
        Which path a ray belongs to, and which ray to the sun belongs to which of these.
    """
    jit, real, walk = target.jit, target.real, make_walk(target)
    draw, keep = lights.make_draw(target), lights.make_keep(target)
    sky_of, haze, color_of = lights.make_sky(target), jit(lights.haze_of), jit(lights.surface)
    share, share_sky, share_haze = lights.make_shares(target)
    guide, guide_light = lights.make_guide(target)
    to_sun, reflect = lights.make_to_sun(target), lights.make_reflect(target)
    lit, inner, normal = jit(lights.sunlight), jit(march.dot), jit(march.normal_of)
    take = make_take(target, march.EYE + 1)
    is_open, start, gather = jit(lights.opening), jit(march.start_of), jit(lights.gathered)
    halved = jit(lights.halved)

    def triple(values, row, i):
        return values[row, i], values[row + 1, i], values[row + 2, i]

    def put(values, row, i, new):
        values[row, i], values[row + 1, i], values[row + 2, i] = new

    triple, put = jit(triple), jit(put)

    def send(rays, i, o, d, length, base):
        """Set out a ray."""
        put(rays, ORIGIN, i, o)
        put(rays, DIRECTION, i, d)
        rays[LENGTH, i], rays[BASE, i] = length, base

    def give(own, p, through, light):
        """Add what comes through of a light to that of a path."""
        put(own, LIGHT, p, gather(triple(own, LIGHT, p), through, light))

    def give_sky(own, p, through, d, light, sums, at):
        """Give the sky's light from a direction to a path, whose pixel is `at`."""
        give(own, p, through, sky_of(d, light))
        if shared:
            share_sky(sums, 0, at, d, light, through)

    send, give = jit(send), jit(give)
    give_sky = jit(give_sky)

    def ends_early(ids, p):
        return halved(ids[COLUMN, p], ids[ROW, p], ids[SAMPLE, p])

    ends_early = jit(ends_early)

    def make_set_out(plain):
        ahead = march.make_ahead(target, plain)

        def set_out(rays, own, ids, n, camera):
            for i in range(n):
                x, y = real(ids[COLUMN, i]) + own[TAP, i], real(ids[ROW, i]) + own[TAP + 1, i]
                o, d = ahead(x, y, own[TAP + 2, i], own[TAP + 3, i], camera)
                put(rays, ORIGIN, i, o)
                put(rays, DIRECTION, i, d)

        return jit(set_out)

    set_out, set_out_plainly = make_set_out(False), make_set_out(True)

    def aim(rays, own, ids, n, job, shot):
        """Set out the rays of pixels.

        Its loops are simple ones, of which LLVM makes vectors.
        """
        zero, one, half = real(0), real(1), real(0.5)
        if shot.bounces < 0:  # one ray of each pixel
            for i in range(n):
                column, row = job.places[i, 0], job.places[i, 1]
                ids[COLUMN, i], ids[ROW, i] = column, row
                rays[LENGTH, i] = start(column, row, shot.starts)
            for m in range(4):
                for i in range(n):
                    own[TAP + m, i] = half
        else:
            pixel, sample = 0, 0
            for i in range(n):
                column, row = job.places[pixel, 0], job.places[pixel, 1]
                ids[0, i], ids[PIXEL, i], ids[SAMPLE, i] = i, pixel, job.first + sample
                ids[COLUMN, i], ids[ROW, i] = column, row
                rays[LENGTH, i] = start(column, row, shot.starts)
                sample += 1
                if sample == job.samples:
                    pixel, sample = pixel + 1, 0
            for i in range(n):
                u, v, p, q = draw(0, ids[COLUMN, i], ids[ROW, i], ids[SAMPLE, i], shot)
                own[TAP, i], own[TAP + 1, i], own[TAP + 2, i], own[TAP + 3, i] = u, v, p, q
            for i in range(n):
                put(own, LIGHT, i, (zero, zero, zero))
                put(own, THROUGH, i, (one, one, one))
        camera = take(shot.camera, 0)
        if camera[march.LENS] + camera[march.COLUMN] + camera[march.EYE] > zero:
            set_out(rays, own, ids, n, camera)
        else:  # in a loop of its own: LLVM's vectors would find a sine and a cosine for each ray
            set_out_plainly(rays, own, ids, n, camera)
        base = shot.light[0] if shot.bounces < 0 else zero
        for i in range(n):
            rays[BASE, i] = base

    def met(rays, own, ids, live, bounce, spread, light, sums):
        """Give light to paths that see the sky; return how many met the surface."""
        kept = 0
        for i in range(live):
            p, d, t = ids[0, i], triple(rays, DIRECTION, i), rays[ENDED, i]
            if guided and bounce == HALVED + 1 and ends_early(ids, p):
                continue
            through = triple(own, THROUGH, i)
            if not rays[HITS, i] > real(0):
                give_sky(own, p, through, d, light, sums, ids[PIXEL, p])
                if shared > 1 and bounce == 0:
                    none = real(0), real(0), real(0)
                    share_haze(sums, 0, ids[PIXEL, p], haze(real(NOWHERE), light), none)
                if guided and bounce == 0:
                    none = real(0), real(0), real(0)
                    guide(sums, 0, ids[PIXEL, p], triple(own, LIGHT, p), none)
                    guide_light(sums, 0, ids[PIXEL, p], triple(own, LIGHT, p))
                continue
            if bounce == 0:
                fog = haze(t, light)
                give_sky(own, p, (fog, fog, fog), d, light, sums, ids[PIXEL, p])
                if shared > 1:
                    share_haze(sums, 0, ids[PIXEL, p], fog, triple(own, LIGHT, p))
                fog = real(1) - fog
                through = fog, fog, fog
                own[CLEAR, kept] = fog
            ids[0, kept] = p
            put(own, THROUGH, kept, through)
            put(own, PLACE, kept, added(triple(rays, ORIGIN, i), t, d))
            put(own, CAME, kept, d)
            own[FOOT, kept] = fma(spread, t, rays[BASE, i])
            own[COLOR, kept] = rays[TRAP, i]
            kept += 1
        return kept

    def look(rays, own, live, m):
        """Set out the taps of a normal."""
        d = real(TAPS[m][0]), real(TAPS[m][1]), real(TAPS[m][2])
        for i in range(live):
            send(rays, i, triple(own, PLACE, i), d, own[FOOT, i], real(0))

    def shade(rays, own, ids, live, bounce, shot, sums):
        """Find normals and colors, and set out rays to the sun; return how many there are."""
        count, light = 0, shot.light
        for i in range(live):
            d, h = triple(own, CAME, i), own[FOOT, i]
            taps = own[TAP, i], own[TAP + 1, i], own[TAP + 2, i], own[TAP + 3, i]
            n = normal(taps, d[0], d[1], d[2])
            put(own, NORMAL, i, n)
            put(own, PLACE, i, added(triple(own, PLACE, i), real(FROM_SURFACE) * h, n))
        for i in range(live):
            p = ids[0, i]
            column, row, sample = ids[COLUMN, p], ids[ROW, p], ids[SAMPLE, p]
            u, v, x, y = draw(bounce + 1, column, row, sample, shot)
            own[TAP, i], own[TAP + 1, i], own[DRAWN, i], own[DRAWN + 1, i] = u, v, x, y
        for i in range(live):
            put(own, TO_SUN, i, to_sun(own[TAP, i], own[TAP + 1, i], light))
        for i in range(live):
            p, h = ids[0, i], own[FOOT, i]
            r, g, b, w = color_of(own[COLOR, i], light, shot.colors)
            if guided and bounce == 0:
                guide(sums, 0, ids[PIXEL, p], (r, g, b), triple(own, NORMAL, i))
            through = triple(own, THROUGH, i)
            given_off = scaled(w, through)
            give(own, p, given_off, three(light, EMISSION))
            if shared:
                share(sums, 0, ids[PIXEL, p], EMISSION, given_off)
            put(own, THROUGH, i, (through[0] * r, through[1] * g, through[2] * b))
            s, n = triple(own, TO_SUN, i), triple(own, NORMAL, i)
            if inner(s[0], s[1], s[2], n[0], n[1], n[2]) > real(0):
                send(rays, count, triple(own, PLACE, i), s, real(0), real(NEAR) * h)
                ids[1, count] = i
                count += 1
        return count

    def shine(rays, own, ids, count, bounce, light, sums):
        """Give the sun's light to what is not in the shadow."""
        gloss = light[GLOSS] if bounce == 0 else real(0)
        sun = three(light, SUNLIGHT)
        for k in range(count):
            if not rays[HITS, k] > real(0):
                i = ids[1, k]
                s, n, d = triple(own, TO_SUN, i), triple(own, NORMAL, i), triple(own, CAME, i)
                reflected = lit(s, n, d, triple(own, THROUGH, i), gloss * own[CLEAR, i])
                give(own, ids[0, i], reflected, sun)
                if shared:
                    share(sums, 0, ids[PIXEL, ids[0, i]], SUNLIGHT, reflected)
                if shared > 1 and bounce == 0:
                    share(sums, 0, ids[PIXEL, ids[0, i]], DIRECT, reflected)
            elif shared > 1 and bounce == 0:
                i = ids[1, k]
                s, n, d = triple(own, TO_SUN, i), triple(own, NORMAL, i), triple(own, CAME, i)
                kept_off = lit(s, n, d, triple(own, THROUGH, i), gloss * own[CLEAR, i])
                share(sums, 0, ids[PIXEL, ids[0, i]], SHADOW, kept_off)

    def rise(rays, own, live, away):
        """Set out taps above the surface."""
        for i in range(live):
            length = away * own[FOOT, i]
            send(rays, i, triple(own, PLACE, i), triple(own, NORMAL, i), length, real(0))

    def opened(rays, own, live, away):
        for i in range(live):
            own[SEEN, i] = own[SEEN, i] + is_open(rays[AWAY, i], away * own[FOOT, i])

    def skylight(own, ids, live, light, sums):
        """Give the sky's light to what the last bounce met."""
        for i in range(live):
            seen = own[SEEN, i] / real(len(OPEN))
            through, d = scaled(seen, triple(own, THROUGH, i)), triple(own, NORMAL, i)
            give_sky(own, ids[0, i], through, d, light, sums, ids[PIXEL, ids[0, i]])

    def bounce_on(rays, own, ids, live, bounce):
        for i in range(live):
            d = reflect(triple(own, NORMAL, i), own[DRAWN, i], own[DRAWN + 1, i])
            send(rays, i, triple(own, PLACE, i), d, real(0), real(NEAR) * own[FOOT, i])
        if guided and bounce == HALVED:
            for i in range(live):
                through = triple(own, THROUGH, i)
                put(own, THROUGH, i, added(through, real(1), through))
                if ends_early(ids, ids[0, i]):
                    rays[LENGTH, i] = real(march.FAR)  # it takes no step

    def add(own, ids, n, sums):
        for i in range(n):
            pixel = ids[PIXEL, i]
            for m in range(3):
                sums[0, pixel, m] += keep(own[LIGHT + m, i])

    aim, met, look, shade, shine = jit(aim), jit(met), jit(look), jit(shade), jit(shine)
    rise, opened, skylight = jit(rise), jit(opened), jit(skylight)
    bounce_on, add = jit(bounce_on), jit(add)

    def body(sums, job, shot, space, calls, rays, own, ids):
        light, n = shot.light, len(job.places) * job.samples
        cone, zero = shot.camera[CONE], real(0)
        wide = real(WIDER) * cone
        aim(rays, own, ids, n, job, shot)
        if shot.bounces < 0:
            walk(calls, rays, n, cone, space.most, space)
            for i in range(n):
                own[SURFACE, i] = rays[ENDED, i] if rays[HITS, i] > zero else -real(1)
            return
        live = n
        for k in range(shot.bounces + 1):
            spread = cone if k == 0 else wide
            walk(calls, rays, live, spread, space.most, space)
            live = met(rays, own, ids, live, k, spread, light, sums)
            if live == 0:
                break
            for m in range(4):
                look(rays, own, live, m)
                walk(calls, rays, live, wide, 0, space)
                for i in range(live):
                    own[TAP + m, i] = rays[AWAY, i]
            count = shade(rays, own, ids, live, k, shot, sums)
            walk(calls, rays, count, wide, space.most, space)
            shine(rays, own, ids, count, k, light, sums)
            if guided and k == 0:
                for i in range(live):
                    p = ids[0, i]
                    guide_light(sums, 0, ids[PIXEL, p], triple(own, LIGHT, p))
            if k == shot.bounces:
                for i in range(live):
                    own[SEEN, i] = zero
                for m in range(len(OPEN)):
                    away = real(OPEN[m])
                    rise(rays, own, live, away)
                    walk(calls, rays, live, wide, 0, space)
                    opened(rays, own, live, away)
                skylight(own, ids, live, light, sums)
            else:
                bounce_on(rays, own, ids, live, k)
        add(own, ids, n, sums)

    return body
