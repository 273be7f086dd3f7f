"""`fractals bench`."""

from typing import Any

import click

from fractals.cli.command import option, verb
from fractals.cli.completion import FILE, names
from fractals.cli.messages import print_json, tell, write_out
from fractals.cli.options import json_option, overwrite_option, threads_option
from fractals.cli.progress import ProgressLine
from fractals.cli.values import Whole, parse_size
from fractals.errors import OptionError


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
    shell_complete=names("gallery", "default", "classic", "a", "b", "c", "d", "e", files=True),
)
@option(
    "--devices",
    metavar="LIST",
    default="cpu,gpu",
    section="Work",
    help="Devices as for --device, with commas between them (default: cpu,gpu).",
)
@option(
    "--runs",
    type=Whole(1, 1000),
    metavar="N",
    default=5,
    section="Work",
    help="Runs on each device, of which the median is shown (default: 5).",
)
@option("--size", metavar="SIZE", section="Work", help="Pixels: 1920x1080, 640x, 4k, 50%.")
@option(
    "--precision",
    type=click.Choice(["float64", "float32"]),
    section="Work",
    help="Number type of the iteration.",
)
@threads_option
@option(
    "--quick",
    is_flag=True,
    section="Work",
    help="Extrapolate plain Python from a tenth of the rows.",
)
@option(
    "--crossover",
    is_flag=True,
    section="Work",
    help="Also time smaller sizes, down to where the CPU is faster.",
)
@option(
    "--plot",
    metavar="FILE",
    section="Output",
    shell_complete=FILE,
    help="Chart to write (.png, .svg or .pdf); implies --crossover.",
)
@option(
    "--read",
    "saved",
    metavar="FILE",
    section="Output",
    shell_complete=FILE,
    help="Show the figures that --json wrote, without measuring.",
)
@overwrite_option
@json_option
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

    A WORKLOAD is default (the picture of fractals render), classic (the Mandelbrot set of 1536x1024
    samples and 20 iterations, also timed in plain Python, NumPy and a naive @jit), one of a, b, c,
    d, e (views of growing depth), a gallery scene or a file. Without a GPU, Numba's CUDA simulator
    is timed instead; its times say nothing about a GPU.
    """
    if plot:
        from fractals.tools.bench.charts import check_plot

        check_plot(plot, overwrite)
    from fractals.tools.bench import report as reports

    if saved:
        if workloads:
            raise OptionError("--read shows saved figures: name no workloads with it")
        report = reports.read_report(saved)
    else:
        from fractals.tools.bench.measure import choose_devices, label, load_workload, measure

        chosen = choose_devices([name.strip() for name in devices.split(",")], tell)
        names = ", ".join(map(label, chosen))
        results: list[Any] = []
        for workload in [load_workload(name) for name in workloads or ("default",)]:
            current = workload.scene.image.size
            workload = workload.change(size and parse_size(size, current), precision)
            tell(f"{workload.name}: {runs} runs on {names}")
            crossing = crossover or plot is not None
            with ProgressLine(program=workload.name):
                results.append(measure(workload, chosen, runs, threads, crossing, quick, tell))
        report = reports.make_report(results)
    if as_json:
        print_json(report)
    else:
        write_out(reports.text(report) + "\n")
    if plot:
        from fractals.tools.bench.charts import draw

        draw(report, plot)
        tell(f"{plot}: written")
    reports.check(report)
