"""Bench: the same work on several devices, its stages timed apart, the results compared."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals import catalog
from fractals.backends.devices import choose
from fractals.backends.probe import Device, cpu
from fractals.errors import OptionError, counted, shown
from fractals.io.load import load_scene
from fractals.rendering.drawing import Drawing, open_drawing, open_plan, plane_sink, run
from fractals.rendering.families import family_of
from fractals.rendering.options import RenderOptions
from fractals.rendering.render import render
from fractals.rendering.sampling import coordinates
from fractals.scene.model import Scene

# The ladder: the same counts by plain Python, NumPy, a naive ``@jit``, our loops and the GPU.


PYTHON_SHARE = 10  # a quick ladder runs every tenth row in plain Python
NUMPY = "NumPy"
NAIVE = "naive @jit"

Counts = NDArray[Any]
Step = Callable[[], tuple[float, Counts]]


@dataclass(frozen=True)
class Spread:
    """What several runs took, in seconds."""

    median: float
    min: float
    max: float


def spread(seconds: Sequence[float]) -> Spread:
    """Return median, least and most.

    >>> spread([3.0, 1.0, 2.0])
    Spread(median=2.0, min=1.0, max=3.0)
    """
    return Spread(statistics.median(seconds), min(seconds), max(seconds))


@dataclass(frozen=True)
class Rung:
    """One step of the ladder: the counts in host memory, and nothing else."""

    name: str
    ours: bool  # whether it is a backend of this program
    compile: float  # seconds, apart from `seconds`; a backend may have found its code on disk
    seconds: Spread
    # Differences from the first rung of `fractals`, whose rungs must agree. The naive loop rounds
    # each product by itself where `fma` rounds once, so a few chaotic samples differ there.
    differing_counts: int
    # Of the rows that were computed; below 1, `seconds` is extrapolated from them
    share: float = 1.0


def count(drawing: Drawing) -> tuple[float, Counts]:
    """Return the seconds that a drawing's counts took, and the counts."""
    n, (width, height) = drawing.plan.supersampling, drawing.plan.size
    counts = np.empty((height * n, width * n), np.int32)
    begun = perf_counter()
    run(drawing, drawing.plan.tiles, plane_sink(drawing, {"count": counts}))
    return perf_counter() - begun, counts


def climb(
    drawings: Mapping[str, Drawing], steps: Sequence[str], runs: int, quick: bool = False
) -> tuple[Rung, ...]:
    """Time every rung, in turns; plain Python only once.

    `drawings` are the rungs that this program draws, `steps` those below: "python", "numpy", "jit".
    With `quick`, plain Python is extrapolated from a tenth of the rows.
    """
    from fractals.backends.cpu import naive

    first = next(iter(drawings.values()))
    _, expected = count(first)
    small = first.source.max_iterations <= np.iinfo(np.uint8).max
    dtype = np.uint8 if small else np.int32
    rungs = []
    if "python" in steps:
        stride = PYTHON_SHARE if quick else 1
        seconds, counts = _naive(first, naive.plain(), dtype, stride)
        rows = expected[::stride]
        share = len(rows) / len(expected)
        differing = int(np.count_nonzero(counts != rows))
        rungs.append(Rung("plain Python", False, 0.0, spread([seconds / share]), differing, share))

    work: dict[str, tuple[float, Step]] = {}
    if "numpy" in steps:
        work[NUMPY] = 0.0, lambda: _naive(first, fill_numpy, dtype)
    if "jit" in steps:
        fill, compiling = naive.compiled(dtype)
        work[NAIVE] = compiling, lambda: _naive(first, fill, dtype)
    for name, drawing in drawings.items():
        work[name] = drawing.timings["compile"], lambda drawing=drawing: count(drawing)  # type: ignore[misc]
    laps: dict[str, list[float]] = {name: [] for name in work}
    wrong = dict.fromkeys(work, 0)
    for _ in range(runs):
        for name, (_, step) in work.items():
            seconds, counts = step()
            laps[name].append(seconds)
            wrong[name] = max(wrong[name], int(np.count_nonzero(counts != expected)))
    for name, (compiling, _) in work.items():
        rungs.append(Rung(name, name in drawings, compiling, spread(laps[name]), wrong[name]))
    return tuple(rungs)


def fill_numpy(
    counts: Counts,
    xs: NDArray[np.float64],
    ys: NDArray[np.float64],
    julia: bool,
    point: complex,
    max_iterations: int,
    radius2: float,
) -> None:
    """Count as `fractals.backends.cpu.naive` does, a step of all samples under way at a time."""
    here = (xs + 1j * ys[:, None]).ravel()
    z = here if julia else np.zeros_like(here)
    c = np.full_like(here, point) if julia else here
    whole = counts.reshape(-1)
    whole[:] = max_iterations
    stays = np.arange(len(here))
    for n in range(max_iterations):
        z = z * z + c
        escaped = z.real * z.real + z.imag * z.imag >= radius2
        whole[stays[escaped]] = n
        z, c, stays = z[~escaped], c[~escaped], stays[~escaped]
        if not len(stays):
            break


def _naive(drawing: Drawing, fill: Any, dtype: Any, stride: int = 1) -> tuple[float, Counts]:
    """Return the seconds that the naive loop took for a drawing's samples, and the counts.

    The naive count is the number of steps before the escape, and ours includes it: 1 is added.
    Where an orbit stays, both are the limit.
    """
    scene = drawing.plan.scene
    columns, rows = coordinates(drawing.plan)
    xs, ys = columns[0], rows[1, ::stride]
    x, y = (float(Decimal(text)) for text in scene.julia or ("0", "0"))
    radius2 = scene.iteration.escape_radius**2
    limit = drawing.source.max_iterations
    begun = perf_counter()
    counts = np.empty((len(ys), len(xs)), dtype)
    fill(counts, xs, ys, scene.julia is not None, complex(x, y), limit, radius2)
    seconds = perf_counter() - begun
    return seconds, np.minimum(counts.astype(np.int32) + 1, limit)


STAGES = ("plan", "compile", "iterate", "color", "copy", "encode")
DRAWING = ("iterate", "color", "copy")  # what a device does, and so what the crossover compares
ONE_THREAD = "ours, 1 thread"
SMALLEST = 60  # pixels across, in the crossover

Tell = Callable[[str], None]


def _silent(line: str) -> None:
    pass


@dataclass(frozen=True)
class Workload:
    """Something to draw, and how to measure it."""

    name: str
    scene: Scene
    interior_shortcuts: bool = True
    # What the same counts are also computed with: "python", "numpy", "jit"; empty: no ladder
    steps: tuple[str, ...] = ()

    def change(
        self, size: tuple[int, int] | str | None = None, precision: str | None = None
    ) -> "Workload":
        """Return the workload at another size, or in another number type."""
        changes = {"size": size or None, "precision": precision}
        given: dict[str, Any] = {key: value for key, value in changes.items() if value}
        return replace(self, scene=self.scene.replace(**given)) if given else self


def _counts(
    center: tuple[str, str], width: str, max_iterations: int, size: tuple[int, int] = (1024, 1024)
) -> dict[str, Any]:
    return {
        "view": {"center": center, "width": width},
        "image": {"size": size, "supersampling": 1},
        "iteration": {"max_iterations": max_iterations, "escape_radius": 2},
        "color": {"coloring": "count"},
    }


ARTICLE = ("-0.5", "0"), "3", 20, (1536, 1024)
VALLEY = "-0.743643887037151", "0.131825904205330"
TABLES: dict[str, tuple[str, dict[str, Any]]] = {
    "default": ("what fractals.render() draws", {}),
    "classic": ("the article's picture, 20 iterations", _counts(*ARTICLE)),
    "a": ("[-2, 1] x [-1, 1], 20 iterations", _counts(*ARTICLE)),
    "b": ("the same, 1000 iterations", _counts(("-0.5", "0"), "3", 1000, (1536, 1024))),
    "c": ("seahorse valley, 3e-6 wide, 5000 iterations", _counts(VALLEY, "3e-6", 5000)),
    "d": ("all inside, no shortcuts, 1000 iterations", _counts(("-0.2", "0"), "0.8", 1000)),
    "e": (
        "Julia set of -0.8 + 0.156i, 1000 iterations",
        {"julia": ("-0.8", "0.156"), **_counts(("0", "0"), "3.2", 1000)},
    ),
    "f": ("seahorse valley, 3e-8 wide, by perturbation", _counts(VALLEY, "3e-8", 5000)),
}


def load_workload(name: str) -> Workload:
    """Return the workload of a name, or the one that draws a scene of the gallery or a file.

    >>> load_workload("classic").scene.image.size
    (1536, 1024)
    """
    if name in TABLES:
        title, table = TABLES[name]
        steps = ("python", "numpy", "jit") if name == "classic" else ("jit",)
        scene = load_scene({"title": title, **table})
        return Workload(name, scene, interior_shortcuts=name != "d", steps=steps)
    known = [*TABLES, *catalog.names("gallery")]
    if Path(name).suffix == "" and not Path(name).exists() and name not in known:
        hint = (
            catalog.did_you_mean(name, known) or f"; there are {', '.join(TABLES)} and the gallery"
        )
        raise OptionError(f"unknown workload '{shown(name, 80)}'{hint}")
    return Workload(Path(name).stem, load_scene(name))


@dataclass(frozen=True)
class DeviceTimes:
    """What a device took for a workload."""

    device: str  # "cpu", "cuda", "cuda:1", "opencl", "simulator" or "python"
    name: str
    # Tiles under way at once; on a GPU 2, one of which is copied while the other is computed
    threads: int
    # Seconds of the first compile; the later ones, in `stages`, find the compiled code on disk
    first_compile: float
    # plan (and all that is no other stage), compile, iterate, color, copy, encode. Tiles under way
    # at once share the time that passed.
    stages: dict[str, Spread]
    total: Spread  # from scene to PNG
    # The sum of the counts, over the median of iterate; 0: the image has no counts
    iterations_per_second: float
    samples_per_second: float  # over the medians of iterate, color and copy; 0: the same
    # differing_counts, differing_pixels: against the first device's
    differing_counts: int
    differing_pixels: int
    equal: bool


@dataclass(frozen=True)
class Result:
    """All that was measured of a workload."""

    workload: str
    title: str
    size: tuple[int, int]
    supersampling: int
    max_iterations: int  # 0: the image has no counts
    precision: str
    interior_shortcuts: bool
    runs: int
    iterations: int  # the sum of the counts; shortcuts do not lower it
    devices: tuple[DeviceTimes, ...]
    ladder: tuple[Rung, ...] = ()
    # How many times as long the naive ``@jit`` loop takes as ours on one thread
    naive_ratio: float | None = None
    # For each size of the picture, the median seconds of iterate, color and copy by device
    crossover: tuple[dict[str, Any], ...] = ()


def choose_devices(requests: Sequence[str] = (), on_message: Tell = _silent) -> list[Device]:
    """Return the devices asked for, each once; by default the CPU, and a GPU or the simulator."""
    found: list[Device] = []
    for request in requests or ("cpu", "gpu"):
        device, note = choose(request)
        if note:
            on_message(note)
        if device not in found:
            found.append(device)
    return found


def label(device: Device) -> str:
    """Return the short name of a device, which `render` also takes."""
    if device.others:
        return f"{device.kind}:all"
    return f"{device.kind}:{device.index}" if device.index else device.kind


def open_counts(workload: Workload, device: str, threads: int | None, on_message: Tell) -> Drawing:
    """Return a drawing of raw numbers."""
    options = RenderOptions(
        device=device,
        threads=threads,
        interior_shortcuts=workload.interior_shortcuts,
        on_message=on_message,
    )
    return open_drawing(*open_plan(workload.scene, options, "raw"), options)


class _Lane:
    """A workload on a device: drawn whole by `draw`, and its counts alone by `count`.

    Images of points that are thrown, and of solids, have no counts.
    """

    def __init__(
        self, workload: Workload, device: Device, threads: int | None, on_message: Tell
    ) -> None:
        self.device, self.name = device, label(device)
        self.workload, self._threads, self._tell = workload, threads, on_message
        self.first, self.pixels = self.draw()
        self.differing_pixels = 0
        self.laps: list[dict[str, float]] = []
        self.drawing: Drawing | None = None
        self.counts: Counts = np.zeros(0, np.int32)
        if family_of(workload.scene).single_pixels:
            self.drawing = open_counts(workload, self.name, threads, on_message)
            _, self.counts = count(self.drawing)

    def draw(self, size: tuple[int, int] | None = None) -> tuple[dict[str, float], NDArray[Any]]:
        begun = perf_counter()
        image = render(
            self.workload.scene if size is None else self.workload.scene.replace(size=size),
            device=self.name,
            threads=self._threads,
            interior_shortcuts=self.workload.interior_shortcuts,
            on_message=self._tell,
        )
        image.encode("PNG")
        total = perf_counter() - begun
        plan = total - sum(image.timings.values())
        self.precision = image.precision
        none = dict.fromkeys(STAGES, 0.0)
        return none | {**image.timings, "plan": plan, "total": total}, image.pixels

    def times(self, first: "_Lane", iterations: int) -> DeviceTimes:
        """Return what the laps took, compared with the first device."""
        stages = {stage: spread([lap[stage] for lap in self.laps]) for stage in STAGES}
        drawing = sum(stages[stage].median for stage in DRAWING)
        differing = int(np.count_nonzero(self.counts != first.counts))
        total = spread([lap["total"] for lap in self.laps])
        compiling = self.first["compile"] or max(0.0, self.first["total"] - total.median)
        return DeviceTimes(
            device=self.name,
            name=self.device.name or cpu().name,
            threads=max(1, self.drawing.backend.threads) if self.drawing else 1,
            first_compile=compiling,
            stages=stages,
            total=total,
            iterations_per_second=iterations / stages["iterate"].median if iterations else 0.0,
            samples_per_second=self.counts.size / drawing,
            differing_counts=differing,
            differing_pixels=self.differing_pixels,
            equal=not (differing or self.differing_pixels),
        )


def measure(
    workload: Workload,
    devices: Sequence[Device],
    runs: int = 5,
    threads: int | None = None,
    crossover: bool = False,
    quick: bool = False,
    on_message: Tell = _silent,
) -> Result:
    """Run a workload on devices, `runs` times each, in turns, after one run that warms them up.

    With `crossover` it is also drawn at smaller and smaller sizes. With `quick`, the time of plain
    Python is extrapolated from a tenth of the rows.
    """
    lanes = [_Lane(workload, device, threads, on_message) for device in devices]
    first = lanes[0]
    plan = first.drawing.plan if first.drawing else None
    for _ in range(runs):
        for lane in lanes:
            lap, pixels = lane.draw()
            differing = int(np.count_nonzero((pixels != first.pixels).any(axis=2)))
            lane.differing_pixels = max(lane.differing_pixels, differing)
            lane.laps.append(lap)
    iterations = int(first.counts.sum(dtype=np.int64))
    size = workload.scene.image.size
    ladder: tuple[Rung, ...] = ()
    on_cpu = "cpu" in [lane.name for lane in lanes]
    if plan and workload.steps and plan.precision == "float64" and on_cpu:
        ladder = climb(_rungs(workload, lanes, on_message), workload.steps, runs, quick)
    seconds = {rung.name: rung.seconds.median for rung in ladder}
    return Result(
        workload=workload.name,
        title=workload.scene.title,
        size=size,
        supersampling=plan.supersampling if plan else 1,
        max_iterations=plan.max_iterations if plan else 0,
        precision=first.precision,
        interior_shortcuts=workload.interior_shortcuts,
        runs=runs,
        iterations=iterations,
        devices=tuple(lane.times(first, iterations) for lane in lanes),
        ladder=ladder,
        naive_ratio=seconds[NAIVE] / seconds[ONE_THREAD] if seconds else None,
        crossover=tuple(_cross(lanes, size, runs)) if crossover else (),
    )


def _rungs(workload: Workload, lanes: Sequence[_Lane], on_message: Tell) -> dict[str, Drawing]:
    """Return a drawing for each rung of the ladder that this program draws."""
    single = open_counts(workload, "cpu", 1, on_message)
    rungs = {ONE_THREAD: single}
    for lane in lanes:
        assert lane.drawing, "only workloads with counts have a ladder"
        threads = lane.drawing.backend.threads
        if lane.name != "cpu":
            rungs[lane.name] = lane.drawing
        elif threads > 1:
            rungs[f"ours, {counted(threads, 'thread')}"] = lane.drawing
    return rungs


def sizes(full: tuple[int, int]) -> list[tuple[int, int]]:
    """Return `full` and its halves, down to a thumbnail, the smallest first.

    >>> sizes((256, 144))
    [(64, 36), (128, 72), (256, 144)]
    """
    found = [full]
    while found[0][0] // 2 >= SMALLEST and found[0][1] > 1:
        found.insert(0, (found[0][0] // 2, found[0][1] // 2))
    return found


def _cross(lanes: list[_Lane], full: tuple[int, int], runs: int) -> list[dict[str, Any]]:
    found = []
    for size in sizes(full):
        seconds: dict[str, list[float]] = {lane.name: [] for lane in lanes}
        for _ in range(runs):
            for lane in lanes:
                lap, _ = lane.draw(size)
                seconds[lane.name].append(sum(lap[stage] for stage in DRAWING))
        medians = {name: statistics.median(values) for name, values in seconds.items()}
        found.append({"size": size, "seconds": medians})
    return found
