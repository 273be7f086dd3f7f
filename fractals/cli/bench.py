"""`fractals bench`."""

import click

from fractals.cli.options import (
    examples,
    json_option,
    option,
    overwrite_option,
    parse_size,
    print_json,
    tell,
)
from fractals.errors import OptionError


@click.command(
    "bench",
    epilog=examples(
        "bench",
        "bench classic --plot classic.png     # Python, NumPy, naive @jit, our CPU, GPU",
        "bench --devices cpu,gpu --json > bench.json",
    ),
)
@click.argument("workloads", nargs=-1, metavar="[WORKLOAD]...")
@option(
    "--devices", metavar="LIST", default="cpu,gpu", help="As for --device, with commas; cpu,gpu."
)
@option("--runs", type=click.IntRange(1, 1000), default=5, help="Runs of each, in turns; medians.")
@option("--size", metavar="SIZE", help="Another size: 1920x1080, 4k, 50%.")
@option("--precision", type=click.Choice(["float64", "float32"]), help="Number type to iterate in.")
@option("--threads", type=click.IntRange(1, 1024), metavar="N", help="Most CPU threads.")
@option("--quick", is_flag=True, help="Extrapolate plain Python from a tenth of the rows.")
@option("--crossover", is_flag=True, help="Also draw smaller and smaller pictures.")
@option("--plot", metavar="FILE", help="Chart to write, .png, .svg or .pdf; with --crossover.")
@option("--read", "saved", metavar="FILE", help="Show what --json wrote, instead of measuring.")
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
    """Time the same work on several devices, stage by stage, and compare what they draw.

    A WORKLOAD is default (what fractals render draws), classic (the article's picture, also by
    plain Python, NumPy and a naive @jit), one of a, b, c, d, e (counts of growing depth), a scene
    of the gallery or a file. Without a GPU, Numba's CUDA simulator stands in; its times are no
    GPU's.
    """
    if plot:
        from fractals.tools.bench.charts import check_plot

        check_plot(plot, overwrite)
    from fractals.tools.bench import report as reports

    if saved:
        if workloads:
            raise OptionError("--read shows figures that exist: name no workloads with it")
        report = reports.read_report(saved)
    else:
        from fractals.tools.bench.measure import choose_devices, label, load_workload, measure

        chosen = choose_devices([name.strip() for name in devices.split(",")], tell)
        names = ", ".join(map(label, chosen))
        results = []
        for workload in [load_workload(name) for name in workloads or ("default",)]:
            current = workload.scene.image.size
            workload = workload.change(size and parse_size(size, current), precision)
            tell(f"{workload.name}: {runs} runs on {names}")
            crossing = crossover or plot is not None
            results.append(measure(workload, chosen, runs, threads, crossing, quick, tell))
        report = reports.make_report(results)
    if as_json:
        print_json(report)
    else:
        click.echo(reports.text(report))
    if plot:
        from fractals.tools.bench.charts import draw

        draw(report, plot)
        tell(f"{plot}: written")
    reports.check(report)
