"""Kalles Fraktaler's palettes (`.kfp`): lines ``Key: value``, of which ``Colors:`` is one."""

from collections.abc import Mapping
from typing import Any

from fractals.errors import SceneError
from fractals.format import MOST_BYTES, Format, Imported
from fractals.gradient import printable

MOST_COLORS = 1024  # rows of the table that Kalles Fraktaler makes of them
MOST_LINES = 10_000
Fields = Mapping[str, tuple[int, str]]  # key -> (line number, value)
# What else colors a picture there, and the value that does nothing.
OTHERS = {
    "IterDiv": "1",
    "ColorOffset": "0",
    "ColorMethod": "0",
    "Differences": "0",
    "InteriorColor": "0,0,0",
    "MultiColor": "0",
    "Slopes": "0",
    "TextureEnabled": "0",
    "Flat": "0",
    "GLSL": "",
}


def fields_of(data: bytes) -> dict[str, tuple[int, str]]:
    """Return the keys of a `.kfp` or `.kfr` file, each with its line number and its value.

    Raises
    ------
    SceneError
        A line is no ``Key: value``, or the file is too large.
    """
    if len(data) > MOST_BYTES:
        raise SceneError(f"{len(data)} bytes: a file has at most {MOST_BYTES}")
    fields: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        if number > MOST_LINES:
            raise SceneError(f"line {number}: a file has at most {MOST_LINES} lines")
        key, colon, value = line.partition(":")
        if line.strip() and not (colon and key.strip().isidentifier()):
            raise SceneError(f"line {number}: {line.strip()[:40]!r} is not 'Key: value'")
        if line.strip():
            fields.setdefault(key.strip(), (number, value.strip()))
    return fields


def palette_of(colors: str, line: int = 1) -> dict[str, Any]:
    """Return the palette, as a table, of the value of ``Colors:``: blue, green, red, blue, ...

    Kalles Fraktaler goes round them in equal steps, in sRGB, along half a cosine from each to the
    next.

    Raises
    ------
    SceneError
        They are no whole triples of numbers from 0 to 255, or too many; names the `line`.
    """
    parts = [part.strip() for part in colors.split(",", 3 * MOST_COLORS + 1)]
    if parts[-1] == "":
        parts.pop()
    if len(parts) > 3 * MOST_COLORS:
        raise SceneError(f"line {line}: Colors has at most {MOST_COLORS} colors")
    for part in parts:
        if not (part.isascii() and part.isdecimal() and len(part) < 9 and int(part) <= 255):
            raise SceneError(f"line {line}: {part[:40]!r} in Colors is not a number from 0 to 255")
    if not parts or len(parts) % 3:
        raise SceneError(
            f"line {line}: Colors has {len(parts)} numbers: a color is three, blue, green and red"
        )
    colors_of = zip(*(iter(map(int, parts)),) * 3, strict=True)
    stops = [f"#{red:02x}{green:02x}{blue:02x}" for blue, green, red in colors_of]
    return {"stops": stops, "space": "srgb", "blend": "cosine"}


def read(data: bytes, entry: str = "") -> Imported:
    """Return the palette of a `.kfp` file, and what else would color a picture there."""
    fields = fields_of(data)
    if "Colors" not in fields:
        raise SceneError("there is no line 'Colors:', so this is no palette")
    line, colors = fields["Colors"]
    lost = [
        f"{key}: {printable(value[:40])}"
        for key, nothing in OTHERS.items()
        if (value := fields.get(key, (0, nothing))[1]).rstrip(",") != nothing
        and not _equal(value, nothing)
    ]
    return Imported({"color": {"palette": palette_of(colors, line)}}, tuple(lost))


def _equal(text: str, other: str) -> bool:
    try:
        return float(text) == float(other)
    except ValueError:
        return text == other


def make() -> Format:
    """Return the format."""
    return Format("kfp", "Kalles Fraktaler palette", (".kfp",), read)
