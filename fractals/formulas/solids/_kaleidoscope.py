"""Kaleidoscopes: mirrors of a polyhedron, a rotation, and a scale (Knighty, 2010).

A step folds space by the mirrors into one of their cells, rotates it, and magnifies it away from a
corner of the polyhedron. All maps are similarities, so d is the derivative itself. Orbits that end
nearer to 0 than the corner do not escape: the solid is within that ball, and so are its images.
"""

import functools
import math

from fractals.formulas.solids.menger import steps_of
from fractals.kernels.primitives import fma
from fractals.kernels.solid import Knob, Solid, from_afar, rotation_knobs
from fractals.kernels.space import rotated, rotation

SOURCE = "Knighty, 2010"


KNOBS = {
    "scale": Knob(1.2, 4.0, "by which a step magnifies; at 2, faces are triangles of Sierpinski"),
    **rotation_knobs("a step"),
}


@functools.cache
def make_step(fold):
    """Return the step of the mirrors of a polyhedron."""

    def step(x, y, z, d, a, b, c, options):
        """Return the next point, and the bound of the derivative."""
        scale, right, back, up = options[:4]
        x, y, z = fold(x, y, z)
        x, y, z = rotated(x, y, z, options[4:])
        return fma(scale, x, -right), fma(scale, y, -back), fma(scale, z, -up), d * scale

    return step


def kaleidoscope(name, title, fold, corner, scale, turn, tilt, roll, **settings):
    """Return the solid of a fold, which magnifies away from a corner."""
    radius = math.hypot(*corner)
    return Solid(
        name,
        title,
        make_step(fold),
        distance="linear",
        steps=steps_of(scale),
        bail=1e4 * radius * radius,
        bound=radius,
        body=radius,
        options=(scale, *((scale - 1) * part for part in corner), *rotation(turn, tilt, roll)),
        position=from_afar(radius),
        **settings,
    )
