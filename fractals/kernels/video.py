"""The luma and chroma planes that video encoders take, of sRGB values of 16 bits.

All arithmetic is in int64, so the planes have equal bits everywhere. Weights are scaled by
2**SHIFT, which keeps their error below a thousandth of a step of 10 bits.
"""

SHIFT = 32


def make_luma_body(target):
    """Return the body that fills the plane ``luma``.

    The arguments of ``body``, besides the strides:

    luma : array of uint8 or uint16, shape (height, width)
    rgb : array of uint16, shape (height, width, 3)
    weights : array of int64, shape (4,)
        Of red, green and blue, and the value of black, times 2**SHIFT.
    thresholds : array of int64, shape (n, n), n a power of 2
        What is added before the fraction is cut off: a dither, or a half everywhere.
    """
    int64 = target.int64

    def body(i0, j0, di, dj, luma, rgb, weights, thresholds):
        red, green, blue, black = weights[0], weights[1], weights[2], weights[3]
        mask = thresholds.shape[0] - 1
        j = j0
        while j < luma.shape[0]:
            i = i0
            while i < luma.shape[1]:
                light = red * int64(rgb[j, i, 0]) + green * int64(rgb[j, i, 1])
                light += blue * int64(rgb[j, i, 2]) + black
                luma[j, i] = (light + thresholds[j & mask, i & mask]) >> SHIFT
                i += di
            j += dj

    return body


def make_chroma_body(target, across, down):
    """Return the body that fills a plane of chroma, of one value for across x down pixels.

    With 2 pixels across, a value lies on the left one of them, where players expect it: it is the
    mean of three columns, weighted 1, 2, 1. Rows are averaged. The arguments of ``body`` are as of
    `make_luma_body`, with ``chroma`` in place of ``luma``.
    """
    int64 = target.int64
    halvings = int64((across == 2) * 2 + (down == 2))  # of the sum of the weights

    def body(i0, j0, di, dj, chroma, rgb, weights, thresholds):
        red, green, blue, zero = weights[0], weights[1], weights[2], weights[3]
        mask, last = thresholds.shape[0] - 1, rgb.shape[1] - 1
        j = j0
        while j < chroma.shape[0]:
            i = i0
            while i < chroma.shape[1]:
                light = int64(0)
                for v in range(j * down, (j + 1) * down):
                    u = i * across
                    r, g, b = int64(rgb[v, u, 0]), int64(rgb[v, u, 1]), int64(rgb[v, u, 2])
                    if across == 2:
                        before, after = max(u - 1, 0), min(u + 1, last)
                        r += r + int64(rgb[v, before, 0]) + int64(rgb[v, after, 0])
                        g += g + int64(rgb[v, before, 1]) + int64(rgb[v, after, 1])
                        b += b + int64(rgb[v, before, 2]) + int64(rgb[v, after, 2])
                    light += red * r + green * g + blue * b
                light = (light >> halvings) + zero
                chroma[j, i] = (light + thresholds[j & mask, i & mask]) >> SHIFT
                i += di
            j += dj

    return body
