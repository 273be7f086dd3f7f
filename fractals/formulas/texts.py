"""Formulas that are one expression each, composed of their text."""

from fractals.formulas.language.codegen import compose


def sine():
    """Sine: z -> c sin z, from its critical point π/2."""
    return compose("sine", "Sine, c sin z", "c*sin(z)", start="pi/2", width="14", group="Functions")


def exponential():
    """Exponential: z -> c exp z, from 0, its asymptotic value."""
    return compose(
        "exponential",
        "Exponential, c exp z",
        "c*exp(z)",
        center=("-1", "0"),
        width="10",
        group="Functions",
    )


def logistic():
    """Lambda, the logistic map: z -> c z (1 - z), from its critical point 1/2."""
    return compose(
        "logistic",
        "Lambda (logistic map), c z (1 - z)",
        "c*z*(1 - z)",
        start="1/2",
        center=("1", "0"),
        width="7.2",
        group="Polynomials",
    )


def collatz():
    """Collatz: z -> (2 + 7z - (2 + 5z) cos(pi z)) / 4.

    It maps even whole numbers n to n / 2, and odd ones to 3n + 1. Orbits start at their sample, c.
    """
    return compose(
        "collatz",
        "Collatz map, (2 + 7z - (2 + 5z) cos πz) / 4",
        "(2 + 7*z - (2 + 5*z)*cos(pi*z))/4",
        start="c",
        width="6",
        group="Functions",
    )


def magnet1():
    """Magnet 1: z -> ((z² + c - 1) / (2z + c - 2))², from the renormalization of magnets.

    Orbits converge to 1, the magnetic phase, or escape. After Peitgen and Richter, *The Beauty of
    Fractals* (1986).
    """
    return compose(
        "magnet1",
        "Magnet 1, ((z² + c - 1) / (2z + c - 2))²",
        "((z^2 + c - 1)/(2*z + c - 2))^2",
        tolerance=1e-6,
        center=("1.2", "0"),
        width="7",
        group="Rational maps",
    )


def magnet2():
    """Magnet 2: z -> ((z³ + 3(c - 1)z + (c - 1)(c - 2)) / (3z² + 3(c - 2)z + (c - 1)(c - 2) + 1))².

    Orbits converge to 1 or escape. After Peitgen and Richter, *The Beauty of Fractals* (1986).
    """
    return compose(
        "magnet2",
        "Magnet 2, of degree 2 at infinity",
        "((z^3 + 3*(c - 1)*z + (c - 1)*(c - 2))/(3*z^2 + 3*(c - 2)*z + (c - 1)*(c - 2) + 1))^2",
        tolerance=1e-6,
        center=("1.4", "0"),
        width="5.4",
        group="Rational maps",
    )
