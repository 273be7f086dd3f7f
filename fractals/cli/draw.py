"""`fractals render`, `compute` and `recolor`."""

import math
import sys
from typing import TYPE_CHECKING, Any

import click

from fractals.cli.options import (
    ProgressLine,
    color_options,
    device_options,
    device_request,
    examples,
    json_option,
    option,
    overwrite_option,
    picture_options,
    print_json,
    requested_scene,
    scene_options,
    seconds_line,
    tell,
    tell_lost,
    together,
)
from fractals.errors import OptionError

if TYPE_CHECKING:
    from fractals.io.escape_data import EscapeData
    from fractals.rendering.compute_store import Computed
    from fractals.rendering.stream import Rendered
    from fractals.scene.model import Scene

effort_options = together(
    option(
        "--no-interior-shortcuts",
        is_flag=True,
        help="Iterate every sample inside to the limit (for benchmarks).",
    ),
    option("--no-cache", is_flag=True, help="Keep no reference orbit on disk, and read none."),
    option("--force", is_flag=True, help="Also draw what takes hours."),
)


@click.command(
    "render",
    epilog=examples(
        "render --formula burning_ship --center=-1.7549,-0.0282 --width 0.05 --gpu -o ship.png",
        "render sea.png --size 300% --palette ember -o print.png   # a picture is a scene",
        "render place.kfr colors.toml                  # so are files of other programs",
    ),
)
@click.argument("scenes", nargs=-1, metavar="[SCENE]...")
@scene_options
@color_options
@picture_options
@device_options
@effort_options
@option(
    "-o",
    "--output",
    metavar="FILE",
    help="Picture to write; its suffix names the type; - is stdout.",
)
@overwrite_option
@option("--dry-run", is_flag=True, help="Print the plan; draw and write nothing.")
@json_option
def render_command(
    scenes: tuple[str, ...],
    no_interior_shortcuts: bool,
    no_cache: bool,
    force: bool,
    output: str | None,
    overwrite: bool,
    dry_run: bool,
    as_json: bool,
    threads: int | None,
    **options: Any,
) -> None:
    """Draw a picture.

    A SCENE is a name from the gallery, a .toml or .json file, a picture drawn by fractals, whose
    scene is inside, or a file of another program (fractals list formats); FILE#NAME is one of many
    in a file. Several are merged from left to right, and options come last.
    """
    from fractals.io.files import check_output
    from fractals.io.image import check_format, format_of, lost

    request = device_request(options)
    lost_lines: list[str] = []
    scene = requested_scene(scenes, options, lost_lines)
    output = output or default_output(scenes, ".png")
    file_format = format_of(output)
    check_format(file_format, scene.image.size, scene.image.bits)
    if dry_run:
        streamed = file_format == "PNG"
        print_plan(scene, request, not no_interior_shortcuts, threads, streamed, as_json)
        return
    if output == "-":
        if as_json:
            raise OptionError("--json and --output - both want stdout: give one of them")
        if sys.stdout.isatty():
            raise OptionError("stdout is a terminal: name a file with --output")
    else:
        check_output(output, overwrite)

    from fractals.rendering.stream import render_to

    with ProgressLine(math.prod(scene.image.size)) as progress:
        rendered = render_to(
            sys.stdout.buffer if output == "-" else output,
            scene,
            device=request,
            threads=threads,
            interior_shortcuts=not no_interior_shortcuts,
            cache=not no_cache,
            force=force,
            overwrite=overwrite,
            progress=progress,
            on_message=tell,
        )
    if output == "-":
        sys.stdout.buffer.flush()
    report(rendered, output, rendered.method, as_json, lost_lines)
    if note := lost(file_format, scene.image):
        tell(note)


@click.command(
    "compute",
    epilog=examples(
        "compute seahorse --size 4k -o sea.fz        # again, after an interruption: goes on",
        "compute --coloring distance -o edge.fz      # with the derivative",
        "compute seahorse -o sea.exr                 # for other programs",
    ),
)
@click.argument("scenes", nargs=-1, metavar="[SCENE]...")
@scene_options
@color_options
@device_options
@effort_options
@option("-o", "--output", metavar="FILE", help="What to write, ending in .fz, .npz or .exr.")
@option("--overwrite", is_flag=True, help="Replace what exists; begin a store anew.")
@json_option
def compute_command(
    scenes: tuple[str, ...],
    no_interior_shortcuts: bool,
    no_cache: bool,
    force: bool,
    output: str | None,
    overwrite: bool,
    as_json: bool,
    threads: int | None,
    **options: Any,
) -> None:
    """Write the raw numbers of a scene, which recolor draws in any colors.

    A store (.fz) is a folder to which they are written tile by tile: whatever interrupts it, the
    same command goes on, and so does compute STORE.fz. A NumPy archive (.npz) holds count (int32),
    z and, where the colorings need it, dz (complex) and what they watched along the orbits, for
    every sample; limit; and the scene as JSON. An .exr has the channels that other programs read
    (N, NF, T, DEX, DEY).
    """
    from fractals import catalog
    from fractals.io.escape_data import check_suffix
    from fractals.io.files import check_output

    request = device_request(options)
    lost: list[str] = []
    scene = requested_scene(scenes, options, lost)
    if output is None:
        going_on = len(scenes) == 1 and scenes[0].endswith(".fz")
        output = scenes[0] if going_on else default_output(scenes, ".fz")
    suffix = check_suffix(output)
    how: dict[str, Any] = {
        "device": request,
        "threads": threads,
        "interior_shortcuts": not no_interior_shortcuts,
        "cache": not no_cache,
        "force": force,
        "on_message": tell,
    }
    with ProgressLine(math.prod(scene.image.size)) as progress:
        if suffix == ".fz":
            from fractals.rendering.compute_store import compute_to

            try:
                computed = compute_to(output, scene, overwrite=overwrite, progress=progress, **how)
            except KeyboardInterrupt:
                tell(f"{output}: what is computed is kept, and the same command goes on")
                raise
            if computed.before:
                tell(f"{output}: {computed.before} of {computed.tiles} tiles were there already")
            report(computed, output, computed.method, as_json, lost)
            return
        check_output(output, overwrite)
        raw_format = catalog.load("raw", suffix[1:])()
        raw_format.check()  # before any work is done

        from fractals.rendering.render import compute

        raw = compute(scene, progress=progress, **how)
    raw.save(output, overwrite)
    new = [f"{output}: {raw_format.lost}"] if raw_format.lost else []
    report(raw, output, raw.method, as_json, lost + new)
    tell_lost(new)


@click.command(
    "recolor",
    epilog=examples(
        "recolor sea.fz --palette ember -o sea.png",
        "recolor sea.fz --transfer linear --density 0.02 -o sea.png",
        "recolor fraktaler.exr --gpu -o sea.png      # of another program",
    ),
)
@click.argument("raw_file", metavar="FILE")
@color_options
@picture_options
@device_options
@option("-o", "--output", metavar="FILE", help="Picture to write; its suffix names the type.")
@overwrite_option
@json_option
def recolor_command(
    raw_file: str,
    output: str | None,
    overwrite: bool,
    as_json: bool,
    threads: int | None,
    **options: Any,
) -> None:
    """Draw raw numbers in other colors, without iterating again.

    FILE is what compute wrote (.fz, .npz, .exr), or an EXR with the raw numbers of Kalles Fraktaler
    or Fraktaler-3. A store may be larger than the memory.
    """
    from fractals.io.escape_data import EscapeData
    from fractals.io.files import check_output
    from fractals.io.image import check_format, format_of, lost

    request = device_request(options)
    output = output or default_output((raw_file,), ".png")
    file_format = format_of(output)
    check_output(output, overwrite)
    raw = EscapeData.load(raw_file)
    scene = requested_scene((raw.scene,), options)  # type: ignore[arg-type]
    check_format(file_format, scene.image.size, scene.image.bits)

    from fractals.rendering.stream import recolor_to

    with ProgressLine(math.prod(scene.image.size)) as progress:
        drawn = recolor_to(
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
    if note := lost(file_format, scene.image):
        tell(note)


def default_output(scenes: tuple[str, ...], suffix: str) -> str:
    """Return the name of the last scene, in this folder."""
    import pathlib

    last = scenes[-1] if scenes else "mandelbrot"
    path = pathlib.Path(last)
    many, mark, entry = path.name.rpartition("#")
    name = (entry if mark and many and not path.exists() else path.stem) + suffix
    if path.suffix and pathlib.Path(name).absolute() == path.absolute():
        raise OptionError(f"'{path}' is read: name another picture with --output")
    return name


def report(
    drawn: "EscapeData | Rendered | Computed",
    output: str,
    method: str,
    as_json: bool,
    lost: list[str] | None = None,
) -> None:
    """Say what was done: one line on stderr, or JSON on stdout."""
    width, height = drawn.scene.image.size
    if as_json:
        facts = {
            "output": output,
            "device": drawn.device,
            "method": method,
            "precision": drawn.precision,
            "size": [width, height],
            "supersampling": drawn.scene.image.supersampling,
            "timings": drawn.timings,
            "lost": lost or [],
        }
        print_json(facts)
        return
    times = seconds_line(drawn.timings)
    tell(f"{output}: {width}x{height}, {drawn.device}, {method}, {drawn.precision}, {times}")


def print_plan(
    scene: "Scene",
    request: str,
    interior_shortcuts: bool,
    threads: int | None,
    streamed: bool,
    as_json: bool,
) -> None:
    """Print how a scene would be drawn."""
    from fractals.backends.devices import choose
    from fractals.rendering.plan import make_plan

    device, note = choose(request)
    if note:
        tell(note)
    cores = threads or device.cores or 1
    keeps: Any = "bands" if streamed else "pixels"
    planned = make_plan(scene, device.kind, interior_shortcuts, cores, keeps)
    table = planned.to_table()
    if as_json:
        print_json(table)
        return
    table["size"] = "{}x{}".format(*table["size"])
    table["memory"] = f"{table['memory'] / 2**20:.0f} MiB"
    table["seconds"] = f"about {table['seconds']:.1g}, without compiling"
    for key, value in table.items():
        click.echo(f"{key:14}{value}")
