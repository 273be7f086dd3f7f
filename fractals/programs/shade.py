"""Raw numbers -> colors: coloring, palette, average over the samples of a pixel, sRGB."""

import math

from fractals.coloring import make_log2
from fractals.formula import fma

MOST_TURNS = 1e9  # positions beyond this many turns of the palette are drawn at its start


def make_transfer(target, transfer):
    """Return the curve between a coloring's value and the position in the palette."""
    real, log2 = target.real, make_log2(target)
    zero, one = real(0), real(1)

    if transfer == "linear":

        def curve(v):
            return v

    elif transfer == "sqrt":

        def curve(v):
            return real(math.sqrt(v if v > zero else zero))

    else:

        def curve(v):
            return log2(one + (v if v > zero else zero))

    return target.jit(curve)


def make_body(target, coloring, transfer, cyclic):
    """Return the body that fills ``rgb`` (uint8, height x width x 3).

    Its arrays: the raw numbers ``count``, ``z``, ``dz`` of `supersampling`² samples a pixel;
    ``lookup`` (entries + 2, 3), the palette in linear light, whose last row but one closes the
    cycle and whose last is the inside color; ``encode``, linear light to sRGB bytes; ``constants``:
    density and offset in turns, then those of the coloring.
    """
    real, real32, int32, int64 = target.real, target.real32, target.int32, target.int64
    value = target.jit(coloring.make_value(target))
    derivative = coloring.derivative
    curve = make_transfer(target, transfer)
    zero, one, most = real(0), real(1), real(MOST_TURNS)
    dark, half = real32(0), real32(0.5)

    def position(n, x, y, p, q, constants):
        t = fma(constants[0], curve(value(n, x, y, p, q, constants)), constants[1])
        if not (abs(t) < most):
            t = zero
        if cyclic:
            t = t - real(int64(t))
            return t + one if t < zero else t
        return min(max(t, zero), one)

    position = target.jit(position)

    def body(
        x0, y0, dx, dy, rgb, count, z, dz, lookup, encode, constants, supersampling, limit, share
    ):
        entries = int32(lookup.shape[0] - 2)
        scale = real(entries)
        brightest = real32(encode.shape[0] - 1)
        for j in range(y0, rgb.shape[0], dy):
            for i in range(x0, rgb.shape[1], dx):
                red, green, blue = dark, dark, dark
                for v in range(j * supersampling, (j + 1) * supersampling):
                    for u in range(i * supersampling, (i + 1) * supersampling):
                        n = count[v, u]
                        if n < limit:
                            p, q = (dz[v, u, 0], dz[v, u, 1]) if derivative else (zero, zero)
                            t = position(n, z[v, u, 0], z[v, u, 1], p, q, constants)
                            k = min(int32(t * scale), int32(entries - int32(1)))
                            f = real32(fma(t, scale, -real(k)))
                        else:
                            k, f = int32(entries + int32(1)), dark
                        last = min(k + 1, entries + 1)
                        red += fma(f, lookup[last, 0] - lookup[k, 0], lookup[k, 0])
                        green += fma(f, lookup[last, 1] - lookup[k, 1], lookup[k, 1])
                        blue += fma(f, lookup[last, 2] - lookup[k, 2], lookup[k, 2])
                rgb[j, i, 0] = encode[int32(fma(red * share, brightest, half))]
                rgb[j, i, 1] = encode[int32(fma(green * share, brightest, half))]
                rgb[j, i, 2] = encode[int32(fma(blue * share, brightest, half))]

    return body
