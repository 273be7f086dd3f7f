"""The view that is searched: its center, sides and cells, as exact numbers."""

from decimal import Decimal
from typing import Any, Literal

import gmpy2
from gmpy2 import mpfr, mpq

from fractals.deep.newton import LOW_BITS, Point
from fractals.errors import OptionError, SceneError
from fractals.kernels.formula import Formula
from fractals.scene.geometry import limit_of, matrix, place_of
from fractals.scene.model import Scene

# Highest period of a search if the scene's limit is "auto". A search takes time in proportion.
MAX_STEPS = 10_000_000


class Area:
    """The view of a scene in the parameter plane.

    `width`, `height` and `radius`, of a circle around the view, are in plane units. A scene that
    has no plane of parameters, because it shows a Julia set or an exponential map, is refused.
    """

    def __init__(self, scene: Scene, max_period: int | None, what: str) -> None:
        if scene.julia:
            raise SceneError(f"a Julia set has no {what}: find them in the set of its formula")
        if max_period is not None and max_period < 1:
            raise OptionError(
                f"max_period {max_period}: give the highest period to look for, 1 or more"
            )
        if scene.view.projection != "plane":
            raise SceneError(
                "an exponential map has no middle to search in: give projection='plane'"
            )
        self.formula: Formula = scene.make_formula()
        if not self.formula.additive or self.formula.degree < 2:
            raise SceneError(
                f"{what} are found of maps f(z) + c of a polynomial f, and "
                f"'{self.formula.name}' is another"
            )
        width, center = place_of(scene, self.formula)
        across, down = scene.image.size
        self.width, self.height = mpq(width), mpq(width) * down / across
        self.center: Point = mpq(center[0]), mpq(center[1])
        self.matrix = tuple(map(mpq, matrix(scene.view)))
        with gmpy2.context(precision=LOW_BITS):
            self.radius = mpfr(gmpy2.hypot(self.width, self.height) / 2)
            self.radius *= max(scene.view.stretch, 1 / scene.view.stretch)
        auto = scene.iteration.max_iterations == "auto"
        # Most steps of a search
        self.max_period = max_period or min(
            limit_of(scene, self.formula, width), MAX_STEPS if auto else 2**31
        )

    def middle(self, i: int, j: int, cells: int) -> Point:
        """Return the middle of a cell, where the view has `cells` of them along a side."""
        right = (mpq(2 * i + 1, 2 * cells) - mpq(1, 2)) * self.width
        up = (mpq(2 * j + 1, 2 * cells) - mpq(1, 2)) * self.height
        (x, y), (a, b, c, d) = self.center, self.matrix
        return x + a * right + b * up, y + c * right + d * up

    def offset(self, point: Point) -> Point:
        """Return a point's offset from the center, in view widths and heights."""
        x, y = (mpq(a) - b for a, b in zip(point, self.center, strict=True))
        a, b, c, d = self.matrix
        area = a * d - b * c
        right, up = (d * x - b * y) / area, (a * y - c * x) / area
        return right / self.width, up / self.height

    def contains(self, point: Point) -> bool:
        """Tell whether a point is in view."""
        right, up = self.offset(point)
        return bool(max(abs(right), abs(up)) <= 0.5)


def limit_for(scene: Scene, period: int) -> int | Literal["auto"]:
    """Return the scene's limit, or "auto" where it is too low for a cycle of this period.

    Pictures at a point of this period show orbits that take many times its steps.
    """
    limit = scene.iteration.max_iterations
    return "auto" if limit != "auto" and limit < 20 * period else limit


def rounded(value: Any) -> str:
    """Return a number to six digits."""
    return str(Decimal(format(value, ".5e")).normalize()).lower()
