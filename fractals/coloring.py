"""The contract of a coloring: raw numbers of a sample -> one number, looked up in a palette."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fractals.formula import Formula, fma, select, split


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
