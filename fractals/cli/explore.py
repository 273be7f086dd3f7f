"""`fractals explore` and `fractals surprise`."""

from pathlib import Path
from typing import Any

import fractals
from fractals.cli.command import FILE, Whole, option, verb
from fractals.cli.messages import ProgressLine, tell
from fractals.cli.options import (
    color_options,
    device_options,
    device_request,
    output_option,
    overwrite_option,
    scene_arguments,
    scene_table,
    view_options,
)
from fractals.cli.scenes import check_png, default_output, make_folder, requested_scene

# The options of `fractals.explore` that have the same name on the command line.
SERVER_OPTIONS = (
    *("host", "port", "uds", "cert", "key", "allow_hosts"),
    *("read_only", "memory", "clients"),
)


@verb(
    "explore                              # the gallery",
    "explore seahorse",
    "explore --no-browser --port 8000     # then, elsewhere: ssh -L 8000:127.0.0.1:8000 HOST",
    "explore place.kfr --gpu --read-only --host 0.0.0.0 --allow-host fractals.example",
)
@scene_arguments
@view_options
@color_options
@device_options
@option(
    "--host",
    metavar="ADDRESS",
    section="Server",
    help="Address to listen at (default: 127.0.0.1, this machine only).",
)
@option(
    "--port",
    type=Whole(0, 65_535),
    metavar="N",
    section="Server",
    help="Port to listen at (default: a free one).",
)
@option("--no-browser", is_flag=True, section="Server", help="Print the address; open no browser.")
@option(
    "--uds",
    metavar="FILE",
    shell_complete=FILE,
    section="Server",
    help="Unix socket to listen at; --port is then the port of the tunnel to it.",
)
@option(
    "--cert", metavar="FILE", shell_complete=FILE, section="Server", help="Certificate, for HTTPS."
)
@option("--key", metavar="FILE", shell_complete=FILE, section="Server", help="Its private key.")
@option(
    "--allow-host",
    "allow_hosts",
    metavar="NAME[:PORT]",
    multiple=True,
    section="Server",
    help="Another name under which browsers reach the server; can be repeated.",
)
@option(
    "--read-only",
    is_flag=True,
    section="Server",
    help="Visitors upload, export and keep nothing here.",
)
@option(
    "--memory",
    type=Whole(1, 2**20),
    metavar="MIB",
    section="Server",
    help="Memory for raw numbers that recoloring needs, of all pages together (default: 1024).",
)
@option(
    "--clients",
    type=Whole(1, 1000),
    metavar="N",
    section="Server",
    help="Most pages that are connected at once (default: 16).",
)
def explore_command(
    scenes: tuple[str, ...], threads: int | None, no_browser: bool, **options: Any
) -> None:
    """Explore a scene in the browser: zoom to any depth, recolor, find, keep and share.

    The server draws, on this machine's cores or GPU, and the browser shows the very pixels that
    'fractals render' draws. The printed address opens the page once. Without a scene, the page
    starts with the gallery. Ctrl-C ends the server.
    """
    device = device_request(options)
    server = {name: options.pop(name) for name in SERVER_OPTIONS}
    given = {name: value for name, value in server.items() if value is not None}
    scene = requested_scene(scenes, options, defaults=scene_table())
    fractals.explore(
        scene,
        device=device,
        threads=threads,
        browser=not no_browser,
        gallery=not scenes and all(value in (None, ()) for value in options.values()),
        on_message=tell,
        **given,
    )


@verb(
    "surprise",
    "surprise seahorse                    # seahorse-surprise.png",
    "surprise seahorse --seed 7 -o sheet.png",
    "surprise place.kfr --scenes views/   # and a scene of each picture",
)
@scene_arguments
@view_options
@option(
    "--seed",
    type=Whole(0, 2**32 - 1),
    metavar="N",
    default=0,
    section="Output",
    help="Another number gives other scenes (default: 0).",
)
@option(
    "--scenes",
    "folder",
    metavar="FOLDER",
    shell_complete=FILE,
    section="Output",
    help="Folder for the scenes (default: that of the sheet).",
)
@output_option("Sheet to write, a PNG.", ".png")
@overwrite_option
@device_options
def surprise_command(
    scenes: tuple[str, ...],
    seed: int,
    folder: str | None,
    output: str | None,
    overwrite: bool,
    threads: int | None,
    **options: Any,
) -> None:
    """Draw a sheet of twelve scenes that are like a scene, and write these scenes.

    They have other palettes, colorings and layers, and some show a place near by. The scenes are
    written as SHEET-1.toml and so on.
    """
    from fractals.io.files import check_output, written
    from fractals.tools import surprise

    device = device_request(options)
    scene = requested_scene(scenes, options)
    path = Path(output or default_output(scenes, {}, "-surprise.png", free=not overwrite))
    check_png(path, overwrite)
    where = Path(folder) if folder else path.parent
    if folder:
        make_folder(where)
    names = [where / f"{path.stem}-{k}.toml" for k in range(1, surprise.COUNT + 1)]
    for each in names:
        check_output(each, overwrite)
    with ProgressLine(program="a sheet of surprises") as progress:
        found, sheet = surprise.draw_sheet(scene, seed, device, threads, progress)
    for name, mutated in zip(names, found, strict=False):
        fractals.save_scene(mutated, name, overwrite)
    with written(path, overwrite) as file:
        file.write(sheet)
    tell(f"{path}: {len(found)} pictures, and their scenes in {where}/")
