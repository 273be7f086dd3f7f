"""A step of a formula together with its derivative."""

from typing import Any

from fractals.kernels.formula import Formula


def make_step(target: Any, formula: Formula) -> Any:
    """Return ``step`` of a formula, compiled."""
    if not formula.turn:
        return target.jit(formula.step)
    step = target.jit(formula.turn[0].step)
    for part in formula.turn[1:]:
        step = _then(target, step, target.jit(part.step))
    return step


def _then(target: Any, first: Any, second: Any) -> Any:
    def both(x, y, a, b):
        x, y = first(x, y, a, b)
        return second(x, y, a, b)

    return target.jit(both)


def make_tangent(target: Any, formula: Formula) -> Any:
    """Return ``tangent`` of a formula, compiled; also of one that only has a derivative."""
    if formula.turn:
        step, tangent = make_step(target, formula.turn[0]), make_tangent(target, formula.turn[0])
        for part in formula.turn[1:]:
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
