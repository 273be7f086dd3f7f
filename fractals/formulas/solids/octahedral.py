"""Octahedral kaleidoscope: the nine mirrors of a cube, with rotations (Knighty, 2010)."""

import math

from fractals.formulas.solids._kaleidoscope import KNOBS as OWN
from fractals.formulas.solids._kaleidoscope import SOURCE, kaleidoscope
from fractals.kernels.solid import Knob, within
from fractals.kernels.space import fold_octahedron

# By the number of cells that meet round the axis of the corner.
CORNERS = {
    2: ("cuboctahedron", (math.sqrt(0.5), math.sqrt(0.5), 0.0)),
    3: ("cube", (math.sqrt(1 / 3), math.sqrt(1 / 3), math.sqrt(1 / 3))),
    4: ("octahedron", (1.0, 0.0, 0.0)),
}
KNOBS = {
    "corner": Knob(
        2, 4, "from which a step magnifies, of an octahedron (4), a cube (3) or both (2)"
    ),
    **OWN,
}


def make(corner=4, scale=2.0, turn=0.0, tilt=0.0, roll=0.0):
    """Return the solid."""
    angles = {"turn": turn, "tilt": tilt, "roll": roll}
    given = within(KNOBS, corner=corner, scale=scale, **angles)
    body, place = CORNERS[corner]
    return kaleidoscope(
        "octahedral",
        f"Octahedral kaleidoscope of the {body}, with rotations",
        fold_octahedron,
        place,
        scale,
        **angles,
        parameters=given,
        knobs=KNOBS,
        source=SOURCE,
    )
