"""Tiles that compiled code takes from a queue, where all of their work can be compiled.

That is direct iteration on the CPU, and coloring by a single layer. Otherwise Python goes from tile
to tile, as `fractals.rendering.drawing.draw_tile` does: the numbers and the colors are the same.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, Work
from fractals.io.png import Pixels
from fractals.io.summary import Tally
from fractals.kernels.layout import SampleGrid
from fractals.rendering.direct import Direct
from fractals.rendering.iteration import Method
from fractals.rendering.plan import Plan
from fractals.rendering.shading import Painter
from fractals.threads import Queue

TILE_STAGES = ("iterate", "color", "copy")

# What a thread calls until no tile is left. It returns the ticks of the processor's clock that each
# stage took.
StageTicks = dict[str, float]
DrawTiles = Callable[[Queue, Pixels, int, NDArray[np.int64]], StageTicks]
KeepTiles = Callable[[Queue], StageTicks]


def tiles_drawn(
    backend: Backend,
    plan: Plan,
    method: Method | None,
    painter: Painter,
    dtype: Any,
    tally: Tally,
) -> list[DrawTiles]:
    """Return ``draw(queue, picture, band, pixels_left)`` for each thread, or an empty list.

    ``draw`` draws tiles of the plan until the queue ends or a band of ``band`` rows is whole. Row r
    goes to row r % len(picture) of the picture; ``pixels_left`` counts the missing pixels of each
    band. The counts are added to the tally. All memory is allocated here, so that no thread waits
    for the interpreter's lock. With an empty list, Python draws tile by tile.
    """
    if not _is_plain(method, plan):
        return []
    shading = painter.single(method.max_iterations, method.count_offset)
    if shading is None:
        return []
    place, inputs, paint, colors = shading
    work = _iterating(plan, method)._replace(
        place=place, coloring=(inputs,), paint=paint, colors=colors
    )
    prepare = backend.compile_tile_loop(work, dtype)
    if prepare is None:
        return []

    def prepared() -> DrawTiles:
        run = prepare()

        def draw(queue: Queue, *where: Any) -> StageTicks:
            laps = run(queue.cells, *where)
            tally.add(*map(int, laps[len(TILE_STAGES) :]))
            return _spent(laps)

        return draw

    return [prepared() for _ in range(backend.threads)]


def tiles_kept(
    backend: Backend, plan: Plan, method: Method | None, planes: Mapping[str, NDArray[Any]]
) -> list[KeepTiles]:
    """Return ``keep(queue)`` for each thread, or an empty list.

    ``keep`` fills planes of the whole picture. With an empty list, Python fills them tile by tile.
    """
    if not _is_plain(method, plan) or not {"count"} <= planes.keys() <= {"count", "z", "dz"}:
        return []
    prepare = backend.compile_tile_loop(_iterating(plan, method))
    if prepare is None:
        return []
    pairs = [np.empty((0, 0, 2), backend.real)] * 2
    for k, name in enumerate(("z", "dz")):
        if name in planes:
            pairs[k] = planes[name].view(backend.real).reshape(*planes[name].shape, 2)

    def prepared() -> KeepTiles:
        run = prepare()
        return lambda queue: _spent(run(queue.cells, planes["count"], *pairs))

    return [prepared() for _ in range(backend.threads)]


def _is_plain(method: Method | None, plan: Plan) -> TypeGuard[Direct]:
    """Tell whether samples are iterated by themselves, in columns and rows."""
    return isinstance(method, Direct) and not method.part and not plan.explicit_positions


def _iterating(plan: Plan, method: Direct) -> Work:
    """Return the work of iterating a plan's tiles."""
    return Work(
        tiles=np.array(plan.tiles, np.int64),
        n=plan.supersampling,
        derivative=method.derivative,
        planes=method.statistics.planes,
        iterate=method.run,
        grid=(
            SampleGrid(method.grid.columns, method.grid.rows),
            method.point,
            np.int32(method.max_iterations),
        ),
    )


def _spent(laps: NDArray[np.int64]) -> StageTicks:
    return dict(zip(TILE_STAGES, laps[: len(TILE_STAGES)].tolist(), strict=True))
