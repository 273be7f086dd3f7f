"""From linear light to pixels: the glow of bloom, vignette, curve, encoding and grain.

Light is 1 where a picture is white, and may be brighter. All functions compute in the type of
the light, float32 or float64.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from fractals.kernels import on_cpu
from fractals.kernels.elementary import exp, log
from fractals.kernels.primitives import clamp, fma, number, select
from fractals.kernels.random import MASK, make_random

GRAIN = 5  # kind of random numbers; 0 to 4 are those of `fractals.scatter.game` and of paths
WHITE_NITS = 203.0  # brightness of white in a picture of high dynamic range (ITU-R BT.2408)
PEAK = 1000.0 / WHITE_NITS  # the brightest light of such a picture, in whites
# Of PQ, the encoding of SMPTE ST 2084 and ITU-R BT.2100
PQ_NITS, M1, M2 = 10000.0, 1305 / 8192, 2523 / 32
C1, C2, C3 = 107 / 128, 2413 / 128, 2392 / 128
BEND = 0.37  # light up to which the curve for high dynamic range is that of film
OVER, UNDER = BEND * (2.51 * BEND + 0.03), BEND * (2.43 * BEND + 0.59) + 0.14
BENT = OVER / UNDER  # the curve's value there
SLOPE = ((5.02 * BEND + 0.03) * UNDER - OVER * (4.86 * BEND + 0.59)) / UNDER**2
ROOM = PEAK - BENT
STEEP = SLOPE / ROOM  # of the shoulder, which begins as steep as the curve ends
EVEN_GRAIN = 3.0**0.5  # over the sum of four random numbers: a standard deviation of 1
UNIT = 2.0**-24
# Of dithering: parts of a step by which thresholds move on to the right and down, of 32 bits. They
# are powers of the plastic number, whose multiples are spread most evenly (Roberts, 2018).
RIGHT, DOWN = 3242174889, 2447445414
THRESHOLDS = 256  # a power of two: a value and a threshold add up without rounding


@dataclass(frozen=True)
class DevelopOptions:
    """What the program is compiled for that develops light."""

    curve: str = "clip"  # or "filmic"
    hdr: bool = False  # encoded by PQ in place of sRGB's curve
    grain: bool = False
    dither: bool = False  # of 8 bits


class Development(NamedTuple):
    """Where pixels are in the picture, and how they are developed."""

    left: Any
    top: Any  # the picture's column and row of the first pixel
    # The middle across and down, one over the distance of a corner from it, the strength of
    # vignette and grain, and the greatest value of a channel; array of the light's type, shape (6,)
    numbers: Any


def film(v):  # compiled with `target.jit`
    """Return light from 0 to 1 of any light: the curve of film by Narkowicz (2015)."""
    bent = v * fma(number(2.51, v), v, number(0.03, v))
    bent = bent / fma(v, fma(number(2.43, v), v, number(0.59, v)), number(0.14, v))
    return clamp(bent, number(0, v), number(1, v))


def film_to_peak(v):  # compiled with `target.jit`
    """Return light from 0 to PEAK: the curve of film up to its middle, with a higher shoulder."""
    zero, past = number(0, v), v - number(BEND, v)
    past = select(past > zero, past, zero)
    shoulder = fma(number(ROOM, v), number(1, v) - exp(-(number(STEEP, v) * past)), number(BENT, v))
    low = v * fma(number(2.51, v), v, number(0.03, v))
    low = low / fma(v, fma(number(2.43, v), v, number(0.59, v)), number(0.14, v))
    return clamp(select(v > number(BEND, v), shoulder, low), zero, number(PEAK, v))


def srgb(v):  # compiled with `target.jit`
    """Return the sRGB value of light, both from 0 to 1."""
    zero, one = number(0, v), number(1, v)
    least = number(0.0031308, v)
    root = exp(log(select(v > least, v, one)) / number(2.4, v))
    curved = fma(number(1.055, v), root, number(-0.055, v))
    return clamp(select(v > least, curved, number(12.92, v) * v), zero, one)


def pq(v):  # compiled with `target.jit`
    """Return the PQ value, from 0 to 1, of light of which 1 is white."""
    one, nits = number(1, v), v * number(WHITE_NITS / PQ_NITS, v)
    dark = nits <= number(1e-12, v)
    power = exp(number(M1, v) * log(select(dark, one, nits)))
    power = select(dark, number(0, v), power)
    ratio = fma(number(C2, v), power, number(C1, v)) / fma(number(C3, v), power, one)
    return clamp(exp(number(M2, v) * log(ratio)), number(0, v), one)


def light_of(v):  # compiled with `target.jit`
    """Return the light of an sRGB value from 0 on, which may be brighter than white."""
    low = number(0.04045, v)
    part = (select(v > low, v, low) + number(0.055, v)) / number(1.055, v)
    return select(v > low, exp(number(2.4, v) * log(part)), v / number(12.92, v))


def make_light_body(target):
    """Return ``body(i0, j0, di, dj, light, factor)``: sRGB values become light, in place.

    light : array of float32, shape (rows, columns, 3); factor : float32
    """
    lit, index = target.jit(light_of), target.index

    def body(i0, j0, di, dj, light, factor):
        height, width = index(light.shape[0]), index(light.shape[1])
        j = index(j0)
        while j < height:  # see `fractals.kernels.escape.make_body`
            i = index(i0)
            while i < width:
                for m in range(3):
                    light[j, i, m] = factor * lit(light[j, i, m])
                i = index(i + di)
            j = index(j + dj)

    return body


def make_developing(target, options):
    """Return ``shade, tone, noise, rough, threshold``: the parts of developing.

    ``shade(x, y, numbers)`` is the share of its light that a place keeps, ``tone(v)`` the encoded
    value of light, of numbers and of packs, ``noise(column, row, strength)`` a random number of a
    pixel, ``rough(v, grain)`` a value with that, and ``threshold(column, row)`` which part of a
    step is added to a pixel before it is cut off to a whole number.
    """
    words, _, _ = make_random(target)
    int32, int64, real32 = target.int32, target.int64, target.real32
    bend = target.jit(film_to_peak if options.hdr else film)
    encode = target.jit(pq if options.hdr else srgb)
    most = PEAK if options.hdr else 1.0

    def shade(x, y, numbers):
        across, down = (x - numbers[0]) * numbers[2], (y - numbers[1]) * numbers[2]
        far = fma(across, across, down * down)
        far = far * far * fma(number(-2, far), far, number(3, far))
        return fma(-numbers[3], far, number(1, far))

    if options.curve == "filmic":

        def tone(v):
            return encode(bend(v))

    else:

        def tone(v):
            return encode(clamp(v, number(0, v), number(most, v)))

    if options.grain:

        def noise(column, row, strength):
            """Return a random number of the pixel, with the mean 0."""
            a, b, c, d = words(
                int64(column), int64(row), int64(0), int64(GRAIN), int64(0), int64(0)
            )
            total = number(int32((a >> 8) + (b >> 8) + (c >> 8) + (d >> 8)), strength)
            even = fma(total, number(UNIT, strength), number(-2, strength))
            return even * number(EVEN_GRAIN, strength) * strength

        def rough(v, grain):
            """Return a value with grain; black and white stay as they are."""
            one = number(1, v)
            return clamp(fma(grain, number(4, v) * v * (one - v), v), number(0, v), one)

    else:

        def noise(column, row, strength):
            return strength

        def rough(v, grain):
            return v

    if options.dither:

        def threshold(column, row):
            word = int64(column) * int64(RIGHT) + int64(row) * int64(DOWN)
            k = int32((word & int64(MASK)) >> 24)
            return (real32(k) + real32(0.5)) / real32(THRESHOLDS)

    else:

        def threshold(column, row):
            return real32(0.5)

    return tuple(target.jit(part) for part in (shade, tone, noise, rough, threshold))


@on_cpu("fractals.backends.cpu.fast:developing")
def make_develop_body(target, options):
    """Return ``body(i0, j0, di, dj, out, light, sheet)``: light becomes pixels.

    Parameters
    ----------
    out : array of uint8 or uint16, shape (rows, columns, 3)
    light : array of float32 or float64, shape (rows, columns, 3)
    sheet : Development
    """
    shade, tone, noise, rough, threshold = make_developing(target, options)
    int32, real32, index = target.int32, target.real32, target.index

    def body(i0, j0, di, dj, out, light, sheet):
        numbers = sheet.numbers
        height, width = index(out.shape[0]), index(out.shape[1])
        j = index(j0)
        while j < height:  # see `fractals.kernels.escape.make_body`
            i = index(i0)
            while i < width:
                column, row = sheet.left + i, sheet.top + j
                half = number(0.5, numbers[0])
                x, y = number(column, half) + half, number(row, half) + half
                kept, grain = shade(x, y, numbers), noise(column, row, numbers[4])
                part = threshold(column, row)
                for m in range(3):
                    v = rough(tone(light[j, i, m] * kept), grain)
                    out[j, i, m] = int32(real32(v * numbers[5]) + part)
                i = index(i + di)
            j = index(j + dj)

    return body


# Bloom: what is brighter than a threshold is spread by Gaussians of several widths, each twice as
# wide as the one before. A wide one is computed on a grid whose cells cover several pixels.


def make_bright_body(target):
    """Return ``body(i0, j0, di, dj, out, light, threshold, top)``: what is brighter than that.

    out, light : arrays of float32, shapes (rows, columns, 3) and (all rows, columns, 3)
    top : int64, the row of `light` that is the first of `out`, here and below
    """
    index = target.index

    def body(i0, j0, di, dj, out, light, threshold, top):
        height, width = index(out.shape[0]), index(out.shape[1])
        j = index(j0)
        while j < height:  # see `fractals.kernels.escape.make_body`
            i = index(i0)
            while i < width:
                row = index(top + j)
                r, g, b = light[row, i, 0], light[row, i, 1], light[row, i, 2]
                most = max(r, max(g, b))
                share = number(0, most)
                if most > threshold:
                    share = (most - threshold) / most
                out[j, i, 0], out[j, i, 1], out[j, i, 2] = share * r, share * g, share * b
                i = index(i + di)
            j = index(j + dj)

    return body


def make_pool_body(target):
    """Return ``body(i0, j0, di, dj, out, grid, top)``: the means of 2 x 2 cells of a grid.

    out, grid : arrays of float32, shapes (rows, columns, 3) and (rows, columns, 3)
    """
    index = target.index

    def body(i0, j0, di, dj, out, grid, top):
        rows, columns = index(grid.shape[0] - 1), index(grid.shape[1] - 1)
        height, width = index(out.shape[0]), index(out.shape[1])
        j = index(j0)
        while j < height:  # see `fractals.kernels.escape.make_body`
            i = index(i0)
            while i < width:
                y, x = index(2 * (top + j)), index(2 * i)
                below, right = min(index(y + 1), rows), min(index(x + 1), columns)
                for m in range(3):
                    upper = grid[y, x, m] + grid[y, right, m]
                    lower = grid[below, x, m] + grid[below, right, m]
                    out[j, i, m] = (upper + lower) * number(0.25, upper)
                i = index(i + di)
            j = index(j + dj)

    return body


def make_blur_body(target, down):
    """Return ``body(i0, j0, di, dj, out, grid, taps, top)``: weighted means across, or down.

    Beyond the edges there is nothing: the weights of what is there count.

    out, grid : arrays of float32, shapes (rows, columns, 3) and (all rows, columns, 3)
    taps : array of float32, shape (2 * reach + 1,)
    """
    real32, int32, index = target.real32, target.int32, target.index

    def body(i0, j0, di, dj, out, grid, taps, top):
        reach, rows, columns = len(taps) // 2, grid.shape[0], grid.shape[1]
        height, width = index(out.shape[0]), index(out.shape[1])
        j = index(j0)
        while j < height:  # see `fractals.kernels.escape.make_body`
            i = index(i0)
            while i < width:
                r, g, b, total = real32(0), real32(0), real32(0), real32(0)
                row = int32(top + j)
                at, most = (row, rows) if down else (int32(i), columns)
                k, end = int32(max(0, at - reach)), int32(min(most, at + reach + 1))
                while k < end:
                    weight = taps[index(k - at + reach)]
                    y, x = (index(k), i) if down else (index(row), index(k))
                    r = fma(weight, grid[y, x, 0], r)
                    g = fma(weight, grid[y, x, 1], g)
                    b = fma(weight, grid[y, x, 2], b)
                    total += weight
                    k = int32(k + 1)
                out[j, i, 0], out[j, i, 1], out[j, i, 2] = r / total, g / total, b / total
                i = index(i + di)
            j = index(j + dj)

    return body


def make_glow_body(target):
    """Return ``body(i0, j0, di, dj, light, grid, share, strength, top)``: light with a glow.

    light : array of float32, shape (rows, columns, 3)
    grid : array of float32, shape (all rows, columns, 3)
        The glow, in cells.
    share, strength : float32
        One over a cell's side in pixels, a power of two; the factor of the glow.
    """
    real32, int32, index = target.real32, target.int32, target.index

    def place(at, share, last):
        """Return the cell before a pixel's middle, the next one, and how near that is."""
        half = real32(0.5)
        t = fma(real32(at) + half, share, -half)
        t = select(t > real32(0), t, real32(0))
        k = min(int32(t), int32(last))
        return index(k), index(min(k + int32(1), int32(last))), t - real32(k)

    place = target.jit(place)

    def body(i0, j0, di, dj, light, grid, share, strength, top):
        rows, columns, one = grid.shape[0] - 1, grid.shape[1] - 1, real32(1)
        height, width = index(light.shape[0]), index(light.shape[1])
        j = index(j0)
        while j < height:  # see `fractals.kernels.escape.make_body`
            i = index(i0)
            while i < width:
                upper, lower, down = place(top + j, share, rows)
                left, right, across = place(i, share, columns)
                down = select(down < one, down, one)
                across = select(across < one, across, one)
                for m in range(3):
                    a, b = grid[upper, left, m], grid[upper, right, m]
                    c, d = grid[lower, left, m], grid[lower, right, m]
                    a, c = fma(across, b - a, a), fma(across, d - c, c)
                    light[j, i, m] = fma(strength, fma(down, c - a, a), light[j, i, m])
                i = index(i + di)
            j = index(j + dj)

    return body
