"""`fractals tiles`."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import fractals
from fractals.cli import shared
from fractals.cli.command import section, verb
from fractals.cli.messages import ProgressLine, plan_table, print_plan, program_of, tell
from fractals.cli.render import raw_request
from fractals.cli.scenes import requested_scene, source_name
from fractals.cli.values import Whole
from fractals.errors import OptionError

if TYPE_CHECKING:
    from fractals.scene.model import Scene
    from fractals.tools.tiles import Pyramid

MAX_TILE = 4096  # pixels: browsers draw no larger pictures everywhere


@verb(
    "tiles",
    "tiles seahorse --size 30000x20000 -o sea/    # the same command resumes it",
    "tiles sea.fz --palette ember -o sea/         # raw numbers, in other colors",
    "tiles poster.png -o poster/                  # the pixels of a picture that exists",
)
@shared.scene_arguments
@shared.scene_options
@shared.color_options
@shared.device_options
@shared.effort_options
@section(
    "Output",
    {
        "--tile N": "Pixels of a tile along each side, without overlap (default: 510).",
        "--type TYPE suffix": (
            "Type of the tiles: png and webp keep all pixels as they are, jpg is smaller "
            "(default: png)."
        ),
    },
    tile={"type": Whole(64, MAX_TILE), "default": 510},
    suffix={"type": click.Choice(["png", "jpg", "webp"]), "default": "png"},
)
@shared.output_option("Folder of the tiles and the page.", "/", metavar="FOLDER")
@shared.overwrite_option
@shared.cluster_options
@shared.dry_run_option
def tiles_command(
    scenes: tuple[str, ...],
    tile: int,
    suffix: str,
    output: str | None,
    overwrite: bool,
    dry_run: bool,
    **options: Any,
) -> None:
    """Draw a picture that one can zoom, as tiles and a page.

    FOLDER/index.html opens from a disk or any web server, and needs no other program. The folder
    FOLDER/picture_files and FOLDER/picture.dzi are in the Deep Zoom layout, which other viewers
    read. One SCENE may be a file of raw numbers (.fz, .npz, .exr). A picture as the one SCENE,
    without options that change it, is cut as it is. A picture of any size needs little memory.
    """
    from fractals.io.escape_data import SUFFIXES
    from fractals.io.formats import PICTURES
    from fractals.tools import tiles

    how = shared.drawing_request(options)
    if cluster := shared.cluster_request(options):
        how["cluster"] = cluster
    folder = Path(output or f"{source_name(scenes[0]) if scenes else 'mandelbrot'}-tiles")
    changed = any(value not in (None, ()) for value in options.values())
    source = scenes[0].lower() if len(scenes) == 1 else ""
    if source.endswith(PICTURES) and not changed:
        if dry_run:
            raise OptionError(f"{scenes[0]} is cut, and not drawn: leave --dry-run out")
        pyramid, scene = tiles.of_picture(folder, Path(scenes[0]), tile, suffix, overwrite)
        finish(pyramid, scene, Path(scenes[0]), how["threads"])
        return
    raw: Any = None
    if source.endswith(SUFFIXES):
        raw, scene = raw_request(scenes[0], (), options)
    else:
        scene = requested_scene(scenes, options, [], shared.scene_table(), fits=not dry_run)
    if dry_run:
        if raw is not None:
            raise OptionError(f"{scenes[0]} is not iterated again: leave --dry-run out")
        print_plan(plan_table(scene, how, "bands", measures=True), False)
        return
    scene = scene.replace(bits=8)
    pyramid = tiles.of_scene(folder, scene, tile, suffix, overwrite)
    drawn = folder / tiles.DRAWN
    if not (drawn.exists() or tiles.is_complete(pyramid)):
        with ProgressLine(math.prod(scene.image.size), program_of(scene)) as progress:
            if raw is None:
                fractals.render_to(drawn, scene, progress=progress, **how)
            else:
                fractals.recolor_to(
                    drawn,
                    raw,
                    scene,
                    device=how["device"],
                    threads=how["threads"],
                    progress=progress,
                    on_message=tell,
                )
    finish(pyramid, scene, drawn, how["threads"])
    drawn.unlink(missing_ok=True)


def finish(pyramid: "Pyramid", scene: "Scene | None", picture: Path, threads: int | None) -> None:
    """Cut a picture into the tiles that lack, and write the page."""
    from fractals.tools import tiles

    page = pyramid.folder / tiles.PAGE
    if tiles.is_complete(pyramid):
        tell(f"{page} is complete")
        return
    with ProgressLine(task="cutting tiles") as progress:
        tiles.cut(
            pyramid,
            tiles.rows_of(picture),
            threads,
            lambda done, total: progress.show(
                "", done, total, f"{done} of {total} tiles are written", "tiles"
            ),
        )
    tiles.write_page(pyramid, scene)
    tell(f"{page}: {pyramid.levels} levels, {tiles.number(pyramid)} tiles; open it in a browser")
