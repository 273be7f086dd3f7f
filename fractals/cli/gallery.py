"""`fractals gallery`."""

from pathlib import Path
from typing import Any

import click

from fractals.cli.command import option, verb
from fractals.cli.completion import names as complete
from fractals.cli.list import entries
from fractals.cli.messages import tell, write_out
from fractals.cli.options import device_options, device_request, output_option
from fractals.cli.progress import ProgressLine
from fractals.cli.values import parse_size
from fractals.errors import DifferenceError, FractalsError, OptionError


@verb(
    "gallery",
    "gallery --all -o pictures            # every scene, and a page that shows them",
    "gallery seahorse julia -o pictures --size 1920x",
    "gallery --check --cpu                # compare the counts on this machine",
)
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=complete("gallery"))
@option("--all", "whole", is_flag=True, section="Output", help="Draw every scene, and the page.")
@output_option("Folder of the pictures, made if missing.", "FOLDER", "gallery")
@option(
    "--size",
    metavar="SIZE",
    default="640x",
    section="Picture",
    help="Pixels: 640x (the width; each scene keeps its shape), 50%, 1920x1080.",
)
@option(
    "--check",
    is_flag=True,
    section="Output",
    help="Compare the iteration counts with those stored in the folder; draw nothing.",
)
@device_options
def gallery_command(
    names: tuple[str, ...],
    whole: bool,
    output: str,
    size: str,
    check: bool,
    threads: int | None,
    **options: Any,
) -> None:
    """Draw scenes of the gallery into a folder, replacing its pictures.

    Without NAME, --all or --check, the scenes are listed.
    """
    from fractals import catalog
    from fractals.tools import gallery

    request = device_request(options)
    for name in names:
        if name not in catalog.names("gallery"):
            raise OptionError(str(catalog.unknown("gallery", name)))
    if names and whole:
        raise OptionError("--all draws every scene: name no scenes with it")
    if not (names or whole or check):
        rows = entries("scenes")
        width = max(len(name) for name, _, _ in rows)
        write_out("".join(f"{name:{width}}  {title}\n" for name, title, _ in rows))
        tell("'fractals gallery --all' draws them; 'fractals render NAME' draws one")
        return
    folder = Path(output)
    parse_size(size, (1920, 1080))  # before any work is done
    with ProgressLine(program="the scenes of the gallery"):
        if check:
            if different := gallery.check(names, folder, request, tell, threads):
                raise DifferenceError(f"the counts of {', '.join(different)} differ")
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FractalsError(f"the folder '{folder}' can't be made: {error.strerror}") from None
        gallery.draw(
            names, folder, lambda current: parse_size(size, current), request, tell, threads
        )
