"""Painting on the CPU: the channels of a color are lanes of one short SIMD vector.

Compilers do not make vectors of look-ups, and gathering many colors at once is slow on most CPUs.
The three channels of a color lie side by side, so one load takes them all. Numbers and their order
are those of `fractals.kernels.shade`, so the bits are, too.
"""

from llvmlite import ir
from numba import uint32, uint64
from numba.core import types

from fractals.backends.cpu.simd.memory import load
from fractals.backends.cpu.simd.pack import INT32, Pack, filled, intrinsic, truncate, vectors_of
from fractals.kernels import shade
from fractals.kernels.primitives import fma, number, select

COLOR = Pack(types.float32, 1, 4)  # red, green, blue, and a padding lane


@intrinsic
def channels(_context, value):
    """Return a vector with the number in each lane."""

    def generate(_context, builder, _signature, args):
        return filled(builder, COLOR, args[0])

    return COLOR(value), generate


@intrinsic
def channel(_context, whole, k):
    """Return lane k, a constant, as a number."""
    if not isinstance(k, types.IntegerLiteral):
        return None
    place = k.literal_value

    def generate(_context, builder, _signature, args):
        (vector,) = vectors_of(builder, args[0])
        return builder.extract_element(vector, ir.Constant(INT32, place))

    return whole.element(whole, k), generate


def make_paint_body(target, samples):
    """Return the body that fills ``rgb`` (height, width, 3), as `shade.make_body` does.

    `samples`: along an axis of a pixel, or 0 where they are not known before the program runs. As a
    constant they let the compiler unroll the loops over them.
    ``lookup`` is that of `fractals.backends.cpu.programs.padded`. ``places`` (int32) and ``parts``
    (float32) are scratch for the samples of a row of pixels: where in `lookup` their colors begin,
    and the weight of the next color.
    """
    real32, int32 = target.real32, target.int32
    zero, half, four = real32(0), real32(0.5), int32(4)

    @target.jit
    def paint(rgb, position, lookup, encode, n, share, places, parts):
        entries = int32(lookup.shape[0] // 4 - 3)
        scale, last, inside = real32(entries), int32(entries - 1), int32(entries + 1)
        like = channels(share)
        brightest = number(encode.shape[0] - 1, like)
        rounding, shares = number(half, like), number(share, like)
        across = rgb.shape[1] * n
        for j in range(rgb.shape[0]):
            for v in range(n):
                for u in range(across):  # becomes vectors
                    t = position[j * n + v, u]
                    drawn = t >= zero
                    k = min(int32(t * scale), last)
                    at = uint64(v * across + u)  # not from the end of the array
                    places[at] = four * select(drawn, k, inside)
                    parts[at] = select(drawn, fma(t, scale, -real32(k)), zero)
            for i in range(rgb.shape[1]):
                light = channels(zero)
                for v in range(n):
                    for u in range(v * across + i * n, v * across + (i + 1) * n):
                        first, part = places[uint64(u)], number(parts[uint64(u)], like)
                        here, there = load(lookup, first, like), load(lookup, first + four, like)
                        light = light + fma(part, there - here, here)
                level = truncate(fma(light * shares, brightest, rounding))
                rgb[j, i, 0] = encode[uint32(channel(level, 0))]
                rgb[j, i, 1] = encode[uint32(channel(level, 1))]
                rgb[j, i, 2] = encode[uint32(channel(level, 2))]

    def body(rgb, position, lookup, encode, supersampling, share, places, parts):
        paint(rgb, position, lookup, encode, samples, share, places, parts)

    return body if samples else paint


def make_position_body(target, *options):
    """Return ``loop(position, tile, inputs)`` over all of what `shade.make_position_body` fills."""
    body = target.jit(shade.make_position_body(target, *options))

    def loop(position, tile, inputs):
        body(0, 0, 1, 1, position, tile, inputs)

    return loop
