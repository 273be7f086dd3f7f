"""Exponential: z -> c exp z, from 0, its asymptotic value."""

from fractals.formulas.language.codegen import compose


def make():
    return compose(
        "exponential",
        "Exponential, c exp z",
        "c*exp(z)",
        center=("-1", "0"),
        width="10",
        group="Functions",
    )
