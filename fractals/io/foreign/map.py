"""Fractint's palettes (`.map`): up to 256 lines ``red green blue``, after which text may follow."""

from collections.abc import Mapping
from typing import Any

from fractals.color.gradient import evenly
from fractals.io.foreign import Format, Imported
from fractals.io.foreign._palette_file import (
    ABOVE,
    bytes_of,
    numbered_lines,
    palette_of_scene,
    triple,
)

MAX_COLORS = 256


def read(data: bytes, entry: str = "") -> Imported:
    """Return the palette of a `.map` file: its colors in equal steps round.

    Fractint reads as many colors as a screen has, and nothing after them.
    """
    colors: list[str] = []
    lost: list[str] = []
    for number, line in numbered_lines(data):
        if len(colors) == MAX_COLORS:
            break
        if line and not line.startswith((";", "#")):
            color, above = triple(number, line)
            colors.append(color)
            lost += [ABOVE] * (above and ABOVE not in lost)
    return Imported({"color": {"palette": evenly(colors)}}, tuple(lost))


def write(table: Mapping[str, Any]) -> tuple[bytes, tuple[str, ...]]:
    """Return the file of a scene's palette, in 256 colors, and what was lost."""
    palette, lost = palette_of_scene(table, ".map")
    colors, detail = bytes_of(palette, MAX_COLORS)
    lines = [f"{red:3} {green:3} {blue:3}" for red, green, blue in colors]
    if palette.title.isprintable() and palette.title:
        lines[0] += f"  {palette.title}"
    return "\r\n".join([*lines, ""]).encode(), (*lost, *detail)


def make() -> Format:
    """Return the format."""
    return Format("map", "Fractint color map", (".map",), read, write)
