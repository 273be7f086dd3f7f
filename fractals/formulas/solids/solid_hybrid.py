"""Hybrid of solids: maps applied one after the other; a step is all of them."""

import functools
import inspect

from fractals.formulas.solids import (
    amazing_surf,
    bristorbrot,
    burning_bulb,
    icosahedral,
    juliabulb,
    mandelbox,
    mandelbulb,
    menger,
    octahedral,
    pseudo_kleinian,
    sierpinski,
)
from fractals.kernels.solid import Solid
