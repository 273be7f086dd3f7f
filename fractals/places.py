"""What formats of scenes share: numbers as text, where a view lies, and formulas by their folds."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Any

from fractals import catalog
from fractals.errors import SceneError
from fractals.format import MOST_BYTES
from fractals.scene import MOST_ITERATIONS, Image, decimal_text

MOST_LINES = 100_000
SIZE: tuple[int, int] = Image.model_fields["size"].default
# Widths are rounded to DIGITS; what is computed from one has more, so that it gives it back.
DIGITS = 25
WIDTHS = Context(prec=DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN)
EXACT = Context(prec=2 * DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN)


@dataclass(frozen=True)
class Kin:
    """A formula of ours that draws another program's.

    Attributes
    ----------
    formula : str or dict
        As in a scene.
    same, conjugate : bool
        Whether the other program's picture has at c what ours has at c, and at its conjugate.
    """

    formula: Any
    same: bool = True
    conjugate: bool = False


@dataclass(frozen=True)
class Place:
    """A view, in another program's own terms.

    Attributes
    ----------
    center : (str, str)
        Decimal text.
    height : Decimal
        Of the view in the plane.
    up : bool
        Whether the imaginary axis points up in its pictures.
    angle : float
        Degrees from its real axis towards its imaginary axis by which the view is turned.
    stretch, stretch_angle : float
        As in a scene: along which direction in the picture things look how much longer.
    size : (int, int), optional
        In pixels; of a new scene where the file names none.
    julia : (str, str), optional
        The c of a Julia set.
    """

    center: tuple[str, str]
    height: Decimal
    up: bool = True
    angle: float = 0.0
    stretch: float = 1.0
    stretch_angle: float = 0.0
    size: tuple[int, int] | None = None
    julia: tuple[str, str] | None = None


def placed(kin: Kin, place: Place) -> dict[str, Any]:
    """Return the part of a scene that draws `kin` at a place.

    Where the imaginary axis points down there and the formula allows it, the conjugate is drawn,
    which is the same picture; otherwise the view is mirrored.
    """
    turned = not kin.same or (kin.conjugate and not place.up)
    flip = negated if turned else str
    angle = -place.angle if turned else place.angle
    view = {
        "center": [place.center[0], flip(place.center[1])],
        "width": width_of(place.height, place.size or SIZE),
        "rotation": turn(angle),
    }
    if turned == place.up:
        view["mirror"] = True
    if place.stretch != 1:
        view |= {"stretch": place.stretch, "stretch_angle": turn(place.stretch_angle)}
    table: dict[str, Any] = {"formula": kin.formula, "view": view}
    if place.size:
        table["image"] = {"size": list(place.size)}
    if place.julia:
        table["julia"] = [place.julia[0], flip(place.julia[1])]
    return table


def width_of(height: Decimal, size: tuple[int, int]) -> str:
    """Return the width of a view of this height, for a picture of `size` pixels."""
    across, down = map(Decimal, size)
    return str(WIDTHS.divide(EXACT.multiply(height, across), down).normalize(WIDTHS))


def height_of(table: Mapping[str, Any]) -> tuple[tuple[str, str], Decimal]:
    """Return the center and the height of the view of a whole scene's plain values."""
    formula, view = table["formula"], table["view"]
    options = {"name": formula} if isinstance(formula, str) else dict(formula)
    home = catalog.load("formula", options.pop("name"))(**options)
    x, y = view.get("center") or home.center
    width = Decimal(view.get("width") or home.width)
    if "zoom" in view:
        width = EXACT.divide(width, Decimal(view["zoom"]))
    across, down = table["image"]["size"]
    return (x, y), EXACT.divide(EXACT.multiply(width, Decimal(down)), Decimal(across))


def turn(degrees: float) -> float:
    """Return an angle from -180 to 180 degrees.

    Examples
    --------
    >>> turn(-310.25), turn(540.0)
    (49.75, -180.0)
    """
    return (degrees + 180) % 360 - 180 if abs(degrees) > 180 else degrees + 0.0


def power_of(power: int) -> Kin | None:
    """Return z**power + c, if we have it."""
    if not 2 <= power <= 8:
        return None
    formula = "mandelbrot" if power == 2 else {"name": "multibrot", "power": power}
    return Kin(formula, conjugate=True)


def folded(before: frozenset[str], power: int, after: frozenset[str]) -> Kin | None:
    """Return the formula that changes z, takes a power, changes that, and adds c, if we have it.

    The changes are of "absx", "absy", "negx" and "negy".
    """
    if not before and not after:
        return power_of(power)
    return FOLDS.get((before, after)) if power == 2 else None


FOLDS = {
    (frozenset({"absx", "absy"}), frozenset[str]()): Kin("burning_ship"),
    (frozenset({"absy"}), frozenset[str]()): Kin("perpendicular_burning_ship"),
    (frozenset({"absy", "negy"}), frozenset[str]()): Kin(
        "perpendicular_burning_ship", same=False, conjugate=True
    ),
    (frozenset({"negy"}), frozenset[str]()): Kin("tricorn", conjugate=True),
    (frozenset({"negx"}), frozenset[str]()): Kin("tricorn", conjugate=True),
    (frozenset({"absx"}), frozenset[str]()): Kin("heart", conjugate=True),
    (frozenset({"absx"}), frozenset({"absx"})): Kin("celtic_heart", conjugate=True),
    (frozenset({"absx", "absy"}), frozenset({"absx"})): Kin("buffalo"),
    (frozenset[str](), frozenset({"absy"})): Kin("burning_ship"),
    (frozenset[str](), frozenset({"absx"})): Kin("celtic", conjugate=True),
    (frozenset[str](), frozenset({"absx", "absy"})): Kin("buffalo"),
}


def lines_of(data: bytes) -> list[str]:
    """Return the lines of a text file, without their ends."""
    if len(data) > MOST_BYTES:
        raise SceneError(f"{len(data)} bytes: a file has at most {MOST_BYTES}")
    text = data.partition(b"\x1a")[0].decode("utf-8-sig", "replace")  # the end of a file of DOS
    lines = re.split(r"\r\n|\r|\n", text)
    if len(lines) > MOST_LINES:
        raise SceneError(f"{len(lines)} lines: a file has at most {MOST_LINES}")
    return lines


def toml_of(data: bytes) -> dict[str, Any]:
    """Return the table of a TOML file."""
    try:
        return tomllib.loads("\n".join(lines_of(data)))
    except (ValueError, RecursionError) as error:
        raise SceneError(str(error) or "nested too deeply") from None


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
        raise SceneError(f"{where}: {str(text)[:40]} is too large")
    return value


def positive(text: Any, where: str) -> Decimal:
    """Return a number greater than 0, exactly."""
    value = Decimal(number(text, where))
    if value <= 0:
        raise SceneError(f"{where}: '{str(text)[:40]}' is not greater than 0")
    return value


def whole(text: Any, where: str) -> int:
    """Return a whole number of at most 18 digits."""
    given = str(text).strip()
    if isinstance(text, bool) or not re.fullmatch(r"[+-]?[0-9]{1,18}", given):
        raise SceneError(f"{where}: '{given[:40]}' is not a whole number")
    return int(given)


def limit(text: Any, where: str, lost: list[str]) -> int:
    """Return a limit of iterations, lowered where a scene can't have as many."""
    steps = whole(text, where)
    if steps > MOST_ITERATIONS:
        lost.append(f"the limit of {steps} iterations: {MOST_ITERATIONS} is the most")
    return min(max(steps, 1), MOST_ITERATIONS)


def negated(text: str) -> str:
    """Return the decimal text of the opposite number.

    Examples
    --------
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
