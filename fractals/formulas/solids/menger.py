"""Menger sponge by folds, with two turns in each step (Karl Menger, 1926; Knighty, 2010)."""

import math

from fractals.kernels.primitives import fma, number, select
from fractals.kernels.solid import ANGLE, Knob, Solid, from_afar, within
from fractals.kernels.space import swapped

CORNER = math.sqrt(3)  # how far the corners of the cube are from 0
KNOBS = {
    "scale": Knob(1.2, 4.0, "by which a step magnifies; 3 for the sponge"),
    "turn": Knob(*ANGLE, "degrees by which a step rotates about the z axis"),
    "tilt": Knob(*ANGLE, "degrees by which a step rotates about the x axis, after the turn"),
}


def step(x, y, z, d, a, b, c, options):
    """Return the next point, and the bound of the derivative."""
    scale, move, cos_turn, sin_turn, cos_tilt, sin_tilt = options
    x, y = swapped(abs(x), abs(y))
    x, z = swapped(x, abs(z))
    y, z = swapped(y, z)
    x, y = fma(cos_turn, x, -(sin_turn * y)), fma(sin_turn, x, cos_turn * y)
    y, z = fma(cos_tilt, y, -(sin_tilt * z)), fma(sin_tilt, y, cos_tilt * z)
    w = scale * z
    z = select(w > number(0.5, x) * move, fma(scale, z, -move), w)
    return fma(scale, x, -move), fma(scale, y, -move), z, d * scale


def steps_of(scale):
    """Return how many steps magnify by 2 million: float32 resolves no more."""
    return min(60, math.ceil(math.log(2e6) / math.log(scale)))


def make(scale=3.0, turn=0.0, tilt=0.0):
    """Return the solid."""
    given = within(KNOBS, scale=scale, turn=turn, tilt=tilt)
    turns = [math.radians(angle) for angle in (turn, tilt)]
    return Solid(
        "menger",
        "Menger sponge by folds, with two turns",
        step,
        distance="linear",
        steps=steps_of(scale),
        bail=1e4,
        bound=CORNER,
        body=CORNER,
        options=(scale, scale - 1.0, *(f(angle) for angle in turns for f in (math.cos, math.sin))),
        parameters=given,
        knobs=KNOBS,
        source="Karl Menger, 1926; by folds: Knighty, 2010",
        position=from_afar(CORNER),
    )
