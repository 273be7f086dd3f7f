"""Variations of flames: a function each, in files by what they do."""

from fractals.formulas.variations import functions, polar
from fractals.formulas.variations._offered import MAKERS

__all__ = ["MAKERS", "functions", "polar"]
