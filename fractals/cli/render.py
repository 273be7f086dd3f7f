"""`fractals render` and `recolor`."""

import contextlib
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import fractals
from fractals import catalog
from fractals.cli import shared
from fractals.cli.command import AS_MODEL, FILE, option, section, verb
from fractals.cli.messages import (
    ProgressLine,
    StdoutError,
    Verbosity,
    json_array,
    program_of,
    tell,
)
from fractals.cli.results import explain_plan, hint_at_one_color, plan_table, print_plan, report
from fractals.cli.scenes import (
    default_output,
    fitted,
    merged_parts,
    requested_scene,
    source_name,
)
from fractals.errors import OptionError, SceneError
from fractals.rendering.options import PictureFileOptions, PictureOptions
from fractals.scene.credits import SIGNATURE

if TYPE_CHECKING:
    from fractals.rendering.plan import Keeps
    from fractals.scene.model import Scene

TERMINAL = "on the terminal"  # where previews are shown, if it can show pictures
FIRST = "gallery:lantern"  # what render draws where nothing is asked for


@verb(
    "recolor",
    "recolor sea.fz --palette ember",
    "recolor sea.fz colors.toml --density 0.5 -o sea.png   # colors and layers of a scene",
    "recolor fraktaler.exr --gpu -o sea.png     # raw numbers of another program",
)
@click.argument("raw_file", metavar="FILE", shell_complete=FILE)
@shared.scene_arguments
@shared.color_options
@shared.display_options
@shared.relief_options
@shared.relief_light_options
@shared.source_options
@shared.develop_options
@shared.picture_options
@shared.signature_options
@shared.device_options
@shared.output_option("Picture to write; the suffix is its type; - is stdout.", "io.image.FORMATS")
@shared.overwrite_option
@shared.json_option
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
    are taken, the relief, and how light is developed. Of scatter images the display can change, but
    not the palette; of solids the light of sun, sky and emission, if they were computed with
    --relight.
    """
    from fractals.io.files import check_output
    from fractals.io.image import check_format, format_of, lost

    request = shared.device_request(options)
    output = output or default_output((raw_file,), options, ".png", free=not overwrite)
    file_format = "PNG" if output == "-" else format_of(output)
    if output == "-":
        check_stdout(as_json)
    else:
        check_output(output, overwrite)
    lines: list[str] = []
    raw, scene = raw_request(raw_file, scenes, options, lines)
    check_format(file_format, scene.image)
    with ProgressLine(math.prod(scene.image.size), program_of(scene)) as progress:
        drawn = fractals.recolor_to(
            sys.stdout.buffer if output == "-" else output,
            raw,
            scene,
            **recolored_keys(scene),
            overwrite=overwrite,
            device=request,
            threads=threads,
            progress=progress,
            on_message=tell,
        )
    report(drawn, output, "recolor", as_json, lines)
    if note := lost(file_format, scene):
        tell(note)


def recolored_keys(scene: "Scene") -> dict[str, Any]:
    """Return the keys of a scene that `recolor` takes besides its looks.

    Of other scenes the looks alone are taken. Options are all passed on, so that one which raw
    numbers can't follow, such as another size, is an error.
    """
    values = scene.to_values()
    keys = ("image", "light", "camera", *SIGNATURE)
    return {name: values[name] for name in keys if name in values}


def raw_request(
    raw_file: str, sources: tuple[str, ...], options: dict[str, Any], lost: list[str]
) -> tuple[Any, "Scene"]:
    """Return the raw numbers of a file, and the scene whose colors they are drawn in.

    `lost` is as of `requested_scene`.
    """
    from fractals.io.foreign.formats import PICTURES
    from fractals.io.load import with_colors
    from fractals.rendering.families import family_of, load_raw
    from fractals.scene.geometry import make_layers

    if raw_file.lower().endswith(PICTURES):
        raise SceneError(
            f"{raw_file}: a picture has no raw numbers; "
            f"'fractals render {raw_file} --palette NAME' draws its scene in other colors"
        )
    if not os.path.exists(raw_file) and catalog.has("gallery", raw_file):
        raise SceneError(
            f"{raw_file}: a scene has no raw numbers: 'fractals compute {raw_file}' computes them, "
            f"and then 'fractals recolor {raw_file}.fz' draws them"
        )
    raw = load_raw(raw_file)
    parts = [part for source in sources for part in merged_parts(source)]
    looks = family_of(raw.scene).looks
    colors = with_colors(raw.scene, looks, *parts, lost=lost, **shared.reading())
    scene = requested_scene((colors,), options, lost, fits=False)
    escapes = isinstance(raw, fractals.EscapeData)
    if (
        escapes and raw.exact and not make_layers(scene).lacking(raw.planes)
    ):  # `recolor` refuses other raw numbers below.
        given = {key: value for key, value in options.items() if value is not None}
        scene = fitted(colors, scene, given)
    return raw, scene


@verb(
    "render",
    "render seahorse --zoom x3 --palette ember",
    "render --formula burning_ship --center=-1.7549,-0.0282 --width 0.05 --gpu -o ship.png",
    "render seahorse julia -o pictures/      # a picture of each",
)
@shared.scene_arguments
@shared.scene_options
@shared.color_options
@option(shared.SOLIDS, "--relight/--no-relight", AS_MODEL)
@shared.picture_options
@shared.signature_options
@shared.device_options
@shared.effort_options
@shared.output_option(
    "Picture to write; the suffix is its type, of a page that draws .html; - is stdout, FOLDER/ "
    "takes each scene.",
    "io.image.FORMATS",
    "/",
)
@shared.overwrite_option
@section(
    "Output",
    {
        "--preview FILE.png": PictureOptions,
        "--no-preview": "Show no preview on a terminal that can show pictures.",
        "--keep": PictureFileOptions,
    },
)
@shared.cluster_options
@shared.dry_run_option
@shared.json_option
def render_command(
    scenes: tuple[str, ...],
    output: str | None,
    overwrite: bool,
    preview: str | None,
    no_preview: bool,
    keep: bool,
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Draw a picture.

    A SCENE is the name of a gallery scene (gallery:NAME where a file has that name) or of a solid,
    a .toml or .json file, a picture drawn by fractals, a file of another program (fractals list
    formats), or - for stdin. FILE#NAME is one entry of a file. Several scenes, or A+B, are merged
    from left to right; options come last. Without a SCENE the Mandelbrot set is drawn: as the scene
    lantern, unless options name a formula, a view or colors.
    """
    how = shared.drawing_request(options)
    cluster = shared.cluster_request(options)
    files = PictureFileOptions(overwrite=overwrite, keep=keep, cluster=cluster)
    asks = not (no_preview or as_json) and _on_terminal()
    how["preview"] = preview or (TERMINAL if asks else False)
    if scenes and output and output != "-" and is_folder(output):
        draw_each(scenes, output, options, how, files, dry_run, as_json)
        return
    lost: list[str] = []
    defaults = shared.scene_table()
    drawn = scenes or first_scene(options, defaults)
    scene = requested_scene(drawn, options, lost, defaults, fits=not dry_run)
    path = output or default_output(
        scenes, options, ".png", free=not (overwrite or dry_run or keep)
    )
    draw_or_plan(scene, path, how, files, dry_run, as_json, lost)


def draw_each(
    scenes: tuple[str, ...],
    folder: str,
    options: dict[str, Any],
    how: dict[str, Any],
    files: PictureFileOptions,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Draw a picture of each scene into a folder, or print their plans."""
    from fractals.io.files import check_output, made_folder

    paths = [str(Path(folder, source_name(source) + ".png")) for source in scenes]
    for path in paths:
        if paths.count(path) > 1:
            raise OptionError(
                f"'{path}' would be written twice: draw these scenes into two folders"
            )
    with contextlib.nullcontext() if dry_run else made_folder(folder):
        # All are read, and their files checked, before the first is drawn, which may take hours.
        read: list[tuple[Scene, str, list[str]]] = []
        for source, path in zip(scenes, paths, strict=True):
            lost: list[str] = []
            defaults = shared.scene_table()
            scene = requested_scene((source,), options, lost, defaults, fits=not dry_run)
            read.append((scene, path, lost))
            if not (dry_run or files.keep):
                check_output(path, files.overwrite)
        with json_array():
            for scene, path, lost in read:
                draw_or_plan(scene, path, how, files, dry_run, as_json, lost)


def first_scene(options: dict[str, Any], defaults: Any) -> tuple[str, ...]:
    """Return the scene to draw where none is named: `FIRST`, or none for a plain Mandelbrot set.

    `FIRST` is drawn if options and defaults name only its size, its pixels and its signature.
    """
    from fractals.scene.picture import ImageSettings

    given = {key for key, value in options.items() if value is not None}
    own = {*ImageSettings.model_fields, *SIGNATURE}
    plain = given <= own and (defaults or {}).keys() <= {"image"}
    return (FIRST,) if plain else ()


def _on_terminal() -> bool:
    """Tell whether there is a terminal that may show previews."""
    streams = sys.stdin, sys.stdout, sys.stderr
    terminal = all(each is not None and each.isatty() for each in streams)
    return terminal and not Verbosity.quiet and os.environ.get("TERM", "dumb") != "dumb"


def is_folder(output: str) -> bool:
    """Return whether an output names a folder, one that exists or ``name/``."""
    return output.endswith(("/", os.sep)) or os.path.isdir(output)


def draw_or_plan(
    scene: "Scene",
    output: str,
    how: dict[str, Any],
    files: PictureFileOptions,
    dry_run: bool,
    as_json: bool,
    lost_lines: list[str],
) -> None:
    """Draw a scene into a file, or print its plan."""
    from fractals.io.image import format_of, lost
    from fractals.rendering.families import family_of, unused
    from fractals.rendering.render import draw_scene_to

    family = family_of(scene)
    layered = Path(output).suffix.lower() in family.layered
    file_format = "" if layered else "PNG" if output == "-" else format_of(output)
    if dry_run:
        print_plan(plan_of_picture(scene, file_format, how, measures=True), as_json)
        return
    if output == "-":
        check_stdout(as_json)
    if not layered and (note := lost(file_format, scene)):
        tell(note)
    if Verbosity.verbose:
        explain_plan(plan_of_picture(scene, file_format, how))
    after = "the programs of the page" if file_format == "HTML" else ""
    pixels = math.prod(scene.image.size)
    with ProgressLine(pixels, family.program(scene), after=after) as progress:
        if how["preview"] is TERMINAL:
            from fractals.cli.preview import terminal_preview

            how = {**how, "preview": terminal_preview(progress)}
        if line := unused(scene):
            tell(line)
        options = PictureOptions(progress=progress, **how)
        file = sys.stdout.buffer if output == "-" else output
        rendered = draw_scene_to(file, scene, options, files)
    report(rendered, output, rendered.method, as_json, lost_lines)
    if output != "-" and not layered:
        hint_at_one_color(output, scene)


def plan_of_picture(
    scene: "Scene", file_format: str, how: dict[str, Any], measures: bool = False
) -> dict[str, Any]:
    """Return the plan of a picture as a table.

    With `measures`, as for --dry-run, the forecast is measured and a type of file that can't hold
    the picture is an error. While a picture is drawn, the drawing itself raises that error.
    """
    from fractals.io.image import check_format

    if measures and file_format:
        check_format(file_format, scene.image)
    streams = file_format == "PNG" and not scene.develop.whole
    keeps: Keeps = "bands" if streams else "pixels"
    if not file_format and not how.get("keep"):
        keeps = "layers"
    return plan_table(scene, how, keeps, measures)


def check_stdout(as_json: bool) -> None:
    """Refuse to write a picture to a terminal, to a closed stdout, or among JSON."""
    if as_json:
        raise OptionError("--json and '--output -' both write to stdout: give one of them")
    if sys.stdout is None:
        raise StdoutError("stdout is closed: name a file with --output")
    if sys.stdout.isatty():
        raise OptionError("stdout is a terminal: name a file with --output")
