"""What a shell completes: names of the catalog, files and fixed words; `fractals completion`."""

from collections.abc import Callable, Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem

from fractals.cli.command import verb
from fractals.cli.messages import write_out

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


@verb(
    "completion",
    "completion bash >> ~/.bashrc",
    "completion zsh >> ~/.zshrc",
    "completion fish > ~/.config/fish/completions/fractals.fish",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Print the script that completes verbs, options and names in a shell."""
    from click.shell_completion import get_completion_class

    completion: Any = get_completion_class(shell)
    root = context.find_root().command
    write_out(completion(root, {}, "fractals", "_FRACTALS_COMPLETE").source())
