"""The pipeline: scene -> plan -> tiles -> raw numbers -> picture. Read this first."""

import warnings
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals import palette
from fractals.backends import Backend, choose, open_requested
from fractals.backends.probe import memory_size
from fractals.errors import OptionError
from fractals.executor import Progress, run_tiles
from fractals.image import Image
from fractals.planning import Plan, Tile, coordinates, make_coloring, plan
from fractals.programs import escape, shade
from fractals.raw import EscapeData
from fractals.scene import Scene

Source = str | Path | Mapping[str, Any] | Scene


def render(
    *sources: Source,
    device: str = "auto",
    number: str | None = None,
    threads: int | None = None,
    interior: bool = True,
    progress: Progress | None = None,
    tell: Callable[[str], None] = warnings.warn,
) -> Image:
    """Draw a picture.

    Parameters
    ----------
    *sources : str, Path, mapping or Scene
        A scene: gallery names, files, tables, merged from left to right. None: the Mandelbrot set.
    device : str
        "auto", "cpu", "gpu", "cuda", "cuda:1", "simulator" or "python".
    number : str, optional
        "float64" or "float32" for the iteration, instead of what the scene says.
    threads : int, optional
        Bound on the CPU threads.
    interior : bool
        False switches the interior shortcuts off (for benchmarks); no count changes.
    progress : callable, optional
        Called with tiles done and tiles in all, in the calling thread.
    tell : callable
        Is told in one line when another device is used than was hoped for, and why.

    Examples
    --------
    >>> render("mandelbrot", {"image": {"size": [8, 6]}}, device="cpu").pixels.shape
    (6, 8, 3)
    """
    session = Session(Scene.load(*sources), device, number, threads, interior, tell)
    pixels = np.empty((session.plan.size[1], session.plan.size[0], 3), np.uint8)
    session.start(iterating=True, shading=True)

    def draw(tile: Tile) -> dict[str, float]:
        clock = _Clock(session.backend)
        raw = session.iterate(tile)
        clock.lap("iterate")
        rgb = session.shade(tile, raw)
        clock.lap("color")
        session.backend.to_host(rgb, pixels[_window(tile)])
        clock.lap("copy")
        return clock.seconds

    session.run(draw, progress)
    return session.image(pixels)


def compute(
    *sources: Source,
    device: str = "auto",
    number: str | None = None,
    threads: int | None = None,
    interior: bool = True,
    progress: Progress | None = None,
    tell: Callable[[str], None] = warnings.warn,
) -> EscapeData:
    """Return the raw numbers of a picture, from which `color` draws it. Parameters as for `render`.

    Examples
    --------
    >>> raw = compute({"image": {"size": [3, 1], "supersampling": 1}}, device="cpu")
    >>> raw.count.shape, int(raw.count[0, 1]) == raw.limit
    ((1, 3), True)
    """
    session = Session(Scene.load(*sources), device, number, threads, interior, tell, raw=True)
    n = session.plan.supersampling
    shape = (session.plan.size[1] * n, session.plan.size[0] * n)
    real, derivative = session.backend.real, session.coloring.derivative
    count = np.empty(shape, np.int32)
    z = np.empty((*shape, 2), real)
    dz = np.empty((*shape, 2), real) if derivative else None
    session.start(iterating=True)

    def fill(tile: Tile) -> dict[str, float]:
        clock = _Clock(session.backend)
        raw = session.iterate(tile)
        clock.lap("iterate")
        for on_device, whole in zip(raw, (count, z, dz), strict=True):
            if whole is not None:
                session.backend.to_host(on_device, whole[_window(tile, n)])
        clock.lap("copy")
        return clock.seconds

    session.run(fill, progress)
    pair = np.dtype(f"c{2 * np.dtype(real).itemsize}")
    return EscapeData(
        count,
        z.view(pair)[..., 0],
        None if dz is None else dz.view(pair)[..., 0],
        session.plan.iterations,
        session.scene,
        session.timings,
        session.device.kind,
    )


def color(
    raw: EscapeData,
    *sources: Source,
    device: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    tell: Callable[[str], None] = warnings.warn,
) -> Image:
    """Draw the picture of raw numbers, by default that of their own scene, without iterating.

    Raises
    ------
    OptionError
        The scene has another size, or its coloring needs dz and the raw numbers lack it.
    """
    session = Session(
        Scene.load(*(sources or (raw.scene,))), device, raw.number, threads, True, tell
    )
    n = session.plan.supersampling
    if raw.count.shape != (session.plan.size[1] * n, session.plan.size[0] * n):
        rows, columns = raw.count.shape
        raise OptionError(
            f"the raw numbers are {columns}x{rows} samples, and the scene wants "
            f"{session.plan.size[0]}x{session.plan.size[1]} pixels of {n}x{n}: compute it anew"
        )
    if session.coloring.derivative and raw.dz is None:
        raise OptionError(
            f"the coloring '{session.coloring.name}' needs dz, which these raw numbers lack: "
            f"compute them with --coloring {session.coloring.name}"
        )
    pixels = np.empty((session.plan.size[1], session.plan.size[0], 3), np.uint8)
    session.limit = raw.limit
    session.start(shading=True)

    def draw(tile: Tile) -> dict[str, float]:
        clock = _Clock(session.backend)
        parts = [
            session.backend.to_device(np.ascontiguousarray(part[_window(tile, n)]))
            for part in (raw.count, _pairs(raw.z), _pairs(raw.dz))
            if part is not None
        ]
        clock.lap("copy")
        rgb = session.shade(tile, (*parts, session.nothing)[:3])
        clock.lap("color")
        session.backend.to_host(rgb, pixels[_window(tile)])
        clock.lap("copy")
        return clock.seconds

    session.run(draw, progress)
    return session.image(pixels)


class Session:
    """A scene being drawn: its plan, its backend, and the compiled programs with their inputs."""

    def __init__(
        self,
        scene: Scene,
        device: str = "auto",
        number: str | None = None,
        threads: int | None = None,
        interior: bool = True,
        tell: Callable[[str], None] = warnings.warn,
        raw: bool = False,
    ) -> None:
        same = number in (None, scene.iteration.number_type)
        self.scene = scene if same else scene.replace(number=number)
        self.coloring = make_coloring(self.scene)
        wanted = choose(device).device
        options = interior, raw
        self.plan = plan(self.scene, wanted.kind, *options, threads or wanted.cores or 1)
        check_memory(self.plan)  # and all that can be wrong, before Numba is imported
        self.device, self.backend, note = open_requested(device, self.plan.number, threads)
        if self.device.kind != wanted.kind:
            self.plan = plan(
                self.scene, self.device.kind, *options, threads or self.device.cores or 1
            )
        if note and self.device.kind == "simulator":
            note += f", expect about {self.plan.seconds:.1g} s, --cpu is faster"
        if note:
            tell(note)
        self.limit = self.plan.iterations
        self.timings = dict.fromkeys(("compile", "reference", "iterate", "color", "copy"), 0.0)

    def start(self, iterating: bool = False, shading: bool = False) -> None:
        """Compile the programs, by drawing one sample, and bring their inputs to the device."""
        begun = perf_counter()
        backend, scene, coloring = self.backend, self.scene, self.coloring
        real = backend.real
        self.nothing = backend.empty((1, 1, 2), real)
        first = Tile(0, 0, 1, 1)
        counts = np.full((self.plan.supersampling,) * 2, self.limit, np.int32)
        raw = backend.to_device(counts), self.nothing, self.nothing
        if iterating:
            julia = scene.julia is not None
            self._iterate = backend.compile(
                escape.make_body,
                scene.make_formula(),
                julia,
                coloring.derivative,
                self.plan.interior,
                self.plan.block,
            )
            x, y = (float(Decimal(text)) for text in scene.julia or ("0", "0"))
            radius = scene.iteration.escape_radius
            self._point = backend.to_device(np.array([x, y, radius**2], real))
            columns, rows = coordinates(self.plan, scene.view.rotation)
            self._columns, self._rows = columns.astype(real), rows.astype(real)
            raw = self.iterate(first, limit=1)
        if shading:
            colors = scene.color.make_palette()
            transfer = scene.color.transfer
            self._shade = backend.compile(
                shade.make_body,
                coloring,
                coloring.transfer if transfer == "auto" else transfer,
                colors.cyclic,
            )
            own = coloring.constants(
                scene.make_formula(), scene.iteration.escape_radius, float(self.plan.width)
            )
            self._tables = (
                backend.to_device(colors.lookup(scene.color.inside)),
                backend.to_device(palette.encoding()),
                backend.to_device(np.array([scene.color.density, scene.color.offset, *own], real)),
            )
            self.shade(first, raw)
        backend.synchronize()
        self.timings["compile"] = perf_counter() - begun

    def iterate(self, tile: Tile, limit: int | None = None) -> tuple[Any, Any, Any]:
        """Return count, z and dz of a tile's samples, on the device."""
        backend, n = self.backend, self.plan.supersampling
        shape = (tile.height * n, tile.width * n)
        rows, columns = _window(tile, n)
        count = backend.empty(shape, np.int32)
        z = backend.empty((*shape, 2), backend.real)
        dz = backend.empty((*shape, 2), backend.real) if self.coloring.derivative else self.nothing
        self._iterate(
            count,
            z,
            dz,
            backend.to_device(np.ascontiguousarray(self._columns[:, columns])),
            backend.to_device(np.ascontiguousarray(self._rows[:, rows])),
            self._point,
            np.int32(limit or self.limit),
        )
        return count, z, dz

    def shade(self, tile: Tile, raw: tuple[Any, ...]) -> Any:
        """Return the sRGB bytes of a tile's pixels, on the device."""
        n = self.plan.supersampling
        rgb = self.backend.empty((tile.height, tile.width, 3), np.uint8)
        share = np.float32(1 / n**2)
        self._shade(rgb, *raw, *self._tables, np.int32(n), np.int32(self.limit), share)
        return rgb

    def run(self, work: Callable[[Tile], Mapping[str, float]], progress: Progress | None) -> None:
        """Do the work of each tile, and book the seconds."""
        begun = perf_counter()
        spent = run_tiles(self.plan.tiles, work, self.backend.threads, progress)
        passed = perf_counter() - begun
        total = sum(spent.values())
        for stage, seconds in spent.items():
            self.timings[stage] += passed * seconds / total

    def image(self, pixels: NDArray[np.uint8]) -> Image:
        """Return the picture with what is known of its making."""
        return Image(pixels, self.scene, self.timings, self.device.kind, self.plan.number)


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


def check_memory(planned: Plan) -> None:
    """Raise an `OptionError` where a picture would not fit into memory."""
    free = memory_size()
    if free and planned.memory > 0.9 * free:
        raise OptionError(
            f"{planned.size[0]}x{planned.size[1]} pixels of {planned.supersampling}x"
            f"{planned.supersampling} samples need {planned.memory / 2**30:.1f} GiB, and "
            f"{free / 2**30:.1f} GiB are free: give a smaller --size or --supersampling"
        )


def _window(tile: Tile, n: int = 1) -> tuple[slice, slice]:
    rows = slice(tile.y * n, (tile.y + tile.height) * n)
    return rows, slice(tile.x * n, (tile.x + tile.width) * n)


def _pairs(values: NDArray[Any] | None) -> NDArray[Any] | None:
    """Return complex numbers as pairs of real ones, without a copy."""
    if values is None:
        return None
    return values.view(values.real.dtype).reshape(*values.shape, 2)
