"""Solids of folds of a box, and of inversions in a ball."""

import math

from fractals.kernels.primitives import clamp, fma, number, select, sqrt
from fractals.kernels.space import folded, rotated, rotation
from fractals.space.solid import (
    Knob,
    Solid,
    from_afar,
    rotation_knobs,
    within,
)

LONGEST = 5.0  # times the distance estimate, that the surface is expected to be away
STEPS, USUAL = 14, 1.5  # steps of an orbit, which magnify by this: 300 times together
LEAST_SCALE = 1.05  # smaller solids are ever larger: no orbit escapes where a step does not magnify
BOX_KNOBS = {
    "scale": Knob(-3.0, 3.0, f"by which a step magnifies; not between {-LEAST_SCALE} and 1.05"),
    "fold": Knob(0.1, 3.0, "half the side of the cube at whose faces coordinates are folded"),
    "inner": Knob(0.01, 3.0, "radius of the ball that is magnified as a whole, at most `outer`"),
    "outer": Knob(0.1, 3.0, "radius of the sphere at which the space inside it is inverted"),
    **rotation_knobs("a step"),
}


def box_step(x, y, z, d, a, b, c, options):
    """Return the next point, and the bound of the derivative."""
    fold, scale, inner, outer = options[:4]
    x, y, z = folded(x, fold), folded(y, fold), folded(z, fold)
    f = scale / clamp(fma(x, x, fma(y, y, z * z)), inner, outer)
    return fma(x, f, a), fma(y, f, b), fma(z, f, c), fma(d, abs(f), number(1, x))


def rotated_box_step(x, y, z, d, a, b, c, options):
    """Return the same, with a rotation before (a, b, c) is added."""
    fold, scale, inner, outer = options[:4]
    x, y, z = folded(x, fold), folded(y, fold), folded(z, fold)
    f = scale / clamp(fma(x, x, fma(y, y, z * z)), inner, outer)
    x, y, z = rotated(x, y, z, options[4:])
    return fma(x, f, a), fma(y, f, b), fma(z, f, c), fma(d, abs(f), number(1, x))


def mandelbox(scale=-1.5, fold=1.0, inner=0.5, outer=1.0, turn=0.0, tilt=0.0, roll=0.0):
    """Mandelbox: fold the cube, fold the sphere, scale (Tom Lowe, 2010)."""
    angles = {"turn": turn, "tilt": tilt, "roll": roll}
    given = within(BOX_KNOBS, scale=scale, fold=fold, inner=inner, outer=outer, **angles)
    if abs(scale) < LEAST_SCALE:
        raise ValueError(f"scale: {scale:g} is between {-LEAST_SCALE} and {LEAST_SCALE}")
    if inner > outer:
        raise ValueError(f"inner: {inner:g} is more than outer, {outer:g}")
    # Half of the cube around it.
    side = fold * (2 * (scale + 1) / (scale - 1) if scale > 0 else 2.0)
    options = fold, scale * outer * outer, inner * inner, outer * outer
    # At its faces a step reflects: the derivative grows as the steps of -scale x + 1, and d as
    # those of scale d + 1.
    short = min(LONGEST, (scale + 1) / (scale - 1)) if scale > 0 else 1.0
    return Solid(
        "mandelbox",
        "Mandelbox: fold the cube, fold the sphere, scale",
        rotated_box_step if any(angles.values()) else box_step,
        general=rotated_box_step,
        distance="linear",
        # As many as magnify as much: orbits of fewer stay near where there is no solid.
        steps=max(STEPS, math.ceil(STEPS * math.log(USUAL) / math.log(abs(scale)))),
        bail=1e4,
        bound=side * math.sqrt(3),
        short=short,
        # So that the surface is still an estimate away, as a rule; more than 2 was not measured
        far=min(2.0, max(1.0, short - 1)),
        options=(*options, *rotation(**angles)),
        parameters=given,
        knobs=BOX_KNOBS,
        source="Tom Lowe, 2010",
        position=from_afar(1.4 * side),
    )


SURF_KNOBS = {
    "scale": Knob(1.1, 3.0, "by which a step magnifies"),
    "fold": Knob(0.1, 3.0, "where x and y are folded"),
    "inner": Knob(0.01, 3.0, "radius of the ball that is magnified as a whole, at most `outer`"),
    "outer": Knob(0.1, 3.0, "radius of the sphere at which the space inside it is inverted"),
    **rotation_knobs("a step"),
    **{f"c{axis}": Knob(-3.0, 3.0, f"{axis} of the constant that a step adds") for axis in "xyz"},
}


def surf_step(x, y, z, d, a, b, c, options):
    """Return the next point, and the bound of the derivative."""
    fold, scale, inner, outer = options[:4]
    x, y = folded(x, fold), folded(y, fold)
    f = scale / clamp(fma(x, x, fma(y, y, z * z)), inner, outer)
    x, y, z = rotated(x, y, z, options[4:])
    return fma(x, f, a), fma(y, f, b), fma(z, f, c), d * f


def amazing_surf(
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
    """Amazing surface: a Mandelbox that folds two coordinates only, as a Julia set (Kali, 2011)."""
    angles = {"turn": turn, "tilt": tilt, "roll": roll}
    sizes = {"scale": scale, "fold": fold, "inner": inner, "outer": outer}
    given = within(SURF_KNOBS, **sizes, **angles, cx=cx, cy=cy, cz=cz)
    if inner > outer:
        raise ValueError(f"inner: {inner:g} is more than outer, {outer:g}")
    # A step moves by at most twice the fold in two directions, and by the constant.
    bound = (scale * 2 * fold * math.sqrt(2) + math.hypot(cx, cy, cz)) / (scale - 1)
    return Solid(
        "amazing_surf",
        "Amazing surface: a Mandelbox that folds two coordinates only",
        surf_step,
        distance="linear",
        steps=24,
        bail=1e4,
        bound=bound,
        constants=(cx, cy, cz),
        options=(fold, scale * outer * outer, inner * inner, outer * outer, *rotation(**angles)),
        parameters=given,
        knobs=SURF_KNOBS,
        source="Kali, 2011",
        position=(4.0, -6.0, 5.0),
    )


KLEINIAN_KNOBS = {
    **{f"box_{axis}": Knob(0.5, 1.5, f"where {axis} is folded") for axis in "xyz"},
    "size": Knob(0.5, 1.5, "square of the radius of the ball whose inside is inverted"),
    **{f"c{axis}": Knob(-1.0, 1.0, f"{axis} of the constant that a step adds") for axis in "xyz"},
    "tube": Knob(0.0, 1.5, "radius of the tubes along the last z axis that close the solid"),
    "radius": Knob(0.5, 20.0, "of the sphere that cuts the solid, which has no end"),
}


def kleinian_step(x, y, z, d, a, b, c, options):
    """Return the next point, and the bound of the derivative."""
    box_x, box_y, box_z, size = options[:4]
    x, y, z = folded(x, box_x), folded(y, box_y), folded(z, box_z)
    one = number(1, x)
    f = size / fma(x, x, fma(y, y, fma(z, z, number(1e-12, x))))
    f = select(f > one, f, one)
    return fma(x, f, a), fma(y, f, b), fma(z, f, c), d * f


def kleinian_distance(x, y, z, d, options):
    """Return the distance estimate: to a tube along z, or to the plane z = 0 outside of tubes."""
    flat = sqrt(fma(x, x, y * y))
    tube = flat - options[4]
    plane = flat * abs(z) / sqrt(fma(x, x, fma(y, y, fma(z, z, number(1e-12, x)))))
    return select(tube > plane, tube, plane) / d


def pseudo_kleinian(
    box_x=0.92436,
    box_y=0.90756,
    box_z=0.92436,
    size=1.0,
    cx=0.0,
    cy=0.0,
    cz=0.0,
    tube=0.92784,
    radius=4.0,
):
    """Pseudo-Kleinian: fold the box, invert the ball (Theli-at and Knighty, 2011)."""
    boxes = {"box_x": box_x, "box_y": box_y, "box_z": box_z}
    given = within(
        KLEINIAN_KNOBS, **boxes, size=size, cx=cx, cy=cy, cz=cz, tube=tube, radius=radius
    )
    return Solid(
        "pseudo_kleinian",
        "Pseudo-Kleinian: fold the box, invert the ball",
        kleinian_step,
        distance=kleinian_distance,
        steps=12,
        bail=1e4,
        bound=radius,
        constants=(cx, cy, cz),
        factor=0.5,
        short=2.0,
        far=1.2,  # measured: with more, rays to some of these solids end too deep
        options=(box_x, box_y, box_z, size, tube),
        parameters=given,
        knobs=KLEINIAN_KNOBS,
        source="Theli-at and Knighty, 2011",
    )
