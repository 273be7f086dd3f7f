"""Magnet 1: z -> ((z² + c - 1) / (2z + c - 2))², from the renormalization of magnets.

Orbits converge to 1, the magnetic phase, or escape. After Peitgen and Richter, *The Beauty of
Fractals* (1986).
"""

from fractals.formulas.language.codegen import compose


def make():
    return compose(
        "magnet1",
        "Magnet 1, ((z² + c - 1) / (2z + c - 2))²",
        "((z^2 + c - 1)/(2*z + c - 2))^2",
        tolerance=1e-6,
        center=("1.2", "0"),
        width="7",
        group="Rational maps",
    )
