"""`fractals compute`, `worker` and `cluster-keys`."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import fractals
from fractals import catalog
from fractals.cli import collect_again, shared
from fractals.cli.command import AS_MODEL, option, verb
from fractals.cli.messages import ProgressLine, program_of, tell, tell_lost
from fractals.cli.results import plan_table, print_plan, report
from fractals.cli.scenes import default_output, requested_scene
from fractals.cli.values import Whole, parse_part
from fractals.errors import OptionError
from fractals.rendering.options import StoreOptions

if TYPE_CHECKING:
    from fractals.rendering.plan import Keeps
    from fractals.rendering.stores.compute_store import Computed
    from fractals.scene.model import Scene

# `fractals worker` and `fractals cluster-keys`: the machines of a cluster.


@verb(
    "worker",
    "worker tcp://head:8786",
    "worker tls://head:8786 --keys keys/",
    "worker scheduler.json --device cpu --threads 8",
)
@click.argument("address")
@shared.device_options
@shared.keys_option
@shared.insecure_option
def worker_command(
    address: str, threads: int | None, keys: str | None, insecure: bool, **options: Any
) -> None:
    """Compute for others: join the Dask scheduler at ADDRESS.

    A worker does one task at a time with all cores of this machine, or one for each GPU. It ends
    with its scheduler, or by Ctrl-C; the tasks that it had are then done by others. ADDRESS is
    tcp://HOST:PORT, tls://HOST:PORT, or the .json file that dask scheduler --scheduler-file wrote.
    The worker listens on the address from which this machine reaches ADDRESS. Without TLS,
    whoever reaches the scheduler or the worker runs code on this machine.
    """
    from fractals.rendering.cluster.worker import gpus_of, serve, serve_each_gpu

    device = shared.device_request(options)
    if gpus := gpus_of(device):
        more = ["--keys", keys] if keys else []
        more += ["--insecure"] if insecure else []
        tell(f"{len(gpus)} GPUs: a process for each")
        raise SystemExit(serve_each_gpu(gpus, [address, *more], threads))
    collect_again()
    serve(address, device, threads, keys, insecure, tell)


@verb(
    "cluster-keys",
    "cluster-keys keys/              # then copy keys/ to every machine",
    "cluster-keys keys/ --days 30",
    "worker tls://head:8786 --keys keys/",
)
@click.argument("folder")
@option(
    "Options",
    "--days N",
    "Days until the keys expire (default: 365).",
    type=Whole(1, 3650),
    default=365,
)
def cluster_keys_command(folder: str, days: int) -> None:
    """Write keys for TLS between the machines of a cluster to a new FOLDER.

    Whoever has these keys can run code on all workers: copy them to the machines of the cluster
    only. A scheduler that uses them is started with

    \b
      dask scheduler --protocol tls --tls-ca-file FOLDER/ca.pem \\
          --tls-cert FOLDER/cert.pem --tls-key FOLDER/key.pem \\
          --dashboard-address 127.0.0.1:8787
    """
    from fractals.rendering.cluster.pools import write_keys

    write_keys(Path(folder), days)
    tell(f"{folder}: ca.pem, cert.pem, key.pem; copy them to every machine, readable by you only")


@verb(
    "compute",
    "compute seahorse --size 4k -o sea.fz       # the same command resumes it",
    "compute --coloring distance -o edge.fz     # with the derivative",
    "compute sea.toml -o sea.fz --part 3/100    # one of 100 jobs of a job array",
)
@shared.scene_arguments
@shared.scene_options
@shared.color_options
@shared.signature_options
@option(shared.SOLIDS, "--relight/--no-relight", AS_MODEL)
@shared.device_options
@shared.effort_options
@shared.output_option("File to write, ending in .fz, .npz or .exr.", "io.escape_data.SUFFIXES")
@option("Output", "--overwrite", StoreOptions)
@option("Many machines", "--part I/N", StoreOptions)
@shared.cluster_options
@shared.dry_run_option
@shared.json_option
def compute_command(
    scenes: tuple[str, ...],
    output: str | None,
    overwrite: bool,
    part: str | None,
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Compute the raw numbers of a scene into a file.

    fractals recolor draws them in any colors without iterating again.

    A store (.fz) is a folder of arrays, written tile by tile: after an interruption, the same
    command or compute STORE.fz resumes it. A NumPy archive (.npz) holds count (int32), z (infinite
    where an exponential overflowed), dz and the orbit statistics that the colorings need,
    max_iterations, and the scene as JSON. An .exr has the channels that other programs read (N, NF,
    T, DEX, DEY).
    """
    from fractals.io.escape_data import check_suffix
    from fractals.io.files import check_output
    from fractals.rendering.families import family_of

    lost: list[str] = []
    how = shared.drawing_request(options)
    cluster = shared.cluster_request(options)
    resumes = any(Path(source).suffix.lower() == ".fz" for source in scenes)  # or "sea.fz/"
    scene = requested_scene(scenes, options, lost, shared.scene_table(), fits=not resumes)
    if output is None:
        resumed = len(scenes) == 1 and resumes
        output = scenes[0] if resumed else default_output(scenes, options, ".fz", free=False)
    suffix = check_suffix(output)
    known = family_of(scene).suffixes
    if known and suffix not in known:
        raise OptionError(
            f"'{output}': these raw numbers go to a file that ends in {', '.join(known)}"
        )
    if suffix != ".exr":
        scene.to_table()  # a formula of a Python file can't be saved: say so before any work
    if part and suffix != ".fz":
        raise OptionError("--part needs a store: name a file that ends in .fz")
    share = parse_part(part) if part else None
    if cluster and (part or suffix != ".fz"):
        other = "--part" if part else f"a file that ends in {suffix}"
        raise OptionError(f"--cluster and {other} exclude each other: --cluster computes a .fz")
    if dry_run:
        keeps: Keeps = "store" if suffix == ".fz" else "raw"
        print_plan(plan_table(scene, how, keeps, measures=True), as_json)
        return
    with ProgressLine(math.prod(scene.image.size), program_of(scene)) as progress:
        if suffix == ".fz":
            how |= {"overwrite": overwrite, "part": share, "cluster": cluster}
            computed = _computed_to(output, scene, progress=progress, **how)
            report(computed, output, computed.method, as_json, lost)
            return
        check_output(output, overwrite)
        raw_format = catalog.load("raw", suffix[1:])()
        raw_format.check()  # before any work is done
        raw = fractals.compute(scene, progress=progress, **how)
    raw.save(output, overwrite=overwrite)
    new = [f"{output}: {raw_format.lost}"] if raw_format.lost else []
    report(raw, output, raw.method, as_json, lost + new)
    tell_lost(new)


def _computed_to(output: str, scene: "Scene", **how: Any) -> "Computed":
    """Compute a scene into a store, tell how far it is, and return that."""
    try:
        found = fractals.compute_to(output, scene, **how)
    except KeyboardInterrupt:
        tell(f"{output}: finished tiles are kept; the same command resumes")
        raise
    if found.before:
        tell(f"{output}: resumed with {found.before} of {found.tiles} {found.unit}")
    if part := how["part"]:
        left = f"{found.missing} of {found.tiles} {found.unit} are missing"
        ready = f"fractals compute {output} puts the {found.unit} together"
        i, n = part
        tell(f"{output}: part {i}/{n} is there; {left if found.missing else ready}")
    return found
