"""`fractals help`."""

import click

from fractals.cli.command import verb
from fractals.cli.completion import verb_names
from fractals.cli.messages import write_out
from fractals.errors import OptionError


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
