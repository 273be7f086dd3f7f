"""Formulas of Fractint (`.frm`): ``name { initial statements : statements, condition }``.

Each is a scene of its own, in the view that Fractint begins with, and in this program's colors.
``many.frm#name p1=2 p2=0,1 fn1=cos`` sets what Fractint asks for: complex numbers and functions.
"""

import re
from typing import Any

from fractals.errors import InputError, SceneError, shown
from fractals.io.foreign import Asked, Format, Imported
from fractals.io.foreign._fractint import FUNCTIONS
from fractals.io.foreign._text import lines_of, number
from fractals.io.foreign.par import MAX_LISTED, File, Formulas, frm_of, one_of, scene_of

USUAL = {**dict.fromkeys(("p1", "p2", "p3", "p4", "p5"), "0"),
         "fn1": "sin", "fn2": "sqr", "fn3": "sinh", "fn4": "cosh"}  # fmt: skip
EXAMPLE = "name { z = pixel: z = z^2 + pixel, |z| < 4 }"


def read(data: bytes, entry: str) -> Imported:
    """Return the scene of a formula, by default of the first one."""
    formulas, names = _formulas(data)
    words = entry.split()
    wanted = words.pop(0) if words and "=" not in words[0] else ""
    given = _settings(words)
    return one_of(list(names), wanted, lambda name: _scene(name, names[name], formulas, given))


def entries(data: bytes) -> list[tuple[str, str]]:
    """Return the names of the formulas, each with what it is, or why it can't be drawn."""
    formulas, names = _formulas(data)
    found, length = [], 0
    for name, key in names.items():
        length += len(formulas[key].text)
        about = "a formula"
        try:
            if length <= MAX_LISTED:
                _scene(name, key, formulas, {})
        except InputError as error:
            about = f"unsupported: {error}"
        found.append((name, about))
    return found


def _formulas(data: bytes) -> tuple[Formulas, dict[str, str]]:
    """Return the formulas, and the key of each by its name without the symmetry in brackets."""
    formulas = frm_of(lines_of(data))
    formulas.pop("comment", None)  # free text
    names = {re.split(r"[(\[=]", text.name)[0].strip(): key for key, text in formulas.items()}
    if not names:
        raise SceneError(f"the file has no formula such as '{EXAMPLE}'")
    return formulas, names


def _settings(words: list[str]) -> dict[str, str]:
    """Return the numbers and functions that words such as ``p1=2`` and ``fn1=cos`` give."""
    given = {}
    for word in words:
        name, _, value = word.lower().partition("=")
        if name not in USUAL:
            raise SceneError(f"'{shown(word, 40)}' is none of {', '.join(USUAL)}, as in p1=2")
        if name[0] == "f" and value not in FUNCTIONS:
            raise SceneError(f"{name}: '{shown(value, 40)}' is none of {', '.join(FUNCTIONS)}")
        if name[0] == "p":
            parts = [number(part, name) for part in value.split(",")]
            if len(parts) > 2:
                raise SceneError(f"{name}: a number, or two for a complex one, as in {name}=0,1")
            value = ",".join(parts)
        given[name] = value
    return given


def _scene(name: str, key: str, formulas: Formulas, given: dict[str, str]) -> Imported:
    where, text = formulas[key].where, formulas[key].text.lower()
    values = {**USUAL, **given}
    pairs = [(*values[p].split(","), "0")[:2] for p in USUAL if p[0] == "p"]
    fields = {
        "type": ("formula", where),
        "formulaname": (key, where),
        "params": ("/".join(part for pair in pairs for part in pair), where),
        "function": ("/".join(values[fn] for fn in USUAL if fn[0] == "f"), where),
    }
    drawn = scene_of(fields, File(formulas=formulas))
    table: dict[str, Any] = {"title": name[:1000], **drawn.table}
    del table["color"], table["iteration"]["max_iterations"]  # of an entry without colors
    asked = [
        Asked(p, values[p], p in given, tuple(FUNCTIONS) if p[0] == "f" else ())
        for p in USUAL
        if re.search(rf"\b{p}\b", text)
    ]
    return Imported(table, drawn.lost, tuple(asked))


def make() -> Format:
    """Return the format."""
    return Format("frm", "Fractint, formulas", (".frm",), read, entries=entries)
