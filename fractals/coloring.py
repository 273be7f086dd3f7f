"""The contract of a coloring: raw numbers of a sample -> one number, looked up in a palette."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fractals.formula import Formula, fma, select, split, two_to


@dataclass(frozen=True)
class Coloring:
    """How a sample's raw numbers become a position in the palette.

    Attributes
    ----------
    make_value : callable
        ``make_value(target)`` returns ``value(n, x, y, p, q, constants)``, where n is the count,
        z = x + iy and dz = p + iq; its own constants begin at ``constants[2]``.
    constants : callable
        ``constants(formula, escape_radius, width)`` returns these numbers for a picture.
    derivative : bool
        Whether dz must be computed.
    transfer : str
        The curve between value and palette, unless a scene names another.
    """

    name: str
    title: str
    make_value: Callable[[Any], Any]
    constants: Callable[[Formula, float, float], tuple[float, ...]]
    derivative: bool = False
    transfer: str = "log"

    @property
    def label(self) -> str:
        """Return the name."""
        return self.name


def make_log2(target: Any) -> Any:
    """Return ``log2(v)`` for v > 0, the same bits on every target; absolute error below 3e-8.

    Mantissa and exponent, then 2/ln 2 artanh((m - 1)/(m + 1)) as a series: no library's logarithm
    is the same on CPU and GPU.
    """
    real = target.real
    c1, c3, c5, c7, c9, c11 = (real(2 / math.log(2) / k) for k in (1, 3, 5, 7, 9, 11))
    root, one, half = real(math.sqrt(2)), real(1), real(0.5)

    def log2(v: Any) -> Any:
        m, exponent = split(v)
        e = real(exponent)
        high = m > root
        m, e = select(high, m * half, m), select(high, e + one, e)
        s = (m - one) / (m + one)
        t = s * s
        series = fma(t, fma(t, fma(t, fma(t, fma(t, c11, c9), c7), c5), c3), c1)
        return fma(s, series, e)

    return target.jit(log2)


def make_cbrt(target: Any) -> Any:
    """Return the cube root of v, 0 where v <= 0; relative error below 1e-9 in float64.

    A parabola through cbrt of the mantissa, one step of Halley's method, and the exponent's third.
    """
    real, int64 = target.real, target.int64
    zero, two = real(0), real(2)
    a, b, c = real(0.6257), real(0.4336), real(-0.0584)  # off by at most 9e-4 on [1, 2]
    roots = real(1), real(2 ** (1 / 3)), real(2 ** (2 / 3))

    def cbrt(v: Any) -> Any:
        m, exponent = split(v)
        third = (int64(exponent) + 1200) // 3 - 400
        rest = int64(exponent) - 3 * third
        y = fma(m, fma(m, c, b), a)
        cube = y * y * y
        y = y * (fma(two, m, cube) / fma(two, cube, m))
        y = y * select(rest == 0, roots[0], select(rest == 1, roots[1], roots[2]))
        return select(v > zero, y * two_to(third, v), zero)

    return target.jit(cbrt)


def make_atan(target: Any) -> Any:
    """Return ``atan(v)`` in turns of a right angle, from 0 to 1, 0 where v <= 0; error below 2e-9.

    Turned by 45 or 90 degrees to where |tan| < tan(22.5 degrees), then the series.
    """
    real = target.real
    zero, one, half = real(0), real(1), real(0.5)
    near, far = real(math.tan(math.pi / 8)), real(math.tan(3 * math.pi / 8))
    c1, c3, c5, c7, c9, c11, c13, c15, c17 = (
        real((-1) ** (k // 2) * 2 / math.pi / k) for k in range(1, 18, 2)
    )

    def atan(v: Any) -> Any:
        v = select(v > zero, v, zero)
        over = select(v > far, -one, select(v > near, v - one, v))
        under = select(v > far, v, select(v > near, v + one, one))
        s = over / under
        t = s * s
        series = fma(t, fma(t, fma(t, fma(t, c17, c15), c13), c11), c9)
        series = fma(t, fma(t, fma(t, fma(t, series, c7), c5), c3), c1)
        return fma(s, series, select(v > far, one, select(v > near, half, zero)))

    return target.jit(atan)
