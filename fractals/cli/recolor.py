"""`fractals recolor`."""

import math
from typing import Any

import click

import fractals
from fractals.cli.command import verb
from fractals.cli.completion import FILE
from fractals.cli.messages import tell
from fractals.cli.options import (
    color_options,
    device_options,
    device_request,
    json_option,
    output_option,
    overwrite_option,
    picture_options,
    scene_arguments,
)
from fractals.cli.progress import ProgressLine, program_of
from fractals.cli.report import report
from fractals.cli.scenes import default_output, fitted, requested_scene, with_colors
from fractals.errors import SceneError


@verb(
    "recolor",
    "recolor sea.fz --palette ember",
    "recolor sea.fz colors.toml --density 0.5 -o sea.png   # colors and layers of a scene",
    "recolor fraktaler.exr --gpu -o sea.png     # raw numbers of another program",
)
@click.argument("raw_file", metavar="FILE", shell_complete=FILE)
@scene_arguments
@color_options
@picture_options
@device_options
@output_option("Picture to write; the suffix is its type.")
@overwrite_option
@json_option
def recolor_command(
    raw_file: str,
    scenes: tuple[str, ...],
    output: str | None,
    overwrite: bool,
    as_json: bool,
    threads: int | None,
    **options: Any,
) -> None:
    """Draw raw numbers in other colors, without iterating again.

    FILE is what compute wrote (.fz, .npz, .exr), or an EXR with the raw numbers of Kalles Fraktaler
    or Fraktaler-3. A store (.fz) may be larger than the memory. Of each SCENE the colors and layers
    are taken.
    """
    from fractals.io.files import check_output
    from fractals.io.formats import PICTURES
    from fractals.io.image import check_format, format_of, lost
    from fractals.scene.layers import make_layers

    request = device_request(options)
    output = output or default_output((raw_file,), options, ".png", free=not overwrite)
    file_format = format_of(output)
    check_output(output, overwrite)
    if raw_file.lower().endswith(PICTURES):
        raise SceneError(
            f"{raw_file}: a picture has no raw numbers; "
            f"'fractals render {raw_file} --palette NAME' draws its scene in other colors"
        )
    raw = fractals.EscapeData.load(raw_file)
    lines: list[str] = []
    colors = with_colors(raw.scene, scenes, lines)
    scene = requested_scene((colors,), options, lines, fits=False)
    if raw.exact and not make_layers(scene).lacking(raw.planes):  # those are refused below
        given = {key: value for key, value in options.items() if value is not None}
        scene = fitted(colors, scene, given)
    check_format(file_format, scene.image.size, scene.image.bits)
    with ProgressLine(math.prod(scene.image.size), program_of(scene)) as progress:
        drawn = fractals.recolor_to(
            output,
            raw,
            scene,
            overwrite=overwrite,
            device=request,
            threads=threads,
            progress=progress,
            on_message=tell,
        )
    report(drawn, output, "recolor", as_json)
    if note := lost(file_format, scene):
        tell(note)
