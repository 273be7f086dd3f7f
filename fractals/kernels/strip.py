"""Frames from a strip: the exponential map about a point, kept as bands of texels.

A texel has a color in linear light, in uint16, and 0 to the right of the three channels where a
texel takes four. Level 0 of a strip has the finest texels; each level has half the columns and half
the rows of the level before, and its texels are means of 2 x 2 of them.
"""

import math
from typing import Any, NamedTuple

from fractals.kernels.elementary import angle_in_turns, make_log2
from fractals.kernels.primitives import fma, select, two_to

CHANNELS = 3  # of a texel
LEAST_WAY = 2.0**-16  # rows of a shutter: the mean of fewer is divided by too small a number
MIN_DISTANCE = 0.25  # in pixels, from the middle of a pixel to the strip's point
TOP, EMPTY = 65534, 65535  # largest code of a kept number, and that of none


class StripShape(NamedTuple):
    """The texels of a strip.

    Attributes
    ----------
    columns : int32
        Of level 0; one turn.
    row_bits : int32
        log2 of a band's rows in level 0; also the coarsest level, where a band has one row.
    bands : int32
        How many bands there are, from the outside in.
    rows_an_octave : real
        Rows of level 0 in which the radius halves.
    rim_level : float32
        Level that serves pixels at the rim, with a fraction.
    """

    columns: Any
    row_bits: Any
    bands: Any
    rows_an_octave: Any
    rim_level: Any


class StripTexels(NamedTuple):
    """Texels of levels of bands, in one array.

    Attributes
    ----------
    texels : array of uint16, shape (all, channels)
    starts : array of int64, shape (levels, bands)
        Index in `texels` of the first texel of each level of each band; those that a frame takes.
    """

    texels: Any
    starts: Any


def make_polar_body(target):
    """Return the body that fills ``turns`` and ``depths``: where the pixels of a frame lie.

    ``body(i0, j0, di, dj, turns, depths, place, log2_rim, rows_an_octave)``:

    turns : array of float32, shape (height, width)
        Angle about the strip's point, in turns from the first column.
    depths : array of float32, shape (height, width)
        Rows of level 0 from the rim of the frame.
    place : array of real, shape (2,)
        Column and row of the strip's point in the frame, in pixels.
    log2_rim : real
        log2 of the rim's radius in pixels.
    """
    real, real32 = target.real, target.real32
    angle, log2 = target.jit(angle_in_turns), target.jit(make_log2(target))
    zero, half, one = real(0), real(0.5), real(1)
    nearest = real(MIN_DISTANCE**2)

    def body(i0, j0, di, dj, turns, depths, place, log2_rim, rows_an_octave):
        j = j0
        while j < turns.shape[0]:
            i = i0
            while i < turns.shape[1]:
                x, y = real(i) + half - place[0], place[1] - real(j) - half
                turn = half - angle(x, y)
                turn = select(turn < zero, turn + one, turn)
                turn = real32(turn)
                turns[j, i] = select(turn < real32(1), turn, real32(0))
                square = fma(x, x, y * y)
                square = select(square > nearest, square, nearest)
                depth = fma(log2(square), -half, log2_rim) * rows_an_octave
                depths[j, i] = real32(select(depth > zero, depth, zero))
                i += di
            j += dj

    return body


def make_blur_body(target):
    """Return the body that fills ``texels`` with means along the way of a shutter.

    ``body(i0, j0, di, dj, texels, sharp, light, down, across)``:

    texels : array of uint16, shape (rows, columns * channels)
    sharp : array of uint16, shape (rows + more, (left + columns + right) * channels)
        Of a shutter of no time; with as many rows more as the ways lead down, and one, and with as
        many columns more at both sides as the ways lead aside, and one.
    light : array of float32, shape (n, columns * channels)
        Room for sums: of each row, or of one where a thread makes whole rows.
    down, across : array of float32, shape (rows,)
        Rows (0 or more) and columns that pass while the shutter is open.

    Along the way, texels are interpolated; the mean is that of the trapezoidal rule, with a step of
    at most one row and one column. Columns are the inner loop, which compiles to vectors.
    """
    real32, int32 = target.real32, target.int32
    zero, half, one = real32(0), real32(0.5), real32(1)
    next_column = int32(CHANNELS)

    def body(i0, j0, di, dj, texels, sharp, light, down, across):
        left = int32((sharp.shape[1] - texels.shape[1]) // (2 * CHANNELS))
        rows = light.shape[0]
        j = j0
        while j < texels.shape[0]:
            far, aside = down[j], across[j]
            wide = select(aside < zero, -aside, aside)
            steps = int32(select(far > wide, far, wide)) + int32(1)
            share = one / real32(steps)
            sums = j % rows
            i = i0
            while i < texels.shape[1]:
                light[sums, i] = zero
                i += di
            for k in range(steps + int32(1)):
                weight = select((k == int32(0)) | (k == steps), half, one) * share
                way = real32(k) * share
                f = way * far
                y = int32(f)
                f = f - real32(y)
                y = max(int32(int32(j) + y), int32(0))
                g = way * aside
                x = int32(g)
                x = select(real32(x) > g, int32(x - int32(1)), x)
                g = g - real32(x)
                x = max(int32((left + x) * next_column), int32(0))
                right = int32(x + next_column)
                i = i0
                while i < texels.shape[1]:
                    a, b = real32(sharp[y, x + i]), real32(sharp[y, right + i])
                    p, q = real32(sharp[y + 1, x + i]), real32(sharp[y + 1, right + i])
                    a, p = fma(g, b - a, a), fma(g, q - p, p)
                    light[sums, i] = fma(weight, fma(f, p - a, a), light[sums, i])
                    i += di
            i = i0
            while i < texels.shape[1]:
                texels[j, i] = int32(light[sums, i] + half)
                i += di
            j += dj

    return body


def make_sums_body(target):
    """Return the body that fills ``sums`` with the sums of the texels above, in each column.

    ``body(i0, j0, di, dj, sums, sharp)``; both have the shape (rows, columns * channels), and sums
    are int32, so there are at most 2**15 rows. A thread makes whole columns.
    """
    int32 = target.int32

    def body(i0, j0, di, dj, sums, sharp):
        i = i0
        while (i < sums.shape[1]) & (j0 == 0):
            sums[0, i] = int32(0)
            i += di
        j = 1
        while (j < sums.shape[0]) & (j0 == 0):
            i = i0
            while i < sums.shape[1]:
                sums[j, i] = int32(sums[j - 1, i] + int32(sharp[j - 1, i]))
                i += di
            j += 1

    return body


def make_smear_body(target):
    """Return the body that fills ``texels`` with means along columns: of a shutter, without a turn.

    ``body(i0, j0, di, dj, texels, sharp, sums, down)``; the arguments are as of `make_blur_body`
    and `make_sums_body`, but no columns are beside those of the texels. The mean is that of the
    line through the texels, from its integral.
    """
    real32, int32 = target.real32, target.int32
    half, one, least = real32(0.5), real32(1), real32(LEAST_WAY)

    def body(i0, j0, di, dj, texels, sharp, sums, down):
        j = j0
        while j < texels.shape[0]:
            far = select(down[j] > least, down[j], least)
            whole = int32(far)
            f = far - real32(whole)
            share, rest = one / far, half * f
            n = int32(int32(j) + whole)
            i = i0
            while i < texels.shape[1]:
                first, last, beyond = int32(sharp[j, i]), int32(sharp[n, i]), int32(sharp[n + 1, i])
                # Half of the first texel belongs to the way, and half of the last.
                total = real32(int32(sums[n, i] - sums[j, i]))
                light = fma(half, real32(int32(last - first)), total)
                more = fma(rest, real32(int32(beyond - last)), real32(last))
                texels[j, i] = int32(fma(fma(f, more, light), share, half))
                i += di
            j += dj

    return body


def make_coarser_body(target):
    """Return the body that fills ``coarse`` with means of 2 x 2 texels of ``fine``.

    ``body(i0, j0, di, dj, coarse, fine)``; both have the shape (rows, columns, channels).
    """
    int32 = target.int32
    two = int32(2)

    def body(i0, j0, di, dj, coarse, fine):
        j = j0
        while j < coarse.shape[0]:
            i = i0
            while i < coarse.shape[1]:
                y, x = 2 * j, 2 * i
                for c in range(3):
                    upper = int32(fine[y, x, c]) + int32(fine[y, x + 1, c])
                    lower = int32(fine[y + 1, x, c]) + int32(fine[y + 1, x + 1, c])
                    coarse[j, i, c] = (upper + lower + two) >> two
                i += di
            j += dj

    return body


def make_frame_body(target):
    """Return the body that fills ``rgb`` (uint16), the pixels of a frame, from a strip.

    ``body(i0, j0, di, dj, rgb, turns, depths, held, encode, shape, row, turn)``. A pixel
    takes eight texels: two rows and two columns of the two levels whose texels are nearest in size.

    turns, depths : array of float32, shape (height, width)
        As of `make_polar_body`.
    held : StripTexels
    encode : array of uint16, shape (65536,)
        sRGB values of linear light.
    shape : StripShape
    row : real
        Of level 0, at the rim of the frame.
    turn : float32
        From 0 to 1: how far the frame is turned.
    """
    real, real32, int32, int64 = target.real, target.real32, target.int32, target.int64
    half, half32, one = real(0.5), real32(0.5), real32(1)

    @target.jit
    def spot(level, row, turn, shape, starts):
        """Return the four texels about a place of a level, and the fractions between them."""
        bits = int32(shape.row_bits - level)
        columns = int32(shape.columns >> level)
        t = fma(row, two_to(-level, row), -half)
        upper = int64(t + real(1)) - int64(1)  # t is above -1
        f = real32(t - real(upper))
        last = (int64(shape.bands) << int64(bits)) - int64(1)
        lower = min(int64(upper + int64(1)), last)
        upper = max(min(upper, last), int64(0))
        mask = (int64(1) << int64(bits)) - int64(1)
        across = fma(turn, real32(columns), -half32)
        left = int32(across + one) - int32(1)
        g = across - real32(left)
        right = select(left + int32(1) < columns, int32(left + int32(1)), int32(0))
        left = select(left < int32(0), int32(columns - int32(1)), left)
        above = starts[level, upper >> int64(bits)] + int64(int32(upper & mask) * columns)
        below = starts[level, lower >> int64(bits)] + int64(int32(lower & mask) * columns)
        left, right = int64(left), int64(right)
        return above + left, above + right, below + left, below + right, f, g

    def body(i0, j0, di, dj, rgb, turns, depths, held, encode, shape, row, turn):
        texels, starts = held
        octaves_a_row = real32(1) / real32(shape.rows_an_octave)
        coarsest = int32(shape.row_bits - int32(1))
        j = j0
        while j < rgb.shape[0]:
            i = i0
            while i < rgb.shape[1]:
                depth = depths[j, i]
                size = fma(depth, octaves_a_row, shape.rim_level)
                level = min(int32(size), coarsest)
                mix = size - real32(level)
                mix = select(mix < one, mix, one)
                aside = turns[j, i] + turn
                aside = select(aside < one, aside, aside - one)
                at = row + real(depth)
                a, b, c, d, f, g = spot(level, at, aside, shape, starts)
                m, n, p, q, v, w = spot(int32(level + int32(1)), at, aside, shape, starts)
                rest = one - mix
                upper, lower = (one - f) * rest, f * rest
                wa, wb, wc, wd = upper * (one - g), upper * g, lower * (one - g), lower * g
                upper, lower = (one - v) * mix, v * mix
                wm, wn, wp, wq = upper * (one - w), upper * w, lower * (one - w), lower * w
                for k in range(3):
                    light = fma(wa, real32(texels[a, k]), half32)
                    light = fma(wb, real32(texels[b, k]), light)
                    light = fma(wc, real32(texels[c, k]), light)
                    light = fma(wd, real32(texels[d, k]), light)
                    light = fma(wm, real32(texels[m, k]), light)
                    light = fma(wn, real32(texels[n, k]), light)
                    light = fma(wp, real32(texels[p, k]), light)
                    light = fma(wq, real32(texels[q, k]), light)
                    rgb[j, i, k] = encode[int32(light)]
                i += di
            j += dj

    return body


def make_number_body(target):
    """Return the body that fills ``values`` (real) with kept numbers.

    ``body(i0, j0, di, dj, values, codes, scales, bits)``:

    codes : array of uint16, shape (rows, columns)
        EMPTY becomes NaN.
    scales : array of real, shape (rows, blocks, 2)
        Least number and span of a block of codes.
    bits : int32
        log2 of the codes of a block.
    """
    real, int32 = target.real, target.int32
    unit, nan, empty = real(1 / TOP), real(math.nan), int32(EMPTY)

    def body(i0, j0, di, dj, values, codes, scales, bits):
        j = j0
        while j < values.shape[0]:
            i = i0
            while i < values.shape[1]:
                code, block = int32(codes[j, i]), int32(i) >> bits
                t = real(code) * unit
                t = t * t
                v = fma(t * t, scales[j, block, 1], scales[j, block, 0])
                values[j, i] = select(code == empty, nan, v)
                i += di
            j += dj

    return body
