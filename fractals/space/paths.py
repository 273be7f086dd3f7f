"""Paths of light on a GPU: one loop, in which each lane goes on with whatever its path waits for.

A path is a chain of walks of different lengths: to the surface, four distances of the normal, to
the sun, and on from there. Were each of them a loop of its own, the lanes of a warp would wait in
each for the one that walks farthest. Here the one loop over evaluations of the field serves them
all: while one lane follows a ray of sight, another one looks for the sun, and a third one is
already at the next sample of its pixel. After `TURN` evaluations at most, lanes whose wait has
ended do what comes next.

`fractals.space.light` explains the paths. On the CPU packs of rays walk instead
(`fractals.space.cpu_ray_code`), with the same bits.
"""

from typing import Any, NamedTuple

from fractals.kernels.primitives import fma, select
from fractals.kernels.space import added, scaled, three
from fractals.space.light import (
    AWAY,
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
    gathered,
    halved,
    haze_of,
    make_draw,
    make_guide,
    make_keep,
    make_reflect,
    make_shares,
    make_sky,
    make_to_sun,
    opening,
    sunlight,
    surface,
)
from fractals.space.march import (
    BOUND,
    CONE,
    LEAD,
    PULL,
    STEP,
    TAPS,
    crossing,
    dot,
    make_ahead,
    make_field,
    normal_of,
    start_of,
)

# What a path waits for: a ray of sight; the four distances of a normal; a ray to the sun; how much
# of the sky is seen; or nothing, because the sun is behind the surface, it has ended, or begins.
SIGHT, NORMAL, SHADE, SKY, PAST, DONE, NEW = 0, 1, 2, 3, 4, 5, 6
# Evaluations of the field after which lanes whose wait has ended go on. Those of a warp wait until
# then; with fewer of them the code of what comes next is run more often, for few lanes.
TURN = 6


class LaneSums(NamedTuple):
    """Sums of pixels, and the lanes that share the pixels."""

    lanes: Any  # an array in whose shape lanes are launched; it is not read
    sums: Any  # array of int64, shape (1, pixels, numbers)


class Surface(NamedTuple):
    """What paths of light have to know of a surface: functions, and where paths begin.

    `space` is the data of the surface. A `wait` is `SIGHT`, `NORMAL`, `SHADE` or `SKY`.
    """

    ahead: Any  # ``ahead(column, row, u, v, camera)``, as of `fractals.space.march.make_ahead`
    enter: Any  # ``enter(o, d, t, space)``: from which length on a ray is followed, and up to which
    # ``walk(wait, o, d, t, leave, count, found, spread, base, h, trap, space)``: a part of the way.
    # A ray goes from o on, where it has the length t, and ends at `leave` or where the distance is
    # not above ``spread * t + base``; it finds t and a trap. Others find four distances near o; h:
    # half a pixel there. Returns t, `count`, which begins at 0, `found`, the trap, whether the wait
    # has ended, and whether it has met the surface.
    walk: Any
    # ``color(place, trap, shot, space)``: the light that is reflected, by channel, and how much of
    # its light the surface gives off
    color: Any
    onward: Any  # ``onward(n, u, v)``: where the sky is looked for after the last bounce
    seen: Any  # ``seen(found, h, hits)``: how much of it is seen
    base: Any = 0.0  # the footprint at the camera


def make_walk(target, walk):
    """Return the function `walk` of a solid's `Surface`."""
    real, int32, field = target.real, target.int32, make_field(target, walk)

    def tap_of(k):
        """Return the direction of a tap, chosen without a table in memory."""
        x = y = z = real(0)
        for m in range(len(TAPS)):
            s = TAPS[m]
            x = select(k == m, real(s[0]), x)
            y = select(k == m, real(s[1]), y)
            z = select(k == m, real(s[2]), z)
        return x, y, z

    def above(k, h):
        """Return how far above the surface it is looked how open the surroundings are."""
        w = real(0)
        for m in range(len(OPEN)):
            w = select(k == m, real(OPEN[m]) * h, w)
        return w

    tap_of, above = target.jit(tap_of), target.jit(above)

    def walked(wait, o, d, t, leave, count, found, spread, base, h, trap, space):
        ray = (wait == SIGHT) | (wait == SHADE)
        ended, hits, turn = False, False, 0
        while turn < TURN and not ended:
            turn += 1
            # Without a branch for rays alone: all lanes evaluate the field together
            if ray & ((count == space.most) | (not t < leave)):
                ended, hits = True, t < leave
            else:
                far, way = t, d
                if wait == NORMAL:
                    far, way = h, tap_of(count)
                elif wait == SKY:
                    far = above(count, h)
                x, y, z = added(o, far, way)
                away, least = field(x, y, z, space)
                count = int32(count + 1)
                if ray:
                    trap, reach = least, fma(spread, t, base)
                    if not away > reach:
                        t = fma(space.numbers[PULL], away - reach, t)
                        ended, hits = True, True
                    else:
                        t = fma(space.numbers[STEP], fma(-space.numbers[LEAD], reach, away), t)
                else:
                    found = found[1], found[2], found[3], away
                    ended = count == (len(TAPS) if wait == NORMAL else len(OPEN))
        return t, count, found, trap, ended, hits

    return target.jit(walked)


def make_surface(target, walk):
    """Return a solid as paths of light meet it."""
    real, cross = target.real, target.jit(crossing)
    is_open, of_trap = target.jit(opening), target.jit(surface)

    def enter(o, d, t, space):
        near, far = cross(o[0], o[1], o[2], d[0], d[1], d[2], space.numbers[BOUND])
        return select(near > t, near, t), far

    def color(place, trap, shot, space):
        return of_trap(trap, shot.light, shot.colors)

    def onward(n, u, v):
        return n

    def seen(found, h, hits):
        """Return how open the surroundings are."""
        whole = real(0)
        for k in range(len(OPEN)):
            whole = whole + is_open(found[k + 4 - len(OPEN)], real(OPEN[k]) * h)
        return whole / real(len(OPEN))

    enter, color, onward, seen = (target.jit(each) for each in (enter, color, onward, seen))
    return Surface(make_ahead(target), enter, make_walk(target, walk), color, onward, seen)


def make_body(target, options, shared=False, guided=False, surface_of=make_surface):
    """Return ``body(i0, j0, di, dj, out, places, first, samples, shot, space)``: light of pixels.

    Parameters
    ----------
    out : LaneSums
        The light of some samples is added to the sums of all pixels: 3 numbers; then `SHARES`
        of its sources if `shared`, and `PASSES` if it is 2; or `GUIDES` if `guided`.
    places : array of int32, shape (1, pixels, 2)
        Column and row of the pixels in the picture.
    first, samples : int64
        The first sample, and how many there are.
    shot : fractals.space.light.Shot
    space : fractals.space.march.Space
        Or the data of another surface, as `surface_of(target, options)` takes them.
    """
    ahead, enter, walk, color_of, onward, seen, first_base = surface_of(target, options)
    real, index, int32, draw = target.real, target.index, target.int32, make_draw(target)
    sky_of, haze, inner = make_sky(target), target.jit(haze_of), target.jit(dot)
    to_sun, lit, reflect = make_to_sun(target), target.jit(sunlight), make_reflect(target)
    share, share_sky, share_haze = make_shares(target)
    start, gather = target.jit(start_of), target.jit(gathered)
    guide, guide_light = make_guide(target)
    ends_early, normal, keep = target.jit(halved), target.jit(normal_of), make_keep(target)

    def sees_sky(sums, m, k, d, color, through, light):
        """Return the color of a path whose ray of sight meets nothing."""
        none = real(0), real(0), real(0)
        color = gather(color, through, sky_of(d, light))
        if shared:
            share_sky(sums, 0, m, d, light, through)
        if shared > 1 and k == 0:
            share_haze(sums, 0, m, haze(real(NOWHERE), light), none)
        if guided and k == 0:
            guide(sums, 0, m, color, none)
            guide_light(sums, 0, m, color)
        return color

    def through_haze(sums, m, t, d, light):
        """Return the haze's light before what is seen first, and what is left of other light."""
        fog = haze(t, light)
        color = scaled(fog, sky_of(d, light))
        if shared:
            share_sky(sums, 0, m, d, light, (fog, fog, fog))
        if shared > 1:
            share_haze(sums, 0, m, fog, color)
        return color, real(1) - fog

    def in_sun(sums, m, k, hits, color, reflected, light):
        """Return the color of a path with the light of the sun, where nothing hides it."""
        if not hits:
            color = gather(color, reflected, three(light, SUNLIGHT))
            if shared:
                share(sums, 0, m, SUNLIGHT, reflected)
            if shared > 1 and k == 0:
                share(sums, 0, m, DIRECT, reflected)
        elif shared > 1 and k == 0:
            share(sums, 0, m, SHADOW, reflected)
        return color

    sees_sky, through_haze, in_sun = (target.jit(each) for each in (sees_sky, through_haze, in_sun))

    def body(i0, j0, di, dj, out, places, first, samples, shot, space):
        sums, light, zero = out.sums, shot.light, real(0)
        none, m, step = (zero, zero, zero), index(j0 * di + i0), index(di * dj)
        pixels, sample, end = index(sums.shape[1]), first, first + samples
        wait, count, k, column, row = int32(NEW), int32(0), int32(0), int32(0), int32(0)
        o, d, t, leave, spread, base, trap = none, none, zero, zero, zero, zero, zero
        found, h, n, came, p, q = (zero, zero, zero, zero), zero, none, none, zero, zero
        color, through, gloss = none, none, zero
        while m < pixels:
            ended, hits, ray = (wait == NEW) | (wait == DONE), False, False
            if not ended:
                t, count, found, trap, ended, hits = walk(
                    wait, o, d, t, leave, count, found, spread, base, h, trap, space
                )
            if ended:
                # What may follow at once stands below: a path passes through several of these
                if wait == SIGHT and not hits:
                    color = sees_sky(sums, m, k, d, color, through, light)
                    wait = int32(DONE)
                elif wait == SIGHT:
                    if k == 0:
                        color, clear = through_haze(sums, m, t, d, light)
                        through, gloss = (clear, clear, clear), gloss * clear
                    h, o, came = fma(spread, t, base), added(o, t, d), d
                    wait, count, ended = int32(NORMAL), int32(0), False
                elif wait == SKY:
                    through = scaled(seen(found, h, hits), through)
                    color = gather(color, through, sky_of(d, light))
                    if shared:
                        share_sky(sums, 0, m, d, light, through)
                    wait = int32(DONE)
                if wait == DONE:
                    sums[0, m, 0] += keep(color[0])
                    sums[0, m, 1] += keep(color[1])
                    sums[0, m, 2] += keep(color[2])
                    sample += 1
                    if sample == end:
                        sample, m = first, index(m + step)
                    wait = int32(NEW)
                begins, faces = (wait == NEW) & (m < pixels), (wait == NORMAL) & ended
                u = v = zero
                if begins:
                    column, row, k = places[0, m, 0], places[0, m, 1], int32(-1)
                if begins | faces:
                    u, v, p, q = draw(k + 1, column, row, sample, shot)
                if begins:
                    o, d = ahead(real(column) + u, real(row) + v, p, q, shot.camera)
                    color, through = none, (real(1), real(1), real(1))
                    spread, base, gloss = shot.camera[CONE], real(first_base), light[GLOSS]
                    t, k = start(column, row, shot.starts), int32(0)
                    wait, ray = int32(SIGHT), True
                elif faces:
                    n = normal(found, came[0], came[1], came[2])
                    r, g, b, own = color_of(o, trap, shot, space)
                    if guided and k == 0:
                        guide(sums, 0, m, (r, g, b), n)
                    given_off = scaled(own, through)
                    color = gather(color, given_off, three(light, EMISSION))
                    if shared:
                        share(sums, 0, m, EMISSION, given_off)
                    through = through[0] * r, through[1] * g, through[2] * b
                    o, t = added(o, real(AWAY) * h, n), zero
                    spread, base = real(WIDER) * shot.camera[CONE], real(NEAR) * h
                    d = to_sun(u, v, light)
                    ray = inner(d[0], d[1], d[2], n[0], n[1], n[2]) > zero
                    wait = int32(SHADE if ray else PAST)
                if (wait == PAST) | ((wait == SHADE) & ended & (not faces)):
                    if wait == SHADE:
                        reflected = lit(d, n, came, through, gloss)
                        color = in_sun(sums, m, k, hits, color, reflected, light)
                    if guided and k == 0:
                        guide_light(sums, 0, m, color)
                    gloss, t, count, ray = zero, zero, int32(0), k < shot.bounces
                    if ray:
                        d, wait = reflect(n, p, q), int32(SIGHT)
                        if guided and k == HALVED:
                            through = added(through, real(1), through)
                            if ends_early(column, row, sample):
                                wait = int32(DONE)
                        k = int32(k + 1)
                    else:
                        d, wait = onward(n, p, q), int32(SKY)
                if ray:
                    t, leave = enter(o, d, t, space)
                    count = int32(0)

    return body
