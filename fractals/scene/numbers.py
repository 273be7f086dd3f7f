"""Numbers too large or too small for a float."""

import math
import re
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Any

from fractals.errors import shown

# Widths that are computed are rounded to DIGITS; what is computed from one has more, so that it
# gives it back.
DIGITS = 25
WIDTHS = Context(prec=DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN)
EXACT = Context(prec=2 * DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN)


def width_in(frame: tuple[str, str], size: tuple[int, int]) -> str:
    """Return the width of the smallest picture of this shape that shows a frame in full.

    Parameters
    ----------
    frame : (str, str)
        Width and height in the plane, as decimal text.
    size : (int, int)
        Of the picture, in pixels.

    Examples
    --------
    >>> width_in(("0", "4e-50"), (500, 500)), width_in(("2.5", "2.5"), (160, 90))
    ('4E-50', '4.444444444444444444444444')
    """
    (least, height), (across, down) = map(Decimal, frame), map(Decimal, size)
    for_height = EXACT.divide(EXACT.multiply(height, across), down)
    return str(WIDTHS.plus(max(least, for_height)).normalize(WIDTHS))


def log2(value: Fraction) -> float:
    """Return the binary logarithm of a positive number, also one beyond the range of floats."""
    n, d = value.numerator, value.denominator
    shift = n.bit_length() - d.bit_length()
    n, d = (n, d << shift) if shift >= 0 else (n << -shift, d)
    return shift + math.log2(n / d)


def scientific(value: Fraction) -> str:
    """Return a number as text with two digits, such as ``"1.5e-400"``."""
    power = math.floor(log2(value) * math.log10(2))
    if abs(power) < 300:
        return f"{float(value):.2g}"
    return f"{float(value / Fraction(10) ** power):.2g}e{power}"


def decimal_places(value: Fraction, places: int) -> str:
    """Return a number rounded to decimal places, as text.

    Examples
    --------
    >>> decimal_places(Fraction(-1, 3), 5), decimal_places(Fraction(5, 2), 4)
    ('-0.33333', '2.5')
    """
    # By way of Decimal, because Python refuses to write integers of more than 4300 digits.
    digits = str(Decimal(abs(round(value * 10**places)))).zfill(places + 1)
    whole, part = digits[: len(digits) - places], digits[len(digits) - places :].rstrip("0")
    sign = "-" if value < 0 and (part or whole != "0") else ""
    return f"{sign}{whole}.{part}" if part else f"{sign}{whole}"


# Python refuses to read and to write integers of more than 4300 digits, which 14,000 bits have.
MAX_BITS = 14_000
LONG_INTEGER = "an integer has too many digits: write it as text, in quotes"
# Of a number in a scene: they bound the work of parsing numbers from a file.
MAX_DIGITS = 150_000
MAX_EXPONENT = 1_000_000
DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class ExactFloat(float):
    """A float that keeps the text it was read from, and so all its digits.

    Examples
    --------
    >>> decimal_text(ExactFloat("-0.74830757786137882639"))
    '-0.74830757786137882639'
    """

    text: str

    def __new__(cls, text: str) -> "ExactFloat":
        """Return the float of a text of TOML or JSON."""
        made = super().__new__(cls, text)
        made.text = text.replace("_", "")
        return made


def decimal_text(given: Any) -> str:
    """Return a number as decimal text, or raise a `ValueError` that says what is wrong with it."""
    given = given.text if isinstance(given, ExactFloat) else given
    if isinstance(given, int) and given.bit_length() > MAX_BITS:
        raise ValueError(LONG_INTEGER)
    text = str(given).strip() if isinstance(given, str | int | float | Decimal) else ""
    if isinstance(given, bool) or len(text) > MAX_DIGITS + 20:
        size = f"{len(text)} characters" if text else repr(given)
        raise ValueError(f"{size}: a number has at most {MAX_DIGITS} digits")
    if not DECIMAL.fullmatch(text):
        raise ValueError(
            f"'{text[:40] or given}' is not a decimal number such as '-0.75' or '3e-6'"
        )
    _, _, exponent = text.lower().partition("e")
    if len(exponent) > 9 or abs(Decimal(text).adjusted()) > MAX_EXPONENT:
        raise ValueError(f"'{shown(text, 40)}' is beyond 1e±{MAX_EXPONENT}")
    return text
