"""The verbs, imported when they are called, the overview of them, and how one is run."""

import errno
import functools
import importlib
import os
import shlex
import signal
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import click
from click.shell_completion import CompletionItem, ShellComplete, add_completion_class

from fractals import __version__, catalog
from fractals.catalog import did_you_mean
from fractals.cli import shared
from fractals.cli.command import Laidout, VerbOption, epilog, verb, verb_names
from fractals.cli.messages import (
    Called,
    Printed,
    StdoutError,
    Verbosity,
    discard,
    print_line,
    print_lines,
    tell,
    write_out,
)
from fractals.errors import FractalsError, FractalsWarning, OptionError, shown
from fractals.meant import VERBS


@verb("help", "help", "help render", "help find nucleus")
@click.argument("names", nargs=-1, metavar="[VERB]...", shell_complete=verb_names)
@click.pass_context
def help_command(context: click.Context, names: tuple[str, ...]) -> None:
    """Show the help of a verb, or the overview of all verbs."""
    root = context.find_root()
    command, inner = root.command, root
    for name in names:
        if not isinstance(command, click.Group):
            raise OptionError(f"'{command.name}' has no part '{name}'")
        _, found, _ = command.resolve_command(inner, [name])
        assert found is not None
        inner = click.Context(found, info_name=name, parent=inner)
        command = found
    write_out(command.get_help(inner) + "\n")


@add_completion_class
class PowerShellComplete(ShellComplete):
    """Completes in PowerShell, which click does not know."""

    name = "powershell"
    source_template = r"""
Register-ArgumentCompleter -Native -CommandName %(prog_name)s -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
    $env:%(complete_var)s = "powershell_complete"
    $env:FRACTALS_WORDS = $words -join "`n"
    $env:FRACTALS_INCOMPLETE = $wordToComplete
    try {
        %(prog_name)s | ForEach-Object {
            [System.Management.Automation.CompletionResult]::new($_, $_, "ParameterValue", $_)
        }
    } finally {
        Remove-Item Env:%(complete_var)s, Env:FRACTALS_WORDS, Env:FRACTALS_INCOMPLETE `
            -ErrorAction SilentlyContinue
    }
}
"""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor, and the one that it is in."""
        words = [w.strip("\"'") for w in os.environ.get("FRACTALS_WORDS", "").split("\n") if w]
        incomplete = os.environ.get("FRACTALS_INCOMPLETE", "").strip("\"'")
        return (words[:-1] if incomplete and words[-1:] == [incomplete] else words), incomplete

    def format_completion(self, item: CompletionItem) -> str:
        """Return a line of PowerShell's list; it completes names of files by itself."""
        return str(item.value) if item.type == "plain" else ""


@verb(
    "completion",
    "completion bash >> ~/.bashrc",
    "completion fish > ~/.config/fish/completions/fractals.fish",
    "completion powershell >> $PROFILE",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish", "powershell"]))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Print the script that completes verbs, options and names in a shell."""
    from click.shell_completion import get_completion_class

    completion: Any = get_completion_class(shell)
    root = context.find_root().command
    write_out(completion(root, {}, "fractals", "_FRACTALS_COMPLETE").source())


# A verb's module, in this package or by its whole name, and the line about it in the overview, by
# subject.
LESSONS = "fractals.lessons"
SUBJECTS = {
    "Draw": {
        "render": ("render", "Draw a picture of a scene."),
        "compute": ("compute", "Compute the raw numbers of a scene into a file."),
        "recolor": ("render", "Draw raw numbers in other colors, without iterating again."),
        "tiles": ("pictures", "Draw a picture that one can zoom, as tiles and a page."),
        "trace": ("pictures", "Draw contours and external rays as lines, for plotters."),
        "film": ("film", "Make a film of a scene: a zoom, or a change of colors."),
        "proof": ("pictures", "Show how a picture will look in print, by an ICC profile."),
        "sheet": ("pictures", "Draw a contact sheet of a scene in many colors."),
        "gallery": ("pictures", "Draw the scenes of the gallery."),
    },
    "Many machines": {
        "worker": ("compute", "Compute for others: join a Dask scheduler."),
        "cluster-keys": ("compute", "Write keys for TLS between the machines of a cluster."),
    },
    "Explore": {
        "explore": ("explore", "Explore a scene in the browser."),
        "surprise": ("explore", "Draw a sheet of twelve scenes that are like a scene."),
        "find": ("find", "Find minibrots, periods and embedded Julia sets in a view."),
        "list": ("convert", "List formulas, colorings, palettes, scenes or file formats."),
        "show": ("convert", "Print the scene inside a file."),
        "convert": ("convert", "Convert a scene, a palette or raw numbers to another format."),
    },
    "Learn": {
        "learn": (
            f"{LESSONS}.commands",
            "Go through the lessons, from a loop in Python to CPU and GPU.",
        ),
    },
    "Check": {
        "verify": ("check", "Recompute random pixels of a picture and compare them."),
        "devices": ("check", "List the devices that can draw on this machine."),
        "bench": ("check", "Time the same work on several devices and compare the results."),
        "gpu": (
            f"{LESSONS}.gpu_commands",
            "Study GPU kernels without a GPU: divergence, memory, time.",
        ),
    },
    "Shell": {
        "cache": ("check", "Show the caches and their sizes, or empty them."),
        "completion": ("verbs", "Print the completion script of a shell."),
        "help": ("verbs", "Show the help of a verb."),
    },
}
COMMANDS = {verb: module for part in SUBJECTS.values() for verb, (module, _) in part.items()}


class Verbs(Laidout, click.Group):
    """Commands that are imported on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs, in the order they are shown."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb."""
        if cmd_name not in COMMANDS:
            return None
        name = COMMANDS[cmd_name]
        module = importlib.import_module(name if "." in name else f"fractals.cli.{name}")
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return command

    def unknown(self, name: str, ctx: click.Context, args: list[str]) -> str:
        """Return the message of an unknown option, or of one that stands before the verb."""
        verb = next((each for each in args if each in COMMANDS), "")
        if not verb:
            return super().unknown(name, ctx, args)
        typed = shown(args[0], 40)
        return f"{typed} stands before the verb: fractals {verb} {typed} ..."

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a verb, or say which one may have been meant."""
        if args and args[0] not in COMMANDS:
            raise unknown_verb(args[0])
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs by subject, each with its whole summary, then the options."""
        for subject, part in SUBJECTS.items():
            with formatter.section(subject):
                width = max(map(len, COMMANDS))
                formatter.write_dl([(f"{v:{width}}", text) for v, (_, text) in part.items()])
        Laidout.format_options(self, ctx, formatter)
        with formatter.section("Environment"):
            formatter.write_dl(list(environment()))
        with formatter.section("File of defaults"):
            formatter.write_dl(
                [(str(shared.path()), "device, threads, formulas (folders), and keys of scenes.")]
            )


def unknown_verb(name: str) -> OptionError:
    """Return the error of an unknown verb, with the verb that may be meant."""
    hint = did_you_mean(name[:50], COMMANDS) or "; 'fractals --help' lists the verbs"
    if name in VERBS:
        hint = f"; did you mean '{VERBS[name]}'?"
    elif os.path.isfile(name) or any(catalog.has(kind, name) for kind in ("gallery", "solid")):
        hint = f"; it is a scene: fractals render {shown(shlex.quote(name))}"
    return OptionError(f"unknown verb '{shown(name, 80)}'{hint}")


def environment() -> Iterator[tuple[str, str]]:
    """Yield the environment variables that are read, with their meaning."""
    yield "FRACTALS_DEVICE", "Default of --device."
    yield "FRACTALS_THREADS", "Default of --threads."
    yield "FRACTALS_CACHE_DIR", "Folder of cached reference orbits."
    yield "FRACTALS_FFMPEG", "The ffmpeg program that encodes films."
    yield "NUMBA_CACHE_DIR", "Folder of cached compiled code."
    yield "FRACTALS_PREBUILT", "0: compile what came compiled with the package."
    yield "FRACTALS_LADDER", "File to which the scripts of the lessons append their figures."
    yield "NO_COLOR", "If set, no colors on the terminal."


def _print_version(context: click.Context, _option: click.Parameter, on: bool) -> None:
    if on and not context.resilient_parsing:
        write_out(f"fractals {__version__}\n")
        context.exit()


@click.group(
    "fractals",
    cls=Verbs,
    add_help_option=False,
    no_args_is_help=False,
    invoke_without_command=True,
    params=[
        VerbOption(
            ["-V", "--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_version,
            help="Show the version and exit.",
            section="General",
        )
    ],
    context_settings={"max_content_width": 100},
    epilog=epilog(
        [
            "render                                  # mandelbrot.png",
            "render seahorse --size 4k -o sea.png    # a scene of the gallery",
            "render --julia=-0.8,0.156 --palette ember",
        ]
    ),
)
@click.pass_context
def cli(context: click.Context) -> None:
    """Draw the Mandelbrot set, Julia sets and related fractals, on the CPU or a CUDA GPU."""
    if context.invoked_subcommand is None:
        write_out(context.get_help() + "\n")


# Running a verb: what it raises becomes lines on stderr and an exit code.

INTERRUPTED = 130


def run_verb(arguments: list[str] | None = None) -> int:
    """Run the command line, and return its exit code."""
    Verbosity.quiet = Verbosity.verbose = False
    Printed.compiling.clear()
    Called.verb, Called.given = None, ()
    try:
        with warnings.catch_warnings(action="default", category=FractalsWarning):  # once each
            warnings.showwarning = functools.partial(_show_warning, warnings.showwarning)
            code = cli.main(arguments, prog_name="fractals", standalone_mode=False)
        if sys.stdout is not None:
            write_out(b"")  # what is buffered fails here, and not when Python ends
        return code if isinstance(code, int) else 0
    except (Exception, SystemExit) as error:
        return explain(error)


def _show_warning(usual: Any, message: Warning | str, *where: Any, **more: Any) -> None:
    """Print a note of a function that a verb calls without ``on_message`` as a line.

    Python would print it with a line of click's source. Of a variable that Numba can't read and
    leaves alone, Numba's note has a traceback after its first line.
    """
    if isinstance(message, FractalsWarning):
        tell(str(message))
    elif str(message).startswith("Environment variable 'NUMBA_"):
        tell(str(message).splitlines()[0])
    else:
        usual(message, *where, **more)


def explain(error: Exception | SystemExit) -> int:
    """Print what went wrong, and return the exit code."""
    if isinstance(error, SystemExit):  # a signal; see `signals`
        code = error.code if isinstance(error.code, int) else 1
        if code > 128:
            print_line(f"ended by {signal.Signals(code - 128).name}")
        return code
    if isinstance(error, BrokenPipeError):
        discard(sys.stdout)
        return 1
    if isinstance(error, click.Abort) and isinstance(error.__cause__, EOFError):
        error = error.__cause__  # which click takes for an end of what a user types
    if isinstance(error, click.Abort):
        print_line("interrupted")
        return INTERRUPTED
    if isinstance(error, click.ClickException):
        print_line(usage_message(error))
        return error.exit_code
    if isinstance(error, FractalsError):
        print_lines(str(error).splitlines() or [type(error).__name__])
        if isinstance(error, StdoutError):
            discard(sys.stdout)
        return error.exit_code
    if isinstance(error, MemoryError):
        print_line("out of memory: give a smaller --size or --supersampling")
    elif isinstance(error, OSError):
        print_line(system_message(error))
        if error.errno in (errno.ENOSPC, errno.EBADF, errno.EIO):
            discard(sys.stdout)
    elif isinstance(error, RuntimeError) and "start new thread" in str(error):
        print_line("the system starts no more threads: give --threads 1, or raise ulimit -v and -u")
    elif isinstance(error, UnicodeError):
        print_line(f"text that is not UTF-8: {error}")
        return 2
    else:
        print_line(f"internal error: {type(error).__name__}: {error} (--verbose says where)")
        if Verbosity.verbose:
            import traceback

            traceback.print_exception(error)
    return 1


def system_message(error: OSError) -> str:
    """Return what the operating system says, with the file's name."""
    reason = error.strerror or str(error) or type(error).__name__
    if error.errno == errno.ENOENT and _is_folder_removed():
        return "the current folder was removed: change to another"
    if error.filename is None:
        full = error.errno == errno.ENOSPC
        return f"stdout can't be written: {reason}" if full else reason
    return f"'{error.filename}': {reason}"


def _is_folder_removed() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def usage_message(error: click.ClickException) -> str:
    """Return what click says, with the name of the option or argument in front."""
    message = error.format_message().replace("\n", " ")
    if isinstance(error, click.MissingParameter):
        name = error.param.make_metavar(error.ctx) if error.param and error.ctx else "a value"
        verb = error.ctx.command_path if error.ctx else "fractals"
        return f"{name} is missing: '{verb} --help' shows how to write it"
    if isinstance(error, click.BadParameter) and isinstance(error.param, click.Option):
        name = max(error.param.opts, key=len)
        variable = error.param.envvar
        return f"{name}: {error.message}" + (f" (or {variable} is wrong)" if variable else "")
    return message[:1].lower() + message[1:].removesuffix(".")
