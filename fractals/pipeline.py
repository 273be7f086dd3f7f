"""The pipeline: scene -> plan -> tiles -> raw numbers -> picture. Read this first."""

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from fractals.backends import Backend, choose, open_requested
from fractals.backends.probe import memory_size
from fractals.coloring import INSIDE_TOO
from fractals.errors import OptionError
from fractals.executor import Progress, run_tiles
from fractals.image import Image
from fractals.layers import Drawn, make_layers
from fractals.magnitude import scientific
from fractals.methods import Method, make_method
from fractals.painting import Painter, Values
from fractals.planning import Plan, Tile, missing_digits, plan
from fractals.png import Pixels
from fractals.raw import EscapeData
from fractals.scene import Scene

LONG = 3600  # seconds of a deep picture that must be asked for

Source = str | Path | Mapping[str, Any] | Scene


class Options(TypedDict, total=False):
    """How to draw: the options of `render`, `compute` and `render_to`."""

    device: str
    number: str | None
    threads: int | None
    interior: bool
    cache: bool
    force: bool
    tell: Callable[[str], None]


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
    scene = Scene.load(*sources)
    if make_layers(scene).whole:
        return _render_whole(scene, progress, options)
    session = Session(scene, **options)
    pixels = session.empty_picture()
    session.start(iterating=True, shading=True, progress=progress)

    def keep(tile: Tile, rgb: Any) -> None:
        session.backend.to_host(rgb, pixels[tile.window()])

    session.run(lambda tile: session.draw(tile, keep), progress)
    return session.image(pixels)


def _render_whole(scene: Scene, progress: Progress | None, options: Options) -> Image:
    """Draw a picture whose colors depend on all of its samples: iterate first, color then."""
    raw = compute(scene, progress=progress, **options)
    image = color(
        raw,
        scene,
        device=options.get("device", "auto"),
        threads=options.get("threads"),
        tell=options.get("tell", warnings.warn),
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
    session = Session(Scene.load(*sources), raw=True, **options)
    n = session.plan.supersampling
    shape = (session.plan.size[1] * n, session.plan.size[0] * n)
    pair = np.result_type(session.backend.real, np.complex64)
    count, z = np.empty(shape, np.int32), np.empty(shape, pair)
    watching = session.layers.watching
    dz = np.empty(shape, pair) if session.layers.derivative else None
    watched = np.empty((watching.planes, *shape), session.backend.real)
    slopes = (None, None) if dz is None else (dz.real, dz.imag)
    parts = count, z.real, z.imag, *slopes, watched if watching.planes else None
    session.start(iterating=True, progress=progress)

    def fill(tile: Tile) -> dict[str, float]:
        clock = _Clock(session.backend)
        raw = session.iterate(tile)
        clock.lap("iterate")
        for on_device, whole in zip(raw, parts, strict=True):
            if whole is not None:
                session.backend.to_host(on_device, whole[(..., *tile.window(n))])
        clock.lap("copy")
        return clock.seconds

    session.run(fill, progress)
    return EscapeData(
        count,
        z,
        dz,
        session.limit,
        session.scene,
        session.timings,
        session.device.kind,
        session.plan.method,
        session.base,
        dict(zip(watching.names, watched, strict=True)),
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
    pixels = session.empty_picture()
    slopes = (None, None) if raw.dz is None else (raw.dz.real, raw.dz.imag)
    parts = raw.count, raw.z.real, raw.z.imag, *slopes
    planes = _planes(raw, session)
    session.limit, session.base = raw.limit, raw.base

    def numbers(tile: Tile) -> tuple[Any, ...]:
        window, to_device = tile.window(n), session.backend.to_device
        found = [
            session.nothing if part is None else to_device(np.ascontiguousarray(part[window]))
            for part in parts
        ]
        watched = to_device(np.stack([p[window] for p in planes])) if planes else session.no_planes
        return *found, watched

    def values(layer: Drawn) -> NDArray[np.floating[Any]]:
        """Return those of all samples."""
        whole = np.empty(raw.count.shape, session.backend.real)
        fill = session.painter.value_program(layer)

        def look(tile: Tile) -> dict[str, float]:
            clock = _Clock(session.backend)
            part = whole[tile.window(n)]
            on_device = session.backend.empty(part.shape, session.backend.real)
            fill(on_device, numbers(tile), session.limit, session.base)
            session.backend.to_host(on_device, part)
            clock.lap("color")
            return clock.seconds

        session.run(look, None)
        return whole

    session.start(shading=True, values=values)

    def draw(tile: Tile) -> dict[str, float]:
        clock = _Clock(session.backend)
        on_device = numbers(tile)
        clock.lap("copy")
        rgb = session.shade(tile, on_device)
        clock.lap("color")
        session.backend.to_host(rgb, pixels[tile.window()])
        clock.lap("copy")
        return clock.seconds

    session.run(draw, progress)
    return session.image(pixels)


def _planes(raw: EscapeData, session: "Session") -> list[NDArray[np.floating[Any]]]:
    """Return what was watched that a scene's layers need; raise if something lacks."""
    for layer in session.layers.drawn:
        if layer.coloring.derivative and raw.dz is None:
            raise OptionError(
                f"the coloring '{layer.coloring.name}' needs dz, which these raw numbers lack: "
                f"compute them with --coloring {layer.coloring.name}"
            )
    planes = []
    for name in session.layers.watching.names:
        plane = raw.watched.get(name, raw.watched.get(name + INSIDE_TOO))
        if plane is None:
            raise OptionError(
                f"these raw numbers lack what was watched along the orbits as '{name}': compute "
                "them with the colorings and options of the scene"
            )
        planes.append(plane)
    return planes


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
        streamed: bool = False,
        cache: bool = True,
        force: bool = False,
    ) -> None:
        same = number in (None, scene.iteration.number_type)
        if threads is not None and threads < 1:
            raise OptionError(f"{threads} threads: give 1 or more")
        self.scene = scene if same else scene.replace(number=number)
        self.layers = make_layers(self.scene)
        wanted = choose(device).device
        self.plan = plan(
            self.scene, wanted.kind, interior, raw, threads or wanted.cores or 1, streamed
        )
        check_cost(self.plan, raw, force)  # and all that can be wrong, before Numba is imported
        self.device, self.backend, note = open_requested(device, self.plan.number, threads)
        if self.device.kind != wanted.kind:
            cores = threads or self.device.cores or 1
            self.plan = plan(self.scene, self.device.kind, interior, raw, cores, streamed)
        if note and self.device.kind == "simulator":
            note += f", expect about {max(1, round(self.plan.seconds))} s, --cpu is faster"
        if note:
            tell(note)
        if self.layers.note:
            tell(self.layers.note)
        if self.plan.deep and (missing := missing_digits(self.scene, self.plan)):
            tell(f"the center lacks {missing} digits that tell samples apart: they are taken as 0")
        self.limit, self.base = self.plan.iterations, 0
        self.cache = cache
        self._method: Method | None = None
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
        real, planes = backend.real, self.layers.watching.planes
        self.nothing = backend.to_device(np.zeros((1, 1), real))
        self.no_planes = backend.to_device(np.zeros((1, 1, 1), real))
        first = Tile(0, 0, 1, 1)
        pixel = (self.plan.supersampling, self.plan.supersampling)
        counts = backend.to_device(np.full(pixel, self.limit, np.int32))
        watched = backend.to_device(np.zeros((planes, *pixel), real)) if planes else self.no_planes
        zeros = backend.to_device(np.zeros(pixel, real))
        raw: tuple[Any, ...] = counts, zeros, zeros, zeros, zeros, watched
        if iterating:
            watch = None if progress is None else (lambda steps: progress(0, len(self.plan.tiles)))
            self._method = make_method(backend, scene, self.plan, self.layers, self.cache, watch)
            self._method.start()
            self.limit, self.base = self._method.limit, self._method.base
            self.timings["reference"] = self._method.reference
            raw = self.iterate(first, limit=1)
        if shading:
            self.painter = Painter(backend, scene, self.plan, self.layers, self.dtype)
            self.painter.start(values)
            self.shade(first, raw)
        backend.synchronize()
        self.timings["compile"] = perf_counter() - begun - self.timings["reference"]

    def iterate(self, tile: Tile, limit: int | None = None) -> tuple[Any, ...]:
        """Return count, the parts of z and dz, and what was watched, of a tile's samples."""
        assert self._method, "start(iterating=True) comes first"
        return self._method.iterate(tile, limit)

    def shade(self, tile: Tile, raw: tuple[Any, ...]) -> Any:
        """Return the sRGB values of a tile's pixels, on the device."""
        return self.painter.paint((tile.height, tile.width), raw, self.limit, self.base)

    def draw(self, tile: Tile, keep: Callable[[Tile, Any], None]) -> dict[str, float]:
        """Draw a tile, have its pixels kept, which are on the device, and return the seconds."""
        clock = _Clock(self.backend)
        raw = self.iterate(tile)
        clock.lap("iterate")
        rgb = self.shade(tile, raw)
        clock.lap("color")
        keep(tile, rgb)
        clock.lap("copy")
        return clock.seconds

    def run(self, work: Callable[[Tile], Mapping[str, float]], progress: Progress | None) -> None:
        """Do the work of each tile, and book the seconds."""
        begun = perf_counter()
        try:
            spent = run_tiles(self.plan.tiles, work, self.backend.threads, progress)
        except BaseException:
            if self._method:
                self._method.stop()  # threads that are still at work hear it
            raise
        passed = perf_counter() - begun
        total = sum(spent.values())
        for stage, seconds in spent.items():
            self.timings[stage] += passed * seconds / total

    def empty_picture(self) -> Pixels:
        """Return an array for the whole picture."""
        return np.empty((self.plan.size[1], self.plan.size[0], 3), self.dtype)

    def image(self, pixels: Pixels) -> Image:
        """Return the picture with what is known of its making."""
        plan = self.plan
        return Image(pixels, self.scene, self.timings, self.device.kind, plan.number, plan.method)


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


def check_cost(planned: Plan, raw: bool = False, force: bool = False) -> None:
    """Refuse a picture, or its raw numbers, that would not fit into memory or take too long."""
    if planned.deep and planned.seconds > LONG and not force:
        raise OptionError(
            f"at a width of {scientific(planned.width)} this takes about "
            f"{planned.seconds / 3600:.2g} hours and {planned.memory / 2**30:.1g} GiB: "
            "give --force to draw it all the same"
        )
    free = memory_size()
    if free and planned.memory > 0.9 * free:
        whole = planned.band == planned.size[1] and not raw
        raise OptionError(
            f"{planned.size[0]}x{planned.size[1]} pixels of {planned.supersampling}x"
            f"{planned.supersampling} samples need {planned.memory / 2**30:.1f} GiB, and "
            f"{free / 2**30:.1f} GiB are free: give a smaller --size or --supersampling"
            + (", or write a .png, which needs less (fractals.render_to)" if whole else "")
        )
