"""fma of plain Python by machine code: a seventh of the tests' time was spent in MPFR's.

`tests/kernels/test_kernels.py` checks both against fractions.
"""

import numpy as np

from fractals.kernels import primitives

KINDS = {float: "float64", np.float64: "float64", np.float32: "float32"}
OWN = {kind: primitives._FMA[kind] for kind in KINDS}  # those of the package
PROGRAMS = []  # stay in memory


def compiled(kind):
    """Return ``fma(a, b, c)`` of numbers of a type."""
    import numba

    from fractals.backends.cpu import target  # teaches Numba what fma is

    assert target
    number = KINDS[kind]
    program = numba.njit(f"{number}({number}, {number}, {number})")(
        lambda a, b, c: primitives.fma(a, b, c)
    )
    PROGRAMS.append(program)
    (found,) = program.overloads.values()
    call = found.entry_point  # without the choice by types
    return (lambda a, b, c: np.float32(call(a, b, c))) if kind is np.float32 else call


def install():
    """Have `primitives.fma` compile what it calls when a test calls it first."""

    def later(kind):
        def first(a, b, c):
            primitives._FMA[kind] = compiled(kind)
            return primitives._FMA[kind](a, b, c)

        return first

    primitives._FMA.update({kind: later(kind) for kind in KINDS})
