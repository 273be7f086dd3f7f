"""Colorings by the derivative: the distance to the set, and its slopes."""

import math

from fractals.kernels.coloring import Coloring, Option
from fractals.kernels.elementary import make_log2
from fractals.kernels.primitives import fma, select, sqrt


def make_distance_value(target):
    real, log2 = target.real, make_log2(target)
    zero, one = real(0), real(1)

    def value(n, x, y, p, q, constants):
        m = fma(x, x, y * y)
        p, q = abs(p), abs(q)
        large, small = select(p > q, p, q), select(p > q, q, p)
        known = large > zero
        large = select(known, large, one)
        ratio = small / large  # the square of `large` could overflow
        size = large * real(math.sqrt(fma(ratio, ratio, one)))
        return select(known, constants[2] * (real(math.sqrt(m)) * log2(m) / size), zero)

    return value


def distance_constants(formula, escape_radius, width):
    return (1000 * math.log(2) / width,)


def distance():
    """Distance estimate to the set, 2|z| log|z| / |dz|, in thousandths of the picture's width.

    The set is no nearer than a quarter of the estimate. After Milnor (1989) and Peitgen and Saupe,
    *The Science of Fractal Images* (1988). The unit is the width of the picture and not a pixel, so
    pictures of all sizes look alike.
    """
    return Coloring(
        name="distance",
        title="distance to the set, in thousandths of the picture's width",
        make_value=make_distance_value,
        constants=distance_constants,
        derivative=True,
        gradient="length",
    )


def make_distance_line_value(target):
    estimate = target.jit(make_distance_value(target))
    zero, one, two, three = (target.real(k) for k in range(4))

    def value(n, x, y, p, q, constants):
        t = estimate(n, x, y, p, q, constants) * constants[3]
        t = select(t > zero, select(t < one, t, one), zero)
        return t * t * fma(-two, t, three)

    return value


def distance_line_constants(formula, escape_radius, width, weight):
    return *distance_constants(formula, escape_radius, width), 1 / weight


def distance_line():
    """Distance line: the set's boundary as a line, equally wide at every zoom.

    The value goes from 0 at the boundary to 1 at the line's weight, by the distance estimate of
    `distance.py`.
    """
    return Coloring(
        name="distance_line",
        title="the set's boundary as a line",
        make_value=make_distance_line_value,
        constants=distance_line_constants,
        derivative=True,
        gradient="length",
        transfer="linear",
        palette="ink",
        blend="multiply",
        options={"weight": Option(1.0, 0.01, 1000, "of the line, in thousandths of the width")},
    )


def make_slopes_value(target):
    real = target.real
    zero, one = real(0), real(1)

    def value(n, x, y, p, q, constants):
        largest = select(abs(p) > abs(q), abs(p), abs(q))
        known = largest > zero
        scale = one / select(known, largest, one)
        s, t = p * scale, q * scale  # the squares of p and q could overflow
        g, h = fma(x, s, y * t), fma(y, s, -(x * t))
        m = fma(g, g, h * h)
        known = known & (m > zero)
        size = sqrt(select(known, m, one))
        g, h = select(known, g / size, zero), select(known, h / size, zero)
        steep, level = constants[2], constants[3]  # of the normal
        light_x, light_y, light_z = constants[4], constants[5], constants[6]
        ambient, specular = constants[7], constants[8]
        toward = fma(steep, fma(g, light_x, h * light_y), level * light_z)
        lit = select(toward > zero, toward, zero)
        glint = fma(toward + toward, level, -light_z)  # the mirrored light's part toward the eye
        glint = select(glint > zero, glint, zero)
        glint = glint * glint
        glint = glint * glint
        glint = glint * glint
        shade = fma(one - ambient, lit, ambient)
        return fma(specular, fma(glint, glint, -shade), shade)

    return value


def slopes_constants(formula, escape_radius, width, direction, height, strength, ambient, specular):
    turned, raised = math.radians(direction), math.radians(height)
    length = math.hypot(1, strength)
    light = math.cos(turned) * math.cos(raised), math.sin(turned) * math.cos(raised)
    return strength / length, 1 / length, *light, math.sin(raised), ambient, specular


def slopes():
    """Slopes: the surroundings of the set as a relief under a light, after Blinn and Phong.

    z / dz points to where the potential of the set grows fastest, so it gives the relief's normal.
    Only z and dz are needed, so every method of iteration can draw it.
    """
    return Coloring(
        name="slopes",
        title="a relief under a light",
        make_value=make_slopes_value,
        constants=slopes_constants,
        derivative=True,
        gradient="direction",
        transfer="linear",
        palette="ink",
        blend="multiply",
        options={
            "direction": Option(135.0, -360, 360, "from which the light comes, in degrees"),
            "height": Option(45.0, 0, 90, "of the light over the plane, in degrees"),
            "strength": Option(1.0, 0, 100, "steepness of the relief"),
            "ambient": Option(0.25, 0, 1, "light that comes from everywhere"),
            "specular": Option(0.2, 0, 1, "share of the highlights in the light"),
        },
    )
