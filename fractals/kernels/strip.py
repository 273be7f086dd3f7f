"""Frames from a strip: the exponential map about a point, kept as bands of texels.

A texel has three channels of linear light in uint16. Level 0 of a strip has the finest texels; each
level has half the columns and half the rows of the level before, and its texels are means of 2 x 2
of them.
"""

import math
from typing import Any, NamedTuple

from fractals.kernels import on_cpu
from fractals.kernels.elementary import angle_in_turns, make_log2
from fractals.kernels.primitives import fma, select, sqrt, two_to

CHANNELS = 3  # of a texel
SPARE = 2  # texels after the last one
LEAST_WAY = 2.0**-16  # rows of a shutter: the mean of fewer is divided by too small a number
MIN_DISTANCE = 0.25  # in pixels, from the middle of a pixel to the strip's point
AXIS = 127  # stored for a direction along a side of the pixel
WEIGHT = 2047  # of a texel that lies in the pixel: 16 of them times 65535 fit into int32
# The side that a pixel is given, by the fraction x of its level, where 1 is its own side at x = 0:
# a + x (b + x (c + x d)), about 2**x (0.87 + 0.26 x). With 2**x, means of many small texels would
# be sharper than those of few large ones, and rings would show where the next level begins.
SIDES = 0.86953, 0.87219, 0.34942, 0.16834
# Where texels are large. The corner where four of them meet is 0.71 from their middles.
LEAST_EDGE = 0.85
MAX_TEXELS = 2**32  # of a frame on a GPU, whose programs index arrays by 32 bits
TOP, EMPTY = 65534, 65535  # largest code of a kept number, and the code of a missing number


class StripShape(NamedTuple):
    """The texels of a strip."""

    columns: Any  # of level 0; one turn; int32
    # log2 of a band's rows in level 0; also the coarsest level, where a band has one row; int32
    row_bits: Any
    bands: Any  # how many bands there are, from the outside in; int32
    rows_an_octave: Any  # rows of level 0 in which the radius halves
    rim_level: Any  # level that serves pixels at the rim, with a fraction; float32
    # Half the side of a pixel whose level has no fraction, in texels of the level; float32
    half_pixel: Any


class StripTexels(NamedTuple):
    """Texels of levels of bands, in one array."""

    # array of uint16, shape (all + SPARE, channels): What follows the last texel is not looked at,
    # but vectors read it.
    texels: Any
    # array of int64, shape (levels, bands): Index in `texels` of the first texel of each level of
    # each band; those that a frame takes.
    starts: Any


def make_polar_body(target):
    """Return the body that fills ``turns``, ``depths`` and ``axes``: where a frame's pixels lie.

    ``body(i0, j0, di, dj, turns, depths, axes, place, log2_rim, rows_an_octave)``:

    turns : array of float32, shape (height, width)
        Angle about the strip's point, in turns from the first column.
    depths : array of float32, shape (height, width)
        Rows of level 0 from the rim of the frame.
    axes : array of int8, shape (height, width, 2)
        The direction from the strip's point to the pixel, to the right and up, times AXIS.
    place : array of real, shape (2,)
        Column and row of the strip's point in the frame, in pixels.
    log2_rim : real
        log2 of the rim's radius in pixels.
    """
    real, real32, int32, index = target.real, target.real32, target.int32, target.index
    angle, log2 = target.jit(angle_in_turns), target.jit(make_log2(target))
    zero, half, one = real(0), real(0.5), real(1)
    nearest = real(MIN_DISTANCE**2)

    def body(i0, j0, di, dj, turns, depths, axes, place, log2_rim, rows_an_octave):
        height, width = index(turns.shape[0]), index(turns.shape[1])
        j = index(j0)
        while j < height:  # see `fractals.kernels.escape.make_body`
            i = index(i0)
            while i < width:
                x, y = real(i) + half - place[0], place[1] - real(j) - half
                turn = half - angle(x, y)
                turn = select(turn < zero, turn + one, turn)
                turn = real32(turn)
                turns[j, i] = select(turn < real32(1), turn, real32(0))
                square = fma(x, x, y * y)
                square = select(square > nearest, square, nearest)
                depth = fma(log2(square), -half, log2_rim) * rows_an_octave
                depths[j, i] = real32(select(depth > zero, depth, zero))
                far = sqrt(fma(x, x, y * y))
                far = real(AXIS) / select(far > zero, far, one)
                axes[j, i, 0] = int32(fma(x, far, real(AXIS) + half)) - int32(AXIS)
                axes[j, i, 1] = int32(fma(y, far, real(AXIS) + half)) - int32(AXIS)
                i = index(i + di)
            j = index(j + dj)

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
    real32, int32, index = target.real32, target.int32, target.index
    zero, half, one = real32(0), real32(0.5), real32(1)
    next_column = int32(CHANNELS)

    def body(i0, j0, di, dj, texels, sharp, light, down, across):
        left = int32((sharp.shape[1] - texels.shape[1]) // (2 * CHANNELS))
        height, width = index(texels.shape[0]), index(texels.shape[1])
        rows = index(light.shape[0])
        j = index(j0)
        while j < height:  # see `fractals.kernels.escape.make_body`
            far, aside = down[j], across[j]
            wide = select(aside < zero, -aside, aside)
            steps = int32(select(far > wide, far, wide)) + int32(1)
            share = one / real32(steps)
            sums = index(j % rows)
            i = index(i0)
            while i < width:
                light[sums, i] = zero
                i = index(i + di)
            k = int32(0)
            while k <= steps:
                weight = select((k == int32(0)) | (k == steps), half, one) * share
                way = real32(k) * share
                f = way * far
                y = int32(f)
                f = f - real32(y)
                upper = index(max(int32(int32(j) + y), int32(0)))
                lower = index(upper + 1)
                g = way * aside
                x = int32(g)
                x = select(real32(x) > g, int32(x - int32(1)), x)
                g = g - real32(x)
                first = index(max(int32((left + x) * next_column), int32(0)))
                second = index(first + next_column)
                i = index(i0)
                while i < width:
                    m, n = index(first + i), index(second + i)
                    a, b = real32(sharp[upper, m]), real32(sharp[upper, n])
                    p, q = real32(sharp[lower, m]), real32(sharp[lower, n])
                    a, p = fma(g, b - a, a), fma(g, q - p, p)
                    light[sums, i] = fma(weight, fma(f, p - a, a), light[sums, i])
                    i = index(i + di)
                k = int32(k + 1)
            i = index(i0)
            while i < width:
                texels[j, i] = int32(light[sums, i] + half)
                i = index(i + di)
            j = index(j + dj)

    return body


def make_sums_body(target):
    """Return the body that fills ``sums`` with the sums of the texels above, in each column.

    ``body(i0, j0, di, dj, sums, sharp)``; both have the shape (rows, columns * channels), and sums
    are int32, so there are at most 2**15 rows. A thread makes whole columns.
    """
    int32, index = target.int32, target.index

    def body(i0, j0, di, dj, sums, sharp):
        height, width = index(sums.shape[0]), index(sums.shape[1])
        i = index(i0)
        while (i < width) & (j0 == 0):
            sums[0, i] = int32(0)
            i = index(i + di)
        above, j = index(0), index(1)
        while (j < height) & (j0 == 0):
            i = index(i0)
            while i < width:
                sums[j, i] = int32(sums[above, i] + int32(sharp[above, i]))
                i = index(i + di)
            above, j = j, index(j + 1)

    return body


def make_smear_body(target):
    """Return the body that fills ``texels`` with means along columns: of a shutter, without a turn.

    ``body(i0, j0, di, dj, texels, sharp, sums, down)``; the arguments are as of `make_blur_body`
    and `make_sums_body`, but no columns are beside those of the texels. The mean is that of the
    line through the texels, from its integral.
    """
    real32, int32, index = target.real32, target.int32, target.index
    half, one, least = real32(0.5), real32(1), real32(LEAST_WAY)

    def body(i0, j0, di, dj, texels, sharp, sums, down):
        height, width = index(texels.shape[0]), index(texels.shape[1])
        j = index(j0)
        while j < height:  # see `fractals.kernels.escape.make_body`
            far = select(down[j] > least, down[j], least)
            whole = int32(far)
            f = far - real32(whole)
            share, rest = one / far, half * f
            n = index(j + whole)
            after = index(n + 1)
            i = index(i0)
            while i < width:
                first, last, beyond = int32(sharp[j, i]), int32(sharp[n, i]), int32(sharp[after, i])
                # Half of the first texel belongs to the way, and half of the last.
                total = real32(int32(sums[n, i] - sums[j, i]))
                light = fma(half, real32(int32(last - first)), total)
                more = fma(rest, real32(int32(beyond - last)), real32(last))
                texels[j, i] = int32(fma(fma(f, more, light), share, half))
                i = index(i + di)
            j = index(j + dj)

    return body


def make_coarser_body(target):
    """Return the body that fills ``coarse`` with means of 2 x 2 texels of ``fine``.

    ``body(i0, j0, di, dj, coarse, fine)``; both have the shape (rows, columns, channels).
    """
    int32, index = target.int32, target.index
    two = int32(2)

    def body(i0, j0, di, dj, coarse, fine):
        height, width = index(coarse.shape[0]), index(coarse.shape[1])
        j = index(j0)
        while j < height:  # see `fractals.kernels.escape.make_body`
            i = index(i0)
            while i < width:
                y, x = index(2 * j), index(2 * i)
                below, right = index(y + 1), index(x + 1)
                for c in range(3):
                    upper = int32(fine[y, x, c]) + int32(fine[y, right, c])
                    lower = int32(fine[below, x, c]) + int32(fine[below, right, c])
                    coarse[j, i, c] = (upper + lower + two) >> two
                i = index(i + di)
            j = index(j + dj)

    return body


class FramePlace(NamedTuple):
    """Where a frame lies in a strip."""

    row: Any  # of level 0, at the rim of the frame
    turn: Any  # from 0 to 1: how far the frame is turned; float32


class TexelPlace(NamedTuple):
    """Where the first of 4 x 4 texels lies: its level, row from the first band on, and column.

    The row may be above the strip or below it, and the column less than 0.
    """

    level: Any
    row: Any
    column: Any


def make_place(target):
    """Return ``place(depth, angle, x, y, shape, frame)``, where the texels of a pixel lie.

    depth, angle : float32
        Rows of level 0 from the rim of the frame; turns from the first column.
    x, y : float32
        The direction from the strip's point to the pixel, so the way to the next column along the
        pixel's sides; (y, -x) is that to the next row.
    shape : StripShape
    frame : FramePlace

    It returns a `TexelPlace` and three float32, in texels: the middle of the first texel, from
    that of the pixel, along the pixel's sides; and the sum of half a side of the pixel and half a
    texel, at least LEAST_EDGE, so that weights are never all 0.
    """
    real, real32, int32, int64 = target.real, target.real32, target.int32, target.int64
    half, half32, one, two = real(0.5), real32(0.5), real32(1), real32(2)
    least, first, second, third = (real32(number) for number in SIDES)
    least_edge = real32(LEAST_EDGE)

    @target.jit
    def place(depth, angle, x, y, shape, frame):
        size = fma(depth, one / real32(shape.rows_an_octave), shape.rim_level)
        level = min(int32(size), int32(shape.row_bits))
        mix = size - real32(level)
        mix = select(mix < one, mix, one)
        side = fma(mix, fma(mix, fma(mix, third, second), first), least)
        edge = fma(side, shape.half_pixel, half32)
        edge = select(edge > least_edge, edge, least_edge)
        down = fma(frame.row + real(depth), two_to(-level, frame.row), -half)
        upper = int64(down + real(2)) - int64(3)  # the number is above -1
        f = real32(down - real(upper))
        aside = angle + frame.turn
        aside = select(aside < one, aside, aside - one)
        across = fma(aside, real32(int32(shape.columns >> level)), -half32)
        left = int32(int32(across + two) - int32(3))
        g = across - real32(left)
        u, v = -fma(g, x, f * y), fma(f, x, -(g * y))
        return TexelPlace(level, upper, left), u, v, edge

    return place


def make_indices(target):
    """Return ``indices(starts, shape, place)``, the indices of 4 x 4 texels.

    `starts` is that of `StripTexels`. Two tuples of four int64 are returned: the index of each
    row's first texel, and where the texels of a row are, from its first one on. Columns go on
    beyond the last one with the first. Rows beyond the strip are as its last ones.
    """
    int32, int64 = target.int32, target.int64
    none, one = int64(0), int64(1)

    @target.jit
    def begin(starts, shape, place, k):
        bits = int64(shape.row_bits - place.level)
        row = min(place.row + int64(k), (int64(shape.bands) << bits) - one)
        row = max(row, none)
        inside = int32(row & ((one << bits) - one))
        columns = int32(shape.columns >> place.level)
        return starts[place.level, row >> bits] + int64(inside * columns)

    @target.jit
    def around(shape, place, k):
        columns, column = int32(shape.columns >> place.level), int32(place.column + int32(k))
        column = select(column < int32(0), int32(column + columns), column)
        return int64(select(column < columns, column, int32(column - columns)))

    @target.jit
    def indices(starts, shape, place):
        a, b = around(shape, place, 0), around(shape, place, 1)
        c, d = around(shape, place, 2), around(shape, place, 3)
        p, q = begin(starts, shape, place, 0), begin(starts, shape, place, 1)
        r, s = begin(starts, shape, place, 2), begin(starts, shape, place, 3)
        return (p + a, q + a, r + a, s + a), (none, b - a, c - a, d - a)

    return indices


@on_cpu("fractals.films.cpu_frame:by_texels")
def make_frame_body(target):
    """Return the body that fills ``rgb`` (uint16), the pixels of a frame, from a strip.

    ``body(i0, j0, di, dj, rgb, turns, depths, axes, held, encode, shape, frame)``. A pixel is the
    mean of 4 x 4 texels of one level, weighted by the area that they share with it: so it is
    the mean that many samples of a pixel have, where details are as small as texels, too.

    turns, depths, axes : array, shape (height, width) and (height, width, 2)
        Where the pixels lie: what `make_polar_body` fills.
    held : StripTexels
    encode : array of uint16, shape (65536,)
        sRGB values of linear light.
    shape : StripShape
    frame : FramePlace

    Sums are of int32, so their order changes nothing.
    """
    real32, int32, index = target.real32, target.int32, target.index
    half, zero, one, scale = real32(0.5), real32(0), real32(1), real32(WEIGHT)
    unit = real32(1 / AXIS)
    locate, indices = make_place(target), make_indices(target)

    @target.jit
    def weight(u, v, edge):
        u, v = edge - abs(u), edge - abs(v)
        u, v = select(u > zero, u, zero), select(v > zero, v, zero)
        u, v = select(u < one, u, one), select(v < one, v, one)
        return int32(u * v * scale)

    def body(i0, j0, di, dj, rgb, turns, depths, axes, held, encode, shape, frame):
        texels, starts = held
        height, width = index(rgb.shape[0]), index(rgb.shape[1])
        j = index(j0)
        while j < height:  # see `fractals.kernels.escape.make_body`
            i = index(i0)
            while i < width:
                x, y = unit * real32(axes[j, i, 0]), unit * real32(axes[j, i, 1])
                place, u, v, edge = locate(depths[j, i], turns[j, i], x, y, shape, frame)
                rows, beside = indices(starts, shape, place)
                red, green, blue, total = int32(0), int32(0), int32(0), int32(0)
                for m in range(4):
                    p, q = fma(real32(m), y, u), fma(real32(m), -x, v)
                    for n in range(4):
                        at = index(rows[m] + beside[n])
                        share = weight(fma(real32(n), x, p), fma(real32(n), y, q), edge)
                        red = int32(red + int32(texels[at, 0]) * share)
                        green = int32(green + int32(texels[at, 1]) * share)
                        blue = int32(blue + int32(texels[at, 2]) * share)
                        total = int32(total + share)
                share = one / real32(total)
                rgb[j, i, 0] = encode[index(int32(fma(real32(red), share, half)))]
                rgb[j, i, 1] = encode[index(int32(fma(real32(green), share, half)))]
                rgb[j, i, 2] = encode[index(int32(fma(real32(blue), share, half)))]
                i = index(i + di)
            j = index(j + dj)

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
    real, int32, index = target.real, target.int32, target.index
    unit, nan, empty = real(1 / TOP), real(math.nan), int32(EMPTY)

    def body(i0, j0, di, dj, values, codes, scales, bits):
        height, width = index(values.shape[0]), index(values.shape[1])
        j = index(j0)
        while j < height:  # see `fractals.kernels.escape.make_body`
            i = index(i0)
            while i < width:
                code, block = int32(codes[j, i]), index(int32(i) >> bits)
                t = real(code) * unit
                t = t * t
                v = fma(t * t, scales[j, block, 1], scales[j, block, 0])
                values[j, i] = select(code == empty, nan, v)
                i = index(i + di)
            j = index(j + dj)

    return body
