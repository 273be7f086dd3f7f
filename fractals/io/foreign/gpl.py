"""GIMP's palettes (`.gpl`): a header, then lines ``red green blue name``."""

import re
from collections.abc import Mapping
from typing import Any

from fractals.color.gradient import evenly
from fractals.color.palette import MAX_STOPS
from fractals.errors import SceneError
from fractals.io.foreign import Format, Imported
from fractals.io.foreign._palette_file import (
    ABOVE,
    bytes_of,
    numbered_lines,
    palette_of_scene,
    triple,
)

HEADER = "GIMP Palette"
KEY = re.compile(r"([A-Za-z]+):\s*(.*)")


def read(data: bytes, entry: str = "") -> Imported:
    """Return the palette of a `.gpl` file: its colors in equal steps round."""
    colors: list[str] = []
    keys: dict[str, str] = {}
    lost: list[str] = []
    for number, line in numbered_lines(data):
        if number == 1:
            if line != HEADER:
                raise SceneError(f"line 1: {line[:40]!r} is not '{HEADER}'")
        elif (key := KEY.fullmatch(line)) and not colors:
            keys[key[1].lower()] = key[2].strip()
        elif line and not line.startswith("#"):
            color, above = triple(number, line)
            colors.append(color)
            lost += [ABOVE] * (above and ABOVE not in lost)
            if len(colors) > MAX_STOPS:
                raise SceneError(f"line {number}: a palette has at most {MAX_STOPS} colors")
    if keys.get("channels", "").upper() == "RGBA":
        lost.append("alpha: colors are opaque")
    return Imported({"color": {"palette": evenly(colors, keys.get("name", ""))}}, tuple(lost))


def write(table: Mapping[str, Any]) -> tuple[bytes, tuple[str, ...]]:
    """Return the file of a scene's palette, in 256 colors, and what was lost."""
    palette, lost = palette_of_scene(table, ".gpl")
    colors, detail = bytes_of(palette)
    title = " ".join(palette.title.split()) or "Untitled"
    lines = [HEADER, f"Name: {title}", "Columns: 16", "#"]
    lines += [f"{red:3} {green:3} {blue:3}\tUntitled" for red, green, blue in colors]
    return "\n".join([*lines, ""]).encode(), (*lost, *detail)


def make() -> Format:
    """Return the format."""
    return Format("gpl", "GIMP palette", (".gpl",), read, write)
