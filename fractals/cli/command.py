"""How a verb and its options are declared, and how their help is laid out."""

import contextlib
import difflib
import functools
import importlib
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from fractals.cli.keys import KEYS
from fractals.cli.messages import Verbosity, choices, write_out
from fractals.errors import OptionError, SceneError, shown
from fractals.scene.numbers import MAX_SIDE, NAMED_SIZES, plain_minus, point_text

# Values of options: text as it is typed -> numbers, pairs and tables, or an `OptionError`.


INCHES = {"cm": 1 / 2.54, "mm": 1 / 25.4, "in": 1.0}
PHYSICAL = re.compile(r"([\d.]+)x([\d.]+)([a-z]+)(?:@([\d.]+)([a-z]+))?", re.ASCII)
UNIT_TWICE = re.compile(r"([\d.]+)([a-z]+)x([\d.]+)\2(?![a-z])", re.ASCII)  # 44inx33in
PAPERS = {  # short and long side in mm: ISO 216, and the sizes of North America
    **{"a0": (841, 1189), "a1": (594, 841), "a2": (420, 594), "a3": (297, 420), "a4": (210, 297)},
    **{"a5": (148, 210), "a6": (105, 148)},
    **{"letter": (215.9, 279.4), "legal": (215.9, 355.6), "tabloid": (279.4, 431.8)},
}
PAPER = re.compile(rf"({'|'.join(PAPERS)})(@[\w.]+)?", re.ASCII)
PRINT_DPI = 300.0  # pixels per inch of a paper size, where nothing else is said
RELATIVE = re.compile(r"(?:x(.+)|(.+)%)", re.ASCII)  # x10 or 50%


class Whole(click.ParamType):  # type: ignore[type-arg]
    """A whole number within bounds; ``1e6`` is one too."""

    name = "number"

    def __init__(self, least: int, most: int) -> None:
        self.least, self.most = least, most

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | None:
        """Return the number."""
        found = whole(str(value))
        if found is None or not self.least <= found <= self.most:
            self.fail(
                f"'{shown(value, 40)}' is not a whole number from {self.least} to {self.most}",
                param,
                ctx,
            )
        return found


def whole(text: str) -> int | None:
    """Return a whole number such as ``1000000`` or ``1e6``; None for any other text.

    Examples
    --------
    >>> whole("1e6"), whole("12"), whole("1.5"), whole("1,000")
    (1000000, 12, None, None)
    """
    try:
        text = plain_minus(text).strip()
        number = Decimal(text) if text.isascii() and "_" not in text else None
    except InvalidOperation:
        return None
    if number is None or not number.is_finite() or not -20 < number.adjusted() < 20:
        return 0 if number is not None and number.is_finite() and not number else None
    return int(number) if number == int(number) else None


def parse_point(text: str, key: str) -> tuple[str, str]:
    """Return the two parts of ``X,Y``, or of ``X+Yi``."""
    parts = point_text(text)
    if parts is None:
        raise OptionError(f"--{key}: '{shown(text, 40)}' is not two numbers X,Y such as -0.75,0.1")
    return parts


def parse_numbers(text: str, key: str) -> tuple[Decimal, Decimal]:
    """Return the two exact numbers of ``X,Y``."""
    return _two(map(exact, parse_point(text, key)), text, key, "320,180")


def parse_shares(text: str, key: str) -> tuple[Decimal, Decimal]:
    """Return the two exact numbers of ``X,Y``, which may have percent signs.

    Examples
    --------
    >>> parse_shares("10%,-0.5", "pan")
    (Decimal('0.1'), Decimal('-0.5'))
    """
    return _two(map(_share, parse_point(text, key)), text, key, "0.5,0 or 10%,0")


def _share(text: str) -> Decimal | None:
    if not text.endswith("%"):
        return exact(text)
    number = exact(text[:-1])
    return None if number is None else number / 100


def _two(
    numbers: Iterable[Decimal | None], text: str, key: str, example: str
) -> tuple[Decimal, Decimal]:
    x, y = numbers
    if x is None or y is None:
        raise OptionError(f"--{key}: '{shown(text, 40)}' is not two numbers X,Y such as {example}")
    return x, y


def parse_part(text: str) -> tuple[int, int]:
    """Return i and n of a part ``i/n``, counted from 0, or raise an `OptionError`.

    Examples
    --------
    >>> parse_part("3/100")
    (3, 100)
    """
    found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text, re.ASCII)
    i, n = (int(found[1]), int(found[2])) if found else (0, 0)
    if not i < n:
        last = f"{n - 1}/{n}" if n else "99/100"
        raise OptionError(f"--part '{shown(text, 40)}': give a part such as 0/100, up to {last}")
    return i, n


def exact(text: str) -> Decimal | None:
    """Return a finite decimal number, or None for any other text."""
    try:
        number = Decimal(plain_minus(text).strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < 1_000_000 else None


def relative(text: str) -> Decimal | None:
    """Return the factor of ``x10`` or ``50%``; None for an absolute number.

    Examples
    --------
    >>> relative("x10"), relative("50%"), relative("1e6"), relative("xyz")
    (Decimal('10'), Decimal('0.5'), None, None)
    """
    found = RELATIVE.fullmatch(text.strip().lower())
    if not found:
        return None
    number = exact(found[1] or found[2])
    if number is None or number <= 0:
        return None
    return number if found[1] else number / 100


def parse_formula(text: str) -> Any:
    """Return the table of ``multibrot,power=4``, or of an expression such as ``z**3 + c*sin(z)``.

    ``bridge.py,power=3`` is the formula itself, which the file's function ``make`` returns.

    Examples
    --------
    >>> parse_formula("z**2 + c,start=c/2")
    {'name': 'expression', 'step': 'z**2 + c', 'start': 'c/2'}
    """
    name, *pairs = text.split(",")
    table: dict[str, Any] = {"name": name.strip()}
    if name.strip().endswith(".py"):
        from fractals.io.formula_file import load_formula

        return load_formula(name.strip(), **_pairs(pairs, "formula", "power=4"))
    if not re.fullmatch(r"\s*\w+\s*", name, re.ASCII):
        meant = name.strip().lower().replace("-", "_")
        if re.fullmatch(r"\w+", meant, re.ASCII):
            check_known("formula", name.strip(), meant)
        table = {"name": "expression", "step": name}  # unstripped: errors name the column
    return table | _pairs(pairs, "formula", "power=4")


def check_known(kind: str, given: str, meant: str) -> None:
    """Raise an `OptionError` where `meant` is a name of the catalog."""
    from fractals import catalog

    if meant in catalog.names(kind):
        raise OptionError(f"--{kind}: unknown {kind} '{shown(given, 40)}'; did you mean '{meant}'?")


def parse_coloring(text: str) -> dict[str, Any]:
    """Return the table of ``orbit_trap,shape=circle,radius=0.4``.

    Examples
    --------
    >>> parse_coloring("orbit_trap,shape=circle,radius=0.4")
    {'name': 'orbit_trap', 'shape': 'circle', 'radius': 0.4}
    """
    name, *pairs = text.split(",")
    meant = name.strip().lower().replace("-", "_")
    if meant != name.strip():
        check_known("coloring", name.strip(), meant)
    return {"name": name.strip()} | _pairs(pairs, "coloring", "density=7")


def _pairs(pairs: list[str], key: str, example: str) -> dict[str, Any]:
    table = {}
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not (name and equals and value):
            raise OptionError(f"--{key}: '{shown(pair, 40)}' is not KEY=VALUE such as {example}")
        table[name] = _number(value)
    return table


def _number(text: str) -> int | float | str:
    """Return a whole number, another, or the text."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(plain_minus(text))
    return text


def physical_size(text: str, current: tuple[int, int]) -> re.Match[str] | None:
    """Return the match of `PHYSICAL` for a size on paper; paper lies as the picture `current` does.

    Examples
    --------
    >>> physical_size("A4@150dpi", (640, 480))[0], physical_size("a4", (480, 640))[0]
    ('297x210mm@150dpi', '210x297mm')
    """
    text = text.strip().lower().replace('"', "in")
    text = UNIT_TWICE.sub(r"\1x\3\2", text, count=1)
    if paper := PAPER.fullmatch(text):
        short, long = PAPERS[paper[1]]
        sides = (long, short) if current[0] >= current[1] else (short, long)
        text = f"{sides[0]}x{sides[1]}mm{paper[2] or ''}"
    return PHYSICAL.fullmatch(text)


def parse_size(text: str, current: tuple[int, int], dpi: float | None = None) -> tuple[int, int]:
    """Return (width, height) in pixels; ``640x`` keeps the shape of `current`.

    Sizes on paper that name no resolution have `dpi` pixels per inch, or 300.

    Examples
    --------
    >>> parse_size("a4", (640, 480)), parse_size("10x20cm", (1, 1), dpi=254)
    ((3508, 2480), (1000, 2000))
    >>> parse_size("50%", (640, 480)), parse_size("10x5in@100dpi", (1, 1))
    ((320, 240), (1000, 500))
    >>> parse_size("10inx5in@100dpi", (1, 1))
    (1000, 500)
    >>> parse_size("320x", (640, 480)), parse_size("x120", (640, 480))
    ((320, 240), (160, 120))
    """
    text = text.strip().lower()
    if text in NAMED_SIZES:
        return NAMED_SIZES[text]
    try:
        size = _pixels(text, current, dpi or PRINT_DPI)
    except OptionError:  # a ValueError too
        raise
    except (ValueError, OverflowError):
        raise OptionError(f"--size: {_wrong_size(text)}") from None
    if not all(1 <= side <= MAX_SIDE for side in size):
        given = f"{size[0]}x{size[1]}" if max(map(abs, size)) < 10**9 else f"'{shown(text, 40)}'"
        raise OptionError(f"--size: {given}: each side has 1 to {MAX_SIDE} pixels")
    return size


def _pixels(text: str, current: tuple[int, int], dpi: float) -> tuple[int, int]:
    if text.endswith("%"):
        share = float(text[:-1]) / 100
        return round(current[0] * share), round(current[1] * share)
    if physical := physical_size(text, current):
        width, height, dots = (float(physical[k] or dpi) for k in (1, 2, 4))
        unit, dots_unit = physical[3], physical[5] or "dpi"
        if unit not in INCHES or dots_unit != "dpi":
            bad = unit if unit not in INCHES else dots_unit
            raise OptionError(f"--size: unknown unit '{shown(bad, 40)}': use cm, mm or in, and dpi")
        return round(width * INCHES[unit] * dots), round(height * INCHES[unit] * dots)
    across, down = text.split("x")
    if not down:
        return int(across), max(1, round(int(across) * current[1] / current[0]))
    if not across:
        return max(1, round(int(down) * current[0] / current[1])), int(down)
    return int(across), int(down)


def _wrong_size(text: str) -> str:
    if text.isdecimal() and len(text) < 7:
        return f"'{text}' is one number: write {text}x for the width, or {text}x{text}"
    named = ", ".join(NAMED_SIZES)
    return (
        f"'{shown(text, 40)}' is not a size: use 1920x1080, 640x, 300%, 30x20cm, 12x8in@300dpi, "
        f"A3, {named}"
    )


def check_text(key: str, text: str) -> None:
    """Raise an `OptionError` for text that is not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise OptionError(f"--{key}: '{shown(text, 40)}' is not UTF-8 text") from None


def check_value(key: str, text: str) -> Any:
    """Return the value of a scene's key, checked against the type and bounds of the model.

    Keys of other types, such as coordinates, are returned as they are: the model checks them.
    """
    kinds, bounds, allowed = _field(key)
    name = f"--{key.replace('_', '-')}"
    if key == "max_iterations":
        return _max_iterations(text)
    if allowed:
        if text not in allowed:
            from fractals.catalog import did_you_mean

            hint = did_you_mean(text[:40], allowed)
            raise OptionError(f"{name}: '{shown(text, 40)}' is not {choices(allowed)}{hint}")
        return text
    if kinds not in ({int}, {float}):
        return text
    number = whole(text) if int in kinds else _float(text)
    if number is None:
        kind = "whole number" if int in kinds else "finite number"
        hint = f": write {text.replace(',', '')}" if _has_separators(text) else ""
        raise OptionError(f"{name}: '{shown(text, 40)}' is not a {kind}{hint}")
    least, most = bounds
    if not least <= number <= most:
        raise OptionError(f"{name}: {shown(text, 40)} is not from {least:g} to {most:g}")
    return number


def _max_iterations(text: str) -> int | str:
    from fractals.scene.model import MAX_ITERATIONS

    number = whole(text)
    if text == "auto":
        return text
    if number is None or not 1 <= number <= MAX_ITERATIONS:
        hint = f": write {text.replace(',', '')}" if _has_separators(text) else ""
        raise OptionError(
            f"--max-iterations: '{shown(text, 40)}' is not 'auto' or a whole number from 1 to "
            f"{MAX_ITERATIONS}{hint}"
        )
    return number


def check_length(key: str, text: str) -> None:
    """Raise an `OptionError` for a width or zoom that the model would not explain."""
    name = f"--{key}"
    if _has_separators(text):
        raise OptionError(
            f"{name}: '{shown(text, 40)}' has a comma: write {text[:40].replace(',', '')}"
        )
    if RELATIVE.fullmatch(text.strip().lower()) and relative(text) is None:
        raise OptionError(f"{name}: '{shown(text, 40)}' is not a factor such as x10 or 50%")


def _has_separators(text: str) -> bool:
    """Return whether text is a number with commas between thousands, such as 1,000."""
    return bool(re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", text.strip(), re.ASCII))


def _float(text: str) -> float | None:
    try:
        number = float(plain_minus(text))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _field(key: str) -> tuple[set[type], tuple[float, float], list[str]]:
    """Return the types, the bounds and the allowed words of a scene's key."""
    from fractals.scene.model import TABLES

    field = next(model.model_fields[key] for model in TABLES.values() if key in model.model_fields)
    parts = list(_parts(field.annotation))
    least, most = -math.inf, math.inf
    for bound in field.metadata:
        least = max(least, getattr(bound, "ge", -math.inf))
        most = min(most, getattr(bound, "le", math.inf))
    words = [str(v) for part in parts if get_origin(part) is Literal for v in get_args(part)]
    return {part for part in parts if part in (int, float, str, bool)}, (least, most), words


def _parts(annotation: Any) -> Iterator[Any]:
    """Yield the members of a union, without what annotates them."""
    if get_origin(annotation) is Annotated:
        yield from _parts(get_args(annotation)[0])
    elif get_origin(annotation) is Literal or not get_args(annotation):
        yield annotation
    else:
        for part in get_args(annotation):
            yield from _parts(part)


F = TypeVar("F", bound=Callable[..., Any])

# Names that other programs give to an option: an unknown option is looked up here first.
SYNONYMS = {
    "aa": "supersampling",
    "angle": "rotation",
    "antialiasing": "antialias",
    "background": "inside",
    "bailout": "escape-radius",
    "cmap": "palette",
    "color": "palette",
    "colormap": "palette",
    "colors": "palette",
    "colour": "palette",
    "depth": "bits",
    "file": "output",
    "float": "precision",
    "fractal": "formula",
    "height": "size",
    "iter": "max-iterations",
    "iterations": "max-iterations",
    "iters": "max-iterations",
    "limit": "max-iterations",
    "magnification": "zoom",
    "max-iter": "max-iterations",
    "maxiter": "max-iterations",
    "move": "pan",
    "number": "precision",
    "out": "output",
    "oversampling": "supersampling",
    "pixel": "at",
    "position": "center",
    "radius": "escape-radius",
    "resolution": "size",
    "rotate": "rotation",
    "samples": "supersampling",
    "silent": "quiet",
    "supersample": "supersampling",
    "workers": "threads",
    "x": "center",
}


class VerbOption(click.Option):
    """An option that is listed in a section of the help."""

    def __init__(self, *arguments: Any, section: str = "Options", **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.section = section


class OutputOption(VerbOption):
    """The option that names what is written.

    The name ends in one of `endings`, "/" for a folder, or in one of a table's, such as
    "io.image.FORMATS".
    """

    def __init__(self, *arguments: Any, endings: Sequence[str], **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.endings = endings

    def matches(self, name: str) -> bool:
        """Return whether a name ends as an output does."""
        found: list[str] = []
        for ending in self.endings:
            module, _, table = ending.rpartition(".")
            home = importlib.import_module(f"fractals.{module}") if module else None
            found += getattr(home, table) if home else (ending,)
        return name.lower().endswith(tuple(found)) and "#" not in name


def option(*names: str, section: str = "Options", **settings: Any) -> Callable[[F], F]:
    """Return a decorator that adds an option to a verb."""
    return click.option(*names, cls=VerbOption, section=section, **settings)


def key_option(name: str, section: str, **settings: Any) -> Callable[[F], F]:
    """Return a decorator that adds the option of a scene's key: its meaning is the model's."""
    meaning, known = KEYS[name.partition("/")[0].removeprefix("--").replace("-", "_")]
    return option(name, section=section, help=meaning, shell_complete=words(*known), **settings)


def together(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Return one decorator for several, in the order they are shown."""

    def decorate(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def _be_quiet(_context: click.Context, _option: click.Parameter, on: bool) -> None:
    Verbosity.quiet |= on


def _be_verbose(_context: click.Context, _option: click.Parameter, on: bool) -> None:
    Verbosity.verbose |= on


def _print_help(context: click.Context, _option: click.Parameter, on: bool) -> None:
    if on and not context.resilient_parsing:
        write_out(context.get_help() + "\n")
        context.exit()


class Laidout(click.Command):
    """A command with -q, -v and -h, help in sections, and suggestions for unknown options."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, the ones of every verb last."""
        return [*self.params, *_common()]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments; an unknown option is an `OptionError` with a suggestion."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            known = [name for each in self.get_params(ctx) for name in (*each.opts,)]
            raise OptionError(unknown_option(error.option_name, known, ctx.command_path)) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options, each section under its own head."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx) if isinstance(each, click.Option) else None
            if record:
                sections.setdefault(getattr(each, "section", "Options"), []).append(record)
        for head, records in sections.items():
            with formatter.section(head):
                formatter.write_dl(records)


class VerbGroup(Laidout, click.Group):
    """A verb of several parts, such as the searches of `find`; see `verb_group`."""

    def __init__(self, *arguments: Any, noun: str, plural: str, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.noun, self.plural = noun, plural

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a part, or say which one may have been meant."""
        if args and args[0] not in self.commands:
            from fractals.catalog import did_you_mean

            hint = did_you_mean(args[0][:50], self.commands)
            *others, last = self.commands
            hint = hint or f"; choose {', '.join(others)} or {last}"
            raise OptionError(f"unknown {self.noun} '{shown(args[0], 40)}'{hint}")
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the parts, each with its whole summary, then the options."""
        with formatter.section(self.plural):
            formatter.write_dl(
                [(name, each.get_short_help_str(1000)) for name, each in self.commands.items()]
            )
        Laidout.format_options(self, ctx, formatter)


class Verb(Laidout):
    """A verb of the command line, which says how to name an output that looks like an argument."""

    def invoke(self, ctx: click.Context) -> Any:
        """Call the verb, unless its last argument is no file, and looks like one to write."""
        output = next((each for each in self.params if isinstance(each, OutputOption)), None)
        if output and ctx.get_parameter_source("output") is ParameterSource.DEFAULT:
            arguments = [each for each in self.params if isinstance(each, click.Argument)]
            given = ctx.params.get(arguments[-1].name or "") if arguments else ()
            if isinstance(given, tuple) and given and output.matches(name := given[-1]):
                # A single one may be a scene that is misspelled.
                kind = SceneError if len(arguments) == len(given) == 1 else OptionError
                what = "folder" if name.endswith("/") else "file"
                if not os.path.exists(name):
                    import shlex

                    typed = shown(shlex.quote(name))
                    raise kind(f"{shown(name)}: no such {what}; to write it, type -o {typed}")
        return super().invoke(ctx)


def _common() -> list[click.Parameter]:
    """Return the options of every verb."""
    switch: dict[str, Any] = {"is_flag": True, "expose_value": False, "section": "General"}
    return [
        VerbOption(["-q", "--quiet"], help="Print errors only.", callback=_be_quiet, **switch),
        VerbOption(
            ["-v", "--verbose"], help="Print more, and whole.", callback=_be_verbose, **switch
        ),
        VerbOption(
            ["-h", "--help"],
            help="Show this help and exit.",
            callback=_print_help,
            is_eager=True,
            **switch,
        ),
    ]


def verb(name: str, *examples: str, **settings: Any) -> Callable[[Callable[..., Any]], Verb]:
    """Return a decorator that makes a verb of a function; its docstring is the help."""
    return click.command(name, cls=Verb, epilog=epilog(examples), add_help_option=False, **settings)


def verb_group(
    name: str, noun: str, plural: str, *examples: str
) -> Callable[[Callable[[], None]], VerbGroup]:
    """Return a decorator that makes a verb of several parts; the function's docstring is the help.

    A part is called `noun` in messages; the list of parts has the title `plural`.
    """

    def decorate(function: Callable[[], None]) -> VerbGroup:
        @functools.wraps(function)
        def show() -> None:
            context = click.get_current_context()
            if context.invoked_subcommand is None:
                write_out(context.get_help() + "\n")

        return click.group(
            name,
            cls=VerbGroup,
            noun=noun,
            plural=plural,
            add_help_option=False,
            no_args_is_help=False,
            invoke_without_command=True,
            epilog=epilog(examples),
        )(show)

    return decorate


def epilog(examples: Sequence[str]) -> str:
    """Return the end of a help text."""
    return "\b\nExamples:\n" + "\n".join(f"  fractals {line}".rstrip() for line in examples)


def unknown_option(name: str, known: Sequence[str], verb_name: str) -> str:
    """Return the message of an option that a verb lacks, with the option that may be meant.

    Examples
    --------
    >>> unknown_option("--colormap", ["--palette", "--coloring"], "fractals render")
    "unknown option '--colormap'; did you mean '--palette'?"
    """
    meant = "--" + SYNONYMS.get(name.lstrip("-").lower(), "")
    if meant not in known:
        longs = [each for each in known if each.startswith("--")]
        meant = next(iter(difflib.get_close_matches(name[:50], longs, n=1, cutoff=0.7)), "")
    hint = f"did you mean '{meant}'?" if meant else f"'{verb_name} --help' lists the options"
    return f"unknown option '{name}'; {hint}"


# What a shell completes: names of the catalog, files and fixed words; `fractals completion`.


Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def words(*known: str) -> Completer:
    """Return a completer of fixed words."""
    return _completer(lambda: known)


def names(kind: str, *more: str, files: bool = False) -> Completer:
    """Return a completer of a kind's names in the catalog; of files where no name fits."""

    def known() -> Iterable[str]:
        from fractals import catalog

        return (*catalog.names(kind), *more)

    return _completer(known, files)


def _completer(known: Callable[[], Iterable[str]], files: bool = False) -> Completer:
    def complete(
        _context: click.Context, _parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        found = [CompletionItem(name) for name in known() if name.startswith(incomplete)]
        return found or ([CompletionItem(incomplete, type="file")] if files else [])

    return complete


def verb_names(
    context: click.Context, _parameter: click.Parameter, text: str
) -> list[CompletionItem]:
    """Complete a verb."""
    command = context.find_root().command
    known = command.list_commands(context) if isinstance(command, click.Group) else []
    return [CompletionItem(name) for name in known if name.startswith(text)]


DEVICE = words("auto", "cpu", "gpu", "cuda", "cuda:0", "cuda:1", "cuda:all", "simulator", "python")
SCENE = names("gallery", files=True)
PALETTE = names("palette", "auto", files=True)
FILE = _completer(lambda: (), files=True)
