"""Pictures of other kinds: `fractals gallery`, `proof`, `sheet`, `tiles` and `trace`."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import fractals
from fractals import catalog
from fractals.cli import shared
from fractals.cli.command import FILE, of, option, section, verb, words
from fractals.cli.command import names as complete
from fractals.cli.convert import entries
from fractals.cli.messages import ProgressLine, program_of, tell, write_out
from fractals.cli.render import raw_request, recolor_command, recolored_keys
from fractals.cli.results import plan_table, print_plan
from fractals.cli.scenes import check_png, default_output, requested_scene, source_name
from fractals.cli.values import Paper, Whole, parse_size, width_on
from fractals.errors import DifferenceError, OptionError, counted, shown
from fractals.tools.options import TraceOptions

if TYPE_CHECKING:
    from fractals.scene.model import Scene
    from fractals.tools.tiles import Pyramid


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
    "What differs: palettes, colorings, blends (of the topmost layer) or density,offset.",
    default="palettes",
    shell_complete=words("palettes", "colorings", "density,offset", "blends"),
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
    path = output or default_output(scenes, options, "-sheet.png", free=not overwrite)
    check_png(path, overwrite)
    with ProgressLine(program=f"a sheet of {kind}"):
        found = list(sheet.cells(scene, kind))
        data = sheet.png(sheet.assemble(found))
    with written(path, overwrite) as file:
        file.write(data)
    tell(f"{path}: {counted(len(found), 'picture')}")


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
    from fractals.io.files import made_folder
    from fractals.tools import gallery

    request = shared.device_request(options)
    for name in names:
        if not catalog.has("gallery", name):
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
        with made_folder(folder):
            gallery.draw(
                names, folder, lambda current: parse_size(size, current), request, tell, threads
            )


MAX_TILE = 4096  # pixels: browsers draw no larger pictures everywhere
# Parameters that change nothing where a picture is cut.
IDLE = (
    *("dry_run", "cluster", "keys", "insecure", "returns"),
    *("no_interior_shortcuts", "no_cache", "force"),
)


@verb(
    "tiles",
    "tiles seahorse --size 30000x20000 -o sea/    # the same command resumes it",
    "tiles sea.fz --palette ember -o sea/         # raw numbers, in other colors",
    "tiles poster.png -o poster/                  # the pixels of a picture that exists",
)
@shared.scene_arguments
@shared.scene_options
@shared.color_options
@shared.signature_options
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
    from fractals.backends.devices import choose
    from fractals.io.escape_data import SUFFIXES
    from fractals.io.foreign.formats import PICTURES
    from fractals.tools import tiles

    how = shared.drawing_request(options)
    if cluster := shared.cluster_request(options):
        how["cluster"] = cluster
    folder = Path(output or default_output(scenes, options, "-tiles", free=False))
    changed = any(value not in (None, ()) for value in options.values())
    ending = Path(scenes[0]).suffix.lower() if len(scenes) == 1 else ""
    if ending in PICTURES and not changed:
        shared.check_left_out(f"{scenes[0]} is cut, and not drawn", *IDLE)
        picture = Path(scenes[0])
        with tiles.of_picture(folder, picture, tile, suffix, overwrite) as (pyramid, scene):
            finish(pyramid, scene, picture, how["threads"])
        return
    raw: Any = None
    if ending in SUFFIXES:
        known = {each.name for each in recolor_command.params} | {"tile", "suffix"}
        others = [each.name or "" for each in tiles_command.params if each.name not in known]
        shared.check_left_out(f"{scenes[0]} is not iterated again", *others)
        raw, scene = raw_request(scenes[0], (), options, [])
    else:
        scene = requested_scene(scenes, options, [], shared.scene_table(), fits=not dry_run)
    if dry_run:
        print_plan(plan_table(scene, how, "bands", measures=True), False)
        return
    scene = scene.replace(bits=8, hdr=False)
    choose(how["device"])  # one that is missing ends here, before there is a folder
    with tiles.of_scene(folder, scene, tile, suffix, overwrite) as pyramid:
        drawn = folder / tiles.DRAWN
        if not (drawn.exists() or tiles.is_complete(pyramid)):
            with ProgressLine(math.prod(scene.image.size), program_of(scene)) as progress:
                if raw is None:
                    fractals.render_to(drawn, scene, progress=progress, **how)
                else:
                    own = {key: how[key] for key in ("device", "threads", "on_message")}
                    own |= recolored_keys(scene) | {"progress": progress}
                    fractals.recolor_to(drawn, raw, scene, **own)
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
                "", done, total, f"{done} of {counted(total, 'tile')} written", "tiles"
            ),
        )
    tiles.write_page(pyramid, scene)
    levels = counted(pyramid.levels, "level")
    tell(f"{page}: {levels}, {counted(tiles.number(pyramid), 'tile')}; open it in a browser")


LINES = TraceOptions.LIMITS


@verb(
    "trace",
    "trace seahorse --contours 30 -o sea.svg",
    "trace --rays 32 -o set.svg                  # 32 rays, evenly spread",
    "trace leaves --colored --paper A3 -o leaves.svg",
)
@shared.scene_arguments
@shared.view_options
@shared.color_options
@shared.signature_options
@shared.max_iterations_option
@shared.threads_option
@section(
    "Lines",
    of(
        TraceOptions,
        "--contours N",
        "--rays N|ANGLES",
        "--paper MM|NAME",
        "--pen MM",
        "--shortest MM",
        "--colored",
    ),
    contours={"type": Whole(*LINES["contours"]), "default": TraceOptions.contours},
    paper={"type": Paper(*LINES["paper"]), "default": TraceOptions.paper},
    pen={"type": click.FloatRange(*LINES["pen"]), "default": TraceOptions.pen},
    shortest={"type": click.FloatRange(*LINES["shortest"]), "default": TraceOptions.shortest},
)
@shared.output_option("Drawing to write, an SVG.", ".svg")
@shared.overwrite_option
def trace_command(
    scenes: tuple[str, ...],
    contours: int,
    rays: str | None,
    paper: float | tuple[float, float],
    pen: float,
    shortest: float,
    colored: bool,
    threads: int | None,
    output: str | None,
    overwrite: bool,
    **options: Any,
) -> None:
    """Draw a scene in lines, for pen plotters and laser cutters.

    Contours join the points where the scene's coloring has one value: those of smooth are lines of
    equal potential; those of distance, which is taken in place of smooth unless --coloring is
    given, follow the set itself. Lines end where the next one is closer than the width of the pen.
    External rays cross them; they are those of z**d + c. A larger --size gives finer lines. The
    lines are in an order in which a pen travels little.
    """
    from fractals.rendering.options import RenderOptions
    from fractals.tools import trace

    path = Path(output or default_output(scenes, options, ".svg", free=not overwrite))
    trace.check_drawing(path, overwrite)
    scene = requested_scene(scenes, options, [], shared.scene_table())
    asked = TraceOptions(
        contours=contours,
        rays=rays or (),
        paper=width_on(paper, scene.image.size),
        pen=pen,
        shortest=shortest,
        colored=colored,
    )
    how = RenderOptions(device="cpu", threads=threads, on_message=tell)
    with ProgressLine(program=program_of(scene), task="following lines"):
        found = trace.draw_lines(scene, asked, how, options["coloring"] is not None)
    found.save(path, overwrite=overwrite)
    tell(f"{path}: {counted(len(found), 'line')}, {asked.paper:g} mm wide")


@verb(
    "proof",
    "proof poster.png --icc paper.icc             # poster-proof.png, for the screen",
    "proof poster.png --icc paper.icc --intent absolute -o white.png   # and the paper's white",
    "proof poster.png --icc paper.icc --convert -o print.tif",
)
@click.argument("picture", metavar="PICTURE", shell_complete=FILE)
@section(
    "Print",
    {
        "--icc FILE": "ICC profile of the printer or the paper, which print shops offer.",
        "--intent HOW": (
            "How colors that the print lacks are replaced: relative (default), perceptual, "
            "saturation or absolute."
        ),
        "--convert": "Write the picture in the colors of the profile, in place of a proof.",
    },
    intent={"default": "relative"},
)
@shared.output_option(
    "Picture to write: .png, .jpg or .tif; .jpg or .tif of a profile of CMYK.",
    ".png",
    ".jpg",
    ".tif",
)
@shared.overwrite_option
def proof_command(
    picture: str,
    icc: str | None,
    intent: str,
    convert: bool,
    output: str | None,
    overwrite: bool,
) -> None:
    """Show on the screen how a picture will look in print, by an ICC profile.

    PICTURE is any picture. The proof is a picture of sRGB, of 8 bits. It carries no scene, as its
    colors are not those of a scene. A line tells which share of the pixels looks otherwise.
    """
    from fractals.io.files import check_output, written
    from fractals.io.image import FORMATS
    from fractals.tools import proof

    if icc is None:
        raise OptionError("proof requires --icc FILE: the profile of the printer or the paper")
    path = Path(output or f"{source_name(picture)}-{'print' if convert else 'proof'}.png")
    kind = FORMATS.get(path.suffix.lower(), "")
    if kind not in ("PNG", "JPEG", "TIFF"):
        raise OptionError(f"'{shown(path)}': end the name in .png, .jpg or .tif")
    check_output(path, overwrite)
    with ProgressLine(task="converting colors"):
        if convert:
            made, profile = proof.converted(Path(picture), Path(icc), intent)
            line = f"in the colors of {shown(Path(icc).name)}"
        else:
            made, share = proof.proof(Path(picture), Path(icc), intent)
            profile, line = None, f"{100 * share:.1f} % of the pixels look otherwise in print"
    if made.mode == "CMYK" and kind == "PNG":
        raise OptionError(f"'{shown(path)}': a PNG holds no CMYK: end the name in .tif or .jpg")
    with written(path, overwrite) as file:
        proof.write(file, made, kind, profile, Path(picture))
    tell(f"{path}: {made.width}x{made.height} {made.mode}, {line}")
