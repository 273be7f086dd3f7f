"""Files of palettes: Fractint's `.map`, GIMP's `.gpl` and `.ggr`, Ultra Fractal's `.ugr`."""

import colorsys
import difflib
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from fractals.color.gradient import MAX_TITLE, Piece, Srgb, evenly, sampled, stops_of, straight
from fractals.color.palette import ENTRIES, MAX_STOPS, Palette, srgb_from_linear
from fractals.errors import SceneError, escaped
from fractals.io.files import text_of
from fractals.io.foreign import Format, Imported, first_of

# Of a palette file; the largest known, of 587 gradients, has 2 MiB. A line takes 1 microsecond.
MAX_BYTES, MAX_LINES = 8 * 2**20, 500_000


def numbered_lines(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield each line's number, from 1, and its text without blanks around it.

    Lines end as on any system, and a file ends with ^Z, as on DOS.

    `SceneError`: the file is too large, or holds a zero byte, as no text does.
    """
    if len(data) > MAX_BYTES:
        raise SceneError(f"{len(data)} bytes: a palette file has at most {MAX_BYTES}")
    whole = text_of(data, old=True).partition("\x1a")[0]
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
        apart = " with blanks between them" if "," in text else ""
        raise SceneError(f"line {number}: {text[:40]!r} is not three numbers from 0 to 255{apart}")
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


# --- Fractint's `.map`: up to 256 lines ``red green blue``, after which text may follow

MAX_COLORS = 256


def read_map(data: bytes, entry: str = "") -> Imported:
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


def write_map(table: Mapping[str, Any]) -> tuple[bytes, tuple[str, ...]]:
    """Return the file of a scene's palette, in 256 colors, and what was lost."""
    palette, lost = palette_of_scene(table, ".map")
    colors, detail = bytes_of(palette, MAX_COLORS)
    lines = [f"{red:3} {green:3} {blue:3}" for red, green, blue in colors]
    if palette.title.isprintable() and palette.title:
        lines[0] += f"  {palette.title}"
    return "\r\n".join([*lines, ""]).encode(), (*lost, *detail)


def make_map() -> Format:
    """Return the format."""
    return Format("map", "Fractint color map", (".map",), read_map, write_map)


# --- GIMP's palettes (`.gpl`): a header, then lines ``red green blue name``

GIMP_PALETTE = "GIMP Palette"
GPL_KEY = re.compile(r"([A-Za-z]+)\s*:\s*(.*)")


def read_gpl(data: bytes, entry: str = "") -> Imported:
    """Return the palette of a `.gpl` file: its colors in equal steps round."""
    colors: list[str] = []
    keys: dict[str, str] = {}
    lost: list[str] = []
    begun = False
    for number, line in numbered_lines(data):
        if not begun:
            if line and line != GIMP_PALETTE:
                raise SceneError(f"line {number}: {line[:40]!r} is not '{GIMP_PALETTE}'")
            begun = bool(line)
        elif (key := GPL_KEY.fullmatch(line)) and not colors:
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


def write_gpl(table: Mapping[str, Any]) -> tuple[bytes, tuple[str, ...]]:
    """Return the file of a scene's palette, in 256 colors, and what was lost."""
    palette, lost = palette_of_scene(table, ".gpl")
    colors, detail = bytes_of(palette)
    title = " ".join(palette.title.split()) or "Untitled"
    lines = [GIMP_PALETTE, f"Name: {title}", "Columns: 16", "#"]
    lines += [f"{red:3} {green:3} {blue:3}\tUntitled" for red, green, blue in colors]
    return "\n".join([*lines, ""]).encode(), (*lost, *detail)


def make_gpl() -> Format:
    """Return the format."""
    return Format("gpl", "GIMP palette", (".gpl",), read_gpl, write_gpl)


# --- GIMP's gradients (`.ggr`): segments with two colors, a midpoint, a blend, a color model
#
# Each blend and color model is described in GIMP's documentation of the gradient editor; the
# midpoint is where a segment is half way from its left color to its right one.

GIMP_GRADIENT = "GIMP Gradient"
MAX_SEGMENTS = 1024
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
NEAR = 1e-4  # by which the ends of two segments may differ
MIN_PART = 1e-10  # of a part of a segment, which has no width below
LINEAR, CURVED, SINE, SPHERE_IN, SPHERE_OUT, STEP = range(6)
RGB, HSV_CCW, HSV_CW = range(3)
BACKGROUND_CLEAR = 4  # the last type of a color at an end of a segment; 0 is the color written


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


def read_ggr(data: bytes, entry: str = "") -> Imported:
    """Return the palette of a `.ggr` file: it goes round, with a jump if its ends differ."""
    lines = ((number, line) for number, line in numbered_lines(data) if line)
    number, line = next(lines, (1, ""))
    if line != GIMP_GRADIENT:
        raise SceneError(f"line {number}: {line[:40]!r} is not '{GIMP_GRADIENT}'")
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
    kinds = [int(part) if part.isdecimal() else -1 for part in parts[11:]]
    if not (0 <= kinds[0] <= STEP and 0 <= kinds[1] <= HSV_CW and all(k >= 0 for k in kinds[2:])):
        raise SceneError(
            f"line {number}: {' '.join(parts[11:])[:40]!r} is no blend and color model"
        )
    if min(colors[3], colors[7]) < 1 - NEAR:
        lost["alpha: colors are opaque"] = None
    if any(0 < kind <= BACKGROUND_CLEAR for kind in kinds[2:]):
        lost["foreground and background colors: those written in the file are taken"] = None
    if most := max([kind for kind in kinds[2:] if kind > BACKGROUND_CLEAR], default=0):
        line = f"the color type {most} of an end, which GIMP lacks: the color written is taken"
        lost[line] = None
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


def write_ggr(table: Mapping[str, Any]) -> tuple[bytes, tuple[str, ...]]:
    """Return the file of a scene's palette, within 1/255 of it, and what was lost."""
    palette, lost = palette_of_scene(table, ".ggr")
    segments = straight(palette)
    title = " ".join(palette.title.split()) or "Untitled"
    lines = [GIMP_GRADIENT, f"Name: {title}", str(len(segments))]
    for (start, first), (end, last) in segments:
        places = f"{start:.6f} {(start + end) / 2:.6f} {end:.6f}"
        colors = (f"{r:.6f} {g:.6f} {b:.6f} 1.000000" for r, g, b in (first, last))
        lines.append(" ".join([places, *colors, "0 0 0 0"]))
    return "\n".join([*lines, ""]).encode(), lost


def make_ggr() -> Format:
    """Return the format."""
    return Format("ggr", "GIMP gradient", (".ggr",), read_ggr, write_ggr)


# --- Ultra Fractal's gradients (`.ugr`): many in a file, each of colors at places from 0 to 399
#
# A position counts from the start of the palette: the positions include ``rotation`` already.

TURN = 400
MAX_INDEX = 1_000_000  # Ultra Fractal 4 and later write places of other turns, too
MAX_GRADIENTS = 100_000
SHOWN = 20  # names in a message
# Where the name of a gradient ends: a bracket, after which nothing or a comment follows. It is
# possessive, so that the search is linear in the line's length.
BEGIN = re.compile(r"(?<!^)\{\s*+(?:;|\Z)")
END = re.compile(r"\}\s*+(?:;.*)?")
MAX_HINTS = 2000  # names that are compared with an unknown one
# A section, a key and its value, or a comment. Blanks after an equals sign belong to a key without
# a value where another key follows.
WORD = re.compile(
    r"""\s*(?:([A-Za-z]\w*):(?=\s|$)"""
    r"""|([A-Za-z][\w.]*)\s*=(?:\s++(?![A-Za-z][\w.]*\s*=))?("[^"]*"|[^\s"]+)|(;.*))"""
)
Line = tuple[int, str]


def read_ugr(data: bytes, entry: str = "") -> Imported:
    """Return the palette of one gradient of a `.ugr` file, named by `entry`, or of the first."""
    names, lines = _entries(data, entry)
    if not names:
        raise SceneError("the file has no gradient")
    if lines is None:
        some = difflib.get_close_matches(entry[:MAX_TITLE], names[:MAX_HINTS], SHOWN)
        some = some or names[:SHOWN]
        rest = f", ... ({len(names)} in all)" if len(names) > len(some) else ""
        raise SceneError(f"no gradient '{entry[:80]}'; the file has: {', '.join(some)}{rest}")
    palette, lost = gradient_of(lines)
    if not entry and len(names) > 1:
        lost.append(first_of(len(names)))
    return Imported({"color": {"palette": palette}}, tuple(lost))


def entries_of_ugr(data: bytes) -> list[tuple[str, str]]:
    """Return the names of a file's gradients."""
    return [(name, "a gradient") for name in _entries(data, "")[0]]


def _entries(data: bytes, entry: str) -> tuple[list[str], list[Line] | None]:
    """Return the names of all gradients, and the lines of the one asked for."""
    names: list[str] = []
    found: list[Line] | None = None
    inside, begun, kept = "", 0, False
    text: list[str] = []  # the parts of a line that goes on, after a backslash
    for number, line in numbered_lines(data):
        if not inside:
            begin = BEGIN.search(line)
            if begin:
                inside, begun = line[: begin.start()].rstrip()[:MAX_TITLE], number
                comment = inside.lower() == "comment"  # free text, in any file of Ultra Fractal
                if not comment:
                    names.append(inside)
                    if len(names) > MAX_GRADIENTS:
                        raise SceneError(f"line {number}: more than {MAX_GRADIENTS} gradients")
                wanted = inside == entry or (not entry and len(names) == 1)
                kept = wanted and found is None and not comment
                found = [] if kept else found
            elif line and not line.startswith(";"):
                raise SceneError(
                    f"line {number}: {line[:40]!r} does not begin a gradient: 'name {{'"
                )
        elif END.fullmatch(line):
            inside = ""
        elif kept and found is not None:
            if not text:
                found.append((number, ""))
            more = line.endswith("\\")
            text.append(line[:-1] if more else line)
            if not more:
                found[-1] = found[-1][0], "".join(text)
                text = []
    if inside:
        raise SceneError(f"line {begun}: '{inside}' is not closed by a '}}'")
    return names, found


def gradient_of(lines: list[Line]) -> tuple[dict[str, Any], list[str]]:
    """Return the palette, as a table, in a gradient's lines, and what is lost."""
    stops: dict[int, str] = {}
    keys: dict[str, str] = {}
    section, place, opaque = "", None, True
    for number, line in lines:
        end = 0
        while end < len(line):
            word = WORD.match(line, end)
            if not word:
                raise SceneError(f"line {number}: {line[end : end + 40]!r} is not 'key=value'")
            end = word.end()
            name, key, value, _ = word.groups()
            section = name.lower() if name else section
            if section == "opacity" and key == "opacity":
                opaque = opaque and value == "255"
            elif section == "gradient" and key == "index":
                place = _whole(number, value, -MAX_INDEX, MAX_INDEX) % TURN
            elif section == "gradient" and key == "color":
                if place is None:
                    raise SceneError(f"line {number}: a color without an index before it")
                color = _whole(number, value, 0, 0xFFFFFF)
                stops[place] = f"#{color & 255:02x}{color >> 8 & 255:02x}{color >> 16:02x}"
                place = None
            elif section == "gradient" and key:
                keys[key.lower()] = value.strip('"')
    if not stops:
        raise SceneError(f"line {lines[-1][0] if lines else 1}: the gradient has no color")
    smooth = keys.get("smooth") == "yes"
    table = {
        "title": keys.get("title", "")[:MAX_TITLE],
        "stops": [[place / TURN, stops[place]] for place in sorted(stops)],
        "space": "srgb",
        "blend": "smooth" if smooth else "",
    }
    lost = ["smooth: the curves here are monotone cubics, and may differ a little"] * smooth
    lost += ["opacity: colors are opaque"] * (not opaque)
    return {key: value for key, value in table.items() if value}, lost


def _whole(number: int, text: str, least: int, most: int) -> int:
    if re.fullmatch(r"-?\d{1,9}", text, re.ASCII) and least <= int(text) <= most:
        return int(text)
    raise SceneError(f"line {number}: {text[:40]!r} is not a whole number from {least} to {most}")


def make_ugr() -> Format:
    """Return the format."""
    return Format("ugr", "Ultra Fractal gradients", (".ugr",), read_ugr, entries=entries_of_ugr)
