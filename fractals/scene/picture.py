"""Tables of a picture: View, ImageSettings, Develop."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal

import numpy as np

from fractals.color.palette import parse_color
from fractals.errors import SceneError, shown
from fractals.scene.checks import After, Before, CommandHelp, entry
from fractals.scene.numbers import (
    MAX_SIDE,
    is_real,
    place_text,
    point_text,
    size_of,
    whole,
    width_in,
)
from fractals.scene.table import Table

SCALES = ("width", "zoom", "frame")  # keys of a view that say how much of the plane it shows
Side = Annotated[int, entry(ge=1, le=MAX_SIDE)]
BRIGHTEST = 1e6
# What "auto" means, by family: exposure and curve. Light of suns has no greatest value.
USUAL: dict[str, tuple[float, Literal["clip", "filmic"]]] = {
    "solid": (0.7, "filmic"),
    "relief": (0.7, "filmic"),
}
PLAIN: tuple[float, Literal["clip", "filmic"]] = (1.0, "clip")


def _positive(text: str) -> str:
    if not Decimal(text) > 0:
        raise ValueError(f"'{shown(text, 40)}' is not greater than 0")
    return text


def _frame(sides: tuple[str, str]) -> tuple[str, str]:
    for text in sides:
        if Decimal(text) < 0:
            raise ValueError(f"'{shown(text, 40)}' is less than 0")
    if not any(Decimal(text) for text in sides):
        raise ValueError("one of the sides is greater than 0")
    return sides


def _point(given: Any) -> Any:
    if isinstance(given, str) and (found := point_text(given)):
        return found
    if isinstance(given, tuple | list):
        return tuple(given)
    return _point_of_library(given)


def _point_of_library(given: Any) -> Any:
    """Return a point as two numbers: a number of any library, an array or a sequence."""
    if getattr(given, "shape", None) == ():  # a number of NumPy, or an array of one
        given = given.item()
    if isinstance(given, Sequence) and not isinstance(given, str):
        return tuple(given)
    if getattr(given, "shape", None) == (2,):
        return tuple(given.tolist())
    single = hasattr(given, "imag") and getattr(given, "shape", ()) == ()
    if single and not isinstance(given, bool):
        return given.real, 0 if is_real(given) else given.imag  # of Python, NumPy, gmpy2 or mpmath
    raise ValueError(
        f"'{shown(given, 40)}' is not a point: give two numbers such as ('-0.75', '0.1'), "
        "or a complex number"
    )


def check_scales(keys: Mapping[str, Any]) -> None:
    """Raise a `SceneError` for keys of which more than one says how much of the plane is shown."""
    given = [key for key in SCALES if keys.get(key) is not None]
    if len(given) > 1:
        raise SceneError(f"{' and '.join(given)} are both given: give one of them")


Coordinate = Annotated[str, Before(place_text)]
Length = Annotated[Coordinate, After(_positive)]
Point = Annotated[tuple[Coordinate, Coordinate], Before(_point)]


class View(Table):
    """Where the picture lies in the plane."""

    center: Annotated[Point | None, CommandHelp("center of the view; decimals of any length")] = (
        entry(None, description="decimal text; default: the formula's home")
    )
    width: Annotated[
        Length | None,
        CommandHelp("width of the view in the plane, or relative to the scene: 50%"),
    ] = entry(None, description="full width of the picture in the plane")
    zoom: Annotated[
        Length | None,
        CommandHelp("zoom, counted from the formula's whole view, or relative to the scene: x10"),
    ] = entry(None, description="instead of width: the home width divided by it")
    frame: Annotated[Point, After(_frame)] | None = entry(
        default=None,
        description="width and height that a picture of any shape shows in full; the width follows",
    )
    rotation: float = entry(
        default=0.0, ge=-360, le=360, description="turn the view counter-clockwise, in degrees"
    )
    mirror: bool = entry(False, description="point the imaginary axis downwards")
    stretch: float = entry(
        default=1.0,
        ge=1e-3,
        le=1e3,
        description="stretch the view by this factor along the stretch angle",
    )
    stretch_angle: float = entry(
        default=0.0,
        ge=-360,
        le=360,
        description="direction of the stretch, in degrees counter-clockwise from the right",
    )
    projection: Literal["plane", "exponential"] = entry(
        default="plane",
        description="projection: plane, or exponential (x is the angle, y the logarithm of the "
        "radius)",
    )

    def check(self) -> None:
        """Raise a `ValueError` for two scales."""
        check_scales({key: getattr(self, key) for key in SCALES})

    def fitted(self, size: tuple[int, int]) -> "View":
        """Return the view of a picture of this size: a frame decides the width."""
        if self.frame is None:
            return self
        return self.model_copy(update={"width": width_in(self.frame, size)})


def _bits(given: Any) -> int:
    bits = int(given) if given in ("8", "16") else whole(given)
    if bits not in (8, 16):
        raise ValueError(f"'{shown(given, 40)}' is not 8 or 16")
    return bits


def _gamut(given: Any) -> Any:
    """Return the gamut of a name as profiles have it: "Display P3", "display-p3", "sRGB"."""
    name = re.sub(r"[\s_-]", "", given.lower()) if isinstance(given, str) else ""
    names = {"displayp3": "p3", "p3": "p3", "srgb": "srgb", "adobergb": "adobe", "adobe": "adobe"}
    return names.get(name, given)


class ImageSettings(Table):
    """Pixels of the picture, samples of a pixel, and how a file keeps them."""

    size: Annotated[
        tuple[Side, Side],
        Before(size_of),
        CommandHelp(
            "pixels: 1920x1080, 640x, 4k, 300%, A3, 100x70cm@300dpi; another shape keeps the width "
            "of the view, or its frame"
        ),
    ] = entry((1920, 1080), description="(width, height) in pixels, or text such as 4k")
    supersampling: int = entry(
        default=2, ge=1, le=16, description="N x N samples per pixel, 1 to 16"
    )
    antialias: Literal["grid", "jittered", "adaptive"] = entry(
        default="grid", description="pattern of the samples: grid, jittered or adaptive"
    )
    bits: Annotated[Literal[8, 16], Before(_bits)] = entry(
        default=8, description="bits per channel: 8, or 16 (PNG or TIFF)"
    )
    gamut: Annotated[Literal["srgb", "p3", "adobe"], Before(_gamut)] = entry(
        default="srgb",
        rare=True,
        description="colors that the file can hold: srgb, p3 (Display P3), or adobe (those of "
        "Adobe RGB, for print)",
    )
    hdr: bool = entry(
        default=False,
        rare=True,
        description="a PNG of high dynamic range: PQ, the gamut of BT.2020, and 16 bits",
    )
    dpi: float | None = entry(
        default=None, ge=1, le=65_535, description="pixels per inch, for printing (PNG, JPEG, TIFF)"
    )
    compression: Literal["fast", "small"] = entry(
        default="fast",
        description="PNG compression: fast, or small (10 to 40 % smaller files, much slower)",
    )

    def check(self) -> None:
        """Set the bits of a high dynamic range; raise a `ValueError` for its gamut."""
        if self.hdr and self.gamut != "srgb":
            raise ValueError("hdr has the gamut of BT.2020: leave gamut out")
        if self.hdr:
            vars(self)["bits"] = 16

    @property
    def primaries(self) -> str:
        """Return the gamut of mixing and of files: "srgb", "p3", "adobe" or "bt2020"."""
        return "bt2020" if self.hdr else self.gamut

    @property
    def dtype(self) -> "np.dtype[Any]":
        """Return the type of a channel, uint8 or uint16."""
        return np.dtype(np.uint8 if self.bits == 8 else np.uint16)

    def as_srgb(self) -> "ImageSettings":
        """Return the same for a screen or a file that shows sRGB alone."""
        return self.model_copy(update={"gamut": "srgb", "hdr": False})


def auto_or(fits: Callable[[float], bool], words: str) -> Before:
    """Return what reads "auto", or a number that fits; `words` say which numbers do."""

    def read(given: Any) -> Any:
        if given == "auto":
            return given
        try:
            number = float(given)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if isinstance(given, bool) or not fits(number):
            raise ValueError(f"'{shown(given, 40)}' is not 'auto' or {words}")
        return number

    return Before(read)


Exposure = auto_or(lambda x: 0 < x <= BRIGHTEST, f"a number more than 0, at most {BRIGHTEST:g}")


class Develop(Table):
    """How linear light becomes a picture."""

    exposure: Annotated[float | Literal["auto"], Exposure] = entry(
        default="auto",
        description="factor of all light; auto: 0.7 for solids and reliefs, 1 for other images",
    )
    curve: Literal["auto", "clip", "filmic"] = entry(
        default="auto",
        description="what becomes of light brighter than white: clip cuts it off, filmic bends "
        "all light towards white as film does; auto: filmic for solids and reliefs, else clip",
    )
    bloom: float = entry(
        default=0.0, ge=0, le=100, description="strength of the glow around what is bright; 0: none"
    )
    bloom_threshold: float = entry(
        default=0.6, ge=0, le=BRIGHTEST, description="light from which on it glows; white is 1"
    )
    bloom_radius: float = entry(
        default=0.06, gt=0, le=0.5, description="how far it glows, in heights of the picture"
    )
    vignette: float = entry(
        default=0.0, ge=0, le=1, description="how much darker the corners are, 0 to 1"
    )
    denoise: bool = entry(
        default=False,
        description="remove the noise of a solid's light by Open Image Denoise, an optional extra; "
        "other machines may round otherwise",
    )
    grain: float = entry(
        default=0.0, ge=0, le=1, description="strength of film grain, 0 to 1, such as 0.03"
    )

    dither: bool = entry(
        default=True,
        description="pixels of 8 bits of a solid or a relief are rounded up or down in turns, "
        "because a smooth sky would show bands",
    )

    @property
    def whole(self) -> bool:
        """Tell whether pixels depend on the light of the whole picture."""
        return self.bloom > 0 or self.denoise

    def usual(self, family: str) -> tuple[float, Literal["clip", "filmic"]]:
        """Return exposure and curve of an image of a family."""
        exposure, curve = USUAL.get(family, PLAIN)
        return (
            exposure if self.exposure == "auto" else self.exposure,
            curve if self.curve == "auto" else self.curve,
        )

    def changes(self, family: str) -> bool:
        """Tell whether a picture differs from its light, cut off at white."""
        return self.usual(family) != PLAIN or any((self.bloom, self.vignette, self.grain))


def exposed_as_before(table: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a table with [light] that has the exposure of a solid where it belongs."""
    light = table["light"]
    if not isinstance(light, Mapping) or "exposure" not in light:
        return table
    own, rest = table.get("develop", {}), dict(light)
    exposure = rest.pop("exposure")
    if isinstance(own, Mapping) and "exposure" not in own and exposure != USUAL["solid"][0]:
        own = {**own, "exposure": exposure}
    return {**table, "light": rest, "develop": own}


LARGEST = 1e6  # of a coordinate


def listed_numbers(given: Any) -> Any:
    """Return the three numbers of a text, a list or an array."""
    text = given
    if isinstance(given, str):
        given = given.strip().strip("()[]").split(",")
    if hasattr(given, "tolist"):  # an array of NumPy
        given = given.tolist()
    if not isinstance(given, Sequence) or len(given) != 3:
        raise ValueError(f"'{shown(text, 40)}' is not three numbers such as 1.5,-2,0.5")
    return tuple(given)


def not_far(place: tuple[float, float, float]) -> tuple[float, float, float]:
    """Return a place; raise a `ValueError` if it is farther from 0 than `LARGEST`."""
    for value in place:
        if abs(value) > LARGEST:
            raise ValueError(f"{value:g} is not from -{LARGEST:g} to {LARGEST:g}")
    return place


def _color(text: str) -> str:
    parse_color(text)
    return text


ColorText = Annotated[str, After(_color)]
Triple = tuple[float, float, float]
Place = Annotated[Triple, Before(listed_numbers), After(not_far)]
