"""Parts shared by the palette files of other programs."""

import io
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from fractals.color.gradient import sampled
from fractals.color.palette import ENTRIES, Palette, srgb_from_linear
from fractals.errors import SceneError, escaped
from fractals.io.files import text_of

# Of a palette file; the largest known, of 587 gradients, has 2 MiB. A line takes 1 microsecond.
MAX_BYTES, MAX_LINES = 8 * 2**20, 500_000


def numbered_lines(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield each line's number, from 1, and its text without blanks around it.

    Lines end as on any system, and a file ends with ^Z, as on DOS.

    `SceneError`: the file is too large, or holds a zero byte, as no text does.
    """
    if len(data) > MAX_BYTES:
        raise SceneError(f"{len(data)} bytes: a palette file has at most {MAX_BYTES}")
    whole = text_of(data, "replace").partition("\x1a")[0]
    for number, line in enumerate(io.StringIO(whole, newline=None), 1):
        if number > MAX_LINES:
            raise SceneError(f"line {number}: a palette file has at most {MAX_LINES} lines")
        if "\0" in line:
            raise SceneError(f"line {number}: a zero byte, so this is no text")
        text = line.strip()
        yield number, escaped(text.replace("\t", " "))


def triple(number: int, text: str) -> tuple[str, bool]:
    """Return the color, as ``"#rrggbb"``, of a line that begins with red, green and blue.

    Also return whether a number was above 255, for which 255 is taken.
    """
    parts = text.split(None, 3)[:3]
    good = [int(p) for p in parts if p.isascii() and p.isdecimal() and len(p) < 9]
    if len(good) < 3:
        raise SceneError(f"line {number}: {text[:40]!r} is not three numbers from 0 to 255")
    red, green, blue = (min(value, 255) for value in good)
    return f"#{red:02x}{green:02x}{blue:02x}", max(good) > 255


ABOVE = "numbers above 255: 255 is taken"


def palette_of_scene(table: Mapping[str, Any], name: str) -> tuple[Palette, tuple[str, ...]]:
    """Return the palette of a scene's plain values, and what else is in it, a line each.

    `name` is the suffix of the file that will hold the palette alone, for the messages.
    """
    from fractals.scene.model import Scene
    from fractals.scene.paint import Color

    color = table.get("color", {})
    found = Color.model_validate(color).make_palette()
    usual = Scene().to_table()
    rest = [key for key in table if key != "color" and table[key] != usual.get(key)]
    rest += [
        f"color.{key}"
        for key in color
        if key != "palette" and color[key] != usual["color"].get(key)
    ]
    lost = [f"{key}: a {name} file holds a palette alone" for key in rest]
    if not found.cyclic:
        lost.append("the palette's two ends: other programs go round")
    return found, tuple(lost)


def bytes_of(palette: Palette, count: int = 256) -> tuple[list[tuple[int, int, int]], list[str]]:
    """Return `count` colors of a palette as bytes, and what is lost if they are few."""
    rows = np.rint(255 * sampled(palette, count)).astype(int)
    at = np.linspace(0, 1, ENTRIES, endpoint=not palette.cyclic)
    whole = 255 * np.clip(srgb_from_linear(palette.linear(at)), 0, 1)
    closed = np.concatenate([rows, rows[:1]]) if palette.cyclic else rows
    grid = np.linspace(0, 1, len(closed))
    again = np.stack([np.interp(at, grid, channel) for channel in closed.T], axis=1)
    off = np.abs(again - whole).max()
    lost = (
        [f"detail: {count} colors are off by up to {off:.0f}/255 between them"] if off > 1.5 else []
    )
    return [(int(red), int(green), int(blue)) for red, green, blue in rows], lost
