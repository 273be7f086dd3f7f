"""The compiled frames of the CPU: 16 weights are lanes of one vector, and channels those of others.

Compilers make no vectors of the 4 x 4 texels of a pixel. Weights are computed by the same steps as
in `fractals.kernels.strip.make_frame_body`, and sums are exact, so the bits are the same.
"""

import itertools

from llvmlite import ir
from numba.core import types

from fractals.backends.cpu.entry import part_of_array
from fractals.backends.cpu.simd.pack import (
    INT32,
    INT64,
    Pack,
    all_lanes,
    call,
    intrinsic,
    join,
    llvm_function,
    spread_scalar,
    vectors_of,
)
from fractals.kernels import strip
from fractals.kernels.primitives import fma
from fractals.kernels.strip import CHANNELS

TEXELS = 4  # along each side of a pixel
WEIGHTS = Pack(types.int32, 1, TEXELS**2)
REAL = ir.VectorType(ir.FloatType(), TEXELS**2)
# Red, green and blue, and a channel of the next texel; four texels of a row, and 4 channels more.
SUMS, ROW = ir.VectorType(INT32, 4), ir.VectorType(INT32, 16)


def _counted(function):
    """Return a constant vector of what ``function(row, column)`` gives for each texel."""
    places = (function(*divmod(k, TEXELS)) for k in range(TEXELS**2))
    return ir.Constant(REAL, [float(place) for place in places])


@intrinsic
def weights(_context, u, v, x, y, edge):
    """Return the weights of 4 x 4 texels, row by row; the arguments are as of `make_place`."""

    def generate(_context, builder, _signature, args):
        u, v, x, y, edge = (spread_scalar(builder, value, TEXELS**2) for value in args)
        fused, size = llvm_function("fma"), llvm_function("fabs")
        row, column = _counted(lambda row, _: row), _counted(lambda _, column: column)
        u, v = fused(builder, row, y, u), fused(builder, row, builder.fneg(x), v)
        u, v = fused(builder, column, x, u), fused(builder, column, y, v)
        parts = []
        for way in (u, v):
            inside = builder.fsub(edge, size(builder, way))
            for relation, limit in ((">", 0.0), ("<", 1.0)):
                limits = all_lanes(REAL, limit)
                kept = builder.fcmp_ordered(relation, inside, limits)
                inside = builder.select(kept, inside, limits)
            parts.append(inside)
        scaled = builder.fmul(builder.fmul(*parts), all_lanes(REAL, float(strip.WEIGHT)))
        return join(builder, [builder.fptosi(scaled, WEIGHTS.vector)])

    return WEIGHTS(u, v, x, y, edge), generate


@intrinsic
def total(_context, shares):
    """Return the sum of all weights."""

    def generate(_context, builder, _signature, args):
        (vector,) = vectors_of(builder, args[0])
        return call(builder, f"llvm.vector.reduce.add.v{TEXELS**2}i32", INT32, vector)

    return types.int32(shares), generate


@intrinsic
def sums(_context, texels, rows, beside, shares):
    """Return three sums of 4 x 4 texels times their weights, as int32.

    `rows` and `beside` are those that `make_indices` returns.
    """

    def generate(context, builder, signature, args):
        data = part_of_array(context, builder, signature.args[0], args[0], "data")
        rows, beside = (
            [builder.extract_value(part, k) for k in range(TEXELS)] for part in args[1:3]
        )
        (shares,) = vectors_of(builder, args[3])
        found = all_lanes(SUMS, 0)
        for j, i in itertools.product(range(TEXELS), repeat=2):
            texel = _loaded(builder, data, builder.add(rows[j], beside[i]), SUMS)
            share = builder.extract_element(shares, INT32(TEXELS * j + i))
            found = builder.add(found, builder.mul(texel, spread_scalar(builder, share, 4)))
        return _channels(context, builder, signature, found)

    return types.UniTuple(types.int32, 3)(texels, rows, beside, shares), generate


@intrinsic
def sums_of_rows(_context, texels, first, columns, shares):
    """Return the same, where four texels of a row lie side by side, and rows `columns` apart."""

    def generate(context, builder, signature, args):
        data = part_of_array(context, builder, signature.args[0], args[0], "data")
        _, at, columns, _ = args
        (shares,) = vectors_of(builder, args[3])
        found = all_lanes(ROW, 0)
        for j in range(TEXELS):
            lanes = [TEXELS * j + min(k // CHANNELS, TEXELS - 1) for k in range(ROW.count)]
            order = ir.Constant(ir.VectorType(INT32, ROW.count), lanes)
            each = builder.shuffle_vector(shares, shares, order)
            found = builder.add(found, builder.mul(_loaded(builder, data, at, ROW), each))
            at = builder.add(at, columns)
        whole = all_lanes(SUMS, 0)
        for i in range(TEXELS):
            lanes = [CHANNELS * i + k for k in range(SUMS.count)]
            order = ir.Constant(ir.VectorType(INT32, SUMS.count), lanes)
            whole = builder.add(whole, builder.shuffle_vector(found, found, order))
        return _channels(context, builder, signature, whole)

    return types.UniTuple(types.int32, 3)(texels, first, columns, shares), generate


def _loaded(builder, data, at, kind):
    """Return a vector of whole numbers from texel `at` on."""
    narrow = ir.VectorType(ir.IntType(16), kind.count)
    place = builder.gep(data, [builder.mul(at, INT64(CHANNELS))])
    place = builder.bitcast(place, narrow.as_pointer())
    return builder.zext(builder.load(place, align=2, typ=narrow), kind)


def _channels(context, builder, signature, vector):
    parts = [builder.extract_element(vector, INT32(k)) for k in range(CHANNELS)]
    return context.make_tuple(builder, signature.return_type, parts)


def make_frame_body(target):
    """Return the body that fills ``rgb``, as `fractals.kernels.strip.make_frame_body` does.

    ``rows`` (int64), ``places`` (int32) and ``ways`` (float32) are scratch for 1, 2 and 3 numbers a
    pixel of a row: what `make_place` returns. In a loop of its own it is computed for several
    pixels at once.
    """
    real32, int32, int64 = target.real32, target.int32, target.int64
    half, one, unit = real32(0.5), real32(1), real32(1 / strip.AXIS)
    locate, indices = strip.make_place(target), strip.make_indices(target)

    @target.jit
    def sums_at(held, shape, place, shares):
        """Return three sums of 4 x 4 texels times their weights."""
        texels, starts = held
        bits, columns = int64(shape.row_bits - place.level), int32(shape.columns >> place.level)
        row = place.row & ((int64(1) << bits) - int64(1))
        beside = (place.column >= int32(0)) & (int32(place.column + int32(3)) < columns)
        below = (place.row >= int64(0)) & ((row + int64(3)) >> bits == int64(0))
        if beside & below:  # nearly always
            first = starts[place.level, place.row >> bits]
            first += row * int64(columns) + int64(place.column)
            return sums_of_rows(texels, first, int64(columns), shares)
        return sums(texels, *indices(starts, shape, place), shares)

    @target.jit
    def fill(rgb, turns, depths, axes, held, encode, shape, frame, rows, places, ways):
        across = rgb.shape[1]
        for j in range(rgb.shape[0]):
            for i in range(across):
                x, y = unit * real32(axes[j, i, 0]), unit * real32(axes[j, i, 1])
                place, u, v, edge = locate(depths[j, i], turns[j, i], x, y, shape, frame)
                rows[i], places[i], places[across + i] = place.row, place.level, place.column
                ways[i], ways[across + i], ways[2 * across + i] = u, v, edge
            for i in range(across):
                x, y = unit * real32(axes[j, i, 0]), unit * real32(axes[j, i, 1])
                shares = weights(ways[i], ways[across + i], x, y, ways[2 * across + i])
                place = strip.TexelPlace(places[i], rows[i], places[across + i])
                red, green, blue = sums_at(held, shape, place, shares)
                share = one / real32(total(shares))
                rgb[j, i, 0] = encode[int32(fma(real32(red), share, half))]
                rgb[j, i, 1] = encode[int32(fma(real32(green), share, half))]
                rgb[j, i, 2] = encode[int32(fma(real32(blue), share, half))]

    return fill
