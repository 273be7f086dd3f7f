"""How a verb and its options are declared, and how their help is laid out."""

import functools
import importlib
import itertools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from fractals import catalog
from fractals.catalog import did_you_mean
from fractals.cli.keys import KEYS
from fractals.cli.messages import Called, Verbosity, write_out
from fractals.errors import OptionError, SceneError, shown
from fractals.meant import OPTIONS
from fractals.rendering.options import Options

F = TypeVar("F", bound=Callable[..., Any])

NO_SYNONYMS: Mapping[str, str] = {}


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


AS_MODEL = ""  # the option means what the scene's key of the same name means


def of(meaning: str | type[Options], *declared: str) -> dict[str, str | type[Options]]:
    """Return the table of a `section` for options whose meanings have the same home."""
    return dict.fromkeys(declared, meaning)


def section(
    title: str, table: Mapping[str, str | type[Options]], **settings: Any
) -> Callable[[F], F]:
    """Return a decorator that adds the options of a table: how the help shows them, and meanings.

    A meaning is a text, AS_MODEL, or the class of options that has it. `settings` are the type, or
    several of click's settings, by the name of the verb's parameter.
    """
    rows = []
    for declared, meaning in table.items():
        given = settings.get(_parts(declared)[2], {})
        facts = {"type": given} if isinstance(given, click.ParamType) else given
        rows.append(option(title, declared, meaning, **facts))
    return together(*rows)


def option(
    title: str, declared: str, meaning: str | type[Options], **settings: Any
) -> Callable[[F], F]:
    """Return a decorator that adds an option to a verb, in a section of its help; see `section`.

    It is declared as the help shows it: ``"-n, --max-iterations N"``. Without a value it is a flag.
    A word in lower case at the end, as in ``"--json as_json"``, is the name of the verb's parameter
    where it differs. `settings` are further ones of click.
    """
    flags, metavar, name = _parts(declared)
    if metavar is None and "type" not in settings:
        settings |= {"default": None} if "/" in declared else {"is_flag": True}
    if metavar and ("FILE" in metavar or "FOLDER" in metavar):
        settings.setdefault("shell_complete", FILE)
    if meaning == AS_MODEL:
        meaning, known = KEYS[name]
        settings.setdefault("shell_complete", words(*known))
    elif isinstance(meaning, type):
        meaning = meaning.fields[name.removeprefix("no_")].command
    if "envvar" in settings:
        meaning = f"{meaning.removesuffix(').')}, or {settings['envvar']})."
    return click.option(
        *flags, name, cls=VerbOption, section=title, metavar=metavar, help=meaning, **settings
    )


def _parts(declared: str) -> tuple[list[str], str | None, str]:
    """Return flags, metavar and parameter of an option, as it is declared."""
    parts = declared.replace(", ", " ").split()
    flags = [part for part in parts if part.startswith("-")]
    metavar = next((part for part in parts if not part.islower()), None)
    own = [part for part in parts if part not in (*flags, metavar)]
    return flags, metavar, (own or [flags[-1].partition("/")[0].lstrip("-").replace("-", "_")])[0]


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


SWITCH: dict[str, Any] = {"is_flag": True, "expose_value": False, "section": "General"}
OF_EVERY_VERB = (
    VerbOption(["-q", "--quiet"], help="Print errors only.", callback=_be_quiet, **SWITCH),
    VerbOption(
        ["-v", "--verbose"], help="Print more, and in full.", callback=_be_verbose, **SWITCH
    ),
    VerbOption(
        ["-h", "--help"],
        help="Show this help and exit.",
        callback=_print_help,
        is_eager=True,
        **SWITCH,
    ),
)


class Laidout(click.Command):
    """A command with -q, -v and -h, help in sections, and suggestions for unknown options."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, the ones of every verb last."""
        return [*self.params, *OF_EVERY_VERB]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments; an unknown option is an `OptionError` with a suggestion.

        ``-o=FILE`` is read as ``-o FILE``, where click would write the file ``=FILE``.
        """
        Called.verb = self
        texts = (a.partition("=")[2] if a.startswith("-") else a for a in args)
        Called.given = tuple(sorted((a for a in texts if "=" in a), key=len, reverse=True))
        valued = [o for p in self.params if not getattr(p, "is_flag", True) for o in p.opts]
        parts = ((a[:2], a[3:]) if a[2:3] == "=" and a[:2] in valued else (a,) for a in args)
        try:
            return super().parse_args(ctx, list(itertools.chain.from_iterable(parts)))
        except click.NoSuchOption as error:
            raise OptionError(self.unknown(error.option_name, ctx, args)) from None

    def unknown(self, name: str, ctx: click.Context, args: list[str]) -> str:
        """Return the message of an unknown option."""
        known = [own for each in self.get_params(ctx) for own in each.opts]
        return unknown_option(name, known, ctx.command_path, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options, each section under its own head; those of most verbs come last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx) if isinstance(each, click.Option) else None
            if record:
                sections.setdefault(getattr(each, "section", "Options"), []).append(record)
        for head, records in sorted(sections.items(), key=lambda each: each[0] == "General"):
            with formatter.section(head):
                formatter.write_dl(records)


class VerbGroup(Laidout, click.Group):
    """A verb of several parts, such as the searches of `find`; see `verb_group`."""

    def __init__(
        self, *arguments: Any, noun: str, plural: str, said: Mapping[str, str], **settings: Any
    ) -> None:
        super().__init__(*arguments, **settings)
        self.noun, self.plural = noun, plural
        self.synonyms = {word: name for name, words in said.items() for word in words.split()}

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a part, by its name or a synonym, or say which one may have been meant."""
        args = [self.synonyms.get(args[0], args[0]), *args[1:]] if args else args
        if args and args[0] not in self.commands:
            hint = did_you_mean(args[0][:50], [*self.commands, *self.synonyms])
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
        source = ctx.get_parameter_source("output")
        if output and (source is ParameterSource.DEFAULT or ctx.params["output"] == ""):
            self._check_arguments(ctx, output)
        return super().invoke(ctx)

    def _check_arguments(self, ctx: click.Context, output: "OutputOption") -> None:
        """Refuse an empty name, and a last argument that looks like an output and is not there."""
        if ctx.params.get("output") == "":  # as of a script's variable that is not set
            raise OptionError("-o: the name is empty")
        arguments = [each for each in self.params if isinstance(each, click.Argument)]
        given = ctx.params.get(arguments[-1].name or "") if arguments else ()
        if isinstance(given, tuple) and given and output.matches(name := given[-1]):
            # A single one may be a scene that is misspelled.
            kind = SceneError if len(arguments) == len(given) == 1 else OptionError
            what = "folder" if name.endswith("/") else "file"
            if "://" in name:
                raise kind(f"{shown(name)}: addresses of the web are not opened: save the file")
            if not os.path.exists(name):
                import shlex

                typed = shown(shlex.quote(name))
                raise kind(f"{shown(name)}: no such {what}; to write it, type -o {typed}")


def verb(name: str, *examples: str, **settings: Any) -> Callable[[Callable[..., Any]], Verb]:
    """Return a decorator that makes a verb of a function; its docstring is the help."""
    return click.command(name, cls=Verb, epilog=epilog(examples), add_help_option=False, **settings)


def verb_group(
    name: str, noun: str, plural: str, *examples: str, said: Mapping[str, str] = NO_SYNONYMS
) -> Callable[[Callable[[], None]], VerbGroup]:
    """Return a decorator that makes a verb of several parts; the function's docstring is the help.

    A part is called `noun` in messages; the list of parts has the title `plural`. `said`: other
    words for parts, by their names.
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
            said=said,
            add_help_option=False,
            no_args_is_help=False,
            invoke_without_command=True,
            epilog=epilog(examples),
        )(show)

    return decorate


def epilog(examples: Sequence[str]) -> str:
    """Return the end of a help text."""
    return "\b\nExamples:\n" + "\n".join(f"  fractals {line}".rstrip() for line in examples)


def unknown_option(
    name: str, known: Sequence[str], verb_name: str, arguments: Sequence[str] = ()
) -> str:
    """Return the message of an option that a verb lacks, with the option that may be meant.

    >>> unknown_option("--colormap", ["--palette", "--coloring"], "fractals render")
    "unknown option '--colormap'; did you mean '--palette'?"
    >>> unknown_option("--power", ["--formula"], "fractals render", ["--power", "5"])
    "unknown option '--power'; did you mean '--formula multibrot,power=5'?"
    """
    for typed in arguments if len(name) == 2 else ():  # -size is read as -s -i -z -e
        long = "-" + typed.partition("=")[0]
        if typed.startswith(name) and long in known:
            return f"unknown option '{shown(typed, 40)}'; did you mean '{long}'?"
    word = name.lower().lstrip("-").replace("-", "_")
    meant = _as_part(word, known, arguments, given=True)
    synonym = "--" + OPTIONS.get(word, "").replace("_", "-")
    meant = meant or (synonym if synonym in known else "")
    if len(name) > 2:  # a letter is an option of other verbs, and not meant for any formula
        meant = meant or _as_part(word, known, arguments, given=False)
    if not meant and (key := _key_of_files(word)):
        return f"unknown option '{name}'; {key} is a key of a scene's file, such as a .toml"
    if not meant:
        import difflib

        # Without the dashes, which all have: else --keep would be near --eye
        longs = {each[2:]: each for each in known if each.startswith("--")}
        typed = name[:50].lstrip("-").lower()
        near = difflib.get_close_matches(typed, longs, n=1, cutoff=0.72)
        meant = longs[near[0]] if near else ""
    hint = f"did you mean '{meant}'?" if meant else f"'{verb_name} --help' lists the options"
    return f"unknown option '{name}'; {hint}"


def _key_of_files(word: str) -> str:
    """Return the key of scenes that no option gives, as of its name or a synonym; or ""."""
    from fractals.scene.keywords import SceneKeywords

    key = OPTIONS.get(word, word)
    return key if key in SceneKeywords.__annotations__ and key not in KEYS else ""


def _formula_of(scene: str) -> str:
    """Return the formula of a solid or a scene of the gallery, as it is typed; or ""."""
    if catalog.has("solid", scene):
        return scene
    if not catalog.has("gallery", scene):
        return ""
    named = catalog.read("gallery", scene).get("formula", "mandelbrot")
    table = named if isinstance(named, dict) else {"name": named}
    options = [f"{key}={value}" for key, value in table.items() if key != "name"]
    plain = not any(isinstance(value, list | dict) for value in table.values())
    return ",".join([table["name"], *options]) if plain else ""


def _as_part(word: str, known: Sequence[str], arguments: Sequence[str], given: bool) -> str:
    """Return an option of a formula or a coloring as it is typed: behind its name; or "".

    `given`: of one that the arguments name; otherwise of any formula, where they name none.
    """

    def value_of(option: str) -> str:
        for k, text in enumerate(arguments):
            if text.startswith(f"{option}="):
                return text.partition("=")[2]
            if text == option:
                return "".join(arguments[k + 1 : k + 2])
        return ""

    texts = list(filter(None, map(value_of, ("--formula", "--coloring"))))
    texts = texts or [*filter(None, map(_formula_of, arguments))][-1:]
    for text in texts if given else [""] * (not texts):
        chosen = text.partition(",")[0]
        kind, name = catalog.owner(word, chosen) or ("", "")
        if f"--{kind}" in known and (name == chosen or not given):
            value = value_of(f"--{word.replace('_', '-')}") or "..."
            return shown(f"--{kind} {text or name},{word}={value}", 100)
    return ""


# What a shell completes: names of the catalog, files and fixed words; `fractals completion`.


Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def words(*known: str) -> Completer:
    """Return a completer of fixed words."""
    return _completer(lambda: known)


def names(kind: str, *more: str, files: bool = False) -> Completer:
    """Return a completer of a kind's names in the catalog; of files where no name fits."""

    def known() -> Iterable[str]:
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


DEVICE = words(
    *("auto", "cpu", "gpu", "cuda", "cuda:0", "cuda:1", "cuda:all", "opencl", "opencl:1"),
    *("opencl:all", "simulator", "python"),
)
SCENE = names("gallery", files=True)
PALETTE = names("palette", "auto", files=True)
FILE = _completer(lambda: (), files=True)
