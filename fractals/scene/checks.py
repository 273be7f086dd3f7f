"""Checks: functions that return a value as a table keeps it, made of the annotations of its keys.

A check raises a `ValueError` that says what is wrong with a value, or `Faults`, which say it of the
value's parts. Checks are made when a key is first given, so a start makes those of few keys.
"""

import contextlib
import inspect
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from fractals import meant
from fractals.catalog import did_you_mean
from fractals.errors import OptionError, counted, shown
from fractals.scene.numbers import plain

Check = Callable[[Any], Any]
Place = tuple[str, ...]  # of a value in a table: keys, and numbers in lists
REQUIRED: Any = inspect.Parameter.empty  # the default of a key that has none
# What a number is compared with, how that is said, and what it is called for programs.
BOUNDS: dict[str, tuple[Callable[[Any, Any], bool], str, str]] = {
    "le": (operator.le, "{:g} or less", "takes_at_most"),
    "lt": (operator.lt, "less than {:g}", "takes_less_than"),
    "ge": (operator.ge, "{:g} or more", "takes_at_least"),
    "gt": (operator.gt, "more than {:g}", "takes_more_than"),
}
SWITCHES: dict[Any, bool] = {
    **dict.fromkeys((0, "0", "false", "f", "no", "n", "off"), False),
    **dict.fromkeys((1, "1", "true", "t", "yes", "y", "on"), True),
}


class Before(NamedTuple):
    """In an annotation: what is done to a value before its type is checked."""

    change: Check


class After(NamedTuple):
    """In an annotation: what is done to a value of the right type."""

    change: Check


class Either(NamedTuple):
    """In an annotation of two types: tells whether a value is of the second one."""

    is_second: Callable[[Any], bool]


class Dumped(NamedTuple):
    """In an annotation: returns what stands for a value in plain tables."""

    write: Check


class JsonSchema:
    """In an annotation: the schema of a value that has more forms than its type."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema


class CommandHelp(str):
    """In an annotation: the meaning of a key on the command line, if values are typed otherwise."""


class Fault(NamedTuple):
    """What is wrong at a place of a value; `line` None: an unknown key; `about`: as of an error."""

    place: Place
    line: str | None
    about: Mapping[str, Any] = {}


class Faults(ValueError):
    """What is wrong with parts of a value."""

    def __init__(self, found: list[Fault]) -> None:
        super().__init__(found)
        self.found = found


class NoWord(ValueError):
    """A value is none of the words that a key takes."""


def faults_of(error: ValueError, *place: str) -> list[Fault]:
    """Return what is wrong with a value that is at a place of another one."""
    if isinstance(error, Faults):
        return [each._replace(place=(*place, *each.place)) for each in error.found]
    more = meant.WORDS.get(place[-1], "") if place and isinstance(error, NoWord) else ""
    line = shown(error, 1000) + f"; {more}" * bool(more)
    return [Fault(place, line, error.about if isinstance(error, OptionError) else {})]


def wrong(given: Any, expected: str) -> ValueError:
    """Return the error of a value of another type than is expected, or beyond a limit."""
    return ValueError(f"'{shown(given, 40)}' is not {expected}")


class TableEntry:
    """A key of a table: its default, meaning and limits; its annotation says all else."""

    def __init__(
        self, default: Any, description: str, rare: bool, limits: Mapping[str, Any]
    ) -> None:
        self.default, self.description, self.limits = default, description, limits
        self.rare = rare

    def belong(self, name: str, hint: Any, strict: bool) -> None:
        """Take the name of the key, its annotation, and whether text is no number."""
        self.name, self.hint, self.strict = name, hint, strict
        inner = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        self.annotation, self.metadata = inner[0], inner[1:]
        writers = [mark.write for mark in self.metadata if isinstance(mark, Dumped)]
        self.write = writers[0] if writers else None

    @cached_property
    def check(self) -> Check:
        """Returns a value as the table keeps it."""
        return check_of(self.hint, self.limits, self.strict)


def entry(default: Any = REQUIRED, description: str = "", rare: bool = False, **limits: Any) -> Any:
    """Return a key of a table, or in an annotation the limits of a part of its values.

    A `rare` key is not written where it has its default, because few scenes ask for another value.
    Numbers have the limits `ge`, `gt`, `le` and `lt`; texts, lists and tables `max_length`, lists
    `min_length` too, and texts a `pattern`.
    """
    return TableEntry(default, description, rare, limits)


def check_of(hint: Any, limits: Mapping[str, Any], strict: bool) -> Check:
    """Return the check of values of a type; a strict one takes no text for a number."""
    base, inner = get_origin(hint), get_args(hint)
    if base is Annotated:
        return _annotated(inner[0], inner[1:], limits, strict)
    if base in (Union, UnionType):
        return _any_of(inner, limits, strict)
    if base is Literal:
        return _word(inner)
    if base is dict:
        named, part = (check_of(each, {}, strict) for each in inner)
        return _mapping(named, part, **limits)
    if base in (tuple, list):
        checks = [check_of(each, {}, strict) for each in inner if each is not ...]
        many = base is list or inner[-1] is ...
        return _list(base, checks[0], **limits) if many else _fixed(checks)
    if hint is Any:
        return lambda given: given
    if hint is str:
        return _text(**limits)
    if hint in NUMBERS:
        return _bounded(_strict(hint) if strict else NUMBERS[hint][0], limits)
    checked: Check = hint.checked  # of another table
    return checked


def _annotated(hint: Any, marks: tuple[Any, ...], limits: Mapping[str, Any], strict: bool) -> Check:
    for mark in marks:
        if isinstance(mark, TableEntry):
            limits = {**mark.limits, **limits}
    choice = next((mark for mark in marks if isinstance(mark, Either)), None)
    check = _chosen(choice, hint, limits, strict) if choice else check_of(hint, limits, strict)
    for mark in marks:
        if isinstance(mark, Before):
            check = _both(mark.change, check)
        elif isinstance(mark, After):
            check = _both(check, mark.change)
    return check


def _both(first: Check, second: Check) -> Check:
    return lambda given: second(first(given))


def _chosen(choice: Either, hint: Any, limits: Mapping[str, Any], strict: bool) -> Check:
    checks = [check_of(each, limits, strict) for each in get_args(hint)]
    return lambda given: checks[choice.is_second(given)](given)


def _any_of(hints: tuple[Any, ...], limits: Mapping[str, Any], strict: bool) -> Check:
    """Return the check of values of one of several types; a class that is no table is as it is."""
    kinds = tuple(
        hint
        for hint in hints
        if isinstance(hint, type)
        and not (hint is str or hint in NUMBERS or hasattr(hint, "checked"))
    )
    checks = [check_of(hint, limits, strict) for hint in hints if hint not in kinds]

    def check(given: Any) -> Any:
        if isinstance(given, kinds):
            return given
        faults: list[Fault] = []
        for each in checks:
            try:
                return each(given)
            except ValueError as error:
                if len(checks) == 1:
                    raise
                faults += faults_of(error)
        raise Faults(faults)

    return check


def _word(words: tuple[Any, ...]) -> Check:
    known = {word: word for word in words}

    def check(given: Any) -> Any:
        try:
            return known[given]
        except (KeyError, TypeError):  # a list has no hash
            *most, last = map(repr, words)
            listed = f"{', '.join(most)} or {last}" if most else last
            error = wrong(given, listed)
        texts = [word for word in words if isinstance(word, str)]
        hint = did_you_mean(given, texts) if isinstance(given, str) else ""
        raise ValueError(f"{error}{hint}") if hint else NoWord(str(error))

    return check


def _parts(parts: Iterable[tuple[Any, Any, Check]], faults: Iterable[Fault] = ()) -> list[Any]:
    """Return the parts of a value, each checked: its place, itself, and its check are given."""
    made, found = [], list[Fault]()
    for place, part, check in parts:
        try:
            made.append(check(part))
        except ValueError as error:
            found += faults_of(error, str(place))
    if found := [*found, *faults]:
        raise Faults(found)
    return made


def _values(given: Any) -> list[Any]:
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | bytearray | Mapping):
        with contextlib.suppress(TypeError):  # an array of one number
            return list(given)
    raise wrong(given, "a list of values such as [1920, 1080]")


def _check_length(values: Any, least: int, most: float) -> None:
    if len(values) > most:
        raise ValueError(f"more than {counted(most, 'value')}")
    if len(values) < least:
        raise ValueError(f"fewer than {counted(least, 'value')}")


def _list(make: Check, part: Check, max_length: float = math.inf, min_length: int = 0) -> Check:
    """Return the check of lists whose values have one type."""

    def check(given: Any) -> Any:
        values = _values(given)
        _check_length(values, min_length, max_length)
        return make(_parts((k, value, part) for k, value in enumerate(values)))

    return check


def _fixed(checks: list[Check]) -> Check:
    """Return the check of lists that have a type for each place."""

    def check(given: Any) -> Any:
        values = _values(given)
        _check_length(values, 0, len(checks))
        missing = range(len(values) + 1, len(checks) + 1)
        faults = [Fault((), f"value {number} is missing") for number in missing]
        return tuple(_parts(zip(range(len(values)), values, checks, strict=False), faults))

    return check


def _mapping(named: Check, part: Check, max_length: float = math.inf) -> Check:
    def check(given: Any) -> Any:
        if not isinstance(given, Mapping):
            raise wrong(given, "a table")
        _check_length(given, 0, max_length)
        names = ((name, name, named) for name in given)
        found = _parts([*names, *((*each, part) for each in given.items())])
        return dict(zip(found[: len(given)], found[len(given) :], strict=True))

    return check


def _text(max_length: float = math.inf, pattern: str = "") -> Check:
    def check(given: Any) -> Any:
        if not isinstance(given, str):
            raise wrong(given, "a text")
        if len(given) > max_length:
            raise ValueError(f"more than {max_length} characters")
        try:
            text = given.encode().decode()  # a plain text, if its class is another
        except UnicodeEncodeError:
            raise ValueError(f"'{shown(given, 40)}' is no Unicode text") from None
        if pattern and not re.fullmatch(pattern, text):
            raise wrong(given, f"a text such as {pattern}")
        return text

    return check


def _bounded(convert: Check, limits: Mapping[str, float]) -> Check:
    """Return the check of numbers with limits."""
    bounds = [(*BOUNDS[name], limit) for name, limit in limits.items()]

    def check(given: Any) -> Any:
        value = convert(given)
        for holds, said, code, limit in bounds:
            if not holds(value, limit):
                raise OptionError(str(wrong(given, said.format(limit))), code=code, limit=limit)
        return value

    return check


def _strict(kind: type) -> Check:
    """Return the check of numbers without text: a whole number may stand for a float alone."""
    convert, expected = NUMBERS[kind]

    def check(given: Any) -> Any:
        if type(given) not in ((int, float) if kind is float else (kind,)):
            raise wrong(given, expected)
        return convert(given)

    return check


def _switch(given: Any) -> bool:
    try:
        return SWITCHES[given.lower() if isinstance(given, str) else float(given)]
    except (KeyError, TypeError, ValueError, OverflowError):
        raise wrong(given, "true or false") from None


def _float(given: Any) -> float:
    try:
        value = float(given) if not isinstance(given, str) or given.isascii() else None
    except OverflowError:
        value = math.inf
    except (TypeError, ValueError):
        value = None
    if value is None or not math.isfinite(value):
        raise wrong(given, "a number" if value is None else "a finite number")
    return value


def _int(given: Any) -> int:
    number = plain(given)
    if isinstance(given, str) and given.isascii():
        text = re.sub(r"\.0+\s*$", "", given)
        try:
            return int(text)
        except ValueError:
            if re.fullmatch(r"[+-]?[0-9]+", text.strip()):  # Python reads no more
                raise wrong(given, "a whole number of less than 4300 digits") from None
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if not isinstance(number, int):
        raise wrong(given, "a whole number")
    return int(number)  # a switch is 0 or 1


NUMBERS: dict[Any, tuple[Check, str]] = {
    bool: (_switch, "true or false"),
    int: (_int, "a whole number"),
    float: (_float, "a number"),
}
