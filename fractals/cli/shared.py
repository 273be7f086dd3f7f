"""The options that several verbs share, and the user's file of their defaults."""

import functools
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from fractals.catalog import did_you_mean
from fractals.cli.command import (
    AS_MODEL,
    DEVICE,
    FILE,
    PALETTE,
    SCENE,
    F,
    OutputOption,
    names,
    of,
    option,
    section,
    together,
)
from fractals.cli.messages import tell
from fractals.cli.values import Whole
from fractals.errors import InputError, OptionError, SceneError, shown
from fractals.rendering.options import (
    MAX_THREADS,
    DeviceOptions,
    FileOptions,
    Options,
    RenderOptions,
    ReplaceOptions,
    SourceOptions,
)

# The user's file of defaults, TOML: device, threads, and keys of scenes.
#
#     device = "cpu"
#     threads = 4
#     formulas = ["~/fractint/formula"]
#     [image]
#     size = [2560, 1440]
#     [color]
#     palette = "ember"
#
# Keys of the scene, environment variables and options override it.


TABLES = ("image", "iteration", "color")
OWN = ("device", "threads", "formulas")  # that are no keys of scenes
KEYS = (*OWN, "author", *TABLES)
FORMULAS, LOSSY = "fractals.formulas", "fractals.lossy"  # keys of click's context
DEVICE_NAME = re.compile(r"auto|cpu|gpu|(cuda|opencl)(:\d+|:all)?|simulator|python", re.ASCII)


def path() -> Path:
    """Return where the file of defaults lies, whether it exists or not.

    An XDG_CONFIG_HOME that is empty, or no absolute path, is as if it was not set, as its
    specification says: else a file of the current folder, which may be a stranger's, was read.
    """
    folder = click.get_app_dir("fractals")
    if not os.path.isabs(folder):
        folder = os.path.expanduser("~/.config/fractals")
    return Path(folder, "defaults.toml")


@functools.cache
def read(file: Path) -> dict[str, Any]:
    """Return the table of a file of defaults; an empty one where no file is seen."""
    return _read(file) if os.path.isfile(file) else {}  # False in the home of another user, too


def _read(file: Path) -> dict[str, Any]:
    from fractals.io.files import read_toml

    table = read_toml(file)
    for key in table:
        if key not in KEYS:
            hint = did_you_mean(key[:50], KEYS) or f"; known keys: {', '.join(KEYS)}"
            raise SceneError(f"{shown(file)}: '{shown(key, 40)}' can't have a default{hint}")
    device, threads = table.get("device", "auto"), table.get("threads", 1)
    if not (isinstance(device, str) and DEVICE_NAME.fullmatch(device)):
        raise SceneError(f"{shown(file)}: device: unknown device '{shown(device, 40)}'")
    if type(threads) is not int or not 1 <= threads <= MAX_THREADS:
        raise SceneError(
            f"{shown(file)}: threads: '{shown(threads, 40)}' is not a whole number from 1 to "
            f"{MAX_THREADS}"
        )
    folders = table.get("formulas", [])
    if not (isinstance(folders, list) and all(isinstance(each, str) for each in folders)):
        raise SceneError(f'{shown(file)}: formulas: give a list of folders, such as ["~/formula"]')
    return table


def device() -> str:
    """Return the default of ``--device``."""
    return str(read(path()).get("device", "auto"))


def threads() -> int | None:
    """Return the default of ``--threads``: None, all cores."""
    found: int | None = read(path()).get("threads")
    return found


def scene_table() -> dict[str, Any]:
    """Return the keys of scenes that have a default of the user's own."""
    table = {key: value for key, value in read(path()).items() if key not in OWN}
    return _embedded(table, path()) if table else {}


def _embedded(table: dict[str, Any], file: Path) -> dict[str, Any]:
    """Return the keys of scenes of the file of defaults, with palettes as values.

    A palette's file is looked up beside the file of defaults, then in the current folder.
    """
    from fractals.io.beside import Place
    from fractals.io.load import embed_files
    from fractals.scene.model import validate

    try:
        embedded = dict(embed_files(table, Place(file.parent), None))
    except (InputError, OptionError) as error:
        raise SceneError(f"{shown(file)}: {error}") from None
    validate(embedded, file)
    return embedded


color_options = section(
    "Colors",
    {
        **of(AS_MODEL, "--palette NAME|FILE", "--coloring NAME[,KEY=VALUE]", "--transfer CURVE"),
        **of(AS_MODEL, "--density TURNS", "--offset TURNS"),
        "--fit/--no-fit": (
            "Fit density and offset of the coloring and of all layers to their values. By "
            "default only another coloring, or a palette with two ends, is fitted."
        ),
        "--inside COLOR": AS_MODEL,
    },
    palette={"shell_complete": PALETTE},
    coloring={"shell_complete": names("coloring")},
)
view_options = together(
    section(
        "View",
        {
            "--formula NAME[,KEY=VALUE]|EXPRESSION|FILE.py": AS_MODEL,
            "--network SEED|FILE": (
                "Draw a pattern network: random weights of a seed, or a text file with 52 weights."
            ),
            **of(AS_MODEL, "--julia X,Y", "--center X,Y"),
            "--at X,Y": "Center the view on this pixel of the scene, from its top left.",
            "--pan DX,DY": "Move the view right and up, in widths of the scene: 0.5,0 or 10%,0.",
            **of(AS_MODEL, "--width W", "--zoom Z", "--rotation DEGREES", "--mirror/--no-mirror"),
            **of(AS_MODEL, "--stretch FACTOR", "--stretch-angle DEGREES", "--projection NAME"),
        },
        formula={"shell_complete": names("formula", files=True)},
    ),
    option("Picture", "--size SIZE", AS_MODEL),
)
display_options = section(
    "Picture",
    {
        **of(AS_MODEL, "--brightness B", "--gamma G", "--vibrancy V", "--background COLOR"),
        "--estimator-radius PIXELS": AS_MODEL,
    },
)
SOLIDS = "Camera and light, of solids"
source_options = section(
    SOLIDS,
    {
        **of(AS_MODEL, "--sun-power P", "--sun-color COLOR", "--sky COLOR,COLOR,COLOR"),
        **of(AS_MODEL, "--emission P", "--emission-color COLOR"),
    },
)
relief_options = section(
    "Relief",
    of(AS_MODEL, "--heights HOW", "--rise SHARE", "--tilt DEGREES"),
)
relief_light_options = section(
    "Relief",
    of(AS_MODEL, "--sun X,Y,Z|key", "--haze H", "--samples N", "--field DEGREES"),
)
camera_options = together(
    section(
        SOLIDS,
        {
            **of(AS_MODEL, "--position X,Y,Z", "--target X,Y,Z", "--field DEGREES"),
            **of(AS_MODEL, "--roll DEGREES", "--panorama/--no-panorama", "--stereo SHARE"),
            **of(AS_MODEL, "--eye EYE", "--whole WIDTHxHEIGHT+X+Y"),
            **of(AS_MODEL, "--lens SHARE", "--focus DISTANCE", "--sun X,Y,Z|key"),
            **of(AS_MODEL, "--ray-step SHARE"),
        },
    ),
    source_options,
    section(SOLIDS, of(AS_MODEL, "--haze H", "--bounces N", "--samples N")),
)
develop_options = section(
    "Develop",
    {
        **of(AS_MODEL, "--exposure E", "--curve NAME", "--bloom B", "--bloom-threshold LIGHT"),
        **of(AS_MODEL, "--bloom-radius HEIGHTS", "--vignette V", "--grain G"),
        **of(AS_MODEL, "--denoise/--no-denoise", "--dither/--no-dither"),
    },
)
max_iterations_option = option("Iteration", "-n, --max-iterations N", AS_MODEL)
scene_options = together(
    view_options,
    section("Picture", of(AS_MODEL, "--supersampling N", "--antialias HOW")),
    option("Picture", "--quality WORD|POINTS", AS_MODEL),
    display_options,
    camera_options,
    relief_options,
    develop_options,
    max_iterations_option,
    section("Iteration", of(AS_MODEL, "--precision TYPE", "--escape-radius R")),
)
signature_options = section(
    "Signature", of(AS_MODEL, "--title TEXT", "--author NAME", "--rights TEXT")
)
picture_options = section(
    "Picture",
    {
        **of(AS_MODEL, "--bits N", "--gamut NAME", "--hdr/--no-hdr", "--dpi N"),
        "--compression HOW": AS_MODEL,
    },
)
threads_option = option(
    "Device",
    "--threads N",
    DeviceOptions,
    type=Whole(1, MAX_THREADS),
    envvar="FRACTALS_THREADS",
    default=threads,
)
device_options = together(
    section(
        "Device",
        {
            "--device DEVICE": DeviceOptions,
            "--cpu": "Draw on the CPU.",
            "--gpu": "Draw on a GPU; without one, in a simulator.",
        },
        device={"default": device, "envvar": "FRACTALS_DEVICE", "shell_complete": DEVICE},
    ),
    threads_option,
)
effort_options = section(
    "Iteration", of(RenderOptions, "--no-interior-shortcuts", "--no-cache", "--force")
)
json_option = option("Output", "--json as_json", "Print the facts as JSON on stdout.")
overwrite_option = option("Output", "--overwrite", ReplaceOptions)
dry_run_option = option("Output", "--dry-run", "Print the plan, and write no file.")
keys_option = option(
    "Many machines",
    "--keys FOLDER",
    "Keys for a tls:// address, as fractals cluster-keys writes them.",
)
insecure_option = option("Many machines", "--insecure", "Allow a public address without TLS.")


def cluster_options_of(options: type[Options]) -> Callable[[F], F]:
    """Return the options of a cluster; `options` has the meaning of --cluster."""
    named: dict[str, str | type[Options]] = {
        "--cluster ADDRESS": options,
        "--return returns": "Send results through Dask, also where workers share the folder.",
    }
    return together(section("Many machines", named), keys_option, insecure_option)


cluster_options = cluster_options_of(FileOptions)


def _keep_folders(context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> None:
    context.meta[FORMULAS] = given


formulas_option = option(
    "General",
    "--formulas FOLDER",
    SourceOptions,
    multiple=True,
    expose_value=False,
    callback=_keep_folders,
)


def _keep_lossy(context: click.Context, _option: click.Parameter, given: bool) -> None:
    context.meta[LOSSY] = given


lossy_option = option(
    "General", "--lossy", SourceOptions, is_flag=True, expose_value=False, callback=_keep_lossy
)
reading_options = together(formulas_option, lossy_option)
scene_arguments = together(
    click.argument("scenes", nargs=-1, metavar="[SCENE]...", shell_complete=SCENE),
    reading_options,
)


def formulas() -> tuple[Path, ...]:
    """Return the folders with files that files name: of --formulas, then of the defaults."""
    context = click.get_current_context(silent=True)
    given = context.meta.get(FORMULAS, ()) if context else ()
    own = read(path()).get("formulas", ())
    return _checked_folders(given, own) if given or own else ()


def _checked_folders(given: tuple[str, ...], own: list[str]) -> tuple[Path, ...]:
    """Return folders that are given, and those of the file of defaults, if all are folders."""
    from fractals.io.beside import folders_of

    file, found = path(), folders_of(given)
    try:
        return (*found, *folders_of(tuple(_from(file, each) for each in own)))
    except OptionError as error:
        raise SceneError(f"{shown(file)}: {error}") from None


def lossy() -> bool:
    """Tell whether files are read without what can't be drawn."""
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(LOSSY))


def reading() -> dict[str, Any]:
    """Return how the files of scenes are read, as keywords of `load_scene`."""
    return {"formulas": formulas(), "lossy": lossy()}


def _from(file: Path, folder: str) -> Path:
    """Return a folder that a file names; a relative one lies beside the file."""
    return file.parent / os.path.expanduser(folder)


def check_left_out(why: str, *names: str) -> None:
    """Raise an `OptionError` where the command line gives an option that would change nothing.

    `names`: of the verb's parameters. `why`: begins the message, such as "--read shows figures".
    """
    context = click.get_current_context()
    for each in context.command.params:
        source = context.get_parameter_source(each.name or "")
        if each.name in names and source is ParameterSource.COMMANDLINE:
            raise OptionError(f"{why}: leave {max(each.opts, key=len)} out")


def output_option(
    text: str, *endings: str, metavar: str = "FILE", default: str | None = None
) -> Callable[[F], F]:
    """Return the option that names what is written; `endings` are those of `OutputOption`."""
    return click.option(
        "-o",
        "--output",
        cls=OutputOption,
        endings=endings,
        metavar=metavar,
        default=default,
        section="Output",
        shell_complete=FILE,
        help=text,
    )


def cluster_request(options: dict[str, Any]) -> Any:
    """Take the cluster options out of `options`, and return the cluster they ask for, or None."""
    address, keys = options.pop("cluster"), options.pop("keys")
    insecure, returns = options.pop("insecure"), options.pop("returns")
    if address is not None:
        return _checked_cluster(address, keys, insecure, returns)
    if keys or insecure or returns:
        raise OptionError("--keys, --return and --insecure need --cluster")
    return None


def _checked_cluster(address: str, keys: Any, insecure: bool, returns: bool) -> Any:
    """Return a cluster; an error of its address or keys is raised before any work is done."""
    from fractals.rendering.cluster.job import Cluster
    from fractals.rendering.cluster.pools import check_known, security_settings

    check_known(address, insecure)
    if address.startswith("tls://"):
        security_settings(address, keys)
    return Cluster(address, keys, insecure, returns)


def drawing_request(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options of what iterates out of `options`, and return fields of `RenderOptions`."""
    return {
        "device": device_request(options),
        "threads": options.pop("threads"),
        "interior_shortcuts": not options.pop("no_interior_shortcuts"),
        "cache": not options.pop("no_cache"),
        "force": options.pop("force"),
        "on_message": tell,
    }


def device_request(options: dict[str, Any]) -> str:
    """Take the device options out of `options`, and return the device they ask for."""
    cpu, gpu, device = options.pop("cpu"), options.pop("gpu"), str(options.pop("device"))
    source = click.get_current_context().get_parameter_source("device")
    given = [name for name, on in (("--cpu", cpu), ("--gpu", gpu)) if on]
    if source is ParameterSource.ENVIRONMENT and not DEVICE_NAME.fullmatch(device):
        raise OptionError(f"FRACTALS_DEVICE: unknown device '{shown(device, 40)}'")
    if source is ParameterSource.COMMANDLINE and device != "auto":
        given.append(f"--device {device}")
    if len(given) > 1:
        raise OptionError(f"{' and '.join(given)} contradict each other: give one")
    return "cpu" if cpu else "gpu" if gpu else device
