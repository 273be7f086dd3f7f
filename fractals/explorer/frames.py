"""Where the frames of a client lie, exactly.

Moves are in sixteenths of a pixel, 64ths of an octave and hundredths of a degree.
"""

import math
from collections import OrderedDict
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from fractals.errors import OptionError
from fractals.rendering.families import moves_of
from fractals.rendering.moves import SPARE_DIGITS, Travel
from fractals.scene.credits import SAID
from fractals.scene.geometry import Matrix, home_width_of, matrix, place_of
from fractals.scene.model import Scene
from fractals.scene.numbers import decimal_places, decimals, log2, significant
from fractals.scene.paint import Color

SIXTEENTHS = 16  # of a pixel
STEPS = 64  # of an octave
MAX_OCTAVES = 40  # between frames whose map is sent: doubles hold it
FARTHEST = 1e12  # pixels between frames whose map is sent
MAX_EXPONENT = 20_000  # decimal exponent of a width, down: a view takes minutes long before
WIDEST = 5  # decimal exponent of a width, up
MAX_FRAMES = 256  # of a client

STILL = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)  # the map of a move that moves nothing
FLIGHT = 1000  # the unit of a flight is this part of the distance to the nearest surface

Offset = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Move:
    """A similarity of a frame's pixels (PROTOCOL.md); `about` is a fixed point in the plane."""

    # at, by: in sixteenths of a pixel; `at` None is the middle
    at: tuple[int, int] | None = None
    by: tuple[int, int] = (0, 0)
    # scale, turn: in 64ths of an octave, and hundredths of a degree
    scale: int = 0
    turn: int = 0
    about: Offset | None = None  # a point of the plane, in place of `at`
    # of a camera: to the right, up and ahead, in thousandths of the distance to the
    # nearest surface; then to the right and up, in hundredths of a degree
    fly: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)


@dataclass(frozen=True)
class PixelGrid:
    """Offsets of the plane, and the same offsets in pixels of a frame."""

    size: tuple[int, int]  # pixels of the frame
    pixel: Fraction  # side of a pixel in the plane
    matrix: Matrix  # takes offsets in the picture, to the right and up, to the plane

    def offset(self, at: tuple[int, int]) -> Offset:
        """Return the offset in the plane from the middle to a pixel, in sixteenths."""
        right = Fraction(at[0], SIXTEENTHS) - Fraction(self.size[0], 2)
        up = Fraction(self.size[1], 2) - Fraction(at[1], SIXTEENTHS)
        return self.in_plane((right, up))

    def in_plane(self, pixels: Offset) -> Offset:
        """Return an offset in pixels, to the right and up, as an offset in the plane."""
        a, b, c, d = self.matrix
        (right, up), pixel = pixels, self.pixel
        return (a * right + b * up) * pixel, (c * right + d * up) * pixel

    def in_pixels(self, offset: Offset) -> Offset:
        """Return an offset in the plane in pixels, to the right and up."""
        a, b, c, d = self.matrix
        x, y = (part / self.pixel for part in offset)
        area = a * d - b * c
        return (d * x - b * y) / area, (a * y - c * x) / area


@dataclass(frozen=True)
class FrameView:
    """Where a frame lies, exactly: what was opened, and the sums of all moves since.

    Width and rotation follow from integers, and the center is a sum without rounding. Therefore a
    move and its inverse return to the same text.
    """

    origin: Scene  # the scene that was opened
    size: tuple[int, int]  # pixels of the frame
    center: Offset
    # scale, turn: sums of the moves
    scale: int = 0
    turn: int = 0

    @classmethod
    def of(cls, scene: Scene, size: tuple[int, int]) -> "FrameView":
        """Return the place of a scene that is opened."""
        _, center = place_of(scene)
        return cls(scene, size, center)

    @property
    def width_text(self) -> str:
        """Return the width as the scene has it."""
        fitted = self.origin.view.fitted(self.size)
        if self.scale == 0 and fitted.width:
            return fitted.width
        if fitted.width:
            width = Fraction(Decimal(fitted.width))
        else:
            width, _ = place_of(self.origin)
        if self.scale == 0:
            return significant(width)
        octaves, rest = divmod(self.scale, STEPS)
        return significant(width / Fraction(2 ** (rest / STEPS)) / Fraction(2) ** octaves)

    @property
    def width(self) -> Fraction:
        """Return the width."""
        return Fraction(Decimal(self.width_text))

    @property
    def pixel(self) -> Fraction:
        """Return the side of a pixel."""
        return self.width / self.size[0]

    @property
    def rotation(self) -> float:
        """Return the rotation in degrees."""
        if self.turn == 0:
            return self.origin.view.rotation
        degrees = round(self.origin.view.rotation + self.turn / 100, 6)
        return round((degrees + 180) % 360 - 180, 6)

    @property
    def grid(self) -> PixelGrid:
        """Return the frame's grid of pixels in the plane."""
        turned = self.origin.view.model_copy(update={"rotation": self.rotation})
        return PixelGrid(self.size, self.pixel, matrix(turned))

    def point(self, at: tuple[int, int]) -> Offset:
        """Return the point of the plane at a pixel, in sixteenths."""
        x, y = self.grid.offset(at)
        return self.center[0] + x, self.center[1] + y

    def in_picture(self, point: Offset) -> Offset:
        """Return a point's distance from the middle in pixels, to the right and up."""
        return self.grid.in_pixels((point[0] - self.center[0], point[1] - self.center[1]))

    def plane(self) -> list[float]:
        """Return the map from the plane to pixels, as of PROTOCOL.md, for shallow views."""
        ends = (Fraction(0), Fraction(0)), (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))
        (x, y), (p, q), (r, s) = (self.in_picture(each) for each in ends)
        left, top = self.size[0] / 2 + float(x), self.size[1] / 2 - float(y)
        return [float(p - x), float(r - x), float(y - q), float(y - s), left, top]

    def moved(self, move: Move, size: tuple[int, int] | None = None) -> "FrameView":
        """Return the place after a move; another size keeps the center, and the width or frame.

        A view that would be too wide or too deep is an `OptionError`.
        """
        if size and size != self.size:
            return replace(self, size=size)
        if any(move.fly):
            return self._flown(move.fly)
        if not (any(move.by) or move.scale or move.turn):
            return self
        turn = self.turn + (move.turn if self.origin.view.mirror else -move.turn)
        own = self.origin.model_copy(update=dict.fromkeys(SAID, ""))  # of another place
        after = replace(self, origin=own, scale=self.scale + move.scale, turn=turn % 36_000)
        exponent = log2(after.width) * math.log10(2)
        if not -MAX_EXPONENT < exponent < WIDEST:
            wide = f"1e{exponent:.0f}"
            line = f"the view would be as wide as {wide}: go the other way"
            raise OptionError(line, code="too_wide", name=wide)
        if move.about is not None:
            return replace(after, center=self._about(after, move))
        at = move.at or (SIXTEENTHS * self.size[0] // 2, SIXTEENTHS * self.size[1] // 2)
        fixed = self.point(at)
        x, y = after.grid.offset((at[0] + move.by[0], at[1] + move.by[1]))
        return replace(after, center=(fixed[0] - x, fixed[1] - y))

    def _flown(self, fly: tuple[int, int, int, int, int]) -> "FrameView":
        """Return the place after a flight of the camera, from which later moves count anew."""
        right, up, ahead, yaw, pitch = fly
        scene = self.scene().model_copy(update=dict.fromkeys(SAID, ""))
        lengths = (right / FLIGHT, up / FLIGHT, ahead / FLIGHT)
        after = moves_of(scene).flown(scene, *lengths, yaw / 100, pitch / 100)
        return FrameView.of(after, self.size)

    def _about(self, after: "FrameView", move: Move) -> Offset:
        """Return the center after a move whose fixed point is a point of the plane."""
        assert move.about
        right, up = self.in_picture(move.about)
        by = Fraction(move.by[0], SIXTEENTHS), Fraction(-move.by[1], SIXTEENTHS)
        x, y = after.grid.in_plane((right + by[0], up + by[1]))
        # A quotient of fractions: rounded, or its digits would grow from move to move.
        places = decimals(after.pixel) + 2 * SPARE_DIGITS
        x, y = (Fraction(round(part * 10**places), 10**places) for part in (x, y))
        return move.about[0] - x, move.about[1] - y

    def scene(self) -> Scene:
        """Return the scene that is drawn: its text is the view that the user sees."""
        view = self.origin.view
        image = self.origin.image.model_copy(update={"size": self.size})
        view = view.fitted(self.size)
        origin = self.origin.model_copy(update={"image": image, "view": view})
        fresh = (
            not (self.scale or self.turn) and self.center == FrameView.of(origin, self.size).center
        )
        travel = Travel(
            self.center, self.width_text, self.rotation, self.turn / 100, moved=not fresh
        )
        return moves_of(origin).moved(origin, travel)


def in_colors(scene: Scene, color: Color) -> Scene:
    """Return a scene in other colors, of which nothing was said."""
    said = {} if scene.color == color else dict.fromkeys(SAID, "")
    return scene.model_copy(update={"color": color, **said})


class FrameHistory:
    """The places of a client's last frames, by their numbers."""

    def __init__(self) -> None:
        self.newest = 0  # number of the frame that is shown; 0 before the first
        self._places: OrderedDict[int, FrameView] = OrderedDict()

    def place(self, frame: int) -> FrameView:
        """Return the place of a frame, or raise an `OptionError`."""
        if frame not in self._places:
            raise OptionError(f"the frame {frame} is not kept: open its scene")
        return self._places[frame]

    def size(self) -> tuple[int, int] | None:
        """Return the size of the newest frame; None before the first."""
        newest = self._places.get(self.newest)
        return newest.size if newest else None

    def check_new(self, frame: int) -> None:
        """Raise an `OptionError` if a number is not greater than that of the newest frame."""
        if frame <= self.newest:
            raise OptionError(f"the frame {frame} is not greater than {self.newest}")

    def add(self, frame: int, place: FrameView) -> None:
        """Keep the place of a new frame, and forget the oldest."""
        self._places[frame] = place
        while len(self._places) > MAX_FRAMES:
            self._places.popitem(last=False)
        self.newest = frame


def octaves(place: FrameView) -> float:
    """Return log2 of the zoom from the formula's home view."""
    return log2(home_width_of(place.origin) / place.width)


def map_between(base: FrameView, after: FrameView) -> list[float] | None:
    """Return the map from pixels of one frame to those of another, as of PROTOCOL.md."""
    one, two = (place.origin.make_any_formula() for place in (base, after))
    alike = base.origin.family == after.origin.family
    if alike and moves_of(after.origin).stays(base.origin, after.origin):
        return list(STILL)
    if one is not two or base.origin.julia != after.origin.julia:
        return None
    if abs(octaves(base) - octaves(after)) > MAX_OCTAVES:
        return None
    a, b, c, d = after.grid.matrix
    p, q, r, s = base.grid.matrix
    area, ratio = a * d - b * c, base.pixel / after.pixel
    # after's matrix inverted, times base's: in pixels to the right and up
    linear = [
        (d * p - b * r) / area * ratio,
        (d * q - b * s) / area * ratio,
        (a * r - c * p) / area * ratio,
        (a * s - c * q) / area * ratio,
    ]
    right, up = after.in_picture(base.center)
    if max(abs(right), abs(up)) > FARTHEST:
        return None
    u, v, w, z = (float(part) for part in linear)
    v, w = -v, -w  # y runs down in pixels
    x0, y0 = base.size[0] / 2, base.size[1] / 2
    e, f = after.size[0] / 2 + float(right), after.size[1] / 2 - float(up)
    return [u, v, w, z, e - u * x0 - v * y0, f - w * x0 - z * y0]


def text_of(place: FrameView, at: tuple[int, int]) -> tuple[str, str]:
    """Return the coordinates of a pixel as text, with the digits that tell pixels apart."""
    x, y = place.point(at)
    places = decimals(place.pixel) + 3
    return decimal_places(x, places), decimal_places(y, places)


def zoom_text(home: float) -> str:
    """Return 2**octaves as decimal text with three digits, of any size."""
    exponent = home * 0.30102999566398120
    whole = int(exponent // 1)
    if -4 < exponent < 5:
        return f"{2.0**home:.4g}"
    return f"{10 ** (exponent - whole):.2f}e{whole}"
