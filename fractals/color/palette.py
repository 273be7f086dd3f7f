"""Palettes: color stops, interpolated in a color space into a lookup table of linear light."""

import functools
import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fractals import catalog
from fractals.errors import InputError, shown, typed

# Color spaces: sRGB, linear light, OKLab and OKLCH.


ENTRIES = 4096  # of the lookup table
LEVELS = {8: 2**14, 16: 2**20}  # of linear light, by bits of sRGB: none is passed over in the dark

# Björn Ottosson, A perceptual color space for image processing (2020).
LMS_FROM_LINEAR = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
LAB_FROM_ROOTS = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)

# From linear sRGB to linear light of wider gamuts with the same white: Display P3, that of Adobe
# RGB (1998), and BT.2020.
GAMUTS = {
    "p3": np.array(
        [
            [0.8224619687143623, 0.1775380312856377, 0.0],
            [0.0331941988509616, 0.9668058011490384, 0.0],
            [0.0170826307211200, 0.0723974406639635, 0.9105199286149165],
        ]
    ),
    "adobe": np.array(
        [
            [0.7151256068556245, 0.2848743931443755, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0411619484501184, 0.9588380515498817],
        ]
    ),
    "bt2020": np.array(
        [
            [0.6274038959346990, 0.3292830383778837, 0.0433130656874172],
            [0.0690972893582321, 0.9195403950754587, 0.0113623155663092],
            [0.0163914388751503, 0.0880133078772258, 0.8955952532476240],
        ]
    ),
}

Floats = NDArray[np.float64]


def in_gamut(linear: Any, gamut: str) -> Floats:
    """Return linear light of a gamut, shape (..., 3), of linear sRGB, which may leave 0 to 1."""
    v = np.asarray(linear, np.float64)
    return v if gamut == "srgb" else np.asarray(v @ GAMUTS[gamut].T)


def hexadecimal(srgb: Any) -> str:
    """Return ``"#rrggbb"`` of sRGB values from 0 to 1."""
    red, green, blue = (round(255 * min(max(float(v), 0.0), 1.0)) for v in srgb)
    return f"#{red:02x}{green:02x}{blue:02x}"


def linear_from_srgb(encoded: Any) -> Floats:
    """Return linear light from 0 to 1 of sRGB values from 0 to 1 (IEC 61966-2-1)."""
    v = np.asarray(encoded, dtype=np.float64)
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def srgb_from_linear(linear: Any) -> Floats:
    """Return sRGB values from 0 to 1 of linear light from 0 to 1."""
    v = np.asarray(linear, dtype=np.float64)
    return np.where(v <= 0.0031308, v * 12.92, 1.055 * np.maximum(v, 0) ** (1 / 2.4) - 0.055)


def oklab_from_linear(linear: Floats) -> Floats:
    """Return OKLab coordinates of linear light, shape (..., 3)."""
    return np.asarray(np.cbrt(linear @ LMS_FROM_LINEAR.T) @ LAB_FROM_ROOTS.T)


def linear_from_oklab(lab: Floats) -> Floats:
    """Return linear light of OKLab coordinates, shape (..., 3)."""
    roots = lab @ np.linalg.inv(LAB_FROM_ROOTS).T
    return np.asarray(roots**3 @ np.linalg.inv(LMS_FROM_LINEAR).T)


def oklch_from_oklab(lab: Floats) -> Floats:
    """Return lightness, chroma and hue in degrees of OKLab coordinates, shape (..., 3)."""
    lightness, a, b = np.moveaxis(lab, -1, 0)
    return np.stack([lightness, np.hypot(a, b), np.degrees(np.arctan2(b, a))], axis=-1)


def linear_from_oklch(lch: Floats, gamut: str = "srgb") -> Floats:
    """Return linear sRGB of OKLCH colors, shape (..., 3), with less chroma where a gamut ends."""
    lightness, chroma, hue = np.moveaxis(np.asarray(lch, np.float64), -1, 0)
    turn = np.stack([np.cos(np.radians(hue)), np.sin(np.radians(hue))], axis=-1)

    def light(share: Floats) -> Floats:
        ab = (share * chroma)[..., None] * turn
        return linear_from_oklab(np.concatenate([lightness[..., None], ab], axis=-1))

    def fits(linear: Floats) -> NDArray[np.bool_]:
        linear = in_gamut(linear, gamut)
        return np.asarray(((linear > -1e-4) & (linear < 1 + 1e-4)).all(axis=-1))

    low, high = np.zeros(chroma.shape), np.ones(chroma.shape)
    if fits(light(high)).all():
        return light(high)
    low = np.where(fits(light(high)), high, low)
    for _ in range(20):
        middle = (low + high) / 2
        good = fits(light(middle))
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    return light(low)


@functools.cache
def decoding() -> NDArray[np.float32]:
    """Return linear light of 4097 sRGB values, evenly spaced from 0 to 1; shared by all callers."""
    return linear_from_srgb(np.arange(ENTRIES + 1) / ENTRIES).astype(np.float32)


@functools.cache
def encoding(bits: int = 8) -> NDArray[Any]:
    """Return the sRGB value, of 8 or 16 bits, of each of LEVELS steps of linear light.

    The array is shared by all callers: do not write to it.
    """
    levels = np.arange(LEVELS[bits]) / (LEVELS[bits] - 1)
    return np.asarray(np.rint((2**bits - 1) * srgb_from_linear(levels)), f"u{bits // 8}")


MAX_STOPS = 4096
MAX_COLOR_NAME = 40  # characters; the longest name of CSS has 20
MAX_TEXT = 1000  # characters of a title, a source or a license
SPACES = ("oklab", "oklch", "srgb")  # where colors between two stops are taken from
BLENDS = ("linear", "smooth", "cosine")  # how fast one color becomes the next
OKLCH = r"(?a)oklch\(\s*([\d.]+)(%?)\s+([\d.]+)\s+(-?[\d.]+)(?:deg)?\s*\)"
GRAY = 1e-4  # chroma below which a color has no hue; rounding gives #808080 a chroma of 4e-8


@dataclass(frozen=True)
class Palette:
    """Color stops along one turn.

    Attributes
    ----------
    stops : tuple of (float, str)
        Position from 0 to 1 and color, ``"#rrggbb"`` or ``"oklch(L C H)"``, in rising order. The
        constructor also takes colors alone, which it spaces evenly.
    cyclic : bool
        Whether the last stop leads back to the first; if not, both ends go on for ever.
    space : str
        Where colors between stops lie: "oklab", on a straight line; "oklch", on an arc that keeps
        them as vivid as their neighbours, its hue going the shorter way; or "srgb", where most
        other programs mix colors.
    blend : str
        "linear"; "smooth", a curve without a kink at the stops, which never goes beyond them
        (monotone cubic); or "cosine": slowly away from a stop, and slowly to the next.

    Raises
    ------
    InputError
        A value is invalid.
    """

    stops: tuple[tuple[float, str], ...]
    _: KW_ONLY
    cyclic: bool = True
    space: str = "oklab"
    blend: str = "linear"
    title: str = ""
    source: str = ""
    licence: str = ""

    if TYPE_CHECKING:  # colors alone are stops, too

        def __init__(
            self,
            stops: Sequence[Any],
            *,
            cyclic: bool = True,
            space: str = "oklab",
            blend: str = "linear",
            title: str = "",
            source: str = "",
            licence: str = "",
        ) -> None: ...

    def __post_init__(self) -> None:
        for key in ("title", "source", "licence"):
            text = getattr(self, key)
            if isinstance(text, str) and len(text) > MAX_TEXT:
                raise InputError(f"palette: {key} has at most {MAX_TEXT} characters")
            # A surrogate can't be written to a file.
            if not isinstance(text, str) or any("\ud800" <= c <= "\udfff" for c in text):
                raise _wrong(key, "text", text)
        if not isinstance(self.cyclic, bool):
            raise _wrong("cyclic", "true or false", self.cyclic)
        for key, allowed in (("space", SPACES), ("blend", BLENDS)):
            if not isinstance(given := getattr(self, key), str) or given not in allowed:
                raise _wrong(key, f"one of {', '.join(allowed)}", given)
        object.__setattr__(self, "stops", parse_stops(self.stops, self.cyclic))

    def to_table(self) -> dict[str, Any]:
        """Return plain values, without the keys that are empty or usual."""
        table = {**asdict(self), "stops": [list(stop) for stop in self.stops]}
        usual = {"space": "oklab", "blend": "linear"}
        return {k: value for k, value in table.items() if value != usual.get(k, "")}

    def lookup(self, inside: str, gamut: str = "srgb") -> NDArray[np.float32]:
        """Return the table the shading program reads, shape (ENTRIES + 2, 3), in linear light.

        Row k is the color at k / ENTRIES of a turn; the last row is the `inside` color. The array
        is shared by all callers: do not write to it.
        """
        return _lookup(self, inside, gamut)

    def linear(self, at: Any, gamut: str = "srgb") -> Floats:
        """Return the colors at places from 0 to 1, of any shape, in linear light, shape (..., 3).

        Where colors mix beyond what the gamut can show, values leave 0 to 1 a little; in OKLCH,
        where they would leave it far, chroma gives way instead. In sRGB they mix within sRGB.
        """
        at = np.asarray(at, np.float64)
        places = np.array([place for place, _ in self.stops])
        colors = np.array([parse_color(text) for _, text in self.stops])
        if self.space != "srgb":
            light = linear_from_srgb(colors)
            if gamut != "srgb":
                light = np.array([_linear_of(text, gamut) for _, text in self.stops])
            colors = oklab_from_linear(light)
        if self.space == "oklch":
            colors = oklch_from_oklab(colors)
        if self.cyclic:
            places = np.concatenate([places - 1, places, places + 1])
            colors = np.concatenate([colors, colors, colors])
        if self.blend == "cosine":
            k, gap, share = _between(at, places)
            at = places[k] + gap * (1 - np.cos(np.pi * share)) / 2
        blend = _smooth if self.blend == "smooth" else np.interp
        mixed = np.stack([blend(at, places, channel) for channel in colors.T], axis=-1)
        if self.space == "srgb":
            return in_gamut(linear_from_srgb(mixed), gamut)
        if self.space == "oklch":
            mixed[..., 2] = _hues(at, places, colors)
            return in_gamut(linear_from_oklch(mixed, gamut), gamut)
        return in_gamut(linear_from_oklab(mixed), gamut)


KEYS = tuple(each.name for each in fields(Palette))


def _wrong(key: str, expected: str, given: Any) -> InputError:
    return InputError(f"palette: {key} is {expected}, not '{shown(given, 40)}'")


def _between(at: Floats, places: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Return the stop before each place, how far the next one is, and the share of that way."""
    k = np.clip(np.searchsorted(places, at, "right") - 1, 0, max(len(places) - 2, 0))
    gap = places[np.minimum(k + 1, len(places) - 1)] - places[k]
    return k, gap, np.clip((at - places[k]) / np.maximum(gap, 1e-12), 0, 1)


def _smooth(at: Floats, places: Floats, values: Floats) -> Floats:
    """Interpolate by cubics that rise only where the values do.

    The slope at a stop is the weighted harmonic mean of those of the lines beside it, and 0 at an
    extremum. After Fritsch and Butland, *A method for constructing local monotone piecewise cubic
    interpolants* (1984).
    """
    if len(places) == 1:
        return np.full(at.shape, values[0])
    gaps = np.maximum(np.diff(places), 1e-12)
    rises = np.diff(values) / gaps
    before, after = rises[:-1], rises[1:]
    near, far = 2 * gaps[1:] + gaps[:-1], gaps[1:] + 2 * gaps[:-1]
    same = before * after > 0
    weights = near / np.where(same, before, 1) + far / np.where(same, after, 1)
    inner = np.where(same, (near + far) / np.where(same, weights, 1), 0)
    slopes = np.concatenate([rises[:1], inner, rises[-1:]])
    k, gap, t = _between(at, places)
    start, end = values[k], values[k + 1]
    bend = t * (1 - t) * ((1 - t) * (slopes[k] * gap) - t * (slopes[k + 1] * gap))
    return np.asarray(start + t * t * (3 - 2 * t) * (end - start) + bend)


def _hues(at: Floats, places: Floats, colors: Floats) -> Floats:
    """Return hues between stops, the shorter way round; a gray stop takes its neighbour's."""
    k, _, share = _between(at, places)
    chromas, hues, after = colors[:, 1], colors[:, 2], np.minimum(k + 1, len(places) - 1)
    c, h, next_c, next_h = chromas[k], hues[k], chromas[after], hues[after]
    h, next_h = np.where(c < GRAY, next_h, h), np.where(next_c < GRAY, h, next_h)
    return np.asarray(h + share * ((next_h - h + 180) % 360 - 180))


@functools.lru_cache(maxsize=8)
def _lookup(palette: Palette, inside: str, gamut: str) -> NDArray[np.float32]:
    at = np.arange(ENTRIES + 1) / ENTRIES
    rows = [palette.linear(at, gamut), linear_of(inside, gamut)[None]]
    return np.clip(np.concatenate(rows), 0, 1).astype(np.float32)


@functools.cache
def load(name: str) -> Palette:
    """Return a built-in palette by name; its file is read once."""
    return parse(catalog.read("palette", name))


def parse(table: dict[str, Any]) -> Palette:
    """Return the palette that a TOML table describes.

    Raises `InputError` if stops are missing, too many, or not colors at rising positions.
    """
    if unknown := [key for key in table if key not in KEYS]:
        hint = catalog.did_you_mean(unknown[0], KEYS)
        raise InputError(f"palette: unknown key '{unknown[0]}'{hint}")
    return Palette(**{"stops": (), **table})


def parse_stops(given: Any, cyclic: bool = True) -> tuple[tuple[float, str], ...]:
    """Return stops from colors (evenly spaced) or (position, color) pairs."""
    if not isinstance(given, list | tuple) or not 1 <= len(given) <= MAX_STOPS:
        raise _no_stops(given)
    last = len(given) if cyclic else max(len(given) - 1, 1)
    stops: list[tuple[float, str]] = []
    for k, stop in enumerate(given):
        place, color = stop if isinstance(stop, list | tuple) and len(stop) == 2 else (None, stop)
        place = k / last if place is None else place
        if not isinstance(place, int | float) or not 0 <= place <= 1:
            said = typed(place)
            raise InputError(f"the position {said} of palette stop {k + 1} is not from 0 to 1")
        if stops and place <= stops[-1][0]:
            raise InputError(f"the positions of the palette's stops don't rise at stop {k + 1}")
        parse_color(color)
        stops.append((float(place), color))
    return tuple(stops)


def _no_stops(given: Any) -> InputError:
    """Return the error of what is no list of stops, such as the name of a palette."""
    named = (
        f"; fractals.load_scene(palette={typed(given, 80)}).color.make_palette() is one by its name"
    )
    return InputError(
        f"a palette has 1 to {MAX_STOPS} stops, such as ['#000764', '#ffffff']"
        + named * isinstance(given, str)
    )


def linear_of(text: str, gamut: str = "srgb") -> Floats:
    """Return the linear light of a color in a gamut, from 0 to 1; an OKLCH color may leave sRGB."""
    return in_gamut(_linear_of(text, gamut), gamut).clip(0, 1)


def _linear_of(text: str, gamut: str) -> Floats:
    """Return the same in linear sRGB."""
    lch = None if gamut == "srgb" else _oklch_in(text)
    if lch is not None:
        return linear_from_oklch(lch, gamut)
    return linear_from_srgb(parse_color(text))


def _oklch_in(text: Any) -> Floats | None:
    """Return the OKLCH coordinates in a text such as ``"oklch(0.6 0.1 250)"``, or None."""
    if not isinstance(text, str) or not (parts := re.fullmatch(OKLCH, text)):
        return None
    lightness, percent, chroma, hue = parts.groups()
    try:
        lch = np.array([float(lightness) / (100 if percent else 1), float(chroma), float(hue)])
    except ValueError:
        return None
    return lch if 0 <= lch[0] <= 1 and lch[1] <= 1 and abs(lch[2]) <= 3600 else None


def parse_color(text: Any) -> tuple[float, float, float]:
    """Return sRGB components from 0 to 1 of a color.

    A color is ``"#1b6ca8"``, ``"#fff"``, ``"oklch(0.6 0.1 250)"`` or a name of CSS such as
    ``"rebeccapurple"``.

    OKLCH is lightness from 0 to 1, chroma from 0 to some 0.3, and hue in degrees; where sRGB has
    no such color, one of less chroma is taken.
    """
    if isinstance(text, str) and not text.startswith("#"):
        return _color_in_words(text)
    digits = text[1:] if isinstance(text, str) else ""
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    try:
        if len(digits) != 6:
            raise ValueError
        red, green, blue = bytes.fromhex(digits)
    except ValueError:
        raise _no_color(text) from None
    return red / 255, green / 255, blue / 255


def _color_in_words(text: str) -> tuple[float, float, float]:
    """Return the same of a color in OKLCH, or of a name."""
    lch = _oklch_in(text) if text.startswith("oklch") else None
    if lch is not None:
        red, green, blue = np.clip(srgb_from_linear(linear_from_oklch(lch)), 0, 1).tolist()
        return red, green, blue
    if text.isalpha() and len(text) <= MAX_COLOR_NAME:
        return _named_color(text)
    raise _no_color(text)


def _named_color(name: str) -> tuple[float, float, float]:
    """Return the color of a name of CSS."""
    from PIL.ImageColor import colormap, getrgb

    if name.lower() not in colormap:
        raise _no_color(name, catalog.did_you_mean(name, colormap))
    red, green, blue = getrgb(name.lower())[:3]
    return red / 255, green / 255, blue / 255


def _no_color(text: Any, hint: str = "") -> InputError:
    return InputError(
        f"'{shown(text, 40)}' is not a color such as '#1b6ca8', 'oklch(0.6 0.1 250)' or 'navy'"
        f"{hint}"
    )
