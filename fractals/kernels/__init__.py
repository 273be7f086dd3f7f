"""Pixel programs: what is computed for each pixel, written once in plain numbers for every target.

A program is a function ``make_body(target, ...)`` that returns ``body(x, y, dx, dy, out,
*arrays)``: it fills the elements (y, x), (y, x + dx), ... of `out`, so one text serves two plain
loops, a compiled loop over a tile, and a GPU thread that strides over the grid.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Target:
    """What a backend provides to the programs it compiles.

    Attributes
    ----------
    jit : callable
        Makes a plain function callable from compiled code; returns it unchanged in plain Python.
    real, real32, int32, int64 : callable
        Conversions to the number type that is iterated, and to fixed types.
    """

    jit: Callable[[Any], Any]
    real: Callable[[Any], Any]
    real32: Callable[[Any], Any]
    int32: Callable[[Any], Any]
    int64: Callable[[Any], Any]
