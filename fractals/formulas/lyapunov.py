"""Markus and Lyapunov: x -> r x (1 - x) from 1/2, where r is a or b by a sequence of letters.

A step, and a count, is the whole sequence. For a and b from 0 to 4 no orbit escapes; the coloring
`lyapunov` distinguishes order from chaos. After Mario Markus and Benno Hess, *Lyapunov exponents of
the logistic map with periodic forcing* (1989).
"""

from fractals.kernels.formula import Formula, explained
from fractals.kernels.primitives import fma, number

MAX_LETTERS = 60  # each is compiled into the step


def make_step(letters):
    count = len(letters)

    def step(x, y, a, b):
        for k in range(count):
            r = a if letters[k] else b
            x = r * fma(-x, x, x)
        return x, y

    return step


def make_tangent(letters):
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


def start(a, b, p, q):
    zero = number(0, a)
    return number(0.5, a), zero, zero, zero


@explained(sequence="letters in turn: r is the real part at A, the imaginary part at B")
def make(sequence="AB"):
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
        step=make_step(letters),
        derivative=None,
        tangent=make_tangent(letters),
        start=start,
        degree=0,
        center=("3", "3.3"),
        width="2",
        holomorphic=False,
        can_return=True,
        maps=len(letters),
        coloring="lyapunov",
        parameters={"sequence": sequence},
    )
