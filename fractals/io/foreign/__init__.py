"""The contract of a format: a file of another program <-> a part of a scene, and what was lost."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fractals.io.foreign._beside import MAX_BYTES as MAX_BYTES
from fractals.io.foreign._beside import Beside as Beside

# The files that hold several formats, and their names. formats.py finds and reads all of them.
FILES = {
    "deep_zooms": ("kfr", "kfp", "rust_fractal"),
    "formats": (),
    "palette_files": ("map", "gpl", "ggr", "ugr"),
    "swatches": ("act", "ase", "cpt", "pal"),
    "ultra_fractal": ("upr", "ufm"),
}
MAX_ASKED = 12  # names in a line
# The end of the line that `first_of` returns. Lines about lost settings never end like this.
LISTED = "'fractals show FILE' lists them, and FILE#NAME selects one"


def first_of(count: int) -> str:
    """Return the line for the user where the first of several entries of a file is read."""
    return f"the first of {count} entries is read; {LISTED}"


def lines_of_lost(lost: Iterable[str]) -> list[str]:
    """Return lines for the user; one about which entry is read has no "lost:", as nothing is."""
    return [line if line.endswith(LISTED) else f"lost: {line}" for line in lost]


# What files of other programs have no place for, and words about it.
UNWRITTEN = {
    **{key: f"the {key}" for key in ("title", "author", "rights", "note", "film", "relief")},
    "develop": "how the picture is developed",
}


def unwritten(table: Mapping[str, Any], but: Iterable[str] = ()) -> list[str]:
    """Return a line for each part of a scene that no other program has; `but` these keys."""
    return [words for key, words in UNWRITTEN.items() if table.get(key) and key not in but]


@dataclass(frozen=True)
class Asked:
    """What an entry of a file asks the user for; words of the entry such as ``p1=2`` set it."""

    name: str
    value: str  # that is read
    given: bool  # by the entry's words; otherwise the value is the usual one
    choices: tuple[str, ...] = ()  # () for numbers
    title: str = ""  # words for the user; "" where the name says it


def unset(asked: Sequence[Asked]) -> tuple[str, ...]:
    """Return the line for the user about what an entry asks for and nobody gave, or no line."""
    usual = [f"{each.name}={each.value}" for each in asked if not each.given]
    more = f" and {len(usual) - MAX_ASKED} more" if len(usual) > MAX_ASKED else ""
    some = " ".join(usual[:MAX_ASKED]) + more
    # In quotes, because words such as seed=1 are options of verbs, too.
    return (f"the formula asks for '{some}': 'FILE#NAME {usual[0]}' sets one",) if usual else ()


NOTHING = Beside()  # no file lies beside data that is in no folder


@dataclass(frozen=True)
class Imported:
    """The content of a file as a scene's table."""

    # A part of a scene, as in TOML: a palette file gives only ``{"color": {"palette": ...}}``
    table: Mapping[str, Any]
    # A line for each setting of the file that has no equivalent in a scene. `first_of` may be among
    # them.
    lost: tuple[str, ...] = ()
    asked: tuple[Asked, ...] = ()
    # Why the file is refused unless the caller takes it without something; "" where all is drawn
    refused: str = ""


@dataclass(frozen=True)
class Format:
    """A kind of file."""

    name: str
    title: str
    suffixes: tuple[str, ...]  # in lower case, with the dot, such as ``(".map",)``
    # ``read(data, entry) -> Imported``: `entry` names one of many things in a file ("" is the
    # first). Raises `SceneError` with the line number where the data is invalid.
    read: Callable[..., Imported]
    # ``write(table) -> (data, lost)`` of a whole scene's plain values, all defaults included
    write: Callable[[Mapping[str, Any]], tuple[bytes, tuple[str, ...]]] | None = None
    # ``claims(table) -> bool``: whether the keys of a TOML file belong to this format
    claims: Callable[[Mapping[str, Any]], bool] | None = None
    # Whether `write` requires ``iteration.max_iterations`` as a number, in place of "auto"
    writes_limit: bool = False
    # ``entries(data) -> [(name, about), ...]`` of a file that can hold many things: each name, and
    # a few words about it
    entries: Callable[..., list[tuple[str, str]]] | None = None
    reads_beside: bool = False  # whether `read` and `entries` take one more argument, a `Beside`
