"""Formulas whose step is several in turn; a step, and a count, is all of them."""

from fractals.formulas import absolute_values, powers
from fractals.kernels.formula import Formula, explained
from fractals.kernels.primitives import fma, number

# --- Hybrid: formulas f(z) + c applied one after the other

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


def make_hybrid_step(parts):
    def step(x, y, a, b):
        for part in parts:
            x, y = part.step(x, y, a, b)
        return x, y

    return step


def make_hybrid_tangent(parts):
    def tangent(x, y, p, q, a, b, e, f):
        for part in parts:
            (p, q), (x, y) = part.derivative(x, y, p, q), part.step(x, y, a, b)
            p, q = p + e, q + f
        return p, q

    return tangent


@explained(formulas="names of formulas whose steps are taken in turn, joined by +")
def hybrid(formulas="mandelbrot+burning_ship"):
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
        step=make_hybrid_step(parts),
        derivative=None,
        tangent=make_hybrid_tangent(parts),
        sequence=parts,
        maps=len(parts),
        degree=degree,
        holomorphic=all(part.holomorphic for part in parts),
        center=("-0.4", "0"),
        width="5",
        parameters={"formulas": "+".join(names)},
    )


# --- Markus and Lyapunov: x -> r x (1 - x) from 1/2, where r is a or b by a sequence of letters
#
# For a and b from 0 to 4 no orbit escapes; the coloring `lyapunov` distinguishes order from chaos.
# After Mario Markus and Benno Hess, *Lyapunov exponents of the logistic map with periodic forcing*
# (1989).

MAX_LETTERS = 60  # each is compiled into the step


def make_lyapunov_step(letters):
    count = len(letters)

    def step(x, y, a, b):
        for k in range(count):
            r = a if letters[k] else b
            x = r * fma(-x, x, x)
        return x, y

    return step


def make_lyapunov_tangent(letters):
    count = len(letters)

    def tangent(x, y, p, q, a, b, e, f):
        one = number(1, x)
        for k in range(count):
            r = a if letters[k] else b
            change = e if letters[k] else f
            grown = fma(-x, x, x)
            p = fma(r * (one - (x + x)), p, change * grown)
            x = r * grown
        return p, q

    return tangent


def start_lyapunov(a, b, p, q):
    zero = number(0, a)
    return number(0.5, a), zero, zero, zero


@explained(sequence="letters in turn: r is the real part at A, the imaginary part at B")
def lyapunov(sequence="AB"):
    if (
        not isinstance(sequence, str)
        or not 1 <= len(sequence) <= MAX_LETTERS
        or set(sequence) - set("AB")
    ):
        raise ValueError(
            f"sequence is 1 to {MAX_LETTERS} letters, each A or B, such as 'BBBBBBAAAAAA'"
        )
    letters = tuple(letter == "A" for letter in sequence)
    return Formula(
        name="lyapunov",
        title=f"Markus-Lyapunov, x to r x (1 - x), r by the letters {sequence}",
        step=make_lyapunov_step(letters),
        derivative=None,
        tangent=make_lyapunov_tangent(letters),
        start=start_lyapunov,
        degree=0,
        center=("3", "3.3"),
        width="2",
        holomorphic=False,
        can_return=True,
        maps=len(letters),
        coloring="lyapunov",
        parameters={"sequence": sequence},
    )
