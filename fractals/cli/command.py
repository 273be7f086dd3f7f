"""How a verb and its options are declared, and how their help is laid out."""

import difflib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from fractals.cli.messages import Verbosity, write_out
from fractals.errors import OptionError, shown

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


class Option(click.Option):
    """An option that is listed in a section of the help."""

    def __init__(self, *arguments: Any, section: str = "Options", **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.section = section


def option(*names: str, section: str = "Options", **settings: Any) -> Callable[[F], F]:
    """Return a decorator that adds an option to a verb."""
    return click.option(*names, cls=Option, section=section, **settings)


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


class Parts(Laidout, click.Group):
    """A verb of several parts, such as the searches of `find`; without one, it prints its help.

    Parameters
    ----------
    noun, plural : str
        What a part is called in messages, and the title of the list in the help.
    """

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
    """A verb of the command line."""


def _common() -> list[click.Parameter]:
    """Return the options of every verb."""
    switch: dict[str, Any] = {"is_flag": True, "expose_value": False, "section": "General"}
    return [
        Option(["-q", "--quiet"], help="Print errors only.", callback=_be_quiet, **switch),
        Option(["-v", "--verbose"], help="Print more, and whole.", callback=_be_verbose, **switch),
        Option(
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
