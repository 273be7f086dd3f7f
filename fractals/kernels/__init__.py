"""Pixel programs: what is computed for each pixel, written once in plain numbers for every target.

A program is a function ``make_body(target, *options)``, whose options are frozen dataclasses or
plain values. It returns ``body(i0, j0, di, dj, out, *arguments)``, which fills the elements
(j0, i0), (j0, i0 + di), ..., (j0 + dj, i0), ... of `out`: an array, or an
`fractals.kernels.layout.EscapeTile`. So one text serves a plain loop, a compiled loop over a tile
(strides of 1), and a GPU thread that strides over the grid.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

MakeBody = TypeVar("MakeBody", bound=Callable[..., Any])


@dataclass(frozen=True)
class Target:
    """What a backend provides to the programs it compiles."""

    # Makes a plain function callable from compiled code; returns it unchanged in plain Python
    jit: Callable[[Any], Any]
    real: Callable[[Any], Any]  # conversion to the number type that is iterated, float64 or float32
    # real32, int32, int64: conversions to fixed types
    real32: Callable[[Any], Any]
    int32: Callable[[Any], Any]
    int64: Callable[[Any], Any]
    # Conversion of a whole number to one that indexes arrays; it is not below 0
    index: Callable[[Any], Any]
    # The same of 64 bits, for a loop over rows: the address then grows by a constant. Only such
    # numbers are added to it
    wide: Callable[[Any], Any]
    # ``add(array, index, value)``: adds to an element of an array of whole numbers, of one
    # dimension, as one step that no other thread divides
    add: Callable[[Any, Any, Any], None]


def on_cpu(name: str, plain: str = "") -> Callable[[MakeBody], MakeBody]:
    """Return a decorator of ``make_body`` that names the CPU's faster way to run the body.

    Parameters
    ----------
    name : str
        "module:function". ``function(backend, *options)`` returns a `Run` of
        `fractals.backends.base`, or raises `Uncompilable` with the reason why the plain loop has to
        run. So a kernel says who runs it, and the backend knows no kernel.
    plain : str
        The same of a plain loop that ends early where it is asked to: ``function(backend, reason,
        *options)``. Without it the plain loop is one over all elements.
    """

    def named(make_body: MakeBody) -> MakeBody:
        make_body.on_cpu, make_body.plain = name, plain  # type: ignore[attr-defined]
        return make_body

    return named
