"""The options of public functions and of verbs: each is written once, with its meaning.

A field's type, default and meaning become the keyword of a function (scripts/keywords.py writes the
TypedDicts), its entry in the docstring (`with_keywords`), and the help of the command line
(`fractals.cli.command.option`), which waits for all that is imported here.
"""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Self,
    TypeVar,
    dataclass_transform,
    get_args,
    get_origin,
)

from fractals import catalog
from fractals.catalog import did_you_mean
from fractals.errors import OptionError, shown, typed, warn
from fractals.meant import KEYWORDS, SYNONYMS
from fractals.scene.numbers import check_floats, plain, whole
from fractals.scene.written import Written

if TYPE_CHECKING:
    from fractals.io.load import Source
    from fractals.rendering.preview import Onlooker
    from fractals.scene.model import Scene

MAX_THREADS = 1024  # each has a stack and arrays of its own
CHOSEN = {"coloring", "palette"}  # keywords to which density and offset are fitted


AS_THE_SCENE = Written("...")  # the default of a key of the scene, in signatures

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
WIDTH = 92  # characters of a line of a docstring's entry


class OptionField:
    """A field of a class of options."""

    type: Any  # as the class annotates it
    kinds: tuple[Any, ...]  # of its values
    is_number: bool

    def __init__(
        self, default: Any, meaning: str, more: str, command: str, limits: tuple[int, int] | None
    ) -> None:
        self.default, self.limits = default, limits
        self.meaning, self.command = f"{meaning} {more}".rstrip(), command or meaning


def option(
    default: T,
    meaning: str,
    more: str = "",
    command: str = "",
    limits: tuple[int, int] | None = None,
) -> T:
    """Return the field of an option; `limits` are the least and the greatest of whole numbers.

    The meaning of a switch is that of the value which is not its default. Docstrings continue with
    `more`; `command` is the meaning on the command line, where values are typed in other ways.
    """
    return OptionField(default, meaning, more, command, limits)  # type: ignore[return-value]


def _as_number(name: str, field: OptionField, value: Any) -> Any:
    """Return a number or a switch as Python's; raises an `OptionError` for what is none."""
    takes_whole = int in field.kinds
    if value is None and NoneType in field.kinds:
        return None
    number = whole(value) if takes_whole else plain(value)
    if field.kinds == (bool,):
        if not isinstance(number, bool):
            raise OptionError(f"{name}={typed(value)}: give True or False")
        return number
    if isinstance(number, bool) or not isinstance(number, int | float):
        if field.limits:
            return value  # its check names the limits
        kind = "a whole number" if takes_whole else "a number"
        default = ", or None" if NoneType in field.kinds else ""
        raise OptionError(f"{name}={typed(value)}: give {kind}{default}")
    if not takes_whole:
        try:
            check_floats(number, name)
        except ValueError as error:
            raise OptionError(str(error)) from None
    return number


def check_function(name: str, given: Any) -> None:
    """Raise an `OptionError` for a value that is neither a function nor None."""
    if not (given is None or callable(given)):
        raise OptionError(f"{name}={typed(given)}: give a function, or None")


OPTIONS: dict[str, OptionField] = {}  # those of all classes, by name


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Options:
    """Options by name, which keep their values: a dataclass that is made in a tenth of the time."""

    fields: ClassVar[dict[str, OptionField]] = {}

    def __init_subclass__(cls) -> None:
        own = {name: value for name, value in vars(cls).items() if isinstance(value, OptionField)}
        for name, field in own.items():
            field.type = cls.__annotations__[name]
            field.kinds = get_args(field.type) or (field.type,)
            field.is_number = str not in field.kinds and (
                int in field.kinds or float in field.kinds or field.kinds == (bool,)
            )
            setattr(cls, name, field.default)
        cls.fields = cls.fields | own
        OPTIONS.update(own)

    def __init__(self, **given: Any) -> None:
        if unknown := given.keys() - self.fields.keys():
            raise TypeError(f"{type(self).__name__} has no {' and no '.join(unknown)}")
        values = {name: each.default for name, each in self.fields.items()} | given
        for name, value in given.items():
            field = self.fields[name]
            if field.is_number and type(value) not in field.kinds:
                values[name] = _as_number(name, field, value)
        vars(self).update(values)
        self.check()

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name} can't be set: use replace")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"

    def check(self) -> None:
        """Raise an `OptionError` for a bad value."""

    def replace(self, **changes: Any) -> Self:
        """Return the options with other values of some."""
        return type(self)(**vars(self) | changes)

    __replace__ = replace  # of `copy.replace`, from Python 3.13 on


class Bar:
    """Draws a bar on stderr, over the one before: in terminals and in notebooks."""

    LENGTH = 40  # characters

    def __init__(self) -> None:
        self._last = (-1, -1)

    def __call__(self, done: int, total: int) -> None:
        """Show how many tiles are done."""
        if self._last == (done, total):
            return
        self._last = done, total
        filled = self.LENGTH * done // max(total, 1)
        bar = "█" * filled + "░" * (self.LENGTH - filled)
        sys.stderr.write(f"\r{bar} {done}/{total}" + "\n" * (done >= total))
        sys.stderr.flush()


class SourceOptions(Options):
    """Where files are found that the sources of a scene name."""

    formulas: tuple[str, ...] = option(
        (),
        "Folders with formulas, maps, palettes and pictures that files name.",
        command="Folder with formulas, maps, palettes and pictures that files name; can be "
        "repeated.",
    )
    lossy: bool = option(False, "Draw a flame without its unsupported variations.")


class DeviceOptions(SourceOptions):
    """What draws, and what is reported."""

    device: str = option(
        "auto",
        "auto, cpu, gpu, cuda, cuda:N, cuda:all, opencl, opencl:N, opencl:all, simulator or python "
        "(default: auto).",
    )
    threads: int | None = option(None, "Maximum CPU threads (default: all cores).")
    on_message: Callable[[str], None] = option(
        warn,
        "Called with one line of text, such as why another device draws, or the address of the "
        "explorer; by default each is a `FractalsWarning`.",
    )

    def check(self) -> None:
        """Raise an `OptionError` for a bad value."""
        if not isinstance(self.device, str):
            raise OptionError(f"device={typed(self.device)}: give a text such as 'auto' or 'cpu'")
        if self.threads is not None and not 1 <= self.threads <= MAX_THREADS:
            raise OptionError(f"{shown(self.threads, 40)} threads: give 1 to {MAX_THREADS}")
        if not callable(self.on_message):
            raise OptionError(f"on_message={typed(self.on_message)}: give a function")


class RenderOptions(DeviceOptions):
    """How a scene is drawn. No option changes a picture."""

    interior_shortcuts: bool = option(
        True,
        "Iterate every sample inside the set to the maximum (for benchmarks).",
        "No count changes.",
    )
    cache: bool = option(
        True, "Neither read nor write cached reference orbits.", "Deep views need them."
    )
    force: bool = option(False, "Allow work that is estimated at over an hour.")
    progress: Callable[[int, int], None] | bool | None = option(
        None,
        "True: a bar on stderr. A function is called as ``progress(tiles_done, tiles)`` in the "
        "calling thread, several times a second.",
    )

    def check(self) -> None:
        """Raise an `OptionError` for a bad value."""
        super().check()
        if not (isinstance(self.progress, bool | None) or callable(self.progress)):
            raise OptionError(f"progress={typed(self.progress)}: give True, a function, or None")

    @property
    def on_progress(self) -> Callable[[int, int], None] | None:
        """Return the function that is called with the tiles that are done, and all."""
        if isinstance(self.progress, bool):
            return Bar() if self.progress else None
        return self.progress

    def on_steps(self, tiles: int, _most: int) -> Callable[[int], None] | None:
        """Return what is called with the steps of a reference orbit, of which there are _most."""
        progress = self.on_progress
        return (lambda _steps: progress(0, tiles)) if progress else None

    @property
    def watch(self) -> "Onlooker | None":
        """Return what looks at the picture while it is drawn; None: nothing does."""
        return None


class PictureOptions(RenderOptions):
    """How a picture is drawn that may be looked at meanwhile."""

    preview: Any = option(
        None,
        "File of a small PNG, at most 480 pixels a side, which is replaced while a picture is "
        "drawn that takes over 2 s.",
        "Or a function that is called with such an `Image`, or False. By default the output of a "
        "notebook's cell shows it.",
        command="Write a small PNG, at most 480 pixels a side, and replace it while a picture is "
        "drawn that takes over 2 s.",
    )

    @property
    def watch(self) -> "Onlooker | None":
        """Return what looks at the picture: `fractals.rendering.preview.watching` put it there."""
        found: Onlooker | None = self.preview if hasattr(self.preview, "offer") else None
        return found


class ReplaceOptions(Options):
    """Whether a file may be replaced."""

    overwrite: bool = option(False, "Replace an existing file.")


class FileOptions(ReplaceOptions):
    """How a picture is written."""

    cluster: Any = option(
        None,
        "Let the workers of a Dask scheduler compute: tcp://HOST:PORT, tls://HOST:PORT, "
        "FILE.json, local:N (processes of this machine) or slurm:N (jobs).",
        "Or a `distributed.Client`, or any object whose `submit` is that of a "
        "`concurrent.futures.Executor`.",
    )


class PictureFileOptions(FileOptions):
    """How a picture is written that Ctrl-C may end."""

    keep: bool = option(
        False,
        "After Ctrl-C, write the picture of the samples so far: solids, reliefs, scatter images.",
        "The same call then goes on with them. A second Ctrl-C ends at once.",
        command="After Ctrl-C, write the picture of the samples so far: solids, reliefs, scatter "
        "images; the same command goes on. A second Ctrl-C ends at once.",
    )


class StoreOptions(FileOptions):
    """How a store of raw numbers is written."""

    overwrite: bool = option(False, "Replace what exists; start a store again from its first tile.")
    part: tuple[int, int] | None = option(
        None,
        "Compute part I of N of a store, counted from 0, beside the other parts, on any machines "
        "that share the folder; a call without a part then puts them together.",
        "That call also computes what is missing. A part is every N-th tile, from tile I on, or "
        "some of the points of a scatter image, or rows of a solid.",
    )


class SuggestOptions(DeviceOptions):
    """How interesting views are searched."""

    count: int = option(6, "Most views, 1 to 100 (default: 6).")
    centers: bool = option(True, "Center no view on what is in it, which takes seconds.")
    progress: Callable[[int, int], None] | None = option(
        None, "Called as ``progress(done, count)`` after each view."
    )

    def check(self) -> None:
        """Raise an `OptionError` for a bad value."""
        super().check()
        if not 1 <= self.count <= 100:
            raise OptionError(f"count {shown(self.count, 40)}: give 1 to 100")
        check_function("progress", self.progress)


def read_request(
    sources: "Sequence[Source]", keywords: Mapping[str, Any], allowed: type, *options: type[Options]
) -> "tuple[Scene, *tuple[Any, ...]]":
    """Return the scene and the options that a public function was called with.

    An `OptionError` or a `SceneError` says what is wrong with them; see `split_keywords`.
    """
    from fractals.io.load import load_scene
    from fractals.io.tables import tell_lost

    keys, *made = split_keywords(keywords, allowed, *options)
    lost: list[str] = []
    scene = load_scene(*sources, lost=lost, **reading(keywords), **keys)
    tell_lost(lost, keywords.get("on_message", warn))
    return scene, *made


def reading(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the keywords that say how sources are read."""
    return {key: keywords[key] for key in SourceOptions.fields if key in keywords}


def split_keywords(
    keywords: Mapping[str, Any], allowed: type, *options: type[Options]
) -> "tuple[dict[str, Any], *tuple[Any, ...]]":
    """Return the keys of the scene among keywords, and an object of each class of options.

    A keyword that the TypedDict `allowed` lacks is an `OptionError`; a `precision` of None keeps
    that of the scene.
    """
    for name in keywords:
        if name not in allowed.__annotations__:
            raise _unknown_keyword(name, keywords, allowed.__annotations__)
    keys, made = dict(keywords), []
    for each in options:
        names = each.fields.keys() & keys.keys()
        made.append(each(**{name: keys.pop(name) for name in names}))
    if keys.get("precision", "") is None:
        del keys["precision"]
    return keys, *made


def _unknown_keyword(
    name: str, keywords: Mapping[str, Any], known: Mapping[str, Any]
) -> OptionError:
    """Return the error of a keyword that is not among the known ones, with what may be meant."""
    hint = _as_table(name, keywords, given=True)
    hint = hint or (f"; give {KEYWORDS[name]}" if name in KEYWORDS else "")
    if SYNONYMS.get(name) in known:
        hint = hint or f"; did you mean '{SYNONYMS[name]}'?"
    hint = hint or _as_table(name, keywords, given=False) or did_you_mean(name, known)
    return OptionError(f"unknown keyword '{name}'{hint}")


def _as_table(name: str, keywords: Mapping[str, Any], given: bool) -> str:
    """Return the hint at the table that an option of a formula or a coloring belongs in, or "".

    `given`: of one that the keywords name; otherwise of any formula, where they name none.
    """
    texts = [text for key in ("formula", "coloring") if isinstance(text := keywords.get(key), str)]
    for chosen in texts if given else [""] * (not texts):
        kind, own = catalog.owner(name, chosen) or ("", "")
        if kind and (own == chosen or not given):
            value = shown(repr(keywords[name]), 20)
            return f"; give {kind}={{'name': '{own}', '{name}': {value}}}"
    return ""


class ShortSignature(inspect.Signature):
    """A signature with all keywords, of which `help` shows how they are called.

    Their list would be longer than the help of a function. Completion and `inspect.signature` have
    each keyword.
    """

    __slots__ = ()

    def __str__(self) -> str:
        several = [p for p in self.parameters.values() if p.kind is not p.KEYWORD_ONLY]
        names = [str(each.replace(annotation=each.empty)) for each in several]
        return f"({', '.join([*names, '**keywords'])})"

    def format(self, **_how: Any) -> str:
        """Return the same text, for `help` of Python 3.13 and newer."""
        return str(self)


def with_keywords(allowed: type, *options: type[Options]) -> Callable[[F], F]:
    """Return a decorator that shows the keywords of a TypedDict in a signature and in `help`.

    Both would show ``**keywords`` alone. The classes of options have the defaults; the options of
    the first are listed in the docstring, before a parameter ``**keywords`` that stands by itself.
    """

    def decorate(function: F) -> F:
        shown = inspect.signature(function)
        named = [p for p in shown.parameters.values() if p.kind is not p.VAR_KEYWORD]
        more = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=next(
                    (
                        Written(default.__name__) if callable(default) else default
                        for default in (e.fields[name].default for e in options if name in e.fields)
                    ),
                    AS_THE_SCENE,
                ),
            )
            for name in allowed.__annotations__  # their types would fill a screen
        ]
        more.sort(key=lambda parameter: parameter.default is AS_THE_SCENE)  # the options first
        whole = ShortSignature([*named, *more], return_annotation=shown.return_annotation)
        function.__signature__ = whole  # type: ignore[attr-defined]
        if options and function.__doc__:
            function.__doc__ = _documented(function.__doc__, options[0])
        return function

    return decorate


def _documented(text: str, options: type[Options]) -> str:
    """Return a docstring with the entries of options before that of ``**keywords``."""
    before, mark, after = text.partition("**keywords\n")
    indent = before.rpartition("\n")[2]
    if not mark or indent.strip():
        return text
    return before + f"\n{indent}".join([*_entries(options), mark]) + after


def _entries(options: type[Options]) -> list[str]:
    """Return the lines of a class of options, as numpydoc writes parameters."""
    lines = []
    for name, each in options.fields.items():
        lines.append(f"{name} : {_kind(each.type)}")
        meaning = each.meaning
        if isinstance(each.default, bool):
            meaning = f"{not each.default}: {meaning[0].lower()}{meaning[1:]}"
        line = "   "
        for word in meaning.split():
            if len(line) + len(word) >= WIDTH:
                lines.append(line)
                line = "   "
            line += f" {word}"
        lines.append(line)
    return lines


def _kind(hint: Any) -> str:
    """Return a type in words.

    >>> _kind(tuple[int, int] | None)
    '(int, int), optional'
    """
    inner, origin = get_args(hint), get_origin(hint)
    if origin is Callable:
        return "callable"
    if type(None) in inner:
        return f"{' or '.join(_kind(each) for each in inner if each is not type(None))}, optional"
    if origin is tuple:
        several = inner[-1] is ...
        return f"tuple of {_kind(inner[0])}" if several else f"({', '.join(map(_kind, inner))})"
    return "object" if hint is Any else hint.__name__
