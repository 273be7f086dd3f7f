"""From samples to pixels where samples lie anywhere: weighted means, and slopes in the picture."""

from fractals.kernels.primitives import fma, select, sqrt


def make_turned_body(target, projected):
    """Return the body that fills ``p2 + iq2``: dz as if the picture lay in the plane as it is.

    The number that gives |z| the gradient that it has along the picture: so a light comes from the
    picture's left, and a distance is one in the picture, however the view is turned and stretched.
    ``matrix`` is that of `scene.geometry.matrix`. In an exponential map (`projected`) lengths
    are in widths of the picture, and ``arms`` (2, samples) the radii of the samples.
    """
    real = target.real
    zero, one, infinity = real(0), real(1), real(float("inf"))
    turn = real(6.283185307179586)

    if projected:

        def along(g, h, arms, k):
            """Multiply by the conjugate of what a step in the picture is in the plane."""
            x, y = arms[0, k] * turn, arms[1, k] * turn
            return fma(g, y, -(h * x)), fma(g, x, h * y)

    else:

        def along(g, h, arms, k):
            return g, h

    along = target.jit(along)

    def body(x0, y0, dx, dy, p2, q2, x, y, p, q, matrix, arms):
        j = y0
        while j < p2.shape[0]:
            i = x0
            while i < p2.shape[1]:
                m = fma(x[j, i], x[j, i], y[j, i] * y[j, i])
                known = (m > zero) & (m < infinity)
                size = sqrt(select(known, m, one))
                u, v = select(known, x[j, i], one) / size, select(known, y[j, i], zero) / size
                g, h = fma(u, p[j, i], v * q[j, i]), fma(v, p[j, i], -(u * q[j, i]))
                g, h = fma(matrix[0], g, matrix[2] * h), fma(matrix[1], g, matrix[3] * h)
                g, h = along(g, h, arms, j * p2.shape[1] + i)
                p2[j, i], q2[j, i] = fma(g, u, h * v), fma(g, v, -(h * u))
                i += dx
            j += dy

    return body


def make_decode_body(target):
    """Return the body that turns ``colors`` (height, width, 3) from sRGB into linear light.

    ``decode`` is as in `fractals.kernels.blend.make_mean_body`.
    """
    real32, int32 = target.real32, target.int32

    def body(x0, y0, dx, dy, colors, decode):
        last = int32(decode.shape[0] - 2)
        scale = real32(decode.shape[0] - 1)
        j = y0
        while j < colors.shape[0]:
            i = x0
            while i < colors.shape[1]:
                for c in range(3):
                    t = colors[j, i, c] * scale
                    k = min(int32(t), last)
                    colors[j, i, c] = fma(t - real32(k), decode[k + 1] - decode[k], decode[k])
                i += dx
            j += dy

    return body


def make_filter_body(target, period):
    """Return the body that fills ``rgb`` (uint8 or uint16, height x width x 3).

    A pixel is the mean of the samples less than a pixel from its middle, across and down; their
    weight falls evenly from there (a tent). Its arrays: ``colors`` of samples in linear light;
    ``shifts`` (2, period, period) of jittered samples; ``encode``, linear light to sRGB;
    how many samples a pixel is wide; the first pixel's first sample in ``colors``, across and down;
    the column and row of ``colors``' first sample in the picture.
    """
    real32, int32 = target.real32, target.int32
    zero, half, one = real32(0), real32(0.5), real32(1)
    most = int32(period - 1)

    def body(x0, y0, dx, dy, rgb, colors, shifts, encode, n, first_x, first_y, left, top):
        brightest, side = real32(encode.shape[0] - 1), real32(n)
        reach = int32((n + int32(1)) // int32(2))
        j = y0
        while j < rgb.shape[0]:
            i = x0
            while i < rgb.shape[1]:
                begin_x, begin_y = int32(first_x + i * n), int32(first_y + j * n)
                red, green, blue, total = zero, zero, zero, zero
                middle = side * half
                for v in range(max(begin_y - reach, 0), min(begin_y + n + reach, colors.shape[0])):
                    for u in range(
                        max(begin_x - reach, 0), min(begin_x + n + reach, colors.shape[1])
                    ):
                        s, t = (u + left) & most, (v + top) & most
                        across = real32(int32(u - begin_x)) + half + shifts[0, t, s] - middle
                        down = real32(int32(v - begin_y)) + half + shifts[1, t, s] - middle
                        across, down = one - abs(across) / side, one - abs(down) / side
                        weight = select(across > zero, across, zero)
                        weight = weight * select(down > zero, down, zero)
                        red = fma(weight, colors[v, u, 0], red)
                        green = fma(weight, colors[v, u, 1], green)
                        blue = fma(weight, colors[v, u, 2], blue)
                        total += weight
                red, green, blue = red / total, green / total, blue / total
                red, green = select(red < one, red, one), select(green < one, green, one)
                blue = select(blue < one, blue, one)
                rgb[j, i, 0] = encode[int32(fma(red, brightest, half))]
                rgb[j, i, 1] = encode[int32(fma(green, brightest, half))]
                rgb[j, i, 2] = encode[int32(fma(blue, brightest, half))]
                i += dx
            j += dy

    return body
