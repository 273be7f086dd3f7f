"""Palettes: color stops, interpolated in OKLab into a lookup table of linear light."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals import catalog
from fractals.errors import SceneError

ENTRIES = 4096  # of the lookup table
LEVELS = {8: 2**14, 16: 2**20}  # of linear light, by bits of sRGB: none is passed over in the dark
MOST_STOPS = 4096

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

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Palette:
    """Color stops along one turn.

    Attributes
    ----------
    stops : tuple of (float, str)
        Position in [0, 1) and color ``"#rrggbb"``, in rising order.
    cyclic : bool
        Whether the last stop leads back to the first; if not, both ends go on for ever.
    """

    stops: tuple[tuple[float, str], ...]
    cyclic: bool = True
    title: str = ""
    source: str = ""
    licence: str = ""

    def to_table(self) -> dict[str, Any]:
        """Return plain values, without the keys that are empty."""
        table = {**asdict(self), "stops": [list(stop) for stop in self.stops]}
        return {key: value for key, value in table.items() if value != ""}

    def lookup(self, inside: str) -> NDArray[np.float32]:
        """Return the table the shading program reads, shape (ENTRIES + 2, 3), in linear light.

        Row k is the color at k / ENTRIES of a turn; the last row is the `inside` color.
        """
        places = np.array([place for place, _ in self.stops])
        colors = oklab_from_linear(linear_from_srgb([parse_color(text) for _, text in self.stops]))
        if self.cyclic:
            places = np.concatenate([places[-1:] - 1, places, places[:1] + 1])
            colors = np.concatenate([colors[-1:], colors, colors[:1]])
        at = np.arange(ENTRIES + 1) / ENTRIES
        lab = np.stack([np.interp(at, places, channel) for channel in colors.T], axis=1)
        rows = [linear_from_oklab(lab), linear_from_srgb([parse_color(inside)])]
        return np.clip(np.concatenate(rows), 0, 1).astype(np.float32)


def load(name: str) -> Palette:
    """Return a built-in palette by name."""
    return parse(catalog.read("palette", name))


def parse(table: dict[str, Any]) -> Palette:
    """Return the palette that a TOML table describes.

    Raises
    ------
    SceneError
        The stops are missing, too many, or not colors at rising positions.
    """
    known = {"stops", "cyclic", "title", "source", "licence"}
    for key in table:
        if key not in known:
            hint = catalog.did_you_mean(key, known)
            raise SceneError(f"palette: unknown key '{key}'{hint}")
    for key in ("title", "source", "licence"):
        if not isinstance(table.get(key, ""), str):
            raise SceneError(f"palette: {key} is text, not {table[key]!r:.40}")
    if not isinstance(table.get("cyclic", True), bool):
        raise SceneError(f"palette: cyclic is true or false, not {table['cyclic']!r:.40}")
    stops = parse_stops(table.get("stops", ()), table.get("cyclic", True))
    return Palette(**{**table, "stops": stops})


def parse_stops(given: Any, cyclic: bool = True) -> tuple[tuple[float, str], ...]:
    """Return stops from colors (evenly spaced) or (position, color) pairs."""
    if not isinstance(given, list | tuple) or not 1 <= len(given) <= MOST_STOPS:
        raise SceneError(f"a palette has 1 to {MOST_STOPS} stops, such as ['#000764', '#ffffff']")
    last = len(given) if cyclic else max(len(given) - 1, 1)
    stops: list[tuple[float, str]] = []
    for k, stop in enumerate(given):
        place, color = stop if isinstance(stop, list | tuple) and len(stop) == 2 else (None, stop)
        place = k / last if place is None else place
        if not isinstance(place, int | float) or not 0 <= place <= 1:
            raise SceneError(f"the position {place!r} of palette stop {k + 1} is not from 0 to 1")
        if stops and place <= stops[-1][0]:
            raise SceneError(f"the positions of the palette's stops don't rise at stop {k + 1}")
        parse_color(color)
        stops.append((float(place), color))
    return tuple(stops)


def parse_color(text: Any) -> tuple[float, float, float]:
    """Return sRGB components from 0 to 1 of a color such as ``"#1b6ca8"`` or ``"#fff"``."""
    digits = text[1:] if isinstance(text, str) and text.startswith("#") else ""
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    try:
        if len(digits) != 6:
            raise ValueError
        red, green, blue = bytes.fromhex(digits)
    except ValueError:
        raise SceneError(f"{str(text)[:40]!r} is not a color such as '#1b6ca8'") from None
    return red / 255, green / 255, blue / 255


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


def decoding() -> NDArray[np.float32]:
    """Return linear light of 4097 sRGB values, evenly spaced from 0 to 1."""
    return linear_from_srgb(np.arange(ENTRIES + 1) / ENTRIES).astype(np.float32)


def encoding(bits: int = 8) -> NDArray[Any]:
    """Return the sRGB value, of 8 or 16 bits, of each of LEVELS steps of linear light."""
    levels = np.arange(LEVELS[bits]) / (LEVELS[bits] - 1)
    return np.asarray(np.rint((2**bits - 1) * srgb_from_linear(levels)), f"u{bits // 8}")
