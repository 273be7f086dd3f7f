"""The options that several verbs share."""

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from fractals.cli.command import (
    DEVICE,
    FILE,
    PALETTE,
    SCENE,
    F,
    OutputOption,
    Whole,
    key_option,
    names,
    option,
    together,
    words,
)
from fractals.cli.messages import tell
from fractals.errors import InputError, OptionError, SceneError, shown

# The user's file of defaults, TOML: device, threads, and keys of scenes.
#
#     device = "cpu"
#     threads = 4
#     [image]
#     size = [2560, 1440]
#     [color]
#     palette = "ember"
#
# Keys of the scene, environment variables and options override it.


TABLES = ("image", "iteration", "color")
KEYS = ("device", "threads", "author", *TABLES)
MAX_THREADS = 1024
DEVICE_NAME = re.compile(r"auto|cpu|gpu|cuda(:\d+|:all)?|simulator|python", re.ASCII)


def path() -> Path:
    """Return where the file of defaults lies, whether it exists or not."""
    return Path(click.get_app_dir("fractals"), "defaults.toml")


@functools.cache
def read(file: Path) -> dict[str, Any]:
    """Return the table of a file of defaults; an empty one where there is no file."""
    if not file.is_file():
        return {}
    from fractals.catalog import did_you_mean
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
    return table


def device() -> str:
    """Return the default of ``--device``."""
    return str(read(path()).get("device", "auto"))


def threads() -> int | None:
    """Return the default of ``--threads``: None, all cores."""
    found: int | None = read(path()).get("threads")
    return found


def scene_table() -> dict[str, Any]:
    """Return the keys of scenes that have a default of the user's own.

    A palette's file is looked up beside the file of defaults, then in the current folder.
    """
    from fractals.io.load import embed_files
    from fractals.scene.model import validate

    file = path()
    table = {key: value for key, value in read(file).items() if key not in ("device", "threads")}
    if not table:
        return {}
    try:
        embedded = dict(embed_files(table, file.parent, None))
    except (InputError, OptionError) as error:
        raise SceneError(f"{shown(file)}: {error}") from None
    validate(embedded, shown(file))
    return embedded


color_options = together(
    option(
        "--palette",
        metavar="NAME|FILE",
        section="Colors",
        shell_complete=PALETTE,
        help="Palette: a name, cmap:NAME, or FILE[#ENTRY].",
    ),
    option(
        "--coloring",
        metavar="NAME[,KEY=VALUE]",
        section="Colors",
        shell_complete=names("coloring"),
        help="Coloring, such as smooth or stripe_average,density=7.",
    ),
    key_option("--transfer", "Colors", metavar="CURVE"),
    key_option("--density", "Colors", metavar="TURNS"),
    key_option("--offset", "Colors", metavar="TURNS"),
    option(
        "--fit/--no-fit",
        default=None,
        section="Colors",
        help="Fit density and offset of the coloring and of all layers to their values. By "
        "default only a coloring given by --coloring is fitted.",
    ),
    key_option("--inside", "Colors", metavar="COLOR"),
)
view_options = together(
    option(
        "--formula",
        metavar="NAME[,KEY=VALUE]|EXPRESSION|FILE.py",
        section="View",
        shell_complete=names("formula", files=True),
        help="Formula: a name such as multibrot,power=4, an expression such as 'z**3 + c', or a "
        "Python file, which is run.",
    ),
    option(
        "--network",
        metavar="SEED|FILE",
        section="View",
        shell_complete=FILE,
        help="Draw a pattern network: random weights of a seed, or a text file with 52 weights.",
    ),
    option("--julia", metavar="X,Y", section="View", help="Draw the Julia set of c = X + iY."),
    option(
        "--center",
        metavar="X,Y",
        section="View",
        help="Center of the view; decimals of any length.",
    ),
    option(
        "--at",
        metavar="X,Y",
        section="View",
        help="Center the view on this pixel of the scene, from its top left.",
    ),
    option(
        "--pan",
        metavar="DX,DY",
        section="View",
        help="Move the view right and up, in widths of the scene: 0.5,0 or 10%,0.",
    ),
    option(
        "--width",
        metavar="W",
        section="View",
        help="Width of the view in the plane, or relative to the scene: 50%.",
    ),
    option(
        "--zoom",
        metavar="Z",
        section="View",
        help="Zoom, counted from the formula's whole view, or relative to the scene: x10.",
    ),
    key_option("--rotation", "View", metavar="DEGREES"),
    key_option("--mirror/--no-mirror", "View", default=None),
    key_option("--stretch", "View", metavar="FACTOR"),
    key_option("--stretch-angle", "View", metavar="DEGREES"),
    key_option("--projection", "View", metavar="NAME"),
    option(
        "--size",
        metavar="SIZE",
        section="Picture",
        help="Pixels: 1920x1080, 640x, 4k, 300%, A3, 100x70cm@300dpi.",
    ),
)
max_iterations_option = option(
    "-n",
    "--max-iterations",
    metavar="N",
    section="Iteration",
    shell_complete=words("auto"),
    help="Maximum iterations per sample, such as 1e6, or auto.",
)
scene_options = together(
    view_options,
    key_option("--supersampling", "Picture", metavar="N"),
    key_option("--antialias", "Picture", metavar="HOW"),
    max_iterations_option,
    key_option("--precision", "Iteration", metavar="TYPE"),
    key_option("--escape-radius", "Iteration", metavar="R"),
)
picture_options = together(
    key_option("--bits", "Picture", metavar="N"),
    key_option("--dpi", "Picture", metavar="N"),
    key_option("--compression", "Picture", metavar="HOW"),
)
threads_option = option(
    "--threads",
    type=Whole(1, MAX_THREADS),
    metavar="N",
    section="Device",
    envvar="FRACTALS_THREADS",
    default=threads,
    help="Maximum CPU threads (default: all cores, or FRACTALS_THREADS).",
)
device_options = together(
    option(
        "--device",
        metavar="DEVICE",
        default=device,
        section="Device",
        envvar="FRACTALS_DEVICE",
        shell_complete=DEVICE,
        help="auto, cpu, gpu, cuda, cuda:N, cuda:all, simulator or python "
        "(default: auto, or FRACTALS_DEVICE).",
    ),
    option("--cpu", is_flag=True, section="Device", help="Draw on the CPU."),
    option(
        "--gpu",
        is_flag=True,
        section="Device",
        help="Draw on a GPU; without one, in Numba's CUDA simulator.",
    ),
    threads_option,
)
effort_options = together(
    option(
        "--no-interior-shortcuts",
        is_flag=True,
        section="Iteration",
        help="Iterate every sample inside the set to the maximum (for benchmarks).",
    ),
    option(
        "--no-cache",
        is_flag=True,
        section="Iteration",
        help="Neither read nor write cached reference orbits.",
    ),
    option(
        "--force",
        is_flag=True,
        section="Iteration",
        help="Allow work that is estimated at over an hour.",
    ),
)
json_option = option(
    "--json", "as_json", is_flag=True, section="Output", help="Print the facts as JSON on stdout."
)
overwrite_option = option(
    "--overwrite", is_flag=True, section="Output", help="Replace an existing file."
)
dry_run_option = option(
    "--dry-run", is_flag=True, section="Output", help="Print the plan; draw and write nothing."
)
keys_option = option(
    "--keys",
    metavar="FOLDER",
    section="Many machines",
    help="Keys for a tls:// address, as fractals cluster-keys writes them.",
)
insecure_option = option(
    "--insecure",
    is_flag=True,
    section="Many machines",
    help="Allow a public address without TLS.",
)
cluster_options = together(
    option(
        "--cluster",
        metavar="ADDRESS",
        section="Many machines",
        help="Let the workers of a Dask scheduler compute: tcp://HOST:PORT, tls://HOST:PORT, "
        "FILE.json, local:N (processes of this machine) or slurm:N (jobs).",
    ),
    option(
        "--return",
        "returns",
        is_flag=True,
        section="Many machines",
        help="Send results through Dask, also where workers share the folder.",
    ),
    keys_option,
    insecure_option,
)
scene_arguments = click.argument("scenes", nargs=-1, metavar="[SCENE]...", shell_complete=SCENE)


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
    if address is None:
        if keys or insecure or returns:
            raise OptionError("--keys, --return and --insecure need --cluster")
        return None
    from fractals.rendering.cluster.job import Cluster
    from fractals.rendering.cluster.pools import check_known

    check_known(address, insecure)  # before any work is done
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
