"""`fractals gallery`."""

from pathlib import Path
from typing import Any

import click

from fractals.cli.options import device_options, device_request, examples, option, tell
from fractals.errors import FractalsError, OptionError


@click.command(
    "gallery",
    epilog=examples(
        "gallery -o pictures                  # all of it, and a page that shows it",
        "gallery seahorse julia -o pictures --width 1920",
        "list gallery                         # the names",
    ),
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@option("-o", "--output", metavar="FOLDER", default="gallery", help="Where to; made if missing.")
@option("--width", type=click.IntRange(16, 20000), default=640, help="Width of the pictures.")
@device_options
def gallery_command(
    names: tuple[str, ...], output: str, width: int, threads: int | None, **options: Any
) -> None:
    """Draw the gallery, or some of its scenes, replacing the pictures that are there."""
    from fractals import catalog
    from fractals.gallery import draw

    request = device_request(options)
    for name in names:
        if name not in catalog.names("gallery"):
            raise OptionError(str(catalog.unknown("gallery", name)))
    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FractalsError(f"the folder '{folder}' can't be made: {error.strerror}") from None
    draw(names, folder, width, request, tell)
