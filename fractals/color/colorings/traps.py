"""Colorings by what the orbit comes near to."""

import math

from fractals.color import trap_image
from fractals.kernels.angles import direction
from fractals.kernels.coloring import Coloring, Option, OrbitStatistic
from fractals.kernels.primitives import fma, number, select, sqrt

MIN_SQUARE = 1e-30  # least square of a distance, because packs flush subnormal squares to 0
FAR = 1e30  # square of the distance before the first step; finite in float32


def make_orbit_trap_statistic(target, formula, base, shape):
    if shape == "point":

        def square(s, t, radius):
            return fma(s, s, t * t)

    elif shape == "line":

        def square(s, t, radius):
            return t * t

    elif shape == "cross":

        def square(s, t, radius):
            s, t = abs(s), abs(t)
            nearest = select(s < t, s, t)
            return nearest * nearest

    else:

        def square(s, t, radius):
            beyond = sqrt(fma(s, s, t * t)) - radius
            return beyond * beyond

    square = target.jit(square)

    def start(x, y):
        return (number(FAR, x),)

    def update(w, x, y, u, v, a, b, point):
        s, t = x - number(point[base], x), y - number(point[base + 1], x)
        cos, sin = number(point[base + 2], x), number(point[base + 3], x)
        s, t = fma(cos, s, sin * t), fma(cos, t, -(sin * s))
        m = square(s, t, number(point[base + 4], x))
        m = select(m > number(MIN_SQUARE, x), m, number(MIN_SQUARE, x))
        return (select(m < w[0], m, w[0]),)

    return start, update


def orbit_trap_statistic_constants(x, y, angle, radius):
    return x, y, *direction(angle), radius


def make_orbit_trap_value(target):
    zero = target.real(0)

    def value(n, x, y, p, q, w, constants):
        reach = constants[2]
        return reach / (reach + sqrt(select(w[0] > zero, w[0], zero)))

    return value


def orbit_trap_constants(formula, escape_radius, width, reach, **settings):
    return (reach,)


def orbit_trap():
    """Orbit trap: how near the orbit comes to a point, a line, a cross or a circle.

    The value goes from 0 far away to 1 on the trap. The orbit is z_1, z_2, ..., up to the point
    that escaped. After Clifford Pickover, *Computers, Pattern, Chaos and Beauty* (1990).
    """
    return Coloring(
        name="orbit_trap",
        title="how near the orbit comes to a point, line, cross or circle",
        make_value=make_orbit_trap_value,
        ends="any",
        constants=orbit_trap_constants,
        transfer="linear",
        side="both",
        options={
            "shape": Option(
                "cross", 0, 0, "shape of the trap", "code", ("point", "line", "cross", "circle")
            ),
            "x": Option(0.0, -10, 10, "real part of the middle", "statistic"),
            "y": Option(0.0, -10, 10, "imaginary part of the middle", "statistic"),
            "angle": Option(0.0, -360, 360, "of a line or cross, in degrees", "statistic"),
            "radius": Option(0.5, 0, 10, "of a circle", "statistic"),
            "reach": Option(
                0.25, 1e-6, 100, "distance at which the value is 1/2; on the trap it is 1"
            ),
        },
        statistic=OrbitStatistic(
            "trap", ("square",), make_orbit_trap_statistic, orbit_trap_statistic_constants
        ),
    )


FAR_AWAY = 1e15  # distance before the first step; its square is finite in float32


def make_pickover_stalks_statistic(target, formula, base):
    def start(x, y):
        return (number(FAR_AWAY, x),)

    def update(w, x, y, u, v, a, b, point):
        s, t = abs(x), abs(y)
        near = select(s < t, s, t)
        return (select(near < w[0], near, w[0]),)

    return start, update


def make_pickover_stalks_value(target):
    def value(n, x, y, p, q, w, constants):
        return constants[2] / (constants[2] + abs(w[0]))

    return value


def pickover_stalks_constants(formula, escape_radius, width, thickness):
    return (thickness,)


def pickover_stalks():
    """Pickover stalks: how near the orbit comes to the axes.

    The value goes from 0 far away to 1 on an axis. After Clifford Pickover,
    *Computers, Pattern, Chaos and Beauty* (1990).
    """
    return Coloring(
        name="pickover_stalks",
        title="how near the orbit comes to the axes",
        make_value=make_pickover_stalks_value,
        ends="any",
        constants=pickover_stalks_constants,
        transfer="linear",
        side="both",
        options={
            "thickness": Option(
                0.02,
                1e-6,
                10,
                "distance from an axis at which the value is 1/2; on the axis it is 1",
            )
        },
        statistic=OrbitStatistic("axes", ("distance",), make_pickover_stalks_statistic),
    )


def make_epsilon_cross_statistic(target, formula, base):
    def start(x, y):
        return (number(0, x),)

    def update(w, x, y, u, v, a, b, point):
        zero, one, two = number(0, x), number(1, x), number(2, x)
        reach, radius = number(point[base], x), number(point[base + 1], x)
        axis = select(abs(x) < reach, one, select(abs(y) < reach, two, zero))
        new = (w[0] == zero) & (fma(x, x, y * y) < radius * radius)
        return (select(new, axis, w[0]),)

    return start, update


def plain_settings(**settings):
    return tuple(settings.values())


def make_epsilon_cross_value(target):
    zero, one, half, nan = target.real(0), target.real(1), target.real(0.5), target.real(math.nan)

    def value(n, x, y, p, q, w, constants):
        return select(w[0] > zero, (w[0] - one) * half, nan)

    return value


def epsilon_cross():
    """Epsilon cross: the axis that the orbit z_1, z_2, ... comes near first.

    The value is 0 for the imaginary axis, 1/2 for the real axis, and no value for neither. Points
    beyond the radius, such as the one that escaped, do not count. After Fractint (*epscross*).
    """
    return Coloring(
        name="epsilon_cross",
        title="the axis that the orbit comes near first",
        make_value=make_epsilon_cross_value,
        ends="any",
        transfer="linear",
        side="both",
        options={
            "reach": Option(0.01, 1e-6, 10, "distance from an axis that is near", "statistic"),
            "radius": Option(2.0, 1e-3, 1e9, "points beyond it do not count", "statistic"),
        },
        statistic=OrbitStatistic(
            "epsilon", ("axis",), make_epsilon_cross_statistic, plain_settings
        ),
    )


def make_last_visit_statistic(target, formula, base):
    def start(x, y):
        return (number(-1, x),)

    def update(w, x, y, u, v, a, b, point):
        reach = number(point[base], x)
        near = fma(x, x, y * y) / (reach * reach)
        return (select(near < number(1, x), near, w[0]),)

    return start, update


def make_last_visit_value(target):
    zero, nan = target.real(0), target.real(math.nan)

    def value(n, x, y, p, q, w, constants):
        return select(w[0] < zero, nan, w[0])

    return value


def last_visit():
    """Last visit: how near 0 the last point of the orbit was that came near 0.

    The value is |z|² over the square of the distance that is near, from 0 to 1, and no value where
    no point of z_1, z_2, ... came so near. After Fractint (*fmod*).
    """
    return Coloring(
        name="last_visit",
        title="how near 0 the orbit was when it came near for the last time",
        make_value=make_last_visit_value,
        ends="any",
        transfer="linear",
        side="both",
        options={"reach": Option(0.1, 1e-6, 100, "distance from 0 that is near", "statistic")},
        statistic=OrbitStatistic("visit", ("square",), make_last_visit_statistic, plain_settings),
    )


HEAD = 6  # constants before the opacity bits, whose number is fixed


def make_picture_trap_statistic(target, formula, base):
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


def picture_trap_statistic_constants(picture, x, y, size):
    rows, columns = trap_image.opaque(picture).shape
    words = trap_image.opacity(picture)
    return (x, y, 1 / size, columns / (size * rows), columns, rows, *words)


def make_picture_trap_value(target):
    real = target.real
    zero, one, nan = real(0), real(1), real(math.nan)

    def value(n, x, y, p, q, w, constants):
        return select(w[0] > zero, (w[0] - one) * constants[2], nan)

    return value


def picture_trap_constants(formula, escape_radius, width, picture, **settings):
    return (1 / trap_image.entries(picture),)


def picture_trap():
    """Picture trap: the first pixel of a picture that the orbit hits.

    The picture lies in the plane of the orbit z_1, z_2, ...; its transparent pixels are not hit.
    The value is the number of the pixel, and the palette holds the picture's colors in that order.
    """
    return Coloring(
        name="picture_trap",
        title="the place in a picture that the orbit hits first",
        make_value=make_picture_trap_value,
        ends="any",
        constants=picture_trap_constants,
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
        statistic=OrbitStatistic(
            "picture", ("pixel",), make_picture_trap_statistic, picture_trap_statistic_constants
        ),
    )
