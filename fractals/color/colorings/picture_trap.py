"""Picture trap: the first pixel of a picture that the orbit hits.

The picture lies in the plane of the orbit z_1, z_2, ...; its transparent pixels are not hit. The
value is the number of the pixel, and the palette holds the picture's colors in that order.
"""

import math

from fractals.color import trap_image
from fractals.kernels.coloring import Coloring, Option, OrbitStatistic
from fractals.kernels.primitives import fma, number, select

HEAD = 6  # constants before the opacity bits, whose number is fixed


def make_statistic(target, formula, base):
    real, int32 = target.real, target.int32
    half, first, one_bit = real(0.5), int32(base + HEAD), int32(1)
    shift, rest = int32(trap_image.BITS.bit_length() - 1), int32(trap_image.BITS - 1)

    def start(x, y):
        return (number(0, x),)

    def update(w, x, y, u, v, a, b, point):
        zero, one = number(0, x), number(1, x)
        s = fma(x - point[base], point[base + 2], half)
        t = fma(point[base + 1] - y, point[base + 3], half)
        within = (s >= zero) & (s < one) & (t >= zero) & (t < one)
        columns, rows = point[base + 4], point[base + 5]
        across = int32(select(within, s, zero) * columns)
        down = int32(select(within, t, zero) * rows)
        pixel = int32(down * int32(columns) + across)
        word = int32(point[first + (pixel >> shift)])
        opaque = (word >> (pixel & rest)) & one_bit
        hit = within & (opaque == one_bit) & (w[0] == zero)
        return (select(hit, real(pixel) + one, w[0]),)

    return start, update


def statistic_constants(picture, x, y, size):
    rows, columns = trap_image.opaque(picture).shape
    words = trap_image.opacity(picture)
    return (x, y, 1 / size, columns / (size * rows), columns, rows, *words)


def make_value(target):
    real = target.real
    zero, one, nan = real(0), real(1), real(math.nan)

    def value(n, x, y, p, q, w, constants):
        return select(w[0] > zero, (w[0] - one) * constants[2], nan)

    return value


def constants(formula, escape_radius, width, picture, **settings):
    return (1 / trap_image.entries(picture),)


def make():
    return Coloring(
        name="picture_trap",
        title="the place in a picture that the orbit hits first",
        make_value=make_value,
        ends="any",
        constants=constants,
        transfer="linear",
        side="both",
        options={
            "picture": Option(
                trap_image.BUILT_IN,
                0,
                0,
                "a .png, .jpg or .webp of up to 512x512, or flower",
                "statistic",
            ),
            "x": Option(0.0, -10, 10, "real part of the middle", "statistic"),
            "y": Option(0.0, -10, 10, "imaginary part of the middle", "statistic"),
            "size": Option(1.0, 1e-3, 20, "width in the plane", "statistic"),
        },
        make_palette=lambda picture, **settings: trap_image.PicturePalette.of(picture),
        statistic=OrbitStatistic("picture", ("pixel",), make_statistic, statistic_constants),
    )
