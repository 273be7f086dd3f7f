"""Pixels as weighted means of jittered samples, and derivatives along a turned picture."""

from fractals.kernels.primitives import fma, select, sqrt


def make_turned_body(target, projected):
    """Return the body that fills ``dx2 + i dy2``: dz along the picture's axes.

    dz of the picture gives |z| the gradient that it has along the picture. So a light comes from
    the picture's left, and a distance is one in the picture, however the view is turned and
    stretched. ``body(i0, j0, di, dj, dx2, dy2, x, y, dx, dy, matrix, arms)``:

    x, y, dx, dy : array of real
        Of an `EscapeTile`.
    matrix : array of real, shape (4,)
        ``scene.geometry.matrix``: from steps in the picture to steps in the plane.
    arms : array of real, shape (2, samples)
        With `projected`, an exponential map, the samples' offsets from the center. Lengths are
        then in widths of the picture.
    """
    real = target.real
    zero, one, infinity = real(0), real(1), real(float("inf"))
    two_pi = real(6.283185307179586)

    if projected:

        def along(g, h, arms, k):
            """Return the gradient times the conjugate of a picture's step in the plane."""
            x, y = arms[0, k] * two_pi, arms[1, k] * two_pi
            return fma(g, y, -(h * x)), fma(g, x, h * y)

    else:

        def along(g, h, arms, k):
            return g, h

    along = target.jit(along)

    def body(i0, j0, di, dj, dx2, dy2, x, y, dx, dy, matrix, arms):
        j = j0
        while j < dx2.shape[0]:
            i = i0
            while i < dx2.shape[1]:
                m = fma(x[j, i], x[j, i], y[j, i] * y[j, i])
                known = (m > zero) & (m < infinity)
                size = sqrt(select(known, m, one))
                u, v = select(known, x[j, i], one) / size, select(known, y[j, i], zero) / size
                g, h = fma(u, dx[j, i], v * dy[j, i]), fma(v, dx[j, i], -(u * dy[j, i]))
                g, h = fma(matrix[0], g, matrix[2] * h), fma(matrix[1], g, matrix[3] * h)
                g, h = along(g, h, arms, j * dx2.shape[1] + i)
                dx2[j, i], dy2[j, i] = fma(g, u, h * v), fma(g, v, -(h * u))
                i += di
            j += dj

    return body


def make_decode_body(target):
    """Return the body that converts ``colors`` from sRGB to linear light.

    ``body(i0, j0, di, dj, colors, decode)``; colors has the shape (height, width, 3), and
    ``decode`` is that of `fractals.kernels.blend.make_mean_body`.
    """
    real32, int32 = target.real32, target.int32

    def body(i0, j0, di, dj, colors, decode):
        last = int32(decode.shape[0] - 2)
        scale = real32(decode.shape[0] - 1)
        j = j0
        while j < colors.shape[0]:
            i = i0
            while i < colors.shape[1]:
                for c in range(3):
                    t = colors[j, i, c] * scale
                    k = min(int32(t), last)
                    colors[j, i, c] = fma(t - real32(k), decode[k + 1] - decode[k], decode[k])
                i += di
            j += dj

    return body


def make_filter_body(target, period):
    """Return the body that fills the pixels ``rgb`` from jittered samples.

    A pixel is the weighted mean of the samples less than a pixel's width from its middle, across
    and down; the weight falls linearly to 0 (a tent filter).

    Parameters
    ----------
    target : Target
    period : int
        Size of the square of jitter that repeats; a power of two.

    Notes
    -----
    The arguments of ``body``, besides the strides:

    rgb : array of uint8 or uint16, shape (height, width, 3)
    colors : array of float32, shape (rows, columns, 3)
        Samples in linear light: those of the tile, and of the pixels around it.
    shifts : array of float32, shape (2, period, period)
        How far each sample lies from the middle of its cell, across and down, in cells.
    encode : array of the type of `rgb`
        As in `fractals.kernels.shade.make_body`.
    window : FilterWindow
    """
    real32, int32 = target.real32, target.int32
    zero, half, one = real32(0), real32(0.5), real32(1)
    most = int32(period - 1)

    def body(i0, j0, di, dj, rgb, colors, shifts, encode, window):
        n, first_x, first_y, left, top = window
        brightest, side = real32(encode.shape[0] - 1), real32(n)
        reach = int32((n + int32(1)) // int32(2))
        j = j0
        while j < rgb.shape[0]:
            i = i0
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
                i += di
            j += dj

    return body
