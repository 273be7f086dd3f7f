"""Escape data -> positions in the palette -> colors, averaged over a pixel's samples, in sRGB.

Two programs: the first is arithmetic without a branch (`select` in place of ``if``), which
compilers turn into vectors; the second is look-ups, which they do not.
"""

import math
from dataclasses import dataclass

from fractals.kernels import on_cpu
from fractals.kernels.coloring import Coloring, make_cbrt
from fractals.kernels.elementary import angle_in_turns, make_log2
from fractals.kernels.orbit import make_planes
from fractals.kernels.primitives import fma, select, sqrt
from fractals.kernels.ranks import make_rank

# Pixels as weighted means of jittered samples, and derivatives along a turned picture.


def make_turned_body(target, projected):
    """Return the body that fills ``dx2 + i dy2``: dz along the picture's axes.

    dz of the picture gives |z| the gradient that it has along the picture. So a light comes from
    the picture's left, and a distance is one in the picture, however the view is turned and
    stretched. ``body(i0, j0, di, dj, dx2, dy2, x, y, dx, dy, matrix, arms)``:

    x, y, dx, dy : array of real
        Of an `EscapeTile`.
    matrix : array of real, shape (4,)
        `fractals.scene.geometry.matrix`: from steps in the picture to steps in the plane.
    arms : array of real, shape (2, samples)
        With `projected`, an exponential map, the samples' offsets from the center. Lengths are
        then in widths of the picture.
    """
    real, index = target.real, target.index
    zero, one, infinity = real(0), real(1), real(float("inf"))
    two_pi = real(6.283185307179586)

    if projected:

        def along(g, h, arms, k):
            """Return the gradient times the conjugate of a picture's step in the plane."""
            x, y = arms[0, k] * two_pi, arms[1, k] * two_pi
            return fma(g, y, -(h * x)), fma(g, x, h * y)

    else:

        def along(g, h, arms, k):
            return g, h

    along = target.jit(along)

    def body(i0, j0, di, dj, dx2, dy2, x, y, dx, dy, matrix, arms):
        height, width = index(dx2.shape[0]), index(dx2.shape[1])
        j = index(j0)
        while j < height:
            i = index(i0)
            while i < width:
                m = fma(x[j, i], x[j, i], y[j, i] * y[j, i])
                known = (m > zero) & (m < infinity)
                size = sqrt(select(known, m, one))
                u, v = select(known, x[j, i], one) / size, select(known, y[j, i], zero) / size
                g, h = fma(u, dx[j, i], v * dy[j, i]), fma(v, dx[j, i], -(u * dy[j, i]))
                g, h = fma(matrix[0], g, matrix[2] * h), fma(matrix[1], g, matrix[3] * h)
                g, h = along(g, h, arms, index(j * width + i))
                dx2[j, i], dy2[j, i] = fma(g, u, h * v), fma(g, v, -(h * u))
                i = index(i + di)
            j = index(j + dj)

    return body


def make_decode_body(target):
    """Return the body that converts ``colors`` from sRGB to linear light.

    ``body(i0, j0, di, dj, colors, decode)``; colors has the shape (height, width, 3), and
    ``decode`` is that of `fractals.kernels.blend.make_mean_body`.
    """
    real32, int32, index = target.real32, target.int32, target.index

    def body(i0, j0, di, dj, colors, decode):
        last = int32(decode.shape[0] - 2)
        scale = real32(decode.shape[0] - 1)
        height, width = index(colors.shape[0]), index(colors.shape[1])
        j = index(j0)
        while j < height:
            i = index(i0)
            while i < width:
                for c in range(3):
                    t = colors[j, i, c] * scale
                    k = min(int32(t), last)
                    here, there = decode[index(k)], decode[index(k + 1)]
                    colors[j, i, c] = fma(t - real32(k), there - here, here)
                i = index(i + di)
            j = index(j + dj)

    return body


def make_filter_body(target, period):
    """Return the body that fills the pixels ``rgb`` from jittered samples.

    A pixel is the weighted mean of the samples less than a pixel's width from its middle, across
    and down; the weight falls linearly to 0 (a tent filter). `period`, a power of two, is the size
    of the square of jitter that repeats.

    The arguments of ``body``, besides the strides:

    rgb : array of uint8 or uint16, shape (height, width, 3)
    colors : array of float32, shape (rows, columns, 3)
        Samples in linear light: those of the tile, and of the pixels around it.
    shifts : array of float32, shape (2, period, period)
        How far each sample lies from the middle of its cell, across and down, in cells.
    encode : array of the type of `rgb`
        sRGB values for evenly spaced linear light from 0 to 1.
    window : FilterWindow
    """
    real32, int32, index = target.real32, target.int32, target.index
    zero, half, one = real32(0), real32(0.5), real32(1)
    most = int32(period - 1)

    def body(i0, j0, di, dj, rgb, colors, shifts, encode, window):
        n, first_x, first_y, left, top = window
        brightest, side = real32(encode.shape[0] - 1), real32(n)
        reach = int32((n + int32(1)) // int32(2))
        height, width = index(rgb.shape[0]), index(rgb.shape[1])
        j = index(j0)
        while j < height:
            i = index(i0)
            while i < width:
                begin_x, begin_y = int32(first_x + i * n), int32(first_y + j * n)
                red, green, blue, total = zero, zero, zero, zero
                middle = side * half
                v, first = index(max(begin_y - reach, 0)), index(max(begin_x - reach, 0))
                bottom = index(min(begin_y + n + reach, colors.shape[0]))
                right = index(min(begin_x + n + reach, colors.shape[1]))
                while v < bottom:
                    u = first
                    while u < right:
                        s, t = index((u + left) & most), index((v + top) & most)
                        across = real32(int32(u - begin_x)) + half + shifts[0, t, s] - middle
                        down = real32(int32(v - begin_y)) + half + shifts[1, t, s] - middle
                        across, down = one - abs(across) / side, one - abs(down) / side
                        weight = select(across > zero, across, zero)
                        weight = weight * select(down > zero, down, zero)
                        red = fma(weight, colors[v, u, 0], red)
                        green = fma(weight, colors[v, u, 1], green)
                        blue = fma(weight, colors[v, u, 2], blue)
                        total += weight
                        u = index(u + 1)
                    v = index(v + 1)
                red, green, blue = red / total, green / total, blue / total
                red, green = select(red < one, red, one), select(green < one, green, one)
                blue = select(blue < one, blue, one)
                rgb[j, i, 0] = encode[index(int32(fma(red, brightest, half)))]
                rgb[j, i, 1] = encode[index(int32(fma(green, brightest, half)))]
                rgb[j, i, 2] = encode[index(int32(fma(blue, brightest, half)))]
                i = index(i + di)
            j = index(j + dj)

    return body


# Turns of the palette. Positions beyond it, infinities and NaN are drawn at the palette's start,
# because whole turns are taken off as an int64, which holds no infinity.
MAX_TURNS = 1e9
INSIDE = -1.0  # position of samples without a value; any number below 0 serves


@dataclass(frozen=True)
class ValueOptions:
    """What a program is compiled for that computes a coloring's values."""

    coloring: Coloring  # as `Coloring.for_coloring` returns it
    side: str = "escaped"  # the samples that have a value: "escaped", "inside" or "both"
    planes: int = 0  # how many numbers the coloring's orbit statistic has


@dataclass(frozen=True)
class PlaceOptions:
    """What a program is compiled for that places values in a palette."""

    transfer: str = "log"  # the curve between value and palette, see `Coloring.transfer`
    cyclic: bool = True  # whether the palette repeats; otherwise positions end at its ends
    ranged: bool = False  # whether only values from ``lowest`` to ``highest`` are drawn


def make_transfer(target, transfer):
    """Return ``curve(v)``: the curve between a coloring's value and the palette."""
    if transfer == "cbrt":
        return make_cbrt(target)
    real, log2, angle = target.real, make_log2(target), target.jit(angle_in_turns)
    zero, one = real(0), real(1)

    if transfer == "linear":

        def curve(v):
            return v

    elif transfer == "atan":  # in right angles

        def curve(v):
            return angle(one, select(v > zero, v, zero)) * real(4)

    elif transfer == "sqrt":

        def curve(v):
            return real(math.sqrt(select(v > zero, v, zero)))

    else:
        # Mirrored below 0, where the few values lie that are less than a picture's count offset.
        def curve(v):
            t = log2(one + abs(v))
            return select(v < zero, -t, t)

    return target.jit(curve)


def make_sample_value(target, options):
    """Return ``sample(...)``: a sample's value, and whether it escaped.

    The arguments are the arrays of an `EscapeTile`, the sample's row j and column i, and of
    `ColoringInputs` the first four. The arrays come one by one, because taking them out of a tuple
    in a loop keeps the loop from becoming vectors.
    """
    real, planes = target.real, options.planes
    value = target.jit(options.coloring.make_value(target))
    derivative, counted = options.coloring.derivative, options.coloring.counted
    zero, one, two = real(0), real(1), real(2)
    infinity = real(math.inf)
    load, _ = make_planes(target, 0, planes)

    if planes:

        def valued(n, z, dz, statistics, first, j, i, constants):
            w = load(statistics, first, j, i)
            return value(n, z[0], z[1], dz[0], dz[1], w, constants)

    else:

        def valued(n, z, dz, statistics, first, j, i, constants):
            return value(n, z[0], z[1], dz[0], dz[1], constants)

    valued = target.jit(valued)

    def sample(count, x, y, dx, dy, statistics, j, i, first, constants, max_iterations, offset):
        n = count[j, i]
        escaped = n < max_iterations
        m = fma(x[j, i], x[j, i], y[j, i] * y[j, i])
        known = escaped & (m < infinity)  # others get 2, whose logarithm's logarithm is finite
        z = select(known, x[j, i], two), select(known, y[j, i], zero)
        dz = (dx[j, i], dy[j, i]) if derivative else (one, zero)
        v = valued(n, z, dz, statistics, first, j, i, constants)
        # Only here, where the offset may be other than 0: a compiler might contract the difference
        # with a product at the end of a coloring.
        if counted:
            v -= offset
        return v, escaped

    return target.jit(sample)


def make_shown(target, options):
    """Return ``shown(v, escaped)``: whether a sample with the value v is drawn."""
    if options.side == "inside":

        def shown(v, escaped):
            return (not escaped) & (v == v)

    elif options.side == "escaped" and options.coloring.side == "both":

        def shown(v, escaped):
            return escaped & (v == v)

    elif options.side == "escaped":  # other colorings have a value wherever orbits escape

        def shown(v, escaped):
            return escaped

    else:

        def shown(v, escaped):
            return v == v

    return target.jit(shown)


def make_value_body(target, options):
    """Return the body that fills ``values`` (real) with the samples' values.

    ``body(i0, j0, di, dj, values, tile, inputs)`` takes an `EscapeTile` and `ColoringInputs`.
    Samples without a value get NaN.
    """
    sample, nan = make_sample_value(target, options), target.real(math.nan)
    shown, index = make_shown(target, options), target.index

    def body(i0, j0, di, dj, values, tile, inputs):
        count, x, y, dx, dy, statistics = tile
        first, constants, max_iterations, offset, _, _ = inputs
        height, width = index(values.shape[0]), index(values.shape[1])
        j = index(j0)
        while j < height:
            i = index(i0)
            while i < width:
                v, escaped = sample(
                    count, x, y, dx, dy, statistics, j, i, first, constants, max_iterations, offset
                )
                values[j, i] = select(shown(v, escaped), v, nan)
                i = index(i + di)
            j = index(j + dj)

    return body


def make_placed(target, options):
    """Return ``placed(v, drawn, constants, lowest, highest)``: a value's place in the palette.

    The place is from 0 to 1 in float32, or INSIDE where nothing is drawn. ``constants`` and the
    range are those of `ColoringInputs`.
    """
    real, real32, int64 = target.real, target.real32, target.int64
    curve, cyclic, ranged = make_transfer(target, options.transfer), options.cyclic, options.ranged
    zero, one, most = real(0), real(1), real(MAX_TURNS)
    inside = real32(INSIDE)

    def placed(v, drawn, constants, lowest, highest):
        if ranged:
            drawn = drawn & (v >= lowest) & (v <= highest)
        t = fma(constants[0], curve(v), constants[1])
        t = select(abs(t) < most, t, zero)
        if cyclic:
            t = t - real(int64(t))
            t = select(t < zero, t + one, t)
        else:
            t = select(t > zero, select(t < one, t, one), zero)
        return select(drawn, real32(t), inside)

    return target.jit(placed)


@on_cpu("fractals.backends.cpu.fast:placing")
def make_position_body(target, value_options, place_options):
    """Return the body that fills ``position`` (float32) with places in the palette.

    ``body(i0, j0, di, dj, position, tile, inputs)`` takes an `EscapeTile` and `ColoringInputs`.
    """
    sample = make_sample_value(target, value_options)
    placed, index = make_placed(target, place_options), target.index
    shown = make_shown(target, value_options)

    def body(i0, j0, di, dj, position, tile, inputs):
        count, x, y, dx, dy, statistics = tile
        first, constants, max_iterations, offset, lowest, highest = inputs
        height, width = index(position.shape[0]), index(position.shape[1])
        j = index(j0)
        while j < height:  # see `fractals.kernels.escape.make_body`
            i = index(i0)
            while i < width:
                v, escaped = sample(
                    count, x, y, dx, dy, statistics, j, i, first, constants, max_iterations, offset
                )
                position[j, i] = placed(v, shown(v, escaped), constants, lowest, highest)
                i = index(i + di)
            j = index(j + dj)

    return body


def make_ranked_body(target, options):
    """Return the body that fills ``position`` (float32) by the rank of ``values``.

    ``body(i0, j0, di, dj, position, values, table, inputs)`` takes what `make_value_body` filled,
    a table of `fractals.kernels.coloring`, and `ColoringInputs`. The program is apart from the
    one that computes values, because a look-up keeps a loop from becoming vectors.
    """
    placed, rank, index = make_placed(target, options), make_rank(target), target.index

    def body(i0, j0, di, dj, position, values, table, inputs):
        _, constants, _, _, lowest, highest = inputs
        height, width = index(position.shape[0]), index(position.shape[1])
        j = index(j0)
        while j < height:
            i = index(i0)
            while i < width:
                v = values[j, i]
                position[j, i] = placed(rank(v, table), v == v, constants, lowest, highest)
                i = index(i + di)
            j = index(j + dj)

    return body


def make_valued_body(target, options):
    """Return the body that fills ``position`` (float32) from ``values``; NaN is not drawn.

    ``body(i0, j0, di, dj, position, values, inputs)`` takes numbers such as `make_value_body`
    fills, and `ColoringInputs`.
    """
    placed, index = make_placed(target, options), target.index

    def body(i0, j0, di, dj, position, values, inputs):
        _, constants, _, _, lowest, highest = inputs
        height, width = index(position.shape[0]), index(position.shape[1])
        j = index(j0)
        while j < height:
            i = index(i0)
            while i < width:
                v = values[j, i]
                position[j, i] = placed(v, v == v, constants, lowest, highest)
                i = index(i + di)
            j = index(j + dj)

    return body


@on_cpu("fractals.backends.cpu.fast:painting")
def make_body(target):
    """Return the body that fills the pixels ``rgb`` from positions.

    The arguments of ``body``, besides the strides:

    rgb : array of uint8 or uint16, shape (height, width, 3)
    position : array of float32, shape (height * supersampling, width * supersampling)
    lookup : array of float32, shape (entries + 2, 3)
        The palette in linear light. The last row but one closes the cycle; the last is the inside
        color.
    encode : array of the type of `rgb`
        sRGB values for evenly spaced linear light from 0 to 1.
    supersampling : int32
        Samples a pixel, a side.
    share : float32
        1 / supersampling².
    """
    real32, int32, index = target.real32, target.int32, target.index
    zero, half = real32(0), real32(0.5)

    def body(i0, j0, di, dj, rgb, position, lookup, encode, supersampling, share):
        entries = int32(lookup.shape[0] - 2)
        scale = real32(entries)
        brightest = real32(encode.shape[0] - 1)
        height, width = index(rgb.shape[0]), index(rgb.shape[1])
        inside = index(entries + 1)
        j = index(j0)
        while j < height:
            i = index(i0)
            while i < width:
                red, green, blue = zero, zero, zero
                for v in range(supersampling):
                    for u in range(supersampling):
                        t = position[index(j * supersampling + v), index(i * supersampling + u)]
                        if t < zero:
                            red += lookup[inside, 0]
                            green += lookup[inside, 1]
                            blue += lookup[inside, 2]
                        else:
                            k = min(int32(t * scale), int32(entries - int32(1)))
                            f, here, there = fma(t, scale, -real32(k)), index(k), index(k + 1)
                            red += fma(f, lookup[there, 0] - lookup[here, 0], lookup[here, 0])
                            green += fma(f, lookup[there, 1] - lookup[here, 1], lookup[here, 1])
                            blue += fma(f, lookup[there, 2] - lookup[here, 2], lookup[here, 2])
                rgb[j, i, 0] = encode[index(int32(fma(red * share, brightest, half)))]
                rgb[j, i, 1] = encode[index(int32(fma(green * share, brightest, half)))]
                rgb[j, i, 2] = encode[index(int32(fma(blue * share, brightest, half)))]
                i = index(i + di)
            j = index(j + dj)

    return body
