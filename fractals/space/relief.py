"""A relief: the raw numbers of an escape-time scene become ground, which is lit as solids are.

Heights and colors are those of the picture's samples, so there is a relief at any depth. The ground
ends at the borders of the picture.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, Stages, moved, run_pieces
from fractals.backends.devices import choose, choose_one, open_chosen
from fractals.backends.probe import memory_size
from fractals.errors import OptionError, SceneError, counted
from fractals.io.escape_data import SUFFIXES
from fractals.io.facts import Partial
from fractals.io.image import Image
from fractals.kernels.layout import EscapeTile
from fractals.rendering.develop import Developer
from fractals.rendering.drawing import (
    Drawing,
    Sink,
    open_plan,
    run,
)
from fractals.rendering.families import AtOnce, Family, Refined, Rendered, chosen_device
from fractals.rendering.families.escape import Escape
from fractals.rendering.iteration import Stop
from fractals.rendering.options import RenderOptions, StoreOptions
from fractals.rendering.plan import BYTES_OF_GLOW, Plan, make_plan
from fractals.rendering.preview import Onlooker
from fractals.rendering.probing import Pairs
from fractals.rendering.raw_numbers import EscapeData, open_colored
from fractals.rendering.recoloring import open_recoloring
from fractals.rendering.stores.compute_store import Computed
from fractals.rendering.tiles import Tile
from fractals.scene.model import Scene
from fractals.scene.space import OF_SOLIDS, Camera, Relief
from fractals.space import ground as grounds
from fractals.space import light as lights
from fractals.space import paths
from fractals.space.enough import Effort
from fractals.space.ground import Ground
from fractals.space.march import from_camera
from fractals.space.plan import (
    FOOTPRINT,
    RAYS,
    SHADES,
    emitted_at,
    light_numbers,
    samples_of,
    sun_over_ground,
)
from fractals.space.rounds import LightPreview, rounds_of
from fractals.space.trace import SampledRows, in_turn, on_lanes, pieces_of, pixels_of
from fractals.threads import Progress, within

if TYPE_CHECKING:
    from fractals.rendering.moves import Moves

FARTHEST = 70.0  # degrees from straight down: rays that look farther may pass over the ground's end
LOW = 0.5  # percent of the smooth counts that are lower than the ground
NEAR = 0.06  # distance estimate at half of the height, in widths of the picture
BYTES_A_SAMPLE = 80  # of values, light and heights, and of these on the device
BYTES_A_PIXEL = 24  # of sums
RAYS_A_PATH = 3
KEPT_ROWS = 64  # that get the samples of a round at once, where Ctrl-C keeps them
SUMS = 2  # version of what samples add up to


@dataclass(frozen=True)
class ReliefPlan:
    """How a relief is drawn: the plan of its samples, and the paths of its light."""

    scene: Scene
    inner: Plan  # of a picture whose pixels are the samples

    def __repr__(self) -> str:
        return f"ReliefPlan({self.inner!r}, samples_per_pixel={samples_of(self.scene)})"

    @property
    def device(self) -> str:
        """Return the kind of the device."""
        return self.inner.device

    @property
    def samples(self) -> int:
        """Return how many samples the picture has."""
        return self.inner.samples

    @property
    def paths(self) -> int:
        """Return how many paths of light are traced."""
        return math.prod(self.scene.image.size) * samples_of(self.scene)

    @property
    def seconds(self) -> float:
        """Return a rough estimate of the seconds, without compiling."""
        rays = self.paths * (RAYS_A_PATH + 2 * self.scene.light.bounces)
        return self.inner.seconds + rays / RAYS[self.device] / max(1, self.inner.threads)

    @property
    def memory(self) -> int:
        """Return about how many bytes the ground and the light take."""
        pixels = math.prod(self.scene.image.size)
        glow = BYTES_OF_GLOW * self.scene.develop.whole
        return self.inner.memory + self.samples * BYTES_A_SAMPLE + pixels * (BYTES_A_PIXEL + glow)

    def to_table(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        own = self.scene.relief
        return self.inner.to_table() | {
            "size": list(self.scene.image.size),
            "supersampling": self.scene.image.supersampling,
            "relief": {"heights": own.heights, "rise": own.rise, "tilt": own.tilt},
            "samples_per_pixel": samples_of(self.scene),
            "paths": self.paths,
            "bounces": self.scene.light.bounces,
            "seconds": float(f"{self.seconds:.2g}"),
            "memory": self.memory,
        }

    def check_memory(self) -> None:
        """Raise an `OptionError` for a picture that does not fit into the memory that is free."""
        free = memory_size()
        if free and self.memory > 0.9 * free:
            raise OptionError(
                f"the ground of this relief takes {self.memory / 2**30:.3g} GiB, because shadows "
                f"cross the whole picture, and {free / 2**30:.3g} GiB are free: give a smaller "
                "size= or supersampling="
            )


def inner_scene(scene: Scene) -> Scene:
    """Return the scene of a relief with a pixel for each of its samples.

    `SceneError`: the scene has keys that no relief has.
    """
    _check_keys(scene)
    image = scene.unframed().image
    width, height = (side * image.supersampling for side in image.size)
    fine = image.model_copy(update={"size": (width, height), "supersampling": 1})
    return scene.unframed().model_copy(update={"image": fine})


def _check_keys(scene: Scene) -> None:
    if scene.view.projection != "plane":
        raise SceneError("relief.heights: a relief is drawn in the projection 'plane'")
    if scene.develop.denoise:
        raise OptionError("denoise=True is for solids: give a relief more samples=")
    if scene.image.antialias != "grid":
        raise SceneError("image.antialias: the samples of a relief lie in a grid: leave it out")
    for key in OF_SOLIDS:
        if getattr(scene.camera, key) != Camera.model_fields[key].default:
            seen = "it is for solids" if key == "ray_step" else "a relief is seen as its tilt= says"
            raise SceneError(f"camera.{key}: {seen}: leave it out")


def make_relief_plan(
    scene: Scene, device: str, interior_shortcuts: bool = True, threads: int = 1
) -> ReliefPlan:
    """Return how a relief is drawn on a kind of device."""
    return ReliefPlan(scene, make_plan(inner_scene(scene), device, interior_shortcuts, threads))


def draw_relief(scene: Scene, options: RenderOptions, raw: EscapeData | None = None) -> Image:
    """Draw a relief, of raw numbers where these are given."""
    lighting, drawing = light_ground(scene, options, raw)
    watch = options.watch if options.watch and options.watch.shows else None
    rounds = ReliefRounds(lighting, LightPreview(scene, lighting.backend) if watch else None)
    rounds.run(watch, within(options.on_progress, 1, 1, 2))  # the ground was the first half
    pixels = lighting.pixels(rounds.sums, rounds.most)
    drawing.stages.lap("color")
    return Image(pixels, **vars(drawing.facts) | {"scene": scene})


class ReliefRounds:
    """The rounds of a relief's picture: each adds samples to all its rows.

    Attributes
    ----------
    sums : ndarray of int64, shape (rows, columns, 3)
    counts : ndarray of int32, shape (rows, 1)
        Samples in them.
    """

    def __init__(
        self,
        lighting: "Lighting",
        preview: LightPreview | None = None,
        before: Mapping[str, Any] | None = None,
    ) -> None:
        """`before`: what `kept` returned; else the sums are 0."""
        self._lighting, self._preview = lighting, preview
        self.most, (width, height) = samples_of(lighting.scene), lighting.scene.image.size
        if before:
            self.sums, self.counts = (before[name].copy() for name in ("sums", "counts"))
        else:
            self.sums = np.zeros((height, width, 3), np.int64)
            self.counts = np.zeros((height, 1), np.int32)

    def kept(self) -> dict[str, Any]:
        """Return what goes on with the rounds."""
        return {"sums": self.sums, "counts": self.counts}

    @property
    def whole(self) -> bool:
        """Tell whether all rows have all samples."""
        return bool(self.counts.min() >= self.most)

    def run(self, watch: Onlooker | None, progress: Progress | None) -> None:
        """Add samples until the picture has all, or the watch is stopped."""
        height, (most, counts) = len(self.sums), (self.most, self.counts)
        for last in rounds_of(Effort(most, 0)) if watch else (most,):
            tall = KEPT_ROWS if watch and watch.keeps else height
            for top in range(0, height, tall):
                rows = range(top, min(height, top + tall))
                first = int(counts[top, 0])
                if first >= last:
                    continue
                if watch and watch.stopped:
                    return
                if watch and counts.min():
                    watch.begun()
                whole, part = height * most, len(rows) * (last - first)
                heard = within(progress, int(counts.sum()), part, whole)
                self._lighting.add(self.sums[top : rows.stop], rows, first, last, heard)
                counts[top : rows.stop] = last
            if watch and (preview := self._preview):
                offered = partial(preview.pixels, self.sums, counts, range(height))
                watch.offer(offered, self.sums.nbytes)

    def even(self) -> NDArray[np.int64]:
        """Return sums as if all rows had all samples."""
        found: NDArray[np.int64] = self.sums * self.most // np.maximum(self.counts, 1)[..., None]
        return found


def light_ground(
    scene: Scene, options: RenderOptions, raw: EscapeData | None = None
) -> tuple["Lighting", Drawing]:
    """Return what lights the ground of a relief, and the drawing that made the ground."""
    stages, inner = Stages(), inner_scene(scene)
    halves = options.replace(progress=within(options.on_progress, 0, 1, 2))
    make_relief_plan(scene, choose(options.device).device.kind).check_memory()
    if raw is not None:
        drawing = open_recoloring(inner, raw, halves, stages=stages)
    else:
        plan, backend = open_plan(inner, halves)
        drawing = open_colored(plan, backend, halves, stages)
    values, colors = samples_for(drawing, halves.on_progress)
    heights = heights_of(values, scene.relief)
    return Lighting(scene, drawing.plan.device, options, heights, colors), drawing


def samples_for(
    drawing: Drawing, progress: Progress | None
) -> tuple[NDArray[np.floating[Any]], NDArray[np.float32]]:
    """Return the values of all samples that become heights, and the light that they reflect."""
    plan, backend, source, painter = drawing.plan, drawing.backend, drawing.source, drawing.painter
    assert painter
    assert plan.layers.heights
    width, height = plan.size
    values = np.empty((height, width), backend.real)
    colors = np.empty((height, width, 3), np.float32)
    fill = painter.value_program(plan.layers.heights)
    last, offset = source.max_iterations, source.count_offset

    def look(tile: Tile, stop: Stop) -> dict[str, float]:
        clock, part = backend.clock(), tile.window()
        on_device = backend.empty(values[part].shape, backend.real)
        tallied: list[NDArray[np.int32]] = []

        def use(raw: EscapeTile, flags: Pairs) -> None:
            clock.lap(source.stage)
            counted = backend.tally(raw.count, last)
            tallied[:] = [np.empty(counted.shape, np.int32)]
            fill(on_device, raw, last, offset)
            rgb = painter.paint(tile, raw, last, offset)
            pairs = [(counted, tallied[0]), (on_device, values[part]), (rgb, colors[part])]
            clock.lap("color")
            backend.all_to_host([*pairs, *flags])

        source.iterate_for(tile, use, stop)
        drawing.tally.add_columns(tallied[0], tile.width * tile.height)
        return clock.end("copy")

    run(drawing, plan.tiles, Sink(partial(drawing.room.take, look)), progress)
    return values, colors


def heights_of(values: NDArray[Any], relief: Relief) -> NDArray[np.float64]:
    """Return heights, in samples, of values of samples; those of the inside are NaN.

    From the plain to the inside, heights grow from 0 to the rise as ``x / (1 + x)`` does: of
    distances, x is `NEAR` over the distance, so a height depends on its sample alone. Smooth counts
    have no such unit: x is how far they are above the lowest, and 1 for the median of the picture.
    """
    known = np.isfinite(values)
    found, outside = np.ones(values.shape), values[known].astype(np.float64)
    if relief.heights == "distance":
        found[known] = 1 / (1 + np.maximum(outside, 0) / (1000 * NEAR))
    elif len(outside):
        low, middle = np.percentile(outside, (LOW, 50))
        above = (outside - low).clip(0)
        found[known] = above / (above + max(middle - low, 1e-9 * (1 + abs(middle))))
    heights: NDArray[np.float64] = found * (relief.rise * values.shape[1])
    return heights - min(0.0, float(heights.min(initial=0.0)))


class Lighting:
    """Traces the light of a relief."""

    def __init__(
        self,
        scene: Scene,
        device: str,
        options: RenderOptions,
        heights: NDArray[np.float64],
        colors: NDArray[np.float32],
    ) -> None:
        """Take the heights of all samples, in samples, and the light that they reflect."""
        choice = choose_one(device)
        self.scene, self.device, self.threads = scene, device, options.threads
        _, self.backend, _ = open_chosen(choice, device, "float32", options.threads)
        self.developer = Developer(self.backend, scene)
        own = grounds.ground_of(heights.astype(self.backend.real), colors)
        self._shot = moved(self.backend, shot_of(scene, own, self.backend))
        self._ground = moved(self.backend, own)

    def pixels(self, sums: NDArray[np.int64], samples: int) -> NDArray[Any]:
        """Return the picture of sums of some samples."""
        scale = self.backend.real(self.developer.exposure / (samples * lights.ONE))
        return self.developer.pixels(sums.astype(self.backend.real) * scale)

    def add(
        self, sums: NDArray[np.int64], rows: range, first: int, last: int, progress: Progress | None
    ) -> None:
        """Add samples to the sums of some rows, as `fractals.space.trace.Tracing`."""
        backend = self.backend
        run_paths = backend.compile(paths.make_body, None, False, False, grounds.make_surface)

        def work(piece: SampledRows) -> None:
            own = sums[piece.rows.start - rows.start : piece.rows.stop - rows.start]
            places = pixels_of(piece.rows, own.shape[1])
            on_device, where = on_lanes(backend, own, places)
            for part in in_turn(backend.kind, own[..., 0].size, piece.first, piece.samples):
                run_paths(on_device, where, *map(np.int64, part), self._shot, self._ground)
            backend.to_host(on_device.sums, own.reshape(1, -1, own.shape[2]))

        pieces = pieces_of(self.device, self.scene, 0, rows, first, last)
        run_pieces(backend, pieces, work, progress)


def shot_of(scene: Scene, ground: Ground, backend: Backend) -> lights.Shot:
    """Return what paths need besides the ground."""
    light, real = scene.light, np.dtype(backend.real)
    camera, distance = camera_of(scene, ground)
    numbers = light_numbers(
        scene, sun_over_ground(scene), scene.camera.focus or distance, (0.0, 1.0)
    )
    if not scene.relief.tilt:
        numbers[lights.HAZE] = 0.0
    given_off = emitted_at(light, np.arange(SHADES) / (SHADES - 1))
    table = np.column_stack([np.zeros((SHADES, 3)), given_off]).astype(real)
    turns = lights.turns_of(light.bounces)
    return lights.Shot(
        np.array(camera, real),
        np.array(numbers, real),
        table,
        turns,
        light.bounces,
        0,
        0,
        from_camera(real),
    )


def camera_of(scene: Scene, ground: Ground) -> tuple[list[float], float]:
    """Return the numbers of a camera over the ground, and its distance.

    A tilted one looks at the middle of the ground, from so near that the ground fills the picture.
    """
    (width, height), n = scene.image.size, scene.image.supersampling
    middle = np.array([width * n / 2 + 0.5, height * n / 2 + 0.5, 0.0])
    tilt, roll = math.radians(scene.relief.tilt), math.radians(scene.camera.roll)
    ahead = np.array([0.0, math.sin(tilt), -math.cos(tilt)])
    right, up = np.array([1.0, 0.0, 0.0]), np.array([0.0, math.cos(tilt), math.sin(tilt)])
    right, up = (
        math.cos(roll) * right - math.sin(roll) * up,
        math.sin(roll) * right + math.cos(roll) * up,
    )
    pixel = 2 * math.tan(math.radians(scene.camera.field) / 2) / height
    if not scene.relief.tilt:
        place = [middle[0], middle[1], float(ground.top) + 1.0, *ahead, *right, *up]
        rest = [0.0, width / 2, height / 2, 0.0, 1.0, 0.0, 0.0, 0.0, float(n)]
        return [*map(float, place), *rest], 1.0
    sights = [
        ahead + pixel * (x * width * right + y * height * up) / 2 for x in (-1, 1) for y in (-1, 1)
    ]
    lowered = [_lowered(sight) for sight in sights]
    most, half_size = float(ground.top), np.array([width, height]) * n / 2

    def fits(distance: float, levels: tuple[float, ...]) -> bool:
        place = middle - distance * ahead
        away = [
            place + sight * (level - place[2]) / sight[2] - middle
            for sight in lowered
            for level in levels
        ]
        return place[2] > most and all((np.abs(each[:2]) <= half_size).all() for each in away)

    near = _largest(lambda distance: fits(distance, (0.0, most)), 4.0 * width * n)
    if not near:  # high ground: at its border the camera may see what is beyond
        near = _largest(lambda distance: fits(distance, (0.0,)), 4.0 * width * n)
    near = near or 1.5 * most / -ahead[2]
    lens = scene.camera.lens * (scene.camera.focus or near)
    place = [*(middle - near * ahead), *ahead, *right, *up]
    rest = [pixel, width / 2, height / 2, lens, scene.camera.focus or near, FOOTPRINT * pixel]
    return [*map(float, place), *rest, 0.0, 0.0, 0.0], near


def _largest(fits: Callable[[float], bool], most: float) -> float:
    """Return the largest distance that fits, or 0; `most`: one that is seldom exceeded."""
    while fits(most):  # a camera of a small field, or of a high picture, is farther away
        most *= 2
    low, high = most, most
    while not fits(low):
        low, high = 0.9 * low, low
        if low < 1e-4 * most:
            return 0.0
    for _ in range(40):
        half = (low + high) / 2
        low, high = (half, high) if fits(half) else (low, half)
    return low


def _lowered(sight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a line of sight that looks no farther than `FARTHEST`."""
    level = float(np.hypot(sight[0], sight[1]))
    steepest = level / math.tan(math.radians(FARTHEST))
    return np.array([sight[0], sight[1], min(sight[2], -steepest)])


# --- Reliefs: escape time as a landscape, lit and shadowed as solids are

FIRST_STEP = 4  # pixels that one of a first look covers, along each side
FIRST_SAMPLES = 4
ROWS = 64  # of the picture, that are lit in a step
MOST_BYTES = 2**31


class ReliefRefinement(AtOnce):
    """A relief that becomes ever finer: a small one, then ever more samples of its light."""

    def prepare(self) -> None:
        """Compile what draws."""
        draw_relief(self._small((8, 6)), self._options.replace(progress=None))

    def _small(self, size: tuple[int, int]) -> Scene:
        return self._scene.replace(size=size, supersampling=1, samples=FIRST_SAMPLES, bounces=1)

    def pictures(self) -> Iterator[Refined | None]:
        """Yield pictures, the last one exact, and None after each step."""
        scene, (width, height) = self._scene, self._scene.image.size
        size = -(-width // FIRST_STEP), -(-height // FIRST_STEP)
        small = draw_relief(self._small(size), self._options)
        yield Refined(small.pixels, FIRST_STEP, "a first look", False)
        lighting, _ = light_ground(scene, self._options)
        yield None
        sums, done, whole = np.zeros((height, width, 3), np.int64), 0, samples_of(scene)
        while done < whole:
            last = min(whole, max(1, 2 * done))
            for top in range(0, height, ROWS):
                rows = range(top, min(height, top + ROWS))
                lighting.add(sums[top : rows.stop], rows, done, last, self._options.on_progress)
                self.share = (done + (last - done) * rows.stop / height) / whole
                yield None
            done = last
            said = f"{done} of {counted(whole, 'sample')}"
            yield Refined(lighting.pixels(sums, done), 1, said, done == whole)


class Reliefs(Family):
    """The family of reliefs; its raw numbers are those of escape time."""

    title = "Reliefs: escape time as a landscape, lit by sun and sky"
    tables = ("relief", "camera", "light")
    looks = Escape.looks
    suffixes = SUFFIXES
    uses_colorings = True
    keeps = True

    @property
    def moves(self) -> "Moves":
        """Return how views move: as those of escape time do."""
        from fractals.space.moves import ReliefMoves

        return ReliefMoves()

    def plan(self, scene: Scene, options: RenderOptions, keeps: Any) -> ReliefPlan:
        """Return how a scene is drawn."""
        device, threads = chosen_device(options)
        return make_relief_plan(scene, device.kind, options.interior_shortcuts, threads)

    def program(self, scene: Scene) -> str:
        """Return what a compiled program of a scene is for."""
        return f"{Escape().program(scene)}, relief"

    def render(self, scene: Scene, options: RenderOptions) -> Image:
        """Draw a picture."""
        return draw_relief(scene, options)

    def render_to(
        self,
        path: str | Path | BinaryIO,
        scene: Scene,
        options: RenderOptions,
        overwrite: bool,
        cluster: Any,
    ) -> Rendered:
        """Draw a picture into a file; its samples are kept where Ctrl-C ends it, if that is asked.

        The ground, which the samples need, is drawn again.
        """
        watch = options.watch
        if not (watch and watch.keeps):
            return super().render_to(path, scene, options, overwrite, cluster)
        from fractals.rendering.stores.keeping import Arrays, draw_kept

        precision = self.plan(scene, options, "pixels").inner.precision

        def draw(before: Arrays | None) -> tuple[Image, Arrays]:
            lighting, drawing = light_ground(scene, options)
            preview = LightPreview(scene, lighting.backend) if watch.shows else None
            rounds = ReliefRounds(lighting, preview, before)
            rounds.run(watch, within(options.on_progress, 1, 1, 2))
            pixels = lighting.pixels(rounds.even(), rounds.most)
            drawing.stages.lap("color")
            facts, rest = vars(drawing.facts) | {"scene": scene}, {}
            if not rounds.whole:
                rest = rounds.kept()
                done = float(rounds.counts.mean())
                facts["summary"] = Partial(done, rounds.most, "sample a pixel")
            return Image(pixels, **facts), rest

        assert isinstance(path, str | Path)
        return draw_kept(Path(path), scene, precision, SUMS, options, overwrite, draw)

    def refine(
        self,
        scene: Scene,
        options: RenderOptions,
        backend_of: Callable[[str], Backend],
        before: Any = None,
    ) -> ReliefRefinement:
        """Return a picture that becomes ever finer: samples are added up."""
        if make_relief_plan(scene, options.device).memory > MOST_BYTES:
            raise OptionError("this image takes too much memory: choose a smaller window")
        return ReliefRefinement(self, scene, options)

    def compute(self, scene: Scene, options: RenderOptions) -> EscapeData:
        """Compute the raw numbers of a picture."""
        return Escape().compute(scene, options)

    def compute_to(
        self, path: Path, scene: Scene, options: RenderOptions, store_options: StoreOptions
    ) -> Computed:
        """Compute the raw numbers of a picture into a store, or resume one."""
        return Escape().compute_to(path, scene, options, store_options)

    def load(self, path: Path) -> EscapeData:
        """Return the raw numbers of a store."""
        return Escape().load(path)

    def recolor(self, raw: EscapeData, scene: Scene, options: RenderOptions) -> Image:
        """Draw the picture of raw numbers."""
        return draw_relief(scene, options, raw)


make = Reliefs  # as the catalog finds it
