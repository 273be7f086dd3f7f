"""Icosahedral kaleidoscope: fifteen mirrors of an icosahedron, with rotations (Knighty, 2010)."""

import math

from fractals.formulas.solids._kaleidoscope import KNOBS as OWN
from fractals.formulas.solids._kaleidoscope import SOURCE, kaleidoscope
from fractals.kernels.solid import Knob, within
from fractals.kernels.space import fold_icosahedron

GOLDEN = (1 + math.sqrt(5)) / 2
# By the number of cells that meet round the axis of the corner.
CORNERS = {
    2: ("icosidodecahedron", (0.0, 0.0, 1.0)),
    3: ("dodecahedron", (0.0, 1 / GOLDEN / math.sqrt(3), GOLDEN / math.sqrt(3))),
    5: ("icosahedron", (1 / math.hypot(1, GOLDEN), 0.0, GOLDEN / math.hypot(1, GOLDEN))),
}
KNOBS = {
    "corner": Knob(
        2, 5, "from which a step magnifies, of an icosahedron (5), a dodecahedron (3) or both (2)"
    ),
    **OWN,
}


def make(corner=5, scale=2.0, turn=0.0, tilt=0.0, roll=0.0):
    """Return the solid."""
    angles = {"turn": turn, "tilt": tilt, "roll": roll}
    given = within(KNOBS, corner=corner, scale=scale, **angles)
    if corner not in CORNERS:
        raise ValueError("corner is 2, 3 or 5")
    body, place = CORNERS[corner]
    return kaleidoscope(
        "icosahedral",
        f"Icosahedral kaleidoscope of the {body}, with rotations",
        fold_icosahedron,
        place,
        scale,
        **angles,
        parameters=given,
        knobs=KNOBS,
        source=SOURCE,
    )
