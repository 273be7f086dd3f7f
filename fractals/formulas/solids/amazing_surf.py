"""Amazing surface: a Mandelbox that folds two coordinates only, as a Julia set (Kali, 2011)."""

import math

from fractals.kernels.primitives import clamp, fma
from fractals.kernels.solid import Knob, Solid, rotation_knobs, within
from fractals.kernels.space import folded, rotated, rotation

KNOBS = {
    "scale": Knob(1.1, 3.0, "by which a step magnifies"),
    "fold": Knob(0.1, 3.0, "where x and y are folded"),
    "inner": Knob(0.01, 3.0, "radius of the ball that is magnified as a whole, at most `outer`"),
    "outer": Knob(0.1, 3.0, "radius of the sphere at which the space inside it is inverted"),
    **rotation_knobs("a step"),
    **{f"c{axis}": Knob(-3.0, 3.0, f"{axis} of the constant that a step adds") for axis in "xyz"},
}


def step(x, y, z, d, a, b, c, options):
    """Return the next point, and the bound of the derivative."""
    fold, scale, inner, outer = options[:4]
    x, y = folded(x, fold), folded(y, fold)
    f = scale / clamp(fma(x, x, fma(y, y, z * z)), inner, outer)
    x, y, z = rotated(x, y, z, options[4:])
    return fma(x, f, a), fma(y, f, b), fma(z, f, c), d * f


def make(
    scale=1.7,
    fold=1.0,
    inner=0.4,
    outer=1.0,
    turn=10.0,
    tilt=30.0,
    roll=0.0,
    cx=0.9,
    cy=0.85,
    cz=-0.1,
):
    """Return the solid."""
    angles = {"turn": turn, "tilt": tilt, "roll": roll}
    sizes = {"scale": scale, "fold": fold, "inner": inner, "outer": outer}
    given = within(KNOBS, **sizes, **angles, cx=cx, cy=cy, cz=cz)
    if inner > outer:
        raise ValueError(f"inner: {inner:g} is more than outer, {outer:g}")
    # A step moves by at most twice the fold in two directions, and by the constant.
    bound = (scale * 2 * fold * math.sqrt(2) + math.hypot(cx, cy, cz)) / (scale - 1)
    return Solid(
        "amazing_surf",
        "Amazing surface: a Mandelbox that folds two coordinates only",
        step,
        distance="linear",
        steps=24,
        bail=1e4,
        bound=bound,
        constants=(cx, cy, cz),
        options=(fold, scale * outer * outer, inner * inner, outer * outer, *rotation(**angles)),
        parameters=given,
        knobs=KNOBS,
        source="Kali, 2011",
        position=(4.0, -6.0, 5.0),
    )
