"""Numbers too large or too small for a float."""

import math
from fractions import Fraction


def log2(value: Fraction) -> float:
    """Return the logarithm of a number too large or small for a float."""
    n, d = value.numerator, value.denominator
    shift = n.bit_length() - d.bit_length()
    n, d = (n, d << shift) if shift >= 0 else (n << -shift, d)
    return shift + math.log2(n / d)


def scientific(value: Fraction) -> str:
    """Return a short text of a number of any size."""
    power = math.floor(log2(value) * math.log10(2))
    if abs(power) < 300:
        return f"{float(value):.2g}"
    return f"{float(value / Fraction(10) ** power):.2g}e{power}"
