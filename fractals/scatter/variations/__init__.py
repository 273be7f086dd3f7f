"""Variations of flames: a function each, in files by what they do."""

from fractals.scatter.variations import functions, plugins, polar
from fractals.scatter.variations._offered import MAKERS

__all__ = ["MAKERS", "functions", "plugins", "polar"]
