"""Scatter images: a scene is planned, its points are thrown, and the hits become a picture.

Work is cut into *chunks* of 256 trajectories. Chunk n is always the same points, whatever the
picture's size, view or device, and a picture of quality q is the first chunks that give q points a
pixel. So a better picture is the same one continued.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend
from fractals.backends.devices import choose, open_chosen
from fractals.backends.probe import memory_size
from fractals.color.palette import parse_color, srgb_from_linear
from fractals.errors import OptionError, SceneError
from fractals.io.image import Image
from fractals.kernels import develop, scatter
from fractals.kernels.elementary import exp, log, sincos
from fractals.kernels.flame import Flame
from fractals.rendering.families import Plain
from fractals.rendering.options import RenderOptions
from fractals.scene.geometry import matrix, place_of
from fractals.scene.model import Display, Scene
from fractals.threads import run_tiles

CHUNK = 256  # trajectories
MAX_TRAJECTORIES = 2**31
LAUNCH = {"python": 1, "simulator": 4, "cuda": 64}  # chunks that one launch plays
SAMPLES = {"cpu": 3e7, "python": 1e4, "simulator": 1e6, "cuda": 1e9}  # a second and thread
PIXELS = {"cpu": 2e6, "python": 500, "simulator": 2e5, "cuda": 1e8}  # buckets shown a second
BYTES_A_BUCKET = 32 + 2 * 16 + 4
BLOCK = 32  # columns for which the estimate knows one longest reach
EXACT = 100  # hits up to which each number of hits has a spread of its own
FINER = 1.05  # the ratio of two numbers of hits with another spread, beyond that
SHOWN_SIDE = 32  # bands of rows that threads show at once


@dataclass(frozen=True)
class ScatterPlan:
    """How a scatter image is computed and shown."""

    scene: Scene
    flame: Flame
    device: str
    threads: int
    width: Fraction
    center: tuple[Fraction, Fraction]

    method = "chaos game"

    @property
    def precision(self) -> str:
        """Return the number type of the points; "auto" is float32, which shows no difference."""
        given = self.scene.iteration.precision
        return "float32" if given == "auto" else given

    @property
    def step(self) -> int:
        """Return how many buckets a pixel has along each axis."""
        return self.scene.image.supersampling

    @property
    def margin(self) -> int:
        """Return how many buckets beyond the picture's edge its pixels depend on."""
        display = self.scene.display
        wide = max(display.estimator_radius, display.estimator_minimum)
        reach = math.ceil(wide * self.step + 1) if wide else 0
        return reach + (len(filter_taps(display, self.step)) - self.step) // 2

    @property
    def shape(self) -> tuple[int, int]:
        """Return the rows and columns of buckets, those beyond the edge included."""
        width, height = self.scene.image.size
        return height * self.step + 2 * self.margin, width * self.step + 2 * self.margin

    @property
    def chunks(self) -> int:
        """Return how many chunks give the scene's quality."""
        points = self.scene.scatter.quality * math.prod(self.scene.image.size)
        return max(1, math.ceil(points / (CHUNK * self.scene.scatter.steps)))

    @property
    def samples(self) -> int:
        """Return how many points are plotted."""
        return self.chunks * CHUNK * self.scene.scatter.steps

    @property
    def memory(self) -> int:
        """Return about how many bytes the sums and the light take."""
        return math.prod(self.shape) * BYTES_A_BUCKET

    @property
    def seconds(self) -> float:
        """Return a rough estimate of the seconds, without compiling."""
        rest = 1 + self.scene.scatter.fuse / self.scene.scatter.steps
        played = self.samples * rest / SAMPLES[self.device]
        return (played + math.prod(self.shape) / PIXELS[self.device]) / max(1, self.threads)

    def to_table(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "device": self.device,
            "method": self.method,
            "precision": self.precision,
            "size": list(self.scene.image.size),
            "supersampling": self.step,
            "transforms": len(self.flame.transforms),
            "points": self.samples,
            "chunks": self.chunks,
            "seconds": float(f"{self.seconds:.2g}"),
            "memory": self.memory,
        }

    def window(self) -> scatter.Window:
        """Return where points fall."""
        real = np.dtype(self.precision).type
        rows, columns = self.shape
        scale = self.scene.image.size[0] * self.step / self.width
        a, b, c, d = matrix(self.scene.view)
        det = a * d - b * c
        # From the plane to the picture, whose rows go down
        inverse = d / det, -b / det, c / det, -a / det
        numbers = [float(part) for part in self.center]
        numbers += [float(part * scale) for part in inverse]
        numbers += [columns / 2, rows / 2, columns, rows]
        return scatter.Window(np.array(numbers, real), columns, self.colors())

    def colors(self) -> NDArray[np.uint32]:
        """Return what hits add, by color."""
        paint = self.scene.color
        palette = paint.make_palette()
        at = paint.offset + paint.density * np.arange(scatter.SHADES) / (scatter.SHADES - 1)
        at = at - np.floor(at) if palette.cyclic else at.clip(0, 1)
        return self.flame.colors(srgb_from_linear(palette.linear(at)))

    def game(self, chunk: int) -> scatter.Game:
        """Return the trajectories from a chunk on."""
        own = self.scene.scatter
        seed = own.seed & scatter.MASK, own.seed >> 32
        return scatter.Game(chunk * CHUNK, own.steps, own.fuse, *seed)


def make_scatter_plan(scene: Scene, device: str, threads: int) -> ScatterPlan:
    """Return how a scene is drawn on a kind of device; see `fractals.rendering.plan.make_plan`."""
    scene = scene.unframed()
    flame = scene.make_any_formula()
    assert isinstance(flame, Flame)
    if scene.julia is not None:
        raise SceneError(f"julia: the formula '{flame.name}' has no Julia sets")
    if scene.view.projection != "plane":
        raise SceneError("view.projection: a scatter image is drawn in the plane")
    if scene.color.layers:
        raise SceneError("color.layers: a scatter image has one layer, of its palette's colors")
    width, center = place_of(scene, flame)
    plan = ScatterPlan(scene, flame, device, threads, width, center)
    if plan.chunks * CHUNK > MAX_TRAJECTORIES:
        most = MAX_TRAJECTORIES * scene.scatter.steps / math.prod(scene.image.size)
        raise OptionError(
            f"quality {scene.scatter.quality:g} takes more than {MAX_TRAJECTORIES} trajectories: "
            f"give at most {most:.0f}, or more steps="
        )
    return plan


@dataclass
class Hits:
    """What the points of a scatter image add up to."""

    sums: NDArray[np.int64]  # red, green, blue, count; shape (rows, columns, 4)
    chunks: int  # how many chunks are in them
    samples: int  # points that were plotted, in view or not
    hits: int  # points in view

    def to_table(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"points": self.samples, "in_view": float(f"{self.share:.4g}")}

    @property
    def share(self) -> float:
        """Return the share of the points that are in view."""
        return self.hits / max(1, self.samples)

    def __str__(self) -> str:
        return f"{self.samples / 1e6:.3g} M points, {100 * self.share:.3g} % in view"


@dataclass
class Scattering:
    """A scatter image under way."""

    plan: ScatterPlan
    backend: Backend
    options: RenderOptions
    timings: dict[str, float] = field(default_factory=dict)

    def play(self) -> Hits:
        """Play all chunks."""
        begun = perf_counter()
        game = self._by_machine if self.plan.device == "cpu" else self._by_kernel
        found = game()
        self.timings["iterate"] = perf_counter() - begun
        return found

    def _hits(self, sums: NDArray[np.int64], hits: int) -> Hits:
        return Hits(sums, self.plan.chunks, self.plan.samples, hits)

    def _by_machine(self) -> Hits:
        """Play on the threads of the CPU."""
        from fractals.backends.cpu.chaos import POOL, Machine

        plan, threads = self.plan, self.backend.threads
        machine = Machine(plan.precision, plan.flame.variations, plan.shape)
        flame, window = plan.flame.data(np.dtype(plan.precision).type), plan.window()
        players = [machine.player(len(plan.flame.transforms)) for _ in range(threads)]
        free = list(players)
        at_once = POOL // CHUNK
        parts = [(k, min(at_once, plan.chunks - k)) for k in range(0, plan.chunks, at_once)]

        def work(part: tuple[int, int]) -> Mapping[str, float]:
            player = free.pop()  # of the list, one step under the interpreter's lock
            machine.play(player, flame, plan.game(part[0]), window, part[1] * CHUNK)
            free.append(player)
            return {}

        run_tiles(parts, work, threads, self.options.on_progress)
        for player in players:
            machine.play(player, flame, plan.game(0), window, 0)
        return self._hits(machine.sums(), sum(int(bins.tally[0]) for _, bins in players))

    def _by_kernel(self) -> Hits:
        """Play on a GPU, in the simulator or in plain Python: a thread a trajectory."""
        plan, backend = self.plan, self.backend
        to_device = backend.to_device

        def moved(part: Any) -> Any:
            return part._make(to_device(v) if isinstance(v, np.ndarray) else v for v in part)

        run = backend.compile(scatter.make_body, plan.flame.variations)
        flame, window = moved(plan.flame.data(backend.real)), moved(plan.window())
        sums = to_device(np.zeros(4 * math.prod(plan.shape), np.int64))
        hits, at_once = 0, LAUNCH[plan.device]
        parts = [(k, min(at_once, plan.chunks - k)) for k in range(0, plan.chunks, at_once)]

        def work(part: tuple[int, int]) -> Mapping[str, float]:
            nonlocal hits
            seen = np.zeros((part[1], CHUNK), np.int32)
            on_device = to_device(seen)
            run(on_device, flame, plan.game(part[0]), window, sums)
            backend.to_host(on_device, seen)
            hits += int(seen.sum())
            return {}

        run_tiles(parts, work, 0, self.options.on_progress)
        found = np.empty(4 * math.prod(plan.shape), np.int64)
        backend.to_host(sums, found)
        return self._hits(found.reshape(*plan.shape, 4), hits)

    def show(self, hits: Hits) -> Image:
        """Return the picture of hits."""
        begun = perf_counter()
        plan = self.plan
        light = self._light(hits)
        scene = plan.scene
        step, taps = plan.step, filter_taps(scene.display, plan.step)
        width, height = scene.image.size
        deep = scene.image.bits == 16
        white = 65535 if deep else 255
        tone = tone_of(scene.display, self.backend.real, white)
        first = plan.margin - (len(taps) - step) // 2
        to_device = self.backend.to_device
        tone = tone._replace(numbers=to_device(tone.numbers))
        on_device, taps = to_device(light), to_device(taps.astype(self.backend.real))
        run = self.backend.compile(develop.make_pixel_body)
        pixels = np.empty((height, width, 3), np.uint16 if deep else np.uint8)

        def draw(top: int, out: NDArray[Any]) -> None:
            rgb = self.backend.empty(out.shape, np.float32)
            run(rgb, on_device, taps, step, first, top, tone)
            found = np.empty(out.shape, np.float32)
            self.backend.to_host(rgb, found)
            out[...] = np.floor(found + np.float32(0.5))

        self._in_bands(pixels, draw)
        self.timings["color"] = perf_counter() - begun
        facts = plan.device, plan.precision, plan.method, self._loop
        return Image(pixels, scene, self.timings, *facts, hits)  # type: ignore[arg-type]

    @property
    def _loop(self) -> str:
        return {"cpu": "pools", "python": "python"}.get(self.plan.device, "kernel")

    def _light(self, hits: Hits) -> NDArray[Any]:
        """Return the light of all buckets: the logarithm of the hits, and its estimate."""
        plan, backend = self.plan, self.backend
        display, real = plan.scene.display, backend.real
        area = float(plan.width**2) * plan.scene.image.size[1] / plan.scene.image.size[0]
        quality = hits.samples / math.prod(plan.scene.image.size)
        k1 = display.brightness * 268 / 256 * develop.WHITE
        k2 = plan.step**2 / (area * develop.WHITE * quality)
        light = np.empty((*plan.shape, 4), real)
        run, sums = backend.compile(develop.make_density_body), backend.to_device(hits.sums)
        constants = real(k1), real(k2)
        self._in_bands(light, lambda top, out: self._fill(run, out, sums, top, *constants))
        radius = max(display.estimator_radius, display.estimator_minimum)
        if not radius:
            return light
        kinds, weights, reaches = spreads(display, plan.step, hits.sums[..., 3])
        far = longest_reaches(kinds, reaches)
        inputs = light, kinds, weights.astype(real), reaches, far
        moved = [backend.to_device(part) for part in inputs]
        run = backend.compile(develop.make_estimate_body)
        spread = np.empty_like(light)
        self._in_bands(spread, lambda top, out: self._fill(run, out, *moved, top))
        return spread

    def _fill(self, run: Callable[..., None], out: NDArray[Any], *arguments: Any) -> None:
        on_device = self.backend.empty(out.shape, out.dtype)
        run(on_device, *arguments)
        self.backend.to_host(on_device, out)

    def _in_bands(self, whole: NDArray[Any], draw: Callable[[int, NDArray[Any]], None]) -> None:
        """Have each band of rows of an array be filled, on all threads."""
        bands = range(0, len(whole), SHOWN_SIDE)

        def work(top: int) -> Mapping[str, float]:
            draw(top, whole[top : top + SHOWN_SIDE])
            return {}

        run_tiles(bands, work, self.backend.threads if self.plan.device == "cpu" else 0)


def open_scattering(scene: Scene, options: RenderOptions) -> Scattering:
    """Return a scatter image that is ready to be played, on the device asked for."""
    choice = choose(options.device)
    if choice.device.others:  # its GPUs would need sums of their own, added up in the end
        choice = choice._replace(device=replace(choice.device, others=()))
        options.on_message("a scatter image is drawn on one GPU")
    threads = options.threads or choice.device.cores or 1
    plan = make_scatter_plan(scene, choice.device.kind, threads)
    free = memory_size()
    if free and plan.memory > 0.9 * free:
        raise OptionError(
            f"the picture takes {plan.memory / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are "
            "free: give a smaller size=, or less supersampling="
        )
    device, backend, note = open_chosen(choice, options.device, plan.precision, options.threads)
    if note:
        options.on_message(note)
    return Scattering(replace(plan, device=device.kind), backend, options)


def tone_of(display: Display, real: Any, white: int) -> develop.Tone:
    """Return how light becomes pixels."""
    gamma = 1 / display.gamma
    threshold = max(display.gamma_threshold, 1e-30)
    numbers = [gamma, threshold, threshold ** (gamma - 1), display.vibrancy]
    numbers += [display.highlight_power, *parse_color(display.background)]
    return develop.Tone(np.array(numbers, np.dtype(real)), real(white))


# The spread of the density estimate, by the number of hits.


def spreads(
    display: Display, step: int, count: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32]]:
    """Return the kinds, the weights and the reaches of `fractals.kernels.develop`.

    The radius is (estimator_radius * step + 1) / n ** estimator_curve, where n is how many hits
    there are in a bucket, or of several buckets a pixel around it.
    """
    hits = count // scatter.HIT
    if step > 1:
        hits = _around(hits, step // 2)
        if step % 2 == 0:
            hits = hits * step**2 // (step + 1) ** 2
    least = display.estimator_minimum * step + 1
    most = max(display.estimator_radius * step + 1, least)
    numbers = [*range(1, EXACT + 1)]
    while most / numbers[-1] ** display.estimator_curve > least and numbers[-1] < 2**40:
        numbers.append(math.ceil(numbers[-1] * FINER))
    falls_by = [float(exp(display.estimator_curve * log(float(n)))) for n in numbers]
    radii = [max(least, most / by) for by in falls_by]
    ends = next((k for k, radius in enumerate(radii) if radius <= least), len(radii) - 1)
    radii = radii[: ends + 1]
    kinds = np.searchsorted(np.array(numbers[: ends + 1]), hits, side="right") - 1
    reach = math.ceil(radii[0]) - 1
    weights = np.zeros((len(radii), 2 * reach**2 + 1))
    reaches = np.zeros(len(radii), np.int32)
    squares = np.add.outer(np.arange(-reach, reach + 1) ** 2, np.arange(-reach, reach + 1) ** 2)
    for k, radius in enumerate(radii):
        distance = np.sqrt(np.arange(2 * reach**2 + 1)) / radius
        falls = np.where(distance <= 1, exp(-2 * (1.5 * distance) ** 2), 0)
        weights[k] = falls / falls[squares].sum()
        reaches[k] = math.ceil(radius) - 1
    return kinds.clip(0).astype(np.int32), weights, reaches


def _around(values: NDArray[np.int64], reach: int) -> NDArray[np.int64]:
    """Return the sum of the values around each, over a square."""
    rows, columns = values.shape
    found = np.zeros_like(values)
    wide = np.pad(values, reach)
    for y in range(2 * reach + 1):
        for x in range(2 * reach + 1):
            found += wide[y : y + rows, x : x + columns]
    return found


def longest_reaches(kinds: NDArray[np.int32], reaches: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the longest reach of light around each block of columns, for each row."""
    rows, columns = kinds.shape
    own = reaches[kinds]
    across = -(-columns // BLOCK)
    padded = np.zeros((-(-rows // BLOCK) * BLOCK, across * BLOCK), np.int32)
    padded[:rows, :columns] = own
    blocks = padded.reshape(-1, BLOCK, across, BLOCK).max(axis=(1, 3))
    near = max(1, math.ceil(int(reaches.max(initial=0)) / BLOCK))
    wide = np.pad(blocks, near)
    found = blocks
    for y in range(2 * near + 1):
        for x in range(2 * near + 1):
            found = np.maximum(found, wide[y : y + len(blocks), x : x + across])
    return np.ascontiguousarray(np.repeat(found, BLOCK, axis=0)[:rows])


# The spatial filters: how far each reaches, and its value there.


def _lanczos(lobes: int, t: float) -> float:
    return float(np.sinc(t) * np.sinc(t / lobes))


def _bell(t: float) -> float:
    return 0.75 - t * t if t < 0.5 else 0.5 * (t - 1.5) ** 2


def _b_spline(t: float) -> float:
    return 0.5 * t**3 - t**2 + 2 / 3 if t < 1 else (2 - t) ** 3 / 6


def _mitchell(t: float) -> float:
    if t < 1:
        return (7 * t**3 - 12 * t**2 + 16 / 3) / 6
    return (-7 / 3 * t**3 + 12 * t**2 - 20 * t + 32 / 3) / 6


def _catrom(t: float) -> float:
    if t < 1:
        return 0.5 * (2 + t * t * (3 * t - 5))
    return 0.5 * (4 + t * (-8 + t * (5 - t)))


def _blackman(t: float) -> float:
    return float(0.42 + 0.5 * sincos(math.pi * t)[1] + 0.08 * sincos(2 * math.pi * t)[1])


FILTERS: dict[str, tuple[float, Callable[[float], float]]] = {
    "gaussian": (1.5, lambda t: float(exp(-2 * t * t))),
    "hermite": (1.0, lambda t: (2 * t - 3) * t * t + 1),
    "box": (0.5, lambda t: 1.0),
    "triangle": (1.0, lambda t: 1 - t),
    "bell": (1.5, _bell),
    "b_spline": (2.0, _b_spline),
    "lanczos3": (3.0, partial(_lanczos, 3)),
    "lanczos2": (2.0, partial(_lanczos, 2)),
    "mitchell": (2.0, _mitchell),
    "blackman": (1.0, _blackman),
    "catrom": (2.0, _catrom),
    "hamming": (1.0, lambda t: 0.54 + 0.46 * sincos(math.pi * t)[1]),
    "hanning": (1.0, lambda t: 0.5 + 0.5 * sincos(math.pi * t)[1]),
    "quadratic": (1.5, _bell),
}


def filter_taps(display: Display, step: int) -> NDArray[np.float64]:
    """Return the filter from buckets to pixels along one axis: the weights add up to 1."""
    support, kernel = FILTERS[display.filter]
    wide = 2 * support * step * display.filter_radius
    count = int(wide) + 1
    count += (count ^ step) & 1  # centered on the pixel
    scale = support * count / wide if wide > 0 else 1.0
    places = [abs((2 * k + 1) / count - 1) * scale for k in range(count)]
    values = np.array([kernel(t) if t < support else 0.0 for t in places])
    if values.sum() <= 0:
        values = np.array([float(t == min(places)) for t in places])
    taps: NDArray[np.float64] = values / values.sum()
    return taps


class Scatterer(Plain):
    """The family of images whose points are thrown; see `fractals.rendering.families.Family`."""

    title = "Scatter: points are thrown, and hits are counted"

    def plan(self, scene: Scene, options: RenderOptions, keeps: Any) -> ScatterPlan:
        """Return how a scene is drawn."""
        device, note = choose(options.device)
        if note:
            options.on_message(note)
        return make_scatter_plan(scene, device.kind, options.threads or device.cores or 1)

    def render(self, scene: Scene, options: RenderOptions) -> Image:
        """Draw a picture."""
        scattering = open_scattering(scene, options)
        return scattering.show(scattering.play())


def make() -> Scatterer:
    """Return the family."""
    return Scatterer()
