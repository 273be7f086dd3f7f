"""The usual first loop over a Mandelbrot set: in plain Python, and with a bare ``@jit``.

`fractals bench` times it as the lower rungs of its ladder (Python, naive ``@jit``, the CPU loops of
this package, the GPU); nothing is drawn with it. It is in this folder because only backends import
Numba. After Numba's Mandelbrot example: a complex z, one sample after the other, a test at every
step.
"""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numba
import numpy as np

Fill = Callable[..., None]


def make_fill(jit: Callable[[Any], Any]) -> Fill:
    """Return ``fill(counts, xs, ys, julia, point, max_iterations, escape_radius_squared)``.

    `xs` and `ys` are the samples' positions, `point` the c of a Julia set. As in Numba's example, a
    count is the number of steps before the one that escaped, one less than in the rest of this
    package; `max_iterations` where none did. `jit` wraps both functions.
    """

    @jit
    def escape(z, c, max_iterations, escape_radius_squared):  # type: ignore[no-untyped-def]
        for i in range(max_iterations):
            z = z * z + c
            if z.real * z.real + z.imag * z.imag >= escape_radius_squared:
                return i
        return max_iterations

    @jit
    def fill(counts, xs, ys, julia, point, max_iterations, escape_radius_squared):  # type: ignore[no-untyped-def]
        for j in range(len(ys)):
            for i in range(len(xs)):
                here = complex(xs[i], ys[j])
                if julia:
                    counts[j, i] = escape(here, point, max_iterations, escape_radius_squared)
                else:
                    counts[j, i] = escape(0j, here, max_iterations, escape_radius_squared)

    return fill  # type: ignore[no-any-return]


def plain() -> Fill:
    """Return the loop in plain Python."""
    return make_fill(lambda function: function)


def compiled(dtype: Any) -> tuple[Fill, float]:
    """Return the loop under ``@jit``, and the seconds it took to compile."""
    begun = perf_counter()
    fill = make_fill(numba.jit)
    one = np.zeros(1)
    fill(np.zeros((1, 1), dtype), one, one, False, 0j, 1, 4.0)
    return fill, perf_counter() - begun
