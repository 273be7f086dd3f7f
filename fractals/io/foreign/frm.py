"""Fractint's formulas: entries ``name { initial statements : statements, condition }``.

Each formula is a scene, in the view that Fractint begins with, and in our colors.
``many.frm#name p1=2 p2=0,1 fn1=cos`` sets what Fractint asks for: complex numbers and functions.
Formulas with sections such as ``loop:`` are read as Ultra Fractal and Gnofract 4D do.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from fractals.errors import InputError, SceneError, shown
from fractals.io.foreign import Asked, Format, Imported
from fractals.io.foreign._entries import Formulas, formulas_of, is_newer, plain_name
from fractals.io.foreign._fractint import FUNCTIONS
from fractals.io.foreign._frm import FrmText
from fractals.io.foreign._ufm_scene import scene_of as ultra_scene
from fractals.io.foreign._view import lines_of, number
from fractals.io.foreign.par import MAX_LISTED, File, named, one_of, scene_of

USUAL = {**dict.fromkeys(("p1", "p2", "p3", "p4", "p5"), "0"),
         "fn1": "sin", "fn2": "sqr", "fn3": "sinh", "fn4": "cosh"}  # fmt: skip
FN = ("fn1", "fn2", "fn3", "fn4")
EXAMPLE = "name { z = pixel: z = z^2 + pixel, |z| < 4 }"
SETTING = re.compile(r"\b(function|maxiter|center-mag|corners)=([^\s\]]+)", re.IGNORECASE)
# ``scene(name, formula, words)``: the scene of a formula with what words such as ``p1=2`` set
Scene = Callable[[str, FrmText, Mapping[str, str]], Imported]


def read_frm(data: bytes, entry: str) -> Imported:
    """Return the scene of a formula, by default of the first one."""
    return read_formula(data, entry, _scene)


def entries_of_frm(data: bytes) -> list[tuple[str, str]]:
    """Return the names of the formulas, each with what it is, or why it can't be drawn."""
    return list_formulas(data, _scene)


def read_formula(data: bytes, entry: str, scene: Scene) -> Imported:
    """Return the scene of a formula of a file: the one that is named, or the first one."""
    names = _names(data)
    first = re.search(r"(?:^|\s)@?\w+=", entry)
    begun = len(entry) if first is None or named(entry, names) else first.start()
    given = {}
    for word in entry[begun:].split():
        name, mark, value = word.lower().lstrip("@").partition("=")
        if not mark:
            raise SceneError(f"'{shown(word, 40)}' sets nothing, as p1=2 does")
        given[name] = value
    wanted = entry[:begun].strip()
    return one_of(list(names), wanted, lambda name: scene(name, names[name], given))


def list_formulas(data: bytes, scene: Scene) -> list[tuple[str, str]]:
    """Return the names of a file's formulas, each with what it is, or why it can't be drawn."""
    found, length = [], 0
    for name, formula in _names(data).items():
        length += len(formula.text)
        about = "a formula"
        try:
            if length <= MAX_LISTED:
                scene(name, formula, {})
        except InputError as error:
            about = f"unsupported: {error}"
        found.append((name, about))
    return found


def _names(data: bytes) -> dict[str, FrmText]:
    """Return the formulas by their names, without the symmetry in brackets."""
    formulas: Formulas = formulas_of(lines_of(data))
    for free in ("comment", "comments", ""):  # text, and lines such as {--- more ---}
        formulas.pop(free, None)
    if not formulas:
        raise SceneError(f"the file has no formula such as '{EXAMPLE}'")
    return {plain_name(text.name): text for text in formulas.values()}


def _checked(words: Mapping[str, str]) -> dict[str, str]:
    """Return the numbers and functions that words such as ``p1=2`` and ``fn1=cos`` give."""
    given = {}
    for name, value in words.items():
        if name not in USUAL:
            raise SceneError(
                f"'{shown(f'{name}={value}', 40)}' is none of {', '.join(USUAL)}, as in p1=2"
            )
        if name[0] == "f" and value not in FUNCTIONS:
            raise SceneError(f"{name}: '{shown(value, 40)}' is none of {', '.join(FUNCTIONS)}")
        if name[0] == "p":
            parts = [number(part, name) for part in value.split(",")]
            if len(parts) > 2:
                raise SceneError(f"{name}: a number, or two for a complex one, as in {name}=0,1")
            value = ",".join(parts)
        given[name] = value
    return given


def _scene(name: str, formula: FrmText, words: Mapping[str, str]) -> Imported:
    if is_newer(formula.text):
        return ultra_scene(name, formula, words)
    given = _checked(words)
    where, text = formula.where, formula.text.lower()
    # Of ``name(symmetry)[function=sin/sqr maxiter=300] {``: what Fractint begins with.
    begun = {key.lower(): value for key, value in SETTING.findall(formula.name.partition("[")[2])}
    own = zip(FN, begun.get("function", "").lower().split("/"), strict=False)
    values = {**USUAL, **{fn: name for fn, name in own if name in FUNCTIONS}, **given}
    pairs = [(*values[p].split(","), "0")[:2] for p in USUAL if p[0] == "p"]
    fields = {
        "type": ("formula", where),
        "formulaname": (name, where),
        "params": ("/".join(part for pair in pairs for part in pair), where),
        "function": ("/".join(values[fn] for fn in FN), where),
    }
    fields = {**{key: (value, where) for key, value in begun.items()}, **fields}
    drawn = scene_of(fields, File(formulas={name.lower(): formula}))
    table: dict[str, Any] = {"title": name[:1000], **drawn.table}
    del table["color"]  # of an entry without colors
    if "maxiter" not in begun:
        del table["iteration"]["max_iterations"]
    asked = [
        Asked(p, values[p], p in given, tuple(FUNCTIONS) if p[0] == "f" else ())
        for p in USUAL
        if re.search(rf"\b{p}\b", text)
    ]
    return Imported(table, drawn.lost, tuple(asked))


def make() -> Format:
    """Return the format."""
    return Format("frm", "Fractint, formulas", (".frm",), read_frm, entries=entries_of_frm)
