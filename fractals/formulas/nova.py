"""Nova: Newton's method for z**power - 1, and c is added (Paul Derbyshire, 1996); from 1."""

from fractals.formulas.language.codegen import compose
from fractals.formulas.language.derivative import plus
from fractals.formulas.newton import TOLERANCE, function_of, newton_step, relaxed


def make(power=3, relaxation=1.0):
    step = relaxed(newton_step(function_of(power, "")), relaxation)
    return compose(
        "nova",
        f"Nova, Newton's method for z**{power} - 1, plus c",
        plus(step, ("c",)),
        "1",
        degree=0,
        tolerance=TOLERANCE,
        escapes=False,
        center=("-0.4", "0"),
        width="4",
        parameters={"power": power, **({"relaxation": relaxation} if relaxation != 1 else {})},
        group="Root finding",
    )
