"""Film: keys, tracks and sound, which make a film of a scene."""

import itertools
import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fractals.errors import shown
from fractals.scene.checks import After, Before, Dumped, Either, entry
from fractals.scene.numbers import plain
from fractals.scene.paint import PaletteValue, plain_palette
from fractals.scene.picture import LARGEST as LARGEST_PLACE
from fractals.scene.picture import Coordinate, Length, Place
from fractals.scene.table import Table

SPEED = r"(?a)\s*([0-9.eE+-]+)\s*(?:octaves/s|distances/s)?\s*"
MAX_SECONDS = 24 * 3600.0
MAX_KEYS, MAX_TRACKS, MAX_POINTS = 1000, 50, 100_000
MAX_DOTS = 12  # in the name of a track; a layer in four groups has 10
PALETTES = re.compile(r"(.*\.)?palette", re.DOTALL)  # names of tracks of palettes
MAX_PALETTES = 100  # points of such a track
MAX_TURNS = 10_000  # of a key's rotation
# Of a key's formula: its tables and lists, and its numbers
MAX_DEPTH, MAX_VALUES, LARGEST = 8, 20_000, 1e300

Value = Coordinate | tuple[Coordinate, ...]
Ease = Literal["soft", "constant", "in", "out", "both", "hold"]


def _speed(given: Any) -> Any:
    found = re.fullmatch(SPEED, str(given))
    try:
        speed = float(found[1]) if found else math.nan
    except ValueError:
        speed = math.nan
    if not 0 < speed < 1000:
        raise ValueError(f"'{shown(given, 40)}' is no speed: write '1.2 octaves/s'")
    return speed


def _points(given: Any) -> Any:
    if isinstance(given, str):
        raise ValueError(
            f"'{shown(given, 40)}': give [[seconds, value], ...], or the name of a .csv"
        )
    if isinstance(given, tuple | list) and not given:
        raise ValueError("a track without points: give [[seconds, value], ...]")
    if not isinstance(given, tuple | list):
        return given
    pairs = (isinstance(point, tuple | list) and len(point) == 2 for point in given)
    return [(*point, "soft") if pair else point for point, pair in zip(given, pairs, strict=True)]


def _in_order(points: tuple[tuple[float, Any, str], ...]) -> tuple[tuple[float, Any, str], ...]:
    sizes = {len(value) if isinstance(value, tuple) else 0 for _, value, _ in points}
    if len(sizes) > 1:
        raise ValueError("its points have different numbers of values")
    for (first, *_), (second, *_) in itertools.pairwise(points):
        if not first < second:
            raise ValueError(f"{second:g} s follows {first:g} s: seconds must grow")
    return points


class _PalettePoints(list[Any]):
    """The points of a track of palettes, before they are validated."""


def flattened(tracks: Any, before: str = "") -> Any:
    """Return tracks by their whole names: TOML reads ``formula.power`` as a table in a table.

    Points of palettes are marked, because a palette may be text or a list as other values are.

    >>> flattened({"formula": {"power": [[0, 2]]}})
    {'formula.power': [[0, 2]]}
    """
    if not isinstance(tracks, Mapping):
        return tracks
    found: dict[str, Any] = {}
    for name, points in tracks.items():
        whole = f"{before}{name}"
        deeper = isinstance(points, Mapping) and whole.count(".") < MAX_DOTS
        if isinstance(points, list | tuple) and PALETTES.fullmatch(whole):
            points = _PalettePoints(points)
        found |= flattened(points, f"{whole}.") if deeper else {whole: points}
    return found


def _formula(given: Any) -> Any:
    if not isinstance(given, Mapping):
        raise ValueError(f"'{shown(given, 40)}' is not a table with a name and numbers")
    values = 0

    def bounded(value: Any, depth: int) -> Any:
        nonlocal values
        values += 1
        if depth > MAX_DEPTH or values > MAX_VALUES:
            raise ValueError(f"more than {MAX_VALUES} values, or tables deeper than {MAX_DEPTH}")
        if isinstance(value, Mapping):
            return {str(key): bounded(each, depth + 1) for key, each in value.items()}
        if isinstance(value, tuple | list):
            return [bounded(each, depth + 1) for each in value]
        if not isinstance(value, str | int | float):
            raise ValueError(f"'{shown(value, 40)}' is neither a number nor text")
        if not isinstance(value, str) and not abs(value) <= LARGEST:
            raise ValueError(f"'{shown(value, 40)}' is not from -{LARGEST:g} to {LARGEST:g}")
        return value

    return bounded(plain(given), 0)


class KeyCamera(Table):
    """The camera of a key; what is left out is that of the key before, or of the scene."""

    position: Place | None = entry(None, description="where the camera is: X,Y,Z")
    target: Place | None = entry(None, description="what it looks at: X,Y,Z")
    field: float | None = entry(
        default=None, gt=0.01, lt=179, description="angle that it sees, from bottom to top"
    )
    roll: float | None = entry(
        default=None, ge=-360, le=360, description="degrees by which it is turned clockwise"
    )
    lens: float | None = entry(None, ge=0, le=1, description="as of the scene's camera")
    focus: float | None = entry(
        default=None, gt=0, le=LARGEST_PLACE, description="distance that is sharp"
    )


class Key(Table):
    """A view that the film shows at a time."""

    at: float | None = entry(None, ge=0, le=MAX_SECONDS, description="seconds")
    speed: Annotated[float | None, Before(_speed)] = entry(
        default=None,
        description="instead of at: mean speed from the key before, '1.2 octaves/s'; of a solid's "
        "camera '0.5 distances/s', in distances to the nearest surface",
    )
    center: tuple[Coordinate, Coordinate] | None = entry(
        default=None,
        description="of the view; default: that of the deepest key with one, or of the scene",
    )
    width: Length | None = entry(
        default=None, description="of the view in the plane; default: that of the key before"
    )
    rotation: float | None = entry(
        default=None, ge=-360 * MAX_TURNS, le=360 * MAX_TURNS, description="degrees, not reduced"
    )
    camera: KeyCamera | None = entry(
        default=None,
        description="of a solid, at this time; in between, it flies along a spline, as fast as the "
        "nearest surface is far",
    )
    formula: Annotated[dict[str, Any] | None, Before(_formula)] = entry(
        default=None,
        description="the scene's formula with other numbers, at this time; in between, numbers are "
        "interpolated",
    )
    ease: Ease = entry("soft", description="how the film comes here from the key before")

    def check(self) -> None:
        """Raise a `ValueError` for two times."""
        if self.at is not None and self.speed is not None:
            raise ValueError("at and speed are both given: give one of them")


Points = Annotated[
    tuple[tuple[float, Value, Ease], ...],
    Before(_points),
    After(_in_order),
    entry(max_length=MAX_POINTS),
]


PalettePoints = Annotated[
    tuple[tuple[float, PaletteValue, Ease], ...],
    Before(_points),
    After(_in_order),
    entry(max_length=MAX_PALETTES),
]
AnyPoints = Annotated[
    Points | PalettePoints, Either(lambda given: isinstance(given, _PalettePoints))
]


def _plain(tracks: Mapping[str, Any]) -> dict[str, Any]:
    """Return tracks as plain values."""

    def value(given: Any) -> Any:
        return list(given) if isinstance(given, tuple) else plain_palette(given)

    return {
        name: [[at, value(each), *([] if ease == "soft" else [ease])] for at, each, ease in points]
        for name, points in tracks.items()
    }


class Sound(Table):
    """Sound from a file, cut to the length of the film."""

    file: str = entry(max_length=4096, description="name of the sound file")
    start: float = entry(
        default=0.0, ge=0, le=MAX_SECONDS, description="seconds of the file left out"
    )


class FilmSettings(Table):
    """How a scene moves and changes."""

    fps: float = entry(60.0, ge=1, le=240, description="frames a second")
    seconds: float | None = entry(
        default=None,
        ge=1e-3,
        le=MAX_SECONDS,
        description="length; default: up to the last key or point",
    )
    loop: bool = entry(False, description="the first frame follows the last one")
    density: float = entry(
        default=1.5, ge=0.25, le=8, description="samples a pixel along each side, of zooms"
    )
    shutter: float = entry(
        default=0.5, ge=0, le=1, description="exposure of a frame, as a part of it"
    )
    keys: tuple[Key, ...] = entry((), max_length=MAX_KEYS)
    tracks: Annotated[dict[str, AnyPoints], Before(flattened), Dumped(_plain)] = entry(
        default={},
        max_length=MAX_TRACKS,
        description="keys of the scene: [seconds, value], ..., or [seconds, value, ease]; of "
        "palette, palettes",
    )
    sound: Sound | None = None

    def check(self) -> None:
        """Raise a `ValueError` for keys that are not in order."""
        last = -1.0
        for number, key in enumerate(self.keys):
            if key.at is None and key.speed is None and number:
                raise ValueError(f"keys.{number}: at or speed is missing")
            if key.speed is not None and not number:
                raise ValueError("keys.0: speed: no key is before the first one; give at = 0")
            if key.at is not None and not key.at > last:
                raise ValueError(
                    f"keys.{number}: {key.at:g} s follows {last:g} s: keys must be in order"
                )
            last = last if key.at is None else key.at
