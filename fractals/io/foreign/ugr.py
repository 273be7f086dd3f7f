"""Ultra Fractal's gradients (`.ugr`): many in a file, each of colors at places from 0 to 399.

A position counts from the start of the palette: the positions include ``rotation`` already.
"""

import difflib
import re
from typing import Any

from fractals.color.gradient import MAX_TITLE
from fractals.errors import SceneError
from fractals.io.foreign import Format, Imported, first_of
from fractals.io.foreign._palette_file import numbered_lines

TURN = 400
MAX_INDEX = 1_000_000  # Ultra Fractal 4 and later write places of other turns, too
MAX_GRADIENTS = 100_000
SHOWN = 20  # names in a message
# Where the name of a gradient ends: a bracket, after which nothing or a comment follows. It is
# possessive, so that the search is linear in the line's length.
BEGIN = re.compile(r"(?<!^)\{\s*+(?:;|\Z)")
MAX_HINTS = 2000  # names that are compared with an unknown one
WORD = re.compile(r'\s*(?:([A-Za-z]\w*):(?=\s|$)|([A-Za-z][\w.]*)=("[^"]*"|[^\s"]+)|(;.*))')
Line = tuple[int, str]


def read(data: bytes, entry: str = "") -> Imported:
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


def entries(data: bytes) -> list[tuple[str, str]]:
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
        elif line == "}":
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


def make() -> Format:
    """Return the format."""
    return Format("ugr", "Ultra Fractal gradients", (".ugr",), read, entries=entries)
