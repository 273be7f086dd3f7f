"""Solids of mirrors, which magnify away from a corner in each step (Knighty, 2010).

A step folds space by the mirrors into one of their cells, rotates it, and magnifies it away from a
corner of the polyhedron. All maps are similarities, so d is the derivative itself. Orbits that end
nearer to 0 than the corner do not escape: the solid is within that ball, and so are its images.
"""

import functools
import math

from fractals.kernels.primitives import fma, number, select
from fractals.kernels.space import (
    fold_icosahedron,
    fold_octahedron,
    fold_tetrahedron,
    rotated,
    rotation,
    swapped,
)
from fractals.space.solid import (
    ANGLE,
    Knob,
    Solid,
    from_afar,
    rotation_knobs,
    within,
)

CORNER = math.sqrt(3)  # how far the corners of the cube are from 0
# r² that ends an orbit, in squares of the solid's radius: the distance, which counts from the ball
# around the solid, is then some 6 percent too short. With 1e4, orbits take 1.2 times the steps.
ENDS = 300.0
MENGER_KNOBS = {
    "scale": Knob(1.2, 4.0, "by which a step magnifies; 3 for the sponge"),
    "turn": Knob(*ANGLE, "degrees by which a step rotates about the z axis"),
    "tilt": Knob(*ANGLE, "degrees by which a step rotates about the x axis, after the turn"),
}


def menger_step(x, y, z, d, a, b, c, options):
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


def menger(scale=3.0, turn=0.0, tilt=0.0):
    """Menger sponge by folds, with two turns in each step (Karl Menger, 1926; Knighty, 2010)."""
    given = within(MENGER_KNOBS, scale=scale, turn=turn, tilt=tilt)
    turns = [math.radians(angle) for angle in (turn, tilt)]
    return Solid(
        "menger",
        "Menger sponge by folds, with two turns",
        menger_step,
        distance="linear",
        steps=steps_of(scale),
        bail=ENDS * CORNER**2,
        bound=CORNER,
        body=CORNER,
        options=(scale, scale - 1.0, *(f(angle) for angle in turns for f in (math.cos, math.sin))),
        parameters=given,
        knobs=MENGER_KNOBS,
        source="Karl Menger, 1926; by folds: Knighty, 2010",
        position=from_afar(CORNER),
    )


SOURCE = "Knighty, 2010"
SCALE_KNOBS = {
    "scale": Knob(1.2, 4.0, "by which a step magnifies; at 2, faces are triangles of Sierpinski"),
    **rotation_knobs("a step"),
}


@functools.cache
def make_mirror_step(fold):
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
        make_mirror_step(fold),
        distance="linear",
        steps=steps_of(scale),
        bail=ENDS * radius**2,
        bound=radius,
        body=radius,
        options=(scale, *((scale - 1) * part for part in corner), *rotation(turn, tilt, roll)),
        position=from_afar(radius),
        **settings,
    )


def sierpinski(scale=2.0, turn=0.0, tilt=0.0, roll=0.0):
    """Sierpinski tetrahedron by folds, with rotations (Wacław Sierpiński, 1915; Knighty, 2010)."""
    given = within(SCALE_KNOBS, scale=scale, turn=turn, tilt=tilt, roll=roll)
    return kaleidoscope(
        "sierpinski",
        "Sierpinski tetrahedron by folds, with rotations",
        fold_tetrahedron,
        (1.0, 1.0, 1.0),
        **given,
        parameters=given,
        knobs=SCALE_KNOBS,
        source=f"Wacław Sierpiński, 1915; by folds: {SOURCE}",
    )


# By the number of cells that meet round the axis of the corner.
OCTAHEDRAL_CORNERS = {
    2: ("cuboctahedron", (math.sqrt(0.5), math.sqrt(0.5), 0.0)),
    3: ("cube", (math.sqrt(1 / 3), math.sqrt(1 / 3), math.sqrt(1 / 3))),
    4: ("octahedron", (1.0, 0.0, 0.0)),
}
OCTAHEDRAL_KNOBS = {
    "corner": Knob(
        2, 4, "from which a step magnifies, of an octahedron (4), a cube (3) or both (2)"
    ),
    **SCALE_KNOBS,
}


def octahedral(corner=4, scale=2.0, turn=0.0, tilt=0.0, roll=0.0):
    """Octahedral kaleidoscope: the nine mirrors of a cube, with rotations (Knighty, 2010)."""
    angles = {"turn": turn, "tilt": tilt, "roll": roll}
    given = within(OCTAHEDRAL_KNOBS, corner=corner, scale=scale, **angles)
    body, place = OCTAHEDRAL_CORNERS[corner]
    return kaleidoscope(
        "octahedral",
        f"Octahedral kaleidoscope of the {body}, with rotations",
        fold_octahedron,
        place,
        scale,
        **angles,
        parameters=given,
        knobs=OCTAHEDRAL_KNOBS,
        source=SOURCE,
    )


GOLDEN = (1 + math.sqrt(5)) / 2
# By the number of cells that meet round the axis of the corner.
ICOSAHEDRAL_CORNERS = {
    2: ("icosidodecahedron", (0.0, 0.0, 1.0)),
    3: ("dodecahedron", (0.0, 1 / GOLDEN / math.sqrt(3), GOLDEN / math.sqrt(3))),
    5: ("icosahedron", (1 / math.hypot(1, GOLDEN), 0.0, GOLDEN / math.hypot(1, GOLDEN))),
}
ICOSAHEDRAL_KNOBS = {
    "corner": Knob(
        2, 5, "from which a step magnifies, of an icosahedron (5), a dodecahedron (3) or both (2)"
    ),
    **SCALE_KNOBS,
}


def icosahedral(corner=5, scale=2.0, turn=0.0, tilt=0.0, roll=0.0):
    """Icosahedral kaleidoscope: an icosahedron's 15 mirrors, with rotations (Knighty, 2010)."""
    angles = {"turn": turn, "tilt": tilt, "roll": roll}
    given = within(ICOSAHEDRAL_KNOBS, corner=corner, scale=scale, **angles)
    if corner not in ICOSAHEDRAL_CORNERS:
        raise ValueError("corner is 2, 3 or 5")
    body, place = ICOSAHEDRAL_CORNERS[corner]
    return kaleidoscope(
        "icosahedral",
        f"Icosahedral kaleidoscope of the {body}, with rotations",
        fold_icosahedron,
        place,
        scale,
        **angles,
        parameters=given,
        knobs=ICOSAHEDRAL_KNOBS,
        source=SOURCE,
    )
