"""Bounded parsing of numbers and lines, shared by the formats of other programs."""

import re
from decimal import Decimal
from typing import Any

from fractals.errors import SceneError, shown
from fractals.io.files import parse_toml, text_of
from fractals.io.foreign import MAX_BYTES
from fractals.scene.model import MAX_ITERATIONS
from fractals.scene.numbers import decimal_text

MAX_LINES = 100_000


def lines_of(data: bytes) -> list[str]:
    """Return the lines of a text file, without their ends."""
    if len(data) > MAX_BYTES:
        raise SceneError(f"{len(data)} bytes: a file has at most {MAX_BYTES}")
    text = text_of(data, "replace").partition("\x1a")[0]  # the end of a file of DOS
    lines = re.split(r"\r\n|\r|\n", text)
    if len(lines) > MAX_LINES:
        raise SceneError(f"{len(lines)} lines: a file has at most {MAX_LINES}")
    return lines


def toml_of(data: bytes) -> dict[str, Any]:
    """Return the table of a TOML file."""
    try:
        return parse_toml("\n".join(lines_of(data)))
    except (ValueError, RecursionError) as error:
        raise SceneError(shown(error) or "nested too deeply") from None


def number(text: Any, where: str) -> str:
    """Return decimal text that a scene takes, or raise a `SceneError` that begins with `where`."""
    try:
        return decimal_text(text)
    except ValueError as error:
        raise SceneError(f"{where}: {error}") from None


def real(text: Any, where: str) -> float:
    """Return a finite number."""
    value = float(number(text, where))
    if abs(value) == float("inf"):
        raise SceneError(f"{where}: {shown(text, 40)} is too large")
    return value


def positive(text: Any, where: str) -> Decimal:
    """Return a number greater than 0, exactly."""
    value = Decimal(number(text, where))
    if value <= 0:
        raise SceneError(f"{where}: '{shown(text, 40)}' is not greater than 0")
    return value


def whole(text: Any, where: str) -> int:
    """Return a whole number of at most 18 digits."""
    given = shown(text).strip()
    if isinstance(text, bool) or not re.fullmatch(r"[+-]?[0-9]{1,18}", given):
        raise SceneError(f"{where}: '{shown(given, 40)}' is not a whole number")
    return int(given)


def limit(text: Any, where: str, lost: list[str]) -> int:
    """Return a limit of iterations, lowered where a scene can't have as many."""
    steps = whole(text, where)
    if steps > MAX_ITERATIONS:
        lost.append(f"the limit of {steps} iterations: {MAX_ITERATIONS} is the most")
    return min(max(steps, 1), MAX_ITERATIONS)


def negated(text: str) -> str:
    """Return the decimal text of the opposite number.

    >>> negated("-0.5"), negated("+2e-3"), negated("0.00")
    ('0.5', '-2e-3', '0.00')
    """
    if not text.partition("e")[0].partition("E")[0].strip("+-0."):
        return text.lstrip("+-")
    return text[1:] if text.startswith("-") else "-" + text.removeprefix("+")


def only_one(entry: str) -> None:
    """Raise a `SceneError` where an entry is named in a file that holds one thing."""
    if entry:
        raise SceneError(f"'#{entry[:80]}': a file of this kind holds one thing; leave that out")
