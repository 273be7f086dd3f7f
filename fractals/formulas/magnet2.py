"""Magnet 2: z -> ((z³ + 3(c - 1)z + (c - 1)(c - 2)) / (3z² + 3(c - 2)z + (c - 1)(c - 2) + 1))².

Orbits converge to 1 or escape. After Peitgen and Richter, *The Beauty of Fractals* (1986).
"""

from fractals.formulas.language.codegen import compose


def make():
    return compose(
        "magnet2",
        "Magnet 2, of degree 2 at infinity",
        "((z^3 + 3*(c - 1)*z + (c - 1)*(c - 2))/(3*z^2 + 3*(c - 2)*z + (c - 1)*(c - 2) + 1))^2",
        tolerance=1e-6,
        center=("1.4", "0"),
        width="5.4",
        group="Rational maps",
    )
