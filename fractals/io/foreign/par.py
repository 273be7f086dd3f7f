"""Fractint's and Iterated Dynamics' parameters: entries ``name { key=value ... }``.

A view is 2 / magnification high, and the screen 4:3. Counts go round colors 1 to 255. The formula
of parameters in the same file, ``frm:name { ... }``, or in a `.frm` file that they name, is drawn
as a `program`.
"""

import cmath
import contextlib
import itertools
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from fractals import catalog
from fractals.errors import InputError, SceneError, counted, escaped
from fractals.formulas.language.syntax import Tree
from fractals.io.foreign import NOTHING, Beside, Format, Imported, first_of
from fractals.io.foreign import _cellular as cellular
from fractals.io.foreign._beside import plain_name as base_name
from fractals.io.foreign._entries import (
    KNOWN,
    MAX_ENTRIES,
    Formulas,
    formulas_of,
    joined,
    plain_name,
)
from fractals.io.foreign._fractint import (
    ATTRACTORS,
    FUNCTIONS,
    OTHERS,
    TESTS,
    TYPES,
    Drawn,
    EntryParameters,
    FractintType,
    drawn,
    letters_of,
)
from fractals.io.foreign._frm import RAND, SCREEN, FrmText, Given
from fractals.io.foreign._frm_ends import program_of
from fractals.io.foreign._par_colors import (
    all_colors,
    biomorph_of,
    check_period,
    color_of,
    first_of_rule,
    lyapunov_colors,
    name_of_coloring,
    potential_of,
)
from fractals.io.foreign._par_curves import Entry
from fractals.io.foreign._screen import ASPECT, RANDOM_LOST, ScreenView, used
from fractals.io.foreign._screen import lost as screen_lost
from fractals.io.foreign._view import (
    EXACT,
    ForeignView,
    FormulaMatch,
    is_turned,
    limit,
    lines_of,
    number,
    placed,
    real,
    skewed,
    stretched,
)
from fractals.scene.model import validate

MAX_KEYS = 1000  # of an entry
# Of a corner: a square root of 20 000 digits takes 0.2 s; those of Fractint have 1600.
MAX_DIGITS = 20_000
LIMIT = "150"  # of iterations, where an entry names none
MOST_LEFT_OUT = 1_000_000  # steps, as of `lyapunov`
LEAST = 2  # iterations that Fractint takes; it stops at an entry of fewer
BIOMORPH = 100.0  # bailout of an entry with `biomorph`, where it names none
MAX_LISTED = 200_000  # characters of formulas that are followed for a list of entries
# Keys that are read, that mean nothing in a picture, and that change it altogether.
READ = (
    "type params function corners center-mag maxiter bailout bailoutest inside colors logmap "
    "formulaname formulafile outside decomp potential distest biomorph invert ismand ranges "
    "logmode proximity"
)
QUIET = (
    "reset float passes symmetry periodicity finattract video savename overwrite sound "
    "askvideo fillcolor mathtolerance truecolor aspectdrift viewwindows background comment "
    "olddemmcolors orbitdelay orbitinterval batch savetime cyclerange cyclelimit textcolors "
    "showorbit hertz polyphony wavetype attack decay sustain srelease scalemap volume "
    "screencoords miim bfdigits iterincr nobof dither"
)
WHOLLY = ("initorbit", "julibrotmode", "3d", "rseed")
# The value of `initorbit` that is read, and the types whose orbits do not begin at the pixel anyway
ORBIT_OF_PIXEL = ("initorbit", "pixel")
CRITICAL = ("mandellambda", "magnet1m", "magnet2m")
# Colorings of layers that look at as many points as Fractint does.
LAST = {"last_point", "epsilon_cross", "last_visit"}
# Keys whose place a key takes
VIEWS = {"corners": ("center-mag",), "center-mag": ("corners",)}
# An equals sign with blanks beside it, and a slash before a number. Blanks after an equals sign
# belong to a key without a value where another key follows.
SPACED = re.compile(r"(?<!\s)\s++=(?:\s++(?!\S+\s*=))?|=\s++(?!\S+\s*=)")
SLASHED = re.compile(r"(?<=\S)\s*/\s*(?=[-+.\d])(?!3d=)", re.IGNORECASE)


@dataclass
class File:
    """Entries and formulas of a file, and a function that reads files beside it."""

    entries: dict[str, Entry] = field(default_factory=dict)
    formulas: Formulas = field(default_factory=dict)
    beside: Beside = NOTHING
    others: dict[str, list[Formulas]] = field(default_factory=dict)  # of files it names, once read


@dataclass
class _Open:
    name: str
    line: int
    fields: dict[str, tuple[str, str]] = field(default_factory=dict)
    kind: str = ""  # "frm" of a formula, "comment", or "" of an entry
    text: list[str] = field(default_factory=list)


def read_par(data: bytes, entry: str, beside: Beside = NOTHING) -> Imported:
    """Return the scene of an entry, by default of the first one."""
    file = file_of(lines_of(data), beside)
    entries = file.entries
    if not entries:
        raise SceneError("the file has no entry such as 'name { type=mandel }'")
    return one_of(list(entries), entry, lambda name: scene_of(entries[name], file))


def named(entry: str, names: Iterable[str]) -> str | None:
    """Return the name that an entry has, or the one that differs by case only; None without one.

    Characters that a terminal would obey may be written as `escaped` does.
    """
    found = {escaped(name).lower(): name for name in names}
    return entry if entry in names else found.get(escaped(entry).lower())


def one_of(names: list[str], entry: str, scene: Callable[[str], Imported]) -> Imported:
    """Return the scene of the entry that is named, whatever its case, or of the first one."""
    wanted = named(entry, names)
    if entry and wanted is None:
        hint = catalog.did_you_mean(entry, names)
        listed = ", ".join(name[:80] for name in itertools.islice(names, 1000))
        listed = listed if len(listed) <= 1000 else listed[:1000] + ", ..."
        raise SceneError(f"no entry '{entry[:80]}'{hint}; the file has {listed}")
    name = wanted or names[0]
    many = len(names) > 1 and not entry
    try:
        imported = scene(name)
    except InputError as error:
        more = f"; fractals show lists the {len(names)} entries" if many else ""
        raise SceneError(f"{name[:80]}: {error}{more}", **error.about) from None
    if not many:
        return imported
    return replace(imported, lost=(*imported.lost, first_of(len(names))))


def entries_of_par(data: bytes, beside: Beside = NOTHING) -> list[tuple[str, str]]:
    """Return the names of a file's entries, each with its type or why it can't be drawn."""
    found, file, read = [], file_of(lines_of(data), beside), 0
    for name, fields in file.entries.items():
        try:
            own = _text_of_entry(fields, file)
            read += len(own.text) if own else 0
            if read <= MAX_LISTED or not own:
                scene_of(fields, file, listed=True)
            about = f"type {fields.get('type', ('mandel',))[0]}"
        except InputError as error:
            about = f"unsupported: {error}"
        found.append((name, about))
    return found


def file_of(lines: list[str], beside: Beside = NOTHING) -> File:
    """Return the entries and formulas of a file's lines."""
    file = File(beside=beside)
    now: _Open | None = None
    for begun, code in joined(lines):
        at, end = 0, len(code.rstrip())
        while at < end:
            if now is None:
                brace = code.find("{", at)
                if brace < 0:
                    break  # text between entries
                now = _opened(code[at:brace].strip(), begun)
                at = brace + 1
            brace = code.find("}", at)
            stop = brace if brace >= 0 else end
            _take(now, code[at:stop], begun)
            at = stop + 1
            if brace >= 0:
                if now.kind == "frm":
                    text = FrmText("\n".join(now.text), f"line {now.line}")
                    file.formulas.setdefault(_key(now.name), text)
                elif not now.kind:
                    file.entries.setdefault(now.name, now.fields)
                now = None
        if len(file.entries) + len(file.formulas) > MAX_ENTRIES:
            raise SceneError(f"line {begun}: a file has at most {MAX_ENTRIES} entries")
    if now is not None:
        raise SceneError(f"line {now.line}: the entry '{now.name[:80]}' is never closed")
    return file


def _opened(name: str, line: int) -> _Open:
    kind, colon, rest = name.partition(":")
    if kind.lower() == "frm" and colon:
        return _Open(rest, line, kind="frm")
    return _Open(name, line, kind="comment" if colon or kind.lower() == "comment" else "")


def _take(now: _Open, text: str, line: int) -> None:
    """Add a line of an entry, or of a formula."""
    if now.kind == "frm":
        now.text.append(text)
    if now.kind:
        return
    words = SLASHED.sub("/", SPACED.sub("=", text)).split(None, MAX_KEYS)
    for word in words:
        written, _, value = word.partition("=")
        key = written.lower()
        if key == "map":  # the older word for a file of colors
            key, value = "colors", "@" + value
        if key == "decomp" and "/" in value:  # an old entry has the bailout there
            bailout = value.split("/")[1], f"line {line}: {written[:40]}"
            now.fields["bailout"] = bailout
        for before in (key, *VIEWS.get(key, ())):  # the last one counts, as in Fractint
            now.fields.pop(before, None)
        now.fields[key] = value.rstrip("/"), f"line {line}: {written[:40]}"
    if max(len(words), len(now.fields)) > MAX_KEYS:
        raise SceneError(f"line {line}: an entry has at most {MAX_KEYS} keys")


def _key(name: str) -> str:
    return plain_name(name).lower()


def scene_of(fields: Entry, file: File, listed: bool = False) -> Imported:
    """Return the scene of an entry; where it is only `listed`, pictures in it are not made."""
    lost: list[str] = []
    known = {*READ.split(), *QUIET.split(), ORBIT_OF_PIXEL[0]}
    for key, (value, where) in fields.items():
        if key in WHOLLY and (key, value.lower()) != ORBIT_OF_PIXEL:
            raise SceneError(f"{where}: '{key}={value[:60]}' is unsupported")
        if key not in known:
            lost.append(f"'{key[:40]}={value[:60]}', not known")
    kind = fields.get("type", ("mandel", "type"))[0].lower()
    if kind == "lyapunov":
        return _lyapunov(fields, file, lost)
    if kind == "cellular":
        return _cellular(fields, file, lost, listed)
    if kind in ATTRACTORS:
        return _attracted(fields, kind, lost)
    own, found = formula_of(fields, file)
    lost += found.lost
    place = place_of(fields, own, found.julia, lost)
    table = placed(found.kin, place)
    steps = steps_of(fields, lost)
    table["iteration"] = {"max_iterations": steps}
    if found.radius is not None:
        table["iteration"]["escape_radius"] = found.radius
    turned = is_turned(found.kin, place.up)
    radius = found.radius
    if potential_of(fields) and validate({"formula": table["formula"]}).make_formula().degree != 2:
        radius = None  # the potential is that of z² + c in all types
    table["color"] = color_of(fields, steps, found.ahead, radius, file.beside, lost, turned)
    check_period(table, lost)
    if LAST & {name_of_coloring(each) for each in table["color"].get("layers", ())}:
        table["iteration"]["max_iterations"] = max(1, steps - 1 - found.ahead)  # so z is Fractint's
    if kind == "newtbasin" and found.kin.formula["name"] == "newton":
        table["color"] = {"coloring": "root"}
        lost.append("the colors of the roots")
    return Imported(table, tuple(lost))


def steps_of(fields: Entry, lost: list[str]) -> int:
    """Return the limit of iterations, which may have decimals."""
    text, where = fields.get("maxiter", (LIMIT, "maxiter"))
    with contextlib.suppress(SceneError):
        text = str(int(min(real(text, where), 1e17)))
    steps = limit(text, where, lost)
    if steps < LEAST:
        raise SceneError(
            f"{where}: {text[:40]} is too few iterations: Fractint takes {LEAST} or more"
        )
    return steps


def _cellular(fields: Entry, file: File, lost: list[str], listed: bool) -> Imported:
    """Return the scene of an entry that draws rows of cells."""
    texts, where = params_of(fields)
    params = [float(text) for text in texts]
    params += [11.0, 3311100320.0, 41.0, 0.0][len(params) :]
    try:
        cellular.checked(params)
        colors = all_colors(fields, file.beside, lost)
        table = {} if listed else cellular.table_of(params, colors)
    except SceneError as error:
        raise SceneError(f"{where}: {error}") from None
    size = f"{cellular.WIDTH}x{cellular.HEIGHT}"
    lost.append(f"the size of cells, one for each pixel of the screen: they are {size} here")
    if params[0] in (0, -1):
        lost.append("the random first row: it is always the same one here")
    return Imported(table, tuple(lost))


def _attracted(fields: Entry, kind: str, lost: list[str]) -> Imported:
    """Return the scene of an entry that draws the points of an orbit, by its type in lower case."""
    name, keys, usual, corners = ATTRACTORS[kind]
    given, _ = params_of(fields)
    values = [*given, *usual.split("/")[len(given) :]]
    formula: dict[str, Any] = {"name": name}
    formula |= {key: float(value) for key, value in zip(keys.split(), values, strict=False)}
    if "symmetry" in formula:
        formula["symmetry"] = int(formula["symmetry"])
    functions = functions_of(fields, ("sin",) * 4) if kind == "latoocarfian" else None
    if functions and set(functions) != {"sin"}:
        at = fields["function"][1]
        raise SceneError(f"{at}: the type '{kind}' of other functions than sin is unsupported")
    first = {"corners": (corners, "corners"), **fields}
    own = FractintType(lambda params: "")
    table = placed(FormulaMatch(formula), place_of(first, own, None, lost))
    lost.append("the one orbit, and the colors of its hits: many short orbits and other colors")
    return Imported(table, tuple(lost))


def _lyapunov(fields: Entry, file: File, lost: list[str]) -> Imported:
    """Return the scene of an entry that colors order in the population of two growth rates."""
    params, where = params_of(fields)
    usual = ["0", "0.5", "0"]
    params += usual[len(params) :]
    letters = letters_of(int(float(params[0])))
    own = FractintType(lambda given: "", view=("0", "0", "12"))
    kin = FormulaMatch({"name": "lyapunov", "sequence": letters})
    table = placed(kin, place_of(fields, own, None, lost))
    half = max(1, steps_of(fields, lost) // 2)
    asked = int(float(params[2]))
    if asked < 0:
        raise SceneError(f"{where}: {params[2][:40]} steps left out, and 0 are the fewest")
    warmup = min(asked or half, MOST_LEFT_OUT)
    if asked > warmup:
        lost.append(f"{asked:g} steps left out: {warmup} are the most")
    table["iteration"] = {"max_iterations": warmup + half}
    if float(params[1]) != 0.5:
        lost.append(f"the population that orbits begin with ({params[1][:40]}): it is 0.5 here")
    table["color"] = lyapunov_colors(fields, half, warmup, file.beside, lost)
    return Imported(table, tuple(lost))


def values_of(fields: Entry, key: str, most: int) -> tuple[list[str], str]:
    """Return the values of a list, as decimal text, and where it stands; an empty one is 0."""
    text, where = fields.get(key, ("", key))
    count = text.count("/") + 1 if text else 0
    if count > most:
        raise SceneError(f"{where}: {counted(count, 'value')}, and {most} are the most")
    return [number(part or "0", where) for part in text.split("/")] if text else [], where


def params_of(fields: Entry) -> tuple[list[str], str]:
    """Return the parameters of an entry, as decimal text within the range of floats."""
    texts, where = values_of(fields, "params", 10)
    for text in texts:
        real(text, where)
    return texts, where


def formula_of(fields: Entry, file: File) -> tuple[FractintType, Drawn]:
    """Return the type of an entry, and what draws it."""
    kind, where = fields.get("type", ("mandel", "type"))
    test, at = fields.get("bailoutest", ("mod", "bailoutest"))
    if test.lower() not in TESTS:
        raise SceneError(f"{at}: '{test[:40]}' is none of {', '.join(TESTS)}")
    inversion = inversion_of(fields)
    if kind.lower() == "formula":
        return _formula_of_file(fields, file, inversion)
    name = kind.lower() if kind.lower() in (*TYPES, *OTHERS) else kind.lower().removesuffix("fp")
    if kind.lower().startswith("bif"):
        raise SceneError(
            f"{where}: the type '{kind[:80]}' draws a population over its growth rate, which this "
            "program does not draw"
        )
    if name in OTHERS:
        raise SceneError(f"{where}: the type '{kind[:80]}' {OTHERS[name]}")
    own = TYPES.get(name)
    params, _ = params_of(fields)
    usual = own.params.split("/") if own and own.params else []
    params = [*params, *usual[len(params) :]]
    functions = functions_of(fields, own.functions if own else ())
    said = "".join(
        f" {key}={fields[key][0][:60]}" for key in ("params", "function") if own and key in fields
    )
    refused = SceneError(f"{where}: the type '{kind[:80]}{said}' is unsupported")
    if own is None or functions is None:
        raise refused
    if (first := first_of_rule(fields, name)) == "c" and own.late:
        own = replace(own, named=None, late=0)
    elif first == "0" and name != "mandel":
        own = replace(own, named=None, start="0", ahead=own.ahead - 1)
    elif "initorbit" in fields and name in CRITICAL:
        own = replace(own, named=None, start="c")
    usual_bailout = own.bailout if biomorph_of(fields) < 0 else BIOMORPH
    bailout = real(*fields.get("bailout", ("0", "bailout"))) or usual_bailout
    if bailout < 0:
        value, at = fields["bailout"]
        raise SceneError(f"{at}: {value[:40]} is less than 0")
    bailout = (potential_of(fields) or [0.0])[-1] or bailout
    params += ["0"] * (10 - len(params))
    given = EntryParameters(params, functions, bailout, test.lower())
    try:
        return own, drawn(own, given, inversion)
    except SceneError:
        raise refused from None


def functions_of(fields: Entry, usual: tuple[str, ...]) -> list[str] | None:
    """Return the functions of an entry, or None if one is unknown."""
    names = [name for name in fields.get("function", ("", ""))[0].lower().split("/") if name]
    names += usual[len(names) :]
    return names if all(name in FUNCTIONS for name in names) else None


def inversion_of(fields: Entry) -> tuple[str, ...]:
    """Return radius and center of the circle at which the plane is inverted; () without one."""
    values, where = values_of(fields, "invert", 3)
    if not values or not Decimal(values[0]):
        return ()
    if len(values) < 3:
        found = counted(len(values), "value")
        raise SceneError(f"{where}: {found}, and not 3: others depend on the screen")
    return tuple(values)


def _formula_of_file(
    fields: Entry, file: File, inversion: tuple[str, ...]
) -> tuple[FractintType, Drawn]:
    """Return the formula that an entry names: of its own file, of one beside it, or well known."""
    where = fields.get("type", ("", "type"))[1]
    name, path = (fields.get(key, ("?",))[0] for key in ("formulaname", "formulafile"))
    params, _ = params_of(fields)
    functions = functions_of(fields, ("sin", "sqr", "sinh", "cosh"))
    if functions is None:
        raise SceneError(f"{where}: the functions '{fields['function'][0][:60]}' are unsupported")
    own = FractintType(lambda given: "")
    lost: tuple[str, ...] = ()
    text = _text_of_entry(fields, file)
    if text is None:
        letters = re.sub("[^a-z0-9]", "", _key(name))
        if letters not in KNOWN:
            raise SceneError(f"{where}: the formula '{name[:80]}' is {_missing(path, file)}")
        known, match = KNOWN[letters]
        lost = (
            f"the formula '{name[:80]}' of '{path[:80]}', which is not found: the one "
            "that usually has this name is drawn",
        )
        if match and not inversion and not any(map(Decimal, params)):
            return own, Drawn(match, radius=2.0, lost=lost)
        text = FrmText(known, where)
    values = [float(value) for value in params] + [0.0] * (10 - len(params))
    pixel: Tree = ("c",)
    if inversion:
        radius, *center = (complex(real(value, "invert")) for value in inversion)
        middle = ("number", center[0] + 1j * center[1])
        away = ("conj", ("-", ("c",), middle))
        pixel = ("+", middle, ("/", ("number", radius), away))
    given = Given(values, functions, _names_of(fields), screen_of(fields), pixel)
    lost += (*screen_lost(used(text.text, SCREEN)), *RANDOM_LOST * bool(used(text.text, [RAND])))
    table, more = program_of(name, text, given)
    return own, Drawn(FormulaMatch(table), lost=(*lost, *more))


def _text_of_entry(fields: Entry, file: File) -> FrmText | None:
    """Return the text of an entry's formula, in the same file or in one that it names."""
    name, path = (fields.get(key, ("?",))[0] for key in ("formulaname", "formulafile"))
    if text := file.formulas.get(_key(name)):
        return text
    found = (each[_key(name)] for each in _formulas_in(path, file) if _key(name) in each)
    return next(found, None)


def _formulas_in(path: str, file: File) -> list[Formulas]:
    """Return the formulas of each file of a name, the nearest first."""
    key = base_name(path).lower()
    if key not in file.others:
        found = file.beside.contents(key, "formula")
        file.others[key] = [formulas_of(lines_of(data)) for data in found]
    return file.others[key]


def _missing(path: str, file: File) -> str:
    """Return why a formula is not found, in words that follow "is"."""
    if _formulas_in(path, file):
        return f"neither in this file nor in '{path[:80]}'"
    return f"not in this file, and no file '{path[:80]}' is {file.beside.places('formula')}"


def _names_of(fields: Entry) -> dict[str, complex]:
    """Return the values of names that are the same for every pixel."""
    return {
        **screen_of(fields).names(),
        "pi": complex(math.pi),
        "e": complex(math.e),
        "maxit": complex(real(*fields.get("maxiter", (LIMIT, "maxiter")))),
        "ismand": complex(fields.get("ismand", ("y", ""))[0].lower() in ("y", "yes", "1")),
    }


def screen_of(fields: Entry) -> ScreenView:
    """Return the view of an entry of a formula as the formula sees it."""
    if "corners" in fields and "center-mag" not in fields:
        texts, where = values_of(fields, "corners", 6)
        if len(texts) in (4, 6):
            left, right, bottom, top, *third = (real(text, where) for text in texts)
            corners = (
                complex(left, top),
                complex(right, bottom),
                complex(*third or (left, bottom)),
            )
            middle = (corners[0] + corners[1]) / 2
            return ScreenView(middle, *(corner - middle for corner in corners))
    values, where = values_of(fields, "center-mag", 6)
    if len(values) < 3:  # the first view
        return ScreenView.magnified(0j, 2 / 3, 1.0, 0.0, 0.0)
    x, y, magnification, *rest = (real(value, where) for value in values)
    magnification_of(values[2], where)
    if not magnification:
        raise SceneError(f"{where}: a magnification of {values[2][:40]} is too small for a formula")
    factor, rotation, skew = [*rest, *(1.0, 0.0, 0.0)[len(rest) :]]
    return ScreenView.magnified(complex(x, y), magnification, factor, rotation, skew)


def magnification_of(text: str, where: str) -> Decimal:
    """Return a magnification; a negative one turns the view by 180 degrees."""
    value = Decimal(text)
    if not value:
        raise SceneError(f"{where}: a magnification of {text[:40]} shows nothing")
    return value


def place_of(
    fields: Entry, own: FractintType, julia: tuple[str, str] | None, lost: list[str]
) -> ForeignView:
    """Return the view of an entry."""
    if "corners" in fields and "center-mag" not in fields:
        return _cornered(fields, julia, lost)
    values, where = values_of(fields, "center-mag", 6)
    if not values:
        return ForeignView(own.view[:2], Decimal(own.view[2]), julia=julia)
    if len(values) < 3:
        raise SceneError(f"{where}: {counted(len(values), 'value')}, and 3 are the fewest")
    factor, angle, skew = [real(value, where) for value in values[3:]] + [1.0, 0.0, 0.0][
        len(values) - 3 :
    ]
    magnification = magnification_of(values[2], where)
    if magnification < 0:
        angle += 180
    height = EXACT.divide(Decimal(2), magnification.copy_abs())
    if 0.01 < abs(skew) < 90:
        turn = cmath.exp(-1j * math.radians(angle))
        sides = turn, turn * complex(math.tan(math.radians(skew)), 1)
        if found := skewed((values[0], values[1]), height, *sides, factor or 1.0, julia):
            return found
    if abs(skew) > 0.01:
        lost.append(f"the skewed view ({where}: {skew:g} degrees)")
    return stretched((values[0], values[1]), height, -angle, factor or 1.0, where, julia, lost)


def _cornered(fields: Entry, julia: tuple[str, str] | None, lost: list[str]) -> ForeignView:
    """Return the view of ``corners=left/right/bottom/top``, and of a third corner, if any."""
    texts, where = values_of(fields, "corners", 6)
    if len(texts) not in (4, 6):
        raise SceneError(f"{where}: {counted(len(texts), 'value')}, and not 4 or 6")
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
    factor = float(exact.divide(height, width)) / ASPECT
    if abs(a * p + b * q) > 1e-3:
        sides = complex(a, b), complex(p, q)
        if found := skewed((center[0], center[1]), height, *sides, factor, julia):
            return found
        lost.append(f"the skewed view ({where})")
    angle = math.degrees(math.atan2(b, a))
    if a * q - b * p < 0:  # mirrored, in a view whose imaginary axis points down
        factor, angle = -factor, angle - 180
    return stretched((center[0], center[1]), height, angle, factor, where, julia, lost)


def make() -> Format:
    """Return the format."""
    return Format(
        "par",
        "Fractint, many scenes",
        (".par",),
        read_par,
        entries=entries_of_par,
        reads_beside=True,
    )
