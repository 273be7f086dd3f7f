"""Numbers too large or too small for a float."""

import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Any, SupportsComplex, SupportsFloat

from fractals.errors import kind_of, shown, typed

Real = str | SupportsFloat  # of any library; text keeps all digits, and a float has 17
PointLike = SupportsComplex | SupportsFloat | Sequence[Real]

# Sizes of pictures as text: names such as "4k", and "1920x1080".


NAMED_SIZES = {
    "720p": (1280, 720),
    "1080p": (1920, 1080),
    "1440p": (2560, 1440),
    "2k": (2048, 1080),
    "4k": (3840, 2160),
    "5k": (5120, 2880),
    "8k": (7680, 4320),
    "16k": (15360, 8640),
}
MAX_SIDE = 200_000  # pixels


def size_of(given: Any) -> Any:
    """Return the width and height that a text means; values that are no text as they are.

    >>> size_of("4k"), size_of("640x480"), size_of("640×480"), size_of([64, 48])
    ((3840, 2160), (640, 480), (640, 480), [64, 48])
    """
    if not isinstance(given, str):
        return given
    text = given.strip().lower()
    if text in NAMED_SIZES:
        return NAMED_SIZES[text]
    if not (sides := re.fullmatch(r"(\d{1,9})[x×](\d{1,9})", text, re.ASCII)):
        names = ", ".join(NAMED_SIZES)
        raise ValueError(f"'{shown(given, 40)}' is not a size such as 1920x1080, or {names}")
    return int(sides[1]), int(sides[2])


# Widths that are computed are rounded to DIGITS; what is computed from one has more, so that it
# gives it back.
DIGITS = 25
WIDTHS = Context(prec=DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN)
EXACT = Context(prec=2 * DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN)


def width_in(frame: tuple[str, str], size: tuple[int, int]) -> str:
    """Return the width of the smallest picture of this shape that shows a frame in full.

    The frame is width and height in the plane, as decimal text; the size is in pixels.

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


def decimal_places(value: Any, places: int) -> str:
    """Return a number rounded to decimal places, as text. It is a Fraction, or gmpy2's.

    >>> decimal_places(Fraction(-1, 3), 5), decimal_places(Fraction(5, 2), 4)
    ('-0.33333', '2.5')
    """
    # By way of Decimal, because Python refuses to write integers of more than 4300 digits.
    digits = str(Decimal(int(abs(round(value * 10**places))))).zfill(places + 1)
    whole, part = digits[: len(digits) - places], digits[len(digits) - places :].rstrip("0")
    sign = "-" if value < 0 and (part or whole != "0") else ""
    return f"{sign}{whole}.{part}" if part else f"{sign}{whole}"


def significant(value: Fraction, digits: int = 6, least: int = -4) -> str:
    """Return a positive number with significant digits; below 10**least it has an exponent.

    >>> significant(Fraction(2, 3)), significant(Fraction(3, 10**1001), 17)
    ('0.666667', '3e-1001')
    """
    exponent = math.floor(log2(value) * math.log10(2))  # the logarithm is rounded
    exponent += (value >= Fraction(10) ** (exponent + 1)) - (value < Fraction(10) ** exponent)
    mantissa = round(value / Fraction(10) ** (exponent - digits + 1))
    if mantissa == 10**digits:
        mantissa, exponent = mantissa // 10, exponent + 1
    if least <= exponent < digits:
        places = digits - 1 - exponent
        return decimal_places(Fraction(mantissa, 10**places), places)
    text = str(mantissa).rstrip("0")
    return text[0] + ("." + text[1:] if text[1:] else "") + f"e{exponent}"


WIDTH_DIGITS = 17  # significant, of a view's width


def width_text(width: Fraction) -> str:
    """Return a view's width as text, with as many digits as float64 tells apart."""
    return significant(width, WIDTH_DIGITS, -7)


def decimals_of(text: str) -> int:
    """Return how many decimals a number has as text; below 0 for powers of ten such as 1e2.

    >>> decimals_of("-0.750"), decimals_of("2e-30"), decimals_of("1e2")
    (3, 30, -2)
    """
    exponent = Decimal(text).as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def decimals(size: Fraction) -> int:
    """Return the decimals of a number that tell points this far apart from each other."""
    return max(0, math.ceil(-log2(size) * math.log10(2)))


def missing_decimals(center: Iterable[str], size: Fraction) -> int:
    """Return how many decimals a center lacks to tell points this far apart from each other.

    >>> missing_decimals(["-0.75", "0.1"], Fraction(1, 10**5))
    3
    """
    return max(0, decimals(size) - max((0, *map(decimals_of, center))))


# Python refuses to read and to write integers of more than 4300 digits, which 14,000 bits have.
MAX_BITS = 14_000
LONG_INTEGER = "an integer has too many digits: write it as text, in quotes"
# Of a number in a scene: they bound the work of parsing numbers from a file.
MAX_DIGITS = 150_000
MAX_EXPONENT = 1_000_000
PLAIN_DEPTH = 50  # of tables and lists in one another
DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
# Minus signs of web pages and papers, which look like the keyboard's.
MINUS = str.maketrans(dict.fromkeys("\u2212\u2013\ufe63\uff0d", "-"))


def plain_minus(text: str) -> str:
    """Return a number's text with the keyboard's minus sign in place of a page's."""
    return text if text.isascii() else text.translate(MINUS)


def point_text(text: str) -> tuple[str, str] | None:
    """Return the two parts of a point: ``X,Y`` in brackets or without, or ``X+Yi``; or None.

    >>> point_text("(-0.75, 0.1)"), point_text("-0.75 - 1e-3i"), point_text("i"), point_text("x")
    (('-0.75', '0.1'), ('-0.75', '-1e-3'), ('0', '1'), None)
    """
    text = plain_minus(text).strip()
    if text[:1] + text[-1:] in ("()", "[]"):
        text = text[1:-1].strip()
    if "," in text:
        x, _, y = (part.strip() for part in text.partition(","))
        return (x, y) if x and y and "," not in y else None
    if not text or len(text) > 2 * MAX_DIGITS + 50:
        return None
    if text[-1] not in "ij":
        return None  # one number: the other is missing
    text = text[:-1].rstrip().removesuffix("*")
    at = max(_signs(text), default=0)  # where the imaginary part begins
    real, sign, size = text[:at].strip(), text[at : at + 1], text[at + 1 :].strip()
    if sign not in ("+", "-"):
        sign, size = "", text[at:].strip()
    imaginary = sign.replace("+", "") + (size or "1")
    both = DECIMAL.fullmatch(real or "0") and DECIMAL.fullmatch(imaginary)
    return (real or "0", imaginary) if both and size[:1] not in ("+", "-") else None


def _signs(text: str) -> Iterator[int]:
    """Yield the places of signs that are no exponent's."""
    for k, character in enumerate(text):
        if character in "+-" and text[k - 1 : k].lower() != "e":
            yield k


class ExactFloat(float):
    """A float that keeps the text it was read from, and so all its digits.

    >>> decimal_text(ExactFloat("-0.74830757786137882639"))
    '-0.74830757786137882639'
    """

    text: str

    def __new__(cls, text: str) -> "ExactFloat":
        """Return the float of a text of TOML or JSON."""
        made = super().__new__(cls, text)
        made.text = text.replace("_", "")
        return made

    def __reduce__(self) -> tuple[type["ExactFloat"], tuple[str]]:
        return ExactFloat, (self.text,)


def _fraction_text(value: Fraction) -> str:
    """Return all digits of a fraction that has an end as a decimal number."""
    twos, fives, rest = 0, 0, value.denominator
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        raise ValueError(
            f"{shown(value, 40)} has no end as a decimal number: give as many digits as you need"
        )
    return decimal_places(value, max(twos, fives))


def _binary_text(value: Fraction, bits: int) -> str:
    """Return a short text whose nearest float of this number of bits is the value."""
    size, sign = abs(value), "-" if value < 0 else ""
    half_step = Fraction(2) ** (size.numerator.bit_length() - size.denominator.bit_length() - bits)
    digits = int(bits * math.log10(2))
    for more in range(3):
        text = significant(size, digits + more) if size else "0"
        if abs(Fraction(text) - size) < half_step:
            break
    return sign + text


def _float_text(given: Any) -> str:
    """Return the text of a float of NumPy, gmpy2 or mpmath; "" of what is none, or not finite."""
    try:
        if hasattr(given, "man_exp"):  # mpmath's, whose precision is that of its context
            mantissa, exponent = map(int, given.man_exp)  # without its sign
            mantissa = -mantissa if given < 0 else mantissa
            bits = given.context.prec
        else:
            mantissa, denominator = map(int, given.as_integer_ratio())
            exponent = 1 - denominator.bit_length()
            bits = getattr(given, "precision", 64)  # gmpy2's; others are long doubles
    except (AttributeError, OverflowError, ValueError):
        return ""
    if abs(exponent) > 4 * MAX_EXPONENT:
        raise ValueError(f"a number near 2^{exponent} is beyond 1e±{MAX_EXPONENT}")
    value = Fraction(mantissa) * Fraction(2) ** exponent
    return _binary_text(value, max(bits, value.numerator.bit_length()))


def is_real(given: Any) -> bool:
    """Tell whether a value of any library is one real number."""
    kinds = ("as_integer_ratio", "man_exp", "numerator")
    return any(hasattr(given, name) for name in kinds)


def _number_text(given: Any) -> str:
    """Return the text of a number of Python, NumPy, gmpy2 or mpmath; "" of what is no number."""
    if getattr(given, "shape", None) == ():  # NumPy's numbers, and arrays of one number
        given = given.item()
    if isinstance(given, ExactFloat):
        return given.text
    if isinstance(given, bool):
        return ""
    if isinstance(given, int) and given.bit_length() > MAX_BITS:
        raise ValueError(LONG_INTEGER)
    if isinstance(given, int | float | Decimal):
        return str(given)
    if hasattr(given, "numerator"):
        return _fraction_text(Fraction(int(given.numerator), int(given.denominator)))
    return _float_text(given)


def decimal_text(given: Any) -> str:
    """Return a number as decimal text, or raise a `ValueError` that says what is wrong with it.

    A number is text, or one of Python, NumPy, `fractions`, gmpy2 or mpmath, with all its digits.

    >>> decimal_text(" -3e-60"), decimal_text(Fraction(-3, 8))
    ('-3e-60', '-0.375')
    """
    text = plain_minus(given.strip()) if isinstance(given, str) else _number_text(given)
    if len(text) > MAX_DIGITS + 20:
        raise ValueError(f"{len(text)} characters: a number has at most {MAX_DIGITS} digits")
    if not DECIMAL.fullmatch(text):
        raise ValueError(_no_decimal(given))
    _, _, exponent = text.lower().partition("e")
    if len(exponent) > 9 or abs(Decimal(text).adjusted()) > MAX_EXPONENT:
        raise ValueError(f"'{shown(text, 40)}' is beyond 1e±{MAX_EXPONENT}")
    return text


def _no_decimal(given: Any) -> str:
    """Return what is wrong with what is no decimal number."""
    if not isinstance(given, str | float | Decimal):
        return f"{typed(given)}, {kind_of(given)}, is not a finite real number"
    return f"'{shown(given, 40)}' is not a decimal number such as '-0.75' or '3e-6'"


def place_text(given: Any) -> str:
    """Return a number of a scene as `decimal_text` does; the error names relative ones, too."""
    try:
        return decimal_text(given)
    except ValueError as error:
        if isinstance(given, str) and (given.strip()[-1:] == "%" or given.strip()[:1] == "x"):
            more = "only options of the command line are relative to a scene"
            raise ValueError(f"{error} ({more})") from None
        raise


def plain(given: Any, depth: int = 0) -> Any:
    """Return a number of any library as Python's, also those in tables and lists.

    A complex number becomes a list of its parts.
    Other values are returned as they are. `decimal_text` keeps all digits of a place in the plane.

    >>> plain({"power": Fraction(4), "scale": Fraction(5, 2)}), plain("ember")
    ({'power': 4, 'scale': 2.5}, 'ember')
    """
    if hasattr(given, "tolist"):  # NumPy's numbers and arrays
        given = given.tolist()
    if depth > PLAIN_DEPTH or isinstance(given, str | int | float):
        return given
    if isinstance(given, complex):
        return [given.real, given.imag]
    if isinstance(given, Mapping):
        return {key: plain(value, depth + 1) for key, value in given.items()}
    if type(given) in (list, tuple):
        return type(given)(plain(value, depth + 1) for value in given)
    if not is_real(given):
        return given
    try:
        value = float(given)
    except (OverflowError, ValueError):  # a signaling NaN of decimal is no number of Python's
        return given
    return int(given) if value.is_integer() else value


def check_floats(given: Any, where: str = "", depth: int = 0) -> None:
    """Raise a `ValueError` for a whole number beyond all floats, in tables and lists too.

    Python compares such a number with a float, but can neither convert nor format it as one.

    >>> check_floats({"transforms": [{"weight": 10**400}]})
    Traceback (most recent call last):
        ...
    ValueError: transforms.weight: a whole number of more than 308 digits is too large
    """
    if isinstance(given, int):
        if abs(given) > sys.float_info.max:
            said = "a whole number of more than 308 digits is too large"
            raise ValueError(f"{where}: {said}" if where else said)
    elif depth > PLAIN_DEPTH:
        return
    elif isinstance(given, Mapping):
        for key, value in given.items():
            name = shown(key, 40)
            check_floats(value, f"{where}.{name}" if where else name, depth + 1)
    elif isinstance(given, list | tuple):
        for value in given:
            check_floats(value, where, depth + 1)


def whole(given: Any) -> int | None:
    """Return a whole number of any library, such as 1e6, as Python's; None for other values.

    >>> whole(1e6), whole(Fraction(8, 2)), whole(2.5), whole(True), whole("3")
    (1000000, 4, None, None, None)
    """
    value = plain(given)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def power_of_two(exponent: float) -> Fraction:
    """Return 2**exponent as an exact fraction of a rounded mantissa, at any size.

    >>> power_of_two(-2.0), power_of_two(0.5) == Fraction(2**0.5)
    (Fraction(1, 4), True)
    """
    whole = math.floor(exponent)
    return Fraction(2.0 ** (exponent - whole)) * Fraction(2) ** whole
