"""`fractals gallery`."""

from pathlib import Path
from typing import Any

import click

from fractals.cli.options import device_options, device_request, examples, option, tell
from fractals.errors import DifferenceError, FractalsError, OptionError


@click.command(
    "gallery",
    epilog=examples(
        "gallery -o pictures                  # all of it, and a page that shows it",
        "gallery seahorse julia -o pictures --width 1920",
        "gallery --check --cpu                # does this machine find the same counts?",
    ),
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@option("-o", "--output", metavar="FOLDER", default="gallery", help="Where to; made if missing.")
@option("--width", type=click.IntRange(16, 20000), default=640, help="Width of the pictures.")
@option("--check", is_flag=True, help="Compare counts with their hashes there; draw nothing.")
@device_options
def gallery_command(
    names: tuple[str, ...],
    output: str,
    width: int,
    check: bool,
    threads: int | None,
    **options: Any,
) -> None:
    """Draw the gallery, or some of its scenes, replacing the pictures that are there."""
    from fractals import catalog
    from fractals.tools import gallery

    request = device_request(options)
    for name in names:
        if name not in catalog.names("gallery"):
            raise OptionError(str(catalog.unknown("gallery", name)))
    folder = Path(output)
    if check:
        if different := gallery.check(names, folder, request, tell):
            raise DifferenceError(f"the counts of {', '.join(different)} differ")
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FractalsError(f"the folder '{folder}' can't be made: {error.strerror}") from None
    gallery.draw(names, folder, width, request, tell)
