"""Arguments and checks shared by the tests of the command line."""

import signal

import click

from fractals.cli.verbs import COMMANDS, cli

SMALL = ("--size", "32x18", "--cpu")


def verbs(names=COMMANDS, group=cli, before=()):
    """Yield the words of each verb, and the verb."""
    for name in names:
        verb = group.get_command(None, name)
        if isinstance(verb, click.Group):
            yield from verbs(verb.commands, verb, (*before, name))
        else:
            yield (*before, name), verb


def one_line(err):
    lines = err.splitlines()
    return len(lines) == 1 and lines[0].startswith("fractals: ") and "Traceback" not in err


def hear_signals():
    """Undo in a child what a shell, nohup and the like have processes ignore."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
