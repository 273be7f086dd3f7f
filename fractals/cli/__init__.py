"""The command line: arguments -> Scene -> render. It computes nothing itself."""

import gc
import importlib
import os
import sys
from typing import NoReturn

import click

from fractals import __version__
from fractals.errors import FractalsError

COMMANDS = {  # verb: the module that holds it; imported only when it is called
    "render": "draw",
    "compute": "draw",
    "recolor": "draw",
    "find": "find",
    "bench": "bench",
    "gallery": "gallery",
    "devices": "look",
    "list": "look",
    "show": "look",
    "convert": "look",
    "verify": "look",
    "completion": "look",
}


class Verbs(click.Group):
    """Commands that are imported on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the verbs, in the order they are shown."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"fractals.cli.{COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a verb, or say which one may have been meant."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            from fractals.catalog import did_you_mean

            hint = did_you_mean(args[0], COMMANDS) or f"; the verbs are {', '.join(COMMANDS)}"
            ctx.fail(f"no such verb '{args[0]}'{hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  fractals render                                  # mandelbrot.png
  fractals render seahorse --size 4k -o sea.png
  fractals render --julia=-0.8,0.156 --palette ember -o julia.png""",
)
@click.version_option(__version__, prog_name="fractals", message="%(prog)s %(version)s")
def cli() -> None:
    """Draw the Mandelbrot set, Julia sets and their kin, on the CPU or a CUDA GPU."""


def run() -> NoReturn:
    """Run the command line as a process of its own, which is quick to begin and to end."""
    gc.set_threshold(100_000)  # the many objects of imported modules are no garbage
    try:
        main()
    finally:
        gc.freeze()  # and needn't be taken apart at the end


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line; every error that is the user's to mend ends in one line."""
    try:
        code = cli.main(arguments, prog_name="fractals", standalone_mode=False)
        sys.stdout.flush()
    except FractalsError as error:
        for line in str(error).splitlines():
            click.echo(f"fractals: {line}", err=True)
        code = error.exit_code
    except click.ClickException as error:
        message = error.format_message().replace("\n", " ")
        click.echo(f"fractals: {message}", err=True)
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("fractals: interrupted", err=True)
        code = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except MemoryError:
        click.echo("fractals: out of memory: give a smaller --size or --supersampling", err=True)
        code = 1
    # Threads that were cut off in a compiled loop need not be waited for.
    sys.stderr.flush()
    if code == 130:
        os._exit(code)
    sys.exit(code if isinstance(code, int) else 0)
