"""The exact geometry of a view: width, center, and the matrix of rotation, stretch and mirror."""

import math
from decimal import Decimal
from fractions import Fraction

from fractals.kernels.formula import Formula
from fractals.scene.model import MAX_ITERATIONS, Scene, View
from fractals.scene.numbers import log2


def place_of(scene: Scene, formula: Formula) -> tuple[Fraction, tuple[Fraction, Fraction]]:
    """Return width and center of the view, by default those of the formula's home view."""
    home_width = home_width_of(scene, formula)
    home_center = ("0", "0") if scene.julia else formula.center
    x, y = scene.view.center or home_center
    if scene.view.width is not None:
        width = Fraction(Decimal(scene.view.width))
    else:
        width = home_width / Fraction(Decimal(scene.view.zoom or "1"))
    return width, (Fraction(Decimal(x)), Fraction(Decimal(y)))


def home_width_of(scene: Scene, formula: Formula) -> Fraction:
    """Return the width of the view that shows the whole set."""
    return Fraction("4.2") if scene.julia else Fraction(formula.width)


def limit_of(scene: Scene, formula: Formula, width: Fraction) -> int:
    """Return `max_iterations`; where it is "auto", the limit by the zoom."""
    limit = scene.iteration.max_iterations
    return limit if isinstance(limit, int) else limit_by_zoom(formula, width)


def limit_by_zoom(formula: Formula, width: Fraction) -> int:
    """Return a limit of iterations that doubles each time the zoom grows by a factor of 64."""
    zoom = max(0.0, log2(Fraction(formula.width) / width))
    return int(min(1000 * 2 ** min(zoom / 6, 30), MAX_ITERATIONS))  # 30: no float overflows


Matrix = tuple[Fraction, Fraction, Fraction, Fraction]


def matrix(view: View) -> Matrix:
    """Return ``(a, b, c, d)`` that takes picture offsets (x, y) to the plane.

    The offset in the plane is (a x + b y, c x + d y). The stretch applies first, along its own
    direction and across it; then the mirror; last the rotation.
    """
    one, zero = Fraction(1), Fraction(0)
    a, b, c, d = one, zero, zero, one
    if view.stretch != 1:
        cos, sin = _direction(view.stretch_angle)
        along, across = 1 / Fraction(view.stretch), Fraction(view.stretch)
        a, d = along * cos**2 + across * sin**2, along * sin**2 + across * cos**2
        b = c = (along - across) * cos * sin
    if view.mirror:
        c, d = -c, -d
    if view.rotation:
        cos, sin = _direction(view.rotation)
        a, b, c, d = cos * a - sin * c, cos * b - sin * d, sin * a + cos * c, sin * b + cos * d
    return a, b, c, d


def is_plain(view: View) -> bool:
    """Tell whether the picture's axes are those of the plane."""
    return matrix(view) == matrix(View())


def _direction(degrees: float) -> tuple[Fraction, Fraction]:
    turn = math.radians(degrees)
    return Fraction(math.cos(turn)), Fraction(math.sin(turn))


def finest(view: View, width: Fraction, size: tuple[int, int]) -> Fraction:
    """Return the width of a plain view whose samples are as close as the closest of this one."""
    least = width / Fraction(max(view.stretch, 1 / view.stretch))
    if view.projection == "plane":
        return least
    mantissa, exponent = _power(-turn_of(size) * size[1])
    return least * Fraction(math.pi * mantissa) * Fraction(2) ** exponent


def turn_of(size: tuple[int, int]) -> float:
    """Return the binary logarithm by which the radius shrinks from a row of pixels to the next."""
    return 2 * math.pi / size[0] / math.log(2)


def _power(logarithm: float) -> tuple[float, int]:
    """Return 2**logarithm as a mantissa from 1 to 2, and an exponent."""
    exponent = math.floor(logarithm)
    return 2.0 ** (logarithm - exponent), exponent
