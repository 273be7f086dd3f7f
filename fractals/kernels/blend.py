"""Layers of colors blended sample by sample, and their mean over the samples of a pixel.

Blending is done in sRGB values, as by CSS (W3C, *Compositing and Blending Level 1*, 2024) and paint
programs: what artists know as overlay or soft light is defined on them. The mean of a pixel's
samples is taken in linear light, as that of one layer is (`fractals.kernels.shade`).
"""

from fractals.kernels.primitives import fma, select, sqrt


def make_change(target, mode):
    """Return ``change(below, above)``: what blending adds to sRGB values from 0 to 1."""
    real32 = target.real32
    quarter, half, one = real32(0.25), real32(0.5), real32(1)
    two, four, twelve, sixteen = real32(2), real32(4), real32(12), real32(16)

    if mode == "multiply":

        def change(b, a):
            return fma(b, a, -b)

    elif mode == "screen":

        def change(b, a):
            return a * (one - b)

    elif mode == "overlay":

        def change(b, a):
            light = fma(-two * (one - a), one - b, one)
            return select(b < half, fma(two * a, b, -b), light - b)

    elif mode == "soft_light":

        def change(b, a):
            polynomial = fma(fma(sixteen, b, -twelve), b, four)
            lighter = select(b <= quarter, fma(polynomial, b, -b), sqrt(b) - b)
            darker = b * (one - b)
            return fma(two, a, -one) * select(a <= half, darker, lighter)

    elif mode == "add":

        def change(b, a):
            return select(a + b < one, a, one - b)

    else:

        def change(b, a):
            return a - b

    return target.jit(change)


def make_layer_body(target, mode):
    """Return the body that blends a layer into ``colors`` (height, width, 3), float32, in sRGB.

    Its arrays: ``position``, from 0 to 1 in the palette, or below 0 where nothing is drawn;
    ``lookup`` (entries + 2, 3), the palette in sRGB, as in `fractals.kernels.shade.make_body`;
    ``opacity``. In mode "first" it is the lowest layer, which fills all.
    """
    real32, int32 = target.real32, target.int32
    zero, one, first = real32(0), real32(1), mode == "first"
    change = make_change(target, mode)

    def body(x0, y0, dx, dy, colors, position, lookup, opacity):
        entries = int32(lookup.shape[0] - 2)
        scale = real32(entries)
        j = y0
        while j < colors.shape[0]:
            i = x0
            while i < colors.shape[1]:
                t = position[j, i]
                drawn = t >= zero
                t = select(drawn, t, zero)
                k = min(int32(t * scale), int32(entries - int32(1)))
                f = fma(t, scale, -real32(k))
                for c in range(3):
                    a = fma(f, lookup[k + 1, c] - lookup[k, c], lookup[k, c])
                    if first:
                        colors[j, i, c] = select(drawn, a, lookup[entries + 1, c])
                    else:
                        b = colors[j, i, c]
                        part = select(drawn, opacity, zero)
                        mixed = fma(part, change(b, a), b)
                        mixed = select(mixed > zero, mixed, zero)
                        colors[j, i, c] = select(mixed < one, mixed, one)
                i += dx
            j += dy

    return body


def make_mean_body(target):
    """Return the body that fills ``rgb`` (uint8 or uint16, height x width x 3).

    Its arrays: ``colors``, of `supersampling`² samples a pixel; ``decode``, sRGB to linear light in
    even steps, one more than its intervals; ``encode`` and ``share`` as in
    `fractals.kernels.shade.make_body`.
    """
    real32, int32 = target.real32, target.int32
    half, zero = real32(0.5), real32(0)

    def body(x0, y0, dx, dy, rgb, colors, decode, encode, supersampling, share):
        last = int32(decode.shape[0] - 2)
        scale = real32(decode.shape[0] - 1)
        brightest = real32(encode.shape[0] - 1)
        j = y0
        while j < rgb.shape[0]:
            i = x0
            while i < rgb.shape[1]:
                for c in range(3):
                    light = zero
                    for v in range(j * supersampling, (j + 1) * supersampling):
                        for u in range(i * supersampling, (i + 1) * supersampling):
                            t = colors[v, u, c] * scale
                            k = min(int32(t), last)
                            f = t - real32(k)
                            light += fma(f, decode[k + 1] - decode[k], decode[k])
                    rgb[j, i, c] = encode[int32(fma(light * share, brightest, half))]
                i += dx
            j += dy

    return body
