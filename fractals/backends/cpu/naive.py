"""The loop that everybody writes: in plain Python, and with a bare ``@jit``.

Nothing is drawn with it. The ladder of `fractals bench` times it as its lower rungs, so that a
learner sees what each one brings: Python, naive ``@jit``, our CPU loops, the GPU. It stands here
because only this folder imports Numba. In the manner of Numba's classic Mandelbrot lesson: a
complex z, one sample after the other, a test at every step.
"""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numba
import numpy as np

Fill = Callable[..., None]


def make_fill(jit: Callable[[Any], Any]) -> Fill:
    """Return ``fill(counts, xs, ys, julia, point, limit, radius2)``, wrapped by `jit`.

    `xs` and `ys` are the samples' positions, `point` the c of a Julia set. A count is here, as in
    the lesson, the number of steps before the one that escaped: one less than ours; `limit` where
    none did.
    """

    @jit
    def escape(z, c, limit, radius2):  # type: ignore[no-untyped-def]
        for i in range(limit):
            z = z * z + c
            if z.real * z.real + z.imag * z.imag >= radius2:
                return i
        return limit

    @jit
    def fill(counts, xs, ys, julia, point, limit, radius2):  # type: ignore[no-untyped-def]
        for j in range(len(ys)):
            for i in range(len(xs)):
                here = complex(xs[i], ys[j])
                if julia:
                    counts[j, i] = escape(here, point, limit, radius2)
                else:
                    counts[j, i] = escape(0j, here, limit, radius2)

    return fill  # type: ignore[no-any-return]


def plain() -> Fill:
    """Return the loop in plain Python."""
    return make_fill(lambda function: function)


def compiled(dtype: Any) -> tuple[Fill, float]:
    """Return the loop under ``@jit``, compiled for counts of a type, and the seconds that took."""
    begun = perf_counter()
    fill = make_fill(numba.jit)
    one = np.zeros(1)
    fill(np.zeros((1, 1), dtype), one, one, False, 0j, 1, 4.0)
    return fill, perf_counter() - begun
