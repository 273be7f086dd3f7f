"""Verbs that check: `fractals verify`, `devices`, `bench` and `cache`."""

import dataclasses
import os
import sys
from typing import Any

import click

from fractals import catalog
from fractals.cli import shared
from fractals.cli.command import FILE, names, section, verb
from fractals.cli.messages import ProgressLine, print_facts, print_json, tell
from fractals.cli.values import Whole, parse_size
from fractals.errors import DifferenceError, OptionError, counted, shown, to_install


@verb(
    "bench",
    "bench",
    "bench classic --plot classic.png     # Python, NumPy, naive @jit, fractals on CPU and GPU",
    "bench --devices cpu,gpu --json > bench.json",
)
@click.argument(
    "workloads",
    nargs=-1,
    metavar="[WORKLOAD]...",
    shell_complete=names("gallery", "default", "classic", "a", "b", "c", "d", "e", "f", files=True),
)
@section(
    "Work",
    {
        "--devices LIST": "Devices as for --device, with commas between them (default: cpu,gpu).",
        "--runs N": "Runs on each device, of which the median is shown (default: 5).",
        "--size SIZE": "Pixels: 1920x1080, 640x, 4k, 50%.",
        "--precision": "Number type of the iteration.",
        "--quick": "Extrapolate plain Python from a tenth of the rows.",
        "--crossover": "Also time smaller sizes, down to where the CPU is faster.",
    },
    devices={"default": "cpu,gpu"},
    runs={"type": Whole(1, 1000), "default": 5},
    precision=click.Choice(["float64", "float32"]),
)
@shared.threads_option
@section(
    "Output",
    {
        "--plot FILE": "Chart to write (.png, .svg or .pdf); implies --crossover.",
        "--read FILE saved": "Show the figures that --json wrote, without measuring.",
    },
)
@shared.overwrite_option
@shared.json_option
def bench_command(
    workloads: tuple[str, ...],
    devices: str,
    runs: int,
    size: str | None,
    precision: str | None,
    threads: int | None,
    quick: bool,
    crossover: bool,
    plot: str | None,
    saved: str | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Time the same work on several devices, stage by stage, and compare the results.

    A WORKLOAD is default (the picture of fractals.render()), classic (the Mandelbrot set of
    1536x1024 samples and 20 iterations, also timed in plain Python, NumPy and a naive @jit), one of
    a, b, c, d, e, f (views of growing depth), a gallery scene or a file. Images of points and
    solids have no iterations to count. Without a GPU, the simulator is timed instead; its times say
    nothing about a GPU.
    """
    if plot:
        from fractals.tools.bench_report import check_plot

        check_plot(plot, overwrite)
    from fractals.tools import bench_report as reports

    if saved:
        if workloads:
            raise OptionError("--read shows saved figures: name no workloads with it")
        how = ("devices", "runs", "size", "precision", "threads", "quick", "crossover")
        shared.check_left_out("--read shows saved figures", *how)
        report = reports.read_own_report(saved)
    else:
        from fractals.tools.bench import choose_devices, label, load_workload, measure

        chosen = choose_devices([name.strip() for name in devices.split(",")], tell)
        names = ", ".join(map(label, chosen))
        results: list[Any] = []
        for workload in [load_workload(name) for name in workloads or ("default",)]:
            current = workload.scene.image.size
            workload = workload.change(size and parse_size(size, current), precision)
            tell(f"{workload.name}: {counted(runs, 'run')} on {names}")
            crossing = crossover or plot is not None
            with ProgressLine(program=workload.name):
                results.append(measure(workload, chosen, runs, threads, crossing, quick, tell))
        report = reports.make_report(results)
    print_facts(report, reports.text(report) + "\n", as_json)
    if plot:
        from fractals.tools.bench_report import draw

        draw(report, plot, overwrite)
        tell(f"{plot}: written")
    reports.check(report)


@verb("cache", "cache", "cache --empty", "cache --fill")
@section(
    "Cache",
    {
        "--empty": "Delete what the caches hold.",
        "--fill": "Compile the programs of all kinds of pictures in the gallery: some minutes.",
    },
)
@shared.json_option
def cache_command(empty: bool, fill: bool, as_json: bool) -> None:
    """Show where compiled programs and reference orbits are cached, and their sizes.

    Emptied caches are filled again: the next picture of each kind compiles, and the next picture of
    a deep view computes its reference orbit. Compiled programs that no picture used for 30 days are
    removed, and the oldest beyond 512 MiB. NUMBA_CACHE_DIR and FRACTALS_CACHE_DIR set other
    folders. The user's file of defaults is shown too, and the programs that came with the package,
    which are for all processors of a level. FRACTALS_PREBUILT=0 leaves these out. An installer or a
    Dockerfile may fill the cache of compiled programs, so that no first picture waits and all have
    code for this kind of processor; it serves the user that fills it.
    """
    from fractals.backends import shipped
    from fractals.tools.caches import CACHES, contents, empty_cache

    if empty and fill:
        raise OptionError("--empty and --fill contradict each other: give one")
    if fill:
        _fill_cache()
    facts, lines = {}, []
    for name, folder in CACHES.items():
        files = contents(name)
        size = sum(file.stat().st_size for file in files)
        facts[name] = {"folder": str(folder()), "files": len(files), "bytes": size}
        lines.append(f"{name:20}{size / 2**20:9.1f} MiB  {folder()}")
        if empty:
            removed = empty_cache(name)
            tell(f"{name}: {counted(removed, 'file')} deleted")
    ours = shipped.facts()
    size, where = ours["bytes"] / 2**20, ours["file"] or f"not used, because {ours['unused']}"
    lines.append(f"{'programs of a wheel':20}{size:9.1f} MiB  {where}")
    if ours["kernels"]:
        kernels = counted(ours["kernels"], "kernel for GPUs")
        lines.append(f"{'':34}{kernels}: '{shipped.file_of_kernels()}'")
    own = shared.path()
    found = own.is_file()
    lines.append(f"{'file of defaults':20}{'found' if found else 'none':>13}  {own}")
    table = {"caches": facts, "shipped": ours, "defaults": {"file": str(own), "exists": found}}
    if as_json or not empty:
        print_facts(table, "\n".join(lines) + "\n", as_json)


def _fill_cache() -> None:
    """Draw a small picture of each scene of the gallery, in processes side by side."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    from fractals.threads import core_count

    scenes = catalog.names("gallery")
    spawn = multiprocessing.get_context("spawn")  # threads of this process may hold locks
    with (
        ProcessPoolExecutor(core_count(), spawn) as pool,
        ProgressLine(task="compiling the programs of the gallery") as line,
    ):
        for done, _ in enumerate(pool.map(_draw_small, scenes), 1):
            line(done, len(scenes))


def _draw_small(scene: str) -> None:
    import fractals
    from fractals.backends import shipped

    os.environ[shipped.SWITCH] = "0"  # code for a level is no code for this processor
    fractals.render(scene, size=(32, 18), device="cpu", threads=1, on_message=lambda line: None)


def _memory(size: int) -> str:
    """Return the memory of a GPU in words."""
    return f"{size / 2**30:.0f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"


@verb("devices", "devices", "devices --json", "render --device cuda:1 -o second.png")
@shared.json_option
def devices_command(as_json: bool) -> None:
    """List the devices that can draw on this machine.

    The default device is marked; for a GPU that can't be used, the reason is given. A line tells
    whether first pictures on the CPU use programs that came with the package or are compiled. A
    line tells if Python keeps no bytecode of this program, which makes each start slower.
    """
    from fractals.backends import opencl, shipped
    from fractals.backends.cuda import gpus
    from fractals.backends.devices import choose, devices

    found, ours = devices(), shipped.facts()
    taken = choose("auto").device  # compared by name, because the free memory changes
    auto = taken.kind, taken.index
    problems = [device.problem for device in found if device.kind == "cuda"]
    reason = next(filter(None, problems), "") if problems else gpus.found()[1]
    tables = [{**dataclasses.asdict(d), "auto": (d.kind, d.index) == auto} for d in found]
    lines = []
    for device in found:
        if device.kind == "cpu":
            facts = f"{counted(device.cores, 'core')}, {device.vector_bits}-bit vectors"
        elif device.kind == "cuda":
            major, minor = device.compute_capability
            memory = _memory(device.memory)
            facts = f"compute capability {major}.{minor}, {memory}, driver CUDA {device.driver}"
        elif device.kind == "opencl":
            what = "GPU" if device.is_gpu else "CPU, used where it is named"
            facts = f"{what}, {_memory(device.memory)}, {device.driver}"
            facts += f", without {' and '.join(device.lacks)}" if device.lacks else ""
        else:
            facts = "slow; for learning and for tests"
        numbered = device.kind in ("cuda", "opencl")
        name = f"{device.kind}:{device.index}" if numbered else device.kind
        mark = "  <- auto" if (device.kind, device.index) == auto else ""
        lines.append(f"{name:10} {device.name}, {facts}{mark}")
        if device.problem:
            lines.append(f"{'':10} not used: {device.problem}")
        if device.kind == "cpu":
            what = f"first pictures are compiled, because {ours['unused']}"
            if ours["level"]:
                programs = counted(ours["programs"], "program")
                what = f"{programs} came with the package, for {ours['level']}"
            lines.append(f"{'':10} {what}")
    if not opencl.found()[0]:
        lines.append(f"{'opencl':10} not found: {opencl.found()[1]}")
    if not problems:
        lines.append(f"{'cuda':10} not found: {reason}")
        if reason.startswith("no NVIDIA driver ("):
            install = to_install("gpu")
            lines.append(f"{'':10} with an NVIDIA GPU, install its driver, and {install}")
    if note := _bytecode_note():
        lines.append(note)
    notes = {"no_gpu": reason, "no_bytecode": note, "shipped": ours}
    table = {"devices": tables, "auto": taken.kind, **notes}
    print_facts(table, "\n".join(lines) + "\n", as_json)


def _bytecode_note() -> str:
    """Return a line about bytecode of this package that Python does not keep; "" if it does."""
    specs = [
        module.__spec__
        for name, module in sys.modules.items()
        if name.startswith("fractals.") and module.__spec__
    ]
    files = [spec.cached for spec in specs if spec.cached]  # none in an archive
    missing = next((file for file in files if not os.path.exists(file)), None)
    if missing is None:
        return ""
    why = f"'{shown(os.path.dirname(missing))}' can't be written"
    if sys.dont_write_bytecode:
        why = "PYTHONDONTWRITEBYTECODE is set"
    # Measured: 0.14 s of the CPU, in which the modules of a picture are compiled
    return f"Python keeps no bytecode of fractals ({why}): each start takes 0.1 to 0.2 s longer"


@verb("verify", "verify sea.png", "verify sea.png --pixels 100", "verify sea.png --exact --json")
@click.argument("picture", metavar="PICTURE", shell_complete=FILE)
@section(
    "Check",
    {
        "--pixels N": "Number of pixels to recompute (default: 20).",
        "--exact": "Also compare all iteration counts with those in arbitrary precision.",
        "--seed N": "Seed of the random choice of pixels (default: 0).",
    },
    pixels={"type": Whole(1, 1_000_000), "default": 20},
    seed={"type": Whole(0, 2**63), "default": 0},
)
@shared.json_option
def verify_command(picture: str, pixels: int, exact: bool, seed: int, as_json: bool) -> None:
    """Recompute random pixels of a picture with plain Python loops, and compare them.

    Of deep views, some counts are also compared with those in arbitrary precision. A flame is drawn
    again on the CPU, and some of its trajectories are compared with those of plain Python.

    Exit code 5: pixels differ.
    """
    from fractals.tools.verify import verify

    with ProgressLine(task=f"recomputing {counted(pixels, 'pixel')} in plain Python"):
        found = verify(picture, pixels, exact=exact, seed=seed, on_message=tell)
    bad = [pixel for pixel in found if not pixel.right]
    unstable, compared = (sum(getattr(p, name) for p in found) for name in ("unstable", "compared"))
    if as_json:
        tables = [dataclasses.asdict(pixel) for pixel in bad]
        facts = {"unstable_samples": unstable, "exact_samples": compared}
        print_json({"pixels": len(found), "wrong": tables, **facts})
    else:
        note = f"; {counted(compared, 'count')} compared with exact ones" if compared else ""
        if unstable:
            note += f"; {counted(unstable, 'sample')} chaotic: rounding changes the count"
        right = f"{len(found) - len(bad)} of {counted(len(found), 'pixel')} right"
        tell(f"{picture}: {right}{note}")
    if bad:
        first = bad[0]
        raise DifferenceError(
            f"{counted(len(bad), 'pixel')} wrong; the first, at ({first.x}, {first.y}), "
            f"{first.difference}"
        )
