"""Tables of a picture in space: Camera, Light and Relief."""

import re
from typing import Annotated, Any, Literal, NamedTuple

from fractals.errors import shown
from fractals.scene.checks import After, Before, CommandHelp, entry
from fractals.scene.numbers import MAX_SIDE
from fractals.scene.picture import (
    LARGEST,
    ColorText,
    Place,
    Triple,
    auto_or,
    listed_numbers,
    not_far,
)
from fractals.scene.table import Table

MOST_SAMPLES = 1_000_000
PART = re.compile(r"([0-9]{1,9})[xX×]([0-9]{1,9})\+([0-9]{1,9})\+([0-9]{1,9})")


def _direction(place: tuple[float, float, float]) -> tuple[float, float, float]:
    if not any(abs(value) > 1e-6 for value in not_far(place)):
        raise ValueError("a direction is not 0, 0, 0")
    return place


def _sun(given: Any) -> Any:
    return given if given == "key" else listed_numbers(given)


def _sun_place(given: Any) -> Any:
    return given if given == "key" else _direction(given)


def _colors(given: Any) -> Any:
    return tuple(given.split(",")) if isinstance(given, str) else given


Paths = auto_or(
    lambda x: 1 <= x <= MOST_SAMPLES and x.is_integer(), f"a whole number from 1 to {MOST_SAMPLES}"
)
Direction = Annotated[Triple, Before(listed_numbers), After(_direction)]


class WholePart(NamedTuple):
    """Where a picture lies in a larger one, in pixels."""

    width: int  # of the larger one
    height: int
    column: int  # of the larger one, that is the picture's first
    row: int


def part_of(text: str) -> WholePart:
    """Return the numbers of a text such as 3840x2160+1920+0; another text is a `ValueError`."""
    if not (found := PART.fullmatch(text.strip())):
        raise ValueError(f"'{shown(text, 40)}' is not WIDTHxHEIGHT+X+Y, such as 3840x2160+1920+0")
    part = WholePart(*map(int, found.groups()))
    if not all(1 <= side <= MAX_SIDE for side in part[:2]):
        raise ValueError(f"'{shown(text, 40)}': a side is not from 1 to {MAX_SIDE}")
    return part


def _whole(text: str) -> str:
    width, height, column, row = part_of(text)
    return f"{width}x{height}+{column}+{row}"


# Keys of the camera that reliefs do not have.
OF_SOLIDS = ("position", "target", "up", "panorama", "stereo", "eye", "whole", "ray_step")


class Camera(Table):
    """From where a solid is seen."""

    position: Place | None = entry(
        default=None, description="where the camera is: X,Y,Z; default: the solid's own place"
    )
    target: Place | None = entry(
        default=None, description="what the camera looks at: X,Y,Z; default: the solid's own"
    )
    up: Direction | None = entry(
        default=None, description="the direction that is up for the camera: X,Y,Z; default: 0,0,1"
    )
    field: float = entry(
        default=42.0, gt=0.01, lt=179, description="angle that the camera sees, from bottom to top"
    )
    panorama: bool = entry(
        default=False,
        description="the view all around, 360 by 180 degrees, for a picture twice as wide as high",
    )
    stereo: float = entry(
        default=0.0,
        ge=0,
        le=1,
        description="distance between two eyes, as a share of the distance that is sharp; above 0 "
        "the picture is a pair: left and right side by side, of a panorama one above the other",
    )
    eye: Literal["both", "left", "right"] = entry(
        default="both",
        description="left or right: that eye's picture alone, as large as size says; its pixels "
        "are those of the pair",
    )
    whole: Annotated[str, After(_whole)] | None = entry(
        default=None,
        description="draw a part of a larger picture, with its pixels: WIDTHxHEIGHT+X+Y, the size "
        "of the whole and where the part's upper left corner is; size is that of the part",
    )
    roll: float = entry(
        default=0.0, ge=-360, le=360, description="turn the camera clockwise, in degrees"
    )
    lens: float = entry(
        default=0.0,
        ge=0,
        le=1,
        description="radius of the camera's lens, as a share of the distance that is sharp",
    )
    focus: float | None = entry(
        default=None,
        gt=0,
        le=LARGEST,
        description="distance that is sharp, and to which haze is measured; default: that of the "
        "surface in view, a third of which is nearer than what is sharp",
    )
    ray_step: float = entry(
        default=1.0,
        ge=0.2,  # with less, rays need more evaluations than they have
        le=1,
        description="how much of the distance to the surface a ray goes at once; less is slower, "
        "and passes no thin parts where that distance is guessed too long, as near the poles of a "
        "Mandelbulb",
    )


# Keys of the light that comes from sun, sky and surface: `recolor` may change them.
SOURCES = ("sun_power", "sun_color", "sky", "emission", "emission_color")


class Light(Table):
    """What lights a solid, or the landscape of a relief."""

    sun: Annotated[Literal["key"] | Triple, Before(_sun), After(_sun_place)] = entry(
        default="key",
        description="direction to the sun: X,Y,Z, or key (above and to the left of the camera)",
    )
    sun_color: ColorText = entry("#ffe4c0", description="color of the sun's light")
    sun_power: float = entry(
        default=3.0, ge=0, le=1e4, description="brightness of the sun; that of the sky is about 0.5"
    )
    sun_size: float = entry(
        default=3.0, ge=0, le=90, description="angle across the sun's disc: how soft shadows are"
    )
    sky: Annotated[tuple[ColorText, ColorText, ColorText], Before(_colors)] = entry(
        default=("#d6cfc6", "#7896ba", "#8b8379"),
        description="colors of the sky at the horizon, at the zenith, and below the horizon",
    )
    haze: float = entry(
        default=0.15,
        ge=0,
        le=100,
        description="haze before what is at the focus, or else at the middle distance",
    )
    gloss: float = entry(0.1, ge=0, le=10, description="how much the surface shines")
    emission: Annotated[
        float,
        CommandHelp(
            "brightness of the light that the surface gives off by itself: in hollows, unless the "
            "scene says where"
        ),
    ] = entry(
        default=0.0,
        ge=0,
        le=1e4,
        description="brightness of the light that the surface gives off by itself, where its trap "
        "is near emission_at",
    )
    emission_color: ColorText = entry("#ff9a3c", description="color of that light")
    emission_at: float = entry(
        default=0.0,
        ge=0,
        le=1,
        description="where the surface gives off light: 0 where it has the palette's first color, "
        "in hollows, to 1 where it has the last one",
    )
    emission_width: float = entry(
        default=0.1, ge=0.001, le=1, description="how far from emission_at that light fades"
    )
    bounces: int = entry(
        default=3,
        ge=0,
        le=16,
        description="how many times light is reflected by the solid, 0 to 16",
    )
    samples: Annotated[int | Literal["auto"], Paths] = entry(
        default="auto",
        description="paths of light for each pixel; auto: as many as a pixel of a solid needs, by "
        "quality; of a relief 16 for each of supersampling's samples",
    )
    relight: Annotated[
        bool,
        CommandHelp(
            "a store of the light can be recolored with another sky, and another power and color "
            "of the sun and of the emission, and is six times as large; an EXR has more passes, "
            "and with a lens takes twice as long"
        ),
    ] = entry(
        default=False,
        description="a store of the light can be recolored with other sun_power, sun_color, sky, "
        "emission and emission_color, and is six times as large; an EXR has more passes, and "
        "with a lens takes twice as long",
    )


class Relief(Table):
    """How an escape-time scene becomes a landscape, lit by the light of solids."""

    heights: Literal["none", "smooth", "distance"] = entry(
        default="none",
        description="draw the scene as a landscape that is high near the set, by the smooth count "
        "or the distance estimate (distance); none: flat",
    )
    rise: float = entry(
        default=0.1,
        ge=-2,
        le=2,
        description="height of the highest point of a relief, as a share of the picture's width; "
        "below 0 the set lies deep",
    )
    tilt: float = entry(
        default=0.0,
        ge=0,
        le=80,
        description="angle of the camera over a relief: 0 sees it from straight above, as a map; "
        "60 looks far over it",
    )
