"""Writes what is made from the model of scenes and from classes of options: their keywords.

python scripts/keywords.py writes the files; a test compares them with what `files` returns.
"""

import json
import re
import textwrap
import types
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import fractals
from fractals.explorer.options import ExploreOptions
from fractals.films.options import FilmOptions, SaveOptions
from fractals.rendering.options import (
    Options,
    PictureFileOptions,
    PictureOptions,
    RenderOptions,
    ReplaceOptions,
    StoreOptions,
    SuggestOptions,
)
from fractals.scene.checks import CommandHelp, TableEntry
from fractals.scene.model import TABLES, Scene
from fractals.scene.table import Table
from fractals.search.options import SearchOptions, SpiralOptions
from fractals.tools.options import TraceOptions

PACKAGE = Path(fractals.__file__).parent
# What keys accept beyond the types of the model, which validators turn into these.
WIDER = {
    "formula": "str | PathLike[str] | Mapping[str, Any] | Formula",
    "julia": "PointLike | None",
    "center": "PointLike | None",
    "width": "Real | None",
    "zoom": "Real | None",
    "frame": "PointLike | None",
    "size": "Sequence[SupportsIndex] | NDArray[Any] | str",
    "coloring": "str | Mapping[str, Any]",
    "palette": "str | Mapping[str, Any] | Sequence[Any] | NDArray[Any] | ColorMap | Palette",
    "layers": "Sequence[Any]",
    "position": "str | Sequence[SupportsFloat] | NDArray[Any] | None",
    "target": "str | Sequence[SupportsFloat] | NDArray[Any] | None",
    "up": "str | Sequence[SupportsFloat] | NDArray[Any] | None",
    "sun": "str | Sequence[SupportsFloat] | NDArray[Any]",
    "sky": "str | Sequence[str]",
}
NUMBERS = {int: "SupportsIndex", float: "SupportsFloat"}  # those of any library
# Keys that no option gives.
FILES_ONLY = {"note", "film", "frame", "mask", "range", "layers"}
MAX_LINE, MAX_TEXT = 101, 89  # characters, with its end
ITERATING = ("interior_shortcuts", "cache", "force")  # no options of `recolor`
# The TypedDicts of each package: what they extend, whose keywords they are, and the options that
# they add.
CLASSES: dict[str, dict[str, tuple[str, str, type[Options]]]] = {
    "scene": {
        "RecolorKeywords": ("SceneKeywords", "fractals.recolor", RenderOptions),
        "RecolorFileKeywords": ("RecolorKeywords", "fractals.recolor_to", ReplaceOptions),
        "RenderKeywords": ("RecolorKeywords", "fractals.compute", RenderOptions),
        "PictureKeywords": ("RenderKeywords", "fractals.render", PictureOptions),
        "RenderFileKeywords": ("PictureKeywords", "fractals.render_to", PictureFileOptions),
        "StoreKeywords": ("RenderKeywords", "fractals.compute_to", StoreOptions),
    },
    "films": {
        "FilmKeywords": ("RenderKeywords", "fractals.film", FilmOptions),
        "SaveKeywords": ("TypedDict", "Film.save", SaveOptions),
    },
    "search": {
        "SearchKeywords": ("SceneKeywords", "fractals.find_nucleus", SearchOptions),
        "SpiralKeywords": ("SearchKeywords", "fractals.find_misiurewicz", SpiralOptions),
    },
    "tools": {
        "SuggestKeywords": ("SceneKeywords", "fractals.find_interesting", SuggestOptions),
        "TraceKeywords": ("SceneKeywords", "fractals.trace", TraceOptions),
    },
    "explorer": {
        "ExploreKeywords": ("SceneKeywords", "fractals.explore", ExploreOptions),
    },
}
# Where the names in types come from: Python, NumPy, this package.
IMPORTS: tuple[dict[str, tuple[str, ...]], ...] = (
    {
        "collections.abc": ("Callable", "Mapping", "Sequence"),
        "os": ("PathLike",),
        "typing": ("Any", "Literal", "SupportsFloat", "SupportsIndex", "TypedDict"),
    },
    {"numpy.typing": ("NDArray",)},
    {
        "fractals.color.gradient": ("ColorMap",),
        "fractals.color.palette": ("Palette",),
        "fractals.kernels.formula": ("Formula",),
        "fractals.scene.keywords": ("RenderKeywords", "SceneKeywords"),
        "fractals.scene.numbers": ("PointLike", "Real"),
    },
)
KEYWORDS = '''\
"""The keywords of public functions, for signatures and type checkers.

Made by scripts/keywords.py from the model of scenes and from classes of options.
"""
'''
MEANINGS = '''\
"""The meaning of the keys of scenes, and the words that they take, without importing the model.

Made by scripts/keywords.py from the model.
"""

KEYS: dict[str, tuple[str, tuple[str, ...]]] = {
'''


def main() -> None:
    """Write the files."""
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")


def files() -> dict[Path, str]:
    """Return the files, with their text."""
    made = {PACKAGE / name / "keywords.py": text for name, text in keywords().items()}
    return made | {PACKAGE / "cli" / "keys.py": meanings()}


def keywords() -> dict[str, str]:
    """Return the module of TypedDicts of each package."""
    tables = {key: accepted(key, field) for key, field in keys([Scene])}
    inner = {key: accepted(key, field) for key, field in keys(TABLES.values())}
    found, texts = {"SceneKeywords": tables | inner}, dict.fromkeys(CLASSES, "")
    texts["scene"] += typed_dict("SceneTables", "TypedDict", "What `Scene` is made of", tables)
    texts["scene"] += typed_dict(
        "SceneKeywords", "SceneTables", "Every key of a scene, without its table", inner
    )
    for package, classes in CLASSES.items():
        for name, (base, function, options) in classes.items():
            inherited = found.get(base, {})
            own = {key: hint for key, hint in options_of(options).items() if key not in inherited}
            if name == "RecolorKeywords":
                own = {key: hint for key, hint in own.items() if key not in ITERATING}
            found[name] = inherited | own
            texts[package] += typed_dict(name, base, f"Keywords of `{function}`", own)
    return {package: module_of(text) for package, text in texts.items()}


def module_of(text: str) -> str:
    """Return a module of TypedDicts with what it imports."""
    parts = [KEYWORDS]
    for group in IMPORTS:
        found = ((module, used_in(text, names)) for module, names in group.items())
        lines = (f"from {module} import {', '.join(used)}\n" for module, used in found if used)
        parts.append("".join(lines))
    return "\n".join(filter(None, parts)) + text


def used_in(text: str, names: Iterable[str]) -> list[str]:
    """Return the names that a text has and does not define."""
    words = {*re.findall(r"\w+", text)}
    return [name for name in names if name in words and f"class {name}(" not in text]


def typed_dict(name: str, base: str, title: str, fields: dict[str, str]) -> str:
    """Return the definition of a TypedDict."""
    lines = "".join(f"    {key}: {hint}\n" for key, hint in fields.items())
    return f'\n\nclass {name}({base}, total=False):\n    """{title}."""\n\n{lines}'


def meanings() -> str:
    """Return the module of meanings: of the keys that an option gives, with a description."""
    rows = []
    for key, field in keys([Scene, *TABLES.values()]):
        typed = [each for each in field.metadata if isinstance(each, CommandHelp)]
        text = typed[0] if typed else field.description
        if text and key not in FILES_ONLY:
            words = "".join(f"{quoted(word)}, " for word in literals(field.annotation)).rstrip()
            words = words if words.count(",") == 1 else words.removesuffix(",")
            text = text[:1].upper() + text[1:] + "."
            row = f'    "{key}": ({quoted(text)}, ({words})),\n'
            lines = [quoted(line) for line in textwrap.wrap(text, MAX_TEXT, drop_whitespace=False)]
            whole = "\n        ".join([f'    "{key}": (', *lines])
            whole += f",\n        ({words}),\n    ),\n"
            rows.append(row if len(row) <= MAX_LINE else whole)
    return MEANINGS + "".join(rows) + "}\n"


def keys(models: Iterable[type[Table]]) -> Iterator[tuple[str, TableEntry]]:
    """Yield the keys of models, with their fields."""
    for model in models:
        for key, field in model.model_fields.items():
            if key != "version":
                yield key, field


def accepted(key: str, field: TableEntry) -> str:
    """Return the type of what a key accepts; a precision of None keeps that of the scene."""
    text = WIDER.get(key) or text_of(field.annotation)
    return f"{text} | None" if key == "precision" else text


def options_of(options: type[Options]) -> dict[str, str]:
    """Return the fields of a class of options, with their types."""
    return {name: text_of(each.type) for name, each in options.fields.items()}


def text_of(hint: Any) -> str:
    """Return a type as Python writes it; tables are mappings."""
    inner, origin = get_args(hint), get_origin(hint)
    if origin is Annotated:
        return text_of(inner[0])
    if origin in (types.UnionType, Union):
        return " | ".join(map(text_of, inner))
    if origin is Literal:
        return f"Literal[{', '.join(quoted(each) for each in inner)}]"
    if origin is Callable:
        called = ", ".join(each.__name__ for each in inner[0])  # they are given Python's numbers
        return f"Callable[[{called}], {text_of(inner[1])}]"
    if origin is tuple:
        return f"tuple[{', '.join('...' if each is ... else text_of(each) for each in inner)}]"
    if isinstance(hint, type) and issubclass(hint, Table):
        return "Mapping[str, Any]"
    names = {type(None): "None", None: "None", Any: "Any", **NUMBERS}
    return names.get(hint) or str(hint.__name__)


def literals(hint: Any) -> list[str]:
    """Return the words among the values of a type."""
    if get_origin(hint) is Literal:
        return [str(each) for each in get_args(hint)]
    return [word for each in get_args(hint) for word in literals(each)]


def quoted(value: Any) -> str:
    """Return a value as the formatter writes it."""
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    main()
