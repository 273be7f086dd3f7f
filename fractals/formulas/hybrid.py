"""Hybrid: formulas f(z) + c applied one after the other; a step, and a count, is all of them."""

from fractals.formulas import absolute_values, powers
from fractals.kernels.formula import Formula, explained

PARTS = {
    "buffalo": absolute_values.buffalo,
    "burning_ship": absolute_values.burning_ship,
    "celtic": absolute_values.celtic,
    "celtic_heart": absolute_values.celtic_heart,
    "heart": absolute_values.heart,
    "mandelbrot": powers.mandelbrot,
    "multibrot": powers.multibrot,
    "perpendicular_burning_ship": absolute_values.perpendicular_burning_ship,
    "shark_fin": absolute_values.shark_fin,
    "tricorn": powers.tricorn,
}
MAX_FORMULAS = 6  # more would only take longer to compile


def make_step(parts):
    def step(x, y, a, b):
        for part in parts:
            x, y = part.step(x, y, a, b)
        return x, y

    return step


def make_tangent(parts):
    def tangent(x, y, p, q, a, b, e, f):
        for part in parts:
            (p, q), (x, y) = part.derivative(x, y, p, q), part.step(x, y, a, b)
            p, q = p + e, q + f
        return p, q

    return tangent


@explained(formulas="names of formulas whose steps are taken in turn, joined by +")
def make(formulas="mandelbrot+burning_ship"):
    names = formulas.split("+") if isinstance(formulas, str) else formulas
    if not isinstance(names, list | tuple) or not 1 <= len(names) <= MAX_FORMULAS:
        raise ValueError(f"formulas is a list of 1 to {MAX_FORMULAS} names of formulas")
    names = [str(name).strip() for name in names]
    for name in names:
        if name not in PARTS:
            raise ValueError(f"formulas: '{name[:40]}' is not one of {', '.join(PARTS)}")
    parts = tuple(PARTS[name]() for name in names)
    degree = 1
    for part in parts:
        degree *= part.degree
    if degree > 64:
        raise ValueError(f"formulas: together of degree {degree}, and 64 is the most")
    return Formula(
        name="hybrid",
        title=f"{', '.join(names)} in turn",
        step=make_step(parts),
        derivative=None,
        tangent=make_tangent(parts),
        sequence=parts,
        maps=len(parts),
        degree=degree,
        holomorphic=all(part.holomorphic for part in parts),
        center=("-0.4", "0"),
        width="5",
        parameters={"formulas": "+".join(names)},
    )
