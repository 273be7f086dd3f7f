"""`fractals gallery` and `sheet`."""

from pathlib import Path
from typing import Any

import click

from fractals import catalog
from fractals.cli import shared
from fractals.cli.command import names as complete
from fractals.cli.command import option, verb, words
from fractals.cli.convert import entries
from fractals.cli.messages import ProgressLine, tell, write_out
from fractals.cli.scenes import check_png, default_output, make_folder, requested_scene
from fractals.cli.values import parse_size
from fractals.errors import DifferenceError, OptionError, shown

# `fractals sheet`.


@verb(
    "sheet",
    "sheet seahorse                       # in every palette",
    "sheet sea.png --of colorings -o colorings.png",
    "sheet mine.toml --of density,offset --palette ember",
)
@shared.scene_arguments
@option(
    "Output",
    "--of WHAT kind",
    "What differs: palettes, colorings or density,offset.",
    default="palettes",
    shell_complete=words("palettes", "colorings", "density,offset"),
)
@shared.view_options
@shared.color_options
@shared.output_option("Sheet to write, a PNG.", ".png")
@shared.overwrite_option
def sheet_command(
    scenes: tuple[str, ...], kind: str, output: str | None, overwrite: bool, **options: Any
) -> None:
    """Draw a contact sheet: small pictures of a scene, with labels.

    SCENE is as of render. A sheet of palettes, or of densities and offsets, is iterated once. In a
    sheet of colorings each has its own palette, and a density that fits its values; colorings that
    show nothing in the view are left out.
    """
    from fractals.io.files import written
    from fractals.tools import sheet

    if kind not in sheet.KINDS:
        raise OptionError(f"--of: '{shown(kind, 40)}': choose {', '.join(sheet.KINDS)}")
    scene = requested_scene(scenes, options)
    path = output or default_output(scenes, {}, "-sheet.png", free=not overwrite)
    check_png(path, overwrite)
    with ProgressLine(program=f"a sheet of {kind}"):
        found = list(sheet.cells(scene, kind))
        data = sheet.png(sheet.assemble(found))
    with written(path, overwrite) as file:
        file.write(data)
    tell(f"{path}: {len(found)} pictures")


@verb(
    "gallery",
    "gallery --all -o pictures            # every scene, and a page that shows them",
    "gallery seahorse julia -o pictures --size 1920x",
    "gallery --check --cpu                # compare the counts on this machine",
)
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=complete("gallery"))
@option("Output", "--all whole", "Draw every scene, and the page.")
@shared.output_option(
    "Folder of the pictures, made if missing.", "/", metavar="FOLDER", default="gallery"
)
@option(
    "Picture",
    "--size SIZE",
    "Pixels: 1280x (the width; each scene keeps its shape), 50%, 1920x1080.",
    default="1280x",
)
@option(
    "Output",
    "--check",
    "Compare the iteration counts with those stored in the folder; draw nothing.",
)
@shared.device_options
def gallery_command(
    names: tuple[str, ...],
    whole: bool,
    output: str,
    size: str,
    check: bool,
    threads: int | None,
    **options: Any,
) -> None:
    """Draw scenes of the gallery into a folder, as WebP, replacing its pictures.

    Without NAME, --all or --check, the scenes are listed.
    """
    from fractals.tools import gallery

    request = shared.device_request(options)
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
        make_folder(folder)
        gallery.draw(
            names, folder, lambda current: parse_size(size, current), request, tell, threads
        )
