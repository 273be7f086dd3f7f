"""Raw numbers computed into a store, tile by tile; an interrupted store is resumed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Unpack

import numpy as np

from fractals.deep import orbit_cache
from fractals.errors import FractalsError, OptionError
from fractals.io.files import HEADER
from fractals.io.load import Source
from fractals.io.store import SUFFIX, Store, TileWriter, create_store, open_store, tile_rows
from fractals.io.store_lock import check_same, check_version, claimed, clear
from fractals.rendering.cost import check_cost
from fractals.rendering.drawing import (
    STAGES,
    Drawing,
    compute_tile,
    open_drawing,
    open_plan,
    run_all,
)
from fractals.rendering.fit import read_fitted_request
from fractals.rendering.iteration import Stop
from fractals.rendering.options import RenderKeywords, with_keywords
from fractals.rendering.plan import Plan
from fractals.rendering.tiles import Tile
from fractals.scene.model import Scene
from fractals.threads import Progress


@dataclass(frozen=True)
class Computed:
    """Facts about raw numbers that were computed into a store.

    Attributes
    ----------
    scene : Scene
        Of the store: a resumed store keeps the colors that it was begun with.
    timings : dict of str to float
        Seconds of each stage; "copy" includes writing.
    device, precision, method : str
        As of `EscapeData`.
    tiles, before : int
        Tiles of the store, and how many of them existed before.
    """

    scene: Scene
    timings: dict[str, float]
    device: str
    precision: str
    method: str
    tiles: int
    before: int


@with_keywords(RenderKeywords)
def compute_to(
    path: str | Path,
    *sources: Source,
    overwrite: bool = False,
    **keywords: Unpack[RenderKeywords],
) -> Computed:
    """Compute the raw numbers of a scene into a store, or resume a store that was interrupted.

    The bytes of the store are the same however often it was interrupted, and on which devices.

    Parameters
    ----------
    path : str or Path
        A folder whose name ends in ``.fz``; it may be among the sources too.
    *sources, **keywords
        As of `render`.
    overwrite : bool
        True: an existing store is replaced, complete or not.

    Returns
    -------
    Computed

    Raises
    ------
    OptionError
        The existing store is of another scene; the message names the keys. Keys that only color may
        differ.
    SceneError
        The header of the existing store is damaged. Damaged tiles are computed again.
    FractalsError
        The store can't be written, or another process computes it.
    """
    path = Path(path)
    if path.suffix.lower() != SUFFIX:
        raise OptionError(f"'{path}': a store's name ends in {SUFFIX}")
    scene, options = read_fitted_request(sources, keywords)
    scene.to_table()  # a formula without a name can't be kept
    with claimed(path):
        store = open_store(path) if (path / HEADER).exists() and not overwrite else None
        if store:
            check_same(store, scene)
            scene = store.scene  # which may have other colors
        plan, backend = open_plan(scene, options, "store")
        missing = store.missing() if store else None
        if store and not missing:
            timings = dict.fromkeys(STAGES, 0.0)
            return _computed(plan, timings, store, store.tiles)
        if store:
            check_version(store)
        else:
            clear(path)
        work = _tiles(plan, store.rows if store else tile_rows(scene), missing)
        plan = replace(plan, tiles=tuple(work))
        # Each thread has its numbers twice: computed, and being written.
        check_cost(replace(plan, threads=2 * max(1, backend.threads)), force=True)
        found = orbit_cache.find_same  # the same orbit each time, however long one is kept
        drawing = open_drawing(plan, backend, options, shading=False, find_orbit=found)
        return _compute(path, drawing, store, work, options.progress)


def _compute(
    path: Path,
    drawing: Drawing,
    kept: Store | None,
    work: Mapping[Tile, Sequence[int]],
    progress: Progress | None,
) -> Computed:
    """Compute the tiles of a store that are missing; `kept` is the store that is resumed."""
    plan, planes = drawing.plan, drawing.planes
    found = drawing.source.max_iterations, drawing.source.count_offset
    if kept and found != (kept.max_iterations, kept.count_offset):
        raise FractalsError(
            f"'{path}' was begun with max_iterations {kept.max_iterations}, "
            f"and here it would be {found[0]}: "
            "resume it where it was begun, or give --overwrite"
        )
    if kept and kept.planes != planes:
        raise FractalsError(
            f"'{path}' keeps {', '.join(kept.planes)}, and the colors of its own scene need "
            f"{', '.join(planes)}: give --overwrite"
        )
    store = kept or create_store(path, plan.scene, planes, *found, plan.method)
    writer, n = TileWriter(store), plan.supersampling

    def compute(tile: Tile, stop: Stop) -> dict[str, float]:
        shape = tile.height * n, tile.width * n
        planes = {name: np.empty(shape, dtype) for name, dtype in store.planes.items()}
        seconds = compute_tile(drawing, tile, planes, stop)
        begun = perf_counter()
        for k in work[tile] if not stop() else ():
            rows = store.window(k)
            own = slice(rows.start - tile.y * n, rows.stop - tile.y * n)
            writer.write(k, {name: plane[own] for name, plane in planes.items()})
        seconds["copy"] += perf_counter() - begun
        return seconds

    try:
        run_all(drawing, compute, progress)
    finally:
        writer.close()
    before = store.tiles - sum(map(len, work.values()))
    return _computed(plan, drawing.timings, store, before)


def _tiles(plan: Plan, rows: int, missing: Sequence[int] | None) -> dict[Tile, Sequence[int]]:
    """Return the tiles to compute, each with the numbers of the store's tiles in it."""
    n, (width, height) = plan.supersampling, plan.size
    tall = rows // n
    if missing is None:
        missing = range(-(-height // tall))
    at_once = max(1, plan.largest_tile // (rows * width * n))  # a GPU takes several
    work = {}
    for run in _runs(missing, at_once):
        top, bottom = run[0] * tall, min(height, (run[-1] + 1) * tall)
        work[Tile(0, top, width, bottom - top)] = run
    return work


def _runs(missing: Sequence[int], at_once: int) -> Iterator[Sequence[int]]:
    """Yield runs of successive tiles of the store, at most `at_once` long; a GPU takes a run.

    Examples
    --------
    >>> list(_runs([0, 1, 2, 5, 6], 2))
    [[0, 1], [2], [5, 6]]
    """
    begin = 0
    for end, (last, following) in enumerate(pairwise([*missing, -1]), 1):
        if following != last + 1 or end - begin == at_once:
            yield missing[begin:end]
            begin = end


def _computed(plan: Plan, timings: dict[str, float], store: Store, before: int) -> Computed:
    return Computed(
        store.scene,
        timings,
        plan.device,
        plan.precision,
        plan.method,
        store.tiles,
        before,
    )
