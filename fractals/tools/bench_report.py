"""What was measured, as plain values: JSON, a table of text, the verdict, and charts."""

import datetime
import importlib.metadata
import importlib.util
import io
import json
import math
import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fractals import __version__
from fractals.backends import machine_code, probe
from fractals.backends.cuda import gpus
from fractals.errors import (
    DifferenceError,
    FractalsError,
    OptionError,
    SceneError,
    counted,
    to_install,
)
from fractals.io.files import check_output, read_bytes, written
from fractals.tools.bench import STAGES, Result

VERSION = 1  # of the JSON


def make_report(results: Sequence[Result]) -> dict[str, Any]:
    """Return results as plain values, with the hardware and the versions they were measured on."""
    cpu, (cards, _) = probe.cpu(), gpus.found()
    return {
        "version": VERSION,
        "date": datetime.date.today().isoformat(),
        "hardware": {
            "cpu": {
                "name": cpu.name,
                "llvm_cpu": machine_code.CPU,  # a virtual machine's name often tells no generation
                "cores": cpu.cores,
                "vector_bits": cpu.vector_bits,
            },
            "gpus": [
                {
                    "name": gpu.name,
                    "compute_capability": list(gpu.compute_capability),
                    "memory": gpu.memory,
                    "driver": f"CUDA {gpu.driver}",
                }
                for gpu in cards
            ],
            "system": f"{platform.system()} {platform.machine()}",
        },
        "versions": {
            "fractals": __version__,
            "python": platform.python_version(),
            **{name: _version(name) for name in ("numba", "numba-cuda", "numpy")},
        },
        "results": json.loads(json.dumps([asdict(result) for result in results])),
    }


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def read_report(path: str | Path) -> dict[str, Any]:
    """Return a report of figures, of any workload, from a file; or raise a `SceneError`."""
    try:
        report = json.loads(read_bytes(Path(path)))
    except SceneError:
        raise
    except (ValueError, RecursionError):  # no text, or no JSON
        report = None
    if not isinstance(report, dict) or not {"hardware", "results"} <= set(report):
        raise SceneError(f"{path}: not what fractals bench --json writes")
    if report.get("version") != VERSION:
        raise SceneError(f"{path}: figures of version {report.get('version')}, not {VERSION}")
    return report


def read_own_report(path: str | Path) -> dict[str, Any]:
    """Return the report of a file that ``fractals bench --json`` wrote; or raise a `SceneError`."""
    report = read_report(path)
    try:
        text(report)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):  # edited, or cut
        raise SceneError(f"{path}: not what fractals bench --json writes") from None
    return report


def check(report: dict[str, Any]) -> None:
    """Raise a `DifferenceError` where devices did not compute the same."""
    wrong = []
    for result in report["results"]:
        for times in result["devices"]:
            if not times["equal"]:
                wrong.append(
                    f"{result['workload']}: {times['device']} differs from "
                    f"{result['devices'][0]['device']} in "
                    f"{counted(times['differing_counts'], 'count')} and "
                    f"{counted(times['differing_pixels'], 'pixel')}"
                )
        for rung in result["ladder"]:
            if rung["ours"] and rung["differing_counts"]:
                wrong.append(
                    f"{result['workload']}: '{rung['name']}' differs in "
                    f"{counted(rung['differing_counts'], 'count')}"
                )
    if wrong:
        raise DifferenceError("\n".join(wrong))


def hardware_line(report: dict[str, Any]) -> str:
    """Return the names of the hardware."""
    cpu, gpus = report["hardware"]["cpu"], report["hardware"]["gpus"]
    name = f"{cpu['name']} ({cpu['llvm_cpu']})" if "llvm_cpu" in cpu else cpu["name"]  # older files
    names = [f"{name}, {counted(cpu['cores'], 'core')}, {cpu['vector_bits']}-bit vectors"]
    names += [f"{gpu['name']}, driver {gpu['driver']}" for gpu in gpus]
    return "; ".join(names)


def size_line(result: dict[str, Any]) -> str:
    """Return how large the work was."""
    width, height = result["size"]
    n = result["supersampling"]
    samples = f" of {n}x{n} samples" if n > 1 else ""
    shortcuts = "" if result["interior_shortcuts"] else ", no interior shortcuts"
    runs = f"medians of {counted(result['runs'], 'run')}"
    if not result["max_iterations"]:
        return f"{width}x{height}, {result['precision']}; {runs}"
    return (
        f"{width}x{height}{samples}, at most {result['max_iterations']} iterations{shortcuts}, "
        f"{result['precision']}; {runs}"
    )


def text(report: dict[str, Any]) -> str:
    """Return the tables that a person reads; times are medians in milliseconds."""
    lines = [hardware_line(report)]
    for result in report["results"]:
        name = result["workload"] + (f": {result['title']}" if result["title"] else "")
        lines += ["", name, size_line(result), *align(_device_rows(result))]
        if result["ladder"]:
            lines += ["", "the counts alone, step by step", *align(_ladder_rows(result))]
        if result["naive_ratio"]:
            ratio = f"{result['naive_ratio']:.1f}"
            lines += ["", f"the naive @jit loop takes {ratio} times as long as ours on one thread"]
        if result["crossover"]:
            lines += ["", "iterate, color and copy, by size", *align(_crossover_rows(result))]
    return "\n".join(lines)


def _device_rows(result: dict[str, Any]) -> Iterator[list[str]]:
    yield ["ms", "1st compile", *STAGES, "total", "G it/s", "M samples/s", "result"]
    for times in result["devices"]:
        threads = f", {times['threads']} threads" if times["threads"] > 1 else ""
        wrong = times["differing_pixels"] or times["differing_counts"]
        yield [
            times["device"] + threads,
            _ms(times["first_compile"]),
            *(_ms(times["stages"][stage]["median"]) for stage in STAGES),
            _ms(times["total"]["median"]),
            *(
                f"{times[key] / unit:.3g}" if times[key] else ""
                for key, unit in (("iterations_per_second", 1e9), ("samples_per_second", 1e6))
            ),
            "equal" if times["equal"] else f"{wrong} differ",
        ]


def _ladder_rows(result: dict[str, Any]) -> Iterator[list[str]]:
    slowest = result["ladder"][0]["seconds"]["median"]
    yield ["", "ms", "min", "max", "times as fast", "counts that differ", ""]
    for rung in result["ladder"]:
        seconds, share = rung["seconds"], rung["share"]
        yield [
            rung["name"],
            *(_ms(seconds[key]) for key in ("median", "min", "max")),
            f"{slowest / seconds['median']:.1f}",
            str(rung["differing_counts"]),
            f"extrapolated from {share:.0%} of the rows" if share < 1 else "",
        ]


def _crossover_rows(result: dict[str, Any]) -> Iterator[list[str]]:
    names = list(result["crossover"][0]["seconds"])
    yield ["size", *names]
    for row in result["crossover"]:
        yield ["{}x{}".format(*row["size"]), *(_ms(row["seconds"][name]) for name in names)]


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.{1 if seconds < 1 else 0}f}"


def align(rows: Iterator[list[str]]) -> list[str]:
    """Return lines with the first column left-aligned and the others right-aligned."""
    cells = list(rows)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if k else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


# Charts of a bench report: for each workload, where the time goes, and how it grows with size.


SUFFIXES = (".png", ".svg", ".pdf")
INK, GRAY, PALE = "#1f2933", "#6b7785", "#e3e7ec"
STAGE_COLORS = {
    "plan": "#c9d0d8",
    "compile": "#98a3b0",
    "iterate": "#1d4e89",
    "color": "#f0803c",
    "copy": "#2a9d8f",
    "encode": "#bf8a1c",
}
DEVICE_COLORS = {
    "cpu": "#1d4e89",
    "cuda": "#4c9a2a",
    "opencl": "#7d5ba6",
    "simulator": "#c2557a",
    "python": "#8d8d8d",
}
STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that charts look alike everywhere
    "font.size": 10,
    "text.color": INK,
    "svg.fonttype": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.edgecolor": GRAY,
    "axes.axisbelow": True,
    "xtick.color": GRAY,
    "xtick.minor.bottom": False,
    "ytick.color": GRAY,
    "ytick.major.size": 0,
    "ytick.minor.left": False,
    "grid.color": PALE,
}
ACROSS, ROW, HEAD = 11.0, 3.9, 0.35  # inches
NARROWEST = 0.18  # of the longest bar: a segment with room for its seconds


def check_plot(path: str | Path, overwrite: bool) -> None:
    """Raise an error where no chart could be written, before anything is measured."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise OptionError(f"'{path}': unknown type of chart: end the name in {', '.join(SUFFIXES)}")
    if importlib.util.find_spec("matplotlib") is None:
        raise FractalsError(f"charts need matplotlib: {to_install('plot')}")
    check_output(path, overwrite)


def draw(report: dict[str, Any], path: str | Path, overwrite: bool) -> None:
    """Write the charts of a report to a file, whose suffix names the type."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    results = report["results"]
    height = ROW * len(results) + HEAD
    buffer = io.BytesIO()
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(ACROSS, height), facecolor="white")
        FigureCanvasAgg(figure)  # which can tell how wide a text is

        def place(x: float, y: float) -> tuple[float, float]:
            return x / ACROSS, y / height

        for k, result in enumerate(results):
            top = height - k * ROW
            name = result["workload"] + (f": {result['title']}" if result["title"] else "")
            figure.text(*place(0.3, top - 0.42), name, fontsize=14, weight="bold")
            figure.text(*place(0.3, top - 0.68), size_line(result), fontsize=9.5, color=GRAY)
            bottom, up = place(0, top - ROW + 0.35)[1], (ROW - 1.8) / height
            left = figure.add_axes((2.0 / ACROSS, bottom, 3.6 / ACROSS, up))
            if result["ladder"] and result["ladder"][0]["name"] == "plain Python":
                _ladder(left, result)
            else:
                _bars(left, result)
            if result["crossover"]:
                right = figure.add_axes((7.0 / ACROSS, bottom, 2.4 / ACROSS, up))
                _crossover(right, result)
        figure.text(*place(0.3, 0.15), hardware_line(report), fontsize=8, color=GRAY)
        figure.savefig(buffer, format=Path(path).suffix[1:].lower(), dpi=200)
    with written(path, overwrite) as file:
        file.write(buffer.getvalue())


def _bars(axes: Any, result: dict[str, Any]) -> None:
    """Draw a stacked bar for each device: the median of every stage."""
    devices = result["devices"]
    sums = [sum(times["stages"][stage]["median"] for stage in STAGES) for times in devices]
    longest = max(sums)
    for row, times in enumerate(devices):
        start = 0.0
        for stage in STAGES:
            seconds = times["stages"][stage]["median"]
            axes.barh(row, seconds, left=start, height=0.46, color=STAGE_COLORS[stage])
            if seconds > NARROWEST * longest:
                middle = start + seconds / 2
                axes.text(middle, row, _seconds(seconds), color="white", ha="center", va="center")
            start += seconds
        axes.text(start + 0.02 * longest, row, _seconds(start), va="center", weight="bold")
        first = f"first run: {_seconds(times['first_compile'])} to compile"
        axes.text(0, row + 0.38, first, color=GRAY, fontsize=8.5, va="center")
        _name(axes, row, _shown(times["device"]), _device_note(times))
    axes.set(xlim=(0, longest), ylim=(len(devices) - 0.35, -0.45), xticks=[], yticks=[])
    axes.spines["bottom"].set_visible(False)
    _title(axes, "Where the time goes")
    at = 0.0
    for stage in STAGES:
        text = _above(axes, at, stage, STAGE_COLORS[stage], weight="bold", fontsize=9)
        extent = text.get_window_extent()
        at = axes.transAxes.inverted().transform((extent.x1, 0))[0] + 0.035


def _ladder(axes: Any, result: dict[str, Any]) -> None:
    """Draw a bar on a logarithmic scale for each step from plain Python to the GPU."""
    rungs = result["ladder"]
    medians = [rung["seconds"]["median"] for rung in rungs]
    least, most = min(medians), max(medians)
    start = 10 ** math.floor(math.log10(least / 1.5))
    for row, (rung, seconds) in enumerate(zip(rungs, medians, strict=True)):
        device = "cpu" if rung["name"].startswith("ours") else rung["name"].partition(":")[0]
        color = DEVICE_COLORS.get(device if rung["ours"] else "", "#a3adb8")
        axes.barh(row, seconds - start, left=start, height=0.6, color=color)
        times = most / seconds
        faster = "" if row == 0 else f"  {float(f'{times:.2g}'):,g}×"
        about = "about " if rung["share"] < 1 else ""
        axes.annotate(
            about + _seconds(seconds) + faster,
            (seconds, row),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            weight="bold",
        )
        _name(axes, row, _shown(rung["name"]), "no GPU" if rung["name"] == "simulator" else "")
    axes.set(xscale="log", xlim=(start, 1.6 * most), ylim=(len(rungs) - 0.4, -0.6), yticks=[])
    _ticks(axes.xaxis, start, most)
    axes.grid(axis="x")
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(axis="x", length=0)
    _title(axes, "The same counts, step by step")
    _above(axes, 0, "logarithmic scale; compiling left out", GRAY, fontsize=9)


def _crossover(axes: Any, result: dict[str, Any]) -> None:
    """Draw a line a device, time against pixels, and mark where one overtakes the other."""
    rows = result["crossover"]
    pixels = [math.prod(row["size"]) for row in rows]
    names = list(rows[0]["seconds"])
    lines = {name: [row["seconds"][name] for row in rows] for name in names}
    for name, seconds in lines.items():
        color = DEVICE_COLORS[name.partition(":")[0]]
        axes.plot(pixels, seconds, color=color, lw=2, marker="o", ms=4.5, mec="white", mew=0.8)
    every = [value for seconds in lines.values() for value in seconds]
    low, high = min(every) / 1.6, max(every) * 1.6
    axes.set(xscale="log", yscale="log", ylim=(low, high), xlim=(pixels[0] / 1.5, pixels[-1] * 1.5))
    ends = sorted(names, key=lambda name: lines[name][-1])
    room = 0.09 * math.log(high / low)  # between two labels
    at = -math.inf
    for name in ends:
        at = max(math.log(lines[name][-1]), at + room)
        color = DEVICE_COLORS[name.partition(":")[0]]
        label = f"{_shown(name)}  {_seconds(lines[name][-1])}"
        axes.text(pixels[-1] * 1.7, math.exp(at), label, color=color, weight="bold", va="center")
    shown = rows[:: -max(1, math.ceil(len(rows) / 3))]
    axes.set_xticks([math.prod(row["size"]) for row in shown])
    axes.set_xticklabels(["{}×{}".format(*row["size"]) for row in shown])
    axes.minorticks_off()
    _ticks(axes.yaxis, low, high)
    axes.grid(axis="y")
    _title(axes, "Time against picture size")
    note = "iterate, color and copy; both scales logarithmic"
    crossing = _crossing(pixels, *lines.values()) if len(names) == 2 else None
    if crossing:
        axes.axvline(crossing, color=INK, lw=0.8, ls=(0, (4, 3)))
        faster = min(names, key=lambda name: lines[name][-1])
        note = f"{_shown(faster)} is the faster from {_count(crossing)} pixels on"
    _above(axes, 0, note, GRAY, fontsize=9)


def _crossing(pixels: list[int], first: list[float], second: list[float]) -> float | None:
    """Return the size from which the device that wins at the end wins; None: it always does."""
    gaps = [math.log(a / b) for a, b in zip(first, second, strict=True)]
    for k in range(len(gaps) - 1, 0, -1):
        if gaps[k] * gaps[k - 1] < 0:
            share = gaps[k - 1] / (gaps[k - 1] - gaps[k])
            return float(pixels[k - 1] * (pixels[k] / pixels[k - 1]) ** share)
    return None


def _title(axes: Any, text: str) -> None:
    _above(axes, 0, text, INK, offset=24, fontsize=11, weight="bold")


def _above(axes: Any, x: float, text: str, color: str, offset: float = 8, **style: Any) -> Any:
    """Write above a panel, `offset` points from its edge."""
    return axes.annotate(
        text,
        (x, 1),
        xytext=(0, offset),
        xycoords="axes fraction",
        textcoords="offset points",
        color=color,
        annotation_clip=False,
        **style,
    )


def _name(axes: Any, row: float, name: str, note: str) -> None:
    """Write a bar's name beside it, and a note below the name."""
    at = {"xy": (0, row), "xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    up = 5 if note else 0
    axes.annotate(name, xytext=(-8, up), ha="right", va="center", **at)
    axes.annotate(note, xytext=(-8, -8), ha="right", va="center", color=GRAY, fontsize=7.5, **at)


def _shown(device: str) -> str:
    """Return the name of a device as people say it."""
    kind, _, index = device.partition(":")
    return {"cpu": "CPU", "cuda": "GPU"}.get(kind, kind) + (f" {index}" if index else "")


def _device_note(times: dict[str, Any]) -> str:
    if times["device"] == "simulator":
        return "no GPU: CUDA in Numba"
    if times["threads"] > 1:
        return f"{times['name'][:24]}, {times['threads']} threads"
    return str(times["name"][:28])


def _ticks(axis: Any, low: float, high: float) -> None:
    """Put ticks at powers of ten of seconds, in units that people read."""
    powers = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
    axis.set_ticks([10.0**power for power in powers])
    axis.set_ticklabels([_seconds(10.0**power) for power in powers])


def _seconds(value: float) -> str:
    """Return two or three digits of a time, with its unit.

    >>> _seconds(0.0123), _seconds(3.456)
    ('12 ms', '3.5 s')
    """
    unit, scale = (
        ("s", 1.0) if value >= 0.9995 else ("ms", 1e3) if value >= 0.9995e-3 else ("µs", 1e6)
    )
    value *= scale
    return f"{value:.1f}".removesuffix(".0") + f" {unit}" if value < 9.95 else f"{value:.0f} {unit}"


def _count(value: float) -> str:
    return f"{value / 1e6:.1f} million" if value >= 1e6 else f"{float(f'{value:.2g}'):,.0f}"
