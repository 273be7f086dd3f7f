"""The predefined names of formulas that follow from a view and from the pixels of a screen.

After Fractint 20 (Fractint's parser and its conversion of corners). Scenes have no screen, so its
pixels are those of 640x480 that show the view.
"""

import cmath
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from fractals.formulas.language import syntax
from fractals.formulas.language.syntax import Tree
from fractals.formulas.own import replaced

SIZE = (640, 480)  # pixels
ASPECT = 0.75  # height of the screen / its width
PIXELS = ("scrnpix", "whitesq")  # names that depend on the pixel, not on the size alone


@dataclass(frozen=True)
class ScreenView:
    """A view: its center in the plane, and three corners of the screen as seen from there."""

    center: complex
    top_left: complex
    bottom_right: complex
    bottom_left: complex

    @classmethod
    def magnified(
        cls, center: complex, magnification: float, factor: float, rotation: float, skew: float
    ) -> "ScreenView":
        """Return the view of ``center-mag``; `rotation` and `skew` in degrees."""
        h = 1 / magnification
        w = h / (ASPECT * (factor or 1.0))
        tilt = h * math.tan(math.radians(skew))
        turn = cmath.exp(-1j * math.radians(rotation))
        corners = (complex(-w + tilt, h), complex(w - tilt, -h), complex(-w - tilt, -h))
        return cls(center, *(turn * corner for corner in corners))

    def names(self) -> dict[str, complex]:
        """Return ``center``, ``magxmag`` and ``rotskew``, as Fractint finds them from corners."""
        along, upward = self.bottom_right - self.bottom_left, self.top_left - self.bottom_left
        if not along or not upward:
            return {"center": self.center}
        angle = cmath.phase(upward / along)  # between the sides
        height = abs(upward) * math.sin(abs(angle))
        factor = height / (ASPECT * abs(along))
        rotation = -math.degrees(cmath.phase(along))
        skew = 90 - math.degrees(abs(angle))
        if angle < 0:  # mirrored, and then turned by 180 degrees
            skew, factor, rotation = -skew, -factor, rotation + 180
        return {
            "center": self.center,
            "magxmag": complex(2 / height if height else 0.0, factor),
            "rotskew": complex(180 - (180 - rotation) % 360, skew),
        }

    def pixels(self) -> dict[str, Tree]:
        """Return the trees of the column, the row, ``scrnpix`` and ``whitesq`` of a sample.

        `ValueError`: the view is too small for the numbers of a formula.
        """
        across = (self.bottom_right - self.bottom_left) / (SIZE[0] - 1)
        down = (self.bottom_left - self.top_left) / (SIZE[1] - 1)
        area = across.real * down.imag - across.imag * down.real
        shares = (
            [(down.imag / area, -down.real / area), (-across.imag / area, across.real / area)]
            if area
            else [(math.inf, 0.0)]
        )
        if not all(math.isfinite(share) for pair in shares for share in pair):
            raise ValueError("it depends on pixels of the screen, in too small a view")
        corner = self.center + self.top_left
        column, row = (_rounded(pair, corner) for pair in shares)
        texts = {
            "column": column,
            "row": row,
            "scrnpix": f"{column} + i*{row}",
            "whitesq": f"{column} + {row} - 2*floor(({column} + {row})/2)",
        }
        return {name: syntax.parse(text) for name, text in texts.items()}


def _rounded(shares: tuple[float, float], corner: complex) -> str:
    """Return the whole number of steps from a corner to a sample, as an expression."""
    parts = [
        f"({share!r})*({part}(c) - ({place!r}))"
        for share, part, place in zip(shares, ("re", "im"), (corner.real, corner.imag), strict=True)
        if share
    ]
    return f"round({' + '.join(parts)})"


def used(text: str, names: Iterable[str]) -> list[str]:
    """Return which of some names a formula's text has."""
    words = set(re.findall(r"#?[a-z]\w*", text.lower()))
    return [name for name in names if name in words]


def lost(names: list[str], view: str = "this view") -> tuple[str, ...]:
    """Return the line for the user about names of the screen, or no line."""
    size = "{}x{}".format(*SIZE)
    return (f"the pixels of the screen ({', '.join(names)}): {size} in {view}",) * bool(names)


# Random numbers that are the same in each picture: a whole multiple of the one before, modulo 1,
# from a number that differs much between near samples.
FIRST_RANDOM = "43758.5453*(sin(12.9898*re(c) + 78.233*im(c)) + i*sin(39.346*re(c) + 11.135*im(c)))"
NEXT_RANDOM = "257*z + 0.618034 + 0.414214*i"  # z is the one before
RANDOM_LOST = ("rand, which is random in each picture: the same numbers in each here",)


def random_of(text: str, name: str) -> Tree:
    """Return the parts of an expression modulo 1; z in it stands for a name."""
    tree = replaced(syntax.parse(text), {"z": (name,)})
    return ("-", tree, ("floor", tree))
