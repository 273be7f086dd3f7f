"""Writes what is made from the model of scenes and from classes of options: their keywords.

python scripts/keywords.py writes the files; a test compares them with what `files` returns.
"""

import dataclasses
import json
import types
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

import fractals
from fractals.explorer.options import ExploreOptions
from fractals.films.writing import SaveOptions
from fractals.rendering.options import RenderOptions
from fractals.scene.model import TABLES, Scene

PACKAGE = Path(fractals.__file__).parent
# What keys accept beyond the types of the model, which validators turn into these.
WIDER = {
    "formula": "str | Mapping[str, Any] | Formula",
    "julia": "PointLike | None",
    "center": "PointLike | None",
    "width": "Real | None",
    "zoom": "Real | None",
    "frame": "PointLike | None",
    "size": "tuple[int, int] | str",
    "coloring": "str | Mapping[str, Any]",
    "palette": "str | Mapping[str, Any] | Sequence[Any] | NDArray[Any] | ColorMap | Palette",
    "layers": "Sequence[Any]",
}
MAX_LINE = 101  # characters, with its end
ITERATING = ("interior_shortcuts", "cache", "force")  # no options of `recolor`
KEYWORDS = '''\
"""The keywords of public functions, for signatures and type checkers.

Made by scripts/keywords.py from the model of scenes and from classes of options.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from numpy.typing import NDArray

from fractals.color.gradient import ColorMap
from fractals.color.palette import Palette
from fractals.kernels.formula import Formula
from fractals.scene.numbers import PointLike, Real
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
    return {
        PACKAGE / "scene" / "keywords.py": keywords(),
        PACKAGE / "cli" / "keys.py": meanings(),
    }


def keywords() -> str:
    """Return the module of TypedDicts."""
    scene = {key: accepted(key, field) for key, field in keys([Scene, *TABLES.values()])}
    render = options_of(RenderOptions)
    device = {name: text for name, text in render.items() if name not in ITERATING}
    explore = options_of(ExploreOptions)
    iterating = {name: render[name] for name in ITERATING}
    classes = [
        ("SceneKeywords(TypedDict", "Every key of a scene, named without its table.", scene),
        ("DeviceOptions(TypedDict", "The options of everything that draws.", device),
        ("IterationOptions(DeviceOptions", "All fields of `RenderOptions`.", iterating),
        ("RecolorKeywords(DeviceOptions, SceneKeywords", "Keywords of `fractals.recolor`.", {}),
        ("RenderKeywords(IterationOptions, SceneKeywords", "Keywords of `fractals.render`.", {}),
        ("ExploreKeywords(SceneKeywords", "Keywords of `fractals.explore`.", explore),
        ("SaveKeywords(TypedDict", "Keywords of `Film.save`.", options_of(SaveOptions)),
    ]
    return KEYWORDS + "".join(
        f'\n\nclass {head}, total=False):\n    """{title}"""\n'
        + "\n" * bool(fields)
        + "".join(f"    {name}: {text}\n" for name, text in fields.items())
        for head, title, fields in classes
    )


def meanings() -> str:
    """Return the module of meanings: of the keys that take one value, with a description."""
    rows = []
    for key, field in keys(list(TABLES.values())):
        if field.description and key not in WIDER:
            words = "".join(f"{quoted(word)}, " for word in literals(field.annotation)).rstrip()
            words = words if words.count(",") == 1 else words.removesuffix(",")
            text = field.description[:1].upper() + field.description[1:] + "."
            row = f'    "{key}": ({quoted(text)}, ({words})),\n'
            whole = f'    "{key}": (\n        {quoted(text)},\n        ({words}),\n    ),\n'
            rows.append(row if len(row) <= MAX_LINE else whole)
    return MEANINGS + "".join(rows) + "}\n"


def keys(models: Iterable[type[BaseModel]]) -> Iterator[tuple[str, FieldInfo]]:
    """Yield the keys of models, with their fields."""
    for model in models:
        for key, field in model.model_fields.items():
            if key != "version":
                yield key, field


def accepted(key: str, field: FieldInfo) -> str:
    """Return the type of what a key accepts; a precision of None keeps that of the scene."""
    text = WIDER.get(key) or text_of(field.annotation)
    return f"{text} | None" if key == "precision" else text


def options_of(options: type) -> dict[str, str]:
    """Return the fields of a class of options, with their types."""
    return {each.name: text_of(each.type) for each in dataclasses.fields(options)}


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
        return f"Callable[[{', '.join(map(text_of, inner[0]))}], {text_of(inner[1])}]"
    if origin is tuple:
        return f"tuple[{', '.join('...' if each is ... else text_of(each) for each in inner)}]"
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return "Mapping[str, Any]"
    return {type(None): "None", None: "None", Any: "Any"}.get(hint) or hint.__name__


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
