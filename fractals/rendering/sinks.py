"""Sinks that keep tiles in arrays of the whole picture, and the compiled loops that do so.

Where all work of a tile can be compiled, compiled code takes the tiles from a queue. That is
direct iteration on the CPU, and coloring by a single layer. Otherwise Python goes from tile to
tile: the numbers and the colors are the same.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, Work
from fractals.io.escape_data import EscapeData, arrays_of
from fractals.io.png import Pixels
from fractals.kernels.layout import SampleGrid
from fractals.rendering.drawing import (
    Drawing,
    Loop,
    Planes,
    Sink,
    compute_tile,
    draw_tile,
    open_drawing,
    run,
)
from fractals.rendering.iteration import Direct, SampleSource, Stop
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Plan, Tile
from fractals.scene.model import Scene
from fractals.threads import Progress, Queue


def draw_all(drawing: Drawing, progress: Progress | None = None) -> Pixels:
    """Return the pixels of the whole picture, shape (height, width, 3)."""
    plan = drawing.plan
    pixels = np.empty((plan.size[1], plan.size[0], 3), drawing.dtype)
    run(drawing, plan.tiles, pixel_sink(drawing, pixels), progress)
    return pixels


def compute_data(plan: Plan, backend: Backend, options: RenderOptions) -> EscapeData:
    """Compute the raw numbers of a plan; see `open_plan`."""
    drawing = open_drawing(replace(plan, keeps="raw"), backend, options)
    planes = empty_planes(drawing)
    run(drawing, plan.tiles, plane_sink(drawing, planes), options.on_progress)
    return escape_data(drawing, planes, plan.scene)


def empty_planes(drawing: Drawing) -> dict[str, NDArray[Any]]:
    """Return arrays for the raw numbers of all samples."""
    n, (width, height) = drawing.plan.supersampling, drawing.plan.size
    return {name: np.empty((height * n, width * n), t) for name, t in drawing.planes.items()}


def escape_data(drawing: Drawing, planes: Planes, scene: Scene) -> EscapeData:
    """Return planes of the whole picture with what recoloring needs of them."""
    return EscapeData(
        **arrays_of(planes),
        max_iterations=drawing.source.max_iterations,
        scene=scene,
        timings=drawing.timings,
        device=drawing.plan.device,
        method=drawing.plan.method,
        count_offset=drawing.source.count_offset,
    )


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
    if not _is_plain(source, drawing.plan):
        return []
    shading = painter.single(source.max_iterations, source.count_offset)
    if shading is None:
        return []
    place, inputs, paint, colors = shading
    work = _iterating(drawing.plan, source, tiles)._replace(
        place=place, coloring=(inputs,), paint=paint, colors=colors
    )
    prepare = drawing.backend.compile_tile_loop(work, drawing.dtype)
    if prepare is None:
        return []

    def prepared() -> DrawTiles:
        loop = prepare()

        def draw(
            queue: Queue, picture: Pixels, band: int, pixels_left: NDArray[np.int64]
        ) -> StageTicks:
            laps = loop(queue.cells, picture, band, pixels_left)
            drawing.tally.add(*map(int, laps[len(TILE_STAGES) :]))
            return _spent(laps)

        return draw

    return [prepared() for _ in range(drawing.backend.threads)]


def compiled_keeps(drawing: Drawing, planes: Planes, tiles: Sequence[Tile]) -> list[Loop]:
    """Return compiled code that fills planes of the whole picture, for each thread; or nothing."""
    source, backend = drawing.source, drawing.backend
    if not _is_plain(source, drawing.plan):
        return []
    if not {"count"} <= planes.keys() <= {"count", "z", "dz"}:
        return []
    prepare = backend.compile_tile_loop(_iterating(drawing.plan, source, tiles))
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


def _is_plain(source: SampleSource, plan: Plan) -> TypeGuard[Direct]:
    """Tell whether samples are iterated by themselves, in columns and rows."""
    return isinstance(source, Direct) and not source.part and not plan.explicit_positions


def _iterating(plan: Plan, source: Direct, tiles: Sequence[Tile]) -> Work:
    """Return the work of iterating tiles of a plan."""
    return Work(
        tiles=np.array(tiles, np.int64),
        n=plan.supersampling,
        derivative=source.derivative,
        planes=source.statistics.planes,
        iterate=source.run,
        grid=(
            SampleGrid(source.grid.columns, source.grid.rows),
            source.point,
            np.int32(source.max_iterations),
        ),
    )


def _spent(laps: NDArray[np.int64]) -> StageTicks:
    return dict(zip(TILE_STAGES, laps[: len(TILE_STAGES)].tolist(), strict=True))
