"""Formulas of Ultra Fractal (`.ufm`): sections such as ``loop:``, and what they ask the user for.

``many.ufm#name power=3 mode=Julia`` sets parameters; `_ufm` tells what the language has.
"""

from fractals.io.foreign import Format, Imported
from fractals.io.foreign._ufm_scene import scene_of
from fractals.io.foreign.frm import list_formulas, read_formula


def read(data: bytes, entry: str) -> Imported:
    """Return the scene of a formula, by default of the first one."""
    return read_formula(data, entry, scene_of)


def entries(data: bytes) -> list[tuple[str, str]]:
    """Return the names of the formulas, each with what it is, or why it can't be drawn."""
    return list_formulas(data, scene_of)


def make() -> Format:
    """Return the format."""
    return Format("ufm", "Ultra Fractal, formulas", (".ufm",), read, entries=entries)
