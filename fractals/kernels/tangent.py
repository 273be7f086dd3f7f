"""Steps of a formula with their tangents, and the gradient of ``|z|``."""

from typing import Any

from fractals.kernels.formula import Formula
from fractals.kernels.primitives import fma, number, select


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


def make_phases(target: Any, formula: Formula) -> tuple[Any, Any, Any]:
    """Return step, tangent and ``next_phase(k)`` of maps in turn.

    Step and tangent have one more argument: k, the number of the step within one round, as a real
    number. Every map is computed, and k selects one, because lanes of a pack and threads of a GPU
    are at different steps.
    """
    *others, (last, count) = formula.phases
    end, first = sum(repeats for _, repeats in others), 0
    total = end + count
    for _, repeats in formula.phases[: formula.loop]:
        first += repeats
    step, tangent = _ignore_phase(target, make_step(target, last), make_tangent(target, last))
    for own, repeats in reversed(others):
        step = _until(target, end, make_step(target, own), step)
        tangent = _tangent_until(target, end, make_tangent(target, own), tangent)
        end -= repeats

    def next_phase(k):
        after = k + number(1, k)
        return select(after < number(total, k), after, number(first, k))

    return step, tangent, target.jit(next_phase)


def _ignore_phase(target: Any, own_step: Any, own_tangent: Any) -> tuple[Any, Any]:
    def step(x, y, a, b, k):
        return own_step(x, y, a, b)

    def tangent(x, y, p, q, a, b, e, f, k):
        return own_tangent(x, y, p, q, a, b, e, f)

    return target.jit(step), target.jit(tangent)


def _until(target: Any, end: int, own: Any, later: Any) -> Any:
    def step(x, y, a, b, k):
        u, v = own(x, y, a, b)
        s, t = later(x, y, a, b, k)
        now = k < number(end, k)
        return select(now, u, s), select(now, v, t)

    return target.jit(step)


def _tangent_until(target: Any, end: int, own: Any, later: Any) -> Any:
    def tangent(x, y, p, q, a, b, e, f, k):
        u, v = own(x, y, p, q, a, b, e, f)
        s, t = later(x, y, p, q, a, b, e, f, k)
        now = k < number(end, k)
        return select(now, u, s), select(now, v, t)

    return target.jit(tangent)


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
