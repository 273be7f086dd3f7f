"""From hits to light, as flam3 shows flames.

Arrays of light have four values in each bucket: red, green, blue, and the density. A neighborhood
is gathered in one fixed order, so that the bits are the same on every device.
"""

from typing import Any, NamedTuple

from fractals.kernels import on_cpu
from fractals.kernels.elementary import exp, log
from fractals.kernels.primitives import fma, number

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
    """Return ``body(i0, j0, di, dj, out, sums, k1, k2, gains, rows)``: log density as light.

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
    real, index = target.real, target.index

    def body(i0, j0, di, dj, out, sums, k1, k2, gains, rows):
        one, zero = real(1), real(0)
        height, width = index(rows.until), index(out.shape[1])
        j = index(rows.top + j0)
        while j < height:  # see `fractals.kernels.escape.make_body`
            i = index(i0)
            while i < width:
                n = real(sums[j, i, 3])
                scale = zero
                if n > zero:
                    t = n * k2
                    u = fma(n, k2, one)  # rounded: the quotient below makes up for it (Kahan)
                    logarithm = t if u == one else log(u) * (t / (u - one))
                    scale = k1 * logarithm / n
                for m in range(4):
                    out[j, i, m] = real(sums[j, i, m]) * gains[m] * scale
                i = index(i + di)
            j = index(j + dj)

    return body


def make_kind_body(target):
    """Return ``body(i0, j0, di, dj, out, sums, numbers, weight, step, rows)``.

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
    int64, int32, index = target.int64, target.int32, target.index

    def body(i0, j0, di, dj, out, sums, numbers, weight, step, rows):
        height, columns = int32(sums.shape[0]), int32(sums.shape[1])
        reach, until = int32(step // 2), int32(rows.until)
        j = int32(rows.top + j0)
        while j < until:  # see `fractals.kernels.escape.make_body`
            i = int32(i0)
            while i < columns:
                hits = int64(0)
                y, bottom = int32(max(0, j - reach)), int32(min(height, j + reach + 1))
                left, right = int32(max(0, i - reach)), int32(min(columns, i + reach + 1))
                while y < bottom:
                    x = left
                    while x < right:
                        hits += sums[index(y), index(x), 3] // weight
                        x = int32(x + 1)
                    y = int32(y + 1)
                if step % 2 == 0:  # one column and one row too many
                    hits = hits * step * step // ((step + 1) * (step + 1))
                low, high = 0, len(numbers)
                while low < high:
                    middle = (low + high) // 2
                    if numbers[index(middle)] <= hits:
                        low = middle + 1
                    else:
                        high = middle
                out[index(j), index(i)] = max(low - 1, 0)
                i = int32(i + di)
            j = int32(j + dj)

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
    int32, index = target.int32, target.index

    def body(i0, j0, di, dj, out, kinds, reaches, near):
        rows, columns = int32(kinds.shape[0]), int32(kinds.shape[1])
        down, across = int32(out.shape[0]), int32(out.shape[1])
        j = int32(j0)
        while j < down:
            i = int32(i0)
            while i < across:
                least = int32(len(reaches) - 1)  # the kind of least hits reaches farthest
                y, bottom = int32(max(0, (j - near) << 5)), int32(min(rows, (j + near + 1) << 5))
                left = int32(max(0, (i - near) << 5))
                right = int32(min(columns, (i + near + 1) << 5))
                while y < bottom:
                    x = left
                    while x < right:
                        least = min(least, kinds[index(y), index(x)])
                        x = int32(x + 1)
                    y = int32(y + 1)
                out[index(j), index(i)] = reaches[index(least)]
                i = int32(i + di)
            j = int32(j + dj)

    return body


@on_cpu("fractals.scatter.cpu_estimate:spreading")
def make_estimate_body(target):
    """Return ``body(i0, j0, di, dj, out, light, kinds, weights, reaches, far, rows)``.

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
    real, int32, index = target.real, target.int32, target.index

    def body(i0, j0, di, dj, out, light, kinds, weights, reaches, far, rows):
        height, columns, until = int32(light.shape[0]), int32(light.shape[1]), int32(rows.until)
        j = int32(rows.top + j0)
        while j < until:
            i = int32(i0)
            while i < columns:
                red, green, blue, density = real(0), real(0), real(0), real(0)
                reach = far[index(j >> 5), index(i >> 5)]
                y, bottom = int32(max(0, j - reach)), int32(min(height, j + reach + 1))
                left, right = int32(max(0, i - reach)), int32(min(columns, i + reach + 1))
                while y < bottom:
                    down, row, x = int32(y - j), index(y), left
                    while x < right:
                        across, column = int32(x - i), index(x)
                        kind = index(kinds[row, column])
                        if max(abs(across), abs(down)) <= reaches[kind]:
                            weight = weights[kind, index(across * across + down * down)]
                            red = fma(weight, light[row, column, 0], red)
                            green = fma(weight, light[row, column, 1], green)
                            blue = fma(weight, light[row, column, 2], blue)
                            density = fma(weight, light[row, column, 3], density)
                        x = int32(x + 1)
                    y = int32(y + 1)
                row, column = index(j), index(i)
                out[row, column, 0], out[row, column, 1] = red, green
                out[row, column, 2], out[row, column, 3] = blue, density
                i = int32(i + di)
            j = int32(j + dj)

    return body


def make_pixel_body(target):
    """Return ``body(i0, j0, di, dj, out, light, taps, step, first, down, tone, rows)``.

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
    real, real32, index = target.real, target.real32, target.index
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
        unit, size = one / real(WHITE), index(len(taps))
        height, width = index(rows.until), index(out.shape[1])
        j = index(rows.top + j0)
        while j < height:
            i = index(i0)
            while i < width:
                top, left = index((down + j) * step + first), index(i * step + first)
                red, green, blue, density = zero, zero, zero, zero
                y = index(0)
                while y < size:
                    x = index(0)
                    while x < size:
                        weight, row, column = taps[y] * taps[x], index(top + y), index(left + x)
                        red = fma(weight, light[row, column, 0], red)
                        green = fma(weight, light[row, column, 1], green)
                        blue = fma(weight, light[row, column, 2], blue)
                        density = fma(weight, light[row, column, 3], density)
                        x = index(x + 1)
                    y = index(y + 1)
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
                i = index(i + di)
            j = index(j + dj)

    return body
