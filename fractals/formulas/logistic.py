"""Lambda, the logistic map: z -> c z (1 - z), from its critical point 1/2."""

from fractals.formulas.language.codegen import compose


def make():
    return compose(
        "logistic",
        "Lambda (logistic map), c z (1 - z)",
        "c*z*(1 - z)",
        start="1/2",
        center=("1", "0"),
        width="7.2",
        group="Polynomials",
    )
