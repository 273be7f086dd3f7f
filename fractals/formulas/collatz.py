"""Collatz: z -> (2 + 7z - (2 + 5z) cos(pi z)) / 4, n / 2 of even whole numbers, 3n + 1 of odd ones.

Every orbit starts at its own point.
"""

from fractals.formulas.language.codegen import compose


def make():
    return compose(
        "collatz",
        "Collatz map, (2 + 7z - (2 + 5z) cos πz) / 4",
        "(2 + 7*z - (2 + 5*z)*cos(pi*z))/4",
        start="c",
        width="6",
    )
