"""What was measured, as plain values: JSON, a table of text, and the verdict."""

import datetime
import importlib.metadata
import json
import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fractals import __version__
from fractals.backends import probe
from fractals.errors import DifferenceError, SceneError
from fractals.tools.bench.measure import STAGES, Result

VERSION = 1  # of the JSON


def make_report(results: Sequence[Result]) -> dict[str, Any]:
    """Return results as plain values, with the hardware and the versions they were measured on."""
    cpu, (gpus, _) = probe.cpu(), probe.gpus()
    return {
        "version": VERSION,
        "date": datetime.date.today().isoformat(),
        "hardware": {
            "cpu": {"name": cpu.name, "cores": cpu.cores, "vector_bits": cpu.vector_bits},
            "gpus": [
                {
                    "name": gpu.name,
                    "compute_capability": list(gpu.compute_capability),
                    "memory": gpu.memory,
                    "driver": f"CUDA {gpu.driver}",
                }
                for gpu in gpus
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
    """Return the report of a file that ``fractals bench --json`` wrote; or raise a `SceneError`."""
    try:
        report = json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise SceneError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise SceneError(f"{path}: {error}") from None
    if not isinstance(report, dict) or not {"hardware", "results"} <= set(report):
        raise SceneError(f"{path}: not what fractals bench --json writes")
    if report.get("version") != VERSION:
        raise SceneError(f"{path}: figures of version {report.get('version')}, not {VERSION}")
    return report


def check(report: dict[str, Any]) -> None:
    """Raise a `DifferenceError` where devices did not compute the same."""
    wrong = []
    for result in report["results"]:
        for times in result["devices"]:
            if not times["equal"]:
                wrong.append(
                    f"{result['workload']}: {times['device']} differs from "
                    f"{result['devices'][0]['device']} in {times['differing_counts']} counts and "
                    f"{times['differing_pixels']} pixels"
                )
        for rung in result["ladder"]:
            if rung["ours"] and rung["differing_counts"]:
                wrong.append(
                    f"{result['workload']}: '{rung['name']}' differs in "
                    f"{rung['differing_counts']} counts"
                )
    if wrong:
        raise DifferenceError("\n".join(wrong))


def hardware_line(report: dict[str, Any]) -> str:
    """Return the names of the hardware."""
    cpu, gpus = report["hardware"]["cpu"], report["hardware"]["gpus"]
    names = [f"{cpu['name']}, {cpu['cores']} cores, {cpu['vector_bits']}-bit vectors"]
    names += [f"{gpu['name']}, driver {gpu['driver']}" for gpu in gpus]
    return "; ".join(names)


def size_line(result: dict[str, Any]) -> str:
    """Return how large the work was."""
    width, height = result["size"]
    n = result["supersampling"]
    samples = f" of {n}x{n} samples" if n > 1 else ""
    shortcuts = "" if result["interior_shortcuts"] else ", no interior shortcuts"
    runs = f"medians of {result['runs']} runs"
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
            f"{times['iterations_per_second'] / 1e9:.3g}",
            f"{times['samples_per_second'] / 1e6:.3g}",
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
