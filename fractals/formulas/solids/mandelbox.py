"""Mandelbox: fold the cube, fold the sphere, scale (Tom Lowe, 2010)."""

import math

from fractals.kernels.primitives import clamp, fma, number
from fractals.kernels.solid import Knob, Solid, from_afar, rotation_knobs, within
from fractals.kernels.space import folded, rotated, rotation

LEAST_SCALE = 1.05  # smaller solids are ever larger: no orbit escapes where a step does not magnify
KNOBS = {
    "scale": Knob(-3.0, 3.0, f"by which a step magnifies; not between {-LEAST_SCALE} and 1.05"),
    "fold": Knob(0.1, 3.0, "half the side of the cube at whose faces coordinates are folded"),
    "inner": Knob(0.01, 3.0, "radius of the ball that is magnified as a whole, at most `outer`"),
    "outer": Knob(0.1, 3.0, "radius of the sphere at which the space inside it is inverted"),
    **rotation_knobs("a step"),
}


def step(x, y, z, d, a, b, c, options):
    """Return the next point, and the bound of the derivative."""
    fold, scale, inner, outer = options
    x, y, z = folded(x, fold), folded(y, fold), folded(z, fold)
    f = scale / clamp(fma(x, x, fma(y, y, z * z)), inner, outer)
    return fma(x, f, a), fma(y, f, b), fma(z, f, c), fma(d, abs(f), number(1, x))


def rotated_step(x, y, z, d, a, b, c, options):
    """Return the same, with a rotation before (a, b, c) is added."""
    fold, scale, inner, outer = options[:4]
    x, y, z = folded(x, fold), folded(y, fold), folded(z, fold)
    f = scale / clamp(fma(x, x, fma(y, y, z * z)), inner, outer)
    x, y, z = rotated(x, y, z, options[4:])
    return fma(x, f, a), fma(y, f, b), fma(z, f, c), fma(d, abs(f), number(1, x))


def make(scale=-1.5, fold=1.0, inner=0.5, outer=1.0, turn=0.0, tilt=0.0, roll=0.0):
    """Return the solid."""
    angles = {"turn": turn, "tilt": tilt, "roll": roll}
    given = within(KNOBS, scale=scale, fold=fold, inner=inner, outer=outer, **angles)
    if abs(scale) < LEAST_SCALE:
        raise ValueError(f"scale: {scale:g} is between {-LEAST_SCALE} and {LEAST_SCALE}")
    if inner > outer:
        raise ValueError(f"inner: {inner:g} is more than outer, {outer:g}")
    # Half of the cube around it.
    side = fold * (2 * (scale + 1) / (scale - 1) if scale > 0 else 2.0)
    options = fold, scale * outer * outer, inner * inner, outer * outer
    turned = any(angles.values())
    return Solid(
        "mandelbox",
        "Mandelbox: fold the cube, fold the sphere, scale",
        rotated_step if turned else step,
        distance="linear",
        steps=14,
        bail=1e4,
        bound=side * math.sqrt(3),
        options=(*options, *rotation(**angles)) if turned else options,
        parameters=given,
        knobs=KNOBS,
        source="Tom Lowe, 2010",
        position=from_afar(1.4 * side),
    )
