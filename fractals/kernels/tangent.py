"""Steps of a formula with their tangents, and the gradient of ``|z|``."""

from typing import Any

from fractals.kernels.formula import Formula
from fractals.kernels.primitives import fma


def make_step(target: Any, formula: Formula) -> Any:
    """Return ``step(x, y, a, b)`` of a formula, compiled."""
    if not formula.sequence:
        return target.jit(formula.step)
    step = target.jit(formula.sequence[0].step)
    for part in formula.sequence[1:]:
        step = _then(target, step, target.jit(part.step))
    return step


def _then(target: Any, first: Any, second: Any) -> Any:
    def both(x, y, a, b):
        x, y = first(x, y, a, b)
        return second(x, y, a, b)

    return target.jit(both)


def make_tangent(target: Any, formula: Formula) -> Any:
    """Return ``tangent(x, y, p, q, a, b, e, f)`` of a formula, compiled.

    A formula that has only a `derivative` is f(z) + c: its tangent is f'(z) (p + iq) + (e + if).
    """
    if formula.sequence:
        step, tangent = (
            make_step(target, formula.sequence[0]),
            make_tangent(target, formula.sequence[0]),
        )
        for part in formula.sequence[1:]:
            tangent = _tangent_then(target, step, tangent, make_tangent(target, part))
            step = _then(target, step, target.jit(part.step))
        return tangent
    if formula.tangent:
        return target.jit(formula.tangent)
    derive = target.jit(formula.derivative)

    def added(x, y, p, q, a, b, e, f):
        p, q = derive(x, y, p, q)
        return p + e, q + f

    return target.jit(added)


def _tangent_then(target: Any, step: Any, first: Any, second: Any) -> Any:
    def both(x, y, p, q, a, b, e, f):
        u, v = step(x, y, a, b)
        p, q = first(x, y, p, q, a, b, e, f)
        return second(u, v, p, q, a, b, e, f)

    return target.jit(both)


def gradient_derivative(x, y, p, q, s, t):  # compiled with `target.jit`
    """Return the complex dz that gives ``|z|`` a Jacobian's gradient.

    If f were holomorphic, dz/dc would be this number. So distance and direction are computed from
    dz in one way for every formula.

    Parameters
    ----------
    x, y : real
        z = x + iy, not 0.
    p, q : real
        First column of the Jacobian: how z changes with the real part of c.
    s, t : real
        Second column: how z changes with the imaginary part of c.
    """
    g, h = fma(x, p, y * q), fma(x, s, y * t)
    m = fma(x, x, y * y)
    return fma(g, x, h * y) / m, fma(g, y, -(h * x)) / m
