"""Palettes of programs that draw no fractals: `.act` and `.ase` (Adobe), `.cpt` (GMT), `.pal`.

Numbers of Adobe's files and of RIFF are binary. After Adobe's descriptions of color tables and
swatch exchange files, and the reference of the Generic Mapping Tools (Paul Wessel and others).
"""

import colorsys
import re
import struct
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from fractals.color.gradient import Piece, Srgb, evenly, stops_of
from fractals.color.palette import MAX_STOPS, hexadecimal, parse_color
from fractals.errors import SceneError, counted, shown
from fractals.io.foreign import Format, Imported
from fractals.io.foreign.palette_files import ABOVE, numbered_lines, triple

TABLE = 256  # colors of a color table, three bytes each


def _evenly(colors: list[str], lost: tuple[str, ...] = ()) -> Imported:
    if len(colors) > MAX_STOPS:
        raise SceneError(f"{len(colors)} colors: a palette has at most {MAX_STOPS}")
    return Imported({"color": {"palette": evenly(colors)}}, lost)


def _of_bytes(data: bytes, step: int) -> list[str]:
    """Return colors of red, green and blue, which stand at the beginning of each `step` bytes."""
    return ["#" + data[k : k + 3].hex() for k in range(0, len(data) - step + 1, step)]


# --- Adobe's color tables (`.act`) and swatches (`.ase`)


def read_act(data: bytes, entry: str = "") -> Imported:
    """Return the palette of a color table: its colors in equal steps round."""
    if len(data) not in (3 * TABLE, 3 * TABLE + 4):
        raise SceneError(
            f"{counted(len(data), 'byte')}: a color table has {3 * TABLE} or {3 * TABLE + 4}"
        )
    count = struct.unpack_from(">H", data, 3 * TABLE)[0] if len(data) > 3 * TABLE else TABLE
    return _evenly(_of_bytes(data[: 3 * TABLE], 3)[: count if 0 < count <= TABLE else TABLE])


INKS = "colors of inks (CMYK), of which the press decides: a plain mixture"
OPAQUE = "alpha: colors are opaque"
COLOR = 1  # the kind of a block; others begin and end groups
MODELS = {"RGB": 3, "CMYK": 4, "Gray": 1}  # how many numbers a color has


def read_ase(data: bytes, entry: str = "") -> Imported:
    """Return the palette of swatches: their colors in equal steps round, whatever their groups."""
    if data[:4] != b"ASEF":
        raise SceneError("it does not begin with 'ASEF', so these are no swatches")
    colors, lost, at = list[str](), "", 12
    try:
        while at < len(data):
            kind, length = struct.unpack_from(">HI", data, at)
            if kind == COLOR:
                name = 2 * struct.unpack_from(">H", data, at + 6)[0]
                model = data[at + 8 + name : at + 12 + name].decode("latin-1").strip()
                if model not in MODELS:
                    raise SceneError(
                        f"color {len(colors) + 1}: of the models {', '.join(MODELS)}, and not "
                        f"'{shown(model, 8)}', colors are read"
                    )
                values = struct.unpack_from(f">{MODELS[model]}f", data, at + 12 + name)
                if model == "CMYK":
                    lost = INKS
                colors.append(_of_model(model, values, len(colors) + 1))
            at += 6 + length
    except struct.error:
        raise SceneError(f"the file ends within a block, at byte {at}") from None
    return _evenly(colors, lost=(lost,) if lost else ())


def _of_model(model: str, values: tuple[float, ...], number: int) -> str:
    if not all(-1e-3 <= value <= 1.001 for value in values):
        raise SceneError(f"color {number}: its numbers are not from 0 to 1")
    found = _mixed(*values) if model == "CMYK" else values * (3 if model == "Gray" else 1)
    return hexadecimal([min(max(v, 0.0), 1.0) for v in found])


def _mixed(cyan: float, magenta: float, yellow: float, black: float) -> Srgb:
    """Return the color of a plain mixture of inks, all from 0 to 1."""
    red, green, blue = ((1 - ink) * (1 - black) for ink in (cyan, magenta, yellow))
    return red, green, blue


def make_act() -> Format:
    """Return the format."""
    return Format("act", "Adobe color table", (".act",), read_act)


def make_ase() -> Format:
    """Return the format."""
    return Format("ase", "Adobe swatches", (".ase",), read_ase)


# --- `.pal`: text of Paint Shop Pro, a RIFF file of Windows, or a color table without a header

JASC = "JASC-PAL"


def read_pal(data: bytes, entry: str = "") -> Imported:
    """Return the palette of a `.pal` file: its colors in equal steps round."""
    if data[:4] == b"RIFF" and data[8:12] == b"PAL ":
        at = data.find(b"data", 12)
        if at < 0 or len(data) < at + 12:
            raise SceneError("the part 'data' is missing, which has the colors")
        count = struct.unpack_from("<H", data, at + 10)[0]
        return _evenly(_of_bytes(data[at + 12 : at + 12 + 4 * count], 4))
    if len(data) == 3 * TABLE:
        return read_act(data)
    lines = [each for each in numbered_lines(data) if each[1]]
    if not lines or lines[0][1] != JASC:
        raise SceneError(f"it begins with neither '{JASC}' nor 'RIFF', so it is no palette")
    if len(lines) < 3 or not re.fullmatch("[0-9]{1,6}", lines[2][1]):
        raise SceneError(f"line {lines[-1][0]}: the number of colors is missing")
    count = int(lines[2][1])
    rows = [triple(number, line) for number, line in lines[3 : 3 + count]]
    lost = [ABOVE] * any(above for _, above in rows)
    lost += [f"colors: the palette has {len(rows)} of {count}"] * (len(rows) < count)
    return _evenly([color for color, _ in rows], lost=tuple(lost))


def make_pal() -> Format:
    """Return the format."""
    return Format("pal", "palettes of Paint Shop Pro and Windows", (".pal",), read_pal)


# --- GMT's color tables (`.cpt`): slices from a number with a color to another one
#
# Lines ``z color z color``, or ``key color`` of a table for categories. A color is a name of X11,
# red/green/blue, gray, hue-saturation-value, #rrggbb, cyan/magenta/yellow/black in percent, or
# three or four numbers between blanks.

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?"
TRIPLE = re.compile(rf"({NUMBER})/({NUMBER})/({NUMBER})", re.ASCII)
INK = re.compile("/".join([r"(\d+\.?\d*|\.\d+)"] * 4), re.ASCII)
HSV = re.compile(r"([\d.]+)-([\d.]+)-([\d.]+)", re.ASCII)
MODEL = re.compile(r"#\s*COLOR_MODEL\s*=\s*\+?(\w+)", re.IGNORECASE)
# Where names of X11 mean another color than those of web pages.
X11 = {
    **dict.fromkeys(("gray", "grey"), "#bebebe"),
    "darkorange1": "#ff7f00",  # of GMT's own `paired`; further numbered shades are no names here
    "green": "#00ff00",
    "maroon": "#b03060",
    "purple": "#a020f0",
}
MAX_SLICES = 10_000


class _Slice(NamedTuple):
    start: float
    end: float
    first: Srgb  # or hue, saturation and value, all from 0 to 1
    last: Srgb


def read_cpt(data: bytes, entry: str = "") -> Imported:
    """Return the palette of a color table of the Generic Mapping Tools.

    It goes round, with a jump if its ends differ.
    """
    slices, plain = list[_Slice](), list[str]()
    hues = inks = clear = False
    for number, line in numbered_lines(data):
        if model := MODEL.match(line):
            hues = model[1].lower() == "hsv"
            if model[1].lower() not in ("rgb", "hsv", "cmyk"):
                raise SceneError(
                    f"line {number}: the color model {shown(model[1], 20)} is not read"
                )
        words = line.partition(";")[0].split()
        if not words or words[0].startswith("#") or words[0] in ("B", "F", "N"):
            continue  # comments, colors beyond the slices, and of places without a number
        words = words[:-1] if words[-1] in ("L", "U", "B") else words  # which lines a map draws
        if len(words) in (8, 10):  # red, green and blue, or four inks, between blanks
            half = len(words) // 2
            words = [words[0], "/".join(words[1:half]), words[half], "/".join(words[half + 1 :])]
        colors = [_color(number, word, hues) for word in words[1::2]]
        inks |= any(INK.fullmatch(word) for word in words[1::2])
        clear |= any(word.partition("@")[2].strip("0.") != "" for word in words[1::2])
        if len(words) == 4:
            start, end = (_number(number, word) for word in words[::2])
            slices.append(_Slice(start, end, *colors))
        elif len(words) == 2:
            plain.append(hexadecimal(_rgb(colors[0], hues)))
        else:
            raise SceneError(f"line {number}: {line[:40]!r} is not 'number color number color'")
        if len(slices) + len(plain) > MAX_SLICES:
            raise SceneError(f"line {number}: a color table has at most {MAX_SLICES} lines")
    if plain and slices:
        raise SceneError("some lines have two colors, and others have one")
    said = (INKS,) * inks + (OPAQUE,) * clear
    if not slices:
        return _evenly(plain, said)
    rising = all(a.end <= b.start for a, b in pairwise(slices))
    if not rising or not all(each.start < each.end for each in slices):
        raise SceneError("the numbers of the slices do not rise")
    stops, lost = stops_of(_pieces(slices, hues))
    return Imported({"color": {"palette": {"stops": stops, "space": "srgb"}}}, (*said, *lost))


def _pieces(slices: list[_Slice], hues: bool) -> Iterator[Piece]:
    """Yield the slices as pieces from 0 to 1; a gap between two has the color before it."""
    low, width = slices[0].start, slices[-1].end - slices[0].start
    gaps = [_Slice(a.end, b.start, a.last, a.last) for a, b in pairwise(slices) if a.end < b.start]
    for each in sorted([*slices, *gaps]):

        def color(share: float, own: _Slice = each) -> Srgb:
            a, b, c = (u + share * (v - u) for u, v in zip(own.first, own.last, strict=True))
            return _rgb((a, b, c), hues)

        yield (each.start - low) / width, (each.end - low) / width, color


def _rgb(color: Srgb, hues: bool) -> Srgb:
    return colorsys.hsv_to_rgb(color[0] % 1, *color[1:]) if hues else color


def _color(number: int, text: str, hues: bool) -> Srgb:
    """Return red, green and blue from 0 to 1, or hue, saturation and value."""
    name = text.partition("@")[0].lower()  # without its transparency
    parts = HSV.fullmatch(name)
    if parts or (hues and (parts := TRIPLE.fullmatch(name))):
        h, s, v = float(parts[1]) / 360, float(parts[2]), float(parts[3])
        if not (0 <= h <= 1 and 0 <= s <= 1 and 0 <= v <= 1):
            raise SceneError(f"line {number}: {text[:40]!r} is not hue, saturation and value")
        return (h, s, v) if hues else colorsys.hsv_to_rgb(h % 1, s, v)
    try:
        if parts := INK.fullmatch(name):
            found = list(_mixed(*(float(part) / 100 for part in parts.groups())))
        elif parts := TRIPLE.fullmatch(name):
            found = [float(part) / 255 for part in parts.groups()]
        elif re.fullmatch(NUMBER, name, re.ASCII):
            found = 3 * [float(name) / 255]
        elif shade := re.fullmatch(r"gr[ae]y(\d{1,3})", name, re.ASCII):
            found = 3 * [float(shade[1]) / 100]
        else:
            found = list(parse_color(X11.get(name, name)))
    except ValueError:
        raise SceneError(f"line {number}: {text[:40]!r} is no color") from None
    if not all(0 <= value <= 1 for value in found):
        most = "100, of inks" if INK.fullmatch(name) else "255"
        raise SceneError(f"line {number}: {text[:40]!r}: numbers of a color are from 0 to {most}")
    red, green, blue = found
    return colorsys.rgb_to_hsv(red, green, blue) if hues else (red, green, blue)


def _number(number: int, text: str) -> float:
    if not re.fullmatch(NUMBER, text, re.ASCII):
        raise SceneError(f"line {number}: {text[:40]!r} is not a number")
    return float(text)


def make_cpt() -> Format:
    """Return the format."""
    return Format("cpt", "GMT color table", (".cpt",), read_cpt)
