"""Pseudo-Kleinian: fold the box, invert the ball (Theli-at and Knighty, 2011)."""

from fractals.kernels.primitives import fma, number, select, sqrt
from fractals.kernels.solid import Knob, Solid, within
from fractals.kernels.space import folded

KNOBS = {
    **{f"box_{axis}": Knob(0.5, 1.5, f"where {axis} is folded") for axis in "xyz"},
    "size": Knob(0.5, 1.5, "square of the radius of the ball whose inside is inverted"),
    **{f"c{axis}": Knob(-1.0, 1.0, f"{axis} of the constant that a step adds") for axis in "xyz"},
    "tube": Knob(0.0, 1.5, "radius of the tubes along the last z axis that close the solid"),
    "radius": Knob(0.5, 20.0, "of the sphere that cuts the solid, which has no end"),
}


def step(x, y, z, d, a, b, c, options):
    """Return the next point, and the bound of the derivative."""
    box_x, box_y, box_z, size = options[:4]
    x, y, z = folded(x, box_x), folded(y, box_y), folded(z, box_z)
    one = number(1, x)
    f = size / fma(x, x, fma(y, y, fma(z, z, number(1e-12, x))))
    f = select(f > one, f, one)
    return fma(x, f, a), fma(y, f, b), fma(z, f, c), d * f


def distance(x, y, z, d, options):
    """Return the distance estimate: to a tube along z, or to the plane z = 0 outside of tubes."""
    flat = sqrt(fma(x, x, y * y))
    tube = flat - options[4]
    plane = flat * abs(z) / sqrt(fma(x, x, fma(y, y, fma(z, z, number(1e-12, x)))))
    return select(tube > plane, tube, plane) / d


def make(
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
    """Return the solid."""
    boxes = {"box_x": box_x, "box_y": box_y, "box_z": box_z}
    given = within(KNOBS, **boxes, size=size, cx=cx, cy=cy, cz=cz, tube=tube, radius=radius)
    return Solid(
        "pseudo_kleinian",
        "Pseudo-Kleinian: fold the box, invert the ball",
        step,
        distance=distance,
        steps=12,
        bail=1e4,
        bound=radius,
        constants=(cx, cy, cz),
        factor=0.5,
        options=(box_x, box_y, box_z, size, tube),
        parameters=given,
        knobs=KNOBS,
        source="Theli-at and Knighty, 2011",
    )
