"""The pipeline: scene -> plan -> tiles -> raw numbers -> picture. Read this first."""

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any, TypedDict, Unpack

import numpy as np

from fractals import palette
from fractals.backends import Backend, choose, open_requested
from fractals.backends.probe import memory_size
from fractals.deep import orbits
from fractals.errors import OptionError
from fractals.executor import Progress, run_tiles
from fractals.image import Image
from fractals.magnitude import scientific
from fractals.methods import Method, make_method
from fractals.planning import Plan, Tile, make_coloring, missing_digits, plan
from fractals.png import Pixels
from fractals.programs import shade
from fractals.raw import EscapeData, arrays_of, parts_of, planes_for
from fractals.scene import Scene

LONG = 3600  # seconds of a deep picture that must be asked for
INEXACT = ("smooth", "count", "distance")  # colorings that make do with what an EXR keeps

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
    session = Session(Scene.load(*sources), **options)
    pixels = session.empty_picture()
    session.start(iterating=True, shading=True, progress=progress)

    def keep(tile: Tile, rgb: Any) -> None:
        session.backend.to_host(rgb, pixels[tile.window()])

    session.run(lambda tile: session.draw(tile, keep), progress)
    return session.image(pixels)


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
    planes = {name: np.empty(shape, dtype) for name, dtype in session.planes().items()}
    parts = parts_of(planes)
    session.start(iterating=True, progress=progress)

    def fill(tile: Tile) -> dict[str, float]:
        return session.fill(tile, [part[tile.window(n)] for part in parts])

    session.run(fill, progress)
    return EscapeData(
        **arrays_of(planes),
        limit=session.limit,
        scene=session.scene,
        timings=session.timings,
        device=session.device.kind,
        method=session.plan.method,
        base=session.base,
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
        Scene.load(*(sources or (raw.scene,))), device, raw.number, threads, tell=tell, force=True
    )
    pixels = session.empty_picture()
    session.recolor(raw)

    def keep(tile: Tile, rgb: Any) -> None:
        session.backend.to_host(rgb, pixels[tile.window()])

    session.run(lambda tile: session.draw(tile, keep), progress)
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
        streamed: bool = False,
        cache: bool = True,
        force: bool = False,
        repeatable: bool = False,
    ) -> None:
        same = number in (None, scene.iteration.number_type)
        if threads is not None and threads < 1:
            raise OptionError(f"{threads} threads: give 1 or more")
        self.scene = scene if same else scene.replace(number=number)
        self.coloring = make_coloring(self.scene)
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
        if self.plan.deep and (missing := missing_digits(self.scene, self.plan)):
            tell(f"the center lacks {missing} digits that tell samples apart: they are taken as 0")
        self.limit, self.base = self.plan.iterations, 0
        kept = orbits.find_same if repeatable else orbits.find
        self._find_orbit = kept if cache else orbits.compute_orbit
        self._method: Method | None = None
        self._raw: EscapeData | None = None
        self.bits = self.scene.image.bits
        self.dtype = np.dtype(np.uint8 if self.bits == 8 else np.uint16)
        self.timings = dict.fromkeys(("compile", "reference", "iterate", "color", "copy"), 0.0)

    def start(
        self, iterating: bool = False, shading: bool = False, progress: Progress | None = None
    ) -> None:
        """Compile the programs, by drawing one sample, and bring their inputs to the device."""
        begun = perf_counter()
        backend, scene, coloring = self.backend, self.scene, self.coloring
        real = backend.real
        self.nothing = backend.to_device(np.zeros((1, 1), real))
        first = Tile(0, 0, 1, 1)
        pixel = (self.plan.supersampling, self.plan.supersampling)
        counts = backend.to_device(np.full(pixel, self.limit, np.int32))
        raw: tuple[Any, ...] = counts, *4 * (backend.to_device(np.zeros(pixel, real)),)
        if iterating:
            watch = None if progress is None else (lambda steps: progress(0, len(self.plan.tiles)))
            self._method = make_method(
                backend, scene, self.plan, coloring.derivative, self._find_orbit, watch
            )
            self._method.start()
            self.limit, self.base = self._method.limit, self._method.base
            self.timings["reference"] = self._method.reference
            raw = self.iterate(first, limit=1)
        if shading:
            colors = scene.color.make_palette()
            transfer = scene.color.transfer
            self._shade = backend.compile(shade.make_body)
            self._place = backend.compile(
                shade.make_position_body,
                coloring,
                coloring.transfer if transfer == "auto" else transfer,
                colors.cyclic,
            )
            own = coloring.constants(
                scene.make_formula(),
                scene.iteration.escape_radius,
                1.0 if self.plan.deep else float(self.plan.width),
            )
            constants = [scene.color.density, scene.color.offset, *own]
            self._constants = backend.to_device(np.array(constants, real))
            self._lookup = backend.to_device(colors.lookup(scene.color.inside))
            self._encode = backend.to_device(palette.encoding(self.bits))
            self.shade(first, raw)
        backend.synchronize()
        self.timings["compile"] = perf_counter() - begun - self.timings["reference"]

    def iterate(self, tile: Tile, limit: int | None = None) -> tuple[Any, ...]:
        """Return count, and the parts of z and dz, of a tile's samples, on the device."""
        assert self._method, "start(iterating=True) comes first"
        return self._method.iterate(tile, limit)

    def shade(self, tile: Tile, raw: tuple[Any, ...]) -> Any:
        """Return the sRGB values of a tile's pixels, on the device."""
        n = self.plan.supersampling
        rgb = self.backend.empty((tile.height, tile.width, 3), self.dtype)
        position = self.backend.empty((tile.height * n, tile.width * n), np.float32)
        base = self.base if self.scene.color.transfer == "auto" else 0
        self._place(position, *raw, self._constants, np.int32(self.limit), np.int32(base))
        share = np.float32(1 / n**2)
        self._shade(rgb, position, self._lookup, self._encode, np.int32(n), share)
        return rgb

    def recolor(self, raw: EscapeData) -> None:
        """Have `draw` take these raw numbers instead of iterating.

        Raises
        ------
        OptionError
            They are of another size, or the coloring needs what they lack.
        """
        n, coloring = self.plan.supersampling, self.coloring
        if raw.count.shape != (self.plan.size[1] * n, self.plan.size[0] * n):
            rows, columns = raw.count.shape
            raise OptionError(
                f"the raw numbers are {columns}x{rows} samples, and the scene wants "
                f"{self.plan.size[0]}x{self.plan.size[1]} pixels of {n}x{n}: compute it anew"
            )
        if coloring.derivative and raw.dz is None:
            raise OptionError(
                f"the coloring '{coloring.name}' needs dz, which these raw numbers lack: "
                f"compute them with --coloring {coloring.name}"
            )
        if not (raw.exact or coloring.name in INEXACT):
            raise OptionError(
                f"the coloring '{coloring.name}' needs z itself, which an EXR does not keep: "
                f"choose one of {', '.join(INEXACT)}, or compute a store (.fz)"
            )
        self.limit, self.base, self._raw = raw.limit, raw.base, raw
        self._needed = [name for name in raw.planes if name in self.planes()]
        self._parts = parts_of({name: raw.planes[name] for name in self._needed})
        self.start(shading=True)

    def planes(self) -> dict[str, np.dtype[Any]]:
        """Return what is kept of each sample: names and types, in the order of `iterate`."""
        return planes_for(self.coloring, np.result_type(self.backend.real, np.complex64))

    def fill(self, tile: Tile, parts: list[Any]) -> dict[str, float]:
        """Compute a tile's raw numbers into arrays of the host, and return the seconds."""
        clock = _Clock(self.backend)
        raw = self.iterate(tile)
        clock.lap("iterate")
        for on_device, part in zip(raw, parts, strict=False):  # without dz there are fewer parts
            self.backend.to_host(on_device, part)
        clock.lap("copy")
        return clock.seconds

    def _read(self, raw: EscapeData, tile: Tile) -> tuple[Any, ...]:
        """Return what `iterate` does, from raw numbers that are there."""
        window = tile.window(self.plan.supersampling)
        raw.check_rows(window[0], self._needed)
        to_device = self.backend.to_device
        parts = [to_device(np.ascontiguousarray(part[window])) for part in self._parts]
        return (*parts, self.nothing, self.nothing)[:5]

    def draw(self, tile: Tile, keep: Callable[[Tile, Any], None]) -> dict[str, float]:
        """Draw a tile, have its pixels kept, which are on the device, and return the seconds."""
        clock = _Clock(self.backend)
        raw = self._read(self._raw, tile) if self._raw else self.iterate(tile)
        clock.lap("copy" if self._raw else "iterate")
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
