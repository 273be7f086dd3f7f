"""Complex numbers with an exponent of their own, for depths where float64 has none left.

A number is a tuple ``(x, y, e)``: (x + iy) * 2**e, with one exponent for both parts. `normal`
brings the larger part into [1, 2); between two of its calls parts may grow or shrink a hundred
orders. Zero has the exponent `NEVER`, so that it is never the larger one of a sum.
"""

from typing import Any, NamedTuple

from fractals.formula import fma, select, split, two_to

NEVER = -(2**40)


class Arithmetic(NamedTuple):
    """Functions of numbers (x, y, e): `less` compares the larger parts, with a real (x, e)."""

    normal: Any
    times: Any
    plus: Any
    size: Any
    less: Any
    ratio: Any


def make_arithmetic(target: Any, extended: bool) -> Arithmetic:
    """Return the functions; where not `extended` exponents are 0, and cost nothing."""
    jit, int64 = target.jit, target.int64

    def normal(x: Any, y: Any, e: Any) -> Any:
        if not extended:
            return x, y, e
        largest = select(abs(x) < abs(y), abs(y), abs(x))
        if largest == 0:
            return x, y, int64(NEVER)
        _, k = split(largest)
        scale = two_to(-k, x)
        return x * scale, y * scale, int64(e + k)

    normal = jit(normal)

    def times(p: Any, q: Any) -> Any:
        x, y = fma(p[0], q[0], -(p[1] * q[1])), fma(p[0], q[1], p[1] * q[0])
        return normal(x, y, int64(p[2] + q[2])) if extended else (x, y, p[2])

    def plus(p: Any, q: Any) -> Any:
        if not extended:
            return p[0] + q[0], p[1] + q[1], p[2]
        e = select(p[2] < q[2], q[2], p[2])
        s, t = two_to(p[2] - e, p[0]), two_to(q[2] - e, q[0])
        return normal(fma(p[0], s, q[0] * t), fma(p[1], s, q[1] * t), e)

    def size(p: Any) -> Any:
        """Return the larger part as a real (x, e); p is normal."""
        return select(abs(p[0]) < abs(p[1]), abs(p[1]), abs(p[0])), p[2]

    def less(p: Any, q: Any) -> Any:
        """Compare reals (x, e), normal and not negative."""
        if not extended:
            return p[0] < q[0]
        return p[1] < q[1] or (p[1] == q[1] and p[0] < q[0])

    def ratio(p: Any, q: Any) -> Any:
        """Divide reals (x, e), q > 0."""
        x, _, e = normal(p[0] / q[0], p[0] - p[0], int64(p[1] - q[1]) if extended else p[1])
        return x, e

    return Arithmetic(normal, *map(jit, (times, plus, size, less, ratio)))
