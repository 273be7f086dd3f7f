"""Layers and the mean of a pixel's samples on the CPU: a row of samples at a time.

The kernels of `fractals.kernels.blend` mix arithmetic with look-ups, and a look-up keeps a loop
from becoming vectors. Here each row passes three loops: where the samples lie in a palette, which
becomes vectors; the colors, which are loaded as lanes, as in `fractals.backends.cpu.pixels`; and
the blending of all channels of the row, which becomes vectors again. Numbers and their order are
those of the kernels, so the bits are, too.
"""

from numba import uint32

from fractals.backends.cpu.pixels import channel, channels
from fractals.backends.cpu.simd.memory import load, store
from fractals.backends.cpu.simd.pack import truncate
from fractals.kernels.blend import make_change
from fractals.kernels.primitives import clamp, fma, number, select


def make_row(target, side):
    """Return ``look_up, take, spread``, which prepare the colors of a row of a layer's samples.

    ``look_up(position, j, lookup, places, parts)`` fills where in `lookup` the colors begin, and
    the weight of the next color; ``take(width, lookup, places, parts, above)`` fills the colors,
    `side` numbers a sample, and ``spread(value, i, numbers)`` sets those of one sample.
    """
    real32, int32 = target.real32, target.int32
    zero, four = real32(0), int32(4)

    @target.jit
    def look_up(position, j, lookup, places, parts):
        entries = int32(lookup.shape[0] // 4 - 3)
        scale, last = real32(entries), int32(entries - 1)
        for i in range(position.shape[1]):  # becomes vectors
            t = position[j, i]
            t = select(t >= zero, t, zero)
            k = min(int32(t * scale), last)
            places[i] = four * k
            parts[i] = fma(t, scale, -real32(k))

    @target.jit
    def take(width, lookup, places, parts, above):
        like = channels(parts[0])
        for i in range(width):
            at = places[i]
            here, there = load(lookup, at, like), load(lookup, at + four, like)
            store(above, side * i, fma(number(parts[i], like), there - here, here))

    @target.jit
    def spread(value, i, numbers):
        store(numbers, side * i, channels(value))

    return look_up, take, spread


def make_blend(target, mode):
    """Return ``blend(colors, j, above, shares)``, which blends a row of samples into ``colors``."""
    zero, one = target.real32(0), target.real32(1)
    change = make_change(target, mode)

    @target.jit
    def blend(colors, j, above, shares):
        for k in range(colors.shape[1]):  # becomes vectors
            b = colors[j, k]
            colors[j, k] = clamp(fma(shares[k], change(b, above[k]), b), zero, one)

    return blend


def make_layer_body(target, mode):
    """Return the body that blends a layer into ``colors``, as `blend.make_layer_body` does.

    ``colors`` has the three channels of a sample side by side in two dimensions, and ``lookup`` is
    that of `fractals.backends.cpu.programs.padded`. Scratch for the samples of a row: ``places``
    (int32), ``parts`` (float32), and ``above`` and ``shares`` (float32), each with four numbers a
    sample.
    """
    zero, blend = target.real32(0), make_blend(target, mode)
    look_up, take, spread = make_row(target, 3)

    @target.jit
    def weigh(position, j, opacity, shares):
        for i in range(position.shape[1]):
            spread(select(position[j, i] >= zero, opacity, zero), i, shares)

    def body(colors, position, lookup, opacity, places, parts, above, shares):
        for j in range(colors.shape[0]):
            look_up(position, j, lookup, places, parts)
            take(position.shape[1], lookup, places, parts, above)
            weigh(position, j, opacity, shares)
            blend(colors, j, above, shares)

    return body


def make_member_body(target, mode):
    """Return the body that blends a layer into a ``group``, as `blend.make_member_body` does.

    ``group`` has the four numbers of a sample side by side in two dimensions. The others are those
    of `make_layer_body`; ``belows`` is scratch as ``shares`` is.
    """
    real32, int32 = target.real32, target.int32
    zero, one = real32(0), real32(1)
    change = make_change(target, mode)
    look_up, take, spread = make_row(target, 4)

    @target.jit
    def weigh(group, position, j, weights, shares, belows):
        row, right = min(int32(j), int32(weights.shape[0] - 1)), int32(weights.shape[1] - 1)
        for i in range(position.shape[1]):
            weight = weights[row, min(int32(i), right)]
            spread(select(position[j, i] >= zero, weight, zero), i, shares)
            spread(group[j, 4 * i + 3], i, belows)

    @target.jit
    def blend(group, j, above, shares, belows):
        for k in range(group.shape[1]):  # becomes vectors
            below, part, a = belows[k], shares[k], above[k]
            b = group[j, k] / select(below > zero, below, one)
            b = select(b < one, b, one)
            own = clamp(fma(below, change(b, a), fma(below, b - a, a)), zero, one)
            group[j, k] = fma(part, own, group[j, k] * (one - part))
        for k in range(3, group.shape[1], 4):
            group[j, k] = fma(shares[k], one - belows[k], belows[k])

    def body(group, position, lookup, weights, places, parts, above, shares, belows):
        for j in range(group.shape[0]):
            look_up(position, j, lookup, places, parts)
            take(position.shape[1], lookup, places, parts, above)
            weigh(group, position, j, weights, shares, belows)
            blend(group, j, above, shares, belows)

    return body


def make_group_body(target, mode):
    """Return the body that blends a group into ``colors``, as `blend.make_group_body` does.

    ``colors`` has the three channels of a sample side by side in two dimensions, ``group`` the four
    numbers of all samples in one. ``above`` and ``shares`` are those of `make_layer_body`.
    """
    real32, int32 = target.real32, target.int32
    zero, one, blend = real32(0), real32(1), make_blend(target, mode)

    @target.jit
    def take(width, group, j, weights, above, shares):
        like, most = channels(zero), channels(one)
        row, right = min(int32(j), int32(weights.shape[0] - 1)), int32(weights.shape[1] - 1)
        for i in range(width):
            at = 4 * (j * width + i)
            part = group[at + 3]
            a = load(group, at, like) / number(select(part > zero, part, one), like)
            store(above, 3 * i, select(a < most, a, most))
            store(shares, 3 * i, number(part * weights[row, min(int32(i), right)], like))

    def body(colors, group, weights, above, shares):
        for j in range(colors.shape[0]):
            take(colors.shape[1] // 3, group, j, weights, above, shares)
            blend(colors, j, above, shares)

    return body


def make_mean_body(target, samples):
    """Return the body that fills pixels from blended samples, as `blend.make_mean_body` does.

    `samples`: as of `fractals.backends.cpu.pixels.make_paint_body`. ``colors`` has the three
    channels of a sample side by side in two dimensions. ``linear`` (float32) is scratch for the
    samples of a row of pixels, three numbers a sample, and one more.
    """
    real32, int32 = target.real32, target.int32
    half = real32(0.5)

    @target.jit
    def mean(rgb, colors, decode, encode, n, share, linear):
        last = int32(decode.shape[0] - 2)
        scale = real32(decode.shape[0] - 1)
        like = channels(share)
        brightest = number(encode.shape[0] - 1, like)
        rounding, shares = number(half, like), number(share, like)
        across = colors.shape[1]
        for j in range(rgb.shape[0]):
            for v in range(n):
                for u in range(across):
                    t = colors[j * n + v, u] * scale
                    k = min(int32(t), last)
                    f = t - real32(k)
                    here, there = decode[uint32(k)], decode[uint32(k + 1)]
                    linear[v * across + u] = fma(f, there - here, here)
            for i in range(rgb.shape[1]):
                light = channels(real32(0))
                for v in range(n):
                    for u in range(i * n, (i + 1) * n):
                        light = light + load(linear, v * across + 3 * u, like)
                level = truncate(fma(light * shares, brightest, rounding))
                rgb[j, i, 0] = encode[uint32(channel(level, 0))]
                rgb[j, i, 1] = encode[uint32(channel(level, 1))]
                rgb[j, i, 2] = encode[uint32(channel(level, 2))]

    def body(rgb, colors, decode, encode, supersampling, share, linear):
        mean(rgb, colors, decode, encode, samples, share, linear)

    return body if samples else mean
