"""Light on a solid: sun, sky and what surfaces reflect, by paths that are traced backwards.

A path begins in a pixel, at a random place of it and of the lens. Where it meets the surface, this
adds light if it gives off some, and so does the sun, unless the surface is in the shadow; then the
path goes on in a random direction, as a matt surface reflects, until it sees the sky. After the
last bounce the sky lights the surface as far as its surroundings leave it open.

A store that is lit anew also keeps how much of each source's light reaches a pixel: the *shares*.
For a denoiser, the *guides* are added up: color and normal of what a path meets first, and the
light that comes from there without a bounce. Then every other path ends at its second surface.

Sample s of a pixel draws ``philox(g, column, row, PATH)`` for its group g of four numbers: pixel
and lens, then the sun's disc and the direction of each bounce. The words are moved on by s times
`turns`, irrational parts of a turn, which fill a pixel's samples more evenly than chance does.
Light is added in whole numbers. So samples may be drawn in any order, by any device.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.kernels.elementary import exp, sincos
from fractals.kernels.primitives import clamp, fma, number, select, sqrt
from fractals.kernels.random import MASK, make_random
from fractals.kernels.space import added, mixed, scaled, three
from fractals.space.march import (
    CONE,
    TAPS,
    TURN,
    make_ahead,
    make_field,
    make_march,
    normal_of,
    unit,
)

PATH = 4  # kind of random numbers; those of `fractals.scatter.game` are 0 to 3
ONE = 2.0**20  # of light, as a whole number
BRIGHTEST = 4096.0  # of a sample: brighter ones would be specks
# Numbers of light: where the sun is, two directions across it, as long as the radius of its disc;
# the light of the sources: of the sun, of the sky at the horizon, at the zenith and below, and what
# the surface gives off, 0 if it gives off none; the glow around the sun, haze and gloss; the trap
# of the first color, and one over how much more that of the last one is.
SUN, ACROSS, ALONG, SUNLIGHT, HORIZON, ZENITH, GROUND, EMISSION = 0, 3, 6, 9, 12, 15, 18, 21
GLOW, HAZE, GLOSS, TRAP, TRAPS = 24, 25, 26, 27, 28
SHARES = GLOW - SUNLIGHT  # of a pixel: red, green and blue of each source, in their order
# Numbers that follow the shares where passes are kept: how much of the sun's light reaches what is
# seen first and from there the pixel, and how much of it does not because of a shadow; the light of
# the haze before what is seen first, and how much haze there is.
DIRECT, SHADOW, HAZED, FOG, PASSES = GLOW, GLOW + 3, GLOW + 6, GLOW + 9, 10
# Numbers of a pixel for a denoiser: color, normal, and from `FIRST` on the light without a bounce
GUIDES, FIRST = 9, 9
WIDER = 4.0  # how much wider than a pixel's ray those are that the surface reflects
AWAY = 2.0  # footprints from the surface where these begin
NEAR = 0.5  # footprints from which they meet the surface there
NOWHERE = 1e10  # the depth of the sky, as other programs have it
# Bounces after which every other path of a denoiser ends, and the light that others bring from
# beyond counts twice: it is little light, whose noise the filters take away.
HALVED = 1
OPEN = (4.0, 16.0, 64.0)  # footprints above the surface where its surroundings are looked at


class Shot(NamedTuple):
    """What paths need besides the solid."""

    camera: Any  # array of real, as of `fractals.space.march`
    light: Any  # array of real
    # Of the surface, by trap, and how much light it gives off: array of real, shape (n, 4)
    colors: Any
    turns: Any  # how the random words move on with each sample: array of int64
    bounces: Any
    k0: Any
    k1: Any  # the seed, as two numbers of 32 bits
    starts: Any  # of the rays of pixels: `fractals.space.march.Starts`


def turns_of(bounces: int) -> NDArray[np.int64]:
    """Return how the random words of a path move on with each sample.

    A pixel's two numbers follow the plastic number, all others square roots of primes.
    """
    parts, prime = [0.7548776662466927, 0.5698402909980532], 2
    while len(parts) < 4 * (bounces + 2):
        if all(prime % k for k in range(2, math.isqrt(prime) + 1)):
            parts.append(math.sqrt(prime) % 1)
        prime += 1
    return np.array([round(part * 2**32) for part in parts], np.int64)


def make_draw(target):
    """Return ``draw(group, column, row, sample, shot)``: four numbers from 0 to below 1."""
    words, to_unit, _ = make_random(target)
    whole = target.int64

    def moved(word, group, m, sample, shot):
        return to_unit((word + whole(sample) * shot.turns[4 * group + m]) & MASK)

    moved = target.jit(moved)

    def draw(group, column, row, sample, shot):
        a, b, c, d = words(whole(group), whole(column), whole(row), whole(PATH), shot.k0, shot.k1)
        return (
            moved(a, group, 0, sample, shot),
            moved(b, group, 1, sample, shot),
            moved(c, group, 2, sample, shot),
            moved(d, group, 3, sample, shot),
        )

    return target.jit(draw)


def sky_parts(d, light):  # compiled with `target.jit`
    """Return how much of the sky's light from a direction is of which source.

    How far it is above the horizon, how far below, and how much there is of the sun's glow.
    """
    one, zero = number(1, d[0]), number(0, d[0])
    above = sqrt(clamp(d[2], zero, one))
    below = clamp(number(-3, d[0]) * d[2], zero, one)
    near = fma(d[0], light[SUN], fma(d[1], light[SUN + 1], d[2] * light[SUN + 2]))
    near = select(near > zero, near, zero)
    near = near * near * near
    near = near * near
    return above, below, near * near * light[GLOW]


def make_sky(target):
    """Return ``sky(d, light)``: the light of the sky from a direction, with the sun's glow."""
    parts = target.jit(sky_parts)

    def sky(d, light):
        above, below, glow = parts(d, light)
        color = mixed(above, three(light, HORIZON), three(light, ZENITH))
        color = mixed(below, color, three(light, GROUND))
        return added(color, glow, three(light, SUNLIGHT))

    return target.jit(sky)


def haze_of(t, light):  # compiled with `target.jit`
    """Return how much haze there is before what is at a distance, from 0 to 1."""
    deep = t * light[HAZE]
    return number(1, t) - exp(-(deep * deep))


def surface(trap, light, colors):  # compiled with `target.jit`
    """Return the color of the surface, by its trap, and how much of its light it gives off."""
    one, last = number(1, trap), number(len(colors) - 1, trap)
    v = clamp((trap - light[TRAP]) * light[TRAPS], number(0, trap), one)
    k = min(int(v * last), len(colors) - 2)
    part = fma(v, last, -number(k, trap))
    return (
        fma(part, colors[k + 1, 0] - colors[k, 0], colors[k, 0]),
        fma(part, colors[k + 1, 1] - colors[k, 1], colors[k, 1]),
        fma(part, colors[k + 1, 2] - colors[k, 2], colors[k, 2]),
        fma(part, colors[k + 1, 3] - colors[k, 3], colors[k, 3]),
    )


def make_to_sun(target):
    """Return ``to_sun(u, v, light)``: a direction to a random place of the sun's disc."""
    one_long, real = target.jit(unit), target.real

    def to_sun(u, v, light):
        sine, cosine = sincos(real(TURN) * v)
        far = sqrt(u)
        sun = added(three(light, SUN), far * sine, three(light, ALONG))
        x, y, z = added(sun, far * cosine, three(light, ACROSS))
        return one_long(x, y, z)

    return target.jit(to_sun)


def sunlight(s, n, d, through, gloss):  # compiled with `target.jit`
    """Return how much of the sun's light a lit surface reflects, by channel.

    s: to the sun; n: the normal; d: of the ray that sees the surface; `through`: the color so far;
    `gloss`: as much of it as the haze lets through.
    """
    zero = number(0, s[0])
    x, y, z = s[0] - d[0], s[1] - d[1], s[2] - d[2]
    length = sqrt(fma(x, x, fma(y, y, z * z)))
    shine = fma(x, n[0], fma(y, n[1], z * n[2])) / length
    shine = select(shine > zero, shine, zero)
    shine = shine * shine
    shine = shine * shine
    shine = shine * shine
    shine = shine * shine
    shine = shine * shine * gloss
    facing = fma(s[0], n[0], fma(s[1], n[1], s[2] * n[2]))
    return added((shine, shine, shine), facing, through)


def gathered(color, through, light):  # compiled with `target.jit`
    """Return the color of a path with more light, of which each channel comes through in part."""
    return (
        fma(through[0], light[0], color[0]),
        fma(through[1], light[1], color[1]),
        fma(through[2], light[2], color[2]),
    )


def make_reflect(target):
    """Return ``reflect(n, u, v)``: a random direction, as matt surfaces reflect light."""
    real, one_long = target.real, target.jit(unit)

    def reflect(n, u, v):
        one, zero = real(1), real(0)
        sine, cosine = sincos(real(TURN) * v)
        far = sqrt(u)
        x, y, z = far * cosine, far * sine, sqrt(one - u)
        # Two directions across the normal (Duff et al., 2017)
        s = one if n[2] >= zero else -one
        a = -one / (s + n[2])
        b = n[0] * n[1] * a
        e, f = fma(s * n[0], n[0] * a, one), fma(n[1], n[1] * a, s)
        return one_long(
            fma(x, e, fma(y, b, z * n[0])),
            fma(x, s * b, fma(y, f, z * n[1])),
            fma(x, -s * n[0], fma(-y, n[1], z * n[2])),
        )

    return target.jit(reflect)


def halved(column, row, sample):  # compiled with `target.jit`
    """Tell whether a path is one of those that end early: half of a pixel's, and of neighbors."""
    return ((column + row + sample) & 1) == 1


def opening(h, away):  # compiled with `target.jit`
    """Return how open the surroundings are, by the distance estimate at a height above them."""
    return clamp(number(1.5, h) * h / away, number(0, h), number(1, h))


def make_taps(target, field):
    """Return ``taps(place, h, space)``: the four distances that a normal is made of.

    They are computed in a loop. NVIDIA's compiler of CUDA 13.5 makes wrong code of four orbits that
    follow each other, if these have a fourth coordinate: the third orbit begins at the x where the
    second one has ended.
    """
    real = target.real

    def taps(p, h, space):
        one = two = three = four = real(0)
        for k in range(len(TAPS)):
            s = TAPS[k]
            x, y, z = added(p, h, (real(s[0]), real(s[1]), real(s[2])))
            one, two, three, four = two, three, four, field(x, y, z, space)[0]
        return one, two, three, four

    return target.jit(taps)


def make_keep(target):
    """Return ``keep(v)``: a sample's light as a whole number."""
    real, whole = target.real, target.int64

    def keep(v):
        return whole(clamp(v, real(0), real(BRIGHTEST)) * real(ONE))

    return target.jit(keep)


def make_shares(target):
    """Return what adds to the shares of a pixel, which follow its three sums.

    ``share(out, j, i, source, color)``: of a source; ``share_sky(out, j, i, d, light, color)``: of
    those that the sky's light from a direction has; ``share_haze(out, j, i, fog, color)``: the
    passes of haze, whose light has a color.
    """
    real, keep, parts = target.real, make_keep(target), target.jit(sky_parts)

    def share(out, j, i, source, color):
        at = source + (3 - SUNLIGHT)
        out[j, i, at] += keep(color[0])
        out[j, i, at + 1] += keep(color[1])
        out[j, i, at + 2] += keep(color[2])

    share = target.jit(share)

    def share_sky(out, j, i, d, light, color):
        above, below, glow = parts(d, light)
        clear = real(1) - below
        share(out, j, i, HORIZON, scaled((real(1) - above) * clear, color))
        share(out, j, i, ZENITH, scaled(above * clear, color))
        share(out, j, i, GROUND, scaled(below, color))
        share(out, j, i, SUNLIGHT, scaled(glow, color))

    def share_haze(out, j, i, fog, color):
        share(out, j, i, HAZED, color)
        out[j, i, FOG + (3 - SUNLIGHT)] += keep(fog)

    return share, target.jit(share_sky), target.jit(share_haze)


def make_guide(target):
    """Return what adds to the guides that follow a pixel's sums.

    ``guide(out, j, i, color, n)``: the color of the surface, or of the sky, cut off at 1, and the
    normal, or 0; ``guide_light(out, j, i, light)``: a sample's light before it bounces.
    """
    real, whole, keep = target.real, target.int64, make_keep(target)

    def kept(v):
        return whole(clamp(v, -real(1), real(1)) * real(ONE))

    kept = target.jit(kept)

    def guide(out, j, i, color, n):
        out[j, i, 3] += kept(color[0])
        out[j, i, 4] += kept(color[1])
        out[j, i, 5] += kept(color[2])
        out[j, i, 6] += kept(n[0])
        out[j, i, 7] += kept(n[1])
        out[j, i, 8] += kept(n[2])

    def guide_light(out, j, i, light):
        out[j, i, FIRST] += keep(light[0])
        out[j, i, FIRST + 1] += keep(light[1])
        out[j, i, FIRST + 2] += keep(light[2])

    return target.jit(guide), target.jit(guide_light)


def make_guide_body(target, walk):
    """Return ``body(i0, j0, di, dj, out, top, rays, shot, space)``: the surface that pixels show.

    Parameters
    ----------
    out : array of float32, shape (rows, columns, 8)
        The color of the surface, or the sky, and the normal, or 0: means of a pixel's rays. The
        length of the shortest ray, or `NOWHERE`, and its trap, or 0.
    top : int64
        The row of the picture that is the first of `out`.
    rays : int32
        Rays of a pixel, a side.
    shot : Shot
    space : fractals.space.march.Space
    """
    real, real32, ahead = target.real, target.real32, make_ahead(target)
    march, field = make_march(target, walk), make_field(target, walk)
    sky_of, color_of, normal = make_sky(target), target.jit(surface), target.jit(normal_of)
    taps, index = make_taps(target, field), target.index

    def look(column, row, shot, space):
        zero, one = real(0), real(1)
        o, d = ahead(column, row, zero, zero, shot.camera)
        t, trap, hits = march(o, d, zero, shot.camera[CONE], zero, space)
        if not hits:
            r, g, b = sky_of(d, shot.light)
            r, g, b = clamp(r, zero, one), clamp(g, zero, one), clamp(b, zero, one)
            return r, g, b, zero, zero, zero, real(NOWHERE), zero
        h = shot.camera[CONE] * t
        place = added(o, t, d)
        n = normal(taps(place, h, space), d[0], d[1], d[2])
        r, g, b, _ = color_of(trap, shot.light, shot.colors)
        return r, g, b, n[0], n[1], n[2], t, trap

    look = target.jit(look)

    def body(i0, j0, di, dj, out, top, rays, shot, space):
        half, side = real(0.5), real(rays)
        share = real32(1) / real32(rays * rays)
        height, width = index(out.shape[0]), index(out.shape[1])
        j = index(j0)
        while j < height:  # see `fractals.kernels.escape.make_body`
            i = index(i0)
            while i < width:
                for m in range(6):
                    out[j, i, m] = real32(0)
                nearest, its = real(NOWHERE), real(0)
                for v in range(rays):
                    for u in range(rays):
                        column = real(i) + (real(u) + half) / side
                        row = real(top + j) + (real(v) + half) / side
                        r, g, b, x, y, z, t, trap = look(column, row, shot, space)
                        out[j, i, 0] += share * real32(r)
                        out[j, i, 1] += share * real32(g)
                        out[j, i, 2] += share * real32(b)
                        out[j, i, 3] += share * real32(x)
                        out[j, i, 4] += share * real32(y)
                        out[j, i, 5] += share * real32(z)
                        if t < nearest:
                            nearest, its = t, trap
                out[j, i, 6], out[j, i, 7] = real32(nearest), real32(its)
                i = index(i + di)
            j = index(j + dj)

    return body
