"""Drawing: a plan with its programs compiled, and `run`, which drives all its tiles.

A tile is a pure function of the plan: `draw_tile` and `compute_tile` change nothing but the arrays
that they are given. Any tiles of one `Drawing` may be drawn in any order, by several threads at a
time where ``drawing.backend.threads`` is not 0, and again::

    plan, backend = open_plan(load_scene("seahorse"), RenderOptions(device="cpu"))
    drawing = open_drawing(plan, backend)
    for tile in plan.tiles:
        draw_tile(drawing, tile, pixels[tile.window()], stop=newer_view.is_set)
"""

import contextlib
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, Prepare, Stages
from fractals.backends.cache_folder import take_messages
from fractals.backends.devices import choose, open_chosen
from fractals.errors import OptionError
from fractals.io.escape_data import parts_of, planes_for
from fractals.io.facts import PictureFacts, Summary, Tally
from fractals.io.png import Pixels
from fractals.kernels.layout import EscapeTile
from fractals.rendering.iteration import Direct, FindOrbit, GridMethod, SampleSource, Stop, never
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Keeps, Plan, digits_note, make_plan, missing_digits, noise_note
from fractals.rendering.preview import Canvas, Onlooker
from fractals.rendering.probing import LIMIT_SIZE, Pairs
from fractals.rendering.sampling import Index, Room
from fractals.rendering.shading import Painter, Values
from fractals.rendering.tiles import Tile
from fractals.scene.geometry import is_plain
from fractals.scene.model import Scene
from fractals.threads import Progress, Queue, run_loops, run_tiles, threads_for

if TYPE_CHECKING:
    from fractals.deep.reference import OrbitRequest, Reference
    from fractals.rendering.resume_data import ResumeData


def _find_orbit(
    plan: Plan, options: RenderOptions, wanted: "OrbitRequest", **more: Any
) -> "Reference":
    """Return a reference orbit as options say; only deep views import what finds one."""
    from fractals.deep import orbit_cache

    find: FindOrbit = orbit_cache.find if options.cache else orbit_cache.compute_orbit
    if plan.keeps == "store" and options.cache:  # its tiles need one orbit, whatever is cached
        find = orbit_cache.find_same
    return find(wanted, on_steps=options.on_steps(len(plan.tiles), wanted.max_iterations), **more)


def make_source(
    backend: Backend,
    plan: Plan,
    find_orbit: FindOrbit | None = None,
    known: "ResumeData | None" = None,
) -> SampleSource:
    """Return what iterates a plan's samples; its programs are compiled.

    With `known`, what another process has found, nothing is probed.
    """
    if known is None and _probes_by_other_method(plan) and (small := _small_picture(plan)):
        return _with_limit_of(small, backend, plan, find_orbit)
    if plan.deep:
        from fractals.rendering.perturb import Perturbation

        return Perturbation(backend, plan, find_orbit, known)
    if plan.doubled:
        from fractals.rendering.doubled import Doubled

        return Doubled(backend, plan, known)
    return Direct(backend, plan, known)


def _probes_by_other_method(plan: Plan) -> bool:
    """Tell whether the probe of a view that is not deep may need the other method.

    Chaotic samples have other counts by the other method, and which one draws a picture depends on
    its size. So the method of the probe is that of a picture of the probe's size.
    """
    coarser = plan.size[0] * plan.supersampling < LIMIT_SIZE[0]
    either = (plan.deep or plan.doubled or coarser) and plan.view.projection == "plane"
    return plan.probed and plan.depth < 1 and either


def _small_picture(plan: Plan) -> Plan | None:
    """Return the plan of a picture of the probe's size; None if it has the same method."""
    image = plan.scene.image.model_copy(update={"size": LIMIT_SIZE, "supersampling": 1})
    scene = plan.scene.model_copy(update={"image": image})
    small = make_plan(scene, plan.device, plan.interior_shortcuts, plan.threads)
    same = (small.deep, small.precision) == (plan.deep, plan.precision)
    return None if same else small


def _with_limit_of(
    small: Plan, backend: Backend, plan: Plan, find_orbit: FindOrbit | None
) -> SampleSource:
    """Return what iterates a plan's samples with the limit that the small picture has."""
    looked = Stages()
    limit = make_source(backend, small, find_orbit).max_iterations
    before = looked.end("iterate")["iterate"]
    source = make_source(backend, replace(plan, max_iterations=limit, settled=True), find_orbit)
    source.probing += before
    return source


Planes = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Drawing:
    """A plan that is ready to be drawn."""

    plan: Plan
    backend: Backend  # runs the programs, and holds the arrays of the device
    source: SampleSource  # ``source.iterate(tile)``: the raw numbers of a tile, on the device
    painter: Painter | None = None  # makes pixels of them; None where only they are computed
    stages: Stages = field(default_factory=Stages)  # `run` ends some
    tally: Tally = field(default_factory=Tally)  # the counts of the tiles that were drawn
    room: Room = field(default_factory=Room)  # how large tiles may be

    @property
    def timings(self) -> dict[str, float]:
        """Return the seconds of each stage so far."""
        return self.stages.seconds

    @property
    def summary(self) -> Summary:
        """Return the limit of iterations, the counts and the share inside of what was drawn."""
        return self.tally.summary(self.source.max_iterations, self.source.count_offset)

    @property
    def facts(self) -> PictureFacts:
        """Return what is known of the picture once its tiles are drawn."""
        plan, loop = self.plan, self.source.loop
        of_plan = plan.device, plan.precision, plan.method
        return PictureFacts(plan.scene, self.timings, *of_plan, loop, self.summary)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the type of a tile's numbers: uint8 or uint16 of pixels, or float32 of light.

        Where light glows, `draw_all` makes pixels from the light of the whole picture.
        """
        return np.dtype(np.float32) if self.glows else self.plan.scene.image.dtype

    @property
    def glows(self) -> bool:
        """Tell whether tiles are light, because pixels depend on that of the whole picture."""
        return bool(self.painter and self.painter.glows)

    @property
    def planes(self) -> dict[str, np.dtype[Any]]:
        """Return the names and types of a sample's raw numbers, as `EscapeData` keeps them."""
        return planes_for(self.plan.layers, np.result_type(self.backend.real, np.complex64))


def open_plan(
    scene: Scene, options: RenderOptions, keeps: Keeps = "pixels", iterates: bool = True
) -> tuple[Plan, Backend]:
    """Return the plan of a scene for the device asked for, and the device's backend.

    `keeps` is what stays in memory, as of `make_plan`. Colorings of the whole picture (histogram,
    rank) keep all raw numbers, unless these are there and nothing `iterates`. A picture that does
    not fit into memory, or takes too long, is refused at once, because Numba is imported later.
    """
    choice = choose(options.device)
    plan = _plan_for(choice.device, scene, options, keeps, iterates)
    if plan.deep and not options.force:
        from fractals.rendering.measured import check_forecast

        check_forecast(plan)
    plan.check_memory()
    device, backend, note = open_chosen(choice, options.device, plan.number, options.threads)
    if device.kind != plan.device:  # the GPU was found and could not be opened
        plan = _plan_for(device, scene, options, keeps, iterates)
    if note and device.kind == "simulator":
        seconds = max(1, round(plan.seconds_for()))
        note += f", expect about {seconds} s, device='cpu' is faster"
    noise = noise_note(plan) if iterates and not plan.formula.perturbed else ""
    missing = missing_digits(plan) if plan.deep or plan.doubled else 0
    digits = digits_note(missing, "this width") if missing else ""
    for line in filter(None, (note, plan.layers.note, noise, digits)):
        options.on_message(line)
    return plan, backend


def _plan_for(
    device: Any, scene: Scene, options: RenderOptions, keeps: Keeps, iterates: bool
) -> Plan:
    threads = threads_for(options.threads, device.cores or 1)
    if scene.develop.bloom and keeps == "bands":  # the light of the whole picture is needed
        keeps = "pixels"
    plan = make_plan(scene, device.kind, options.interior_shortcuts, threads, keeps)
    whole = iterates and plan.layers.whole and keeps != "store"
    return replace(plan, keeps="raw", band=plan.size[1]) if whole else plan


def draw_one_sample(drawing: Drawing) -> None:
    """Draw one pixel of one step, because a program is compiled when it is first called."""
    tile = Tile(0, 0, 1, 1)
    raw = drawing.source.iterate(tile, 1)
    if drawing.painter:
        drawing.backend.tally(raw.count, 1)
        shade_tile(drawing, tile, raw)


def open_drawing(
    plan: Plan,
    backend: Backend,
    options: RenderOptions = RenderOptions(),  # noqa: B008 - frozen
    known: "ResumeData | None" = None,
    first: Callable[[Drawing], Any] = draw_one_sample,
    stages: Stages | None = None,
) -> Drawing:
    """Return a drawing whose programs are compiled and whose inputs are on the device.

    The drawing colors tiles if the plan says so. With `known`, what another process has found,
    nothing is probed. A picture that takes too long is refused. Programs are compiled when they are
    first called: ``first(drawing)`` calls them. `stages`: those of the call, if it has begun.
    """
    stages = stages or Stages()
    with compilation_explained(plan):
        source = make_source(backend, plan, partial(_find_orbit, plan, options), known)
    if source.note:
        options.on_message(source.note)
    if plan.deep:
        stages.lap("reference")
    painter = make_painter(backend, plan, plan.scene.image.dtype) if plan.colors else None
    drawing = Drawing(plan, backend, source, painter, stages, room=Room(options.on_message))
    begin(drawing, options, first)
    if plan.deep and not options.force:
        from fractals.rendering.measured import check_time

        check_time(plan, source)
    return drawing


def begin(drawing: Drawing, options: RenderOptions, first: Callable[[Drawing], Any]) -> None:
    """Compile the programs by ``first(drawing)``, and pass on what the cache of programs noted."""
    with compilation_explained(drawing.plan):
        first(drawing)
    drawing.stages.lap(drawing.source.stage)
    for line in take_messages():
        options.on_message(line)


def make_painter(
    backend: Backend,
    plan: Plan,
    dtype: Any,
    values: Values | None = None,
    encode: NDArray[Any] | None = None,
) -> Painter:
    """Return what draws tiles of a plan.

    `values` takes a layer, and the function that fills an array with a tile's values of it. It
    returns the layer's values of the whole picture. Without it, colorings that rank all values get
    a table that only serves to compile. `encode`: as of `Painter`.
    """
    layers = plan.layers
    turned = layers.derivative and (plan.view.projection != "plane" or not is_plain(plan.view))
    if len(layers.drawn) == 1 and not (layers.whole or plan.jittered or turned):
        return Painter(backend, plan, dtype, encode)
    from fractals.rendering.layered import LayeredPainter

    return LayeredPainter(backend, plan, dtype, encode, values)


def sampled(drawing: Drawing, step: int = 1) -> Drawing:
    """Return a drawing of the same view with one sample a pixel, or one in step x step pixels.

    It is for raw numbers; positions in its tiles are samples, not pixels. Nothing is compiled or
    probed again.
    """
    assert isinstance(drawing.source, GridMethod), "stored raw numbers have a grid of their own"
    plan = replace(drawing.plan, supersampling=1)
    source = drawing.source.sampled(plan, step)
    return replace(drawing, plan=plan, source=source, painter=None, tally=Tally())


@contextlib.contextmanager
def compilation_explained(plan: Plan) -> Iterator[None]:
    """Turn what says that a formula of the user can't be compiled into an `OptionError`."""
    try:
        yield
    except Exception as error:
        _explain(plan, error)
        raise


def _explain(plan: Plan, error: Exception) -> None:
    """Raise an `OptionError` in place of Numba's error about a formula of the user."""
    from fractals.backends.machine_code import Uncompilable

    of_numba = isinstance(error, Uncompilable) or type(error).__module__.startswith("numba.")
    if not of_numba or plan.formula.step.__module__.startswith("fractals."):
        return
    raise OptionError(
        f"the formula '{plan.formula.name}' can't be compiled for {plan.precision}: write "
        "constants as number(0.25, x), and use only fma, select, abs, min, max and arithmetic "
        "(CONTRIBUTING.md shows how)"
    ) from error


def shade_tile(drawing: Drawing, tile: Tile, raw: EscapeTile) -> Any:
    """Return the sRGB values of a tile's pixels, on the device, from its own raw numbers."""
    assert drawing.painter, "the drawing keeps raw numbers only"
    source = drawing.source
    return drawing.painter.paint(tile, raw, source.max_iterations, source.count_offset)


def draw_tile(
    drawing: Drawing, tile: Tile, out: NDArray[Any], stop: Stop = never
) -> dict[str, float]:
    """Draw the pixels of a tile, and return the seconds of each stage.

    The tile is any rectangle within the picture. `out`, of ``drawing.dtype`` and shape
    (tile.height, tile.width, 3), receives the sRGB values; it is undefined if `stop` returned True.
    """

    def parts(part: Tile, rgb: Any) -> Pairs:
        return [(rgb, out[part.within(tile)])]

    return draw_tile_to(drawing, tile, parts, stop)


Parts = Callable[[Tile, Any], Pairs]


def draw_tile_to(
    drawing: Drawing, tile: Tile, parts: Parts, stop: Stop = never
) -> dict[str, float]:
    """Draw a tile as `draw_tile` does, into several arrays.

    ``parts(tile, rgb)`` returns parts of a tile's pixels on the device, and the arrays to which
    they go. It is called for parts of the tile where a GPU lacks the memory for all of it.
    """
    return drawing.room.take(partial(_draw_tile, drawing, parts), tile, stop)


def _draw_tile(drawing: Drawing, parts: Parts, tile: Tile, stop: Stop) -> dict[str, float]:
    source, backend = drawing.source, drawing.backend
    if drawing.plan.jittered:
        return _draw_jittered(drawing, parts, tile, stop)
    clock = backend.clock()
    counted: list[Any] = []  # of the last use: the tally, and the samples

    def use(raw: EscapeTile, flags: Pairs) -> None:
        found = backend.tally(raw.count, source.max_iterations)
        counted[:] = np.empty(found.shape, np.int32), math.prod(raw.count.shape)
        clock.lap(source.stage)
        rgb = shade_tile(drawing, tile, raw)
        clock.lap("color")
        backend.all_to_host([(found, counted[0]), *flags, *parts(tile, rgb)])

    source.iterate_for(tile, use, stop)
    drawing.tally.add_columns(*counted)
    return clock.end("copy")


def _draw_jittered(drawing: Drawing, parts: Parts, tile: Tile, stop: Stop) -> dict[str, float]:
    """Draw a tile as `_draw_tile` does, of samples at random places of their cells."""
    from fractals.rendering.antialiasing import Antialiasing
    from fractals.rendering.layered import LayeredPainter

    source, painter, backend = drawing.source, drawing.painter, drawing.backend
    assert isinstance(painter, LayeredPainter)
    clock, last = backend.clock(), source.max_iterations
    tallies: list[tuple[Any, NDArray[np.int32]]] = []
    samples = 0

    def numbers(i: Index, j: Index, shape: tuple[int, int]) -> EscapeTile:
        nonlocal samples
        raw = source.iterate_some(i, j, shape, stop)
        found = backend.tally(raw.count, last)
        tallies.append((found, np.empty(found.shape, np.int32)))
        samples += math.prod(raw.count.shape)
        clock.lap(source.stage)
        return raw

    smooth = Antialiasing(backend, drawing.plan, painter, numbers, last, source.count_offset)
    rgb = smooth.paint(tile, clock.lap)
    backend.all_to_host([*tallies, *parts(tile, rgb)])
    drawing.tally.add_columns(np.hstack([found for _, found in tallies]), samples)
    return clock.end("copy")


def compute_tile(
    drawing: Drawing, tile: Tile, planes: Planes, stop: Stop = never
) -> dict[str, float]:
    """Compute the raw numbers of a tile, and return the seconds of each stage.

    The tile is any rectangle within the picture. `planes` are some of ``drawing.planes`` by name.
    Each receives the tile's samples, shape (tile.height * n, tile.width * n) with a supersampling
    of n; they are undefined if `stop` returned True.
    """
    n = drawing.plan.supersampling

    def compute(part: Tile, stop: Stop) -> dict[str, float]:
        clock, own = drawing.backend.clock(), part.within(tile, n)
        into = {name: plane[own] for name, plane in planes.items()}

        def use(raw: EscapeTile, flags: Pairs) -> None:
            clock.lap("iterate")
            drawing.backend.all_to_host([*numbers_of(drawing, raw, into), *flags])

        drawing.source.iterate_for(part, use, stop)
        return clock.end("copy")

    return drawing.room.take(compute, tile, stop)


def numbers_of(drawing: Drawing, raw: EscapeTile, planes: Planes) -> list[tuple[Any, NDArray[Any]]]:
    """Return a tile's raw numbers on the device, and the parts of `planes` to which they go."""
    count, x, y, p, q, watched = raw
    found = {"count": [count], "z": [x, y], "dz": [p, q]}
    names = drawing.plan.layers.statistics.names
    found |= {name: [watched[k]] for k, name in enumerate(names)}
    pairs = [zip(found[name], parts_of(plane), strict=True) for name, plane in planes.items()]
    return list(itertools.chain(*pairs))


def draw_all(
    drawing: Drawing, progress: Progress | None = None, watch: Onlooker | None = None
) -> Pixels:
    """Return the pixels of the whole picture, shape (height, width, 3).

    `watch` shows those so far, unless they are light, or of a high dynamic range.
    """
    plan, make = drawing.plan, np.empty
    if watch and watch.shows and not (drawing.glows or plan.scene.image.hdr):
        make = np.zeros  # what is not drawn yet is black
        progress = watch.following(progress, lambda: Canvas.of(plan.scene, pixels))
    pixels = make((plan.size[1], plan.size[0], 3), drawing.dtype)
    run(drawing, plan.tiles, pixel_sink(drawing, pixels), progress)
    return developed(drawing, pixels)


def developed(drawing: Drawing, pixels: NDArray[Any]) -> Pixels:
    """Return the pixels of the whole picture: of its light, where that glows."""
    if not drawing.glows:
        return pixels
    assert drawing.painter
    assert drawing.painter.developer
    found = drawing.painter.developer.pixels(pixels)
    drawing.stages.lap("color")
    return found


def empty_planes(drawing: Drawing) -> dict[str, NDArray[Any]]:
    """Return arrays for the raw numbers of all samples."""
    n, (width, height) = drawing.plan.supersampling, drawing.plan.size
    return {name: np.empty((height * n, width * n), t) for name, t in drawing.planes.items()}


# `run` drives all tiles of all pictures of escape time; a `Sink` says what becomes of a tile.
#
# Compiled code takes tiles from a queue where it can do all work of a tile: iterate directly on the
# CPU, or read arrays, and color by a single layer. Elsewhere Python goes from tile to tile. Both
# ways give the same numbers and colors.


Loop = Callable[[Queue], Mapping[str, float]]  # returns what each stage took, in any unit


@dataclass(frozen=True)
class Sink:
    """What is done with each tile, by any thread."""

    # Computes a tile, keeps it, and returns the seconds of each stage
    take: Callable[[Tile, Stop], Mapping[str, float]]
    # Returns for each thread a compiled loop that does so with the tiles of a queue, or nothing
    loops: Callable[[Sequence[Tile]], Sequence[Loop]] = lambda tiles: ()


def run(
    drawing: Drawing, tiles: Sequence[Tile], sink: Sink, progress: Progress | None = None
) -> None:
    """Have a sink take tiles in the backend's threads, and end stages of the drawing.

    The time that passes is divided in proportion to what the stages took in all threads. An error,
    or Ctrl-C, ends the work of the other threads early.
    """
    queue = Queue(len(tiles))
    if loops := sink.loops(tiles):
        spent = run_loops(queue, [partial(loop, queue) for loop in loops], progress)
    else:

        def take(tile: Tile) -> Mapping[str, float]:
            return sink.take(tile, lambda: queue.stopped)

        spent = run_tiles(tiles, take, drawing.backend.threads, progress, queue)
    drawing.stages.share(spent)
    drawing.room.tell()


def pixel_sink(drawing: Drawing, pixels: Pixels) -> Sink:
    """Return the sink that keeps tiles in the pixels of the whole picture."""

    def take(tile: Tile, stop: Stop) -> dict[str, float]:
        return draw_tile(drawing, tile, pixels[tile.window()], stop)

    def loops(tiles: Sequence[Tile]) -> list[Loop]:
        left = np.array([math.prod(drawing.plan.size)])

        def loop(draw: DrawTiles, queue: Queue) -> StageTicks:
            return draw(queue, pixels, len(pixels), left)

        return [partial(loop, draw) for draw in compiled_draws(drawing, tiles)]

    return Sink(take, loops)


def plane_sink(drawing: Drawing, planes: Planes) -> Sink:
    """Return the sink that keeps tiles in raw numbers of all samples; some of its planes."""
    n = drawing.plan.supersampling

    def take(tile: Tile, stop: Stop) -> dict[str, float]:
        window = tile.window(n)
        own = {name: plane[window] for name, plane in planes.items()}
        return compute_tile(drawing, tile, own, stop)

    return Sink(take, partial(compiled_keeps, drawing, planes))


TILE_STAGES = ("iterate", "color", "copy")

StageTicks = dict[str, float]  # of the processor's clock, that each stage took
# ``draw(queue, picture, band, pixels_left)``: compiled code that draws tiles of a queue until it is
# empty or a band is whole. Row r goes to row r % len(picture) of the picture. A band has ``band``
# rows; ``pixels_left`` counts the missing pixels of each.
DrawTiles = Callable[[Queue, Pixels, int, NDArray[np.int64]], StageTicks]


def compiled_draws(drawing: Drawing, tiles: Sequence[Tile]) -> list[DrawTiles]:
    """Return compiled code that draws tiles, for each thread; or nothing.

    The counts are added to the drawing's tally. All memory is allocated here, so that no thread
    waits for the interpreter's lock.
    """
    source, painter = drawing.source, drawing.painter
    assert painter, "the drawing keeps raw numbers only"
    work = source.work(drawing.plan, tiles)
    shading = painter.single(source.max_iterations, source.count_offset)
    if work is None or shading is None:
        return []
    place, inputs, paint, colors = shading
    work = work._replace(place=place, coloring=(inputs,), paint=paint, colors=colors)
    prepare = drawing.backend.compile_tile_loop(work, drawing.dtype)
    if prepare is None:
        return []
    return [_prepared(drawing, prepare) for _ in range(drawing.backend.threads)]


def _prepared(drawing: Drawing, prepare: Prepare) -> DrawTiles:
    """Return the compiled code of one thread, which draws tiles."""
    loop, source = prepare(), drawing.source

    def draw(
        queue: Queue, picture: Pixels, band: int, pixels_left: NDArray[np.int64]
    ) -> StageTicks:
        laps = loop(queue.cells, picture, band, pixels_left)
        if laps[-1] < 0:
            source.check_counts()
        drawing.tally.add(*map(int, laps[len(TILE_STAGES) :]))
        return _spent(laps)

    return draw


def compiled_keeps(drawing: Drawing, planes: Planes, tiles: Sequence[Tile]) -> list[Loop]:
    """Return compiled code that fills planes of the whole picture, for each thread; or nothing."""
    work, backend = drawing.source.work(drawing.plan, tiles), drawing.backend
    if work is None or not {"count"} <= planes.keys() <= {"count", "z", "dz"}:
        return []
    prepare = backend.compile_tile_loop(work) if work.iterate else None
    if prepare is None:
        return []
    pairs = [np.empty((0, 0, 2), backend.real)] * 2
    for k, name in enumerate(("z", "dz")):
        if name in planes:
            pairs[k] = planes[name].view(backend.real).reshape(*planes[name].shape, 2)

    def prepared() -> Loop:
        loop = prepare()
        return lambda queue: _spent(loop(queue.cells, planes["count"], *pairs))

    return [prepared() for _ in range(backend.threads)]


def _spent(laps: NDArray[np.int64]) -> StageTicks:
    return dict(zip(TILE_STAGES, laps[: len(TILE_STAGES)].tolist(), strict=True))
