"""Collatz: z -> (2 + 7z - (2 + 5z) cos(pi z)) / 4.

It maps even whole numbers n to n / 2, and odd ones to 3n + 1. Orbits start at their sample, c.
"""

from fractals.formulas.language.codegen import compose


def make():
    return compose(
        "collatz",
        "Collatz map, (2 + 7z - (2 + 5z) cos πz) / 4",
        "(2 + 7*z - (2 + 5*z)*cos(pi*z))/4",
        start="c",
        width="6",
        group="Functions",
    )
