#!/usr/bin/env python3
"""Compare fractals with Fractalshades, the other deep zoom renderer in Python.

    python benchmarks/peers/fractalshades_peer.py                      # deep views of our gallery
    python benchmarks/peers/fractalshades_peer.py --locations FILE.json --only NAME,NAME
    python benchmarks/peers/fractalshades_peer.py --into FIGURES.json  # also keep the figures
    python benchmarks/peers/fractalshades_peer.py --read FIGURES.json  # their table

Needs an environment of its own: benchmarks/README.md says how to make it, and what is compared.
Exits 5 where a stable count of ours is not exact.
"""

import argparse
import contextlib
import importlib.metadata
import io
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # this checkout, installed or not

import gmpy2
from exact import Judge
from places import SIZE, choose, read_gallery, read_locations

from fractals import Scene
from fractals.errors import DeviceError, DifferenceError, FractalsError, OptionError, SceneError
from fractals.io.files import written
from fractals.rendering.drawing import open_drawing, open_plan
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import make_plan
from fractals.scene.numbers import scientific
from fractals.tools import bench as ladder
from fractals.tools import bench_report

PIXELS = 200  # whose counts are judged
FLAVORS = {
    "burning_ship": "Burning ship",
    "perpendicular_burning_ship": "Perpendicular burning ship",
}
NAME = "counts"  # of the files that Fractalshades keeps

Counts = NDArray[np.int32]


@dataclass(frozen=True)
class Laps:
    """Seconds of one drawing: by the clock, and of the process on all cores.

    `prepare` is all before the first pixel (reference orbit, tables); `iterate` are the pixels.
    """

    prepare: float
    iterate: float
    prepare_cpu: float
    iterate_cpu: float


def draw(prepare: Callable[[], None], iterate: Callable[[], None]) -> Laps:
    """Return the seconds that the two took."""
    clock, cpu = [perf_counter()], [process_time()]
    for stage in (prepare, iterate):
        stage()
        clock.append(perf_counter())
        cpu.append(process_time())
    return Laps(clock[1] - clock[0], clock[2] - clock[1], cpu[1] - cpu[0], cpu[2] - cpu[1])


class Ours:
    """A scene drawn by this project, without its cache of orbits."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.counts: Counts = np.zeros(SIZE[::-1], np.int32)

    def draw(self) -> Laps:
        """Compute all counts anew, and return the seconds."""
        return draw(self._prepare, self._iterate)

    def _prepare(self) -> None:
        options = RenderOptions(device="cpu", cache=False, force=True, on_message=lambda line: None)
        plan, backend = open_plan(self.scene, options, "raw")
        self.drawing = open_drawing(plan, backend, options)

    def _iterate(self) -> None:
        self.counts = ladder.count(self.drawing)[1]


class Theirs:
    """The same by Fractalshades: no derivative, no search for the inside, its own tolerance.

    Its orbits of Burning Ships have the opposite imaginary part. The outermost of its pixels lie on
    the edges of the view, so that it gets a view smaller by a pixel.
    """

    def __init__(self, scene: Scene, folder: str) -> None:
        self.models = import_models()
        self.scene, self.plan = scene, make_plan(scene, "cpu")
        name = scene.make_formula().name
        self.flipped = name in FLAVORS
        options: dict[str, Any] = {
            "calc_name": NAME,
            "subset": None,
            "max_iter": scene.iteration.max_iterations,
            "M_divergence": scene.iteration.escape_radius,
        }
        if name in FLAVORS:
            self.fractal = self.models.Perturbation_burning_ship(folder, FLAVORS[name])
            options |= {"calc_hessian": False}
        else:
            power = scene.make_formula().degree
            self.fractal = (
                self.models.Perturbation_mandelbrot(folder)
                if power == 2
                else self.models.Perturbation_mandelbrot_N(folder, power)
            )
            options |= {"calc_dzndc": False, "epsilon_stationnary": 0.0}
        self.options = options
        self.counts: Counts = np.zeros(SIZE[::-1], np.int32)

    def draw(self) -> Laps:
        """Compute all counts anew, and return the seconds."""
        with contextlib.redirect_stdout(io.StringIO()):  # it prints as it goes
            if os.path.isdir(os.path.join(self.fractal.directory, "data")):
                self.fractal.clean_up(NAME)
            laps = draw(self._prepare, lambda: self.fractal.calc_raw(NAME))
        self._read()
        return laps

    def _prepare(self) -> None:
        width, height = SIZE
        x, y = self.plan.center
        reach = self.plan.pixel * (width - 1)
        digits = 12 - Decimal(scientific(self.plan.pixel)).adjusted()
        self.fractal.zoom(
            precision=digits,
            x=decimal(x, digits),
            y=decimal(-y if self.flipped else y, digits),
            dx=decimal(reach, 30),
            nx=width,
            xy_ratio=(width - 1) / (height - 1),
            theta_deg=0.0,
        )
        self.fractal.calc_std_div(**self.options)

    def _read(self) -> None:
        limit = self.options["max_iter"]
        for part in self.fractal.chunk_slices():
            left, right, top, bottom = part
            steps = np.asarray(self.fractal.reload_data(part, NAME)[5])
            steps = steps.reshape(bottom - top, right - left)
            self.counts[top:bottom, left:right] = np.minimum(steps, limit)
        if self.flipped:
            self.counts = self.counts[::-1].copy()


def import_models() -> Any:
    """Return Fractalshades' models.

    Raises
    ------
    DeviceError
        It is not installed, or does not run here.
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its text, when Python first compiles it
            import fractalshades.models
    except (ImportError, OSError, AttributeError) as error:
        raise DeviceError(
            f"Fractalshades can't be used here ({error}): benchmarks/README.md says how to "
            "install it"
        ) from None
    return fractalshades.models


def decimal(value: Fraction, digits: int) -> str:
    """Return a fraction as decimal text with so many digits behind the first.

    Examples
    --------
    >>> decimal(Fraction(-7, 4), 3)
    '-1.750e+00'
    """
    with gmpy2.context(gmpy2.get_context(), precision=64 + int(3.33 * digits)):
        number = gmpy2.mpfr(gmpy2.mpq(value.numerator, value.denominator))
        return f"{number:.{digits}e}"


def compare(name: str, scene: Scene, runs: int, pixels: int) -> dict[str, Any]:
    """Time both on a scene in turns, after a run each that warms up, and judge their counts."""
    if scene.iteration.max_iterations == "auto":
        options = RenderOptions(device="cpu", on_message=lambda line: None)
        drawing = open_drawing(*open_plan(scene, options, "raw"), options)
        scene = scene.replace(max_iterations=drawing.source.max_iterations)
    laps: dict[str, list[Laps]] = {"fractalshades": [], "ours": []}
    with tempfile.TemporaryDirectory() as folder:
        drawers = {"fractalshades": Theirs(scene, folder), "ours": Ours(scene)}
        for run in range(runs + 1):
            for key, drawer in drawers.items():
                lap = drawer.draw()
                if run:
                    laps[key].append(lap)
        counts = {key: drawer.counts for key, drawer in drawers.items()}
        planned = drawers["fractalshades"].plan
    seconds = {
        key: {
            stage: asdict(ladder.spread([getattr(lap, stage) for lap in of_key]))
            for stage in ("prepare", "iterate", "prepare_cpu", "iterate_cpu")
        }
        for key, of_key in laps.items()
    }
    return {
        "workload": name,
        "formula": scene.make_formula().label,
        "width": scientific(planned.width),
        "method": planned.method,
        "size": list(SIZE),
        "max_iterations": int(scene.iteration.max_iterations),
        "mean_count": float(counts["ours"].mean()),
        "runs": runs,
        "seconds": seconds,
        "ratios": {
            stage: seconds["fractalshades"][stage]["median"] / seconds["ours"][stage]["median"]
            for stage in ("iterate", "iterate_cpu")
        },
        "differing": float((counts["ours"] != counts["fractalshades"]).mean()),
        "exact": judge(scene, planned.center, planned.pixel, counts, pixels),
    }


def judge(
    scene: Scene,
    center: tuple[Fraction, Fraction],
    pixel: Fraction,
    counts: Mapping[str, Counts],
    pixels: int,
) -> dict[str, int]:
    """Return how many stable pixels were looked at, and how many counts of each are exact."""
    formula, iteration = scene.make_formula(), scene.iteration
    looker = Judge(
        formula.name,
        formula.degree,
        center,
        pixel,
        SIZE,
        int(iteration.max_iterations),
        iteration.escape_radius,
    )
    found = {"pixels": 0, **dict.fromkeys(counts, 0)}
    for column, row, count in looker.sample(pixels):
        found["pixels"] += 1
        for key, of_key in counts.items():
            found[key] += int(of_key[row, column] == count)
    return found


def measure(name: str, scene: Scene, runs: int, pixels: int) -> dict[str, Any]:
    """Return what was measured at one place, as plain values for JSON."""
    whole = bench_report.make_report([])
    whole["versions"]["fractalshades"] = importlib.metadata.version("fractalshades")
    return {**whole, "results": [compare(name, scene, runs, pixels)]}


def join(old: Mapping[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return figures with those of the same places replaced."""
    fresh = {result["workload"] for result in new["results"]}
    kept = [result for result in old.get("results", ()) if result["workload"] not in fresh]
    return {**new, "results": [*kept, *new["results"]]}


def keep(path: Path, new: dict[str, Any]) -> None:
    """Add figures to a file's."""
    whole = join(read(path) if path.exists() else {}, new)
    with written(path) as file:
        file.write(json.dumps(whole, indent=2).encode() + b"\n")


def read(path: str | Path) -> dict[str, Any]:
    """Return the figures of a file that `keep` wrote."""
    whole = bench_report.read_report(path)
    if "fractalshades" not in whole.get("versions", {}):
        raise SceneError(f"{path}: not what fractalshades_peer.py --into writes")
    return whole


def text(whole: Mapping[str, Any]) -> str:
    """Return the table that a person reads."""
    size = "{}x{}".format(*SIZE)
    versions = ", ".join(f"{name} {whole['versions'][name]}" for name in ("fractalshades", "numba"))
    lines = [
        bench_report.hardware_line(dict(whole)),
        f"{versions}; {size} counts, seconds by the clock, medians in turns",
        "",
    ]
    return "\n".join([*lines, *bench_report.align(_rows(whole["results"]))])


def _rows(results: Sequence[Mapping[str, Any]]) -> Iterator[list[str]]:
    ours = "ours"
    yield [
        *("", "width", "mean count", "prepare: theirs", ours, "iterate: theirs", ours),
        *("theirs/ours", "CPU time", "exact: theirs", ours, "of"),
    ]
    for result in results:
        exact, seconds = result["exact"], result["seconds"]
        both = seconds["fractalshades"], seconds["ours"]
        pixels = exact["pixels"]
        yield [
            result["workload"],
            result["width"],
            f"{result['mean_count']:.0f}",
            *(f"{of[stage]['median']:.3g}" for stage in ("prepare", "iterate") for of in both),
            *(f"{result['ratios'][stage]:.1f}" for stage in ("iterate", "iterate_cpu")),
            *(f"{exact[key] / max(1, pixels):.1%}" for key in ("fractalshades", "ours")),
            str(pixels),
        ]


def check(whole: Mapping[str, Any]) -> None:
    """Raise a `DifferenceError` where a stable count of ours is not exact."""
    wrong = [
        f"{result['workload']}: {result['exact']['pixels'] - result['exact']['ours']} stable "
        f"counts of ours differ from the exact ones"
        for result in whole["results"]
        if result["exact"]["ours"] != result["exact"]["pixels"]
    ]
    if wrong:
        raise DifferenceError("\n".join(wrong))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--locations", metavar="FILE", help="JSON; without: our gallery's")
    parser.add_argument("--only", metavar="NAMES", help="of the places: a,b")
    parser.add_argument("--runs", type=int, default=3, help="of each, in turns; 3")
    parser.add_argument("--pixels", type=int, default=PIXELS, help=f"to judge; {PIXELS}")
    parser.add_argument("--into", metavar="FILE", help="add the figures to those of a JSON file")
    parser.add_argument("--read", metavar="FILE", help="show what --into wrote")
    options = parser.parse_args(arguments)
    try:
        if options.runs < 1 or options.pixels < 0:
            raise OptionError("give 1 or more --runs, and 0 or more --pixels")
        if options.read:
            whole = read(options.read)
        else:
            scenes = read_locations(options.locations) if options.locations else read_gallery()
            chosen = choose(scenes, options.only)
            import_models()  # what is missing is missed at once
            whole = {}
            for name, scene in chosen.items():  # kept one by one: it takes minutes
                print(name, file=sys.stderr)
                whole = join(whole, measure(name, scene, options.runs, options.pixels))
                if options.into:
                    keep(Path(options.into), whole)
        print(text(whole))
        check(whole)
    except FractalsError as error:
        print(f"fractalshades_peer: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
