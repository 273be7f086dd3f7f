"""Times deep views: reference orbit and pixels apart, and the memory of the whole process.

    python benchmarks/deep.py                            # the deep views of the gallery
    python benchmarks/deep.py a.toml b.toml --size 1024x1024 --json > figures.json

Each is drawn in a process of its own, with compiled code from the disk and no orbit from it, after
a small view, with which modules are imported.
"""

import json
import resource
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

import fractals
from fractals import catalog
from fractals.backends import probe
from fractals.cli.values import parse_size
from fractals.io.load import load_scene
from fractals.rendering.plan import make_plan

DEEP = Decimal("1e-8")  # a width that float64 alone can't draw
FIRST = "wheels"  # the small view


def draw(source: str, size: tuple[int, int]) -> dict[str, Any]:
    """Compute a view, one sample a pixel, and return what it took."""
    for name, pixels in ((FIRST, (8, 8)), (source, size)):
        scene = load_scene(name, {"image": {"size": pixels, "supersampling": 1}})
        raw = fractals.compute(scene, device="cpu", cache=False, on_message=str)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    return {
        "name": Path(source).stem,
        "width": make_plan(scene).to_table()["width"],
        "max_iterations": raw.max_iterations,
        "mean_count": float(raw.count.mean()),
        "seconds": {stage: round(raw.timings[stage], 3) for stage in ("reference", "iterate")},
        "memory_mib": round(peak),
    }


@click.command()
@click.argument("scenes", nargs=-1)
@click.option("--size", default="1024x1024", help="Of each picture.")
@click.option("--runs", default=3, help="Runs of each; the median is shown.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--one", hidden=True, help="Draw this one, and print what it took.")
def main(scenes: tuple[str, ...], size: str, runs: int, as_json: bool, one: str | None) -> None:
    """Time deep views."""
    if one:
        print(json.dumps(draw(one, parse_size(size, (1024, 1024)))))
        return
    names = scenes or [
        name
        for name in catalog.names("gallery")
        if Decimal((scene := load_scene(name)).view.width or "1") < DEEP and scene.view.center
    ]
    figures = []
    for name in names:
        command = [sys.executable, __file__, "--one", name, "--size", size]
        found = []
        for _ in range(runs + 1):  # the first may compile
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found.append(json.loads(done.stdout))
        found = sorted(found[1:], key=lambda run: sum(run["seconds"].values()))
        figures.append(found[len(found) // 2])
        if not as_json:
            row = figures[-1]
            seconds = row["seconds"]
            print(
                f"{row['name']:20} {row['width']:>12} {row['mean_count']:>12.0f} steps "
                f"{seconds['reference']:8.2f} + {seconds['iterate']:.2f} s "
                f"{row['memory_mib']:6} MiB",
                flush=True,
            )
    if as_json:
        cpu = probe.cpu()
        hardware = {"cpu": cpu.name, "cores": cpu.cores, "vector_bits": cpu.vector_bits}
        print(json.dumps({"hardware": hardware, "size": size, "views": figures}, indent=2))


if __name__ == "__main__":
    main()
