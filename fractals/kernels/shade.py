"""Raw numbers -> positions in the palette -> colors, averaged over the samples of a pixel, in sRGB.

Two programs, because the first is arithmetic alone, without a branch, which compilers turn into
vectors, and the second is look-ups. No sample is worked on by both ends of an `if`: `select`.
"""

import math

from fractals.kernels.coloring_math import make_cbrt, make_log2, turn
from fractals.kernels.primitives import fma, select
from fractals.kernels.ranking import make_rank
from fractals.kernels.statistics import make_planes

MOST_TURNS = 1e9  # positions beyond this many turns of the palette are drawn at its start
INSIDE = -1.0  # the position of samples that have no value, such as those that did not escape


def make_transfer(target, transfer):
    """Return the curve between a coloring's value and the position in the palette."""
    if transfer == "cbrt":
        return make_cbrt(target)
    real, log2, angle = target.real, make_log2(target), target.jit(turn)
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

        def curve(v):
            return log2(one + select(v > zero, v, zero))

    return target.jit(curve)


def make_sample_value(target, coloring, planes):
    """Return ``sample(count, x, y, p, q, watched, first, j, i, constants, limit, base)``.

    It is a sample's value and whether it escaped. Of what was watched, `planes` numbers from plane
    `first` on are the coloring's.
    """
    real = target.real
    value = target.jit(coloring.make_value(target))
    derivative = coloring.derivative
    zero, one, two = real(0), real(1), real(2)
    infinity = real(math.inf)
    load, _ = make_planes(target, 0, planes)

    if planes:

        def valued(n, z, dz, watched, first, j, i, constants):
            w = load(watched, first, j, i)
            return value(n, z[0], z[1], dz[0], dz[1], w, constants)

    else:

        def valued(n, z, dz, watched, first, j, i, constants):
            return value(n, z[0], z[1], dz[0], dz[1], constants)

    valued = target.jit(valued)

    def sample(count, x, y, p, q, watched, first, j, i, constants, limit, base):
        n = count[j, i]
        escaped = n < limit
        m = fma(x[j, i], x[j, i], y[j, i] * y[j, i])
        known = escaped & (m < infinity)  # others get a z that has a logarithm
        z = select(known, x[j, i], two), select(known, y[j, i], zero)
        dz = (p[j, i], q[j, i]) if derivative else (one, zero)
        return valued(n - base, z, dz, watched, first, j, i, constants), escaped

    return target.jit(sample)


def make_shown(target, side):
    """Return ``shown(v, escaped)``: whether a sample of this value has one, on this side."""
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


def make_value_body(target, coloring, side, planes):
    """Return the body that fills ``values`` (real) with those of samples; NaN for none."""
    sample, nan = make_sample_value(target, coloring, planes), target.real(math.nan)
    shown = make_shown(target, side)

    def body(x0, y0, dx, dy, values, count, x, y, p, q, watched, first, constants, limit, base):
        j = y0
        while j < values.shape[0]:
            i = x0
            while i < values.shape[1]:
                v, escaped = sample(count, x, y, p, q, watched, first, j, i, constants, limit, base)
                values[j, i] = select(shown(v, escaped), v, nan)
                i += dx
            j += dy

    return body


def make_placed(target, transfer, cyclic, ranged):
    """Return ``placed(v, drawn, constants, least, most_value)``: a value's place in the palette.

    It is from 0 to 1 in float32, or INSIDE where it isn't drawn. ``constants`` begin with density
    and offset in turns; values from ``least`` to ``most_value`` are drawn, where they are `ranged`.
    """
    real, real32, int64 = target.real, target.real32, target.int64
    curve = make_transfer(target, transfer)
    zero, one, most = real(0), real(1), real(MOST_TURNS)
    inside = real32(INSIDE)

    def placed(v, drawn, constants, least, most_value):
        if ranged:
            drawn = drawn & (v >= least) & (v <= most_value)
        t = fma(constants[0], curve(v), constants[1])
        t = select(abs(t) < most, t, zero)
        if cyclic:
            t = t - real(int64(t))
            t = select(t < zero, t + one, t)
        else:
            t = select(t > zero, select(t < one, t, one), zero)
        return select(drawn, real32(t), inside)

    return target.jit(placed)


def make_position_body(target, coloring, transfer, cyclic, side="escaped", ranged=False, planes=0):
    """Return the body that fills ``position`` (float32), as `make_placed` says.

    Its arrays: the raw numbers, z = x + iy and dz = p + iq in parts that lie side
    by side; ``watched``, and the coloring's first plane of it; ``constants``, those of the coloring
    after the first two; ``limit``; and ``base``, from which counts are counted.
    """
    sample = make_sample_value(target, coloring, planes)
    placed = make_placed(target, transfer, cyclic, ranged)
    shown = make_shown(target, side)

    def body(
        x0,
        y0,
        dx,
        dy,
        position,
        count,
        x,
        y,
        p,
        q,
        watched,
        first,
        constants,
        limit,
        base,
        least,
        most_value,
    ):
        j = y0
        while j < position.shape[0]:  # see `fractals.kernels.escape.make_body`
            i = x0
            while i < position.shape[1]:
                v, escaped = sample(count, x, y, p, q, watched, first, j, i, constants, limit, base)
                position[j, i] = placed(v, shown(v, escaped), constants, least, most_value)
                i += dx
            j += dy

    return body


def make_ranked_body(target, transfer, cyclic, ranged=False):
    """Return the body that fills ``position`` from ``values`` (`make_value_body`) by their rank.

    It is apart from what makes the values: a look-up keeps a loop from becoming vectors.
    """
    placed, rank = make_placed(target, transfer, cyclic, ranged), make_rank(target)

    def body(x0, y0, dx, dy, position, values, table, constants, least, most_value):
        j = y0
        while j < position.shape[0]:
            i = x0
            while i < position.shape[1]:
                v = values[j, i]
                position[j, i] = placed(rank(v, table), v == v, constants, least, most_value)
                i += dx
            j += dy

    return body


def make_body(target):
    """Return the body that fills ``rgb`` (uint8 or uint16, height x width x 3).

    Its arrays: ``position`` of `supersampling`² samples a pixel; ``lookup`` (entries + 2, 3), the
    palette in linear light, whose last row but one closes the cycle and whose last is the inside
    color; ``encode``, linear light to sRGB in the type of `rgb`; ``share``: what a sample is of a
    pixel.
    """
    real32, int32 = target.real32, target.int32
    zero, half = real32(0), real32(0.5)

    def body(x0, y0, dx, dy, rgb, position, lookup, encode, supersampling, share):
        entries = int32(lookup.shape[0] - 2)
        scale = real32(entries)
        brightest = real32(encode.shape[0] - 1)
        j = y0
        while j < rgb.shape[0]:
            i = x0
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
                i += dx
            j += dy

    return body
