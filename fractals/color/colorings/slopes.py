"""Slopes: the surroundings of the set as a relief under a light, after Blinn and Phong.

z / dz points to where the potential of the set grows fastest, so it gives the relief's normal.
Only z and dz are needed, so every method of iteration can draw it.
"""

import math

from fractals.kernels.coloring import Coloring, Option
from fractals.kernels.primitives import fma, select, sqrt


def make_value(target):
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


def constants(formula, escape_radius, width, direction, height, strength, ambient, specular):
    turned, raised = math.radians(direction), math.radians(height)
    length = math.hypot(1, strength)
    light = math.cos(turned) * math.cos(raised), math.sin(turned) * math.cos(raised)
    return strength / length, 1 / length, *light, math.sin(raised), ambient, specular


def make():
    return Coloring(
        name="slopes",
        title="a relief under a light",
        make_value=make_value,
        constants=constants,
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
