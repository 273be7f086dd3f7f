"""Table: a frozen group of a scene's values, whose errors name the key and what it takes."""

import inspect
import re
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import CoreSchema, core_schema

from fractals import catalog, meant
from fractals.errors import OptionError, SceneError, shown
from fractals.kernels.formula import with_recipe
from fractals.scene.signature import Written

# What a value is expected to be, by pydantic's type of error.
WRONG = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dict_type": "a table",
    "finite_number": "a finite number",
    "float_parsing": "a number",
    "float_type": "a number",
    "greater_than": "more than {gt:g}",
    "greater_than_equal": "{ge:g} or more",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of less than 4300 digits",
    "int_type": "a whole number",
    "less_than": "less than {lt:g}",
    "less_than_equal": "{le:g} or less",
    "model_attributes_type": "a table",
    "model_type": "a table",
    "string_type": "a text",
    "tuple_type": "a list of values such as [1920, 1080]",
}
# Parts of the place of an error that name kinds of values, and no keys
TAGS = ("FormulaName", "int", "Layer", "LayerGroup", "numbers", "palettes")
MAX_MADE = 256  # objects kept; the oldest is made again if it is needed again
_MADE: dict[tuple[Any, str], Any] = {}


class _Checked(type(BaseModel)):  # type: ignore[misc]
    """Makes constructors raise a `SceneError` in place of pydantic's error.

    Validating a table does not call this: errors of inner tables keep their paths. `help` shows
    the keys and their defaults; pydantic's signature has types of many lines in one another.
    """

    @property
    def __signature__(cls) -> inspect.Signature:
        defaults = {
            name: inspect.Parameter.empty if key.is_required() else key.get_default()
            for name, key in cls.model_fields.items()
        }
        return inspect.Signature(
            [
                inspect.Parameter(
                    name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=Written(f"{type(value).__name__}()")
                    if isinstance(value, Table)
                    else value,
                )
                for name, value in defaults.items()
            ]
        )

    @__signature__.setter
    def __signature__(cls, value: Any) -> None:
        """Leave out pydantic's."""

    def __call__(cls, *values: Any, **keys: Any) -> Any:
        if values:
            given = repr(values[0])[:60]
            loading = f"; fractals.load_scene({given}) loads a scene by name or from a file"
            raise OptionError(
                f"{cls.__name__}({given}): give values by key, as in {cls.__name__}(key=value)"
                + (loading if isinstance(values[0], str | Path) else "")
            )
        try:
            return super().__call__(**keys)
        except ValidationError as error:
            raise SceneError("\n".join(explained(error, cls))) from None


if TYPE_CHECKING:  # type checkers know the constructors of a plain BaseModel
    _Base = BaseModel
else:

    class _Base(BaseModel, metaclass=_Checked):
        """A model whose constructor raises errors of this package."""


class Table(_Base):
    """Values of a scene; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse: a scene is a value."""
        raise AttributeError(f"scenes never change: scene.replace({name}=...) returns another")


class CommandHelp(str):
    """In an annotation: the meaning of a key on the command line, if values are typed otherwise."""


class Instance:
    """In an annotation: an object of this class, as it is.

    `pydantic.InstanceOf` says the same, and takes milliseconds at each start for the fields.
    """

    def __get_pydantic_core_schema__(self, source: Any, _handler: Any) -> CoreSchema:
        return core_schema.is_instance_schema(source)


def make_once(named: Any, make: Any, build: Callable[[], Any]) -> Any:
    """Return ``build()``, or what it returned before for the same function and options.

    One scene is validated, planned and drawn with the same formula object, so that programs
    compiled for the formula are found by its identity. `named`, a table with ``make()``, has the
    options.
    """
    key = make, repr(sorted((named.model_extra or {}).items()))
    found = _MADE.get(key)
    if found is None:
        found = with_recipe(build(), type(named).make, named)
        while len(_MADE) >= MAX_MADE:
            _MADE.pop(next(iter(_MADE)), None)  # the oldest
        _MADE[key] = found
    return found


def explained(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Return one line for each invalid value of the table `model`, with its path."""
    wrong = [item for item in error.errors() if item["type"] != "is_instance_of"]
    return list(dict.fromkeys(_line(item, model) for item in wrong))


def _line(error: Mapping[str, Any], model: type[BaseModel]) -> str:
    path = [str(part) for part in error["loc"] if "[" not in str(part) and part not in TAGS]
    if error["type"] == "extra_forbidden":
        return _unknown_key(path or [str(error["loc"][-1])], model)
    kind, given, facts = error["type"], error.get("input"), error.get("ctx", {})
    if kind == "missing" and path and path[-1].isdecimal():
        place = int(path.pop()) + 1
        message = f"value {place} is missing"
    elif kind == "literal_error":
        message = f"'{shown(given, 40)}' is not {facts['expected']}{_words(path, given, facts)}"
    elif kind in WRONG:
        message = f"'{shown(given, 40)}' is not {WRONG[kind].format(**facts)}"
    elif kind in ("too_long", "string_too_long"):
        what = "values" if kind == "too_long" else "characters"
        message = f"more than {facts['max_length']} {what}"
    else:
        message = shown(str(error["msg"]).removeprefix("Value error, "), 1000)
    where = f"{shown('.'.join(path))}: " if path else ""
    return f"{where}{message}"


def _words(path: list[str], given: Any, facts: Mapping[str, Any]) -> str:
    """Return the hint at a word that a key takes, or at another key."""
    words = re.findall(r"'([^']*)'", facts["expected"])
    hint = catalog.did_you_mean(given, words) if isinstance(given, str) else ""
    more = meant.WORDS.get(path[-1], "") if path else ""
    return hint or (f"; {more}" if more else "")


def _unknown_key(path: list[str], model: type[BaseModel]) -> str:
    inner = model
    for part in path[:-1]:
        inner = _inner(inner, part) or inner
    key = meant.KEYS.get(path[-1], "")
    known = key in inner.model_fields
    hint = f"; did you mean '{key}'?" if known else ""
    hint = hint or catalog.did_you_mean(path[-1], inner.model_fields)
    tables = {name: _inner(model, name) for name in model.model_fields}
    elsewhere = [name for name, found in tables.items() if found and path[-1] in found.model_fields]
    if path[0] == "image" and path[-1] in ("width", "height"):
        hint = "; pixels are size = [width, height]"
    elif elsewhere and not known:
        hint = f"; '{shown(path[-1])}' belongs in the table [{elsewhere[0]}]"
        if len(path) == 1:
            hint += f"; in Python scene.replace({path[0]}=...) takes it"
    return f"{shown('.'.join(path))}: unknown key{hint}"


def _inner(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    """Return the table that a key holds, or holds several of."""
    field = model.model_fields.get(name)
    if field is None:
        return None
    parts: list[Any] = [field.annotation]
    for part in parts:  # of unions and lists, however deep
        parts += typing.get_args(part)
    return next((p for p in parts if isinstance(p, type) and issubclass(p, BaseModel)), None)
