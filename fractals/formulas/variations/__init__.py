"""Variations of flames: a function each, in files by what they do."""

from fractals.formulas.variations import angles, blurs, circles, functions, grids, waves
from fractals.formulas.variations._offered import MAKERS

__all__ = ["MAKERS", "angles", "blurs", "circles", "functions", "grids", "waves"]
