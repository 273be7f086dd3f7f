"""Table: a frozen group of a scene's values, whose errors name the key and what it takes."""

import inspect
import typing
from collections.abc import Callable, Container, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from fractals import catalog, meant
from fractals.errors import OptionError, SceneError, shown
from fractals.kernels.formula import with_recipe
from fractals.scene.checks import REQUIRED, Fault, Faults, TableEntry, entry, faults_of, wrong
from fractals.scene.written import Written

PLAIN = (str, float, int, bool, type(None))  # types of values that are plain already
MAX_MADE = 256  # objects kept; the oldest is made again if it is needed again
_MADE: dict[tuple[Any, str], Any] = {}


class _Signature:
    """Makes the signature of a table's class when it is asked for: its keys and their defaults."""

    def __get__(self, _table: Any, kind: "type[Table]") -> inspect.Signature:
        keyword, found = inspect.Parameter.KEYWORD_ONLY, []
        for name, each in kind.model_fields.items():
            default = each.default
            if isinstance(default, Table):
                default = Written(f"{type(default).__name__}()")
            found.append(inspect.Parameter(name, keyword, default=default))
        return inspect.Signature(found)


class Table:
    """Values of a scene by key, checked and frozen; a class annotates its keys as a dataclass does.

    Unknown keys are errors, but of a class that `is_open`: `model_extra` has them. The methods are
    those of a model of pydantic, which is not imported: it takes a quarter of a start.
    """

    __slots__ = ("model_extra", "model_fields_set")
    model_extra: dict[str, Any] | None
    model_fields_set: frozenset[str]  # the keys that were given

    model_fields: ClassVar[dict[str, TableEntry]] = {}
    is_open: ClassVar[bool] = False
    is_strict: ClassVar[bool] = False  # values have the types of their keys, and are no text for it
    __signature__ = _Signature()

    def __init_subclass__(cls) -> None:
        cls.model_fields = {}
        for base in reversed(cls.__mro__[1:]):
            cls.model_fields |= vars(base).get("model_fields", {})
        for name, hint in inspect.get_annotations(cls).items():
            own = vars(cls).get(name, REQUIRED)
            if name in vars(cls):
                delattr(cls, name)
            each = own if isinstance(own, TableEntry) else entry(own)
            each.belong(name, hint, cls.is_strict)
            cls.model_fields[name] = each

    def __init__(self, *values: Any, **keys: Any) -> None:
        if values:
            given, name = repr(values[0])[:60], type(self).__name__
            loading = f"; fractals.load_scene({given}) loads a scene by name or from a file"
            raise OptionError(
                f"{name}({given}): give values by key, as in {name}(key=value)"
                + (loading if isinstance(values[0], str | Path) else "")
            )
        try:
            self._fill(keys)
        except ValueError as error:
            lines = explained(error, type(self))
            raise SceneError("\n".join(lines), **about_of(error)) from None

    def _fill(self, given: Mapping[str, Any]) -> None:
        """Set the values; raise a `ValueError`, mostly `Faults`, for invalid ones."""
        own = vars(self)
        faults: list[Fault] = []
        for name, each in self.model_fields.items():
            value = given.get(name, each.default)
            if value is REQUIRED:
                faults.append(Fault((name,), "a value is missing"))
            elif value is not each.default:  # which is valid
                try:
                    value = each.check(value)
                except ValueError as error:
                    faults += faults_of(error, name)
            elif isinstance(value, list | dict):
                value = value.copy()
            own[name] = value
        more = {name: value for name, value in given.items() if name not in self.model_fields}
        unknown = [name for name in more if not (self.is_open and isinstance(name, str))]
        faults += [Fault((str(name),), None) for name in unknown]
        if faults:
            raise Faults(faults)
        _keep(self, more, given)
        self.check()

    @classmethod
    def checked(cls, given: Any) -> Self:
        """Return the table of given values; raise a `ValueError` for invalid ones."""
        if isinstance(given, cls):
            return given
        if not isinstance(given, Mapping):
            raise wrong(given, "a table")
        made = cls.__new__(cls)
        made._fill(given)
        return made

    @classmethod
    def model_validate(cls, given: Any) -> Self:
        """Return the table of given values, or raise a `SceneError` with a line for each fault."""
        try:
            return cls.checked(given)
        except ValueError as error:
            raise SceneError("\n".join(explained(error, cls)), **about_of(error)) from None

    def check(self) -> None:
        """Raise a `ValueError` for values that don't go together."""

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """Return a copy with other values, which must be valid: they are not checked."""
        update, extra = update or {}, self.model_extra
        own = {name: value for name, value in update.items() if name in self.model_fields}
        if extra is not None:
            extra = extra | {name: value for name, value in update.items() if name not in own}
        given = self.model_fields_set | update.keys()
        return _remade(type(self), vars(self) | own, extra, given)

    def model_dump(
        self,
        *,
        mode: str = "python",
        exclude: Container[str] = (),
        exclude_none: bool = False,
        exclude_defaults: bool = False,
        exclude_rare: bool = False,
    ) -> dict[str, Any]:
        """Return plain values by key; of the mode "json" with lists for tuples.

        `exclude_rare`: without rare keys that have their defaults.
        """
        options = {"mode": mode, "exclude_none": exclude_none}
        options |= {"exclude_defaults": exclude_defaults, "exclude_rare": exclude_rare}
        dumped = {}
        for name, value in {**vars(self), **(self.model_extra or {})}.items():
            own = self.model_fields.get(name)
            if own and (exclude_defaults or (exclude_rare and own.rare)) and value == own.default:
                continue
            if name in exclude or (exclude_none and value is None):
                continue
            if type(value) not in PLAIN:
                write = own.write if own else None
                value = _dumped(write(value) if write else value, options)
            dumped[name] = value
        return dumped

    if not TYPE_CHECKING:  # checkers know which attributes there are

        def __getattr__(self, name: str) -> Any:
            extra = None if name.startswith(("_", "model_")) else self.model_extra
            if extra and name in extra:
                return extra[name]
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse: a scene is a value."""
        raise AttributeError(f"scenes never change: scene.replace({name}=...) returns another")

    def __delattr__(self, name: str) -> None:
        """Refuse: a scene is a value."""
        raise AttributeError(f"scenes never change: {name} can't be deleted")

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and vars(self) == vars(other)
            and self.model_extra == other.model_extra
        )

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        values = {**vars(self), **(self.model_extra or {})}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in values.items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), vars(self), self.model_extra, self.model_fields_set)


T = TypeVar("T", bound=Table)


def _remade(
    kind: type[T], values: Mapping[str, Any], extra: dict[str, Any] | None, given: Iterable[str]
) -> T:
    """Return a table of valid values."""
    made = kind.__new__(kind)
    vars(made).update(values)
    _keep(made, extra, given)
    return made


def _keep(table: Table, extra: dict[str, Any] | None, given: Iterable[str]) -> None:
    """Set what a table knows beside its values."""
    object.__setattr__(table, "model_extra", extra if table.is_open else None)
    object.__setattr__(table, "model_fields_set", frozenset(given))


def plain_values(value: Any) -> Any:
    """Return a value of a table as JSON has it."""
    return _dumped(value, {"mode": "json"})


def _dumped(value: Any, options: dict[str, Any]) -> Any:
    if isinstance(value, Table):
        return value.model_dump(**options)
    if isinstance(value, Mapping):
        return {name: _dumped(each, options) for name, each in value.items()}
    if isinstance(value, list | tuple):
        make: Any = list if options["mode"] == "json" else type(value)
        return make(_dumped(each, options) for each in value)
    if isinstance(value, float) and options["mode"] == "json":
        return float(value)  # without the text that it was read from
    return value


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


def explained(error: ValueError, table: type[Table]) -> list[str]:
    """Return one line for each invalid value of a table, with its path."""
    lines = []
    for place, line, _ in faults_of(error):
        where = shown(".".join(place))
        said = _unknown_key(list(place), table) if line is None else line
        lines.append(f"{where}: {said}" if place else said)
    return list(dict.fromkeys(lines))


def about_of(error: ValueError) -> dict[str, Any]:
    """Return what the first of these lines means, and the key that it is about."""
    place, _, about = faults_of(error)[0]
    return {**about, "key": shown(".".join(place))} if place else {**about}


def _unknown_key(path: list[str], model: type[Table]) -> str:
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
        if len(path) == 1 and not model.is_strict:
            hint += "; in Python scene.replace() takes it"
    return f"unknown key{hint}"


def _inner(model: type[Table], name: str) -> type[Table] | None:
    """Return the table that a key holds, or holds several of."""
    field = model.model_fields.get(name)
    if field is None:
        return None
    parts: list[Any] = [field.annotation]
    for part in parts:  # of unions and lists, however deep
        parts += typing.get_args(part)
    return next((p for p in parts if isinstance(p, type) and issubclass(p, Table)), None)
