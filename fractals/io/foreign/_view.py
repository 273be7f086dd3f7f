"""Views, sizes and folded formulas, shared by the formats of scenes."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

from fractals import catalog
from fractals.formulas.language import parser
from fractals.io.foreign._text import negated
from fractals.scene.numbers import EXACT as EXACT
from fractals.scene.numbers import width_in

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


def placed(kin: FormulaMatch, place: ForeignView) -> dict[str, Any]:
    """Return the part of a scene that draws `kin` at a place.

    Where the imaginary axis points down there and the formula allows it, the conjugate is drawn,
    which is the same picture; otherwise the view is mirrored.
    """
    turned = not kin.same or (kin.conjugate and not place.up)
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
    if not 2 <= power <= parser.MAX_POWER:
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
