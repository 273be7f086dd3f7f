"""What formats of scenes share: bounded parsing of lines and numbers, views, folded formulas."""

import cmath
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

from fractals import catalog
from fractals.errors import SceneError, shown
from fractals.formulas.language import syntax
from fractals.io.files import parse_toml, text_of
from fractals.io.foreign import MAX_BYTES
from fractals.scene.model import MAX_ITERATIONS
from fractals.scene.numbers import EXACT as EXACT
from fractals.scene.numbers import decimal_text, width_in

MAX_LINES = 100_000
MAX_RADIUS = 1e9  # of a scene
MAX_STRETCH = 1e3  # of a scene
CONVERGED = "the test of having converged: a step is shorter than 1e-6 here"


def lines_of(data: bytes) -> list[str]:
    """Return the lines of a text file, without their ends."""
    if len(data) > MAX_BYTES:
        raise SceneError(f"{len(data)} bytes: a file has at most {MAX_BYTES}")
    text = text_of(data, old=True).partition("\x1a")[0]  # the end of a file of DOS
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


def whole(text: Any, where: str, digits: int = 18) -> int:
    """Return a whole number, which may have that many `digits`."""
    given = shown(text).strip()
    if isinstance(text, bool) or not re.fullmatch(rf"[+-]?[0-9]{{1,{digits}}}", given):
        raise SceneError(f"{where}: '{shown(given, 40)}' is not a whole number")
    return int(given)


def limit(text: Any, where: str, lost: list[str]) -> int:
    """Return a limit of iterations, lowered where a scene can't have as many."""
    steps = whole(text, where, 40)  # some programs write 2**64 - 1 where they know no limit
    if steps > MAX_ITERATIONS:
        lost.append(f"the limit of {steps} iterations: {MAX_ITERATIONS} is the most")
    if steps < 1:
        lost.append(f"the limit of {steps} iterations: 1 is the least")
    return min(max(steps, 1), MAX_ITERATIONS)


def escape_radius(given: float, lost: list[str]) -> float:
    """Return an escape radius that a scene takes."""
    if given > MAX_RADIUS:
        lost.append(f"the escape radius of {given:g}: {MAX_RADIUS:g} is the most")
    if given < 2:
        lost.append(f"the escape radius of {given:g}: 2 is the least")
    return min(max(given, 2.0), MAX_RADIUS)


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


# --- Views, sizes and folded formulas

MULTIBROT = 8  # its highest power


@dataclass(frozen=True)
class FormulaMatch:
    """A formula of this program that draws one of another program."""

    formula: Any  # as in a scene
    # same, conjugate: whether the two pictures agree at c, and whether they agree at the conjugate
    # of c
    same: bool = True
    conjugate: bool = False


@dataclass(frozen=True)
class ForeignView:
    """A view, in another program's own terms."""

    center: tuple[str, str]  # decimal text
    height: Decimal  # of the view in the plane, whatever the picture's shape
    up: bool = True  # whether the imaginary axis points up in its pictures
    # Degrees from its real axis towards its imaginary axis by which the view is turned
    angle: float = 0.0
    # stretch, stretch_angle: as in a scene: the factor, and the direction in the picture, by which
    # lengths are stretched
    stretch: float = 1.0
    stretch_angle: float = 0.0
    size: tuple[int, int] | None = None  # in pixels; of a new scene where the file names none
    julia: tuple[str, str] | None = None  # the c of a Julia set
    width: Decimal = Decimal(0)  # that a narrow picture shows in full, too


def is_turned(kin: FormulaMatch, up: bool) -> bool:
    """Tell whether the conjugate is drawn; `up`: whether the imaginary axis points up there."""
    return not kin.same or (kin.conjugate and not up)


def placed(kin: FormulaMatch, place: ForeignView) -> dict[str, Any]:
    """Return the part of a scene that draws `kin` at a place.

    Where the imaginary axis points down there and the formula allows it, the conjugate is drawn,
    which is the same picture; otherwise the view is mirrored.
    """
    turned = is_turned(kin, place.up)
    flip = negated if turned else str
    angle = -place.angle if turned else place.angle
    view = {
        "center": [place.center[0], flip(place.center[1])],
        "frame": [str(place.width), str(place.height)],
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


def stretched(
    center: tuple[str, str],
    height: Decimal,
    angle: float,
    factor: float,
    where: str,
    julia: tuple[str, str] | None,
    lost: list[str],
) -> ForeignView:
    """Return a view in which widths are longer by a factor than in a view of this height.

    A stretch of a scene is as much shorter across as it is longer along, so it is the root of the
    factor, and the height that of the view before. A negative factor mirrors left and right: the
    imaginary axis then points down in a view that is turned by 180 degrees.
    """
    stretch = math.sqrt(abs(factor))
    if not 1 / MAX_STRETCH <= stretch <= MAX_STRETCH:
        lost.append(f"the stretch of the view ({where}: a factor of {factor:g})")
        stretch = 1.0
    if abs(stretch - 1) < 1e-12:
        stretch = 1.0
    if factor < 0:
        angle += 180
    return ForeignView(
        center,
        EXACT.divide(height, Decimal(stretch)),
        up=factor >= 0,
        angle=angle,
        stretch=stretch,
        julia=julia,
    )


def skewed(
    center: tuple[str, str],
    height: Decimal,
    right: complex,
    upward: complex,
    factor: float,
    julia: tuple[str, str] | None,
) -> ForeignView | None:
    """Return a view whose sides make any angle; None where a scene has no stretch that large.

    `right`, over `factor`, and `upward`: to where a picture's height leads in the plane, over
    `height`. A point z of the picture, in heights, comes to az + b conj(z). So the view is turned
    by the angle of the larger one, and it is mirrored where that is b; along one direction, lengths
    are |a| + |b| times as long, and | |a| - |b| | times across it.
    """
    if not MAX_STRETCH**-2 <= abs(factor) <= MAX_STRETCH**2:
        return None
    right /= factor
    a, b = (right - 1j * upward) / 2, (right + 1j * upward) / 2
    up = abs(a) > abs(b)
    large, small = (a, b) if up else (b, a)
    turn = cmath.phase(large)
    bend = small * cmath.exp(-1j * turn)
    along = cmath.phase(bend if up else bend.conjugate()) / 2
    most, least = abs(a) + abs(b), abs(large) - abs(small)
    if not most <= least * MAX_STRETCH**2:
        return None
    return ForeignView(
        center,
        EXACT.multiply(height, Decimal(math.sqrt(most * least))),
        up=up,
        angle=math.degrees(turn),
        stretch=math.sqrt(most / least),
        stretch_angle=math.degrees(along) + 90,
        julia=julia,
    )


def zoom_of(height: Decimal, size: tuple[int, int]) -> str:
    """Return the shortest zoom, 4 / height, from which the same width is read."""
    width = width_in(("0", str(height)), size)
    zoom = EXACT.divide(Decimal(4), height)
    for digits in range(1, EXACT.prec):
        rounded = Context(digits, Emax=EXACT.Emax, Emin=EXACT.Emin).plus(zoom)
        if width_in(("0", str(EXACT.divide(Decimal(4), rounded))), size) == width:
            return f"{rounded:E}".replace("E+", "E")
    return f"{zoom:E}".replace("E+", "E")


def height_of(table: Mapping[str, Any]) -> tuple[tuple[str, str], Decimal]:
    """Return the center and the height of the view of a whole scene's plain values."""
    formula, view = table["formula"], table["view"]
    options = options_of(formula)
    home = catalog.load("formula", options.pop("name"))(**options)
    x, y = view.get("center") or home.center
    across, down = table["image"]["size"]
    width = Decimal(view.get("width") or home.width)
    if "frame" in view:
        width = Decimal(width_in(view["frame"], (across, down)))
    if "zoom" in view:
        width = EXACT.divide(width, Decimal(view["zoom"]))
    return (x, y), EXACT.divide(EXACT.multiply(width, Decimal(down)), Decimal(across))


def options_of(formula: Any) -> dict[str, Any]:
    """Return the table of a formula, which in a scene may be a name or an expression."""
    if not isinstance(formula, str):
        return dict(formula)
    return {"name": formula} if formula.isidentifier() else {"name": "expression", "step": formula}


def turn(degrees: float) -> float:
    """Return an angle from -180 to 180 degrees.

    >>> turn(-310.25), turn(540.0)
    (49.75, -180.0)
    """
    return (degrees + 180) % 360 - 180 if abs(degrees) > 180 else degrees + 0.0


def power_of(power: int) -> FormulaMatch | None:
    """Return the match of z**power + c, or None for powers that no expression has."""
    if not 2 <= power <= syntax.MAX_POWER:
        return None
    formula: Any = "mandelbrot" if power == 2 else {"name": "multibrot", "power": power}
    if power > MULTIBROT:
        formula = {"name": "expression", "step": f"z^{power} + c"}
    return FormulaMatch(formula, conjugate=True)


def folded(before: frozenset[str], power: int, after: frozenset[str]) -> FormulaMatch | None:
    """Return the match of a formula that folds z, takes a power, folds again and adds c.

    The folds are "absx", "absy", "negx" and "negy". An unsupported formula returns None.
    """
    if not before and not after:
        return power_of(power)
    return FOLDS.get((before, after)) if power == 2 else None


FOLDS = {
    (frozenset({"absx", "absy"}), frozenset[str]()): FormulaMatch("burning_ship"),
    (frozenset({"absy"}), frozenset[str]()): FormulaMatch("perpendicular_burning_ship"),
    (frozenset({"absy", "negy"}), frozenset[str]()): FormulaMatch(
        "perpendicular_burning_ship", same=False, conjugate=True
    ),
    (frozenset({"negy"}), frozenset[str]()): FormulaMatch("tricorn", conjugate=True),
    (frozenset({"negx"}), frozenset[str]()): FormulaMatch("tricorn", conjugate=True),
    (frozenset({"absx"}), frozenset[str]()): FormulaMatch("heart", conjugate=True),
    (frozenset({"absx"}), frozenset({"absx"})): FormulaMatch("celtic_heart", conjugate=True),
    (frozenset({"absx", "absy"}), frozenset({"absx"})): FormulaMatch("buffalo"),
    (frozenset[str](), frozenset({"absy"})): FormulaMatch("burning_ship"),
    (frozenset[str](), frozenset({"absx"})): FormulaMatch("celtic", conjugate=True),
    (frozenset[str](), frozenset({"absx", "absy"})): FormulaMatch("buffalo"),
}
