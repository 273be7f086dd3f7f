"""GIMP's gradients (`.ggr`): segments with two colors, a midpoint, a blend and a color model.

Each blend and color model is described in GIMP's documentation of the gradient editor; the
midpoint is where a segment is half way from its left color to its right one.
"""

import colorsys
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from fractals.color.gradient import MAX_TITLE, Piece, Srgb, stops_of, straight
from fractals.errors import SceneError
from fractals.io.foreign import Format, Imported
from fractals.io.foreign._palette_file import numbered_lines, palette_of_scene

HEADER = "GIMP Gradient"
MAX_SEGMENTS = 1024
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
NEAR = 1e-4  # by which the ends of two segments may differ
MIN_PART = 1e-10  # of a part of a segment, which has no width below
LINEAR, CURVED, SINE, SPHERE_IN, SPHERE_OUT, STEP = range(6)
RGB, HSV_CCW, HSV_CW = range(3)


def factor_of(blend: int, middle: float, place: float) -> float:
    """Return how far a segment is from its left color to its right one, both from 0 to 1."""
    if blend == CURVED:
        if place <= 0 or middle >= 1:
            return 0.0
        return float(place ** (math.log(0.5) / math.log(max(middle, MIN_PART))))
    if blend == STEP:
        return float(place >= middle)
    if place <= middle:
        way = 0.5 * place / middle if middle > MIN_PART else 0.0
    else:
        way = 0.5 + 0.5 * (place - middle) / (1 - middle) if 1 - middle > MIN_PART else 1.0
    if blend == SINE:
        return (1 - math.cos(math.pi * way)) / 2
    if blend == SPHERE_IN:
        return math.sqrt(max(1 - (way - 1) ** 2, 0.0))
    if blend == SPHERE_OUT:
        return 1 - math.sqrt(max(1 - way**2, 0.0))
    return way


def mixer(model: int, left: Srgb, right: Srgb) -> Callable[[float], Srgb]:
    """Return the color at a share of the way between two; hues turn by up to one whole turn."""
    if model == RGB:

        def rgb(share: float) -> Srgb:
            red, green, blue = (a + share * (b - a) for a, b in zip(left, right, strict=True))
            return red, green, blue

        return rgb
    (h, s, v), (h2, s2, v2) = colorsys.rgb_to_hsv(*left), colorsys.rgb_to_hsv(*right)
    turn = h2 - h
    if model == HSV_CCW and turn <= 0:
        turn += 1
    elif model == HSV_CW and turn >= 0:
        turn -= 1

    def hsv(share: float) -> Srgb:
        return colorsys.hsv_to_rgb(
            (h + share * turn) % 1, s + share * (s2 - s), v + share * (v2 - v)
        )

    return hsv


def read(data: bytes, entry: str = "") -> Imported:
    """Return the palette of a `.ggr` file: it goes round, with a jump if its ends differ."""
    lines = ((number, line) for number, line in numbered_lines(data) if line)
    number, line = next(lines, (1, ""))
    if line != HEADER:
        raise SceneError(f"line {number}: {line[:40]!r} is not '{HEADER}'")
    number, line = next(lines, (number + 1, ""))
    title = ""
    if line.startswith("Name:"):
        title = line.removeprefix("Name:").strip()[:MAX_TITLE]
        number, line = next(lines, (number + 1, ""))
    if not (line.isascii() and line.isdecimal() and len(line) < 9):
        raise SceneError(f"line {number}: {line[:40]!r} is not the number of segments")
    count = int(line)
    if not 1 <= count <= MAX_SEGMENTS:
        raise SceneError(f"line {number}: {count} segments: a gradient has 1 to {MAX_SEGMENTS}")
    pieces: list[Piece] = []
    lost: dict[str, None] = {}
    end = 0.0
    for k in range(count):
        number, line = next(lines, (number + 1, ""))
        if not line:
            raise SceneError(f"line {number}: segment {k + 1} of {count} is missing")
        end, more = _segment(number, line, end, lost)
        pieces += more
    if abs(end - 1) > NEAR:
        raise SceneError(f"line {number}: the last segment ends at {end:g}, not at 1")
    stops, detail = stops_of(pieces)
    table = {"stops": stops, "space": "srgb", "title": title}
    given = {key: value for key, value in table.items() if value}
    return Imported({"color": {"palette": given}}, (*lost, *detail))


def _segment(
    number: int, line: str, before: float, lost: dict[str, None]
) -> tuple[float, list[Piece]]:
    """Return where a segment ends, and its pieces: to its midpoint and from there."""
    parts = line.split(None, 20)
    if len(parts) not in (13, 15):
        raise SceneError(f"line {number}: a segment is 13 or 15 numbers, not {len(parts)}")
    for part in parts:
        if len(part) > 40 or not NUMBER.fullmatch(part):
            raise SceneError(f"line {number}: {part[:40]!r} is not a number")
    left, middle, right, *colors = map(float, parts[:11])
    if not left <= middle <= right <= 1 + NEAR or abs(left - before) > NEAR:
        raise SceneError(f"line {number}: the segment doesn't rise from {before:g} on")
    if any(not -NEAR <= value <= 1 + NEAR for value in colors):
        raise SceneError(f"line {number}: a color is not from 0 to 1")
    kinds = [int(part) if part in "0123456" else -1 for part in parts[11:]]
    if not (0 <= kinds[0] <= STEP and 0 <= kinds[1] <= HSV_CW and all(k >= 0 for k in kinds[2:])):
        raise SceneError(
            f"line {number}: {' '.join(parts[11:])[:40]!r} is no blend and color model"
        )
    if min(colors[3], colors[7]) < 1 - NEAR:
        lost["alpha: colors are opaque"] = None
    if any(kinds[2:]):
        lost["foreground and background colors: those written in the file are taken"] = None
    (red, green, blue, _), (red2, green2, blue2, _) = colors[:4], colors[4:]
    mix = mixer(kinds[1], (red, green, blue), (red2, green2, blue2))
    width = right - before
    if width <= MIN_PART:
        return before, []
    half = min(max((middle - before) / width, 0.0), 1.0)
    if kinds[0] == STEP:
        middle = before + half * width
        return right, [(before, middle, lambda _: mix(0.0)), (middle, right, lambda _: mix(1.0))]

    def half_of(start: float, end: float) -> Piece:
        def color(share: float) -> Srgb:
            return mix(factor_of(kinds[0], half, start + share * (end - start)))

        return before + start * width, before + end * width, color

    return right, [half_of(start, end) for start, end in ((0.0, half), (half, 1.0)) if end > start]


def write(table: Mapping[str, Any]) -> tuple[bytes, tuple[str, ...]]:
    """Return the file of a scene's palette, within 1/255 of it, and what was lost."""
    palette, lost = palette_of_scene(table, ".ggr")
    segments = straight(palette)
    title = " ".join(palette.title.split()) or "Untitled"
    lines = [HEADER, f"Name: {title}", str(len(segments))]
    for (start, first), (end, last) in segments:
        places = f"{start:.6f} {(start + end) / 2:.6f} {end:.6f}"
        colors = (f"{r:.6f} {g:.6f} {b:.6f} 1.000000" for r, g, b in (first, last))
        lines.append(" ".join([places, *colors, "0 0 0 0"]))
    return "\n".join([*lines, ""]).encode(), lost


def make() -> Format:
    """Return the format."""
    return Format("ggr", "GIMP gradient", (".ggr",), read, write)
