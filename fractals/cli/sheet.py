"""`fractals sheet`."""

from pathlib import Path
from typing import Any

from fractals.cli.command import option, verb
from fractals.cli.completion import words
from fractals.cli.messages import tell
from fractals.cli.options import (
    color_options,
    output_option,
    overwrite_option,
    scene_arguments,
    view_options,
)
from fractals.cli.progress import ProgressLine
from fractals.cli.scenes import default_output, requested_scene
from fractals.errors import OptionError, shown


@verb(
    "sheet",
    "sheet seahorse                       # in every palette",
    "sheet sea.png --of colorings -o colorings.png",
    "sheet mine.toml --of density,offset --palette ember",
)
@scene_arguments
@option(
    "--of",
    "kind",
    metavar="WHAT",
    default="palettes",
    section="Output",
    shell_complete=words("palettes", "colorings", "density,offset"),
    help="What differs: palettes, colorings or density,offset.",
)
@view_options
@color_options
@output_option("Sheet to write, a PNG.")
@overwrite_option
def sheet_command(
    scenes: tuple[str, ...], kind: str, output: str | None, overwrite: bool, **options: Any
) -> None:
    """Draw a contact sheet: small pictures of a scene, with labels.

    SCENE is as of render. A sheet of palettes, or of densities and offsets, is iterated once. In a
    sheet of colorings each has its own palette, and a density that fits its values; colorings that
    show nothing in the view are left out.
    """
    from fractals.io.files import check_output, written
    from fractals.tools import sheet

    if kind not in sheet.KINDS:
        raise OptionError(f"--of: '{shown(kind, 40)}': choose {', '.join(sheet.KINDS)}")
    scene = requested_scene(scenes, options)
    path = output or default_output(scenes, {}, "-sheet.png", free=not overwrite)
    if Path(path).suffix.lower() != ".png":
        raise OptionError(f"--output: '{shown(path, 80)}' does not end in .png")
    check_output(path, overwrite)
    with ProgressLine(program=f"a sheet of {kind}"):
        found = list(sheet.cells(scene, kind))
        data = sheet.png(sheet.assemble(found))
    with written(path, overwrite) as file:
        file.write(data)
    tell(f"{path}: {len(found)} pictures")
