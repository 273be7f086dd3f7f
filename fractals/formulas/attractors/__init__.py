"""Attractors: a function each, in files of maps of the plane and of flows in space."""

from fractals.formulas.attractors import flows, maps
from fractals.formulas.attractors._offered import MAKERS

__all__ = ["MAKERS", "flows", "maps"]
