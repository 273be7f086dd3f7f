"""From hits to light, as flam3 shows flames, and from linear light to pixels.

Arrays of light have four values in each bucket: red, green, blue, and the density. A neighborhood
is gathered in one fixed order, so that the bits are the same on every device.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from fractals.kernels import scatter
from fractals.kernels.elementary import exp, log
from fractals.kernels.primitives import clamp, fma, number, select

WHITE = 255.0


class Rows(NamedTuple):
    """The rows of `out` that a program fills: from `top` to the one before `until`."""

    top: Any
    until: Any


class Tone(NamedTuple):
    """How light becomes a pixel: of `fractals.scene.model.Display`."""

    # 1 / gamma, threshold, its power of 1 / gamma - 1, vibrancy, highlight power, and the three
    # channels of the background, from 0 to 1; array of real, shape (8,)
    numbers: Any
    white: Any  # the value of a white channel, as a number: 255, 65535, or 1 of light
    most: Any  # the greatest value, in whites


def power(v, exponent):  # compiled with `target.jit`
    """Return v to the power of the exponent; 0 where v is 0 or less."""
    zero = number(0, v)
    return exp(exponent * log(v)) if v > zero else zero


def make_density_body(target):
    """Return ``body(i0, j0, di, dj, out, sums, k1, k2, gains, top, until)``: log density as light.

    Parameters
    ----------
    out : array of real, shape (rows, columns, 4)
    sums : array of int64, shape (rows, columns, 4)
        Red, green, blue and count of hits.
    k1, k2 : real
        Brightness, and the density of one hit.
    gains : array of real, shape (4,)
        Factors of the channels.
    rows : Rows
    """
    real = target.real

    def body(i0, j0, di, dj, out, sums, k1, k2, gains, rows):
        one, zero = real(1), real(0)
        for j in range(rows.top + j0, rows.until, dj):
            for i in range(i0, out.shape[1], di):
                n = real(sums[j, i, 3])
                scale = zero
                if n > zero:
                    t = n * k2
                    u = fma(n, k2, one)  # rounded: the quotient below makes up for it (Kahan)
                    logarithm = t if u == one else log(u) * (t / (u - one))
                    scale = k1 * logarithm / n
                for m in range(4):
                    out[j, i, m] = real(sums[j, i, m]) * gains[m] * scale

    return body


def make_kind_body(target):
    """Return ``body(i0, j0, di, dj, out, sums, numbers, weight, step, top, until)``.

    It finds the spread of each bucket's light: the fewer hits around, the wider.

    Parameters
    ----------
    out : array of int32, shape (rows, columns)
        Of each bucket, the last of `numbers` that is at most its hits; 0 where there is none.
    sums : array of int64, shape (rows, columns, 4)
    numbers : array of int64
        Numbers of hits, in rising order.
    weight, step : int64
        What a hit adds to a count; buckets a pixel. Of several, those around a bucket count.
    rows : Rows
    """
    int64 = target.int64

    def body(i0, j0, di, dj, out, sums, numbers, weight, step, rows):
        height, columns, reach = sums.shape[0], sums.shape[1], step // 2
        for j in range(rows.top + j0, rows.until, dj):
            for i in range(i0, columns, di):
                hits = int64(0)
                for y in range(max(0, j - reach), min(height, j + reach + 1)):
                    for x in range(max(0, i - reach), min(columns, i + reach + 1)):
                        hits += sums[y, x, 3] // weight
                if step % 2 == 0:  # one column and one row too many
                    hits = hits * step * step // ((step + 1) * (step + 1))
                low, high = 0, len(numbers)
                while low < high:
                    middle = (low + high) // 2
                    if numbers[middle] <= hits:
                        low = middle + 1
                    else:
                        high = middle
                out[j, i] = max(low - 1, 0)

    return body


def make_reach_body(target):
    """Return ``body(i0, j0, di, dj, out, kinds, reaches, near)``.

    Parameters
    ----------
    out : array of int32, shape (blocks of rows, blocks of columns)
        The longest reach of light in each block of 32x32 buckets and the `near` blocks around it.
    kinds, reaches
        As of `make_estimate_body`.
    near : int64
    """

    def body(i0, j0, di, dj, out, kinds, reaches, near):
        rows, columns = kinds.shape[0], kinds.shape[1]
        for j in range(j0, out.shape[0], dj):
            for i in range(i0, out.shape[1], di):
                least = len(reaches) - 1  # the kind of least hits reaches farthest
                for y in range(max(0, (j - near) << 5), min(rows, (j + near + 1) << 5)):
                    for x in range(max(0, (i - near) << 5), min(columns, (i + near + 1) << 5)):
                        if kinds[y, x] < least:
                            least = kinds[y, x]
                out[j, i] = reaches[least]

    return body


def make_estimate_body(target):
    """Return ``body(i0, j0, di, dj, out, light, kinds, weights, reaches, far, top, until)``.

    It spreads the light of each bucket over its neighbors, the farther the fewer hits there are.

    Parameters
    ----------
    out : array of real, shape (rows, columns, 4)
    light : array of real, shape (rows, columns, 4)
    kinds : array of int32, shape (rows, columns)
        The spread of each bucket, a row of `weights`.
    weights : array of real, shape (kinds, squares)
        By the square of the distance.
    reaches : array of int32, shape (kinds,)
        How many buckets away a spread ends; none is longer than the one before it.
    far : array of int32, shape (blocks of rows, blocks of columns)
        The longest reach of light that arrives in a block of 32x32 buckets.
    rows : Rows
    """
    real = target.real

    def body(i0, j0, di, dj, out, light, kinds, weights, reaches, far, rows):
        height, columns = light.shape[0], light.shape[1]
        for j in range(rows.top + j0, rows.until, dj):
            for i in range(i0, out.shape[1], di):
                red, green, blue, density = real(0), real(0), real(0), real(0)
                reach = far[j >> 5, i >> 5]
                for y in range(max(0, j - reach), min(height, j + reach + 1)):
                    down = y - j
                    for x in range(max(0, i - reach), min(columns, i + reach + 1)):
                        across, kind = x - i, kinds[y, x]
                        if max(abs(across), abs(down)) <= reaches[kind]:
                            weight = weights[kind, across * across + down * down]
                            red = fma(weight, light[y, x, 0], red)
                            green = fma(weight, light[y, x, 1], green)
                            blue = fma(weight, light[y, x, 2], blue)
                            density = fma(weight, light[y, x, 3], density)
                out[j, i, 0], out[j, i, 1], out[j, i, 2], out[j, i, 3] = red, green, blue, density

    return body


def make_pixel_body(target):
    """Return ``body(i0, j0, di, dj, out, light, taps, step, first, down, tone, top, until)``.

    It takes the mean of each pixel's buckets, weighted by the filter, and makes it a color.

    Parameters
    ----------
    out : array of float32, shape (rows, columns, 3)
        From 0 to `tone.white` times `tone.most`.
    light : array of real, shape (bucket rows, bucket columns, 4)
    taps : array of real, shape (width,)
        The filter, across and down.
    step, first, down : int64
        Buckets a pixel; the bucket of a pixel's first tap; the picture's row that is the first of
        `out`.
    tone : Tone
    rows : Rows
    """
    real, real32 = target.real, target.real32
    power_of = target.jit(power)

    def tone_of(v, ls, vibrancy, gamma, rest, behind, white, most):
        """Return the value of one channel from its part of the light."""
        zero, one = real(0), real(1)
        found = fma(rest, behind, fma(ls, v, (one - vibrancy) * power_of(v, gamma)))
        found = found if found > zero else zero
        return (found if found < most else most) * white

    tone_of = target.jit(tone_of)

    def alpha_of(density, gamma, threshold, slope):
        """Return how much light covers what is behind it: a straight line below the threshold."""
        zero, one = real(0), real(1)
        if density <= zero:
            return zero
        curve = power_of(density, gamma)
        if density >= threshold:
            return curve
        share = density / threshold
        return fma(one - share, density * slope, share * curve)

    alpha_of = target.jit(alpha_of)

    def body(i0, j0, di, dj, out, light, taps, step, first, down, tone, rows):
        v, zero, one = tone.numbers, real(0), real(1)
        gamma, threshold, slope, vibrancy, highlight = v[0], v[1], v[2], v[3], v[4]
        unit = one / real(WHITE)
        for j in range(rows.top + j0, rows.until, dj):
            for i in range(i0, out.shape[1], di):
                red, green, blue, density = zero, zero, zero, zero
                for y in range(len(taps)):
                    for x in range(len(taps)):
                        weight = taps[y] * taps[x]
                        row, column = (down + j) * step + first + y, i * step + first + x
                        red = fma(weight, light[row, column, 0], red)
                        green = fma(weight, light[row, column, 1], green)
                        blue = fma(weight, light[row, column, 2], blue)
                        density = fma(weight, light[row, column, 3], density)
                red, green, blue, density = red * unit, green * unit, blue * unit, density * unit
                alpha = alpha_of(density, gamma, threshold, slope)
                ls = vibrancy * alpha / density if density > zero else zero
                alpha = alpha if alpha < one else one
                greatest = max(red, max(green, blue))
                if ls * greatest > one:
                    # The color that just fits, between that and what is cut off, or paler
                    fits = one / greatest
                    if highlight >= zero:
                        pale = one - power_of(fits / ls, highlight)
                        red = fma(pale, greatest - red, red)
                        green = fma(pale, greatest - green, green)
                        blue = fma(pale, greatest - blue, blue)
                        ls = fits
                    else:
                        ls = fma(-highlight, ls, (one + highlight) * fits)
                rest = one - alpha
                white, most = tone.white, tone.most
                out[j, i, 0] = real32(tone_of(red, ls, vibrancy, gamma, rest, v[5], white, most))
                out[j, i, 1] = real32(tone_of(green, ls, vibrancy, gamma, rest, v[6], white, most))
                out[j, i, 2] = real32(tone_of(blue, ls, vibrancy, gamma, rest, v[7], white, most))

    return body


# --- From linear light to pixels: the glow of bloom, vignette, curve, encoding and grain
#
# Light is 1 where a picture is white, and may be brighter. All functions compute in the type of
# the light, float32 or float64.

GRAIN = 5  # kind of random numbers; 0 to 4 are those of `fractals.kernels.scatter` and of paths
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


@dataclass(frozen=True)
class DevelopOptions:
    """What the program is compiled for that develops light."""

    curve: str = "clip"  # or "filmic"
    hdr: bool = False  # encoded by PQ in place of sRGB's curve
    grain: bool = False


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
    lit = target.jit(light_of)

    def body(i0, j0, di, dj, light, factor):
        for j in range(j0, light.shape[0], dj):
            for i in range(i0, light.shape[1], di):
                for m in range(3):
                    light[j, i, m] = factor * lit(light[j, i, m])

    return body


def make_developing(target, options):
    """Return ``shade, tone, noise, rough``: the parts of developing.

    ``shade(x, y, numbers)`` is the share of its light that a place keeps, ``tone(v)`` the encoded
    value of light, of numbers and of packs, ``noise(column, row, strength)`` a random number of a
    pixel, and ``rough(v, grain)`` a value with that.
    """
    words, _, _ = scatter.make_random(target)
    int32, int64 = target.int32, target.int64
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

    return tuple(target.jit(part) for part in (shade, tone, noise, rough))


def make_develop_body(target, options):
    """Return ``body(i0, j0, di, dj, out, light, sheet)``: light becomes pixels.

    Parameters
    ----------
    out : array of uint8 or uint16, shape (rows, columns, 3)
    light : array of float32 or float64, shape (rows, columns, 3)
    sheet : Development
    """
    shade, tone, noise, rough = make_developing(target, options)
    int32, real32 = target.int32, target.real32

    def body(i0, j0, di, dj, out, light, sheet):
        numbers = sheet.numbers
        for j in range(j0, out.shape[0], dj):
            for i in range(i0, out.shape[1], di):
                column, row = sheet.left + i, sheet.top + j
                half = number(0.5, numbers[0])
                x, y = number(column, half) + half, number(row, half) + half
                kept, grain = shade(x, y, numbers), noise(column, row, numbers[4])
                for m in range(3):
                    v = rough(tone(light[j, i, m] * kept), grain)
                    out[j, i, m] = int32(real32(v * numbers[5]) + real32(0.5))

    return body


# Bloom: what is brighter than a threshold is spread by Gaussians of several widths, each twice as
# wide as the one before. A wide one is computed on a grid whose cells cover several pixels.


def make_bright_body(target):
    """Return ``body(i0, j0, di, dj, out, light, threshold, top)``: what is brighter than that.

    out, light : arrays of float32, shapes (rows, columns, 3) and (all rows, columns, 3)
    top : int64, the row of `light` that is the first of `out`, here and below
    """

    def body(i0, j0, di, dj, out, light, threshold, top):
        for j in range(j0, out.shape[0], dj):
            for i in range(i0, out.shape[1], di):
                r, g, b = light[top + j, i, 0], light[top + j, i, 1], light[top + j, i, 2]
                most = max(r, max(g, b))
                share = number(0, most)
                if most > threshold:
                    share = (most - threshold) / most
                out[j, i, 0], out[j, i, 1], out[j, i, 2] = share * r, share * g, share * b

    return body


def make_pool_body(target):
    """Return ``body(i0, j0, di, dj, out, grid, top)``: the means of 2 x 2 cells of a grid.

    out, grid : arrays of float32, shapes (rows, columns, 3) and (rows, columns, 3)
    """

    def body(i0, j0, di, dj, out, grid, top):
        rows, columns = grid.shape[0] - 1, grid.shape[1] - 1
        for j in range(j0, out.shape[0], dj):
            for i in range(i0, out.shape[1], di):
                y, x = 2 * (top + j), 2 * i
                below, right = min(y + 1, rows), min(x + 1, columns)
                for m in range(3):
                    upper = grid[y, x, m] + grid[y, right, m]
                    lower = grid[below, x, m] + grid[below, right, m]
                    out[j, i, m] = (upper + lower) * number(0.25, upper)

    return body


def make_blur_body(target, down):
    """Return ``body(i0, j0, di, dj, out, grid, taps, top)``: weighted means across, or down.

    Beyond the edges there is nothing: the weights of what is there count.

    out, grid : arrays of float32, shapes (rows, columns, 3) and (all rows, columns, 3)
    taps : array of float32, shape (2 * reach + 1,)
    """
    real32 = target.real32

    def body(i0, j0, di, dj, out, grid, taps, top):
        reach, rows, columns = len(taps) // 2, grid.shape[0], grid.shape[1]
        for j in range(j0, out.shape[0], dj):
            for i in range(i0, out.shape[1], di):
                r, g, b, total = real32(0), real32(0), real32(0), real32(0)
                at, most = (top + j, rows) if down else (i, columns)
                for k in range(max(0, at - reach), min(most, at + reach + 1)):
                    weight = taps[k - at + reach]
                    y, x = (k, i) if down else (top + j, k)
                    r = fma(weight, grid[y, x, 0], r)
                    g = fma(weight, grid[y, x, 1], g)
                    b = fma(weight, grid[y, x, 2], b)
                    total += weight
                out[j, i, 0], out[j, i, 1], out[j, i, 2] = r / total, g / total, b / total

    return body


def make_glow_body(target):
    """Return ``body(i0, j0, di, dj, light, grid, share, strength, top)``: light with a glow.

    light : array of float32, shape (rows, columns, 3)
    grid : array of float32, shape (all rows, columns, 3)
        The glow, in cells.
    share, strength : float32
        One over a cell's side in pixels, a power of two; the factor of the glow.
    """
    real32, int32 = target.real32, target.int32

    def place(at, share, last):
        """Return the cell before a pixel's middle, the next one, and how near that is."""
        half = real32(0.5)
        t = fma(real32(at) + half, share, -half)
        t = select(t > real32(0), t, real32(0))
        k = min(int32(t), int32(last))
        return k, min(k + int32(1), int32(last)), t - real32(k)

    place = target.jit(place)

    def body(i0, j0, di, dj, light, grid, share, strength, top):
        rows, columns, one = grid.shape[0] - 1, grid.shape[1] - 1, real32(1)
        for j in range(j0, light.shape[0], dj):
            for i in range(i0, light.shape[1], di):
                upper, lower, down = place(top + j, share, rows)
                left, right, across = place(i, share, columns)
                down = select(down < one, down, one)
                across = select(across < one, across, one)
                for m in range(3):
                    a, b = grid[upper, left, m], grid[upper, right, m]
                    c, d = grid[lower, left, m], grid[lower, right, m]
                    a, c = fma(across, b - a, a), fma(across, d - c, c)
                    light[j, i, m] = fma(strength, fma(down, c - a, a), light[j, i, m])

    return body
