"""Sierpinski tetrahedron by folds, with rotations (Wacław Sierpiński, 1915; Knighty, 2010)."""

from fractals.formulas.solids._kaleidoscope import KNOBS, SOURCE, kaleidoscope
from fractals.kernels.solid import within
from fractals.kernels.space import fold_tetrahedron


def make(scale=2.0, turn=0.0, tilt=0.0, roll=0.0):
    """Return the solid."""
    given = within(KNOBS, scale=scale, turn=turn, tilt=tilt, roll=roll)
    return kaleidoscope(
        "sierpinski",
        "Sierpinski tetrahedron by folds, with rotations",
        fold_tetrahedron,
        (1.0, 1.0, 1.0),
        **given,
        parameters=given,
        knobs=KNOBS,
        source=f"Wacław Sierpiński, 1915; by folds: {SOURCE}",
    )
