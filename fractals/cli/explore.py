"""`fractals explore` and `fractals surprise`."""

from pathlib import Path
from typing import Any

import fractals
from fractals.cli import collect_again, shared
from fractals.cli.command import of, section, verb
from fractals.cli.messages import ProgressLine, tell
from fractals.cli.scenes import check_png, default_output, requested_scene
from fractals.cli.values import Whole
from fractals.errors import OptionError
from fractals.explorer.options import ExploreOptions

# Their defaults and bounds are those of `fractals.explore`.
server_options = section(
    "Server",
    of(
        ExploreOptions,
        "--host ADDRESS",
        "--port N",
        "--no-browser",
        "--uds FILE",
        "--cert FILE",
        "--key FILE",
        "--allow-host NAME[:PORT] allow_hosts",
        "--read-only",
        "--memory MIB",
        "--clients N",
        "--classroom",
    ),
    **{
        name: {"default": field.default, "multiple": field.default == ()}
        | ({"type": Whole(*field.limits)} if field.limits else {})
        for name, field in ExploreOptions.fields.items()
    },
)

site_options = section(
    "Site",
    {
        "--site FOLDER": "Write static files for any web host in place of serving: their page "
        "draws escape-time scenes by itself.",
        "--site-formula NAME site_formulas": "A formula of the site; can be repeated (default: "
        "all: about 25 minutes of one core).",
    },
    site_formulas={"multiple": True},
)


@verb(
    "explore",
    "explore                              # the gallery",
    "explore --no-browser --port 8000     # then, elsewhere: ssh -L 8000:127.0.0.1:8000 HOST",
    "explore place.kfr --gpu --read-only --host 0.0.0.0 --allow-host fractals.example",
)
@shared.scene_arguments
@shared.view_options
@shared.color_options
@shared.device_options
@shared.cluster_options_of(ExploreOptions)
@server_options
@site_options
def explore_command(
    scenes: tuple[str, ...],
    threads: int | None,
    no_browser: bool,
    site: str | None,
    site_formulas: tuple[str, ...],
    **options: Any,
) -> None:
    """Explore a scene in the browser: zoom to any depth, recolor, find, keep and share.

    The server draws, on this machine's cores or GPU, and the browser shows the very pixels that
    'fractals render' draws. The printed address opens the page once. Without a scene, the page
    starts with the gallery. Ctrl-C ends the server.
    """
    device = shared.device_request(options)
    options["cluster"] = shared.cluster_request(options)
    server = {name: options.pop(name) for name in ExploreOptions.fields.keys() & options.keys()}
    scene = requested_scene(scenes, options, defaults=shared.scene_table())
    gallery = not scenes and all(value in (None, ()) for value in options.values())
    collect_again()
    if site is None and site_formulas:
        raise OptionError("--site-formula names formulas of a site: give --site FOLDER, too")
    if site is not None:
        own = (*server, "no_browser", "cpu", "gpu", "device", "keys", "insecure", "returns")
        shared.check_left_out("--site writes files, and starts no server", *own)
        from fractals.explorer.server import check_extra

        check_extra()
        from fractals.explorer.site.write import write_site

        write_site(site, None if gallery else scene, site_formulas, threads, tell)
        return
    fractals.explore(
        scene,
        device=device,
        threads=threads,
        browser=not no_browser,
        gallery=gallery,
        on_message=tell,
        **server,
    )


@verb(
    "surprise",
    "surprise seahorse                    # seahorse-surprise.png",
    "surprise seahorse --seed 7 -o sheet.png",
    "surprise place.kfr --scenes views/   # and a scene of each picture",
)
@shared.scene_arguments
@shared.view_options
@section(
    "Output",
    {
        "--seed N": "Another number gives other scenes (default: 0).",
        "--scenes FOLDER folder": "Folder for the scenes (default: that of the sheet).",
    },
    seed={"type": Whole(0, 2**32 - 1), "default": 0},
)
@shared.output_option("Sheet to write, a PNG.", ".png")
@shared.overwrite_option
@shared.device_options
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
    from fractals.io.files import check_output, made_folder, written
    from fractals.tools import surprise

    device = shared.device_request(options)
    scene = requested_scene(scenes, options)
    path = Path(output or default_output(scenes, options, "-surprise.png", free=not overwrite))
    check_png(path, overwrite)
    where = Path(folder) if folder else path.parent
    names = [where / f"{path.stem}-{k}.toml" for k in range(1, surprise.COUNT + 1)]
    with made_folder(where):
        for each in names:
            check_output(each, overwrite)
        with ProgressLine(program="a sheet of surprises") as progress:
            found, sheet = surprise.draw_sheet(scene, seed, device, threads, progress)
        for name, mutated in zip(names, found, strict=False):
            fractals.save_scene(mutated, name, overwrite=overwrite)
    with written(path, overwrite) as file:
        file.write(sheet)
    tell(f"{path}: {len(found)} pictures, and their scenes in {where}/")
