"""Kalles Fraktaler's palettes (`.kfp`): the keys of a location (`.kfr`) that are about colors."""

from fractals.errors import SceneError
from fractals.io.foreign import Format, Imported
from fractals.io.foreign._text import only_one
from fractals.io.foreign.kfr import color_of, fields_of, unknown_of


def read(data: bytes, entry: str) -> Imported:
    """Return the colors."""
    only_one(entry)
    fields = fields_of(data)
    if "Colors" not in fields:
        raise SceneError("the line 'Colors:' is missing, so this is not a palette")
    lost: list[str] = []
    color = color_of(fields, lost)
    return Imported({"color": color}, (*lost, *unknown_of(fields)))


def make() -> Format:
    """Return the format."""
    return Format("kfp", "Kalles Fraktaler palette", (".kfp",), read)
