"""Parameters of Fractint and Iterated Dynamics (`.par`): entries ``name { key=value ... }``.

A view is 2 / magnification high, and the screen 4:3. Counts go round colors 1 to 255.
"""

import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from fractals import catalog
from fractals.errors import InputError, SceneError
from fractals.io.foreign import Format, Imported, first_of
from fractals.io.foreign._fractint import (
    FUNCTIONS,
    NAMED_FORMULAS,
    TYPES,
    USUAL,
    EntryParameters,
    FractintType,
)
from fractals.io.foreign._text import limit, lines_of, number, positive, real, whole
from fractals.io.foreign._view import EXACT, FormulaMatch, Place, placed

MAX_ENTRIES, MAX_KEYS = 10_000, 1000  # of a file, of an entry
# Of a corner: a square root of 20 000 digits takes 0.2 s; those of Fractint have 1600.
MAX_DIGITS = 20_000
MAX_COLORS = 256
LIMIT = "150"  # of iterations, where an entry names none
ASPECT = 0.75  # height of the screen / its width
DIGITS = {c: k for k, c in enumerate("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_`")} | {
    chr(ord("a") + k): 38 + k for k in range(26)
}
# Keys that are read, that mean nothing in a picture, that only color it (and what does nothing),
# and that change it altogether.
READ = "type params function corners center-mag maxiter bailout inside colors logmap formulaname"
QUIET = (
    "reset float passes symmetry periodicity finattract video savename overwrite sound "
    "askvideo fillcolor mathtolerance truecolor aspectdrift viewwindows background comment "
    "olddemmcolors orbitdelay batch savetime cyclerange cyclelimit textcolors formulafile"
)
COLORS = {"outside": "iter", "biomorph": "-1", "decomp": "0", "potential": "0", "distest": "0"}
WHOLLY = ("invert", "initorbit", "julibrotmode", "3d", "rseed", "bailoutest")
COLOR = re.compile(r"<(\d{1,3})>|([0-9A-Z_`a-z]{3})", re.ASCII)
Entry = dict[str, tuple[str, str]]  # key: its value, and where, such as "line 3: maxiter"


@dataclass
class _Open:
    name: str
    line: int
    fields: Entry = field(default_factory=dict)
    skipped: bool = False


def read(data: bytes, entry: str) -> Imported:
    """Return the scene of an entry, by default of the first one."""
    entries = entries_of(lines_of(data))
    if not entries:
        raise SceneError("the file has no entry such as 'name { type=mandel }'")
    names = {name.lower(): name for name in entries}
    if entry and entry.lower() not in names:
        hint = catalog.did_you_mean(entry, entries)
        known = ", ".join(name[:80] for name in itertools.islice(entries, 1000))
        known = known if len(known) <= 1000 else known[:1000] + ", ..."
        raise SceneError(f"no entry '{entry[:80]}'{hint}; the file has {known}")
    name = names[entry.lower()] if entry else next(iter(entries))
    try:
        imported = scene_of(entries[name])
    except InputError as error:
        many = len(entries) > 1 and not entry
        more = f"; fractals show lists the {len(entries)} entries" if many else ""
        raise SceneError(f"{name[:80]}: {error}{more}") from None
    if len(entries) == 1 or entry:
        return imported
    return Imported(imported.table, (*imported.lost, first_of(len(entries))))


def entries(data: bytes) -> list[tuple[str, str]]:
    """Return the names of a file's entries, each with its type or why it can't be drawn."""
    found = []
    for name, fields in entries_of(lines_of(data)).items():
        try:
            scene_of(fields)
            about = f"type {fields.get('type', ('mandel',))[0]}"
        except InputError as error:
            about = f"unsupported: {error}"
        found.append((name, about))
    return found


def entries_of(lines: list[str]) -> dict[str, Entry]:
    """Return the entries of a file by name, without formulas and comments."""
    entries: dict[str, Entry] = {}
    now: _Open | None = None
    for begun, code in _joined(lines):
        at, end = 0, len(code.rstrip())
        while at < end:
            if now is None:
                brace = code.find("{", at)
                name = code[at : brace if brace >= 0 else end].strip()
                if brace < 0:
                    raise SceneError(f"line {begun}: {name[:40]!r} is in no entry")
                kind, colon, _ = name.partition(":")
                skipped = bool(colon) or kind.lower() == "comment"
                now = _Open(name, begun, skipped=skipped)
                at = brace + 1
            brace = code.find("}", at)
            stop = brace if brace >= 0 else end
            words = [] if now.skipped else code[at:stop].split(None, MAX_KEYS)
            if len(words) > MAX_KEYS:
                raise SceneError(f"line {begun}: an entry has at most {MAX_KEYS} keys")
            for word in words:
                key, _, value = word.partition("=")
                now.fields.setdefault(key.lower(), (value, f"line {begun}: {key[:40]}"))
            if len(now.fields) > MAX_KEYS:
                raise SceneError(f"line {begun}: an entry has at most {MAX_KEYS} keys")
            at = stop + 1
            if brace >= 0:
                if not now.skipped:
                    entries.setdefault(now.name, now.fields)
                now = None
        if len(entries) > MAX_ENTRIES:
            raise SceneError(f"line {begun}: a file has at most {MAX_ENTRIES} entries")
    if now is not None:
        raise SceneError(f"line {now.line}: the entry '{now.name[:80]}' is never closed")
    return entries


def _joined(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield lines without comments, each with its number; one that ends in a backslash goes on."""
    parts: list[str] = []
    begun = 1
    for k, line in enumerate(lines, 1):
        if not parts:
            begun = k
        part = line.lstrip() if parts else line
        if part.endswith("\\"):
            # A backslash alone is a blank, so that it parts two words.
            parts.append(part[:-1] or ("" if any(parts) else " "))
            continue
        yield begun, "".join([*parts, part]).partition(";")[0]
        parts = []
    if parts:
        yield begun, "".join(parts).partition(";")[0]


def scene_of(fields: Entry) -> Imported:
    """Return the scene of an entry."""
    own, kin, julia = formula_of(fields)
    lost = [own.lost] if own.lost else []
    known = {*READ.split(), *QUIET.split()}
    for key, (value, where) in fields.items():
        if key in WHOLLY:
            raise SceneError(f"{where}: '{key}={value[:60]}' is unsupported")
        if key not in known and value.lower() != COLORS.get(key):
            lost.append(f"'{key[:40]}={value[:60]}'" + ("" if key in COLORS else ", not known"))
    table = placed(kin, place_of(fields, own, julia, lost))
    steps = limit(*fields.get("maxiter", (LIMIT, "maxiter")), lost)
    table["iteration"] = {"max_iterations": steps}
    table["color"] = color_of(fields, steps, lost)
    if own.bailout or table["color"].get("coloring") == "count":
        bailout = real(*fields.get("bailout", ("0", "bailout"))) or own.bailout or 4.0
        table["iteration"]["escape_radius"] = min(math.sqrt(max(bailout, 4.0)), 1e9)
    if fields.get("type", ("",))[0].lower() == "newtbasin":
        table["color"] = {"coloring": "root"}
        lost.append("the colors of the roots")
    return Imported(table, tuple(lost))


def values_of(fields: Entry, key: str, most: int) -> tuple[list[str], str]:
    """Return the values of a list, as decimal text, and where it stands."""
    text, where = fields.get(key, ("", key))
    count = text.count("/") + 1 if text else 0
    if count > most:
        raise SceneError(f"{where}: {count} values, and {most} are the most")
    return [number(part, where) for part in text.split("/")] if text else [], where


def formula_of(fields: Entry) -> tuple[FractintType, FormulaMatch, tuple[str, str] | None]:
    """Return the type of an entry, its match, and the c of a Julia set."""
    kind, where = fields.get("type", ("mandel", "type"))
    if kind.lower() == "formula":
        return _named_formula(fields, where)
    if kind.lower().startswith("bif"):
        raise SceneError(
            f"{where}: the type '{kind[:80]}' draws a population over its growth rate, and this "
            "program draws pictures of the plane alone"
        )
    own = TYPES.get(kind.lower()) or TYPES.get(kind.lower().removesuffix("fp"))
    params, at = values_of(fields, "params", 10)
    usual = own.params.split("/") if own and own.params else []
    params += usual[len(params) :]
    functions = [name for name in fields.get("function", ("", ""))[0].lower().split("/") if name]
    functions += USUAL[len(functions) :]
    known = all(name in FUNCTIONS for name in functions)
    kin = own.make(EntryParameters(params, functions)) if own and known else None
    if own is None or kin is None:
        keys = [key for key in ("params", "function") if own and key in fields]
        said = "".join(f" {key}={fields[key][0][:60]}" for key in keys)
        raise SceneError(f"{where}: the type '{kind[:80]}{said}' is unsupported")
    if own.role == "c":
        return own, kin, (params[0], params[1])
    if own.role == "p":
        return own, kin, (params[0], "0")
    if own.role == "z" and (Decimal(params[0]) or Decimal(params[1])):
        raise SceneError(f"{at}: orbits that begin elsewhere than at 0 are unknown")
    return own, kin, None


def _named_formula(
    fields: Entry, where: str
) -> tuple[FractintType, FormulaMatch, tuple[str, str] | None]:
    """Return the formula of this program that has the name of one in a file of formulas."""
    name, file = (fields.get(key, ("?",))[0][:80] for key in ("formulaname", "formulafile"))
    match = NAMED_FORMULAS.get(re.sub("[^a-z]", "", name.lower()))
    if not match:
        raise SceneError(
            f"{where}: the formula '{name}' of '{file}': files of formulas (.frm) are unsupported; "
            "write the formula as an expression (--formula 'z^2 + c')"
        )
    lost = f"the formula '{name}' of '{file}' with its parameters; {match} has its name"
    return FractintType(lambda given: None, lost=lost), FormulaMatch(match), None


def place_of(
    fields: Entry, own: FractintType, julia: tuple[str, str] | None, lost: list[str]
) -> Place:
    """Return the view of an entry."""
    if "corners" in fields and "center-mag" not in fields:
        return _cornered(fields, julia, lost)
    values, where = values_of(fields, "center-mag", 6)
    if not values:
        return Place(own.view[:2], Decimal(own.view[2]), julia=julia)
    if len(values) < 3:
        raise SceneError(f"{where}: {len(values)} values, and 3 are the fewest")
    rest = [real(value, where) for value in values[3:]] + [1.0, 0.0, 0.0][len(values) - 3 :]
    if rest[0] != 1 or rest[2] != 0:
        lost.append(f"the stretched view ({where}: factor {rest[0]}, skew {rest[2]})")
    height = EXACT.divide(Decimal(2), positive(values[2], where))
    return Place((values[0], values[1]), height, angle=-rest[1], julia=julia)


def _cornered(fields: Entry, julia: tuple[str, str] | None, lost: list[str]) -> Place:
    """Return the view of ``corners=left/right/bottom/top``, and of a third corner, if any."""
    texts, where = values_of(fields, "corners", 6)
    if len(texts) not in (4, 6):
        raise SceneError(f"{where}: {len(texts)} values, and not 4 or 6")
    if max(map(len, texts)) > MAX_DIGITS:
        raise SceneError(f"{where}: a number has more than {MAX_DIGITS} digits")
    exact = EXACT.copy()
    exact.prec += max(len(text) for text in texts)
    left, right, bottom, top, *third = map(Decimal, texts)
    x, y = third or (left, bottom)  # the corner at the bottom left
    along = (exact.subtract(right, x), exact.subtract(bottom, y))
    upward = (exact.subtract(left, x), exact.subtract(top, y))
    center = tuple(
        str(exact.divide(exact.add(a, b), Decimal(2))) for a, b in ((left, right), (bottom, top))
    )
    width, height = (
        exact.sqrt(exact.add(exact.multiply(a, a), exact.multiply(b, b)))
        for a, b in (along, upward)
    )
    if not width or not height:
        raise SceneError(f"{where}: the corners lie on one another")
    # Shares of the sides, which floats can hold whatever the depth.
    (a, b), (p, q) = (
        tuple(float(exact.divide(part, side)) for part in parts)
        for parts, side in ((along, width), (upward, height))
    )
    shape = float(exact.divide(height, width)) / ASPECT
    if abs(shape - 1) > 0.02 or abs(a * p + b * q) > 0.02 or a * q - b * p < 0:
        lost.append(f"the stretched, skewed or mirrored view ({where})")
    return Place((center[0], center[1]), height, angle=math.degrees(math.atan2(b, a)), julia=julia)


def color_of(fields: Entry, steps: int, lost: list[str]) -> dict[str, Any]:
    """Return the colors; add a line to `lost` for each setting without an equivalent."""
    color: dict[str, Any] = {}
    text, where = fields.get("colors", ("", "colors"))
    colors = [] if text.startswith("@") else colors_of(text, where)
    if text.startswith("@"):
        lost.append(f"the palette in the file '{text[1:][:80]}'")
    if len(colors) > 1:
        around = colors[1:]
        turns = 1 / len(around)
        color["palette"] = {"stops": [[k * turns, c] for k, c in enumerate(around)]}
        color |= {"coloring": "count", "transfer": "linear", "density": turns, "offset": -turns}
    logmap, where = fields.get("logmap", ("no", "logmap"))
    if logmap.lower() in ("yes", "1") and colors:
        color |= {"transfer": "log", "density": 1 / max(math.log2(1 + steps), 1.0), "offset": 0.0}
    elif logmap.lower() not in ("no", "0"):
        lost.append(f"the curve of colors (logmap={logmap[:40]})")
    inside, where = fields.get("inside", ("", "inside"))
    if re.fullmatch(r"\d{1,3}", inside, re.ASCII):
        index = whole(inside, where)
        if index < len(colors):
            color["inside"] = colors[index]
    elif inside:
        lost.append(f"the coloring inside (inside={inside[:40]})")
    return color


def colors_of(text: str, where: str) -> list[str]:
    """Return the colors of a text: three digits from 0 to 63 each, ``<n>`` for n in between."""
    colors: list[tuple[float, ...]] = []
    between, at = 0, 0
    while at < len(text):
        found = COLOR.match(text, at)
        if not found or len(colors) >= MAX_COLORS:
            raise SceneError(f"{where}: {text[at : at + 20]!r}, after {len(colors)} colors")
        at = found.end()
        if found[1]:
            between = int(found[1])
            continue
        color = tuple(DIGITS[digit] / 63 for digit in found[2])
        before = colors[-1] if colors else color
        for k in range(1, between + 2):
            share = k / (between + 1)
            colors.append(tuple(a + share * (b - a) for a, b in zip(before, color, strict=True)))
        between = 0
    rows = colors[:MAX_COLORS]
    return ["#" + bytes(round(255 * part) for part in row).hex() for row in rows]


def make() -> Format:
    """Return the format."""
    return Format("par", "Fractint, many scenes", (".par",), read, entries=entries)
