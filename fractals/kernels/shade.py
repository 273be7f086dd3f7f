"""Escape data -> positions in the palette -> colors, averaged over a pixel's samples, in sRGB.

Two programs: the first is arithmetic without a branch (`select` in place of ``if``), which
compilers turn into vectors; the second is look-ups, which they do not.
"""

import math
from dataclasses import dataclass

from fractals.kernels.coloring import Coloring
from fractals.kernels.coloring_math import make_cbrt
from fractals.kernels.elementary import angle_in_turns, make_log2
from fractals.kernels.primitives import fma, select
from fractals.kernels.ranking import make_rank
from fractals.kernels.statistics import make_planes

# Turns of the palette. Positions beyond it, infinities and NaN are drawn at the palette's start,
# because whole turns are taken off as an int64, which holds no infinity.
MAX_TURNS = 1e9
INSIDE = -1.0  # position of samples without a value; any number below 0 serves


@dataclass(frozen=True)
class ValueOptions:
    """What a program is compiled for that computes a coloring's values.

    Attributes
    ----------
    coloring : Coloring
        As `Coloring.for_coloring` returns it.
    side : str
        The samples that have a value: "escaped", "inside" or "both".
    planes : int
        How many numbers the coloring's orbit statistic has.
    """

    coloring: Coloring
    side: str = "escaped"
    planes: int = 0

    @property
    def label(self) -> str:
        """Return what most tells the program from others, for its folder's name."""
        return f"{self.coloring.label}-{self.side}"


@dataclass(frozen=True)
class PlaceOptions:
    """What a program is compiled for that places values in a palette.

    Attributes
    ----------
    transfer : str
        The curve between value and palette, as of `Coloring.transfer`.
    cyclic : bool
        Whether the palette repeats; otherwise positions end at its ends.
    ranged : bool
        Whether only values from ``lowest`` to ``highest`` are drawn.
    """

    transfer: str = "log"
    cyclic: bool = True
    ranged: bool = False

    @property
    def label(self) -> str:
        """Return what most tells the program from others, for its folder's name."""
        return self.transfer


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


def make_shown(target, side):
    """Return ``shown(v, escaped)``: whether a sample with the value v is drawn."""
    if side == "escaped":

        def shown(v, escaped):
            return escaped

    elif side == "inside":

        def shown(v, escaped):
            return (not escaped) & (v == v)

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
    shown = make_shown(target, options.side)

    def body(i0, j0, di, dj, values, tile, inputs):
        count, x, y, dx, dy, statistics = tile
        first, constants, max_iterations, offset, _, _ = inputs
        j = j0
        while j < values.shape[0]:
            i = i0
            while i < values.shape[1]:
                v, escaped = sample(
                    count, x, y, dx, dy, statistics, j, i, first, constants, max_iterations, offset
                )
                values[j, i] = select(shown(v, escaped), v, nan)
                i += di
            j += dj

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


def make_position_body(target, value_options, place_options):
    """Return the body that fills ``position`` (float32) with places in the palette.

    ``body(i0, j0, di, dj, position, tile, inputs)`` takes an `EscapeTile` and `ColoringInputs`.
    """
    sample = make_sample_value(target, value_options)
    placed = make_placed(target, place_options)
    shown = make_shown(target, value_options.side)

    def body(i0, j0, di, dj, position, tile, inputs):
        count, x, y, dx, dy, statistics = tile
        first, constants, max_iterations, offset, lowest, highest = inputs
        j = j0
        while j < position.shape[0]:  # see `fractals.kernels.escape.make_body`
            i = i0
            while i < position.shape[1]:
                v, escaped = sample(
                    count, x, y, dx, dy, statistics, j, i, first, constants, max_iterations, offset
                )
                position[j, i] = placed(v, shown(v, escaped), constants, lowest, highest)
                i += di
            j += dj

    return body


def make_ranked_body(target, options):
    """Return the body that fills ``position`` (float32) by the rank of ``values``.

    ``body(i0, j0, di, dj, position, values, table, inputs)`` takes what `make_value_body` filled,
    a table of `fractals.kernels.ranking`, and `ColoringInputs`. The program is apart from the one
    that computes values, because a look-up keeps a loop from becoming vectors.
    """
    placed, rank = make_placed(target, options), make_rank(target)

    def body(i0, j0, di, dj, position, values, table, inputs):
        _, constants, _, _, lowest, highest = inputs
        j = j0
        while j < position.shape[0]:
            i = i0
            while i < position.shape[1]:
                v = values[j, i]
                position[j, i] = placed(rank(v, table), v == v, constants, lowest, highest)
                i += di
            j += dj

    return body


def make_valued_body(target, options):
    """Return the body that fills ``position`` (float32) from ``values``; NaN is not drawn.

    ``body(i0, j0, di, dj, position, values, inputs)`` takes numbers such as `make_value_body`
    fills, and `ColoringInputs`.
    """
    placed = make_placed(target, options)

    def body(i0, j0, di, dj, position, values, inputs):
        _, constants, _, _, lowest, highest = inputs
        j = j0
        while j < position.shape[0]:
            i = i0
            while i < position.shape[1]:
                v = values[j, i]
                position[j, i] = placed(v, v == v, constants, lowest, highest)
                i += di
            j += dj

    return body


def make_body(target):
    """Return the body that fills the pixels ``rgb`` from positions.

    Notes
    -----
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
    real32, int32 = target.real32, target.int32
    zero, half = real32(0), real32(0.5)

    def body(i0, j0, di, dj, rgb, position, lookup, encode, supersampling, share):
        entries = int32(lookup.shape[0] - 2)
        scale = real32(entries)
        brightest = real32(encode.shape[0] - 1)
        j = j0
        while j < rgb.shape[0]:
            i = i0
            while i < rgb.shape[1]:
                red, green, blue = zero, zero, zero
                for v in range(j * supersampling, (j + 1) * supersampling):
                    for u in range(i * supersampling, (i + 1) * supersampling):
                        t = position[v, u]
                        if t < zero:
                            red += lookup[entries + 1, 0]
                            green += lookup[entries + 1, 1]
                            blue += lookup[entries + 1, 2]
                        else:
                            k = min(int32(t * scale), int32(entries - int32(1)))
                            f = fma(t, scale, -real32(k))
                            red += fma(f, lookup[k + 1, 0] - lookup[k, 0], lookup[k, 0])
                            green += fma(f, lookup[k + 1, 1] - lookup[k, 1], lookup[k, 1])
                            blue += fma(f, lookup[k + 1, 2] - lookup[k, 2], lookup[k, 2])
                rgb[j, i, 0] = encode[int32(fma(red * share, brightest, half))]
                rgb[j, i, 1] = encode[int32(fma(green * share, brightest, half))]
                rgb[j, i, 2] = encode[int32(fma(blue * share, brightest, half))]
                i += di
            j += dj

    return body
