"""Layers blended sample by sample, groups of layers, and the mean over the samples of a pixel.

Blending works on sRGB values, as in CSS (W3C, *Compositing and Blending Level 1*, 2024) and paint
programs, because modes such as overlay and soft light are defined on them. The mean of a pixel's
samples is taken in linear light, as for one layer (`fractals.kernels.shade.make_body`).
"""

from fractals.kernels import on_cpu
from fractals.kernels.primitives import clamp, fma, select, sqrt


def make_change(target, mode):
    """Return ``change(below, above)``: what blending adds to the sRGB value below.

    All values are from 0 to 1.
    """
    real32 = target.real32
    zero, quarter, half, one = real32(0), real32(0.25), real32(0.5), real32(1)
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

    elif mode == "hard_light":  # overlay, with the two layers swapped

        def change(b, a):
            light = fma(-two * (one - a), one - b, one)
            return select(a < half, fma(two * a, b, -b), light - b)

    elif mode == "darken":

        def change(b, a):
            return select(a < b, a - b, zero)

    elif mode == "lighten":

        def change(b, a):
            return select(a < b, zero, a - b)

    elif mode == "difference":

        def change(b, a):
            return select(a < b, -a, (a - b) - b)

    elif mode == "exclusion":

        def change(b, a):
            return fma(-two * a, b, a)

    elif mode == "add":

        def change(b, a):
            return select(a + b < one, a, one - b)

    else:

        def change(b, a):
            return a - b

    return target.jit(change)


@on_cpu("fractals.backends.cpu.fast:layering")
def make_layer_body(target, mode):
    """Return the body that blends a layer into ``colors``.

    In mode "first" the layer is the lowest one, which fills all samples.

    The arguments of ``body``, besides the strides:

    colors : array of float32, shape (height, width, 3)
        sRGB values from 0 to 1.
    position : array of float32, shape (height, width)
        From 0 to 1 in the palette; below 0 where nothing is drawn.
    lookup : array of float32, shape (entries + 2, 3)
        The palette in sRGB, otherwise as in `make_body`.
    opacity : float32
        From 0 to 1.
    """
    real32, int32, index = target.real32, target.int32, target.index
    zero, one, first = real32(0), real32(1), mode == "first"
    change = make_change(target, mode)

    def body(i0, j0, di, dj, colors, position, lookup, opacity):
        entries = int32(lookup.shape[0] - 2)
        scale = real32(entries)
        height, width = index(colors.shape[0]), index(colors.shape[1])
        j = index(j0)
        while j < height:
            i = index(i0)
            while i < width:
                t = position[j, i]
                drawn = t >= zero
                t = select(drawn, t, zero)
                k = min(int32(t * scale), int32(entries - int32(1)))
                f, here, there = fma(t, scale, -real32(k)), index(k), index(k + 1)
                for c in range(3):
                    a = fma(f, lookup[there, c] - lookup[here, c], lookup[here, c])
                    if first:
                        colors[j, i, c] = select(drawn, a, lookup[index(entries + 1), c])
                    else:
                        b = colors[j, i, c]
                        part = select(drawn, opacity, zero)
                        colors[j, i, c] = clamp(fma(part, change(b, a), b), zero, one)
                i = index(i + di)
            j = index(j + dj)

    return body


@on_cpu("fractals.backends.cpu.fast:joining")
def make_member_body(target, mode):
    """Return the body that blends a layer into a ``group`` of layers, which may be transparent.

    ``body(i0, j0, di, dj, group, position, lookup, weights)``: group is an array of float32 of
    shape (height, width, 4), of sRGB values times opacity, and opacity. `weights` is that of
    `make_group_body`; the other arguments are those of `make_layer_body`.
    """
    real32, int32, index = target.real32, target.int32, target.index
    zero, one = real32(0), real32(1)
    change = make_change(target, mode)

    def body(i0, j0, di, dj, group, position, lookup, weights):
        entries = int32(lookup.shape[0] - 2)
        bottom, right = index(weights.shape[0] - 1), index(weights.shape[1] - 1)
        scale = real32(entries)
        height, width = index(group.shape[0]), index(group.shape[1])
        j = index(j0)
        while j < height:
            i = index(i0)
            while i < width:
                t = position[j, i]
                weight = weights[min(j, bottom), min(i, right)]
                part = select(t >= zero, weight, zero)
                t = select(t >= zero, t, zero)
                k = min(int32(t * scale), int32(entries - int32(1)))
                f, here, there = fma(t, scale, -real32(k)), index(k), index(k + 1)
                below = group[j, i, 3]
                divisor = select(below > zero, below, one)
                for c in range(3):
                    a = fma(f, lookup[there, c] - lookup[here, c], lookup[here, c])
                    b = group[j, i, c] / divisor
                    b = select(b < one, b, one)
                    # The color over what is transparent, and the blended one over the rest. Two
                    # fma, because a compiler might contract a sum with a product in `change`.
                    own = clamp(fma(below, change(b, a), fma(below, b - a, a)), zero, one)
                    group[j, i, c] = fma(part, own, group[j, i, c] * (one - part))
                group[j, i, 3] = fma(part, one - below, below)
                i = index(i + di)
            j = index(j + dj)

    return body


def make_nested_body(target, mode):
    """Return the body that blends a group of layers into the group that it is in.

    ``body(i0, j0, di, dj, outer, group, weights)``: both groups are as of `make_member_body`, and
    the weights as of `make_group_body`.
    """
    real32, index = target.real32, target.index
    zero, one = real32(0), real32(1)
    change = make_change(target, mode)

    def body(i0, j0, di, dj, outer, group, weights):
        bottom, right = index(weights.shape[0] - 1), index(weights.shape[1] - 1)
        height, width = index(outer.shape[0]), index(outer.shape[1])
        j = index(j0)
        while j < height:
            i = index(i0)
            while i < width:
                own = group[j, i, 3]
                own_divisor = select(own > zero, own, one)
                part = own * weights[min(j, bottom), min(i, right)]
                below = outer[j, i, 3]
                divisor = select(below > zero, below, one)
                for c in range(3):
                    a = group[j, i, c] / own_divisor
                    a = select(a < one, a, one)
                    b = outer[j, i, c] / divisor
                    b = select(b < one, b, one)
                    # as in a member
                    mixed = clamp(fma(below, change(b, a), fma(below, b - a, a)), zero, one)
                    outer[j, i, c] = fma(part, mixed, outer[j, i, c] * (one - part))
                outer[j, i, 3] = fma(part, one - below, below)
                i = index(i + di)
            j = index(j + dj)

    return body


def make_clear_body(target):
    """Return ``body(i0, j0, di, dj, group)``, which makes a group of no layers."""
    zero, index = target.real32(0), target.index

    def body(i0, j0, di, dj, group):
        height, width = index(group.shape[0]), index(group.shape[1])
        j = index(j0)
        while j < height:
            i = index(i0)
            while i < width:
                for c in range(4):
                    group[j, i, c] = zero
                i = index(i + di)
            j = index(j + dj)

    return body


@on_cpu("fractals.backends.cpu.fast:merging")
def make_group_body(target, mode):
    """Return the body that blends a group of layers into ``colors``.

    The arguments of ``body``, besides the strides:

    colors : array of float32, shape (height, width, 3)
        sRGB values from 0 to 1.
    group : array of float32, shape (height, width, 4)
        As of `make_member_body`.
    weights : array of float32, shape (height, width) or (1, 1)
        Opacities, from 0 to 1: those of a mask, times the opacity of the whole.
    """
    real32, index = target.real32, target.index
    zero, one = real32(0), real32(1)
    change = make_change(target, mode)

    def body(i0, j0, di, dj, colors, group, weights):
        bottom, right = index(weights.shape[0] - 1), index(weights.shape[1] - 1)
        height, width = index(colors.shape[0]), index(colors.shape[1])
        j = index(j0)
        while j < height:
            i = index(i0)
            while i < width:
                part = group[j, i, 3]
                divisor = select(part > zero, part, one)
                weight = weights[min(j, bottom), min(i, right)]
                part = part * weight
                for c in range(3):
                    a = group[j, i, c] / divisor
                    a = select(a < one, a, one)
                    b = colors[j, i, c]
                    colors[j, i, c] = clamp(fma(part, change(b, a), b), zero, one)
                i = index(i + di)
            j = index(j + dj)

    return body


@on_cpu("fractals.backends.cpu.fast:averaging")
def make_mean_body(target):
    """Return the body that fills the pixels ``rgb`` from blended samples.

    The arguments of ``body``, besides the strides:

    rgb : array of uint8 or uint16, shape (height, width, 3)
    colors : array of float32, shape (height * supersampling, width * supersampling, 3)
        Blended samples in sRGB, from 0 to 1.
    decode : array of float32
        Linear light for evenly spaced sRGB values from 0 to 1.
    encode : array of the type of `rgb`
        sRGB values for evenly spaced linear light from 0 to 1.
    supersampling, share : int32, float32
        Samples a pixel, a side; 1 / supersampling².
    """
    real32, int32, index = target.real32, target.int32, target.index
    half, zero = real32(0.5), real32(0)

    def body(i0, j0, di, dj, rgb, colors, decode, encode, supersampling, share):
        last = int32(decode.shape[0] - 2)
        scale = real32(decode.shape[0] - 1)
        brightest = real32(encode.shape[0] - 1)
        height, width = index(rgb.shape[0]), index(rgb.shape[1])
        j = index(j0)
        while j < height:
            i = index(i0)
            while i < width:
                for c in range(3):
                    light = zero
                    for v in range(supersampling):
                        for u in range(supersampling):
                            row, column = index(j * supersampling + v), index(i * supersampling + u)
                            t = colors[row, column, c] * scale
                            k = min(int32(t), last)
                            f, here, there = t - real32(k), index(k), index(k + 1)
                            light += fma(f, decode[there] - decode[here], decode[here])
                    rgb[j, i, c] = encode[index(int32(fma(light * share, brightest, half)))]
                i = index(i + di)
            j = index(j + dj)

    return body
