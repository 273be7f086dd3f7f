"""Recoloring: a source of tiles that reads existing escape data, in place of iterating."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import Backend, Stages, Work
from fractals.backends.probe import memory_size
from fractals.errors import OptionError
from fractals.io.escape_data import (
    EscapePlanes,
    check_counts,
    no_check,
    parts_of,
    planes_for,
    with_directions,
)
from fractals.kernels.layout import EscapeTile
from fractals.kernels.orbit import INSIDE_TOO
from fractals.rendering.drawing import (
    Drawing,
    Sink,
    begin,
    draw_one_sample,
    make_painter,
    open_plan,
    run,
)
from fractals.rendering.iteration import Stop, Use, never, unused_array
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import Keeps, Plan
from fractals.rendering.probing import Pairs
from fractals.rendering.sampling import Index, Room
from fractals.rendering.shading import Fill
from fractals.rendering.tiles import Tile
from fractals.scene.geometry import Layers, ResolvedLayer, kept_as
from fractals.scene.model import Scene

BYTES_A_VALUE = 40  # of memory, a sample, while values of the whole picture are sorted


def open_recoloring(
    scene: Scene,
    raw: EscapePlanes,
    options: RenderOptions,
    keeps: Keeps = "pixels",
    stages: Stages | None = None,
) -> Drawing:
    """Return a drawing of a scene that colors raw numbers; see `open_plan` for `keeps`."""
    stages = stages or Stages()
    plan, backend = open_plan(scene, options, keeps, iterates=False)
    return open_stored(plan, backend, raw, options, stages=stages)


def open_stored(
    plan: Plan,
    backend: Backend,
    raw: EscapePlanes,
    options: RenderOptions,
    first: Callable[[Drawing], Any] = draw_one_sample,
    stages: Stages | None = None,
) -> Drawing:
    """Return a drawing that colors raw numbers; see `fractals.rendering.drawing.open_drawing`.

    Raw numbers that do not fit the plan are refused.
    """
    stages = stages or Stages()
    source = Recoloring(backend, plan, raw)
    values = partial(whole_values, Drawing(plan, backend, source, None, stages))
    painter = make_painter(backend, plan, plan.scene.image.dtype, values)
    drawing = Drawing(plan, backend, source, painter, stages, room=Room(options.on_message))
    begin(drawing, options, first)
    return drawing


def whole_values(drawing: Drawing, layer: ResolvedLayer, fill: Fill) -> NDArray[np.floating[Any]]:
    """Return a layer's values of all samples, for a coloring that ranks them."""
    plan, backend, source = drawing.plan, drawing.backend, drawing.source
    n = plan.supersampling
    whole = np.empty((plan.size[1] * n, plan.size[0] * n), backend.real)

    def look(tile: Tile, stop: Stop) -> dict[str, float]:
        clock = backend.clock()
        part = whole[tile.window(n)]
        on_device = backend.empty(part.shape, backend.real)

        def use(raw: EscapeTile, flags: Pairs) -> None:
            fill(on_device, raw, source.max_iterations, source.count_offset)
            backend.all_to_host([(on_device, part), *flags])

        source.iterate_for(tile, use, stop)
        return clock.end("color")

    run(drawing, plan.tiles, Sink(partial(drawing.room.take, look)))
    return whole


class Recoloring:
    """A `fractals.rendering.iteration.SampleSource` that reads existing escape data.

    Raises `OptionError` if they are of another size, or a layer needs what they lack.
    """

    reference, probing, note, loop, stage = 0.0, 0.0, "", "", "copy"

    def __init__(self, backend: Backend, plan: Plan, raw: EscapePlanes) -> None:
        raw.check(counts=False)
        raw = with_directions(raw)
        self.backend, self.plan, self.raw = backend, plan, raw
        layers = plan.layers
        self.max_iterations, self.count_offset = raw.max_iterations, raw.count_offset
        n, planes = plan.supersampling, raw.planes
        if raw.count.shape != (plan.size[1] * n, plan.size[0] * n):
            rows, columns = raw.count.shape
            raise OptionError(
                f"the raw numbers have {columns}x{rows} samples, and the scene needs "
                f"{plan.size[0]}x{plan.size[1]} pixels of {n}x{n}: compute the scene again"
            )
        _check_layers(layers, raw)
        if layers.whole:
            _check_memory(raw.count.size)
        own = [name for name in planes_for(layers) if name.isidentifier()]
        statistics = [_kept_as(name, raw) for name in layers.statistics.names]
        self._names = [*own, *statistics]
        self._parts = [part for name in own for part in parts_of(planes[name])]
        self._statistics = [planes[name] for name in statistics]
        self._nothing, self._no_planes = (unused_array(backend, k) for k in (2, 3))

    def iterate(
        self, tile: Tile, max_iterations: int | None = None, stop: Stop = never
    ) -> EscapeTile:
        """Return the escape data of a tile's samples, on the device."""
        rows, columns = tile.window(self.plan.supersampling)
        self.raw.check_rows(rows, self._names)
        return self._gathered(lambda part: part[rows, columns])

    def iterate_for(self, tile: Tile, use: Use, stop: Stop = never) -> None:
        """Have the escape data of a tile's samples used."""
        use(self.iterate(tile), ())

    def iterate_some(
        self, i: Index, j: Index, shape: tuple[int, int], stop: Stop = never
    ) -> EscapeTile:
        """Return the escape data of samples in columns `i` and rows `j`, on the device."""
        self.raw.check_rows(slice(int(j.min()), int(j.max()) + 1), self._names)
        return self._gathered(lambda part: part[j, i].reshape(shape))

    def check_counts(self) -> None:
        """Raise an `OptionError` for a count beyond the limit."""
        check_counts(self.raw.count, self.max_iterations)

    def _gathered(self, taken: Callable[[NDArray[Any]], NDArray[Any]]) -> EscapeTile:
        """Return the planes' elements that `taken` selects, on the device."""
        to_device = self.backend.to_device
        check_counts(taken(self._parts[0]), self.max_iterations)
        # Programs for arrays with gaps, as z has them, would be compiled anew.
        found = [to_device(np.ascontiguousarray(taken(part))) for part in self._parts]
        statistics = self._no_planes
        if self._statistics:
            statistics = to_device(np.stack([taken(plane) for plane in self._statistics]))
        count, x, y, dx, dy = (*found, self._nothing, self._nothing)[:5]
        return EscapeTile(count, x, y, dx, dy, statistics)

    def work(self, plan: Plan, tiles: Sequence[Tile]) -> Work | None:
        """Return the work of compiled code that reads tiles of the arrays itself, or None.

        None: the arrays have gaps or other numbers, or Python has more to do for each tile.
        """
        real, count = self.backend.real, self.raw.count
        planes = [self.raw.planes[name] for name in self._names[1:]]
        checked = self.raw.check_rows is not no_check
        fit = all(plane.real.dtype == real for plane in planes)
        if self._statistics or checked or not fit:
            return None
        if not all(plane.flags.c_contiguous for plane in (count, *planes)):
            return None
        pairs = [plane.view(real).reshape(*plane.shape, 2) for plane in planes]
        inputs = count, *pairs, np.empty((0, 0, 2), real)
        return Work(
            tiles=np.array(tiles, np.int64),
            n=self.plan.supersampling,
            derivative=len(pairs) > 1,
            planes=0,
            iterate=None,
            inputs=(*inputs[:3], np.int32(self.max_iterations)),
        )


def _kept_as(name: str, raw: EscapePlanes) -> str:
    found = kept_as(name, raw.statistics) or kept_as(name.removesuffix(INSIDE_TOO), raw.statistics)
    assert found, "_check_layers has found every plane"
    return found


def _check_layers(layers: Layers, raw: EscapePlanes) -> None:
    if lacking := layers.lacking(raw.planes):
        needs = {
            f"the coloring '{one.label}' needs {', '.join(names)}": one for one, names in lacking
        }
        many = "compute them from a scene that has these layers"
        why = f"these raw numbers lack: {many if len(needs) > 1 else lacking[0][0].remedy}"
        if not (raw.exact or any(name.isidentifier() for _, names in lacking for name in names)):
            why = "an EXR does not keep: compute a store (.fz)"
        raise OptionError(f"{', and '.join(needs)}, which {why}")


def _check_memory(samples: int) -> None:
    free = memory_size()
    if free and BYTES_A_VALUE * samples > 0.9 * free:
        raise OptionError(
            "a coloring that sees the whole picture (histogram, rank) takes "
            f"{BYTES_A_VALUE * samples / 2**30:.1f} GiB for {samples} samples, and "
            f"{free / 2**30:.1f} GiB are free: choose another coloring, or compute a smaller size="
        )
