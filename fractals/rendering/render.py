"""The pipeline: scene -> plan -> tiles -> raw numbers -> picture. Read this first."""

import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, TypedDict, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.backends.cache_folder import take_messages
from fractals.backends.devices import choose, open_requested
from fractals.deep import orbit_cache
from fractals.errors import OptionError
from fractals.io.escape_data import EscapeData, arrays_of, parts_of, planes_for
from fractals.io.image import Image
from fractals.io.load import load_scene
from fractals.kernels.layout import EscapeTile
from fractals.rendering.antialias import Antialiasing
from fractals.rendering.compiled_tiles import (
    DrawTiles,
    KeepTiles,
    StageTicks,
    tiles_drawn,
    tiles_kept,
)
from fractals.rendering.cost import check_cost
from fractals.rendering.iteration import Method
from fractals.rendering.plan import missing_digits, plan
from fractals.rendering.shading import Painter, Values
from fractals.rendering.sources import make_method
from fractals.rendering.stored import Recoloring
from fractals.rendering.tiles import Tile
from fractals.scene.layers import ResolvedLayer, make_layers
from fractals.scene.model import Scene
from fractals.threads import Progress, Queue, run_queue, run_tiles

T = TypeVar("T")
Source = str | Path | Mapping[str, Any] | Scene


class Options(TypedDict, total=False):
    """How to draw: the options of `render`, `compute` and `render_to`."""

    device: str
    precision: str | None
    threads: int | None
    interior_shortcuts: bool
    cache: bool
    force: bool
    on_message: Callable[[str], None]


def render(*sources: Source, progress: Progress | None = None, **options: Unpack[Options]) -> Image:
    """Draw a picture.

    Parameters
    ----------
    *sources : str, Path, mapping or Scene
        A scene: gallery names, files, tables, merged from left to right. None: the Mandelbrot set.
    device : str
        "auto", "cpu", "gpu", "cuda", "cuda:1", "cuda:all", "simulator" or "python".
    number : str, optional
        "float64" or "float32" for the iteration, instead of what the scene says.
    threads : int, optional
        Bound on the CPU threads.
    interior : bool
        False switches the interior shortcuts off (for benchmarks); no count changes.
    cache : bool
        False: reference orbits of deep views are neither read from the disk nor kept there.
    force : bool
        Also draw what would take hours.
    progress : callable, optional
        Called with tiles done and tiles in all, in the calling thread.
    tell : callable
        Is told in one line when another device is used than was hoped for, and why.

    Examples
    --------
    >>> render("mandelbrot", {"image": {"size": [8, 6]}}, device="cpu").pixels.shape
    (6, 8, 3)
    """
    scene = load_scene(*sources)
    if make_layers(scene).whole:
        return _render_whole(scene, progress, options)
    session = Session(scene, **options)
    session.start(iterating=True, shading=True, progress=progress)
    return session.picture(progress)


def _render_whole(scene: Scene, progress: Progress | None, options: Options) -> Image:
    """Draw a picture whose colors depend on all of its samples: iterate first, color then."""
    raw = compute(scene, progress=progress, **options)
    image = recolor(
        raw,
        scene,
        device=options.get("device", "auto"),
        threads=options.get("threads"),
        on_message=options.get("on_message", warnings.warn),
    )
    for stage, seconds in raw.timings.items():
        image.timings[stage] = image.timings.get(stage, 0.0) + seconds
    image.method = raw.method
    return image


def compute(
    *sources: Source, progress: Progress | None = None, **options: Unpack[Options]
) -> EscapeData:
    """Return the raw numbers of a picture, from which `color` draws it. Parameters as for `render`.

    Examples
    --------
    >>> raw = compute({"image": {"size": [3, 1], "supersampling": 1}}, device="cpu")
    >>> raw.count.shape, int(raw.count[0, 1]) == raw.limit
    ((1, 3), True)
    """
    session = Session(load_scene(*sources), raw=True, **options)
    n = session.plan.supersampling
    shape = (session.plan.size[1] * n, session.plan.size[0] * n)
    planes = {name: np.empty(shape, dtype) for name, dtype in session.planes().items()}
    session.start(iterating=True, progress=progress)
    session.fill_all(planes, progress)
    return EscapeData(
        **arrays_of(planes),
        max_iterations=session.max_iterations,
        scene=session.scene,
        timings=session.timings,
        device=session.device.kind,
        method=session.plan.method,
        count_offset=session.count_offset,
    )


def recolor(
    raw: EscapeData,
    *sources: Source,
    device: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    on_message: Callable[[str], None] = warnings.warn,
) -> Image:
    """Draw the picture of raw numbers, by default that of their own scene, without iterating.

    Raises
    ------
    OptionError
        The scene has another size, or its coloring needs dz and the raw numbers lack it.
    """
    session = Session(
        load_scene(*(sources or (raw.scene,))),
        device,
        raw.precision,
        threads,
        on_message=on_message,
        force=True,
    )
    session.recolor(raw)
    return session.picture(progress)


class Session:
    """A scene being drawn: its plan, its backend, and the compiled programs with their inputs."""

    def __init__(
        self,
        scene: Scene,
        device: str = "auto",
        precision: str | None = None,
        threads: int | None = None,
        interior_shortcuts: bool = True,
        on_message: Callable[[str], None] = warnings.warn,
        raw: bool = False,
        streamed: bool = False,
        cache: bool = True,
        force: bool = False,
        repeatable: bool = False,
    ) -> None:
        same = precision in (None, scene.iteration.number_type)
        if threads is not None and threads < 1:
            raise OptionError(f"{threads} threads: give 1 or more")
        self.scene = scene if same else scene.replace(precision=precision)
        self.layers = make_layers(self.scene)
        wanted = choose(device).device
        self.plan = plan(
            self.scene, wanted.kind, interior_shortcuts, raw, threads or wanted.cores or 1, streamed
        )
        check_cost(self.plan, raw, force)  # and all that can be wrong, before Numba is imported
        self.device, self.backend, note = open_requested(device, self.plan.precision, threads)
        if self.device.kind != wanted.kind:
            cores = threads or self.device.cores or 1
            self.plan = plan(self.scene, self.device.kind, interior_shortcuts, raw, cores, streamed)
        if note and self.device.kind == "simulator":
            note += f", expect about {max(1, round(self.plan.seconds))} s, --cpu is faster"
        if note:
            on_message(note)
        if self.layers.note:
            on_message(self.layers.note)
        if self.plan.deep and (missing := missing_digits(self.scene, self.plan)):
            on_message(
                f"the center lacks {missing} digits that tell samples apart: they are taken as 0"
            )
        self.max_iterations, self.count_offset = self.plan.max_iterations, 0
        kept = orbit_cache.find_same if repeatable else orbit_cache.find
        self._find_orbit = kept if cache else orbit_cache.compute_orbit
        self._tell = on_message
        self._method: Method | None = None
        self._stages = {"iterate": "iterate"}  # where what `iterate` takes is booked
        self.bits = self.scene.image.bits
        self.dtype = np.dtype(np.uint8 if self.bits == 8 else np.uint16)
        self.timings = dict.fromkeys(("compile", "reference", "iterate", "color", "copy"), 0.0)

    def start(
        self,
        iterating: bool = False,
        shading: bool = False,
        progress: Progress | None = None,
        values: Values | None = None,
    ) -> None:
        """Compile the programs, by drawing one sample, and bring their inputs to the device.

        `values` is that of `Painter.start`.
        """
        begun = perf_counter()
        backend, scene = self.backend, self.scene
        real, planes = backend.real, self.layers.statistics.planes
        first = Tile(0, 0, 1, 1)
        pixel = (self.plan.supersampling, self.plan.supersampling)
        counts = backend.to_device(np.full(pixel, self.max_iterations, np.int32))
        statistics = backend.to_device(np.zeros((planes, *pixel) if planes else (1, 1, 1), real))
        zeros = backend.to_device(np.zeros(pixel, real))
        raw = EscapeTile(counts, zeros, zeros, zeros, zeros, statistics)
        if iterating:
            watch = None if progress is None else (lambda steps: progress(0, len(self.plan.tiles)))
            self._method = make_method(
                backend, scene, self.plan, self.layers, self._find_orbit, watch
            )
            self._method.start()
            if self._method.note:
                self._tell(self._method.note)
            self.max_iterations, self.count_offset = (
                self._method.max_iterations,
                self._method.count_offset,
            )
            self.timings["reference"] = self._method.reference
            raw = self.iterate(first, max_iterations=1)
        if shading:
            self.painter = Painter(backend, scene, self.plan, self.layers, self.dtype)
            self.painter.start(values)
            self.shade(first, raw)
        backend.synchronize()
        self.timings["compile"] = perf_counter() - begun - sum(self.timings.values())
        for line in take_messages():
            self._tell(line)

    def iterate(self, tile: Tile, max_iterations: int | None = None) -> EscapeTile:
        """Return the escape data of a tile's samples, on the device."""
        assert self._method, "start(iterating=True) comes first"
        return self._method.iterate(tile, max_iterations)

    def shade(self, tile: Tile, raw: EscapeTile) -> Any:
        """Return the sRGB values of a tile's pixels, on the device, from their own samples."""
        return self.painter.paint(tile, raw, self.max_iterations, self.count_offset)

    def paint(self, tile: Tile, lap: Callable[[str], None] = lambda stage: None) -> Any:
        """Return the sRGB values of a tile's pixels, on the device; `lap` books the stages."""
        assert self._method, "start(iterating=True), or recolor, comes first"
        if self.plan.jittered:
            numbers, limit, base = self._method.iterate_some, self.max_iterations, self.count_offset
            smooth = Antialiasing(self.backend, self.plan, self.painter, numbers, limit, base)
            return smooth.paint(tile, lambda stage: lap(self._stages.get(stage, stage)))
        raw = self.iterate(tile)
        lap(self._stages["iterate"])
        rgb = self.shade(tile, raw)
        lap("color")
        return rgb

    def recolor(self, raw: EscapeData) -> None:
        """Have `draw` take these raw numbers instead of iterating.

        Raises
        ------
        OptionError
            They are of another size, or a layer needs what they lack.
        """
        self._method = Recoloring(self.backend, self.plan, self.layers, raw)
        self._stages = {"iterate": "copy"}
        self.max_iterations, self.count_offset = raw.max_iterations, raw.count_offset
        self.start(shading=True, values=self._values)

    def _values(self, layer: ResolvedLayer) -> NDArray[np.floating[Any]]:
        """Return a layer's values of all samples."""
        plan, backend = self.plan, self.backend
        n = plan.supersampling
        whole = np.empty((plan.size[1] * n, plan.size[0] * n), backend.real)
        fill = self.painter.value_program(layer)

        def look(tile: Tile) -> dict[str, float]:
            clock = _Clock(backend)
            part = whole[tile.window(n)]
            on_device = backend.empty(part.shape, backend.real)
            fill(on_device, self.iterate(tile), self.max_iterations, self.count_offset)
            backend.to_host(on_device, part)
            clock.lap("color")
            return clock.seconds

        self.run(look, None)
        return whole

    def planes(self) -> dict[str, np.dtype[Any]]:
        """Return what is kept of each sample: names and types."""
        return planes_for(self.layers, np.result_type(self.backend.real, np.complex64))

    def fill(self, tile: Tile, planes: Mapping[str, NDArray[Any]]) -> dict[str, float]:
        """Compute a tile's raw numbers into arrays of the host, and return the seconds."""
        clock = _Clock(self.backend)
        raw = self.iterate(tile)
        clock.lap("iterate")
        found = {"count": [raw.count], "z": [raw.x, raw.y], "dz": [raw.dx, raw.dy]}
        found |= {name: [raw.statistics[k]] for k, name in enumerate(self.layers.statistics.names)}
        for name, plane in planes.items():
            for on_device, part in zip(found[name], parts_of(plane), strict=True):
                self.backend.to_host(on_device, part)
        clock.lap("copy")
        return clock.seconds

    def draw(self, tile: Tile, keep: Callable[[Tile, Any], None]) -> dict[str, float]:
        """Draw a tile, have its pixels kept, which are on the device, and return the seconds."""
        clock = _Clock(self.backend)
        rgb = self.paint(tile, clock.lap)
        keep(tile, rgb)
        clock.lap("copy")
        return clock.seconds

    def tiles_drawn(self) -> list[DrawTiles]:
        """Return what threads do that draw tiles of a queue; none: draw them one by one."""
        return self._compiled(
            lambda: tiles_drawn(self.backend, self.plan, self._method, self.painter, self.dtype)
        )

    def tiles_kept(self, planes: Mapping[str, NDArray[Any]]) -> list[KeepTiles]:
        """Return the same for raw numbers, kept in arrays of the whole picture."""
        return self._compiled(lambda: tiles_kept(self.backend, self.plan, self._method, planes))

    def _compiled(self, make: Callable[[], list[T]]) -> list[T]:
        """Return what is made, and book the time."""
        begun = perf_counter()
        made = make()
        self.timings["compile"] += perf_counter() - begun
        return made

    def picture(self, progress: Progress | None) -> Image:
        """Draw all tiles, and return the picture with what is known of its making."""
        plan = self.plan
        pixels = np.empty((plan.size[1], plan.size[0], 3), self.dtype)
        if draws := self.tiles_drawn():
            queue, left = Queue(len(plan.tiles)), np.array([math.prod(plan.size)])
            where = queue, pixels, len(pixels), left
            self.run_queue(queue, [partial(draw, *where) for draw in draws], progress)
        else:

            def keep(tile: Tile, rgb: Any) -> None:
                self.backend.to_host(rgb, pixels[tile.window()])

            self.run(lambda tile: self.draw(tile, keep), progress)
        return Image(
            pixels, self.scene, self.timings, self.device.kind, plan.precision, plan.method
        )

    def fill_all(self, planes: Mapping[str, NDArray[Any]], progress: Progress | None) -> None:
        """Compute the raw numbers of all tiles into arrays of the whole picture."""
        if keeps := self.tiles_kept(planes):
            queue = Queue(len(self.plan.tiles))
            self.run_queue(queue, [partial(keep, queue) for keep in keeps], progress)
            return

        def fill(tile: Tile) -> dict[str, float]:
            window = tile.window(self.plan.supersampling)
            return self.fill(tile, {name: plane[window] for name, plane in planes.items()})

        self.run(fill, progress)

    def run(self, work: Callable[[Tile], Mapping[str, float]], progress: Progress | None) -> None:
        """Do the work of each tile, and book the seconds."""
        threads = self.backend.threads
        self._book(lambda: run_tiles(self.plan.tiles, work, threads, progress))

    def run_queue(
        self, queue: Queue, works: Iterable[Callable[[], StageTicks]], progress: Progress | None
    ) -> None:
        """Have threads do works that take their tiles from the queue, and book the seconds."""
        self._book(lambda: run_queue(queue, works, progress))

    def _book(self, drive: Callable[[], Mapping[str, float]]) -> None:
        """Book the time that passes, by the shares of the stages in what is returned."""
        begun = perf_counter()
        try:
            spent = drive()
        except BaseException:
            if self._method:
                self._method.stop()  # threads that are still at work hear it
            raise
        passed = perf_counter() - begun
        total = sum(spent.values())
        for stage, seconds in spent.items():
            self.timings[stage] += passed * seconds / total


class _Clock:
    """Books the seconds of a tile's stages."""

    def __init__(self, backend: Backend) -> None:
        self.seconds: dict[str, float] = {}
        self._backend = backend
        self._last = perf_counter()

    def lap(self, stage: str) -> None:
        self._backend.synchronize()
        now = perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now
